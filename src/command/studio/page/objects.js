// Objects: adds, picks, drags, copies and removes them. The server knows what is where in the picture.

import { nameOf } from "./keys.js";

const $ = (id) => document.getElementById(id);
const COLORS = [["amber", "#d98a1f"], ["red", "#c8372d"], ["rose", "#d9708f"], ["blue", "#2563c9"], ["turquoise", "#2aa7a0"], ["green", "#4f8f3a"], ["white", "#f2f0ea"], ["gray", "#6f7278"], ["black", "#17181b"]];
const LISTS = ["body", "sphere", "ellipsoid", "rectangle", "mesh", "light"];
// Maximum number of names in the list of objects.
const MAX_NAMES = 300;
// A second click as near, in shares of the picture, picks what lies behind.
const NEAR = 0.01;

/** The objects of the page. `app` is the page. */
export function objects(app) {
  let picked = null, opened = null;
  // The outline as a path, to find out whether the mouse is on it.
  let shape = new Path2D();
  let drawn = [], middle = [0, 0];
  let clicked = null, grabbed = null;
  const test = document.createElement("canvas").getContext("2d");

  const aim = (body) => app.post("aim", { ...app.seen(), ...body });

  // What the server says of the particle that is picked.
  function tell(particle) {
    $("particle").hidden = !particle;
    if (!particle) return $("particle-facts").replaceChildren();
    const { row, step, number, time, position, radius, columns } = particle;
    const facts = [["row", row], ["step", number === null ? step : `${step} (${number} in the file)`], ...(time === null ? [] : [["time", time]]), ["position", position.map(short).join(", ")], ["radius", radius], ...columns];
    $("particle-name").textContent = picked.replace(/s\[(.*)\]/, " $1").replace(/^p/, "P");
    const cell = (name, textContent) => Object.assign(document.createElement(name), { textContent });
    $("particle-facts").replaceChildren(...facts.flatMap(([name, value]) => [cell("dt", name), cell("dd", typeof value === "number" ? short(value) : value ?? "no number")]));
  }
  const short = (x) => String(Number(x.toPrecision(9)));
  // The present frame's particle of what is picked.
  async function ask() {
    const path = picked;
    const answer = await aim({ of: path });
    if (!answer || picked !== path) return;
    draw(answer.outline);
    tell(answer.particle);
  }
  const table = (path) => document.querySelector(`[data-table="${CSS.escape(path)}"]`);
  const row = (key) => document.querySelector(`[data-key="${CSS.escape(`${picked}.${key}`)}"]`);
  const isParticle = (path) => path?.startsWith("particles[") === true;
  const isOffered = (one) => one !== null && !one.hidden;
  const isMovable = () => picked !== null && picked !== "floor" && !isParticle(picked);
  const colorRow = () => (picked ? row(picked === "floor" ? "tint" : "color") : null);
  const names = () => {
    const { document } = app.state;
    const lists = LISTS.flatMap((list) => (document?.[list] ?? []).map((value, i) => [`${list}[${i}]`, nameOf(list, value, i)]));
    const particle = document?.particles && isParticle(picked) ? [[picked, picked.replace(/s\[(.*)\]/, " $1")]] : [];
    return [...particle, ...(document?.floor ? [["floor", "the floor"]] : []), ...lists].slice(0, MAX_NAMES);
  };

  function draw(lines) {
    const [width, height] = app.state.size;
    const text = (lines ?? []).map((line) => `M${line.map(([x, y]) => `${(x * width).toFixed(2)} ${(y * height).toFixed(2)}`).join("L")}Z`).join("");
    const svg = $("outline");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const edge = svg.querySelector("rect");
    edge.setAttribute("width", width);
    edge.setAttribute("height", height);
    for (const path of svg.querySelectorAll("path")) path.setAttribute("d", text);
    shape = new Path2D(text);
    drawn = lines ?? [];
    handles();
  }

  // The handles stand at the outline: one sizes the object, the other turns it.
  function handles() {
    if (!app.state?.size) return;
    const points = drawn.flat().map(([x, y]) => [Math.max(0, Math.min(1, x)), Math.max(0, Math.min(1, y))]);
    const [width, height] = app.state.size;
    const box = $("frame");
    const [inner, outer] = [box.querySelector("canvas").getBoundingClientRect(), box.getBoundingClientRect()];
    const scale = Math.min(inner.width / width, inner.height / height);
    const at = ([x, y]) => [inner.x - outer.x + inner.width / 2 + (x - 0.5) * width * scale, inner.y - outer.y + inner.height / 2 + (y - 0.5) * height * scale];
    const ends = (i) => [Math.min(...points.map((p) => p[i])), Math.max(...points.map((p) => p[i]))];
    const isShown = points.length > 0 && isMovable();
    const [[left, right], [top, bottom]] = isShown ? [ends(0), ends(1)] : [[0, 0], [0, 0]];
    middle = at([(left + right) / 2, (top + bottom) / 2]).map((x, i) => x + [outer.x, outer.y][i]);
    const places = { resize: at([right, bottom]), turn: at([(left + right) / 2, top]) };
    for (const [id, [x, y]] of Object.entries(places)) {
      $(id).hidden = !isShown || (id === "turn" && !/^(body|ellipsoid|rectangle)/.test(picked));
      $(id).style.left = `${x}px`;
      $(id).style.top = `${y}px`;
    }
  }

  // What a handle does: new numbers of its key, from those at the start and from the places of the mouse.
  const HANDLES = {
    resize: {
      isFor: (key) => key !== "angle_deg",
      drag: (value, { start, now, middle }) => value.map((x) => x * Math.max(0.02, distance(now, middle) / Math.max(distance(start, middle), 1))),
      key: (value, way) => value.map((x) => x * 1.05 ** way),
    },
    turn: {
      isFor: (key) => key === "angle_deg",
      drag: ([angle], { start, now }) => [angle + Math.round((now[0] - start[0]) / 2)],
      key: ([angle], way) => [angle + 5 * way],
    },
  };
  const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  const keyOf = async (id) => (await aim({ of: picked }))?.handles?.find(([key]) => HANDLES[id].isFor(key));
  for (const [id, { drag, key: step }] of Object.entries(HANDLES)) {
    const handle = $(id);
    let hold = null;
    // One request at a time, and always the newest place.
    const send = async (mine) => {
      if (mine.busy || !mine.now || !mine.key) return;
      const value = drag(mine.key[1], mine);
      Object.assign(mine, { busy: true, now: null });
      await app.make({ do: "put", of: `${mine.of}.${mine.key[0]}`, value, gesture: mine.gesture });
      mine.busy = false;
      send(mine);
    };
    handle.addEventListener("pointerdown", async (event) => {
      handle.setPointerCapture(event.pointerId);
      const mine = hold = { of: picked, start: [event.clientX, event.clientY], gesture: app.gesture() };
      mine.middle = middle;
      mine.key = await keyOf(id);
      send(mine);
    });
    handle.addEventListener("pointermove", (event) => {
      if (!hold) return;
      hold.now = [event.clientX, event.clientY];
      send(hold);
    });
    for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, () => { hold = null; });
    handle.addEventListener("keydown", async (event) => {
      const way = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      const [key, value] = (await keyOf(id)) ?? [];
      if (key) app.make({ do: "put", of: `${picked}.${key}`, value: step(value, way), gesture: app.gesture() });
    });
  }
  new ResizeObserver(handles).observe($("frame"));

  // Shows what is picked, in the form too.
  function pick(path) {
    if (path === picked) return;
    picked = path;
    $("picture").dataset.picked = picked ?? "";
    if (opened) { opened.open = false; opened.classList.remove("picked"); }
    opened = null;
    draw([]);
    if (picked) {
      const box = table(isParticle(picked) ? "particles" : picked);
      if (box) {
        if (!box.open) opened = box;
        box.fill();
        box.open = true;
        // Within the panel alone: the picture stays in sight.
        $("keys").scrollTop += box.getBoundingClientRect().top - $("keys").getBoundingClientRect().top - 8;
      }
      ask();
    }
    if (!isParticle(picked)) tell(null);
    update();
    document.dispatchEvent(new Event("picked"));
  }

  function update() {
    const all = names();
    if (picked && !all.some(([path]) => path === picked)) return pick(null);
    const list = $("objects");
    const options = [["", "Click an object to pick it"], ...all];
    if (list.options.length !== options.length || options.some(([, text], i) => list.options[i].textContent !== text)) {
      list.replaceChildren(...options.map(([value, textContent]) => Object.assign(document.createElement("option"), { value, textContent })));
    }
    list.value = picked ?? "";
    $("remove").disabled = !picked || isParticle(picked);
    $("aim").disabled = !picked || picked === "floor";
    $("duplicate").disabled = !isMovable();
    for (const button of $("colors").children) button.disabled = !isOffered(colorRow());
    const holds = /^(body|sphere|ellipsoid)/.test(picked ?? "");
    $("inside").disabled = !holds;
    if (!holds) $("inside").checked = false;
    $("inside-name").textContent = holds ? `inside ${picked}` : "inside what is picked";
    for (const box of document.querySelectorAll("details.picked")) box.classList.remove("picked");
    if (picked) table(picked)?.classList.add("picked");
  }

  // The server reads a frame's particles before somebody clicks.
  const prepare = () => { if (app.state?.document?.particles) aim({}); };
  $("picture").addEventListener("pointerenter", prepare);

  // One request at a time, and always the newest place.
  async function pump(drag) {
    if (!drag.to || drag.busy || !drag.hit) return;
    const { to, upright } = drag;
    [drag.to, drag.busy] = [null, true];
    await app.make({ do: "drag", of: drag.of, grabbed: drag.hit.point, from: drag.hit.from, to, is_upright: upright, gesture: drag.gesture });
    drag.busy = false;
    pump(drag);
  }

  function palette(on) {
    $("palette").hidden = !on;
    $("add").setAttribute("aria-expanded", on);
    // The pictures come when they are seen first.
    for (const image of on ? $("palette").querySelectorAll("img[data-src]") : []) {
      image.src = image.dataset.src;
      delete image.dataset.src;
    }
  }

  const self = {
    pick,
    update,
    get picked() { return picked; },
    /** The outline that came with a picture. */
    show(of, lines, isBest) {
      if (of === picked) draw(lines);
      if (isBest && isParticle(picked)) ask();
      else if (isBest && $("picture").matches(":hover")) prepare();
    },
    /** Whether a point of the picture is on an object that can be dragged. */
    isOn: ([x, y]) => isMovable() && test.isPointInPath(shape, x * app.state.size[0], y * app.state.size[1]),
    async grab(start) {
      const drag = { of: picked, gesture: app.gesture(), hit: null, to: null, busy: false };
      grabbed = drag;
      const answer = await aim({ at: start });
      drag.hit = answer?.hits.find((hit) => hit.of === drag.of);
      pump(drag);
    },
    drag(to, upright) {
      if (!grabbed) return;
      Object.assign(grabbed, { to, upright });
      pump(grabbed);
    },
    // The last place is sent all the same.
    drop() { grabbed = null; },
    async click(at) {
      const answer = await aim({ at });
      if (!answer) return;
      const found = answer.hits.map((hit) => hit.of);
      const isAgain = clicked && Math.hypot(at[0] - clicked[0], at[1] - clicked[1]) < NEAR;
      clicked = at;
      const next = isAgain ? found.indexOf(picked) + 1 : 0;
      pick(found[next] ?? found[0] ?? null);
    },
    remove() { if (picked && !isParticle(picked)) app.make({ do: "remove", of: picked }); },
    duplicate() { if (isMovable()) app.make({ do: "duplicate", of: picked }); },
    /** Closes the palette, or lets go of what is picked. Returns whether there was something. */
    leave() {
      if (!$("palette").hidden) { palette(false); $("add").focus(); return true; }
      if (!picked) return false;
      pick(null);
      return true;
    },
  };

  $("colors").replaceChildren(...COLORS.map(([name, value]) => {
    const button = Object.assign(document.createElement("button"), { type: "button", title: name });
    button.setAttribute("aria-label", name);
    button.style.background = value;
    button.addEventListener("click", () => colorRow()?.put(value));
    return button;
  }));
  $("add").addEventListener("click", () => palette($("palette").hidden));
  $("palette").addEventListener("click", (event) => {
    const what = event.target.closest("[data-what]")?.dataset.what;
    if (!what) return;
    palette(false);
    $("add").focus({ preventScroll: true });
    app.make({ do: "add", what, inside: $("inside").checked ? picked : null });
  });
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("#palette, #add")) palette(false);
  });
  $("objects").addEventListener("change", () => pick($("objects").value || null));
  $("duplicate").addEventListener("click", self.duplicate);
  $("remove").addEventListener("click", self.remove);
  $("aim").addEventListener("click", async () => {
    const answer = await aim({ of: picked });
    if (answer?.center) app.look({ ...app.here(), look_at: answer.center });
  });
  return self;
}
