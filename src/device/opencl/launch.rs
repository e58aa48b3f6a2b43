//! OpenCL programs and their kernels, events, and queues.
#![expect(unsafe_code, reason = "calls OpenCL")]

use super::super::error::DeviceError;
use super::super::gpu::api::{Arguments, Event, Function, Module, Stream};
use super::context::{ClContext, Opencl, check};
use super::memory::ClMemory;
use opencl3::command_queue::CommandQueue;
use opencl3::kernel::{
    CL_KERNEL_EXEC_INFO_SVM_PTRS, Kernel, cl_kernel, set_kernel_arg, set_kernel_arg_svm_pointer, set_kernel_exec_info,
};
use opencl3::program::Program;
use opencl3::types::{CL_FALSE, CL_TRUE, cl_bool};
use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

// Threads of a block, and blocks of a compute unit: threads know nothing of each other, and take work from a queue.
const THREADS: usize = 64;
const BLOCKS: u32 = 16;

// Programs of a context that are kept.
const PROGRAMS: usize = 8;

pub struct ClModule {
    program: Arc<Program>,
    // A kernel is dropped with its module.
    kernels: Mutex<Vec<Kernel>>,
    context: ClContext,
}

impl ClModule {
    pub fn load(context: &ClContext, code: &[u8]) -> Result<ClModule, DeviceError> {
        let mut programs = context.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let built = programs.iter().find(|(of, _)| of == code).map(|(_, program)| Arc::clone(program));
        let program = built.map_or_else(|| ClModule::build(context, code), Ok)?;
        programs.retain(|(of, _)| of != code);
        programs.push_back((code.to_owned(), Arc::clone(&program)));
        if programs.len() > PROGRAMS {
            programs.pop_front();
        }
        drop(programs);
        Ok(ClModule { program, kernels: Mutex::default(), context: Arc::clone(context) })
    }

    fn build(context: &ClContext, code: &[u8]) -> Result<Arc<Program>, DeviceError> {
        let mut program = check(Program::create_from_il(&context.raw, code), "clCreateProgramWithIL")?;
        let device = context.device.id();
        check(program.build(&[device], ""), "clBuildProgram").map_err(|e| match program.get_build_log(device) {
            Ok(log) if !log.trim().is_empty() => {
                DeviceError::Failed(format!("{e}\n--- the driver's compiler said ---\n{}", log.trim()))
            }
            _ => e,
        })?;
        Ok(Arc::new(program))
    }
}

impl Module<Opencl> for ClModule {
    fn function(&self, name: &CStr, threads: u32) -> Result<ClFunction, DeviceError> {
        let kernel = check(Kernel::create(&self.program, &name.to_string_lossy()), "clCreateKernel")?;
        let device = self.context.device;
        let most = check(kernel.get_work_group_size(device.id()), "clGetKernelWorkGroupInfo")?;
        let units = check(device.max_compute_units(), "clGetDeviceInfo")?;
        let raw = kernel.get();
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).push(kernel);
        Ok(ClFunction { raw, threads: most.min(THREADS).min(threads as usize) as u32, blocks: units * BLOCKS })
    }
}

#[derive(Clone, Copy)]
pub struct ClFunction {
    raw: cl_kernel,
    threads: u32,
    blocks: u32,
}
// SAFETY: a handle; one thread at a time launches the kernels of a device.
unsafe impl Send for ClFunction {}

impl Function for ClFunction {
    fn threads(&self) -> u32 {
        self.threads
    }
    fn resident_blocks(&self) -> u32 {
        self.blocks
    }
}

/// A marker in a queue, once it is recorded.
#[derive(Default)]
pub struct ClEvent(RefCell<Option<opencl3::event::Event>>);

impl Event for ClEvent {
    fn wait(&self) -> Result<(), DeviceError> {
        self.0.borrow().as_ref().map_or(Ok(()), |event| check(event.wait(), "clWaitForEvents"))
    }
    fn since(&self, earlier: &ClEvent) -> Result<Duration, DeviceError> {
        let end = |of: &ClEvent| {
            of.0.borrow()
                .as_ref()
                .map_or(Ok(0), |event| check(event.profiling_command_end(), "clGetEventProfilingInfo"))
        };
        Ok(Duration::from_nanos(end(self)?.saturating_sub(end(earlier)?)))
    }
}

/// A queue of work on the device, in order.
pub struct ClStream {
    pub queue: CommandQueue,
    pub context: ClContext,
}

