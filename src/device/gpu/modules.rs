//! The embedded code, and the choice of kernels for a scene.

use super::api::{Api, Code, Context, Module};
use super::spirv::{self, FEATURES_PLACES};
use crate::device::{DeviceError, DeviceNeeds, TaskOutput};
use crate::gpu_types::{
    self, Constants, FEATURE_ARRAYS, FEATURE_TREE, FeatureSet, OUTPUT_SUMS, THREADS as GPU_THREADS,
};
use std::ffi::CStr;
use std::io::Read;

pub const THREADS: u32 = GPU_THREADS as u32;

/// How rays continue at a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rays {
    /// Up to two rays, so waiting rays need a stack.
    Tree,
    /// One ray.
    Path,
}

// What an entry begins and ends with in PTX.
const ENTRY: &str = ".visible .entry ";
const ENTRY_END: &str = "\n}\n";

// A row of kernels/modules.def with its code.
struct SceneModule {
    code: Embedded,
    integrator: i32,
    rays: Rays,
    // The kind of scenes that it is for, and what they may have.
    kind: &'static str,
    features: FeatureSet,
    // Of a block.
    threads: u32,
}

/// A module's PTX, for GPUs since Turing, and its SPIR-V.
pub struct Embedded {
    name: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test asks whether the code is as new as the sources"))]
    parameters: &'static str,
    ptx: &'static [u8],
    spirv: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/modules.rs"));

impl Embedded {
    /// The code that an API takes. Empty if scripts/ptx has not made it.
    pub fn for_api<A: Api>(&self) -> Result<Vec<u8>, DeviceError> {
        match A::CODE {
            Code::Ptx => self.text().map(String::into_bytes),
            Code::SpirV => self.unpacked(self.spirv, Vec::new()),
        }
    }
    // These entries for scenes with these features. The driver leaves out what it cannot reach with the features, and does not read other
    // entries, which would take it most of its time.
    fn for_scene<A: Api>(&self, features: FeatureSet, entries: &[&CStr]) -> Result<Vec<u8>, DeviceError> {
        match A::CODE {
            Code::Ptx => self.text_for(features, entries).map(String::into_bytes),
            Code::SpirV => spirv::for_scene(&self.unpacked(self.spirv, Vec::new())?, features, entries),
        }
    }
    // The code after what is there already.
    fn unpacked(&self, packed: &[u8], mut code: Vec<u8>) -> Result<Vec<u8>, DeviceError> {
        let read = flate2::read::DeflateDecoder::new(packed).read_to_end(&mut code);
        read.map_err(|e| self.broken(&e))?;
        Ok(code)
    }
    fn broken(&self, why: &dyn std::fmt::Display) -> DeviceError {
        DeviceError::Failed(format!("the embedded kernels of {} are broken: {why}", self.name))
    }
    // The PTX after a line with the module's name.
    fn text(&self) -> Result<String, DeviceError> {
        let text = self.unpacked(self.ptx, format!("// {}\n", self.name).into_bytes())?;
        String::from_utf8(text).map_err(|e| self.broken(&e))
    }
    fn text_for(&self, features: FeatureSet, entries: &[&CStr]) -> Result<String, DeviceError> {
        let text = self.text()?;
        let mut parts = text.split(ENTRY);
        let mut kept = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, (entry, rest)) = (part.split('(').next(), part.split_once(ENTRY_END).unwrap_or((part, "")));
            if entries.iter().any(|entry| entry.to_str().ok() == name) {
                kept.extend([ENTRY, entry, ENTRY_END]);
            }
            kept.push_str(rest);
        }
        let halves = FEATURES_PLACES.into_iter().zip([features & 0xffff_ffff, features >> 32]);
        Ok(halves.fold(kept, |text, (place, half)| text.replace(&format!("0x{place:08x}"), &format!("0x{half:08x}"))))
    }
}

// The module of an integrator that covers a scene.
fn module_for(constants: &Constants) -> Result<&'static SceneModule, DeviceError> {
    let covers = |m: &&SceneModule| m.integrator == constants.integrator && constants.features & !m.features == 0;
    MODULES.iter().find(covers).ok_or_else(|| DeviceError::Failed("no kernels cover this scene".into()))
}

