//! Windows.
#![expect(unsafe_code, reason = "calls the system's functions")]

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::iter::once;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command};
use std::ptr::{from_mut, from_ref, null, null_mut};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_LOCK_VIOLATION, GetLastError, INVALID_HANDLE_VALUE, WAIT_TIMEOUT,
};
use windows_sys::Win32::Globalization::GetUserDefaultLocaleName;
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_HIDDEN, FILE_FLAG_OPEN_REPARSE_POINT, GetFileInformationByHandle,
    LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, SetFileAttributesW,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_JOB_MEMORY, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, QueryInformationJobObject,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::LibraryLoader::SetDllDirectoryW;
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
use windows_sys::Win32::System::Threading::{CREATE_NO_WINDOW, OpenProcess, PROCESS_SYNCHRONIZE, WaitForSingleObject};

/// The name of Python 3 on the PATH.
pub const PYTHON: &str = "python";
/// The file that takes all and keeps nothing.
pub const NULL_DEVICE: &str = "NUL";
/// Whether a file cannot be replaced while another program has it open.
pub const OPEN_FILES_STAY: bool = true;

/// A path whose parts are separated by `/`.
pub fn slashes(path: &str) -> Cow<'_, str> {
    path.replace('\\', "/").into()
}

/// The locale of messages that the system's settings name, as POSIX writes it: `ru_RU.UTF-8`.
pub fn locale() -> String {
    // LOCALE_NAME_MAX_LENGTH.
    let mut name = [0_u16; 85];
    // SAFETY: the call writes at most as many units as its last argument says.
    let length = unsafe { GetUserDefaultLocaleName(name.as_mut_ptr(), name.len() as i32) };
    // With the nought at its end.
    let name = usize::try_from(length - 1).ok().and_then(|length| name.get(..length)).unwrap_or_default();
    format!("{}.UTF-8", String::from_utf16_lossy(name).replace('-', "_"))
}

/// The words of the command line. No shell expands patterns here.
pub fn arguments() -> Vec<OsString> {
    wild::args_os().collect()
}

/// A word of a command line, quoted for the system's shells.
pub fn command_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || r"-_./\,=:@+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("\"{}\"", word.replace('"', "\\\"")),
    }
}

/// A path in the form that may be of any length.
pub fn long(path: &Path) -> Cow<'_, Path> {
    // What the system's functions take otherwise, less a name of 8 + 3 letters, for folders.
    const MAX: usize = 248;
    let Ok(whole) = std::path::absolute(path) else { return path.into() };
    let text: Vec<u16> = whole.as_os_str().encode_wide().collect();
    let (prefix, from) = match whole.as_os_str().as_encoded_bytes() {
        _ if text.len() < MAX => return path.into(),
        [b'\\', b'\\', b'?' | b'.', ..] => return path.into(),
        [b'\\', b'\\', ..] => (r"\\?\UNC\", 2),
        _ => (r"\\?\", 0),
    };
    let verbatim: Vec<u16> = prefix.encode_utf16().chain(text[from..].iter().copied()).collect();
    PathBuf::from(OsString::from_wide(&verbatim)).into()
}

fn done(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Locks a file for this process, unless another one holds the lock.
pub fn try_lock(file: &File) -> Result<(), TryLockError> {
    lock(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY)
}

/// The same for a lock that several processes may hold.
pub fn try_lock_shared(file: &File) -> Result<(), TryLockError> {
    lock(file, LOCKFILE_FAIL_IMMEDIATELY)
}

fn lock(file: &File, flags: u32) -> Result<(), TryLockError> {
    let mut place = OVERLAPPED::default();
    // Others may neither read nor write what is locked: it is a byte that no file has.
    place.Anonymous.Anonymous.OffsetHigh = 0x7fff_ffff;
    // SAFETY: the handle is open, and `place` lives until the call returns.
    match done(unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut place) }) {
        Err(e) if e.raw_os_error() == Some(ERROR_LOCK_VIOLATION.cast_signed()) => Err(TryLockError::WouldBlock),
        result => result.map_err(TryLockError::Error),
    }
}

/// Files are opened without following a symbolic link.
pub fn refuse_links(options: &mut OpenOptions) {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
}

/// Opening a pipe does not wait for its other end.
pub fn never_wait(_options: &mut OpenOptions) {}

/// New files have the rights of their folder.
pub fn set_mode(_builder: &mut tempfile::Builder<'_, '_>, _mode: u32) {}

/// Gives a new file the owner of the old one: here, who writes owns.
pub fn keep_owner(_old: &Metadata, _new: &File) -> io::Result<()> {
    Ok(())
}

