//! The keys of a scene in TOML, as they are written: every table and what it may hold.

use serde::Deserialize;
use serde::de::{self, SeqAccess, Visitor};
use toml::Spanned;

pub type Number = Option<Spanned<f64>>;
pub type Text = Option<Spanned<String>>;
pub type Triple = Option<Spanned<Numbers<3>>>;
pub type Colour = Option<Spanned<Paint>>;

// Just N numbers: serde's own arrays would silently drop a fourth.
pub struct Numbers<const N: usize>(pub [f64; N]);

impl<'de, const N: usize> Deserialize<'de> for Numbers<N> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seq<const N: usize>;
        impl<'de, const N: usize> Visitor<'de> for Seq<N> {
            type Value = Numbers<N>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(f, "a list of {N} numbers")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut values = [0.0; N];
                for (i, value) in values.iter_mut().enumerate() {
                    *value = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(i, &self))?;
                }
                match seq.next_element::<de::IgnoredAny>()? {
                    Some(_) => Err(de::Error::invalid_length(N + 1, &self)),
                    None => Ok(Numbers(values)),
                }
            }
        }
        deserializer.deserialize_seq(Seq)
    }
}

// A colour, sRGB: three numbers, or a word in quotes.
pub struct Paint(pub Numbers<3>);

impl<'de> Deserialize<'de> for Paint {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Paint;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(f, "a list of 3 numbers, \"#rrggbb\" or a colour's name in quotes")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Numbers::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(Paint)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                // The names and notations of CSS Color 4.
                let colour = csscolorparser::parse(text).ok().filter(|c| c.a == 1.0);
                let colour = colour.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))?;
                // As the digits say, and not their nearest single-precision numbers.
                let [r, g, b, _] = colour.to_rgba8();
                Ok(Paint(Numbers([r, g, b].map(|x| f64::from(x) / 255.0))))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Three numbers, however they are written.
pub trait ThreeNumbers {
    fn values(&self) -> [f64; 3];
}
impl ThreeNumbers for Numbers<3> {
    fn values(&self) -> [f64; 3] {
        self.0
    }
}
impl ThreeNumbers for Paint {
    fn values(&self) -> [f64; 3] {
        self.0.0
    }
}

/// A number, or a word in its place.
pub enum NumberOrWord {
    Number(f64),
    Word(String),
}

