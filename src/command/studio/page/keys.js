// Fields for the keys of a scene, generated from the schema: groups, order, types and defaults.

// Maximum number of tables of a list that have fields; document.rs has the same number.
const MAX_ITEMS = 60;
const el = (name, props = {}, ...children) => {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children);
  return node;
};

const resolved = (schema, place) => {
  const reference = place.$ref ?? place.allOf?.[0]?.$ref ?? place.items?.$ref;
  return reference ? reference.split("/").slice(1).reduce((at, name) => at[name], schema) : place;
};
const isTable = (schema, place) => resolved(schema, place).properties !== undefined;
const valueAt = (values, path) => path.split(/[.[\]]+/).filter(Boolean).reduce((at, name) => at?.[name], values ?? undefined);
// A key may have its British spelling.
const spelled = (name, values) => [name, name.replace("color", "colour"), name.replace(/^center$/, "centre")].find((n) => values?.[n] !== undefined) ?? name;

// A color for a color picker, from any notation. A color brighter than 1 keeps its hue.
const brush = document.createElement("canvas").getContext("2d");
export function swatch(value) {
  if (Array.isArray(value)) {
    const peak = Math.max(1, ...value);
    return "#" + value.map((x) => Math.round((255 * Math.max(0, x)) / peak).toString(16).padStart(2, "0")).join("");
  }
  brush.fillStyle = "#808080";
  if (typeof value === "string") brush.fillStyle = value;
  return brush.fillStyle.startsWith("#") ? brush.fillStyle : "#808080";
}

// A value over time: a table of keys.
const isOverTime = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
// A value in TOML.
const inToml = (value) => (isOverTime(value) ? `{ ${Object.entries(value).map(([key, one]) => `${key} = ${inToml(one)}`).join(", ")} }` : Array.isArray(value) ? `[${value.map(inToml).join(", ")}]` : JSON.stringify(value));
// The text of a value in a field; lists and tables as in TOML.
const written = (value) => (value === undefined ? "" : isOverTime(value) ? inToml(value) : Array.isArray(value) ? `[${value.map(written).join(", ")}]` : String(value));
const put = (field, text) => { if (field.value !== text) field.value = text; };
// A number as in TOML; other text unchanged.
const typed = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? String(Number(text)) : text.trim());
const onChange = (field, deed) => field.addEventListener("change", deed);

// Kinds of fields: each returns its nodes from left to right, the one that the label belongs to, and a function that shows a value.
function numberFields(kind, set, asText) {
  const numbers = kind.anyOf?.find((one) => one.type !== "string") ?? kind;
  const field = el("input", { placeholder: "not set", ...(asText ? { type: "text" } : { type: "number", step: "any" }) });
  onChange(field, () => set(typed(field.value) || null));
  const range = kind["x-slider"];
  if (!range) return { nodes: [field], main: field, show: (value) => put(field, written(value)) };
  const [min, max] = range;
  const step = numbers.type === "integer" ? 1 : 10 ** Math.floor(Math.log10((max - min) / 100));
  const slider = el("input", { type: "range", step });
  slider.addEventListener("input", () => { field.value = Number(Number(slider.value).toPrecision(9)); set(field.value); });
  const show = (value) => {
    put(field, written(value));
    const is = typeof value === "number" ? value : min;
    // The range of the slider includes the value.
    Object.assign(slider, { min: Math.min(min, is), max: Math.max(max, is), value: is });
  };
  return { nodes: [slider, field], main: field, show };
}

function colourFields(set) {
  const picker = el("input", { type: "color" });
  const field = el("input", { type: "text" });
  picker.addEventListener("input", () => { field.value = picker.value; set(picker.value); });
  onChange(field, () => set(field.value || null));
  return { nodes: [picker, field], main: field, show: (value) => { put(field, written(value)); picker.value = swatch(value); } };
}

function wordField(kind, set) {
  const abouts = kind.enumDescriptions ?? [];
  const choice = el("select", {}, ...kind.enum.map((word, i) => el("option", { value: word, textContent: word, title: abouts[i] ?? "" })));
  onChange(choice, () => set(choice.value));
  return { nodes: [choice], main: choice, show: (value) => { choice.value = value ?? ""; } };
}

function switchField(set) {
  const box = el("input", { type: "checkbox" });
  onChange(box, () => set(String(box.checked)));
  return { nodes: [box], main: box, show: (value) => { box.indeterminate = value === undefined; box.checked = value === true; } };
}

function listFields(count, set) {
  const fields = Array.from({ length: count }, () => el("input", { type: "number", step: "any" }));
  const all = () => { if (fields.every((field) => field.value !== "")) set(`[${fields.map((field) => typed(field.value)).join(", ")}]`); };
  fields.forEach((field) => onChange(field, all));
  return { nodes: fields, main: fields[0], show: (value) => fields.forEach((field, i) => put(field, written(value?.[i]))) };
}

