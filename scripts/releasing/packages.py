"""Packages: Debian's, Python's wheels (the program, and the module where it can be built), and the crate, which builds by itself."""

import base64
import gzip
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile

from .common import (GLIBC, MAX_PROGRAM, SYSTEMS, VERSION, WHEELS, add_to_zip, commit, dist, environment, fail, made_before, package, read, root,
                     run, sha256, target, texts)
from .programs import needed_glibc, try_program


def deb():
    """For each architecture that is built; the one of this machine is installed into a folder, tried, and removed."""
    for system in made_before(name for name, about in SYSTEMS.items() if about[3]):
        triple, _, runner, architecture = SYSTEMS[system]
        program = target / triple / "dist/polyfly"
        said, then = texts(program, runner), commit()[1]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder, "polyfly")
            files = {
                "usr/bin/polyfly": program.read_bytes(),
                "usr/share/man/man1/polyfly.1.gz": gzip.compress(said["man"].encode(), 9, mtime=then),
                "usr/share/bash-completion/completions/polyfly": said["bash"].encode(),
                "usr/share/zsh/vendor-completions/_polyfly": said["zsh"].encode(),
                "usr/share/fish/vendor_completions.d/polyfly.fish": said["fish"].encode(),
                "usr/share/doc/polyfly/changelog.gz": gzip.compress((root / "CHANGELOG.md").read_bytes(), 9, mtime=then),
                "usr/share/doc/polyfly/copyright": b"MIT or Apache-2.0\n\n" + (root / "LICENSE-MIT").read_bytes(),
            }
            size = sum(map(len, files.values())) // 1024
            files["DEBIAN/control"] = (
                f"Package: polyfly\nVersion: {VERSION}\nArchitecture: {architecture}\nMaintainer: polyfly <polyfly@localhost>\nSection: graphics\n"
                f"Priority: optional\nInstalled-Size: {size}\nDepends: libc6 (>= {GLIBC[0]}.{GLIBC[1]})\nRecommends: ffmpeg\n"
                f"Description: {package['description']}\n A scene of some lines becomes frames and a film.\n").encode()
            for name, content in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                path.chmod(0o755 if name == "usr/bin/polyfly" else 0o644)
            dist.mkdir(exist_ok=True)
            out = dist / f"polyfly_{VERSION}_{architecture}.deb"
            run("dpkg-deb", "-Zxz", "--root-owner-group", "--build", folder, out, stdout=subprocess.DEVNULL,
                env=os.environ | {"SOURCE_DATE_EPOCH": str(then)})
        print(f"{out.name}: {out.stat().st_size / 1e6:.1f} MB")
        try_deb(out, runner, [name for name in files if not name.startswith("DEBIAN")])


