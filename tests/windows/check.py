"""polyfly.exe under Wine, compared with the Linux program. Usage: check.py WINE POLYFLY.EXE POLYFLY FFMPEG.EXE [TEST]... (scripts/windows)"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

wine, exe, polyfly, ffmpeg = sys.argv[1], *map(os.path.abspath, sys.argv[2:5])
root = Path(__file__).resolve().parents[2]
work = Path(tempfile.mkdtemp(prefix="polyfly-windows-"))
flags = set(re.search(r"^flags\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)[1].split())
SETS = ["scalar", "baseline"] + [name for name, flag in [("avx2", "avx2"), ("avx512", "avx512vl")] if flag in flags]
begun = time.monotonic()


def done(what):
    print(f"{what} ({time.monotonic() - begun:.0f} s)", flush=True)


def windows(path):
    """A Linux path as a path of Windows."""
    return "Z:" + str(path).replace("/", "\\")


def environment(**more):
    # Without a path there is no ffmpeg. Wine takes names from the locale. Short films have several segments.
    return {"PATH": "", "LC_ALL": "C.UTF-8", "POLYFLY_TEST_OPTIONS": "segment=4",
            "XDG_STATE_HOME": windows(work / "state"), **{k: v for k, v in os.environ.items() if k.startswith(("WINE", "HOME"))}, **more}


def start(args, folder=work, **more):
    return subprocess.Popen([wine, exe, *map(str, args)], cwd=folder, env=environment(**more), stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def checked(process, code, out, err):
    words = err.decode(errors="replace")
    assert process.returncode == code, f"{process.args}: exit code {process.returncode}, expected {code}: {words}"
    return out, words


def ended(process, code=0, given=b""):
    return checked(process, code, *process.communicate(given, timeout=300))


def wine_crashed(process):
    """A fault of the program is an exit code of Windows: a signal has ended Wine itself, and the program starts once more."""
    if crashed := process.poll() == -signal.SIGSEGV:
        done(f"Wine itself has crashed, and starts once more: {process.args}")
    return crashed


def run(*args, code=0, given=b"", folder=work, **more):
    """The program under Wine: its output and its words."""
    process = start(args, folder, **more)
    out, err = process.communicate(given, timeout=300)
    if wine_crashed(process):
        return ended(start(args, folder, **more), code, given)
    return checked(process, code, out, err)


def run_until(what, *args):
    """The program under Wine, which still runs when `what` is true."""
    for _ in range(2):
        process = start(args)
        wait_for(lambda: process.poll() is not None or what())
        if process.poll() is None:
            return process
        if not wine_crashed(process):
            break
    return ended(process, "none, because it should still run")


def linux(*args, given=b"", folder=work, **more):
    found = subprocess.run([polyfly, *map(str, args)], cwd=folder, env=environment(**more), input=given, capture_output=True)
    assert found.returncode == 0, found.stderr.decode()
    return found.stdout


def files(folder, kind="*"):
    return {path.name: path.read_bytes() for path in sorted(folder.glob(kind)) if path.is_file() and path.name != "manifest.json"}


def same(a, b, what):
    assert a.keys() == b.keys() and a, f"{what}: {sorted(a)} and {sorted(b)}"
    for name in a:
        assert a[name] == b[name], f"{what}: {name} differs"


def wait_for(what, seconds=120):
    until = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < until, ["it never came", *(Path(f"/proc/{one}/stat").read_text() for one in running() + running("ffmpeg.exe"))]
        time.sleep(0.02)
    return found


def running(name="polyfly.exe"):
    """The numbers of the processes of that program that belong to these tests."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            # The program is the first word, or the second, after Wine's own name. Others may name it as an argument.
            program = b" ".join((entry / "cmdline").read_bytes().split(b"\0")[:2])
            if entry.name.isdigit() and name.encode() in program and str(work).encode() in os.readlink(entry / "cwd").encode():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def sent(what, processes):
    for one in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, what)
    return processes


