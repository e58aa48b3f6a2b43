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
        CONTINUOUS.iter().map(|(name, _)| *name).chain(CATEGORICAL.iter().map(|(name, _)| *name))
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
            Colours::Named(name) => match gradient(name) {
                Some(gradient) => all.map(|i| srgb(gradient.eval_rational(i, COLOURS))).collect(),
                None => list(name).into_iter().flat_map(|list| list.iter()).map(|c| srgb(*c)).collect(),
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
