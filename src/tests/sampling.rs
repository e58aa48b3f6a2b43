//! The random numbers of paths, lenses and lights, and the noise that they leave.
use super::common::*;
use crate::Renderer;
use crate::device::{Memory, Task, TaskOutput};
use crate::kernels::Isa;
use crate::scene::{Filter, Sampling, Scene};

fn path(scene: &mut Scene, samples: u32) {
    scene.render.set_paths(samples);
}

// The number of points in each box of a plane that is divided 2^a times 2^b.
fn boxes(points: &[[f32; 2]], a: u32, b: u32) -> Vec<u32> {
    let mut hits = vec![0; 1 << (a + b)];
    for [u, v] in points {
        let place = |x: f32, bits: u32| (f64::from(x) * f64::from(1u32 << bits)) as usize;
        hits[(place(*u, a) << b) | place(*v, b)] += 1;
    }
    hits
}

// Sobol's first two dimensions are a (0, 2)-sequence, and Owen's scrambling keeps that (Sobol 1967, Owen 1995): of 2^k
// points, every box with an area of 2^-k has one. This holds for the samples of a pixel, and for those of a square of
// pixels.
#[test]
fn draws_fill_the_plane_evenly() {
    let mut scene = own("weekend.toml");
    for (samples, width) in [(64, 1), (16, 2), (4, 4), (1, 64)] {
        path(&mut scene, samples);
        let made = renderer(&scene, Isa::pick(None).unwrap(), 1);
        let frame = frame_params(&scene, 0);
        for isa in Isa::tested() {
            for pair in [0, 1, 5, 700] {
                let mut points = Vec::new();
                for (x, y) in (0..width * width).map(|i| (128 + i % width, 64 + i / width)) {
                    points.extend(isa.get_2d(&made.prepared.first.host(), &frame, (x, y), pair, samples as usize));
                }
                let bits = points.len().ilog2();
                for a in 0..=bits {
                    let hits = boxes(&points, a, bits - a);
                    assert!(hits.iter().all(|&n| n == 1), "{samples} samples, pair {pair}, {a} cuts: {hits:?}");
                }
            }
        }
    }
}

// Other pairs, pixels and frames have other points.
#[test]
fn draws_differ() {
    let mut scene = own("weekend.toml");
    path(&mut scene, 16);
    let made = renderer(&scene, Isa::pick(None).unwrap(), 1);
    let isa = Isa::pick(None).unwrap();
    let of = |number: u32, place, pair| {
        isa.get_2d(&made.prepared.first.host(), &frame_params(&scene, number), place, pair, 16)
    };
    let here = of(0, (3, 4), 2);
    for other in [of(1, (3, 4), 2), of(0, (4, 4), 2), of(0, (3, 132), 2), of(0, (3, 4), 3)] {
        assert!(here.iter().all(|p| !other.contains(p)));
    }
}

// A filtered pixel is the sum of the small pixels around it, each with the filter's weight.
#[test]
fn filters_weigh_what_is_around_a_pixel() {
    const FINE: u32 = 16;
    let (width, height) = (32u32, 24u32);
    let base = sized(fixed("solids.toml"), width, height, 64);
    // The same view in small pixels, one sample each.
    let fine = sized(base.clone(), FINE * width, FINE * height, 1);
    let linear = |scene: &Scene| Renderer::new(scene.clone()).unwrap().still_linear(0).unwrap().0;
    let small = linear(&fine);
    let rmse = |a: &[f32], b: &[f32]| {
        (a.iter().zip(b).map(|(x, y)| f64::from(x - y).powi(2)).sum::<f64>() / a.len() as f64).sqrt()
    };
    let mut images = Vec::new();
    for (filter, name) in Filter::ALL {
        let reach = (filter.radius() * f64::from(FINE)) as i64;
        let mut expected = Vec::new();
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let (mut sum, mut all) = ([0.0; 3], 0.0);
            let middle = |i: u32| i64::from(i * FINE + FINE / 2);
            for (i, j) in (-reach..reach).flat_map(|i| (-reach..reach).map(move |j| (i, j))) {
                let off = |k: i64| (k as f64 + 0.5) / f64::from(FINE);
                let (row, column) = (middle(y) + i, middle(x) + j);
                if (0..i64::from(FINE * height)).contains(&row) && (0..i64::from(FINE * width)).contains(&column) {
                    let weight = filter.weight(off(i)) * filter.weight(off(j));
                    let at = 3 * (row * i64::from(FINE * width) + column) as usize;
                    (0..3).for_each(|c| sum[c] += weight * f64::from(small.data()[at + c]));
                    all += weight;
                }
            }
            expected.extend(sum.map(|x: f64| (x / all) as f32));
        }
        let mut scene = base.clone();
        scene.film.filter = filter;
        let image = linear(&scene).data().to_vec();
        // Border pixels look beyond the picture, which the small ones do not show.
        let inner = |data: &[f32]| -> Vec<f32> {
            let rows = data.chunks_exact(3 * width as usize).skip(2).take(height as usize - 4);
            rows.flat_map(|row| row[6..row.len() - 6].to_vec()).collect()
        };
        let off = rmse(&inner(&image), &inner(&expected));
        assert!(off < 0.006, "{name}: {off}");
        images.push(image);
    }
    assert!(rmse(&images[0], &images[1]) > 0.01 && rmse(&images[1], &images[2]) > 0.002);
}

