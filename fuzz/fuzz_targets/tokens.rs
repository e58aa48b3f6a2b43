#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| polyfly::fuzz_targets::tokens(bytes));
