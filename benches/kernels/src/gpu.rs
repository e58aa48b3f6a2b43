//! A CUDA GPU for benchmarks: kernels of target/bench-ptx, which `scripts/ptx --bench` makes.

use cudarc::driver::sys;
use std::error::Error;
use std::ffi::{CString, c_void};
use std::path::Path;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn check(code: sys::CUresult, what: &str) -> Outcome<()> {
    if code == sys::CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("CUDA: {what}: {code:?}").into()) }
}

/// The first GPU, with a module of kernels.
pub struct Gpu {
    /// Its name.
    pub name: String,
    device: sys::CUdevice,
    module: sys::CUmodule,
}

/// A kernel, and what the driver says of it.
pub struct Kernel {
    raw: sys::CUfunction,
    threads: u32,
    /// Registers of a thread.
    pub registers: i32,
    /// How many blocks the GPU holds at once.
    pub resident_blocks: u32,
}

/// Device memory.
pub struct Memory(sys::CUdeviceptr);

impl Gpu {
    /// Loads a module for scenes with these features, or says why there is none.
    ///
    /// # Errors
    /// The driver does not take it.
    pub fn load(module: &str, features: Option<u64>) -> Outcome<Option<Gpu>> {
        // SAFETY: only tries to load the library.
        if !unsafe { sys::is_culib_present() } {
            eprintln!("no CUDA driver: no rows of a GPU");
            return Ok(None);
        }
        // `cargo bench` starts benchmarks in the checkout.
        let path = Path::new("target/bench-ptx").join(format!("{module}.ptx"));
        let Ok(mut text) = std::fs::read_to_string(&path) else {
            eprintln!("no {}: `scripts/ptx --bench` makes it; no rows of a GPU", path.display());
            return Ok(None);
        };
        // What PTX has in place of the halves of the scene's features (src/device/gpu/modules.rs).
        for (place, half) in [("0x7eed7eed", 0), ("0x7eed7eee", 32)] {
            let bits = features.unwrap_or(0) >> half & 0xffff_ffff;
            text = text.replace(place, &format!("0x{bits:08x}"));
        }
        let (text, mut name) = (CString::new(text)?, [0u8; 128]);
        let (mut device, mut context, mut loaded) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the driver is there; all pointers are to variables of these types, the name's to as many bytes as it is told.
        unsafe {
            check(sys::cuInit(0), "cuInit")?;
            check(sys::cuDeviceGet(&raw mut device, 0), "cuDeviceGet")?;
            check(sys::cuDeviceGetName(name.as_mut_ptr().cast(), 127, device), "cuDeviceGetName")?;
            check(sys::cuDevicePrimaryCtxRetain(&raw mut context, device), "cuDevicePrimaryCtxRetain")?;
            check(sys::cuCtxSetCurrent(context), "cuCtxSetCurrent")?;
            let none = std::ptr::null_mut();
            let code = sys::cuModuleLoadDataEx(&raw mut loaded, text.as_ptr().cast(), 0, none, none.cast());
            check(code, "cuModuleLoadDataEx")?;
        }
        let name = String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        Ok(Some(Gpu { name, device, module: loaded }))
    }

    /// A kernel of the module, for blocks of that many threads.
    ///
    /// # Errors
    /// The module has none of that name.
    pub fn kernel(&self, name: &str, threads: u32) -> Outcome<Kernel> {
        let (mut raw, name) = (std::ptr::null_mut(), CString::new(name)?);
        let (mut registers, mut blocks, mut processors) = (0, 0, 0);
        let (of_function, of_device) = (
            sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS,
            sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        );
        // SAFETY: the module is loaded, and all pointers are to variables of these types.
        unsafe {
            check(sys::cuModuleGetFunction(&raw mut raw, self.module, name.as_ptr()), "cuModuleGetFunction")?;
            check(sys::cuFuncGetAttribute(&raw mut registers, of_function, raw), "cuFuncGetAttribute")?;
            check(sys::cuDeviceGetAttribute(&raw mut processors, of_device, self.device), "cuDeviceGetAttribute")?;
            let code = sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, raw, threads.cast_signed(), 0);
            check(code, "cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        }
        Ok(Kernel { raw, threads, registers, resident_blocks: (blocks.max(1) * processors).unsigned_abs() })
    }

    /// Copies numbers to the GPU.
    ///
    /// # Errors
    /// It has too little memory.
    pub fn upload<T: bytemuck::Pod>(&self, values: &[T]) -> Outcome<Memory> {
        let (mut address, bytes) = (0, size_of_val(values));
        // SAFETY: the memory has as many bytes as are copied.
        unsafe {
            check(sys::cuMemAlloc_v2(&raw mut address, bytes), "cuMemAlloc")?;
            check(sys::cuMemcpyHtoD_v2(address, values.as_ptr().cast(), bytes), "cuMemcpyHtoD")?;
        }
        Ok(Memory(address))
    }

    /// Launches a kernel once, and waits for it. Returns milliseconds between the events around it.
    ///
    /// # Errors
    /// The kernel fails.
    pub fn time(&self, kernel: &Kernel, blocks: u32, arguments: &[*const c_void]) -> Outcome<f64> {
        let (mut before, mut after, mut ms) = (std::ptr::null_mut(), std::ptr::null_mut(), 0.0f32);
        let (stream, mut arguments) =
            (std::ptr::null_mut(), arguments.iter().map(|a| a.cast_mut()).collect::<Vec<_>>());
        // SAFETY: the caller gives the kernel's arguments in its order, and they live until it has ended.
        unsafe {
            check(sys::cuEventCreate(&raw mut before, 0), "cuEventCreate")?;
            check(sys::cuEventCreate(&raw mut after, 0), "cuEventCreate")?;
            check(sys::cuEventRecord(before, stream), "cuEventRecord")?;
            let (threads, to, none) = (kernel.threads, arguments.as_mut_ptr(), std::ptr::null_mut());
            check(sys::cuLaunchKernel(kernel.raw, blocks, 1, 1, threads, 1, 1, 0, stream, to, none), "cuLaunchKernel")?;
            check(sys::cuEventRecord(after, stream), "cuEventRecord")?;
            check(sys::cuEventSynchronize(after), "cuEventSynchronize")?;
            check(sys::cuEventElapsedTime(&raw mut ms, before, after), "cuEventElapsedTime")?;
            check(sys::cuEventDestroy_v2(before), "cuEventDestroy")?;
            check(sys::cuEventDestroy_v2(after), "cuEventDestroy")?;
        }
        Ok(f64::from(ms))
    }
}

impl Memory {
    /// Where it is.
    pub fn address(&self) -> u64 {
        self.0
    }
    /// Its first numbers.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn download<T: bytemuck::Pod>(&self, count: usize) -> Outcome<Vec<T>> {
        let mut values = vec![T::zeroed(); count];
        // SAFETY: the values have as many bytes as are copied; the caller asks for no more than it has uploaded.
        let code = unsafe { sys::cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), self.0, size_of_val(&*values)) };
        check(code, "cuMemcpyDtoH").map(|()| values)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the driver gave it, and every kernel has ended.
        let _ = unsafe { sys::cuMemFree_v2(self.0) };
    }
}
