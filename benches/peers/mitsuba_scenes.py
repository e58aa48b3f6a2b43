"""Path tracing beside Mitsuba 3, for benches/record: a room with a lamp in it, and the last scene of "Ray Tracing in One Weekend". Mitsuba's times are
of a process that has compiled already; polyfly's are of a frame without files. Both take turns.

Usage: mitsuba_scenes.py POLYFLY llvm|cuda WORK      (SAMPLES, TRUTH, TURNS, WEEKEND and SCENES in the environment may be others)

The room is the same in both programs, and both errors are those against polyfly's picture of many samples; the means show it. The Weekend's rough
metals have another lobe in Mitsuba (GGX in place of a ball around the mirrored ray), so each program has a reference of its own."""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time
import tomllib

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


def ours(scene, samples, name):
    """Milliseconds of a frame, and of all cores for it, with the start of the program."""
    pathlib.Path(work, "scene.toml").write_text(scene(samples))
    device = "--gpu" if variant == "cuda" else "--cpu"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    log = subprocess.run([polyfly, f"{work}/scene.toml", device, "-q", "--log", "jsonl", "--overwrite", "--set", "output.bits=32", "-o", f"{work}/{name}%d.exr"],
                         check=True, capture_output=True, text=True).stdout
    frames = [f for f in map(json.loads, log.splitlines()) if f["type"] == "frame"]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return frames[0]["stages"]["render_ms"], 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def picture(name):
    channels = OpenEXR.File(f"{work}/{name}0.exr").channels()
    pixels = channels["RGBA"].pixels[..., :3] if "RGBA" in channels else channels["RGB"].pixels
    return pixels.astype(np.float64)


def linear(color):
    return [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in color]


def colour(color):
    return {"type": "rgb", "value": color}


def film(width, height):
    return {"type": "hdrfilm", "width": width, "height": height, "rfilter": {"type": "box"}, "pixel_format": "rgb"}


def ball(sphere, bsdf):
    return {"type": "sphere", "center": sphere["center"], "radius": sphere["radius"], "bsdf": bsdf}


def their_room(sampler, samples):
    colors = [linear(c) for c in (ALBEDO, [0.9] * 3, CLAY, LAMP)]
    place = mitsuba.ScalarTransform4f
    return mitsuba.load_dict({
        "type": "scene",
        "integrator": {"type": "path", "max_depth": DEPTH + 1},
        "sensor": {
            "type": "perspective", "fov": 60, "fov_axis": "x",
            "to_world": place().look_at([0, -2.6, 0.1], [0, 0, -0.1], [0, 0, 1]),
            "film": film(WIDTH, HEIGHT),
            "sampler": {"type": sampler, "sample_count": samples},
        },
        "room": {"type": "cube", "to_world": place().scale([SIDE] * 3),
                 "bsdf": {"type": "twosided", "inner": {"type": "diffuse", "reflectance": colour(colors[0])}}},
        "mirror": {"type": "sphere", "center": [0.6, 0.3, -1], "radius": 0.8,
                   "bsdf": {"type": "conductor", "material": "none", "specular_reflectance": colour(colors[1])}},
        "clay": {"type": "sphere", "center": [-1, 0.6, -1], "radius": 0.7,
                 "bsdf": {"type": "diffuse", "reflectance": colour(colors[2])}},
        "lamp": {"type": "sphere", "center": [0, 0, 1.8], "radius": 0.5,
                 "bsdf": {"type": "diffuse", "reflectance": colour([0, 0, 0])},
                 "emitter": {"type": "area", "radiance": colour([STRENGTH * x for x in colors[3]])}},
    })


WEEKEND = pathlib.Path(__file__).resolve().parents[2] / "scenes/weekend-final.toml"
WEEKEND_SIZE = [int(side) for side in os.environ.get("WEEKEND", "300x200").split("x")]


def our_weekend(samples):
    text = WEEKEND.read_text().replace("size = [1200, 800]", f"size = {WEEKEND_SIZE}")
    return text.replace("samples = 100", f"samples = {samples}")


