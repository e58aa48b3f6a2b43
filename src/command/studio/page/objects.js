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
  let clicked = null, grabbed = null;
  const test = document.createElement("canvas").getContext("2d");

  const aim = (body) => app.post("aim", { ...app.seen(), ...body });
  const table = (path) => document.querySelector(`[data-table="${CSS.escape(path)}"]`);
  const row = (key) => document.querySelector(`[data-key="${CSS.escape(`${picked}.${key}`)}"]`);
  const isOffered = (one) => one !== null && !one.hidden;
  const colorRow = () => (picked ? row(picked === "floor" ? "tint" : "color") : null);
  const names = () => {
    const { document } = app.state;
    const lists = LISTS.flatMap((list) => (document?.[list] ?? []).map((value, i) => [`${list}[${i}]`, nameOf(list, value, i)]));
    return [...(document?.floor ? [["floor", "the floor"]] : []), ...lists].slice(0, MAX_NAMES);
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
  }

  // Shows what is picked, in the form too.
  function pick(path) {
    if (path === picked) return;
    picked = path;
    $("picture").dataset.picked = picked ?? "";
    if (opened) { opened.open = false; opened.classList.remove("picked"); }
    opened = null;
    draw([]);
    if (picked) {
      const box = table(picked);
      if (box) {
        if (!box.open) opened = box;
        box.fill();
        box.open = true;
        box.scrollIntoView({ block: "nearest" });
      }
      aim({ of: picked }).then((answer) => { if (answer && picked === path) draw(answer.outline); });
    }
    update();
    document.dispatchEvent(new Event("picked"));
  }

  function update() {
    const all = names();
    if (picked && !all.some(([path]) => path === picked)) return pick(null);
    const list = $("objects");
    const options = [["", "Nothing picked"], ...all];
    if (list.options.length !== options.length || options.some(([, text], i) => list.options[i].textContent !== text)) {
      list.replaceChildren(...options.map(([value, textContent]) => Object.assign(document.createElement("option"), { value, textContent })));
    }
    list.value = picked ?? "";
    for (const id of ["remove", "aim"]) $(id).disabled = !picked;
    $("aim").disabled = $("duplicate").disabled = !picked || picked === "floor";
    for (const button of $("colors").children) button.disabled = !isOffered(colorRow());
    const holds = /^(body|sphere|ellipsoid)/.test(picked ?? "");
    $("inside").disabled = !holds;
    if (!holds) $("inside").checked = false;
    $("inside-name").textContent = holds ? `inside ${picked}` : "inside what is picked";
    for (const box of document.querySelectorAll("details.picked")) box.classList.remove("picked");
    if (picked) table(picked)?.classList.add("picked");
  }

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
    show(of, lines) { if (of === picked) draw(lines); },
    /** Whether a point of the picture is on an object that can be dragged. */
    isOn: ([x, y]) => picked !== null && picked !== "floor" && test.isPointInPath(shape, x * app.state.size[0], y * app.state.size[1]),
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
    remove() { if (picked) app.make({ do: "remove", of: picked }); },
    duplicate() { if (picked && picked !== "floor") app.make({ do: "duplicate", of: picked }); },
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
