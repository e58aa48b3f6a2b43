"""Makes textures/*.png: floors that tile nowhere and need no other program. The same script gives the same pixels.

    python3 textures/make.py            write them
    python3 textures/make.py --check    fail when a file's pixels are not what the script gives
"""

import math
import struct
import sys
import zlib
from pathlib import Path

SIDE = 512


def rows_of(pixels):
    """The filtered rows of an RGB picture; `pixels` gives (r, g, b), 0 to 1, at (u, v), 0 to 1 from the top left."""
    rows = bytearray()
    for y in range(SIDE):
        rows.append(1)  # each pixel as its difference to the one on its left: smooth pictures pack well
        left = (0, 0, 0)
        for x in range(SIDE):
            colour = tuple(round(max(0.0, min(1.0, c)) * 255) for c in pixels((x + 0.5) / SIDE, (y + 0.5) / SIDE))
            rows += bytes((c - l) % 256 for c, l in zip(colour, left))
            left = colour
    return bytes(rows)


HEADER = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)


def png(rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", HEADER) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def unpacked(file):
    """The rows of a file of ours."""
    length = int.from_bytes(file[33:37], "big")
    assert file[16:29] == HEADER and file[37:41] == b"IDAT"
    return zlib.decompress(file[41 : 41 + length])


def hashed(i, j):
    h = (i * 0x9E3779B9 ^ j * 0x85EBCA6B) & 0xFFFFFFFF
    h = (h ^ h >> 16) * 0x7FEB352D & 0xFFFFFFFF
    h = (h ^ h >> 15) * 0x846CA68B & 0xFFFFFFFF
    return (h ^ h >> 16) / 0xFFFFFFFF


def noise(x, y):
    """Value noise on an integer lattice, smooth, 0 to 1."""
    i, j = math.floor(x), math.floor(y)
    s, t = x - i, y - j
    s, t = s * s * (3 - 2 * s), t * t * (3 - 2 * t)
    row = lambda j: hashed(i, j) + (hashed(i + 1, j) - hashed(i, j)) * s
    return row(j) + (row(j + 1) - row(j)) * t


def octaves(x, y, n):
    return sum((noise(x * 2**o, y * 2**o) - 0.5) / 2**o for o in range(n))


def mix(a, b, t):
    return tuple(p + (q - p) * t for p, q in zip(a, b))


def checker(u, v):
    light = (math.floor(u * 8) + math.floor(v * 8)) % 2 == 0
    worn = 0.05 * octaves(u * 30, v * 30, 3)
    return tuple(c + worn for c in ((0.9, 0.89, 0.86) if light else (0.17, 0.17, 0.19)))


def marble(u, v):
    bend = octaves(u * 3 + 9, v * 3, 5)
    vein = abs(math.sin((u * 2.1 + v * 1.3 + bend * 1.7) * math.pi * 2))
    base = mix((0.36, 0.39, 0.43), (0.93, 0.92, 0.9), 1 - (1 - vein) ** 4)
    return mix(base, (0.78, 0.74, 0.68), max(0.0, 0.5 * octaves(u * 7, v * 7 + 3, 3)))


def wood(u, v):
    plank = math.floor(v * 6)
    along = u * 2 + noise(plank * 7.3, 1.7) * 9
    across = v * 6 - plank - 0.5 + 0.25 * (noise(along * 1.5, plank * 3.1) - 0.5)
    ring = math.sqrt(across * across + 0.02 * along * along) * 7 + noise(along * 3, across * 6 + plank)
    grain = (0.5 + 0.5 * math.sin(ring * math.pi * 2)) ** 2
    colour = mix((0.62, 0.42, 0.24), (0.42, 0.25, 0.13), 0.65 * grain + 0.25 * noise(along * 60, v * 300))
    tone = 0.8 + 0.25 * noise(plank * 13.7, 5.1)
    gap = min(v * 6 - plank, 1 - (v * 6 - plank))
    return tuple(c * tone * (0.35 if gap < 0.012 else 1) for c in colour)


def concrete(u, v):
    # Slabs with joints, stains and pores.
    grey = 0.56 + 0.18 * octaves(u * 5, v * 5, 6) + 0.05 * (noise(u * 240, v * 240) - 0.5)
    joint = min(abs((u * 2) % 1 - 0.5), abs((v * 2) % 1 - 0.5))
    pore = noise(u * 90 + 40, v * 90) > 0.93
    shade = 0.55 if joint > 0.493 else 0.8 if pore else 1.0
    return (grey * shade * 1.0, grey * shade * 0.985, grey * shade * 0.955)


check = sys.argv[1:] == ["--check"]
for make in (checker, marble, wood, concrete):
    path, rows = Path("textures") / f"{make.__name__}.png", rows_of(make)
    if not check:
        path.write_bytes(png(rows))
    elif unpacked(path.read_bytes()) != rows:
        sys.exit(f"{path} is not what textures/make.py gives")
