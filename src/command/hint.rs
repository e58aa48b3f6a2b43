//! A likely mistake in a scene, and which element of the scene it is about.

use crate::language::Message;

pub struct Hint {
    /// The mistake and a remedy.
    pub what: Message,
    /// What the scene's text calls it, if it is an element of a list: the list, and the index there.
    pub element: Option<(&'static str, usize)>,
}

impl Hint {
    pub fn of(list: &'static str, index: usize, what: Message) -> Hint {
        Hint { what, element: Some((list, index)) }
    }
}

impl From<Message> for Hint {
    fn from(what: Message) -> Hint {
        Hint { what, element: None }
    }
}
