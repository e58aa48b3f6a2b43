//! The job of the 2011 program: `polyfly particles CPU|GPU FILE WIDTH HEIGHT IMAGE`; and `particles generate`.

use super::generate::{self, Layout as FileLayout};
use super::{Cloud, numbered};
use crate::app::legend_of;
use crate::assets::Assets;
use crate::camera::{Camera, CylindricalPath};
use crate::cli::{GenerateArgs, ParticlesArgs, ParticlesDevice, ParticlesJob, PictureArgs};
use crate::device::FrameStats;
use crate::device::cpu::{Cpu, Isa};
use crate::device::cuda::Gpu;
use crate::device::driver::Gpus;
use crate::error::Error;
use crate::layout::{Layout, frame};
use crate::pipeline::{Picture, Wants};
use crate::report::{ms, print};
use crate::scene::{Integrator, Light, Material, Output, Particles, Pattern, Scene, Tone, defaults};
use crate::sink::{SinkError, prepare, write_picture, write_whole};
use crate::vector::{Vec3, add, length, scale, sub};
use std::io::Write;
use std::time::Instant;

/// Renders or generates.
pub fn run(args: &ParticlesArgs) -> Result<(), Error> {
    match (&args.job, &args.picture) {
        (Some(ParticlesJob::Generate(args)), _) => make(args),
        (None, Some(args)) => picture(args),
        (None, None) => Err(Error::Usage(
            "give CPU or GPU, a file of particles, width, height and the picture's name; or `generate`".into(),
        )),
    }
}

fn make(args: &GenerateArgs) -> Result<(), Error> {
    if args.steps > 1 && numbered(&args.file, 0).is_none() {
        return Err(Error::Usage("several time steps need a file name with %d".into()));
    }
    let csv = args.file.ends_with(".csv");
    let layout = args.layout.unwrap_or(if csv { FileLayout::Csv } else { FileLayout::Interleaved });
    for step in 0..args.steps {
        let name = numbered(&args.file, u64::from(step)).unwrap_or_else(|| args.file.clone());
        let path = std::path::Path::new(&name);
        let time = f64::from(step) / f64::from(args.steps);
        let bytes = generate::write(&generate::packing(args.count as usize, args.seed, time), layout);
        prepare(path)?;
        write_whole(path, |file| file.write_all(&bytes))?;
    }
    Ok(())
}

fn picture(args: &PictureArgs) -> Result<(), Error> {
    let format = crate::sink::PictureFormat::of(&args.image).ok_or_else(|| {
        Error::Usage(format!("`{}`: pictures are written as .ppm, .png or .data", args.image.display()))
    })?;
    let particles = Particles {
        path: args.file.display().to_string(),
        first: 0,
        step: 1,
        colour_by: args.color_by.into(),
        range: None,
        material: Material { colour: [1.0; 3], highlight: Some(0.0), ..Material::default() },
        legend: args.legend,
    };
    let start = Instant::now();
    let cloud = Cloud::load(&particles, 0)?;
    let read = start.elapsed();
    let scene = view(args, particles, &cloud)?;
    let assets = Assets { particles: Some(cloud), ..Assets::default() };
    let start = Instant::now();
    let layout = Layout::new(&scene, &assets);
    let built = start.elapsed();
    let camera = frame(&scene, 0);
    let mut rgba = Vec::new();
    let mut all: Vec<FrameStats> = Vec::new();
    let device = match args.device {
        ParticlesDevice::Cpu => {
            let isa = Isa::pick()?;
            let cpu = Cpu::new(isa, 0, &scene, layout)?;
            prepare(&args.image)?;
            all.extend((0..args.runs).map(|_| cpu.render(&camera, &mut rgba)));
            format!("cpu {}, {} threads", isa.name, cpu.threads())
        }
        ParticlesDevice::Gpu => {
            let gpus = Gpus::find()?;
            let facts = gpus.list.first().ok_or_else(|| Error::Usage("there is no GPU".into()))?;
            let mut gpu = Gpu::new(facts, &scene, &layout, Wants { rgba: true, yuv: false })?;
            prepare(&args.image)?;
            let mut made = Picture::default();
            for _ in 0..args.runs {
                all.push(gpu.still_into(&camera, &mut made)?);
            }
            rgba = made.rgba.to_vec();
            facts.name.clone()
        }
    };
    if let Some(legend) = legend_of(&scene, &assets) {
        legend.draw(&mut rgba, args.width, args.height);
    }
    write_picture(&args.image, format, args.width, args.height, &rgba)?;
    all.sort_by_key(|s| s.kernel);
    let stats = all[all.len() / 2];
    let n = assets.particles.as_ref().map_or(0, |c| c.balls.len());
    print(&format!(
        "{n} particles\t{device}\tread {:.1} ms\ttree {:.1} ms\trender {:.4} ms\t{} rays\n",
        ms(read),
        ms(built),
        ms(stats.kernel),
        stats.rays
    ))
    .map_err(|e| SinkError::Write("stdout".into(), e).into())
}

