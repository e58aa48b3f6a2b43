//! Changes of single keys in a scene's text.

use crate::scene::text::edit::{Edit, insert, set, value_at};
use crate::scene::text::merge::{between, merge};

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
    for (path, value) in
        [("body[3]", new), ("light[1]", new), ("body", new), ("body[1]", "3"), ("film[0]", new), ("light[0]", "3")]
    {
        assert!(insert(SCENE, path, value).is_err(), "{path}");
    }
    // The first of a list.
    assert_eq!(insert(SCENE, "light[0]", "{ radius = 1 }").unwrap(), format!("{SCENE}\n[[light]]\nradius = 1\n"));
    let key = insert(SCENE, "camera.key[0]", "{ time = 0 }").unwrap();
    assert!(key.contains("[[camera.key]]\ntime = 0\n"), "{key}");
    let keys = "[film]\nexposure = { keys = [[0, 1], [1, 2]] } # up\n";
    let three = keys.replace("[1, 2]", "[0.5, 1],[1, 2]").replace("], [0.5", "],[0.5");
    assert_eq!(
        insert(keys, "film.exposure.keys[1]", "[0.5, 1]").unwrap().replace(", [", ",["),
        three.replace(", [", ",[")
    );
}

#[test]
fn a_value_is_found_by_its_path() {
    let text = "[[body]] # one\nsolid = \"cube\" # six\ncentre = [0, 0, 1]\n[body.path]\nr = 2 # far\n[film]\nexposure = { keys = [[0, 1], [1, 2, \"hold\"]] }\n";
    let at = |path| value_at(text, path);
    assert_eq!(at("body[0]").as_deref(), Some("{ solid = \"cube\", centre = [0, 0, 1], path = { r = 2 } }"));
    assert_eq!(at("body[0].center").as_deref(), Some("[0, 0, 1]"));
    assert_eq!(at("film.exposure.keys[1]").as_deref(), Some("[1, 2, \"hold\"]"));
    assert_eq!(
        [at("body[1]"), at("film.bloom"), at("film.exposure.keys[2]"), at("light[0]"), at("...")],
        [const { None }; 5]
    );
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

#[test]
fn a_table_is_taken_out_of_a_list() {
    let second = "\n[[body]]\nsolid = \"octahedron\"\n";
    assert_eq!(set(SCENE, "body[1]", None).unwrap(), SCENE.strip_suffix(second).unwrap());
    let none = set(&set(SCENE, "body[0]", None).unwrap(), "body[0]", None).unwrap();
    assert!(!none.contains("body") && none.starts_with("# mine\n[film]\n"), "{none}");
    assert!(set(SCENE, "body[2]", None).unwrap_err().to_string().contains("has 2 of them"));
}

#[test]
fn edits_between_two_texts_lead_from_one_to_the_other() {
    let texts = [
        SCENE.to_owned(),
        SCENE.replace("exposure = 1", "bloom = 0.2"),
        SCENE.replace("radius = 1.0", "radius = 2.0\ncolor = \"#fff\""),
        insert(SCENE, "body[1]", "{ solid = \"cube\", radius = 3.0 }").unwrap(),
        set(SCENE, "body[0]", None).unwrap(),
        format!("{SCENE}[camera.eye]\nr = 5.0\n[[camera.key]]\ntime = 0\n"),
    ];
    for (from, to) in texts.iter().flat_map(|from| texts[..5].iter().map(move |to| (from, to))) {
        let edits = between(from, to);
        let done = edits.iter().fold(from.clone(), |text, edit| edit.apply(&text).unwrap());
        assert_eq!(toml::from_str::<toml::Table>(&done), toml::from_str::<toml::Table>(to), "{edits:?}");
        assert_eq!(edits.is_empty(), from == to, "{edits:?}");
    }
    assert!(between(SCENE, &SCENE.replace("# a stop", "# half a stop")).is_empty());
    assert_eq!(between(SCENE, &texts[2])[0], Edit::Set("body[0].radius".into(), "2.0".into()));
}

#[test]
fn changes_of_two_authors_meet_in_one_text() {
    let mine = SCENE.replace("exposure = 1", "exposure = 0.5").replace("radius = 1.0", "radius = 2.0");
    // The second author's comments stay; the tables of the first are found after others were inserted before them.
    let theirs = insert(SCENE, "body[0]", "{ solid = \"cube\" }").unwrap().replace("# mine", "# ours");
    let (text, both) = merge(SCENE, &mine, &theirs);
    assert_eq!(text, theirs.replace("exposure = 1", "exposure = 0.5").replace("radius = 1.0", "radius = 2.0"));
    assert!(both.is_empty());
    // A key that both have changed.
    let theirs = SCENE.replace("exposure = 1", "exposure = -1");
    assert_eq!(merge(SCENE, &mine, &theirs), (mine.clone(), vec!["film.exposure".to_owned()]));
    let theirs = SCENE.replace("exposure = 1 # a stop\n", "");
    assert_eq!(merge(SCENE, &mine, &theirs).1, ["film.exposure"]);
    assert_eq!(merge(SCENE, &mine, &mine), (mine.clone(), vec![]), "the same value is no question");
    // A body that the second has removed stays removed.
    let theirs = set(SCENE, "body[0]", None).unwrap();
    assert_eq!(merge(SCENE, &mine, &theirs), (theirs.replace("exposure = 1", "exposure = 0.5"), vec![]));
    assert_eq!(merge(SCENE, SCENE, &theirs).0, theirs);
}
