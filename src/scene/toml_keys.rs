//! The keys of a scene in TOML, as they are written: every table and what it may hold. Their comments are what editors show
//! (`polyfly schema`).

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
    pub frames: Number,
    /// Names of the frames: `out/%04d.png`; the ending is the format. A clip of one frame may have a name without a number.
    pub path: Text,
    /// Width and height, pixels.
    pub size: Option<At<Numbers<2>>>,
    /// Bits of a channel: 8 or 16 (PNG), 16 or 32 (EXR).
    pub bits: Number,
    /// The video of all frames, made by runs that render all of them to `path`, or write none.
    pub video: Text,
    /// Frames a second of the video.
    pub fps: Number,
    /// The clip is to be a loop; what keeps it from being one is told.
    #[serde(rename = "loop")]
    pub is_loop: Option<At<bool>>,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "render")]
pub struct RawRender {
    /// Samples along each side of a pixel (of each pixel with paths); or a range such as "4..64": of each pixel, as many as it needs.
    pub samples: Option<At<NumberOrWord>>,
    /// Most bounces of a ray.
    pub depth: Number,
    /// Rays weaker than this end.
    pub cutoff: Number,
    /// Weight of highlights.
    pub highlight: Number,
    /// Light from everywhere.
    pub ambient: Colour,
    /// How light is followed: by Whitted's rays or by paths.
    pub integrator: Text,
    /// Noise, in 8-bit codes, at which a picture is good enough; 0: all samples are taken.
    pub noise: Number,
    /// As in [film].
    pub tone: Text,
    /// As in [film].
    pub gamma: Number,
    /// Whether lights throw shadows.
    pub shadows: Option<bool>,
    /// Shadow rays to a ball of light.
    pub light_samples: Number,
    /// Shadow rays to lamps and other emitters at each surface, or "all"; 0: lamps light the floor only.
    pub lamp_samples: Option<At<NumberOrWord>>,
    /// Most that a path adds at once by way of a diffuse surface; 0: no limit.
    pub clamp: Number,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "film")]
pub struct RawFilm {
    /// How samples are weighed over a pixel.
    pub filter: Text,
    /// Stops up or down, or "auto".
    pub exposure: Option<At<NumberOrWord>>,
    /// Temperature of the light that is to look white, kelvin.
    pub white_balance: Number,
    /// Share of the light that spreads around what is bright.
    pub bloom: Number,
    /// How far it spreads, in widths of the picture.
    pub bloom_radius: Number,
    /// How much darker the corners are.
    pub vignette: Number,
    /// Grain of a film.
    pub grain: Number,
    /// Breaks up bands in smooth gradients; by itself where the film does more than the plain one.
    pub dither: Option<bool>,
    /// The curve from light to picture.
    pub tone: Text,
    /// Exponent of the curve "clip"; 0: sRGB's own curve.
    pub gamma: Number,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "sky")]
