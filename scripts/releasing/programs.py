"""Programs for each system, their archives, and the page that renders in a browser."""

import gzip
import io
import shutil
import tarfile
import zipfile

from .common import GLIBC, MAX_PROGRAM, SYSTEMS, TEXTS, VERSION, WHEELS, add_to_zip, built, commit, dist, environment, fail, made_before, read, root, run, target, texts
from .trials import needed_glibc, try_cuda, try_in_empty_root, try_program


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
    shutil.copy(root / "docs/try/index.html", dist / f"polyfly-{VERSION}-try.html")