impl<'de> Deserialize<'de> for NumberOrWord {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = NumberOrWord;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                write!(f, "a number or a word in quotes")
            }
            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Self::Value, E> {
                Ok(NumberOrWord::Number(x))
            }
            fn visit_i64<E: de::Error>(self, x: i64) -> Result<Self::Value, E> {
                Ok(NumberOrWord::Number(x as f64))
            }
            fn visit_str<E: de::Error>(self, x: &str) -> Result<Self::Value, E> {
                Ok(NumberOrWord::Word(x.to_owned()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawScene {
    pub output: RawOutput,
    pub render: RawRender,
    pub film: RawFilm,
    pub sky: RawSky,
    pub camera: RawCamera,
    pub body: Vec<Spanned<RawBody>>,
    pub sphere: Vec<Spanned<RawSphere>>,
    pub rectangle: Vec<Spanned<RawRectangle>>,
    pub mesh: Vec<Spanned<RawMesh>>,
    pub particles: Option<Spanned<RawParticles>>,
    pub floor: Option<Spanned<RawFloor>>,
    pub light: Vec<Spanned<RawLight>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawOutput {
    pub frames: Number,
    pub path: Text,
    pub size: Option<Spanned<Numbers<2>>>,
    pub bits: Number,
    pub video: Text,
    pub fps: Number,
    #[serde(rename = "loop")]
    pub is_loop: Option<Spanned<bool>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawRender {
    pub samples: Option<Spanned<NumberOrWord>>,
    pub depth: Number,
    pub cutoff: Number,
    pub highlight: Number,
    pub ambient: Colour,
    pub integrator: Text,
    pub noise: Number,
    pub tone: Text,
    pub gamma: Number,
    pub shadows: Option<bool>,
    pub light_samples: Number,
    pub lamp_samples: Option<Spanned<NumberOrWord>>,
    pub clamp: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawFilm {
    pub filter: Text,
    pub exposure: Option<Spanned<NumberOrWord>>,
    pub white_balance: Number,
    pub bloom: Number,
    pub bloom_radius: Number,
    pub vignette: Number,
    pub grain: Number,
    pub dither: Option<bool>,
    pub tone: Text,
    pub gamma: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawSky {
    pub zenith: Colour,
    pub horizon: Colour,
    pub from_below: Option<bool>,
    pub image: Text,
    pub rotation_deg: Number,
    pub intensity: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawCamera {
    pub fov_deg: Number,
    pub eye: RawPath,
    pub target: RawPath,
    pub position: Triple,
    pub look_at: Triple,
    pub lens: Number,
    pub focus: Number,
    pub shutter: Number,
    pub orbit: Option<Spanned<RawOrbit>>,
    pub key: Vec<Spanned<RawKey>>,
    pub closed: Option<Spanned<bool>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawKey {
    pub time: Number,
    pub position: Triple,
    pub look_at: Triple,
    pub fov_deg: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawOrbit {
    #[serde(alias = "centre")]
    pub center: Triple,
    pub distance: Number,
    pub elevation_deg: Number,
    pub azimuth_deg: Number,
    pub turns: Number,
    pub ease: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawPath {
    pub r: Number,
    pub z: Number,
    pub phi_deg: Number,
    pub r_amplitude: Number,
    pub z_amplitude: Number,
    pub r_cycles: Number,
    pub z_cycles: Number,
    pub phi_cycles: Number,
    pub r_phase_deg: Number,
    pub z_phase_deg: Number,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawRelief {
    pub bump: Text,
    pub depth: Number,
    pub normal_map: Text,
    pub roughness_map: Text,
    pub tiles: Number,
    pub drift: Option<Spanned<Numbers<2>>>,
    pub offset: Option<Spanned<Numbers<2>>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct RawLight {
    pub position: Triple,
    #[serde(alias = "colour")]
    pub color: Colour,
    pub radius: Number,
}

// A table with the keys of a material: serde's flatten would lose the places that errors need.
macro_rules! with_material {
    (pub struct $name:ident { $($(#[$meta:meta])* pub $key:ident: $type:ty,)* }) => {
        #[derive(Deserialize, Default)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[$meta])* pub $key: $type,)*
            #[serde(alias = "colour")]
            pub color: Colour,
            pub material: Text,
            pub reflection: Number,
            pub transparency: Number,
            pub ior: Number,
            pub abbe: Number,
            pub tint_distance: Number,
            pub fuzz: Number,
            pub roughness: Number,
            pub strength: Number,
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
    pub struct RawBody {
        pub solid: Text,
        #[serde(alias = "centre")]
        pub center: Triple,
        pub radius: Number,
        pub lamps: Option<Spanned<NumberOrWord>>,
        #[serde(alias = "lamp_colour")]
        pub lamp_color: Colour,
        pub lamp_intensity: Number,
        pub bar: Number,
        #[serde(alias = "bar_colour")]
        pub bar_color: Colour,
        pub bar_reflection: Number,
        pub reflection_inside: Number,
        pub axis: Triple,
        pub angle_deg: Number,
        pub turns: Number,
        pub drift: Triple,
        pub path: Option<RawPath>,
        pub lamp_sides: Text,
        pub lamp_pattern: Text,
        pub lamp_cycles: Number,
    }
}

with_material! {
    pub struct RawSphere {
        #[serde(alias = "centre")]
        pub center: Triple,
        pub radius: Number,
    }
}

with_material! {
    pub struct RawRectangle {
        #[serde(alias = "centre")]
        pub center: Triple,
        pub size: Option<Spanned<Numbers<2>>>,
        pub facing: Triple,
        pub angle_deg: Number,
    }
}

with_material! {
    pub struct RawMesh {
        pub path: Text,
        pub scale: Number,
        pub offset: Triple,
        pub z_up: Option<bool>,
        pub smooth: Option<bool>,
    }
}

with_material! {
    pub struct RawParticles {
        pub path: Text,
        pub first: Number,
        pub step: Number,
        #[serde(alias = "colour_by")]
        pub color_by: Text,
        pub range: Option<Spanned<Numbers<2>>>,
        pub legend: Option<bool>,
    }
}

with_material! {
    pub struct RawFloor {
        pub corners: Option<Spanned<Vec<Spanned<Numbers<3>>>>>,
        pub texture: Text,
        pub tint: Colour,
        pub size: Text,
        pub fade: Number,
        pub relief: Option<Spanned<RawRelief>>,
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
