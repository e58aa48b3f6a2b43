//! The keys of a scene in TOML, as they are written: every table and what it may hold. Their comments are what editors show
//! (`polyfly schema`). For forms they say besides: `x-group`, the heading that begins with a key; `x-slider`, the range of a slider where
//! the rules do not give a useful one; `x-when`, values of another key that a key needs; `x-way`, the camera path that a key belongs to.

use super::toml_values::{At, Colour, Number, NumberOrWord, Numbers, Text, Triple};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "scene")]
pub struct RawScene {
    /// Frames, their size, and where they go.
    pub output: RawOutput,
    /// How light is followed.
    pub render: RawRender,
    /// What becomes of the light: exposure to tone curve.
    pub film: RawFilm,
    /// What is seen where nothing is.
    pub sky: RawSky,
    /// Who looks, and on which way.
    pub camera: RawCamera,
    /// A Platonic solid with bars, lamps and a motion.
    pub body: Vec<At<RawBody>>,
    /// A ball.
    pub sphere: Vec<At<RawSphere>>,
    /// A rectangle; of light it is a panel.
    pub rectangle: Vec<At<RawRectangle>>,
    /// Triangles from a file.
    pub mesh: Vec<At<RawMesh>>,
    /// Balls from the files of a simulation.
    pub particles: Option<At<RawParticles>>,
    /// The floor.
    pub floor: Option<At<RawFloor>>,
    /// A point of light, or a ball of it.
    pub light: Vec<At<RawLight>>,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "output")]
pub struct RawOutput {
    /// Frames of the clip.
    #[schemars(extend("x-group" = "Clip", "x-slider" = [1, 600]))]
    pub frames: Number,
    /// Frames a second of the video.
    #[schemars(extend("x-slider" = [12, 60]))]
    pub fps: Number,
    /// The clip is to be a loop; what keeps it from being one is told.
    #[serde(rename = "loop")]
    #[schemars(extend("x-default" = false))]
    pub is_loop: Option<At<bool>>,
    /// Width and height, pixels.
    #[schemars(extend("x-group" = "Files"))]
    pub size: Option<At<Numbers<2>>>,
    /// Names of the frames: `out/%04d.png`; the ending is the format. A clip of one frame may have a name without a number.
    pub path: Text,
    /// Bits of a channel: 8 or 16 (PNG), 16 or 32 (EXR).
    pub bits: Number,
    /// The video of all frames, made by runs that render all of them to `path`, or write none.
    pub video: Text,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "render")]
pub struct RawRender {
    /// How light is followed: by Whitted's rays or by paths.
    #[schemars(extend("x-group" = "Rays"))]
    pub integrator: Text,
    /// Samples along each side of a pixel (of each pixel with paths); or a range such as "4..64": of each pixel, as many as it needs; with paths 16 at least.
    #[schemars(extend("x-slider" = [1, 16]))]
    pub samples: Option<At<NumberOrWord>>,
    /// Most bounces of a ray.
    #[schemars(extend("x-slider" = [0, 32]))]
    pub depth: Number,
    /// Rays weaker than this end; weaker still where exposure brightens the picture.
    #[schemars(extend("x-slider" = [0, 0.02]))]
    pub cutoff: Number,
    /// Noise, in 8-bit codes, at which a picture is good enough; 0: all samples are taken.
    #[schemars(extend("x-slider" = [0, 4]))]
    pub noise: Number,
    /// Most that a path adds at once by way of a diffuse surface; 0: no limit.
    #[schemars(extend("x-slider" = [0, 50]))]
    pub clamp: Number,
    /// Light from everywhere.
    #[schemars(extend("x-group" = "Light"))]
    pub ambient: Colour,
    /// Weight of highlights.
    #[schemars(extend("x-slider" = [0, 2]))]
    pub highlight: Number,
    /// Whether lights throw shadows.
    #[schemars(extend("x-default" = true))]
    pub shadows: Option<bool>,
    /// Shadow rays to a ball of light.
    #[schemars(extend("x-slider" = [1, 64]))]
    pub light_samples: Number,
    /// Shadow rays to lamps and other emitters at each surface, or "all"; 0: lamps light the floor only.
    #[schemars(extend("x-when" = { "integrator": ["whitted"] }, "x-slider" = [0, 64]))]
    pub lamp_samples: Option<At<NumberOrWord>>,
    /// As in [film].
    #[schemars(extend("deprecated" = true))]
    pub tone: Text,
    /// As in [film].
    #[schemars(extend("deprecated" = true))]
    pub gamma: Number,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "film")]
