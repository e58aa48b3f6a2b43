"""Programs for each system, how they are tried, their archives, and the page that renders in a browser.

A program is tried by its size, its version, the reference picture on every instruction set, and the frames of all sample scenes."""

import gzip
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile

from .common import (GLIBC, MAX_PROGRAM, SYSTEMS, TEXTS, VERSION, WHEELS, add_to_zip, built, commit, dist, environment, fail, made_before, read,
                     root, run, sha256, target, texts)


def frames(program, runner=()):
    """The SHA-256 of a small frame of each sample scene."""
    sums = {}
    with tempfile.TemporaryDirectory() as folder:
        for scene in sorted([*(root / "scenes").glob("*.toml"), *(root / "scenes").glob("*.txt")]):
            file = pathlib.Path(folder, f"{scene.name}.data")
            run(*runner, program, scene, "--cpu", "-q", "--allow-outside", "--size", "64x36", "--samples", "1", "--frames", "0", "-o", file,
                stdout=subprocess.DEVNULL)
            sums[scene.name] = sha256(file)
    return sums


def compare_frames(name, sums):
    """With those of the first program that was tried."""
    known = target / "release-frames.json"
    pictures = (root / "src/output/picture_version.txt").read_text().strip()
    first = json.loads(known.read_text()) if known.exists() else {}
    if first.get("pictures") != pictures or list(first["frames"]) != list(sums):
        first = {"of": name, "pictures": pictures, "frames": sums}
        known.write_text(json.dumps(first))
    wrong = [scene for scene, value in sums.items() if value != first["frames"][scene]]
    if wrong:
        fail(f"{name}: frames of {', '.join(wrong)} are not those of {first['of']}")
    print(f"{name}: frames of {len(sums)} scenes are those of {first['of']}")


def try_program(name, program, runner=(), most=MAX_PROGRAM):
    """Its size, its version, every instruction set's reference picture, all scenes."""
    size = program.stat().st_size
    if size > most:
        fail(f"{program} has {size} bytes, of at most {most}")
    version = read(*runner, program, "--version")
    for part in (f"polyfly {VERSION}\n", commit()[0], "cli h264"):
        if part not in version:
            fail(f"{name}: --version does not tell {part!r}:\n{version}")
    doctor = read(*runner, program, "doctor")
    if doctor.count("byte for byte") < 2:
        fail(f"{name}: doctor tried no two instruction sets:\n{doctor}")
    print(f"{name}: {size / 1e6:.1f} MB; {doctor.count('byte for byte')} instruction sets make the reference picture")
    compare_frames(name, frames(program, runner))


def needed_glibc(file):
    """The newest glibc that a file asks for. It may need nothing else."""
    dynamic, symbols = read("readelf", "-dW", file), read("readelf", "-VW", file)
    libraries = set(re.findall(r"NEEDED.*\[(.*?)\]", dynamic))
    if strange := [one for one in libraries if not re.match(r"(libc|libm|libdl|libpthread|librt|ld-linux)[.-]", one)]:
        fail(f"{file} needs {', '.join(strange)}")
    return max(tuple(map(int, one.split("."))) for one in re.findall(r"GLIBC_([0-9.]+)", symbols))


def try_cuda(program):
    """With the driver of the tests, which renders on the CPU."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run("g++", "-std=c++17", "-shared", "-fPIC", "-O1", "-ffp-contract=off", "-fno-math-errno", "-w",
            '-DPOLYFLY_DOMAIN="../tests/domain/domain.cuh"', "-o", folder / "libcuda.so", "tests/stub/cuda.cpp")
        job = [program, "scenes/infinity.toml", "-q", "--size", "64x48", "--frames", "0", "-o"]
        run(*job, folder / "cpu.data", "--cpu", stdout=subprocess.DEVNULL)
        run(*job, folder / "gpu.data", "--gpu", stdout=subprocess.DEVNULL, env=os.environ | {"LD_LIBRARY_PATH": str(folder)})
        if sha256(folder / "cpu.data") != sha256(folder / "gpu.data"):
            fail("the frames of the stub driver differ")
    print("linux: finds a CUDA driver at run time")


def try_in_empty_root(program):
    """A film, PNG and data, where there is nothing but the program."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copy(program, folder / "polyfly")
        (folder / "scene.toml").write_text((root / "scenes/cube.toml").read_text())
        (folder / "tmp").mkdir()
        sudo = [] if os.geteuid() == 0 else ["sudo"]
        chroot = shutil.which("chroot", path=os.environ["PATH"] + ":/usr/sbin")
        run(*sudo, chroot, folder, "/polyfly", "/scene.toml", "-q", "--size", "64x36", "--frames", "0-9", "--samples", "1",
            "-o", "/png/%d.png", "--video", "/film.mp4", stdout=subprocess.DEVNULL, env={})
        there = sorted(path.name for path in (folder / "png").glob("*.png"))
        if len(there) != 10 or b"ftyp" not in (folder / "film.mp4").read_bytes()[:12]:
            fail(f"in an empty root there are {there}, and no film")
    print("musl: makes pictures and a film in an empty root")


