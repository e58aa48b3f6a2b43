//! The origin of a picture, written into the picture: the program, the frame's number, a hash of the scene and its
//! files, and the scene.

// Longer scenes are left out, and only their hash is written. With its first line, the text stays below the length
// that is read of an EXR attribute to check that a file is complete.
const MAX_SCENE_TEXT: usize = (1 << 16) - 512;

/// The name of the text, in formats with named texts.
pub const KEY: &str = "polyfly";

/// The name of the program in pictures.
pub const SOFTWARE: &str = concat!("polyfly ", env!("CARGO_PKG_VERSION"));

/// The origin of a run's frames. It depends on the scene alone, not on output paths or the scene's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    // SHA-256, hexadecimal.
    hash: String,
    scene: Option<String>,
}

impl Origin {
    /// The origin of pictures with this hash. A scene that is too long is left out.
    pub fn new(hash: String, scene: Option<&str>) -> Origin {
        Origin { hash, scene: scene.filter(|text| text.len() <= MAX_SCENE_TEXT).map(str::to_owned) }
    }

    pub fn remark(&self, frame: u32) -> String {
        format!("frame {frame} of scene {}", self.hash)
    }

    /// The scene in TOML, after a comment with the program, the frame and the hash.
    pub fn text(&self, frame: u32) -> String {
        let rest = self.scene.as_deref().unwrap_or("# The scene is too long to stand here.\n");
        format!("# {SOFTWARE}, {}\n{rest}", self.remark(frame))
    }
}
