//! The polyfly program; src/command.rs has its commands.

use std::alloc::{GlobalAlloc, Layout, System};

fn main() -> std::process::ExitCode {
    polyfly::command_line()
}

// The system's allocator. If an allocation fails, the program ends with a message and exit code 69 (try another
// machine) instead of an abort.
struct Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

fn given(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        polyfly::out_of_memory(size);
    }
    pointer
}

#[allow(unsafe_code, reason = "an allocator is unsafe by its trait; this one hands all to the system's")]
// SAFETY: every call goes to the system's allocator with the caller's own arguments, and its answer back.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.alloc(layout) }, layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        given(unsafe { System.realloc(pointer, layout, size) }, size)
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}
