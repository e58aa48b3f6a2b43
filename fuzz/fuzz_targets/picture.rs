#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| polyfly::hostile::picture(bytes));
