//! Changes of single keys in a scene's text.

use crate::scene::text::edit::{insert, set};

const SCENE: &str = "# mine\n[film]\nexposure = 1 # a stop\n\n[[body]]\nsolid = \"hexahedron\"\nradius = 1.0\n\n[[body]]\nsolid = \"octahedron\"\n";

#[test]
fn one_key_changes_and_all_else_stays() {
    let done = |path, value| set(SCENE, path, Some(value));
    assert_eq!(done("film.exposure", "0.5").unwrap(), SCENE.replace("= 1 #", "= 0.5 #"));
    assert_eq!(done("body[0].radius", "2").unwrap(), SCENE.replace("radius = 1.0", "radius = 2"));
    let added = done("body[1].color", "#ff8000").unwrap();
    assert_eq!(added, format!("{SCENE}color = \"#ff8000\"\n"));
    assert!(done("film.tone", "agx").unwrap().contains("exposure = 1 # a stop\ntone = \"agx\"\n"));
    assert_eq!(done("film.exposure", "60%").unwrap(), SCENE.replace("= 1 #", "= 0.6 #"));
    assert!(done("output.path", "3").unwrap().contains("path = \"3\""));
    assert!(done("camera.eye.r", "5").unwrap().ends_with("[camera.eye]\nr = 5\n"));
    assert_eq!(set(SCENE, "body[0].radius", None).unwrap(), SCENE.replace("radius = 1.0\n", ""));
    let inline = set("camera = { eye = { r = 1 } }\nbody = [{ solid = \"cube\" }]\n", "body[0].bar", Some("0.1"));
    assert_eq!(inline.unwrap(), "camera = { eye = { r = 1 } }\nbody = [{ solid = \"cube\" , bar = 0.1 }]\n");
}

#[test]
fn a_table_is_put_into_its_place_in_a_list() {
    let new = "{ solid = \"cube\", radius = 3.0 }";
    let first = SCENE.find("[[body]]\nsolid = \"octahedron\"").unwrap();
    let table = "[[body]]\nsolid = \"cube\"\nradius = 3.0\n\n";
    let expected = format!("{}{table}{}", &SCENE[..first], &SCENE[first..]);
    assert_eq!(insert(SCENE, "body[1]", new).unwrap(), expected);
    assert_eq!(insert(SCENE, "body[2]", new).unwrap(), format!("{SCENE}\n{}", &table[..table.len() - 1]));
    let before = insert(SCENE, "body[0]", new).unwrap();
    let solids = before.match_indices("solid = ").map(|(at, _)| &before[at + 9..at + 13]).collect::<Vec<_>>();
    assert_eq!(solids, ["cube", "hexa", "octa"], "{before}");
    assert!(before.starts_with("# mine\n[film]\nexposure = 1 # a stop\n"), "{before}");
    let inline = insert("body = [{ solid = \"cube\" }]\n", "body[0]", "{ radius = 2 }").unwrap();
    assert_eq!(toml::from_str::<toml::Table>(&inline).unwrap()["body"][0]["radius"].as_integer(), Some(2));
    for (path, value) in [("body[3]", new), ("light[0]", new), ("body", new), ("body[1]", "3"), ("film[0]", new)] {
        assert!(insert(SCENE, path, value).is_err(), "{path}");
    }
}

#[test]
fn what_leads_nowhere_is_told() {
    let error = |path| set(SCENE, path, Some("1")).unwrap_err().to_string();
    assert!(error("body[2].radius").contains("has 2 of them"));
    assert!(error("light[0].radius").contains("has 0 of them"));
    assert!(error("film.exposure.x").contains("`exposure` is not a table"));
    assert_eq!(error("body.radius"), "`body` is a list: say which of them, as in `body[0].radius`");
    assert_eq!(error("exposure"), "`exposure` is a key of tables: write film.exposure");
    assert!(error("color").contains("body[0].color"));
    let deep = vec!["a"; 8000].join(".");
    for path in ["", ".", "a b", "body[x].y", "body[0]", "a..b", &deep] {
        let error = error(path);
        assert!(error.contains("is not a key") && error.len() < 300, "{error}");
    }
}
