//! The camera: paths, views, and edits of a scene's text that set a view.

use crate::Scene;
use crate::math::vec3::{cross, dot, length, scale, sub};
use crate::scene::text::edit::Edit;
use crate::scene::{
    Camera, CameraKey, CameraPath, CylindricalPath, FovAxis, ParseOptions, Viewpoint, edits_through, toml,
};

fn camera(eye: CylindricalPath, target: CylindricalPath) -> Camera {
    Camera { fov_deg: 90.0, path: CameraPath::Cylinder { eye, target }, ..Camera::default() }
}

#[test]
fn right_is_right() {
    // From +x looking at the origin, +y is to the right and +z is up.
    let view = camera(CylindricalPath::at_rest(5.0, 0.0), CylindricalPath::at_rest(0.0, 0.0)).view(0, 1);
    assert_eq!(view.forward, [-1.0, 0.0, 0.0]);
    assert_eq!(view.right, [0.0, 1.0, 0.0]);
    assert_eq!(view.up, [0.0, 0.0, 1.0]);
}

#[test]
fn poles_and_nothing_to_look_at_have_a_basis() {
    for (eye, target) in [
        (CylindricalPath::at_rest(0.0, 5.0), CylindricalPath::at_rest(0.0, 0.0)),
        (CylindricalPath::at_rest(0.0, -5.0), CylindricalPath::at_rest(0.0, 0.0)),
        (CylindricalPath::at_rest(1.0, 1.0), CylindricalPath::at_rest(1.0, 1.0)),
    ] {
        let view = camera(eye, target).view(0, 1);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!([view.right, view.up, view.forward].iter().all(|&v| close(length(v), 1.0)), "{view:?}");
        let right_handed = length(sub(cross(view.right, view.up), scale(view.forward, -1.0))) < 1e-9;
        assert!(close(dot(view.right, view.up), 0.0) && right_handed, "{view:?}");
    }
}

#[test]
fn path_follows_its_formula() {
    let path = CylindricalPath {
        r0: 7.0,
        z0: 3.0,
        phi0: 0.5,
        ar: 2.0,
        az: 1.0,
        wr: 2.0,
        wz: 6.0,
        wphi: 1.0,
        pr: 0.1,
        pz: 0.2,
    };
    let t = 1.3;
    let (r, phi) = (7.0 + 2.0 * libm::sin(2.0 * t + 0.1), 0.5 + t);
    let p = path.at(t);
    assert!((p[0] - r * libm::cos(phi)).abs() < 1e-12);
    assert!((p[1] - r * libm::sin(phi)).abs() < 1e-12);
    assert!((p[2] - (3.0 + libm::sin(6.0 * t + 0.2))).abs() < 1e-12);
}

#[test]
fn the_field_of_view_is_measured_along_its_axis() {
    let mut camera = camera(CylindricalPath::at_rest(5.0, 0.0), CylindricalPath::at_rest(0.0, 0.0));
    // At 90 degrees the picture plane is half of the axis away.
    for (axis, half) in [(FovAxis::Horizontal, 320.0), (FovAxis::Vertical, 240.0), (FovAxis::Diagonal, 400.0)] {
        camera.fov_axis = axis;
        assert!((camera.view(0, 1).focal(640, 480) - half).abs() < 1e-9, "{axis:?}");
    }
}

fn keyed(points: &[(f64, f64)], closed: bool) -> Camera {
    let key = |&(time, x): &(f64, f64)| CameraKey {
        time,
        position: [x, 2.0 * x, 1.0],
        look_at: [0.0, 0.0, x],
        fov_deg: 40.0 + x,
    };
    let path = CameraPath::Keys { keys: points.iter().map(key).collect(), closed };
    Camera { path, ..Camera::default() }
}

#[test]
fn splines_pass_their_keys_and_keep_straight_lines() {
    let camera = keyed(&[(0.0, 0.0), (0.25, 1.0), (0.5, 2.0), (1.0, 4.0)], false);
    for (frame, x) in [(0, 0.0), (25, 1.0), (50, 2.0), (10, 0.4), (80, 3.2), (99, 3.96)] {
        let view = camera.view(frame, 100);
        assert!((view.eye[0] - x).abs() < 1e-12 && (view.fov_deg - 40.0 - x).abs() < 1e-9, "{frame}: {view:?}");
    }
}

#[test]
fn closed_splines_are_loops() {
    let camera = keyed(&[(0.1, 3.0), (0.4, 5.0), (0.8, -2.0)], true);
    let step = |a: u32, b: u32| length(sub(camera.view(b, 1000).eye, camera.view(a, 1000).eye));
    // Position and velocity are continuous at the keys and where the clip restarts.
    for at in [0, 100, 400, 800, 999] {
        let (before, after) = (step((at + 999) % 1000, at), step(at, (at + 1) % 1000));
        assert!(before < 0.1 && (before - after).abs() < 2e-3, "{at}: {before} {after}");
    }
    assert!((camera.view(400, 1000).eye[0] - 5.0).abs() < 1e-12);
}

