"""The crate: it builds by itself, and its program goes on with the run of another build."""

import pathlib
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time

from .common import MAX_PROGRAM, SYSTEMS, VERSION, dist, environment, fail, run, sha256, target
from .trials import try_program


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
