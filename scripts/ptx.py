"""Compiles the modules of kernels/modules.def to PTX with NVRTC through its C interface. Called by scripts/ptx:

ptx.py TOOLS FOLDER            each module as FOLDER/NAME.ptx
ptx.py TOOLS FOLDER --bench    those of benches/kernels"""

import ctypes
import glob
import hashlib
import os
import re
import sys
from pathlib import Path

OPTIONS = ["--gpu-architecture=compute_75", "--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true",
           "--ftz=false", "--device-as-default-execution-space"]


def rows(word):
    """The rows of modules.def that begin with a word, each a list of its arguments."""
    found = re.findall(rf"^{word}\((.*?)\)", Path("kernels/modules.def").read_text(), re.MULTILINE)
    return [[argument.strip() for argument in row.split(",")] for row in found]


def modules():
    """The name of each module, the headers of its integrator and output, and what its entries are compiled for."""
    types = {name: kind for name, kind, _ in rows("SCENE") + rows("INTEGRATOR")}
    rays = {name: rays for name, _, rays in rows("INTEGRATOR")}
    for integrator, scene, output, threads, blocks in rows("MODULE"):
        headers = [f"integrators/{integrator}.cuh", f"entry/{output}.cuh"]
        yield f"{integrator}_{scene}_{output}", headers, [types[integrator], rays[integrator], types[scene], threads, blocks]
    for [name] in rows("POST_MODULE"):
        yield name, [f"entry/{name}.cuh"], []


def bench_modules():
    """The same for benchmarks: Whitted's rays by other schedules, for each kind of scene, and tests of triangles."""
    for name, headers, parameters in modules():
        if name.startswith("whitted_") and name.endswith("_picture"):
            yield name.replace("whitted", "schedule").removesuffix("_picture"), [headers[0], "../benches/kernels/schedule.cuh"], parameters
    yield "triangles", ["../benches/kernels/triangles_gpu.cuh"], []


def flat(path, seen):
    """The file with its includes in place, headers once and .def files each time, and #line directives for messages."""
    seen[path] = text = Path("kernels", path).read_text()
    out = [f'#line 1 "kernels/{path}"']
    for number, line in enumerate(text.split("\n"), 1):
        include = re.match(r'#include "(.*)"', line)
        if not include:
            out.append("" if line == "#pragma once" else line)
            continue
        other = os.path.relpath(os.path.join("kernels", os.path.dirname(path), include[1]), "kernels")
        if other not in seen or other.endswith(".def"):
            out += flat(other, seen)
        out.append(f'#line {number + 1} "kernels/{path}"')
    return out


def digest(files, parameters):
    """SHA-256 over names and texts in name order and the parameters; a test in src/device/gpu/modules.rs computes it too."""
    state = hashlib.sha256()
    for name in sorted(files):
        state.update(name.encode() + b"\0" + files[name].encode() + b"\0")
    state.update(" ".join(parameters).encode())
    return state.hexdigest()


def compiled(nvrtc, name, headers, parameters):
    """The module's PTX."""
    files = {}
    source = ["namespace polyfly {"]
    if parameters:
        integrator, rays, scene, threads, blocks = parameters
        source += [*flat(headers[0], files), f"#define {rays}", f"typedef {integrator} KernelIntegrator;",
                   f"typedef {scene} KernelScene;", f"constexpr int BLOCK_THREADS = {threads}, BLOCKS = {blocks};"]
    source += [*flat(headers[-1], files), "}"]
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), "\n".join(source).encode(), f"{name}.cu".encode(), 0, None, None)
    failed = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), (ctypes.c_char_p * len(OPTIONS))(*[o.encode() for o in OPTIONS]))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    sys.stderr.write(log.value.decode())
    if failed:
        sys.exit(f"{name}: NVRTC failed with {failed}")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    return f"// sources {digest(files, parameters)}\n{ptx.value.decode()}"


def main(tools, folder, which=None):
    nvrtc = ctypes.CDLL(glob.glob(f"{tools}/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")[0])
    for name, headers, parameters in bench_modules() if which == "--bench" else modules():
        Path(folder, f"{name}.ptx").write_text(compiled(nvrtc, name, headers, parameters))


if __name__ == "__main__":
    main(*sys.argv[1:])
