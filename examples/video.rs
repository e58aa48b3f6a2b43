//! Frames of one's own through the video sink: it encodes whatever pictures it is given.
//! Run with `cargo run --release --example video waves.mp4`.
#![allow(clippy::print_stdout, reason = "an example shows what it has")]

use polyfly::{FrameList, Outcome, RenderedFrame, RunInfo, Sink, VideoOptions, VideoSink};
use std::path::PathBuf;

const SIZE: (u32, u32) = (320, 180);
const FRAMES: u32 = 48;

// Rings that run outwards.
fn picture(frame: u32) -> Vec<u8> {
    let mut pixels = Vec::new();
    for y in 0..SIZE.1 {
        for x in 0..SIZE.0 {
            let (dx, dy) = (f64::from(x) - 160.0, f64::from(y) - 90.0);
            let distance = (dx * dx + dy * dy).sqrt();
            let wave = 0.5 + 0.5 * libm::cos(distance / 6.0 - f64::from(frame) * std::f64::consts::TAU / 12.0);
            pixels.extend([(255.0 * wave) as u8, (160.0 * wave) as u8, 90, 255]);
        }
    }
    pixels
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let path = std::env::args().nth(1).map_or(temporary.path().join("waves.mp4"), PathBuf::from);
    let options = VideoOptions::new().fps(24.0);
    let mut video = Box::new(VideoSink::create(&path, &FrameList::all(FRAMES), &options)?);
    video.open(&RunInfo { frames: FRAMES as usize, first: 0, width: SIZE.0, height: SIZE.1 })?;
    for number in 0..FRAMES {
        let picture = picture(number);
        video.frame(&RenderedFrame::of_rgba8(number, SIZE, &picture))?;
    }
    let outcome = video.finish(Outcome::Complete)?;
    println!("{outcome:?}: {} bytes", std::fs::metadata(&path)?.len());
    Ok(())
}
