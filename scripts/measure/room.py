"""What scripts/measure/mitsuba runs: one room in both programs."""

import json
import statistics
import subprocess
import sys
import time

import mitsuba
import numpy as np
import OpenEXR

polyfly, variant, work = sys.argv[1:]
WIDTH, HEIGHT, DEPTH = 160, 120, 24
SIDE = 3.0  # half of the room's
ALBEDO, CLAY, LAMP = [0.85, 0.82, 0.78], [0.8, 0.3, 0.2], [1, 0.95, 0.9]
STRENGTH = 8
ROOM = f"""
[output]
frames = 1
size = [{WIDTH}, {HEIGHT}]
[render]
integrator = "path"
depth = {DEPTH}
samples = SAMPLES
[sky]
zenith = [0, 0, 0]
horizon = [0, 0, 0]
[camera]
position = [0, -2.6, 0.1]
look_at = [0, 0, -0.1]
fov_deg = 60
[[body]]
solid = "cube"
radius = {SIDE * 3**0.5}
color = {ALBEDO}
highlight = 0
bar = 0
[[sphere]]
center = [0.6, 0.3, -1]
radius = 0.8
color = [0.9, 0.9, 0.9]
material = "metal"
[[sphere]]
center = [-1.0, 0.6, -1]
radius = 0.7
color = {CLAY}
[[sphere]]
center = [0, 0, 1.8]
radius = 0.5
material = "light"
color = {LAMP}
strength = {STRENGTH}
"""


def ours(samples, name, *flags):
    with open(f"{work}/room.toml", "w") as f:
        f.write(ROOM.replace("SAMPLES", str(samples)))
    device = "--gpu" if variant == "cuda" else "--cpu"
    log = subprocess.run([polyfly, f"{work}/room.toml", device, "-q", "--log", "jsonl", "--overwrite", "-o", f"{work}/{name}%d.exr", *flags],
                         check=True, capture_output=True, text=True).stdout
    frames = [f for f in map(json.loads, log.splitlines()) if f["type"] == "frame"]
    return frames[0]["stages"]["render_ms"]


def picture(name):
    channels = OpenEXR.File(f"{work}/{name}0.exr").channels()
    pixels = channels["RGBA"].pixels[..., :3] if "RGBA" in channels else channels["RGB"].pixels
    return pixels.astype(np.float64)


def theirs(sampler, samples):
    linear = [[x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in c] for c in (ALBEDO, [0.9] * 3, CLAY, LAMP)]
    colour = lambda c: {"type": "rgb", "value": c}
    place = mitsuba.ScalarTransform4f
    return mitsuba.load_dict({
        "type": "scene",
        "integrator": {"type": "path", "max_depth": DEPTH + 1},
        "sensor": {
            "type": "perspective", "fov": 60, "fov_axis": "x",
            "to_world": place().look_at([0, -2.6, 0.1], [0, 0, -0.1], [0, 0, 1]),
            "film": {"type": "hdrfilm", "width": WIDTH, "height": HEIGHT, "rfilter": {"type": "box"}, "pixel_format": "rgb"},
            "sampler": {"type": sampler, "sample_count": samples},
        },
        "room": {"type": "cube", "to_world": place().scale([SIDE] * 3),
                 "bsdf": {"type": "twosided", "inner": {"type": "diffuse", "reflectance": colour(linear[0])}}},
        "mirror": {"type": "sphere", "center": [0.6, 0.3, -1], "radius": 0.8,
                   "bsdf": {"type": "conductor", "material": "none", "specular_reflectance": colour(linear[1])}},
        "clay": {"type": "sphere", "center": [-1, 0.6, -1], "radius": 0.7,
                 "bsdf": {"type": "diffuse", "reflectance": colour(linear[2])}},
        "lamp": {"type": "sphere", "center": [0, 0, 1.8], "radius": 0.5,
                 "bsdf": {"type": "diffuse", "reflectance": colour([0, 0, 0])},
                 "emitter": {"type": "area", "radiance": colour([STRENGTH * x for x in linear[3]])}},
    })


mitsuba.set_variant(f"{variant}_ad_rgb")
ours(16384, "truth", "--bits", "32")
truth = picture("truth")
error = lambda image: float(np.sqrt(np.mean((image - truth) ** 2)))
print(f"mean {truth.mean():.5f}")
print("| program | samples | RMSE | mean | ms |")
print("|---|---|---|---|---|")
for samples in (16, 64, 256):
    scenes = {sampler: theirs(sampler, samples) for sampler in ("independent", "multijitter")}
    times = {name: [] for name in ("polyfly", *scenes)}
    images = {}
    for turn in range(6):
        times["polyfly"].append(ours(samples, "room", "--bits", "32"))
        for sampler, scene in scenes.items():
            start = time.perf_counter()
            images[sampler] = np.array(mitsuba.render(scene, spp=samples, seed=turn)).astype(np.float64)
            times[sampler].append(1e3 * (time.perf_counter() - start))
    images["polyfly"] = picture("room")
    for name, taken in times.items():
        image = images[name]
        print(f"| {name} | {samples} | {error(image):.5f} | {image.mean():.5f} | {statistics.median(taken[1:]):.0f} |")
