"""What is made in the studio by mouse, in headless Chromium, with clicks counted. Usage: tests/studio_makes.py POLYFLY

Needs what tests/studio.py needs.
"""

import math
from contextlib import contextmanager

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from studio import Studio, main
from studio import deed as a_deed

SIZE = (160, 90)
HEAD = f"# mine\n[output]\nframes = 60\nsize = [{SIZE[0]}, {SIZE[1]}] # small\n\n"
CAMERA = "[camera]\nposition = [0, -7, 2.5]\nlook_at = [0, 0, 0]\nfov_deg = 50\n\n"
FLOOR = "[floor]\ncorners = [[-5, -5, -1], [-5, 5, -1], [5, 5, -1], [5, -5, -1]]\n\n"
CUBE = '[[body]]\nsolid = "cube" # six faces\non = "floor"\nrest = "face"\n\n'
LIGHT = "[[light]]\nposition = [-4, -5, 6]\n"


class Maker(Studio):
    """Counts clicks: each press of the mouse, and each turn of its wheel from rest."""

    clicks = 0

    def click(self, name):
        self.clicks += 1
        super().click(name)

    def press_on(self, selector):
        self.clicks += 1
        self.browser.find_element(By.CSS_SELECTOR, selector).click()

    def place(self, x, y):
        """A point of the picture in pixels of the window."""
        left, top, width, height = self.js("const box = document.getElementById('picture').getBoundingClientRect(); return [box.x, box.y, box.width, box.height]")
        scale = min(width / SIZE[0], height / SIZE[1])
        return round(left + width / 2 + (x - 0.5) * SIZE[0] * scale), round(top + height / 2 + (y - 0.5) * SIZE[1] * scale)

    def mouse(self, *places, key=None):
        """Presses the button at the first place, goes to the others, and lets go."""
        self.clicks += 1
        if key:
            ActionChains(self.browser).key_down(key).perform()
        chain = ActionChains(self.browser, duration=20)
        mouse = chain.w3c_actions.pointer_action
        mouse.move_to_location(*self.place(*places[0]))
        mouse.pointer_down()
        for place in places[1:]:
            mouse.move_to_location(*self.place(*place))
            chain.pause(0.05)
        mouse.pointer_up()
        chain.perform()
        if key:
            ActionChains(self.browser).key_up(key).perform()

    def wheel(self, turns, x=0.5, y=0.5):
        self.clicks += 1
        chain = ActionChains(self.browser, duration=10)
        for _ in range(abs(turns)):
            chain.w3c_actions.wheel_action.scroll(*self.place(x, y), 0, 100 if turns > 0 else -100, 0)
        chain.perform()

    def picked(self):
        return self.shown().get("picked")

    def picks(self, path):
        self.wait(lambda: self.picked() == path)

    def add(self, what, expected):
        self.click("add")
        self.press_on(f"[data-what={what}]")
        self.picks(expected)

    def document(self):
        return self.state()["document"]

    def deed(self, **deed):
        """A deed by request, as the page asks for it."""
        status, text = self.request("make", a_deed(deed))
        assert status == 200, text

    def outline(self):
        return self.js("return document.querySelector('#outline path').getAttribute('d')") or ""


@contextmanager
def made(polyfly, text):
    with Maker.of(polyfly, text) as studio:
        yield studio
        assert not studio.text("refusal"), studio.text("refusal")


def picking(polyfly):
    """A click picks, and no pixel of the picture changes; one more picks what lies behind."""
    with made(polyfly, HEAD + CAMERA + FLOOR + CUBE + "[[sphere]]\nradius = 0.2\ncenter = [0, 0, -0.5]\n\n" + LIGHT) as studio:
        before = studio.pixels()
        studio.mouse((0.5, 0.62))
        studio.picks("body[0]")
        studio.wait(studio.outline)
        assert studio.js("return document.querySelector('[data-table=\"body[0]\"]').open"), "its group opens"
        studio.mouse((0.5, 0.62))
        studio.picks("sphere[0]")
        assert not studio.js("return document.querySelector('[data-table=\"body[0]\"]').open")
        studio.mouse((0.9, 0.9))
        studio.picks("floor")
        studio.mouse((0.5, 0.02))
        studio.picks("")
        assert not studio.outline() and studio.pixels() == before
        # By the list of names, and let go by Escape. The outline goes with the camera.
        studio.js("const list = document.getElementById('objects'); list.value = 'body[0]'; list.dispatchEvent(new Event('change'))")
        studio.picks("body[0]")
        studio.wait(studio.outline)
        first = studio.outline()
        studio.js("document.activeElement.blur()")
        studio.press("d")
        studio.wait(lambda: studio.outline() not in ("", first))
        studio.press(Keys.ESCAPE)
        studio.picks("")
        studio.press(Keys.ESCAPE)
        studio.best(1)
        assert studio.pixels() == before
        assert not studio.state()["changes"]


