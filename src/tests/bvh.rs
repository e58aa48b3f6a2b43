//! Spheres and meshes: the hierarchy against testing every shape, and path tracing in rounds.
use super::common::*;
use super::entries::Way;
use crate::assets::Assets;
use crate::assets::files::Files;
use crate::device_scene::DeviceScene;
use crate::kernels::Isa;
use crate::render::stats::{FrameReport, Progress};
use crate::scene::{Sampling, Scene};
use std::path::Path;

// Many balls, triangles and a dozen bodies.
pub(super) fn crowd(dir: &Path) -> Scene {
    let mut draws = Draws(5);
    let mut scene = String::from("[output]\nframes = 1\nsize = [8, 8]\n[camera.eye]\nr = 9\n");
    for i in 0..12 {
        let [x, y, z] = draws.around(3.0);
        let solid = ["tetrahedron", "cube", "octahedron", "dodecahedron", "icosahedron"][i % 5];
        scene += &format!("[[body]]\nsolid = \"{solid}\"\ncenter = [{x}, {y}, {z}]\nradius = 0.5\n");
    }
    for _ in 0..300 {
        let [x, y, z] = draws.around(3.0);
        scene += &format!("[[sphere]]\ncenter = [{x}, {y}, {z}]\nradius = {}\n", 0.02 + 0.2 * draws.next());
    }
    let mut obj = String::new();
    for i in 0..200 {
        let [x, y, z] = draws.around(3.0);
        for _ in 0..3 {
            let [a, b, c] = draws.around(0.4);
            obj += &format!("v {} {} {}\n", x + a, y + b, z + c);
        }
        obj += &format!("f {} {} {}\n", 3 * i + 1, 3 * i + 2, 3 * i + 3);
    }
    // A wall of squares along the axes, for rays in its plane and through its corners.
    for i in 0..5 {
        for j in 0..5 {
            obj += &format!("v {} {} -2\n", i - 2, j - 2);
        }
    }
    for i in 0..4 {
        for j in 0..4 {
            let at = 601 + 5 * i + j;
            obj += &format!("f {} {} {} {}\n", at, at + 5, at + 6, at + 1);
        }
    }
    std::fs::write(dir.join("crowd.obj"), obj).unwrap();
    scene += &format!("[[mesh]]\npath = \"{}\"\n", dir.join("crowd.obj").display());
    toml(&scene)
}

// Random rays, axis-parallel rays with zeros of both signs, rays along boxes and grazing balls.
pub(super) fn rays(scene: &Scene, n: usize) -> (Vec<f32>, Vec<f32>) {
    let mut draws = Draws(77);
    let (mut origins, mut directions) = (Vec::new(), Vec::new());
    for i in 0..n {
        let mut o = draws.around(6.0);
        let mut d = draws.around(1.0);
        match i % 5 {
            1 => {
                let axis = i / 5 % 3;
                let sign = if i / 15 % 2 == 0 { 1.0 } else { -1.0 };
                d = [0, 1, 2].map(|c| if c == axis { sign } else { 0.0 * (1.0 - 2.0 * ((i / 30 + c) % 2) as f32) });
                // On the wall's lines too.
                if i / 60 % 2 == 0 {
                    o = o.map(f32::round);
                }
            }
            2 => d[i / 5 % 3] = if i / 15 % 2 == 0 { 0.0 } else { -0.0 },
            3 => {
                // Toward a ball's silhouette.
                let ball = &scene.world.spheres[i / 5 % scene.world.spheres.len()];
                let to: [f64; 3] = [0, 1, 2].map(|c| ball.centre[c] - f64::from(o[c]));
                let side = crate::math::vec3::normalise(crate::math::vec3::cross(to, [0.3, -0.5, 0.8]));
                let near = 1.0 + f64::from(draws.next() - 0.5) * 1e-6;
                d = [0, 1, 2].map(|c| (to[c] + side[c] * ball.radius * near) as f32);
            }
            _ => {}
        }
        let length = d.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
        origins.extend(o);
        directions.extend(d.map(|x| x / length));
    }
    (origins, directions)
}

#[test]
fn the_tree_finds_what_asking_everything_finds() {
    let dir = tempfile::tempdir().unwrap();
    let scene = crowd(dir.path());
    let device_scene = DeviceScene::new(&scene, &Assets::load(&scene, &Files::default()).unwrap()).unwrap();
    assert!(!device_scene.geometry.nodes.is_empty());
    let host = device_scene.host();
    let mut first: Option<(Vec<f32>, Vec<i32>)> = None;
    for isa in Isa::tested() {
        // Half a million on the widest lanes, a part of them on the others.
        let n = if first.is_none() { 500_000 } else { 100_000 };
        let (origins, directions) = rays(&scene, n);
        let tree = isa.closest_hits(&host, &origins, &directions, Way::Tree);
        let all = isa.closest_hits(&host, &origins, &directions, Way::InTurn);
        for i in 0..n {
            let ray = (&origins[3 * i..3 * i + 3], &directions[3 * i..3 * i + 3]);
            assert_eq!((tree.1[i], tree.0[i].to_bits()), (all.1[i], all.0[i].to_bits()), "{isa:?}, ray {i}: {ray:?}");
        }
        let met = tree.1.iter().filter(|&&s| s != -1).count();
        assert!(met > n / 4 && met < n, "{met} of {n} rays meet something");
        match &first {
            None => first = Some(tree),
            Some(widest) => assert!(widest.0[..n] == tree.0[..] && widest.1[..n] == tree.1[..], "{isa:?}"),
        }
    }
}

