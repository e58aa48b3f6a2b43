//! `polyfly studio`: shows the scene's picture on a local web page, live while its file is edited in any editor.

mod aim;
mod answers;
mod batch;
pub(super) mod connections;
mod deeds;
mod document;
mod history;
mod looks;
mod made;
mod making;
mod objects;
mod occupied;
mod painter;
mod recent;
mod served;
mod server;
mod session;
mod stamps;
mod start;
mod text;
mod thumbs;
mod timeline;
mod unsaved;

use super::request::options_of;
use super::stop;
use super::viewer::open_in_viewer;
use crate::cli::{Failure, StudioArgs};
use crate::error::Error;
use crate::language::msg;
use crate::math::hash::hex;
use crate::output::OutputError;
use crate::report::remark;
use crate::{system, threads};
use batch::Batch;
use document::Document;
use painter::PreviewRenderer;
use recent::Recent;
use session::Studio;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use thumbs::Thumbs;
use tokio::sync::watch;

// How often the file is checked.
const LOOKED: Duration = Duration::from_millis(40);

/// Serves a scene until Ctrl-C.
pub fn run(args: &StudioArgs) -> Result<(), Failure> {
    // A browser shares the processors with its pictures, and should hear the mouse while one is refined.
    system::step_back();
    let options = options_of(&args.device)?;
    let none = Document::none(args.common.allow_outside, args.changes.clone());
    let document = match &args.scene {
        Some(scene) => none.open(scene)?,
        None => none,
    };
    let recent = Recent::of_user();
    args.scene.iter().for_each(|scene| recent.add(Path::new(scene)));
    let mut secret = [0; 16];
    getrandom::fill(&mut secret)
        .map_err(|e| Error::Read("the system's random numbers".into(), std::io::Error::other(e.to_string())))?;
    let given =
        [("--cpu", args.device.cpu), ("--gpu", args.device.gpu), ("--allow-outside", args.common.allow_outside)];
    let studio = Arc::new(Studio {
        token: hex(&secret),
        document: Mutex::new(document),
        painter: PreviewRenderer::new(options.clone()),
        batch: Batch::default(),
        options,
        folder: Path::new(args.scene.as_deref().unwrap_or_default()).parent().unwrap_or(Path::new("")).to_owned(),
        recent,
        thumbs: Thumbs::default(),
        flags: given.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag.to_owned()).collect(),
        changed: watch::Sender::new(0),
    });
    let ending = Arc::clone(&studio);
    stop::pass_to(move |code| {
        let ending = Arc::clone(&ending);
        ending.batch.clone().end(code, move || ending.keep_unsaved());
    });
    let follower = Arc::clone(&studio);
    let follow = move || {
        loop {
            std::thread::sleep(LOOKED);
            if follower.document().follow() {
                follower.batch.ask(None);
                follower.tell();
            }
        }
    };
    threads::spawn("follow", follow).map_err(OutputError::from)?;
    connections::serve(args.port, &format!("{}/", studio.token), |address, here| {
        remark(msg!("the studio is at this address, for this machine only; Ctrl-C ends it"));
        if args.open
            && let Err(e) = open_in_viewer(address)
        {
            remark(msg!("--open: no browser starts: {why}", why = e));
        }
        server::router(Arc::clone(&studio), here)
    })
}
