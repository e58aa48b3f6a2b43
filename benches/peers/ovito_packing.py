"""A packing of balls beside OVITO's Tachyon renderer, for benches/record: 800x800, one ray a pixel, a light and no occlusion. Both take turns; both
times hold the tree. polyfly's work of all cores is that of its whole process, with its start, reading and writing.

Usage: ovito_packing.py POLYFLY WORK COUNT...      (TURNS in the environment may be another)"""

import csv
import os
import re
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
import ovito
from ovito.data import DataCollection
from ovito.pipeline import Pipeline, StaticSource
from ovito.vis import TachyonRenderer, Viewport

polyfly, work, *counts = sys.argv[1:]
turns = int(os.environ.get("TURNS", "3"))
print(f"OVITO {ovito.version_string}\n\n| balls | program | ms | ms of all cores |\n|---|---|---|---|")
for count in counts:
    file = f"{work}/packing.csv"
    subprocess.run([polyfly, "particles", "generate", count, file], check=True, stdout=subprocess.DEVNULL)
    with open(file) as f:
        rows = list(csv.DictReader(f))
    data = DataCollection()
    particles = data.create_particles(count=len(rows))
    particles.create_property("Position", data=np.array([[float(row[axis]) for axis in "xyz"] for row in rows]))
    particles.create_property("Radius", data=np.array([float(row["r"]) for row in rows]))
    Pipeline(source=StaticSource(data=data)).add_to_scene()
    view = Viewport(type=Viewport.Type.Perspective, camera_dir=(-1, 2, -1))
    view.zoom_all(size=(800, 800))
    renderer = TachyonRenderer(ambient_occlusion=False, antialiasing=False, shadows=False)
    ours, theirs = [], []
    for _ in range(turns + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run([polyfly, "particles", "CPU", file, "800", "800", f"{work}/packing.data"], check=True, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times = dict(re.findall(r"(tree|render) ([0-9.]+) ms", said.stdout + said.stderr))
        cores = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        ours.append((float(times["tree"]) + float(times["render"]), 1e3 * cores))
        start, work_before = time.perf_counter(), time.process_time()
        view.render_image(size=(800, 800), filename=f"{work}/packing.png", renderer=renderer)
        theirs.append((1e3 * (time.perf_counter() - start), 1e3 * (time.process_time() - work_before)))
    for program, runs in [("polyfly", ours), ("OVITO, Tachyon", theirs)]:
        ms, cores = map(statistics.median, zip(*runs[1:]))
        print(f"| {len(rows)} | {program} | {ms:.0f} | {cores:.0f} |", flush=True)
    for pipeline in list(ovito.scene.pipelines):
        pipeline.remove_from_scene()
