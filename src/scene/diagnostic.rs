//! What is wrong with a scene: where, what was expected, what to do. Shown with the source line.

use super::limits::{BRIGHTEST, FARTHEST, MAX_PIXELS, SHORTEST};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;

/// One fault in a scene's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Where, in bytes of the text; empty at its end when something is missing.
    pub span: Range<usize>,
    /// What is wrong, in one line.
    pub what: String,
    /// What was expected there.
    pub expected: String,
    /// What to do about it, if there is more to say.
    pub help: Option<String>,
}

impl Problem {
    /// A problem at `span`.
    pub fn new(span: Range<usize>, what: impl Into<String>, expected: impl Into<String>) -> Problem {
        Problem { span, what: shortened(what.into()), expected: shortened(expected.into()), help: None }
    }
    /// The problem of a picture above the memory limit.
    pub(crate) fn too_large(span: Range<usize>, width: u32, height: u32) -> Problem {
        let what = format!("a picture of {width} x {height} pixels is above the memory limit");
        Problem::new(span, what, format!("expected at most {MAX_PIXELS} pixels"))
    }
    /// Adds what to do.
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

/// Faults that are shown of one text.
pub const MAX_SHOWN: usize = 20;
/// Letters that are shown of a line.
const WIDEST: usize = 160;

// The lines that a span touches, and no more: a scene may be large.
struct Excerpt<'a> {
    text: &'a str,
    span: Range<usize>,
    line: usize,
}

impl Excerpt<'_> {
    fn of<'a>(source: &'a str, span: &Range<usize>) -> Excerpt<'a> {
        let (start, end) = (span.start.min(source.len()), span.end.min(source.len()));
        let first = source[..start].rfind('\n').map_or(0, |i| i + 1);
        let after = source[start..].find('\n').map_or(source.len(), |i| start + i);
        let line = source[..first].bytes().filter(|&b| b == b'\n').count() + 1;
        // A very long line is cut off; the place is then told without it.
        let text = &source[first..after];
        let cut = text.char_indices().nth(WIDEST).map_or(text.len(), |(i, _)| i);
        let within = |at: usize| at.saturating_sub(first).min(cut);
        Excerpt { text: &text[..cut], span: within(start)..within(end), line }
    }
}

// A message in which a value of thousands of letters was quoted.
fn shortened(text: String) -> String {
    match text.char_indices().nth(400) {
        Some((at, _)) => format!("{} ...", &text[..at]),
        None => text,
    }
}

/// How bad a message is, and what it begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Nothing is done: `error: ...`.
    Error,
    /// Something is done that may not be what is wanted: `warning: ...`.
    Warning,
}

impl Severity {
    fn level(self) -> Level<'static> {
        match self {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        }
    }
}

/// Whether messages have a terminal's colours, as escape sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colours {
    /// No.
    Plain,
    /// Yes.
    Styled,
}

impl Colours {
    fn renderer(self) -> Renderer {
        match self {
            Colours::Plain => Renderer::plain(),
            Colours::Styled => Renderer::styled(),
        }
    }
}

/// A message that has no place in a text, in the same form as those that have one.
pub(crate) fn message(severity: Severity, what: &str, help: Option<&str>, colours: Colours) -> String {
    // What follows the first line is another program's own words, or a list.
    let (title, rest) = what.split_once('\n').map_or((what, None), |(title, rest)| (title, Some(rest)));
    let render = |group: Group| colours.renderer().render(&[group]).to_string();
    let mut lines = vec![render(Group::with_title(severity.level().primary_title(title)))];
    lines.extend(rest.map(str::to_owned));
    lines.extend(help.map(|help| render(Group::with_title(Level::HELP.primary_title(help)))));
    lines.join("\n")
}

/// All faults of one text, to be shown together.
#[derive(Clone, Debug, PartialEq)]
pub struct Problems {
    /// The file's name, or `stdin`.
    pub name: String,
    /// The text.
    pub source: String,
    /// In the order found.
    pub list: Vec<Problem>,
}

impl std::error::Error for Problems {}

impl std::fmt::Display for Problems {
    /// `file:line:column`, the source line and the finger on it, for each problem.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown(Severity::Error, Colours::Plain))
    }
}

