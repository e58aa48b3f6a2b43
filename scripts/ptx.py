"""Compiles kernels/render.cu to PTX with NVRTC through its C interface. Called by scripts/ptx."""

import ctypes
import glob
import hashlib
import re
import sys
from pathlib import Path

OPTIONS = ["--gpu-architecture=compute_75", "--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true",
           "--ftz=false", "--device-as-default-execution-space"]


def sources():
    """render.cu and the headers it reaches, by name, each once."""
    found, queue = {}, ["render.cu"]
    while queue:
        name = queue.pop(0)
        if name not in found:
            found[name] = Path("kernels", name).read_text()
            queue += re.findall(r'^#include "(.*)"', found[name], re.M)
    return found


def digest(files):
    """What a test in src/device/cuda.rs computes too: SHA-256 over names and texts in name order."""
    state = hashlib.sha256()
    for name in sorted(files):
        state.update(name.encode() + b"\0" + files[name].encode() + b"\0")
    return state.hexdigest()


def main(tools, out, *defines):
    nvrtc = ctypes.CDLL(glob.glob(f"{tools}/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")[0])
    files = sources()
    headers = [n for n in files if n != "render.cu"]

    def strings(items):
        return (ctypes.c_char_p * len(items))(*[i.encode() for i in items])

    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), files["render.cu"].encode(), b"render.cu", len(headers),
                             strings([files[h] for h in headers]), strings(headers))
    options = OPTIONS + list(defines)
    failed = nvrtc.nvrtcCompileProgram(program, len(options), strings(options))
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
    Path(out).write_text(f"// sources {digest(files)}\n{ptx.value.decode()}")


main(*sys.argv[1:])
