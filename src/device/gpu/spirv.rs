//! SPIR-V for a scene: the entries that a run needs, with the scene's features as constants. The specification is "SPIR-V Specification",
//! version 1.2, section 2.3 for the layout and 3.32 for the instructions.

use crate::device::DeviceError;
use crate::gpu_types::FeatureSet;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::ops::Range;

/// What PTX and SPIR-V have in place of the lower and the upper half of the scene's features (kernels/types.cuh, `loaded_features`).
pub const FEATURES_PLACES: [u32; 2] = [0x7eed_7eed, 0x7eed_7eee];
// Words of a module before its first instruction.
const HEADER: usize = 5;
// Instructions, by their opcodes.
const NAME: u32 = 5;
const ENTRY_POINT: u32 = 15;
const EXECUTION_MODE: u32 = 16;
const SPEC_CONSTANT: u32 = 50;
const FUNCTION: u32 = 54;
const FUNCTION_END: u32 = 56;
const FUNCTION_CALL: u32 = 57;
const DECORATE: u32 = 71;
const LABEL: u32 = 248;
// Those within functions that make nothing with a number: lines, ends of functions, stores, copies, barriers, merges, branches, returns, life
// times.
const WITHOUT_RESULT: [u32; 19] =
    [8, FUNCTION_END, 62, 63, 64, 224, 225, 228, 246, 247, 249, 250, 251, 252, 253, 254, 255, 256, 257];

/// The module with these entries and what they call. A driver compiles all that it gets, for seconds.
pub fn for_scene(code: &[u8], features: FeatureSet, entries: &[&CStr]) -> Result<Vec<u8>, DeviceError> {
    let mut words: Vec<u32> = code.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    // The instructions, each with the function that it is in.
    let (mut all, mut current) = (Vec::new(), None);
    let (mut calls, mut roots) = (BTreeMap::<u32, Vec<u32>>::new(), Vec::new());
    for at in instructions(&words)? {
        let one = &words[at.clone()];
        let opcode = one[0] & 0xffff;
        match (opcode, current) {
            (FUNCTION, _) => current = Some(one[2]),
            (FUNCTION_CALL, Some(caller)) => calls.entry(caller).or_default().push(one[3]),
            (ENTRY_POINT, None) if is_one_of(&one[3..], entries) => roots.push(one[2]),
            _ => {}
        }
        all.push((at, current));
        if opcode == FUNCTION_END {
            current = None;
        }
    }
    let mut kept = BTreeSet::new();
    while let Some(function) = roots.pop() {
        if kept.insert(function) {
            roots.extend(calls.get(&function).into_iter().flatten());
        }
    }
    let is_left_out = |function: &Option<u32>| function.is_some_and(|function| !kept.contains(&function));
    // What is made there has names and decorations elsewhere.
    let left_out = all.iter().filter(|(_, function)| is_left_out(function));
    let gone: BTreeSet<u32> = left_out.filter_map(|(at, _)| result(&words[at.clone()])).collect();
    let halves = [features as u32, (features >> 32) as u32];
    let mut out = words[..HEADER].to_vec();
    for (at, function) in all {
        let one = &mut words[at];
        let keeps = match one[0] & 0xffff {
            ENTRY_POINT => !gone.contains(&one[2]),
            NAME | EXECUTION_MODE | DECORATE => !gone.contains(&one[1]),
            _ => !is_left_out(&function),
        };
        if one[0] & 0xffff == SPEC_CONSTANT
            && let Some(half) = FEATURES_PLACES.iter().position(|place| Some(place) == one.get(3))
        {
            one[3] = halves[half];
        }
        if keeps {
            out.extend_from_slice(one);
        }
    }
    Ok(out.into_iter().flat_map(u32::to_le_bytes).collect())
}

// The words of each instruction, whose first one has their number in its upper half.
fn instructions(words: &[u32]) -> Result<Vec<Range<usize>>, DeviceError> {
    let (mut all, mut at) = (Vec::new(), HEADER);
    while let Some(first) = words.get(at) {
        let end = at + (first >> 16) as usize;
        if end == at || end > words.len() {
            return Err(DeviceError::Failed("the embedded SPIR-V is broken".into()));
        }
        all.push(at..end);
        at = end;
    }
    Ok(all)
}

// The number of what an instruction of a function makes.
fn result(one: &[u32]) -> Option<u32> {
    match one[0] & 0xffff {
        LABEL => one.get(1).copied(),
        opcode if WITHOUT_RESULT.contains(&opcode) => None,
        _ => one.get(2).copied(),
    }
}

// Whether a text of a module, which ends with zeros, is one of the names.
fn is_one_of(text: &[u32], names: &[&CStr]) -> bool {
    let bytes: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).collect();
    CStr::from_bytes_until_nul(&bytes).is_ok_and(|text| names.contains(&text))
}
