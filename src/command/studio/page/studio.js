// The page: asks for pictures as fast as they come while something moves, and for better ones when nothing does.

import { form } from "./keys.js";
import { dolly, orbit, pan, plan, written } from "./view.js";

const $ = (id) => document.getElementById(id);
const page = crypto.getRandomValues(new Uint32Array(2)).join("-");
const canvas = $("picture");
const context = canvas.getContext("2d");

let state, schema;
let frame = 0;
// Where somebody has gone; null: on the camera's way.
let view = null;
let playing = false, startedAt = 0, startedFrom = 0;
// What is wanted, what is shown of it, and how well.
let wanted = 1, shown = 0, level = 0, best = false, movedAt = 0;
// A draft's sides are this many times shorter, as it turns out.
let shorter = 1;
let busy = null, wake = () => {};

// What the shown picture was seen from, exactly; of other frames the nearest place that is known.
let seen = null;
const place = () => (seen?.frame === frame && seen.version === state.version ? seen : state.way.findLast((p) => p.frame <= frame) ?? state.way[0]);
const here = () => view ?? (({ eye, look_at, fov_deg }) => ({ eye, look_at, fov_deg }))(place());
const isMoving = () => playing || performance.now() - movedAt < 150;

function touch() {
  wanted += 1;
  movedAt = performance.now();
  // A better picture of what is not wanted any more is given up.
  if (busy && busy.level > 0) busy.abort.abort();
  wake();
}

async function picture(level, shorter) {
  const query = new URLSearchParams({ page, frame, level, shorter });
  if (view) query.set("view", written(view));
  const abort = new AbortController();
  busy = { abort, level };
  try {
    const answer = await fetch(`picture?${query}`, { signal: abort.signal });
    if (!answer.ok) return null;
    const facts = JSON.parse(answer.headers.get("x-picture"));
    return { facts, bytes: new Uint8ClampedArray(await answer.arrayBuffer()) };
  } catch {
    return null;
  } finally {
    busy = null;
  }
}

function show({ facts, bytes }, level, ms) {
  if (canvas.width !== facts.width || canvas.height !== facts.height) {
    canvas.width = facts.width;
    canvas.height = facts.height;
  }
  context.putImageData(new ImageData(bytes, facts.width, facts.height), 0, 0);
  const rate = facts.rays / Math.max(facts.ms, 1e-3) / 1e3;
  $("facts").textContent = `${facts.width} x ${facts.height}, ${facts.ms.toFixed(1)} ms, ${rate.toFixed(1)} Mrays/s${facts.best ? "" : ", refining"}`;
  if (!view) seen = facts;
  // For whoever measures.
  const data = canvas.dataset;
  Object.assign(data, { frame, level, best: facts.best, version: facts.version, ms: ms.toFixed(1), painted: Number(data.painted ?? 0) + 1 });
}

async function paint() {
  for (;;) {
    if (shown === wanted && (best || isMoving())) {
      await new Promise((done) => { wake = done; setTimeout(done, best ? 2000 : 40); });
      if (shown === wanted && best) continue;
      if (shown === wanted && isMoving()) continue;
    }
    const mine = wanted;
    const isNew = shown !== mine;
    const now = isNew ? 0 : level;
    const small = isNew && isMoving() ? shorter : 1;
    const start = performance.now();
    const made = await picture(now, small);
    const ms = performance.now() - start;
    if (!made) {
      // Given up, or there is a fault; the next change begins anew.
      if (mine === wanted) { [shown, best] = [mine, true]; }
      continue;
    }
    show(made, now, ms);
    if (small > 1 || (isNew && isMoving())) {
      if (ms > 60 && shorter < 6) shorter += 1;
      if (ms < 25 && shorter > 1) shorter -= 1;
    }
    shown = mine;
    best = made.facts.best;
    level = Math.min(now + 1, state.levels.length - 1);
    if (playing) advance();
  }
}

function go(to) {
  frame = Math.max(0, Math.min(state.frames - 1, Math.round(to)));
  $("time").value = frame;
  $("number").textContent = frame;
  plan($("map"), state, here());
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
  plan($("map"), state, here());
  touch();
}

function take(next) {
  const isOther = !state || next.version !== state.version;
  state = next;
  $("name").textContent = state.name;
  document.title = `${state.name.split("/").pop()} - polyfly studio`;
  $("problems").hidden = !state.problems;
  $("problems").textContent = state.problems ?? "";
  $("time").max = state.frames - 1;
  $("seamless").textContent = state.loop.length ? "" : "a seamless loop";
  $("seamless").title = state.loop.join("\n");
  $("write").disabled = $("discard").disabled = state.changes.length === 0;
  run(state.batch);
  if (isOther) {
    form($("keys"), schema, state, set);
    go(frame);
  }
}

async function ask(name, body) {
  const answer = await fetch(name, { method: "POST", body: JSON.stringify(body ?? {}) });
  if (answer.ok) return take(await answer.json());
  $("problems").hidden = false;
  $("problems").textContent = await answer.text();
}

