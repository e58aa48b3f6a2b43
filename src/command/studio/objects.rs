//! Edits that add, copy, drag and remove objects of a scene.

use super::aim::{Aim, Element, centre_of, path_of, radii_of};
use super::timeline;
use crate::math::vec3::{Vec3, add, dot, length, scale, sub};
use crate::scene::text::edit::{Edit, value_at};
use crate::scene::{Scene, number, triple};

// The radius of a new object, in halves of the picture's width where it stands; inside of another one, in the radius that fits in there.
const SIZE: f64 = 0.16;
const INSIDE: f64 = 0.6;
// Places beside each other that are tried, in rows that come nearer.
const TRIED: i32 = 40;
const ROWS: i32 = 16;

/// The edits, and the path of the object that is picked after them.
pub type Made = (Vec<Edit>, Option<String>);

fn set(path: &str, value: &str) -> Edit {
    Edit::Set(path.to_owned(), value.to_owned())
}

// Two digits, as people write sizes.
fn about(x: f64) -> f64 {
    let unit = libm::pow(10.0, libm::log10(x).floor() - 1.0);
    (x / unit).round() * unit
}

// The list and the table of a new object of this radius; `stands` are the keys with which it stands on the floor.
fn table(what: &str, at: Vec3, radius: f64, (stands, back): (&str, Vec3)) -> Option<(&'static str, String)> {
    let (center, size) = (triple(at), number(radius));
    Some(match what {
        "ball" => {
            let stands = stands.replace(", rest = \"face\"", "");
            ("sphere", format!("{{ center = {center}, radius = {size}{stands}, color = \"#d9d6cf\" }}"))
        }
        "panel" => {
            let at = triple(add(at, [0.0, 0.0, 2.0 * radius]));
            let size = triple([2.4 * radius, 1.6 * radius, 0.0]).replace(", 0.0]", "]");
            let facing = triple([back[0], back[1], 0.0]);
            let light = "material = \"light\", color = \"#ffe6c4\", strength = 3.0";
            ("rectangle", format!("{{ center = {at}, size = {size}, facing = {facing}, {light} }}"))
        }
        "light" => {
            let at = add(at, [0.0, 0.0, 3.5 * radius]);
            ("light", format!("{{ position = {}, radius = {} }}", triple(at), number(0.25 * radius)))
        }
        "cube" | "tetrahedron" | "octahedron" | "dodecahedron" | "icosahedron" => {
            let solid = format!("solid = \"{what}\", center = {center}, radius = {size}{stands}");
            ("body", format!("{{ {solid}, color = \"#d9d6cf\" }}"))
        }
        _ => return None,
    })
}

// What the pictures of the palette have in common.
const PICTURE: &str = "[output]
frames = 1
size = [96, 96]
[film]
look = \"plain\"
tone = \"agx\"
exposure = 0.6
[camera]
position = [2.6, -4.9, 2.3]
look_at = [0, 0, 0]
fov_deg = 28
[sky]
zenith = [0.75, 0.82, 0.95]
horizon = [0.32, 0.33, 0.36]
[render]
samples = 3
[[light]]
position = [-2, -6, 7]
";

/// A scene of nothing but an object of the palette, for its picture on the page.
pub fn picture_of(what: &str) -> Option<String> {
    let ball = |keys: &str| Edit::Insert("sphere[0]".to_owned(), format!("{{ radius = 0.85, {keys} }}"));
    let edits = match what {
        "floor" | "wet-floor" => [floor(what, true, -0.85, 3.0), vec![ball("color = \"#d98a1f\"")]].concat(),
        "light" => vec![ball("material = \"light\", color = \"#ffe6c4\"")],
        _ => {
            let (at, radius) = if what == "panel" { ([0.0, 0.0, -1.6], 0.8) } else { ([0.0; 3], 1.1) };
            let (list, table) = table(what, at, radius, ("", [0.47, -0.88, 0.0]))?;
            vec![Edit::Insert(format!("{list}[0]"), table)]
        }
    };
    edits.iter().try_fold(PICTURE.to_owned(), |text, edit| edit.apply(&text)).ok()
}