/// Whether a file is a pipe with a name.
pub fn is_pipe(_facts: &Metadata) -> bool {
    false
}

/// A number that differs between two files of one name.
pub fn file_number(path: &Path, _facts: &Metadata) -> u64 {
    let Ok(file) = OpenOptions::new().access_mode(0).open(path) else { return 0 };
    let mut facts = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the call fills `facts`.
    unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut facts) };
    u64::from(facts.nFileIndexHigh) << 32 | u64::from(facts.nFileIndexLow)
}

/// Fills `bytes` with those of a file from `at` on. Threads may read at once.
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match std::os::windows::fs::FileExt::seek_read(file, &mut bytes[done..], at + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => done += n,
        }
    }
    Ok(())
}

/// When the content or an attribute of a file was changed last: here, no such time is known.
pub fn status_changed(_facts: &Metadata) -> [i64; 2] {
    [0; 2]
}

/// Hides a folder in listings.
pub fn hide(folder: &Path) {
    let name: Vec<u16> = long(folder).as_os_str().encode_wide().chain(once(0)).collect();
    // SAFETY: the name ends with a nought.
    unsafe { SetFileAttributesW(name.as_ptr(), FILE_ATTRIBUTE_HIDDEN) };
}

/// The file of a program, which may be named without `.exe`. Those of the Microsoft Store are links that cannot be followed.
pub fn executable(mut file: PathBuf) -> Option<PathBuf> {
    if file.extension().is_none() {
        file.set_extension("exe");
    }
    file.symlink_metadata().is_ok_and(|facts| !facts.is_dir()).then_some(file)
}

/// Lets other programs have the processors first.
pub fn step_back() {
    use windows_sys::Win32::System::Threading::{BELOW_NORMAL_PRIORITY_CLASS, GetCurrentProcess, SetPriorityClass};
    // SAFETY: this process's own handle, which is always open.
    unsafe { SetPriorityClass(GetCurrentProcess(), BELOW_NORMAL_PRIORITY_CLASS) };
}

/// Libraries are not searched in the working folder from here on, neither by the programs that this one starts.
pub fn search_no_working_folder() {
    // SAFETY: the name ends with a nought.
    unsafe { SetDllDirectoryW([0].as_ptr()) };
}

/// Starts a program that goes on when this one ends.
pub fn detach(command: &mut Command) -> io::Result<()> {
    command.creation_flags(CREATE_NO_WINDOW).spawn().map(drop)
}

/// A child process in its own job object, so it dies with this program. It has no console, so Ctrl-C does
/// not reach it.
pub struct ChildGroup(OwnedHandle);

