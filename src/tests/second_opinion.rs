//! Pictures against the oracle's, and path tracing against its random walks.

use super::common::*;
use super::oracle::{Oracle, code_of};
use crate::assets::sky::SkyMap;
use crate::math::srgb::linear;
use crate::math::vec3::{add, scale};
use crate::scene::{Lamps, Scene, SkySource};
use std::fmt::Write;

// Pixels may differ where an edge passes within rounding of a sample; there must be few.
pub fn agree(name: &str, scene: &Scene, frame: u32) {
    let ours = render(scene, frame);
    let theirs = Oracle::new(scene).picture(frame);
    let mut off = 0;
    let mut total = 0.0;
    for (pixel, expected) in ours.chunks(4).zip(&theirs) {
        let worst = (0..3).map(|c| (f64::from(pixel[c]) - expected[c]).abs()).fold(0.0, f64::max);
        total += worst;
        off += usize::from(worst > 2.0);
    }
    let (share, mean) = (off as f64 / theirs.len() as f64, total / theirs.len() as f64);
    assert!(share < 0.005 && mean < 0.65, "{name}: {:.2} % off, mean {mean:.3}", 100.0 * share);
}

#[test]
fn tokens_of_the_default_scene() {
    let mut scene = sized(own("coursework.txt"), 64, 48, 1);
    // Lamp light on the floor is baked into a map, and has its own test.
    scene.world.bodies.iter_mut().for_each(|b| b.lamps = Lamps::Each(0));
    scene.render.depth = 8;
    agree("default without lamps", &scene, 7);
}

#[test]
fn lamps_in_mirrors() {
    let mut scene = sized(fixed("infinity.toml"), 48, 36, 1);
    scene.film = crate::scene::FilmSettings::default();
    scene.render.depth = 7;
    scene.render.cutoff = 0.01;
    agree("infinity", &scene, 11);
    scene.world.bodies.iter_mut().for_each(|b| b.lamps = Lamps::Strip);
    agree("infinity by strips", &scene, 11);
}

#[test]
fn refraction_and_wood() {
    let mut scene = sized(fixed("glass.toml"), 64, 36, 1);
    // The oracle supports plain surroundings only.
    scene.film = crate::scene::FilmSettings::default();
    scene.world.sky = crate::scene::Sky::default();
    scene.world.lights.iter_mut().for_each(|light| light.radius = 0.0);
    let floor = scene.world.floor.as_mut().unwrap();
    (floor.shape, floor.fade) = (crate::scene::FloorShape::Square, 0.0);
    scene.render.depth = 6;
    scene.render.cutoff = 0.01;
    agree("glass", &scene, 40);
}

// Glass without absorption is invisible in front of a uniform sky, in both integrators: the light that Fresnel's equations reflect
// is not transmitted.
#[test]
fn clear_glass_vanishes_in_an_even_sky() {
    for (integrator, thing) in [
        ("samples = 2\ncutoff = 1e-4", "[[body]]\nsolid = \"icosahedron\"\nbar = 0\n"),
        ("integrator = \"path\"\nsamples = 64", "[[body]]\nsolid = \"octahedron\"\nbar = 0\n"),
        ("integrator = \"path\"\nsamples = 64", "[[sphere]]\n"),
    ] {
        let scene = toml(&format!(
            "[output]\nframes = 1\nsize = [40, 30]\n[render]\n{integrator}\ndepth = 40\ntone = \"clip\"\nambient = [0, 0, 0]\n\
             [sky]\nzenith = [0.6, 0.6, 0.6]\nhorizon = [0.6, 0.6, 0.6]\n\
             [camera]\nposition = [3, -3, 2]\nlook_at = [0, 0, 0]\nfov_deg = 40\n{thing}color = [1, 1, 1]\nmaterial = \"glass\"\nior = 1.5\n"
        ));
        let rgba = render(&scene, 0);
        let off = rgba.chunks(4).map(|p| p[0].abs_diff(153)).max().unwrap();
        assert!(off <= 2, "{thing}: {off} codes");
    }
}

