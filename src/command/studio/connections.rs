//! Connections to the studio. Any user of this machine can open them. So a request's headers have a time limit, and
//! connections that have not sent the studio's token are limited in number.

use crate::cli::Failure;
use crate::output::OutputError;
use crate::report::print;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

// Time limit of a request's headers.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
// Maximum number of connections without a token. Another one closes the oldest.
const MAX_UNKNOWN: usize = 64;
// The pause after the system refuses a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Set when a request on this connection has sent the token.
pub type Known = Arc<AtomicBool>;

/// Serves pages to this machine until the process ends, and prints the address of one of them. `open` is told the address, and makes the
/// router.
pub fn serve(port: u16, page: &str, open: impl FnOnce(&str, SocketAddr) -> Router) -> Result<(), Failure> {
    let refused = |e| Failure::from(OutputError::Write(format!("127.0.0.1:{port}").into(), e));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(refused)?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(refused)?;
        let here = listener.local_addr().map_err(refused)?;
        let address = format!("http://{here}/{page}");
        print(&format!("{address}\n"))?;
        answer(open(&address, here), listener).await;
        Ok(())
    })
}

async fn answer(router: Router, listener: TcpListener) {
    let mut unknown: VecDeque<(AbortHandle, Known)> = VecDeque::new();
    loop {
        let accepted = listener.accept().await;
        unknown.retain(|(task, known)| !task.is_finished() && !known.load(Ordering::Relaxed));
        if unknown.len() >= MAX_UNKNOWN
            && let Some((oldest, _)) = unknown.pop_front()
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
        // A broken connection ends only itself.
        let task = tokio::spawn(async move { drop(connection.await) });
        unknown.push_back((task.abort_handle(), known));
        // Lets the new connection read its request before others are accepted.
        tokio::task::yield_now().await;
    }
}
