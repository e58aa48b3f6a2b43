//! Flags of a scene: those that change it, how they are applied, and those that do not.

use super::environment::home;
use super::failure::Failure;
use super::values::{parse_size, parse_solid, whole};
use crate::error::Error;
use crate::language::{Message, count, msg};
use crate::quote::brief;
use crate::render::frames::FrameList;
use crate::scene::limits::{MAX_DEPTH, MAX_LIGHT_SAMPLES, MAX_PATH_SAMPLES, MAX_SAMPLES};
use crate::scene::text::suggest::nearest;
use crate::scene::{Denoise, Look, ParseOptions, Sampling, Scene, Solid, TextureSource};
use clap::{Args, ValueEnum};

/// How much work goes into each picture, where it is not what the scene says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// To see what moves where: one sample a pixel (an eighth of them with path tracing), eight bounces, hard shadows, no motion
    /// blur, no light of other frames.
    Draft,
    /// Four times the samples (adaptive ones: at most, and half the noise), twice the shadow rays, half as many bounces
    /// more. Where light is drawn at random, by paths or on rough surfaces, it is denoised, with the same bytes on all machines.
    Final,
}

// Frames before and after each one whose light the final quality uses too.
const FINAL_DENOISE_FRAMES: u32 = 2;

impl Quality {
    /// Changes the cost of a picture, within the limits of scenes.
    fn apply(self, scene: &mut Scene) {
        let render = &mut scene.render;
        match self {
            Quality::Draft => {
                render.set_samples(render.integrator.own(1, (render.own_samples() / 8).max(1)));
                render.depth = render.depth.min(8);
                render.light_samples = 1;
                render.ao_samples = render.ao_samples.min(1);
                scene.close_shutter();
                scene.film.denoise_frames = 0;
            }
            Quality::Final => {
                match render.sampling {
                    Sampling::Adaptive { min, max, noise } => {
                        let max = (4 * max).min(render.integrator.max_samples());
                        render.set_adaptive(min, max, noise / 2.0);
                    }
                    Sampling::PerAxis(n) => render.set_samples((2 * n).min(MAX_SAMPLES)),
                    other => render.set_samples((4 * other.per_pixel()).min(MAX_PATH_SAMPLES)),
                }
                render.depth = (render.depth + render.depth / 2).min(MAX_DEPTH);
                render.light_samples = (2 * render.light_samples).min(MAX_LIGHT_SAMPLES);
                render.ao_samples = (2 * render.ao_samples).min(MAX_LIGHT_SAMPLES);
                if scene.draws_light_at_random() {
                    scene.film.denoise = Denoise::Guided;
                    if scene.camera.is_in_a_plane() {
                        scene.film.denoise_frames = scene.film.denoise_frames.max(FINAL_DENOISE_FRAMES);
                    }
                }
            }
        }
    }
}

/// Samples, as a flag's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamplesArg {
    /// Along a pixel's side.
    Side(u32),
    /// Of a pixel: adaptive sampling.
    Range(u32, u32),
}

fn parse_samples(text: &str) -> Result<SamplesArg, Message> {
    match text.parse() {
        Ok(n) if (1..=MAX_SAMPLES).contains(&n) => Ok(SamplesArg::Side(n)),
        _ => Sampling::parse_range(text, MAX_SAMPLES * MAX_SAMPLES)
            .map(|(min, max)| SamplesArg::Range(min, max))
            .map_err(|range| match text.contains("..") {
                true => msg!("expected {what}", what = range),
                false => msg!("expected a whole number from 1 to {max}, or a range such as 4..64", max = MAX_SAMPLES),
            }),
    }
}

/// What happens where a picture file of a scene is missing, as a flag's value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MissingTexture {
    /// The scene is refused.
    #[default]
    Error,
    /// A bright magenta checker stands in for it, and a warning names the file.
    StandIn,
}