#[test]
fn all_solids_without_lamps() {
    let mut scene = sized(fixed("solids.toml"), 64, 36, 2);
    scene.world.bodies.iter_mut().for_each(|b| b.lamps = Lamps::Each(0));
    scene.render.depth = 5;
    scene.render.cutoff = 0.01;
    agree("solids", &scene, 3);
}

#[test]
fn bent_floor() {
    let mut scene = sized(own("coursework.txt"), 64, 48, 1);
    scene.world.bodies.truncate(1);
    scene.world.bodies[0].lamps = crate::scene::Lamps::Each(0);
    scene.world.floor.as_mut().unwrap().corners[0][2] = 0.4;
    scene.world.floor.as_mut().unwrap().corners[2][2] = -2.0;
    agree("bent floor", &scene, 30);
}

#[test]
fn from_far_away() {
    // At a distance of a thousand radii: rounding of the distance must not change the silhouette.
    let mut scene = sized(fixed("solids.toml"), 64, 36, 1);
    scene.world.bodies.iter_mut().for_each(|b| b.lamps = Lamps::Each(0));
    scene.world.floor = None;
    (eye(&mut scene).r0, eye(&mut scene).z0, scene.camera.fov_deg) = (1500.0, 400.0, 0.3);
    (scene.render.depth, scene.render.cutoff) = (3, 0.02);
    agree("from far away", &scene, 3);
}

#[test]
fn balls_on_a_table() {
    let mut scene = sized(own("cse260.toml"), 72, 72, 1);
    scene.render.depth = 4;
    agree("cse260", &scene, 5);
}

#[test]
fn particles_without_shadows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.bin");
    let set = crate::command::generate::packing(200, 3, 0.0);
    let bytes = crate::command::particle_files::write(&set, crate::cli::FileLayout::Versioned, 0);
    std::fs::write(&path, bytes).unwrap();
    let scene = toml(&format!(
        "[output]\nframes = 1\nsize = [64, 64]\n[render]\nshadows = false\ntone = \"clip\"\nambient = [0.2, 0.2, 0.2]\n\
         [camera]\nposition = [2.5, -3, 1.5]\nlook_at = [0.5, 0.5, 1]\nfov_deg = 50\n\
         [particles]\npath = \"{}\"\ncolor_by = \"pressure\"\n[[light]]\nposition = [-20, -50, 60]\n",
        path.display()
    ));
    agree("particles", &scene, 0);
}

// Cylinders, capsules, bonds and arrows of a table; whole, and cut open by two planes.
#[test]
fn particles_that_are_cut_open_beside_bonds_and_arrows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.csv");
    let mut table = "x,y,z,r,vx,vy,vz,qw,qx,qy,qz\n".to_owned();
    for i in 0..27 {
        let [x, y, z] = [i % 3, i / 3 % 3, i / 9].map(|k| f64::from(k) * 0.7 - 0.7);
        let f = f64::from(i);
        let turn = [libm::cos(f), libm::sin(2.0 * f), libm::cos(3.0 * f), 0.3];
        let _ = writeln!(table, "{x},{y},{z},0.4,{},{},0.3,{},{},{},{}", y - z, x, turn[0], turn[1], turn[2], turn[3]);
    }
    std::fs::write(&path, table).unwrap();
    let cuts = "[[particles.cut]]\npoint = [0.5, -0.3, 0]\nnormal = [1, -2, 0.2]\n[[particles.cut]]\npoint = [0, 0, 0.6]\nnormal = [0, 0, 3]\n";
    let links = "[particles.bonds]\nradius = 0.07\n[particles.arrows]\nby = \"vel\"\nscale = 0.8\nradius = 0.05\ncolor = \"gold\"\n";
    for (name, keys) in [
        ("cut balls", format!("transparency = 0.3\nior = 1\n{cuts}")),
        ("cylinders", "shape = \"cylinder\"\nreflection = 0.2\n".to_owned()),
        (
            "capsules",
            "shape = { vertices = [[0, 0, -0.4], [0.1, 0, 0.3]], rounding = 0.15 }\ntransparency = 0.4\n".to_owned(),
        ),
        ("cut cylinders", format!("shape = \"cylinder\"\nradius = 0.5\n{cuts}")),
        ("cut capsules", format!("shape = \"capsule\"\n{cuts}")),
        (
            "bonds and arrows",
            format!(
                "radius = 0.15\ncolor_by = \"z\"\n{}",
                links.replace("radius = 0.07", "cutoff = 0.75\ncolor = \"gray\"")
            ),
        ),
        ("cut bonds", format!("{links}{cuts}")),
    ] {
        let scene = toml(&format!(
            "[output]\nframes = 1\nsize = [64, 48]\n[render]\ntone = \"clip\"\nambient = [0.2, 0.2, 0.2]\ndepth = 5\n\
             [camera]\nposition = [2.5, -3, 1.5]\nlook_at = [0, 0, 0]\nfov_deg = 45\n\
             [particles]\npath = \"{}\"\n{keys}[[light]]\nposition = [10, -30, 20]\n\
             [floor]\ncorners = [[-3, -3, -1.2], [-3, 3, -1.2], [3, 3, -1.2], [3, -3, -1.2]]\n",
            path.display()
        ));
        agree(name, &scene, 0);
        same_on_every_set(name, &scene, 0);
    }
}

