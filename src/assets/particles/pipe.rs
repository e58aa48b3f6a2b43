//! Time steps that come through a pipe, or stdin, one after the other, while a program writes them: dumps of LAMMPS, XYZ and arrays of numpy.
//!
//! A step is read up to its last byte and no further, so that its writer may wait for its picture.

use super::memory::StepSource;
use super::npy;
use super::readers::FileSteps;
use super::step::{Step, Wanted};
use crate::assets::error::AssetError;
use crate::assets::source::{Limits, open_pipe};
use crate::language::msg;
use crate::system;
use crate::threads::lock;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

// Frames ask for a step more than once: so many are kept.
const KEPT: usize = 8;

/// A pipe with its latest steps.
#[derive(Debug)]
pub struct Pipe {
    path: PathBuf,
    limits: Limits,
    state: Mutex<State>,
}

trait Input: BufRead + Debug + Send {}
impl<T: BufRead + Debug + Send> Input for T {}

#[derive(Debug, Default)]
struct State {
    // It is opened by the first step, which waits for a writer.
    input: Option<Box<dyn Input>>,
    // How many steps have been read, and the last of them.
    count: usize,
    kept: VecDeque<Arc<Step>>,
    // The words of types in all of them.
    labels: Vec<String>,
}

fn is_stdin(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "-") && !path.exists()
}

impl Pipe {
    /// The steps of a pipe or of stdin, `-`; None for other paths.
    pub fn of(path: &Path, limits: Limits) -> Option<Pipe> {
        let new = || Pipe { path: path.to_owned(), limits, state: Mutex::default() };
        let is_pipe = || std::fs::metadata(path).is_ok_and(|facts| system::is_pipe(&facts));
        (is_stdin(path) || is_pipe()).then(new)
    }

    fn open(&self) -> io::Result<Box<dyn Input>> {
        Ok(match is_stdin(&self.path) {
            true => Box::new(BufReader::new(system::stdin())),
            false => Box::new(BufReader::new(open_pipe(&self.path)?)),
        })
    }

    // Reads the next step.
    fn next(&self, state: &mut State) -> Result<Arc<Step>, AssetError> {
        let unread = |e| AssetError::read("particles", &self.path, e);
        if state.input.is_none() {
            state.input = Some(self.open().map_err(unread)?);
        }
        let Some(input) = &mut state.input else { return Err(self.fault_of_end(state.count)) };
        // A writer that is at fault cannot fill the memory.
        let bytes = bytes(&mut input.take(self.limits.file)).map_err(unread)?;
        if bytes.is_empty() {
            return Err(self.fault_of_end(state.count));
        }
        let read = || {
            let file = FileSteps::of_next(&self.path, bytes.into(), self.limits, &state.labels)?;
            Ok::<_, AssetError>((file.read(0, &Wanted::all())?, file.labels().to_vec()))
        };
        let number = state.count;
        let (step, labels) =
            read().map_err(|e| AssetError { what: msg!("step {number}: {why}", number, why = e.what), ..e })?;
        (state.labels, state.count) = (labels, number + 1);
        Ok(Arc::new(step))
    }

    fn fault_of_end(&self, count: usize) -> AssetError {
        let fault = match count.checked_sub(1) {
            None => msg!("it holds no particles: it ends at byte 0"),
            Some(last) => msg!("there is no step {number}: it has steps 0-{last}", number = count, last),
        };
        AssetError::new(&self.path, fault)
    }
}

impl StepSource for Pipe {
    // Nobody knows how many will come.
    fn count(&self) -> usize {
        u32::MAX as usize
    }
    fn step(&self, number: usize) -> Result<Arc<Step>, AssetError> {
        let mut state = lock(&self.state);
        while state.count <= number {
            let step = self.next(&mut state)?;
            state.kept.push_back(step);
            let excess = state.kept.len().saturating_sub(KEPT);
            state.kept.drain(..excess);
        }
        let first = state.count - state.kept.len();
        let found = number.checked_sub(first).and_then(|at| state.kept.get(at)).cloned();
        found.ok_or_else(|| {
            AssetError::new(&self.path, msg!("its step {number} is gone: a pipe gives its steps in order", number))
                .help(msg!("render all frames in order, or read a file"))
        })
    }
    fn is_in_order(&self) -> bool {
        true
    }
}

// Appends a line. False at the end.
fn line(input: &mut dyn BufRead, bytes: &mut Vec<u8>) -> io::Result<bool> {
    Ok(input.read_until(b'\n', bytes)? > 0)
}

