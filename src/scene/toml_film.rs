//! The film of a scene in TOML.

use super::diagnostic::{Problem, Rule};
use super::toml::{Validator, Values};
use super::toml_keys::{RawFilm, RawRender};
use super::toml_values::NumberOrWord;
use super::{Exposure, FilmSettings, Filter, Tone};

impl Validator {
    // `tone` and `gamma` may stand in `[render]` too.
    pub fn film(&mut self, raw: &RawFilm, render: &RawRender) -> FilmSettings {
        for (key, here, there) in [
            ("tone", raw.tone.as_ref().map(|at| at.span()), render.tone.as_ref().map(|at| at.span())),
            ("gamma", raw.gamma.as_ref().map(|at| at.span()), render.gamma.as_ref().map(|at| at.span())),
        ] {
            if let (Some(_), Some(there)) = (here, there) {
                let what = format!("`{key}` stands in [film] and in [render]");
                self.problems.push(Problem::new(there, what, "expected it in [film] only"));
            }
        }
        let plain = FilmSettings::default();
        let stops = Rule::Within(-FilmSettings::MAX_STOPS, FilmSettings::MAX_STOPS);
        self.note("exposure", || Values::Numbers(stops, Some(vec![0.0])));
        let exposure = match raw.exposure.as_ref().map(|e| (e.get_ref(), e.span())) {
            None => plain.exposure,
            Some((NumberOrWord::Word(word), _)) if word.eq_ignore_ascii_case("auto") => Exposure::Auto,
            Some((NumberOrWord::Number(x), _)) if stops.allows(*x) => Exposure::Stops(*x),
            Some((given, span)) => {
                let expected = format!("expected stops, at most {} up or down, or \"auto\"", FilmSettings::MAX_STOPS);
                self.problems.push(Problem::new(span, format!("`exposure` is {given}"), expected));
                plain.exposure
            }
        };
        let [low, high] = FilmSettings::TEMPERATURES;
        let gamma = if raw.gamma.is_some() { &raw.gamma } else { &render.gamma };
        let gamma = self.number("gamma", gamma, 0.0, Rule::NotNegative);
        let tone = if raw.tone.is_some() { &raw.tone } else { &render.tone };
        let film = FilmSettings {
            exposure,
            white_balance: self.number(
                "white_balance",
                &raw.white_balance,
                plain.white_balance,
                Rule::Within(low, high),
            ),
            bloom: self.number("bloom", &raw.bloom, plain.bloom, Rule::Fraction),
            filter: self.one_of("filter", &raw.filter, &Filter::ALL),
            bloom_radius: self.number("bloom_radius", &raw.bloom_radius, plain.bloom_radius, Rule::Fraction),
            vignette: self.number("vignette", &raw.vignette, plain.vignette, Rule::Fraction),
            grain: self.number("grain", &raw.grain, plain.grain, Rule::Fraction),
            tone: match self.one_of("tone", tone, &Tone::ALL) {
                Tone::Clip { .. } => Tone::Clip { gamma },
                other => other,
            },
            dither: raw.dither,
        };
        film.canonical()
    }
}