#[test]
fn a_mesh_and_a_body_see_each_other() {
    let dir = tempfile::tempdir().unwrap();
    // A bowl of quads with a ball in it.
    let mut obj = String::new();
    let n = 12;
    for i in 0..=n {
        for j in 0..=n {
            let (x, y) = (f64::from(i) / 6.0 - 1.0, f64::from(j) / 6.0 - 1.0);
            obj += &format!("v {x} {y} {}\n", 0.5 * (x * x + y * y) - 1.0);
        }
    }
    for i in 0..n {
        for j in 1..=n {
            let at = i * (n + 1) + j;
            obj += &format!("f {} {} {} {}\n", at, at + n + 1, at + n + 2, at + 1);
        }
    }
    let path = dir.path().join("bowl.obj");
    std::fs::write(&path, obj).unwrap();
    let scene = toml(&format!(
        "[output]\nframes = 1\nsize = [80, 60]\n[render]\ndepth = 4\n[camera.eye]\nr = 3.5\nz = 2.5\n[camera]\nfov_deg = 60\n\
         [[mesh]]\npath = \"{}\"\nreflection = 0.3\nscale = 1.5\noffset = [0, 0, 0.4]\n\
         [[body]]\nsolid = \"octahedron\"\ncenter = [0, 0.4, 0.5]\nradius = 0.7\nreflection = 0.4\ntransparency = 0.3\n\
         [[sphere]]\ncenter = [0.3, -0.8, -0.1]\nradius = 0.4\ntransparency = 0.7\nior = 1.4\n[[light]]\nposition = [4, -3, 6]\n",
        path.display()
    ));
    agree("mesh", &scene, 0);
}

#[test]
fn balls_meshes_and_particles_inside_mirrors() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(at("tent.obj"), "v -1 -1 0\nv 1 -1 0\nv 0 1 0\nv 0 0 1\nf 1 2 4\nf 2 3 4\nf 3 1 4\n").unwrap();
    std::fs::write(at("two.csv"), "0.3,0.1,-0.2,0.3\n-0.4,0.2,0.1,0.2\n").unwrap();
    let things = [
        "[[sphere]]\ncenter = [0.2, 0.3, -0.1]\nradius = 0.35\ncolor = [0.9, 0.4, 0.2]\n".to_owned(),
        format!("[[mesh]]\npath = \"{}\"\nscale = 0.5\noffset = [0, 0, -0.4]\n", at("tent.obj")),
        format!("[particles]\npath = \"{}\"\n", at("two.csv")),
    ];
    for thing in things {
        let scene = toml(&format!(
            "[output]\nframes = 1\nsize = [64, 48]\n[render]\ndepth = 6\ncutoff = 0.01\n[camera]\nposition = [0.8, -0.7, 0.6]\nlook_at = [0, 0, 0]\n\
             fov_deg = 80\n[[body]]\nsolid = \"cube\"\nradius = 2\nreflection = 0.8\nbar = 0.03\n[[light]]\nposition = [0.5, -0.9, 0.9]\n{thing}"
        ));
        agree("inside a mirror", &scene, 0);
    }
}

