//! Messages in Russian: those about scenes in tokens, what `check` says of them, and the page of a run. What programs read is the same
//! in all languages.

use crate::common::{folder, polyfly, program, text, words};
use crate::messages::{SCENES, whole};
use std::fs;
use std::path::Path;

fn has_russian(text: &str) -> bool {
    text.chars().any(|c| ('а'..='я').contains(&c))
}

// English words in a Russian text. Names stay as they are: in backticks or guillemets, of files, flags and keys, and those in capitals.
fn english(said: &str) -> Vec<String> {
    let is_source = |line: &&str| {
        line.trim_start().split_once('|').is_some_and(|(number, _)| number.trim().bytes().all(|b| b.is_ascii_digit()))
    };
    let labels =
        |line: &str| line.rfind(" ^").map_or(String::new(), |at| line[at..].trim_matches([' ', '^']).to_owned());
    let lines = said.lines().map(|line| if is_source(&line) { labels(line) } else { line.to_owned() });
    let text = lines.collect::<Vec<_>>().join("\n");
    let text: String = text.split('`').step_by(2).collect();
    let text: String = text.split('"').step_by(2).collect();
    let words =
        text.split(|c: char| c.is_whitespace() || "(),;:«»\"".contains(c)).map(|word| word.trim_end_matches('.'));
    // Letters of paths, and looks.
    let is_name = |word: &str| ["wr", "wz", "wphi", "pr", "pz", "film", "plain", "bare"].contains(&word);
    let is_english = |word: &&str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase()) && !is_name(word);
    words.filter(is_english).map(str::to_owned).collect()
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
    (5, "3,9", ["токен 6 (камера, r0)", "подсказка: `,` (U+002C) в числе не бывает: возможно, вы имели в виду 3.9?"]),
    (5, "O.9", ["токен 6 (камера, r0)", "подсказка: `O` (U+004F) в числе не бывает: возможно, вы имели в виду 0.9?"]),
    (1, "my frames/%d.png", ["токен 3 (ширина)", "подсказка: в пути из токенов нет пробелов: my_frames/%d.png"]),
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
            assert!(english(&said).is_empty() && has_russian(&said), "{at}: {:?}\n{said}", english(&said));
        }
    }
    let said = words(&check(&[&sample[..], &["7".to_owned()]].concat()));
    assert!(said.contains("а сцена уже полна") && said.contains("верно ли число источников света?"), "{said}");
}

