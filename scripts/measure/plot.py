"""Draws the cost table of a results file (scripts/measure/gpu) as an SVG: Grays/s against million rays a frame.

Usage: python3 scripts/measure/plot.py benches/results/FILE.md docs/cost.svg
"""

import math
import re
import sys

ROW = re.compile(r"^(\d+)x(\d+)\s+(\d+)\s+(\d+)x\d+\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)$")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 60, 150, 24, 48
COLOURS = ["#3366cc", "#dc7a22", "#2a9d5c", "#b5459b"]


def main(source, target):
    rows = [m.groups() for m in map(ROW.match, open(source)) if m]
    points = [(f"{int(w) * int(h) / 1e6:.1f} Mpixel", float(rays), float(speed)) for w, h, _, _, _, rays, speed in rows]
    top = 5 * math.ceil(max(p[2] for p in points) / 5)
    lo, hi = math.floor(math.log10(min(p[1] for p in points))), math.ceil(math.log10(max(p[1] for p in points)))

    def x(rays):
        return LEFT + (math.log10(rays) - lo) / (hi - lo) * (WIDTH - LEFT - RIGHT)

    def y(speed):
        return HEIGHT - BOTTOM - speed / top * (HEIGHT - TOP - BOTTOM)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for decade in range(lo, hi + 1):
        svg.append(f'<path d="M{x(10**decade):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                   f'<text x="{x(10**decade):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{10**decade:,}</text>')
    for speed in range(0, top + 1, 5):
        svg.append(f'<path d="M{LEFT} {y(speed):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 8}" y="{y(speed) + 4:.1f}" text-anchor="end">{speed}</text>')
    for i, name in enumerate(dict.fromkeys(p[0] for p in points)):
        mine = sorted(p[1:] for p in points if p[0] == name)
        line = "L".join(f"{x(r):.1f} {y(s):.1f}" for r, s in mine)
        svg.append(f'<path d="M{line}" fill="none" stroke="{COLOURS[i % 4]}" stroke-width="1.5"/>')
        svg += [f'<circle cx="{x(r):.1f}" cy="{y(s):.1f}" r="4" fill="{COLOURS[i % 4]}"/>' for r, s in mine]
        svg.append(f'<text x="{WIDTH - RIGHT + 14}" y="{TOP + 16 + 20 * i}" fill="{COLOURS[i % 4]}">{name}</text>')
    svg.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">million rays a frame</text>'
               f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2})">Grays/s, shadow rays not counted</text></svg>')
    with open(target, "w") as out:
        out.write("\n".join(svg) + "\n")


main(*sys.argv[1:])
