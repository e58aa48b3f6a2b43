//! The arithmetic of docs/vectors.txt, tried on a device when it is opened: one that gives other bits is not used.
#![expect(unsafe_code, reason = "launches a kernel")]

use super::super::error::DeviceError;
use super::super::gpu::CANARY;
use super::super::gpu::api::{Context, DeviceMemory, Event, Function, Module, Stream, arguments};
use super::context::{ClContext, Opencl};
use crate::language::msg;

// A line of the file: an operation of kernels/operations.def by its number, with its arguments; and the bits that it gives.
struct Known {
    line: &'static str,
    question: [u32; 4],
    answer: u32,
}

fn known() -> Vec<Known> {
    let names = include_str!("../../../kernels/operations.def").lines();
    let names: Vec<&str> =
        names.filter_map(|line| line.strip_prefix("OPERATION(")?.split_once(',')).map(|(name, _)| name).collect();
    let lines = include_str!("../../../docs/vectors.txt").lines().take_while(|line| !line.starts_with("# Frames"));
    let read = |line: &'static str| {
        let &[name, a, b, c, "=", answer] = &*line.split(' ').collect::<Vec<_>>() else { return None };
        let operation = names.iter().position(|&one| one == name)? as u32;
        let number = |word| u32::from_str_radix(word, 16).ok();
        Some(Known { line, question: [operation, number(a)?, number(b)?, number(c)?], answer: number(answer)? })
    };
    lines.filter_map(read).collect()
}

/// Fails where a result has other bits.
pub fn sing(context: &ClContext) -> Result<(), DeviceError> {
    let known = known();
    let questions: Vec<[u32; 4]> = known.iter().map(|one| one.question).collect();
    let mut answers = vec![0u32; known.len()];
    let module = context.load(&CANARY.for_api::<Opencl>()?)?;
    let kernel = module.function(c"polyfly_canary", 64)?;
    let (questions, results) = (context.upload(&questions)?, context.memory(size_of_val(&answers[..]))?);
    let (from, to, count) = (questions.address(0), results.address(0), known.len() as i32);
    let (stream, done) = (context.stream()?, context.event()?);
    let blocks = (known.len() as u32).div_ceil(kernel.threads());
    // SAFETY: the arguments of polyfly_canary in kernels/entry/canary.cuh. All that the device reads and writes lives until the end.
    unsafe {
        stream.launch(kernel, (blocks, 1), (kernel.threads(), 1), &mut arguments![from, to, count])?;
        stream.copy(bytemuck::cast_slice_mut(&mut answers), &results, 0)?;
    }
    Stream::<Opencl>::record(&stream, &done)?;
    done.wait()?;
    check(&known, &answers)
}

fn check(known: &[Known], answers: &[u32]) -> Result<(), DeviceError> {
    let wrong = known.iter().zip(answers).find(|(one, answer)| one.answer != **answer);
    let Some((Known { line, .. }, answer)) = wrong else { return Ok(()) };
    let got = format!("{answer:x}");
    Err(DeviceError::NotFound(msg!("its arithmetic is not exact: {line}, and it gives {got}", line, got)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_bit_refuses_a_device() {
        let known = known();
        let lines = include_str!("../../../docs/vectors.txt").lines().take_while(|line| !line.starts_with("# Frames"));
        assert_eq!(known.len(), lines.filter(|line| !line.starts_with('#')).count(), "an operation has no number");
        let mut answers: Vec<u32> = known.iter().map(|one| one.answer).collect();
        assert!(check(&known, &answers).is_ok());
        let at = known.iter().position(|one| one.line.starts_with("fma ")).unwrap();
        answers[at] ^= 1;
        let message = check(&known, &answers).unwrap_err().to_string();
        assert!(message.contains(known[at].line) && message.contains(&format!("{:x}", answers[at])), "{message}");
    }
}
