//! Lamps on the edges of bodies: their number, their sides and their changes over the clip.

use crate::scene::keys::keys;
use crate::scene::keys::words::{names, number_or_word};

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

names! {
    /// What a body's lamps do over the clip.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LampAnimation {
        /// constant
        Steady = "steady",
        /// brighter and darker
        Pulse = "pulse",
        /// all hues in turn
        Hue = "hue",
        /// light runs along the edges: in each cycle it passes the four lamps from one bright lamp to the next
        Chase = "chase",
    }
}

keys! {
    /// The changes of a body's lamps over the clip.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct LampPattern in "lamp pattern" {
        /// Animation of the lamps.
        pub animation as "lamp_pattern": LampAnimation = LampAnimation::Steady, group("Lamps");
        /// Cycles of the animation over the clip; whole numbers make a loop.
        pub cycles as "lamp_cycles": f64 = 1.0,
            slider(-4.0, 4.0), when("lamp_pattern", &["pulse", "hue", "chase"]), refused();
        /// Cycles that are added: where the animation is at the clip's start. By beats, with `lamp_cycles = 0`, it runs at each beat.
        pub phase as "lamp_phase": f64 = 0.0,
            unit("cycles"), slider(0.0, 1.0), when("lamp_pattern", &["pulse", "hue", "chase"]), refused(), animated();
    }
}

impl LampPattern {
    /// The phase of a light that runs along the edges, in cycles, if there is one. At a moment of the clip all of it is in `phase`.
    pub(crate) fn chase(&self) -> Option<f64> {
        (self.animation == LampAnimation::Chase).then_some(self.phase)
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