/// Flags of all commands that read a scene or its frames.
#[derive(Args, Clone, Debug, Default)]
pub struct CommonArgs {
    /// Frames to render, counted from 0: `7`, `0-99`, `0-99x5` (every fifth), `5-`, `last`, `-1` (the same), `all`, lists of these.
    #[arg(long, value_name = "A-BxN", allow_hyphen_values = true, help_heading = "Scene")]
    pub frames: Option<String>,
    /// Allow the scene to read files outside of its folder, and to write outside of that folder and the working folder.
    #[arg(long, help_heading = "Scene")]
    pub allow_outside: bool,
}

impl CommonArgs {
    /// The requested frames; all by default.
    pub fn frame_list(&self, scene: &Scene) -> Result<FrameList, Failure> {
        match &self.frames {
            Some(text) => Ok(FrameList::read(text, scene.output.frames).map_err(|e| Error::about("--frames", e))?),
            None => Ok(FrameList::of_clip(&scene.output)),
        }
    }
}

/// Flags that change a scene.
#[derive(Args, Clone, Debug, Default)]
pub struct SceneArgs {
    /// Change a key of the scene: `film.exposure=0.5`, `body[0].color=tomato` (in quotes: shells read brackets); lists are counted from 0;
    /// may be given several times.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Scene")]
    pub set: Vec<String>,
    /// Picture size: `1280x720`, or 720p, 1080p, 1440p, 4k, 8k, vertical (1080x1920), square (1080x1080).
    #[arg(long, value_name = "WxH", value_parser = parse_size, help_heading = "Scene")]
    pub size: Option<(u32, u32)>,
    /// A quick look: one sample a pixel (an eighth of them with path tracing), eight bounces, hard shadows, no motion blur. --samples and --depth override it.
    #[arg(long, conflicts_with = "is_final", help_heading = "Scene")]
    pub draft: bool,
    /// Less noise, in more time: four times the samples, twice the shadow rays, light that is drawn at random is denoised. --samples and --depth override it.
    #[arg(long = "final", help_heading = "Scene")]
    pub is_final: bool,
    /// Take N x N samples of each pixel, with every integrator; or adaptive samples per pixel, in a range such as `4..64`.
    #[arg(long, value_name = "N", value_parser = parse_samples, help_heading = "Scene")]
    pub samples: Option<SamplesArg>,
    /// Maximum number of bounces.
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0, 128), help_heading = "Scene")]
    pub depth: Option<u32>,
    /// The solids of the bodies: three in tokens, as many as the scene has in TOML.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = parse_solid, help_heading = "Scene")]
    pub solids: Vec<Solid>,
    /// Fills in the film, floor, lamp and shutter keys that the scene leaves out [default: `film` for tokens with lamps,
    /// `plain` for the two shorter dialects; TOML: its `look`]
    #[arg(long, value_enum, help_heading = "Scene")]
    pub look: Option<Look>,
    /// The flat look of the coursework's programs: short for --look plain.
    #[arg(long, conflicts_with = "look", help_heading = "Scene")]
    pub plain: bool,
    /// The floor's texture: a .data, PNG or JPEG file, @checker, @concrete, @marble, @slate, @wood or none.
    #[arg(long, value_name = "FILE", help_heading = "Scene")]
    pub texture: Option<String>,
    /// What to do where the file of a texture, sky or relief is missing.
    #[arg(long, value_enum, default_value = "error", hide_short_help = true, help_heading = "Scene")]
    pub missing_texture: MissingTexture,
}

