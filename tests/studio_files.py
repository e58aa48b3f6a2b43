"""The studio in headless Chromium: where a scene begins, its text, its looks, its run and its stills. Usage: tests/studio_files.py POLYFLY

Needs what tests/studio.py needs, ffmpeg and axe-core-python.
"""

import json
import subprocess
import tempfile
import time
from pathlib import Path

import axe_core_python
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from studio import SCENE, Studio, changes, main


class Hand:
    """Clicks, counted."""

    def __init__(self, studio):
        self.studio, self.clicks = studio, 0

    def click(self, selector):
        self.clicks += 1
        self.studio.browser.find_element(By.CSS_SELECTOR, selector).click()

    def color(self, key, value):
        """A click on a swatch, and a color of the system's picker, which no script can open."""
        self.clicks += 1
        picker = self.studio.browser.find_element(By.CSS_SELECTOR, f"[data-key='{key}'] input[type=color]")
        self.studio.js("for (const name of ['input', 'change']) { arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event(name, { bubbles: true })); }", picker, value)


def check(polyfly):
    for part in [beginning, text, looks, one_color, stop_and_go_on, stills, glass, accessible]:
        part(polyfly)
    print("the studio's files are what they should be")


def beginning(polyfly):
    """Without a name: a template, a sample, and both among the recent scenes, of other folders too."""
    with tempfile.TemporaryDirectory() as folder, Studio(polyfly, folder, "--cpu", "--size", "64x36", "--samples", "1") as studio:
        studio.browser.get(studio.address)
        card = lambda name: f"#start [data-scene='{name}']"
        hand = Hand(studio)
        assert folder in studio.text("start-folder") and not studio.text("actions")
        # The renderer makes the pictures of templates, the documentation has those of samples.
        width = lambda name: studio.js(f"const image = document.querySelector(\"{card(name)} img\"); image.loading = 'eager'; return image.naturalWidth")
        studio.wait(lambda: width("jewel") > 100 and width("cube") > 100)
        assert studio.request("set", changes(("film.exposure", "1")))[0] == 409, "no scene is open"
        hand.click(card("jewel"))
        studio.wait(lambda: studio.shown().get("best") == "true")
        assert hand.clicks == 1 and Path(folder, "jewel.toml").exists() and studio.state()["name"] == "jewel.toml"
        assert 'path = "output/jewel/%04d.png"' in Path(folder, "jewel.toml").read_text()
        # What is not written is kept beside the scene, and asked for when it is opened again.
        studio.request("set", changes(("film.bloom", "0.25")))
        hand.click("#open")
        studio.wait(lambda: "jewel.toml" in studio.text("start-lists"))
        hand.click(card("cube"))
        studio.wait(lambda: studio.state()["name"] == "cube.toml" and studio.shown().get("best") == "true")
        assert not studio.state()["left"]
        hand.click("#open")
        hand.click(card("jewel.toml"))
        studio.wait(lambda: studio.state()["name"] == "jewel.toml" and "jewel.unsaved.toml" in studio.text("left"))
        # A changed file is not written over.
        Path(folder, "cube.toml").write_text("# mine\n" + Path(folder, "cube.toml").read_text())
        for body, name in [({"sample": "cube"}, "cube-2.toml"), ({"sample": "cube"}, "cube-2.toml"), ({"template": "jewel"}, "jewel-2.toml")]:
            assert studio.request("open", json.dumps(body).encode())[0] == 200 and studio.state()["name"] == name
        # From another folder it is one click too.
        with tempfile.TemporaryDirectory() as elsewhere, Studio(polyfly, elsewhere, "--cpu", "--size", "64x36", "--samples", "1") as other:
            other.browser.get(other.address)
            before = str(Path(folder, "jewel-2.toml"))
            other.wait(lambda: "Recent scenes of other folders" in other.text("start-lists"))
            other.wait(lambda: width(before) > 100)
            hand.click(card(before))
            other.wait(lambda: other.state()["name"] == before and other.shown().get("best") == "true")
            assert not list(Path(elsewhere).iterdir())


