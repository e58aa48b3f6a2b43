"""The page of scripts/web in headless Chromium. Usage: tests/web/page.py PAGE POLYFLY [FOLDER]

With a folder, pictures of the page in two sizes are left there. Needs chromium, chromium-driver and selenium.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

page, polyfly = Path(sys.argv[1]).resolve(), sys.argv[2]
pictures = Path(sys.argv[3]) if len(sys.argv) > 3 else None

options = Options()
options.binary_location = "/usr/bin/chromium"
for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"]:
    options.add_argument(flag)
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def get(name):
    return driver.find_element(By.ID, name)


def until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds} s; the page says {get('status').text!r}")


def finished():
    """The hash of the finished picture."""
    return until("a finished picture", lambda: get("proof").is_displayed() and get("hash").text)


def write(text):
    driver.execute_script("const s = document.getElementById('source'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", text)


def of_program(text, frame, size, ending=".toml"):
    with tempfile.NamedTemporaryFile("w", suffix=ending) as file:
        file.write(text)
        file.flush()
        command = [polyfly, file.name, "--cpu", "--frames", str(frame), "--size", size, "--hash"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0]


def screenshot(name, width, height, dark):
    if not pictures:
        return
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    time.sleep(0.4)
    driver.save_screenshot(str(pictures / f"{name}.png"))


try:
    # It starts, and a template's picture appears.
    driver.get(page.as_uri())
    begun = time.monotonic()
    until("a draft", lambda: get("save").is_enabled())
    draft = time.monotonic() - begun
    size = get("status")
    text = get("source").get_property("value")
    first = finished()
    assert text.startswith("#"), text[:40]
    scene_size = driver.execute_script("const c = document.getElementById('picture'); return `${c.width}x${c.height}`")
    assert first == of_program(text, 0, scene_size), "the page's hash is not the program's"
    colours = driver.execute_script(
        "const c = document.getElementById('picture'); return new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size"
    )
    assert colours > 500, f"the picture has {colours} colours"
    screenshot("wide", 1280, 900, False)

    # A sample of the menu, another frame of it by the keyboard, and its hash.
    Select(get("scenes")).select_by_visible_text("cube")
    until("the sample's text", lambda: "cube" in get("source").get_property("value").lower() and get("about").text)
    assert finished() != first
    get("when").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    until("frame 2", lambda: "frame 2 " in get("moment").text)
    second = finished()
    assert "--frames 2 " in get("command").text, get("command").text
    sample = get("source").get_property("value")
    shape = driver.execute_script("const c = document.getElementById('picture'); return `${c.width}x${c.height}`")
    assert second == of_program(sample, 2, shape)
    screenshot("wide-dark", 1280, 900, True)
    screenshot("phone", 390, 844, False)
    screenshot("phone-dark", 390, 844, True)

    # A fault is shown at its line, in the margin and in words, and leads to its place.
    lines = sample.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("["))
    lines.insert(at + 1, 'colour_of_nothing = "x"')
    write("\n".join(lines))
    mark = until("a mark in the margin", lambda: driver.find_elements(By.CSS_SELECTOR, "#gutter .fault"))
    assert mark[0].text.endswith(str(at + 2)), mark[0].text
    faults = get("faults").text
    assert f"Line {at + 2}, column 1" in faults and "colour_of_nothing" in faults, faults
    assert not get("proof").is_displayed()
    screenshot("fault", 1280, 900, False)
    screenshot("phone-fault", 390, 844, True)
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    get("faults").find_element(By.TAG_NAME, "button").click()
    chosen = driver.execute_script("const s = document.getElementById('source'); return s.value.slice(s.selectionStart, s.selectionEnd)")
    assert chosen.startswith("colour_of_nothing"), chosen
    write(sample)
    assert finished() == second, "the picture comes back"

    # The link has the scene, the frame and the size.
    own = "# Mine: ä, ж.\n" + sample
    write(own)
    finished()
    get("link").click()
    link = until("a link", lambda: "#s=" in driver.current_url and driver.current_url)
    driver.switch_to.new_window("tab")
    driver.get(link)
    assert finished() == second
    assert get("source").get_property("value") == own
    driver.get("about:blank")
    driver.get(f"{link}&hash={second}")
    until("the link's verdict", lambda: get("verdict").text == "equal")
    assert "frame 2 " in get("moment").text

    # It plays, and stops where it is.
    get("play").click()
    until("another frame", lambda: "frame 2 " not in get("moment").text and "pictures a second" in get("status").text)
    get("play").click()
    finished()

    # Typing while a slow picture renders does not wait for it.
    write(sample.replace("[output]", "[render]\nintegrator = \"path\"\nsamples = 4000\n[output]", 1) if "[render]" not in sample else sample)
    time.sleep(0.5)
    write(sample)
    assert finished()

    # A sum is compared, and a line of a manifest leads to its frame, at the scene's own size.
    def type_sum(text):
        driver.execute_script("const e = document.getElementById('expected'); e.value = arguments[0]; e.dispatchEvent(new Event('input'))", text)

    small = '[[body]]\nsolid = "hexahedron"\n[[light]]\nposition = [3, 4, 5]\n[output]\nsize = [64, 48]\nframes = 9\n'
    write(small)
    until("the small scene", lambda: get("when").get_attribute("max") == "8")
    hashes = {n: of_program(small, n, "64x48") for n in (3, 4)}
    for line, word in [(f'"3": "{hashes[3]}",', "equal"), (hashes[3][::-1], "not equal"), (f'"4": "{hashes[4]}"', "equal")]:
        type_sum(line)
        until(f"the verdict of {line}", lambda: get("verdict").text == word)
    assert "frame 4 " in get("moment").text and driver.execute_script("return document.getElementById('picture').width") == 64

    errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors, errors
    print(f"the page works: a draft {draft:.2f} s after loading, {driver.execute_script('return navigator.hardwareConcurrency')} cores")
finally:
    driver.quit()
