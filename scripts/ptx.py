"""Compiles a GPU entry of kernels/entry to PTX with NVRTC through its C interface. Called by scripts/ptx."""

import ctypes
import glob
import hashlib
import os
import re
import sys
from pathlib import Path

OPTIONS = ["--gpu-architecture=compute_75", "--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true",
           "--ftz=false", "--device-as-default-execution-space"]


def flat(path, seen):
    """The file with its includes in place, headers once and .def files each time, and #line directives for messages."""
    seen[path] = text = Path("kernels", path).read_text()
    out = [f'#line 1 "kernels/{path}"']
    for number, line in enumerate(text.split("\n"), 1):
        include = re.match(r'#include "(.*)"', line)
        if not include:
            out.append("" if line == "#pragma once" else line)
            continue
        other = os.path.normpath(os.path.join(os.path.dirname(path), include[1]))
        if other not in seen or other.endswith(".def"):
            out += flat(other, seen)
        out.append(f'#line {number + 1} "kernels/{path}"')
    return out


def digest(files):
    """What a test in src/kernels.rs computes too: SHA-256 over names and texts in name order."""
    state = hashlib.sha256()
    for name in sorted(files):
        state.update(name.encode() + b"\0" + files[name].encode() + b"\0")
    return state.hexdigest()


def main(tools, entry, out):
    nvrtc = ctypes.CDLL(glob.glob(f"{tools}/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")[0])
    files = {}
    source = "\n".join(flat(f"entry/{entry}.cu", files))
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), f"{entry}.cu".encode(), 0, None, None)
    failed = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), (ctypes.c_char_p * len(OPTIONS))(*[o.encode() for o in OPTIONS]))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    sys.stderr.write(log.value.decode())
    if failed:
        sys.exit(f"NVRTC failed with {failed}")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    Path(out).write_text(f"// {entry}.cu, sources {digest(files)}\n{ptx.value.decode()}")


main(*sys.argv[1:])
