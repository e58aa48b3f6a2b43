//! What shells and their users want of a program: completions, a manual page.

use crate::cli::command;
use clap_complete::Shell;

/// A shell's completions.
pub fn completions(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(), "polyfly", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The manual page, in roff; those of the jobs follow.
pub fn manual() -> String {
    let mut text = Vec::new();
    let all = command();
    // A Vec takes whatever is written to it.
    let _ = clap_mangen::Man::new(all.clone()).render(&mut text);
    for job in all.get_subcommands().filter(|job| !job.is_hide_set()) {
        let name = format!("polyfly-{}", job.get_name());
        let _ = clap_mangen::Man::new(job.clone().display_name(name)).render(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The schema of scenes in TOML.
pub fn schema() -> String {
    format!("{:#}\n", crate::scene::keys::schema::schema())
}
