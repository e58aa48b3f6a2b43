#![no_main]

// The kernels that it calls.
use polyfly_domain as _;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| polyfly::fuzz_targets::picture(bytes));
