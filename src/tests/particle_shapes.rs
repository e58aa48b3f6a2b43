//! Particles of other shapes than spheres are drawn as bodies and ellipsoids of a scene are.

use super::common::*;
use crate::assets::Assets;
use crate::assets::files::Files;
use crate::assets::particles::ColouredSpheres;
use crate::assets::particles::shape::{Polyhedron, Shape};
use crate::math::vec3::{Vec3, normalise, scale};
use crate::scene::{ParseOptions, Scene, Solid};
use std::fmt::Write;
use std::path::Path;

const AROUND: &str = "[camera]\nposition = [7, -5, 4]\nlook_at = [0, 0, 0]\nfov_deg = 45\n[[light]]\nposition = [5, -4, 6]\n\
    [floor]\ncorners = [[-6, -6, -2], [-6, 6, -2], [6, 6, -2], [6, -6, -2]]\ntexture = \"@checker\"\n";
const MATERIALS: [&str; 3] =
    ["color = \"tomato\"", "color = \"teal\"\nreflection = 0.4\ntransparency = 0.4", "material = \"glass\""];

fn scene(dir: &Path, things: &str) -> Scene {
    let head = "[output]\nsize = [80, 60]\n[render]\nsamples = 2\ndepth = 6\n";
    let options = ParseOptions { folder: dir, ..ParseOptions::default() };
    crate::scene::parse(&format!("{head}{AROUND}{things}"), "shapes.toml", options)
        .unwrap_or_else(|e| panic!("{e}"))
        .scene
}

// Where a particle lies, its axis and its angle.
fn pose(i: usize) -> (Vec3, Vec3, f64) {
    let f = i as f64;
    ([-2.2 + 1.1 * f, 1.5 - 0.75 * f, -0.9 + 0.3 * f], normalise([1.0, 0.3 * f, -0.5 + 0.2 * f]), 25.0 + 50.0 * f)
}
fn quaternion((_, axis, angle): (Vec3, Vec3, f64)) -> [f64; 4] {
    let half = angle.to_radians() / 2.0;
    let [x, y, z] = scale(axis, libm::sin(half));
    [libm::cos(half), x, y, z]
}
// A table of five particles with a radius and three numbers each.
fn table(dir: &Path, columns: &str, radius: f64, numbers: impl Fn(usize) -> [f64; 3]) {
    let mut text = format!("x,y,z,r,qw,qx,qy,qz,{columns}\n");
    for i in 0..5 {
        let (p, q, n) = (pose(i).0, quaternion(pose(i)), numbers(i));
        let all = [&p[..], &[radius], &q, &n].concat();
        let _ = writeln!(text, "{}", all.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(","));
    }
    std::fs::write(dir.join("p.csv"), text).unwrap();
}
fn share_off(ours: &[u8], theirs: &[u8]) -> f64 {
    let differ = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 3);
    4.0 * ours.chunks(4).zip(theirs.chunks(4)).filter(|&pair| differ(pair)).count() as f64 / ours.len() as f64
}

#[test]
fn solids_of_particles_are_bodies_of_a_scene() {
    let dir = tempfile::tempdir().unwrap();
    table(dir.path(), "a,b,c", 0.8, |_| [0.0; 3]);
    for (solid, material) in
        ["tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron"].iter().zip(MATERIALS.iter().cycle())
    {
        let particles = scene(dir.path(), &format!("[particles]\npath = \"p.csv\"\nshape = \"{solid}\"\n{material}\n"));
        let body = |i: usize| {
            let (p, axis, angle) = pose(i);
            format!(
                "[[body]]\nsolid = \"{solid}\"\nbar = 0\nradius = 0.8\ncenter = {p:?}\naxis = {axis:?}\nangle_deg = {angle:?}\n{material}\n"
            )
        };
        let bodies = scene(dir.path(), &(0..5).map(body).collect::<String>());
        let (ours, theirs) = (same_on_every_set(solid, &particles, 0), render(&bodies, 0));
        assert_eq!(first_difference(&ours, &theirs, 80), None, "{solid}, {material}");
    }
}