fn path_scene(samples: u32, noise: f64) -> Scene {
    let mut scene = sized(own("weekend.toml"), 48, 27, 1);
    scene.render.set_paths(samples);
    if noise > 0.0 {
        scene.render.sampling = Sampling::UntilNoise { max: samples, noise };
    }
    scene
}

// The picture in rounds, its noise, and the samples that it took.
fn refined(scene: &Scene, isa: Isa) -> (Vec<u8>, f64, u32) {
    #[derive(Default)]
    struct RoundsSeen(f64, u32);
    impl Progress for RoundsSeen {
        fn frame(&mut self, report: &FrameReport) {
            *self = RoundsSeen(report.stats.noise.unwrap(), report.stats.samples);
        }
    }
    let mut seen = RoundsSeen::default();
    let picture = renderer(scene, isa, 0).still_watched(0, &mut seen).unwrap();
    (picture.data().to_vec(), seen.0, seen.1)
}

#[test]
fn rounds_add_up_to_the_picture_made_at_once() {
    for samples in [1, 7, 16, 100, 129] {
        let at_once = render(&path_scene(samples, 0.0), 0);
        for isa in Isa::tested() {
            let (rgba, _, taken) = refined(&path_scene(samples, 1e-9), isa);
            assert_eq!(taken, samples);
            assert_eq!(first_difference(&at_once, &rgba, 48), None, "{samples} samples, {isa:?}");
        }
    }
}

#[test]
fn path_tracing_stops_when_the_noise_is_low_enough() {
    let sets = Isa::tested();
    let (rgba, noise, taken) = refined(&path_scene(4096, 2.5), sets[0]);
    assert!(noise <= 2.5 && taken < 4096 && taken > 16, "{noise} after {taken}");
    for &isa in &sets[1..] {
        assert_eq!(refined(&path_scene(4096, 2.5), isa), (rgba.clone(), noise, taken), "{isa:?}");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "--nocapture shows the convergence")]
fn path_tracing_converges() {
    // Against a long reference, four times the samples halve the error; the estimate says so without the reference.
    let reference = render(&path_scene(16_384, 0.0), 0);
    let error = |rgba: &[u8]| {
        let square: u32 = rgba.iter().zip(&reference).map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum();
        (f64::from(square) / (3.0 * 48.0 * 27.0)).sqrt()
    };
    let mut last = f64::MAX;
    for samples in [16, 64, 256, 1024] {
        let (rgba, noise, _) = refined(&path_scene(samples, 1e-9), Isa::available()[0]);
        let error = error(&rgba);
        println!("{samples} samples: error {error:.3} codes, estimated {noise:.3}");
        assert!(error < 0.65 * last, "{samples} samples: {error} after {last}");
        assert!((0.6..1.6).contains(&(noise / error)), "{samples} samples: estimated {noise}, in truth {error}");
        last = error;
    }
}

#[test]
fn obj_and_ply_say_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let points = [[-1.0f32, -1.0, 0.0], [1.0, -1.0, 0.2], [1.0, 1.0, -0.3], [-1.0, 1.0, 0.4], [0.0, 0.0, 1.2]];
    let faces = [vec![0usize, 1, 2, 3], vec![0, 1, 4], vec![1, 2, 4], vec![2, 3, 4]];
    let mut obj = String::new();
    for [x, y, z] in points {
        obj += &format!("v {x} {y} {z}\n");
    }
    for face in &faces {
        obj += &format!("f {}\n", face.iter().map(|i| (i + 1).to_string()).collect::<Vec<_>>().join(" "));
    }
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\ncomment a tent\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n\
             property uchar red\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n"
        )
    };
    let mut ascii = header("ascii").into_bytes();
    let (mut little, mut big) = (header("binary_little_endian").into_bytes(), header("binary_big_endian").into_bytes());
    for p in points {
        ascii.extend(format!("{} {} {} 7\n", p[0], p[1], p[2]).bytes());
        p.iter().for_each(|x| little.extend(x.to_le_bytes()));
        p.iter().for_each(|x| big.extend(x.to_be_bytes()));
        little.push(7);
        big.push(7);
    }
    for face in &faces {
        ascii.extend(
            format!("{} {}\n", face.len(), face.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")).bytes(),
        );
        little.push(face.len() as u8);
        big.push(face.len() as u8);
        face.iter().for_each(|&i| little.extend((i as i32).to_le_bytes()));
        face.iter().for_each(|&i| big.extend((i as i32).to_be_bytes()));
    }
    let mut pictures = Vec::new();
    for (name, bytes) in [("a.obj", obj.into_bytes()), ("b.ply", ascii), ("c.ply", little), ("d.ply", big)] {
        std::fs::write(dir.path().join(name), bytes).unwrap();
        let scene = format!(
            "[output]\nframes = 1\nsize = [64, 48]\n[[mesh]]\npath = \"{}\"\ncolor = [0.9, 0.5, 0.2]\n[camera.eye]\nr = 4\nz = 2\n\
             [[light]]\nposition = [3, 2, 5]\n",
            dir.path().join(name).display()
        );
        pictures.push(render(&toml(&scene), 0));
    }
    assert!(pictures[0].chunks(4).any(|p| p[0] > 100));
    assert!(pictures.iter().all(|p| *p == pictures[0]));
}

