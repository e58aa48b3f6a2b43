//! The command of the 2011 program, `polyfly particles CPU|GPU FILE WIDTH HEIGHT IMAGE`, and `particles generate`.

use super::measured::{Measured, median};
use super::render::open_result;
use super::{generate, info, particle_files, stats};
use crate::assets::Assets;
use crate::assets::files::Files;
use crate::assets::particles::ColouredSpheres;
use crate::assets::source::Limits;
use crate::cli::{Failure, ParticlesArgs, ParticlesCommand, ParticlesDevice, PictureArgs, check_size, environment};
use crate::error::Error;
use crate::language::{count, msg};
use crate::math::srgb::srgb;
use crate::math::vec3::{Vec3, add, length, scale, sub};
use crate::output::OutputError;
use crate::output::files::OneFrameSink;
use crate::output::formats::Format;
use crate::quote::brief;
use crate::render::frames::FrameList;
use crate::render::stats::ms;
use crate::render::{Devices, RenderOptions, Renderer};
use crate::report::{print, say};
use crate::scene::limits::{PICTURES, endings};
use crate::scene::{
    Camera, CameraPath, FilmSettings, Light, Material, Output, Particles, Projection, RenderSettings, Sampling, Scene,
    Sky, Tone, World, series,
};
use crate::threads::shared_pool;
use std::time::Instant;

pub fn run(args: &ParticlesArgs) -> Result<(), Failure> {
    match (&args.command, &args.picture) {
        (Some(ParticlesCommand::Generate(args)), _) => generate::run(args),
        (Some(ParticlesCommand::Convert(args)), _) => particle_files::run(args),
        (Some(ParticlesCommand::Info(args)), _) => info::run(args),
        (Some(ParticlesCommand::Stats(args)), _) => stats::run(args),
        (None, Some(args)) => picture(args),
        (None, None) => Err(Failure::usage(msg!(
            "give CPU or GPU, a file of particles, width, height and the picture's name; or `generate`, `convert`, `info` or `stats`"
        ))),
    }
}

fn picture(args: &PictureArgs) -> Result<(), Failure> {
    let format = Format::of_file(&args.image).ok_or_else(|| {
        let image = args.image.display();
        Failure::usage(msg!(
            "`{name}`: expected a picture whose name ends in {endings}",
            name = image,
            endings = endings(&PICTURES)
        ))
    })?;
    check_size(args.width, args.height).map_err(Error::Usage)?;
    let path = args.file.display().to_string();
    let particles = Particles {
        path: path.clone().into(),
        names: series::files(&args.file),
        first: args.step.unwrap_or(0),
        // All frames, which serve for timing, are equal.
        step: 0,
        colour_by: args.color_by.as_str().into(),
        map: args.map.clone(),
        material: Material { colour: [1.0; 3], highlight: Some(0.0), ..Material::default() },
        legend: args.legend,
        ..Particles::default()
    };
    let start = Instant::now();
    let limits = args.limit_memory.map_or_else(Limits::default, |mib| Limits::within(mib << 20));
    let files = Files::from(limits);
    let load = || ColouredSpheres::load(&particles, 0, 1, None, &files).map(|read| (read.bounds(), read));
    let (bounds, read) = shared_pool().map_err(OutputError::from)?.install(load)?;
    let read_time = start.elapsed();
    match (particles.is_series() || read.steps > 1, args.step) {
        (false, Some(_)) => {
            return Err(Failure::usage(msg!(
                "--step: {name} names no series: it has no %d or %04d",
                name = brief(&path)
            )));
        }
        (true, None) => {
            say(msg!("{path} is a series: its step 0 is drawn; --step N draws another", path = brief(&path)))
        }
        _ => {}
    }
    if let Some(unknown) = read.remark(&particles.colour_by) {
        say(unknown.to_owned());
    }
    let scene = view(args, particles, bounds)?;
    let options = RenderOptions {
        devices: match args.device {
            ParticlesDevice::Cpu => Devices::Cpu,
            ParticlesDevice::Gpu => Devices::Gpu,
        },
        isa: environment("POLYFLY_ISA"),
        ..RenderOptions::on_cpu()
    };
    let start = Instant::now();
    // The scene has only particles, so only their tree is built, or its substitute where a GPU fills a grid.
    let assets = Assets { particles: Some(read), files, ..Assets::default() };
    let mut renderer = Renderer::prepare_with(scene, options, |_, _| Ok(assets))?;
    let built = start.elapsed();
    if let Some(why) = renderer.lost_legend() {
        say(why.to_owned());
    }
    let options = format.options(None, Tone::Clip { gamma: 0.0 }).map_err(Error::Usage)?;
    // All frames are equal and serve for timing.
    let sink = OneFrameSink { path: args.image.clone(), number: args.runs - 1, format, options };
    let mut measured = Measured::default();
    renderer.run(&FrameList::all(args.runs), vec![Box::new(sink)], &mut measured)?;
    let mut times: Vec<f64> = measured.frames.iter().map(|frame| ms(frame.stats.kernel)).collect();
    let n = renderer.prepared.assets.particles.as_ref().map_or(0, |particles| particles.count);
    let (device, threads) = (measured.devices.join(", "), renderer.threads());
    let uploaded = match args.device {
        ParticlesDevice::Cpu => String::new(),
        ParticlesDevice::Gpu => format!("\tupload {:.4} ms", ms(renderer.uploaded)),
    };
    print(&format!(
        "{}\t{device}, {threads} threads\tread {:.1} ms\ttree {:.1} ms\trender {:.4} ms\t{} rays{uploaded}\n",
        count!(n, "particle", "particles"),
        ms(read_time),
        ms(built),
        median(&mut times),
        measured.frames.last().map_or(0, |frame| frame.stats.rays)
    ))?;
    if args.open { open_result(Some(&args.image)) } else { Ok(()) }
}

