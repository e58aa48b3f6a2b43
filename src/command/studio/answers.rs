//! What the studio's handlers share: how bodies are read, how answers are made, and where slow work is done.

use super::document::Document;
use super::session::Studio;
use crate::cli::{Exit, Failure, language};
use crate::language::msg;
use crate::output::OutputError;
use crate::threads;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

// Maximum bytes of a request's body: a key and its value.
const MAX_BYTES: usize = 64 << 10;

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match self.exit_code() {
            Exit::InputOutput => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        (status, self.plain(language())).into_response()
    }
}

/// The session, in a handler.
pub type Shared = State<Arc<Studio>>;
pub type Answer = Result<Response, Failure>;

/// Runs slow work outside the server's own thread.
pub async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (give, taken) = tokio::sync::oneshot::channel();
    let job = move || drop(give.send(work()));
    threads::spawn("studio", job).map_err(OutputError::from)?;
    taken.await.unwrap_or_else(|e| Err(Failure::usage(msg!("the studio failed: {why}", why = e.to_string()))))
}

pub fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, kind)], body.into()).into_response()
}

pub fn json_answer(value: &Value) -> Response {
    typed("application/json", value.to_string())
}

/// Parses a body; an invalid one is an error.
pub fn read<T: for<'a> Deserialize<'a>>(body: &Bytes) -> Result<T, Failure> {
    read_within(body, MAX_BYTES)
}

/// The same of a body that may be longer.
pub fn read_within<T: for<'a> Deserialize<'a>>(body: &Bytes, max_bytes: usize) -> Result<T, Failure> {
    if body.len() > max_bytes {
        return Err(Failure::usage(msg!("the request is too long")));
    }
    serde_json::from_slice(body).map_err(|e| Failure::usage(msg!("the request is invalid: {why}", why = e.to_string())))
}

/// Applies a change and returns the new state.
pub fn changed(studio: &Studio, change: impl FnOnce(&mut Document) -> Result<(), Failure>) -> Answer {
    studio.change(change)?;
    Ok(json_answer(&studio.state()))
}
