//! Lamps on the edges of bodies: their number, their sides and their changes over the clip.

use crate::language::msg;
use crate::scene::keys::read::Table;
use crate::scene::keys::words::{WordList, WordWithNumber, names, number_or_word};
use crate::scene::keys::write::Lines;
use crate::scene::keys::{Key, Value};

/// The lamps on each edge of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lamps {
    /// The number of lamps on each edge.
    Each(u32),
    /// A strip of light along the whole edge.
    Strip,
}

number_or_word!(Lamps: "strip" = Lamps::Strip, |n| Lamps::Each(n as u32), Lamps::Each(n) => n.to_string());

impl Lamps {
    /// The number of lamps on an edge; 0 for a strip.
    pub fn count(self) -> u32 {
        if let Lamps::Each(n) = self { n } else { 0 }
    }
    /// Whether the edges are lit along their whole length.
    pub fn is_strip(self) -> bool {
        self == Lamps::Strip
    }
}

/// The changes of a body's lamps over the clip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum LampPattern {
    /// No change.
    #[default]
    Steady,
    /// The lamps get darker and brighter, this many times.
    Pulse(f64),
    /// The lamps go through all hues, this many times.
    Hue(f64),
    /// Light runs along the edges. In each cycle it passes the four lamps from one bright lamp to the next.
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
            table.problem_at(
                "lamp_cycles",
                msg!("steady lamps have no `lamp_cycles`"),
                msg!("`lamp_pattern` beside it: \"pulse\", \"hue\" or \"chase\""),
            );
        }
    }
    fn list(&self, _: &'static Key, lines: &mut Lines) {
        self.list_both(lines);
    }
}

impl LampPattern {
    /// The pattern's name in scenes, and its cycles.
    pub fn name_and_cycles(mut self) -> (&'static str, f64) {
        (self.word(), self.number().copied().unwrap_or(0.0))
    }
}

/// How lamps and other emitters light the scene in Whitted ray tracing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LampSamples {
    /// Lamps light only the floor, by a map that is made before the first frame.
    #[default]
    Floor,
    /// Emitters light all surfaces. Each point traces this many shadow rays, half as many after each bounce, to
    /// emitters that are chosen with probability proportional to power.
    Drawn(u32),
    /// Emitters light all surfaces, with a shadow ray to each.
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

names! {
    /// The shape of a body's lamps.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LampShape {
        /// Small balls in the angle of each edge, round from every side; a strip is a round tube.
        Dome = "dome",
        /// Flat discs, or a flat strip, on each face beside the edge.
        Disc = "disc",
    }
}