def zooming(polyfly):
    """The wheel goes to what is below the mouse, which stays there."""
    for projection in ["perspective", "orthographic"]:
        camera = CAMERA.replace("fov_deg", f'projection = "{projection}"\nfov_deg')
        with made(polyfly, HEAD + camera + FLOOR + "[[sphere]]\nradius = 0.2\ncenter = [1.5, 0, 0.8]\n\n" + LIGHT) as studio:
            to_right, up, ahead = 1.5, 0.753, 7.164 if projection == "perspective" else math.hypot(7, 2.5)
            seen = studio.state()["axis"] / (2 * math.tan(math.radians(25)) * ahead)
            ball = 0.5 + to_right * seen, 0.5 - up * seen * SIZE[0] / SIZE[1]
            studio.wheel(-20, *ball)
            studio.mouse(ball)
            studio.picks("sphere[0]")


def grains(polyfly):
    """A click on a particle tells which one it is, in each frame; no key of the scene says so."""
    cell = "ITEM: BOX BOUNDS pp pp pp\n-5 5\n-5 5\n-5 5\n"
    # The second step has other places, and another order.
    rows = ["42 0 0 0 1 2.5 \n17 2 3 0.5 1 7 \n", "17 2 3 0.5 1 8 \n42 0 0 1 1 nan \n"]
    dump = "".join(f"ITEM: TIMESTEP\n{step}000\nITEM: NUMBER OF ATOMS\n2\n{cell}ITEM: ATOMS id x y z radius c_load\n{text}" for step, text in enumerate(rows))
    text = HEAD.replace("= 60", "= 2") + CAMERA + FLOOR + '[particles]\npath = "bed.dump"\n\n' + LIGHT
    with Maker.of(polyfly, text, **{"bed.dump": dump}) as studio:
        told = lambda: dict(zip(*[studio.js(f"return [...document.querySelectorAll('#particle {name}')].map((one) => one.textContent)") for name in ("dt", "dd")]))
        studio.mouse((0.5, 0.5))
        studio.picks("particles[42]")
        studio.wait(lambda: told() == {"row": "0", "step": "0 (0 in the file)", "position": "0, 0, 0", "radius": "1", "id": "42", "c_load": "2.5"})
        assert studio.text("particle-name").lower() == "particle 42"
        studio.wait(studio.outline)
        first = studio.outline()
        assert studio.js("return document.querySelector('[data-table=particles]').open"), "its group opens"
        assert not studio.is_enabled("remove") and not studio.is_enabled("duplicate") and studio.is_enabled("aim")
        studio.frame(1)
        studio.wait(lambda: told().get("step") == "1 (1000 in the file)")
        assert (told()["row"], told()["position"], told()["c_load"]) == ("1", "0, 0, 1", "no number"), told()
        studio.wait(lambda: studio.outline() not in ("", first))
        studio.mouse((0.5, 0.9))
        studio.picks("floor")
        assert not studio.text("particle")
        assert not studio.state()["changes"]


def dragging(polyfly):
    with made(polyfly, HEAD + CAMERA + FLOOR + CUBE + LIGHT) as studio:
        centre = lambda: studio.state()["holds"]["body"][0]["center"]
        start = centre()
        # What is not picked turns the camera.
        studio.mouse((0.5, 0.55), (0.55, 0.55))
        assert not studio.state()["changes"] and studio.is_enabled("reset")
        studio.click("reset")
        studio.mouse((0.5, 0.55))
        studio.picks("body[0]")
        studio.wait(studio.outline)
        studio.mouse((0.5, 0.55), (0.55, 0.54), (0.6, 0.53), (0.7, 0.5))
        studio.wait(lambda: centre()[0] > start[0] + 0.8)
        studio.best(studio.state()["version"])
        moved = centre()
        assert abs(moved[2] - start[2]) < 1e-9 and moved[1] > start[1], (start, moved)
        assert "on" in studio.document()["body"][0] and not studio.is_enabled("reset")
        studio.mouse((0.7, 0.5), (0.7, 0.45), (0.7, 0.35), key=Keys.ALT)
        studio.wait(lambda: centre()[2] > start[2] + 0.5)
        assert all(abs(a - b) < 1e-9 for a, b in zip(centre()[:2], moved)) and "on" not in studio.document()["body"][0]
        # Each drag is one step.
        studio.click("undo")
        studio.wait(lambda: centre() == moved)
        studio.click("undo")
        studio.wait(lambda: centre() == start and not studio.is_enabled("undo"))


