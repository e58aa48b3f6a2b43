//! What flags and the environment make of a scene and of each other.

use super::{Cli, Command, QualityArg, SamplesArg, SceneArgs, home, parse_threads};
use crate::cli::Failure;
use crate::quote::brief;
use crate::render::frames::FrameList;
use crate::report::LogFormat;
use crate::scene::{ParseOptions, Sampling, Scene, Solid, TextureSource};
use clap::ValueEnum;

impl Cli {
    /// Takes what the flags leave open from the environment.
    ///
    /// # Errors
    /// A value there is none.
    pub fn take_defaults(&mut self, value: impl Fn(&str) -> Option<String>) -> Result<(), Failure> {
        let render = &mut self.render;
        let wrong = |name: &str, why: String| Failure::usage(format!("{name} in the environment: {why}"));
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
    pub fn frame_list(&self, scene: &Scene) -> Result<FrameList, Failure> {
        match &self.frames {
            Some(text) => {
                FrameList::parse(text, scene.output.frames).map_err(|e| Failure::usage(format!("--frames: {e}")))
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
        <[Solid; 3]>::try_from(self.solids.as_slice()).unwrap_or(ParseOptions::SOLIDS)
    }

    /// Puts what the flags say in place of what the scene says.
    pub fn override_scene(&self, scene: &mut Scene) -> Result<(), Failure> {
        let here = std::path::Path::new("");
        let wrong = |flag: &str, why: String| Failure::usage(format!("--{flag}: {why}"));
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
            let home = home();
            let options = ParseOptions { folder: here, home: home.as_deref(), ..ParseOptions::default() };
            let texture = TextureSource::parse(text, &options)
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
            Some(SamplesArg::Side(n)) => render.set_samples(render.integrator.own(n, n * n)),
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