def text(polyfly):
    """Text, form and picture are one document; a fault stands at its line."""
    with Studio.of(polyfly) as studio:
        scene = studio.scene
        hand = Hand(studio)
        hand.click("#tab-text")
        source = studio.browser.find_element(By.ID, "source")
        value = lambda: source.get_property("value")
        studio.wait(lambda: value() == SCENE)

        def select(words):
            at = value().index(words)
            studio.js("arguments[0].focus(); arguments[0].setSelectionRange(arguments[1], arguments[2])", source, at, at + len(words))

        # From a field to the text, with its comments.
        studio.request("set", changes(("film.exposure", "0.5")))
        studio.wait(lambda: "exposure = 0.5 # a little more" in value())
        studio.undo()
        studio.wait(lambda: value() == SCENE)
        # From the text to the picture and the fields. What is typed in one go is one step.
        select("lamps = 4")
        source.send_keys("lamps = 5\n# and a comment")
        studio.wait(lambda: studio.state()["document"]["body"][0]["lamps"] == 5 and "# and a comment" in studio.state_of("text")["text"])
        studio.wait(lambda: studio.is_enabled("write"))
        studio.undo()
        studio.wait(lambda: value() == SCENE)
        assert not studio.state()["can_undo"] or studio.state()["changes"] == []
        studio.wait(lambda: not studio.is_enabled("write"))
        # A comment alone is a change too.
        select("# A cube of one's own.")
        source.send_keys("# Mine.")
        studio.wait(lambda: studio.is_enabled("write"))
        hand.click("#write")
        studio.wait(lambda: scene.read_text().startswith("# Mine.\n"))
        # The cursor's key is explained.
        select("exposure")
        studio.wait(lambda: studio.text("text-help").startswith("film.exposure"))
        # A fault is told at its line and leads there; the last picture stays.
        before = studio.pixels()
        line = value().split("\n").index("reflection = 0.5") + 1
        select("reflection = 0.5")
        source.send_keys("reflecton = 0.5")
        # The colored text below is the typed one, and lies where it does.
        studio.wait(lambda: studio.js("return document.getElementById('ink').textContent") == value() + "\n")
        kinds = studio.js("return [...document.querySelectorAll('#ink span')].map((part) => `${part.className} ${part.textContent}`)")
        assert {"table [output]", "name reflecton", "number 0.5", "comment # Mine."} <= set(kinds), kinds
        marked = lambda: studio.js("return [...document.querySelectorAll('#gutter .fault')].map((line) => line.textContent)")
        studio.wait(lambda: marked() == [str(line)])
        fault = studio.browser.find_element(By.CSS_SELECTOR, "#text-faults button")
        assert fault.text.startswith(f"{line}:1 ") and "did you mean `reflection`?" in fault.text, fault.text
        fault.click()
        assert studio.js("return arguments[0].selectionStart", source) == value().index("reflecton")
        assert studio.pixels() == before
        # What is no TOML at all survives what an editor saves.
        source.send_keys("[[ ")
        studio.wait(lambda: "[[ reflecton" in studio.state_of("text")["text"])
        studio.save(scene.read_text().replace("lamps = 4", "lamps = 6"))
        assert "[[ reflecton" in studio.state_of("text")["text"] and studio.request("write", b"")[0] == 422
        for _ in range(9):
            studio.request("undo", b"")
        studio.wait(lambda: not marked())


def looks(polyfly):
    """A look is one click and one step, and the renderer's own picture shows it."""
    with Studio.of(polyfly, SCENE + '\n[[sphere]]\nmaterial = "glass"\nior = 2\n', "--size", "80x60") as studio:
        hand = Hand(studio)
        hand.click("#tab-looks")
        body = lambda: studio.state()["document"]["body"][0]
        hand.click("[data-look='material-gold']")
        studio.wait(lambda: body().get("material") == "gold")
        assert "reflection" not in body() and not studio.state()["problems"] and body()["lamps"] == 4
        assert studio.js("return document.querySelector(\"[data-look='material-gold'] img\").naturalWidth") > 50
        studio.click("undo")
        studio.wait(lambda: not studio.state()["changes"])
        Select(studio.browser.find_element(By.ID, "looks-element")).select_by_value("sphere[0]")
        shown = lambda title: studio.js("return [...document.querySelectorAll('#looks-list section')].some((one) => !one.hidden && one.textContent.startsWith(arguments[0]))", title)
        assert shown("Materials") and not shown("Bars") and not shown("Floors")
        hand.click("[data-look='material-copper']")
        studio.wait(lambda: studio.state()["document"]["sphere"][0] == {"material": "copper"})