// The bytes of the next step; none at the end. What is no step is refused by its reader.
fn bytes(input: &mut dyn BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = |line: &[u8]| std::str::from_utf8(line).ok().and_then(|text| text.trim().parse::<usize>().ok());
    let rows = match input.fill_buf()?.first() {
        Some(0x93) => {
            array(input, &mut bytes)?;
            0
        }
        Some(b'I') => loop {
            let from = bytes.len();
            if !line(input, &mut bytes)? {
                break 0;
            }
            if bytes[from..].starts_with(b"ITEM: ATOMS") {
                break counted(&bytes).unwrap_or(0);
            }
        },
        _ => {
            // Blank lines may stand between frames, and behind the last one.
            while line(input, &mut bytes)? && bytes.trim_ascii().is_empty() {
                bytes.clear();
            }
            count(&bytes).map_or(0, |count| count.saturating_add(1))
        }
    };
    for _ in 0..rows {
        if !line(input, &mut bytes)? {
            break;
        }
    }
    Ok(bytes)
}

// The number of atoms in the head of a dump.
fn counted(head: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(head).ok()?;
    let mut after = text.lines().skip_while(|line| line.trim() != "ITEM: NUMBER OF ATOMS");
    after.nth(1)?.trim().parse().ok()
}

// An array of numpy: its header says how long it is.
fn array(input: &mut dyn BufRead, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut more = |length: usize, bytes: &mut Vec<u8>| {
        let missing = length.saturating_sub(bytes.len()) as u64;
        input.take(missing).read_to_end(bytes)
    };
    more(12, bytes)?;
    let Some(head) = npy::header_length(bytes) else { return Ok(()) };
    more(head, bytes)?;
    let Some(whole) = npy::length(bytes) else { return Ok(()) };
    more(whole, bytes)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe(content: &[u8]) -> Pipe {
        let state = State { input: Some(Box::new(io::Cursor::new(content.to_vec()))), ..State::default() };
        Pipe { path: "pipe".into(), limits: Limits { file: 4096, ..Limits::default() }, state: Mutex::new(state) }
    }
    fn fault(pipe: &Pipe, number: usize) -> String {
        pipe.step(number).unwrap_err().to_string()
    }

    #[test]
    fn steps_of_all_formats_come_one_by_one() {
        let dump = |step: usize| {
            format!(
                "ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS ff ff ff\n0 1\n0 1\n0 1\nITEM: ATOMS x y z radius\n{step} 0 0 1\n0 0 0 1\n"
            )
        };
        let xyz = |step: usize| format!("2\n\n{} {step} 0 0\nC 0 0 0\n", ["C", "O", "N"][step % 3]);
        let npy = |step: usize| {
            let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
            let numbers = [step as f64, 0.0, 0.0, 0.0, 0.0, 0.0];
            [&b"\x93NUMPY\x01\x00\x76\x00"[..], format!("{header:<117}\n").as_bytes(), bytemuck::cast_slice(&numbers)]
                .concat()
        };
        let all: [Vec<Vec<u8>>; 3] = [
            (0..12).map(|step| dump(step).into_bytes()).collect(),
            (0..12).map(|step| xyz(step).into_bytes()).collect(),
            (0..12).map(npy).collect(),
        ];
        for steps in all {
            let pipe = pipe(&steps.concat());
            for number in [0, 0, 3, 11, 5] {
                assert_eq!(pipe.step(number).unwrap().positions[0], [number as f64, 0.0, 0.0]);
            }
            assert!(fault(&pipe, 3).contains("its step 3 is gone"));
            assert!(fault(&pipe, 12).contains("there is no step 12: it has steps 0-11"));
        }
    }

    #[test]
    fn words_of_types_are_the_same_numbers_in_all_steps() {
        let pipe = pipe(b"1\n\nC 0 0 0\n\n2\n\nO 0 0 0\nC 1 0 0\n");
        assert_eq!(pipe.step(0).unwrap().column(&["type"]), Some(&[1.0][..]));
        assert_eq!(pipe.step(1).unwrap().column(&["type"]), Some(&[2.0, 1.0][..]));
    }

    #[test]
    fn what_is_no_step_is_refused() {
        assert!(fault(&pipe(b""), 0).contains("it holds no particles"));
        let cut = fault(&pipe(b"1\n\nC 0 0 0\n3\n\nC 0 0 0\n"), 1);
        assert!(cut.contains("step 1: XYZ: line 4: it ends after 1 whole rows; expected 3"), "{cut}");
        assert!(fault(&pipe(b"\x7fELF"), 0).contains("step 0: "));
        // Without an end, or with one that is too far away, no more is read than a file may have.
        let endless = fault(&pipe(&[b"99999999\n\n", b"C 0 0 0\n".repeat(1000).as_slice()].concat()), 0);
        assert!(endless.contains("expected 99999999"), "{endless}");
    }
}
