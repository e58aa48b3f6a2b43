"""Writes the scenes that are too long to write by hand: the balls on a table of the 2009 CSE260 report, and the
final scene of "Ray Tracing in One Weekend" (Shirley, Black, Hollasch).

Usage: python3 scenes/make.py        (from the repository's root; the same files every time)
"""

import colorsys
import math
from pathlib import Path


class Draws:
    """SplitMix64, 0 <= x < 1: the same numbers everywhere."""

    def __init__(self, seed):
        self.state = seed

    def __call__(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return ((z ^ (z >> 31)) >> 11) / (1 << 53)


def srgb(linear):
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055


def numbers(values):
    return "[" + ", ".join(f"{round(v, 4):g}" for v in values) + "]"


def sphere(centre, radius, colour, rest=""):
    return f"[[sphere]]\ncenter = {numbers(centre)}\nradius = {radius:g}\ncolor = {numbers(colour)}\n{rest}\n"


def upright(x, y, z):
    """The book's y is up; ours is z."""
    return (x, -z, y)


def balls_on_a_table():
    draw = Draws(260)
    text = """# 60 balls of random colors on a table, two lights: the scene of the 2009 CSE260 report, whose program compared ways to
# deal a picture's work out to threads. `polyfly bench --balance scenes/cse260.toml` does it again. Made by scenes/make.py.
[output]
frames = 120
path = "output/cse260/%d.png"
size = [2000, 2000]

[render]
depth = 5
ambient = [0.25, 0.25, 0.25]
highlight = 0.6

[sky]
zenith = [0.1, 0.14, 0.25]
horizon = [0.35, 0.4, 0.5]

[camera]
fov_deg = 40

[camera.eye]
r = 17
z = 9
phi_cycles = 1

[camera.target]
r = 0
z = -0.3

[floor]
corners = [[-6, -6, -1], [-6, 6, -1], [6, 6, -1], [6, -6, -1]]
texture = "@wood"
reflection = 0.15

[[light]]
position = [-5, 6, 9]
color = [0.9, 0.85, 0.75]

[[light]]
position = [7, -3, 8]
color = [0.5, 0.55, 0.65]

"""
    placed = []
    while len(placed) < 60:
        radius = 0.3 + 0.4 * draw()
        x, y = (5.6 - radius) * (2 * draw() - 1), (5.6 - radius) * (2 * draw() - 1)
        if all(math.dist((x, y, radius), (a, b, r)) > radius + r + 0.02 for a, b, r in placed):
            placed.append((x, y, radius))
            colour = colorsys.hsv_to_rgb(draw(), 0.55 + 0.4 * draw(), 0.75 + 0.25 * draw())
            clear = len(placed) % 4 == 0
            look = "reflection = 0.2\ntransparency = 0.6\nior = 1.5" if clear else f"reflection = {0.1 + 0.25 * draw():.2f}"
            text += sphere((x, y, radius - 1), radius, colour, look)
    return text


WEEKEND = """[render]
integrator = "path"
samples = {samples}
depth = 50
tone = "clip"
gamma = 2

[sky]
zenith = {zenith}
horizon = [1, 1, 1]
from_below = true

[camera]
"""


def sky():
    return numbers(srgb(c) for c in (0.5, 0.7, 1.0))


def grey(value):
    return (srgb(value),) * 3


def linear_colour(r, g, b):
    return tuple(srgb(c) for c in (r, g, b))


def horizontal(vertical, width, height):
    """The book gives the vertical field of view."""
    return 2 * math.degrees(math.atan(math.tan(math.radians(vertical) / 2) * width / height))


def weekend():
    text = """# The three balls of "Ray Tracing in One Weekend" (Shirley, Black, Hollasch): diffuse, glass with a bubble in it, metal.
# Made by scenes/make.py.
[output]
frames = 1
path = "output/weekend/%d.png"
size = [1200, 675]

"""
    text += WEEKEND.format(samples=100, zenith=sky())
    text += f"fov_deg = {horizontal(20, 1200, 675):.6f}\nposition = {numbers(upright(-2, 2, 1))}\n"
    text += f"look_at = {numbers(upright(0, 0, -1))}\nlens = 0.2975\nfocus = 3.4\n\n"
    text += sphere(upright(0, -100.5, -1), 100, linear_colour(0.8, 0.8, 0.0))
    text += sphere(upright(0, 0, -1.2), 0.5, linear_colour(0.1, 0.2, 0.5))
    text += sphere(upright(-1, 0, -1), 0.5, (1, 1, 1), 'material = "glass"\nior = 1.5')
    # The bubble: air in glass.
    text += sphere(upright(-1, 0, -1), 0.4, (1, 1, 1), 'material = "glass"\nior = 0.6666666666666666')
    text += sphere(upright(1, 0, -1), 0.5, linear_colour(0.8, 0.6, 0.2), 'material = "metal"\nfuzz = 1')
    return text


def weekend_final():
    draw = Draws(1)
    text = """# The final scene of "Ray Tracing in One Weekend" (Shirley, Black, Hollasch), with balls of our own drawing.
# Made by scenes/make.py.
[output]
frames = 1
path = "output/weekend-final/%d.png"
size = [1200, 800]

"""
    text += WEEKEND.format(samples=100, zenith=sky())
    text += f"fov_deg = {horizontal(20, 1200, 800):.6f}\nposition = {numbers(upright(13, 2, 3))}\n"
    text += f"look_at = {numbers(upright(0, 0, 0))}\nlens = 0.0523656\nfocus = 10\n\n"
    text += sphere(upright(0, -1000, 0), 1000, grey(0.5))
    count = 4
    for a in range(-11, 11):
        for b in range(-11, 11):
            x, z = a + 0.9 * draw(), b + 0.9 * draw()
            kind, colour = draw(), (draw(), draw(), draw())
            fuzz = 0.5 * draw()
            if math.dist((x, 0.2, z), (4, 0.2, 0)) <= 0.9:
                continue
            count += 1
            if kind < 0.8:
                other = (draw(), draw(), draw())
                text += sphere(upright(x, 0.2, z), 0.2, linear_colour(*(c * o for c, o in zip(colour, other))))
            elif kind < 0.95:
                bright = linear_colour(*(0.5 + 0.5 * c for c in colour))
                text += sphere(upright(x, 0.2, z), 0.2, bright, f'material = "metal"\nfuzz = {fuzz:.4f}')
            else:
                text += sphere(upright(x, 0.2, z), 0.2, (1, 1, 1), 'material = "glass"\nior = 1.5')
    text += sphere(upright(0, 1, 0), 1, (1, 1, 1), 'material = "glass"\nior = 1.5')
    text += sphere(upright(-4, 1, 0), 1, linear_colour(0.4, 0.2, 0.1))
    text += sphere(upright(4, 1, 0), 1, linear_colour(0.7, 0.6, 0.5), 'material = "metal"\nfuzz = 0')
    print(f"weekend-final: {count} balls")
    return text


def heap():
    """Grains poured onto a table: x, y, z, r and p, the weight of what lies above."""
    draw = Draws(7)
    cell, grid, grains = 0.12, {}, []

    def near(x, y):
        column, row = int(x // cell), int(y // cell)
        for i in (-1, 0, 1):
            for j in (-1, 0, 1):
                yield from grid.get((column + i, row + j), ())

    def rest(x, y, r):
        """How low a grain falls at a place."""
        z = r
        for gx, gy, gz, gr in near(x, y):
            reach = (r + gr) ** 2 - (x - gx) ** 2 - (y - gy) ** 2
            if reach > 0:
                z = max(z, gz + math.sqrt(reach))
        return z

    while len(grains) < 3600:
        # As many over each place as a cone is high there; a few have rolled away.
        x, y = (2.8 * (draw() - 0.5) for _ in range(2))
        away = math.hypot(x, y)
        if draw() > max(1 - away / 1.05, 0.012 if away < 1.4 else 0):
            continue
        r = 0.028 + 0.03 * draw() ** 3
        z, step = rest(x, y, r), r
        # It rolls into the next hollow.
        while step > 0.1 * r:
            ways = [(x + step * math.cos(k * math.pi / 4), y + step * math.sin(k * math.pi / 4)) for k in range(8)]
            lower, place = min((rest(*way, r), way) for way in ways)
            if lower < z:
                z, (x, y) = lower, place
            else:
                step /= 2
        grains.append((x, y, z, r))
        grid.setdefault((int(x // cell), int(y // cell)), []).append((x, y, z, r))
    rows = ["x,y,z,r,vx,vy,vz,p"]
    for x, y, z, r in grains:
        above = sum(gr**3 for gx, gy, gz, gr in near(x, y) if gz > z)
        rows.append(f"{x:.4f},{y:.4f},{z:.4f},{r:.4f},0,0,0,{above / r**2:.4f}")
    print(f"heap: {len(grains)} grains, {max(g[2] for g in grains):.2f} high")
    return "\n".join(rows)


GALLERY = """# A gallery in the evening: solids of glass, metal and lamps on dark pedestals, two rows of them, and a camera that walks between.
# Made by scenes/make.py.
[output]
frames = 600
path = "output/gallery/%04d.png"
size = [1280, 720]

[render]
samples = "4..64"
depth = 20
ambient = [0.1, 0.1, 0.115]
highlight = 0.0
light_samples = 4
ao_samples = 4

[film]
tone = "agx"
contrast = 1.15
saturation = 1.25
exposure = 1.1
bloom = 0.09
bloom_radius = 0.12
vignette = 0.3

[sky]
image = "@dusk"
rotation_deg = 95
intensity = 0.7

[camera]
fov_deg = 44

[[camera.key]]
time = 0
position = [0.7, -12.0, 0.9]
look_at = [-0.3, 0, 0.45]

[[camera.key]]
time = 0.5
position = [-0.5, -4.6, 0.75]
look_at = [0.25, 4, 0.6]

[[camera.key]]
time = 1
position = [0.3, 3.0, 1.0]
look_at = [0, 9, 0.75]

[floor]
size = "infinite"
corners = [[-5, -5, -0.7], [-5, 5, -0.7], [5, 5, -0.7], [5, -5, -0.7]]
texture = "@marble"
tint = [0.3, 0.3, 0.32]
reflection = 0.32
fade = 22

[[light]]
position = [0, -5, 9]
color = [0.85, 0.76, 0.64]
radius = 1.2

[[light]]
position = [0, 9, 8]
color = [0.4, 0.5, 0.72]
radius = 1.2

"""


def gallery():
    solids = ["icosahedron", "octahedron", "dodecahedron", "hexahedron", "tetrahedron"]
    looks = [
        'material = "gold"\nroughness = 0.04\nbar = 0\nbevel = 0.015',
        'material = "glass"\nior = 1.6\ncolor = [0.97, 0.99, 1.0]\nbar = 0\nbevel = 0.015',
        'color = [0.96, 0.98, 0.97]\nreflection = 0.6\ntransparency = 0.36\nlamps = 5\nlamp_color = [1.0, 0.75, 0.45]\nlamp_intensity = 7\nbar = 0.02',
        'material = "copper"\nroughness = 0.08\nbar = 0\nbevel = 0.015',
        'material = "glass"\nior = 1.5\ncolor = [0.55, 0.85, 0.75]\ntint_distance = 0.8\nbar = 0\nbevel = 0.015',
        'color = [0.96, 0.97, 1.0]\nreflection = 0.6\ntransparency = 0.36\nlamps = "strip"\nlamp_color = [0.5, 0.75, 1.0]\nlamp_intensity = 4\nbar = 0.02',
        'material = "chromium"\nbar = 0\nbevel = 0.015',
    ]
    text, count = GALLERY, 0
    for row in range(9):
        for side in (-1, 1):
            x, y = side * 2.1, -6.0 + 2.4 * row
            text += f"""[[body]]
solid = "hexahedron"
center = {numbers((x, y, -0.2))}
radius = {0.5 * math.sqrt(3):.4f}
material = "diffuse"
color = [0.42, 0.42, 0.43]
bar = 0
bevel = 0.02

[[body]]
solid = "{solids[(2 * row + (side > 0) * 3 + row // 3) % 5]}"
center = {numbers((x, y, 0.95))}
radius = 0.62
axis = [0.1, 0.05, 1]
angle_deg = {17 * count % 90}
turns = {side}
{looks[(count * 3) % 7]}

"""
            count += 1
    return text


Path("scenes", "heap.csv").write_text(heap() + "\n")
for name, text in [("cse260", balls_on_a_table()), ("weekend", weekend()), ("weekend-final", weekend_final()), ("gallery", gallery())]:
    Path("scenes", f"{name}.toml").write_text("#:schema scene.schema.json\n" + text.rstrip() + "\n")