impl Problems {
    /// The same as messages of a severity.
    pub(crate) fn shown(&self, severity: Severity, colours: Colours) -> String {
        let renderer = colours.renderer();
        let message = |problem: &Problem| {
            let excerpt = Excerpt::of(&self.source, &problem.span);
            let annotation = AnnotationKind::Primary.span(excerpt.span).label(problem.expected.as_str());
            let snippet = Snippet::source(excerpt.text).line_start(excerpt.line).path(self.name.as_str());
            let title = severity.level().primary_title(problem.what.as_str());
            let help = problem.help.iter().map(|help| Level::HELP.message(help.as_str()));
            renderer.render(&[title.element(snippet.annotation(annotation)).elements(help)]).to_string()
        };
        let mut messages: Vec<String> = self.list.iter().take(MAX_SHOWN).map(message).collect();
        if self.list.len() > MAX_SHOWN {
            messages.push(format!("and {} more", self.list.len() - MAX_SHOWN));
        }
        messages.join("\n\n")
    }
}

/// What a number must be; the same rules hold in both grammars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// Any finite number.
    Finite,
    /// 0 or above.
    NotNegative,
    /// A place in the scene, units: kernels square and multiply it in single precision.
    Coordinate,
    /// A size in the scene, units.
    Length,
    /// A brightness, 0 or above.
    Brightness,
    /// 0 to 1.
    Fraction,
    /// From one number to another.
    Within(f64, f64),
    /// A field of view, degrees.
    FieldOfView,
    /// An index of refraction.
    Index,
    /// A whole number in a range.
    Whole(u32, u32),
    /// Bits of a channel.
    Bits,
}

impl Rule {
    /// Frames a second: what players and formats of video know.
    pub const FRAME_RATE: Rule = Rule::Within(0.001, 1000.0);

    /// What is expected, for the error's label.
    pub fn expected(self) -> String {
        let text =
            |x: f64| if x.abs() >= 1e6 || (x != 0.0 && x.abs() < 1e-6) { format!("{x:e}") } else { x.to_string() };
        match (self, self.range()) {
            (Rule::Index, _) => "an index of refraction, 0.01 to 100".into(),
            (Rule::FieldOfView, _) => "degrees, above 0 and below 180".into(),
            (Rule::Whole(min, max), _) => format!("a whole number from {min} to {max}"),
            (Rule::Bits, _) => "8 or 16 (PNG), 16 or 32 (EXR)".into(),
            (_, (Some(min), Some(max))) => format!("a number from {} to {}", text(min), text(max)),
            (_, (Some(min), None)) => format!("a number not below {min}"),
            _ => "a finite number".into(),
        }
    }
    /// The least and the most, where there are such.
    pub fn range(self) -> (Option<f64>, Option<f64>) {
        match self {
            Rule::Finite => (None, None),
            Rule::NotNegative => (Some(0.0), None),
            Rule::Coordinate => (Some(-FARTHEST), Some(FARTHEST)),
            Rule::Length => (Some(SHORTEST), Some(FARTHEST)),
            Rule::Brightness => (Some(0.0), Some(BRIGHTEST)),
            Rule::Fraction => (Some(0.0), Some(1.0)),
            Rule::Within(low, high) => (Some(low), Some(high)),
            Rule::FieldOfView => (Some(0.0), Some(180.0)),
            Rule::Index => (Some(0.01), Some(100.0)),
            Rule::Whole(min, max) => (Some(min.into()), Some(max.into())),
            Rule::Bits => (Some(8.0), Some(32.0)),
        }
    }
    /// Whether x is such a number, single precision included.
    pub fn allows(self, x: f64) -> bool {
        let (min, max) = self.range();
        let is_such = match self {
            Rule::Bits => [8.0, 16.0, 32.0].contains(&x),
            Rule::FieldOfView => x > 0.0 && x < 180.0,
            Rule::Whole(..) => x.fract() == 0.0,
            _ => true,
        };
        (x as f32).is_finite() && is_such && min.is_none_or(|min| x >= min) && max.is_none_or(|max| x <= max)
    }
}
