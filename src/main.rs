//! The polyfly program; src/command.rs has its jobs.

fn main() -> std::process::ExitCode {
    polyfly::command_line()
}
