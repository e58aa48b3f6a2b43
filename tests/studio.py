"""The studio in headless Chromium: all that the page does. Usage: tests/studio.py POLYFLY

Needs chromium, chromium-driver and selenium (scripts/try studio).
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

SCENE = """# A cube of one's own.
[output]
frames = 24
path = "out/%02d.png"
size = [160, 120]

[render]
samples = 2
depth = 12 # for the mirrors

[film]
exposure = 0.2 # a little more

[camera.eye]
r = 4.0
z = 1.5
phi_cycles = 1.0

[[body]]
solid = "hexahedron"
reflection = 0.5
transparency = 0.4
lamps = 4

[[light]]
position = [3, 4, 5]
"""


class Studio:
    """A scene that is served, and the browser that shows it."""

    # One for all scenes.
    browser = None
    # Where studios keep what outlives them, in place of the user's own folder.
    state_folder = tempfile.TemporaryDirectory(prefix="polyfly-state.")

    def __init__(self, polyfly, scene, *flags):
        self.polyfly, self.scene, self.flags = polyfly, Path(scene), flags
        self.serve()
        if not Studio.browser:
            options = Options()
            for flag in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,800"]:
                options.add_argument(flag)
            options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
            Studio.browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
            # A table's fields are made when it opens.
            Studio.browser.implicitly_wait(10)

    @classmethod
    @contextmanager
    def of(cls, polyfly, text=SCENE, *flags, name="scene.toml", **files):
        """The page of a scene with this text, in a folder with these files beside it."""
        with tempfile.TemporaryDirectory() as folder:
            scene = Path(folder, name)
            scene.write_text(text)
            for other, content in files.items():
                Path(folder, other).write_text(content)
            with cls(polyfly, scene, "--cpu", *flags) as studio:
                studio.open()
                yield studio

    def serve(self, *flags):
        # A folder is where scenes are chosen.
        where = {"cwd": self.scene} if self.scene.is_dir() else {}
        name = [] if where else [str(self.scene)]
        env = os.environ | {"XDG_STATE_HOME": Studio.state_folder.name}
        self.server = subprocess.Popen([self.polyfly, "studio", *name, *self.flags, *flags], **where, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.server.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", self.address), self.address

    def crash(self):
        """Ends the studio without a warning, and starts another one."""
        self.server.kill()
        self.server.wait()
        self.serve()
        self.open()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The page would go on asking.
        self.browser.get("about:blank")
        self.server.terminate()
        self.server.wait()

    def open(self):
        self.browser.get(self.address)
        self.wait(self.is_settled)

    def js(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def shown(self):
        return self.js("return {...(document.getElementById('picture')?.dataset ?? {})}")

    def is_settled(self):
        """Whether the best picture of what was asked for last is there."""
        shown = self.shown()
        return shown.get("best") == "true" and shown["request"] == shown["wanted"]

    def wait(self, what, seconds=60):
        end = time.monotonic() + seconds

        def holds():
            # The page may replace a field while it is read.
            try:
                return what()
            except StaleElementReferenceException:
                return False

        while not holds():
            assert time.monotonic() < end, f"it never came: {self.shown()} {self.problems()} {self.browser.get_log('browser')}"
            time.sleep(0.005)

    def best(self, version):
        self.wait(lambda: int(self.shown()["version"]) >= version and self.is_settled())

    def pixels(self):
        """RGB of the picture on the page, as in a PPM."""
        return bytes(self.js("""
            const canvas = document.getElementById("picture");
            const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            return [...data].filter((_, i) => i % 4 !== 3)"""))

    def rendered(self, frame=0):
        """The same of a run."""
        run = [self.polyfly, str(self.scene), "--cpu", "-q", "--frames", str(frame), "-o", "-.ppm"]
        return subprocess.run(run, check=True, capture_output=True).stdout.split(b"\n", 3)[3]

    def state_of(self, name):
        return json.loads(urllib.request.urlopen(self.address + name).read())

    def state(self):
        return self.state_of("state")

    def save(self, text):
        """As an editor does, in one go; comes back when the scene has been read again."""
        version = self.state()["version"]
        beside = self.scene.with_suffix(".new")
        beside.write_text(text)
        beside.replace(self.scene)
        self.wait(lambda: self.state()["version"] > version)

    def text(self, name):
        """What is shown in a place; nothing where it is hidden."""
        box = self.browser.find_element(By.ID, name)
        return box.text if box.is_displayed() else ""

    def problems(self):
        return self.text("problems")

    def field(self, key):
        return self.browser.find_element(By.ID, f"key-{key}")

    def table(self, name):
        """Opens a table. The page makes its fields in an event of its own, which comes after the click."""
        self.browser.find_element(By.CSS_SELECTOR, f"[data-table='{name}'] > summary").click()
        self.wait(lambda: self.fields(name))

    def fields(self, name):
        """The keys of a table that are shown, from above."""
        return self.js("""
            const table = document.querySelector(`[data-table='${arguments[0]}']`);
            return [...table.querySelectorAll("[data-key]")].filter((row) => row.offsetParent).map((row) => row.dataset.key.slice(arguments[0].length + 1))""", name)

    def type(self, key, text):
        """Types a value into a field, without an end."""
        self.field(key).send_keys(Keys.CONTROL + "a" + Keys.NULL, text)

    def choose(self, key, word):
        Select(self.field(key)).select_by_value(word)

    def row(self, key):
        return self.browser.find_element(By.CSS_SELECTOR, f"[data-key='{key}']")

    def undo(self, keys="z"):
        """Steps back by the keyboard, or on."""
        version = self.state()["version"]
        ActionChains(self.browser).key_down(Keys.CONTROL).send_keys(keys).key_up(Keys.CONTROL).perform()
        self.wait(lambda: self.state()["version"] > version)

    def is_enabled(self, name):
        return self.browser.find_element(By.ID, name).is_enabled()

    def number(self):
        """The frame that the timeline shows."""
        return self.browser.find_element(By.ID, "number").get_attribute("value")

    def press(self, *keys):
        """Keys to what has the focus."""
        ActionChains(self.browser).send_keys(*keys).perform()

    def frame(self, n):
        self.js("const t = document.getElementById('time'); t.value = arguments[0]; t.dispatchEvent(new Event('input'))", n)
        self.wait(lambda: self.shown()["frame"] == str(n) and self.is_settled())

    def click(self, name):
        self.browser.find_element(By.ID, name).click()

    def tab(self, name):
        self.browser.find_element(By.CSS_SELECTOR, f"[data-panel={name}]").click()

    def drag(self, steps=10, by=(9, 2), pause=15):
        chain = ActionChains(self.browser, duration=pause)
        chain.move_to_element(self.browser.find_element(By.ID, "picture")).click_and_hold()
        for _ in range(steps):
            chain.move_by_offset(*by)
        chain.release().perform()

    def request(self, name, body=None, method=None, **headers):
        """Status and text of a request that the page did not make."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.address + name, data=body, headers=names, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()


