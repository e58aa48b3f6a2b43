#!/usr/bin/env python3
"""Prints docs/vectors.txt: operations of docs/arithmetic.md in exact rational arithmetic, and frames by the program.

Usage: tests/vectors.py POLYFLY >docs/vectors.txt
"""

import hashlib
import math
import pathlib
import random
import subprocess
import sys
import tempfile
from fractions import Fraction

MASK = 0xFFFFFFFF
ONE, LARGEST, SMALLEST, INFINITE = 0x3F800000, 0x7F7FFFFF, 1, 0x7F800000


def value(bits):
    """A finite number."""
    mantissa, exponent = bits & 0x7FFFFF, bits >> 23 & 0xFF
    size = Fraction(mantissa, 1 << 149) if exponent == 0 else Fraction(mantissa | 1 << 23) * Fraction(2) ** (exponent - 150)
    return -size if bits >> 31 else size


def rounded(exact, negative_zero=False):
    """The nearest number, ties to even."""
    sign = 0x80000000 if exact < 0 or exact == 0 and negative_zero else 0
    size = abs(exact)
    if size == 0:
        return sign
    exponent = max(math.floor(math.log2(size.numerator) - math.log2(size.denominator)) - 1, -126)
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    mantissa = round(size / Fraction(2) ** (exponent - 23))
    # A mantissa that has become too long goes on in the exponent.
    bits = mantissa if exponent == -126 else (exponent + 126 << 23) + mantissa
    return sign | min(bits, INFINITE)


