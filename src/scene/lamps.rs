//! Lamps on the edges of bodies: where they are and how they change.

use super::keys::read::Table;
use super::keys::words::{WordList, WordWithNumber, names, number_or_word};
use super::keys::write::Lines;
use super::keys::{Key, Value};

/// The lamps on each edge of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lamps {
    /// So many.
    Each(u32),
    /// A strip of light all along the edge.
    Strip,
}

number_or_word!(Lamps: "strip" = Lamps::Strip, |n| Lamps::Each(n as u32), Lamps::Each(n) => n.to_string());

impl Lamps {
    /// How many there are on an edge; of a strip none.
    pub fn count(self) -> u32 {
        if let Lamps::Each(n) = self { n } else { 0 }
    }
    /// Whether the edges are lit all along.
    pub fn is_strip(self) -> bool {
        self == Lamps::Strip
    }
}

/// How a body's lamps change over the clip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LampPattern {
    /// They do not.
    #[default]
    Steady,
    /// Brighter and darker, so many times.
    Pulse(f64),
    /// Through all hues, so many times.
    Hue(f64),
    /// Light runs along the edges, so many times over the four lamps between one bright one and the next.
    Chase(f64),
}

impl WordWithNumber for LampPattern {
    const WORDS: &'static WordList<LampPattern> = &[
        (LampPattern::Steady, "steady", "constant"),
        (LampPattern::Pulse(1.0), "pulse", "brighter and darker"),
        (LampPattern::Hue(1.0), "hue", "all hues in turn"),
        (LampPattern::Chase(1.0), "chase", "light runs along the edges"),
    ];
    const KEYS: &'static [Key; 2] = &[
        Key { group: "Lamps", ..Key::new("lamp_pattern", "Animation of the lamps.") },
        Key {
            slider: Some((-4.0, 4.0)),
            when: Some(("lamp_pattern", &["pulse", "hue", "chase"])),
            holds: Some("1"),
            ..Key::new("lamp_cycles", "Cycles of the animation over the clip; whole numbers make a loop.")
        },
    ];
    fn number(&mut self) -> Option<&mut f64> {
        match self {
            LampPattern::Steady => None,
            LampPattern::Pulse(cycles) | LampPattern::Hue(cycles) | LampPattern::Chase(cycles) => Some(cycles),
        }
    }
}

impl Value for LampPattern {
    fn read(&mut self, _: &'static Key, table: &mut Table) {
        self.read_both(table);
        if *self == LampPattern::Steady {
            let expected = "`lamp_pattern` beside it: \"pulse\", \"hue\" or \"chase\"";
            table.problem_at("lamp_cycles", "steady lamps have no `lamp_cycles`", expected);
        }
    }
    fn list(&self, _: &'static Key, lines: &mut Lines) {
        self.list_both(lines);
    }
}

impl LampPattern {
    /// WordList for scenes, and the cycles.
    pub fn name_and_cycles(mut self) -> (&'static str, f64) {
        (self.word(), self.number().copied().unwrap_or(0.0))
    }
}

/// What lamps and other things that glow light in Whitted's ray tracing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LampSamples {
    /// Lamps light the floor, by a map made before the first frame.
    #[default]
    Floor,
    /// All that glows lights everything: so many shadow rays from each point, half as many with each bounce, each to an
    /// emitter drawn by its strength.
    Drawn(u32),
    /// The same with a shadow ray to every emitter.
    All,
}

number_or_word!(
    LampSamples: "all" = LampSamples::All,
    |n| if n == 0.0 { LampSamples::Floor } else { LampSamples::Drawn(n as u32) },
    LampSamples::Floor => "0".into(),
    LampSamples::Drawn(n) => n.to_string()
);

names! {
    /// Which sides of its bars a body's lamps are on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LampSides {
        /// Both sides: visible from outside and from inside.
        Both = "both",
        /// The outer side only.
        Outside = "outside",
        /// The inner side only.
        Inside = "inside",
    }
}