def try_deb(file, runner, files):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for part in ("info", "updates"):
            (folder / "var/lib/dpkg" / part).mkdir(parents=True)
        for part in ("status", "available"):
            (folder / "var/lib/dpkg" / part).touch()
        dpkg = ["dpkg", f"--root={folder}", "--force-depends", "--force-architecture", "--force-not-root", "--log=/dev/null"]
        run(*dpkg, "--install", file, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if missing := [name for name in files if not (folder / name).exists()]:
            fail(f"{file.name} has not installed {', '.join(missing)}")
        if not read(*runner, folder / "usr/bin/polyfly", "-V").startswith(f"polyfly {VERSION}"):
            fail(f"{file.name}: its program does not run")
        if b".TH polyfly" not in gzip.decompress((folder / "usr/share/man/man1/polyfly.1.gz").read_bytes()):
            fail(f"{file.name}: its manual page is none")
        run(*dpkg, "--purge", "polyfly", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if left := [name for name in files if (folder / name).exists()]:
            fail(f"{file.name} leaves {', '.join(left)} behind")
    print(f"{file.name}: installed, run, removed")


def module_of(system):
    """The Python module for a system with glibc."""
    triple, suffix, *_ = SYSTEMS[system]
    env = environment()
    if not triple.startswith("x86_64"):
        del env["POLYFLY_CXX_AVX2"]
    # With the program's features, both share one build of the library.
    run("cargo", "zigbuild", "--profile", "dist", "--locked", "--target", triple + suffix, "--package", "polyfly-python", "--lib",
        "--features", "polyfly/default,pyo3/extension-module", env=env)
    module = target / triple / "dist/lib_polyfly.so"
    if (glibc := needed_glibc(module)) > GLIBC:
        fail(f"{module} needs glibc {glibc}")
    return module


def wheel():
    """For each program that is made: the program, and the module where it can be built. Each is tried in a fresh environment."""
    for system in made_before(WHEELS):
        program, tag, has_module = WHEELS[system]
        program = target / program
        out = pack_wheel(program, module_of(system) if has_module else None, tag)
        print(f"{out.name}: {out.stat().st_size / 1e6:.1f} MB")
        if system == "linux":
            try_wheel(out)
        else:
            try_foreign_wheel(out, system, program.name, tag)


def pack_wheel(program, module, tag):
    """A wheel without a module holds the command alone."""
    project = tomllib.loads((root / "python/pyproject.toml").read_text())["project"]
    kind, needs = (f"cp310-abi3-{tag}", project["dependencies"]) if module else (f"py3-none-{tag}", [])
    about = [("Metadata-Version", "2.4"), ("Name", project["name"]), ("Version", VERSION), ("Summary", project["description"]),
             ("License-Expression", project["license"]), ("Requires-Python", project["requires-python"]),
             *(("Requires-Dist", one) for one in needs), ("Description-Content-Type", "text/markdown")]
    described = [("Wheel-Version", "1.0"), ("Generator", f"polyfly {VERSION}"), ("Root-Is-Purelib", "false"), ("Tag", kind)]

    def header(pairs, text=""):
        return "".join(f"{key}: {value}\n" for key, value in pairs).encode() + (f"\n{text}".encode() if text else b"")

    files = {}
    if module:
        files = {f"polyfly/{path.name}": (path.read_bytes(), 0o644) for path in sorted((root / "python/polyfly").iterdir()) if path.is_file()}
        files["polyfly/_polyfly.abi3.so"] = (module.read_bytes(), 0o755)
    files[f"polyfly-{VERSION}.data/scripts/{program.name}"] = (program.read_bytes(), 0o755)
    info = f"polyfly-{VERSION}.dist-info"
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{info}/licenses/{licence}"] = ((root / licence).read_bytes(), 0o644)
    files[f"{info}/METADATA"] = (header(about, (root / "docs/python.md").read_text()), 0o644)
    if module:
        files[f"{info}/entry_points.txt"] = (b"[pytest11]\npolyfly = polyfly.pytest_plugin\n", 0o644)
    files[f"{info}/WHEEL"] = (header(described), 0o644)
    rows = []
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        rows.append(f"{name},sha256={digest},{len(content)}\n")
    files[f"{info}/RECORD"] = ("".join(rows) + f"{info}/RECORD,,\n").encode(), 0o644
    dist.mkdir(exist_ok=True)
    out = dist / f"polyfly-{VERSION}-{kind}.whl"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, (content, mode) in files.items():
            add_to_zip(packed, name, content, mode)
    return out


def try_wheel(file):
    """Installed into a fresh environment: the command, and the module, whose arrays are the program's bytes."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        start = time.monotonic()
        run(sys.executable, "-m", "venv", folder / "venv")
        run(folder / "venv/bin/pip", "install", "-q", file)
        print(f"{file.name}: installed in {time.monotonic() - start:.0f} s")
        program = folder / "venv/bin/polyfly"
        if not read(program, "-V").startswith(f"polyfly {VERSION}"):
            fail("the wheel's program does not run")
        run(folder / "venv/bin/python", root / "python/tests/test_polyfly.py", cwd=folder, env=os.environ | {"POLYFLY": str(program)})


def try_foreign_wheel(file, system, name, tag):
    """pip takes it for its platform; its command has the program's bytes, and runs where this machine can run it."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run(sys.executable, "-m", "pip", "install", "-q", "--root-user-action=ignore", "--no-deps", "--only-binary=:all:", "--platform", tag, "--target", folder, file)
        program = folder / "bin" / name
        if sha256(program) != sha256(target / WHEELS[system][0]):
            fail(f"{file.name}: its program is not the one that was made")
        runner = {"aarch64": SYSTEMS["aarch64"][2], "musl": [], "windows": wine()}.get(system)
        if runner is None:
            print(f"{file.name}: pip takes it; its program cannot run here")
            return
        env = os.environ | {"WINEPREFIX": str(target / "windows/prefix"), "WINEDEBUG": "-all"}
        if not read(*runner, program, "-V", env=env).startswith(f"polyfly {VERSION}"):
            fail(f"{file.name}: its program does not run")
    print(f"{file.name}: pip takes it, and its program runs")


def wine():
    """As scripts/windows finds it."""
    return [next((path for path in ("/usr/lib/wine/wine64",) if os.path.exists(path)), "wine")]


def crate():
    """The package: its content builds by itself, and goes on with a run that another build began."""
    run("cargo", "package", "--locked", "--no-verify", "--quiet", "--package", "polyfly", "--target-dir", target)
    made = target / f"package/polyfly-{VERSION}.crate"
    dist.mkdir(exist_ok=True)
    shutil.copy(made, dist)
    print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB")
    work = target / "release-crate"
    env = environment() | {"CARGO_TARGET_DIR": str(work / "target")}
    # The package itself says its commit.
    for name in ("POLYFLY_COMMIT", "POLYFLY_CXX_AVX2"):
        del env[name]
    start = time.monotonic()
    # Within this folder, cargo would take it for a member of the workspace.
    with tempfile.TemporaryDirectory() as folder, tarfile.open(made) as tar:
        tar.extractall(folder, filter="data")
        run("cargo", "install", "--locked", "--path", f"{folder}/polyfly-{VERSION}", "--root", work, env=env)
    print(f"crate: cargo install took {time.monotonic() - start:.0f} s")
    program = work / "bin/polyfly"
    try_program("crate", program, most=2 * MAX_PROGRAM)  # it is not built for size
    others = [other for system in ("linux", "musl") if (other := target / SYSTEMS[system][0] / "dist/polyfly").exists()]
    if not others:
        fail("scripts/release linux goes first: its run is to be resumed")
    try_resume(others[0], program)


def try_resume(one, other):
    """A run of one program that is killed, and goes on by the other, ends with the bytes of a run that nothing disturbed."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        job = ["scenes/coursework.txt", "--cpu", "-q", "--size", "160x120", "--samples", "2", "--frames", "0-39", "-o"]
        run(other, *job, folder / "whole/%03d.png", stdout=subprocess.DEVNULL)
        child = subprocess.Popen([one, *job, folder / "cut/%03d.png"], stdout=subprocess.DEVNULL)
        while child.poll() is None and not list((folder / "cut").glob("*.png")):
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        begun = len(list((folder / "cut").glob("*.png")))
        run(other, *job, folder / "cut/%03d.png", "--resume", stdout=subprocess.DEVNULL)
        for file in sorted((folder / "whole").glob("*.png")):
            if sha256(file) != sha256(folder / "cut" / file.name):
                fail(f"{file.name} differs after a run that two programs made")
        print(f"crate: went on with a run that another build began ({begun} of 40 frames)")
