//! Faults of a scene with their position, the expected value and a remedy, and how they are shown with the source
//! line.

use crate::language::{Language, Message, ToMessage, msg};
use crate::scene::limits::{FARTHEST, MAX_BRIGHTNESS, MAX_PIXELS, MIN_LENGTH};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;

/// A fault in a scene's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The position, in bytes of the text; empty and at the end of the text for a missing value.
    pub span: Range<usize>,
    /// The fault, in one line.
    pub what: Message,
    /// The expected value.
    pub expected: Message,
    /// A remedy, if there is one beyond the message.
    pub help: Option<Message>,
}

impl Problem {
    /// A problem at `span`.
    pub fn new(span: Range<usize>, what: impl Into<Message>, expected: impl Into<Message>) -> Problem {
        Problem { span, what: what.into(), expected: expected.into(), help: None }
    }
    /// The problem of a picture above the memory limit.
    pub(crate) fn too_large(span: Range<usize>, width: u32, height: u32) -> Problem {
        let what = msg!("a picture of {width} x {height} pixels is above the memory limit", width, height);
        Problem::expected(span, what, msg!("at most {count} pixels", count = MAX_PIXELS))
    }
    /// A problem at `span`; `what` is expected there.
    pub(crate) fn expected(span: Range<usize>, what: impl ToMessage, expected: impl ToMessage) -> Problem {
        Problem::new(span, what.to_message(), msg!("expected {what}", what = expected))
    }
    /// Adds a remedy, if there is one.
    pub fn help(self, help: impl Into<Option<Message>>) -> Problem {
        Problem { help: help.into().or(self.help), ..self }
    }
}

/// Maximum number of faults that are shown for a text.
pub const MAX_SHOWN: usize = 20;
/// Maximum number of characters that are shown of a line.
const WIDEST: usize = 160;

// The lines that a span touches, without the rest of a text that may be large.
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
        // A very long line is truncated, and the message has the position without it.
        let text = &source[first..after];
        let cut = text.char_indices().nth(WIDEST).map_or(text.len(), |(i, _)| i);
        let within = |at: usize| at.saturating_sub(first).min(cut);
        Excerpt { text: &text[..cut], span: within(start)..within(end), line }
    }
}

// Shortens a message that quotes a value of thousands of characters. All keys of a table have room.
fn shortened(text: String) -> String {
    match text.char_indices().nth(800) {
        Some((at, _)) => format!("{} ...", &text[..at]),
        None => text,
    }
}

/// The severity of a message, and its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The command fails: `error: ...`.
    Error,
    /// The command goes on, but the user may not want the result: `warning: ...`.
    Warning,
}

impl Severity {
    fn level(self, language: Language) -> Level<'static> {
        match self {
            Severity::Error => Level::ERROR.with_name(msg!("error").get(language)),
            Severity::Warning => Level::WARNING.with_name(msg!("warning").get(language)),
        }
    }
}

/// Whether messages have colors, as escape sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colours {
    Plain,
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

/// A message without a position, in the same form as those with one.
pub(crate) fn message(
    severity: Severity,
    what: &Message,
    help: Option<&Message>,
    colours: Colours,
    language: Language,
) -> String {
    let (what, help) = (what.get(language), help.map(|help| help.get(language)));
    // After the first line comes another program's output, or a list.
    let (title, rest) = what.split_once('\n').map_or((&*what, None), |(title, rest)| (title, Some(rest)));
    let render = |group: Group| colours.renderer().render(&[group]).to_string();
    let mut lines = vec![render(Group::with_title(severity.level(language).primary_title(title)))];
    lines.extend(rest.map(str::to_owned));
    let level = || Level::HELP.with_name(msg!("help").get(language));
    lines.extend(help.map(|help| render(Group::with_title(level().primary_title(help)))));
    lines.join("\n")
}

/// All faults of a text.
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
    /// For each fault: `file:line:column`, the source line, and a mark under the position.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown(Severity::Error, Colours::Plain, Language::English))
    }
}

