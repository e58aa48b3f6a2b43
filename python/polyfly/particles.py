"""Particles as arrays: figures for print and notebooks, and films, without a file between."""

import numpy as np

from . import _polyfly

_POSITIONS = [("x", "y", "z"), ("pos_x", "pos_y", "pos_z"), ("px", "py", "pz"), ("points:0", "points:1", "points:2")]
_RADII = ("radius", "radii", "r")
_DIAMETERS = ("diameter", "diameters", "d")
_OF_PARTICLES = ("arrows", "bonds", "columns", "cut", "map", "radii", "range", "scale", "shape", "trails")


def _array(values):
    """An array of double precision on the CPU, of what is an array to numpy, DLPack or cupy."""
    if not isinstance(values, np.ndarray):
        if hasattr(values, "detach"):  # torch
            values = values.detach().cpu()
        elif hasattr(values, "get") and hasattr(values, "__cuda_array_interface__"):  # cupy
            values = values.get()
        elif hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            values = np.from_dlpack(values)
    return np.asarray(values, dtype=np.float64)


def _named(names, found):
    """The first of these names that is found, in any case, under its own spelling."""
    spelled = {str(name).lower(): name for name in found}
    return next((spelled[name] for name in names if name in spelled), None)


class Particles:
    """One time step: positions (N, 3), radii, and values with names, (N,) or (N, 3)."""

    def __init__(self, positions, radius=None, *, cell=None, periodic=(True, True, True), time=None, step=None, columns=None, **more):
        positions = _array(positions)
        if positions.ndim != 2 or positions.shape[1] not in (2, 3):
            raise ValueError(f"positions have the shape {positions.shape}; expected (N, 3), or (N, 2)")
        if positions.shape[1] == 2:
            positions = np.column_stack([positions, np.zeros(len(positions))])
        columns = {name: _array(values) for name, values in {**(columns or {}), **more}.items()}
        if radius is None:
            name, twice = _named(_RADII, columns), False
            if name is None:
                name, twice = _named(_DIAMETERS, columns), True
            if name is None:
                raise ValueError("the particles have no radius: give one, a number or (N,)")
            radius = columns[name] / 2 if twice else columns[name]
        self.positions, self.columns = positions, columns
        self.radii = np.broadcast_to(_array(radius), len(positions))
        for name, values in columns.items():
            if values.ndim not in (1, 2) or len(values) != len(positions):
                raise ValueError(f"{name} has the shape {values.shape}; expected ({len(positions)},) or ({len(positions)}, 3)")
        self.cell, self.periodic, self.time, self.step = cell, periodic, time, step

    def __len__(self):
        return len(self.positions)

    def __repr__(self):
        return f"<polyfly.Particles {len(self)}: {', '.join(['x', 'y', 'z', 'radius', *self.columns])}>"

    @classmethod
    def of(cls, given, radius=None, **columns):
        """Particles of arrays, of a table (pandas, polars, pyarrow), or of what ASE, pyvista, OVITO and MDAnalysis hold."""
        if isinstance(given, Particles):
            if radius is None and not columns:
                return given
            facts = {"cell": given.cell, "periodic": given.periodic, "time": given.time, "step": given.step}
            return cls(given.positions, given.radii if radius is None else radius, columns={**given.columns, **columns}, **facts)
        read = next((read for is_it, read in _KINDS if is_it(given)), None)
        if read is None:
            return cls(given, radius, columns=columns)
        positions, own, found, facts = read(given)
        return cls(positions, own if radius is None else radius, columns={**found, **columns}, **facts)

    def _native(self):
        """What the renderer takes."""
        def arrays():
            yield "position", self.positions.tobytes()
            yield "radius", self.radii.tobytes()
            for name, values in self.columns.items():
                parts = [values] if values.ndim == 1 else list(values.T)
                names = [name] if len(parts) == 1 else [f"{name}.{axis}" for axis in ("xyz" if len(parts) < 4 else range(len(parts)))]
                for part_name, part in zip(names, parts):
                    yield part_name, part.tobytes()

        cell = None
        if self.cell is not None:
            cell = [float(x) for x in _array(self.cell).ravel()], [bool(x) for x in self.periodic]
        return _polyfly.Step(arrays(), cell, self.time, self.step)


