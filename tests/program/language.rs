//! Messages in Russian: those about scenes in tokens, and the page of a run. What programs read is the same in all languages.

use crate::common::{folder, polyfly, program, text, words};
use std::fs;
use std::path::Path;

fn has_russian(text: &str) -> bool {
    text.chars().any(|c| ('а'..='я').contains(&c))
}

fn tokens(folder: &Path) -> Vec<String> {
    let scene = text(&polyfly(folder, &["--default"]).stdout);
    scene.split_whitespace().map(str::to_owned).collect()
}

// Changes of the sample scene's tokens, and words of the messages about them.
const FAULTS: &[(usize, &str, [&str; 2])] = &[
    (0, "0", ["ошибка: токен 1 (число кадров): `0`", "ожидалось: целое число от 1 до"]),
    (1, "a%q.png", ["токен 2 (путь к кадрам)", "в пути может стоять одно `%d`"]),
    (1, "a%d.bmp", ["токен 2 (путь к кадрам)", "у пути расширение `.bmp`"]),
    (4, "180", ["токен 5 (угол обзора)", "угол в градусах, больше 0 и меньше 180"]),
    (5, "3,9", ["токен 6 (камера, r0)", "подсказка: дробная часть отделяется точкой: 3.9"]),
    (28, "128", ["цвет", "код от 0 до 255 нужно разделить на 255: 0.502"]),
];

#[test]
fn faults_of_tokens_are_told_in_russian() {
    let dir = tempfile::tempdir().unwrap();
    let sample = tokens(dir.path());
    let check = |tokens: &[String]| {
        fs::write(dir.path().join("scene.txt"), tokens.join(" ")).unwrap();
        polyfly(dir.path(), &["check", "scene.txt", "--lang", "ru"])
    };
    for (at, value, expected) in FAULTS {
        let mut tokens = sample.clone();
        tokens[*at] = (*value).to_owned();
        let run = check(&tokens);
        assert_eq!(run.status.code(), Some(65));
        for part in expected {
            assert!(words(&run).contains(part), "{value}: {part}\n{}", words(&run));
        }
    }
    // Cut anywhere, with a token more, and with a word in place of any number: no message has an English word in it.
    let english = ["expected", "token", "body", "floor", "light", "number", "scene ends", "error", "help:"];
    for at in 0..sample.len() {
        let mut wrong = sample.clone();
        wrong[at] = "слово".to_owned();
        // A word is a path of frames, and the name of a texture's file.
        let is_path = sample[at].contains(['/', '@']);
        for tokens in [&sample[..at], &wrong[..]].into_iter().take(if is_path { 1 } else { 2 }) {
            let run = check(tokens);
            let said = words(&run);
            // Depth and samples may be left out together.
            if run.status.success() {
                assert_eq!(tokens.len() + 2, sample.len());
                continue;
            }
            let found = english.iter().find(|word| said.contains(**word));
            assert!(found.is_none() && has_russian(&said), "{at}: {found:?}\n{said}");
        }
    }
    let said = words(&check(&[&sample[..], &["7".to_owned()]].concat()));
    assert!(said.contains("а сцена уже полна") && said.contains("верно ли число источников света?"), "{said}");
}

#[test]
fn the_locale_selects_the_language_where_it_shows_all_letters() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("scene.txt"), "1 2").unwrap();
    let said = |variables: &[(&str, &str)], flags: &[&str]| {
        let mut command = program(dir.path(), &[&["scene.txt"][..], flags].concat());
        command.env_remove("LC_ALL").env_remove("LC_MESSAGES").env_remove("LANG");
        command.envs(variables.iter().copied());
        let run = command.output().unwrap();
        assert_eq!(run.status.code(), Some(65), "{}", words(&run));
        words(&run)
    };
    let utf8 = ("LANG", "ru_RU.UTF-8");
    assert!(has_russian(&said(&[utf8], &[])));
    assert!(has_russian(&said(&[("LC_ALL", "C")], &["--lang=ru"])));
    for variables in [&[][..], &[("LANG", "ru_RU.KOI8-R")], &[("LANG", "ru_RU")], &[utf8, ("LC_ALL", "C")]] {
        let said = said(variables, &[]);
        assert!(!has_russian(&said) && said.contains("expected"), "{variables:?}: {said}");
    }
    assert!(!has_russian(&said(&[utf8], &["--lang", "en"])));
    let run = polyfly(dir.path(), &["scene.txt", "--lang", "xx"]);
    assert_eq!(run.status.code(), Some(64));
    assert!(words(&run).contains("expected one of en, ru"), "{}", words(&run));
}

#[test]
fn messages_about_toml_are_english_in_all_languages() {
    let dir = folder();
    fs::write(dir.path().join("wrong.toml"), "[film]\nbloom = 7\n").unwrap();
    let [english, russian] =
        ["en", "ru"].map(|language| words(&polyfly(dir.path(), &["wrong.toml", "--lang", language])));
    assert!(english.starts_with("error: ") && english == russian, "{russian}");
}

#[test]
fn logs_are_the_same_in_all_languages_and_the_page_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let scene = tokens(dir.path()).join(" ");
    fs::write(dir.path().join("scene.txt"), scene).unwrap();
    let small = ["--cpu", "--size", "32x18", "--samples", "1", "--frames", "0-2", "--log", "jsonl"];
    let keys = |language: &str| {
        let pattern = format!("{language}/%d.png");
        let args = [&["scene.txt", "-o", &pattern, "--lang", language][..], &small].concat();
        let run = polyfly(dir.path(), &args);
        assert!(run.status.success(), "{}", words(&run));
        let records = text(&run.stdout);
        assert!(!has_russian(&records), "{records}");
        let records = records.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        records.map(|record| record.as_object().unwrap().keys().cloned().collect()).collect::<Vec<Vec<String>>>()
    };
    assert_eq!(keys("en"), keys("ru"));
    // Also where the record names an error.
    fs::write(dir.path().join("wrong.txt"), "1 2").unwrap();
    let [english, russian] = ["en", "ru"].map(|language| {
        let run = polyfly(dir.path(), &["wrong.txt", "--log", "jsonl", "--lang", language]);
        assert_eq!(run.status.code(), Some(65));
        let records = text(&run.stdout);
        let last: serde_json::Value = serde_json::from_str(records.lines().last().unwrap()).unwrap();
        last["error"].as_str().unwrap().to_owned()
    });
    assert!(english.contains("token ") && english == russian, "{english}\n{russian}");
    for (language, heading, fact) in
        [("en", "<h2>Frames</h2>", "<th>whole<td>3 of 3"), ("ru", "<h2>Кадры</h2>", "<th>готово<td>3 из 3")]
    {
        let run = polyfly(dir.path(), &["report", language, "--lang", language]);
        assert!(run.status.success(), "{}", words(&run));
        let page = fs::read_to_string(dir.path().join(language).join("report.html")).unwrap();
        assert!(
            page.contains(&format!("<html lang=\"{language}\">")) && page.contains(heading) && page.contains(fact),
            "{page}"
        );
        assert_eq!(has_russian(&page), language == "ru");
    }
}