def one_color(polyfly):
    """One color is changed and the film is made again; it plays in the page."""
    with Studio.of(polyfly, SCENE.replace('path = "out/%02d.png"', 'path = "out/%02d.png"\nvideo = "cube.mp4"')) as studio:
        folder = studio.scene.parent
        scene = studio.scene
        assert studio.request("made/film")[0] == 404
        assert studio.request("render", b"{}")[0] == 200
        studio.wait(lambda: studio.state()["batch"]["end"] == "done")
        film = Path(folder, "cube.mp4")
        before = film.read_bytes()
        hand = Hand(studio)
        hand.click("[data-table='body[0]'] > summary")
        studio.wait(lambda: studio.fields("body[0]"))
        hand.color("body[0].color", "#ff8040")
        studio.wait(lambda: studio.browser.find_element(By.ID, "film").text == "Write and render")
        hand.click("#film")
        studio.wait(lambda: studio.text("run-what"))
        hand.click("#run-overwrite")
        studio.wait(lambda: studio.state()["batch"]["number"] == 2 and studio.state()["batch"]["end"] == "done")
        assert hand.clicks <= 4 and film.read_bytes() != before and 'color = "#ff8040"' in scene.read_text()
        playing = lambda: studio.js("const film = document.querySelector('#made video'); return film && [film.videoWidth, film.videoHeight, film.currentTime > 0.1]")
        studio.wait(lambda: playing() == [160, 120, True])
        assert "done: 24 of 24 frames in" in studio.text("run-facts") and studio.text("run-path") == str(film)
        # A player asks for parts; a file that the run did not make is not served.
        status, _ = studio.request("made/film", Range="bytes=0-99")
        assert status == 206
        for name in ["made/frame/0", "made/frame/23"]:
            assert studio.request(name)[0] == 200
        assert studio.request("made/frame/99") == (204, "")
        for name in ["made/frame/-1", "made/frame/..%2fscene.toml", "made/scene.toml", "docs/..%2fREADME.md", "docs/studio.md"]:
            assert studio.request(name)[0] in (400, 404, 500), name


def stop_and_go_on(polyfly):
    with Studio.of(polyfly, SCENE.replace("frames = 24", "frames = 3000").replace("size = [160, 120]", "size = [320, 240]")) as studio:
        folder = studio.scene.parent
        hand = Hand(studio)
        run = lambda: studio.state()["batch"]
        hand.click("#film")
        studio.wait(lambda: run()["done"] > 2 and " left" in studio.text("run-facts"))
        # The newest frame is seen while the run goes on.
        studio.wait(lambda: studio.js("return document.querySelector('#made img')?.naturalWidth") == 320)
        hand.click("#stop")
        studio.wait(lambda: not run()["running"])
        made = len(list(Path(folder, "out").glob("*.png")))
        assert run()["end"] == "stopped" and 2 < made < 3000, (run(), made)
        # The page hears of it a little later.
        studio.wait(lambda: "stopped" in studio.text("run-facts"))
        hand.click("#go-on")
        studio.wait(lambda: run()["running"] and run()["done"] > 0)
        assert run()["frames"] == 3000 - made, run()
        hand.click("#stop")
        studio.wait(lambda: not run()["running"])
        assert len(list(Path(folder, "out").glob("*.png"))) > made