pub struct RawFilm {
    /// Stops up or down, or "auto".
    #[schemars(extend("x-group" = "Exposure", "x-slider" = [-5, 5]))]
    pub exposure: Option<At<NumberOrWord>>,
    /// Temperature of the light that is to look white, kelvin.
    #[schemars(extend("x-slider" = [2000, 12000]))]
    pub white_balance: Number,
    /// The curve from light to picture.
    pub tone: Text,
    /// Exponent of the curve "clip"; 0: sRGB's own curve.
    #[schemars(extend("x-when" = { "tone": ["clip"] }, "x-slider" = [0, 3]))]
    pub gamma: Number,
    /// Share of the light that spreads around what is bright.
    #[schemars(extend("x-group" = "Lens", "x-slider" = [0, 0.5]))]
    pub bloom: Number,
    /// How far it spreads, in heights of the picture.
    #[schemars(extend("x-slider" = [0, 0.5]))]
    pub bloom_radius: Number,
    /// How much darker the corners are.
    pub vignette: Number,
    /// Grain of a film.
    #[schemars(extend("x-slider" = [0, 0.3]))]
    pub grain: Number,
    /// How samples are weighed over a pixel.
    #[schemars(extend("x-group" = "Pixels"))]
    pub filter: Text,
    /// Breaks up bands in smooth gradients; on by default where the film does more than a plain one.
    pub dither: Option<bool>,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "sky")]
pub struct RawSky {
    /// Colour straight up.
    #[schemars(extend("x-group" = "Gradient"))]
    pub zenith: Colour,
    /// Colour at the horizon.
    pub horizon: Colour,
    /// The sky goes on below the horizon.
    #[schemars(extend("x-default" = false))]
    pub from_below: Option<bool>,
    /// A picture all around (.hdr, .exr, .png, .jpg), or a built-in one such as @dusk.
    #[schemars(extend("x-group" = "Picture"))]
    pub image: Text,
    /// Turns the picture, degrees.
    #[schemars(extend("x-slider" = [-180, 180]))]
    pub rotation_deg: Number,
    /// Multiplies the picture's light.
    pub intensity: Number,
    /// Pictures are see-through where the camera sees nothing but sky (.png, .exr, .tiff, .webp, .data).
    #[schemars(extend("x-group" = "Transparency", "x-default" = false))]
    pub transparent: Option<At<bool>>,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "camera")]
pub struct RawCamera {
    /// Horizontal field of view, degrees.
    #[schemars(extend("x-group" = "Lens"))]
    pub fov_deg: Number,
    /// Radius of the lens; 0: all is sharp.
    #[schemars(extend("x-slider" = [0, 0.5]))]
    pub lens: Number,
    /// Distance at which it is sharp.
    #[schemars(extend("x-slider" = [0.1, 20]))]
    pub focus: Number,
    /// Share of a frame's time that it gathers light: motion blur.
    pub shutter: Number,
    /// The eye, where the camera stands still.
    #[schemars(extend("x-group" = "Path", "x-way" = "fixed"))]
    pub position: Triple,
    /// What it looks at, where the camera stands still.
    #[schemars(extend("x-way" = "fixed"))]
    pub look_at: Triple,
    /// The way of the eye on a cylinder.
    #[schemars(extend("x-way" = "cylinder"))]
    pub eye: RawPath,
    /// The way of the point that it looks at.
    #[schemars(extend("x-way" = "cylinder"))]
    pub target: RawPath,
    /// A circle around a point.
    #[schemars(extend("x-way" = "orbit"))]
    pub orbit: Option<At<RawOrbit>>,
    /// A place on the camera's way, with its time.
    #[schemars(extend("x-way" = "keys"))]
    pub key: Vec<At<RawKey>>,
    /// After the last key the way leads back to the first.
    #[schemars(extend("x-default" = false, "x-way" = "keys"))]
    pub closed: Option<At<bool>>,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "key")]