// The keys of a value over time: a row for each, with its time, its value and its way to the next key.
function timeFields(kind, place, eases, set) {
  const rows = el("div", { className: "times" });
  const add = el("button", { type: "button", className: "small", textContent: "Add a key" });
  const closed = el("input", { type: "checkbox" });
  const box = el("div", { className: "over-time" }, rows, el("div", { className: "time" }, add, el("label", { title: "The last key leads to the first" }, closed, " closed")));
  box.setAttribute("role", "group");
  let value;
  const read = (text) => {
    if (typed(text) === "" || Number.isFinite(Number(text))) return Number(text);
    try { return JSON.parse(text); } catch { return text.trim(); }
  };
  const send = (keys) => set(inToml({ ...value, keys: keys.toSorted((a, b) => a[0] - b[0]) }));
  onChange(closed, () => set(inToml({ ...value, closed: closed.checked })));
  const row = (_, i) => {
    const label = (node, what) => { node.setAttribute("aria-label", `${place}, key ${i}, ${what}`); return node; };
    const time = label(el("input", { type: "number", step: "any", min: 0, max: 1 }), "time");
    const text = label(el("input", { type: "text" }), "value");
    const picker = kind.format === "color" ? [label(el("input", { type: "color" }), "picker")] : [];
    const ease = label(el("select", {}, ...["", ...eases.enum].map((word) => el("option", { value: word, textContent: word }))), "way to the next key");
    const remove = label(el("button", { type: "button", className: "back", textContent: "×" }), "remove");
    const change = (key) => send(value.keys.with(i, key));
    const key = () => [read(time.value), read(text.value), ...(ease.value ? [ease.value] : [])];
    [time, text, ease].forEach((field) => onChange(field, () => change(key())));
    picker.forEach((field) => field.addEventListener("input", () => { text.value = field.value; change(key()); }));
    remove.addEventListener("click", () => send(value.keys.toSpliced(i, 1)));
    const one = el("div", { className: "time" }, time, ...picker, text, ease, remove);
    one.show = ([at, is, way]) => {
      put(time, written(at));
      put(text, written(is));
      picker.forEach((field) => { field.value = swatch(is); });
      ease.options[0].textContent = `(${value.ease ?? eases.default})`;
      ease.value = way ?? "";
      // A value over time has two keys at least.
      remove.disabled = value.keys.length <= 2;
    };
    return one;
  };
  // Between the last two keys, or behind the last.
  add.addEventListener("click", () => {
    const [[before], [last, is]] = value.keys.slice(-2);
    send([...value.keys, [last < 1 ? (last + 1) / 2 : (before + last) / 2, is]]);
  });
  const show = (now) => {
    value = now;
    if (rows.childElementCount !== value.keys.length) rows.replaceChildren(...value.keys.map(row));
    value.keys.forEach((key, i) => rows.children[i].show(key));
    closed.checked = value.closed === true;
  };
  return { nodes: [box], main: add, show };
}

function textField(set) {
  const field = el("input", { type: "text", placeholder: "not set" });
  onChange(field, () => set(field.value || null));
  return { nodes: [field], main: field, show: (value) => put(field, written(value)) };
}

// The list of two or three numbers that a key takes, beside words or alone.
function listOf(kind) {
  const list = kind.anyOf?.[0] ?? kind;
  return list.type === "array" && ["number", "integer"].includes(list.items?.type) && list.maxItems <= 3 ? list : null;
}

function fieldsOf(kind, set, value, { schema, place }) {
  if (isOverTime(value)) return timeFields(kind, place, schema.definitions["value-over-time"].properties.ease, set);
  if (kind.format === "color") return colourFields(set);
  if (kind.enum) return wordField(kind, set);
  if (kind.type === "boolean") return switchField(set);
  // A fraction may be written as "60%", and some keys accept words.
  if (kind.type === "number" || kind.type === "integer") return numberFields(kind, set, typeof value === "string");
  if (kind.anyOf?.some((one) => one.type === "number" || one.type === "integer")) return numberFields(kind, set, true);
  const list = listOf(kind);
  if (list && typeof value !== "string") return listFields(list.maxItems, set);
  return textField(set);
}

// Keys that only some materials have, in any table.
let known = null;
const materialKeys = (schema) => (known ??= new Set(Object.values(schema.definitions).flatMap((table) => Object.values(table["x-materials"] ?? {}).flat().concat(table["x-materials"] ? "color" : []))));