def root(bits):
    """The nearest square root."""
    exact, scale = value(bits), 400
    low = math.isqrt(exact.numerator * (1 << 2 * scale) // exact.denominator)
    is_exact = Fraction(low, 1 << scale) ** 2 == exact
    return rounded(Fraction(2 * low + (not is_exact), 1 << scale + 1))


def signed(x):
    return x - (1 << 32) if x >> 31 else x


def operations():
    draw = random.Random(20261130)
    edges = [ONE, ONE + 1, ONE - 1, 0x40490FDB, 0x3EAAAAAB, 0xBF7FFFFF, 0x00800000, 0x007FFFFF, SMALLEST, LARGEST, 0xC2C80001, 0x4B7FFFFF]
    near = lambda: draw.getrandbits(1) << 31 | draw.randrange(97, 157) << 23 | draw.getrandbits(23)
    anything = lambda: draw.getrandbits(1) << 31 | draw.randrange(255) << 23 | draw.getrandbits(23)
    inside = lambda: draw.randrange(0x0DA24260 + 1, 0x7CF0BDC2)
    pairs = [(a, b) for a in edges[:6] for b in edges] + [(near(), near()) for _ in range(40)] + [(anything(), anything()) for _ in range(20)]
    # Sums that round to even, and products whose rounding a fused operation does not have.
    triples = [(a, b, rounded(-value(a) * value(b))) for a, b in pairs[-60:-20]] + [(near(), near(), near()) for _ in range(60)]
    roots = [x for x in edges if x >> 31 == 0 and 0x0DA24260 < x < 0x7CF0BDC2] + [inside() for _ in range(100)]
    whole = [0, 1, MASK, 0x7FFFFFFF, 0x80000000, 0x01000001, 0x7FFFFFBF] + [draw.getrandbits(32) for _ in range(40)]
    for a, b in pairs:
        x, y = value(a), value(b)
        apart = (a ^ b) >> 31 == 1
        for name, exact in [("add", x + y), ("sub", x - y)]:
            if exact:
                yield name, a, b, 0, rounded(exact)
        yield "mul", a, b, 0, rounded(x * y, apart)
        yield "div", a, b, 0, rounded(x / y, apart)
        yield "min", a, b, 0, a if x < y else b
        yield "max", a, b, 0, a if x > y else b
        yield "less", a, b, 0, int(x < y)
        yield "equal", a, b, 0, int(x == y)
        yield "select", a, b, ONE, b if x < y else ONE
    for a, b, c in triples:
        exact = value(a) * value(b) + value(c)
        if exact:
            yield "fma", a, b, c, rounded(exact)
    for a in edges + [near() for _ in range(8)]:
        yield "neg", a, 0, 0, a ^ 0x80000000
        yield "abs", a, 0, 0, a & 0x7FFFFFFF
        yield "unequal", a, 0x7FC00000, 0, 1
        yield "less", a, 0x7FC00000, 0, 0
    for a in roots:
        for sign in (0, 0x80000000):
            yield "reciprocal", a | sign, 0, 0, rounded(1 / value(a | sign))
        yield "sqrt", a, 0, 0, root(a)
        yield "square_root", a, 0, 0, root(a)
    for a in [SMALLEST, 0x00800000, 0x007FFFFF, LARGEST]:
        yield "square_root", a, 0, 0, root(a)
    for i in whole:
        yield "to_real", i, 0, 0, rounded(Fraction(signed(i)))
        j, n = draw.getrandbits(32), draw.randrange(32)
        yield "wrap_add", i, j, 0, i + j & MASK
        yield "wrap_mul", i, j, 0, i * j & MASK
        yield "shift_down", i, n, 0, i >> n
        yield "shift_up", i, n, 0, i << n & MASK
    for a in [near() for _ in range(60)] + [0x4EFFFFFF, 0xCEFFFFFF, 0x3F7FFFFF]:
        if abs(value(a)) < 1 << 31:
            yield "to_int", a, 0, 0, math.trunc(value(a)) & MASK
    for a in [0x7FC00000, INFINITE, ONE] + [near() for _ in range(20)]:
        finite = (a & 0x7FFFFFFF) < INFINITE
        last = 255
        at = max(0, min(math.trunc(value(a)), last)) if finite else last
        yield "to_index", a, rounded(Fraction(last)), 0, at


SCENES = {
    "mirrors": """
[[body]]
solid = "octahedron"
lamps = 4
reflection = 0.5
transparency = 0.3
[[body]]
solid = "hexahedron"
center = [1.5, -1.5, 0.2]
radius = 0.8
color = "tomato"
reflection = 0.3
turns = 1
[[light]]
position = [3, 4, 5]
[floor]
corners = [[-4, -4, -1.2], [4, -4, -1.2], [4, 4, -1.2], [-4, 4, -1.2]]
texture = "@checker"
reflection = 0.2
[camera]
shutter = 0.4
[render]
samples = 2
""",
    "paths": """
[[sphere]]
center = [0, 0, 0.3]
radius = 0.9
color = [0.9, 0.6, 0.2]
[[body]]
solid = "icosahedron"
center = [-1.6, 1.1, 0.4]
color = "steelblue"
roughness = 0.3
reflection = 0.6
[[light]]
position = [3, 4, 5]
radius = 0.6
[floor]
corners = [[-4, -4, -1.2], [4, -4, -1.2], [4, 4, -1.2], [-4, 4, -1.2]]
[render]
integrator = "path"
samples = 16
[film]
bloom = 0.2
vignette = 0.3
grain = 0.1
""",
    "glass": """
[[body]]
solid = "dodecahedron"
transparency = 0.9
ior = 1.5
lamps = 2
turns = 1
[[light]]
position = [-3, 2, 4]
[floor]
corners = [[-4, -4, -1.2], [4, -4, -1.2], [4, 4, -1.2], [-4, 4, -1.2]]
texture = "@marble"
[render]
integrator = "path"
samples = "8..32"
""",
}


def frames(program):
    for name, text in SCENES.items():
        text = text.strip() + "\n[output]\nframes = 4\nsize = [16, 12]\n"
        with tempfile.TemporaryDirectory() as folder:
            scene, picture = pathlib.Path(folder, "scene.toml"), pathlib.Path(folder, "x.data")
            scene.write_text(text)
            make = lambda *flags: subprocess.run([program, scene, "-q", "--frames", "1", *flags], check=True, capture_output=True, text=True).stdout
            make("-o", picture)
            small = picture.read_bytes()
            large = make("--size", "320x240", "--hash").split()[0]
        yield f"frame {name} 1", text, small[8:].hex(), large, hashlib.sha256(small).hexdigest()


print("""# Test vectors of docs/arithmetic.md, made by tests/vectors.py: nobody edits this file.
# Operations: name, three arguments (0 where it has fewer) and the result, all as the bits in hexadecimal.""")
for name, x, y, z, result in sorted(set(operations())):
    print(f"{name} {x:x} {y:x} {z:x} = {result:x}")
print("""# Frames: the scene, RGBA of its 16 x 12 pixels, the hash of these, and that of the same frame with 320 x 240 pixels.""")
for head, text, rgba, large, small in frames(sys.argv[1]):
    print(head)
    print("".join(f"| {line}\n" for line in text.splitlines()), end="")
    print(f"rgba {rgba}\nsha256 {small}\nsha256 320x240 {large}")
