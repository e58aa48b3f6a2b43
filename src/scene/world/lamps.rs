//! Lamps on the edges of bodies: their number, their sides and their changes over the clip.

use crate::scene::keys::words::{names, number_or_word};
use crate::scene::keys::{keys, written_as};

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

names! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum PatternName {
        /// constant
        Steady = "steady",
        /// brighter and darker
        Pulse = "pulse",
        /// all hues in turn
        Hue = "hue",
        /// light runs along the edges
        Chase = "chase",
    }
}

keys! {
    // The keys of a pattern in the text.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct PatternKeys in "lamp pattern" {
        /// Animation of the lamps.
        lamp_pattern: PatternName = PatternName::Steady, group("Lamps");
        /// Cycles of the animation over the clip; whole numbers make a loop.
        lamp_cycles: Option<f64> = None,
            slider(-4.0, 4.0), when("lamp_pattern", &["pulse", "hue", "chase"]), refused(), holds(Some("1"));
    }
}

written_as!(LampPattern, PatternKeys);

impl From<PatternKeys> for LampPattern {
    fn from(PatternKeys { lamp_pattern, lamp_cycles }: PatternKeys) -> LampPattern {
        let cycles = lamp_cycles.unwrap_or(1.0);
        match lamp_pattern {
            PatternName::Steady => LampPattern::Steady,
            PatternName::Pulse => LampPattern::Pulse(cycles),
            PatternName::Hue => LampPattern::Hue(cycles),
            PatternName::Chase => LampPattern::Chase(cycles),
        }
    }
}

impl From<&LampPattern> for PatternKeys {
    fn from(pattern: &LampPattern) -> PatternKeys {
        let (lamp_pattern, lamp_cycles) = match *pattern {
            LampPattern::Steady => (PatternName::Steady, None),
            LampPattern::Pulse(cycles) => (PatternName::Pulse, Some(cycles)),
            LampPattern::Hue(cycles) => (PatternName::Hue, Some(cycles)),
            LampPattern::Chase(cycles) => (PatternName::Chase, Some(cycles)),
        };
        PatternKeys { lamp_pattern, lamp_cycles }
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
