//! The text of the scene beside its picture: its faults at their lines, and what a key of it is.

use super::answers::{Answer, Shared, changed, json_answer, read_within, typed};
use super::session::Studio;
use crate::cli::language;
use crate::command::explain::explanation;
use crate::scene::text::diagnostic::{Problem, Problems, Severity};
use axum::body::Bytes;
use axum::extract::{Path as Part, State};
use axum::routing::{MethodRouter, get};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

// Maximum bytes of a text that the page edits.
const MAX_TEXT: usize = 1 << 20;

pub fn routes() -> [(&'static str, MethodRouter<Arc<Studio>>); 2] {
    [("text", get(text).post(write)), ("explain/{word}", get(explain))]
}

/// The faults of a text, each with its line and column.
pub fn marks(severity: Severity, problems: &Problems) -> Vec<Value> {
    let mark = |problem: &Problem| {
        let (line, column) = problems.place(problem);
        json!({
            "line": line,
            "column": column,
            "is_error": severity == Severity::Error,
            "what": problem.what.get(language()),
            "expected": problem.expected.get(language()),
            "help": problem.help.as_ref().map(|help| help.get(language())),
        })
    };
    problems.list.iter().map(mark).collect()
}

async fn text(State(studio): Shared) -> Answer {
    let document = studio.document();
    Ok(json_answer(&json!({
        "version": document.version,
        "text": document.text(),
        "marks": document.faults().into_iter().flat_map(|(severity, list)| marks(severity, &list)).collect::<Vec<_>>(),
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    text: String,
    // What is typed in one go is one step.
    gesture: Option<String>,
}

async fn write(State(studio): Shared, body: Bytes) -> Answer {
    let Written { text, gesture } = read_within(&body, MAX_TEXT)?;
    changed(&studio, |document| {
        document.set_text(&text, gesture);
        Ok(())
    })
}

async fn explain(Part(word): Part<String>) -> Answer {
    // A key that is being typed is none yet.
    Ok(typed("text/plain; charset=utf-8", explanation(&word).unwrap_or_default()))
}
