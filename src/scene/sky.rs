//! The sky: a gradient, a picture of all directions, or one that is made.

use super::diagnostic::Rule;
use super::keys::kinds::{Kind, builtin_or_file, quoted};
use super::keys::read::{Context, TomlValue};
use super::keys::{Key, keys};
use super::{defaults, expand_home};
use crate::math::vec3::Vec3;
use std::path::{Path, PathBuf};

keys! {
    /// What is seen where nothing else is.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Sky in "sky" {
        /// Color of the gradient at the zenith.
        pub zenith: Vec3 = defaults::ZENITH, colour(), rule(Rule::Brightness), group("Gradient"), spelled();
        /// Color of the gradient at the horizon, and below it.
        pub horizon: Vec3 = defaults::HORIZON, colour(), rule(Rule::Brightness), spelled();
        /// The gradient runs from the nadir to the zenith, not from the horizon.
        pub from_below: bool = false;
        /// An equirectangular picture instead of the gradient (.hdr, .exr, .png, .jpg), or a built-in one: @studio, @dusk, @night, @overcast.
        pub image: Option<SkySource> = None, group("Picture");
        /// Rotates the picture about the vertical axis, counterclockwise from above.
        pub rotation_deg: f64 = 0.0, unit("degrees"), slider(-180.0, 180.0), spelled();
        /// Multiplies the picture's light.
        pub intensity: f64 = 1.0, rule(Rule::Brightness), spelled();
        /// Frames are transparent where the camera sees only sky (.png, .exr, .tiff, .webp, .data); the sky still lights the scene and shows in mirrors.
        pub transparent: bool = false, group("Transparency");
    }
}

/// Where a sky's picture comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum SkySource {
    /// An equirectangular picture (Radiance HDR, OpenEXR, PNG or JPEG): its middle column lies in the direction of +x, its
    /// top row straight up.
    File(PathBuf),
    /// `@studio`: a dark room with softboxes.
    Studio,
    /// `@dusk`: the sun has just set.
    Dusk,
    /// `@night`: stars, and the glow of a town.
    Night,
    /// `@overcast`: an even grey, three times as bright overhead as at the horizon (CIE overcast sky).
    Overcast,
}

impl SkySource {
    /// The made ones, with their names.
    pub const BUILTIN: [(SkySource, &str); 4] = [
        (SkySource::Studio, "@studio"),
        (SkySource::Dusk, "@dusk"),
        (SkySource::Night, "@night"),
        (SkySource::Overcast, "@overcast"),
    ];

    // Reads `none`, the name of a made one or a path below `folder`.
    pub(crate) fn parse(text: &str, folder: &Path, home: Option<&Path>) -> Result<Option<SkySource>, String> {
        if let Some((made, _)) = SkySource::BUILTIN.into_iter().find(|(_, name)| *name == text) {
            return Ok(Some(made));
        }
        match text {
            "none" => Ok(None),
            other if other.starts_with('@') || other.is_empty() => {
                let names = SkySource::BUILTIN.map(|(_, name)| format!("`{name}`")).join(", ");
                Err(format!("{names}, `none` or a picture (.hdr, .exr, .png, .jpg)"))
            }
            path => Ok(Some(SkySource::File(folder.join(expand_home(path, home))))),
        }
    }
}

impl std::fmt::Display for SkySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SkySource::File(path) => write!(f, "{}", path.display()),
            made => {
                write!(f, "{}", SkySource::BUILTIN.iter().find(|(s, _)| s == made).map_or("none", |(_, name)| name))
            }
        }
    }
}

impl Kind for SkySource {
    const TAKES_NONE: bool = true;
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<SkySource> {
        builtin_or_file(value, key, context, "sky", SkySource::parse)
    }
    fn text(&self, _: &Key) -> String {
        quoted(&self.to_string())
    }
    fn schema(_: &Key) -> serde_json::Value {
        serde_json::json!({ "type": "string" })
    }
}
