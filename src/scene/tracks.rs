//! The values of a scene that change over the clip.

use super::keys::track::Track;

/// Values that change over the clip, each with the path of its key. A scene's text gives them, as tables of keys
/// (`lamp_intensity = { keys = [[0, 0], [0.3, 7]] }`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tracks {
    all: Vec<Track>,
    // The places of all tracks, in order of their paths.
    by_path: Vec<usize>,
}

impl Tracks {
    pub(crate) fn new(all: Vec<Track>) -> Tracks {
        let mut by_path: Vec<usize> = (0..all.len()).collect();
        by_path.sort_by_key(|&i| &all[i].path);
        Tracks { all, by_path }
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
    /// Whether one of them is given by beats.
    pub(crate) fn have_beats(&self) -> bool {
        self.all.iter().any(|track| track.beats.is_some())
    }
    /// Makes the keys of beats for a clip of this many seconds.
    pub(crate) fn beat(&mut self, seconds: f64) {
        self.all.iter_mut().for_each(|track| track.beat(seconds));
    }
    pub(crate) fn all(&self) -> &[Track] {
        &self.all
    }
    /// The tracks whose path begins so, with the rest of their paths. Other tracks take no time.
    pub(crate) fn within<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Track)> {
        let first = self.by_path.partition_point(|&i| self.all[i].path.as_str() < prefix);
        let sorted = self.by_path[first..].iter().map(|&i| &self.all[i]);
        sorted.map_while(move |track| Some((track.path.strip_prefix(prefix)?, track)))
    }
    /// Whether there are tracks whose path begins so.
    pub(crate) fn change(&self, prefix: &str) -> bool {
        self.within(prefix).next().is_some()
    }
    /// All but those whose path begins so.
    #[must_use]
    pub(crate) fn without(&self, prefix: &str) -> Tracks {
        Tracks::new(self.all.iter().filter(|track| !track.path.starts_with(prefix)).cloned().collect())
    }
    /// Whether shapes or their materials change. Lights, the sky, the air, the film and the camera are none of them.
    pub(crate) fn change_shapes(&self) -> bool {
        let others = ["light.", "sky.", "air.", "film.", "camera.", "render.ambient"];
        self.all.iter().any(|track| !others.iter().any(|other| track.path.starts_with(other)))
    }
    /// Whether a track is the angle of a body, which other angles may cover.
    pub(crate) fn turns_a_body(track: &Track) -> bool {
        track.path.starts_with("body.") && track.path.ends_with(".angle_deg")
    }
}