#[test]
fn real_files_of_particles_hold_what_they_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs/particles");
    let files = ["interleaved-2012.bin", "versioned-2014.bin"].map(|n| folder.join(n));
    for (path, time, radii) in [(&files[0], None, 0.05..0.2), (&files[1], Some(5.800000296761987), 0.0080..0.0120)] {
        let set = crate::assets::particles::open(path, &Files::default(), |file| {
            file.read(0, &crate::assets::particles::Wanted::all())
        })
        .unwrap_or_else(|e| panic!("{e}"));
        assert!(
            set.count() == 1000 && set.column(&["vz"]).is_some() && set.column(&["p"]).is_some(),
            "{:?}",
            set.names
        );
        assert!(set.radii.iter().all(|r| radii.contains(r) || *r == radii.end), "{:?}", &set.radii[..4]);
        assert!(time.is_none() || set.time == time, "{:?}", set.time);
    }
}

// Grains in a box beside a ball, a panel and a body on a floor, all moved by `by`.
fn grains(dir: &Path, by: [f64; 3]) -> Scene {
    let at = |p: [f64; 3]| format!("[{}, {}, {}]", p[0] + by[0], p[1] + by[1], p[2] + by[2]);
    let mut table = "x,y,z,r,p\n".to_owned();
    for i in 0..60 {
        let p = [i % 5, i / 5 % 4, i / 20].map(|n| 0.125 * f64::from(n));
        table += &format!("{},{},{},0.0625,{i}\n", p[0] + by[0], p[1] + by[1], p[2] + by[2]);
    }
    let file = dir.join(format!("{}.csv", by[0]));
    std::fs::write(&file, table).unwrap();
    let corners = [[-1.0, -1.0], [-1.0, 2.0], [2.0, 2.0], [2.0, -1.0]].map(|[x, y]| at([x, y, -0.125]));
    toml(&format!(
        "[output]\nframes = 2\nsize = [64, 48]\n[camera]\nposition = {}\nlook_at = {}\n[particles]\npath = \"{}\"\n\
         color_by = \"pressure\"\n[[sphere]]\ncenter = {}\nradius = 0.125\n[[rectangle]]\ncenter = {}\nfacing = [0, -1, 0]\n\
         [[body]]\nsolid = \"cube\"\ncenter = {}\nradius = 0.25\nlamps = 2\n[floor]\ntexture = \"@checker\"\n\
         corners = [{}]\n[[light]]\nposition = {}\n",
        at([0.25, -1.5, 0.75]),
        at([0.25, 0.25, 0.125]),
        file.display(),
        at([-0.25, 0.25, 0.0]),
        at([0.25, 1.0, 0.25]),
        at([0.75, 0.0, 0.0]),
        corners.join(", "),
        at([2.0, -3.0, 4.0]),
    ))
}

#[test]
fn grains_far_from_the_origin_look_as_they_do_near_it() {
    let dir = tempfile::tempdir().unwrap();
    // Single precision has a resolution of half a unit there, eight radii of a grain.
    let far = [524_288.0, 4_194_304.0, 64.0];
    let (near, far) = (grains(dir.path(), [0.0; 3]), grains(dir.path(), far));
    let expected = render(&near, 1);
    assert!(expected.chunks(4).any(|p| p[..3] != expected[..3]));
    let got = same_on_every_set("far", &far, 1);
    let odd = expected.chunks(4).zip(got.chunks(4)).filter(|(a, b)| (0..3).any(|i| a[i].abs_diff(b[i]) > 4)).count();
    assert!(odd < expected.len() / 4 / 100, "{odd} pixels differ");
    // Light paths find as much of it there.
    let light = |mut scene: Scene| {
        scene.render.set_paths(16);
        render(&scene, 0).iter().map(|&x| u64::from(x)).sum::<u64>() as f64
    };
    assert!((light(near) / light(far) - 1.0).abs() < 0.01);
}

#[test]
fn what_is_read_already_is_not_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let scene = grains(dir.path(), [0.0; 3]);
    let expected = render(&scene, 0);
    let assets = Assets::load(&scene, &Files::default()).unwrap();
    drop(dir);
    let options = crate::render::RenderOptions::on_cpu();
    assert!(crate::render::Renderer::prepare(scene.clone(), options.clone()).is_err());
    let mut made = crate::render::Renderer::prepare_with(scene, options, |_, _| Ok(assets)).unwrap();
    assert_eq!(made.still(0).unwrap().data(), expected);
}
