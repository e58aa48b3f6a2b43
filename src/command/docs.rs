//! `polyfly docs`: serves the documentation, which is inside the program, to this machine's browser, or writes it as a static site.

mod gallery;
mod markdown;
pub(super) mod pages;
mod site;

use super::output_file::OutputFile;
use super::studio::connections;
use super::viewer::open_in_viewer;
use crate::cli::{DocsArgs, Failure};
use crate::error::Error;
use crate::language::{count, msg};
use crate::report::{remark, size};
use crate::scene::text::suggest::nearest;
use axum::Router;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use site::File;
use std::path::Path;
use std::sync::Arc;

pub fn run(args: &DocsArgs) -> Result<(), Failure> {
    match &args.write {
        Some(folder) => write(folder, args.overwrite),
        None => serve(args),
    }
}

// Writes the site, or nothing where one of its files exists with another content.
fn write(folder: &Path, overwrite: bool) -> Result<(), Failure> {
    let files: Vec<_> = site::files().into_iter().map(|file| (folder.join(file.path), file.bytes)).collect();
    OutputFile::write_all(&files, overwrite)?;
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    remark(msg!(
        "{path}: {count}, {size}",
        path = folder.join("index.html").display(),
        count = count!(files.len(), "file", "files"),
        size = size(bytes as u64)
    ));
    Ok(())
}

// Serves the site until Ctrl-C. A browser that runs in a sandbox could not read files of a hidden or temporary folder.
fn serve(args: &DocsArgs) -> Result<(), Failure> {
    let page = path_of(args.page.as_deref().unwrap_or("start"))?;
    let files = Arc::new(site::files());
    let router = Router::new().fallback(move |uri: Uri| {
        let files = Arc::clone(&files);
        async move { answer(&files, uri.path()) }
    });
    connections::serve(args.port, &page, |address, _| {
        let way = match !args.no_open && open_in_viewer(address).is_ok() {
            true => msg!("opened in the browser"),
            false => msg!("open this address in a browser of this machine"),
        };
        remark(msg!("{way}; Ctrl-C ends it; `polyfly docs --write DIR` writes the same pages as files", way));
        router
    })
}

// The path in the site of a page with that name.
fn path_of(name: &str) -> Result<String, Failure> {
    let pages = pages::pages();
    let found = pages.iter().find(|page| page.name() == name).or_else(|| pages.iter().find(|page| page.is_named(name)));
    found.map(pages::Page::path).ok_or_else(|| {
        let names: Vec<String> = pages.iter().map(pages::Page::name).collect();
        let help = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => msg!("did you mean `{name}`?", name = near),
            None => msg!("the pages are {names}", names = names.join(", ")),
        };
        Error::misused(msg!("there is no page `{name}`", name = crate::quote::brief(name)), help).into()
    })
}

fn answer(files: &[File], path: &str) -> Response {
    let path = match path.trim_start_matches('/') {
        "" => "index.html",
        path => path,
    };
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "image/webp",
    };
    match files.iter().find(|file| file.path == path) {
        Some(file) => ([(header::CONTENT_TYPE, kind)], file.bytes.to_vec()).into_response(),
        None => (StatusCode::NOT_FOUND, "there is no such page\n").into_response(),
    }
}

#[cfg(test)]
mod tests;
