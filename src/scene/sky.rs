//! The sky: a gradient, a picture of all directions, or a procedural one.

use super::defaults;
use super::diagnostic::Rule;
use super::keys::keys;
use super::keys::words::sources;
use crate::math::vec3::Vec3;

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
        pub image: Option<SkySource> = None, example("\"@dusk\""), group("Picture");
        /// Rotates the picture about the vertical axis, counterclockwise from above.
        pub rotation_deg: f64 = 0.0, unit("degrees"), slider(-180.0, 180.0), spelled();
        /// Multiplies the picture's light.
        pub intensity: f64 = 1.0, rule(Rule::Brightness), spelled();
        /// Frames are transparent where the camera sees only sky (.png, .exr, .tiff, .webp, .data); the sky still lights the scene and shows in mirrors.
        pub transparent: bool = false, group("Transparency");
    }
}

sources! {
    /// Where a sky's picture comes from.
    pub enum SkySource: "sky", ", `none` or a picture (.hdr, .exr, .png, .jpg)" {
        /// An equirectangular picture (Radiance HDR, OpenEXR, PNG or JPEG): its middle column lies in the direction of +x, its
        /// top row straight up.
        File,
        /// `@studio`: a dark room with softboxes.
        Studio = "@studio",
        /// `@dusk`: the sun has just set.
        Dusk = "@dusk",
        /// `@night`: stars, and the glow of a town.
        Night = "@night",
        /// `@overcast`: an even gray, three times as bright overhead as at the horizon (CIE overcast sky).
        Overcast = "@overcast",
        /// `@missing`: a magenta checker, which stands in for a missing file.
        Missing = "@missing",
    }
    /// The built-in ones, with their names.
    pub const BUILTIN;
    const TAKES_NONE = true;
}