// A scene that `check` takes, or whose files are wrong; a part of what it says.
#[test]
fn what_check_says_of_tokens_is_russian() {
    let dir = tempfile::tempdir().unwrap();
    let sample = tokens(dir.path());
    let texture = sample.iter().position(|token| token.starts_with('@')).unwrap();
    let bytes = |sides: [i32; 2], pixels: usize| -> Vec<u8> {
        sides.iter().flat_map(|side| side.to_le_bytes()).chain(std::iter::repeat_n(9, 4 * pixels)).collect()
    };
    let mut bmp = b"BM".to_vec();
    bmp.resize(100, 0);
    let files = [
        ("short.data", vec![1, 2, 3], "байтов 3"),
        ("sizes.data", bytes([0, 5], 0), "ожидались стороны от 1 до"),
        ("length.data", bytes([3, 3], 8), "занимает 44 байт, а в файле их 40"),
        ("endian.data", bytes([1 << 24, 1 << 24], 1), "порядок little-endian"),
        ("picture.data", fs::read("docs/loop.webp").unwrap(), "дайте ему это расширение"),
        ("picture.bmp", bmp, "картинки BMP не читаются"),
        ("text.png", b"text".to_vec(), "формат не распознан"),
    ];
    let said = |changes: &[(usize, &str)], flags: &[&str]| {
        let mut tokens = sample.clone();
        changes.iter().for_each(|&(at, value)| tokens[at] = value.to_owned());
        fs::write(dir.path().join("scene.txt"), tokens.join(" ")).unwrap();
        let args = [&["check", "scene.txt", "--plain", "--lang", "ru", "--size", "64x48", "--samples", "1"][..], flags]
            .concat();
        let run = polyfly(dir.path(), &args);
        let said = text(&run.stdout) + &words(&run);
        assert!(english(&said).is_empty() && has_russian(&said), "{changes:?}: {:?}\n{said}", english(&said));
        said
    };
    for (name, bytes, part) in &files {
        fs::write(dir.path().join(name), bytes).unwrap();
        let said = said(&[(texture, name)], &[]);
        assert!(said.contains(part) && said.contains("(пол, текстура)"), "{said}");
    }
    fs::create_dir(dir.path().join("folder.png")).unwrap();
    for (path, flags, part) in [
        ("folder.png", &[][..], "это папка"),
        ("nothing.png", &[], "такого файла нет"),
        ("nothing.png", &["--missing-texture", "stand-in"], "вместо него будет"),
        ("../nothing.png", &[], "ведёт за пределы папки сцены"),
    ] {
        let said = said(&[(texture, path)], flags);
        assert!(said.contains(part), "{said}");
    }
    // Any key may be set: all hints of `check`, by scenes that cause them.
    for (changes, flags, parts) in [
        (&[][..], &[][..], &["кадров", "в сцене: 3 тела", "кадры: ", "ролик зацикливается"][..]),
        (&[(0, "1"), (12, "0.3")], &[], &["1 кадр", "ролик не зацикливается: камера оказывается в"]),
        (&[], &["--set", "body[0].center=[0,0,900]"], &["body[0], куб: не попадает ни в один кадр"]),
        (&[], &["--set", "film.exposure=-20"], &["изображение чёрное"]),
        (&[], &["--set", "film.exposure=9"], &["пересвечено до"]),
        (&[], &["--set", "body[0].turns=0.1"], &["body[0], куб: нет возврата в начало"]),
        (&[], &["--set", "sky.zenith=[1,1,1]", "--set", "sky.horizon=[1,1,1]"], &["белое небо выглядит как"]),
    ] {
        let said = said(changes, flags);
        assert!(parts.iter().all(|part| said.contains(part)), "{flags:?}: {said}");
    }
    // And a file that is no scene at all.
    fs::write(dir.path().join("scene.bin"), [0; 9]).unwrap();
    for (scene, part) in [
        ("scene.bin", "не похож на текст"),
        ("nothing.txt", "файл не читается: такого файла нет"),
        (".", "укажите сцену в ней"),
    ] {
        let said = words(&polyfly(dir.path(), &["check", scene, "--lang", "ru"]));
        assert!(english(&said).is_empty() && said.contains(part), "{:?}\n{said}", english(&said));
    }
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
fn wrong_command_lines_are_told_in_russian() {
    let dir = tempfile::tempdir().unwrap();
    for (flags, part) in [
        (&["s.toml", "--resolution", "64x48"][..], "флага `--resolution` нет"),
        (&["s.toml", "--size", "64"], "`--size`: получено `64`"),
        (&["s.toml", "--spp", "50"], "`--samples 8` берёт 8 x 8 = 64"),
        (&["s.toml", "--gamma", "2.2"], "это ключ сцены, его меняет `--set KEY=VALUE`: film.gamma"),
        (&["explain", "beat"], "ритм задаёт значение, которое меняется"),
        (&["s.toml", "--size", "64,48"], "`64x48`"),
        (&["s.toml", "--fps", "0"], "30000/1001"),
        (&["s.toml", "--threads", "x"], "от 0 до 1024"),
        (&["s.toml", "--codec", "x264"], "возможно, вы имели в виду `h264`?"),
        (&["s.toml", "--crf", "99"], "от 0 до 63"),
        (&["s.toml", "--cpu", "--gpu"], "исключают друг друга"),
        (&["s.toml", "--music", "a.mp3"], "возможно, вы имели в виду `--audio music.mp3`?"),
        (&["a.toml", "b.toml"], "всё, кроме сцены, называют флаги"),
        (&["init", "x.toml"], "команды `init` нет"),
        (&["compare", "a.png"], "не хватает: <B>"),
        (&["s.toml", "check"], "команда стоит первой"),
    ] {
        let run = polyfly(dir.path(), &[flags, &["--lang", "ru"]].concat());
        let said = words(&run);
        assert_eq!(run.status.code(), Some(64), "{flags:?}: {said}");
        assert!(said.starts_with("ошибка: ") && said.contains(part), "{flags:?}: {said}");
        // Lists of values are in no quotes.
        let is_listed = ["--size", "--codec"].contains(&flags[1]);
        assert!(is_listed || english(&said).is_empty(), "{flags:?}: {:?}\n{said}", english(&said));
    }
    // After the scene was read.
    fs::write(dir.path().join("s.toml"), "[[body]]\nsolid = \"cube\"\n").unwrap();
    fs::create_dir(dir.path().join("there")).unwrap();
    fs::write(dir.path().join("there/0.png"), "").unwrap();
    for (flags, part) in [
        (&["s.toml", "--texture", "none"][..], "--texture: в сцене нет пола"),
        (&["s.toml", "--frames", "0-9999"], "--frames: `0-9999` доходит до кадра 9999, а в сцене кадры 0-"),
        (&["s.toml", "--frames", "9-3"], "`9-3` идёт назад"),
        (&["s.toml", "--frames", "x"], "`x` не называет кадров"),
        (&["preview", "s.toml", "--frame", "0-3x0"], "--frame: в `0-3x0` шаг равен 0"),
        (&["s.toml", "-o", "a.mp4"], "`--video a.mp4` сделает ролик"),
        (&["s.toml", "-o", "there"], "это папка"),
        (&["s.toml", "-o", "there/%d.png", "--frames", "0-1"], "в there есть кадры, например 0"),
        (&["s.toml", "--set", "film[0]=3"], "--set film[0]=3: "),
        (&["s.toml", "--video", "a.avi"], "ожидалось имя с расширением"),
        (&["s.toml", "--video", "a.webm", "--codec", "h264"], "в .webm бывает"),
        (&["s.toml", "--no-frames"], "писать нечего"),
        (&["explain", "qqqqqqq"], "нет ни ключа, ни флага"),
        (&["docs", "qqqqqqq"], "страницы `qqqqqqq` нет"),
        (&["compare", "s.toml", "there"], "ожидалась картинка"),
        (&["convert", "s.toml", "x.yaml"], "сцена пишется в .toml"),
        (&["new", "my.yaml"], "ожидался файл с расширением .toml"),
        (&["farm", "slurm", "s.toml", "--", "--overwrite"], "--overwrite не подходит заданию"),
        (&["particles", "generate", "9", "p.vtk"], "в такой файл частицы не пишутся"),
    ] {
        let mut command = program(dir.path(), flags);
        let run = command.env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", "ru_RU.UTF-8").output().unwrap();
        let said = words(&run);
        assert_eq!(run.status.code(), Some(64), "{flags:?}: {said}");
        assert!(said.starts_with("ошибка: ") && said.contains(part), "{flags:?}: {said}");
    }
}

#[test]
fn faults_of_toml_are_told_in_russian() {
    let dir = folder();
    let reference = include_str!("../../docs/reference/scene.md");
    for (name, scene) in SCENES {
        fs::write(dir.path().join("s.toml"), whole(scene)).unwrap();
        let run = polyfly(dir.path(), &["s.toml", "--cpu", "-q", "--size", "16x12", "--lang", "ru"]);
        let said = words(&run);
        assert!(said.starts_with("ошибка: ") && has_russian(&said), "{name}: {said}");
        // Keys, words and names of the scene stay as they are.
        let is_key =
            |word: &str| reference.contains(&format!("`{word}`")) || reference.contains(&format!("\"{word}\""));
        let known = |word: &String| is_key(word) || scene.contains(word.as_str());
        let strange: Vec<String> = english(&said).into_iter().filter(|word| !known(word)).collect();
        assert!(strange.is_empty(), "{name}: {strange:?} in\n{said}");
    }
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
        if language == "ru" {
            // What stands between the tags, without styles, data, the names of machines and the scene's own text and name.
            let body = page.split("</style>").last().unwrap().split("<pre>").next().unwrap();
            let body: Vec<&str> = body.lines().filter(|line| !line.starts_with("<tr><td>")).collect();
            let body = body.join("\n");
            let shown: Vec<&str> = body.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect();
            let shown = shown.join("\n").replace("scene\n", "");
            let left = super::language::english(&shown);
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

// All that runs and jobs print on stderr, and what `compare` prints.
#[test]
fn remarks_of_runs_and_jobs_are_told_in_russian() {
    let dir = folder();
    let at = dir.path();
    let russian = |args: &[&str]| program(at, args).env("LC_ALL", "ru_RU.UTF-8").output().unwrap();
    let small = ["--cpu", "--size", "16x12", "--samples", "1", "--frames", "0-1"];
    fs::write(at.join("light.toml"), "[[light]]\nposition = [0, 0, 5]\nradius = 1\n[[sphere]]\nradius = 0.5\n")
        .unwrap();
    for (folder, first) in [("early", 0), ("late", 1)] {
        fs::create_dir(at.join(folder)).unwrap();
        for n in 0..4 {
            let code = image::Rgb([60 * n as u8; 3]);
            image::RgbImage::from_pixel(12, 12, code).save(at.join(format!("{folder}/{}.png", n + first))).unwrap();
        }
    }
    fs::write(at.join("p.csv"), "x,y,z\n1,2,3\n").unwrap();
    fs::write(at.join("q.csv"), "x,y,z,r\n1,2,?,4\n").unwrap();
    fs::write(at.join("r.csv"), "x,y,z,r\n1,2,3,-4\n").unwrap();
    let draw = |file: &str| russian(&["particles", "cpu", file, "8", "8", "x.png"]);
    let runs = [
        ("кадра за", russian(&[&["scene.toml", "-o", "a/%d.png"][..], &small].concat())),
        ("кадры пишутся как", russian(&[&["scene.toml", "-o", "b%d"][..], &small].concat())),
        ("готово кадров: 2 из 2", russian(&[&["scene.toml", "-o", "a/%d.png", "--resume"][..], &small].concat())),
        (
            "качество draft",
            russian(&[&["scene.toml", "--draft", "-o", "c/%d.png"][..], &small[..3], &small[5..]].concat()),
        ),
        ("совпадают лучше: может быть, одна из сторон", russian(&["compare", "early", "late"])),
        ("d.png: разница, усиление", russian(&["compare", "a/0.png", "a/1.png", "-o", "d.png"])),
        ("кадры различаются: 2 из 2", russian(&["compare", "a", "c"])),
        ("нельзя записать токенами", russian(&["convert", "light.toml", "light.txt"])),
        ("столбца радиусов в нём нет", draw("p.csv")),
        ("не число для `z`", draw("q.csv")),
        ("у частицы 0 радиус", draw("r.csv")),
        (
            "сцена не указана",
            russian(&["bench", "--size", "16x12", "--runs", "1", "--threads", "1", "--format", "csv"]),
        ),
        ("записывает пример", russian(&["scenes"])),
        ("нарисует первый кадр", russian(&["new", "my.toml"])),
        (
            "не запускается как ffmpeg",
            russian(
                &[&["scene.toml", "-o", "e/%d.png", "--video", "e.mp4", "--ffmpeg", "./none"][..], &small].concat(),
            ),
        ),
    ];
    let names = ["early", "late", "polyfly", "draft", "radius", "cpu", "baseline", "ffmpeg", "table"];
    for (part, run) in runs {
        let said = words(&run);
        assert!(said.contains(part) || text(&run.stdout).contains(part), "{part}: {said} {}", text(&run.stdout));
        let left: Vec<String> = english(&said)
            .into_iter()
            .filter(|word| !names.contains(&word.as_str()) && !word.contains(['.', '/', '=']))
            .collect();
        assert!(left.is_empty(), "{left:?}: {said}");
    }
}
