//! Golden pictures without tolerance: a text file with the hashes of frames, for tests of a scene.

use crate::assets::AssetError;
use crate::error::Error;
use crate::language::msg;
use crate::output::store::atomic::write_whole;
use crate::output::store::hidden::read_text;
use crate::output::store::manifest::PICTURES;
use crate::output::{OutputError, PixelFormats, RenderedFrame, Sink};
use crate::render::Renderer;
use crate::render::frames::FrameList;
use crate::threads::lock;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

// Maximum length of a list, bytes.
const LONGEST: u64 = 64 << 20;

type Hashes = BTreeMap<u32, String>;

/// A frame whose hash is not that of a golden list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GoldenDifference {
    /// The frame's number.
    pub frame: u32,
    /// The hash in the list; none if the list lacks the frame.
    pub expected: Option<String>,
    /// The hash of the rendered frame.
    pub found: String,
}

impl Renderer {
    /// Compares frames with a list of hashes, as `polyfly SCENE --hash` prints it: those of the list, or the given ones. With `bless`
    /// their hashes are written into the list, and nothing differs.
    ///
    /// ```
    /// use polyfly::{FrameList, Renderer, Scene};
    /// let mut scene = Scene::sample();
    /// (scene.render.width, scene.render.height) = (48, 36);
    /// let (mut renderer, folder) = (Renderer::new(scene)?, tempfile::tempdir().unwrap());
    /// let list = folder.path().join("golden.txt");
    /// renderer.golden(&list, Some(&FrameList::parse("0,7", 600).unwrap()), true)?;
    /// assert_eq!(renderer.golden(&list, None, false)?, []);
    /// # Ok::<(), polyfly::Error>(())
    /// ```
    ///
    /// # Errors
    /// The list cannot be read or written, or has no such form; or those of [`Renderer::run`].
    pub fn golden(
        &mut self,
        list: impl AsRef<Path>,
        frames: Option<&FrameList>,
        bless: bool,
    ) -> Result<Vec<GoldenDifference>, Error> {
        let path = list.as_ref();
        let mut known = match read_text(path, LONGEST) {
            Err(e) if bless && e.kind() == std::io::ErrorKind::NotFound => Hashes::new(),
            read => parse(path, &read.map_err(|e| Error::Read(path.display().to_string(), e))?)?,
        };
        let all =
            FrameList::of_numbers(known.keys().copied()).unwrap_or_else(|| FrameList::of_clip(&self.scene().output));
        let found = Arc::<Mutex<Hashes>>::default();
        self.run(frames.unwrap_or(&all), vec![Box::new(HashSink(Arc::clone(&found)))], &mut ())?;
        let found = std::mem::take(&mut *lock(&found));
        if bless {
            known.extend(found);
            let head = format!("# {}, pictures {PICTURES}\n", crate::output::store::origin::SOFTWARE);
            let text = known.iter().fold(head, |text, (frame, hash)| text + &format!("{hash}  {frame}\n"));
            write_whole(path, |file| file.write_all(text.as_bytes()))?;
            return Ok(Vec::new());
        }
        let differs = |(frame, found): (u32, String)| {
            let expected = known.get(&frame).cloned();
            (expected.as_ref() != Some(&found)).then_some(GoldenDifference { frame, expected, found })
        };
        Ok(found.into_iter().filter_map(differs).collect())
    }
}

// Lines of a hash and a number; `#` begins a comment.
fn parse(path: &Path, text: &str) -> Result<Hashes, Error> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let entry = |(number, line): (usize, &str)| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_hash = |word: &str| word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit());
        let read = match words[..] {
            [hash, frame] if is_hash(hash) => frame.parse().ok().map(|frame| (frame, hash.to_ascii_lowercase())),
            _ => None,
        };
        let wrong = || {
            msg!(
                "line {line}: expected 64 hexadecimal digits and a frame's number, as `polyfly SCENE --hash` prints them",
                line = number
            )
        };
        read.ok_or_else(|| Error::from(AssetError::new(path, wrong())))
    };
    lines.map(entry).collect()
}

// Keeps the hash of each frame.
struct HashSink(Arc<Mutex<Hashes>>);

impl Sink for HashSink {
    fn needs(&self) -> PixelFormats {
        PixelFormats::RGBA8
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        lock(&self.0).insert(frame.number, frame.sha256());
        Ok(())
    }
    fn worker_clone(&self) -> Option<Box<dyn Sink>> {
        Some(Box::new(HashSink(Arc::clone(&self.0))))
    }
}
