//! The site is whole: all pages, links, anchors, keys and pictures are there, and nothing comes from other hosts.

use super::pages::{Page, pages, pictures};
use super::site::{File, files};
use crate::command::usage::{Refusal, parse};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn text(file: &File) -> &str {
    std::str::from_utf8(&file.bytes).unwrap()
}

fn html() -> BTreeMap<String, String> {
    let files = files();
    let pages = files.iter().filter(|file| file.path.ends_with(".html"));
    pages.map(|file| (file.path.clone(), text(file).to_owned())).collect()
}

// The values of an attribute.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    page.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

// The path that a relative link of a page leads to, and its anchor.
fn target(page: &str, link: &str) -> (String, String) {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let mut parts: Vec<&str> = page.split('/').collect();
    if !file.is_empty() {
        parts.pop();
    }
    for part in file.split('/').filter(|part| !part.is_empty()) {
        if part == ".." { parts.truncate(parts.len() - 1) } else { parts.push(part) }
    }
    (parts.join("/"), anchor.to_owned())
}

#[test]
fn every_link_and_anchor_of_the_site_resolves() {
    let all: BTreeSet<String> = files().into_iter().map(|file| file.path).collect();
    let pages = html();
    let (mut count, mut wrong) = (0, Vec::new());
    for (path, page) in &pages {
        let links = [values(page, "href"), values(page, "src")].concat();
        for link in links.into_iter().filter(|link| !link.contains("://") && !link.starts_with("data:")) {
            let (file, anchor) = target(path, link);
            let has_anchor = || pages.get(&file).is_some_and(|page| values(page, "id").contains(&&*anchor));
            if !all.contains(&file) || !(anchor.is_empty() || has_anchor()) {
                wrong.push(format!("{path}: {link}"));
            }
            count += 1;
        }
    }
    assert!(wrong.is_empty() && count > 1000, "{count} links: {wrong:#?}");
}

#[test]
fn every_page_is_in_the_navigation_and_every_document_is_a_page() {
    let start = &html()["index.html"];
    let navigation = start.split("<nav").nth(1).unwrap().split("</nav>").next().unwrap();
    let linked: BTreeSet<&str> = values(navigation, "href").into_iter().collect();
    let paths: Vec<String> = pages().iter().map(Page::path).collect();
    assert_eq!(linked, paths.iter().map(String::as_str).collect());
    assert_eq!(linked.len(), pages().len(), "a page is listed twice");
    let sources: BTreeSet<&str> = pages().iter().map(|page| &*page.source).collect();
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") {
                assert!(sources.contains(&*path), "{path} is in no table of docs/README.md");
            }
        }
    }
}

#[test]
fn the_pictures_of_the_pages_are_inside_the_program() {
    // The targets of pictures in Markdown, which are left empty in the site where a picture is missing there.
    let mut shown = BTreeSet::new();
    for page in pages() {
        let text = page.markdown();
        let targets = text.split("![").skip(1).filter_map(|rest| rest.split_once("](")?.1.split(')').next());
        shown.extend(targets.map(|link| target(&page.source, link).0.trim_start_matches("docs/").to_owned()));
    }
    let packed: BTreeSet<String> = pictures().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(shown, packed, "build/docs.rs packs all pictures");
    let bytes: usize = pictures().map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes < 1_500_000, "the pictures have {bytes} bytes");
    let looks: usize = pictures().filter(|(name, _)| name.starts_with("looks/")).map(|(_, bytes)| bytes.len()).sum();
    assert!(looks < 700_000, "the pictures of looks have {looks} bytes");
}

#[test]
fn every_key_of_a_scene_stands_in_the_reference() {
    let page = &html()["reference/scene.html"];
    let ids: BTreeSet<&str> = values(page, "id").into_iter().collect();
    let paths: Vec<String> = crate::scene::keys::explain::entries().into_iter().map(|entry| entry.path).collect();
    assert!(paths.len() > 150, "{}", paths.len());
    for path in paths {
        let (table, key) = path.rsplit_once('.').unwrap_or(("", &path));
        // A table has a section; a table like another one, and a material, have their keys there.
        let is_section = ids.contains(&*path.replace('.', ""));
        let row =
            page.split(&format!("id=\"{table}\"")).nth(1).unwrap_or_default().split("</tr>").next().unwrap_or_default();
        let like = row.split("<code>[").nth(1).unwrap_or_default().split(']').next().unwrap_or_default();
        let known = [path.clone(), format!("material.{key}"), format!("{like}.{key}")];
        assert!(is_section || known.iter().any(|id| ids.contains(&**id)), "{path}");
    }
}

