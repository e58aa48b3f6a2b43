//! Starts threads. No other place does (clippy.toml bans it elsewhere), because the system may refuse.
//!
//! A process may have few threads (`ulimit -u`), or little address space for their stacks (`ulimit -v`). The standard
//! library's `spawn` panics then, and a scope waits forever for the threads that did start. Here each failed
//! start is an error that ends the program with exit code 69, and threads that need each other start together or not at all.

use crate::language::{Message, msg};
use crossbeam_channel::{Sender, bounded};
use std::any::Any;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// The system refuses to start another thread or process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoThread(pub Message);

impl NoThread {
    fn new(e: impl std::fmt::Display) -> NoThread {
        NoThread(msg!(
            "the system starts no more threads ({why}): give fewer --threads, end other programs, or raise the limits `ulimit -u` and `ulimit -v`; files that were written are complete",
            why = e.to_string()
        ))
    }

    /// This error, if `e` says that the system refused a thread or a process for lack of processes or memory.
    pub fn of(e: &io::Error) -> Option<NoThread> {
        let known = e.get_ref().and_then(|inner| inner.downcast_ref::<NoThread>());
        let is_refused = [io::ErrorKind::WouldBlock, io::ErrorKind::OutOfMemory].contains(&e.kind());
        known.cloned().or_else(|| is_refused.then(|| NoThread::new(e)))
    }
}

impl From<NoThread> for io::Error {
    // An error of the kind that [`NoThread::of`] recognizes.
    fn from(e: NoThread) -> io::Error {
        io::Error::new(io::ErrorKind::WouldBlock, e)
    }
}

/// Locks a mutex, even if another thread has panicked while it held the lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a detached thread.
#[expect(clippy::disallowed_methods, reason = "this is where threads are started")]
pub fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, NoThread> {
    Builder::new().name(name.into()).spawn(work).map_err(NoThread::new)
}

/// Does two things, the first on a thread of its own. Where a process has one thread (WebAssembly), one after the other.
pub fn both<A: Send, B>(
    name: &str,
    beside: impl FnOnce() -> A + Send,
    here: impl FnOnce() -> B,
) -> Result<(A, B), NoThread> {
    if cfg!(target_family = "wasm") {
        return Ok((beside(), here()));
    }
    std::thread::scope(|scope| {
        let beside = spawn_scoped(scope, name, beside)?;
        let here = here();
        Ok((beside.join(), here))
    })
}

/// Starts a thread pool; 0 = one thread per core. Where a process has one thread, that one is the pool, for everybody.
#[expect(clippy::disallowed_methods, reason = "this is where threads are started")]
pub fn pool(threads: usize) -> Result<Arc<rayon::ThreadPool>, NoThread> {
    static ONLY: OnceLock<Result<Arc<rayon::ThreadPool>, NoThread>> = OnceLock::new();
    let build = |builder: rayon::ThreadPoolBuilder| builder.build().map(Arc::new).map_err(NoThread::new);
    let builder = rayon::ThreadPoolBuilder::new();
    if cfg!(target_family = "wasm") {
        return ONLY.get_or_init(|| build(builder.num_threads(1).use_current_thread())).clone();
    }
    build(builder.num_threads(threads).thread_name(|i| format!("trace-{i}")))
}

/// Makes work outside of a pool panic. Rayon has a global pool for such work, which panics if it cannot start; the
/// program's tests find such work by this.
#[expect(clippy::disallowed_methods, reason = "this pool starts no thread")]
pub fn forbid_global_pool() {
    let none = |_| Err(io::Error::from(io::ErrorKind::Unsupported));
    // The global pool now fails to start, for everybody.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).spawn_handler(none).build_global();
}

/// A pool for work that belongs to no renderer, such as reading frames back.
pub fn shared_pool() -> Result<&'static rayon::ThreadPool, NoThread> {
    static SHARED: OnceLock<Result<Arc<rayon::ThreadPool>, NoThread>> = OnceLock::new();
    match SHARED.get_or_init(|| pool(0)) {
        Ok(shared) => Ok(shared),
        Err(e) => Err(e.clone()),
    }
}

type Job<'scope, T> = Box<dyn FnOnce() -> T + Send + 'scope>;

/// A scoped thread that has started and waits for its job. If it is dropped without a job, it ends.
pub struct Idle<'scope, T> {
    job: Sender<Job<'scope, T>>,
    thread: ScopedJoinHandle<'scope, Option<T>>,
}

/// A scoped thread with its job.
pub struct Busy<'scope, T>(ScopedJoinHandle<'scope, Option<T>>);

/// Starts that many scoped threads, or none. They get their jobs after all have started, so that after a refusal nothing
/// waits for a thread that does not exist.
#[expect(clippy::disallowed_methods, reason = "this is where threads are started")]
pub fn reserve<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    count: usize,
) -> Result<Vec<Idle<'scope, T>>, NoThread> {
    let one = |_| {
        let (job, given) = bounded::<Job<'scope, T>>(1);
        let work = move || given.recv().ok().map(|job| job());
        let thread = Builder::new().name(name.into()).spawn_scoped(scope, work).map_err(NoThread::new)?;
        Ok(Idle { job, thread })
    };
    (0..count).map(one).collect()
}

/// Starts one thread of a scope.
pub fn spawn_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<Busy<'scope, T>, NoThread> {
    let one = reserve(scope, name, 1)?.pop().ok_or_else(|| NoThread::new("none was started"))?;
    Ok(one.run(work))
}

impl<'scope, T> Idle<'scope, T> {
    /// Gives the thread its job.
    pub fn run(self, job: impl FnOnce() -> T + Send + 'scope) -> Busy<'scope, T> {
        // The thread waits at the other end.
        let _ = self.job.send(Box::new(job));
        Busy(self.thread)
    }
}

impl<T> Busy<'_, T> {
    /// The job's result; a panic of the job continues here.
    pub fn join(self) -> T {
        match self.0.join() {
            Ok(result) => result.unwrap_or_else(|| unreachable!("a busy thread has a job")),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// What a panic said.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it left no word".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_begin_when_all_threads_have_started() {
        let sum: u32 = std::thread::scope(|scope| {
            let idle = reserve(scope, "test", 3).unwrap();
            let busy: Vec<_> = idle.into_iter().zip(1..).map(|(one, n)| one.run(move || n * n)).collect();
            busy.into_iter().map(Busy::join).sum()
        });
        assert_eq!(sum, 14);
        // Threads without a job end; otherwise this would never return.
        std::thread::scope(|scope| drop(reserve::<()>(scope, "test", 3).unwrap()));
    }

    #[test]
    fn a_refused_thread_is_told_from_other_errors() {
        let refused = io::Error::from(NoThread::new("why"));
        assert_eq!(NoThread::of(&refused), Some(NoThread::new("why")));
        assert!(NoThread::of(&io::Error::from(io::ErrorKind::NotFound)).is_none());
    }
}
