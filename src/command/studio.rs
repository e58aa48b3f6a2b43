//! `polyfly studio`: the scene's picture on a page of this machine, live while its file is edited in any editor.

mod batch;
mod connections;
mod document;
#[cfg(unix)]
mod ending;
mod painter;
mod server;

use crate::cli::{Failure, StudioArgs};
use crate::error::Error;
use crate::output::OutputError;
use crate::output::formats::png;
use crate::quote::brief;
use crate::render::RenderOptions;
use crate::render::sheet::{SHEET, sheet};
use crate::report::{print, remark};
use crate::threads;
use batch::Batch;
use document::Document;
use painter::{Preview, PreviewRenderer, PreviewRequest};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

// How often the file is looked at.
const LOOKED: Duration = Duration::from_millis(40);

// All that the page's requests share.
struct Studio {
    token: String,
    document: Mutex<Document>,
    painter: PreviewRenderer,
    batch: Batch,
    options: RenderOptions,
    // Flags that a run is given too.
    flags: Vec<String>,
    // Counts changes of whatever the page shows.
    changed: watch::Sender<u64>,
}

impl Studio {
    fn document(&self) -> MutexGuard<'_, Document> {
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changed.send_modify(|n| *n += 1);
    }

    fn change(&self, what: impl FnOnce(&mut Document) -> Result<(), Failure>) -> Result<(), Failure> {
        let result = what(&mut self.document());
        self.tell();
        result
    }

    fn state(&self) -> Value {
        let mut state = self.document().state();
        state["batch"] = self.batch.state();
        state
    }

    fn paint(&self, wish: &PreviewRequest) -> Result<Option<Preview>, Failure> {
        let (scene, version) = {
            let document = self.document();
            let (scene, version) = document.scene();
            (scene.clone(), version)
        };
        let made = self.painter.paint(&scene, version, wish);
        if self.document().complain(version, made.as_ref().err()) {
            self.tell();
        }
        made
    }

    fn sheet(&self) -> Result<Vec<u8>, Failure> {
        let scene = self.document().scene().0.clone();
        let image = sheet(&scene, SHEET, &self.options)?;
        png::of_image(&image).map_err(|e| OutputError::Write("the contact sheet".into(), e).into())
    }

    fn tokens(&self) -> Result<String, Failure> {
        self.document().tokens()
    }

    fn render(self: &Arc<Self>, existing: Option<&str>) -> Result<(), Failure> {
        let mut arguments = vec![self.document().name().to_owned()];
        arguments.extend(self.flags.iter().cloned());
        arguments.extend(match existing {
            None => None,
            Some("resume") => Some("--resume".to_owned()),
            Some("overwrite") => Some("--overwrite".to_owned()),
            Some(other) => return Err(Failure::usage(format!("`{}` is neither resume nor overwrite", brief(other)))),
        });
        let studio = Arc::clone(self);
        self.batch.start(&arguments, move || studio.tell())
    }
}

/// Serves a scene until Ctrl-C.
pub fn run(args: &StudioArgs) -> Result<(), Failure> {
    let options = args.device.options();
    let document = Document::open(&args.scene, args.changes.clone())?;
    let mut secret = [0; 16];
    getrandom::fill(&mut secret)
        .map_err(|e| Error::Read("the system's random numbers".into(), std::io::Error::other(e.to_string())))?;
    let studio = Arc::new(Studio {
        token: secret.iter().map(|byte| format!("{byte:02x}")).collect(),
        document: Mutex::new(document),
        painter: PreviewRenderer::new(options.clone()),
        batch: Batch::default(),
        options,
        flags: [
            ("--cpu", args.device.cpu),
            ("--gpu", args.device.gpu),
            ("--allow-outside", args.changes.allow_outside),
        ]
        .iter()
        .filter(|(_, is_given)| *is_given)
        .map(|(flag, _)| (*flag).to_owned())
        .collect(),
        changed: watch::Sender::new(0),
    });
    #[cfg(unix)]
    if let Err(e) = ending::end_on_signals(studio.batch.clone()) {
        remark(&format!("Ctrl-C will leave a run that the page has started: {e}"));
    }
    let follower = Arc::clone(&studio);
    let follow = move || {
        loop {
            std::thread::sleep(LOOKED);
            if follower.document().follow() {
                follower.tell();
            }
        }
    };
    threads::spawn("follow", follow).map_err(OutputError::from)?;
    let refused = |e| Failure::from(OutputError::Write(format!("127.0.0.1:{}", args.port).into(), e));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(refused)?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", args.port)).await.map_err(refused)?;
        let address = format!("http://{}/{}/", listener.local_addr().map_err(refused)?, studio.token);
        print(&format!("{address}\n")).map_err(|e| OutputError::Write("stdout".into(), e))?;
        if !args.changes.quiet {
            remark("the studio is at this address, for this machine alone; Ctrl-C ends it");
        }
        let router = server::router(studio, listener.local_addr().map_err(refused)?);
        connections::serve(router, listener).await;
        Ok(())
    })
}