def stopped_beside_ffmpeg():
    """Stops the program while an ffmpeg runs, and none is being started: one that its parent's end meets in its start stays for ever in
    Wine 8."""
    # A process that is being started has its parent's name at first: the same ones go on that were stopped, whatever they are called by now.
    stopped = sent(signal.SIGSTOP, running())
    encoders = running("ffmpeg.exe")
    begun = encoders and all(len(list(Path(f"/proc/{one}").glob("task/*"))) > 1 for one in encoders)
    if not begun:
        sent(signal.SIGCONT, stopped)
    return begun


def imports():
    printed = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", exe], capture_output=True, text=True, check=True).stdout
    names = {name.lower() for name in re.findall(r"DLL Name: (\S+)", printed)}
    system = re.compile(r"(kernel32|ntdll|advapi32|bcrypt|bcryptprimitives|dbghelp|msvcrt|shell32|ole32|oleaut32|user32|userenv|ws2_32|"
                        r"psapi|secur32|crypt32|api-ms-win-[a-z0-9-]+|combase|shlwapi)\.dll")
    assert names and all(system.fullmatch(name) for name in names), sorted(names)
    done(f"it needs {len(names)} DLLs, all of them the system's, and has {Path(exe).stat().st_size / 2**20:.1f} MiB")


def samples():
    """A frame of each sample on each instruction set, as the Linux program makes it."""
    names = [line.split()[0] for line in linux("scenes").decode().splitlines() if line.strip() and not line[0].isspace()]
    scenes = sorted(path for path in (root / "scenes").iterdir() if path.suffix in (".toml", ".txt"))
    assert len(scenes) >= len(names) >= 28, (len(scenes), len(names))

    def compared(scene):
        # The second frame of clips, in which something has moved.
        number = 0 if re.search(r"(?m)^frames = 1$", scene.read_text()) else 1
        name, look = scene.relative_to(root), ["--size", "48x32", "--samples", "1", "--frames", number]

        def frame(program):
            to = work / f"samples/{scene.stem}/{program.__name__}.data"
            program(name, *look, "--cpu", "-q", "--threads", "1", "-o", to, folder=root)
            return to.read_bytes()

        assert frame(run) == frame(linux), f"{scene.name} differs"
        # All sets in one start: to read a scene takes longer than to render so few pixels.
        printed = run("verify", name, *look, folder=root)[0].decode()
        assert all(f"cpu {isa}" in printed for isa in SETS), printed

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compared, scenes))
    done(f"{len(scenes)} scenes equal on each of {', '.join(SETS)}")


def speed():
    """Milliseconds of a frame of the sample scene on the baseline set."""
    scene = linux("--default")
    args = ["--cpu", "--size", "320x248", "--samples", "2", "--frames", "0-4", "--threads", "1", "--log", "jsonl"]

    def ms(program, folder):
        log = program(*args, "-o", f"{folder}/%d.data", given=scene, POLYFLY_ISA="baseline")[0]
        return min(record["ms"] for record in map(json.loads, log.decode().splitlines()) if record["type"] == "frame")

    here, there = ms(lambda *args, **more: (linux(*args, **more),), "speed-linux"), ms(run, "speed-windows")
    same(files(work / "speed-linux"), files(work / "speed-windows"), "the frames that were timed")
    done(f"a frame on the baseline set: {there:.0f} ms; the Linux program: {here:.0f} ms ({here / there:.2f} of its speed)")


