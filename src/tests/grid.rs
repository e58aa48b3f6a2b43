//! Grids of balls: what they find against testing every ball, and the same pictures by the grid and by the tree.
use super::bvh::rays;
use super::common::*;
use super::entries::Way;
use crate::assets::Assets;
use crate::assets::files::Files;
use crate::device_scene::DeviceScene;
use crate::device_scene::lazy::Missing;
use crate::gpu_types::{CELL_BALLS, CELL_SHIFT, CellPlan, FEATURE_TREE, Sphere};
use crate::kernels::Isa;
use crate::math::grid::{Ball, Grid, Lattice};
use crate::scene::Scene;
use std::fmt::Write;
use std::sync::Arc;

// Balls around the places of a lattice, with radii from `smallest` on, and large ones.
fn balls(counts: [usize; 3], smallest: f32, large: &[[f32; 4]]) -> String {
    let mut draws = Draws(11);
    let mut text = String::new();
    let mut ball = |[x, y, z, r]: [f32; 4]| {
        writeln!(
            text,
            "[[sphere]]\ncenter = [{x}, {y}, {z}]\nradius = {r}\ncolor = [0.8, 0.6, {}]",
            0.5 * (x.fract() + 1.0)
        )
        .unwrap();
    };
    for i in 0..counts.iter().product() {
        let at = [i % counts[0], i / counts[0] % counts[1], i / counts[0] / counts[1]];
        let shift = draws.around(0.4);
        let [x, y, z] = [0, 1, 2].map(|k| at[k] as f32 - 0.5 * counts[k] as f32 + shift[k]);
        ball([x, y, z, smallest * (1.0 + draws.next())]);
    }
    large.iter().copied().for_each(ball);
    text
}

// A layer with a ground as in "Ray Tracing in One Weekend", a loose and a dense packing, and a row.
fn worlds() -> Vec<(&'static str, String)> {
    let ground = [[0.0, 0.0, -1000.5, 1000.0], [-4.0, 0.0, 1.0, 1.5], [0.0, 0.0, 1.0, 1.5], [4.0, 1.0, 1.0, 1.5]];
    vec![
        ("a layer on the ground", balls([22, 22, 1], 0.2, &ground)),
        ("a loose packing", balls([9, 9, 9], 0.1, &[])),
        ("a dense packing", balls([9, 8, 7], 0.45, &[])),
        ("a row", balls([200, 1, 1], 0.3, &[])),
    ]
}

fn prepared(scene: &Scene) -> DeviceScene {
    DeviceScene::new(scene, &Assets::load(scene, &Files::default()).unwrap()).unwrap()
}

const OUTPUT: &str = "[output]\nframes = 1\nsize = [48, 36]\n";
const CAMERA: &str = "[camera]\nposition = [9, -12, 6]\nlook_at = [0, 0, 0]\n";

// Rays from and along the planes between cells, through their edges and corners.
fn rays_of_cells(grid: &Grid, n: usize) -> (Vec<f32>, Vec<f32>) {
    let mut draws = Draws(3);
    let (mut origins, mut directions) = (Vec::new(), Vec::new());
    for i in 0..n {
        let away = draws.around(1.0);
        let corner = [0, 1, 2].map(|k| {
            let plane = (draws.next() * (grid.lattice.counts[k] + 1) as f32).floor();
            // On the planes that the kernel computes, or one rounding beside them.
            let at = plane.mul_add(grid.lattice.side[k], grid.lattice.lower[k]);
            f32::from_bits(at.to_bits() + (i as u32 / 7 % 3))
        });
        let mut d = draws.around(1.0);
        if i % 3 == 0 {
            d[i / 3 % 3] = if i % 2 == 0 { 0.0 } else { -0.0 };
        }
        if i % 9 == 1 {
            d = [0, 1, 2].map(|k| if k == i / 9 % 3 { 1.0 } else { 1e-20 * d[k] });
        }
        let length = d.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
        let d = d.map(|x| x / length);
        // In the plane, or toward the corner from elsewhere.
        let back = if i % 2 == 0 { 0.0 } else { 5.0 * away[0] };
        origins.extend([0, 1, 2].map(|k| corner[k] - back * d[k]));
        directions.extend(d);
    }
    (origins, directions)
}

