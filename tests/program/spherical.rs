//! Films of panoramas and of both eyes, read back with ffprobe.

use crate::common::text;
use crate::video::polyfly;
use std::process::Command;

// Panoramas and both eyes are told to players, in each container, and no frame is lost by it.
#[test]
fn films_say_which_part_of_the_sphere_they_show() {
    let dir = tempfile::tempdir().unwrap();
    let said = |views: &[&str], file: &str, more: &[&str]| {
        let sets = views.iter().flat_map(|key| ["--set", key]);
        let flags = ["--size", "128x64", "--frames", "0-2", "--no-frames", "--set", "film.vignette=0", "--video", file];
        let run = polyfly(dir.path(), &flags.into_iter().chain(sets).chain(more.iter().copied()).collect::<Vec<_>>());
        assert!(run.status.success(), "{}", text(&run.stderr));
        let asked = ["-v", "error", "-count_packets", "-show_streams", file];
        text(&Command::new("ffprobe").args(asked).current_dir(dir.path()).output().unwrap().stdout)
    };
    let panorama = "camera.projection=panorama";
    let vr180 = [panorama, "camera.fov_deg=180", "camera.stereo=side-by-side"];
    for (file, more) in [
        ("a.mp4", &[][..]),
        ("b.mov", &["--codec", "prores"]),
        ("c.mkv", &[]),
        ("d.webm", &["--codec", "vp9"]),
        ("e.mkv", &["--codec", "ffv1"]),
    ] {
        let said = said(&vr180, file, more);
        for part in ["Spherical Mapping", "tiled equirectangular", "bound_top=0", "side by side", "nb_read_packets=3"] {
            assert!(said.contains(part), "{file}: {part} is not in {said}");
        }
        let bound = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.parse::<u32>().ok()).unwrap();
        // A quarter of the sphere on each side of 64 pixels, which are its half.
        assert!(bound("bound_left=").abs_diff(32) < 40 && bound("bound_left=") > 0, "{file}: {said}");
    }
    let whole = said(&[panorama, "camera.fov_deg=360"], "f.mp4", &[]);
    assert!(whole.contains("projection=equirectangular") && !whole.contains("Stereo"), "{whole}");
    let eyes = said(&["camera.stereo=over-under"], "g.mp4", &[]);
    assert!(eyes.contains("top and bottom") && !eyes.contains("Spherical"), "{eyes}");
    let plain = said(&[], "h.mp4", &[]);
    assert!(!plain.contains("Stereo") && !plain.contains("Spherical"), "{plain}");
}