#[test]
fn total_reflection_is_not_dyed() {
    let scene = toml(
        "[output]\nframes = 1\nsize = [64, 48]\n[render]\ndepth = 7\ncutoff = 0.01\n[camera.eye]\nr = 3\nz = 1.2\nphi_deg = 20\n\
         [[body]]\nsolid = \"icosahedron\"\ncolor = [0.9, 0.5, 0.3]\nreflection = 0.3\ntransparency = 0.5\nior = 1.5\nbar = 0.0\n\
         [[sphere]]\ncenter = [0, 1.8, 0.3]\nradius = 0.6\ntransparency = 0.7\nreflection = 0.1\nior = 0.7\n\
         [floor]\ncorners = [[-5,-5,-1],[-5,5,-1],[5,5,-1],[5,-5,-1]]\n[[light]]\nposition = [4, 3, 6]\n",
    );
    agree("total reflection", &scene, 0);
}

#[test]
fn emitters_through_glass_by_the_book() {
    let scene = toml(
        "[output]\nframes = 1\nsize = [24, 18]\n[render]\nintegrator = \"path\"\nsamples = 2048\ndepth = 6\n\
         [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n[camera]\nposition = [0, -6, 2]\nlook_at = [0, 0, 0]\nfov_deg = 50\n\
         [[sphere]]\ncenter = [0, 0, -100]\nradius = 99\ncolor = [0.7, 0.6, 0.5]\n\
         [[sphere]]\ncenter = [0, 0, 0.2]\nmaterial = \"glass\"\nior = 1.5\n\
         [[sphere]]\ncenter = [0.2, 0.5, 3.5]\nradius = 1.2\nmaterial = \"light\"\nstrength = 3\ncolor = [1, 0.9, 0.7]\n",
    );
    walks_agree("emitters and glass", &scene, 8000);
}

// Path tracing against the oracle's random walks: both are means of random numbers, and must be close.
fn walks_agree(name: &str, scene: &Scene, each: u32) {
    let ours = render(scene, 0);
    let theirs = Oracle::new(scene).walks(each);
    let (mut mean, mut bias) = (0.0, 0.0);
    for (pixel, linear) in ours.chunks(4).zip(&theirs) {
        for c in 0..3 {
            let off = f64::from(pixel[c]) - code_of(scene, linear[c]);
            mean += off.abs();
            bias += off;
        }
    }
    let n = (3 * theirs.len()) as f64;
    assert!(mean / n < 2.0 && (bias / n).abs() < 0.3, "{name}: mean {:.3}, bias {:.3}", mean / n, bias / n);
}

#[test]
fn the_weekend_by_the_book() {
    let mut scene = sized(own("weekend.toml"), 32, 18, 1);
    scene.render.set_paths(1600);
    walks_agree("weekend", &scene, 1600);
}

#[test]
fn the_weekends_final_scene_by_the_book() {
    let mut scene = sized(own("weekend-final.toml"), 30, 20, 1);
    scene.render.set_paths(900);
    // Long walks in glass are rare; the book's own bound is 50.
    walks_agree("weekend-final", &scene, 400);
}

#[test]
fn emitters_that_are_asked_give_what_emitters_that_are_met_give() {
    let scene = toml(
        "[output]\nframes = 1\nsize = [24, 18]\n[render]\nintegrator = \"path\"\nsamples = 1024\ndepth = 6\n\
         [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n[camera]\nposition = [0, -6, 2]\nlook_at = [0, 0, 0]\nfov_deg = 50\n\
         [[sphere]]\ncenter = [0, 0, -100]\nradius = 99\ncolor = [0.7, 0.6, 0.5]\n\
         [[sphere]]\ncenter = [-1.2, 0, 0]\ncolor = [0.9, 0.5, 0.4]\n[[sphere]]\ncenter = [1.5, 0.3, 0.2]\nmaterial = \"metal\"\nfuzz = 0.3\n\
         [[sphere]]\ncenter = [0.2, -1, 2.5]\nradius = 0.9\nmaterial = \"light\"\nstrength = 4\ncolor = [1, 0.9, 0.7]\n\
         [[sphere]]\ncenter = [3, 2, 1]\nradius = 0.5\nmaterial = \"light\"\nstrength = 6\n",
    );
    walks_agree("emitters", &scene, 6000);
}