#[test]
fn the_grid_finds_what_asking_every_ball_finds() {
    for (name, text) in worlds() {
        let scene = toml(&format!("{OUTPUT}{CAMERA}{text}"));
        let device_scene = prepared(&scene);
        let grid = device_scene.geometry.grid.as_ref().unwrap_or_else(|| panic!("{name} has no grid"));
        assert_eq!(device_scene.host().arrays.constants.features & FEATURE_TREE, 0, "{name}");
        let host = device_scene.host();
        let sets = Isa::tested().into_iter().filter(|isa| isa.lanes == 1);
        assert!(sets.clone().count() >= 2, "the single lane, and that of the GPU's domain");
        for isa in sets {
            for (origins, directions) in [rays(&scene, 30_000), rays_of_cells(grid, 30_000)] {
                let [found, all] =
                    [Way::Grid, Way::InTurn].map(|way| isa.closest_hits(&host, &origins, &directions, way));
                let n = all.1.len();
                for i in 0..n {
                    let ray = (&origins[3 * i..3 * i + 3], &directions[3 * i..3 * i + 3]);
                    assert_eq!(
                        (found.1[i], found.0[i].to_bits()),
                        (all.1[i], all.0[i].to_bits()),
                        "{name}, {isa:?}, ray {i}: {ray:?}"
                    );
                }
                let met = all.1.iter().filter(|&&s| s != -1).count();
                assert!(met > n / 20 && met < n, "{name}: {met} of {n} rays meet something");
            }
        }
    }
}

#[test]
fn pictures_by_the_grid_are_those_by_the_tree() {
    let light = "[[light]]\nposition = [5, -9, 12]\n";
    let floor =
        "[floor]\ncorners = [[-9, -9, -7], [-9, 9, -7], [9, 9, -7], [9, -9, -7]]\nsize = \"infinite\"\nfade = 60\n";
    let shining = "[[sphere]]\ncenter = [0, -10, 30]\nradius = 9\nmaterial = \"light\"\nstrength = 5\n";
    let ways = [
        ("whitted", format!("{light}{CAMERA}[render]\nsamples = 2\n")),
        ("ao", format!("{CAMERA}[render]\nintegrator = \"ao\"\nsamples = 4\n")),
        ("path", format!("{light}{CAMERA}[render]\nintegrator = \"path\"\nsamples = 4\ndepth = 8\n")),
        (
            "path with a lens and a floor",
            format!(
                "{light}[floor]\ncorners = [[-6,-6,-6],[-6,6,-6],[6,6,-6],[6,-6,-6]]\n[camera]\nlens = 0.2\nfocus = 12\n\
                 position = [9, -12, 6]\nlook_at = [0, 0, 0]\n[render]\nintegrator = \"path\"\nsamples = 4\ndepth = 8\n"
            ),
        ),
        (
            "whitted by the sea with the sun, fog, occlusion and a light with a radius",
            format!(
                "{light}radius = 2\n[sky]\nimage = \"@sun\"\n[air]\ndensity = 0.01\n{floor}coat = 1\n[floor.relief]\nbump = \"@ripples\"\n\
                 depth = 0.1\n{CAMERA}[render]\nsamples = 2\nao_samples = 2\nlight_samples = 3\n"
            ),
        ),
        (
            "path with a ball that shines, a sky's picture and a rough floor",
            format!(
                "{shining}[sky]\nimage = \"@overcast\"\n{floor}reflection = 0.3\nroughness = 0.3\n{CAMERA}[render]\n\
                 integrator = \"path\"\nsamples = 4\ndepth = 8\n"
            ),
        ),
        (
            "path until the noise is low",
            format!("{shining}{light}{CAMERA}[render]\nintegrator = \"path\"\nsamples = \"4..16\"\ndepth = 8\n"),
        ),
    ];
    for (world, text) in worlds() {
        for (way, around) in &ways {
            let scene = toml(&format!("{OUTPUT}{text}{around}"));
            assert!(prepared(&scene).geometry.grid.is_some(), "{world}, {way}");
            same_on_every_set(&format!("{world}, {way}"), &scene, 0);
        }
    }
}

