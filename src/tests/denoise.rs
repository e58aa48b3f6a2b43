//! The built-in denoiser: what it keeps, what it removes, and its bytes.

use super::common::*;
use crate::device::{Device, FilmSlice, Task, TaskOutput};
use crate::film::Film;
use crate::film::image::Image;
use crate::film::post::guided::Noisy;
use crate::gpu_types::{FIXED_ONE, Features};
use crate::kernels::Isa;
use crate::render::plan::Split;
use crate::{RenderOptions, Renderer, Scene};

const SIZE: (u32, u32) = (90, 64);

// What a pixel shows: albedo, normal, distance and its light without noise.
type Pixel = ([f32; 3], [f32; 3], f32, f32);

// A picture of what `of` says, with noise of this deviation on the light; its halves, and the truth.
struct Made {
    truth: Image<f32>,
    noisy: Image<f32>,
    halves: [Image<f32>; 2],
    features: Vec<Features>,
}

// A value in fixed point, of this many samples.
fn fixed(x: f32, samples: f32) -> i64 {
    (f64::from(x) * f64::from(FIXED_ONE * samples)).round() as i64
}

// The features of a single sample.
fn features((albedo, normal, depth, _): &Pixel) -> Features {
    let [albedo, normal] = [albedo, normal].map(|v| v.map(|x| fixed(x, 1.0)));
    Features { albedo, normal, depth: depth.to_bits(), hits: u32::from(depth.is_finite()), body: -1, unused: 0 }
}

fn made((width, height): (u32, u32), deviation: f32, of: impl Fn(u32, u32) -> Pixel) -> Made {
    let mut draws = Draws(77);
    let pixels: Vec<Pixel> = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| of(x, y)).collect();
    let image = |channels: usize, data: Vec<f32>| Image::new(width, height, channels, data);
    let lit = |p: &Pixel, noise: f32| p.0.map(|a| a.max(0.05) * (p.3 + noise).max(0.0));
    // The sum of uniform numbers.
    let mut noise = || deviation * (0..12).map(|_| draws.next() - 0.5).sum::<f32>() * std::f32::consts::SQRT_2;
    let halves = [(); 2].map(|()| image(3, pixels.iter().flat_map(|p| lit(p, noise())).collect()));
    let [a, b] = &halves;
    let mean = a.data().iter().zip(b.data()).map(|(a, b)| 0.5 * (a + b)).collect();
    Made {
        truth: image(3, pixels.iter().flat_map(|p| lit(p, 0.0)).collect()),
        noisy: image(3, mean),
        features: pixels.iter().map(features).collect(),
        halves,
    }
}

impl Made {
    // The film of both halves with eight samples each, which are known apart or not.
    fn film(&self, with_halves: bool) -> Film {
        let mut film = Film::new(self.noisy.width(), self.noisy.height());
        for (half, image) in self.halves.iter().enumerate() {
            let half = if with_halves { half } else { 0 };
            film.expect(half, 8);
            film.add(half, 0, &image.data().iter().map(|&x| fixed(x, 8.0)).collect::<Vec<_>>());
        }
        film.expect_features(1);
        film.add_features(0, bytemuck::cast_slice(&self.features));
        film
    }
    fn filtered(&self, with_halves: bool, isa: Isa) -> Image<f32> {
        Noisy::of(&self.film(with_halves), isa).clean(isa)
    }
    fn error(&self, image: &Image<f32>) -> f64 {
        rmse(image.data(), self.truth.data())
    }
}

fn widest() -> Isa {
    Isa::available()[0]
}

const UP: [f32; 3] = [0.0, 0.0, 1.0];

