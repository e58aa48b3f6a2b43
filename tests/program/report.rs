//! Figures for reports: tables, plots, the page of a run.

use crate::common::{folder, polyfly, text, words};

#[test]
fn devices_are_compared_in_any_form() {
    let dir = folder();
    let small = ["bench", "scene.toml", "--size", "24x16", "--samples", "1", "--runs", "2", "--frames", "0,7"];
    let bench = |more: &[&str]| {
        let run = polyfly(dir.path(), &[&small[..], more].concat());
        assert!(run.status.success(), "{}", words(&run));
        text(&run.stdout)
    };
    let json: serde_json::Value = serde_json::from_str(&bench(&["--format", "json", "--plots", "p"])).unwrap();
    assert_eq!((&json["width"], &json["frames"], &json["repetitions"]), (&24.into(), &"0,7".into(), &2.into()));
    let devices = json["devices"].as_array().unwrap();
    assert!(devices[0]["threads"] == 1 && devices[0]["times_as_fast"] == 1.0, "{json}");
    for device in devices {
        let ms = |key: &str| device[key].as_f64().unwrap();
        assert!(0.0 < ms("min_ms") && ms("min_ms") <= ms("ms") && ms("ms") <= ms("max_ms"), "{device}");
        assert!(ms("mrays_per_second") > 0.0);
    }
    let plot = |folder: &str, name: &str| {
        let svg = std::fs::read_to_string(dir.path().join(format!("{folder}/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
        assert!(svg.contains("scene.toml, ") || svg.contains("\nscene.toml; "), "{name} does not name its scene");
        svg
    };
    for name in ["clip", "samples", "depth"] {
        assert!(plot("p", name).contains("milliseconds"), "{name}");
    }
    assert!(plot("p", "devices").contains("millions of rays a second"));
    let rows = devices.len();
    let md = bench(&[]);
    assert_eq!(md.lines().filter(|l| l.starts_with("| ")).count(), rows + 1, "{md}");
    assert!(md.starts_with("scene.toml, 24 x 16, 1 sample a pixel, at most 24 bounces"), "{md}");
    assert_eq!(bench(&["--format", "csv"]).lines().count(), rows + 1);
    assert!(bench(&["--format", "latex"]).contains("\\toprule\ndevice & threads & size & ms a frame"));
    // Any numbers of threads and sizes, in one table and one plot.
    let several = ["--threads", "1,2,0", "--sizes", "24x16,48x32", "--format", "json", "--plots", "s"];
    let args = [&["bench", "scene.toml", "--samples", "1", "--runs", "1", "--frames", "0"][..], &several].concat();
    let run = polyfly(dir.path(), &args);
    let json: serde_json::Value =
        serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", words(&run)));
    let rows = json["devices"].as_array().unwrap();
    let of = |width: u32| rows.iter().filter(move |row| row["width"] == width).collect::<Vec<_>>();
    let threads = |width| of(width).iter().filter_map(|row| row["threads"].as_u64()).collect::<Vec<_>>();
    assert!(threads(24) == threads(48) && threads(24).starts_with(&[1, 2]), "{json}");
    let rays = |width| of(width).iter().map(|row| row["rays_per_frame"].as_f64().unwrap()).collect::<Vec<_>>();
    let [small, large] = [rays(24), rays(48)];
    assert!(small.iter().all(|&n| n == small[0] && n >= 24.0 * 16.0), "{small:?}");
    assert!(large.iter().all(|&n| n == large[0] && n > 3.0 * small[0]), "{large:?}");
    assert!(of(24)[0]["times_as_fast"] == 1.0 && of(48)[0]["times_as_fast"] == 1.0);
    let names = plot("s", "devices");
    assert!(names.contains(", 1 thread\n") && names.contains(", 2 threads\n"), "{names}");
    assert!(plot("s", "threads").contains("24 x 16") && plot("s", "rays").contains("\n48 x 32\n"));
    // Numbers of particles: packings in place of the scene's file, which need not be there.
    let scene = "[particles]\npath = \"none.csv\"\ncolor_by = \"speed\"\n[figure]\nview = \"-y\"\n";
    std::fs::write(dir.path().join("packing.toml"), scene).unwrap();
    let counts = ["--sizes", "5e1,400,24x16", "--threads", "1,2", "--format", "json", "--plots", "n", "--runs", "1"];
    let run =
        polyfly(dir.path(), &[&["bench", "packing.toml", "--samples", "1", "--frames", "0"], &counts[..]].concat());
    let json: serde_json::Value =
        serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", words(&run)));
    let rows = json["devices"].as_array().unwrap();
    let of = |count: u64| rows.iter().filter(|row| row["particles"] == count).count();
    assert!(of(50) == of(400) && of(50) >= 2 && rows[rows.len() - 1]["particles"].is_null(), "{json}");
    assert!(
        std::fs::read_to_string(dir.path().join("n/devices.svg")).unwrap().contains("Time of a frame by its particles")
    );
    let run = polyfly(dir.path(), &["bench", "scene.toml", "--sizes", "400"]);
    assert!(words(&run).contains("--sizes 400: the scene has no [particles]"), "{}", words(&run));
    let run = polyfly(dir.path(), &["bench", "--size", "8x8", "--sizes", "8x8"]);
    assert!(words(&run).contains("exclude each other"), "{}", words(&run));
    // The clip: its total on each device, and ten frames at either end.
    let clip = ["bench", "scene.toml", "--clip", "--size", "24x16", "--samples", "1", "--runs", "1"];
    let json =
        polyfly(dir.path(), &[&clip[..], &["--frames", "0-23", "--threads", "1,2", "--format", "json"]].concat());
    let json: serde_json::Value =
        serde_json::from_slice(&json.stdout).unwrap_or_else(|e| panic!("{e}: {}", words(&json)));
    let one: Vec<_> = json["rows"].as_array().unwrap().iter().filter(|row| row["threads"] == 1).collect();
    let numbers: Vec<_> = one.iter().map(|row| row["frame"].as_u64()).collect();
    assert_eq!(numbers, [None].into_iter().chain((0..10).chain(14..24).map(Some)).collect::<Vec<_>>());
    let ms = |row: &serde_json::Value| row["ms"].as_f64().unwrap();
    assert!(one.iter().all(|row| row["times_as_fast"] == 1.0 && ms(row) > 0.0), "{json}");
    assert!(one[1..].iter().all(|row| ms(row) <= ms(one[0])), "the total holds its frames: {json}");
    let short = polyfly(dir.path(), &[&clip[..], &["--frames", "3-5", "--threads", "1", "--format", "csv"]].concat());
    assert!(text(&short.stdout).starts_with("frame,device,threads,ms,times_as_fast\nall,"), "{}", words(&short));
    // The sample scene, if none is named; a missing file, if the command names one.
    let run = polyfly(dir.path(), &["bench", "--size", "8x8", "--runs", "1", "--frames", "0", "-q"]);
    assert!(run.status.success() && text(&run.stdout).starts_with("the sample scene, 8 x 8") && run.stderr.is_empty());
    let scene = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap().replace("@checker", "gone.png");
    std::fs::write(dir.path().join("gone.toml"), scene).unwrap();
    let run = polyfly(dir.path(), &["bench", "gone.toml"]);
    assert!(run.status.code() == Some(65) && words(&run).contains("--> gone.toml:"), "{}", words(&run));
}

#[test]
fn ways_to_deal_work_out_are_drawn() {
    let dir = folder();
    let run = polyfly(
        dir.path(),
        &["bench", "--balance", "--size", "32x32", "--samples", "1", "--runs", "1", "--plots", "."],
    );
    assert!(run.status.success(), "{}", words(&run));
    assert!(text(&run.stdout).starts_with("the sample scene, 32 x 32") && text(&run.stdout).contains(" | dynamic | "));
    for (format, part) in [("latex", " & dynamic & "), ("csv", ",dynamic,"), ("json", "\"schedule\": \"dynamic\"")] {
        let args = ["bench", "--balance", "--size", "16x16", "--samples", "1", "--runs", "1", "--format", format];
        let run = polyfly(dir.path(), &args);
        assert!(run.status.success() && text(&run.stdout).contains(part), "{format}: {}", text(&run.stdout));
    }
    for (file, axis) in [("work.svg", "even shares"), ("speed-up.svg", "times as fast as one thread")] {
        let svg = std::fs::read_to_string(dir.path().join(file)).unwrap();
        assert!(svg.contains(axis) && svg.contains("the sample scene, 32 x 32"), "{file}");
        assert_eq!(svg.contains("\nideal\n"), file == "speed-up.svg", "{file}");
    }
}

#[test]
fn a_run_becomes_a_page() {
    let dir = folder();
    let small = ["scene.toml", "--cpu", "--size", "32x24", "--samples", "1", "-q", "-o", "f/%d.png"];
    let run = polyfly(dir.path(), &[&small[..], &["--frames", "0-5", "--video", "clip.mp4"]].concat());
    assert!(run.status.success(), "{}", words(&run));
    let page = |args: &[&str], file: &str| {
        let run = polyfly(dir.path(), &[&["report", "f"], args].concat());
        assert!(run.status.success(), "{}", words(&run));
        std::fs::read_to_string(dir.path().join(file)).unwrap()
    };
    let html = page(&[], "f/report.html");
    for part in [
        // A small film keeps its size.
        ".wide { max-width: 100%;",
        "<video class=\"wide\" controls loop muted autoplay src=\"data:video/mp4;base64,",
        "src=\"data:image/jpeg;base64,",
        "<h1>scene</h1>",
        "<th>whole<td>6 of 6",
        "Time of each frame on its device",
        "Stages",
        "Rays",
        "<th>machine<th>processor<th>devices",
        "size = [32, 24]",
    ] {
        assert!(html.contains(part), "no {part}");
    }
    // The page loads nothing from other hosts.
    for outside in ["src=\"http", "href=", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    // The embedded picture is valid.
    let sheet = html.split("data:image/jpeg;base64,").nth(1).unwrap().split('"').next().unwrap();
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, sheet).unwrap();
    let sheet = image::load_from_memory(&bytes).unwrap();
    // Six frames in three columns and two rows, six pixels between them.
    assert_eq!((sheet.width(), sheet.height()), (3 * 38 + 6, 2 * 30 + 6));
    // A killed run left frames and no end; a truncated line is no error.
    let journals = dir.path().join("f/.polyfly");
    let journal =
        std::fs::read_dir(&journals).unwrap().flatten().find(|e| e.file_name().to_string_lossy().ends_with(".jsonl"));
    let journal = journal.unwrap().path();
    let kept = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, kept.lines().take(3).collect::<Vec<_>>().join("\n") + "\n{\"frame\":3,\"m").unwrap();
    std::fs::remove_file(dir.path().join("clip.mp4")).unwrap();
    let html = page(&["-o", "other.html"], "other.html");
    assert!(html.contains("it was killed") && !html.contains("<video"), "{html}");
    // A film that was made of the frames later, in a format that pages do not play; and linear light.
    let run = polyfly(dir.path(), &["stitch", "f", "-o", "my film.mkv", "-q"]);
    assert!(run.status.success(), "{}", words(&run));
    let html = page(&[], "f/report.html");
    assert!(html.contains("<a href=\"./../my%20film.mkv\">my film.mkv</a>"), "{html}");
    assert!(!html.contains(&dir.path().display().to_string()), "the page tells nothing of the machine's folders");
    let run = polyfly(dir.path(), &[&small[..small.len() - 1], &["g/%d.exr", "--frames", "0-1"]].concat());
    assert!(run.status.success(), "{}", words(&run));
    let run = polyfly(dir.path(), &["report", "g", "-q"]);
    assert!(run.status.success(), "{}", words(&run));
    assert!(std::fs::read_to_string(dir.path().join("g/report.html")).unwrap().contains("data:image/jpeg"));
    let refused = || {
        let run = polyfly(dir.path(), &["report", "f"]);
        assert_eq!(run.status.code(), Some(65), "{}", words(&run));
        words(&run)
    };
    // Its journal makes no sense.
    let manifest = dir.path().join("f/manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let [from, to] = ["32,\n        24", "0,\n        24"].map(|t| t.replace("        ", &" ".repeat(8)));
    assert!(text.contains(&from), "{text}");
    std::fs::write(&manifest, text.replace(&from, &to)).unwrap();
    assert!(refused().contains("`size` of \"%d.png\" is invalid"));
    let run = polyfly(dir.path(), &["report", "."]);
    assert_eq!(run.status.code(), Some(75), "{}", words(&run));
}

#[test]
fn a_page_tells_of_its_own_scene_only() {
    let dir = folder();
    let text = std::fs::read_to_string(dir.path().join("scene.toml")).unwrap();
    std::fs::write(dir.path().join("other.toml"), text.replacen("grain = 0.0", "grain = 0.5", 1)).unwrap();
    let small = ["--cpu", "--size", "32x24", "--samples", "1", "-q", "--frames", "0-1"];
    let render = |scene: &str, frames: &str, film: &str| {
        let run = polyfly(dir.path(), &[&[scene], &small[..], &["-o", frames, "--video", film]].concat());
        assert!(run.status.success(), "{}", words(&run));
    };
    render("scene.toml", "f/a%d.png", "f/one.mp4");
    render("other.toml", "f/b%d.png", "f/two.mp4");
    let page = |frames: &str| {
        let run = polyfly(dir.path(), &["report", frames, "-o", "page.html", "--overwrite"]);
        assert!(run.status.success(), "{}", words(&run));
        (std::fs::read_to_string(dir.path().join("page.html")).unwrap(), words(&run))
    };
    let rows = |html: &str| html.split("<th>processor").nth(1).unwrap().matches("<tr><td>").count();
    let (html, _) = page("f/a%d.png");
    assert!(html.contains("data:video/mp4") && rows(&html) == 1, "{html}");
    // The tag of a GIF is at its end.
    std::fs::create_dir(dir.path().join("g")).unwrap();
    let gif = polyfly(dir.path(), &["stitch", "f/b%d.png", "-o", "g/two.gif"]);
    assert!(gif.status.success(), "{}", words(&gif));
    assert!(page("f/b%d.png").0.contains("data:image/gif"));
    // A film of the other scene has got the name.
    std::fs::rename(dir.path().join("f/two.mp4"), dir.path().join("f/one.mp4")).unwrap();
    let (html, told) = page("f/a%d.png");
    assert!(!html.contains("<video") && told.contains("one.mp4 is not shown"), "{told}");
}