// A limit removes light that few samples find after diffuse surfaces, and leaves light that mirrors show.
#[test]
fn clamp_takes_fireflies() {
    let scene = toml(
        "[output]\nsize = [48, 36]\n[render]\nintegrator = \"path\"\nsamples = 16\ndepth = 8\n\
         [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n[camera]\nposition = [0, -4, 3]\nlook_at = [0, -1.5, -0.6]\nfov_deg = 40\n\
         [floor]\ncorners = [[-5, -5, -0.6], [-5, 5, -0.6], [5, 5, -0.6], [5, -5, -0.6]]\n\
         [[sphere]]\ncenter = [0, 0, 0.4]\nradius = 1\nmaterial = \"metal\"\n\
         [[sphere]]\ncenter = [-1.6, -1.2, 1.2]\nradius = 0.1\nmaterial = \"light\"\nstrength = 400\n",
    );
    let linear = |scene: &Scene, clamp: f64| {
        let mut scene = scene.clone();
        scene.render.clamp = clamp;
        Renderer::new(scene).unwrap().still_linear(0).unwrap().0
    };
    let brightest = |image: &crate::film::image::Image<f32>| image.data().iter().fold(0.0f32, |a, &b| a.max(b));
    let (free, limited) = (linear(&scene, 0.0), linear(&scene, 1.0));
    assert!(brightest(&free) > 2.0 * brightest(&limited), "{} {}", brightest(&free), brightest(&limited));
    let mut mirrors = scene;
    mirrors.world.floor = None;
    mirrors.camera.path = crate::scene::CameraPath::Fixed { position: [0.0, -4.0, 1.0], look_at: [0.0, 0.0, 0.4] };
    assert!(brightest(&linear(&mirrors, 0.0)) > 50.0);
    assert_eq!(linear(&mirrors, 0.0), linear(&mirrors, 1.0));
}

fn adaptive(name: &str, min: u32, max: u32, noise: f64) -> Scene {
    let scene = if name == "solids.toml" { fixed(name) } else { own(name) };
    let mut scene = sized(scene, 97, 72, 1);
    scene.film = crate::scene::FilmSettings::default();
    scene.render.set_adaptive(min, max, noise);
    scene
}

// The samples of a pixel depend on it and its neighbors: not on instruction sets, threads, tiles or bands.
#[test]
fn adaptive_samples_are_the_same_however_they_are_traced() {
    for (name, min, max) in [("solids.toml", 2, 32), ("coursework.txt", 1, 7), ("weekend.toml", 16, 48)] {
        let scene = adaptive(name, min, max, 3.0);
        let expected = same_on_every_set(name, &scene, 0);
        assert_eq!(render_with(&scene, Isa::available()[0], 1, 0), expected, "{name}");
        for isa in Isa::tested() {
            let cpu = renderer(&scene, isa, 0).cpu(isa);
            let mut part = Memory::default();
            for rows in [0..16, 16..48, 48..72] {
                let bytes = 4 * 97 * rows.start as usize..4 * 97 * rows.end as usize;
                cpu.run(&Task { rows, ..whole(&scene, 0) }, &frame_params(&scene, 0), &mut part);
                assert_eq!(part.bytes(), &expected[bytes], "{name} on {isa:?}");
            }
        }
        // The host's post steps make the same picture of sums and counts.
        let linear = Renderer::new(scene.clone()).unwrap().still_linear(0).unwrap();
        let (image, layers) = (linear.0, linear.1.unwrap());
        let codes = image.data().iter().map(|&x| code(f64::from(x)));
        let shown = expected.chunks(4).flat_map(|p| p[..3].to_vec());
        let worst = codes.zip(shown).map(|(a, b)| (a - f64::from(b)).abs()).fold(0.0, f64::max);
        assert!(worst < 0.7, "{name}: {worst}");
        let taken = layers.samples.data();
        assert!(taken.contains(&(min as f32)) && taken.contains(&(max as f32)), "{name}");
        assert!(taken.iter().all(|&n| (min as f32..=max as f32).contains(&n)), "{name}");
    }
}