def _of_table(table):
    names = getattr(table, "column_names", None) or getattr(table, "columns", None) or table.keys()
    columns = {str(name): np.asarray(table[name]) for name in names}
    columns = {name: values for name, values in columns.items() if values.dtype.kind in "biuf"}
    for axes in _POSITIONS:
        found = [_named((axis,), columns) for axis in axes]
        if None not in found[:2]:
            positions = np.column_stack([columns.pop(name) for name in found if name is not None])
            return positions, None, columns, {}
    raise ValueError(f"the table has no columns x, y, z; it has {', '.join(map(str, names))}")


def _of_ase(atoms):
    from ase.data import covalent_radii

    columns = {name: values for name, values in atoms.arrays.items() if name not in ("numbers", "positions") and values.dtype.kind in "biuf"}
    columns["type"] = atoms.get_atomic_numbers()
    radii = None if _named(_RADII, columns) else covalent_radii[atoms.get_atomic_numbers()]
    cell = np.asarray(atoms.cell)
    facts = {"cell": cell, "periodic": tuple(atoms.pbc)} if cell.any() else {}
    return atoms.get_positions(), radii, columns, facts


def _of_pyvista(mesh):
    return mesh.points, None, {name: values for name, values in mesh.point_data.items() if values.dtype.kind in "biuf"}, {}


def _of_ovito(data):
    particles = data.particles
    columns = {name: np.asarray(particles[name]) for name in particles.keys() if name not in ("Position", "Color")}
    columns = {name.replace("Particle Type", "type").replace("Particle Identifier", "id"): values for name, values in columns.items()}
    facts = {} if data.cell is None else {"cell": np.asarray(data.cell)[:, :3].T, "periodic": tuple(data.cell.pbc)}
    return np.asarray(particles.positions), None, {name: values for name, values in columns.items() if values.dtype.kind in "biuf"}, facts


def _of_mdanalysis(atoms):
    columns = {}
    for name in ("radii", "masses", "charges", "velocities", "forces"):
        try:
            columns[name] = np.asarray(getattr(atoms, name))
        except (AttributeError, ValueError):  # its NoDataError is both
            pass
    return atoms.positions, None, columns, {}


_KINDS = [
    (lambda given: hasattr(given, "get_atomic_numbers"), _of_ase),
    (lambda given: hasattr(given, "point_data") and hasattr(given, "points"), _of_pyvista),
    (lambda given: hasattr(given, "particles") and hasattr(given, "cell"), _of_ovito),
    (lambda given: hasattr(given, "positions") and hasattr(given, "universe"), _of_mdanalysis),
    (lambda given: isinstance(given, dict) or hasattr(given, "column_names") or hasattr(given, "columns"), _of_table),
]


class _Steps:
    """A sequence of particles as the renderer asks for it."""

    def __init__(self, steps, columns):
        self.steps, self.columns = steps, columns

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, number):
        return Particles.of(self.steps[number], **self.columns)._native()


class _Stream:
    """Particles that come one by one. The last ones are kept, since frames ask for a step more than once."""

    in_order = True
    KEPT = 8

    def __init__(self, steps, count, columns):
        self.steps, self.count, self.columns = iter(steps), count, columns
        self.kept, self.next = {}, 0

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        while self.next <= number:
            try:
                step = next(self.steps)
            except StopIteration:
                raise IndexError(f"there is no step {number}: the steps ended after {self.next}") from None
            self.kept[self.next] = Particles.of(step, **self.columns)._native()
            self.kept.pop(self.next - self.KEPT, None)
            self.next += 1
        return self.kept[number]


