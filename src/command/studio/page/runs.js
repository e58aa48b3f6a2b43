// The run of the scene: from the button to the film that plays in the page.

const $ = (id) => document.getElementById(id);
const el = (name, props = {}, ...children) => {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children);
  return node;
};

const time = (seconds) => {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [[Math.floor(whole / 3600), "h"], [Math.floor(whole / 60) % 60, "min"], [whole % 60, "s"]].filter(([n]) => n);
  return parts.slice(0, 2).map(([n, unit]) => `${n} ${unit}`).join(" ") || "1 s";
};

/** Wires the panel of runs; the function that comes back shows a state. */
export function runs(app) {
  // What the panel shows of the files: not made anew while it is the same.
  let shown = "";

  // The newest frame while the run goes on, then the film.
  function made({ made, running, end, number, frames }) {
    $("run-folder").hidden = !made;
    $("made").hidden = !made || (made.film === null && made.frame === null);
    if (!made) return;
    $("run-path").textContent = made.film ?? made.folder;
    const plays = end === "done" && made.film !== null;
    const next = plays ? `film ${number}` : `frame ${number} ${made.frame}`;
    if (next === shown || $("made").hidden) return;
    shown = next;
    if (!plays) {
      const image = $("made").querySelector("img.frame") ?? el("img", { className: "frame" });
      Object.assign(image, { src: `made/frame/${made.frame}?${number}`, alt: `Frame ${made.frame} of the run` });
      $("made").replaceChildren(image, el("figcaption", { textContent: running || frames > 1 ? `frame ${made.frame}` : "" }));
      return;
    }
    const address = `made/film?${number}`;
    const name = made.film.split(/[\\/]/).pop();
    const save = el("a", { href: address, download: name, textContent: "Save a copy" });
    const cannot = () => $("made").replaceChildren(el("p", { className: "soft", textContent: `This browser does not play ${name}.` }), el("figcaption", {}, save));
    if (!made.type) return cannot();
    const isVideo = made.type.startsWith("video/");
    const film = isVideo ? el("video", { controls: true, loop: true, muted: true, autoplay: true, playsInline: true }) : el("img", { alt: "The film" });
    film.setAttribute("aria-label", `The film ${name}`);
    film.addEventListener("error", cannot, { once: true });
    film.src = address;
    $("made").replaceChildren(film, el("figcaption", {}, `${name} `, save));
  }

  function update(state) {
    const { running, done, frames, end, words, question, left, seconds, made: files } = state.batch;
    const { path, video } = state.holds.output;
    const label = state.is_written ? "Render" : "Write and render";
    $("run-where").textContent = `Frames: ${path}${video ? `, film: ${video}` : ""}`;
    for (const id of ["render", "film"]) $(id).textContent = label;
    for (const id of ["render", "render-saved", "film", "go-on"]) $(id).disabled = running;
    $("render-saved").hidden = state.is_written;
    $("go-on").hidden = !["stopped", "failed"].includes(end) || !state.is_written || files?.scene !== state.name || question !== null;
    $("stop").disabled = !running;
    const film = `${path.split("/").slice(0, -1).join("/") || state.name.split(/[\\/]/).pop().replace(/\.\w+$/, "")}.mp4`;
    $("run-film").hidden = video !== undefined || running;
    $("run-film").textContent = `Make a film too: ${film}`;
    $("run-film").dataset.path = film;
    $("run-question").hidden = !question;
    if (question) {
      $("run-what").textContent = `${question.what}.`;
      $("run-resume").hidden = !question.can_resume;
      $("run-elsewhere").hidden = question.elsewhere.length === 0;
      $("run-elsewhere").textContent = `Use ${question.elsewhere[0]?.value} instead`;
    }
    const isShown = !question && (running || end !== null);
    $("progress").hidden = !isShown;
    $("progress").max = Math.max(frames, 1);
    $("progress").value = done;
    const other = files && files.scene !== state.name ? `${files.scene}, ` : "";
    const after = running ? (left === null ? "" : `, about ${time(left)} left`) : seconds === null ? "" : ` in ${time(seconds)}`;
    $("run-facts").textContent = isShown ? `${other}${end ? `${end}: ` : ""}${done} of ${frames} frames${after}` : "";
    // After Stop they are about signals and flags.
    $("run-words").hidden = !isShown || !words || end === "stopped";
    $("run-words").textContent = words;
    made(state.batch);
  }

  // Renders what is on the page: the file has it first.
  async function render() {
    app.open("run");
    // What was typed last may still be on its way.
    await app.settled();
    if (app.state.is_written || await app.writeBack()) app.ask("render");
  }

  // The run gets another folder, by a change of the scene.
  async function elsewhere() {
    const changes = app.state.batch.question.elsewhere.map(({ key, value }) => [key, value]);
    if (await app.set(changes, app.gesture())) render();
  }

  async function folder() {
    const answer = await fetch("folder", { method: "POST", body: "{}" }).catch(() => null);
    app.refuse(answer?.ok ? "" : (await answer?.text()) ?? "Not sent: folder");
  }

  const deeds = {
    render, film: render, stop: () => app.ask("stop"),
    "render-saved": () => app.ask("render"),
    "go-on": () => app.ask("render", { existing: "resume" }),
    "run-resume": () => app.ask("render", { existing: "resume" }),
    "run-overwrite": () => app.ask("render", { existing: "overwrite" }),
    "run-elsewhere": elsewhere,
    "run-film": () => app.set([["output.video", $("run-film").dataset.path]], app.gesture()),
    "show-folder": folder,
    "copy-path": () => app.copy($("run-path").textContent, $("path-copied")),
  };
  for (const [id, deed] of Object.entries(deeds)) $(id).addEventListener("click", deed);
  return update;
}
