// Where a scene is chosen: templates, the scenes of the folder, samples.

const $ = (id) => document.getElementById(id);
const el = (name, props = {}, ...children) => {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children);
  return node;
};

async function open(opening, button) {
  button.disabled = true;
  const answer = await fetch("open", { method: "POST", body: JSON.stringify(opening) }).catch(() => null);
  // All of the page is another scene's then.
  if (answer?.ok) location.reload();
  else {
    $("start-refusal").hidden = false;
    $("start-refusal").textContent = (await answer?.text()) ?? "Not connected: the studio has ended, or does not answer.";
    $("start-refusal").scrollIntoView();
    button.disabled = false;
  }
}

const since = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

function card(picture, name, about, opening, scene = name) {
  const image = el("img", { src: picture, alt: "", loading: "lazy" });
  image.addEventListener("error", () => { image.hidden = true; }, { once: true });
  const button = el("button", { type: "button", className: "card" }, el("span", { className: "frame" }, image), el("b", { textContent: name }), el("small", { textContent: about.replaceAll("`", "") }));
  button.dataset.scene = scene;
  button.addEventListener("click", () => open(opening, button));
  return button;
}

const list = (title, about, cards) => (cards.length ? [el("section", {}, el("h3", { textContent: title }), el("p", { className: "soft", textContent: about }), el("div", { className: "cards" }, ...cards))] : []);

/** Shows the page; `close` leads back to the scene that is open, if there is one. */
export async function start(close) {
  document.body.classList.add("starting");
  $("start").hidden = false;
  $("start-close").hidden = !close;
  $("start-close").onclick = () => {
    document.body.classList.remove("starting");
    $("start").hidden = true;
    close();
  };
  const answer = await fetch("start").catch(() => null);
  if (!answer?.ok) return;
  const { folder, files, elsewhere, templates, samples } = await answer.json();
  $("start-folder").textContent = `New scenes are written into ${folder}.`;
  $("start-lists").replaceChildren(
    ...list("New from a template", "A short scene with comments, to begin with.", templates.map(({ name, about }) => card(`thumb/template/${name}`, name, about, { template: name }))),
    ...list("Recent scenes of this folder", "The newest first.", files.map(({ name, time }) => card(`thumb/file/${encodeURIComponent(name)}`, name, since.format(time * 1000), { file: name }))),
    ...list("Recent scenes of other folders", "Those that were opened last.", elsewhere.map(({ name, time }) => {
      const [, of, file] = name.match(/^(.*)[\\/](.*)$/);
      return card(`thumb/elsewhere/${encodeURIComponent(name)}`, file, `${of}, ${since.format(time * 1000)}`, { elsewhere: name }, name);
    })),
    ...list("Samples", "A copy of the sample is opened.", samples.map(({ name, about, picture }) => card(picture ? `docs/${picture}` : "data:,", name, about, { sample: name }))),
  );
  if (close) $("start-close").focus();
}