impl Problems {
    /// The line and the column of a problem, counted from 1.
    pub(crate) fn place(&self, problem: &Problem) -> (usize, usize) {
        let before = self.source.get(..problem.span.start).unwrap_or(&self.source);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// The faults as messages of a severity.
    pub(crate) fn shown(&self, severity: Severity, colours: Colours, language: Language) -> String {
        let text = |message: &Message| shortened(message.get(language));
        let renderer = colours.renderer();
        let message = |problem: &Problem| {
            let excerpt = Excerpt::of(&self.source, &problem.span);
            let annotation = AnnotationKind::Primary.span(excerpt.span).label(text(&problem.expected));
            let snippet = Snippet::source(excerpt.text).line_start(excerpt.line).path(self.name.as_str());
            let title = severity.level(language).primary_title(text(&problem.what));
            let level = || Level::HELP.with_name(msg!("help").get(language));
            let help = problem.help.iter().map(|help| level().message(help.get(language)));
            renderer.render(&[title.element(snippet.annotation(annotation)).elements(help)]).to_string()
        };
        let mut messages: Vec<String> = self.list.iter().take(MAX_SHOWN).map(message).collect();
        if self.list.len() > MAX_SHOWN {
            messages.push(msg!("and {count} more", count = self.list.len() - MAX_SHOWN).get(language));
        }
        messages.join("\n\n")
    }
}

// The maximum of numbers without one, for single precision.
const MOST: f64 = 1e30;

/// A range of numbers. Both grammars use the same rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// Any finite number.
    Finite,
    /// 0 or more.
    NotNegative,
    /// A coordinate, in scene units. Kernels square and multiply it in single precision.
    Coordinate,
    /// A length, in scene units.
    Length,
    /// A brightness, 0 or more.
    Brightness,
    /// 0 to 1.
    Fraction,
    /// Between two numbers.
    Within(f64, f64),
    /// A field of view in a plane, degrees.
    FieldOfView,
    /// A field of view, degrees: all around at most.
    Around,
    /// An index of refraction.
    Index,
    /// An integer in a range.
    Whole(u32, u32),
    /// Bits per channel.
    Bits,
}

impl Rule {
    /// Frames per second, as players and video formats support them.
    pub const FRAME_RATE: Rule = Rule::Within(0.001, 1000.0);

    /// The expected range, for the error's label.
    pub fn expected(self) -> Message {
        let text =
            |x: f64| if x.abs() >= 1e6 || (x != 0.0 && x.abs() < 1e-6) { format!("{x:e}") } else { x.to_string() };
        match (self, self.range()) {
            (Rule::NotNegative, _) => msg!("a number from {min} to {max}", min = text(0.0), max = text(MOST)),
            (Rule::Index, _) => msg!("an index of refraction, 0.01 to 100"),
            (Rule::FieldOfView, _) => msg!("degrees, above 0 and below 180"),
            (Rule::Around, _) => msg!("degrees, above 0 and below 180; up to 360 of a panorama or a fisheye"),
            (Rule::Whole(min, max), _) => msg!("a whole number from {min} to {max}", min, max),
            (Rule::Bits, _) => msg!("8 or 16 (PNG), 16 or 32 (EXR)"),
            (_, (Some(min), Some(max))) => msg!("a number from {min} to {max}", min = text(min), max = text(max)),
            _ => msg!("a finite number"),
        }
    }
    /// Minimum and maximum, where they exist.
    pub fn range(self) -> (Option<f64>, Option<f64>) {
        match self {
            Rule::Finite => (None, None),
            Rule::NotNegative => (Some(0.0), None),
            Rule::Coordinate => (Some(-FARTHEST), Some(FARTHEST)),
            Rule::Length => (Some(MIN_LENGTH), Some(FARTHEST)),
            Rule::Brightness => (Some(0.0), Some(MAX_BRIGHTNESS)),
            Rule::Fraction => (Some(0.0), Some(1.0)),
            Rule::Within(low, high) => (Some(low), Some(high)),
            Rule::FieldOfView => (Some(0.0), Some(180.0)),
            Rule::Around => (Some(0.0), Some(360.0)),
            Rule::Index => (Some(0.01), Some(100.0)),
            Rule::Whole(min, max) => (Some(min.into()), Some(max.into())),
            Rule::Bits => (Some(8.0), Some(32.0)),
        }
    }
    /// Whether x is in the range, also in single precision.
    pub fn allows(self, x: f64) -> bool {
        let (min, max) = self.range();
        let is_such = match self {
            Rule::Bits => [8.0, 16.0, 32.0].contains(&x),
            Rule::FieldOfView => x > 0.0 && x < 180.0,
            Rule::Around => x > 0.0,
            Rule::Whole(..) => x.fract() == 0.0,
            Rule::NotNegative => x <= MOST,
            _ => true,
        };
        (x as f32).is_finite() && is_such && min.is_none_or(|min| x >= min) && max.is_none_or(|max| x <= max)
    }
}
