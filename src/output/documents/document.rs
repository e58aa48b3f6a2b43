//! What a document of a figure holds.

use crate::film::furniture::page::Page;
use crate::film::image::Image;

/// A picture, and all else as text and shapes.
pub struct Document<'a> {
    pub page: &'a Page,
    /// None where it is apart.
    pub picture: Option<&'a Image<u8>>,
    /// What made it: the scene, after comments.
    pub origin: &'a str,
}

impl Document<'_> {
    /// Whether some pixel of the picture is transparent.
    pub fn has_alpha(&self) -> bool {
        self.picture.is_some_and(|picture| picture.data().as_chunks::<4>().0.iter().any(|pixel| pixel[3] < 255))
    }
}
