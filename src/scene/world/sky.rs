//! The sky: a gradient, a picture of all directions, or a procedural one.

use crate::math::vec3::Vec3;
use crate::scene::defaults;
use crate::scene::keys::keys;
use crate::scene::keys::words::sources;
use crate::scene::text::diagnostic::Rule;

keys! {
    /// What is seen where nothing else is.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Sky in "sky" {
        /// Color of the gradient at the zenith.
        pub zenith: Vec3 = defaults::ZENITH, colour(), rule(Rule::Brightness), group("Gradient"), spelled(), animated(), covered_by("image");
        /// Color of the gradient at the horizon, and below it.
        pub horizon: Vec3 = defaults::HORIZON, colour(), rule(Rule::Brightness), spelled(), animated(), covered_by("image");
        /// The gradient runs from the nadir to the zenith, not from the horizon.
        pub from_below: bool = false, covered_by("image");
        /// An equirectangular picture instead of the gradient (.hdr, .exr, .png, .jpg), or a built-in one: @sun, @studio, @dusk, @night, @overcast.
        pub image: Option<SkySource> = None, group("Picture");
        /// Rotates the picture about the vertical axis, counterclockwise from above.
        pub rotation_deg: f64 = 0.0, unit("degrees"), slider(-180.0, 180.0), spelled(), animated(), without("image");
        /// Multiplies the picture's light.
        pub intensity: f64 = 1.0, rule(Rule::Brightness), spelled(), animated(), without("image");
        /// Height of the sun above the horizon; it stands in the direction of +x, which `rotation_deg` turns. A low sun is red.
        pub sun_elevation_deg: f64 = 20.0, rule(Rule::Within(-18.0, 90.0)), unit("degrees"), when("image", &["@sun"]), refused(), group("Sun"), animated();
        /// Diameter of the sun's disc; a larger one gives softer shadows and as much light.
        pub sun_size_deg: f64 = 0.53, rule(Rule::Within(0.1, 30.0)), unit("degrees"), slider(0.1, 5.0), when("image", &["@sun"]), refused(), animated();
        /// Haze: the optical depth of air and haze over that of clear air.
        pub turbidity: f64 = 2.0, rule(Rule::Within(1.0, 10.0)), when("image", &["@sun"]), refused(), animated();
        /// Color of the ground below the horizon.
        pub ground: Vec3 = [0.3; 3], colour(), rule(Rule::Fraction), when("image", &["@sun"]), refused(), animated();
        /// Frames are transparent where the camera sees only sky (.png, .exr, .tiff, .webp, .data); the sky still lights the scene and shows in mirrors.
        pub transparent: bool = false, group("Transparency");
    }
}

sources! {
    /// Where a sky's picture comes from.
    pub enum SkySource:
        msg!("there is no built-in sky `{name}`", name),
        msg!("{names}, `none` or a picture (.hdr, .exr, .png, .jpg)", names)
    {
        /// An equirectangular picture (Radiance HDR, OpenEXR, PNG or JPEG): its middle column lies in the direction of +x, its
        /// top row straight up.
        File,
        /// `@sun`: a clear sky, computed for the height of its sun, which lights the scene and casts shadows.
        Sun = "@sun",
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