// A floor that recedes, a checkered wall, a ball, a sky, and a lamp.
fn room(x: u32, y: u32) -> Pixel {
    let (dx, dy) = (x as f32 - 30.0, y as f32 - 36.0);
    let r = (dx * dx + dy * dy).sqrt() / 14.0;
    if (70..73).contains(&x) && (10..13).contains(&y) {
        ([0.3; 3], [0.0, -1.0, 0.0], 5.0, 40.0)
    } else if r < 1.0 {
        let n = [dx / 14.0, -(1.0 - r * r).sqrt(), -dy / 14.0];
        ([0.8, 0.3, 0.2], n, 3.0 - (1.0 - r * r).sqrt(), 0.6 + 0.4 * n[0])
    } else if y > 44 {
        ([0.5, 0.5, 0.6], UP, 40.0 / (y as f32 - 36.0), 0.8)
    } else if x > 60 {
        let dark = (x / 6 + y / 6).is_multiple_of(2);
        ([if dark { 0.2 } else { 0.9 }; 3], [0.0, -1.0, 0.0], 6.0, 1.0)
    } else {
        ([0.0; 3], [0.0; 3], f32::INFINITY, 8.0)
    }
}

#[test]
fn the_filter_has_the_same_bytes_on_every_set() {
    for size in [SIZE, (1, 1), (1, 9), (9, 1), (3, 2), (67, 5), (128, 17)] {
        let made = made(size, 0.4, room);
        for with_halves in [true, false] {
            let bits = |isa| made.filtered(with_halves, isa).data().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let expected = bits(widest());
            assert!(expected.iter().all(|&x| f32::from_bits(x).is_finite()), "{size:?}");
            assert!(Isa::tested().into_iter().all(|isa| bits(isa) == expected), "{size:?}");
        }
    }
}

#[test]
fn noise_is_removed_and_edges_stay() {
    let made = made(SIZE, 0.2, room);
    for (with_halves, limit) in [(true, 0.4), (false, 0.5)] {
        let image = made.filtered(with_halves, widest());
        let (before, after) = (made.error(&made.noisy), made.error(&image));
        assert!(after < limit * before, "{after} of {before}, {with_halves}");
        // The lamp keeps its light, and gives its neighbors none.
        assert!((image.pixel(71, 11)[0] / 12.0 - 1.0).abs() < 0.1, "{:?}", image.pixel(71, 11));
        let beside = |x, y| (f64::from(image.pixel(x, y)[0]), f64::from(made.truth.pixel(x, y)[0]));
        for (x, y) in [(75, 11), (68, 11), (71, 8), (61, 20), (59, 20), (30, 40), (30, 52)] {
            let (got, expected) = beside(x, y);
            assert!((got - expected).abs() < 0.12 * expected.max(0.4), "({x}, {y}): {got}, {expected} expected");
        }
    }
}

// A few samples are very bright in one half: their light is spread over the surface, and none is lost.
#[test]
fn bright_samples_are_shared_and_not_cut() {
    let mut made = made(SIZE, 0.2, room);
    let mut draws = Draws(5);
    for half in &mut made.halves {
        for pixel in half.data_mut().chunks_exact_mut(3).filter(|_| draws.next() < 0.02) {
            pixel.iter_mut().for_each(|x| *x = 30.0 * *x + 1.0);
        }
    }
    for with_halves in [true, false] {
        let film = made.film(with_halves);
        let (noisy, image) = (film.resolve(widest()), made.filtered(with_halves, widest()));
        let (before, after) = (mean(noisy.data()), mean(image.data()));
        assert!((after / before - 1.0).abs() < 1e-4, "{after} of {before}, {with_halves}");
        let brightest = |image: &Image<f32>| image.data().iter().copied().fold(0.0, f32::max);
        assert!(brightest(&image) < 0.6 * brightest(&noisy), "{with_halves}");
    }
}

#[test]
fn without_noise_nothing_changes() {
    let still = made(SIZE, 0.0, room);
    let image = still.filtered(true, widest());
    assert!(still.error(&image) < 1e-3, "{}", still.error(&image));
    let flat = made(SIZE, 0.0, |_, _| ([0.5; 3], UP, 4.0, 0.7));
    for with_halves in [true, false] {
        let image = flat.filtered(with_halves, widest());
        assert!(image.data().iter().all(|x| (x - 0.35).abs() < 1e-5), "{with_halves}");
    }
}

