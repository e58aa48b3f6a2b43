//! The values of a scene that change over the clip.

use super::keys::track::Track;

/// Values that change over the clip, each with the path of its key. A scene's text gives them, as tables of keys
/// (`lamp_intensity = { keys = [[0, 0], [0.3, 7]] }`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tracks(Vec<Track>);

impl Tracks {
    pub(crate) fn new(tracks: Vec<Track>) -> Tracks {
        Tracks(tracks)
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub(crate) fn all(&self) -> &[Track] {
        &self.0
    }
    /// The tracks whose path begins so, with the rest of their paths.
    pub(crate) fn within<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Track)> {
        self.0.iter().filter_map(move |track| Some((track.path.strip_prefix(prefix)?, track)))
    }
    /// Whether there are tracks whose path begins so.
    pub(crate) fn change(&self, prefix: &str) -> bool {
        self.0.iter().any(|track| track.path.starts_with(prefix))
    }
    /// All but those whose path begins so.
    #[must_use]
    pub(crate) fn without(&self, prefix: &str) -> Tracks {
        Tracks(self.0.iter().filter(|track| !track.path.starts_with(prefix)).cloned().collect())
    }
    /// Whether shapes or their materials change. Lights, the sky, the air, the film and the camera are none of them.
    pub(crate) fn change_shapes(&self) -> bool {
        let others = ["light.", "sky.", "air.", "film.", "camera.", "render.ambient"];
        self.0.iter().any(|track| !others.iter().any(|other| track.path.starts_with(other)))
    }
    /// Whether a track is the angle of a body, which other angles may cover.
    pub(crate) fn turns_a_body(track: &Track) -> bool {
        track.path.starts_with("body.") && track.path.ends_with(".angle_deg")
    }
}
