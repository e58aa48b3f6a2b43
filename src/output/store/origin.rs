//! What made a picture, written into the picture itself: the program, the frame's number, a checksum of the scene and of its files,
//! and the scene.

// A scene above this would be most of a picture; its checksum stays. With its first line it is no longer than what is read of an
// attribute of EXR to see whether a file is whole.
const LONGEST: usize = (1 << 16) - 512;

/// The name of the text that holds all of it, where a format has named texts.
pub const KEY: &str = "polyfly";

/// The program, as pictures name it.
pub const SOFTWARE: &str = concat!("polyfly ", env!("CARGO_PKG_VERSION"));

/// What frames are of. It depends on the scene alone: not on where frames go, nor on the folder that the scene lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    // SHA-256, hexadecimal.
    hash: String,
    scene: Option<String>,
}

impl Origin {
    /// That of pictures with this hash; a scene that is too long does not stand in them.
    pub fn new(hash: String, scene: Option<&str>) -> Origin {
        Origin { hash, scene: scene.filter(|text| text.len() <= LONGEST).map(str::to_owned) }
    }

    pub fn remark(&self, frame: u32) -> String {
        format!("frame {frame} of scene {}", self.hash)
    }

    /// The scene in TOML, under a comment that says the rest.
    pub fn text(&self, frame: u32) -> String {
        let rest = self.scene.as_deref().unwrap_or("# The scene is too long to stand here.\n");
        format!("# {SOFTWARE}, {}\n{rest}", self.remark(frame))
    }
}