def changes(*changes):
    """The body of a request that changes these keys."""
    return json.dumps({"changes": [{"key": key, "value": value} for key, value in changes]}).encode()


def deed(deed):
    """The body of a request that makes something."""
    return json.dumps({"frame": 0, "view": None, "deed": deed}).encode()


def main(check):
    """Runs a check with the words of the command line, and ends the browser whatever comes of it."""
    try:
        check(*sys.argv[1:])
    finally:
        if Studio.browser:
            Studio.browser.quit()


def check(polyfly):
    with Studio.of(polyfly) as studio:
        scene = studio.scene
        pictures(studio, scene)
        faults(studio, scene)
        camera(studio, scene)
        keys(studio, scene)
        discarding(studio)
        history(studio, scene)
        editors(studio, scene)
        keyboard(studio)
        messages(studio)
        panels(studio, scene)
        runs(studio, scene)
        connections_without_token(studio)
        # What has been asked for and refused is all that the console may complain of.
        said = [line["message"] for line in studio.browser.get_log("browser") if line["level"] == "SEVERE" and "409" not in line["message"] and "422" not in line["message"]]
        assert not said, said
    in_tokens(polyfly)
    camera_keys(polyfly)
    form(polyfly)
    boxes(polyfly)
    over_time(polyfly)
    drafts(polyfly)
    left_behind(polyfly)
    without_server(polyfly)
    print("the studio does what it should")


def pictures(studio, scene):
    assert studio.pixels() == studio.rendered(), "the page's picture is the renderer's"
    studio.js("const t = document.getElementById('time'); t.value = 7; t.dispatchEvent(new Event('input'))")
    studio.wait(lambda: studio.shown()["frame"] == "7" and studio.is_settled())
    assert studio.pixels() == studio.rendered(7), "another frame"
    body = studio.browser.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.HOME)
    studio.wait(lambda: studio.shown()["frame"] == "0" and studio.is_settled())
    studio.save(SCENE.replace("exposure = 0.2", "exposure = -1"))
    studio.best(studio.state()["version"])
    assert studio.pixels() == studio.rendered(), "a saved file is drawn again"
    body.send_keys(" ")
    studio.wait(lambda: int(studio.shown()["frame"]) > 5)
    body.send_keys(" ")
    body.send_keys(Keys.HOME)


def faults(studio, scene):
    before = studio.pixels()
    studio.save(SCENE.replace("reflection", "reflecton"))
    studio.wait(lambda: "did you mean `reflection`?" in studio.problems())
    assert any(before)
    # The last picture stays, when it has been refined again.
    studio.wait(lambda: studio.js("return document.getElementById('picture').width") == 160)
    studio.save(SCENE + '\n[floor]\ncorners = [[-5, -5, -1], [-5, 5, -1], [5, 5, -1], [5, -5, -1]]\ntexture = "none.png"\n')
    studio.wait(lambda: "none.png" in studio.problems())
    line = scene.read_text().splitlines().index('texture = "none.png"') + 1
    assert f"{scene}:{line}:" in studio.problems(), "the fault has the place where the scene names it"
    # Nothing but the file was missing: as soon as it is there, so is the picture; and another one when it changes.
    subprocess.run([studio.polyfly, "-", "--cpu", "-q", "--frames", "0", "-o", str(scene.parent / "none.png")], input=SCENE, text=True, check=True, capture_output=True)
    studio.wait(lambda: not studio.problems())
    studio.best(studio.state()["version"])
    assert studio.pixels() == studio.rendered(), "with its floor"
    version = studio.state()["version"]
    subprocess.run([studio.polyfly, "-", "--cpu", "-q", "--frames", "9", "-o", str(scene.parent / "none.png")], input=SCENE, text=True, check=True, capture_output=True)
    studio.wait(lambda: studio.state()["version"] > version)
    studio.best(studio.state()["version"])
    assert studio.pixels() == studio.rendered(), "with another floor"
    studio.save(SCENE)
    studio.wait(lambda: not studio.problems())
    studio.best(studio.state()["version"])
    assert studio.pixels() == studio.rendered()