pub struct RawKey {
    /// When, 0 to 1 over the clip.
    pub time: Number,
    /// The eye.
    pub position: Triple,
    /// What it looks at.
    pub look_at: Triple,
    /// Horizontal field of view, degrees.
    pub fov_deg: Number,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "orbit")]
pub struct RawOrbit {
    /// What it goes around and looks at.
    #[serde(alias = "centre")]
    pub center: Triple,
    /// How far from it.
    #[schemars(extend("x-slider" = [0.5, 20]))]
    pub distance: Number,
    /// How high above it, degrees.
    pub elevation_deg: Number,
    /// Where it begins, degrees from +x.
    #[schemars(extend("x-slider" = [-180, 180]))]
    pub azimuth_deg: Number,
    /// Turns over the clip.
    #[schemars(extend("x-slider" = [-4, 4]))]
    pub turns: Number,
    /// How gently it starts and stops.
    pub ease: Number,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "path")]
pub struct RawPath {
    /// Distance from the axis.
    pub r: Number,
    /// Height.
    pub z: Number,
    /// Angle around the axis, degrees.
    #[schemars(extend("x-slider" = [-180, 360]))]
    pub phi_deg: Number,
    /// How far the distance swings.
    #[schemars(extend("x-slider" = [0, 5]))]
    pub r_amplitude: Number,
    /// How far the height swings.
    #[schemars(extend("x-slider" = [0, 5]))]
    pub z_amplitude: Number,
    /// Swings of the distance over the clip.
    #[schemars(extend("x-slider" = [-4, 4]))]
    pub r_cycles: Number,
    /// Swings of the height over the clip.
    #[schemars(extend("x-slider" = [-4, 4]))]
    pub z_cycles: Number,
    /// Turns over the clip.
    #[schemars(extend("x-slider" = [-4, 4]))]
    pub phi_cycles: Number,
    /// Where the distance begins its swing, degrees.
    #[schemars(extend("x-slider" = [-180, 360]))]
    pub r_phase_deg: Number,
    /// Where the height begins its swing, degrees.
    #[schemars(extend("x-slider" = [-180, 360]))]
    pub z_phase_deg: Number,
}

impl RawPath {
    /// Where it begins, if any of its keys is given.
    pub fn first_key(&self) -> Option<std::ops::Range<usize>> {
        let amplitudes = [&self.r_amplitude, &self.z_amplitude, &self.r_cycles, &self.z_cycles, &self.phi_cycles];
        let keys =
            [&self.r, &self.z, &self.phi_deg, &self.r_phase_deg, &self.z_phase_deg].into_iter().chain(amplitudes);
        keys.flatten().map(|value| value.span()).min_by_key(|span| span.start)
    }
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "relief")]
pub struct RawRelief {
    /// A map of heights: a picture, @ripples, @tiles or @puddles.
    pub bump: Text,
    /// Length from its black up to its white.
    #[schemars(extend("x-slider" = [0.001, 0.2]))]
    pub depth: Number,
    /// A picture of normals; green is up.
    pub normal_map: Text,
    /// A share of the floor's roughness.
    pub roughness_map: Text,
    /// How many times they lie along each side.
    #[schemars(extend("x-slider" = [1, 20]))]
    pub tiles: Number,
    /// Tiles a clip that they drift, to the right and down.
    pub drift: Option<At<Numbers<2>>>,
    /// Tiles by which they are moved, to the right and down.
    pub offset: Option<At<Numbers<2>>>,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "light")]
pub struct RawLight {
    /// Where it is.
    pub position: Triple,
    /// Its colour; brighter than 1 is brighter.
    #[serde(alias = "colour")]
    pub color: Colour,
    /// Of a ball of light: its shadows are soft.
    #[schemars(extend("x-slider" = [0, 2]))]
    pub radius: Number,
}

