//! Lamps on the edges of bodies: where they are and how they change.

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

impl LampPattern {
    /// Words for scenes, and the cycles.
    pub fn name_and_cycles(self) -> (&'static str, f64) {
        match self {
            LampPattern::Steady => ("steady", 0.0),
            LampPattern::Pulse(n) => ("pulse", n),
            LampPattern::Hue(n) => ("hue", n),
            LampPattern::Chase(n) => ("chase", n),
        }
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

/// Which sides of its bars a body's lamps are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LampSides {
    /// Both: they are seen from outside and from inside.
    #[default]
    Both,
    /// The outer side only.
    Outside,
    /// The inner side only.
    Inside,
}

impl LampSides {
    /// All of them, the usual one first, with their names.
    pub const ALL: [(LampSides, &str); 3] =
        [(LampSides::Both, "both"), (LampSides::Outside, "outside"), (LampSides::Inside, "inside")];
    /// The word for scenes.
    pub fn name(self) -> &'static str {
        super::name_of(&Self::ALL, self)
    }
}
