"""Writes a mesh of about a million triangles, a bumpy ball, as binary PLY. Usage: python3 benches/peers/mesh.py FILE [TRIANGLES]"""

import array
import math
import sys

path, wanted = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
n = round(math.sqrt(wanted / 2))
rows, columns = n + 1, n
points = array.array("f")
for i in range(rows):
    theta = math.pi * i / n
    for j in range(columns):
        phi = 2 * math.pi * j / columns
        r = 1 + 0.12 * math.sin(9 * theta) * math.cos(11 * phi) + 0.015 * math.sin(80 * theta) * math.sin(90 * phi)
        points.extend((r * math.sin(theta) * math.cos(phi), r * math.sin(theta) * math.sin(phi), r * math.cos(theta)))
faces = bytearray()
for i in range(n):
    for j in range(columns):
        a, b = i * columns + j, i * columns + (j + 1) % columns
        for face in ((a, a + columns, b + columns), (a, b + columns, b)):
            faces += b"\x03" + array.array("i", face).tobytes()
with open(path, "wb") as out:
    out.write(f"ply\nformat binary_little_endian 1.0\nelement vertex {rows * columns}\nproperty float x\nproperty float y\nproperty float z\n"
              f"element face {2 * n * columns}\nproperty list uchar int vertex_indices\nend_header\n".encode())
    points.tofile(out)
    out.write(faces)
print(f"{2 * n * columns} triangles")
