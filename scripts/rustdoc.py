"""rustdoc's JSON of the library without the program, for scripts/api and scripts/semver.

The JSON is unstable: on a stable toolchain rustdoc, and nothing else, gets RUSTC_BOOTSTRAP."""

import os
import pathlib
import subprocess
import tempfile

root = pathlib.Path(__file__).resolve().parent.parent


def target():
    """The folder of what is built without kernels. As in scripts/library it is another one outside of CI."""
    folder = root / os.environ.get("CARGO_TARGET_DIR", "target")
    return folder if os.environ.get("CI") == "true" else folder / "lints"


def document(source, folder):
    """The JSON's file, in `folder`. The dependencies of this tree, whatever the source, are built once."""
    command = ["cargo", "rustdoc", "--quiet", "--release", "--lib", "--no-default-features", "--target-dir", folder, "--",
               "-Zunstable-options", "--output-format", "json", "--cap-lints", "allow"]
    with tempfile.TemporaryDirectory() as tools:
        rustdoc = pathlib.Path(tools, "rustdoc")
        rustdoc.write_text('#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n')
        rustdoc.chmod(0o755)
        own = {"RUSTDOC": str(rustdoc), "POLYFLY_NO_KERNELS": "1", "CARGO_BUILD_BUILD_DIR": str(target())}
        subprocess.run(command, check=True, cwd=source, env=os.environ | own)
    return folder / "doc/polyfly.json"
