//! Lamps on the edges of bodies: where they are and how they change.

use super::keys::kinds::{Kind, number_or_word_schema, number_schema, number_text, one_of, quoted, words_schema};
use super::keys::read::{Context, Table, TomlValue};
use super::keys::schema::Declaration;
use super::keys::write::Lines;
use super::keys::{Key, Value, names};

/// The lamps on each edge of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lamps {
    /// So many.
    Each(u32),
    /// A strip of light all along the edge.
    Strip,
}

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

impl Kind for Lamps {
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<Lamps> {
        let word = |text: &str| (text == "strip").then_some(Lamps::Strip);
        let lamps = context.number_or_word(key, value, word, "\"strip\"")?;
        Some(lamps.map_or_else(|strip| strip, |n| Lamps::Each(n as u32)))
    }
    fn text(&self, _: &Key) -> String {
        match self {
            Lamps::Each(n) => n.to_string(),
            Lamps::Strip => quoted("strip"),
        }
    }
    fn schema(key: &Key) -> serde_json::Value {
        number_or_word_schema(key)
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

const PATTERN: Key = Key::new("lamp_pattern", "Animation of the lamps.").group("Lamps");
const CYCLES: Key = Key::new("lamp_cycles", "Cycles of the animation over the clip; whole numbers make a loop.")
    .slider(-4.0, 4.0)
    .when("lamp_pattern", &["pulse", "hue", "chase"])
    .group("Lamps");

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
    // All of them, with that many cycles, and what they do.
    fn all(cycles: f64) -> [(LampPattern, &'static str); 4] {
        [
            (LampPattern::Steady, "constant"),
            (LampPattern::Pulse(cycles), "brighter and darker"),
            (LampPattern::Hue(cycles), "all hues in turn"),
            (LampPattern::Chase(cycles), "light runs along the edges"),
        ]
    }
}

impl Value for LampPattern {
    fn read(&mut self, _: &'static Key, table: &mut Table) {
        let cycles = table.take(&CYCLES).and_then(|value| table.context.ruled(&CYCLES, value));
        let all = LampPattern::all(cycles.unwrap_or(1.0)).map(|(pattern, _)| (pattern, pattern.name_and_cycles().0));
        if let Some(value) = table.take(&PATTERN) {
            *self = one_of(value, &PATTERN, table.context, all.into_iter()).unwrap_or(*self);
        }
        if *self == LampPattern::Steady {
            let expected = "expected `lamp_pattern` beside it: \"pulse\", \"hue\" or \"chase\"";
            table.problem_at("lamp_cycles", "steady lamps have no `lamp_cycles`", expected);
        }
    }
    fn write(&self, _: &'static Key, out: &mut Lines) {
        let (name, cycles) = self.name_and_cycles();
        if *self != LampPattern::Steady {
            out.line(&PATTERN, quoted(name));
            out.line(&CYCLES, number_text(cycles));
        }
    }
    fn declare(&self, _: &'static Key, out: &mut Declaration) {
        let words = LampPattern::all(1.0).map(|(pattern, about)| (pattern.name_and_cycles().0, about));
        out.key(&PATTERN, words_schema(words.into_iter()), Some(quoted("steady")));
        out.key(&CYCLES, number_schema(CYCLES.rule), Some(number_text(1.0)));
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

impl Kind for LampSamples {
    fn parse(value: &TomlValue, key: &Key, context: &mut Context) -> Option<LampSamples> {
        let word = |text: &str| (text == "all").then_some(LampSamples::All);
        let samples = context.number_or_word(key, value, word, "\"all\"")?;
        Some(match samples {
            Ok(0.0) => LampSamples::Floor,
            Ok(n) => LampSamples::Drawn(n as u32),
            Err(all) => all,
        })
    }
    fn text(&self, _: &Key) -> String {
        match self {
            LampSamples::Floor => "0".into(),
            LampSamples::Drawn(n) => n.to_string(),
            LampSamples::All => quoted("all"),
        }
    }
    fn schema(key: &Key) -> serde_json::Value {
        number_or_word_schema(key)
    }
}

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
