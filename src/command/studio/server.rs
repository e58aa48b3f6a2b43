//! The studio's HTTP server, for this machine only. A request needs the token of the address, this very host name
//! (another site's name that resolves to this machine is refused), and this page's origin or none.

use super::answers::{Answer, Shared, aside, changed, json_answer, read, typed};
use super::connections::Known;
use super::document::{Change, Document};
use super::painter::{PreviewRequest, viewpoint};
use super::session::Studio;
use super::{looks, making, served, start, text};
use crate::scene::keys::over_time;
use crate::scene::text::edit::Edit;
use crate::scene::text::toml::SCHEMA;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::stream::unfold;
use serde::Deserialize;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

// The page loads nothing from other sites, and other pages cannot embed it.
const POLICY: &str = "default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const PAGE: [(&str, &str, &str); 13] = [
    ("", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("studio.css", "text/css; charset=utf-8", include_str!("page/studio.css")),
    ("studio.js", "text/javascript; charset=utf-8", include_str!("page/studio.js")),
    ("keys.js", "text/javascript; charset=utf-8", include_str!("page/keys.js")),
    ("image.js", "text/javascript; charset=utf-8", include_str!("page/image.js")),
    ("looks.js", "text/javascript; charset=utf-8", include_str!("page/looks.js")),
    ("runs.js", "text/javascript; charset=utf-8", include_str!("page/runs.js")),
    ("start.js", "text/javascript; charset=utf-8", include_str!("page/start.js")),
    ("text.js", "text/javascript; charset=utf-8", include_str!("page/text.js")),
    ("camera.js", "text/javascript; charset=utf-8", include_str!("page/camera.js")),
    ("objects.js", "text/javascript; charset=utf-8", include_str!("page/objects.js")),
    ("timeline.js", "text/javascript; charset=utf-8", include_str!("page/timeline.js")),
    ("view.js", "text/javascript; charset=utf-8", include_str!("page/view.js")),
];

/// All routes of the studio at this address.
pub fn router(studio: Arc<Studio>, address: SocketAddr) -> Router {
    let at = |name: &str| format!("/{}/{name}", studio.token);
    let add = |router: Router<_>, (name, method): (&str, _)| router.route(&at(name), method);
    let scene = [
        ("events", get(events)),
        ("picture", post(picture)),
        ("sheet", get(sheet)),
        ("tokens", get(tokens)),
        ("set", post(set)),
        ("look", post(look)),
        ("write", post(write)),
        ("undo", post(undo)),
        ("redo", post(redo)),
        ("discard", post(discard)),
        ("left", post(left)),
        ("render", post(render)),
        ("stop", post(stop)),
    ];
    let scene =
        scene.into_iter().chain(served::routes()).chain(text::routes()).chain(looks::routes()).chain(making::routes());
    // Without a scene there is only the page where one is chosen.
    let session = Arc::clone(&studio);
    let needs_scene = middleware::from_fn(move |request: Request, next: Next| {
        let has_scene = !session.document().name.is_empty();
        async move {
            match has_scene {
                true => next.run(request).await,
                false => (StatusCode::CONFLICT, "no scene is open\n").into_response(),
            }
        }
    });
    let routes = scene.fold(Router::new(), add).layer(needs_scene);
    let routes = [("state", get(state)), ("schema", get(schema))].into_iter().chain(start::routes()).fold(routes, add);
    let page = |(name, kind, text): (&'static str, &'static str, &'static str)| {
        (name, get(move || async move { typed(kind, text) }))
    };
    let routes = PAGE.into_iter().map(page).fold(routes, add);
    let hosts = [format!("127.0.0.1:{}", address.port()), format!("localhost:{}", address.port())];
    let secret = at("");
    let guard = middleware::from_fn(move |request: Request, next: Next| {
        let is_ours = is_ours(&hosts, request.headers());
        let names_token = is_ours && request.uri().path().starts_with(&secret);
        if let Some(known) = request.extensions().get::<Known>().filter(|_| names_token) {
            known.store(true, Ordering::Relaxed);
        }
        async move {
            match is_ours {
                true => secured(next.run(request).await),
                false => (StatusCode::FORBIDDEN, "this address is for the studio's own page\n").into_response(),
            }
        }
    });
    routes.layer(guard).with_state(studio)
}