// About the error of 16 samples per pixel, which have wider filters to help them, with less than half of their rays; a
// lower limit reduces the error.
#[test]
fn adaptive_samples_go_where_they_are_needed() {
    let truth = sized(own("coursework.txt"), 640, 480, 15);
    let traced = |scene: &Scene| {
        let mut picture = Memory::default();
        let cpu = renderer(scene, Isa::available()[0], 0).cpu(Isa::available()[0]);
        let stats = cpu.run(&whole(scene, 0), &frame_params(scene, 0), &mut picture);
        (picture.bytes().to_vec(), stats.rays)
    };
    let (expected, _) = traced(&truth);
    let error = |picture: &[u8]| {
        let square = |(a, b): (&u8, &u8)| (f64::from(*a) - f64::from(*b)).powi(2);
        (picture.iter().zip(&expected).map(square).sum::<f64>() / (3 * expected.len() / 4) as f64).sqrt()
    };
    let (even, even_rays) = traced(&sized(truth.clone(), 640, 480, 4));
    let mut errors = Vec::new();
    for noise in [Sampling::NOISE, 8.0 * Sampling::NOISE] {
        let mut scene = truth.clone();
        scene.render.set_adaptive(2, 64, noise);
        let (picture, rays) = traced(&scene);
        errors.push(error(&picture));
        assert!(2 * rays < even_rays, "{rays} of {even_rays}");
    }
    assert!(errors[0] < 1.15 * error(&even) && errors[0] < 0.7 * errors[1], "{errors:?}, {}", error(&even));
}

// A path-traced picture with the same mean number of samples has more noise if each pixel takes the same number.
#[test]
fn adaptive_paths_end_where_the_picture_is_smooth() {
    let scene = |samples: u32| {
        let mut scene = sized(own("weekend.toml"), 96, 54, 1);
        path(&mut scene, samples);
        scene
    };
    let truth = render(&scene(4096), 0);
    let error = |picture: &[u8]| {
        let square = |(a, b): (&u8, &u8)| (f64::from(*a) - f64::from(*b)).powi(2);
        (picture.iter().zip(&truth).map(square).sum::<f64>() / (3 * truth.len() / 4) as f64).sqrt()
    };
    let mut each = scene(1);
    each.render.set_adaptive(16, 512, 1.5);
    let taken = Renderer::new(each.clone()).unwrap().still_linear(0).unwrap().1.unwrap().samples;
    let mean = f64::from(taken.data().iter().sum::<f32>()) / taken.data().len() as f64;
    let (ours, even) = (error(&render(&each, 0)), error(&render(&scene(mean.ceil() as u32), 0)));
    assert!(ours < even, "{ours} and {even} with {mean} samples on average");
}

// Pixels that have missed a small light agree with themselves, and would stop too dark: only the pixels around them know.
#[test]
fn adaptive_samples_are_as_bright_as_all() {
    let room = |samples: &str| {
        let wall = |material: &str, centre: &str, radius: f64| {
            format!("[[sphere]]\ncenter = {centre}\nradius = {radius}\n{material}\n")
        };
        let diffuse = "color = [0.8, 0.75, 0.7]";
        let things = [
            wall(diffuse, "[0, 0, -101]", 100.0),
            wall(diffuse, "[0, 102, 0]", 100.0),
            wall(diffuse, "[-102, 0, 0]", 100.0),
            wall(diffuse, "[0.4, 0.2, -0.4]", 0.6),
            wall("material = \"metal\"", "[-0.9, 0.6, -0.5]", 0.5),
            // The lamp hangs below a screen: all its light is indirect.
            wall("material = \"light\"\nstrength = 60", "[0.2, 0, 1.6]", 0.08),
            wall(diffuse, "[0.2, 0, 1.2]", 0.3),
        ];
        let scene = toml(&format!(
            "[output]\nsize = [96, 72]\n[render]\nintegrator = \"path\"\nsamples = {samples}\ndepth = 6\n\
             [sky]\nzenith = [0, 0, 0]\nhorizon = [0, 0, 0]\n\
             [camera]\nposition = [3, -4, 1]\nlook_at = [0, 0, 0]\nfov_deg = 40\n{}",
            things.concat()
        ));
        let (image, layers) = Renderer::new(scene).unwrap().still_linear(0).unwrap();
        let taken = layers.unwrap().samples.data().to_vec();
        (mean(image.data()), mean(&taken))
    };
    let (all, _) = room("256");
    for range in ["\"4..256\"", "\"16..256\""] {
        let (light, taken) = room(range);
        assert!((light / all - 1.0).abs() < 3e-3, "{range}: {:+.3} %", 100.0 * (light / all - 1.0));
        assert!(taken < 200.0, "{range}: {taken} samples");
    }
}

#[test]
fn adaptive_sums_tell_what_they_are_of() {
    let scene = adaptive("solids.toml", 2, 32, 3.0);
    let task = Task { output: TaskOutput::Sums, ..whole(&scene, 0) };
    let mut memory = Memory::default();
    let isa = Isa::available()[0];
    renderer(&scene, isa, 0).cpu(isa).run(&task, &frame_params(&scene, 0), &mut memory);
    let (sums, counts) = memory.sums_and_counts(&task);
    assert_eq!((sums.len(), counts.len()), (3 * 97 * 72, 97 * 72));
    assert!(counts.iter().all(|n| [2, 4, 8, 16, 32].contains(n)));
}