// Only the newest value of a key that is being dragged is sent.
const waiting = new Map();
let isSending = false;
async function set(key, value) {
  waiting.set(key, value);
  if (isSending) return;
  isSending = true;
  while (waiting.size) {
    const [[key, value]] = waiting;
    waiting.delete(key);
    await ask("set", { key, value });
  }
  isSending = false;
}

async function use() {
  if (!view) return;
  const to = view;
  view = null;
  $("reset").disabled = $("look").disabled = true;
  await ask("look", { frame, view: written(to) });
}

function run({ running, done, frames, code, words }) {
  $("stop").disabled = !running;
  for (const id of ["render", "resume", "overwrite"]) $(id).disabled = running;
  $("progress").hidden = !running && code === null;
  $("progress").max = Math.max(frames, 1);
  $("progress").value = done;
  const ended = code === null ? "" : code === 0 ? "done: " : `ended with code ${code}: `;
  $("run-facts").textContent = running || code !== null ? `${ended}${done} of ${frames} frames` : "";
  $("run-words").hidden = !words;
  $("run-words").textContent = words;
}

async function sheet() {
  const button = $("make-sheet");
  button.disabled = true;
  const answer = await fetch("sheet");
  if (answer.ok) {
    URL.revokeObjectURL($("sheet-picture").src);
    $("sheet-picture").src = URL.createObjectURL(await answer.blob());
    $("sheet-picture").hidden = false;
  }
  button.disabled = false;
}

async function tokens() {
  const answer = await fetch("tokens");
  const text = await answer.text();
  if (!answer.ok) { $("copied").textContent = text; return; }
  await navigator.clipboard.writeText(text).then(
    () => { $("copied").textContent = "copied"; },
    () => { $("copied").textContent = "the browser does not let this page write to the clipboard"; },
  );
}

// The mouse, a finger, and keys.
const pointer = { id: null };
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  Object.assign(pointer, { id: event.pointerId, x: event.clientX, y: event.clientY, pans: event.button !== 0 || event.shiftKey });
  canvas.classList.add("moving");
});
canvas.addEventListener("pointermove", (event) => {
  if (event.pointerId !== pointer.id) return;
  const width = canvas.clientWidth;
  const [dx, dy] = [(event.clientX - pointer.x) / width, (event.clientY - pointer.y) / width];
  [pointer.x, pointer.y] = [event.clientX, event.clientY];
  look(pointer.pans ? pan(here(), -dx, dy) : orbit(here(), -dx * Math.PI * 1.5, dy * Math.PI * 1.5));
});
const release = () => { pointer.id = null; canvas.classList.remove("moving"); };
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", release);
canvas.addEventListener("contextmenu", (event) => event.preventDefault());
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  look(dolly(here(), Math.exp(Math.sign(event.deltaY) * 0.08)));
}, { passive: false });

document.addEventListener("keydown", (event) => {
  const isField = event.target.matches("input, select");
  if ((event.ctrlKey || event.metaKey) && event.key === "s") { event.preventDefault(); ask("write"); return; }
  if (isField || event.ctrlKey || event.metaKey || event.altKey) return;
  const turn = 0.06;
  const deeds = {
    " ": () => play(!playing),
    ArrowLeft: () => (event.shiftKey ? look(orbit(here(), -turn, 0)) : go(frame - 1)),
    ArrowRight: () => (event.shiftKey ? look(orbit(here(), turn, 0)) : go(frame + 1)),
    ArrowUp: () => look(event.shiftKey ? orbit(here(), 0, turn) : dolly(here(), 0.95)),
    ArrowDown: () => look(event.shiftKey ? orbit(here(), 0, -turn) : dolly(here(), 1.05)),
    Home: () => go(0),
    End: () => go(state.frames - 1),
    Escape: () => look(null),
    c: use,
  };
  const deed = deeds[event.key];
  if (!deed || (event.key === " " && event.target.matches("button"))) return;
  event.preventDefault();
  deed();
});

$("time").addEventListener("input", () => { play(false); go(Number($("time").value)); });
$("play").addEventListener("click", () => play(!playing));
$("reset").addEventListener("click", () => look(null));
$("look").addEventListener("click", use);
$("write").addEventListener("click", () => ask("write"));
$("discard").addEventListener("click", () => ask("discard"));
$("make-sheet").addEventListener("click", sheet);
$("tokens").addEventListener("click", tokens);
$("render").addEventListener("click", () => ask("render", {}));
$("resume").addEventListener("click", () => ask("render", { existing: "resume" }));
$("overwrite").addEventListener("click", () => ask("render", { existing: "overwrite" }));
$("stop").addEventListener("click", () => ask("stop"));
for (const tab of document.querySelectorAll("[role=tab]")) {
  tab.addEventListener("click", () => {
    for (const other of document.querySelectorAll("[role=tab]")) {
      other.setAttribute("aria-selected", other === tab);
      $(other.dataset.panel).hidden = other !== tab;
    }
    plan($("map"), state, here());
  });
}

schema = await (await fetch("schema")).json();
take(await (await fetch("state")).json());
paint();
new EventSource("events").onmessage = async () => take(await (await fetch("state")).json());