fn changed(text: &str, edits: &[Edit]) -> String {
    edits.iter().fold(text.to_owned(), |text, edit| edit.apply(&text).unwrap())
}

#[test]
fn a_view_between_keys_is_a_new_key_and_the_others_stay() {
    let keys = [(0.0, [5.0, 0.0, 1.0]), (0.25, [0.0, 5.0, 1.0]), (0.7504, [-5.0, 0.0, 1.0])];
    let tables = keys.map(|(time, p)| {
        format!("[[camera.key]]\ntime = {time:?}\nposition = {p:?}\nlook_at = [0.0, 0.0, 0.0]\nfov_deg = 60.0\n")
    });
    let text = format!("[output]\nframes = 120\n[[body]]\nsolid = \"hexahedron\"\n{}", tables.concat());
    let of = |text: &str| {
        let scene: Scene = toml::parse(text, ParseOptions::default()).unwrap().0;
        let CameraPath::Keys { keys, .. } = scene.camera.path.clone() else { panic!("no keys") };
        (scene.camera, keys)
    };
    let (camera, before) = of(&text);
    let view = Viewpoint { eye: [-3.25, 4.5, 2.75], look_at: [0.25, -0.5, 0.75], fov_deg: 55.0 };
    let seen = CameraKey { time: 0.0, position: view.eye, look_at: view.look_at, fov_deg: 55.0 };
    // The frame, the index of its key, and whether the key is new.
    for (frame, place, is_new) in
        [(0, 0, false), (13, 1, true), (30, 1, false), (60, 2, true), (90, 2, false), (119, 3, true)]
    {
        let (changed_camera, after) = of(&changed(&text, &edits_through(&camera, frame, 120, &view)));
        let mut expected = before.clone();
        let key = CameraKey { time: f64::from(frame) / 120.0, ..seen };
        if is_new {
            expected.insert(place, key);
        } else {
            expected[place] = key;
        }
        assert_eq!(after, expected, "frame {frame}");
        assert_eq!(Viewpoint::of(&changed_camera, frame, 120), view, "frame {frame}");
    }
}

#[test]
fn every_kind_of_path_is_led_through_a_view() {
    let fixed = "[camera]\nposition = [5.0, 1.0, 2.0]\nlook_at = [0.0, 0.0, 0.0]\n";
    let orbit = "[camera.orbit]\ndistance = 9\nazimuth_deg = 40\nturns = -2\nease = 0.5\n";
    let round = "[camera.eye]\nr = 6.0\nz = 2.0\nr_amplitude = 1.0\nr_cycles = 2.0\nphi_cycles = 1.0\nz_amplitude = 0.5\nz_cycles = 3.0\n";
    let inside = "[camera.eye]\nr = -3.0\nphi_deg = 200.0\n[camera.target]\nr = 0.4\nphi_cycles = -1.0\n";
    let keyed = "[[camera.key]]\ntime = 0.0\nposition = [5.0, 0.0, 1.0]\nlook_at = [0.0, 0.0, 0.0]\n\n[[camera.key]]\ntime = 0.5\nposition = [0.0, 5.0, 1.0]\nlook_at = [0.0, 0.0, 1.0]\n";
    for (text, frame) in [(fixed, 7), (orbit, 13), (round, 31), (inside, 50), (keyed, 60)] {
        let text = format!("[output]\nframes = 120\n{text}\n[[body]]\nsolid = \"hexahedron\"\n");
        let read = |text: &str| -> Scene { toml::parse(text, ParseOptions::default()).unwrap().0 };
        let scene = read(&text);
        let view = Viewpoint { eye: [-3.25, 4.5, 2.75], look_at: [0.25, -0.5, 0.75], fov_deg: 55.0 };
        let changed = changed(&text, &edits_through(&scene.camera, frame, 120, &view));
        let there = Viewpoint::of(&read(&changed).camera, frame, 120);
        let off = length(sub(there.eye, view.eye)).max(length(sub(there.look_at, view.look_at)));
        assert!(off < 5e-4 && there.fov_deg == 55.0, "{off}: {there:?}\n{changed}");
        // Unchanged values are not written.
        let same = edits_through(&scene.camera, frame, 120, &Viewpoint::of(&scene.camera, frame, 120));
        assert!(!text.contains("[camera.eye]") || same.is_empty(), "{same:?}");
    }
}