impl SceneArgs {
    /// Refuses flags that change a scene where none is given.
    pub fn expect_scene(&self, scene: Option<&str>) -> Result<(), Failure> {
        let given = [
            ("--set", !self.set.is_empty()),
            ("--size", self.size.is_some()),
            ("--draft", self.draft),
            ("--final", self.is_final),
            ("--samples", self.samples.is_some()),
            ("--depth", self.depth.is_some()),
            ("--solids", !self.solids.is_empty()),
            ("--look", self.look.is_some()),
            ("--plain", self.plain),
            ("--texture", self.texture.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given && scene.is_none()) {
            Some((flag, _)) => Err(Failure::usage(msg!(
                "{flag} changes the expected scene, and none is given: name it with --scene, or leave out {flag}",
                flag
            ))),
            None => Ok(()),
        }
    }

    /// The requested quality.
    pub fn quality(&self) -> Option<Quality> {
        self.draft.then_some(Quality::Draft).or(self.is_final.then_some(Quality::Final))
    }

    /// The requested look, by any of its flags.
    pub fn asked_look(&self) -> Option<Look> {
        if self.plain { Some(Look::Plain) } else { self.look }
    }

    /// Overrides values of the scene by those of the flags.
    pub fn override_scene(&self, scene: &mut Scene) -> Result<(), Failure> {
        if !self.solids.is_empty() {
            let (names, bodies) = (self.solids.len(), &mut scene.world.bodies);
            if names != bodies.len() {
                let (names, bodies) = (count!(names, "name", "names"), count!(bodies.len(), "body", "bodies"));
                return Err(Error::about("--solids", msg!("{names} for {bodies}", names, bodies)).into());
            }
            bodies.iter_mut().zip(&self.solids).for_each(|(body, &solid)| body.solid = solid);
            // Another solid reaches further down.
            scene.world.stand();
        }
        if let Some(text) = &self.texture {
            let options = ParseOptions { home: home(), ..ParseOptions::default() };
            let names = || TextureSource::BUILTIN.iter().map(|(_, name)| *name);
            let near = nearest(text, names());
            let wrong = msg!(
                "--texture: `{text}`: expected {expected}",
                text = brief(text),
                expected = TextureSource::expected()
            );
            let texture = TextureSource::parse(text, &options).map_err(|_| match near {
                Some(near) => Failure::Library(Error::misused(wrong, msg!("did you mean `{name}`?", name = near))),
                None => Failure::usage(wrong),
            })?;
            let floor = scene.world.floor.as_mut();
            floor.ok_or_else(|| Failure::usage(msg!("--texture: the scene has no floor")))?.texture = texture;
        }
        if let Some(quality) = self.quality() {
            quality.apply(scene);
        }
        let has_shutter = scene.has_shutter();
        let render = &mut scene.render;
        (render.width, render.height) = self.size.unwrap_or((render.width, render.height));
        match self.samples {
            Some(SamplesArg::Side(n)) => render.set_sample_grid(n),
            Some(SamplesArg::Range(..)) if has_shutter => {
                return Err(Failure::usage(msg!(
                    "--samples: the scene has a shutter, which spreads all samples over its moments"
                )));
            }
            Some(SamplesArg::Range(..)) if scene.world.sky.transparent => {
                return Err(Failure::usage(msg!(
                    "--samples: the sky is transparent: all samples of a pixel count alike in its alpha"
                )));
            }
            Some(SamplesArg::Range(min, max)) => {
                let noise =
                    if let Sampling::Adaptive { noise, .. } = render.sampling { noise } else { Sampling::NOISE };
                render.set_adaptive(min, max, noise);
            }
            None => {}
        }
        render.depth = self.depth.unwrap_or(render.depth);
        Ok(())
    }
}

/// Splits the value of `--set` into a key and its value.
pub fn assignment(text: &str) -> Result<(&str, &str), Failure> {
    let expected =
        || Failure::usage(msg!("--set {text}: expected KEY=VALUE, such as film.exposure=0.5", text = brief(text)));
    text.split_once('=').map(|(key, value)| (key.trim(), value)).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_final_quality_denoises_what_is_drawn_at_random() {
        let mut scene = Scene::sample();
        Quality::Final.apply(&mut scene);
        assert_eq!(scene.film.denoise, Denoise::None);
        let mut rough = Scene::sample();
        rough.world.bodies[0].material.roughness = 0.2;
        Quality::Final.apply(&mut rough);
        assert_eq!(rough.film.denoise, Denoise::Guided);
        scene.render.set_paths(16);
        Quality::Draft.apply(&mut scene);
        assert_eq!(scene.film.denoise, Denoise::None);
        Quality::Final.apply(&mut scene);
        assert_eq!(scene.film.denoise, Denoise::Guided);
    }
}
