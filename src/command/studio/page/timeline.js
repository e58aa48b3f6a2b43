// The timeline: frames and seconds, and the keys of the camera and of values, which can be moved, made and removed.

const $ = (id) => document.getElementById(id);
const el = (name, props = {}, ...children) => {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children);
  return node;
};
const CAMERA = "camera.key";
const SVG = "http://www.w3.org/2000/svg";

/** The timeline of the page. `app` is the page. */
export function timeline(app) {
  let shown = "";
  // The key that is being dragged: its button, and its frame.
  let moving = null;
  const last = () => app.state.frames - 1;
  const frameOf = (time) => Math.round(time * app.state.frames);
  const place = (button, frame) => { button.style.left = `${(100 * frame) / Math.max(last(), 1)}%`; };
  const label = (of) => (of === CAMERA ? "camera" : of);

  // The height of values in a row: the curve and its keys lie between the least and the greatest.
  const TOP = 2, TALL = 20;
  function scale(values) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const span = high > low ? high - low : Math.max(Math.abs(high), 1);
    return { y: (value) => (high > low ? TOP + TALL - (TALL * (value - low)) / span : TOP + TALL / 2), per: span / TALL };
  }
  const round = (value) => Number(value.toPrecision(4));

  function tick(of, time, index, value, height) {
    const frame = frameOf(time);
    const held = value === undefined ? "" : `, ${round(value)}`;
    const button = el("button", { type: "button", className: "tick", title: `${label(of)}, key ${index}: frame ${frame}${held}. Drag to move, Delete to remove` });
    button.setAttribute("aria-label", `${label(of)}, key ${index}, frame ${frame}${held}`);
    const stand = (at) => { if (value !== undefined) button.style.top = `calc(${height.y(at)}px - .4rem)`; };
    stand(value);
    button.dataset.tick = `${of}[${index}]`;
    place(button, frame);
    const move = (to, height) => app.make({ do: "move_key", of, index, to, value: height });
    button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      button.setPointerCapture(event.pointerId);
      moving = { button, frame, from: frame, value, y: event.clientY };
    });
    button.addEventListener("pointermove", (event) => {
      if (moving?.button !== button) return;
      const box = button.parentElement.getBoundingClientRect();
      moving.frame = Math.round(Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * last());
      place(button, moving.frame);
      // A few pixels up or down are no intention.
      const up = moving.y - event.clientY;
      moving.value = value === undefined || Math.abs(up) < 4 ? value : round(value + up * height.per);
      stand(moving.value);
      if (moving.value !== value) button.title = `frame ${moving.frame}, ${moving.value}`;
    });
    const release = (event) => {
      if (moving?.button !== button) return;
      const { frame: to, from, value: at } = moving;
      moving = null;
      if (event.type === "pointerup" && (to !== from || at !== value)) move(to, at === value ? undefined : at);
      else { place(button, from); stand(value); app.go(from); }
    };
    button.addEventListener("pointerup", release);
    button.addEventListener("pointercancel", release);
    button.addEventListener("keydown", (event) => {
      const deed = {
        Delete: () => app.make({ do: "remove_key", of, index }),
        Backspace: () => app.make({ do: "remove_key", of, index }),
        ArrowLeft: () => frame > 0 && move(frame - 1),
        ArrowRight: () => frame < last() && move(frame + 1),
        ArrowUp: () => value !== undefined && move(frame, round(value + height.per)),
        ArrowDown: () => value !== undefined && move(frame, round(value - height.per)),
        Enter: () => app.go(frame),
      }[event.key];
      if (!deed || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      deed();
    });
    return button;
  }

  function curve(values, { y }) {
    const svg = document.createElementNS(SVG, "svg");
    if (values.length === 0) return [];
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", values.map((value, i) => `${i ? "L" : "M"}${((100 * i) / (values.length - 1)).toFixed(2)} ${y(value).toFixed(2)}`).join(""));
    svg.append(path);
    svg.setAttribute("viewBox", "0 0 100 24");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    return [svg];
  }

  function row({ of, times, curve: points, values }) {
    const height = scale([...points, ...values]);
    const key = el("button", { type: "button", className: "small", textContent: "Key", title: of === CAMERA ? "Make a key of the camera's path here (K)" : `Make a key of ${of} at this frame` });
    key.setAttribute("aria-label", `${label(of)}: a key at this frame`);
    key.addEventListener("click", () => self.key(of));
    const lane = el("div", { className: "lane" }, ...curve(points, height), ...times.map((time, index) => tick(of, time, index, values[index], height)));
    return el("div", { className: "row" }, el("span", { className: "of", textContent: label(of), title: of }), lane, key);
  }

  const self = {
    /** Makes a key at this frame: of the camera, or of a value. */
    async key(of) {
      const ok = await app.make({ do: "key", of });
      if (ok && of === CAMERA) app.look(null);
    },
    update() {
      const { state } = app;
      $("time").max = $("number").max = last();
      if (document.activeElement !== $("length")) $("length").value = Number((state.frames / state.fps).toFixed(3));
      $("seamless").textContent = state.loop.length ? "" : "a seamless loop";
      $("loop").hidden = state.loop.length === 0;
      $("loop").disabled = !state.can_loop;
      $("loop").title = state.loop.join("\n");
      self.frame();
      const now = JSON.stringify([state.tracks, state.frames]);
      if (moving || now === shown) return;
      shown = now;
      const focused = document.activeElement?.dataset?.tick;
      $("tracks").replaceChildren(...state.tracks.map(row));
      if (focused) [...$("tracks").querySelectorAll(".tick")].find((one) => one.dataset.tick === focused)?.focus();
    },
    /** Shows the present frame. */
    frame() {
      $("time").value = app.frame;
      if (document.activeElement !== $("number") || !$("number").isTyped) $("number").value = app.frame;
      $("seconds").textContent = `${(app.frame / app.state.fps).toFixed(2)} s`;
    },
  };

  // The contact sheet. Each of its pictures leads to its frame.
  async function sheet() {
    const button = $("make-sheet");
    button.disabled = true;
    const answer = await fetch("sheet").catch(() => null);
    if (!answer) app.lost();
    else if (!answer.ok) app.refuse(await answer.text());
    else {
      app.refuse("");
      const { columns, frames } = JSON.parse(answer.headers.get("x-sheet"));
      URL.revokeObjectURL($("sheet-picture").src);
      $("sheet-picture").src = URL.createObjectURL(await answer.blob());
      $("sheet-frames").style.gridTemplate = `repeat(${Math.ceil(frames.length / columns)}, 1fr) / repeat(${columns}, 1fr)`;
      $("sheet-frames").replaceChildren(...frames.map((frame) => {
        const one = el("button", { type: "button", title: `Frame ${frame}` });
        one.setAttribute("aria-label", `Frame ${frame}`);
        one.addEventListener("click", () => app.go(frame));
        return one;
      }));
      $("sheet-box").hidden = false;
    }
    button.disabled = false;
  }

  $("make-sheet").addEventListener("click", sheet);
  $("number").addEventListener("input", () => { $("number").isTyped = true; });
  $("number").addEventListener("blur", () => { $("number").isTyped = false; self.frame(); });
  $("number").addEventListener("change", () => {
    $("number").isTyped = false;
    if ($("number").value !== "") app.go(Number($("number").value));
    self.frame();
  });
  $("length").addEventListener("change", () => {
    const seconds = Number($("length").value);
    if (seconds > 0) app.set([["output.frames", String(Math.max(1, Math.round(seconds * app.state.fps)))]]);
    else self.update();
  });
  $("loop").addEventListener("click", () => app.make({ do: "loop" }));
  return self;
}
