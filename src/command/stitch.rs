//! `polyfly stitch`: a video of frames that exist, of a folder that polyfly has filled or of somebody else's pictures.

use super::load_scene;
use super::request::encoding;
use super::stop::{Stop, this_command};
use crate::cli::{Failure, StitchArgs};
use crate::report::Remarks;
use crate::run::stitch::StitchRequest;
use crate::run::{VideoOptions, video_options};
use std::time::Duration;

// How long what is in flight may take once it is asked to stop.
const GRACE: Duration = Duration::from_secs(30);

/// Makes a video from a folder's frames.
pub fn run(args: &StitchArgs) -> Result<(), Failure> {
    video_options::check_name("-o", &args.output)?;
    let scene = args.scene.as_ref().map(|name| load_scene(name, &args.changes)).transpose()?;
    let request = StitchRequest {
        frames: args.changes.frames.clone(),
        scene: scene.map(|(scene, _)| scene),
        hash: args.hash.clone(),
        encoding: VideoOptions { fps: args.fps, ..encoding(&args.video) },
        overwrite: args.overwrite,
        memory_limit: args.limit_memory.map(|mib| mib << 20),
        ..StitchRequest::new(&args.source, &args.output)
    };
    let (cancel, mut remarks) = (request.cancel.clone(), Remarks { quiet: args.changes.quiet });
    let plan = request.plan(&mut remarks)?;
    let stop = Stop::listen(GRACE);
    stop.attach(cancel, Some(this_command()));
    plan.run(&mut remarks).map_err(|e| stop.failure(e))
}