def outputs():
    """A scene by a pipe, PNG, the film of the built-in encoder, a film by ffmpeg."""
    scene = linux("--default")
    look = ["--cpu", "--size", "64x48", "--samples", "1", "--frames", "0-9"]
    linux(*look, "-q", "-o", "linux/%03d.png", "--video", "linux.mp4", given=scene)
    # Backslashes, as in Windows.
    run(*look, "-q", "-o", r"windows\###.png", "--video", "windows.mp4", given=scene)
    same(files(work / "linux"), files(work / "windows"), "PNG")
    assert (work / "linux.mp4").read_bytes() == (work / "windows.mp4").read_bytes(), "the films of the built-in encoder differ"
    assert json.loads((work / "windows/manifest.json").read_text())["frames"].keys() == {"%d.png"}
    raw = run(*look, "-q", "-o", "-.ppm", given=scene)[0]
    assert raw == linux(*look, "-q", "-o", "-.ppm", given=scene), "frames in a pipe"
    done("a scene in a pipe, frames in a pipe, PNG and the built-in encoder's film: equal bytes")
    run(*look, "-q", "-o", r"windows\###.png", "--resume", "--video", "by-ffmpeg.mp4", "--ffmpeg", windows(ffmpeg), given=scene)
    count = subprocess.run(["ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0",
                            work / "by-ffmpeg.mp4"], capture_output=True, text=True, check=True).stdout
    assert count.strip() == "10", count
    done("a film of three segments by a Windows ffmpeg")


LONG = ["--cpu", "--size", "200x150", "--samples", "4", "--frames", "0-29", "--threads", "1"]


def kills():
    """Killed and resumed, with nothing left behind."""
    scene = work / "scene.txt"
    process = run_until(lambda: len(list(work.glob("killed/*.png"))) > 4 and stopped_beside_ffmpeg(),
                        scene.name, *LONG, "-q", "-o", r"killed\%03d.png", "--video", "killed.mp4", "--ffmpeg", windows(ffmpeg))
    sent(signal.SIGKILL, running())
    process.wait(60)
    wait_for(lambda: not running("ffmpeg.exe"), 20)
    # What a killed run leaves of a frame.
    left = work / "killed" / next(work.glob("killed/.polyfly/film-*/.polyfly-*.part")).name
    left.write_bytes(b"half a frame")
    made = len(list(work.glob("killed/*.png")))
    words = run(scene.name, *LONG, "-o", r"killed\%03d.png", "--video", "killed.mp4", "--ffmpeg", windows(ffmpeg), "--resume")[1]
    assert "1 unfinished files" in words, words
    same(files(work / "whole"), files(work / "killed"), "killed and resumed")
    assert not list(work.glob("killed/.polyfly/film-*")) and not left.exists()
    done(f"killed with {made} frames and resumed: equal bytes; ffmpeg ended with the run")


def sharing():
    """Two runs in one folder at a time, and a run among another scene's frames."""
    both = [start(["scene.txt", *LONG, "-q", "--resume", "-o", r"shared\%03d.png"]) for _ in range(2)]
    for one in both:
        ended(one)
    same(files(work / "whole"), files(work / "shared"), "two runs at a time")
    words = run("scene.txt", *LONG, "-q", "--depth", "2", "--resume", "-o", r"shared\%03d.png", code=65)[1]
    assert "shared" in words, words
    run("scene.txt", *LONG, "-q", "-o", r"shared\%03d.png", code=64)
    done("two runs share a folder; another scene's run is refused")


def paths():
    folder = Path("Ночной полёт") / ("д" * 60) / ("e" * 120) / ("f" * 120)
    look = ["--cpu", "--size", "48x32", "--samples", "1", "--frames", "0-3", "-q"]
    scene = work / "Сцена №1.txt"
    shutil.copy(work / "scene.txt", scene)
    linux(scene.name, *look, "-o", "short/%02d.png")
    film = str(folder / "Фильм.mp4").replace("/", "\\")
    run(scene.name, *look, "-o", str(folder / "%02d.png").replace("/", "\\"), "--video", film, "--ffmpeg", windows(ffmpeg))
    same(files(work / "short"), files(work / folder, "*.png"), "long names")
    assert (work / folder / "Фильм.mp4").stat().st_size > 1000
    done(f"Cyrillic names, and a path of {len(windows(work / folder / '00.png'))} letters")


