//! `polyfly explain` knows every key, flag, command and exit code.

use crate::cli::{Exit, command};
use crate::command::explain::{explanation, near};
use crate::command::shell::{all_commands, flag_facts};
use crate::scene::keys::explain::{entries, explain, plain_name};

#[test]
fn every_key_explains_itself() {
    for entry in entries() {
        let text = explain(&entry.path).unwrap_or_else(|| panic!("{} is unknown", entry.path));
        assert!(text.contains(entry.about()) && !entry.about().is_empty(), "{text}");
        assert!(explain(entry.path.rsplit('.').next().unwrap()).is_some(), "{}", entry.path);
        assert!(entry.inner().is_some() || text.contains("  type      "), "{text}");
    }
}

#[test]
fn a_key_is_found_as_people_write_it() {
    assert_eq!(plain_name("body[0].Colour=red"), "body.color");
    assert_eq!(plain_name("[[camera.key]]"), "camera.key");
    assert_eq!(plain_name("lamps"), "lamps");
    assert!(explain("lamps").is_some_and(|text| text.contains("table     [[body]]")));
    assert!(explain("r").is_some_and(|text| text.contains("[body.path]") && text.contains("[camera.eye]")));
    assert!(explain("color").is_some_and(|text| text.contains("air.color") && text.contains("light.color")));
    assert!(explain("body").is_some_and(|text| text.starts_with("[[body]]\n") && text.contains("  solid ")));
    assert!(explain("agx").is_some_and(|text| text.starts_with("\"agx\" is a word of film.tone\na wide")));
    assert_eq!(explain("xyzzy"), None);
}

#[test]
fn every_flag_job_and_exit_code_explains_itself() {
    let mut commands = command();
    commands.build();
    for (command, usage) in all_commands(&commands) {
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let Some(long) = arg.get_long() else { continue };
            for word in [format!("--{long}"), long.to_owned()] {
                let text = explanation(&word).unwrap_or_else(|| panic!("{word} of {usage} is unknown"));
                let [_, _, about] = flag_facts(arg);
                assert!(!about.is_empty() && text.contains(&about) && text.contains(&usage), "{word}: {text}");
            }
        }
    }
    for job in commands.get_subcommands().filter(|job| job.get_name() != "help") {
        assert!(explanation(job.get_name()).is_some_and(|text| text.contains("--help")), "{}", job.get_name());
    }
    for code in Exit::ALL {
        let text = explanation(&code.to_string()).unwrap_or_default();
        assert!(text.starts_with(&format!("exit code {code}: ")) && text.contains("\n\n"), "{text}");
    }
}

#[test]
fn an_unknown_word_gets_the_near_ones() {
    assert_eq!(explanation("raduis"), None);
    assert_eq!(near("raduis").to_string(), "did you mean `polyfly explain radius`?");
    assert_eq!(near("--resum").to_string(), "did you mean `polyfly explain --resume`?");
    assert!(near("--resolution").to_string().contains("`--size 1280x720`"));
    assert_eq!(near("--loop").to_string(), "did you mean `polyfly explain loop`?");
    assert_eq!(near("qqqqqqq").to_string(), "`polyfly explain` tells what it takes");
}
