//! The studio's session: the scene, its renderer, and the run that was started.

use super::batch::Batch;
use super::document::Document;
use super::made::Made;
use super::occupied;
use super::painter::{PreviewRenderer, PreviewRequest};
use super::recent::Recent;
use super::thumbs::Thumbs;
use crate::cli::Failure;
use crate::film::image::Image;
use crate::language::msg;
use crate::output::OutputError;
use crate::output::formats::png;
use crate::quote::brief;
use crate::render::RenderOptions;
use crate::render::frames::FrameList;
use crate::render::sheet::{SHEET, columns, sheet};
use crate::report::say;
use crate::threads::lock;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::watch;

/// What all requests of the page share.
pub struct Studio {
    pub token: String,
    pub document: Mutex<Document>,
    pub painter: PreviewRenderer,
    pub batch: Batch,
    pub options: RenderOptions,
    // Where the page finds and makes scenes.
    pub folder: PathBuf,
    pub recent: Recent,
    pub thumbs: Thumbs,
    // Flags that are passed to runs.
    pub flags: Vec<String>,
    // Counts changes of what the page shows.
    pub changed: watch::Sender<u64>,
}

impl Studio {
    pub fn document(&self) -> MutexGuard<'_, Document> {
        lock(&self.document)
    }

    pub fn tell(&self) {
        self.changed.send_modify(|n| *n += 1);
    }

    pub fn change(&self, what: impl FnOnce(&mut Document) -> Result<(), Failure>) -> Result<(), Failure> {
        self.painter.abandon();
        let result = what(&mut self.document());
        self.batch.ask(None);
        self.tell();
        result
    }

    /// Shows another scene. Changes of the one before that are in no file are kept beside it.
    pub fn open(&self, name: &str) -> Result<(), Failure> {
        self.change(|document| {
            let other = document.open(name)?;
            document.keep_unsaved()?;
            *document = other;
            Ok(())
        })?;
        self.recent.add(Path::new(name));
        Ok(())
    }

    /// Keeps changes that are in no file, and says where.
    pub fn keep_unsaved(&self) {
        let mut document = self.document();
        match document.keep_unsaved() {
            Ok(None) => {}
            Ok(Some(path)) => say(msg!(
                "the page's changes are not in {scene}; they are kept in {path}",
                scene = document.name,
                path = path.display()
            )),
            Err(e) => {
                say(msg!("the page's changes are in no file: {why}", why = e.message()));
                document.unsaved().iter().for_each(say);
            }
        }
    }

    pub fn state(&self) -> Value {
        // What changes from here on is told once more.
        let news = *self.changed.borrow();
        let mut state = self.document().state();
        state["news"] = json!(news);
        state["batch"] = self.batch.state();
        state
    }

    pub fn paint(&self, request: &PreviewRequest) -> Result<Option<(Image<u8>, Value)>, Failure> {
        let (scene, picture) = {
            let document = self.document();
            (document.scene().clone(), document.picture)
        };
        let painted = self.painter.paint(&scene, picture, request);
        if self.document().complain(picture, painted.as_ref().err()) {
            self.tell();
        }
        painted
    }

    /// A contact sheet as a PNG, its columns and its frames.
    pub fn sheet(&self) -> Result<(Vec<u8>, Value), Failure> {
        let scene = self.document().scene().clone();
        let frames = FrameList::all(scene.output.frames).spread(SHEET as usize);
        let image = sheet(&scene, &frames, &self.options)?;
        let bytes = png::of_image(&image).map_err(|e| OutputError::Write("the contact sheet".into(), e))?;
        let facts = json!({ "columns": columns(frames.len() as u32), "frames": frames.iter().collect::<Vec<_>>() });
        Ok((bytes, facts))
    }

    /// Starts a run of the scene's file. If existing files are in the way, and the page has not said what becomes of them, it is
    /// asked, and nothing starts.
    pub fn render(self: &Arc<Self>, existing: Option<&str>) -> Result<(), Failure> {
        let mut arguments = vec![self.document().name.clone()];
        arguments.extend(self.flags.iter().cloned());
        match existing {
            None => {
                if let Some(occupied) = occupied::look(&self.document(), &self.options)? {
                    self.batch.ask(Some(occupied));
                    self.tell();
                    return Ok(());
                }
            }
            Some(flag @ ("resume" | "overwrite")) => arguments.push(format!("--{flag}")),
            Some(other) => {
                return Err(Failure::usage(msg!("`{word}` is neither resume nor overwrite", word = brief(other))));
            }
        }
        let made = {
            let document = self.document();
            Made::of(&document.name, &document.written_scene()?)
        };
        let studio = Arc::clone(self);
        self.batch.start(&arguments, made, move || studio.tell())
    }
}
