"""The list of parts (SBOM), the sums, and what can be seen without a build."""

import json
import os
import re
import subprocess
import time
import tomllib
import uuid

from .common import VERSION, commit, dist, fail, read, root, sha256


def sbom():
    """CycloneDX 1.5 of all packages that are compiled into the program on some system."""
    data = json.loads(read("cargo", "metadata", "--locked", "--format-version", "1", stderr=subprocess.DEVNULL))
    packages = {one["id"]: one for one in data["packages"]}
    nodes = {one["id"]: one for one in data["resolve"]["nodes"]}
    first = next(one["id"] for one in data["packages"] if one["name"] == "polyfly")
    locked = tomllib.loads((root / "Cargo.lock").read_text())["package"]
    sums = {(one["name"], one["version"]): one.get("checksum") for one in locked}

    def needs(name):
        return sorted({one["pkg"] for one in nodes[name]["deps"] if any(kind["kind"] != "dev" for kind in one["dep_kinds"])})

    found, queue = {first}, [first]
    while queue:
        new = [one for one in needs(queue.pop()) if one not in found]
        found.update(new)
        queue += new

    def reference(name):
        return f"pkg:cargo/{packages[name]['name']}@{packages[name]['version']}"

    def component(name):
        one = packages[name]
        part = {"type": "library", "bom-ref": reference(name), "name": one["name"], "version": one["version"], "purl": reference(name)}
        if one["license"]:
            part["licenses"] = [{"expression": one["license"].replace("/", " OR ")}]
        if checksum := sums.get((one["name"], one["version"])):
            part["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return part

    ordered = sorted(found, key=reference)
    parts = [component(name) for name in ordered if name != first]
    if bare := [part["name"] for part in parts if "licenses" not in part or "hashes" not in part]:
        fail(f"no licence or checksum of {', '.join(bare)}")
    name, then = commit()
    bom = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name + VERSION)}", "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(then)),
                     "component": component(first) | {"type": "application"}, "properties": [{"name": "commit", "value": name}]},
        "components": parts,
        "dependencies": [{"ref": reference(one), "dependsOn": [reference(other) for other in needs(one)]} for one in ordered],
    }
    return bom


def write_sbom():
    dist.mkdir(exist_ok=True)
    out = dist / f"polyfly-{VERSION}.cdx.json"
    bom = sbom()
    out.write_text(json.dumps(bom, indent=1) + "\n")
    print(f"{out.name}: {len(bom['components'])} packages")


def sums():
    files = sorted(path for path in dist.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    if not files:
        fail("dist/ is empty")
    (dist / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.name}\n" for path in files))
    print(f"SHA256SUMS: {len(files)} files")


def check():
    """What can be wrong before anything is built."""
    listed = read("cargo", "package", "--list", "--allow-dirty", "--locked", "--package", "polyfly", stderr=subprocess.DEVNULL).split()
    size = sum((root / name).stat().st_size for name in listed if (root / name).exists())
    # What the sources include, and what build.rs reads.
    wanted = {"build.rs", "src/main.rs", "Cargo.lock", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "kernels/entry/render.cpp"}
    wanted |= {str(path.relative_to(root)) for pattern in ("kernels/**/*.def", "kernels/ptx/*.ptx") for path in root.glob(pattern)}
    for source in (root / "src").rglob("*.rs"):
        text = source.read_text().split("\nmod tests {")[0]
        if "include_" not in text or "tests" in source.with_suffix("").relative_to(root).parts:
            continue
        # Macros make the names of some: every word that is a file's name counts.
        for name in re.findall(r'"([^"\n]+\.\w+)"', text):
            found = [folder / name for folder in (source.parent, root, root / "docs", root / "scenes", root / "scenes/templates")]
            wanted |= {os.path.relpath(path.resolve(), root) for path in found if path.is_file()}
    if missing := sorted(wanted - set(listed)):
        fail(f"the package lacks {', '.join(missing)}: see `include` in Cargo.toml")
    if strange := [name for name in listed if name.startswith(("tests/", "scripts/", "shared/", ".ci"))]:
        fail(f"the package holds {', '.join(strange)}")
    versions = {file: tomllib.loads((root / file).read_text())["package"]["version"] for file in ("Cargo.toml", "python/Cargo.toml")}
    versions["CHANGELOG.md"] = next(iter(re.findall(r"^## (\d+\.\d+\.\d+)", (root / "CHANGELOG.md").read_text(), re.M)), "none")
    if set(versions.values()) != {VERSION}:
        fail(f"versions differ: {versions}")
    print(f"the package has {len(listed)} files, {size / 1e6:.1f} MB; version {VERSION}; {len(sbom()['components'])} packages with licence and checksum")
