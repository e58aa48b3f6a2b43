// Looks by their pictures: materials, lamps, skies, films. The renderer has made the pictures.

const $ = (id) => document.getElementById(id);
const el = (name, props = {}, ...children) => {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children);
  return node;
};
// Lists whose elements have materials.
const LISTS = ["body", "sphere", "ellipsoid", "mesh"];

/** Wires the panel of looks; the function that comes back shows a state. */
export function looks(app) {
  const choice = $("looks-element");
  let sections = null;

  function update() {
    const { document: scene } = app.state;
    if ($("looks").hidden || !scene) return;
    fetchLooks();
    const all = LISTS.flatMap((list) => (Array.isArray(scene[list]) ? scene[list] : []).slice(0, 60).map((one, i) => [`${list}[${i}]`, one.solid ?? list]));
    const words = all.map(([name, what]) => `${name}, the ${what}`);
    if ([...choice.options].map((option) => option.textContent).join() !== words.join()) {
      const before = choice.value;
      choice.replaceChildren(...all.map(([name], i) => el("option", { value: name, textContent: words[i] })));
      if (all.some(([name]) => name === before)) choice.value = before;
    }
    if (all.some(([name]) => name === app.picked)) choice.value = app.picked;
    $("looks-on").hidden = all.length === 0;
    offer();
  }

  // A look is offered where the scene has what it is put on.
  function offer() {
    const list = choice.value.split("[")[0];
    const fits = { any: list !== "", body: list === "body", floor: app.state.document?.floor !== undefined };
    for (const section of $("looks-list").children) section.hidden = fits[section.dataset.of] === false;
  }

  function section({ title, of, looks }) {
    const card = ({ label, name, keys }) => {
      const button = el("button", { type: "button", className: "card", title: keys.join("\n") }, el("img", { src: `docs/looks/${name}.webp`, alt: "", loading: "lazy" }), el("span", { textContent: label }));
      button.dataset.look = name;
      button.addEventListener("click", () => app.ask("wear", { look: name, element: choice.value }));
      return button;
    };
    const box = el("section", {}, el("h2", { textContent: title }), el("div", { className: "cards" }, ...looks.map(card)));
    box.dataset.of = of;
    return box;
  }

  // Once.
  async function fetchLooks() {
    sections ??= fetch("looks").then((answer) => answer.json());
    try {
      const list = await sections;
      if (!$("looks-list").childElementCount) $("looks-list").replaceChildren(...list.map(section));
      offer();
    } catch {
      sections = null;
    }
  }

  choice.addEventListener("change", () => app.pick(choice.value));
  document.addEventListener("picked", update);
  return update;
}
