// The mouse and the flying keys on the picture: they turn, move and fly the camera, and pick and drag objects.

import { apart, distance, dolly, fly, orbit, pan, reach, turn } from "./view.js";

// A press is a click if the mouse has moved by fewer pixels.
const CLICK = 4;
// The way of a second of flight, and of a key that is pressed shortly, in sizes of the scene.
const SPEED = 0.35, TAP = 0.06;
const WAYS = { w: [0, 0, 1], s: [0, 0, -1], d: [1, 0, 0], a: [-1, 0, 0], e: [0, 1, 0], q: [0, -1, 0] };

/** Makes the picture take the mouse. `app` is the page, `objects` what can be picked. */
export function camera(app, canvas, objects) {
  const size = () => reach(app.state, app.here());
  const pace = () => Math.max(size(), distance(app.here()) / 2);
  const pointer = { id: null };

  /** The point of the picture below the mouse, 0 to 1 from its top left. */
  function at(event) {
    const box = canvas.getBoundingClientRect();
    const [width, height] = app.state.size;
    const scale = Math.min(box.width / width, box.height / height);
    return [
      (event.clientX - box.left - (box.width - width * scale) / 2) / (width * scale),
      (event.clientY - box.top - (box.height - height * scale) / 2) / (height * scale),
    ];
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const pans = event.button !== 0 || event.shiftKey;
    const drags = !pans && objects.isOn(at(event));
    Object.assign(pointer, { id: event.pointerId, x: event.clientX, y: event.clientY, start: [event.clientX, event.clientY], pans, drags, moves: false });
    if (drags) objects.grab(at(event));
    canvas.classList.add("moving");
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId !== pointer.id) {
      canvas.classList.toggle("movable", objects.isOn(at(event)));
      return;
    }
    pointer.moves ||= Math.hypot(event.clientX - pointer.start[0], event.clientY - pointer.start[1]) >= CLICK;
    if (!pointer.moves) return;
    if (pointer.drags) {
      objects.drag(at(event), event.altKey);
      return;
    }
    const width = canvas.clientWidth;
    const [dx, dy] = [(event.clientX - pointer.x) / width, (event.clientY - pointer.y) / width];
    [pointer.x, pointer.y] = [event.clientX, event.clientY];
    const { axis } = app.state;
    const here = app.here();
    const angle = (here.fov_deg * Math.PI) / 180;
    if (pointer.pans) app.look(pan(here, -dx / axis, dy / axis, app.place().across * axis));
    else app.look(app.state.is_round ? turn(here, dx * angle, dy * angle) : orbit(here, -dx * Math.PI * 1.5, dy * Math.PI * 1.5));
  });
  const release = (event) => {
    if (pointer.id === null) return;
    if (event.type === "pointerup" && !pointer.moves && !pointer.pans) objects.click(at(event));
    if (pointer.drags) objects.drop();
    pointer.id = null;
    canvas.classList.remove("moving");
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    nearer(Math.exp(Math.sign(event.deltaY) * 0.08), at(event));
  }, { passive: false });

  // Along the ray of a point of the picture, which stays where it is. An orthographic camera does not pass its target: its picture
  // gets narrower.
  function nearer(factor, [x, y] = [0.5, 0.5]) {
    const { axis, holds, is_round, size: [width, height] } = app.state;
    const here = app.here();
    const to = (view) => dolly(view, factor, holds.camera.projection === "orthographic" ? 0 : 0.02 * size());
    const grows = !is_round && !app.place().across;
    const share = grows ? (Math.sign(1 - factor) * apart(to(here).eye, here.eye)) / (distance(here) * axis) : 0;
    app.look(to(pan(here, (x - 0.5) * share, ((0.5 - y) * share * height) / width)));
  }

  // Keys that are held, and when the camera was moved last.
  const held = new Set();
  let moved = 0;
  function step(time) {
    if (held.size === 0) return;
    const way = [...held].reduce((sum, key) => sum.map((x, i) => x + WAYS[key][i]), [0, 0, 0]);
    app.look(fly(app.here(), way, Math.min((time - moved) / 1000, 0.1) * SPEED * pace() * (held.fast ? 4 : 1)));
    moved = time;
    requestAnimationFrame(step);
  }
  document.addEventListener("keyup", (event) => held.delete(event.key.toLowerCase()));
  addEventListener("blur", () => held.clear());

  return {
    nearer,
    /** Whether this key flies the camera; it does so until it is released. */
    flies(event) {
      const key = event.key.toLowerCase();
      if (!WAYS[key]) return false;
      held.fast = event.shiftKey;
      if (held.has(key)) return true;
      held.add(key);
      app.look(fly(app.here(), WAYS[key], TAP * pace()));
      moved = performance.now();
      if (held.size === 1) requestAnimationFrame(step);
      return true;
    },
  };
}
