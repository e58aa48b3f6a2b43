"""What the steps of scripts/release share: folders, systems, the commit, and cargo's environment."""

import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile

root = pathlib.Path(__file__).resolve().parents[2]
os.chdir(root)
dist = root / "dist"
target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target")).resolve()
package = tomllib.loads((root / "Cargo.toml").read_text())["package"]
VERSION = package["version"]
# What every archive holds beside the program.
TEXTS = ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE")
MAX_PROGRAM = 25 * 10**6
GLIBC = (2, 28)
# Name: Rust's target, what goes behind it for Zig, how it runs on an x86-64 machine, Debian's architecture.
SYSTEMS = {
    "linux": ("x86_64-unknown-linux-gnu", ".2.28", [], "amd64"),
    "aarch64": ("aarch64-unknown-linux-gnu", ".2.28", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"], "arm64"),
    "musl": ("x86_64-unknown-linux-musl", "", [], None),
}
# Programs that wheels carry: where each is made, the wheel's tag, and whether the Python module can be built for it here. A static musl
# build has no shared libraries; for Windows and macOS there is no Python here to try a module with.
WHEELS = {
    "linux": ("x86_64-unknown-linux-gnu/dist/polyfly", "manylinux_2_28_x86_64", True),
    "aarch64": ("aarch64-unknown-linux-gnu/dist/polyfly", "manylinux_2_28_aarch64", True),
    "musl": ("x86_64-unknown-linux-musl/dist/polyfly", "musllinux_1_2_x86_64", False),
    "windows": ("x86_64-pc-windows-gnu/dist/polyfly.exe", "win_amd64", False),
    "macos": ("aarch64-apple-darwin/dist/polyfly", "macosx_11_0_arm64", False),
}


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, **options)


def read(*words, **options):
    return run(*words, stdout=subprocess.PIPE, text=True, **options).stdout


def fail(words):
    sys.exit(f"scripts/release: {words}")


@functools.cache
def commit():
    """The commit, and whether files differ from it; the time of it. POLYFLY_COMMIT names another one."""
    changed = "-modified" if read("git", "status", "--porcelain", "--untracked-files=no").strip() else ""
    name = os.environ.get("POLYFLY_COMMIT") or read("git", "rev-parse", "HEAD").strip() + changed
    return name, int(read("git", "show", "-s", "--format=%ct", name.removesuffix("-modified")))


def environment():
    """Cargo's: without what a developer may have set."""
    tools = target / "tools/zig"
    if not shutil.which("cargo-zigbuild"):
        if not (tools / "bin/cargo-zigbuild").exists():
            run(sys.executable, "-m", "pip", "install", "-q", "--target", tools, "cargo-zigbuild==0.24.1", "ziglang==0.17.1")
        os.environ["PATH"] += f":{tools}/bin"
        os.environ["PYTHONPATH"] = str(tools)
    kept = {key: value for key, value in os.environ.items() if not re.fullmatch(r"CC|CXX|C(XX)?FLAGS|RUSTFLAGS|CARGO_PROFILE_.*", key)}
    # Of the two compilers, the one whose code is faster for this set (docs/figures.md).
    return kept | {"POLYFLY_COMMIT": commit()[0], "POLYFLY_CXX_AVX2": "g++", "CARGO_TARGET_DIR": str(target)}


def built(system):
    """Where a system's program and Python module are, made again where a source has changed."""
    triple, suffix, *_ = SYSTEMS[system]
    run("rustup", "target", "add", triple, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    env = environment()
    if not triple.startswith("x86_64"):
        del env["POLYFLY_CXX_AVX2"]
    words = ["cargo", "zigbuild", "--profile", "dist", "--locked", "--target", triple + suffix, "--package", "polyfly", "--bin", "polyfly"]
    run(*words, env=env)
    return target / triple / "dist"


def made_before(names):
    """Those of the systems whose program is made, of this commit."""
    made = []
    for name in names:
        program = target / WHEELS[name][0]
        if not program.exists():
            print(f"{name}: no program; scripts/release {name} makes it")
        elif commit()[0].encode() not in program.read_bytes():
            print(f"{name}: its program is of another commit; scripts/release {name} makes it again")
        else:
            made.append(name)
    if not made:
        fail("scripts/release linux goes first")
    return made


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def texts(program, runner=()):
    """Manual page and completions: where they go, and what they hold."""
    return {"man": read(*runner, program, "man")} | {shell: read(*runner, program, "completions", shell) for shell in ("bash", "zsh", "fish")}


def add_to_zip(packed, name, content, mode):
    """A file of a .zip, with the commit's time."""
    entry = zipfile.ZipInfo(name, time.gmtime(commit()[1])[:6])
    entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
    packed.writestr(entry, content)