#[test]
fn ellipsoids_of_particles_are_those_of_a_scene() {
    let dir = tempfile::tempdir().unwrap();
    let radii = |i: usize| [0.3, 0.5 + 0.1 * i as f64, 0.8];
    table(dir.path(), "shapex,shapey,shapez", 0.9, |i| radii(i).map(|r| 2.0 * r));
    let text = std::fs::read_to_string(dir.path().join("p.csv")).unwrap();
    // The sizes are those of the axes, as dumps of LAMMPS have no radius.
    std::fs::write(dir.path().join("p.csv"), text.replace(",r,", ",unused,")).unwrap();
    let particles = scene(dir.path(), "[particles]\npath = \"p.csv\"\ncolor = \"tomato\"\n");
    let one = |i: usize| {
        let ((p, axis, angle), radii) = (pose(i), radii(i));
        format!(
            "[[ellipsoid]]\ncenter = {p:?}\nradii = {radii:?}\naxis = {axis:?}\nangle_deg = {angle:?}\ncolor = \"tomato\"\n"
        )
    };
    let ellipsoids = scene(dir.path(), &(0..5).map(one).collect::<String>());
    let (ours, theirs) = (same_on_every_set("ellipsoids", &particles, 0), render(&ellipsoids, 0));
    assert_eq!(first_difference(&ours, &theirs, 80), None);
    let spheres =
        scene(dir.path(), "[particles]\npath = \"p.csv\"\ncolor = \"tomato\"\nshape = \"sphere\"\nradius = 0.5\n");
    assert!(share_off(&ours, &render(&spheres, 0)) > 0.05);
}

// Where faces meet at right angles, a rounded polyhedron is a larger body with bevels.
#[test]
fn rounded_cubes_are_cubes_with_bevels() {
    let dir = tempfile::tempdir().unwrap();
    table(dir.path(), "a,b,c", 0.1, |_| [0.0; 3]);
    let corners: Vec<Vec3> =
        crate::scene::Solid::Hexahedron.vertices().into_iter().map(|v| v.map(|x| x.signum() * 0.4)).collect();
    let keys = format!("shape = {{ vertices = {corners:?}, rounding = 0.1 }}\ncolor = \"teal\"\nreflection = 0.3");
    let particles = scene(dir.path(), &format!("[particles]\npath = \"p.csv\"\n{keys}\n"));
    let body = |i: usize| {
        let ((p, axis, angle), radius) = (pose(i), 0.5 * 3f64.sqrt());
        let look = "color = \"teal\"\nreflection = 0.3";
        format!(
            "[[body]]\nsolid = \"cube\"\nbar = 0\nbevel = {}\nradius = {radius}\ncenter = {p:?}\naxis = {axis:?}\nangle_deg = {angle:?}\n{look}\n",
            0.1 / radius
        )
    };
    let bodies = scene(dir.path(), &(0..5).map(body).collect::<String>());
    let (ours, theirs) = (same_on_every_set("rounded", &particles, 0), render(&bodies, 0));
    let off = share_off(&ours, &theirs);
    assert!(off < 0.005, "{off}");
    // The unit of length does not matter.
    let vast = scene(
        dir.path(),
        "[particles]\npath = \"p.csv\"\nshape = [[4e9, 0, 0], [0, 4e9, 0], [0, 0, 4e9], [0, 0, 0]]\n",
    );
    assert_eq!(render(&vast, 0).len(), ours.len());
    // As large as the scene says, in place of the file's unit.
    let larger = scene(dir.path(), &format!("[particles]\npath = \"p.csv\"\nradius = 1.2\n{keys}\n"));
    assert!(share_off(&ours, &render(&larger, 0)) > 0.1);
}

