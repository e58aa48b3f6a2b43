"""Debian packages."""

import gzip
import os
import pathlib
import subprocess
import tempfile

from .common import GLIBC, SYSTEMS, VERSION, commit, dist, fail, made_before, package, read, root, run, target, texts


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