def camera(studio, scene):
    before = studio.pixels()
    studio.drag()
    studio.wait(lambda: studio.is_settled() and studio.pixels() != before)
    ActionChains(studio.browser).scroll_from_origin(
        webdriver.common.actions.wheel_input.ScrollOrigin.from_element(studio.browser.find_element(By.ID, "picture")), 0, 200).perform()
    time.sleep(0.3)
    studio.wait(studio.is_settled)
    seen = studio.pixels()
    studio.click("look")
    studio.wait(lambda: len(studio.state()["changes"]) >= 3)
    studio.best(studio.state()["version"])
    # The numbers are rounded to what a hand would write.
    off = sum(abs(a - b) for a, b in zip(seen, studio.pixels())) / len(seen)
    assert off < 1, f"the same view, {off} codes off"
    shown = studio.pixels()
    studio.click("write")
    studio.wait(lambda: not studio.state()["changes"])
    text = scene.read_text()
    assert text.startswith("# A cube of one's own.\n") and "depth = 12 # for the mirrors" in text and "phi_cycles = 1.0" in text, text
    assert text != SCENE and shown == studio.rendered(), "what was seen is what is written"
    studio.save(SCENE)
    studio.wait(lambda: studio.state()["document"]["camera"]["eye"]["r"] == 4.0)


def keys(studio, scene):
    studio.best(studio.state()["version"])
    plain = studio.pixels()
    studio.table("film")
    field = studio.field("film.exposure")
    field.send_keys(Keys.CONTROL + "a" + Keys.NULL, "1.5", Keys.TAB)
    studio.wait(lambda: studio.state()["changes"] == [{"key": "film.exposure", "value": "1.5"}])
    studio.best(studio.state()["version"])
    assert studio.pixels() != plain and scene.read_text() == SCENE, "changed on the page only"
    # A save elsewhere keeps what has been changed here.
    studio.save(SCENE.replace("lamps = 4", "lamps = 6"))
    studio.wait(lambda: studio.state()["document"]["body"][0]["lamps"] == 6)
    assert studio.state()["document"]["film"]["exposure"] == 1.5
    studio.click("discard")
    studio.wait(lambda: studio.state()["document"]["film"]["exposure"] == 0.2)
    studio.table("body[0]")
    choice = studio.field("body[0].solid")
    choice.send_keys("octa", Keys.TAB)
    picker = studio.browser.find_element(By.CSS_SELECTOR, "[data-key='body[0].color'] input[type=color]")
    studio.js("arguments[0].value = '#ff8040'; arguments[0].dispatchEvent(new Event('input'))", picker)
    studio.wait(lambda: len(studio.state()["changes"]) == 2 and studio.state()["document"]["body"][0].get("color") == "#ff8040")
    studio.click("write")
    studio.wait(lambda: not studio.state()["changes"])
    assert 'solid = "octahedron"' in scene.read_text() and 'color = "#ff8040"' in scene.read_text(), scene.read_text()
    studio.best(studio.state()["version"])
    assert studio.pixels() == studio.rendered()


def discarding(studio):
    # The focus stays in the field, as it does where a button takes none.
    field = studio.field("film.bloom")
    discard = "document.getElementById('discard').click()"
    for typed in [("0.3", Keys.ENTER), ("0.25",)]:
        field.send_keys(Keys.CONTROL + "a" + Keys.NULL, *typed)
        if Keys.ENTER in typed:
            studio.wait(lambda: studio.state()["changes"] == [{"key": "film.bloom", "value": "0.3"}])
            studio.js(discard)
        else:
            field.send_keys(Keys.ESCAPE)
        studio.wait(lambda: not studio.state()["changes"])
        studio.wait(lambda: field.get_attribute("value") == "0")
        assert studio.js("return document.querySelector(\"[data-key='film.bloom'] input[type=range]\").value") == "0"
        studio.wait(lambda: not studio.browser.find_element(By.ID, "discard").is_enabled())
    # Refused values do not stay either.
    studio.table("output")
    field = studio.field("output.frames")
    field.send_keys(Keys.CONTROL + "a" + Keys.NULL, "30", Keys.ENTER)
    studio.wait(lambda: studio.state()["changes"])
    studio.browser.find_element(By.CSS_SELECTOR, "[data-key='output.frames'] .back").click()
    studio.wait(lambda: studio.state()["document"]["output"].get("frames") is None and field.get_attribute("value") == "120")
    studio.click("discard")
    studio.wait(lambda: field.get_attribute("value") == "24")


def history(studio, scene):
    """Whatever changes the scene is a step, and all steps lead back to the file's very bytes."""
    studio.save(SCENE)
    studio.js("document.activeElement.blur()")
    document = lambda: studio.state()["document"]
    seen = [document()]

    def step(deed):
        before = document()
        deed()
        studio.wait(lambda: document() != before)
        seen.append(document())

    def drag_slider():
        # As a hand does: many values, and one end.
        studio.js("""
            const slider = document.querySelector("[data-key='film.bloom'] input[type=range]");
            for (const value of [0.1, 0.2, 0.3]) { slider.value = value; slider.dispatchEvent(new Event("input", { bubbles: true })); }
            slider.dispatchEvent(new Event("change", { bubbles: true }));""")
        studio.wait(lambda: document()["film"].get("bloom") == 0.3)

    def use_view():
        studio.drag(steps=2)
        studio.click("look")
        studio.wait(lambda: not studio.is_enabled("look"))

    step(lambda: studio.type("film.exposure", "0.75" + Keys.ENTER))
    step(drag_slider)
    step(lambda: studio.choose("body[0].material", "gold"))
    step(use_view)
    step(lambda: studio.save(SCENE.replace("lamps = 4", "lamps = 6 # more")))
    step(lambda: studio.row("film.bloom").find_element(By.CLASS_NAME, "back").click())
    step(lambda: studio.click("discard"))
    assert not studio.state()["changes"]
    step(lambda: studio.click("undo"))
    seen[-2:] = []
    studio.js("document.activeElement.blur()")
    for expected in reversed(seen[:-1]):
        studio.undo()
        assert document() == expected, "one step back"
    for expected in seen[1:]:
        studio.undo("Z" if expected is seen[1] else "y")
        assert document() == expected, "one step on"
    # While a field is being edited, the step is the field's own.
    studio.type("film.exposure", "0.5")
    before = document()
    ActionChains(studio.browser).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).send_keys(Keys.ESCAPE).perform()
    time.sleep(0.2)
    assert document() == before
    studio.click("discard")
    studio.save(SCENE)


