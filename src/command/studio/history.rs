//! All texts that a scene has had, for undo and redo.

use std::collections::VecDeque;

// Maximum number of texts, and of their bytes together. The oldest are forgotten first.
const MAX_TEXTS: usize = 1000;
const MAX_BYTES: usize = 64 << 20;

#[derive(Default)]
pub struct History {
    texts: VecDeque<String>,
    at: usize,
    // What made the present text, such as the drag of a slider. More of the same replaces the text.
    gesture: Option<String>,
}

impl History {
    /// The present text.
    pub fn now(&self) -> &str {
        self.texts.get(self.at).map_or("", String::as_str)
    }

    /// Adds a text after the present one. Those that were undone are forgotten.
    pub fn push(&mut self, text: &str, gesture: Option<String>) {
        if self.now() == text {
            return;
        }
        self.texts.truncate(self.at + 1);
        if gesture.is_some() && gesture == self.gesture {
            self.texts.pop_back();
        }
        self.gesture = gesture;
        self.texts.push_back(text.to_owned());
        while self.texts.len() > MAX_TEXTS
            || self.texts.len() > 2 && self.texts.iter().map(String::len).sum::<usize>() > MAX_BYTES
        {
            self.texts.pop_front();
        }
        self.at = self.texts.len() - 1;
    }

    pub fn undo(&mut self) {
        self.at = self.at.saturating_sub(1);
        self.gesture = None;
    }

    pub fn redo(&mut self) {
        self.at += usize::from(self.can_redo());
        self.gesture = None;
    }

    pub fn can_undo(&self) -> bool {
        self.at > 0
    }

    pub fn can_redo(&self) -> bool {
        self.at + 1 < self.texts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun() -> History {
        let mut history = History::default();
        history.push("0", None);
        history
    }

    #[test]
    fn a_hundred_steps_lead_back_and_forth() {
        let mut history = begun();
        (1..=100).for_each(|n| history.push(&n.to_string(), None));
        (0..101).for_each(|_| history.undo());
        assert!(history.now() == "0" && !history.can_undo());
        (0..101).for_each(|_| history.redo());
        assert!(history.now() == "100" && !history.can_redo());
    }

    #[test]
    fn a_gesture_is_one_step_and_ends_with_an_undo() {
        let drag = || Some("a drag".to_owned());
        let mut history = begun();
        ["1", "2", "3"].into_iter().for_each(|text| history.push(text, drag()));
        history.undo();
        assert_eq!(history.now(), "0");
        history.redo();
        history.push("4", drag());
        history.push("5", None);
        for text in ["4", "3", "0"] {
            history.undo();
            assert_eq!(history.now(), text);
        }
        // What was undone is forgotten.
        history.push("6", None);
        assert!(!history.can_redo());
    }

    #[test]
    fn it_does_not_grow_without_end() {
        let mut history = begun();
        (1..2 * MAX_TEXTS).for_each(|n| history.push(&n.to_string(), None));
        assert_eq!(history.texts.len(), MAX_TEXTS);
        (0..4).for_each(|n| history.push(&format!("{n}{}", " ".repeat(MAX_BYTES / 3)), None));
        assert!(history.texts.len() < 4 && history.now().starts_with('3'));
    }
}