// Adaptive sampling: the pilot, the update of its pixels, a round, and the update after it.
const ADAPTIVE: [&CStr; 4] =
    [c"polyfly_pilot", c"polyfly_update_active_after_pilot", c"polyfly_trace_active", c"polyfly_update_active"];
const FEATURES: &CStr = c"polyfly_features";

/// The kernels for a scene's tasks.
pub struct Kernels<A: Api> {
    trace: Trace<A>,
    features: Option<Trace<A>>,
    // Whether they store sums, not pictures.
    stores_sums: bool,
    from: &'static SceneModule,
    // The features that the driver has compiled them for.
    compiled_for: FeatureSet,
    _module: A::Module,
}

/// The kernels of an output.
pub enum Trace<A: Api> {
    One(A::Function),
    Adaptive(AdaptiveKernels<A>),
}

pub struct AdaptiveKernels<A: Api> {
    /// Traces the pilot samples of all pixels.
    pub pilot: A::Function,
    /// Update the active pixels after the pilot and after a round, and store those that need no more samples.
    pub updates: [A::Function; 2],
    /// Traces a round of the active pixels.
    pub trace_active: A::Function,
}

impl<A: Api> Kernels<A> {
    /// Loads the kernels for a scene, by its features, integrator and depth.
    pub fn load(constants: &Constants, needs: &DeviceNeeds, context: &A::Context) -> Result<Kernels<A>, DeviceError> {
        let from = module_for(constants)?;
        let trace = match (from.rays, constants.depth) {
            (Rays::Path, _) => c"polyfly_trace",
            (Rays::Tree, ..=16) => c"polyfly_trace_16",
            (Rays::Tree, _) => c"polyfly_trace_128",
        };
        let traces: &[&CStr] = if needs.adaptive { &ADAPTIVE } else { &[trace] };
        let entries = [traces, if needs.features { &[FEATURES] } else { &[] }].concat();
        let output = if needs.linear { OUTPUT_SUMS } else { 0 };
        let module = context.load(&from.code.for_scene::<A>(constants.features | output, &entries)?)?;
        let function = |name| module.function(name, from.threads);
        let trace = if needs.adaptive {
            let [pilot, after_pilot, trace_active, after_round] = ADAPTIVE.map(function);
            let updates = [after_pilot?, after_round?];
            Trace::Adaptive(AdaptiveKernels { pilot: pilot?, updates, trace_active: trace_active? })
        } else {
            Trace::One(function(trace)?)
        };
        let features = needs.features.then(|| function(FEATURES).map(Trace::One)).transpose()?;
        let (stores_sums, compiled_for) = (needs.linear, constants.features);
        Ok(Kernels { trace, features, stores_sums, from, compiled_for, _module: module })
    }
    /// Whether the kernels have all features of these constants.
    pub fn suit(&self, constants: &Constants) -> bool {
        constants.features & !self.compiled_for == 0
    }
    /// The features that they have been compiled for.
    pub fn compiled_for(&self) -> FeatureSet {
        self.compiled_for
    }
    /// The kind of scenes that they are for.
    pub fn kind(&self) -> &'static str {
        self.from.kind
    }
    /// Whether the kernels take the scene in their parameters.
    pub fn take_small(&self) -> bool {
        self.from.features & FEATURE_ARRAYS == 0
    }
    /// Whether the kernels render balls by a grid, and use no tree.
    pub fn are_for_grids(&self) -> bool {
        self.from.features & FEATURE_TREE == 0 && !self.take_small()
    }
    /// The kernels for this output, if the device was prepared for it.
    pub fn of(&self, output: TaskOutput) -> Result<&Trace<A>, DeviceError> {
        let (kernels, what) = match output {
            TaskOutput::Picture => ((!self.stores_sums).then_some(&self.trace), "finished pictures"),
            TaskOutput::Sums => (self.stores_sums.then_some(&self.trace), "linear light"),
            TaskOutput::Features => (self.features.as_ref(), "features"),
        };
        kernels.ok_or_else(|| DeviceError::Failed(format!("the device was not made ready for {what}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_types::{
        ALL_FEATURES, FEATURE_ADAPTIVE, FEATURE_BODIES, FEATURE_ENDLESS_FLOOR, FEATURE_LENS, FEATURE_SKY_MAP,
        INTEGRATOR_PATH, INTEGRATOR_WHITTED,
    };
    use std::collections::BTreeMap;
    use std::path::{Component, Path, PathBuf};

    // A path without `..`.
    fn tidy(path: &Path) -> PathBuf {
        let mut out = PathBuf::new();
        for part in path.components() {
            if part == Component::ParentDir {
                out.pop();
            } else {
                out.push(part);
            }
        }
        out
    }

    #[test]
    fn ptx_is_as_new_as_its_sources() {
        use sha2::{Digest, Sha256};
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
        let spirv = std::fs::read_to_string(folder.join("spirv/sources.txt")).unwrap();
        for module in MODULES.iter().map(|m| &m.code).chain([&POST, &DENOISE, &CELLS, &TREE, &CANARY]) {
            let mut found = BTreeMap::new();
            let mut queue = match module.name.split_once('_') {
                Some((integrator, _)) => vec!["entry/trace.cuh".into(), format!("integrators/{integrator}.cuh")],
                None => vec![format!("entry/{}.cuh", module.name)],
            };
            while let Some(name) = queue.pop() {
                let text = std::fs::read_to_string(folder.join(&name)).unwrap();
                let included = text.lines().filter_map(|l| l.strip_prefix("#include \"")?.strip_suffix('"'));
                let beside = |n: &str| tidy(&Path::new(&name).parent().unwrap().join(n)).display().to_string();
                queue.extend(included.map(beside).filter(|n| !found.contains_key(n)));
                found.insert(name, text);
            }
            let mut state = Sha256::new();
            for (name, text) in &found {
                let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
                let words = code.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
                state.update(format!("{name}\0{words}\0"));
            }
            state.update(module.parameters);
            let digest: String = state.finalize().iter().map(|b| format!("{b:02x}")).collect();
            let line = format!("{} {digest}", module.name);
            assert!(spirv.lines().any(|one| one == line), "{}: kernels/ changed: run scripts/ptx", module.name);
            if module.name == CANARY.name {
                continue;
            }
            let text = module.text().unwrap();
            let header = text.lines().nth(1).unwrap_or_default();
            assert_eq!(header, format!("// sources {digest}"), "{}: kernels/ changed: run scripts/ptx", module.name);
        }
    }

    // The functions that each function of a module calls. PTX has the callee on the line after `call`.
    fn calls(text: &str) -> BTreeMap<&str, Vec<&str>> {
        let (mut calls, mut caller, mut is_callee) = (BTreeMap::<_, Vec<_>>::new(), "", false);
        for line in text.lines() {
            let last = line.trim_end_matches(['(', ',', ' ']).rsplit([' ', '\t']).next().unwrap_or_default();
            if line.starts_with(".func") || line.starts_with(".visible .entry") {
                caller = last;
                calls.entry(caller).or_default();
            } else if is_callee {
                calls.entry(caller).or_default().push(last);
            }
            is_callee = line.trim_start().starts_with("call");
        }
        calls
    }

    // With four calls within each other (caustics of an earlier version), ptxas 13.0 spilled barriers of lanes that wait for each other,
    // and kernels wrote to wild addresses: in one of a hundred scenes with caustics on an H100.
    #[test]
    fn calls_in_kernels_are_two_deep_at_most() {
        fn depth(calls: &BTreeMap<&str, Vec<&str>>, of: &str) -> usize {
            calls[of].iter().map(|callee| 1 + depth(calls, callee)).max().unwrap_or(0)
        }
        let mut most = 0;
        for SceneModule { code, .. } in MODULES {
            let text = code.text().unwrap();
            let calls = calls(&text);
            for function in calls.keys() {
                let deep = depth(&calls, function);
                assert!(
                    deep <= 2,
                    "{}: calls in {function} are {deep} deep (POLYFLY_NOINLINE, kernels/platform.cuh)",
                    code.name
                );
                most = most.max(deep);
            }
        }
        assert_eq!(most, 2, "no call is found");
    }

    #[test]
    fn every_module_takes_the_features_of_a_scene() {
        for SceneModule { code, .. } in MODULES {
            let text = code.text_for(1 << 40 | 0x1234, &[FEATURES]).unwrap();
            assert!(
                text.contains("0x00001234") && !FEATURES_PLACES.iter().any(|p| text.contains(&format!("{p:08x}"))),
                "{}",
                code.name
            );
        }
    }

    #[test]
    fn spirv_has_the_entries_that_a_run_needs_and_the_features_of_a_scene() {
        // The opcodes of an entry point, and of a constant that may be given another value.
        let words = |code: &[u8]| code.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect::<Vec<_>>();
        let instructions = |words: &[u32], opcode: u32| {
            let (mut at, mut found) = (5, Vec::new());
            while at < words.len() {
                let end = at + (words[at] >> 16) as usize;
                found.extend((words[at] & 0xffff == opcode).then(|| words[at..end].to_vec()));
                at = end;
            }
            found
        };
        for SceneModule { code, .. } in MODULES {
            let all = code.unpacked(code.spirv, Vec::new()).unwrap();
            let kept = words(&spirv::for_scene(&all, 0x12_3456_789a, &[FEATURES]).unwrap());
            assert!(kept.len() * 4 < all.len(), "{}: {} words of {} bytes", code.name, kept.len(), all.len());
            assert!(instructions(&words(&all), 15).len() > 2 && instructions(&kept, 15).len() == 1, "{}", code.name);
            let constants: Vec<u32> = instructions(&kept, 50).iter().map(|one| one[3]).collect();
            assert!(
                constants.contains(&0x3456_789a) && !constants.iter().any(|c| FEATURES_PLACES.contains(c)),
                "{}",
                code.name
            );
        }
    }

    #[test]
    fn a_driver_gets_the_entries_that_a_run_needs() {
        let entries = |text: &str| text.matches(ENTRY).count();
        for SceneModule { code, rays, features, .. } in MODULES {
            let (all, kept) = (code.text().unwrap(), code.text_for(0, &[FEATURES]).unwrap());
            let adaptive = if features & FEATURE_ADAPTIVE == 0 { 0 } else { ADAPTIVE.len() };
            let traces = if *rays == Rays::Tree { 2 } else { 1 };
            assert_eq!((entries(&all), entries(&kept)), (1 + traces + adaptive, 1), "{}", code.name);
            let (before, after) = kept.split_once("polyfly_features(").unwrap();
            assert!(
                all.starts_with(before.strip_suffix(ENTRY).unwrap().split("// .globl").next().unwrap()),
                "{}",
                code.name
            );
            assert!(after.trim_end().ends_with('}') && !kept.contains("_param_7;\n}\n}"), "{}", code.name);
        }
    }

    #[test]
    fn every_scene_has_kernels_and_the_first_kind_that_covers_it_is_taken() {
        let kind = |integrator, features| {
            module_for(&Constants { integrator, features, ..Constants::default() }).unwrap().kind
        };
        for integrator in MODULES.iter().map(|m| m.integrator) {
            assert_eq!(kind(integrator, ALL_FEATURES), "full");
        }
        assert_eq!(kind(INTEGRATOR_WHITTED, 0), "small");
        let horizon = FEATURE_SKY_MAP | FEATURE_ENDLESS_FLOOR;
        assert_eq!(kind(INTEGRATOR_WHITTED, horizon), "small");
        assert_eq!(kind(INTEGRATOR_WHITTED, horizon | FEATURE_ARRAYS | FEATURE_TREE), "full");
        assert_eq!(kind(INTEGRATOR_WHITTED, horizon | FEATURE_ARRAYS), "grid");
        assert_eq!(kind(INTEGRATOR_WHITTED, FEATURE_ARRAYS | FEATURE_TREE), "plain");
        assert_eq!(kind(INTEGRATOR_WHITTED, FEATURE_ARRAYS), "grid");
        assert_eq!(kind(INTEGRATOR_WHITTED, FEATURE_LENS | FEATURE_TREE), "full");
        assert_eq!(kind(INTEGRATOR_WHITTED, FEATURE_ADAPTIVE | FEATURE_TREE), "full");
        // Path tracing has no kernels for scenes in parameters.
        assert_eq!(kind(INTEGRATOR_PATH, FEATURE_LENS | FEATURE_TREE), "primitives");
        assert_eq!(kind(INTEGRATOR_PATH, FEATURE_BODIES | FEATURE_TREE), "full");
        assert_eq!(kind(INTEGRATOR_PATH, FEATURE_LENS), "grid");
    }
}