// Whether a key applies to a table with these values; `held` has the defaults.
function applies(schema, table, name, values, held) {
  const kind = table.properties[name];
  const now = (key) => values?.[spelled(key, values)] ?? held?.[key] ?? table.properties[key]?.default;
  if (kind.deprecated) return false;
  if (kind["x-way"]) {
    const way = Object.keys(held ?? {}).map((key) => table.properties[key]?.["x-way"]).find(Boolean);
    if (way !== kind["x-way"]) return false;
  }
  if (!Object.entries(kind["x-when"] ?? {}).every(([key, words]) => words.includes(now(key)))) return false;
  const materials = table["x-materials"];
  const key = name.replace("colour", "color");
  return !materials || !materialKeys(schema).has(key) || (materials[now("material")] ?? []).includes(key);
}

/** Buttons for a key that the page and an editor have changed, each to another value. */
export function questionButtons(page, { key, page: mine, file }) {
  const button = (text, value) => {
    const one = el("button", { type: "button", textContent: `${text}: ${value ?? "not set"}` });
    one.setAttribute("aria-label", `${key}, ${one.textContent}`);
    one.addEventListener("click", () => page.set([[key, value]], page.gesture()));
    return one;
  };
  return [button("Keep mine", mine), button("Take the file's", file)];
}

function keyRow(page, table, path, name) {
  const { schema } = page;
  const kind = table.properties[name];
  const id = `${path}.${name}`;
  // A long name breaks behind an underscore.
  const parts = name.split(/(?<=_)/).flatMap((part, at) => (at ? [el("wbr"), part] : [part]));
  const label = el("label", { htmlFor: `key-${id}` }, ...parts);
  const box = el("div", { className: "value" });
  const back = el("button", { type: "button", className: "back", textContent: "×", title: "Remove the key from the scene: what holds then is shown" });
  back.setAttribute("aria-label", `remove ${id}`);
  const note = el("small", { hidden: true });
  const unit = kind["x-unit"] ? ` (${kind["x-unit"]})` : "";
  const choice = el("div", { className: "choice", hidden: true });
  const row = el("div", { className: "key", title: `${kind.description ?? ""}${unit}` }, label, box, back, note, choice);
  if (kind["x-animated"]) {
    const timed = el("button", { type: "button", className: "back over", textContent: "◆", title: "Make a key of this value at the present frame" });
    timed.setAttribute("aria-label", `${id}: a key at this frame`);
    timed.addEventListener("click", () => page.key(at()));
    back.after(timed);
  }
  row.dataset.key = id;
  let values, held, fields, form, shown;
  let busy = false;
  const at = () => `${path}.${spelled(name, values)}`;
  let gesture = page.gesture();
  const set = (value) => page.set([[at(), value], ...(kind.enum && value !== null ? others(value) : [])], gesture);
  // Keys that do not apply beside another word would be refused: they are set aside, and come back with a word that they apply to.
  const others = (word) => Object.keys(table.properties).filter((key) => key !== name).flatMap((key) => {
    const id = `${path}.${key}`;
    const before = values?.[key];
    const stays = applies(schema, table, key, { ...values, [name]: word }, held);
    if (before !== undefined && !stays && applies(schema, table, key, values, held)) {
      page.aside.set(id, { value: inToml(before), by: name });
      return [[id, null]];
    }
    if (before !== undefined || !stays || !page.aside.has(id)) return [];
    const { value } = page.aside.get(id);
    page.aside.delete(id);
    return [[id, value]];
  });
  const setAside = () => Object.keys(table.properties)
    .filter((key) => page.aside.get(`${path}.${key}`)?.by === name && values?.[key] === undefined && !applies(schema, table, key, values, held))
    .map((key) => `${key} = ${page.aside.get(`${path}.${key}`).value}`);
  // A field is not updated while the user types or drags, until its value is sent.
  row.addEventListener("input", () => { busy = true; });
  row.addEventListener("change", () => { busy = false; gesture = page.gesture(); });
  row.addEventListener("focusout", () => { busy = false; });
  row.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !busy) return;
    event.preventDefault();
    busy = false;
    fields.show(shown);
  });
  back.addEventListener("click", () => set(null));
  row.put = (value) => { gesture = page.gesture(); set(value); };
  row.isBusy = () => busy;
  row.commit = () => { if (busy) { const field = document.activeElement; field.blur(); field.focus(); } };
  row.update = (state) => {
    values = valueAt(state.document, path);
    held = valueAt(state.holds, path);
    const own = values?.[spelled(name, values)];
    row.hidden = own === undefined && !applies(schema, table, name, values, held);
    row.classList.toggle("given", own !== undefined);
    row.classList.toggle("changed", state.changes.some((change) => change.key === at()));
    back.hidden = own === undefined || table.required?.includes(name) === true;
    const flag = state.flags?.[id];
    const aside = kind.enum ? setAside() : [];
    note.textContent = [
      ...(flag === undefined ? [] : [`the command line says ${written(flag)}`]),
      ...(aside.length ? [`set aside: ${aside.join(", ")}`] : []),
    ].join("; ");
    note.hidden = !note.textContent;
    const asked = state.questions.find((question) => question.key === at());
    choice.hidden = !asked;
    choice.replaceChildren(...(asked ? questionButtons(page, asked) : []));
    if (busy || page.isWaiting(at())) return;
    shown = own ?? held?.[name] ?? kind.default;
    const isText = (["number", "integer"].includes(kind.type) || listOf(kind) !== null) && typeof shown === "string";
    const is = isOverTime(shown) ? "over time" : isText ? "text" : "plain";
    if (form !== is) {
      form = is;
      row.classList.toggle("timed", is === "over time");
      fields = fieldsOf(kind, set, shown, { schema, place: id });
      fields.main.id = `key-${id}`;
      fields.nodes.forEach((field, i) => {
        if (field !== fields.main) field.setAttribute("aria-label", `${id}, ${{ range: "slider", color: "picker" }[field.type] ?? i + 1}`);
      });
      box.replaceChildren(...fields.nodes);
    }
    fields.show(shown);
  };
  return row;
}

