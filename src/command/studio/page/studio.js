// The page: requests drafts as fast as they arrive during changes, and finer pictures when nothing changes.

import { camera } from "./camera.js";
import { image, working } from "./image.js";
import { form, questionButtons } from "./keys.js";
import { looks } from "./looks.js";
import { objects } from "./objects.js";
import { runs } from "./runs.js";
import { start } from "./start.js";
import { text } from "./text.js";
import { timeline } from "./timeline.js";
import { orbit, plan, turn as turned, written } from "./view.js";

const $ = (id) => document.getElementById(id);
const page = crypto.getRandomValues(new Uint32Array(2)).join("-");
const canvas = $("picture");
const context = canvas.getContext("2d");

let state, schema;
let frame = 0;
// The user's viewpoint; null for the camera's own.
let view = null;
let playing = false, startedAt = 0, startedFrom = 0;
// The number of the wanted and of the shown picture, and the refinement level of the latter.
let wanted = 1, shown = 0, level = 0, best = false, movedAt = 0;
// The divisor of a draft's sides, so that a draft takes DRAFT ms, with its way to the page.
let downscale = 4;
const DRAFT = 20, MAX_DOWNSCALE = 8;
let busy = null, wake = () => {}, afterPaint = () => {};

// The exact viewpoint of the shown picture; for other frames, the nearest known one.
let seen = null;
const place = () => (seen?.frame === frame && seen.picture === state.picture ? seen : state.way.findLast((p) => p.frame <= frame) ?? state.way[0]);
const here = () => view ?? (({ eye, look_at, fov_deg }) => ({ eye, look_at, fov_deg }))(place());
const isMoving = () => playing || performance.now() - movedAt < 150;

const map = () => { if (!$("plan").hidden) plan($("map"), state, here()); };

function touch() {
  wanted += 1;
  canvas.dataset.wanted = wanted;
  movedAt = performance.now();
  // A refinement of an outdated picture is aborted.
  if (busy?.refines) busy.abort.abort();
  wake();
}

async function picture(level, downscale, refines) {
  const body = JSON.stringify({ page, ...app.seen(), level, downscale, picked: things.picked });
  const abort = new AbortController();
  busy = { abort, refines };
  try {
    const answer = await fetch("picture", { method: "POST", body, signal: abort.signal });
    if (!answer.ok) return { isOver: answer.status === 409 };
    const facts = JSON.parse(answer.headers.get("x-picture"));
    return { facts, bytes: new Uint8ClampedArray(await answer.arrayBuffer()) };
  } catch {
    return {};
  } finally {
    busy = null;
  }
}

function show({ facts, bytes }, level, ms, mine) {
  if (canvas.width !== facts.width || canvas.height !== facts.height) {
    canvas.width = facts.width;
    canvas.height = facts.height;
  }
  context.putImageData(new ImageData(bytes, facts.width, facts.height), 0, 0);
  things.show(facts.of, facts.outline, facts.best);
  const rate = facts.rays / Math.max(facts.ms, 1e-3) / 1e3;
  $("facts").textContent = `${facts.width} x ${facts.height}, ${facts.ms.toFixed(1)} ms, ${rate.toFixed(1)} Mrays/s${facts.best ? "" : ", refining"}`;
  $("facts").title = facts.devices.join(", ");
  if (!view) seen = facts;
  seePicture();
  // For measurements.
  const data = canvas.dataset;
  Object.assign(data, { frame, level, request: mine, best: facts.best, picture: facts.picture, version: facts.picture === state.picture ? state.version : facts.picture, ms: ms.toFixed(1), painted: Number(data.painted ?? 0) + 1 });
  requestAnimationFrame(() => setTimeout(afterPaint));
}

