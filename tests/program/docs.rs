//! `polyfly docs`: the documentation that is inside the program.

use crate::common::{polyfly, program, words};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

#[test]
fn the_site_is_written_and_replaces_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    let write = |more: &[&str]| polyfly(dir.path(), &[&["docs", "--write", "site"], more].concat());
    for _ in 0..2 {
        let run = write(&[]);
        assert!(run.status.success(), "{}", words(&run));
    }
    let page = fs::read_to_string(dir.path().join("site/tutorials/student.html")).unwrap();
    assert!(page.contains("<h1 id=\"for-a-student") && page.contains("href=\"../index.html\""), "{page}");
    assert!(fs::read(dir.path().join("site/cube.webp")).unwrap().starts_with(b"RIFF"));
    let index = dir.path().join("site/index.html");
    fs::write(&index, "mine").unwrap();
    let run = write(&[]);
    assert_eq!(run.status.code(), Some(64));
    assert!(words(&run).contains("already exists"), "{}", words(&run));
    assert_eq!(fs::read_to_string(&index).unwrap(), "mine");
    assert!(write(&["--overwrite"]).status.success());
    assert!(fs::read_to_string(&index).unwrap().starts_with("<!doctype html>"));
}

#[test]
fn a_page_is_served_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = program(dir.path(), &["docs", "gallery", "--no-open"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap();
    let (host, page) = address.split_once('/').unwrap();
    assert_eq!(page, "gallery.html");
    let get = |path: &str| {
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    };
    let answers = ["/gallery.html", "/", "/search.js", "/cube.webp", "/nothing.html"].map(get);
    child.kill().unwrap();
    child.wait().unwrap();
    for (answer, kind) in answers.iter().zip(["text/html; charset=utf-8", "text/html", "text/javascript", "image/webp"])
    {
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains(&format!("content-type: {kind}")), "{answer}");
    }
    assert!(answers[0].contains("<h1 id=\"gallery\">") && answers[1].contains("<h1 id=\"polyfly\">"));
    assert!(answers[4].starts_with("HTTP/1.1 404 "), "{}", answers[4]);
}

#[test]
fn an_unknown_page_is_refused_with_the_nearest_one() {
    let dir = tempfile::tempdir().unwrap();
    for (page, help) in [("galery", "did you mean `gallery`?"), ("qqqqqqqq", "the pages are index, first-hour,")] {
        let run = polyfly(dir.path(), &["docs", page, "--no-open"]);
        assert_eq!(run.status.code(), Some(64));
        assert!(
            words(&run).contains(&format!("there is no page `{page}`")) && words(&run).contains(help),
            "{}",
            words(&run)
        );
    }
}
