//! Connections to the studio. Any user of this machine can open them, so each has a time limit for its request's headers, and those that
//! have not named the studio's token are limited in number.

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

// How long a request's headers may take.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
// Connections that have not named the token yet: one more closes the oldest of them.
const MAX_STRANGERS: usize = 64;
// Pause when the system gives no more connections.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Set when a request on this connection has named the token.
pub type Known = Arc<AtomicBool>;

/// Answers requests until the process ends.
pub async fn serve(router: Router, listener: TcpListener) {
    let mut strangers: VecDeque<(AbortHandle, Known)> = VecDeque::new();
    loop {
        let accepted = listener.accept().await;
        strangers.retain(|(task, known)| !task.is_finished() && !known.load(Ordering::Relaxed));
        if strangers.len() >= MAX_STRANGERS
            && let Some((oldest, _)) = strangers.pop_front()
        {
            oldest.abort();
        }
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let known = Known::default();
        let service = TowerToHyperService::new(router.clone().layer(Extension(known.clone())));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        // A connection that breaks ends only itself.
        let task = tokio::spawn(async move { drop(connection.await) });
        strangers.push_back((task.abort_handle(), known));
        // Let the new connection read its request before more are accepted.
        tokio::task::yield_now().await;
    }
}