// Light that surfaces do not tell of, as a shadow, stays where it differs by more than the noise.
#[test]
fn shadows_stay() {
    let made = made(SIZE, 0.05, |x, _| ([0.5; 3], UP, 4.0, if x < 45 { 1.0 } else { 0.2 }));
    let image = made.filtered(true, widest());
    let row: Vec<f32> = (40..50).map(|x| image.pixel(x, 30)[0]).collect();
    assert!(
        row[..5].iter().all(|x| (x - 0.5).abs() < 0.03) && row[5..].iter().all(|x| (x - 0.1).abs() < 0.03),
        "{row:?}"
    );
}

fn scene(film: &str, samples: u32) -> Scene {
    toml(&format!(
        "[output]\nframes = 2\nsize = [61, 83]\n[render]\nintegrator = \"path\"\nsamples = {samples}\ndepth = 5\n[film]\n{film}\n\
         [sky]\nzenith = 0.1\nhorizon = 0.2\n[camera]\nposition = [5, -3, 2]\nlook_at = [0, 0, 0.4]\n\
         [[body]]\nsolid = \"cube\"\ncolor = \"tomato\"\nreflection = 0.1\n[[sphere]]\ncenter = [0, 2, 0]\nradius = 0.8\n\
         [[sphere]]\ncenter = [4, -4, 6]\nradius = 0.8\nmaterial = \"light\"\nstrength = 30\n\
         [floor]\ncorners = [[-4, -4, -0.8], [-4, 4, -0.8], [4, 4, -0.8], [4, -4, -0.8]]\n"
    ))
}

fn picture(scene: &Scene, options: RenderOptions) -> Vec<f32> {
    Renderer::with_options(scene.clone(), options).unwrap().still_linear(1).unwrap().0.into_data()
}

#[test]
fn paths_come_nearer_to_many_samples_on_all_sets_and_in_parts() {
    let cpu = RenderOptions::on_cpu;
    let many = picture(&scene("", 2048), cpu());
    let (few, clean) = (picture(&scene("", 16), cpu()), picture(&scene("denoise = \"guided\"", 16), cpu()));
    let (before, after) = (rmse(&few, &many), rmse(&clean, &many));
    assert!(after < 0.6 * before, "{after} of {before}");
    assert!((mean(&clean) / mean(&few) - 1.0).abs() < 1e-4, "{} {}", mean(&clean), mean(&few));
    for isa in Isa::tested() {
        let options = RenderOptions { isa: Some(isa.name.into()), threads: 1, ..cpu() };
        assert_eq!(picture(&scene("denoise = \"guided\"", 16), options), clean, "{isa:?}");
    }
    let tiles = RenderOptions { split: Split::Tiles, ..cpu() };
    assert_eq!(picture(&scene("denoise = \"guided\"", 16), tiles), clean);
}

// A single sample, adaptive ones, and those until the noise is low.
#[test]
fn every_way_of_sampling_is_denoised() {
    for samples in ["1", "\"16..64\"", "64\nnoise = 4"] {
        let of = |film: &str| {
            let text = scene(film, 1).to_toml();
            toml(&text.replace("samples = 1\n", &format!("samples = {samples}\n")))
        };
        let (plain, clean) = (of(""), of("denoise = \"guided\""));
        let [plain, clean] = [&plain, &clean].map(|scene| picture(scene, RenderOptions::on_cpu()));
        assert_ne!(plain, clean, "{samples}");
        assert!((mean(&clean) / mean(&plain) - 1.0).abs() < 1e-4, "{samples}");
    }
}