/// Copies bytes between the host and the device in a queue; a call that is `blocking` (CL_TRUE) returns when they are copied.
///
/// # Safety
/// Both sides hold these bytes, until they are copied.
pub unsafe fn copy_bytes(
    queue: &CommandQueue,
    blocking: cl_bool,
    to: *mut c_void,
    from: *const c_void,
    len: usize,
) -> Result<(), DeviceError> {
    if len == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let copied = unsafe { queue.enqueue_svm_mem_cpy(blocking, to, from, len, &[]) };
    check(copied, "clEnqueueSVMMemcpy").map(drop)
}

impl Drop for ClStream {
    fn drop(&mut self) {
        self.context.queues.lock().unwrap_or_else(PoisonError::into_inner).remove(&(self.queue.get() as usize));
        let _ = self.queue.finish();
    }
}

impl Stream<Opencl> for ClStream {
    fn record(&self, event: &ClEvent) -> Result<(), DeviceError> {
        // SAFETY: the queue is alive.
        let marker = unsafe { self.queue.enqueue_marker_with_wait_list(&[]) };
        *event.0.borrow_mut() = Some(check(marker, "clEnqueueMarkerWithWaitList")?);
        // Other queues may wait for it.
        check(self.queue.flush(), "clFlush")
    }
    fn wait_for(&self, event: &ClEvent) -> Result<(), DeviceError> {
        let Some(event) = event.0.borrow().as_ref().map(opencl3::event::Event::get) else { return Ok(()) };
        // SAFETY: queue and event are alive.
        let barrier = unsafe { self.queue.enqueue_barrier_with_wait_list(&[event]) };
        check(barrier, "clEnqueueBarrierWithWaitList").map(drop)
    }
    fn fill(&self, memory: &ClMemory, offset: usize, len: usize, value: u8) -> Result<(), DeviceError> {
        assert!(offset + len <= memory.len);
        if len == 0 {
            return Ok(());
        }
        // SAFETY: the bytes are the memory's, and it is freed only after the device's work is done.
        let filled = unsafe { self.queue.enqueue_svm_mem_fill(memory.at(offset), &[value], len, &[]) };
        check(filled, "clEnqueueSVMMemFill").map(drop)
    }
    unsafe fn write(&self, to: &ClMemory, offset: usize, from: &[u8]) -> Result<(), DeviceError> {
        assert!(offset + from.len() <= to.len);
        // What is not page-locked may change when this returns.
        // SAFETY: both hold these bytes.
        unsafe { copy_bytes(&self.queue, CL_TRUE, to.at(offset), from.as_ptr().cast(), from.len()) }
    }
    unsafe fn copy(&self, to: &mut [u8], from: &ClMemory, offset: usize) -> Result<(), DeviceError> {
        assert!(offset + to.len() <= from.len);
        // SAFETY: both hold these bytes; that `to` lives long enough is the caller's promise.
        unsafe { copy_bytes(&self.queue, CL_FALSE, to.as_mut_ptr().cast(), from.at(offset), to.len()) }
    }
    unsafe fn launch(
        &self,
        kernel: ClFunction,
        blocks: (u32, u32),
        threads: (u32, u32),
        arguments: &mut Arguments<'_>,
    ) -> Result<(), DeviceError> {
        for (i, (address, size)) in (0..).zip(arguments.sized()) {
            // SAFETY: the kernel's arguments have these sizes, as the caller promises; those of eight bytes are addresses of memory.
            let set = unsafe {
                if size == size_of::<u64>() {
                    set_kernel_arg_svm_pointer(kernel.raw, i, *address.cast::<*const c_void>())
                } else {
                    set_kernel_arg(kernel.raw, i, size, address)
                }
            };
            check(set, "clSetKernelArg")?;
        }
        let addresses: Vec<usize> =
            self.context.addresses.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let (bytes, list) = (size_of_val(&addresses[..]), addresses.as_ptr().cast::<c_void>());
        // SAFETY: all of these are allocated.
        let told = unsafe { set_kernel_exec_info(kernel.raw, CL_KERNEL_EXEC_INFO_SVM_PTRS, bytes, list) };
        check(told, "clSetKernelExecInfo")?;
        let local = [threads.0 as usize, threads.1 as usize];
        let global = [local[0] * blocks.0 as usize, local[1] * blocks.1 as usize];
        // SAFETY: the kernel is built; the rest is the caller's promise.
        let launched = unsafe {
            self.queue.enqueue_nd_range_kernel(kernel.raw, 2, std::ptr::null(), global.as_ptr(), local.as_ptr(), &[])
        };
        check(launched, "clEnqueueNDRangeKernel").map(drop)
    }
}
