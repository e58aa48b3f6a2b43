// The viewpoint: the camera's own, or one that the user has chosen. Also the plan of the scene from above.

const sub = (a, b) => a.map((x, i) => x - b[i]);
const add = (a, b) => a.map((x, i) => x + b[i]);
const scale = (a, s) => a.map((x) => x * s);
const length = (a) => Math.hypot(...a);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => scale(a, 1 / (length(a) || 1));

// Below the pole, where "up" is undefined.
const STEEPEST = Math.PI / 2 - 0.02;

/** Rotates the camera about its look-at point, in radians. */
export function orbit(view, around, up) {
  const from = sub(view.eye, view.look_at);
  const distance = Math.max(length(from), 1e-6);
  const azimuth = Math.atan2(from[1], from[0]) + around;
  const height = Math.asin(Math.max(-1, Math.min(1, from[2] / distance))) + up;
  const elevation = Math.max(-STEEPEST, Math.min(STEEPEST, height));
  const flat = distance * Math.cos(elevation);
  const to = [flat * Math.cos(azimuth), flat * Math.sin(azimuth), distance * Math.sin(elevation)];
  return { ...view, eye: add(view.look_at, to) };
}

/** Turns the camera about its own place, in radians to the left and up. */
export function turn(view, left, up) {
  return { ...view, look_at: orbit({ ...view, eye: view.look_at, look_at: view.eye }, left, up).eye };
}

/** Scales the distance to the look-at point, by a step of `least` at least: nearer below 1, farther above. Where it is reached, the
 * point goes on ahead. */
export function dolly(view, factor, least) {
  const to = sub(view.look_at, view.eye);
  const distance = Math.max(length(to), 1e-9);
  const step = Math.sign(1 - factor) * Math.max(distance * Math.abs(1 - factor), least);
  const eye = add(view.eye, scale(to, step / distance));
  const ahead = Math.max(distance - step, 2 * least);
  return { ...view, eye, look_at: add(eye, scale(to, ahead / distance)) };
}

/** Moves the camera and its look-at point to the right, up and ahead. */
export function fly(view, [right, up, ahead], by) {
  const forward = unit(sub(view.look_at, view.eye));
  const side = unit(cross(forward, [0, 0, 1]));
  const way = scale(add(add(scale(side, right), scale(forward, ahead)), [0, 0, up]), by);
  return { ...view, eye: add(view.eye, way), look_at: add(view.look_at, way) };
}

/** How far two points are from each other. */
export const apart = (a, b) => length(sub(a, b));

/** How far the camera is from what it looks at. */
export const distance = (view) => apart(view.look_at, view.eye);

/** The size of what there is to see. */
export function reach(state, view) {
  const bodies = state.bodies.map(({ centre, radius }) => length(centre) + radius);
  return bodies.length ? Math.max(1e-6, ...bodies) : distance(view);
}

/** Moves the camera and its look-at point sideways, in lengths of the field of view's axis: of an orthographic camera, or at the
 * point's distance. */
export function pan(view, right, up, axis) {
  const forward = sub(view.look_at, view.eye);
  const side = unit(cross(forward, [0, 0, 1]));
  const above = unit(cross(side, forward));
  const width = axis || 2 * length(forward) * (view.fov_deg < 180 ? Math.tan((view.fov_deg * Math.PI) / 360) : 1);
  const by = add(scale(side, right * width), scale(above, up * width));
  return { ...view, eye: add(view.eye, by), look_at: add(view.look_at, by) };
}

/** The viewpoint in the server's format. */
export const written = (view) => [...view.eye, ...view.look_at, view.fov_deg].join(",");

/** Draws the scene from above, with x to the right and y up. */
export function plan(canvas, state, view) {
  const context = canvas.getContext("2d");
  // The page's colors, which may be light or dark.
  const { color: text, borderTopColor: faint, outlineColor: soft } = getComputedStyle(canvas);
  const points = [
    ...state.way.flatMap((place) => [place.eye, place.look_at]), view.eye, view.look_at,
    ...state.bodies.flatMap(({ centre: [x, y], radius: r }) => [[x - r, y - r], [x + r, y + r]]),
  ];
  const far = Math.max(1e-6, ...points.flatMap((p) => [Math.abs(p[0]), Math.abs(p[1])])) * 1.1;
  const half = canvas.width / 2;
  const at = (p) => [half + (p[0] / far) * half, half - (p[1] / far) * half];
  const line = (list, close) => {
    context.beginPath();
    list.forEach((p, i) => context[i ? "lineTo" : "moveTo"](...at(p)));
    if (close) context.closePath();
    context.stroke();
  };
  const dot = (p, r) => { context.beginPath(); context.arc(...at(p), r, 0, 7); context.fill(); };
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.lineWidth = 2;
  context.strokeStyle = faint;
  if (state.floor) line(state.floor, true);
  context.strokeStyle = soft;
  for (const { centre, radius } of state.bodies) {
    context.beginPath();
    context.arc(...at(centre), Math.max(1, (radius / far) * half), 0, 7);
    context.stroke();
  }
  context.fillStyle = "#d8b400";
  state.lights.forEach((p) => dot(p, 5));
  context.strokeStyle = "#e08a2e";
  line(state.way.map((place) => place.look_at), !state.loop.length);
  context.strokeStyle = "#3d7bff";
  line(state.way.map((place) => place.eye), !state.loop.length);
  context.fillStyle = text;
  context.strokeStyle = text;
  dot(view.eye, 7);
  line([view.eye, view.look_at]);
}
