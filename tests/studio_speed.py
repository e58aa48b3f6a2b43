"""How soon the studio answers, seen from its page in headless Chromium on the same machine. Usage: tests/studio_speed.py POLYFLY

Needs what tests/studio.py needs. Each figure is the median and the 95th percentile of all tries, from the browser's event until what it
brings is there: a picture on the canvas, a name of what is picked.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

from studio import Studio

polyfly = str(pathlib.Path(sys.argv[1]).resolve())
default = subprocess.run([polyfly, "--default=toml"], capture_output=True, text=True, check=True).stdout

# Notes when each picture is painted; `timed` answers with the time from an event to what it should bring.
NOTES = """
const data = document.getElementById("picture").dataset;
window.paints = [];
let painted = data.painted;
let told = null;
new MutationObserver(() => {
  if (data.painted !== painted) { painted = data.painted; paints.push(performance.now()); }
  if (told?.holds()) { told.done(performance.now() - told.start); told = null; }
}).observe(document.getElementById("picture"), { attributes: true });
window.timed = (act, holds) => new Promise((done) => { told = { start: performance.now(), holds, done }; act(); });
window.timedEvent = (name, holds) => {
  window.measured = null;
  addEventListener(name, () => timed(() => {}, holds).then((ms) => { measured = ms; }), { capture: true, once: true });
};
"""


class Page(Studio):
    def asked(self, text, *arguments):
        return self.browser.execute_async_script(f"const done = arguments[arguments.length - 1]; {text}.then(done)", *arguments)

    def mouse(self, kind, x, y, **rest):
        left, top, width, height = self.js("const box = document.getElementById('picture').getBoundingClientRect(); return [box.x, box.y, box.width, box.height]")
        where = {"x": left + x * width, "y": top + y * height, "button": "left", "clickCount": 1}
        self.browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, **where, **rest})

    def picks(self, x, y):
        """The time from a click to the picked object."""
        before = self.shown().get("picked", "")
        self.js("const before = arguments[0], data = document.getElementById('picture').dataset; timedEvent('pointerup', () => (data.picked ?? '') !== before)", before)
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)
        self.wait(lambda: self.js("return measured") is not None)
        return self.js("return measured")


def said(what, times, limit):
    times = sorted(times)
    middle, late = times[len(times) // 2], times[min(len(times) - 1, int(0.95 * len(times)))]
    print(f"{what}: {middle:.0f} ms, 95th percentile {late:.0f} ms of {len(times)} (asked: {limit})", flush=True)


def opened(size, *flags):
    folder = tempfile.TemporaryDirectory()
    scene = pathlib.Path(folder.name, "scene.toml")
    scene.write_text(default)
    studio = Page(polyfly, scene, "--cpu", "--size", size, *flags)
    studio.folder = folder
    studio.browser.get(studio.address)
    studio.wait(lambda: "painted" in studio.shown())
    studio.js(NOTES)
    return studio


CHANGED = "() => data.painted !== before && Number(data.version) > version"

with opened("1280x720") as studio:
    studio.table("film")
    typed, undone = [], []
    for n in range(50):
        time.sleep(0.3)
        typed.append(studio.asked("""const field = document.getElementById("key-film.exposure"), data = document.getElementById("picture").dataset;
            const [version, before] = [Number(data.version), data.painted];
            timed(() => { field.value = arguments[0]; field.dispatchEvent(new Event("change", { bubbles: true })); }, """ + CHANGED + ")", f"{0.01 * (n + 1):.2f}"))
    said("Enter after a number to its first picture, 1280x720", typed, "95th percentile 120")
    studio.js("document.activeElement.blur()")
    for n in range(50):
        time.sleep(0.3)
        undone.append(studio.asked("""const data = document.getElementById("picture").dataset;
            const [version, before] = [Number(data.version), data.painted];
            timed(() => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "z", ctrlKey: true, bubbles: true })), """ + CHANGED + ")"))
    said("a step back to its picture, 1280x720", undone, 50)
    studio.wait(studio.is_settled)
    said("a click to what it picks, 1280x720", [studio.picks(0.5, 0.02 if n % 2 else 0.55) for n in range(40)], 20)

with opened("640x360") as studio:
    studio.wait(studio.is_settled)
    studio.mouse("mousePressed", 0.5, 0.5)
    # The mouse is held; the page moves it, once for each of the browser's frames.
    count = studio.asked("""(async () => {
        const canvas = document.getElementById("picture"), box = canvas.getBoundingClientRect();
        const [start, before] = [performance.now(), paints.length];
        for (let n = 0; performance.now() - start < 4000; n++) {
            const at = { clientX: box.x + box.width * (0.5 + 0.3 * Math.sin(n / 40)), clientY: box.y + box.height / 2, pointerId: 1 };
            canvas.dispatchEvent(new PointerEvent("pointermove", at));
            await new Promise(requestAnimationFrame);
        }
        return paints.length - before;
    })()""")
    studio.mouse("mouseReleased", 0.5, 0.5)
    print(f"turning the camera, 640x360: {count / 4:.1f} pictures/s (asked: 30)", flush=True)

with opened("3840x2160") as studio:
    states, picked = [], []
    for n in range(30):
        time.sleep(0.5)
        if studio.shown()["best"] == "true":
            studio.js("document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', shiftKey: true, bubbles: true }))")
            time.sleep(0.5)
        assert studio.shown()["best"] == "false", "it refines"
        states.append(studio.asked("(async () => { const start = performance.now(); await (await fetch('state')).json(); return performance.now() - start; })()"))
        picked.append(studio.picks(0.5, 0.02 if n % 2 else 0.55))
    said("the state while a picture of 3840x2160 refines", states, 50)
    said("a click to what it picks meanwhile", picked, 50)
Studio.browser.quit()
