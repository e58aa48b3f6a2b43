"""Draws time against the number of particles, CPU beside GPU, from the output of scripts/measure/worlds.

Usage: python3 scripts/measure/plot-particles.py RESULTS docs/particles.svg
"""

import math
import re
import sys

ROW = re.compile(r"^(\d+) particles\s+(.*?)\s+read.*render ([\d.]+) ms")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 70, 170, 24, 48


def main(source, target):
    rows = [(int(n), "CPU, 16 threads" if d.startswith("cpu") else "H200", float(ms)) for n, d, ms in (m.groups() for m in map(ROW.match, open(source)) if m)]
    x = lambda n: LEFT + (math.log10(n) - 2.5) / 3.7 * (WIDTH - LEFT - RIGHT)
    y = lambda ms: HEIGHT - BOTTOM - (math.log10(ms) + 2) / 3 * (HEIGHT - TOP - BOTTOM)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for n in (1e3, 1e4, 1e5, 1e6):
        svg.append(f'<path d="M{x(n):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/><text x="{x(n):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{n:,.0f}</text>')
    for ms in (0.01, 0.1, 1, 10):
        svg.append(f'<path d="M{LEFT} {y(ms):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/><text x="{LEFT - 8}" y="{y(ms) + 4:.1f}" text-anchor="end">{ms:g} ms</text>')
    for i, (name, colour) in enumerate([("CPU, 16 threads", "#dc7a22"), ("H200", "#3366cc")]):
        points = sorted((n, ms) for n, d, ms in rows if d == name)
        svg.append(f'<path d="M{"L".join(f"{x(n):.1f} {y(ms):.1f}" for n, ms in points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        svg += [f'<circle cx="{x(n):.1f}" cy="{y(ms):.1f}" r="4" fill="{colour}"/>' for n, ms in points]
        svg.append(f'<text x="{WIDTH - RIGHT + 12}" y="{y(points[-1][1]) + 4:.1f}" fill="{colour}">{name}</text>')
    svg.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">particles; a picture of 800 x 800</text></svg>')
    open(target, "w").write("\n".join(svg) + "\n")


main(*sys.argv[1:])
