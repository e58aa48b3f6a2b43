//! Converts flags to a run's request.

use crate::assets::source::Limits;
use crate::cli::{DeviceArgs, Failure, RenderArgs, VideoArgs, environment, home};
use crate::language::msg;
use crate::output::stream::Stream;
use crate::output::video::VideoOptions;
use crate::output::{NameFile, OutputError};
use crate::quote::brief;
use crate::render::plan::Split;
use crate::render::{Devices, RenderOptions};
use crate::run::request::PictureTarget;
use crate::run::sandbox::PathSandbox;
use crate::run::{Existing, RunRequest, Shard, memory_limit};
use crate::scene::{Scene, expand_home};
use crate::system;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The request for a scene; `name` is its file's name, or `-` for stdin.
pub fn request(args: &RenderArgs, mut scene: Scene, name: &str) -> Result<RunRequest, Failure> {
    let frames = args.common.frame_list(&scene)?;
    let expanded = |text: &str| expand_home(text, home());
    let pictures = match args.output.as_deref() {
        None if args.hash => PictureTarget::Stream(Stream::sums(), open_stream),
        None => PictureTarget::Own,
        Some(text) => match Stream::of(text) {
            Some(stream) => PictureTarget::Stream(stream, open_stream),
            None if text.starts_with('-') => {
                return Err(Failure::usage(msg!(
                    "--output: `{text}` is a flag; a file of that name is ./{text}",
                    text = brief(text)
                )));
            }
            None => PictureTarget::Path(expanded(text).display().to_string()),
        },
    };
    scene.output.bits = scene.output.bits.filter(|_| !args.hash);
    Ok(RunRequest {
        is_checked: true,
        name: name.to_owned(),
        frames,
        shard: args.shard.map(|(number, count)| Shard { number, count }),
        pictures,
        no_files: args.no_frames,
        video: args.video.as_ref().map(|video| video.to_str().map_or_else(|| video.clone(), expanded)),
        encoding: VideoOptions { fps: args.fps, ..encoding(&args.encoding) },
        // A scene on stdin overwrites frames, as the coursework's programs do.
        existing: match (args.resume, args.overwrite || name == "-") {
            (true, _) => Existing::Kept,
            (_, true) => Existing::Overwritten,
            _ => Existing::Refused,
        },
        replaces_video: args.overwrite,
        options: options(args)?,
        memory_limit: args.limit_memory.map(|mib| mib << 20),
        sandbox: PathSandbox::of(name, args.common.allow_outside),
        ..RunRequest::new(scene)
    })
}

pub fn encoding(args: &VideoArgs) -> VideoOptions {
    let own = VideoOptions::new();
    VideoOptions {
        fps: None,
        codec: args.codec,
        encode: args.encode,
        crf: args.crf,
        bits: args.video_bits.as_deref().and_then(|bits| bits.parse().ok()),
        hdr: args.hdr,
        audio: args.audio.clone(),
        limit: args.limit,
        ffmpeg: named_ffmpeg(args.ffmpeg.as_deref()),
        timeout: test_option("timeout").map_or(own.timeout, |seconds| Duration::from_secs(u64::from(seconds))),
        segment: test_option("segment").unwrap_or(own.segment),
        encoder_threads: test_option("threads").unwrap_or(own.encoder_threads),
        encoders: test_option("encoders").unwrap_or(own.encoders),
        queue_bytes: test_option("waiting").map_or(own.queue_bytes, |mib| (mib as usize) << 20),
        ..own
    }
}

// A number that tests and measurements change, since small films have one segment: `POLYFLY_TEST_OPTIONS=segment=7,encoders=2`.
fn test_option(name: &str) -> Option<u32> {
    let all = environment("POLYFLY_TEST_OPTIONS")?;
    all.split(',').filter_map(|one| one.split_once('=')).find(|(key, _)| *key == name)?.1.parse().ok()
}

/// The ffmpeg program that the user named by flag or environment variable, if any.
pub fn named_ffmpeg(flag: Option<&Path>) -> Option<PathBuf> {
    flag.map(Path::to_owned).or_else(|| environment("POLYFLY_FFMPEG").map(PathBuf::from))
}

pub fn options(args: &RenderArgs) -> Result<RenderOptions, Failure> {
    let fault = environment("POLYFLY_FAULT").and_then(|text| {
        let (gpu, task) = text.split_once(':')?;
        Some((gpu.parse().ok()?, task.parse().ok()?))
    });
    let limit = args.limit_memory.map(|mib| mib << 20);
    Ok(RenderOptions {
        devices: devices(args)?,
        threads: args.device.threads.unwrap_or(0),
        isa: environment("POLYFLY_ISA"),
        split: match test_option("tiles") {
            Some(0) => Split::Frames,
            Some(_) => Split::Tiles,
            None => Split::Auto,
        },
        fault,
        denoise: args.denoise.then(super::denoiser::library),
        limits: Limits { memory: memory_limit::limit(limit), ..limit.map_or_else(Limits::default, Limits::within) },
        ..RenderOptions::new()
    })
}

/// The options of one device, for jobs of one picture at a time. As for runs, the environment holds where flags say nothing.
pub fn options_of(args: &DeviceArgs) -> Result<RenderOptions, Failure> {
    let mut all = RenderArgs { device: args.clone(), ..RenderArgs::default() };
    all.take_defaults(environment)?;
    Ok(RenderOptions::new().devices(devices(&all)?).threads(all.device.threads.unwrap_or(0)))
}

fn devices(args: &RenderArgs) -> Result<Devices, Failure> {
    let names: Vec<&str> = args.devices.iter().map(String::as_str).collect();
    match names[..] {
        _ if args.device.cpu => Ok(Devices::Cpu),
        [] if args.device.gpu => Ok(Devices::Gpu),
        [] => Ok(Devices::Auto),
        ["cpu"] => Ok(Devices::Cpu),
        ["all"] => Ok(Devices::AllGpus),
        _ => {
            let gpus = names.iter().filter(|name| **name != "cpu").map(|name| {
                name.parse().map_err(|_| {
                    Failure::usage(msg!(
                        "--devices: `{name}` is not a device; expected `all`, or a list of `cpu` and GPUs' numbers",
                        name = brief(name)
                    ))
                })
            });
            Ok(Devices::List(gpus.collect::<Result<_, _>>()?, names.contains(&"cpu")))
        }
    }
}

// Opens the stream that frames are written to.
fn open_stream(stream: &Stream) -> Result<Box<dyn Write + Send>, OutputError> {
    let Some(path) = stream.path() else {
        if system::stdout_is_closed() {
            let null = system::NULL_DEVICE;
            let what =
                format!("standard output is closed, and the pictures would be lost (-o {null} throws them away)");
            return Err(OutputError::Write("-".into(), std::io::Error::other(what)));
        }
        return Ok(Box::new(std::io::stdout()));
    };
    let file = std::fs::File::options().write(true).open(path).writing(path)?;
    Ok(Box::new(file))
}
