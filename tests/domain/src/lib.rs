//! The kernels as the instruction set "domain": one lane whose reciprocal and square root give NaN outside of the range in
//! which a GPU's are right (domain.cuh; docs/arithmetic.md). Only tests and fuzzers depend on this package, so that no
//! other build compiles the set. There is no Rust here: src/kernels.rs declares the entries.
#![no_std]