#[test]
fn cylinders_and_capsules_are_as_large_as_their_radii_say() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("p.csv"), "x,y,z,r,qw,qx,qy,qz\n1,0,0,2,1,1,0,0\n").unwrap();
    let rod = |shape: &str| {
        let one = scene(dir.path(), &format!("[particles]\npath = \"p.csv\"\nshape = {shape}\n"));
        Assets::load(&one, &Files::default()).unwrap().particles.unwrap().shaped.rods[0]
    };
    // A quarter turn about x: z goes where -y was.
    for (shape, half, radius, is_round) in [
        ("\"capsule\"", 1.0, 1.0, true),
        ("\"cylinder\"", 4.0 / 5f64.sqrt(), 2.0 / 5f64.sqrt(), false),
        ("{ vertices = [[0, 0, -3], [0, 0, 3]], rounding = 0.5 }", 3.0, 0.5, true),
        ("{ vertices = [[0, 0, -3], [0, 0, 3]], radius = 0.5 }", 3.0, 0.5, false),
    ] {
        let found = rod(shape);
        let expected = [[1.0, half, 0.0], [1.0, -half, 0.0]];
        let off = found.ends.as_flattened().iter().zip(expected.as_flattened()).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-12, "{shape}: {:?}", found.ends);
        let off = (found.radii[0] - radius).abs() + (found.radii[1] - radius).abs();
        assert!(off < 1e-12 && found.is_round == is_round, "{shape}: {:?}", found.radii);
    }
}

// A tree over many bodies shows what each of them shows.
#[test]
fn many_polyhedra_are_drawn_beside_bodies_and_balls() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::from("x,y,z,r,qw,qx,qy,qz,type\n");
    for i in 0..600 {
        let [x, y, z] = [(i % 10) as f64 - 4.5, (i / 10 % 10) as f64 - 4.5, (i / 100) as f64 - 1.5];
        let q = quaternion(pose(i % 17));
        let _ = writeln!(text, "{x},{y},{z},0.45,{},{},{},{},{}", q[0], q[1], q[2], q[3], i % 3);
    }
    std::fs::write(dir.path().join("p.csv"), text).unwrap();
    let more = "[[body]]\nsolid = \"icosahedron\"\ncenter = [3, -3, 3]\ntransparency = 0.5\n[[sphere]]\ncenter = [4, -1, 3]\nradius = 0.7\n";
    for how in ["", "integrator = \"path\"\n"] {
        let keys = "shape = \"octahedron\"\ncolor_by = \"type\"\nmap = \"tableau10\"\nreflection = 0.2";
        let mut one = scene(dir.path(), &format!("[particles]\npath = \"p.csv\"\n{keys}\n{more}"));
        if !how.is_empty() {
            one.render.integrator = crate::scene::Integrator::Path;
        }
        same_on_every_set("many", &one, 0);
    }
}

#[test]
fn types_of_hoomd_have_their_shapes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/particles");
    let things = "[particles]\npath = \"shapes.gsd\"\ncolor_by = \"type\"\nmap = \"tableau10\"\n";
    let shapes = scene(&folder, things);
    let assets = Assets::load(&shapes, &Files::default()).unwrap();
    let read = assets.particles.as_ref().unwrap();
    // Of 12 particles of six types, two are spheres, and two are pairs of spheres.
    assert_eq!((read.count, read.spheres.len(), read.shaped.placed.len(), read.colour_indices.len()), (12, 6, 8, 6));
    let balls: Vec<f32> = read.spheres.iter().map(|s| s.radius).collect();
    assert_eq!(balls, [0.375, 0.25, 0.25, 0.375, 0.25, 0.25]);
    let rounded = read.shaped.placed[2];
    // Round edges lie within the body of sharp edges, which reaches farther.
    let (centre, bound) = read.shaped.ball(&rounded);
    assert_eq!((centre, read.shaped.shape(&rounded).reach()), (rounded.centre, 0.725));
    assert!(0.8 < bound && bound < 0.83, "{bound}");
    let picture = same_on_every_set("shapes.gsd", &shapes, 0);
    // Polyhedra of two vertices are capsules, and the file has bonds.
    let capsules = scene(&folder, "[particles]\npath = \"bonds.gsd\"\n[particles.bonds]\nradius = 0.1\n");
    let rods = Assets::load(&capsules, &Files::default()).unwrap().particles.unwrap().shaped.rods;
    let of = |at: usize| (rods[at].ends, rods[at].radii, rods[at].is_round);
    assert_eq!((rods.len(), of(1)), (4 + 6, ([[1.5, 0.0, -0.5], [1.5, 0.0, 0.5]], [0.25; 2], true)));
    // Across the border of the box.
    assert_eq!(of(8), ([[-1.75, 0.0, 0.0], [-2.125, 0.0, 0.0]], [0.1; 2], false));
    // Spheres of two types, whatever is read of their columns.
    let two = scene(&folder, "[particles]\npath = \"spheres.gsd\"\n");
    let read = Assets::load(&two, &Files::default()).unwrap().particles.unwrap();
    assert_eq!(read.spheres.iter().map(|s| s.radius).collect::<Vec<_>>(), [0.5, 0.25]);
    let spheres = scene(&folder, &format!("{things}shape = \"sphere\"\n"));
    assert!(share_off(&picture, &render(&spheres, 0)) > 0.05);
}