#[test]
fn shadow_rays_through_clear_balls_need_the_tree() {
    let clear = "[[sphere]]\ncenter = [0, 0, 9]\nradius = 0.3\ntransparency = 0.5\n";
    let mut scene = toml(&format!("{OUTPUT}{CAMERA}{}{clear}", balls([9, 9, 3], 0.2, &[])));
    assert!(prepared(&scene).geometry.grid.is_none());
    assert_ne!(prepared(&scene).host().arrays.constants.features & FEATURE_TREE, 0);
    scene.world.spheres.pop();
    assert!(prepared(&scene).geometry.grid.is_some());
    // Another shape needs it too.
    scene.world.bodies = toml("[output]\nframes = 1\n[[body]]\nsolid = \"cube\"\n").world.bodies;
    assert!(prepared(&scene).geometry.grid.is_none());
}

fn plan(lattice: &Lattice, first: usize, spheres: &[Sphere]) -> CellPlan {
    crate::device::cell_plan(lattice, first as u32, (spheres.len() - first) as u32)
}

#[test]
fn the_kernels_fill_cells_as_the_host_does() {
    for (name, text) in worlds() {
        let device_scene = prepared(&toml(&format!("{OUTPUT}{CAMERA}{text}")));
        let geometry = &*device_scene.geometry;
        let grid = geometry.grid.as_ref().unwrap();
        let plan = plan(&grid.lattice, geometry.large as usize, &geometry.spheres);
        for isa in Isa::tested() {
            let (codes, totals, list) = isa.cells(&plan, &geometry.spheres);
            let full = grid.cells.iter().filter(|&&code| code & CELL_BALLS > 0).count();
            let most = grid.cells.iter().map(|&code| code & CELL_BALLS).max().unwrap();
            let found = (totals.listed, totals.full, totals.most);
            assert_eq!(found, (grid.balls.len() as u64, full as u32, most as u32), "{name}, {isa:?}");
            // Each part of the list belongs to one cell, whose balls are in any order.
            let mut taken = vec![false; list.len()];
            for (at, (&code, &expected)) in codes.iter().zip(&grid.cells).enumerate() {
                let (first, count) = ((code >> CELL_SHIFT) as usize, code as usize & CELL_BALLS as usize);
                let mut balls = list[first..first + count].to_vec();
                balls.sort_unstable();
                let from = (expected >> CELL_SHIFT) as usize;
                assert_eq!(balls, grid.balls[from..from + (expected & CELL_BALLS) as usize], "{name}, cell {at}");
                assert!(taken[first..first + count].iter_mut().all(|one| !std::mem::replace(one, true)), "{name}");
            }
        }
    }
}

// A packing of more balls than have a tree at once: on a lattice, where rays meet two at the same distance, each fourth one twice with
// another color, and three large ones.
fn twins() -> Scene {
    let mut text = String::new();
    let mut ball = |[x, y, z]: [usize; 3], radius: f32, colour: usize| {
        let shade = 0.1 + 0.8 * (colour % 10) as f32 / 10.0;
        writeln!(text, "[[sphere]]\ncenter = [{x}, {y}, {z}]\nradius = {radius}\ncolor = [{shade}, 0.5, 0.4]").unwrap();
    };
    for i in 0..18 * 17 * 16 {
        let at = [i % 18, i / 18 % 17, i / 18 / 17];
        ball(at, 0.5, i);
        if i % 4 == 0 {
            ball(at, 0.5, i + 5);
        }
    }
    for at in [[4, 4, 20], [4, 4, 20], [12, 12, 22]] {
        ball(at, 3.0, at[2]);
    }
    let camera = "[camera]\nposition = [9, -40, 8]\nlook_at = [9, 8, 8]\n";
    toml(&format!("{OUTPUT}{camera}[render]\nsamples = 2\ndepth = 3\n[[light]]\nposition = [5, -90, 120]\n{text}"))
}

