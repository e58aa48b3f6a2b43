// Fields for every key of the scene, made from the schema: what it may be, what it is, and what it would be by itself.

const TABLES = ["output", "render", "film", "sky", "camera", "body", "sphere", "rectangle", "mesh", "particles", "floor", "light"];
// Lists of balls may be long.
const MOST = 60;
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
const hex = (rgb) => "#" + rgb.map((x) => Math.round(255 * Math.max(0, Math.min(1, x))).toString(16).padStart(2, "0")).join("");
// Numbers as TOML writes them.
const number = (text) => String(Number(text));

// A number's own slider: over its range where that is small, else around what it is.
function bounds(kind, value) {
  const least = kind.minimum ?? kind.exclusiveMinimum;
  const most = kind.maximum ?? kind.exclusiveMaximum;
  if (least !== undefined && most !== undefined && most - least <= 1000) return [least, most];
  const size = Math.max(1, Math.abs(value)) * 2;
  return [Math.max(least ?? -size, -size), Math.min(most ?? size, size)];
}

function numberField(kind, value, set) {
  const whole = kind.type === "integer";
  const [min, max] = bounds(kind, value ?? 0);
  const step = whole ? 1 : (max - min) / 200;
  const field = el("input", { type: "number", step: "any", value: value ?? "" });
  const slider = el("input", { type: "range", min, max, step, value: value ?? min });
  slider.addEventListener("input", () => { field.value = Number(Number(slider.value).toPrecision(4)); set(number(field.value)); });
  field.addEventListener("change", () => set(field.value === "" ? null : number(field.value)));
  return [slider, field];
}

function valueFields(kind, value, set) {
  if (kind.format === "color") {
    const isList = Array.isArray(value);
    const picker = el("input", { type: "color", value: isList ? hex(value) : value?.match?.(/^#[0-9a-f]{6}$/i) ? value : "#808080" });
    const field = el("input", { type: "text", value: value === undefined ? "" : isList ? `[${value.join(", ")}]` : value });
    picker.addEventListener("input", () => { field.value = picker.value; set(picker.value); });
    field.addEventListener("change", () => set(field.value || null));
    return [picker, field];
  }
  if (kind.enum) {
    const choice = el("select", {}, ...kind.enum.map((word) => el("option", { value: word, textContent: word })));
    choice.value = value ?? kind.default;
    choice.addEventListener("change", () => set(choice.value));
    return [choice];
  }
  if (kind.type === "boolean") {
    const box = el("input", { type: "checkbox", checked: value ?? false });
    box.addEventListener("change", () => set(String(box.checked)));
    return [box];
  }
  if (kind.type === "number" || kind.type === "integer") return numberField(kind, value, set);
  const numbers = kind.anyOf?.find((one) => one.type === "number" || one.type === "integer");
  if (numbers && (value === undefined || typeof value === "number")) return numberField(numbers, value, set);
  if (kind.type === "array" && kind.items?.type === "number" && kind.maxItems <= 3) {
    const values = value ?? kind.default ?? Array(kind.maxItems).fill(0);
    const fields = values.map((x) => el("input", { type: "number", step: "any", value: x }));
    fields.forEach((field) => field.addEventListener("change", () => set(`[${fields.map((f) => number(f.value)).join(", ")}]`)));
    return fields;
  }
  const text = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const field = el("input", { type: "text", value: text });
  field.addEventListener("change", () => set(field.value || null));
  return [field];
}

function keyRow(name, path, kind, value, state, set) {
  const row = el("div", { className: "key", title: kind.description ?? "" });
  const box = el("div", { className: "value" });
  row.dataset.key = path;
  row.append(el("label", { textContent: name }), box);
  let shown = null;
  row.update = (value, state) => {
    row.classList.toggle("given", value !== undefined);
    row.classList.toggle("changed", state.changes.some((change) => change.key === path));
    const text = JSON.stringify(value ?? null);
    // A field in use is left alone.
    if (text === shown || row.contains(document.activeElement)) return;
    shown = text;
    box.replaceChildren(...valueFields(kind, value ?? kind.default, (v) => set(path, v)));
    box.querySelectorAll("input, select").forEach((field) => field.setAttribute("aria-label", path));
  };
  row.update(value, state);
  return row;
}

function tableRows(schema, place, path, values, state, set) {
  const table = resolved(schema, place);
  const rows = [];
  for (const [name, kind] of Object.entries(table.properties)) {
    // British spellings are the same keys.
    if (name === "centre" || name.includes("colour")) continue;
    const at = `${path}.${name}`;
    if (!isTable(schema, kind)) {
      rows.push(keyRow(name, at, kind, values?.[name], state, set));
    } else if (values?.[name] !== undefined) {
      rows.push(...tables(schema, kind, at, name, values[name], state, set));
    }
  }
  return rows;
}

function tables(schema, place, path, name, values, state, set) {
  const one = (at, title, value) => {
    const box = el("details", {}, el("summary", { textContent: title }));
    box.dataset.table = at;
    box.addEventListener("toggle", () => {
      if (box.open && box.children.length === 1) box.append(...tableRows(schema, place, at, value, state, set));
    });
    return box;
  };
  if (!Array.isArray(values)) return [one(path, name, values)];
  const title = (value, i) => `${name} ${i}${value.solid ? `, ${value.solid}` : ""}`;
  return values.slice(0, MOST).map((value, i) => one(`${path}[${i}]`, title(value, i), value));
}

const valueAt = (values, path) => path.split(/[.[\]]+/).filter(Boolean).reduce((at, name) => at?.[name], values);

/** Puts the fields of all tables into a box. Where the tables are those that were there, only what is other is changed. */
export function form(box, schema, state, set) {
  const tablesIn = (value, path) => {
    if (!value || typeof value !== "object") return [];
    const inside = Object.entries(value).flatMap(([name, one]) => tablesIn(one, `${path}.${name}`));
    return Array.isArray(value) ? inside : [path, ...inside];
  };
  const tablesNow = tablesIn(state.document, "").join();
  if (box.dataset.tables === tablesNow && state.document) {
    box.querySelectorAll("[data-key]").forEach((row) => row.update(valueAt(state.document, row.dataset.key), state));
    return;
  }
  box.dataset.tables = tablesNow;
  const open = new Set([...box.querySelectorAll("details[open]")].map((d) => d.dataset.table));
  const top = box.scrollTop;
  const all = TABLES.flatMap((name) => {
    const place = schema.properties[name];
    const values = state.document?.[name];
    const isList = place.type === "array";
    return values === undefined && (isList || ["particles", "floor"].includes(name)) ? [] : tables(schema, place, name, name, values ?? {}, state, set);
  });
  box.replaceChildren(...all);
  // From the outside in: what is inside is made when its table opens.
  const reopen = () => [...box.querySelectorAll("details:not([open])")].filter((d) => open.has(d.dataset.table));
  const next = () => {
    const closed = reopen();
    closed.forEach((d) => { open.delete(d.dataset.table); d.open = true; });
    if (closed.length) requestAnimationFrame(next);
    box.scrollTop = top;
  };
  next();
}
