//! Markdown to HTML, for the pages of the documentation. Headings, keys and flags get anchors, which the search lists.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use std::collections::BTreeSet;
use std::mem::take;

pub struct Rendered {
    pub body: String,
    pub anchors: Vec<Anchor>,
}

/// A heading, key or flag that the search finds.
pub struct Anchor {
    pub id: String,
    pub title: String,
    /// What a key or a flag does; empty for a heading.
    pub about: String,
}

/// Where a link or a picture leads.
pub struct Target {
    /// The path in the site. A link to a file that the site does not have becomes text.
    pub path: Option<String>,
    /// The title of the page there.
    pub title: Option<&'static str>,
}

pub fn render(text: &str, target: &dyn Fn(&str) -> Target) -> Rendered {
    let events: Vec<Event> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let mut out = Vec::with_capacity(events.len());
    let (mut anchors, mut ids, mut is_left_out) = (Vec::new(), BTreeSet::new(), false);
    // The last heading of the second level, and the table that is being read.
    let (mut section, mut heads, mut column, mut is_link_open) = (String::new(), Vec::new(), None, false);
    for (at, event) in events.iter().enumerate() {
        let rest = &events[at..];
        let (mut before, mut after) = ("".to_owned(), "");
        let mut event = event.clone();
        match &mut event {
            Event::Start(Tag::Heading { level, id, .. }) => {
                let title = text_until(rest, TagEnd::Heading(*level));
                let name = unused(slug(&title), &mut ids);
                if *level == HeadingLevel::H2 {
                    section.clone_from(&title);
                }
                *id = Some(name.clone().into());
                anchors.push(Anchor { id: name, title, about: String::new() });
            }
            Event::Start(Tag::Link { dest_url, .. }) => match target(dest_url).path {
                Some(path) => *dest_url = path.into(),
                None => {
                    is_left_out = true;
                    continue;
                }
            },
            Event::End(TagEnd::Link) if take(&mut is_left_out) => continue,
            Event::Start(Tag::Image { dest_url, .. }) => *dest_url = target(dest_url).path.unwrap_or_default().into(),
            Event::Start(Tag::Table(_)) => {
                (heads, column) = (Vec::new(), None);
                before = "<div class=\"scroll\">".into();
            }
            Event::End(TagEnd::Table) => after = "</div>\n",
            Event::Start(Tag::TableRow) => column = Some(0),
            Event::Start(Tag::TableCell) => {
                let cell = text_until(rest, TagEnd::TableCell);
                match &mut column {
                    None => heads.push(cell),
                    Some(column) => {
                        *column += 1;
                        let name = if *column == 1 { anchor_of(heads.first(), &section, &cell) } else { None };
                        if let Some((name, title)) = name {
                            let id = unused(name, &mut ids);
                            out.push(event);
                            event = Event::InlineHtml(format!("<a class=\"key\" id=\"{id}\" href=\"#{id}\">").into());
                            anchors.push(Anchor { id, title, about: last_cell(rest) });
                            is_link_open = true;
                        }
                    }
                }
            }
            // A link that shows a file's name shows the page's title in the site.
            Event::Text(text) if text.ends_with(".md") => {
                if let Some(Event::Start(Tag::Link { dest_url, .. })) = at.checked_sub(1).map(|at| &events[at])
                    && let Some(title) = target(dest_url).title
                {
                    *text = title.into();
                }
            }
            Event::End(TagEnd::TableCell) if take(&mut is_link_open) => before = "</a>".into(),
            _ => {}
        }
        let html = |text: String| (!text.is_empty()).then(|| Event::InlineHtml(text.into()));
        out.extend([html(before), Some(event), html(after.into())].into_iter().flatten());
    }
    let mut body = String::new();
    html::push_html(&mut body, out.into_iter());
    // A box that scrolls is reached by the keyboard too.
    Rendered { body: body.replace("<pre>", "<pre tabindex=\"0\">"), anchors }
}

// The text of what begins at the first event, without its marks.
fn text_until(events: &[Event], end: TagEnd) -> String {
    let inside = events.iter().take_while(|event| **event != Event::End(end));
    let words = inside.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(&**text),
        Event::SoftBreak => Some(" "),
        _ => None,
    });
    words.collect()
}

fn last_cell(events: &[Event]) -> String {
    let row = events.iter().take_while(|event| **event != Event::End(TagEnd::TableRow)).count();
    let start = events[..row].iter().rposition(|event| *event == Event::Start(Tag::TableCell));
    text_until(&events[start.unwrap_or(row)..], TagEnd::TableCell)
}

// The anchor of a heading, as web pages of repositories make it.
fn slug(title: &str) -> String {
    let kept = title.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || ['-', '_'].contains(c)).collect()
}

fn unused(name: String, ids: &mut BTreeSet<String>) -> String {
    let numbered = (1..).map(|n| format!("{name}-{n}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|id| !ids.contains(id)).unwrap_or(name);
    ids.insert(free.clone());
    free
}

// The anchor of a row that is about a key or a flag, and its title in the search: `body.lamps`, `bench --runs`.
fn anchor_of(head: Option<&String>, section: &str, cell: &str) -> Option<(String, String)> {
    match head?.as_str() {
        "key" => {
            let table = section.trim_start_matches("A ").trim_matches(['[', ']']);
            let name = format!("{table}.{cell}");
            Some((name.clone(), name))
        }
        "flag" => {
            let flag = cell.split([' ', ',', '[', '=']).find(|word| word.starts_with("--"))?;
            let job = section.trim_start_matches("polyfly ").trim_start_matches("SCENE");
            Some((format!("{job}{flag}"), format!("{job} {flag}").trim().to_owned()))
        }
        _ => None,
    }
}