// A floor at this height, with corners this far from the z axis; or one that is there and becomes wet.
fn floor(what: &str, is_new: bool, z: f64, far: f64) -> Vec<Edit> {
    let mut edits = Vec::new();
    if is_new {
        let corners = [[-far, -far], [-far, far], [far, far], [far, -far]].map(|[x, y]| triple([x, y, z])).join(", ");
        let fade = number(about(4.0 * far));
        edits = vec![
            set("floor.corners", &format!("[{corners}]")),
            set("floor.size", "infinite"),
            set("floor.fade", &fade),
        ];
    }
    if what == "wet-floor" {
        let of_others = ["material", "transparency", "coat"].map(|key| Edit::Remove(format!("floor.{key}")));
        edits.extend(of_others);
        edits.extend([set("floor.tint", "#26272b"), set("floor.reflection", "0.35")]);
    }
    edits
}

/// A new object where the camera looks, or inside of another one.
pub fn added(scene: &Scene, aim: &Aim, what: &str, inside: Option<Element>) -> Option<Made> {
    let world = &scene.world;
    let lists = [
        ("body", world.bodies.len()),
        ("sphere", world.spheres.len()),
        ("ellipsoid", world.ellipsoids.len()),
        ("rectangle", world.rectangles.len()),
    ];
    let places = lists.into_iter().flat_map(|(list, count)| (0..count).map(move |i| (list, i)));
    let others: Vec<(Vec3, f64)> =
        places.filter_map(|place| Some((centre_of(scene, place)?.1, radii_of(scene, place)?[0]))).collect();
    if let "floor" | "wet-floor" = what {
        let low = others.iter().map(|(centre, radius)| centre[2] - radius).fold(f64::MAX, f64::min);
        let far = others.iter().map(|(centre, radius)| length(*centre) + radius).fold(5.0, f64::max);
        let z = if others.is_empty() { -1.0 } else { low };
        return Some((floor(what, world.floor.is_none(), z, about(far)), Some("floor".to_owned())));
    }
    let [mut at, right, back] = aim.directions();
    let ground = world.ground().ok();
    let radius;
    let mut stands = "";
    if let Some(place) = inside {
        at = centre_of(scene, place)?.1;
        radius = about(INSIDE * radii_of(scene, place)?[1]);
    } else {
        radius = about(SIZE * aim.reach(at));
        let mut nearer = back;
        if let Some(ground) = ground {
            at = sub(at, scale(ground.normal, ground.above(at) - radius));
            nearer = sub(back, scale(ground.normal, dot(back, ground.normal)));
            let is_level = ground.normal[..2] == [0.0; 2];
            stands = if is_level { ", on = \"floor\", rest = \"face\"" } else { ", on = \"floor\"" };
        }
        // The first free place beside or in front that is wholly seen.
        let aside = |n: i32| scale(right, radius * f64::from((n + 1) / 2 * (1 - 2 * (n % 2))));
        let place = |row: i32, n: i32| add(add(at, scale(nearer, radius * f64::from(row))), aside(n));
        let is_free = |at: &Vec3| others.iter().all(|(centre, other)| length(sub(*centre, *at)) > radius + other);
        let rows = (0..ROWS).flat_map(|row| (0..TRIED).map(move |n| place(row, n))).filter(is_free);
        at = rows.clone().find(|at| aim.shows(*at, radius)).or_else(|| rows.clone().next()).unwrap_or(at);
    }
    let (list, table) = table(what, at, radius, (stands, back)).filter(|_| radius > 0.0)?;
    let count = match list {
        "light" => world.lights.len(),
        _ => lists.iter().find(|(name, _)| *name == list)?.1,
    };
    let path = path_of((list, count));
    Some((vec![Edit::Insert(path.clone(), table)], Some(path)))
}

