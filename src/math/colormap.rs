//! Color maps for values: those of the crate colorous by name, and lists of colors.

use colorous::{Color, Gradient};

/// Colors of a continuous map.
pub const COLOURS: usize = 256;

// The names are those of the crate's constants.
macro_rules! table {
    ($($name:literal: $map:ident,)*) => { [$(($name, colorous::$map)),*] };
    (&, $($name:literal: $map:ident,)*) => { [$(($name, &colorous::$map)),*] };
}

// Sequential ones of several hues, of one, diverging and cyclic ones.
const CONTINUOUS: [(&str, Gradient); 38] = table! {
    "viridis": VIRIDIS, "inferno": INFERNO, "magma": MAGMA, "plasma": PLASMA, "cividis": CIVIDIS, "turbo": TURBO,
    "warm": WARM, "cool": COOL, "cubehelix": CUBEHELIX, "blue_green": BLUE_GREEN, "blue_purple": BLUE_PURPLE,
    "green_blue": GREEN_BLUE, "orange_red": ORANGE_RED, "purple_blue_green": PURPLE_BLUE_GREEN, "purple_blue": PURPLE_BLUE,
    "purple_red": PURPLE_RED, "red_purple": RED_PURPLE, "yellow_green_blue": YELLOW_GREEN_BLUE,
    "yellow_green": YELLOW_GREEN, "yellow_orange_brown": YELLOW_ORANGE_BROWN, "yellow_orange_red": YELLOW_ORANGE_RED,
    "blues": BLUES, "greens": GREENS, "greys": GREYS, "oranges": ORANGES, "purples": PURPLES, "reds": REDS,
    "brown_green": BROWN_GREEN, "purple_green": PURPLE_GREEN, "pink_green": PINK_GREEN, "purple_orange": PURPLE_ORANGE,
    "red_blue": RED_BLUE, "red_grey": RED_GREY, "red_yellow_blue": RED_YELLOW_BLUE, "red_yellow_green": RED_YELLOW_GREEN,
    "spectral": SPECTRAL, "rainbow": RAINBOW, "sinebow": SINEBOW,
};

// Maps for science by Fabio Crameri (copyright 2020, MIT): every eighth color, between which they run straight. No color is farther than two
// 255ths from the published ones.
#[rustfmt::skip]
const SCIENTIFIC: [(&str, [u32; 33]); 5] = [
    (
        "batlow",
        [
            0x011959, 0x08255b, 0x0d315d, 0x0f3b5f, 0x114360, 0x134b61, 0x165262, 0x1b5962, 0x226061, 0x2a655e, 0x356a59,
            0x406f54, 0x4d734d, 0x597646, 0x667a3f, 0x737e38, 0x818232, 0x90862d, 0xa08a2b, 0xb08d2e, 0xbf9035, 0xce923f,
            0xdb954c, 0xe8985b, 0xf29d6c, 0xf8a27e, 0xfca891, 0xfdaea3, 0xfdb4b4, 0xfdbac5, 0xfcc0d6, 0xfbc6e8, 0xfaccfa,
        ],
    ),
    (
        "roma",
        [
            0x7e1700, 0x862c06, 0x8e3c0c, 0x964b12, 0x9d5818, 0xa3651e, 0xa97223, 0xaf7e2a, 0xb68c32, 0xbd9a3c, 0xc4aa4a,
            0xcaba5c, 0xd0c971, 0xd2d789, 0xd1e19f, 0xcbe8b3, 0xc1eac2, 0xb2e9cd, 0xa1e4d4, 0x8ddcd7, 0x78d2d7, 0x64c5d4,
            0x52b8d0, 0x44aacc, 0x399dc6, 0x3190c1, 0x2b83bc, 0x2677b7, 0x226ab1, 0x1e5dab, 0x184fa5, 0x11409f, 0x033198,
        ],
    ),
    (
        "vik",
        [
            0x001261, 0x021f69, 0x022b71, 0x023779, 0x034481, 0x045089, 0x0c5e92, 0x1b6d9b, 0x2f7ca6, 0x478db1, 0x609dbc,
            0x79adc7, 0x92bdd2, 0xacccdc, 0xc5dbe5, 0xdce5e9, 0xece5e1, 0xeedacf, 0xe9cbb9, 0xe2bba4, 0xdcab8f, 0xd59c7b,
            0xcf8e68, 0xc97f55, 0xc37243, 0xbc6331, 0xb3531f, 0xa5400e, 0x932e06, 0x832106, 0x741506, 0x660a07, 0x590008,
        ],
    ),
    (
        "lajolla",
        [
            0x191900, 0x201c04, 0x271e08, 0x2f210d, 0x372411, 0x412716, 0x4c2b1c, 0x592f22, 0x663429, 0x753931, 0x853d38,
            0x95423f, 0xa64644, 0xb64a48, 0xc54f4a, 0xd1564c, 0xd95f4e, 0xde6a4f, 0xe1744f, 0xe37e50, 0xe58751, 0xe79152,
            0xe99a52, 0xeba353, 0xedad54, 0xefb755, 0xf1c159, 0xf4cd62, 0xf7d972, 0xfae588, 0xfcef9f, 0xfef7b6, 0xfffecb,
        ],
    ),
    (
        "oslo",
        [
            0x010101, 0x050a10, 0x0a121a, 0x0d1824, 0x0e1e2e, 0x0f2439, 0x112a44, 0x13314f, 0x15395b, 0x184067, 0x1c4773,
            0x214f7f, 0x26568c, 0x2d5e99, 0x3667a5, 0x4270b1, 0x4f7abc, 0x5c83c3, 0x678bc7, 0x7292c9, 0x7c99ca, 0x859fca,
            0x8fa4c9, 0x98aac9, 0xa2b0ca, 0xacb7cb, 0xb7bfcd, 0xc2c7d1, 0xced1d7, 0xdadcdf, 0xe6e7e9, 0xf3f3f4, 0xffffff,
        ],
    ),
];