// The 2011 program's view: a pinhole camera, ambient light and Lambert's cosine, no shadows, on black.
fn view(args: &PictureArgs, particles: Particles, cloud: &Cloud) -> Result<Scene, Error> {
    let [low, high] = cloud.bounds();
    let middle = scale(add(low, high), 0.5);
    let look_at = args.look_at.unwrap_or(middle);
    // Far enough for the box to fit, a little from above and from the side.
    let size = length(sub(high, low));
    let eye = args.eye.unwrap_or(add(middle, scale([0.45, -1.0, 0.3], 1.5 * size)));
    let away = length(sub(eye, look_at));
    let plane =
        args.plane_width.unwrap_or(size * 1.05 * f64::from(args.width.max(args.height)) / f64::from(args.height));
    let positive = |x: f64| x.is_finite() && x > 0.0;
    if !positive(away) || !positive(plane) {
        return Err(Error::Usage(
            "the eye must be away from what it looks at, and the image plane have a width".into(),
        ));
    }
    if !(args.ambient >= 0.0 && args.diffuse >= 0.0) {
        return Err(Error::Usage("--ambient and --diffuse: expected shares of 0 or more".into()));
    }
    let still = CylindricalPath {
        r0: 0.0,
        z0: 0.0,
        phi0: 0.0,
        ar: 0.0,
        az: 0.0,
        wr: 0.0,
        wz: 0.0,
        wphi: 0.0,
        pr: 0.0,
        pz: 0.0,
    };
    let grey = |x: f64| -> Vec3 { [crate::texture::srgb(x); 3] };
    Ok(Scene {
        frames: 1,
        output: Output {
            frames: Pattern::parse("%d.png").map(|p| p.0).map_err(|e| Error::Usage(e.to_string()))?,
            video: None,
            fps: defaults::FPS,
        },
        width: args.width,
        height: args.height,
        samples: args.samples,
        depth: 0,
        cutoff: defaults::CUTOFF,
        camera: Camera {
            fov_deg: 2.0 * libm::atan(0.5 * plane / away).to_degrees(),
            eye: still,
            target: still,
            fixed: Some([eye, look_at]),
            lens: 0.0,
            focus: 1.0,
        },
        bodies: Vec::new(),
        floor: None,
        // As far as a sun, over the left shoulder.
        lights: vec![Light {
            position: add(look_at, scale(add(sub(eye, look_at), [-0.3 * away, 0.0, 0.5 * away]), 1000.0)),
            colour: grey(args.diffuse),
        }],
        ambient: grey(args.ambient),
        highlight: 0.0,
        zenith: [0.0; 3],
        horizon: [0.0; 3],
        sky_from_below: false,
        shadows: false,
        integrator: Integrator::Whitted,
        tone: Tone::Clip { gamma: 0.0 },
        spheres: Vec::new(),
        meshes: Vec::new(),
        particles: Some(particles),
    })
}
