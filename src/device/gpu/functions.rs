//! Kernels of modules that are the same for all scenes, and the launches of those that make arrays of scenes.
#![expect(unsafe_code, reason = "launches kernels, whose arguments the compiler cannot check")]

use super::api::{Api, Arguments, Context, Event, Stream};
use super::modules::THREADS;
use crate::device::DeviceError;

/// Declares the kernels of a module: a field for each, with its name and the threads of its blocks.
macro_rules! kernels {
    ($(#[doc = $doc:literal])* $see:vis struct $name:ident of $module:ident, $threads:expr; $($kernel:ident = $symbol:literal,)*) => {
        $(#[doc = $doc])*
        $see struct $name<A: Api> {
            $($kernel: A::Function,)*
            _module: A::Module,
        }
        impl<A: Api> $name<A> {
            pub fn load(context: &A::Context) -> Result<$name<A>, DeviceError> {
                let module = context.load(&$module.for_api::<A>()?)?;
                Ok($name { $($kernel: module.function($symbol, $threads)?,)* _module: module })
            }
        }
    };
}
pub(super) use kernels;

/// The stream of kernels that make arrays of scenes, which the host waits for.
pub struct BuildStream<A: Api> {
    /// What it has written before, kernels read.
    pub stream: A::Stream,
    done: A::Event,
}

impl<A: Api> BuildStream<A> {
    pub fn new(context: &A::Context) -> Result<BuildStream<A>, DeviceError> {
        Ok(BuildStream { stream: context.stream()?, done: context.event()? })
    }
    pub fn wait(&self) -> Result<(), DeviceError> {
        self.stream.record(&self.done)?;
        self.done.wait()
    }
    /// Launches so many threads.
    pub fn launch(&self, kernel: A::Function, threads: u32, mut arguments: Arguments) -> Result<(), DeviceError> {
        // SAFETY: the callers (cells.rs, tree.rs) give the arguments of kernels/entry/cells.cuh and tree.cuh in their order. Memory is
        // dropped after the kernels have been waited for, after a failure too.
        unsafe { self.stream.launch(kernel, (threads.div_ceil(THREADS), 1), (THREADS, 1), &mut arguments) }
    }
}