def editors(studio, scene):
    """A key that an editor has changed too."""
    for choice, value in [(0, 0.4), (1, 0.25)]:
        studio.save(SCENE)
        studio.type("film.bloom", "0.4" + Keys.ENTER)
        studio.wait(lambda: studio.state()["document"]["film"].get("bloom") == 0.4)
        studio.save(SCENE.replace("exposure = 0.2", "bloom = 0.25\nexposure = 0.3"))
        buttons = lambda: studio.row("film.bloom").find_elements(By.CSS_SELECTOR, ".choice button")
        studio.wait(buttons)
        assert [button.text for button in buttons()] == ["Keep mine: 0.4", "Take the file's: 0.25"]
        assert "film.bloom" in studio.text("questions") and studio.field("film.bloom").get_attribute("value") == "0.4"
        studio.click("write")
        studio.wait(lambda: "another value in the file" in studio.text("refusal"))
        assert "bloom = 0.25" in scene.read_text(), "nothing is overwritten before an answer"
        buttons()[choice].click()
        studio.wait(lambda: not studio.state()["questions"])
        studio.wait(lambda: not studio.text("questions"))
        assert studio.request("write", b"")[0] == 200
        written = scene.read_text()
        assert f"bloom = {value}" in written and "exposure = 0.3 # a little more" in written, written
    studio.save(SCENE)