// A mirror that shows a striped wall behind the camera. Its light is noisier than the stripes differ, and is filtered without them.
#[test]
fn what_mirrors_show_stays() {
    let stripes: String = (-9..10)
        .map(|i: i32| {
            let grey = if i % 2 == 0 { 0.5 } else { 0.6 };
            format!(
                "[[rectangle]]\ncenter = [9, {}, 0]\nfacing = [-1, 0, 0]\nsize = [0.25, 4]\nmaterial = \"diffuse\"\ncolor = {grey}\n",
                0.25 * f64::from(i)
            )
        })
        .collect();
    let seen = |film: &str, samples: u32| {
        let scene = toml(&format!(
            "[output]\nsize = [48, 27]\n[render]\nintegrator = \"path\"\nsamples = {samples}\ndepth = 4\n[film]\n{film}\n\
             [sky]\nzenith = 1\nhorizon = 0\n[camera]\nposition = [4, 0, 0]\nlook_at = [0, 0, 0]\nfov_deg = 10\n\
             [[body]]\nsolid = \"cube\"\nreflection = 1\nbar = 0\nradius = 1.7320508\n{stripes}"
        ));
        picture(&scene, RenderOptions::on_cpu())
    };
    let [noisy, clean, many] = [("", 16), ("denoise = \"guided\"", 16), ("", 1024)].map(|(film, n)| seen(film, n));
    assert!((mean(&clean) / mean(&noisy) - 1.0).abs() < 1e-4, "{} of {}", mean(&clean), mean(&noisy));
    assert!(rmse(&clean, &many) < 0.3 * rmse(&noisy, &many), "{} {}", rmse(&clean, &many), rmse(&noisy, &many));
    // Differences between neighbors in a row: the share of the true ones.
    let steps = |picture: &[f32]| -> Vec<f64> {
        let row = |row: &[f32]| row.chunks_exact(3).map(|p| f64::from(p[1])).collect::<Vec<_>>();
        let rows = picture.chunks_exact(3 * 48).map(row);
        rows.flat_map(|row| row.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()).collect()
    };
    let truth = steps(&many);
    let product = |a: &[f64]| a.iter().zip(&truth).map(|(a, b)| a * b).sum::<f64>();
    let kept = product(&steps(&clean)) / product(&truth);
    assert!((0.95..1.05).contains(&kept), "{kept}");
}

// A mirror that shows a red wall behind the camera.
#[test]
fn layers_for_the_library_are_followed_through_mirrors() {
    let scene = toml(
        "[output]\nsize = [32, 32]\n[render]\nintegrator = \"path\"\nsamples = 4\n[camera]\nposition = [4, 0, 0]\nlook_at = [0, 0, 0]\nfov_deg = 10\n\
         [[body]]\nsolid = \"cube\"\nreflection = 1\nbar = 0\nradius = 1.7320508\n\
         [[rectangle]]\ncenter = [9, 0, 0]\nfacing = [-1, 0, 0]\nsize = [8, 8]\ncolor = [1, 0, 0]\n",
    );
    let renderer = Renderer::with_options(scene.clone(), RenderOptions::on_cpu()).unwrap();
    let moments = renderer.prepared.views_of(0, &renderer.prepared.first);
    for isa in Isa::tested() {
        let features = |follows| {
            let task = Task { output: TaskOutput::Features, follows, ..Task::picture(&scene, 0) };
            let mut cpu = renderer.cpu(isa);
            let ticket = cpu.submit(&task, &moments, FilmSlice::default()).unwrap();
            let (_, slice) = cpu.wait(ticket).unwrap();
            bytemuck::cast_slice::<_, Features>(slice.pixels.bytes())[16 * 32 + 16]
        };
        let [first, seen] = [0, 4].map(features);
        let all = 4 * FIXED_ONE as i64;
        assert_eq!((first.albedo, first.normal), ([all; 3], [all, 0, 0]), "{isa:?}");
        assert_eq!((seen.albedo, seen.normal), ([all, 0, 0], [-all, 0, 0]), "{isa:?}");
        assert_eq!((first.depth, first.body, first.hits), (seen.depth, seen.body, seen.hits));
        assert_eq!((seen.body, seen.hits), (0, 4));
    }
}