async function paint() {
  for (;;) {
    while (working.isPaused) await new Promise((done) => { wake = done; });
    if (shown === wanted && (best || isMoving())) {
      await new Promise((done) => { wake = done; setTimeout(done, best ? 2000 : 40); });
      if (working.isPaused || (shown === wanted && (best || isMoving()))) continue;
    }
    const mine = wanted;
    const isNew = shown !== mine;
    const now = isNew ? 0 : level;
    const small = Math.max(isNew ? downscale : 1, working.scale);
    const start = performance.now();
    const answer = await picture(now, small, !isNew);
    const ms = performance.now() - start;
    if (!answer.facts) {
      // A change ends a refinement, and if it changes no picture that goes on; after a failure the next change starts again.
      if (mine === wanted && answer.isOver) await Promise.race([deeds, new Promise((done) => { wake = done; })]);
      else if (mine === wanted) [shown, best] = [mine, true];
      continue;
    }
    show(answer, now, ms, mine);
    if (now === 0) {
      // A smaller picture does not come sooner where a changed scene was built first.
      const left = DRAFT - Math.min(ms - answer.facts.ms, DRAFT / 3);
      downscale = Math.min(MAX_DOWNSCALE, Math.ceil(small * Math.sqrt(answer.facts.ms / left)) || 1);
    }
    shown = mine;
    best = answer.facts.best || small === working.scale && small > 1 && now === state.levels.length - 1;
    level = small > working.scale ? 0 : Math.min(now + 1, state.levels.length - 1);
    if (playing) advance();
  }
}

function go(to) {
  frame = Math.max(0, Math.min(state.frames - 1, Math.round(to)));
  times.frame();
  map();
  touch();
}

function advance() {
  const passed = ((performance.now() - startedAt) / 1000) * state.fps;
  go((startedFrom + passed) % state.frames);
}

function play(on) {
  playing = on;
  [startedAt, startedFrom] = [performance.now(), frame];
  $("play").textContent = on ? "Pause" : "Play";
  $("play").setAttribute("aria-pressed", on);
  if (on) advance();
}

function look(to) {
  view = to;
  $("reset").disabled = $("look").disabled = !view;
  map();
  touch();
}

async function take(next) {
  // Answers may arrive out of order.
  if (state && (next.version < state.version || next.news < state.news)) return;
  const isOther = next.picture !== state?.picture;
  state = next;
  // The shown picture is that of all versions without another.
  if (Number(canvas.dataset.picture) === state.picture) canvas.dataset.version = state.version;
  const isPicked = typeof next.picked === "string";
  const isShown = isOther && !isPicked;
  if (isShown) go(frame);
  $("name").textContent = $("name").title = state.name;
  document.title = `${state.name.split("/").pop()} - polyfly studio`;
  $("problems").hidden = !state.problems;
  $("problems").textContent = state.problems ?? "";
  $("discard").disabled = state.changes.length === 0;
  $("write").disabled = state.is_written;
  $("undo").disabled = !state.can_undo;
  $("redo").disabled = !state.can_redo;
  notices();
  // The form is made anew behind the picture, unless that takes long: both need the processor.
  if (isShown) await new Promise((done) => { afterPaint = done; setTimeout(done, 60); });
  panels.forEach((panel) => panel(state));
  fields();
  times.update();
  things.update();
  if (!isPicked) return;
  things.pick(next.picked || null);
  if (isOther) go(frame);
}

// What the user has to answer.
function notices() {
  $("left").hidden = !state.left;
  if (state.left) {
    const { path, time, is_older: isOlder } = state.left;
    const since = time === null ? "" : ` of ${new Date(time * 1000).toLocaleString()}`;
    $("left-text").textContent = `Unwritten changes${since} are in ${path}.${isOlder ? " The scene has been saved since then." : ""}`;
  }
  $("questions").hidden = state.questions.length === 0;
  $("questions").replaceChildren(...state.questions.map((question) => {
    const box = document.createElement("div");
    const text = document.createElement("span");
    box.className = "question";
    text.textContent = `An editor has changed ${question.key} too.`;
    box.append(text, ...questionButtons(editor, question));
    return box;
  }));
}

// Fields that the user is not editing show the scene's values.
let gestures = 0;
const editor = {
  set: (changes, gesture) => set(changes, gesture),
  isWaiting: (key) => isWaiting(key),
  gesture: () => `${page}-${gestures++}`,
  // The values of keys that another word has set aside, in TOML.
  aside: new Map(),
  key: (key) => times.key(key),
};
const fields = () => form($("keys"), Object.assign(editor, { schema, state }));

