//! A scene and the tables of its text.

use super::keys::read::Table;
use super::keys::{Key, Keys, Visit, keys};
use super::size::Size;
use super::text::diagnostic::Rule;
use super::{Camera, Figure, FilmSettings, Output, RenderSettings, Tracks, World, defaults};
use crate::language::msg;
use crate::math::vec3::Vec3;

/// All that a run needs to know. Colors are sRGB, 0 to 1; lights may exceed 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Scene {
    /// The objects, the lights and the sky.
    pub world: World,
    /// Who sees it.
    pub camera: Camera,
    /// How it is rendered.
    pub render: RenderSettings,
    /// The steps from light to picture.
    pub film: FilmSettings,
    /// What stands beside the particles of a figure, and its size in print.
    pub figure: Option<Figure>,
    /// The frames, their files and the video.
    pub output: Output,
    /// Values that change over the clip. The other fields have those of its start.
    pub tracks: Tracks,
}

// [output] and [render] each have the keys of several fields. The keys are combined in a struct, visited, and split
// again.
impl Keys for Scene {
    const TABLE: &'static str = "scene";
    fn visit(&mut self, visit: &mut Visit) {
        const CAMERA: Key = Key::new(
            "camera",
            "The camera and its path: fixed (`position` and `look_at`), on cylinders (`eye` and `target`), on an orbit, or through keys.",
        );
        let Scene { world, camera, render, film, figure, output, tracks: _ } = self;
        let mut files = OutputKeys { output: output.clone(), size: Size(render.width, render.height) };
        visit(const { &Key::new("output", "Frames, their size, and where they go.") }, &mut files);
        (*output, render.width, render.height) = (files.output, files.size.0, files.size.1);
        let mut rays = RenderKeys { settings: *render, highlight: world.highlight, ambient: world.ambient };
        visit(const { &Key::new("render", "How light is traced.") }, &mut rays);
        (*render, world.highlight, world.ambient) = (rays.settings, rays.highlight, rays.ambient);
        visit(const { &Key::new("film", "The film: from exposure to the tone curve.") }, film);
        visit(
            const { &Key::new("figure", "A figure: its size in print, and what stands beside the particles.") },
            figure,
        );
        world.visit(&mut |key, field| {
            if key.name == "body" {
                visit(&CAMERA, camera);
            }
            visit(key, field);
        });
    }

    fn check(&mut self, table: &mut Table) {
        for (path, why) in self.world.stand() {
            table.problem_at(
                &path,
                msg!("it cannot stand on the floor: {why}", why),
                msg!("a flat [floor] that lies under it"),
            );
        }
        let (sampling, has_shutter) = (self.render.sampling, self.has_shutter());
        let is_uneven = sampling.is_adaptive() || sampling.noise_limit() > 0.0 || has_shutter;
        let transparent = table.span_of("sky.transparent").filter(|_| self.world.sky.transparent);
        if let (Some(span), true) = (transparent.clone(), is_uneven) {
            table.problem(
                span,
                msg!("`transparent` needs the same samples everywhere"),
                msg!(
                    "no range of `samples`, no `noise` and no `shutter`: all samples of a pixel count alike in its alpha",
                ),
            );
        }
        if let (Some(span), true) = (transparent, self.world.air.is_foggy()) {
            table.problem(span, msg!("fog hides the sky, which is `transparent`"), msg!("clear air, or an opaque sky"));
        }
        if sampling.is_adaptive() && has_shutter {
            table.problem_at(
                "render.samples",
                msg!("`samples` is a range, and the camera has a `shutter`"),
                msg!("a number: an open shutter spreads all samples over its moments"),
            );
        }
    }
}

// [output] with the picture size.
#[derive(Clone, Debug, PartialEq)]
struct OutputKeys {
    output: Output,
    size: Size,
}

impl Default for OutputKeys {
    fn default() -> OutputKeys {
        OutputKeys { output: Output::default(), size: Size(defaults::SIZE.0, defaults::SIZE.1) }
    }
}

impl Keys for OutputKeys {
    const TABLE: &'static str = "output";
    fn visit(&mut self, visit: &mut Visit) {
        const SIZE: Key = Key {
            rule: Size::SIDE,
            unit: "pixels",
            group: "Files",
            spelled: true,
            ..Key::new(
                "size",
                "Width and height; or `1280x720` in quotes, or 720p, 1080p, 1440p, 4k, 8k, vertical (1080x1920) or square (1080x1080).",
            )
        };
        self.output.visit(&mut |key, field| {
            if key.name == "bits" {
                visit(&SIZE, &mut self.size);
            }
            visit(key, field);
        });
    }
    fn check(&mut self, table: &mut Table) {
        self.output.check(table);
    }
}
keys!(@table OutputKeys, read_table, std::slice::from_ref, std::slice::from_mut, false);

keys! {
    // [render] with the ambient light and the highlight.
    #[derive(Clone, Debug, PartialEq)]
    struct RenderKeys in "render" {
        /// How a scene is rendered.
        settings: RenderSettings = RenderSettings::default(), flat();
        /// Weight of the Blinn-Phong highlight.
        highlight: f64 = defaults::HIGHLIGHT, rule(Rule::Brightness), slider(0.0, 2.0), group("Light"), spelled(), animated();
        /// Ambient light (Whitted).
        ambient: Vec3 = defaults::AMBIENT, colour(), rule(Rule::Brightness), spelled(), animated();
    }
}