def archive(name, program, runner=()):
    """A .tar.gz whose bytes depend on its content and the commit."""
    said, then = texts(program, runner), commit()[1]
    folder = f"polyfly-{VERSION}-{name}"
    files = [("polyfly", program.read_bytes(), 0o755), ("polyfly.1", said["man"].encode(), 0o644)]
    files += [(f"completions/{file}", said[shell].encode(), 0o644) for file, shell in (("polyfly.bash", "bash"), ("_polyfly", "zsh"), ("polyfly.fish", "fish"))]
    files += [(file, (root / file).read_bytes(), 0o644) for file in TEXTS]
    dist.mkdir(exist_ok=True)
    out = dist / f"{folder}.tar.gz"
    with out.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=then) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for file, content, mode in files:
            info = tarfile.TarInfo(f"{folder}/{file}")
            info.size, info.mode, info.mtime = len(content), mode, then
            tar.addfile(info, io.BytesIO(content))
    print(f"{out.name}: {out.stat().st_size / 1e6:.1f} MB")


def linux():
    program = built("linux") / "polyfly"
    glibc = needed_glibc(program)
    if glibc > GLIBC:
        fail(f"{program} needs glibc {glibc}")
    try_program("linux", program)
    try_cuda(program)
    archive("x86_64-linux", program)


def aarch64():
    runner = SYSTEMS["aarch64"][2]
    program = built("aarch64") / "polyfly"
    if (glibc := needed_glibc(program)) > GLIBC:
        fail(f"{program} needs glibc {glibc}")
    try_program("aarch64", program, runner)
    archive("aarch64-linux", program, runner)


def musl():
    program = built("musl") / "polyfly"
    if "NEEDED" in read("readelf", "-dW", program):
        fail(f"{program} needs libraries")
    try_program("musl", program)
    try_in_empty_root(program)
    archive("x86_64-linux-musl", program)


def foreign(triple, script, program, name, **more):
    """A program of another system, made and tried by its own script; its archive is a .zip."""
    # This machine's g++ makes no objects for other systems.
    env = {key: value for key, value in (environment() | more).items() if key != "POLYFLY_CXX_AVX2"}
    run(root / "scripts" / script, "--profile", "dist", env=env)
    made = target / triple / "dist" / program
    if (size := made.stat().st_size) > MAX_PROGRAM:
        fail(f"{made} has {size} bytes, of at most {MAX_PROGRAM}")
    dist.mkdir(exist_ok=True)
    out = dist / f"polyfly-{VERSION}-{name}.zip"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in (made, *(root / file for file in TEXTS)):
            add_to_zip(packed, path.name, path.read_bytes(), 0o755 if path == made else 0o644)
    print(f"{program}: {size / 1e6:.1f} MB; {out.name}: {out.stat().st_size / 1e6:.1f} MB")


def windows():
    made_before(["linux"])
    foreign("x86_64-pc-windows-gnu", "windows", "polyfly.exe", "x86_64-windows", POLYFLY=str(target / WHEELS["linux"][0]))


def macos():
    foreign("aarch64-apple-darwin", "macos", "polyfly", "aarch64-macos")


def web():
    """The page that renders in a browser."""
    run(root / "scripts/web", "--test", target / SYSTEMS["linux"][0] / "dist/polyfly", env=environment())
    dist.mkdir(exist_ok=True)
    shutil.copy(root / "output/try/index.html", dist / f"polyfly-{VERSION}-try.html")


def site():
    """target/site: the documentation, and the page that renders in a browser."""
    folder = target / "site"
    shutil.rmtree(folder, ignore_errors=True)
    run(target / SYSTEMS["linux"][0] / "dist/polyfly", "docs", "--write", folder)
    (folder / "try").mkdir(exist_ok=True)
    shutil.copy(root / "output/try/index.html", folder / "try")


def try_here():
    """Unpacks the archive of this machine's system, which another machine has made, and tries its program."""
    system = platform.system()
    name, file = {"Linux": ("x86_64-linux.tar.gz", "polyfly"), "Windows": ("x86_64-windows.zip", "polyfly.exe"), "Darwin": ("aarch64-macos.zip", "polyfly")}[system]
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(dist / f"polyfly-{VERSION}-{name}", folder)
        [program] = pathlib.Path(folder).rglob(file)
        program.chmod(0o755)
        try_program(system, program)