#[test]
fn what_a_ray_hits_does_not_depend_on_the_order_of_balls() {
    let scene = twins();
    let assets = Assets::load(&scene, &Files::default()).unwrap();
    let pool = crate::threads::pool(1).unwrap();
    let later = DeviceScene::with_trees(&scene, &assets, Some(Arc::clone(&pool)), None).unwrap();
    let geometry = &*later.geometry;
    let Some(Missing::Cells(lattice)) = geometry.lazy.as_ref().map(|lazy| &lazy.missing) else { panic!("a tree") };
    assert!(geometry.nodes.is_empty() && geometry.large == 3);
    // The balls as they come with the cells of a GPU's kernels, and in the order of the tree's leaves.
    let cells = Isa::tested().pop().unwrap().cells(&plan(lattice, 3, &geometry.spheres), &geometry.spheres);
    let mut bare = later.host_for_film();
    let codes: Vec<i32> = cells.0.iter().map(|code| code.cast_signed()).collect();
    bare.arrays.cells = crate::gpu_types::Array::new(codes.as_ptr(), codes.len());
    bare.arrays.cell_balls = crate::gpu_types::Array::new(cells.2.as_ptr(), cells.2.len());
    bare.arrays.grid = geometry.placed_grid(lattice);
    let tree = geometry.with_tree();
    assert!(
        !tree.nodes.is_empty() && tree.large == 3 && tree.reach.to_bits() == prepared(&scene).geometry.reach.to_bits()
    );
    assert_ne!(tree.spheres, geometry.spheres);
    let treed = later.host();
    let mut others = 0;
    for isa in Isa::tested() {
        let n = 40_000;
        let (mut origins, directions) = rays(&scene, n);
        // Through the middle between balls, from outside of the packing.
        for i in 0..n / 5 {
            let way = &directions[15 * i + 3..15 * i + 6];
            let from =
                [0, 1, 2].map(|k| if way[k] == 0.0 { ((i + 3 * k) % 31) as f32 / 2.0 } else { 8.0 - 60.0 * way[k] });
            origins[15 * i + 3..15 * i + 6].copy_from_slice(&from);
        }
        let by_tree = isa.closest_hits(&treed, &origins, &directions, Way::Tree);
        let ways = if isa.lanes == 1 { vec![Way::Grid, Way::InTurn] } else { vec![Way::InTurn] };
        for way in ways {
            let found = isa.closest_hits(&bare, &origins[..3 * 4000], &directions[..3 * 4000], way);
            for i in 0..4000 {
                let of = |geometry: &crate::device_scene::geometry::Geometry, surface: i32| {
                    let at = (surface & crate::gpu_types::SURFACE_INDEX_MASK) as usize;
                    (surface >= 0).then(|| (geometry.spheres[at], geometry.sphere_materials[at]))
                };
                let (a, b) = (of(geometry, found.1[i]), of(tree, by_tree.1[i]));
                assert_eq!((found.0[i].to_bits(), a), (by_tree.0[i].to_bits(), b), "{isa:?}, {way:?}, ray {i}");
                others += usize::from(a.is_some() && found.1[i] != by_tree.1[i]);
            }
        }
    }
    assert!(others > 1000, "{others} hits have other numbers");
}

#[test]
fn pictures_are_the_same_in_every_order_of_balls() {
    let scene = twins();
    let expected = same_on_every_set("twins", &scene, 0);
    // In another order: colors stay with their balls, and so do the numbers of materials among balls in one place.
    let mut turned = scene.clone();
    turned.world.spheres.rotate_right(3);
    assert_eq!(first_difference(&expected, &same_on_every_set("twins in another order", &turned, 0), 48), None);
}

#[test]
fn large_balls_and_measures_are_those_of_the_tree() {
    let ball = |x: f32, radius: f32| Sphere { centre: [x, -2.0, 0.5], radius };
    let mut all: Vec<Sphere> = (0..5000).map(|i| ball(i as f32, 0.4 + 0.1 * (i % 3) as f32)).collect();
    let check = |all: &[Sphere], expected: &[usize]| {
        let (large, extent, farthest) = crate::device_scene::lazy::measure(all);
        assert_eq!(large, expected);
        let inside = |(i, s): (usize, &Sphere)| (!expected.contains(&i)).then_some((s.centre, s.radius));
        let rest: Vec<Ball> = all.iter().enumerate().filter_map(inside).collect();
        let [found, expected] = [extent, crate::math::grid::Extent::of(&rest)].map(|e| Lattice::new(&e, 5100.0));
        assert_eq!(found, expected);
        let of =
            |s: &Sphere| s.centre.iter().fold(0.0_f32, |m, c| m.max((c - s.radius).abs()).max((c + s.radius).abs()));
        assert_eq!(farthest, all.iter().map(of).fold(0.0, f32::max));
    };
    check(&all, &[]);
    all[7].radius = 40.0;
    all[4999].radius = 1.3;
    check(&all, &[7, 4999]);
    // More than a leaf holds are not large.
    (0..9).for_each(|i| all[100 * i].radius = 50.0);
    check(&all, &[]);
}
