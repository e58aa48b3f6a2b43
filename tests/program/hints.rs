//! What may not be meant: `check` and renders say it.

use crate::common::{folder, polyfly, words};

// One after the other, with the faults of each; the exit code is that of the last fault.
#[test]
fn several_scenes_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.toml", "[[sphere]]\n"),
        ("b.toml", "[[body]]\nsolid = \"cub\"\n"),
        ("c.toml", "[[sphere]]\nradius = -1\n"),
        ("d.toml", "[[body]]\nsolid = \"cube\"\n"),
    ] {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let run = polyfly(dir.path(), &["check", "a.toml", "b.toml", "c.toml", "d.toml"]);
    assert_eq!(run.status.code(), Some(65));
    let listed = String::from_utf8_lossy(&run.stdout);
    assert!(listed.contains("a.toml: ") && listed.contains("d.toml: ") && !listed.contains("b.toml: "), "{listed}");
    let said = words(&run);
    assert!(said.contains("b.toml:2") && said.contains("c.toml:2"), "{said}");
    assert!(polyfly(dir.path(), &["check", "a.toml", "d.toml"]).status.success());
}

#[test]
fn what_may_not_be_meant_is_said_in_a_render_too() {
    let dir = folder();
    let scene = |camera: &str, more: &str| {
        let text = format!(
            "[output]\nframes = 4\npath = \"%d.ppm\"\nsize = [16, 12]\n{more}\n{camera}\n[[body]]\nsolid = \"cube\"\n"
        );
        std::fs::write(dir.path().join("s.toml"), text).unwrap();
        polyfly(dir.path(), &["s.toml", "--cpu", "--overwrite"])
    };
    let away = "[camera]\nposition = [5, 0, 0]\nlook_at = [9, 0, 0]\n";
    let brushed = "[[sphere]]\ncenter = [0, 0, 1]\nmaterial = \"metal\"\nanisotropy = 0.5\n";
    let glass =
        "[render]\nintegrator = \"path\"\nsamples = 4\n[sky]\nimage = \"@sun\"\n[[sphere]]\nmaterial = \"glass\"\n";
    for (camera, more, hint) in [
        (away, "", "body[0], the cube: never in the camera's sight"),
        ("[camera]\nposition = [5, 0, 0]\nlook_at = [5, 0, 0]\n", "", "the camera is at the point that it looks at"),
        ("", "[sky]\nzenith = [1, 1, 1]\nhorizon = \"white\"\n", "the sky's white is shown as 237 of 255"),
        ("", brushed, "`anisotropy` changes nothing"),
        ("", glass, "paths meet the sun behind glass by chance"),
    ] {
        let run = scene(camera, more);
        assert!(run.status.success() && words(&run).contains(hint), "{hint}: {}", words(&run));
        let quiet = polyfly(dir.path(), &["s.toml", "--cpu", "--overwrite", "-q"]);
        assert_eq!(words(&quiet), "", "{hint}");
    }
    let plain = scene("", "");
    assert!(!words(&plain).contains("sight") && !words(&plain).contains("white"), "{}", words(&plain));
    assert!(!words(&scene("", &glass.replace("samples", "clamp = 1\nsamples"))).contains("by chance"));
    let found = glass.replace("samples", "caustics = true\nsamples");
    assert!(words(&scene("", &found)).contains("by chance"));
    let in_a_body = found.replace("[[sphere]]", "[[body]]\nsolid = \"cube\"\ncenter = [0, 0, 3]");
    assert!(!words(&scene("", &in_a_body)).contains("by chance"));
    let rough = "roughness = { keys = [[0, 0], [1, 0.5]] }\n";
    assert!(!words(&scene("", &format!("{brushed}{rough}"))).contains("anisotropy"));
    // Two paths for one camera: the second would have no effect.
    let both = scene(&format!("{away}[camera.eye]\nr = 3\n"), "");
    assert_eq!(both.status.code(), Some(65));
    assert!(
        words(&both).contains("the camera has [camera.eye] and an orbit, keys or a `position`"),
        "{}",
        words(&both)
    );
}