def stills(polyfly):
    """A still has the bytes of the command line's frame."""
    with Studio.of(polyfly) as studio, tempfile.TemporaryDirectory() as saved:
        folder = studio.scene.parent
        scene = studio.scene
        studio.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": saved})
        studio.frame(7)
        hand = Hand(studio)
        hand.click("#tab-image")
        for ending in ["png", "exr"]:
            hand.click(f"#still-{ending}")
            still = Path(saved, f"scene-0007.{ending}")
            studio.wait(lambda: still.exists())
            subprocess.run([polyfly, str(scene), "--cpu", "-q", "--frames", "7", "-o", f"{folder}/frame.{ending}"], check=True, capture_output=True)
            assert still.read_bytes() == Path(folder, f"frame.{ending}").read_bytes(), ending
        # Another view is another picture.
        studio.drag(steps=3)
        hand.click("#still-png")
        studio.wait(lambda: any(path.read_bytes()[-12:-8] == bytes(4) and path.read_bytes() != Path(folder, "frame.png").read_bytes() for path in Path(saved).glob("*.png")))
        assert studio.request("still", b'{"frame": 0, "format": "../x"}')[0] == 422
        assert sorted(path.name for path in Path(folder).iterdir()) == ["frame.exr", "frame.png", "scene.toml"]


def glass(polyfly):
    """A beside now, values of pixels, the histogram, the size while working, pause."""
    with Studio.of(polyfly) as studio:
        hand = Hand(studio)
        hand.click("#tab-image")
        picture = studio.browser.find_element(By.ID, "picture")
        ActionChains(studio.browser).move_to_element(picture).perform()
        studio.wait(lambda: "linear" in studio.text("pixel"))
        place, values = studio.text("pixel").split(": ")
        x, y = [int(number) for number in place.split(", ")]
        at = 3 * (y * 160 + x)
        assert (abs(x - 80), abs(y - 60)) <= (1, 1) and values.split()[:3] == [str(code) for code in studio.pixels()[at : at + 3]], (place, values)
        ink = "const c = document.getElementById('histogram'); return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(Boolean)"
        assert studio.js(ink) and "black" in studio.text("clipped")
        hand.click("#keep")
        kept = "const c = document.getElementById('before'); return c.hidden ? null : [...c.getContext('2d').getImageData(0, 0, c.width, c.height).data]"
        before = studio.js(kept)
        studio.request("set", changes(("film.exposure", "1.5")))
        studio.best(studio.state()["version"])
        assert studio.js(kept) == before and [x for i, x in enumerate(before) if i % 4 < 3] != list(studio.pixels())
        hand.click("#forget")
        assert studio.js(kept) is None
        hand.click("#pause")
        version = int(studio.shown()["version"])
        studio.request("set", changes(("film.exposure", "0.5")))
        time.sleep(0.4)
        assert int(studio.shown()["version"]) == version, "it waits"
        hand.click("#pause")
        studio.best(studio.state()["version"])
        Select(studio.browser.find_element(By.ID, "scale")).select_by_value("2")
        studio.wait(lambda: studio.js("return document.getElementById('picture').width") == 80 and studio.shown()["request"] == studio.shown()["wanted"])
        Select(studio.browser.find_element(By.ID, "scale")).select_by_value("1")
        studio.wait(studio.is_settled)
        assert studio.js("return document.getElementById('picture').width") == 160


def accessible(polyfly):
    """axe-core finds nothing, in light and dark, on any panel."""
    axe = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text()

    def found(studio):
        studio.js(axe)
        for theme in ["light", "dark"]:
            studio.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
            yield from studio.browser.execute_async_script("""
                const done = arguments[0];
                axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => done(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)))""")

    with tempfile.TemporaryDirectory() as folder, Studio(polyfly, folder, "--cpu", "--size", "64x36", "--samples", "1") as studio:
        studio.browser.get(studio.address)
        studio.wait(lambda: "infinity" in studio.text("start-lists"))
        assert not list(found(studio))
        studio.request("open", b'{ "template": "infinity" }')
        studio.open()
        for tab in studio.browser.find_elements(By.CSS_SELECTOR, "[role=tab]"):
            tab.click()
            studio.js("document.querySelectorAll('#keys > details').forEach((table) => { table.open = true; })")
            assert not list(found(studio)), tab.text


if __name__ == "__main__":
    main(check)