/// A copy beside an object.
pub fn duplicated(text: &str, scene: &Scene, aim: &Aim, place: Element) -> Option<Made> {
    let (list, index) = place;
    let (key, centre) = centre_of(scene, place)?;
    let table = value_at(text, &path_of(place))?;
    let path = path_of((list, index + 1));
    let [_, right, _] = aim.directions();
    let size = radii_of(scene, place).map_or(0.0, |[radius, _]| radius).max(0.1 * aim.reach(centre));
    let mut edits = vec![Edit::Insert(path.clone(), table)];
    // One that moves along keys goes with them.
    if !timeline::is_over_time(scene, &format!("{}.{key}", path_of(place))) {
        edits.push(set(&format!("{path}.{key}"), &triple(add(centre, scale(right, 2.2 * size)))));
    }
    Some((edits, Some(path)))
}

/// A drag of an object.
pub struct Drag {
    /// The point that was grabbed, and the value of the object's place then.
    pub grabbed: Vec3,
    pub from: Vec3,
    /// The point of the picture where it is now.
    pub to: [f64; 2],
    pub is_upright: bool,
}

/// The object where a drag leads it. One that is lifted does not stand on the floor any longer.
pub fn dragged(text: &str, scene: &Scene, aim: &Aim, (place, frame): (Element, u32), drag: &Drag) -> Option<Vec<Edit>> {
    let (key, _) = centre_of(scene, place)?;
    let path = path_of(place);
    let Some(by) = aim.drag(drag.grabbed, drag.to, drag.is_upright) else { return Some(Vec::new()) };
    let of = format!("{path}.{key}");
    let mut edits = timeline::put(text, scene, &of, frame, &add(drag.from, by))?;
    if drag.is_upright && dot(by, by) > 0.0 {
        let standing = ["on", "rest"].map(|key| format!("{path}.{key}"));
        edits.extend(standing.into_iter().filter(|path| value_at(text, path).is_some()).map(Edit::Remove));
    }
    Some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::studio::deeds::{Deed, Seen};
    use serde_json::{Value, json};

    const SCENE: &str = "# mine\n[output]\nframes = 40\nsize = [160, 90]\n\n[camera]\nposition = [0.0, -6.0, 2.0]\nlook_at = [0.0, 0.0, 0.0]\n\n# the first\n[[body]]\nsolid = \"cube\" # six faces\nradius = 0.5\n";
    // The objects of the page's palette.
    const PALETTE: [&str; 10] = [
        "cube",
        "tetrahedron",
        "octahedron",
        "dodecahedron",
        "icosahedron",
        "ball",
        "panel",
        "light",
        "floor",
        "wet-floor",
    ];
    const FLOOR: &str = "\n[floor]\ncorners = [[-9, -9, -1], [-9, 9, -1], [9, 9, -1], [9, -9, -1]]\n";

    fn read(text: &str) -> Scene {
        Scene::parse(text, "s.toml", std::path::Path::new("")).unwrap_or_else(|e| panic!("{e}\n{text}")).scene
    }

    // The text after a deed at a frame, and what is picked then.
    fn done(text: &str, frame: u32, deed: Value) -> (String, Option<String>) {
        let (scene, meshes) = (read(text), Default::default());
        let held = json!(toml::from_str::<toml::Table>(&scene.to_toml()).unwrap());
        let aim = &Aim::new(&scene, frame, None, &meshes);
        let seen = Seen { text, scene: &scene, held: &held, aim, frame, view: None };
        let deed: Deed = serde_json::from_value(deed).unwrap();
        let (edits, picked) = seen.edits(&deed).unwrap();
        let after = edits.iter().fold(text.to_owned(), |text, edit| edit.apply(&text).unwrap());
        read(&after);
        (after, picked)
    }

    #[test]
    fn what_is_added_is_seen_and_overlaps_nothing() {
        for text in [SCENE.to_owned(), format!("{SCENE}{FLOOR}")] {
            for what in PALETTE {
                let (once, picked) = done(&text, 0, json!({ "do": "add", "what": what }));
                let (twice, _) = done(&once, 0, json!({ "do": "add", "what": what }));
                assert!(
                    twice.starts_with("# mine\n")
                        && twice.contains("# the first\n[[body]]")
                        && twice.contains("# six faces")
                );
                if what.ends_with("floor") {
                    assert_eq!(picked.as_deref(), Some("floor"));
                    continue;
                }
                let scene = read(&twice);
                let place = super::super::aim::element_of(&picked.unwrap()).unwrap();
                let meshes = Default::default();
                let hits = |at| Aim::new(&scene, 0, None, &meshes).hits(at);
                let all: Vec<f64> = (0..60).map(|i| f64::from(i) / 60.0).collect();
                let is_seen = all.iter().any(|&x| all.iter().any(|&y| hits([x, y]).iter().any(|hit| hit.0 == place)));
                assert!(is_seen, "{what}: {twice}");
                let bodies = scene.world.bodies.iter().map(|body| (body.centre, body.radius));
                let all: Vec<_> =
                    bodies.chain(scene.world.spheres.iter().map(|ball| (ball.centre, ball.radius))).collect();
                let apart = |i: usize, j: usize| length(sub(all[i].0, all[j].0)) - all[i].1 - all[j].1;
                assert!((0..all.len()).all(|i| (0..i).all(|j| apart(i, j) > -1e-3)), "{what}: {twice}");
                // Taken out again, the text is as it was.
                let last = path_of(place);
                assert_eq!(done(&once, 0, json!({ "do": "remove", "of": last })).0, text, "{what}");
            }
        }
        let (inside, picked) = done(SCENE, 0, json!({ "do": "add", "what": "octahedron", "inside": "body[0]" }));
        let bodies = read(&inside).world.bodies;
        assert!(picked.as_deref() == Some("body[1]") && bodies[1].centre == bodies[0].centre);
        assert!(bodies[1].radius < bodies[0].radius * bodies[0].solid.inradius());
    }

    // Beside the template's cube, which fills the picture, a ball was halfway out of it.
    #[test]
    fn what_is_added_is_wholly_seen_beside_a_large_body() {
        let text = include_str!("../../../scenes/templates/infinity.toml");
        for frame in [0, 71] {
            let scene = read(&done(text, frame, json!({ "do": "add", "what": "ball" })).0);
            let meshes = Default::default();
            let [ball] = &scene.world.spheres[..] else { panic!("{:?}", scene.world.spheres) };
            assert!(Aim::new(&scene, frame, None, &meshes).shows(ball.centre, ball.radius), "{frame}: {ball:?}");
            let cube = &scene.world.bodies[0];
            assert!(length(sub(cube.centre, ball.centre)) > cube.radius + ball.radius);
        }
    }

    #[test]
    fn every_picture_of_the_page_is_a_scene() {
        for what in PALETTE {
            read(&picture_of(what).unwrap());
        }
    }

    #[test]
    fn a_copy_has_all_keys_and_stands_beside() {
        let text = SCENE.replace("radius = 0.5\n", "radius = 0.5\nlamps = 3\ntexture = \"@wood\"\n");
        let (copied, picked) = done(&text, 0, json!({ "do": "duplicate", "of": "body[0]" }));
        let bodies = read(&copied).world.bodies;
        assert_eq!(picked.as_deref(), Some("body[1]"));
        assert!(bodies.len() == 2 && length(sub(bodies[0].centre, bodies[1].centre)) > 1.0);
        assert_eq!(crate::scene::Body { centre: bodies[0].centre, ..bodies[1].clone() }, bodies[0]);
        assert!(copied.starts_with(&text), "{copied}");
    }

    #[test]
    fn what_is_dragged_is_below_the_mouse() {
        let standing =
            format!("{}on = \"floor\"\n{FLOOR}", SCENE.replace("radius", "center = [0.0, 0.0, 7.0]\nradius"));
        for (text, is_upright) in [(SCENE, false), (SCENE, true), (&standing, false), (&standing, true)] {
            let scene = read(text);
            let meshes = Default::default();
            let aim = Aim::new(&scene, 0, None, &meshes);
            let middle = if text == SCENE { [0.5, 0.5] } else { [0.5, 0.6] };
            let (place, grabbed) = aim.hits(middle)[0];
            assert_eq!(place, ("body", 0));
            let from = scene.world.bodies[0].centre;
            let to = if is_upright { [middle[0], 0.3] } else { [0.7, middle[1] - 0.05] };
            let drag = json!({ "do": "drag", "of": "body[0]", "grabbed": grabbed, "from": from, "to": to, "is_upright": is_upright, "gesture": "" });
            let after = done(text, 0, drag).0;
            let moved = read(&after);
            let by = sub(moved.world.bodies[0].centre, from);
            assert!(
                if is_upright { by[..2] == [0.0; 2] && by[2] > 0.1 } else { by[2].abs() < 1e-3 && by[0] > 0.1 },
                "{by:?}"
            );
            assert_eq!(Aim::new(&moved, 0, None, &meshes).hits(to)[0].0, ("body", 0));
            assert_eq!(after.contains("\non ="), text == standing && !is_upright);
            assert!(after.contains("# six faces"));
        }
    }

    #[test]
    fn sizes_and_angles_are_put_at_their_time() {
        let put = |text: &str, of: &str, value: Value| {
            done(text, 20, json!({ "do": "put", "of": of, "value": value, "gesture": "" })).0
        };
        assert_eq!(put(SCENE, "body[0].radius", json!([0.75])), SCENE.replace("radius = 0.5", "radius = 0.75"));
        assert!(put(SCENE, "body[0].angle_deg", json!([-15])).ends_with("radius = 0.5\nangle_deg = -15.0\n"));
        let timed = SCENE.replace("radius = 0.5", "radius = { keys = [[0, 1], [1, 2]] }");
        let radius = |text: &str, frame| timeline::value_at_frame(&read(text), "body[0].radius", frame).unwrap();
        let after = put(&timed, "body[0].radius", json!([0.25]));
        assert_eq!([radius(&after, 0), radius(&after, 20)], [vec![1.0], vec![0.25]]);
        let panel = format!("{SCENE}\n[[rectangle]]\n");
        assert!(put(&panel, "rectangle[0].size", json!([2, 3.5])).contains("size = [2.0, 3.5]"));
    }

    #[test]
    fn one_behind_the_other_is_hit_after_it() {
        let text = format!("{SCENE}\n[[sphere]]\nradius = 0.1\n\n[[light]]\nposition = [0.0, -4.0, 1.333]\n{FLOOR}");
        let scene = read(&text);
        let meshes = Default::default();
        let aim = Aim::new(&scene, 0, None, &meshes);
        let hits: Vec<Element> = aim.hits([0.5, 0.5]).into_iter().map(|(place, _)| place).collect();
        assert_eq!(hits, [("light", 0), ("body", 0), ("sphere", 0), ("floor", 0)]);
        // The lines around a ball are where it is hit last.
        let lines: Vec<Vec<[f64; 2]>> = serde_json::from_value(aim.outline(("sphere", 0))).unwrap();
        let is_hit = |[x, y]: [f64; 2], s: f64| {
            aim.hits([0.5 + (x - 0.5) * s, 0.5 + (y - 0.5) * s]).iter().any(|hit| hit.0 == ("sphere", 0))
        };
        assert!(lines.len() == 1 && lines[0].iter().all(|&p| is_hit(p, 0.98) && !is_hit(p, 1.02)));
    }

    #[test]
    fn keys_are_made_moved_and_removed() {
        let text = format!("{SCENE}[film]\nexposure = 0.5 # a little\n");
        let of = "film.exposure";
        let key = |text: &str, frame| done(text, frame, json!({ "do": "key", "of": of })).0;
        let held = |text: &str| value_at(text, of).unwrap();
        let two = key(&text, 20);
        assert_eq!(held(&two), "{ keys = [[0.0, 0.5], [0.5, 0.5]] }");
        assert!(two.contains("# a little"));
        let two = Edit::Set(of.to_owned(), "{ keys = [[0.0, 0.5], [0.5, 2, \"hold\"]], ease = \"linear\" }".to_owned())
            .apply(&two)
            .unwrap();
        let three = key(&two, 10);
        assert_eq!(held(&three), "{ keys = [[0.0, 0.5], [0.25, 1.25], [0.5, 2, \"hold\"]], ease = \"linear\" }");
        assert_eq!(key(&three, 10), three, "a key that is there");
        let moved = |index: usize, to: u32| {
            held(&done(&three, 0, json!({ "do": "move_key", "of": of, "index": index, "to": to })).0).replace(' ', "")
        };
        assert!(moved(1, 30).contains("[[0.0,0.5],[0.5,2,\"hold\"],[0.75,1.25]]"), "{}", moved(1, 30));
        assert!(moved(2, 10).contains("[[0.0,0.5],[0.25,2,\"hold\"]]"), "{}", moved(2, 10));
        let removed =
            |text: &str, index: usize| done(text, 0, json!({ "do": "remove_key", "of": of, "index": index })).0;
        assert_eq!(held(&removed(&two, 0)), "2");
        assert_eq!(held(&removed(&three, 1)).replace(' ', ""), held(&two).replace(' ', ""));
    }

    #[test]
    fn the_camera_gets_keys_and_loses_them() {
        for camera in
            ["", "[camera.orbit]\ndistance = 5\nturns = 2\n", "[camera.eye]\nr = 5\nz = 1\nphi_cycles = 0.3\n"]
        {
            let still = "[camera]\nposition = [0.0, -6.0, 2.0]\nlook_at = [0.0, 0.0, 0.0]\n";
            let text = if camera.is_empty() { SCENE.to_owned() } else { SCENE.replace(still, camera) };
            let keyed = done(&text, 10, json!({ "do": "key", "of": "camera.key" })).0;
            let at = |text: &str, frame: u32| {
                let scene = read(text);
                crate::scene::Viewpoint::of(&scene.camera, frame, 40)
            };
            for frame in 0..40 {
                let off = length(sub(at(&text, frame).eye, at(&keyed, frame).eye));
                assert!(off < 0.3, "{camera}, frame {frame}: {off}");
            }
            assert_eq!(read(&text).loop_problems().is_empty(), read(&keyed).loop_problems().is_empty());
            let moved = done(&keyed, 0, json!({ "do": "move_key", "of": "camera.key", "index": 1, "to": 39 })).0;
            assert_eq!(
                moved.matches("[[camera.key]]").count(),
                keyed.matches("[[camera.key]]").count() - usize::from(camera.contains("eye"))
            );
            let mut text = keyed;
            while text.contains("[[camera.key]]") {
                text = done(&text, 0, json!({ "do": "remove_key", "of": "camera.key", "index": 0 })).0;
            }
            assert!(text.contains("position = ") && text.contains("# the first"), "{text}");
        }
    }

    #[test]
    fn a_clip_is_made_a_loop() {
        let text = SCENE.replace("[camera]\nposition = [0.0, -6.0, 2.0]\nlook_at = [0.0, 0.0, 0.0]\n", "[camera.eye]\nr = 4\nphi_cycles = 0.3\nz_cycles = 1.6\nz_amplitude = 0.2\n")
            .replace("radius = 0.5\n", "radius = { keys = [[0, 0.5], [0.5, 1]] }\nturns = 0.3\naxis = [1, 2, 0]\ndrift = [1, 0, 0]\nlamps = 2\nlamp_pattern = \"hue\"\nlamp_cycles = 1.4\n");
        let text = format!("{text}[film]\nexposure = {{ keys = [[0, 0.5], [1, 1]] }}\n");
        assert!(read(&text).loop_problems().len() >= 4, "{:?}", read(&text).loop_problems());
        let after = done(&text, 0, json!({ "do": "loop" })).0;
        assert!(read(&after).loop_problems().is_empty(), "{:?}\n{after}", read(&after).loop_problems());
        assert!(after.contains("phi_cycles = 1.0\nz_cycles = 2.0\n"), "{after}");
        let keys = "[[camera.key]]\ntime = 0\nposition = [3, 0, 1]\nlook_at = [0, 0, 0]\n[[camera.key]]\ntime = 0.5\nposition = [0, 3, 1]\nlook_at = [0, 0, 0]\n";
        let text = SCENE.replace("[camera]\nposition = [0.0, -6.0, 2.0]\nlook_at = [0.0, 0.0, 0.0]\n", keys);
        assert!(read(&done(&text, 0, json!({ "do": "loop" })).0).loop_problems().is_empty());
    }
}