function tableBody(page, place, path) {
  const table = resolved(page.schema, place);
  return table["x-groups"].map(({ title, keys }) => {
    const rows = keys.filter((name) => !isTable(page.schema, table.properties[name])).map((name) => keyRow(page, table, path, name));
    const inner = keys.filter((name) => isTable(page.schema, table.properties[name])).flatMap((name) => tables(page, table.properties[name], `${path}.${name}`, name));
    const group = el("div", { className: "group" }, ...(title ? [el("h2", { textContent: title })] : []), ...rows, ...inner);
    if (title) { group.setAttribute("role", "group"); group.setAttribute("aria-label", title); }
    group.update = (state) => {
      [...rows, ...inner].forEach((one) => one.update?.(state));
      group.hidden = [...rows, ...inner].every((one) => one.hidden);
    };
    return group;
  });
}

/** The name of a table in a list: `body[0], the cube`. */
export const nameOf = (list, value, i) => [`${list}[${i}]`, value.solid && `the ${value.solid}`, value.time === undefined ? undefined : `time ${Number(value.time.toFixed(4))}`].filter(Boolean).join(", ");

// A table, or the tables of a list; empty if the scene has none.
function tables(page, place, path, name) {
  const one = (at, titled) => {
    const summary = el("summary");
    const box = el("details", {}, summary);
    box.dataset.table = at;
    let groups = [];
    box.update = (state) => {
      summary.textContent = titled(valueAt(state.document, at) ?? valueAt(state.holds, at) ?? {});
      groups.forEach((group) => group.update(state));
    };
    box.fill = () => {
      if (groups.length) return;
      groups = tableBody(page, place, at);
      box.append(...groups);
      box.update(page.state);
    };
    box.addEventListener("toggle", () => { if (box.open) box.fill(); });
    return box;
  };
  const values = valueAt(page.state.document, path) ?? valueAt(page.state.holds, path);
  if (values === undefined) return [];
  if (!Array.isArray(values)) return [one(path, () => name)];
  const all = values.slice(0, MAX_ITEMS).map((_, i) => one(`${path}[${i}]`, (value) => nameOf(name, value, i)));
  if (values.length > MAX_ITEMS) all.push(el("p", { className: "more", textContent: `and ${values.length - MAX_ITEMS} more: they are in the file` }));
  return all;
}

/** Shows the fields of all tables in a box. If the tables are the same as before, only changed values are updated. */
export function form(box, page) {
  const { schema, state } = page;
  // Invalid TOML has no keys, so the last fields stay.
  if (!state.document && box.childElementCount) return;
  const tablesIn = (value, path) => {
    if (!value || typeof value !== "object") return [];
    const inside = Object.entries(value).flatMap(([name, one]) => tablesIn(one, `${path}.${name}`));
    return Array.isArray(value) ? inside : [path, ...inside];
  };
  const now = [...new Set([...tablesIn(state.document, ""), ...tablesIn(state.holds, "")])].sort().join();
  if (box.dataset.tables !== now) {
    box.dataset.tables = now;
    const open = [...box.querySelectorAll("details[open]")].map((one) => one.dataset.table);
    const { scrollTop } = box;
    const focused = document.activeElement?.id;
    const names = schema["x-groups"].flatMap((group) => group.keys);
    box.replaceChildren(...names.flatMap((name) => tables(page, schema.properties[name], name, name)));
    // Outer tables first: inner fields are made when their table opens.
    for (const table of open) {
      const one = [...box.querySelectorAll("details")].find((d) => d.dataset.table === table);
      if (one) { one.fill(); one.open = true; }
    }
    box.scrollTop = scrollTop;
    if (focused?.startsWith("key-")) document.getElementById(focused)?.focus({ preventScroll: true });
  }
  [...box.children].forEach((one) => one.update?.(state));
}
