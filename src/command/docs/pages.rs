//! The pages of the documentation: docs/README.md lists them, in tables, which are the navigation. All are inside the program.

use super::gallery;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::sync::LazyLock;

include!(concat!(env!("OUT_DIR"), "/docs.rs"));

/// The page that lists the others.
const START: &str = "docs/README.md";
/// What the gallery is made of. In the repository a link to it leads to this folder.
const SCENES: &str = "scenes";

/// A page, written in Markdown.
#[derive(Debug)]
pub struct Page {
    /// The group of pages in the navigation: the head of its table.
    pub section: String,
    /// Its title in the navigation.
    pub title: String,
    /// Its file in the repository.
    pub source: String,
}

impl Page {
    pub fn markdown(&self) -> String {
        if self.source == SCENES { gallery::page() } else { String::from_utf8_lossy(file(&self.source)).into_owned() }
    }

    pub fn path(&self) -> String {
        match &*self.source {
            START => "index.html".to_owned(),
            SCENES => "gallery.html".to_owned(),
            file => file.strip_prefix("docs/").unwrap_or(file).replace(".md", ".html").to_lowercase(),
        }
    }

    /// Its name for `polyfly docs`: its path, without the ending.
    pub fn name(&self) -> String {
        self.path().replace(".html", "")
    }

    /// Whether somebody who types this asks for the page: its name or the end of it, its title, its file.
    pub fn is_named(&self, typed: &str) -> bool {
        let (name, title) = (self.name(), self.title.to_lowercase().replace(' ', "-"));
        name == typed || title == typed || self.source == typed || name.ends_with(&format!("/{typed}"))
    }

    pub fn language(&self) -> &'static str {
        if self.source.starts_with("docs/ru/") { "ru" } else { "en" }
    }
}

fn file(path: &str) -> &'static [u8] {
    FILES.iter().find(|(name, _)| *name == path).map_or(&[], |&(_, bytes)| bytes)
}

/// The pictures: their paths below docs/, which are those in the site, and their contents.
pub fn pictures() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let files = FILES.iter().filter(|(path, _)| !path.ends_with(".md"));
    files.filter_map(|&(path, bytes)| Some((path.strip_prefix("docs/")?, bytes)))
}

/// All pages, in the order of the navigation.
pub fn pages() -> &'static [Page] {
    static PAGES: LazyLock<Vec<Page>> = LazyLock::new(listed);
    &PAGES
}

// The links of the tables.
fn listed() -> Vec<Page> {
    let text = String::from_utf8_lossy(file(START));
    let (mut pages, mut section, mut link) = (Vec::<Page>::new(), None, None);
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::TableHead) => section = Some(String::new()),
            Event::End(TagEnd::Table) => section = None,
            Event::Start(Tag::Link { dest_url, .. }) => link = Some(dest_url),
            Event::Text(word) => match (&mut section, link.take()) {
                (Some(section), Some(target)) => {
                    let source = joined(START, &target);
                    pages.push(Page { section: section.clone(), title: word.to_string(), source });
                }
                (Some(section), None) if section.is_empty() => *section = word.to_string(),
                _ => {}
            },
            _ => {}
        }
    }
    let section = pages.first().map(|page| page.section.clone()).unwrap_or_default();
    pages.insert(0, Page { section, title: "Start".into(), source: START.into() });
    pages
}

/// The file that a relative path of another file names.
pub fn joined(source: &str, path: &str) -> String {
    let mut parts: Vec<&str> = source.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => parts.truncate(parts.len().saturating_sub(1)),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}
