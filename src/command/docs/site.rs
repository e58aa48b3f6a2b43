//! The documentation as a static site: HTML pages with one navigation, pictures, and a search over headings, keys and flags. Nothing is
//! loaded from other hosts.

use super::markdown::{Anchor, Target, render};
use super::pages::{Page, joined, pages, pictures};
use crate::command::template::filled;
use std::borrow::Cow;

/// A file of the site.
pub struct File {
    /// Its path, with `/`.
    pub path: String,
    pub bytes: Cow<'static, [u8]>,
}

pub fn files() -> Vec<File> {
    let (mut all, mut entries) = (Vec::new(), Vec::new());
    for page in pages() {
        let rendered = render(&page.markdown(), &|target| link(page, target));
        let path = page.path();
        entries.extend(rendered.anchors.iter().map(|anchor| entry(page, &path, anchor)));
        all.push(file(html(page, &rendered.body), path));
    }
    all.push(file(include_str!("docs.css").to_owned(), "docs.css".into()));
    all.push(file(include_str!("docs.js").to_owned(), "docs.js".into()));
    all.push(file(format!("const ENTRIES = [\n{}\n];\n", entries.join(",\n")), "search.js".into()));
    all.extend(pictures().map(|(name, bytes)| File { path: name.into(), bytes: bytes.into() }));
    all
}

fn file(text: String, path: String) -> File {
    File { path, bytes: text.into_bytes().into() }
}

// An entry of the search: title, page, what it does, path.
fn entry(page: &Page, path: &str, anchor: &Anchor) -> String {
    let Anchor { id, title, about } = anchor;
    serde_json::json!([title, page.title, about, format!("{path}#{id}")]).to_string()
}

// The way from a page to the site's root.
fn root_of(page: &Page) -> String {
    "../".repeat(page.path().matches('/').count())
}

fn html(page: &Page, body: &str) -> String {
    let root = root_of(page);
    let (mut navigation, mut section) = (String::new(), "");
    for one in pages() {
        if one.section != section {
            section = &one.section;
            navigation += &format!("<h2>{section}</h2>\n");
        }
        let current = if one.source == page.source { " aria-current=\"page\"" } else { "" };
        navigation += &format!("<a href=\"{root}{}\"{current}>{}</a>\n", one.path(), one.title);
    }
    filled(
        include_str!("page.html"),
        &[
            ("LANGUAGE", page.language().to_owned()),
            ("TITLE", page.title.clone()),
            ("ROOT", root),
            ("NAVIGATION", navigation),
            ("BODY", body.to_owned()),
            ("VERSION", env!("CARGO_PKG_VERSION").to_owned()),
        ],
    )
}

// The site's target for one in a page's Markdown.
fn link(page: &Page, target: &str) -> Target {
    if target.starts_with('#') || target.contains("://") {
        return Target { path: Some(target.to_owned()), title: None };
    }
    let (file, anchor) = target.split_once('#').map_or((target, String::new()), |(file, id)| (file, format!("#{id}")));
    let file = joined(&page.source, file);
    let other = pages().iter().find(|other| other.source == file);
    let picture = || pictures().map(|(name, _)| name).find(|name| file.strip_prefix("docs/") == Some(name));
    let path = other.map(Page::path).or_else(|| picture().map(str::to_owned));
    Target { path: path.map(|path| root_of(page) + &path + &anchor), title: other.map(|other| &*other.title) }
}
