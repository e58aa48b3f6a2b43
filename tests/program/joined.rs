//! What a film gets when its segments are joined: music, and the size of a GIF or WebP. These tests need ffmpeg.

use crate::common::text;
use crate::video::polyfly;
use std::path::Path;
use std::process::Command;

// Half a minute of music: a tone that begins after a second.
fn write_music(path: &Path) {
    let tone = |i: u32| if i < 8000 { 0 } else { (libm::sin(f64::from(i)) * 9000.0) as i16 };
    let sound: Vec<u8> = (0..8000 * 30).flat_map(|i| tone(i).to_le_bytes()).collect();
    let head = |name: &[u8; 4], body: &[u8]| [&name[..], &(body.len() as u32).to_le_bytes(), body].concat();
    let format = [&[1, 0, 1, 0][..], &8000_u32.to_le_bytes(), &16000_u32.to_le_bytes(), &[2, 0, 16, 0]].concat();
    let parts = [b"WAVE".to_vec(), head(b"fmt ", &format), head(b"data", &sound)].concat();
    std::fs::write(path, head(b"RIFF", &parts)).unwrap();
}

#[test]
fn films_have_music() {
    let dir = tempfile::tempdir().unwrap();
    write_music(&dir.path().join("music.wav"));
    let args = |frames, film| {
        let size = ["--size", "64x64", "--no-frames", "--fps", "10", "test:segment=7", "--audio", "music.wav"];
        [&size[..], &["--frames", frames, "--video", film]].concat()
    };
    let ask = |film: &str, what: &str, more: &[&str]| {
        let common = ["-v", "error", "-of", "csv=p=0", "-show_entries", what];
        let asked = Command::new("ffprobe").args(common).args(more).arg(film).current_dir(dir.path()).output().unwrap();
        text(&asked.stdout).trim().to_owned()
    };
    for (film, codec) in [("a.mp4", "aac"), ("a.mov", "aac"), ("a.mkv", "flac"), ("a.webm", "opus")] {
        let run = polyfly(dir.path(), &args("0-19", film));
        assert!(run.status.success(), "{film}: {}", text(&run.stderr));
        assert_eq!(ask(film, "stream=codec_name", &["-select_streams", "a"]), codec);
        assert_eq!(ask(film, "stream=nb_read_packets", &["-select_streams", "v", "-count_packets"]), "20", "{film}");
        let seconds: f64 = ask(film, "format=duration", &[]).parse().unwrap();
        assert!((1.95..2.1).contains(&seconds), "{film}: {seconds}");
        // It is not made again, but it is with other music.
        let again = polyfly(dir.path(), &[&args("0-19", film)[..], &["--resume"]].concat());
        assert!(again.status.success() && again.stdout.is_empty(), "{film}: {}", text(&again.stdout));
    }
    // Frames from the middle of the clip have the music of the middle: there the tone begins at once.
    let begins = |film: &str| {
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-v", "error", "-i", film, "-f", "s16le", "-ac", "1", "-ar", "8000", "-"]);
        let sound = ffmpeg.current_dir(dir.path()).output().unwrap().stdout;
        let samples = sound.chunks_exact(2).map(|two| i16::from_le_bytes([two[0], two[1]]).unsigned_abs());
        samples.take_while(|loud| *loud < 4000).count() as f64 / 8000.0
    };
    assert!((begins("a.mkv") - 1.0).abs() < 0.02, "{}", begins("a.mkv"));
    assert!(polyfly(dir.path(), &args("10-19", "b.mkv")).status.success());
    assert!(begins("b.mkv") < 0.02, "{}", begins("b.mkv"));
    // What is no music is found before a frame is rendered.
    for (music, what) in [("none.wav", "none.wav"), ("coursework.txt", "reading coursework.txt")] {
        std::fs::write(dir.path().join("coursework.txt"), "no music").unwrap();
        let run = polyfly(dir.path(), &["--frames", "0-1", "--no-frames", "--video", "c.mp4", "--audio", music]);
        assert!(!run.status.success() && run.stdout.is_empty(), "{music}");
        assert!(text(&run.stderr).contains(what), "{}", text(&run.stderr));
    }
}

#[test]
fn moving_pictures_fit_a_size() {
    let dir = tempfile::tempdir().unwrap();
    let video = |film: &str, limit: &[&str]| {
        let args =
            ["--size", "160x120", "--frames", "0-9", "--no-frames", "test:segment=7", "--overwrite", "--video", film];
        polyfly(dir.path(), &[&args[..], limit].concat())
    };
    let bytes = |film: &str| std::fs::metadata(dir.path().join(film)).unwrap().len();
    for film in ["a.gif", "a.webp"] {
        assert!(video(film, &[]).status.success());
        let limit = bytes(film) * 2 / 5;
        let run = video(film, &["--limit", &limit.to_string()]);
        assert!(run.status.success(), "{film}: {}", text(&run.stderr));
        assert!((limit / 2..=limit).contains(&bytes(film)), "{film}: {} of {limit}", bytes(film));
        // A film that does not fit leaves the one that is there.
        let (before, run) = (bytes(film), video(film, &["--limit", "1kB"]));
        assert!(!run.status.success() && bytes(film) == before, "{film}");
        assert!(text(&run.stderr).contains("even with 2"), "{film}: {}", text(&run.stderr));
    }
}
