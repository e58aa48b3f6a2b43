// The picture under a glass: stills, A beside now, values of pixels, the histogram, the size while working, pause.

const $ = (id) => document.getElementById(id);
const canvas = $("picture");
const before = $("before");

/** What the loop that paints asks for: the least divisor of a picture's sides, and whether it waits. */
export const working = { scale: 1, isPaused: false };

const linear = (code) => { const x = code / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; };
const hex = (codes) => `#${codes.map((code) => code.toString(16).padStart(2, "0")).join("")}`;

function pixel(event) {
  if ($("image").hidden) return;
  // The canvas keeps its shape inside of its box.
  const box = canvas.getBoundingClientRect();
  const scale = Math.min(box.width / canvas.width, box.height / canvas.height);
  const at = (from, size, pixels) => Math.floor((from - (size - pixels * scale) / 2) / scale);
  const [x, y] = [at(event.clientX - box.left, box.width, canvas.width), at(event.clientY - box.top, box.height, canvas.height)];
  if (x < 0 || y < 0 || x >= canvas.width || y >= canvas.height) return;
  const codes = [...canvas.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3)];
  $("pixel-color").style.background = hex(codes);
  $("pixel").textContent = `${x}, ${y}: ${codes.join(" ")}  ${hex(codes)}  linear ${codes.map((code) => linear(code).toFixed(3)).join(" ")}`;
}

function histogram() {
  if ($("image").hidden) return;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const counts = [0, 1, 2].map(() => new Float64Array(256));
  let white = 0, black = 0;
  for (let i = 0; i < data.length; i += 4) {
    for (let c = 0; c < 3; c++) counts[c][data[i + c]] += 1;
    white += Math.max(data[i], data[i + 1], data[i + 2]) === 255;
    black += data[i] + data[i + 1] + data[i + 2] === 0;
  }
  const chart = $("histogram");
  const context = chart.getContext("2d");
  context.clearRect(0, 0, chart.width, chart.height);
  context.globalCompositeOperation = matchMedia("(prefers-color-scheme: dark)").matches ? "lighter" : "multiply";
  // Black and white alone would flatten all others.
  const top = Math.max(1, ...counts.flatMap((list) => [...list.slice(1, 255)]));
  ["#e5484d", "#30a46c", "#3e63dd"].forEach((color, c) => {
    context.fillStyle = color;
    counts[c].forEach((count, code) => {
      const height = Math.min(1, Math.sqrt(count / top)) * chart.height;
      context.fillRect(code * 2, chart.height - height, 2, height);
    });
  });
  const share = (count) => `${((100 * count) / (data.length / 4)).toFixed(1)} %`;
  $("clipped").textContent = `${share(black)} black, ${share(white)} at the limit of a channel`;
}

function keep() {
  [before.width, before.height] = [canvas.width, canvas.height];
  before.getContext("2d").drawImage(canvas, 0, 0);
  compare(true);
}

function compare(on) {
  before.hidden = !on;
  $("forget").disabled = $("split").disabled = !on;
  before.style.clipPath = `inset(0 ${100 - $("split").value}% 0 0)`;
}

/** Wires the panel; the function that comes back is called after each picture. */
export function image(app) {
  async function still(format) {
    const buttons = [$("still-png"), $("still-exr")];
    buttons.forEach((button) => { button.disabled = true; });
    $("still-facts").textContent = "rendering ...";
    const { frame, view } = app;
    const answer = await fetch("still", { method: "POST", body: JSON.stringify({ frame, format, view }) }).catch(() => null);
    app.refuse(answer?.ok ? "" : (await answer?.text()) ?? "Not sent: still");
    $("still-facts").textContent = "";
    if (answer?.ok) {
      const name = `${app.state.name.split(/[\\/]/).pop().replace(/\.\w+$/, "")}-${String(frame).padStart(4, "0")}.${format}`;
      const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(await answer.blob()), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
      $("still-facts").textContent = `${name} is saved`;
    }
    buttons.forEach((button) => { button.disabled = false; });
  }
  $("still-png").addEventListener("click", () => still("png"));
  $("still-exr").addEventListener("click", () => still("exr"));
  $("keep").addEventListener("click", keep);
  $("forget").addEventListener("click", () => compare(false));
  $("split").addEventListener("input", () => compare(true));
  canvas.addEventListener("pointermove", pixel);
  $("scale").addEventListener("change", () => { working.scale = Number($("scale").value); app.touch(); });
  $("pause").addEventListener("click", () => {
    working.isPaused = !working.isPaused;
    $("pause").setAttribute("aria-pressed", working.isPaused);
    $("pause").textContent = working.isPaused ? "Go on" : "Pause";
    app.touch();
  });
  return histogram;
}