def handles(polyfly):
    """The handles of what is picked size and turn it, by mouse and by the keyboard."""
    with made(polyfly, HEAD + CAMERA + FLOOR + CUBE + LIGHT) as studio:
        body = lambda: studio.document()["body"][0]
        shown = lambda name: studio.browser.find_element(By.ID, name).is_displayed()
        assert not shown("resize") and not shown("turn")
        studio.mouse((0.5, 0.55))
        studio.picks("body[0]")
        studio.wait(lambda: shown("resize") and shown("turn"))
        for name, key, by in [("resize", "radius", (40, 30)), ("turn", "angle_deg", (60, 0))]:
            before = studio.state()["holds"]["body"][0][key]
            # The handles have come with the picture to where they stay.
            studio.best(studio.state()["version"])
            chain = ActionChains(studio.browser, duration=30).click_and_hold(studio.browser.find_element(By.ID, name))
            for _ in range(3):
                chain.move_by_offset(by[0] // 3, by[1] // 3)
            chain.release().perform()
            studio.wait(lambda: body().get(key, 0) > before)
            after = body()[key]
            studio.browser.find_element(By.ID, name).send_keys(Keys.ARROW_UP)
            studio.wait(lambda: body()[key] > after)
            for _ in range(2):
                studio.click("undo")
            studio.wait(lambda: key not in body())
        studio.js("const list = document.getElementById('objects'); list.value = 'light[0]'; list.dispatchEvent(new Event('change'))")
        studio.wait(lambda: not shown("turn"))


def copies(polyfly):
    with made(polyfly, HEAD + CAMERA + FLOOR + CUBE + LIGHT) as studio:
        count = lambda: len(studio.document().get("body", []))
        studio.mouse((0.5, 0.55))
        studio.picks("body[0]")
        studio.click("duplicate")
        studio.picks("body[1]")
        assert studio.document()["body"][1]["rest"] == "face"
        studio.js("document.activeElement.blur()")
        ActionChains(studio.browser).key_down(Keys.CONTROL).send_keys("d").key_up(Keys.CONTROL).perform()
        studio.picks("body[2]")
        studio.press(Keys.DELETE)
        studio.wait(lambda: count() == 2)
        studio.picks("")
        studio.mouse((0.5, 0.55))
        studio.picks("body[0]")
        studio.click("remove")
        studio.wait(lambda: count() == 1)
        for expected in [2, 3, 2, 1]:
            studio.click("undo")
            studio.wait(lambda: count() == expected)
        # The camera turns towards what is picked.
        studio.js("const list = document.getElementById('objects'); list.value = 'light[0]'; list.dispatchEvent(new Event('change'))")
        studio.click("aim")
        studio.wait(lambda: studio.is_enabled("look"))
        studio.click("look")
        studio.wait(lambda: studio.document()["camera"]["look_at"] == [-4, -5, 6])


def new_scene(polyfly):
    """An amber cube, a blue octahedron inside and a wet floor."""
    with made(polyfly, HEAD + CAMERA + FLOOR + LIGHT) as studio:
        studio.click("add")
        studio.wait(lambda: studio.js("return [...document.querySelectorAll('#palette img')].every((image) => image.naturalWidth === 96)"))
        studio.click("add")
        studio.clicks = 0
        studio.add("cube", "body[0]")
        studio.press_on("[aria-label=amber]")
        studio.wait(lambda: studio.document()["body"][0].get("color") == "#d98a1f")
        studio.clicks += 2
        studio.choose("body[0].material", "glass")
        studio.wait(lambda: studio.document()["body"][0].get("material") == "glass")
        studio.click("add")
        studio.click("inside")
        studio.press_on("[data-what=octahedron]")
        studio.picks("body[1]")
        studio.press_on("[aria-label=blue]")
        studio.wait(lambda: studio.document()["body"][1].get("color") == "#2563c9")
        studio.add("wet-floor", "floor")
        assert studio.clicks <= 20, studio.clicks
        cube, octahedron = studio.state()["holds"]["body"]
        assert math.dist(cube["center"], octahedron["center"]) < 0.01 and octahedron["radius"] < 0.6 * cube["radius"]
        assert studio.document()["floor"]["reflection"] == 0.35
        studio.best(studio.state()["version"])
        assert not studio.problems()
        studio.click("write")
        studio.wait(lambda: not studio.state()["changes"])
        text = studio.scene.read_text()
        assert text.startswith("# mine\n") and "# small" in text and studio.pixels() == studio.rendered()
        return studio.clicks


def flight(polyfly):
    """The camera goes through a pane, and on."""
    pane = '[[rectangle]]\nsize = [3, 3]\nfacing = [0, -1, 0]\nmaterial = "glass"\n\n'
    with made(polyfly, HEAD + CAMERA.replace("2.5", "0.2") + FLOOR + pane + "[[sphere]]\ncenter = [0, 4, 0]\n\n" + LIGHT) as studio:
        studio.click("number")
        ActionChains(studio.browser).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys("45", Keys.ENTER).perform()
        studio.wait(lambda: studio.shown()["frame"] == "45")
        studio.wheel(-60)
        studio.press_on("[aria-label='camera: a key at this frame']")
        studio.wait(lambda: len(studio.document()["camera"].get("key", [])) == 2)
        assert studio.clicks <= 8, studio.clicks
        first, last = studio.document()["camera"]["key"]
        assert (first["time"], last["time"]) == (0, 0.75) and first["position"] == [0, -7, 0.2] and last["position"][1] > 0.5, last
        assert last["look_at"][1] > last["position"][1], "it looks ahead"
        studio.best(studio.state()["version"])
        assert not studio.is_enabled("reset")
        return studio.clicks


def loop(polyfly):
    """A seamless loop of ten seconds."""
    camera = "[camera.eye]\nr = 6\nz = 2\nphi_cycles = 0.8\n\n"
    with made(polyfly, HEAD + camera + FLOOR + CUBE.replace("rest", "turns = 0.3\nrest") + LIGHT) as studio:
        assert studio.text("seamless") == ""
        studio.click("length")
        ActionChains(studio.browser).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys("10", Keys.ENTER).perform()
        studio.click("loop")
        studio.wait(lambda: studio.text("seamless") == "a seamless loop")
        assert studio.clicks <= 3, studio.clicks
        document = studio.document()
        assert document["output"]["frames"] == 300 and document["camera"]["eye"]["phi_cycles"] == 1 and document["body"][0]["turns"] == 0.25, document
        return studio.clicks


def mistakes(polyfly):
    """Three mistakes are undone by three clicks."""
    with made(polyfly, HEAD + CAMERA + FLOOR + CUBE + LIGHT) as studio:
        before = studio.document()
        studio.mouse((0.5, 0.55))
        studio.picks("body[0]")
        studio.press_on("[aria-label=green]")
        studio.wait(lambda: "color" in studio.document()["body"][0])
        studio.click("remove")
        studio.wait(lambda: "body" not in studio.document())
        studio.add("light", "light[1]")
        studio.clicks = 0
        for _ in range(3):
            studio.click("undo")
        studio.wait(lambda: studio.document() == before)
        return studio.clicks


def times(polyfly):
    """Keys on the timeline are made, moved and removed."""
    with made(polyfly, HEAD + CAMERA + "[film]\nexposure = 0.5 # bright\n\n" + FLOOR + CUBE + LIGHT) as studio:
        held = lambda: studio.document()["film"]["exposure"]
        studio.table("film")
        studio.frame(30)
        key = studio.row("film.exposure").find_element(By.CLASS_NAME, "over")
        ActionChains(studio.browser).move_to_element(key).click().perform()
        studio.wait(lambda: held() == {"keys": [[0, 0.5], [0.5, 0.5]]})
        ticks = lambda: studio.browser.find_elements(By.CSS_SELECTOR, "[data-tick^='film.exposure']")
        labels = lambda: studio.js("return [...document.querySelectorAll('[data-tick^=\"film.exposure\"]')].map((tick) => tick.ariaLabel)")
        studio.wait(lambda: labels() == ["film.exposure, key 0, frame 0, 0.5", "film.exposure, key 1, frame 30, 0.5"])
        # A click goes there, a drag moves it.
        ticks()[0].click()
        studio.wait(lambda: studio.number() == "0")
        lane = studio.js("return document.querySelector('[data-tick^=\"film.exposure\"]').parentElement.getBoundingClientRect().width")
        ActionChains(studio.browser).drag_and_drop_by_offset(ticks()[1], round(lane * 15 / 59), 0).perform()
        studio.wait(lambda: held() == {"keys": [[0, 0.5], [0.75, 0.5]]})
        studio.wait(lambda: "frame 45" in labels()[1])
        ticks()[1].send_keys(Keys.ARROW_LEFT)
        studio.wait(lambda: abs(held()["keys"][1][0] - 44 / 60) < 1e-9)
        studio.wait(lambda: "frame 44" in labels()[1])
        assert studio.js("return document.activeElement.dataset.tick") == "film.exposure[1]"
        # Up and down changes its value: a row of one height goes by a twentieth of one a pixel.
        ActionChains(studio.browser).drag_and_drop_by_offset(ticks()[1], 0, -10).perform()
        studio.wait(lambda: abs(held()["keys"][1][1] - 1) < 0.03 and abs(held()["keys"][1][0] - 44 / 60) < 1e-9)
        top = held()["keys"][1][1]
        studio.wait(lambda: labels()[1].endswith(f", {top:g}"))
        ticks()[1].send_keys(Keys.ARROW_DOWN)
        studio.wait(lambda: held()["keys"][1][1] < top)
        for _ in range(2):
            studio.undo()
        studio.wait(lambda: labels() == ["film.exposure, key 0, frame 0, 0.5", "film.exposure, key 1, frame 44, 0.5"])
        ticks()[1].send_keys(Keys.DELETE)
        studio.wait(lambda: held() == 0.5 and not labels())
        for _ in range(4):
            studio.undo()
        assert held() == 0.5 and not studio.state()["changes"]
        # The pictures of the contact sheet lead to their frames.
        studio.tab("sheet")
        studio.click("make-sheet")
        frames = lambda: studio.browser.find_elements(By.CSS_SELECTOR, "#sheet-frames button")
        studio.wait(lambda: len(frames()) == 20)
        frames()[7].click()
        studio.wait(lambda: studio.number() == frames()[7].get_attribute("title").split()[1] != "0")
        studio.tab("keys")
        # The camera's key, by the keyboard, and a flight.
        studio.js("document.activeElement.blur()")
        studio.frame(15)
        studio.press("w", "e", "k")
        studio.wait(lambda: len(studio.document()["camera"].get("key", [])) == 2)
        first, second = studio.document()["camera"]["key"]
        assert second["position"][1] > first["position"][1] + 0.05 and second["position"][2] > first["position"][2] and second["time"] == 0.25
        # The clip's length, in seconds.
        studio.js("const field = document.getElementById('length'); field.value = 4; field.dispatchEvent(new Event('change'))")
        studio.wait(lambda: studio.document()["output"]["frames"] == 120)
        assert studio.browser.find_element(By.ID, "seconds").text == "0.50 s"


def hundred_steps(polyfly):
    """Whatever was made, a hundred steps back are the bytes of the start."""
    text = HEAD + CAMERA + "[film]\nexposure = 0.5 # bright\n\n" + FLOOR + CUBE + LIGHT
    with made(polyfly, text) as studio:
        drag = dict(of="body[0]", grabbed=[0, 0, 0], from_=[0, 0, 0], to=[0.6, 0.6], is_upright=False)
        for n in range(12):
            # An object of the list is always there.
            studio.deed(do="add", what=["cube", "ball", "panel", "light"][n % 4], inside=None)
            studio.deed(do="duplicate", of="body[0]")
            drag |= {"to": [0.3 + n / 50, 0.6], "is_upright": n % 2 == 1}
            studio.deed(do="drag", gesture=str(n), **{key.rstrip("_"): value for key, value in drag.items()})
            studio.deed(do="remove", of="body[1]")
            studio.deed(do="key", of="film.exposure")
            studio.deed(do="key", of="camera.key")
            studio.deed(do="move_key", of="film.exposure", index=1, to=20 + n)
            studio.deed(do="remove_key", of="film.exposure", index=0)
            studio.deed(do="remove_key", of="camera.key", index=0)
        steps = 0
        while studio.state()["can_undo"]:
            studio.request("undo", b"")
            steps += 1
        assert steps >= 100 and not studio.state()["changes"], steps
        assert studio.request("write", b"")[0] == 200 and studio.scene.read_text() == text


def check(polyfly):
    for test in [picking, zooming, grains, dragging, handles, copies, times, hundred_steps]:
        test(polyfly)
    clicks = {test.__name__: test(polyfly) for test in [new_scene, flight, loop, mistakes]}
    said = [line["message"] for line in Studio.browser.get_log("browser") if line["level"] == "SEVERE" and "409" not in line["message"]]
    assert not said, said
    print("made by mouse, in clicks:", ", ".join(f"{name} {count}" for name, count in clicks.items()))


if __name__ == "__main__":
    main(check)
