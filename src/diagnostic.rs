//! What is wrong with a scene: where, what was expected, what to do. Shown with the source line.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
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
        Problem { span, what: what.into(), expected: expected.into(), help: None }
    }
    /// Adds what to do.
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
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
        let renderer = Renderer::plain();
        for (i, problem) in self.list.iter().enumerate() {
            let end = self.source.len();
            let span = problem.span.start.min(end)..problem.span.end.min(end);
            let annotation = AnnotationKind::Primary.span(span).label(problem.expected.as_str());
            let snippet = Snippet::source(self.source.as_str()).path(self.name.as_str()).annotation(annotation);
            let mut group = Level::ERROR.primary_title(problem.what.as_str()).element(snippet);
            if let Some(help) = &problem.help {
                group = group.element(Level::HELP.message(help.as_str()));
            }
            if i > 0 {
                writeln!(f, "\n")?;
            }
            write!(f, "{}", renderer.render(&[group]))?;
        }
        Ok(())
    }
}

/// What a number must be; the same rules hold in both grammars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Any finite number.
    Finite,
    /// Above 0.
    Positive,
    /// 0 or above.
    NotNegative,
    /// 0 to 1.
    Fraction,
    /// A field of view, degrees.
    FieldOfView,
    /// A whole number in a range.
    Whole(u32, u32),
}

impl Rule {
    /// What is expected, for the error's label.
    pub fn expected(self) -> String {
        match self {
            Rule::Finite => "a finite number".into(),
            Rule::Positive => "a number above 0".into(),
            Rule::NotNegative => "a number not below 0".into(),
            Rule::Fraction => "a number from 0 to 1".into(),
            Rule::FieldOfView => "degrees, above 0 and below 180".into(),
            Rule::Whole(least, most) => format!("a whole number from {least} to {most}"),
        }
    }
    /// Whether x is such a number, single precision included.
    pub fn allows(self, x: f64) -> bool {
        x.is_finite()
            && (x as f32).is_finite()
            && match self {
                Rule::Finite => true,
                Rule::Positive => (x as f32) > 0.0,
                Rule::NotNegative => x >= 0.0,
                Rule::Fraction => (0.0..=1.0).contains(&x),
                Rule::FieldOfView => x > 0.0 && x < 180.0,
                Rule::Whole(least, most) => x.fract() == 0.0 && x >= f64::from(least) && x <= f64::from(most),
            }
    }
}
