//! `polyfly stitch`: makes a video of existing frames, from polyfly or from other programs.

use super::request::encoding;
use super::scene_file::load_scene;
use super::stop::{self, this_command};
use crate::cli::{Failure, StitchArgs};
use crate::output::video::VideoOptions;
use crate::report::Remarks;
use crate::run::stitch::StitchRequest;
use crate::run::video_options;
use std::time::Duration;

// How long frames in flight may take after a request to stop.
const GRACE: Duration = Duration::from_secs(30);

pub fn run(args: &StitchArgs) -> Result<(), Failure> {
    video_options::check_name("-o", &args.output)?;
    args.changes.expect_scene(args.expected.scene.as_deref())?;
    let scene = args.expected.scene.as_ref().map(|name| load_scene(name, &args.common, &args.changes)).transpose()?;
    let request = StitchRequest {
        frames: args.common.frames.clone(),
        scene: scene.map(|(scene, _)| scene),
        hash: args.expected.hash.clone(),
        encoding: VideoOptions { fps: args.fps, ..encoding(&args.video) },
        overwrite: args.overwrite,
        memory_limit: args.limit_memory.map(|mib| mib << 20),
        ..StitchRequest::new(&args.source, &args.output)
    };
    let cancel = request.cancel.clone();
    let plan = request.plan(&mut Remarks)?;
    stop::listen(GRACE);
    stop::attach(cancel, Some(this_command()));
    plan.run(&mut Remarks).map_err(stop::failure)
}