// Shows a refused change until the next one.
function refuse(text) {
  $("refusal").hidden = !text;
  $("refusal-text").textContent = text;
}

async function send(name, body) {
  refuse("");
  let answer;
  try {
    answer = await fetch(name, { method: "POST", body: JSON.stringify(body ?? {}) });
  } catch {
    const changes = (body?.changes ?? []).map(({ key, value }) => ` ${key} = ${value}`);
    refuse(`Not sent: ${name}${changes.join(",")}`);
    fields();
    lost();
    return false;
  }
  if (answer.ok) await take(await answer.json());
  else {
    refuse(await answer.text());
    fields();
  }
  return answer.ok;
}

// Changes are sent in order, each after the answer to the one before.
let deeds = Promise.resolve();
function ask(name, body) {
  deeds = deeds.then(() => send(name, body));
  return deeds;
}

// What the modules use of the page.
const app = {
  get state() { return state; },
  get frame() { return frame; },
  get view() { return view && written(view); },
  get picked() { return things.picked; },
  pick: (path) => things.pick(path),
  here, place, look, go, lost, ask, refuse, touch, gesture: editor.gesture,
  settled: () => deeds, copy: (text, place) => copy(text, place), writeBack: () => writeBack(),
  set: (changes, gesture = editor.gesture()) => set(changes, gesture),
  open: (panel) => $(`tab-${panel}`).click(),
  seen: () => ({ frame, view: app.view }),
  make: (deed) => ask("make", { ...app.seen(), deed }),
  /** A question that changes nothing; null without an answer. */
  async post(name, body) {
    const answer = await fetch(name, { method: "POST", body: JSON.stringify(body) }).catch(() => null);
    if (!answer) lost();
    return answer?.ok ? answer.json() : null;
  },
};
const seePicture = image(app);
const panels = [runs(app), text(app), looks(app)];
const things = objects(app);
const times = timeline(app);
const mouse = camera(app, canvas, things);

// While a key is dragged, only its newest value is sent. The first of the changes is the key's own.
const waiting = new Map();
let sending = null;
const isWaiting = (key) => waiting.has(key) || sending === key;
function set(changes, gesture) {
  const [[key]] = changes;
  const isQueued = waiting.has(key);
  waiting.set(key, { changes: changes.map(([key, value]) => ({ key, value })), gesture });
  if (isQueued) return deeds;
  deeds = deeds.then(async () => {
    const body = waiting.get(key);
    waiting.delete(key);
    sending = key;
    try { return await send("set", body); } finally { sending = null; fields(); }
  });
  return deeds;
}

// The field that is being edited is saved too.
function writeBack() {
  document.activeElement?.closest(".key")?.commit();
  return ask("write");
}

async function use() {
  if (!view) return;
  const to = view;
  await ask("look", { frame, view: written(to) });
  if (view === to && $("refusal").hidden) look(null);
}

// The studio may end and be started again.
let source = null, isLost = false;
const PARTS = ["actions", "tools", "frame", "timeline"].map($).concat(document.querySelector("aside"));
const LOST = "Not connected: the studio has ended, or does not answer. Trying again ...";
const RESTARTED = "Not connected: the studio has been started again. Open the address that it has printed.";

