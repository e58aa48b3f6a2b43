//! An animation that is interrupted, and a second run that renders the rest and makes the video.
//! Run with `cargo run --release --example animation FOLDER`; without a folder it uses a temporary one.
#![allow(clippy::print_stdout, reason = "an example shows what it has")]

use polyfly::{Cancel, Error, FrameReport, Progress, RunRequest, Scene, VideoOptions};
use std::path::PathBuf;

/// Stops a run after some frames, as Ctrl-C would.
struct StopAfter {
    frames: usize,
    cancel: Cancel,
}

impl Progress for StopAfter {
    fn frame(&mut self, report: &FrameReport) {
        println!("frame {} took {:.1?}", report.frame, report.stats.time);
        self.frames -= 1;
        if self.frames == 0 {
            self.cancel.stop();
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let folder = std::env::args().nth(1).map_or(temporary.path().to_owned(), PathBuf::from);

    let mut scene = Scene::sample();
    (scene.render.width, scene.render.height, scene.output.frames) = (160, 120, 24);
    let request = RunRequest::new(scene)
        .files(folder.join("frames/%04d.png"))?
        .video(folder.join("clip.mp4"))
        .video_options(VideoOptions::new().fps(12.0));

    // A plan has looked at what exists, and has written nothing.
    let cancel = Cancel::new();
    let plan = request.clone().cancel(cancel.clone()).plan(&mut ())?;
    println!(
        "{} frames are to be rendered in {} MB of memory",
        plan.to_render().map_or(0, |f| f.len()),
        plan.memory() >> 20
    );
    match plan.run(&mut StopAfter { frames: 5, cancel }) {
        Err(Error::Interrupted { done, total }) => println!("stopped after {done} of {total} frames"),
        other => println!("it was faster than the interruption: {other:?}"),
    }

    // Whole frames of the same scene stay.
    let report = request.resume().plan(&mut ())?.run(&mut ())?;
    println!("{} frames are new", report.frames);
    for file in report.files {
        println!("{} has {} bytes", file.display(), std::fs::metadata(&file)?.len());
    }
    Ok(())
}
