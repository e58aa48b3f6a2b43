//! What flags and the environment make of a scene and of each other.

use super::{Cli, Command, QualityArg, RenderArgs, SamplesArg, SceneArgs, home, parse_threads};
use crate::error::Error;
use crate::output::stream::Stream;
use crate::quote::brief;
use crate::render::frames::FrameList;
use crate::report::{LogFormat, remark};
use crate::scene::limits::VIDEOS;
use crate::scene::{Pattern, PatternError, Sampling, Scene, Solid, TextureSource, expand_home, tokens};
use clap::ValueEnum;
use std::path::Path;

impl Cli {
    /// Takes what the flags leave open from the environment.
    ///
    /// # Errors
    /// A value there is none.
    pub fn take_defaults(&mut self, value: impl Fn(&str) -> Option<String>) -> Result<(), Error> {
        let render = &mut self.render;
        let wrong = |name: &str, why: String| Error::Usage(format!("{name} in the environment: {why}"));
        if let (None, Some(text)) = (render.threads, value("POLYFLY_THREADS")) {
            render.threads = Some(parse_threads(&text).map_err(|e| wrong("POLYFLY_THREADS", e))?);
        }
        if let (None, Some(text)) = (render.log, value("POLYFLY_LOG")) {
            render.log = Some(LogFormat::from_str(&text, true).map_err(|e| wrong("POLYFLY_LOG", e))?);
        }
        if let (true, Some(text)) = (render.devices.is_empty() && !render.cpu && !render.gpu, value("POLYFLY_DEVICES"))
        {
            render.devices = text.split(',').map(|name| name.trim().to_owned()).collect();
        }
        Ok(())
    }

    /// As `-q` after the job's name.
    pub fn be_quiet(&mut self) {
        let quiet = match &mut self.command {
            None => &mut self.render.changes.quiet,
            Some(Command::Check(args)) => &mut args.changes.quiet,
            Some(Command::Preview(args)) => &mut args.changes.quiet,
            Some(Command::Studio(args)) => &mut args.changes.quiet,
            Some(Command::Verify(args)) => &mut args.scene.quiet,
            Some(Command::Bench(args)) => &mut args.changes.quiet,
            Some(Command::Stitch(args)) => &mut args.changes.quiet,
            Some(Command::Report(args)) => &mut args.quiet,
            // They say nothing but what they are asked for.
            Some(_) => return,
        };
        *quiet = true;
    }
}

impl SceneArgs {
    /// The frames that are asked for: all, if a flag does not say otherwise.
    pub fn frame_list(&self, scene: &Scene) -> Result<FrameList, Error> {
        match &self.frames {
            Some(text) => {
                FrameList::parse(text, scene.output.frames).map_err(|e| Error::Usage(format!("--frames: {e}")))
            }
            None => Ok(FrameList::all(scene.output.frames)),
        }
    }

    /// How much work goes into each picture, however it is said.
    pub fn asked_quality(&self) -> Option<QualityArg> {
        let short = [(self.draft, QualityArg::Draft), (self.is_final, QualityArg::Final)];
        self.quality.or_else(|| short.iter().find(|(is_asked, _)| *is_asked).map(|(_, quality)| *quality))
    }

    /// The bodies of a scene in tokens.
    pub fn token_solids(&self) -> [Solid; 3] {
        <[Solid; 3]>::try_from(self.solids.as_slice()).unwrap_or(tokens::SOLIDS)
    }