def keyboard(studio):
    focused = "return document.activeElement.id || document.activeElement.parentElement.dataset.table"
    is_playing = lambda: studio.js("return document.getElementById('play').getAttribute('aria-pressed')") == "true"
    studio.js("document.querySelector('[data-table=sky] > summary').focus()")
    studio.press(" ")
    assert studio.js("return document.querySelector('[data-table=sky]').open") and not is_playing(), "a heading opens"
    studio.js("document.getElementById('time').focus()")
    studio.press(" ")
    studio.wait(is_playing)
    studio.press(" ")
    studio.wait(lambda: not is_playing())
    studio.press(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert studio.number() == "2", "the timeline's own arrows"
    studio.js("document.getElementById('tab-keys').focus()")
    for key, name in [(Keys.ARROW_RIGHT, "text"), (Keys.END, "run"), (Keys.ARROW_RIGHT, "keys")]:
        studio.press(key)
        assert studio.js(focused) == f"tab-{name}" and studio.browser.find_element(By.ID, name).is_displayed(), name
    assert studio.number() == "2", "a tab's arrows are its own"
    for tab in studio.browser.find_elements(By.CSS_SELECTOR, "[role=tab]"):
        panel = tab.get_attribute("aria-controls")
        assert studio.js("return document.getElementById(arguments[0]).getAttribute('aria-labelledby')", panel) == tab.get_attribute("id")
    lost = studio.js("return [...document.querySelectorAll('#keys label')].filter((label) => !label.control).map((label) => label.textContent)")
    assert not lost, f"labels of nothing: {lost}"
    nameless = studio.js("return [...document.querySelectorAll('#keys input, #keys select')].filter((field) => !field.labels.length && !field.ariaLabel).length")
    assert nameless == 0
    studio.js("document.activeElement.blur()")
    studio.press("?")
    assert "play and pause" in studio.text("help")
    studio.press(Keys.ARROW_RIGHT, Keys.ESCAPE)
    assert not studio.text("help") and studio.number() == "2", "the list is closed, and nothing else is done"
    studio.press(Keys.HOME)
    assert studio.number() == "0"


def messages(studio):
    place = "const r = document.getElementById('picture').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]"
    before = studio.js(place)
    studio.save(SCENE.replace("reflection", "reflecton"))
    studio.wait(studio.problems)
    assert studio.js(place) == before, "a message does not move the picture"
    studio.save(SCENE)
    studio.wait(lambda: not studio.problems())
    x, y, width, height = before
    stage = studio.js("const r = document.getElementById('view').getBoundingClientRect(); return [r.x, r.y, r.right, r.bottom]")
    assert x >= stage[0] and y >= stage[1] and x + width <= stage[2] and y + height <= stage[3], "all of the picture is seen"


def panels(studio, scene):
    studio.tab("plan")
    ink = studio.js("const c = document.getElementById('map'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((x, i) => i % 4 === 3 && x).length")
    assert ink > 1000, "a plan is drawn"
    studio.tab("sheet")
    studio.click("make-sheet")
    studio.wait(lambda: studio.js("return document.getElementById('sheet-picture').naturalWidth") > 600)
    studio.tab("run")
    studio.click("render")
    studio.wait(lambda: studio.state()["batch"]["code"] == 0)
    assert len(list(Path(scene.parent, "out").glob("*.png"))) == 24
    studio.wait(lambda: "24 of 24" in studio.browser.find_element(By.ID, "run-facts").text)
    studio.browser.set_window_size(420, 900)
    assert studio.js("return document.documentElement.scrollWidth <= innerWidth"), "a narrow window"
    studio.browser.set_window_size(1280, 800)
    ground = "return getComputedStyle(document.body).backgroundColor"
    grounds = set()
    for theme in ["light", "dark"]:
        studio.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
        grounds.add(studio.js(ground))
    assert len(grounds) == 2, grounds


def runs(studio, scene):
    """What is on the page is what is rendered, and frames that are in the way are a question."""
    label = lambda name: studio.browser.find_element(By.ID, name).text
    made = lambda folder: len(list(Path(scene.parent, folder).glob("*.png")))

    def ended(count):
        studio.wait(lambda: not studio.state()["batch"]["running"] and studio.state()["batch"]["done"] == count)
        assert studio.state()["batch"]["code"] == 0, studio.state()["batch"]

    def asked(words, buttons):
        studio.wait(lambda: words in label("run-what"))
        assert "--" not in label("run-question")
        assert [b.text for b in studio.browser.find_elements(By.CSS_SELECTOR, "#run-question button") if b.is_displayed()] == buttons

    assert label("render") == "Render" and "out/%02d.png" in label("run-where") and not label("render-saved")
    studio.request("set", changes(("output.frames", "4"), ("film.bloom", "0.2")))
    studio.wait(lambda: label("render") == "Write and render")
    studio.click("render-saved")
    asked("frames of this scene", ["Keep them and go on", "Replace them"])
    assert scene.read_text() == SCENE
    studio.click("render")
    asked("film.bloom", ["Replace them", "Use out-2/%02d.png instead"])
    assert "frames = 4" in scene.read_text() and label("render") == "Render"
    studio.click("run-elsewhere")
    ended(4)
    assert made("out") == 24 and made("out-2") == 4 and 'path = "out-2/%02d.png"' in scene.read_text()
    Path(scene.parent, "out-2/03.png").unlink()
    studio.click("render")
    asked("frames of this scene", ["Keep them and go on", "Replace them", "Use out-2-2/%02d.png instead"])
    studio.click("run-resume")
    ended(1)
    studio.click("render")
    studio.wait(lambda: label("run-what"))
    studio.click("run-overwrite")
    ended(4)
    assert made("out-2") == 4
    studio.save(SCENE)


def connections_without_token(studio):
    host = studio.address.split("/")[2]
    version = studio.state()["version"]
    change = changes(("film.exposure", "9"))
    for headers in [
        {"Origin": "http://example.com"}, {"Origin": "null"}, {"Origin": f"https://{host}"}, {"Host": "example.com"},
        {"Host": f"studio.example:{host.split(':')[1]}"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
    ]:
        assert studio.request("set", change, **headers)[0] == 403, headers
        assert studio.request("state", **headers)[0] == 403, headers
    address, studio.address = studio.address, f"http://{host}/{'0' * 32}/"
    assert studio.request("state")[0] == 404, "another token"
    studio.address = address
    for name, body in [
        ("set", b""), ("set", b"{"), ("set", b"[]"), ("set", b"\xff\xfe"), ("set", b'{"changes": [{"key": "film.exposure"'), ("set", b'{"changes": [{"key": 1}]}'),
        ("set", changes(("a b", "1"))), ("set", changes(("body[9].radius", "1"))), ("set", changes(("body[9]", None))), ("set", b'{"key": "film.exposure", "value": "1"}'),
        ("set", changes(("film.exposure", "9"), ("body[9].radius", "1"))), ("set", changes(("film.exposure", "1" * 100_000))), ("left", b"{}"), ("look", b'{"frame": 0, "view": "1,2"}'),
        ("look", b'{"frame": 0, "view": "nan,0,0,0,0,0,40"}'), ("look", b'{"frame": -1, "view": "1,0,0,0,0,0,40"}'), ("render", b'{"existing": "--overwrite"}'),
        ("make", b"{}"), ("make", deed({"do": "remove", "of": "output"})), ("make", deed({"do": "remove", "of": "body[9]"})), ("make", deed({"do": "add", "what": "teapot"})),
        ("make", deed({"do": "add", "what": "cube", "inside": "light[0]"})), ("make", deed({"do": "move_key", "of": "film.exposure", "index": 9, "to": 0})), ("aim", b'{"frame": 0, "view": "1,2"}'),
    ]:
        status, text = studio.request(name, body)
        assert 400 <= status < 500 and text, (name, body[:60], status)
    for query in ["", "?page=x", "?page=x&frame=-1&level=0", "?page=x&frame=0&level=0&view=1", "?page=x&frame=0&level=x"]:
        assert 400 <= studio.request("picture" + query)[0] < 500, query
    assert studio.request("set", method="GET")[0] == 405
    for name in ["..%2f..%2fetc%2fpasswd", "../../etc/passwd", "scene.toml", "%00"]:
        assert studio.request(name)[0] in (400, 404), name
    status, _ = studio.request("sheet")
    assert status == 200 and studio.state()["version"] == version, "nothing has happened"


def in_tokens(polyfly):
    tokens = subprocess.run([polyfly, "--default"], check=True, capture_output=True, text=True).stdout
    with Studio.of(polyfly, tokens, "--size", "96x72", "--samples", "1", name="scene.txt") as studio:
        scene = studio.scene
        status, text = studio.request("set", changes(("body[0].radius", "1.75")))
        assert status == 200, text
        status, text = studio.request("tokens")
        assert status == 200 and " 1.75 " in text, text
        assert studio.request("write", b"")[0] == 200 and " 1.75 " in scene.read_text()
        studio.request("set", changes(("film.bloom", "0.2")))
        status, text = studio.request("write", b"")
        assert status == 422 and "its film" in text, "the message says what tokens cannot"
        studio.request("discard", b"")
        studio.table("film")
        studio.field("film.bloom").send_keys(Keys.CONTROL + "a" + Keys.NULL, "0.3", Keys.ENTER)
        studio.wait(lambda: studio.state()["changes"])
        written = scene.read_text()
        studio.click("write")
        studio.wait(lambda: "its film" in studio.text("refusal"))
        # Whatever else changes, the words stay until something else is done.
        version = int(studio.shown()["version"])
        scene.write_text(written + "\n")
        studio.wait(lambda: int(studio.shown()["version"]) > version)
        assert "its film" in studio.text("refusal") and scene.read_text() == written + "\n"
        studio.click("discard")
        studio.wait(lambda: not studio.text("refusal") and not studio.state()["changes"])
        # Of the files in tokens the camera has a path on a cylinder: no place of its own stands beside it.
        studio.table("camera")
        assert "position" not in studio.fields("camera") and "fov_deg" in studio.fields("camera")
        studio.table("output")
        assert "96, 72" in studio.browser.find_element(By.CSS_SELECTOR, "[data-key='output.size'] small").text


def camera_keys(polyfly):
    places = [(0, [4, 0, 1.5]), (0.5, [0, 4, 1.5]), (0.75, [-4, 0, 1.5])]
    path = "".join(f"[[camera.key]]\ntime = {time}\nposition = {place}\nlook_at = [0, 0, 0]\n\n" for time, place in places)
    with Studio.of(polyfly, SCENE.replace("[camera.eye]\nr = 4.0\nz = 1.5\nphi_cycles = 1.0\n", path)) as studio:
        scene = studio.scene
        before = studio.state()["document"]["camera"]["key"]
        for frame, count in [(15, 4), (12, 4)]:
            studio.frame(frame)
            studio.drag(steps=3)
            studio.wait(studio.is_settled)
            seen = studio.pixels()
            studio.click("look")
            studio.wait(lambda: not studio.browser.find_element(By.ID, "look").is_enabled())
            studio.best(studio.state()["version"])
            off = sum(abs(a - b) for a, b in zip(seen, studio.pixels())) / len(seen)
            assert off < 1, f"the frame shows the view that was chosen, {off} codes off"
            now = studio.state()["document"]["camera"]["key"]
            assert len(now) == count and [key for key in now if key["time"] in (0, 0.75)] == [before[0], before[2]], now
        assert [key["time"] for key in now] == [0, 0.5, 0.625, 0.75], now
        studio.click("write")
        studio.wait(lambda: not studio.state()["changes"])
        studio.best(studio.state()["version"])
        assert scene.read_text().count("[[camera.key]]") == 4 and studio.pixels() == studio.rendered(12)


def form(polyfly):
    with Studio.of(polyfly, SCENE.replace("[render]", "fps = 25\n\n[render]") + 'color = "deepskyblue"\nradius = 0.1\n\n[[sphere]]\nmaterial = "glass"\n', "--size", "80x60") as studio:
        scene = studio.scene
        for name in ["output", "render", "camera", "body[0]", "light[0]", "sphere[0]"]:
            studio.table(name)
        studio.wait(lambda: studio.fields("sphere[0]"))
        assert studio.fields("output") == ["frames", "fps", "loop", "poster", "path", "size", "bits", "video"], studio.fields("output")
        body = studio.fields("body[0]")
        assert body[:7] == ["solid", "center", "on", "rest", "radius", "bevel", "color"] and "strength" not in body and "abbe" not in body, body
        assert "lamp_cycles" not in body and "roughness" in body, body
        assert studio.fields("sphere[0]") == ["center", "on", "radius", "color", "material", "ior", "abbe", "tint_distance", "film_nm", "film_ior"], studio.fields("sphere[0]")
        assert not {"position", "look_at", "closed"} & set(studio.fields("camera")), studio.fields("camera")
        shown = lambda key: studio.field(key).get_attribute("value")
        assert shown("sphere[0].ior") == "1.5" and shown("render.depth") == "12" and shown("output.frames") == "24", "defaults are shown"
        assert studio.field("render.shadows").is_selected()
        assert studio.js("return document.querySelector(\"[data-key='light[0].color'] input[type=color]\").value") == "#00bfff"
        note = studio.browser.find_element(By.CSS_SELECTOR, "[data-key='output.size'] small")
        assert note.text == "the command line says [80, 60]" and shown("output.size") == "160", note.text
        slider = lambda key: [float(studio.js(f"return document.querySelector(\"[data-key='{key}'] input[type=range]\").{end}")) for end in ("min", "max", "step")]
        assert slider("body[0].lamp_intensity") == [0, 20, 0.1] and slider("body[0].radius") == [0.1, 5, 0.01]
        # Another material sets aside what it does not have, and that comes back with the first.
        text = scene.read_text()
        studio.choose("body[0].material", "gold")
        studio.wait(lambda: studio.state()["document"]["body"][0].get("material") == "gold")
        assert not studio.state()["problems"] and "transparency" not in studio.state()["document"]["body"][0], studio.state()["problems"]
        studio.wait(lambda: "reflection" not in studio.fields("body[0]") and "roughness" in studio.fields("body[0]"))
        aside = lambda: studio.js("return [...document.querySelectorAll('#keys small')].filter((note) => note.offsetParent && note.textContent.startsWith('set aside')).map((note) => note.textContent)")
        assert aside() == ["set aside: reflection = 0.5, transparency = 0.4"], aside()
        studio.choose("body[0].material", "glass")
        studio.wait(lambda: studio.state()["document"]["body"][0].get("material") == "glass")
        studio.choose("body[0].material", "plain")
        studio.wait(lambda: studio.state()["document"]["body"][0].get("material") == "plain")
        studio.wait(lambda: [change["key"] for change in studio.state()["changes"]] == ["body[0].material"])
        studio.wait(lambda: not aside())
        # Each was one step.
        for n in range(3):
            studio.click("undo")
        studio.wait(lambda: not studio.state()["changes"] and not studio.is_enabled("undo"))
        assert studio.request("write", b"")[0] == 200 and scene.read_text() == text


def boxes(polyfly):
    """The boxes of every list, from left to right, are the list."""
    with Studio.of(polyfly, """
[output]
size = [96, 54]
frames = 1
[camera]
position = [5, -4, 1.5]
look_at = [0.1, 0.2, 0.3]
[[body]]
solid = "cube"
center = [0.25, 0.5, 0.75]
axis = [0.1, 0.2, 0.9]
[[ellipsoid]]
center = [2, 1, -1]
radii = [0.5, 0.25, 0.125]
[[rectangle]]
center = [1, 2, 3]
facing = [0.1, 0.2, 0.9]
size = [2, 3]
[[light]]
position = [3, 4, 5]
""") as studio:
        scene = studio.scene
        tables = ["output", "camera", "body[0]", "ellipsoid[0]", "rectangle[0]", "light[0]"]
        for name in tables:
            studio.table(name)
        shown = studio.js("""
            const rows = [...document.querySelectorAll("#keys [data-key]")].map((row) => [row.dataset.key, [...row.querySelectorAll("input[type=number]")]]);
            const left = (field) => field.getBoundingClientRect().left;
            return Object.fromEntries(rows.filter(([, fields]) => fields.length > 1 && fields[0].offsetParent).map(([key, fields]) =>
                [key, fields.sort((a, b) => left(a) - left(b)).map((field) => field.value === "" ? null : Number(field.value))]))""")
        state = studio.state()
        for key, numbers in shown.items():
            table, name = key.rsplit(".", 1)
            at = lambda values: eval("values" + re.sub(r"(\w+)(?=\[|$)", r"['\1']", table, count=1), {"values": values}).get(name)
            value = at(state["document"]) or at(state["holds"])
            assert numbers == value or value is None and not any(numbers), (key, numbers, value)
        lists = {"output.size", "camera.position", "camera.look_at", "body[0].center", "body[0].axis", "ellipsoid[0].center", "ellipsoid[0].radii",
                 "rectangle[0].center", "rectangle[0].facing", "rectangle[0].size", "light[0].position"}
        assert lists <= shown.keys(), lists - shown.keys()
        label = studio.js("return document.querySelector(\"[data-key='output.size'] label\").control.value")
        assert label == "96", "the label leads to the first box"
        # A scene cannot be without some keys.
        is_removable = lambda key: studio.row(key).find_element(By.CLASS_NAME, "back").is_displayed()
        assert [key for key in ["body[0].solid", "body[0].center", "light[0].position", "output.size"] if is_removable(key)] == ["body[0].center", "output.size"]


def over_time(polyfly):
    """A value that changes over the clip has a row for each of its keys."""
    with Studio.of(polyfly, SCENE.replace("exposure = 0.2", 'exposure = { keys = [[0, 0.2], [0.5, 1, "hold"], [1, -1]] }')
                     .replace("lamps = 4", 'lamp_color = { closed = true, keys = [[0, [1.0, 0.5, 0.16]], [0.5, "deepskyblue"]] }'), "--size", "80x60") as studio:
        studio.table("film")
        studio.table("body[0]")
        held = lambda: studio.state()["document"]["film"]["exposure"]
        shown = lambda key, what: studio.js("return [...document.querySelectorAll(`[data-key='${arguments[0]}'] .times .time`)].map((row) => [...row.querySelectorAll(arguments[1])].map((field) => field.value))", key, what)
        assert shown("film.exposure", "input, select") == [["0", "0.2", ""], ["0.5", "1", "hold"], ["1", "-1", ""]]
        assert shown("body[0].lamp_color", "input") == [["0", "#ff8029", "[1, 0.5, 0.16]"], ["0.5", "#00bfff", "deepskyblue"]]
        cell = lambda what: studio.browser.find_element(By.CSS_SELECTOR, f"[aria-label='film.exposure, {what}']")
        cell("key 1, value").send_keys(Keys.CONTROL + "a" + Keys.NULL, "0.75", Keys.ENTER)
        studio.wait(lambda: held() == {"keys": [[0, 0.2], [0.5, 0.75, "hold"], [1, -1]]})
        # Rows are in the order of their times.
        cell("key 0, time").send_keys(Keys.CONTROL + "a" + Keys.NULL, "0.9", Keys.ENTER)
        studio.wait(lambda: held()["keys"] == [[0.5, 0.75, "hold"], [0.9, 0.2], [1, -1]])
        studio.field("film.exposure").click()
        studio.wait(lambda: held()["keys"] == [[0.5, 0.75, "hold"], [0.9, 0.2], [0.95, -1], [1, -1]])
        studio.wait(lambda: len(shown("film.exposure", "input")) == 4)
        cell("key 2, remove").click()
        studio.wait(lambda: len(held()["keys"]) == 3 and len(shown("film.exposure", "input")) == 3)
        studio.row("film.exposure").find_element(By.CSS_SELECTOR, "[type=checkbox]").click()
        studio.wait(lambda: held().get("closed") is True)
        # Once it is a number, it has a slider again.
        studio.request("set", changes(("film.exposure", "0.5")))
        studio.wait(lambda: studio.field("film.exposure").get_attribute("value") == "0.5")
        assert studio.row("film.exposure").find_element(By.CSS_SELECTOR, "[type=range]")
        for _ in range(6):
            studio.request("undo", b"")
        assert not studio.state()["changes"] and studio.request("write", b"")[0] == 200


def drafts(polyfly):
    """The first picture after a change is small if a whole one takes long."""
    with Studio.of(polyfly, SCENE.replace("size = [160, 120]", "size = [1280, 720]").replace("samples = 2", "samples = 1"), "--threads", "1") as studio:
        studio.table("film")
        studio.table("body[0]")
        studio.js("""
            const canvas = document.getElementById("picture");
            window.painted = [];
            new MutationObserver(() => painted.push([Number(canvas.dataset.version), canvas.width])).observe(canvas, { attributeFilter: ["data-painted"] });""")
        exposures = [lambda x=x: studio.type("film.exposure", f"{x}" + Keys.ENTER) for x in [0.75, 0.25, 1, 0.5]]
        materials = [lambda name=name: studio.choose("body[0].material", name) for name in ["gold", "silver", "copper", "titanium"]]
        for deeds in [exposures, materials]:
            # A picture that is done before the page has shown its draft comes alone.
            firsts = []
            for deed in deeds:
                version = studio.state()["version"]
                deed()
                studio.wait(lambda: studio.state()["version"] > version)
                studio.best(version + 1)
                widths = [width for of, width in studio.js("return painted") if of == version + 1]
                assert widths[-1] == 1280, widths
                firsts.append(widths[0])
            assert min(firsts) < 1280, firsts


def left_behind(polyfly):
    """What a studio that was killed has left, and a file that is gone."""
    with Studio.of(polyfly, SCENE, "--size", "64x48") as studio:
        folder = studio.scene.parent
        scene = studio.scene
        bloom = lambda: studio.state()["document"]["film"].get("bloom")
        unsaved = lambda: sorted(path.name for path in Path(folder).glob("*.unsaved*"))
        studio.request("set", changes(("film.bloom", "0.4")))
        studio.crash()
        studio.wait(lambda: "scene.unsaved.toml" in studio.text("left"))
        assert bloom() is None and "saved since then" not in studio.text("left")
        studio.click("left-take")
        studio.wait(lambda: bloom() == 0.4 and not studio.text("left"))
        studio.click("undo")
        studio.wait(lambda: bloom() is None)
        studio.click("redo")
        studio.wait(lambda: bloom() == 0.4)
        studio.crash()
        studio.wait(lambda: studio.text("left"))
        # Changes that come before the answer have a file of their own.
        studio.request("set", changes(("film.bloom", "0.1")))
        assert unsaved() == ["scene.unsaved-2.toml", "scene.unsaved.toml"]
        studio.click("left-drop")
        studio.wait(lambda: not studio.text("left"))
        assert unsaved() == ["scene.unsaved-2.toml"] and bloom() == 0.1
        studio.click("discard")
        studio.wait(lambda: not unsaved())
        # The file is deleted: the page says so, keeps the scene, and writes it anew.
        scene.unlink()
        studio.wait(lambda: "is gone" in studio.problems())
        assert unsaved() == ["scene.unsaved.toml"] and studio.is_enabled("write")
        studio.click("write")
        studio.wait(lambda: not studio.problems())
        assert scene.read_text() == SCENE and not unsaved()
        assert not studio.text("refusal")


def without_server(polyfly):
    with Studio.of(polyfly) as studio:
        scene = studio.scene
        studio.table("film")
        inert = "return document.querySelector('aside').inert && document.getElementById('actions').inert"
        assert not studio.js(inert)
        # The way to it is cut, and comes back.
        studio.browser.set_network_conditions(offline=True, latency=0, throughput=-1)
        field = studio.field("film.bloom")
        field.send_keys(Keys.CONTROL + "a" + Keys.NULL, "0.3", Keys.ENTER)
        studio.wait(lambda: "Not connected" in studio.text("lost") and studio.js(inert))
        assert "film.bloom" in studio.text("refusal"), "the page names what was not sent"
        studio.browser.delete_network_conditions()
        studio.wait(lambda: not studio.text("lost") and not studio.js(inert))
        assert studio.field("film.bloom").get_attribute("value") == "0" and not studio.state()["changes"]
        studio.save(SCENE.replace("exposure = 0.2", "exposure = 1"))
        studio.best(studio.state()["version"])
        assert studio.pixels() == studio.rendered(), "it follows the file again"
        studio.server.terminate()
        studio.wait(lambda: "Not connected" in studio.text("lost") and studio.js(inert))
        # Another one at this address has another secret.
        port = studio.address.split(":")[2].split("/")[0]
        studio.server.wait()
        studio.serve("--port", port)
        studio.wait(lambda: "started again" in studio.text("lost"))


if __name__ == "__main__":
    main(check)
