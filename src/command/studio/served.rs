//! Answers with what a run has made: its frames, its film, its folder; and stills of what the page shows.

use super::answers::{Answer, Shared, aside, read, typed};
use super::made::{Made, type_of};
use super::painter::viewpoint;
use super::session::Studio;
use crate::assets::source::{open_regular, read_regular};
use crate::cli::Failure;
use crate::command::viewer::open_in_viewer;
use crate::error::Error;
use crate::language::msg;
use crate::output::OutputError;
use crate::quote::brief;
use crate::render::frames::FrameList;
use crate::run::RunRequest;
use axum::body::{Body, Bytes};
use axum::extract::{Path as Part, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use futures_util::stream::unfold;
use serde::Deserialize;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::sync::Arc;

// Bytes of a film that are sent at a time.
const PIECE: u64 = 256 << 10;
pub fn routes() -> [(&'static str, MethodRouter<Arc<Studio>>); 4] {
    [("made/frame/{n}", get(frame)), ("made/film", get(film)), ("folder", post(folder)), ("still", post(still))]
}

async fn frame(State(studio): Shared, Part(n): Part<u32>) -> Answer {
    let path = studio.batch.made(|made| made.frames.path(n));
    let Some((path, kind)) = path.and_then(|path| Some((path.clone(), type_of(&path)?))) else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    // A frame that somebody has removed is no fault of the page.
    let bytes = aside(move || match read_regular(&path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        read => Ok(Some(read.map_err(|e| Error::Read(path.display().to_string(), e))?)),
    });
    Ok(bytes.await?.map_or(StatusCode::NO_CONTENT.into_response(), |bytes| typed(kind, bytes)))
}

async fn film(State(studio): Shared, headers: HeaderMap) -> Answer {
    let Some(path) = studio.batch.made(|made| made.video.clone()).flatten() else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    let unreadable = |e| Error::Read(path.display().to_string(), e);
    let file = open_regular(&path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let kind = type_of(&path).unwrap_or("application/octet-stream");
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok()).and_then(|text| part(text, length));
    sent(file, kind, range, length).map_err(|e| unreadable(e).into())
}

// The bytes that a player asks for; None for all of them.
fn part(text: &str, length: u64) -> Option<(u64, u64)> {
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    let (first, last) = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), last) => (first, last.unwrap_or(u64::MAX).min(length.saturating_sub(1))),
        (Err(_), Ok(count)) => (length.saturating_sub(count), length.saturating_sub(1)),
        _ => return None,
    };
    (first <= last && last < length).then_some((first, last))
}

fn sent(mut file: File, kind: &'static str, range: Option<(u64, u64)>, length: u64) -> std::io::Result<Response> {
    let (first, last) = range.unwrap_or((0, length.saturating_sub(1)));
    file.seek(SeekFrom::Start(first))?;
    let count = if length == 0 { 0 } else { last - first + 1 };
    let pieces = unfold((file, count), async |(mut file, left)| {
        if left == 0 {
            return None;
        }
        let mut piece = vec![0; PIECE.min(left) as usize];
        let read = file.read_exact(&mut piece);
        let left = if read.is_ok() { left - piece.len() as u64 } else { 0 };
        Some((read.map(|()| Bytes::from(piece)), (file, left)))
    });
    let mut response = typed(kind, Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(header::ACCEPT_RANGES, header::HeaderValue::from_static("bytes"));
    headers.insert(header::CONTENT_LENGTH, count.into());
    if range.is_some() {
        let text = format!("bytes {first}-{last}/{length}");
        headers.extend(header::HeaderValue::from_str(&text).map(|value| (header::CONTENT_RANGE, value)));
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    Ok(response)
}

async fn folder(State(studio): Shared) -> Answer {
    let Some(path) = studio.batch.made(Made::folder) else { return Ok(StatusCode::NOT_FOUND.into_response()) };
    open_in_viewer(&path).map_err(|e| {
        Failure::usage(msg!(
            "no program shows folders here ({why}): the files are in {path}",
            why = e,
            path = path.display()
        ))
    })?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Still {
    frame: u32,
    // `png` or `exr`.
    format: String,
    view: Option<String>,
}

async fn still(State(studio): Shared, body: Bytes) -> Answer {
    let request: Still = read(&body)?;
    let kind = if request.format == "png" { "image/png" } else { "application/octet-stream" };
    Ok(typed(kind, aside(move || studio.still(&request)).await?))
}

impl Studio {
    // The bytes of the file that a run would write of this frame, by the scene's camera or from another view.
    fn still(&self, request: &Still) -> Result<Vec<u8>, Failure> {
        let mut scene = self.document().scene().clone();
        let frame = request.frame.min(scene.output.frames - 1);
        if let Some(view) = request.view.as_deref().map(viewpoint).transpose()? {
            scene.camera = view.camera(&scene.camera_at(f64::from(frame)));
            scene.tracks = scene.tracks.without("camera.");
        }
        let ending = match &*request.format {
            ending @ ("png" | "exr") => ending,
            ending => return Err(Failure::usage(msg!("the request is invalid: {why}", why = brief(ending)))),
        };
        if scene.output.files.extension() != ending {
            scene.output.bits = None;
        }
        scene.output.video = None;
        let failed = |e| Failure::from(OutputError::Write("a still".into(), e));
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join(format!("still.{ending}"));
        let request = RunRequest {
            is_checked: true,
            frames: FrameList::one(frame),
            options: self.options.clone(),
            ..RunRequest::new(scene)
        };
        request.files(&path)?.plan(&mut ())?.run(&mut ())?;
        read_regular(&path).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_player_gets_the_bytes_that_it_asks_for() {
        for (text, expected) in [
            ("bytes=0-", Some((0, 99))),
            ("bytes=10-19", Some((10, 19))),
            ("bytes=90-500", Some((90, 99))),
            ("bytes=-5", Some((95, 99))),
            ("bytes=100-", None),
            ("bytes=9-3", None),
            ("bytes=-", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(part(text, 100), expected, "{text}");
        }
        assert_eq!(part("bytes=0-", 0), None);
    }
}