    /// Puts what the flags say in place of what the scene says.
    pub fn override_scene(&self, scene: &mut Scene) -> Result<(), Error> {
        let here = std::path::Path::new("");
        let wrong = |flag: &str, why: String| Error::Usage(format!("--{flag}: {why}"));
        if !self.solids.is_empty() {
            if self.solids.len() != scene.world.bodies.len() {
                return Err(wrong(
                    "solids",
                    format!("{} names for {} bodies", self.solids.len(), scene.world.bodies.len()),
                ));
            }
            for (body, &solid) in scene.world.bodies.iter_mut().zip(&self.solids) {
                body.solid = solid;
            }
        }
        if let Some(text) = &self.texture {
            let texture = TextureSource::parse(text, here, home().as_deref())
                .map_err(|e| wrong("texture", format!("`{}`: expected {e}", brief(text))))?;
            match &mut scene.world.floor {
                Some(floor) => floor.texture = texture,
                None => return Err(wrong("texture", "the scene has no floor".into())),
            }
        }
        if let Some(quality) = self.asked_quality() {
            quality.apply(scene);
        }
        if let Some((width, height)) = self.size {
            (scene.render.width, scene.render.height) = (width, height);
        }
        let render = &mut scene.render;
        match self.samples {
            // As many a pixel as the other integrator takes.
            Some(SamplesArg::Side(n)) => render.set_samples(if render.is_path() { n * n } else { n }),
            Some(SamplesArg::Range(..)) if scene.camera.shutter > 0.0 => {
                return Err(wrong(
                    "samples",
                    "the scene has a shutter, which spreads all samples over its moments".into(),
                ));
            }
            Some(SamplesArg::Range(..)) if scene.world.sky.transparent => {
                let why = "the sky is transparent: all samples of a pixel count alike in its alpha";
                return Err(wrong("samples", why.into()));
            }
            Some(SamplesArg::Range(min, max)) => {
                let noise =
                    if let Sampling::Adaptive { noise, .. } = render.sampling { noise } else { Sampling::NOISE };
                render.set_adaptive(min, max, noise);
            }
            None => {}
        }
        if let Some(depth) = self.depth {
            scene.render.depth = depth;
        }
        Ok(())
    }
}

/// What flags say of a run and not of its scene.
pub struct RenderRequest {
    /// The frames that are asked for.
    pub frames: FrameList,
    /// What `-o` names, if it is a pipe or a device.
    pub stream: Option<Stream>,
}

impl RenderArgs {
    /// Puts what the flags say in place of what the scene says.
    pub fn override_scene(&self, scene: &mut Scene) -> Result<RenderRequest, Error> {
        let wrong = |why: String| Error::Usage(format!("--output: {why}"));
        let frames = self.changes.frame_list(scene)?;
        let stream = self.output.as_deref().and_then(Stream::of);
        if let (Some(text), None) = (&self.output, &stream) {
            if text.starts_with('-') {
                return Err(wrong(format!("`{0}` is a flag; a file of that name is ./{0}", brief(text))));
            }
            let text = expand_home(text, home().as_deref()).display().to_string();
            if Path::new(&text).is_dir() {
                let folder = text.trim_end_matches('/');
                return Err(wrong(format!("`{text}` is a folder; name the frames in it, such as {folder}/%04d.png")));
            }
            let (pattern, is_made_up) = Pattern::parse(&text).map_err(|e| match &e {
                PatternError::Extension(ending) if VIDEOS.contains(&ending.as_str()) => Error::Misused {
                    what: format!("--output: `{text}` is the name of a film, and -o names frames"),
                    help: format!("`--video {text}` makes a film"),
                },
                _ => wrong(e.to_string()),
            })?;
            let first = frames.nth(0).unwrap_or_default();
            scene.output.files = match (Pattern::has_number(&text), frames.len()) {
                (true, _) => pattern,
                (false, 1) => pattern.of_one(first),
                (false, many) => {
                    let suggested = pattern.suggested();
                    return Err(wrong(format!(
                        "`{text}` is one file, and there are {many} frames: write -o {suggested}"
                    )));
                }
            };
            if is_made_up && !scene.output.files.is_of_one() && !self.changes.quiet {
                let first = scene.output.files.path(first);
                remark(&format!(
                    "`{text}` does not name a format (.png, .exr ...): frames are {} ...",
                    first.display()
                ));
            }
        }
        if self.bits.is_some() {
            scene.output.bits = self.bits;
        }
        if let Some(video) = &self.video {
            scene.output.video = Some(match video.to_str() {
                Some(text) => expand_home(text, home().as_deref()),
                None => video.clone(),
            });
        }
        if let Some(fps) = self.fps {
            scene.output.fps = fps;
        }
        Ok(RenderRequest { frames, stream })
    }
}
