//! The structs that the kernels read and write, made by build.rs of kernels/types.def, and the arrays they hold.

#![expect(dead_code, reason = "some constants are the kernels' alone")]
#![expect(unsafe_code, reason = "arrays of plain numbers are shared with the kernels by address")]

/// A read-only array as the kernels see it: an address in host or device memory, and a length.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Array<T> {
    /// First element.
    pub data: *const T,
    /// Number of elements.
    pub len: i32,
    pad: i32,
}

// SAFETY: an Array is an address and a length; nothing in Rust reads through it. The kernels, which do, write nothing
// that an Array holds, and their caller keeps the memory alive (kernels.rs borrows it, device/gpu owns it).
unsafe impl<T: Sync> Sync for Array<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Send for Array<T> {}

impl<T> Default for Array<T> {
    fn default() -> Array<T> {
        Array::new(std::ptr::null(), 0)
    }
}

impl<T> Array<T> {
    /// The array at `data`, which may be an address on a device.
    pub fn new(data: *const T, len: usize) -> Array<T> {
        Array { data, len: len as i32, pad: 0 }
    }
}

/// A few elements, stored inline.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inline<T, const N: usize> {
    data: [T; N],
    len: i32,
    pad: [i32; 3],
}

impl<T: Copy + Default, const N: usize> Default for Inline<T, N> {
    fn default() -> Inline<T, N> {
        Inline { data: [T::default(); N], len: 0, pad: [0; 3] }
    }
}

impl<T: Copy + Default, const N: usize> Inline<T, N> {
    /// The values, if there are few enough.
    pub fn of(values: &[T]) -> Option<Inline<T, N>> {
        let mut inline = Inline { len: values.len() as i32, ..Inline::default() };
        inline.data.get_mut(..values.len())?.copy_from_slice(values);
        Some(inline)
    }
}

/// What a scene has that some kernels leave out, a bit each: FEATURE_..
pub type FeatureSet = u64;

include!(concat!(env!("OUT_DIR"), "/gpu_types.rs"));