#[test]
fn what_planes_cut_away_leaves_the_tree_and_the_view() {
    let dir = tempfile::tempdir().unwrap();
    let mut rows: Vec<String> = Vec::new();
    for i in 0..60 {
        let at = |axis: i32| f64::from(i * [7, 11, 23][axis as usize] % 60) / 15.0 - 2.0;
        rows.push(format!("{},{},{},0.3,{i}\n", at(0), at(1), at(2)));
    }
    std::fs::write(dir.path().join("p.csv"), format!("x,y,z,r,id\n{}", rows.concat())).unwrap();
    let cut = "[[particles.cut]]\npoint = [0.5, 0, 0]\nnormal = [2, 0, 0]\n[[particles.cut]]\npoint = [0, -0.5, 0]\nnormal = [0, -1, 0]\n";
    for shape in ["sphere", "cube", "capsule"] {
        let of = |more: &str| {
            scene(dir.path(), &format!("[particles]\npath = \"p.csv\"\ncolor = \"teal\"\nshape = \"{shape}\"\n{more}"))
        };
        let count = |scene: &Scene| {
            let read = Assets::load(scene, &Files::default()).unwrap().particles.unwrap();
            let shaped = &read.shaped;
            assert_eq!(read.spheres.len(), read.colour_indices.len());
            read.spheres.len() + shaped.placed.len() + shaped.rods.len()
        };
        let (whole, open) = (of(""), of(cut));
        assert!(count(&whole) == 60 && (10..45).contains(&count(&open)), "{shape}: {}", count(&open));
        // Those that reach across a plane stay; none of the others is seen.
        let near = of(&format!("where = \"x < 0.81 && y > -0.81\"\n{cut}"));
        assert_eq!(first_difference(&same_on_every_set(shape, &open, 0), &render(&near, 0), 80), None, "{shape}");
        let framed = |more: &str, keys: &str| {
            let scene = of(&format!("{keys}{more}[figure]\nview = \"iso\"\n"));
            renderer(&scene, crate::kernels::Isa::pick(None).unwrap(), 1).scene().camera.width
        };
        assert!(framed(cut, "") < framed("", ""), "{shape}");
        // A plane that moves may come back, and one that would leave nothing leaves all.
        let moving = cut.replacen("[0.5, 0, 0]", "{ keys = [[0, [0.5, 0, 0]], [1, [9, 0, 0]]] }", 1);
        let nothing = "[[particles.cut]]\npoint = [-9, 0, 0]\nnormal = [1, 0, 0]\n";
        assert_eq!([count(&of(&moving)), count(&of(nothing))], [60; 2], "{shape}");
    }
}

#[test]
fn the_hull_of_a_scenes_shape_is_made_once() {
    let dir = tempfile::tempdir().unwrap();
    table(dir.path(), "a,b,c", 0.8, |_| [0.0; 3]);
    let scene = scene(dir.path(), "[particles]\npath = \"p.csv\"\nshape = \"cube\"\n");
    let particles = scene.world.particles.unwrap();
    let load =
        |first: Option<&ColouredSpheres>| ColouredSpheres::load(&particles, 0, 1, first, &Files::default()).unwrap();
    let mut first = load(None);
    let whole = first.shaped.clone();
    // What other frames need stays.
    first.release();
    assert!(first.shaped.placed.is_empty() && load(Some(&first)).shaped == whole);
    first.shaped.shapes[0] = Shape::Polyhedron(Polyhedron::new(Solid::Octahedron.vertices(), 0.0).unwrap());
    assert_eq!(load(Some(&first)).shaped.shapes, first.shaped.shapes);
}
