//! Linux, macOS and other Unix systems.

pub use super::posix::*;
use rustix::fs::OFlags;
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, kill_process_group, test_kill_process};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command};

/// Files are opened without following a symbolic link or waiting for a pipe.
pub fn refuse_links(options: &mut OpenOptions) {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
}

/// Opening a pipe does not wait for its other end.
pub fn never_wait(options: &mut OpenOptions) {
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
}

/// New files have this mode; the umask applies.
pub fn set_mode(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    builder.permissions(Permissions::from_mode(mode));
}

/// Gives a new file the owner of the old one.
pub fn keep_owner(old: &Metadata, new: &File) -> io::Result<()> {
    let current = new.metadata()?;
    if (current.uid(), current.gid()) != (old.uid(), old.gid()) {
        // Only root may change the owner. For others, the new file stays their own.
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    Ok(())
}

/// Fills `bytes` with those of a file from `at` on. Threads may read at once.
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Whether a file is a pipe with a name.
pub fn is_pipe(facts: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    facts.file_type().is_fifo()
}

/// A number that differs between two files of one name.
pub fn file_number(_path: &Path, facts: &Metadata) -> u64 {
    facts.ino()
}

/// When the content or an attribute of a file was changed last; no program can set it.
pub fn status_changed(facts: &Metadata) -> [i64; 2] {
    [facts.ctime(), facts.ctime_nsec()]
}

/// Hides a folder in listings. A name that begins with a dot is hidden.
pub fn hide(_folder: &Path) {}

/// The file itself, if it is a program.
pub fn executable(file: PathBuf) -> Option<PathBuf> {
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0).then_some(file)
}

/// Lets other programs have the processors first.
pub fn step_back() {
    // Where that is refused, this one is as fast as they.
    let _ = rustix::process::nice(10);
}

/// Libraries are searched in the system's folders, and in those of LD_LIBRARY_PATH, which the system reads before this program begins.
pub fn search_no_working_folder() {}

/// Starts a program that goes on when this one ends.
pub fn detach(command: &mut Command) -> io::Result<()> {
    command.process_group(0).spawn().map(drop)
}

/// A child process in its own group: Ctrl-C does not reach it.
pub struct ChildGroup(u32);

impl ChildGroup {
    pub fn spawn(command: &mut Command) -> io::Result<(Child, ChildGroup)> {
        let child = command.process_group(0).spawn()?;
        let group = ChildGroup(child.id());
        Ok((child, group))
    }

    /// Kills the process and its children.
    pub fn kill(&self) {
        if let Some(id) = pid(self.0)
            && kill_process_group(id, Signal::KILL).is_err()
        {
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

fn pid(process: u32) -> Option<Pid> {
    i32::try_from(process).ok().and_then(Pid::from_raw)
}

/// Whether a process of this machine runs.
pub fn is_alive(process: u32) -> bool {
    // A process of another user exists too, although it cannot be signalled.
    pid(process).is_some_and(|id| test_kill_process(id) != Err(rustix::io::Errno::SRCH))
}

/// Makes the pipe to a child process larger: it needs fewer switches per frame.
pub fn enlarge_pipe(_pipe: &ChildStdin) {
    // Linux allows ordinary users this size by default; if it refuses, the pipe keeps its size.
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(_pipe, 1 << 20);
}

/// Whether the shell has closed standard output (`>&-`). Rust's runtime opens /dev/null in its place, for reading and
/// writing.
pub fn stdout_is_closed() -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{fcntl_getfl, fstat, major, minor};
        const NULL: (u32, u32) = (1, 3);
        let stdout = rustix::stdio::stdout();
        let is_both = fcntl_getfl(stdout).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
        let is_null = fstat(stdout).is_ok_and(|file| (major(file.st_rdev), minor(file.st_rdev)) == NULL);
        is_both && is_null
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Free memory in bytes: the minimum over the machine, this process's control groups and its address space limit. None
/// if the system reports none of them.
pub fn available_memory() -> Option<u64> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let machine = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
    Some([group_memory(), address_space()].into_iter().flatten().fold(machine, u64::min))
}

// The minimum of free memory over this process's control group and its ancestors, version 1 or 2.
fn group_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let number = |path: PathBuf| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let mut min = None::<u64>;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(own)) = (fields.next(), fields.next()) else { continue };
        let (root, max, now) = match kinds {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            kinds if kinds.split(',').any(|kind| kind == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        // Without a cgroup namespace, the path is the host's and may not exist in a container.
        for own in Path::new(own.trim_start_matches('/')).ancestors() {
            let folder = Path::new(root).join(own);
            let room = number(folder.join(max)).zip(number(folder.join(now))).map(|(max, now)| max.saturating_sub(now));
            min = min.into_iter().chain(room).min();
        }
    }
    min
}

// The free part of the address space limit (`ulimit -v`).
fn address_space() -> Option<u64> {
    let max = getrlimit(Resource::As).current?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmSize:"))?;
    let now = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
    Some(max.saturating_sub(now))
}

#[cfg(feature = "cli")]
pub use signals::*;
#[cfg(feature = "cli")]
mod signals {
    use crate::threads;
    use rustix::stdio::stderr;
    use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::{emulate_default_handler, exit};
    use std::io;
    use std::sync::Arc;

    /// A signal that asks the program to stop.
    #[derive(Clone, Copy)]
    pub struct StopRequest(i32);

    impl StopRequest {
        /// Another program's request.
        pub const TERMINATE: StopRequest = StopRequest(SIGTERM);

        /// Whether it is Ctrl-C.
        pub fn is_interrupt(self) -> bool {
            self.0 == SIGINT
        }

        /// Ends the program, as without a handler.
        pub fn obey(self) {
            let _ = emulate_default_handler(self.0);
        }
    }

    /// Hears all requests to stop, on its own thread.
    pub fn on_stop_request(mut hear: impl FnMut(StopRequest) + Send + 'static) -> io::Result<()> {
        // The thread starts first: with handlers but without this thread, signals could not end the program.
        let (give, taken) = crossbeam_channel::bounded::<Signals>(1);
        threads::spawn("signals", move || {
            let Ok(mut signals) = taken.recv() else { return };
            signals.forever().for_each(|signal| hear(StopRequest(signal)));
        })?;
        // An inherited SIG_IGN is kept.
        let ignored = ignored_signals();
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored & (1 << (s - 1)) == 0);
        let _ = give.send(Signals::new(wanted)?);
        Ok(())
    }

    /// Resets two signals that have nothing to do with stopping. With SIGCHLD ignored by the parent, the end of ffmpeg
    /// could not be waited for. With SIGXFSZ ignored, a file above the size limit is a failed write, as on a full disk.
    pub fn take_own_signals() {
        for signal in [SIGCHLD, SIGXFSZ] {
            // If SIGXFSZ is already ignored, such a write fails without more ado.
            let is_ignored = ignored_signals() & (1 << (signal - 1)) != 0;
            if (signal == SIGCHLD) == is_ignored {
                let _ = signal_hook::flag::register(signal, Arc::default());
            }
        }
    }

    // The signals that the process inherited as ignored (nohup, `&` in scripts): one bit each, from signal 1.
    fn ignored_signals() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
        line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
    }

    /// Writes to standard error and ends the program at once. Allocates nothing.
    pub fn exit_without_memory(words: &[u8], code: i32) -> ! {
        let _ = rustix::io::write(stderr(), words);
        exit(code)
    }
}