def words():
    """Patterns of names, which no shell expands; the system's language, where the environment names none."""
    (work / "patterns").mkdir()
    for name in ["one.txt", "two.txt"]:
        shutil.copy(work / "scene.txt", work / "patterns" / name)
    printed = run("verify", r"patterns\*.txt", "--size", "16x9", "--samples", "1", "--frames", "0")[0].decode()
    assert len(printed.splitlines()) == 2 and "one.txt" in printed and "two.txt" in printed, printed
    (work / "short.txt").write_text("1 2")
    command = f"set LC_ALL=&& {windows(exe)} check short.txt"
    found = subprocess.run([wine, "cmd", "/c", command], cwd=work, env=environment(LC_ALL="ru_RU.UTF-8"), stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=120)
    assert found.returncode == 65 and "ошибка" in found.stderr.decode(), found
    done("patterns of names, and the system's language")


def codes():
    (work / "bad.toml").write_text("colour = 1\n")
    for args, code, said in [(["--nonsense"], 64, "--nonsense"), (["missing.toml"], 74, "missing.toml"), (["bad.toml"], 65, "bad.toml:1:"), (["scene.txt", "--gpu"], 69, ""),
                             (["scene.txt", "-q", "--frames", "0", "--size", "8x8", "-o", "x.png", "--video", "x.mp4", "--ffmpeg", "none.exe"], 69, "none.exe")]:
        words = run(*args, code=code)[1]
        assert said in words, words
    printed = run("doctor")[0].decode()
    assert "avx2" in printed or "avx2" not in SETS, printed
    done("exit codes 64, 65, 69 and 74; doctor")


def studio():
    """The page, a picture, a run that is stopped, and the end."""
    (work / "studio.toml").write_bytes(linux("--default", "toml"))
    text = (work / "studio.toml").read_text()
    text = re.sub(r"(?m)^video.*\n", "", re.sub(r"(?m)^path = .*", 'path = "studio/%03d.png"', text))
    (work / "studio.toml").write_text(text)
    process = start(["studio", "studio.toml", "--cpu", "--size", "320x240"])
    address = process.stdout.readline().decode().strip()

    def ask(name, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(address + name, data=data), timeout=60) as answer:
            return answer.read()

    wanted = {"page": "a", "frame": 0, "level": 0, "downscale": 4}
    assert b"<html" in ask("") and len(ask("picture", wanted)) >= 80 * 60 * 3
    ask("render", {})
    batch = lambda: json.loads(ask("state"))["batch"]
    wait_for(lambda: batch()["done"] > 1)
    ask("stop", {})
    state = wait_for(lambda: (now := batch())["code"] is not None and now)
    assert state["code"] == 75 and "to resume: " in state["words"], state
    # Ctrl-C: Wine passes it on as the console's event.
    ask("render", {"existing": "resume"})
    wait_for(lambda: batch()["done"] > 1)
    assert len(running()) == 2
    os.kill(process.pid, signal.SIGINT)
    words = ended(process, 130)[1]
    assert "stopping the run that the page has started" in words and "to resume: " in words, words
    wait_for(lambda: not running(), 20)
    done("the studio answers; its run stops when asked, and with the studio")


def interrupts():
    """Ctrl-C: frames in flight are kept."""
    process = run_until(lambda: len(list(work.glob("stopped/*.png"))) > 2, "scene.txt", *LONG, "-o", r"stopped\%03d.png")
    os.kill(process.pid, signal.SIGINT)
    words = ended(process, 130)[1]
    assert "stopping after the frames in flight" in words and "to resume: " in words, words
    assert not list(work.glob("stopped/*.part"))
    run("scene.txt", *LONG, "-q", "--resume", "-o", r"stopped\%03d.png")
    same(files(work / "whole"), files(work / "stopped"), "stopped and resumed")
    done("Ctrl-C stops a run, which is resumed to equal bytes")


try:
    # Wine's own processes start once.
    run("--version")
    (work / "scene.txt").write_bytes(linux("--default"))
    linux("scene.txt", *LONG, "-q", "-o", "whole/%03d.png")
    for test in [imports, samples, speed, outputs, kills, sharing, paths, words, codes, interrupts, studio]:
        if test.__name__ in sys.argv[5:] or not sys.argv[5:]:
            test()
finally:
    sent(signal.SIGKILL, running() + running("ffmpeg.exe"))
    shutil.rmtree(work, ignore_errors=True)