async function news() {
  const answer = await fetch("state", { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw answer.status;
  return answer.json();
}

function listen() {
  source?.close();
  source = new EventSource("events");
  source.onmessage = async ({ data }) => {
    // The answer to what the page has asked for says the same.
    await deeds;
    if (Number(data) > state.news) news().then(take, lost);
  };
  source.onerror = lost;
}

async function lost() {
  if (isLost) return;
  isLost = true;
  source?.close();
  play(false);
  $("lost").textContent = LOST;
  $("lost").hidden = false;
  PARTS.forEach((part) => { part.inert = true; });
  while (isLost) {
    await new Promise((done) => setTimeout(done, 1000));
    try {
      const next = await news();
      isLost = false;
      // The numbers of a restarted studio begin again.
      if (next.version < state.version || next.news < state.news) state = null;
      $("lost").hidden = true;
      PARTS.forEach((part) => { part.inert = false; });
      await take(next);
      touch();
      listen();
    } catch (status) {
      $("lost").textContent = typeof status === "number" ? RESTARTED : LOST;
    }
  }
}

async function tokens() {
  const answer = await fetch("tokens").catch(() => null);
  if (!answer) return lost();
  const text = await answer.text();
  $("copied").textContent = "";
  refuse(answer.ok ? "" : text);
  if (answer.ok) copy(text, $("copied"));
}

const copy = (text, place) => navigator.clipboard.writeText(text).then(
  () => { place.textContent = "copied"; },
  () => { place.textContent = "the browser does not let this page write to the clipboard"; },
);

// The focused element handles its own keys first.
function isTaken(target, key) {
  const moves = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(key);
  if (target.id === "time") return moves;
  if (target.matches("input, select, textarea")) return true;
  if (target.matches("[role=tab], [role=tabpanel], pre")) return moves || key === " ";
  return target.matches("button, summary, a") && key === " ";
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    if (!isLost) writeBack();
    return;
  }
  const step = (event.ctrlKey || event.metaKey) && !event.altKey && { z: event.shiftKey ? "redo" : "undo", y: "redo" }[event.key.toLowerCase()];
  // A field that is being edited has its own undo.
  if (step && !event.target.closest(".key")?.isBusy()) {
    event.preventDefault();
    if (!isLost) ask(step);
    return;
  }
  if (isLost || event.defaultPrevented || $("help").open) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "d" && things.picked && !isTaken(event.target, "d")) {
    event.preventDefault();
    things.duplicate();
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const turn = 0.06;
  // A panorama is looked around in.
  const lookFrom = (right, up) => look(state.is_round ? turned(here(), -right * turn, up * turn) : orbit(here(), right * turn, up * turn));
  const shortcuts = {
    " ": () => play(!playing),
    ArrowLeft: () => (event.shiftKey ? lookFrom(-1, 0) : go(frame - 1)),
    ArrowRight: () => (event.shiftKey ? lookFrom(1, 0) : go(frame + 1)),
    ArrowUp: () => (event.shiftKey ? lookFrom(0, 1) : mouse.nearer(0.95)),
    ArrowDown: () => (event.shiftKey ? lookFrom(0, -1) : mouse.nearer(1.05)),
    Home: () => go(0),
    End: () => go(state.frames - 1),
    Escape: () => things.leave() || look(null),
    Delete: things.remove,
    c: use,
    k: () => times.key("camera.key"),
    "?": help,
  };
  if (isTaken(event.target, event.key)) return;
  if (mouse.flies(event)) return event.preventDefault();
  const deed = shortcuts[event.key];
  if (!deed) return;
  event.preventDefault();
  deed();
});

const help = () => $("help").showModal();

$("time").addEventListener("input", () => { play(false); go(Number($("time").value)); });
$("play").addEventListener("click", () => play(!playing));
$("reset").addEventListener("click", () => look(null));
$("look").addEventListener("click", use);
$("write").addEventListener("click", writeBack);
$("show-help").addEventListener("click", help);
$("refusal-close").addEventListener("click", () => refuse(""));
for (const name of ["undo", "redo", "discard"]) $(name).addEventListener("click", () => ask(name));
$("left-take").addEventListener("click", () => ask("left", { is_taken: true }));
$("left-drop").addEventListener("click", () => ask("left", { is_taken: false }));
$("tokens").addEventListener("click", tokens);
const tabs = [...document.querySelectorAll("[role=tab]")];
tabs.forEach((tab, at) => {
  tab.addEventListener("click", () => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", other === tab);
      other.tabIndex = other === tab ? 0 : -1;
      $(other.dataset.panel).hidden = other !== tab;
    }
    document.body.dataset.panel = tab.dataset.panel;
    panels.forEach((panel) => panel(state));
    seePicture();
    map();
  });
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });
});

// Without a scene the page begins where one is chosen.
const first = await news();
if (first.name) {
  $("open").hidden = false;
  $("open").addEventListener("click", () => { play(false); start(() => $("open").focus()); });
  schema = await (await fetch("schema")).json();
  await take(first);
  paint();
  listen();
} else start(null);
