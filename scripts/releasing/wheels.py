"""Python's wheels: the program, and the module where it can be built."""

import base64
import hashlib
import os
import pathlib
import sys
import tempfile
import time
import tomllib
import zipfile

from .common import GLIBC, SYSTEMS, VERSION, WHEELS, add_to_zip, dist, environment, fail, made_before, read, root, run, sha256, target
from .trials import needed_glibc


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