fn is_ours(hosts: &[String; 2], headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?").to_owned());
    let host = text(header::HOST).unwrap_or_default();
    let origin = text(header::ORIGIN).is_none_or(|origin| origin == format!("http://{host}"));
    let site = text(HeaderName::from_static("sec-fetch-site"));
    let site = site.is_none_or(|site| ["same-origin", "none"].contains(&site.as_str()));
    hosts.contains(&host) && origin && site
}

fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn schema() -> Response {
    json_answer(&over_time::defined(&SCHEMA))
}

async fn state(State(studio): Shared) -> Response {
    json_answer(&studio.state())
}

// Sends a line at each change; the page then requests the state.
async fn events(State(studio): Shared) -> Response {
    let mut changed = studio.changed.subscribe();
    changed.mark_changed();
    let lines = unfold(changed, async |mut changed| {
        changed.changed().await.ok()?;
        let line = format!("data: {}\n\n", *changed.borrow_and_update());
        Some((Ok::<_, Infallible>(Bytes::from(line)), changed))
    });
    typed("text/event-stream", Body::from_stream(lines))
}

async fn picture(State(studio): Shared, body: Bytes) -> Answer {
    let request: PreviewRequest = read(&body)?;
    let Some((image, facts)) = aside(move || studio.paint(&request)).await? else {
        return Ok((StatusCode::CONFLICT, "a later picture is asked for").into_response());
    };
    let headers = [(HeaderName::from_static("x-picture"), facts.to_string())];
    Ok((headers, typed("application/octet-stream", image.into_data())).into_response())
}

async fn sheet(State(studio): Shared) -> Answer {
    let (picture, facts) = aside(move || studio.sheet()).await?;
    Ok(([(HeaderName::from_static("x-sheet"), facts.to_string())], typed("image/png", picture)).into_response())
}

async fn tokens(State(studio): Shared) -> Answer {
    Ok(studio.document().tokens()?.into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    changes: Vec<Change>,
    // Changes of one gesture, such as the drag of a slider, are one step.
    gesture: Option<String>,
}

async fn set(State(studio): Shared, body: Bytes) -> Answer {
    let Setting { changes, gesture } = read(&body)?;
    let edits: Vec<Edit> = changes.into_iter().map(Edit::from).collect();
    changed(&studio, |document| document.set(&edits, gesture))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Looking {
    frame: u32,
    view: String,
}

async fn look(State(studio): Shared, body: Bytes) -> Answer {
    let Looking { frame, view } = read(&body)?;
    let view = viewpoint(&view)?;
    changed(&studio, |document| document.look(frame, &view))
}

async fn write(State(studio): Shared) -> Answer {
    changed(&studio, Document::write_back)
}

// Shows another text of the history.
fn stepped(studio: &Studio, step: fn(&mut Document)) -> Answer {
    changed(studio, |document| {
        step(document);
        Ok(())
    })
}

async fn undo(State(studio): Shared) -> Answer {
    stepped(&studio, Document::undo)
}

async fn redo(State(studio): Shared) -> Answer {
    stepped(&studio, Document::redo)
}

async fn discard(State(studio): Shared) -> Answer {
    stepped(&studio, Document::discard)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Left {
    is_taken: bool,
}

async fn left(State(studio): Shared, body: Bytes) -> Answer {
    let Left { is_taken } = read(&body)?;
    changed(&studio, |document| document.answer_unsaved(is_taken))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rendering {
    // `resume` or `overwrite`, if frames exist.
    existing: Option<String>,
}

async fn render(State(studio): Shared, body: Bytes) -> Answer {
    let Rendering { existing } = read(&body)?;
    let session = Arc::clone(&studio);
    aside(move || session.render(existing.as_deref())).await?;
    Ok(json_answer(&studio.state()))
}

async fn stop(State(studio): Shared) -> Response {
    studio.batch.stop();
    json_answer(&studio.state())
}