// White metal is invisible under a uniform sky too; colored metal shows the sky times its color.
#[test]
fn metal_bodies_mirror_in_their_colour() {
    for integrator in ["samples = 1", "integrator = \"path\"\nsamples = 4"] {
        let scene = toml(&format!(
            "[output]\nsize = [40, 30]\n[render]\n{integrator}\ndepth = 40\nambient = [0, 0, 0]\n\
             [sky]\nzenith = [0.6, 0.6, 0.6]\nhorizon = [0.6, 0.6, 0.6]\n\
             [camera]\nposition = [3, -3, 2]\nlook_at = [0, 0, 0]\nfov_deg = 40\n[[light]]\nposition = [5, -5, 5]\n\
             [[body]]\nsolid = \"icosahedron\"\ncolor = [1, 0.7, 0.3]\nmaterial = \"metal\"\nbar = 0\n"
        ));
        let (image, _) = crate::Renderer::new(scene).unwrap().still_linear(0).unwrap();
        let sky = linear(0.6);
        let middle = 3 * (15 * 40 + 20);
        let seen = &image.data()[middle..middle + 3];
        for (&seen, tint) in seen.iter().zip([1.0, 0.7, 0.3]) {
            assert!((f64::from(seen) - sky * linear(tint)).abs() < 1e-4, "{integrator}: {seen}");
        }
    }
}

// A level floor under each procedural sky, with nothing else: it reflects its color times the sky's light with Lambert's
// cosine, summed over the map here, and that of the sun. Sampling the sky and following the floor's own rays must both
// converge to that.
#[test]
fn a_floor_under_a_made_sky_has_the_skys_light() {
    for (_, name) in SkySource::BUILTIN {
        let scene = toml(&format!(
            "[output]\nsize = [16, 16]\n[render]\nintegrator = \"path\"\nsamples = 4096\ndepth = 3\n\
             [sky]\nimage = \"{name}\"\nrotation_deg = 40\n[camera]\nposition = [0.3, 0.2, 4]\nlook_at = [0, 0, 0]\n\
             fov_deg = 20\n[floor]\ncorners = [[-1, -1, 0], [-1, 1, 0], [1, 1, 0], [1, -1, 0]]\ntint = [0.7, 0.7, 0.7]\n\
             size = \"infinite\"\n"
        ));
        let map = SkyMap::of(&scene.world.sky, None).unwrap();
        let mut expected = [0.0; 3];
        let cells = 256;
        for (at, (light, angle)) in map.cells(cells).into_iter().enumerate() {
            // The octahedron's height over the middle of the cell, as a cosine.
            let place = |i: usize| (i as f64 + 0.5) * 2.0 / cells as f64 - 1.0;
            let (u, v) = (place(at % cells), place(at / cells));
            let z = 1.0 - u.abs() - v.abs();
            if z > 0.0 {
                let cosine = z / (u * u + v * v + z * z).sqrt();
                expected =
                    add(expected, scale(light.map(f64::from), linear(0.7) * cosine * angle / std::f64::consts::PI));
            }
        }
        if let Some(sun) = map.sun {
            expected = add(expected, scale(sun.irradiance, linear(0.7) * sun.direction[2] / std::f64::consts::PI));
        }
        let (image, _) = crate::Renderer::new(scene).unwrap().still_linear(0).unwrap();
        let count = f64::from(image.width() * image.height());
        let seen =
            [0, 1, 2].map(|c| image.data().iter().skip(c).step_by(3).map(|&x| f64::from(x)).sum::<f64>() / count);
        for c in 0..3 {
            assert!((seen[c] / expected[c] - 1.0).abs() < 0.01, "{name}: {seen:?}, expected {expected:?}");
        }
    }
}