class Figure:
    """A figure of particles. In a notebook it shows itself."""

    def __init__(self, scene, steps=None, *, device="auto", threads=0):
        self.scene = scene
        self._renderer = _polyfly.Renderer(scene, device=device, threads=threads, particles=steps)

    def array(self, frame=0):
        """The picture: uint8, (height, width, 3)."""
        return self._renderer.render(frame)

    def values(self, frame=0):
        """What each pixel shows: depth, normal, albedo and coverage, as `Renderer.layers` has them."""
        return self._renderer.layers(frame)

    def encode(self, ending="png", frame=0):
        """The bytes of a file: png, jpg, tif, pdf or svg."""
        return self._renderer.encode(ending, frame)

    def save(self, path, frame=0):
        """Writes the figure; the ending says how. A PDF and an SVG have the picture, and all else as text and lines."""
        path = str(path)
        data = self.encode(path.rsplit(".", 1)[-1].lower(), frame)
        with open(path, "wb") as file:
            file.write(data)

    @property
    def mappable(self):
        """The color map for matplotlib's colorbar."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import ListedColormap, Normalize

        shown = self._renderer.color_map
        if shown is None:
            raise ValueError("no value selects the color")
        (low, high), colors = shown
        return ScalarMappable(norm=Normalize(low, high), cmap=ListedColormap(colors))

    def _repr_png_(self):
        return self.encode("png")


def _is_path(given):
    return isinstance(given, str) or hasattr(given, "__fspath__")


def _figure(given, radius, color, label, keys, columns):
    """The scene of a figure, and the columns that are arrays."""
    is_path = _is_path(given)
    columns = dict(columns or {})
    if color is not None and not isinstance(color, str):
        columns["color"], color = color, "color"
    if is_path:
        if radius is not None:
            keys = {"radius": radius, **keys}
        if columns:
            raise ValueError("columns beside a file: name a column of the file, or an expression of them")
    set_ = {"particles.path": str(given) if is_path else "arrays"}
    if color is not None:
        set_["particles.color_by"] = color
    if label is not None:
        set_["figure.label"] = label
    of_particles = (*_OF_PARTICLES, *(("radius",) if is_path else ()))
    set_ |= {(name if "." in name else ("particles." if name in of_particles else "figure.") + name): value for name, value in keys.items()}
    scene = _polyfly.figure_scene(list(set_.items()))
    return scene, columns


def show(particles, radius=None, *, color=None, label=None, shape=None, orientation=None, columns=None, device="auto", threads=0, **keys):
    """A figure of particles: of arrays, of a table, of what ASE, pyvista, OVITO or MDAnalysis hold, or of a file.

    `color` is an array, the name of a column, or an expression of columns. `shape` is a solid's name, "capsule", "cylinder", or the corners (M, 3) of a convex body in
    the unit of the positions, which a radius scales; `orientation` has a quaternion for each particle, (N, 4): w, x, y, z. Other keywords
    are keys of `[figure]` and `[particles]`: `view="+x"`, `width="170 mm"`, `dpi=600`, `title="(a)"`, `scale_bar="mm"`, `map="magma"`, `range=[0, 1]`, `bonds={"cutoff": 1}`, `arrows={"by": "v"}`, `trails={"steps": 20}`, `cut=[{"normal": [0, -1, 0]}]`, `style="plain"`; and any key
    of a scene with its table: `**{"render.samples": 9}`."""
    if shape is not None:
        is_named = isinstance(shape, (str, dict))
        keys = {"shape": shape if is_named else _array(shape).tolist(), **keys}
        if not is_named and not _is_path(particles):
            radius, keys = (1.0, keys) if radius is None else (radius, {"columns": {"radius": "radius"}, **keys})
    if orientation is not None:
        columns = {**(columns or {}), "orientation": orientation}
    scene, columns = _figure(particles, radius, color, label, keys, columns)
    steps = None if _is_path(particles) else _Steps([Particles.of(particles, radius, **columns)], {})
    return Figure(scene, steps, device=device, threads=threads)


def film(steps, path, *, color=None, label=None, radius=None, fps=30, frames=None, device="auto", threads=0, progress=None, **keys):
    """A film of time steps into `path`, or pictures where its name has `%d`. `steps` is a sequence of what `show` takes, asked for one by one; an
    iterator, of which with `frames`, their number, a few are in memory at a time, and without it all; or the name of a series of files, or of a file
    with many steps, with `frames` as their number. Of an iterator the first step frames the picture and gives the range of the map."""
    is_path = _is_path(steps)
    is_stream = not is_path and not hasattr(steps, "__getitem__")
    if is_stream and frames is None:
        steps, is_stream = list(steps), False
    keys = {"output.frames": frames or (1 if is_path else len(steps)), "output.fps": fps, **keys}
    scene, columns = _figure(steps if is_path else None, radius if is_path else None, color, label, keys, None)
    if columns:
        raise ValueError("color is an array: each step has its own, so name it in `Particles`")
    given = {} if radius is None or is_path else {"radius": radius}
    source = None if is_path else _Stream(steps, frames, given) if is_stream else _Steps(steps, given)
    renderer = _polyfly.Renderer(scene, device=device, threads=threads, particles=source)
    return renderer.animate(path, progress=progress)
