//! The page's way to the scene: HTTP on this machine only. Whoever asks must know the token in the address, name this very host (a page
//! of another site whose name leads here does not), and come from this page or from none.

use super::Studio;
use super::connections::Known;
use super::painter::{Preview, PreviewRequest};
use crate::cli::Failure;
use crate::output::OutputError;
use crate::scene::Viewpoint;
use crate::threads;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::json;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::WatchStream;

// Longest body of a request: a key and its value.
const LONGEST: usize = 64 << 10;
// Nothing is loaded from elsewhere, and no other page may show this one.
const POLICY: &str = "default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const PAGE: [(&str, &str, &str); 5] = [
    ("", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("studio.css", "text/css; charset=utf-8", include_str!("page/studio.css")),
    ("studio.js", "text/javascript; charset=utf-8", include_str!("page/studio.js")),
    ("keys.js", "text/javascript; charset=utf-8", include_str!("page/keys.js")),
    ("view.js", "text/javascript; charset=utf-8", include_str!("page/view.js")),
];

/// All answers of the studio, at that address.
pub fn router(studio: Arc<Studio>, place: SocketAddr) -> Router {
    let at = |name: &str| format!("/{}/{name}", studio.token);
    let mut routes = Router::new()
        .route(&at("state"), get(state))
        .route(&at("schema"), get(schema))
        .route(&at("events"), get(events))
        .route(&at("picture"), get(picture))
        .route(&at("sheet"), get(sheet))
        .route(&at("tokens"), get(tokens))
        .route(&at("set"), post(set))
        .route(&at("look"), post(look))
        .route(&at("write"), post(write))
        .route(&at("discard"), post(discard))
        .route(&at("render"), post(render))
        .route(&at("stop"), post(stop));
    for (name, kind, text) in PAGE {
        let answer = move || async move { ([(header::CONTENT_TYPE, kind)], text) };
        routes = routes.route(&at(name), get(answer));
    }
    let hosts = Arc::new([format!("127.0.0.1:{}", place.port()), format!("localhost:{}", place.port())]);
    let secret: Arc<str> = at("").into();
    let guard = middleware::from_fn(move |request: Request, next: Next| {
        let (hosts, secret) = (Arc::clone(&hosts), Arc::clone(&secret));
        async move {
            if !is_ours(&hosts, request.headers()) {
                return refused();
            }
            if let (true, Some(known)) =
                (request.uri().path().starts_with(&*secret), request.extensions().get::<Known>())
            {
                known.set();
            }
            secured(next.run(request).await)
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

fn refused() -> Response {
    (StatusCode::FORBIDDEN, "this address is for the studio's own page\n").into_response()
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

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match self.exit_code() {
            74 => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        (status, self.to_string()).into_response()
    }
}

type Shared = State<Arc<Studio>>;

// Runs what takes its time beside the server's own thread.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Result<T, Failure> {
    let (give, taken) = tokio::sync::oneshot::channel();
    let job = move || drop(give.send(work()));
    threads::spawn("studio", job).map_err(OutputError::from)?;
    taken.await.unwrap_or_else(|e| Err(Failure::usage(format!("the studio failed: {e}"))))
}

fn json_answer(value: &serde_json::Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

async fn state(State(studio): Shared) -> Response {
    json_answer(&studio.state())
}

async fn schema() -> Response {
    json_answer(&crate::scene::toml::SCHEMA)
}

// A line whenever something has changed: the page asks for the state then.
async fn events(State(studio): Shared) -> Response {
    let lines = WatchStream::new(studio.changed.subscribe())
        .map(|n| Ok::<_, Infallible>(Bytes::from(format!("data: {n}\n\n"))));
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(lines)).into_response()
}

#[derive(Deserialize)]
struct PictureQuery {
    page: String,
    frame: u32,
    level: usize,
    shorter: Option<u32>,
    // Nine numbers less two: the eye, what it looks at, the field of view.
    view: Option<String>,
}

fn viewpoint(text: &str) -> Option<Viewpoint> {
    let numbers: Vec<f64> = text.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [a, b, c, d, e, f, fov_deg] = numbers[..] else { return None };
    let is_sound = numbers.iter().all(|x| x.is_finite() && x.abs() < 1e12) && fov_deg > 0.0 && fov_deg < 180.0;
    is_sound.then_some(Viewpoint { eye: [a, b, c], look_at: [d, e, f], fov_deg })
}

async fn picture(State(studio): Shared, Query(asked): Query<PictureQuery>) -> Result<Response, Failure> {
    let view = match &asked.view {
        Some(text) => Some(viewpoint(text).ok_or_else(|| Failure::usage("view: expected seven numbers".into()))?),
        None => None,
    };
    let PictureQuery { page, frame, level, shorter, .. } = asked;
    let wish = PreviewRequest { page, frame, level, shorter: shorter.unwrap_or(1), view };
    let made = aside(move || studio.paint(&wish)).await?;
    let Some(Preview { image, version, rays, ms, is_best, view, devices }) = made else {
        return Ok((StatusCode::CONFLICT, "a later picture was asked for").into_response());
    };
    let facts = json!({
        "width": image.width(), "height": image.height(), "version": version, "rays": rays, "ms": ms, "best": is_best,
        "eye": view.eye, "look_at": view.look_at, "fov_deg": view.fov_deg, "frame": frame, "devices": devices,
    });
    let headers = [(HeaderName::from_static("x-picture"), facts.to_string())];
    Ok((headers, [(header::CONTENT_TYPE, "application/octet-stream")], image.into_data()).into_response())
}

async fn sheet(State(studio): Shared) -> Result<Response, Failure> {
    let png = aside(move || studio.sheet()).await?;
    Ok(([(header::CONTENT_TYPE, "image/png")], png).into_response())
}

async fn tokens(State(studio): Shared) -> Result<Response, Failure> {
    Ok(studio.tokens()?.into_response())
}

// A body that is what it should be, or nothing is done.
fn read<T: for<'a> Deserialize<'a>>(body: &Bytes) -> Result<T, Failure> {
    if body.len() > LONGEST {
        return Err(Failure::usage("the request is too long".into()));
    }
    serde_json::from_slice(body).map_err(|e| Failure::usage(format!("the request makes no sense: {e}")))
}

async fn set(State(studio): Shared, body: Bytes) -> Result<Response, Failure> {
    let change = read(&body)?;
    studio.change(|document| document.set(vec![change]))?;
    Ok(json_answer(&studio.state()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Looking {
    frame: u32,
    view: String,
}

async fn look(State(studio): Shared, body: Bytes) -> Result<Response, Failure> {
    let Looking { frame, view } = read(&body)?;
    let view = viewpoint(&view).ok_or_else(|| Failure::usage("view: expected seven numbers".into()))?;
    studio.change(|document| document.look(frame, &view))?;
    Ok(json_answer(&studio.state()))
}

async fn write(State(studio): Shared) -> Result<Response, Failure> {
    studio.change(|document| document.write_back())?;
    Ok(json_answer(&studio.state()))
}

async fn discard(State(studio): Shared) -> Result<Response, Failure> {
    studio.change(|document| {
        document.discard();
        Ok(())
    })?;
    Ok(json_answer(&studio.state()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rendering {
    // `resume` or `overwrite`, where frames are there already.
    existing: Option<String>,
}

async fn render(State(studio): Shared, body: Bytes) -> Result<Response, Failure> {
    let Rendering { existing } = read(&body)?;
    studio.render(existing.as_deref())?;
    Ok(json_answer(&studio.state()))
}

async fn stop(State(studio): Shared) -> Response {
    studio.batch.stop();
    json_answer(&studio.state())
}