impl ChildGroup {
    pub fn spawn(command: &mut Command) -> io::Result<(Child, ChildGroup)> {
        // SAFETY: nothing is passed; a handle that is not null is a new one.
        let job = unsafe { CreateJobObjectW(null(), null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle was made above, and nobody else has it.
        let group = ChildGroup(unsafe { OwnedHandle::from_raw_handle(job) });
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        // SAFETY: the structure is the one of this kind of information.
        done(unsafe {
            SetInformationJobObject(
                job,
                JobObjectExtendedLimitInformation,
                from_ref(&limits).cast(),
                size_of_val(&limits) as u32,
            )
        })?;
        let mut child = command.creation_flags(CREATE_NO_WINDOW).spawn()?;
        // SAFETY: both handles are open.
        let joined = done(unsafe { AssignProcessToJobObject(job, child.as_raw_handle()) });
        // A process that has ended already joins no job.
        if let (Err(e), None) = (joined, child.try_wait()?) {
            child.kill()?;
            return Err(e);
        }
        Ok((child, group))
    }

    /// Kills the process and its children.
    pub fn kill(&self) {
        // SAFETY: the handle is open.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), 1) };
    }
}

/// Whether a process of this machine runs.
pub fn is_alive(process: u32) -> bool {
    // SAFETY: a handle that is not null is a new one.
    let handle = unsafe { OpenProcess(PROCESS_SYNCHRONIZE, 0, process) };
    if handle.is_null() {
        // A process of another user exists too.
        // SAFETY: it only reads this thread's last error.
        return unsafe { GetLastError() } == ERROR_ACCESS_DENIED;
    }
    // SAFETY: as above.
    let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
    // SAFETY: the handle is open.
    unsafe { WaitForSingleObject(handle.as_raw_handle(), 0) == WAIT_TIMEOUT }
}

/// Makes the pipe to a child process larger: here, its size is fixed.
pub fn enlarge_pipe(_pipe: &ChildStdin) {}

/// Whether the program was started without a standard output.
pub fn stdout_is_closed() -> bool {
    [null_mut(), INVALID_HANDLE_VALUE].contains(&io::stdout().as_raw_handle())
}

/// Free memory in bytes: the minimum over the machine and the limit of this process's job.
pub fn available_memory() -> Option<u64> {
    let length = size_of::<MEMORYSTATUSEX>() as u32;
    let mut machine = MEMORYSTATUSEX { dwLength: length, ..MEMORYSTATUSEX::default() };
    // SAFETY: the structure says its length.
    done(unsafe { GlobalMemoryStatusEx(&raw mut machine) }).ok()?;
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    let (to, length) = (from_mut(&mut limits), size_of_val(&limits) as u32);
    // SAFETY: the structure is the one of this kind of information; without a handle, the job is this process's.
    let queried = done(unsafe {
        QueryInformationJobObject(null_mut(), JobObjectExtendedLimitInformation, to.cast(), length, null_mut())
    });
    let is_limited = queried.is_ok() && limits.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY != 0;
    let job = is_limited.then_some(limits.JobMemoryLimit as u64);
    // Memory can be promised only as far as the page file goes.
    Some(job.into_iter().fold(machine.ullAvailPhys.min(machine.ullAvailPageFile), u64::min))
}

#[cfg(feature = "cli")]
pub use signals::*;
#[cfg(feature = "cli")]
mod signals {
    use crate::threads;
    use crossbeam_channel::{Sender, unbounded};
    use std::io;
    use std::ptr::null_mut;
    use std::sync::OnceLock;
    use std::time::Duration;
    use windows_sys::Win32::Foundation::STATUS_CONTROL_C_EXIT;
    use windows_sys::Win32::Storage::FileSystem::WriteFile;
    use windows_sys::Win32::System::Console::{
        CTRL_BREAK_EVENT, CTRL_C_EVENT, GetStdHandle, STD_ERROR_HANDLE, SetConsoleCtrlHandler,
    };
    use windows_sys::Win32::System::Threading::{GetCurrentProcess, TerminateProcess};
    use windows_sys::core::BOOL;

    /// An event of the console that asks the program to stop.
    #[derive(Clone, Copy)]
    pub struct StopRequest(u32);

    impl StopRequest {
        /// Another program's request.
        pub const TERMINATE: StopRequest = StopRequest(CTRL_BREAK_EVENT);

        /// Whether it is Ctrl-C.
        pub fn is_interrupt(self) -> bool {
            self.0 == CTRL_C_EVENT
        }

        /// Ends the program, as without a handler.
        pub fn obey(self) {
            std::process::exit(STATUS_CONTROL_C_EXIT);
        }
    }

    static REQUESTS: OnceLock<Sender<StopRequest>> = OnceLock::new();

    // The system calls it on a new thread, for Ctrl-C, Ctrl-Break, the closed window, and the end of the session.
    unsafe extern "system" fn on_event(kind: u32) -> BOOL {
        let is_heard = REQUESTS.get().is_some_and(|requests| requests.send(StopRequest(kind)).is_ok());
        while is_heard && ![CTRL_C_EVENT, CTRL_BREAK_EVENT].contains(&kind) {
            // When this returns, the system ends the program. It waits some seconds for that: time to stop.
            std::thread::sleep(Duration::from_secs(1));
        }
        is_heard.into()
    }

    /// Hears all requests to stop, on its own thread.
    pub fn on_stop_request(hear: impl FnMut(StopRequest) + Send + 'static) -> io::Result<()> {
        let (give, taken) = unbounded();
        threads::spawn("signals", move || taken.into_iter().for_each(hear))?;
        REQUESTS.get_or_init(|| give);
        // SAFETY: the handler is a function, which stays.
        super::done(unsafe { SetConsoleCtrlHandler(Some(on_event), 1) })
    }

    /// Resets inherited signals: there are none.
    pub fn take_own_signals() {}

    /// Writes to standard error and ends the program at once. Allocates nothing.
    pub fn exit_without_memory(words: &[u8], code: i32) -> ! {
        // SAFETY: the words are as long as the argument says; a missing stream makes the call fail.
        unsafe {
            let stream = GetStdHandle(STD_ERROR_HANDLE);
            WriteFile(stream, words.as_ptr(), words.len() as u32, null_mut(), null_mut());
            TerminateProcess(GetCurrentProcess(), code.cast_unsigned());
        }
        unreachable!("the process has ended")
    }
}
