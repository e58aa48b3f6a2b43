"""Figures of particles by polyfly, OVITO and PyVista: the same packing, picture size and view, one after the other. Whole programs, from start to
picture: wall time, CPU time of all cores, and peak memory; the median of TURNS (3).

Usage: particles.py POLYFLY WORK COUNT...      (Python with numpy, ovito and pyvista)"""

import os
import statistics
import subprocess
import sys
import time

OVITO = """
import sys, ovito
from ovito.io import import_file
from ovito.vis import TachyonRenderer, Viewport
file, picture, size, samples = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
pipeline = import_file(file)
pipeline.add_to_scene()
from ovito.modifiers import ColorCodingModifier
pipeline.modifiers.append(ColorCodingModifier(property="p"))
view = Viewport(type=Viewport.Type.Ortho, camera_dir=(-1, 1, -0.7))
view.zoom_all(size=(size, size))
renderer = TachyonRenderer(ambient_occlusion=samples > 0, ambient_occlusion_samples=max(samples, 1), antialiasing=True, antialiasing_samples=4, shadows=False)
view.render_image(size=(size, size), filename=picture, renderer=renderer)
"""
PYVISTA = """
import sys, pyvista as pv
file, picture, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
points = pv.read(file)
plot = pv.Plotter(off_screen=True, window_size=(size, size))
actor = plot.add_mesh(points, scalars="p", style="points_gaussian", render_points_as_spheres=True, emissive=False, cmap="viridis")
actor.mapper.scale_factor = float(points["radius"].mean())
plot.view_isometric()
plot.screenshot(picture)
"""

polyfly, work, *counts = sys.argv[1:]
turns = int(os.environ.get("TURNS", "3"))
SIZE = 800


def measured(words):
    start = time.perf_counter()
    with open(f"{work}/log", "w") as log:
        child = subprocess.Popen(words, stdout=log, stderr=log)
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{words}: {open(f'{work}/log').read()}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def row(count, what, words):
    runs = [measured(words) for _ in range(turns)]
    wall, cores, memory = map(statistics.median, zip(*runs))
    print(f"| {count} | {what} | {wall:.2f} | {cores:.2f} | {memory:.0f} |", flush=True)


print("| particles | program | wall s | CPU s | peak MB |\n|---|---|---|---|---|")
for count in counts:
    dump, vtp = f"{work}/p.dump", f"{work}/p.vtp"
    for file in (dump, vtp):
        subprocess.run([polyfly, "particles", "generate", count, file, "--overwrite"], check=True, stdout=subprocess.DEVNULL)
    own = [polyfly, "figure", dump, "-o", f"{work}/ours.png", "--overwrite", "--cpu", "--color-by", "p", "--set", f"output.size=[{SIZE}, {SIZE}]", "--set", "render.samples=2"]
    row(count, "polyfly, plain", [*own, "--style", "plain"])
    row(count, "polyfly, occlusion of 16 rays", [*own, "--style", "journal", "--set", "render.ao_samples=4"])
    python = [sys.executable, "-c"]
    row(count, "OVITO, Tachyon, plain", [*python, OVITO, dump, f"{work}/ovito.png", str(SIZE), "0"])
    row(count, "OVITO, Tachyon, occlusion of 12 rays", [*python, OVITO, dump, f"{work}/ovito-ao.png", str(SIZE), "12"])
    row(count, "PyVista, gaussian points", [*python, PYVISTA, vtp, f"{work}/pyvista.png", str(SIZE)])
