// The text of the scene beside its picture: typed here or changed by a field, it is one document.

const $ = (id) => document.getElementById(id);
const el = (name, props = {}, ...children) => {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children);
  return node;
};
// After a pause what was typed is sent; after a longer one it begins another step.
const PAUSE = 200, STEP = 1500;

/** The key or table at a place of a TOML text, as `polyfly explain` takes it. */
export function keyAt(text, at) {
  const lines = text.slice(0, at).split("\n");
  const line = lines.pop() + text.slice(at).split("\n", 1)[0];
  const table = (one) => /^\s*\[+\s*([^\]#]+?)\s*\]/.exec(one)?.[1];
  const own = table(line);
  if (own) return own;
  const key = /^\s*([\w.\-"]+)\s*=/.exec(line)?.[1]?.replaceAll('"', "");
  const above = lines.reverse().map(table).find(Boolean);
  return key ? [above, key].filter(Boolean).join(".") : above;
}

// The parts of a line of TOML that have a color: what is said about it, a table, a key, a text, a number or a word.
const PARTS = /(#.*)|^(\s*\[.*?\]+)|([\w.\-]+)(?=\s*=)|("(?:[^"\\]|\\.)*"?|'[^']*'?)|(\b\d[\w.:+\-]*|\btrue\b|\bfalse\b)/gm;
const KINDS = ["comment", "table", "name", "quoted", "number"];
// Longer texts stay plain, so that typing stays quick.
const LONGEST = 60_000;

/** The nodes of a colored text. */
export function coloured(text) {
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(PARTS)) {
    const kind = KINDS[found.slice(1).findIndex((part) => part !== undefined)];
    nodes.push(text.slice(end, found.index), el("span", { className: kind, textContent: found[0] }));
    end = found.index + found[0].length;
  }
  return [...nodes, text.slice(end)];
}

/** Wires the panel of the text; the function that comes back shows a state. */
export function text(app) {
  const source = $("source");
  // The version that is shown, and what is typed and not yet in the document.
  let shown = -1, pending = null, timer = 0, sending = 0, typedAt = 0, gesture = null;
  const explained = new Map();
  let marks = [];

  function colour() {
    const plain = source.value.length > LONGEST;
    $("sheet-of-text").classList.toggle("plain", plain);
    $("ink").replaceChildren(...(plain ? [] : coloured(source.value)), "\n");
    follow();
  }
  function follow() {
    $("gutter").scrollTop = $("ink").scrollTop = source.scrollTop;
    $("ink").scrollLeft = source.scrollLeft;
  }

  function gutter() {
    colour();
    const count = source.value.split("\n").length;
    const faults = new Map(marks.map((mark) => [mark.line, mark]));
    $("gutter").replaceChildren(...Array.from({ length: count }, (_, i) => {
      const mark = faults.get(i + 1);
      const kind = mark ? (mark.is_error ? "fault" : "doubt") : "";
      return el("div", { className: kind, textContent: i + 1, title: mark ? said(mark) : "" });
    }));
    $("gutter").scrollTop = source.scrollTop;
  }

  const said = ({ what, expected, help }) => [what, expected, help].filter(Boolean).join("; ");

  // The place of a line and a column in the text.
  const offset = (line, column) => source.value.split("\n").slice(0, line - 1).reduce((at, one) => at + one.length + 1, 0) + column - 1;

  function faults() {
    const row = (mark) => {
      const go = el("button", { type: "button", className: mark.is_error ? "fault" : "doubt" }, el("b", { textContent: `${mark.line}:${mark.column}` }), ` ${said(mark)}`);
      go.addEventListener("click", () => {
        source.focus();
        source.setSelectionRange(offset(mark.line, mark.column), offset(mark.line, mark.column));
        source.scrollTop = (mark.line - 3) * parseFloat(getComputedStyle(source).lineHeight);
      });
      return el("li", {}, go);
    };
    $("text-faults").replaceChildren(...marks.map(row));
    const isFaulty = marks.some((mark) => mark.is_error);
    source.setAttribute("aria-invalid", isFaulty);
    // They need not be told twice.
    document.body.classList.toggle("told", isFaulty);
  }

  async function fetchText() {
    const answer = await fetch("text").catch(() => null);
    if (!answer?.ok) return;
    const next = await answer.json();
    // While somebody types, the text on the page is the newer one.
    if (pending !== null || sending || next.version < shown) return;
    shown = next.version;
    marks = next.marks;
    if (source.value !== next.text) {
      const { selectionStart, selectionEnd, scrollTop } = source;
      source.value = next.text;
      source.setSelectionRange(selectionStart, selectionEnd);
      source.scrollTop = scrollTop;
    }
    gutter();
    faults();
    explain();
  }

  async function send() {
    clearTimeout(timer);
    if (pending === null) return;
    const body = { text: pending, gesture };
    pending = null;
    sending += 1;
    await app.ask("text", body);
    sending -= 1;
    fetchText();
  }

  source.addEventListener("input", () => {
    if (!gesture || performance.now() - typedAt > STEP) gesture = app.gesture();
    typedAt = performance.now();
    pending = source.value;
    clearTimeout(timer);
    timer = setTimeout(send, PAUSE);
    gutter();
  });
  source.addEventListener("blur", () => { send(); gesture = null; });
  source.addEventListener("scroll", follow);
  source.addEventListener("keydown", (event) => {
    // Undo is the document's: what is typed goes there first.
    if ((event.ctrlKey || event.metaKey) && ["z", "y", "s"].includes(event.key.toLowerCase())) { send(); gesture = null; }
  });

  // Explains the key at the cursor.
  async function explain() {
    const key = keyAt(source.value, source.selectionStart);
    const help = $("text-help");
    help.dataset.key = key ?? "";
    if (!key) { help.hidden = true; return; }
    if (!explained.has(key)) {
      const answer = await fetch(`explain/${encodeURIComponent(key)}`).catch(() => null);
      explained.set(key, answer?.ok ? (await answer.text()).trim() : "");
    }
    if (help.dataset.key !== key) return;
    help.textContent = explained.get(key);
    help.hidden = !help.textContent;
  }
  let explaining = 0;
  document.addEventListener("selectionchange", () => {
    if (document.activeElement !== source) return;
    clearTimeout(explaining);
    explaining = setTimeout(explain, 80);
  });

  return (state) => { if (!$("text").hidden && state.version !== shown) fetchText(); };
}