pub struct RawSky {
    /// Colour straight up.
    pub zenith: Colour,
    /// Colour at the horizon.
    pub horizon: Colour,
    /// The sky goes on below the horizon.
    pub from_below: Option<bool>,
    /// A picture all around (.hdr, .exr, .png, .jpg), or a built-in one such as @dusk.
    pub image: Text,
    /// Turns the picture, degrees.
    pub rotation_deg: Number,
    /// Multiplies the picture's light.
    pub intensity: Number,
    /// Pictures are see-through where the camera sees nothing but sky (.png, .exr, .tiff, .webp, .data).
    pub transparent: Option<At<bool>>,
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "camera")]
pub struct RawCamera {
    /// Horizontal field of view, degrees.
    pub fov_deg: Number,
    /// The way of the eye on a cylinder.
    pub eye: RawPath,
    /// The way of the point that it looks at.
    pub target: RawPath,
    /// The eye, where the camera stands still.
    pub position: Triple,
    /// What it looks at, where the camera stands still.
    pub look_at: Triple,
    /// Radius of the lens; 0: all is sharp.
    pub lens: Number,
    /// Distance at which it is sharp.
    pub focus: Number,
    /// Share of a frame's time that it gathers light: motion blur.
    pub shutter: Number,
    /// A circle around a point.
    pub orbit: Option<At<RawOrbit>>,
    /// A place on the camera's way, with its time.
    pub key: Vec<At<RawKey>>,
    /// After the last key the way leads back to the first.
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
    pub distance: Number,
    /// How high above it, degrees.
    pub elevation_deg: Number,
    /// Where it begins, degrees from +x.
    pub azimuth_deg: Number,
    /// Turns over the clip.
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
    pub phi_deg: Number,
    /// How far the distance swings.
    pub r_amplitude: Number,
    /// How far the height swings.
    pub z_amplitude: Number,
    /// Swings of the distance over the clip.
    pub r_cycles: Number,
    /// Swings of the height over the clip.
    pub z_cycles: Number,
    /// Turns over the clip.
    pub phi_cycles: Number,
    /// Where the distance begins its swing, degrees.
    pub r_phase_deg: Number,
    /// Where the height begins its swing, degrees.
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
    pub depth: Number,
    /// A picture of normals; green is up.
    pub normal_map: Text,
    /// A share of the floor's roughness.
    pub roughness_map: Text,
    /// How many times they lie along each side.
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
            /// Its colour, sRGB.
            #[serde(alias = "colour")]
            pub color: Colour,
            /// What it is made of.
            pub material: Text,
            /// Share of the light that it mirrors.
            pub reflection: Number,
            /// Share of the light that it lets through.
            pub transparency: Number,
            /// Index of refraction.
            pub ior: Number,
            /// Abbe number: the smaller, the wider the rainbows.
            pub abbe: Number,
            /// Length of glass that gives light its colour.
            pub tint_distance: Number,
            /// How wide it mirrors, as the Weekend has it (paths).
            pub fuzz: Number,
            /// How wide it mirrors.
            pub roughness: Number,
            /// How bright it shines.
            pub strength: Number,
            /// Weight of its highlights.
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
        pub solid: Text,
        /// Its centre.
        #[serde(alias = "centre")]
        pub center: Triple,
        /// Of the ball around it.
        pub radius: Number,
        /// Lamps on each edge, or "strip".
        pub lamps: Option<At<NumberOrWord>>,
        /// Colour of the lamps.
        #[serde(alias = "lamp_colour")]
        pub lamp_color: Colour,
        /// How bright the lamps are.
        pub lamp_intensity: Number,
        /// Width of the bars along its edges, in its radii.
        pub bar: Number,
        /// Colour of the bars.
        #[serde(alias = "bar_colour")]
        pub bar_color: Colour,
        /// Share of the light that the bars mirror outside.
        pub bar_reflection: Number,
        /// Share that it mirrors inside: a one-way mirror.
        pub reflection_inside: Number,
        /// What it turns about.
        pub axis: Triple,
        /// How far it is turned, degrees.
        pub angle_deg: Number,
        /// Turns over the clip.
        pub turns: Number,
        /// How far it moves over the clip.
        pub drift: Triple,
        /// A way on a cylinder about its centre.
        pub path: Option<RawPath>,
        /// Where its lamps shine.
        pub lamp_sides: Text,
        /// How its lamps change over the clip.
        pub lamp_pattern: Text,
        /// How often they do.
        pub lamp_cycles: Number,
    }
}

with_material! {
    "sphere",
    pub struct RawSphere {
        /// Its centre.
        #[serde(alias = "centre")]
        pub center: Triple,
        /// Its radius.
        pub radius: Number,
    }
}

with_material! {
    "rectangle",
    pub struct RawRectangle {
        /// Its centre.
        #[serde(alias = "centre")]
        pub center: Triple,
        /// Width and height.
        pub size: Option<At<Numbers<2>>>,
        /// Its normal; the width lies level.
        pub facing: Triple,
        /// How far it is turned about that, degrees.
        pub angle_deg: Number,
    }
}

with_material! {
    "mesh",
    pub struct RawMesh {
        /// The file: OBJ or PLY.
        pub path: Text,
        /// Multiplies its coordinates.
        pub scale: Number,
        /// Is added to them afterwards.
        pub offset: Triple,
        /// The file's own z is up, not y.
        pub z_up: Option<bool>,
        /// By the file's normals, where it has some.
        pub smooth: Option<bool>,
    }
}

with_material! {
    "particles",
    pub struct RawParticles {
        /// The file; with %d or %0Nd one for each frame.
        pub path: Text,
        /// Number of the first frame's file.
        pub first: Number,
        /// From frame to frame.
        pub step: Number,
        /// What colours them.
        #[serde(alias = "colour_by")]
        pub color_by: Text,
        /// Values at the ends of the colour map.
        pub range: Option<At<Numbers<2>>>,
        /// Draws the colour map with its numbers.
        pub legend: Option<bool>,
    }
}

with_material! {
    "floor",
    pub struct RawFloor {
        /// Its four corners.
        pub corners: Option<At<Vec<At<Numbers<3>>>>>,
        /// Its picture: a .data, PNG or JPEG file, @checker, @concrete, @marble or @wood.
        pub texture: Text,
        /// Multiplies the picture.
        pub tint: Colour,
        /// How far it goes.
        pub size: Text,
        /// Distance at which half of it has given way to the sky; 0: none does.
        pub fade: Number,
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
