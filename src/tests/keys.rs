//! Declarations of keys: a table of a made-up kind is read, written and described.

use crate::scene::keys::read::{Context, Table};
use crate::scene::keys::words::names;
use crate::scene::keys::{Keys, keys, reference, schema};
use crate::scene::text::diagnostic::Rule;
use crate::scene::{ParseOptions, Scene};
use std::collections::HashMap;
use std::sync::LazyLock;
use toml::de::DeTable;

names! {
    /// How tea is made.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Tea {
        /// With its leaves.
        Green = "green",
        /// Without.
        Black = "black",
    }
}

keys! {
    /// A pot of tea.
    #[derive(Clone, Debug, PartialEq)]
    struct Pot in "pot" {
        /// What is in it.
        tea: Tea = Tea::Green, group("Tea"), spelled();
        /// How warm it is.
        warmth: f64 = 20.0, rule(Rule::Within(0.0, 100.0)), unit("degrees Celsius"), slider(10.0, 90.0), when("tea", &["black"]);
    }
}

keys! {
    /// All of it.
    #[derive(Clone, Debug, PartialEq)]
    struct Kitchen in "kitchen" {
        /// The pot.
        pot: Pot = Pot::default();
        /// A guest's.
        cups as "cup": Vec<Pot> = Vec::new();
    }
}

static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(|| schema::schema_of(Kitchen::default().lines()));

fn read(text: &str) -> (Kitchen, Vec<String>) {
    let document = DeTable::parse(text).unwrap();
    let mut context = Context::new(ParseOptions::default(), &SCHEMA);
    let mut table = Table::new(&mut context, document.get_ref(), 0..0, "kitchen");
    let mut kitchen = Kitchen::default();
    kitchen.read_keys(&mut table);
    table.finish();
    let faults = context.problems.into_iter().map(|p| format!("{}: {}; {}", &text[p.span], p.what, p.expected));
    (kitchen, faults.collect())
}

// `warmth` is declared in one line.
#[test]
fn one_line_declares_a_key_for_all_that_knows_it() {
    assert_eq!(Pot::default().warmth, 20.0);
    let (kitchen, problems) = read("[pot]\nwarmth = 60\n[[cup]]\ntea = 'Black'\nwarmth = '90%'\n");
    assert_eq!((problems, kitchen.pot.warmth, kitchen.cups.len()), (Vec::new(), 60.0, 1));
    assert_eq!(kitchen.cups[0], Pot { tea: Tea::Black, warmth: 0.9 });
    assert_eq!(kitchen.cups[0].tea.name(), "black");
    let mut text = String::new();
    kitchen.written().write(&HashMap::new(), &mut text);
    assert_eq!(text, "[pot]\ntea = \"green\"\nwarmth = 60.0\n\n[[cup]]\ntea = \"black\"\nwarmth = 0.9\n");
    assert_eq!(read(&text), (kitchen, Vec::new()));
    // Defaults are not written.
    let mut plain = String::new();
    Kitchen::default().written().write(&HashMap::new(), &mut plain);
    assert_eq!(plain, "[pot]\ntea = \"green\"\n");

    let schema = &*SCHEMA;
    let key = &schema["definitions"]["pot"]["properties"]["warmth"];
    assert_eq!((&key["type"], &key["maximum"], &key["default"]), (&"number".into(), &100.into(), &20.into()));
    assert_eq!((&key["description"], &key["x-slider"][1]), (&"How warm it is.".into(), &90.into()));
    assert_eq!(schema["definitions"]["pot"]["x-groups"][0]["keys"][1], "warmth");
    let row = "| `warmth` | number, degrees Celsius | 0 to 100 | `20` | How warm it is. Used if `tea` is `black`. |";
    let page = reference::tables_of(schema);
    assert!(page.contains(row), "{page}");
}

#[test]
fn all_faults_are_reported_at_once() {
    let (kitchen, problems) =
        read("[pot]\nwarmth = 101\nwarmht = 3\ntea = 4\n[[cup]]\ntea = 'grene'\nwarmth = 30\n[cups]\n");
    assert_eq!(kitchen.cups[0], Pot { tea: Tea::Green, warmth: 30.0 }, "what is right is read");
    assert_eq!(kitchen.pot, Pot::default());
    let expected = [
        "4: `tea` is the number `4`; expected a text in quotes",
        "101: `warmth` is 101; expected a number from 0 to 100",
        "warmht: unknown key `warmht`; did you mean `warmth`?",
        "'grene': `tea` is \"grene\"; expected one of \"green\", \"black\"",
        "cups: unknown key `cups`; did you mean `cup`?",
    ];
    assert_eq!(problems, expected);
    assert!(Kitchen::TABLE != Pot::TABLE);
}

// Suggestions take time, and few problems are shown.
#[test]
fn of_many_faults_only_the_first_come_with_suggestions() {
    let text: String = (0..3000).map(|n| format!("a{n:05} = 1\n")).collect();
    let problems = read(&text).1;
    let suggested = problems.iter().filter(|problem| problem.ends_with("expected one of pot, cup")).count();
    assert!(problems.len() == 3000 && (1000..1100).contains(&suggested), "{suggested}");
}

