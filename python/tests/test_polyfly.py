"""The wheel against the program: the same bytes, and errors that say what is wrong."""

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import weakref

import numpy as np
import polyfly

PROGRAM = os.environ["POLYFLY"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = subprocess.run([PROGRAM, "--default", "toml"], check=True, capture_output=True, text=True).stdout


def by_program(scene, frame, *flags):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x.data")
        command = [PROGRAM, scene, "--cpu", "-q", "--frames", str(frame), "-o", path, *flags]
        subprocess.run(command, check=True, capture_output=True)
        data = path.read_bytes()
    width, height = np.frombuffer(data, "<i4", 2)
    return np.frombuffer(data, np.uint8, offset=8).reshape(height, width, 4)


def programs_of_the_document():
    return re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.M | re.S)


class Wheel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scene = pathlib.Path(folder.name, "scene.toml")
        self.scene.write_text(SAMPLE)

    def test_pictures_are_the_programs(self):
        picture = polyfly.render(self.scene, 7, size=(96, 72), samples=2)
        self.assertEqual((picture.shape, picture.dtype), ((72, 96, 3), np.uint8))
        picture[0, 0] = picture[0, 0]  # it may be written to
        expected = by_program(self.scene, 7, "--size", "96x72", "--samples", "2")
        expected = expected[:, :, :3]
        np.testing.assert_array_equal(picture, expected)
        np.testing.assert_array_equal(polyfly.render(SAMPLE, 7, size=(96, 72), samples=2), expected)
        np.testing.assert_array_equal(polyfly.render(str(self.scene), 7, size=(96, 72), samples=2, threads=1), expected)

    def test_samples_are_those_of_the_flag(self):
        self.scene.write_text(SAMPLE.replace("[render]", '[render]\nintegrator = "path"') if "[render]" in SAMPLE
                              else SAMPLE + '\n[render]\nintegrator = "path"\n')
        picture = polyfly.render(self.scene, 7, size=(48, 36), samples=3)
        expected = by_program(self.scene, 7, "--size", "48x36", "--samples", "3")
        np.testing.assert_array_equal(picture, expected[:, :, :3])

    def test_what_is_seen_through_has_alpha(self):
        text = SAMPLE.replace("[sky]", "[sky]\ntransparent = true") if "[sky]" in SAMPLE else SAMPLE + "\n[sky]\ntransparent = true\n"
        # All samples of a pixel count alike in its alpha.
        self.scene.write_text(text.replace("shutter = 0.5", "shutter = 0"))
        picture = polyfly.render(self.scene, 7, size=(48, 36), samples=2)
        self.assertEqual(picture.shape, (36, 48, 4))
        self.assertLess(picture[:, :, 3].min(), 255)
        np.testing.assert_array_equal(picture, by_program(self.scene, 7, "--size", "48x36", "--samples", "2"))

    def test_the_documents_programs_run(self):
        # `test_the_fixture_of_pytest` runs the third.
        animation, whole_run, _, particles = programs_of_the_document()
        scene = animation.split("\nrenderer = ")[0]
        # Small pictures, and few of them.
        def small(program):
            program = program.replace("size=(640, 360)", "size=(32, 18)").replace('frames="0-99x5"', 'frames="0-4x2"')
            return program.replace("polyfly.run(scene, ", 'polyfly.run(scene, frames="0-2", ')
        for program, frames in [(animation, "out"), (scene + whole_run, "frames")]:
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "scenes").mkdir()
                pathlib.Path(folder, "scenes/solids.toml").write_bytes((ROOT / "scenes/solids.toml").read_bytes())
                run = subprocess.run([sys.executable, "-c", small(program)], cwd=folder, capture_output=True, text=True)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(len(list(pathlib.Path(folder, frames).glob("*.png"))), 3)
                self.assertTrue(pathlib.Path(folder, "clip.mp4").exists() and len(run.stdout.splitlines()) == 3, run.stdout)

        with tempfile.TemporaryDirectory() as folder:
            fewer = particles.replace('title="(a)"', 'title="(a)", dpi=40').replace("dpi=150", "dpi=40").replace("0.02, columns", "0.02, dpi=40, columns")
            subprocess.run([sys.executable, "-c", fewer], cwd=folder, check=True)
            self.assertTrue(pathlib.Path(folder, "figure.pdf").read_bytes().startswith(b"%PDF"))
            self.assertTrue(all(pathlib.Path(folder, name).exists() for name in ("growth.mp4", "links.png", "turn.mp4")))

    def test_arrays_are_the_figure_of_a_file(self):
        generator = np.random.default_rng(5)
        x, r, p = generator.random((300, 3)) * 4, generator.uniform(0.1, 0.2, 300), generator.random(300) * 1000
        keys = {"label": "Pressure (Pa)", "width": "60 mm", "dpi": 60, "map": "magma"}
        with tempfile.TemporaryDirectory() as folder:
            file, png = pathlib.Path(folder, "p.csv"), pathlib.Path(folder, "fig.png")
            rows = [",".join(map(repr, map(float, [*position, radius, value]))) for position, radius, value in zip(x, r, p)]
            file.write_text("x,y,z,r,p\n" + "\n".join(rows) + "\n")
            set_ = [word for key, value in [("figure.dpi", "60"), ("particles.map", "'magma'")] for word in ("--set", f"{key}={value}")]
            subprocess.run([PROGRAM, "figure", file, "-o", png, "--color-by", "p", "--label", "Pressure (Pa)", "--width", "60 mm", *set_],
                           check=True, capture_output=True)
            of_file = polyfly.show(file, color="p", **keys)
            pixels = of_file.array()
            of_file.save(pathlib.Path(folder, "own.png"))
            # The files differ in their texts, which name the scene: their pixels follow after the last of these.
            pixels_of = lambda path: path.read_bytes().split(b"IDAT", 1)[1]
            self.assertEqual(pixels_of(png), pixels_of(pathlib.Path(folder, "own.png")))
        table = {"x": x[:, 0], "y": x[:, 1], "z": x[:, 2], "radius": r, "p": p}
        atoms = type("Mesh", (), {"points": x, "point_data": {"radius": r, "p": p}})
        for given in [dict(particles=x, radius=r, color=p), dict(particles=x.tolist(), radius=r, columns={"p": p}, color="p"),
                      dict(particles=table, color="p"), dict(particles=np.asfortranarray(x), radius=r, color=np.column_stack([p, p])[:, 0]),
                      dict(particles=atoms, color="p"), dict(particles=polyfly.Particles(x, r, p=p), color="2*p/2")]:
            np.testing.assert_array_equal(polyfly.show(**given, **keys).array(), pixels)
        (low, high), colors = polyfly.show(x, r, color=p, **keys)._renderer.color_map
        self.assertEqual((low, high, len(colors)), (p.min(), p.max(), 256))

    def test_polyhedra_are_arrays_of_corners_and_quaternions(self):
        x = np.array([[0.0, 0, 0], [1.5, 0, 0], [0, 1.5, 0]])
        q = np.array([[1.0, 0, 0, 0], [0.9, 0.1, 0.2, 0.3], [0.5, 0.5, -0.5, 0.5]])
        corners = np.concatenate([np.eye(3), -np.eye(3)]) * 0.6
        keys = {"color": [1.0, 2, 3], "width": "40 mm", "dpi": 60, "orientation": q}
        octahedra = polyfly.show(x, shape=corners, **keys).array()
        np.testing.assert_array_equal(octahedra, polyfly.show(x, 0.6, shape="octahedron", **keys).array())
        np.testing.assert_array_equal(octahedra, polyfly.show(x, 0.6, shape=corners * 7, **keys).array())
        for other in (polyfly.show(x, 0.6, **keys), polyfly.show(x, 0.6, shape="octahedron", **{**keys, "orientation": None})):
            self.assertTrue((other.array() != octahedra).any())
        rounded = polyfly.show(x, shape={"vertices": corners.tolist(), "rounding": 0.1}, radius=0.7, **keys)
        self.assertTrue((rounded.array() != octahedra).any())
        with self.assertRaisesRegex(ValueError, "not all in a plane"):
            polyfly.show(x, shape=corners[[0, 1, 3]], **keys)

    def test_bonds_arrows_cuts_and_trails_are_those_of_a_scene(self):
        x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1.5, 0], [1, 1.5, 0.5]])
        v = np.array([[0.0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, -1]])
        keys = {"width": "30 mm", "dpi": 60, "view": "+z", "columns": {"v": v, "id": [4.0, 3, 2, 1]}}
        plain = polyfly.show(x, 0.4, **keys).array()
        with tempfile.TemporaryDirectory() as folder:
            rows = [",".join(map(repr, map(float, [*p, 0.4, *w, 4 - i]))) for i, (p, w) in enumerate(zip(x, v))]
            file = pathlib.Path(folder, "p.csv")
            file.write_text("x,y,z,r,v.x,v.y,v.z,id\n" + "\n".join(rows) + "\n")
            of_file = {key: value for key, value in keys.items() if key != "columns"}
            for more in [{"bonds": {"cutoff": 1.2, "radius": 0.1}}, {"arrows": {"by": "v", "scale": 0.8, "color": "black"}},
                         {"cut": [{"point": [0, 0.1, 0], "normal": [0, -1, 0]}]}]:
                picture = polyfly.show(x, 0.4, **more, **keys).array()
                self.assertTrue((picture != plain).any(), more)
                np.testing.assert_array_equal(picture, polyfly.show(file, **more, **of_file).array())
            # One step has no steps before it. Particles are known by their ids, so the same places in another order are no way.
            np.testing.assert_array_equal(polyfly.show(x, 0.4, trails={"steps": 3}, **keys).array(), plain)
            def film(name, steps, **more):
                steps = [polyfly.Particles(place, 0.4, id=ids) for place, ids in steps]
                polyfly.film(steps, pathlib.Path(folder, name + "%d.ppm"), width="30 mm", dpi=60, view="+z", **more)
                return [pathlib.Path(folder, f"{name}{i}.ppm").read_bytes() for i in range(len(steps))]
            ids = np.array([4.0, 3, 2, 1])
            resting = [(x, ids), (x[::-1], ids[::-1])]
            self.assertEqual(film("a", resting, trails={"steps": 3}), film("b", resting))
            moving = [(x, ids), (x + [2.0, 0, 0], ids)]
            first, second = zip(film("c", moving, trails={"where": "id == 4"}), film("d", moving))
            self.assertTrue(first[0] == first[1] and second[0] != second[1])

    def test_faults_of_arrays_are_told(self):
        x = np.zeros((4, 3))
        for message, make in [(r"shape \(4, 5\)", lambda: polyfly.show(np.zeros((4, 5)), 1)), ("no radius", lambda: polyfly.show(x)),
                              ("radius", lambda: polyfly.show(x, -1.0)), ("`hue`", lambda: polyfly.show(x, 1.0, color="hue")),
                              ("sytle|`sytle`", lambda: polyfly.show(x, 1.0, sytle="plain")), ("c has the shape", lambda: polyfly.Particles(x, 1, c=[1, 2]))]:
            with self.assertRaisesRegex((ValueError, OSError), message):
                make()
        # An exception of a step is the film's.
        class Steps(list):
            def __getitem__(self, i):
                raise LookupError("step is lost")
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(OSError, "step is lost"):
            polyfly.film(Steps([1, 2]), pathlib.Path(folder, "a.mp4"))

    def test_steps_of_a_generator_are_not_kept(self):
        x = np.random.default_rng(2).random((50, 3))
        asked, alive = [], []
        def steps(count):
            for i in range(count):
                asked.append(i)
                step = polyfly.Particles(x * (1 + 0.01 * i), 0.05, p=x[:, 0])
                alive.append(weakref.ref(step))
                yield step
                del step
        with tempfile.TemporaryDirectory() as folder:
            def frames(name, steps, **more):
                report = polyfly.film(steps, pathlib.Path(folder, name + "%d.ppm"), color="p", width="20 mm", dpi=100, view="+z", **more)
                return [pathlib.Path(folder, f"{name}{i}.ppm").read_bytes() for i in range(report["frames"])]
            all = frames("a", steps(12), frames=12)
            self.assertEqual((len(all), asked, sum(ref() is not None for ref in alive)), (12, list(range(12)), 0))
            self.assertEqual(len(set(all)), 12)
            # Without the number of frames all are read, and frame the picture together.
            self.assertEqual(len(frames("b", steps(2))), 2)
            with self.assertRaisesRegex(OSError, "the steps ended after 3"):
                frames("c", steps(3), frames=5)
            with self.assertRaisesRegex(OSError, "they come one by one"):
                frames("d", steps(3), frames=3, range="film")

    def test_a_large_step_is_copied_once(self):
        script = """
import resource, sys
import numpy as np, polyfly
n = int(sys.argv[1])
x = np.random.default_rng(1).random((n, 3))
p = x[:, 0].copy()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
polyfly.show(x, 0.4 / n ** (1 / 3), color=p, width="10 mm", dpi=100).array()
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""
        peak = lambda n: int(subprocess.run([sys.executable, "-c", script, str(n)], check=True, capture_output=True, text=True).stdout)
        each = (peak(400_000) - peak(100_000)) / 300_000
        print(f"{each:.0f} bytes a grain beside the arrays")
        self.assertLess(each, 400)

    def test_the_notebook_runs(self):
        cells = json.loads((ROOT / "docs/particles.ipynb").read_text())["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        names = {}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for cell in code:
                exec(cell, names)
            self.assertTrue(pathlib.Path("figure.pdf").read_bytes().startswith(b"%PDF"))
            self.assertEqual(names["report"]["frames"], len(list(pathlib.Path().glob("growth*.png"))))
        self.assertTrue(names["figure"]._repr_png_().startswith(b"\x89PNG"))

    def test_linear_light_is_brighter_than_white(self):
        light = polyfly.render_linear(self.scene, 0, size=(64, 48), samples=1)
        self.assertEqual((light.shape, light.dtype), ((48, 64, 3), np.float32))
        self.assertTrue(np.isfinite(light).all() and light.min() >= 0 and light.max() > 1)

    def test_tokens_are_read_too(self):
        tokens = subprocess.run([PROGRAM, "--default"], check=True, capture_output=True, text=True).stdout
        a, b = (polyfly.render(text, 3, size=(40, 30), samples=1) for text in (tokens, SAMPLE))
        np.testing.assert_array_equal(a, b)

    def test_faults_have_places(self):
        self.assertEqual(polyfly.check(SAMPLE), [])
        faults = polyfly.check("[camera]\nfov_deg = 200\nfovdeg = 3\n")
        self.assertEqual([(f["line"], f["column"]) for f in faults], [(2, 11), (3, 1)])
        self.assertEqual(faults[1]["expected"], "did you mean `fov_deg`?")
        with self.assertRaisesRegex(ValueError, "fov_deg"):
            polyfly.render("[camera]\nfov_deg = 200\n")

    def test_what_is_not_there_is_told(self):
        with self.assertRaisesRegex(OSError, "none.toml"):
            polyfly.render("none.toml")
        with self.assertRaisesRegex(ValueError, "frames 0-599"):
            polyfly.render(self.scene, 600, size=(8, 8))
        with self.assertRaisesRegex(ValueError, "expected \"cpu\""):
            polyfly.render(self.scene, device="abacus")
        with self.assertRaisesRegex(OSError, "gone.png"):
            polyfly.render(SAMPLE.replace("@checker", "gone.png"), size=(8, 8))
        with self.assertRaises(ValueError):
            polyfly.render(self.scene, size=(0, 8))

    def test_other_threads_run_meanwhile(self):
        turns = []
        done = threading.Event()

        def turn():
            while not done.is_set():
                turns.append(1)
                done.wait(0.001)

        thread = threading.Thread(target=turn)
        thread.start()
        before = len(turns)
        polyfly.render(self.scene, 300, size=(480, 360), samples=2)
        after = len(turns)
        done.set()
        thread.join()
        self.assertGreater(after, before + 2)


    def test_a_renderer_is_kept(self):
        renderer = polyfly.Renderer(self.scene, size=(64, 48), samples=1)
        for frame in (0, 7, 0):
            np.testing.assert_array_equal(renderer.render(frame), polyfly.render(self.scene, frame, size=(64, 48), samples=1))
        layers = renderer.layers(7)
        np.testing.assert_array_equal(layers["color"], renderer.render_linear(7))
        self.assertEqual({name: layer.shape[2:] for name, layer in layers.items()},
                         {"color": (3,), "albedo": (3,), "normal": (3,), "depth": (), "coverage": (), "samples": ()})
        self.assertTrue((layers["samples"] == 1).all() and layers["depth"].min() > 0)

    def test_scenes_are_changed_by_key(self):
        scene = polyfly.Scene(self.scene, size=(40, 30), samples=1)
        self.assertEqual((scene.size, scene.frames), ((40, 30), 600))
        before = polyfly.render(scene)
        brighter = scene.copy()
        brighter.set("film.exposure", 2)
        self.assertGreater(polyfly.render(brighter).mean(), before.mean() + 5)
        np.testing.assert_array_equal(polyfly.render(scene), before)
        np.testing.assert_array_equal(polyfly.render(brighter.to_toml()), polyfly.render(brighter))
        with self.assertRaisesRegex(ValueError, "exposures"):
            scene.set("film.exposures", 2)

    def test_frames_go_to_functions_files_and_videos(self):
        folder = self.scene.parent
        renderer = polyfly.Renderer(self.scene, size=(64, 48), samples=1)
        seen, reported = {}, []
        report = renderer.animate(seen.__setitem__, folder / "f%d.data", folder / "clip.y4m", frames="0-2",
                                  progress=lambda *each: reported.append(each))
        self.assertEqual(list(seen), [0, 1, 2])
        self.assertEqual(reported, [(0, 1, 3), (1, 2, 3), (2, 3, 3)])
        self.assertEqual((report["frames"], [pathlib.Path(f) for f in report["files"]]), (3, [folder / "clip.y4m"]))
        np.testing.assert_array_equal(seen[2], renderer.render(2))
        data = (folder / "f1.data").read_bytes()
        self.assertEqual(data[8:], by_program(self.scene, 1, "--size", "64x48", "--samples", "1").tobytes())
        self.assertEqual((folder / "clip.y4m").read_bytes().count(b"FRAME"), 3)

    def test_runs_are_resumed(self):
        pattern = self.scene.parent / "out" / "%03d.png"
        def run(**more):
            return polyfly.run(self.scene, output=pattern, size=(48, 36), samples=1, frames=range(6), **more)
        class Enough(Exception):
            pass
        def stop(_frame, done, _total):
            if done == 2:
                raise Enough
        with self.assertRaises(Enough):
            run(progress=stop)
        whole = len(list(pattern.parent.glob("*.png")))
        self.assertTrue(2 <= whole <= 6)
        if whole:
            with self.assertRaisesRegex(ValueError, "already exists"):
                run()
        report = run(resume=True)
        self.assertEqual((report["frames"], len(list(pattern.parent.glob("*.png")))), (6 - whole, 6))
        self.assertEqual(run(overwrite=True)["frames"], 6)

    def test_exceptions_of_sinks_are_raised(self):
        def sink(frame, _picture):
            raise KeyError(f"frame {frame}")
        renderer = polyfly.Renderer(self.scene, size=(32, 24), samples=1)
        with self.assertRaisesRegex(KeyError, "frame 0"):
            renderer.animate(sink, frames=[0, 1])
        self.assertEqual(renderer.render(1).shape, (24, 32, 3))

    def test_golden_hashes_are_those_of_the_program(self):
        folder = self.scene.parent
        with self.assertRaises(OSError):
            polyfly.Renderer(self.scene, size=(32, 24), samples=1).golden(folder / "none.txt")
        renderer = polyfly.Renderer(self.scene, size=(32, 24), samples=1)
        self.assertEqual(renderer.golden(folder / "golden.txt", frames=[0, 3], bless=True), {})
        self.assertEqual(renderer.golden(folder / "golden.txt"), {})
        flags = ["--cpu", "-q", "--size", "32x24", "--samples", "1", "--frames", "0,3", "--hash"]
        printed = subprocess.run([PROGRAM, self.scene, *flags], check=True, capture_output=True, text=True).stdout
        self.assertEqual((folder / "golden.txt").read_text().split("\n", 1)[1], printed)
        other = polyfly.Renderer(self.scene, size=(32, 24), samples=2)
        self.assertEqual(list(other.golden(folder / "golden.txt")), [0, 3])

    @unittest.skipUnless(importlib.util.find_spec("pytest"), "pytest is not installed")
    def test_the_fixture_of_pytest(self):
        folder = self.scene.parent
        _, _, test, _ = programs_of_the_document()
        test = test.replace("size=(160, 120)", "size=(32, 24), samples={}")
        (folder / "cube.toml").write_bytes(self.scene.read_bytes())
        def pytest(samples, *flags):
            (folder / "test_it.py").write_text(test.format(samples))
            # The plugin is found by its entry point where the wheel is installed.
            named = [] if any(point.value == "polyfly.pytest_plugin" for point in importlib.metadata.entry_points(group="pytest11")) else ["-p", "polyfly.pytest_plugin"]
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *named, *flags, "test_it.py"]
            return subprocess.run(command, cwd=folder, capture_output=True, text=True)
        self.assertEqual(pytest(1, "--polyfly-bless").returncode, 0)
        self.assertEqual(pytest(1).returncode, 0)
        wrong = pytest(2)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("frames [0, 30] of test_cube.txt have other pixels", wrong.stdout)

    def test_ctrl_c_interrupts_at_once(self):
        # Minutes of work: only the interruption ends it.
        script = f"import polyfly; print('ready', flush=True); polyfly.render({str(self.scene)!r}, size=(4096, 4096), samples=16)"
        for _ in range(2):
            process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            process.stdout.readline()
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
            self.assertIn("KeyboardInterrupt", errors)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