// The view of the 2011 program: a pinhole camera, ambient light and Lambert's cosine, no shadows, on black.
fn view(args: &PictureArgs, particles: Particles, [low, high]: [Vec3; 2]) -> Result<Scene, Failure> {
    let middle = scale(add(low, high), 0.5);
    let look_at = args.look_at.unwrap_or(middle);
    // At a distance where the box fits, a little from above and from the side.
    let size = length(sub(high, low));
    let eye = args.eye.unwrap_or(add(middle, scale([0.45, -1.0, 0.3], 1.5 * size)));
    let away = length(sub(eye, look_at));
    let plane =
        args.plane_width.unwrap_or(size * 1.05 * f64::from(args.width.max(args.height)) / f64::from(args.height));
    let positive = |x: f64| x.is_finite() && x > 0.0;
    if !positive(away) || !positive(plane) {
        return Err(Failure::usage(msg!(
            "the eye must be away from what it looks at, and the image plane have a width"
        )));
    }
    if !(args.ambient >= 0.0 && args.diffuse >= 0.0) {
        return Err(Failure::usage(msg!("--ambient and --diffuse: expected shares of 0 or more")));
    }
    let grey = |x: f64| -> Vec3 { [srgb(x); 3] };
    let black = Sky { zenith: [0.0; 3], horizon: [0.0; 3], ..Sky::default() };
    Ok(Scene {
        world: World {
            // At the distance of a sun, over the left shoulder.
            lights: vec![Light {
                position: add(look_at, scale(add(sub(eye, look_at), [-0.3 * away, 0.0, 0.5 * away]), 1000.0)),
                colour: grey(args.diffuse),
                radius: 0.0,
            }],
            ambient: grey(args.ambient),
            highlight: 0.0,
            sky: black,
            particles: Some(particles),
            ..World::default()
        },
        camera: Camera {
            projection: if args.orthographic { Projection::Orthographic } else { Projection::Perspective },
            width: args.orthographic.then_some(plane),
            fov_deg: 2.0 * libm::atan(0.5 * plane / away).to_degrees(),
            path: CameraPath::Fixed { position: eye, look_at },
            ..Camera::default()
        },
        render: RenderSettings {
            width: args.width,
            height: args.height,
            sampling: Sampling::PerAxis(args.samples),
            depth: 0,
            shadows: false,
            ..RenderSettings::default()
        },
        film: FilmSettings { tone: Tone::Clip { gamma: 0.0 }, ..FilmSettings::default() },
        output: Output { frames: args.runs, ..Output::default() },
        ..Scene::default()
    })
}