// A key that changes nothing is not left without a word, and one that does is not blamed.
#[test]
fn idle_keys_are_named() {
    let warnings = |text: &str| {
        let parsed = Scene::parse(text, "test", "".as_ref()).unwrap_or_else(|e| panic!("{e}"));
        let lines = parsed.warnings.into_iter().map(|warning| format!("{} {}", &text[warning.span], warning.what));
        lines.collect::<Vec<_>>()
    };
    let body = "[[body]]\nsolid = \"cube\"\n";
    for (idle, what, needed) in [
        ("[sky]\nzenith = 0.2\n", "0.2 `zenith` changes nothing", ("image = \"@dusk\"\n", "")),
        ("[sky]\nhorizon = 0.2\n", "0.2 `horizon` changes nothing", ("image = \"@sun\"\n", "")),
        ("[sky]\nintensity = 2\n", "2 `intensity` changes nothing", ("", "image = \"@dusk\"\n")),
        ("[air]\ncolor = 0.5\n", "0.5 `color` changes nothing", ("", "density = { keys = [[0, 0], [1, 0.1]] }\n")),
        ("[film]\ndenoise_frames = 2\n", "2 `denoise_frames` changes nothing", ("", "denoise = \"guided\"\n")),
        ("[render]\nao_reach = 2\n", "2 `ao_reach` changes nothing", ("", "ao_samples = 4\n")),
        ("[render]\nao_samples = 2\n", "2 `ao_samples` changes nothing", ("integrator = \"path\"\n", "")),
        ("[film]\ngamma = 2\n", "2 `gamma` changes nothing", ("tone = \"agx\"\n", "tone = \"clip\"\n")),
        ("[[body]]\nsolid = \"cube\"\nlamps = 5\n", "5 `lamps` changes nothing", ("bar = 0\n", "bar = 0.02\n")),
        (
            "[[body]]\nsolid = \"cube\"\nbar = 0\n",
            "{ keys = [[0, 0], [1, 0.1]] } `bevel` crosses 0.03",
            ("bevel = { keys = [[0, 0], [1, 0.1]] }\n", "bevel = { keys = [[0, 0.03], [1, 0.1]] }\n"),
        ),
    ] {
        let text =
            |with: &str| if idle.contains("body") { format!("{idle}{with}") } else { format!("{body}{idle}{with}") };
        assert_eq!(warnings(&text(needed.0)), [what]);
        assert_eq!(warnings(&text(needed.1)), [""; 0], "{idle}");
    }
}

// What two keys must not have together they must not have later in the clip either.
#[test]
fn values_over_time_are_checked_for_what_they_become() {
    let later = "{ keys = [[0, 0], [1, 0.5]] }";
    let body = "[[body]]\nsolid = \"cube\"\n";
    let camera = "[camera]\nfov_deg = { keys = [[0, 30], [1, 90]] }\n\
                  [[camera.key]]\ntime = 0\nposition = [5, 0, 1]\nlook_at = [0, 0, 0]\n\
                  [[camera.key]]\ntime = 0.9\nposition = [5, 1, 1]\nlook_at = [0, 0, 0]\n";
    let floor = "[floor]\ncorners = [[-4,-4,-1],[-4,4,-1],[4,4,-1],[4,-4,-1]]\ncoat = 1\n";
    for (text, what) in [
        (format!("{body}reflection = 0\ncoat = 1\ntransparency = {later}\n"), "a coat lies on opaque surfaces"),
        (format!("{body}reflection = 0\ncoat = {later}\ntransparency = 0.5\n"), "a coat lies on opaque surfaces"),
        (format!("{body}transparency = 0\ncoat = 1\nfilm_nm = {later}\n"), "one of them on top"),
        (format!("{floor}fade = {later}\n{body}"), "fades within its bounds"),
        (format!("{camera}{body}"), "`fov_deg` over time beside `[[camera.key]]`"),
    ] {
        let error = Scene::parse(&text, "test", "".as_ref()).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(what), "{text}\n{error}");
    }
}

// A number beyond single precision is named in short, with the limit that it breaks.
#[test]
fn numbers_beyond_single_precision_are_refused_in_short() {
    let text = "[camera]\nlens = 1e300\n[[body]]\nsolid = \"cube\"\n";
    let error = Scene::parse(text, "test", "".as_ref()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("`lens` is 1e300") && error.contains("a number from 0 to 1e30"), "{error}");
}

// Every material that adds light is warned of.
#[test]
fn floors_and_balls_that_add_light_are_warned_of() {
    let floor = "[floor]\ncorners = [[-4,-4,-1],[-4,4,-1],[4,4,-1],[4,-4,-1]]\n";
    for table in [floor, "[[sphere]]\n", "[[body]]\nsolid = \"cube\"\n"] {
        let text = |transparency: f64| format!("{table}reflection = 0.5\ntransparency = {transparency}\n");
        let warned =
            |text: &str| Scene::parse(text, "test", "".as_ref()).unwrap_or_else(|e| panic!("{e}")).warnings.len();
        assert_eq!([warned(&text(0.5)), warned(&text(0.6))], [0, 1], "{table}");
    }
}