const CATEGORICAL: [(&str, &[Color]); 10] = table! { &,
    "tableau10": TABLEAU10, "category10": CATEGORY10, "accent": ACCENT, "dark2": DARK2, "paired": PAIRED,
    "pastel1": PASTEL1, "pastel2": PASTEL2, "set1": SET1, "set2": SET2, "set3": SET3,
};

/// A color map. A continuous one has a color for each share between the ends of a range, a categorical one for each whole number.
#[derive(Clone, Debug, PartialEq)]
pub struct ColourMap {
    colours: Colours,
    is_reversed: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Colours {
    // By name.
    Named(&'static str),
    // In equal distances.
    Own(Vec<[f64; 3]>),
}

impl Default for ColourMap {
    /// Viridis, which is perceptually uniform and safe for color-blind viewers.
    fn default() -> ColourMap {
        ColourMap { colours: Colours::Named(CONTINUOUS[0].0), is_reversed: false }
    }
}

impl ColourMap {
    /// The map of this name, in any case; `NAME_r` is it from end to end.
    pub fn named(name: &str) -> Option<ColourMap> {
        let find = |name: &str| ColourMap::names().find(|one| one.eq_ignore_ascii_case(name));
        let reversed = || Some((find(name.strip_suffix("_r").or(name.strip_suffix("_R"))?)?, true));
        let (name, is_reversed) = find(name).map(|name| (name, false)).or_else(reversed)?;
        Some(ColourMap { colours: Colours::Named(name), is_reversed })
    }
    /// A continuous map through these sRGB colors, in equal distances; None if there are fewer than two.
    pub fn through(colours: Vec<[f64; 3]>) -> Option<ColourMap> {
        (colours.len() > 1).then_some(ColourMap { colours: Colours::Own(colours), is_reversed: false })
    }
    /// The names of all maps.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        let named = CONTINUOUS.iter().map(|(name, _)| *name).chain(SCIENTIFIC.iter().map(|(name, _)| *name));
        named.chain(CATEGORICAL.iter().map(|(name, _)| *name))
    }
    /// The name; None of a list of colors.
    pub fn name(&self) -> Option<String> {
        match &self.colours {
            Colours::Named(name) => Some(format!("{name}{}", if self.is_reversed { "_r" } else { "" })),
            Colours::Own(_) => None,
        }
    }
    /// The colors that it was made of, if it has no name.
    pub fn own(&self) -> &[[f64; 3]] {
        match &self.colours {
            Colours::Named(_) => &[],
            Colours::Own(colours) => colours,
        }
    }
    /// Whether it has a color for each whole number.
    pub fn is_categorical(&self) -> bool {
        matches!(&self.colours, Colours::Named(name) if CATEGORICAL.iter().any(|(one, _)| one == name))
    }

    /// All colors that a picture can have of it, sRGB: 256 of a continuous map, from its lower end to the upper one.
    pub fn colours(&self) -> Vec<[f64; 3]> {
        let gradient = |name: &str| CONTINUOUS.iter().find(|(one, _)| *one == name).map(|(_, gradient)| gradient);
        let list = |name: &str| CATEGORICAL.iter().find(|(one, _)| *one == name).map(|(_, list)| list);
        let all = 0..COLOURS;
        let mut colours: Vec<[f64; 3]> = match &self.colours {
            Colours::Own(own) => all.map(|i| between(own, i as f64 / (COLOURS - 1) as f64)).collect(),
            Colours::Named(name) => match (gradient(name), scientific(name)) {
                (Some(gradient), _) => all.map(|i| srgb(gradient.eval_rational(i, COLOURS))).collect(),
                (None, Some(own)) => all.map(|i| between(&own, i as f64 / (COLOURS - 1) as f64)).collect(),
                (None, None) => list(name).into_iter().flat_map(|list| list.iter()).map(|c| srgb(*c)).collect(),
            },
        };
        if self.is_reversed {
            colours.reverse();
        }
        colours
    }
    /// The color of a share between the ends of the range, from 0 to 1; of a categorical map that of a whole number.
    pub fn colour(&self, value: f64) -> [f64; 3] {
        let colours = self.colours();
        colours[self.index(value).min(colours.len() - 1)]
    }
    /// The number of that color in the list of all.
    pub fn index(&self, value: f64) -> usize {
        match &self.colours {
            Colours::Named(name) if self.is_categorical() => {
                let count = CATEGORICAL.iter().find(|(one, _)| one == name).map_or(1, |(_, list)| list.len());
                value.round().rem_euclid(count as f64) as usize
            }
            _ => (value.clamp(0.0, 1.0) * (COLOURS - 1) as f64).round() as usize,
        }
    }
}

// The colors through which a scientific map runs.
fn scientific(name: &str) -> Option<Vec<[f64; 3]>> {
    let (_, colours) = SCIENTIFIC.iter().find(|(one, _)| *one == name)?;
    let channels = |c: &u32| [c >> 16, c >> 8 & 0xff, c & 0xff].map(|x| f64::from(x) / 255.0);
    Some(colours.iter().map(channels).collect())
}

fn srgb(c: Color) -> [f64; 3] {
    [c.r, c.g, c.b].map(|x| f64::from(x) / 255.0)
}

// The color at a share of the way through a list.
fn between(colours: &[[f64; 3]], t: f64) -> [f64; 3] {
    let at = t * (colours.len() - 1) as f64;
    let i = (at as usize).min(colours.len() - 2);
    let share = at - i as f64;
    [0, 1, 2].map(|c| colours[i][c] * (1.0 - share) + colours[i + 1][c] * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_have_their_colours_from_end_to_end() {
        for name in ColourMap::names() {
            let (map, reversed) = (ColourMap::named(name).unwrap(), ColourMap::named(&format!("{name}_R")).unwrap());
            assert_eq!((map.name().unwrap(), reversed.name().unwrap()), (name.to_owned(), format!("{name}_r")));
            let mut turned = reversed.colours();
            turned.reverse();
            assert!(map.colours() == turned && map != reversed, "{name}");
            let count = turned.len();
            assert_eq!(count == COLOURS, !map.is_categorical(), "{name}");
            let last = if map.is_categorical() { count as f64 - 1.0 } else { 1.0 };
            assert_eq!([map.colour(0.0), map.colour(last)], [turned[0], turned[count - 1]], "{name}");
        }
        let viridis = [[68, 1, 84], [253, 231, 37]].map(|c: [u8; 3]| c.map(|x| f64::from(x) / 255.0));
        let map = ColourMap::default();
        assert_eq!([map.colour(-0.5), map.colour(7.0)], viridis);
        assert_eq!(ColourMap::named("viridiss"), None);
        // The published tables at their ends and in their middle.
        for (name, expected) in [
            ("batlow", [[0.005193, 0.098238, 0.349842], [0.327007, 0.4579, 0.286377], [0.981354, 0.800406, 0.981267]]),
            ("roma", [[0.492325, 0.090787, 7.6e-05], [0.821675, 0.81924, 0.49444], [0.009824, 0.192129, 0.596704]]),
            ("vik", [[0.001328, 0.069836, 0.379529], [0.628351, 0.774452, 0.846058], [0.350423, 6.1e-05, 0.030499]]),
            ("lajolla", [[0.098791, 0.099669, 8.8e-05], [0.684764, 0.28152, 0.274801], [1.0, 0.997796, 0.794247]]),
            ("oslo", [[0.00367, 0.005082, 0.002454], [0.164133, 0.355699, 0.575583], [0.999801, 1.0, 0.999961]]),
        ] {
            let colours = ColourMap::named(name).unwrap().colours();
            for (at, expected) in [0, 100, 255].into_iter().zip(expected) {
                for (x, y) in colours[at].into_iter().zip(expected) {
                    assert!((x - y).abs() < 2.1 / 255.0, "{name} {at}: {x} {y}");
                }
            }
        }
    }

    #[test]
    fn classes_repeat_and_lists_are_blended() {
        let map = ColourMap::named("set1").unwrap();
        assert_eq!([0.0, 8.0, 9.0, -1.0, 3.2].map(|x| map.index(x)), [0, 8, 0, 8, 3]);
        let map = ColourMap::through(vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0; 3]]).unwrap();
        assert_eq!([0.0, 1.0].map(|t| map.colour(t)), [[0.0; 3], [1.0; 3]]);
        assert!(map.colour(0.25)[0] > 0.49 && map.colour(0.25)[1] == 0.0 && map.colour(0.75)[1] > 0.49);
        assert_eq!(ColourMap::through(vec![[0.0; 3]]), None);
    }
}