// A table with the keys of a material: serde's flatten would lose the places that errors need.
macro_rules! with_material {
    ($table:literal, pub struct $name:ident { $($(#[$meta:meta])* pub $key:ident: $type:ty,)* }) => {
        #[derive(Deserialize, Default, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        #[schemars(rename = $table)]
        pub struct $name {
            $($(#[$meta])* pub $key: $type,)*
            /// What it is made of.
            #[schemars(extend("x-group" = "Material"))]
            pub material: Text,
            /// Its colour, sRGB.
            #[serde(alias = "colour")]
            pub color: Colour,
            /// Share of the light that it mirrors.
            pub reflection: Number,
            /// Share of the light that it lets through.
            pub transparency: Number,
            /// Index of refraction.
            #[schemars(extend("x-slider" = [1, 2.5]))]
            pub ior: Number,
            /// Abbe number: the smaller, the wider the rainbows.
            #[schemars(extend("x-slider" = [10, 100]))]
            pub abbe: Number,
            /// Length of glass that gives light its colour.
            #[schemars(extend("x-slider" = [0.05, 5]))]
            pub tint_distance: Number,
            /// How wide it mirrors, as the Weekend has it (paths).
            pub fuzz: Number,
            /// How wide it mirrors.
            pub roughness: Number,
            /// How bright it shines.
            #[schemars(extend("x-slider" = [0, 20]))]
            pub strength: Number,
            /// Weight of its highlights.
            #[schemars(extend("x-slider" = [0, 2]))]
            pub highlight: Number,
        }
        impl $name {
            pub fn material(&self) -> MaterialKeys<'_> {
                MaterialKeys {
                    colour_key: "color",
                    colour: &self.color,
                    kind: &self.material,
                    reflection: &self.reflection,
                    transparency: &self.transparency,
                    ior: &self.ior,
                    abbe: &self.abbe,
                    tint_distance: &self.tint_distance,
                    fuzz: &self.fuzz,
                    roughness: &self.roughness,
                    strength: &self.strength,
                    highlight: &self.highlight,
                }
            }
        }
    };
}

with_material! {
    "body",
    pub struct RawBody {
        /// Which solid.
        #[schemars(extend("x-group" = "Shape"))]
        pub solid: Text,
        /// Its centre.
        #[serde(alias = "centre")]
        pub center: Triple,
        /// Of the ball around it.
        #[schemars(extend("x-slider" = [0.1, 5]))]
        pub radius: Number,
        /// Share that it mirrors inside: a one-way mirror. No more than the rest passes there.
        #[schemars(extend("x-group" = "Material", "x-when" = { "material": ["plain"] }))]
        pub reflection_inside: Number,
        /// Lamps on each edge, or "strip".
        #[schemars(extend("x-group" = "Lamps", "x-slider" = [0, 40]))]
        pub lamps: Option<At<NumberOrWord>>,
        /// Colour of the lamps.
        #[serde(alias = "lamp_colour")]
        pub lamp_color: Colour,
        /// How bright the lamps are.
        #[schemars(extend("x-slider" = [0, 20]))]
        pub lamp_intensity: Number,
        /// Where its lamps shine.
        pub lamp_sides: Text,
        /// How its lamps change over the clip.
        pub lamp_pattern: Text,
        /// How often they do.
        #[schemars(extend("x-when" = { "lamp_pattern": ["pulse", "hue", "chase"] }, "x-slider" = [-4, 4]))]
        pub lamp_cycles: Number,
        /// Width of the bars along its edges, in its radii.
        #[schemars(extend("x-group" = "Bars", "x-slider" = [0, 0.2]))]
        pub bar: Number,
        /// Colour of the bars.
        #[serde(alias = "bar_colour")]
        pub bar_color: Colour,
        /// Share of the light that the bars mirror outside.
        pub bar_reflection: Number,
        /// What it turns about.
        #[schemars(extend("x-group" = "Motion"))]
        pub axis: Triple,
        /// How far it is turned, degrees.
        #[schemars(extend("x-slider" = [-180, 180]))]
        pub angle_deg: Number,
        /// Turns over the clip.
        #[schemars(extend("x-slider" = [-4, 4]))]
        pub turns: Number,
        /// How far it moves over the clip.
        pub drift: Triple,
        /// A way on a cylinder about its centre.
        pub path: Option<RawPath>,
    }
}

with_material! {
    "sphere",
    pub struct RawSphere {
        /// Its centre.
        #[serde(alias = "centre")]
        #[schemars(extend("x-group" = "Shape"))]
        pub center: Triple,
        /// Its radius.
        #[schemars(extend("x-slider" = [0.1, 5]))]
        pub radius: Number,
    }
}

with_material! {
    "rectangle",
    pub struct RawRectangle {
        /// Its centre.
        #[serde(alias = "centre")]
        #[schemars(extend("x-group" = "Shape"))]
        pub center: Triple,
        /// Width and height.
        pub size: Option<At<Numbers<2>>>,
        /// Its normal; the width lies level.
        pub facing: Triple,
        /// How far it is turned about that, degrees.
        #[schemars(extend("x-slider" = [-180, 180]))]
        pub angle_deg: Number,
    }
}

with_material! {
    "mesh",
    pub struct RawMesh {
        /// The file: OBJ or PLY.
        #[schemars(extend("x-group" = "Shape"))]
        pub path: Text,
        /// Multiplies its coordinates.
        #[schemars(extend("x-slider" = [0.1, 10]))]
        pub scale: Number,
        /// Is added to them afterwards.
        pub offset: Triple,
        /// The file's own z is up, not y.
        #[schemars(extend("x-default" = true))]
        pub z_up: Option<bool>,
        /// By the file's normals, where it has some.
        #[schemars(extend("x-default" = true))]
        pub smooth: Option<bool>,
    }
}

with_material! {
    "particles",
    pub struct RawParticles {
        /// The file; with %d or %0Nd one for each frame.
        #[schemars(extend("x-group" = "Files"))]
        pub path: Text,
        /// Number of the first frame's file.
        #[schemars(extend("x-slider" = [0, 100]))]
        pub first: Number,
        /// From frame to frame.
        #[schemars(extend("x-slider" = [1, 10]))]
        pub step: Number,
        /// What colours them.
        #[serde(alias = "colour_by")]
        #[schemars(extend("x-group" = "Colour map"))]
        pub color_by: Text,
        /// Values at the ends of the colour map.
        pub range: Option<At<Numbers<2>>>,
        /// Draws the colour map with its numbers.
        #[schemars(extend("x-default" = false))]
        pub legend: Option<bool>,
    }
}

with_material! {
    "floor",
    pub struct RawFloor {
        /// Its four corners.
        #[schemars(extend("x-group" = "Shape"))]
        pub corners: Option<At<Vec<At<Numbers<3>>>>>,
        /// How far it goes.
        pub size: Text,
        /// Distance at which half of it has given way to the sky; 0: none does.
        #[schemars(extend("x-slider" = [0, 50]))]
        pub fade: Number,
        /// Its picture: a .data, PNG or JPEG file, @checker, @concrete, @marble or @wood.
        #[schemars(extend("x-group" = "Picture"))]
        pub texture: Text,
        /// Multiplies the picture.
        pub tint: Colour,
        /// Ripples, tiles or puddles.
        pub relief: Option<At<RawRelief>>,
    }
}

/// The keys of a material, wherever they stand.
pub struct MaterialKeys<'a> {
    pub colour_key: &'static str,
    pub colour: &'a Colour,
    pub kind: &'a Text,
    pub reflection: &'a Number,
    pub transparency: &'a Number,
    pub ior: &'a Number,
    pub abbe: &'a Number,
    pub tint_distance: &'a Number,
    pub fuzz: &'a Number,
    pub roughness: &'a Number,
    pub strength: &'a Number,
    pub highlight: &'a Number,
}