def their_weekend(sampler, samples):
    scene = tomllib.loads(WEEKEND.read_text())
    camera, sky = scene["camera"], scene["sky"]
    place = mitsuba.ScalarTransform4f

    def bsdf(sphere):
        color = colour(linear(sphere["color"]))
        match sphere.get("material"):
            case "glass":
                return {"type": "dielectric", "int_ior": sphere["ior"], "ext_ior": 1.0}
            case "metal" if sphere.get("fuzz"):
                return {"type": "roughconductor", "material": "none", "alpha": sphere["fuzz"], "specular_reflectance": color}
            case "metal":
                return {"type": "conductor", "material": "none", "specular_reflectance": color}
        return {"type": "diffuse", "reflectance": color}

    rows = np.cos(np.pi * (np.arange(256) + 0.5) / 256)[:, None, None] / 2 + 0.5
    gradient = rows * np.array(linear(sky["zenith"])) + (1 - rows) * np.array(linear(sky["horizon"]))
    sky = np.repeat(gradient, 2, axis=1).astype(np.float32)
    balls = {f"ball{i}": ball(sphere, bsdf(sphere)) for i, sphere in enumerate(scene["sphere"])}
    return mitsuba.load_dict({
        "type": "scene",
        "integrator": {"type": "path", "max_depth": scene["render"]["depth"] + 1},
        "sensor": {
            "type": "thinlens", "fov": camera["fov_deg"], "fov_axis": "x", "aperture_radius": camera["lens"], "focus_distance": camera["focus"],
            "to_world": place().look_at(camera["position"], camera["look_at"], [0, 0, 1]),
            "film": film(*WEEKEND_SIZE),
            "sampler": {"type": sampler, "sample_count": samples},
        },
        "sky": {"type": "envmap", "bitmap": mitsuba.Bitmap(sky), "to_world": place().rotate([1, 0, 0], 90)},
        **balls,
    })


def rmse(image, truth):
    return float(np.sqrt(np.mean((image - truth) ** 2)))


mitsuba.set_variant(f"{variant}_ad_rgb")
many, turns = int(os.environ.get("TRUTH", "16384")), int(os.environ.get("TURNS", "5"))
render = lambda scene, samples, seed: np.array(mitsuba.render(scene, spp=samples, seed=seed)).astype(np.float64)
print(f"Mitsuba {mitsuba.__version__}, {variant}\n\n| scene | program | samples | RMSE | mean | ms | ms of all cores | the same at polyfly's RMSE |\n|---|---|---|---|---|---|---|---|")
SCENES = {"room": (lambda samples: ROOM.replace("SAMPLES", str(samples)), their_room), "weekend-final": (our_weekend, their_weekend)}
for name in os.environ.get("SCENES", "room weekend-final").split():
    our_text, their_scene = SCENES[name]
    ours(our_text, many, "truth")
    truths = {"polyfly": picture("truth")}
    if name != "room":
        truths["Mitsuba"] = render(their_scene("independent", many), many, 1000)
    for samples in map(int, os.environ.get("SAMPLES", "16 64 256").split()):
        scenes = {f"Mitsuba, {sampler}": their_scene(sampler, samples) for sampler in ("independent", "multijitter")}
        times = {program: [] for program in ("polyfly", *scenes)}
        images = {}
        for turn in range(turns + 1):
            times["polyfly"].append(ours(our_text, samples, "frame"))
            for program, scene in scenes.items():
                start, work_before = time.perf_counter(), time.process_time()
                images[program] = render(scene, samples, turn)
                times[program].append((1e3 * (time.perf_counter() - start), 1e3 * (time.process_time() - work_before)))
        images["polyfly"] = picture("frame")
        errors = {program: rmse(image, truths.get(program.split(",")[0], truths["polyfly"])) for program, image in images.items()}
        for program, taken in times.items():
            ms, cores = map(statistics.median, zip(*taken[1:]))
            equal = cores * (errors[program] / errors["polyfly"]) ** 2
            print(f"| {name} | {program} | {samples} | {errors[program]:.5f} | {images[program].mean():.5f} | {ms:.0f} | {cores:.0f} | {equal:.0f} |", flush=True)