#[test]
fn the_search_knows_keys_flags_and_headings() {
    let files = files();
    let search = text(files.iter().find(|file| file.path == "search.js").unwrap());
    for entry in
        ["[\"film.tone\",", "[\"material.ior\",", "[\"--resume\",", "[\"bench --runs\",", "[\"The first hour\","]
    {
        assert!(search.contains(entry), "{entry}");
    }
    let entries = search.trim_start_matches("const ENTRIES = ").trim_end().trim_end_matches(';');
    let entries: Vec<[String; 4]> = serde_json::from_str(entries).unwrap();
    // As the page's script compares them: in any case, compounds in one word too.
    for word in ["colormap", "undo"] {
        let texts = || entries.iter().map(|[title, page, about, _]| format!("{title} {page} {about}").to_lowercase());
        let has = |text: String| text.contains(word) || text.replace([' ', '_', '-'], "").contains(word);
        assert!(texts().any(has), "nothing is found for {word}");
    }
    let pages = html();
    for [title, .., path] in &entries {
        let (path, id) = path.split_once('#').unwrap();
        assert!(values(&pages[path], "id").contains(&id), "{title}: {path}");
    }
}

// Boxes that scroll are reached by the keyboard, and a link within a text is told by more than its color.
#[test]
fn pages_serve_who_has_no_mouse_or_sees_no_colors() {
    for (path, page) in html() {
        assert!(!page.contains("<pre>"), "{path}: a box of code takes no focus");
    }
    assert!(include_str!("docs.css").contains("main :is(p, li, td) a:not(.key) { text-decoration: underline; }"));
    // Headings of the studio's panel follow that of its page.
    let studio = concat!(include_str!("../studio/page/keys.js"), include_str!("../studio/page/index.html"));
    assert!(studio.contains("h1") && studio.contains("\"h2\"") && !studio.contains("h3"));
}

#[test]
fn nothing_comes_from_other_hosts() {
    for file in files() {
        let Ok(text) = std::str::from_utf8(&file.bytes) else { continue };
        let loaded = ["src=\"http", "src=\"//", "url(", "@import", "fetch(", "import("];
        let found = loaded.iter().find(|word| text.contains(**word));
        // SVG names its own language by an address.
        assert!(found.is_none() || file.path.ends_with(".svg"), "{} has {found:?}", file.path);
        for link in text.split("<link ").skip(1) {
            assert!(!link.split('>').next().unwrap().contains("//"), "{}", file.path);
        }
    }
}

// The words of a shell's command, up to a pipe, a redirection or a comment.
fn shell_words(line: &str) -> Vec<std::ffi::OsString> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            None if "|<>;#&".contains(c) => break,
            None if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.into_iter().filter(|word| !word.is_empty()).map(Into::into).collect()
}

// Tests of the program run the tutorials; here, no command of any page is one that the program does not take.
#[test]
fn every_command_of_the_pages_is_one_that_the_program_takes() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let (mut count, mut wrong) = (0, Vec::new());
    for (source, text) in pages().iter().map(|page| (&*page.source, page.markdown())).chain([("README.md", readme)]) {
        let mut is_code = false;
        for line in text.lines().map(str::trim) {
            is_code ^= line.starts_with("```");
            if !is_code || !line.starts_with("polyfly ") || line.contains("...") {
                continue;
            }
            count += 1;
            if let Err(Refusal::Fault(e, _)) = parse(&shell_words(line)) {
                wrong.push(format!("{source}: {line}: {e}"));
            }
        }
    }
    assert!(wrong.is_empty() && count > 80, "{count} commands: {}", wrong.join("\n"));
}

// `scripts/pictures looks` makes the pictures of these keys.
#[test]
fn the_keys_below_the_pictures_of_looks_are_taken() {
    use crate::scene::builtin::{SAMPLES, TEMPLATES, named};
    let page = pages().iter().find(|page| page.name() == "looks").unwrap().markdown();
    let own = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let (mut scene, mut count) = (String::new(), 0);
    for line in page.lines() {
        if line.contains("On [this scene](#the-scene)") {
            scene = own.to_owned();
        } else if let Some(rest) = line.split("On the ").nth(1) {
            let list = if rest.starts_with("template") { TEMPLATES } else { SAMPLES };
            scene = named(list, &quoted(rest)[0]).unwrap().text().to_owned();
        }
        for cell in line.split('|').filter(|cell| cell.contains("](looks/")) {
            let mut text = scene.clone();
            for change in quoted(cell) {
                let (key, value) = crate::cli::assignment(&change).unwrap();
                text = crate::scene::text::edit::set(&text, key, Some(value)).unwrap();
            }
            let parsed = crate::scene::Scene::parse(&text, "looks.md", Path::new(""));
            assert!(parsed.is_ok(), "{cell}: {}", parsed.err().unwrap());
            count += 1;
        }
    }
    assert!(count > 80, "{count} pictures");
}
