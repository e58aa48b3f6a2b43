//! The embedded PTX, and the choice of kernels for a scene.

use super::api::{Api, Context, Module};
use crate::device::{DeviceError, DeviceNeeds, TaskOutput};
use crate::gpu_types::{self, Constants, FEATURE_ARRAYS, FEATURE_TREE, FeatureSet, THREADS as GPU_THREADS};
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

/// What the kernels of a module write. Each has a header in kernels/entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    Picture,
    /// Sums of light, and features.
    Linear,
    /// Pictures or sums, by adaptive sampling.
    Adaptive,
}

// What PTX has in place of the lower and the upper half of the scene's features (kernels/types.cuh, loaded_features).
const FEATURES_PLACES: [&str; 2] = ["0x7eed7eed", "0x7eed7eee"];

// A row of kernels/modules.def with its PTX, for GPUs since Turing.
struct PtxModule {
    ptx: Ptx,
    integrator: i32,
    rays: Rays,
    scene: SceneKind,
    output: Output,
    // Of a block.
    threads: u32,
}

pub struct Ptx {
    name: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test asks whether the PTX is as new as the sources"))]
    parameters: &'static str,
    packed: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/modules.rs"));

impl Ptx {
    /// The PTX after a line with the module's name. Empty if scripts/ptx has not generated it.
    pub fn text(&self) -> Result<String, DeviceError> {
        let mut text = format!("// {}\n", self.name);
        let read = flate2::read::DeflateDecoder::new(self.packed).read_to_string(&mut text);
        read.map_err(|e| DeviceError::Failed(format!("the embedded PTX of {} is broken: {e}", self.name)))?;
        Ok(text)
    }
    // The PTX for scenes with these features: the driver leaves out what it cannot reach with them.
    fn text_for(&self, features: FeatureSet) -> Result<String, DeviceError> {
        let halves = FEATURES_PLACES.into_iter().zip([features & 0xffff_ffff, features >> 32]);
        let text = self.text()?;
        Ok(halves.fold(text, |text, (place, half)| text.replace(place, &format!("0x{half:08x}"))))
    }
}

// Whether tracing kernels write finished pictures, which need no post steps.
fn makes_pictures(needs: &DeviceNeeds) -> bool {
    needs.post.is_none() && (needs.rgba || needs.yuv)
}

// The module of an integrator for a kind of scene and an output, if one covers the scene.
fn module_of(constants: &Constants, output: Output, kind: SceneKind) -> Option<&'static PtxModule> {
    let fits = |m: &&PtxModule| (m.integrator, m.output, m.scene) == (constants.integrator, output, kind);
    MODULES.iter().find(fits).filter(|_| constants.features & !kind.features() == 0)
}

// The smallest kind of scene that covers this scene and has a module for each output.
fn kind_of(constants: &Constants, needs: &DeviceNeeds) -> Result<SceneKind, DeviceError> {
    let outputs =
        [(makes_pictures(needs), Output::Picture), (needs.linear, Output::Linear), (needs.adaptive, Output::Adaptive)];
    let has_all = |kind: &SceneKind| {
        outputs.iter().all(|&(is_needed, output)| !is_needed || module_of(constants, output, *kind).is_some())
    };
    let kinds = MODULES.iter().map(|m| m.scene);
    kinds.filter(has_all).min().ok_or_else(|| DeviceError::Failed("no kernels cover this scene".into()))
}

/// The kernels for a scene's tasks.
pub struct Kernels<A: Api> {
    trace: Option<A::Function>,
    sums: Option<A::Function>,
    features: Option<A::Function>,
    pub adaptive: Option<AdaptiveKernels<A>>,
    kind: SceneKind,
    // The features that the driver has compiled them for.
    compiled_for: FeatureSet,
    _modules: Vec<A::Module>,
}

pub struct AdaptiveKernels<A: Api> {
    /// Traces the pilot samples of all pixels.
    pub pilot: A::Function,
    /// Traces a round of the active pixels.
    pub trace_active: A::Function,
    /// Update the active pixels after the pilot and after a round, and write a picture.
    pub picture: [A::Function; 2],
    /// Update the active pixels after the pilot and after a round, and write sums.
    pub sums: [A::Function; 2],
}

impl<A: Api> Kernels<A> {
    /// Loads the kernels for a scene, by its features, integrator and depth.
    pub fn load(constants: &Constants, needs: &DeviceNeeds, context: &A::Context) -> Result<Kernels<A>, DeviceError> {
        let (kind, features) = (kind_of(constants, needs)?, constants.features);
        let load = |is_needed: bool, output| {
            let row = module_of(constants, output, kind).filter(|_| is_needed);
            row.map(|row| Ok::<_, DeviceError>((row, context.load(&row.ptx.text_for(features)?)?))).transpose()
        };
        let picture = load(makes_pictures(needs), Output::Picture)?;
        let linear = load(needs.linear, Output::Linear)?;
        let adaptive = load(needs.adaptive, Output::Adaptive)?;
        // A module's kernel for paths, for ray trees of up to 16 levels, or for deeper trees.
        let function = |module: &Option<(&PtxModule, A::Module)>, [path, tree_16, tree_128]: [Option<&CStr>; 3]| {
            let Some((row, module)) = module else { return Ok(None) };
            let name = match (row.rays, constants.depth) {
                (Rays::Path, _) => path,
                (Rays::Tree, ..=16) => tree_16,
                (Rays::Tree, _) => tree_128,
            };
            name.map(|name| module.function(name, row.threads)).transpose()
        };
        let traces = [c"polyfly_trace", c"polyfly_trace_16", c"polyfly_trace_128"];
        let sums = [c"polyfly_trace_sums", c"polyfly_trace_16_sums", c"polyfly_trace_128_sums"];
        Ok(Kernels {
            trace: function(&picture, traces.map(Some))?,
            sums: function(&linear, sums.map(Some))?,
            features: function(&linear, [Some(c"polyfly_features"); 3])?,
            adaptive: adaptive.as_ref().map(|(row, module)| AdaptiveKernels::new(module, row.threads)).transpose()?,
            kind,
            compiled_for: features,
            _modules: [picture, linear, adaptive].into_iter().flatten().map(|(_, module)| module).collect(),
        })
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
    pub fn kind(&self) -> String {
        format!("{:?}", self.kind)
    }
    /// Whether the kernels take the scene in their parameters.
    pub fn take_small(&self) -> bool {
        self.kind.features() & FEATURE_ARRAYS == 0
    }
    /// Whether the kernels render balls by a grid, and use no tree.
    pub fn are_for_grids(&self) -> bool {
        self.kind.features() & FEATURE_TREE == 0 && self.kind.features() & FEATURE_ARRAYS != 0
    }
    /// The kernel for this output, if the device was prepared for it.
    pub fn of(&self, output: TaskOutput) -> Result<A::Function, DeviceError> {
        let (kernel, what) = match output {
            TaskOutput::Picture => (self.trace, "finished pictures"),
            TaskOutput::Sums => (self.sums, "linear light"),
            TaskOutput::Features => (self.features, "linear light"),
        };
        kernel.ok_or_else(|| DeviceError::Failed(format!("the device was not made ready for {what}")))
    }
}

impl<A: Api> AdaptiveKernels<A> {
    fn new(module: &A::Module, threads: u32) -> Result<AdaptiveKernels<A>, DeviceError> {
        let function = |name: &CStr| module.function(name, threads);
        Ok(AdaptiveKernels {
            pilot: function(c"polyfly_pilot")?,
            trace_active: function(c"polyfly_trace_active")?,
            picture: [function(c"polyfly_update_active_after_pilot")?, function(c"polyfly_update_active")?],
            sums: [function(c"polyfly_update_active_after_pilot_sums")?, function(c"polyfly_update_active_sums")?],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_types::{
        ALL_FEATURES, FEATURE_BODIES, FEATURE_ENDLESS_FLOOR, FEATURE_LENS, FEATURE_SKY_MAP, INTEGRATOR_PATH,
        INTEGRATOR_WHITTED,
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
        for module in MODULES.iter().map(|m| &m.ptx).chain([&POST, &DENOISE, &CELLS, &TREE]) {
            let mut found = BTreeMap::new();
            let mut queue = vec![format!("entry/{}.cuh", module.name.rsplit('_').next().unwrap())];
            queue.extend(module.name.split_once('_').map(|(integrator, _)| format!("integrators/{integrator}.cuh")));
            while let Some(name) = queue.pop() {
                let text = std::fs::read_to_string(folder.join(&name)).unwrap();
                let included = text.lines().filter_map(|l| l.strip_prefix("#include \"")?.strip_suffix('"'));
                let beside = |n: &str| tidy(&Path::new(&name).parent().unwrap().join(n)).display().to_string();
                queue.extend(included.map(beside).filter(|n| !found.contains_key(n)));
                found.insert(name, text);
            }
            let mut state = Sha256::new();
            for (name, text) in &found {
                state.update(format!("{name}\0{text}\0"));
            }
            state.update(module.parameters);
            let digest: String = state.finalize().iter().map(|b| format!("{b:02x}")).collect();
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
        for PtxModule { ptx, .. } in MODULES {
            let text = ptx.text().unwrap();
            let calls = calls(&text);
            for function in calls.keys() {
                let deep = depth(&calls, function);
                assert!(
                    deep <= 2,
                    "{}: calls in {function} are {deep} deep (POLYFLY_NOINLINE, kernels/platform.cuh)",
                    ptx.name
                );
                most = most.max(deep);
            }
        }
        assert_eq!(most, 2, "no call is found");
    }

    #[test]
    fn every_module_takes_the_features_of_a_scene() {
        for PtxModule { ptx, .. } in MODULES {
            let text = ptx.text_for(1 << 40 | 0x1234).unwrap();
            assert!(text.contains("0x00001234") && !FEATURES_PLACES.iter().any(|p| text.contains(p)), "{}", ptx.name);
        }
    }

    #[test]
    fn every_scene_has_kernels_and_the_smallest_kind_is_taken() {
        let all = DeviceNeeds { rgba: true, yuv: true, linear: true, ..DeviceNeeds::default() };
        let kind = |integrator, features, needs: &DeviceNeeds| {
            kind_of(&Constants { integrator, features, ..Constants::default() }, needs).unwrap()
        };
        let adaptive = DeviceNeeds { adaptive: true, ..all.clone() };
        for integrator in MODULES.iter().map(|m| m.integrator) {
            assert_eq!(kind(integrator, ALL_FEATURES, &adaptive), SceneKind::Full);
        }
        assert_eq!(kind(INTEGRATOR_WHITTED, 0, &all), SceneKind::Small);
        let linear = DeviceNeeds { linear: true, ..DeviceNeeds::default() };
        let horizon = FEATURE_SKY_MAP | FEATURE_ENDLESS_FLOOR;
        assert_eq!(kind(INTEGRATOR_WHITTED, horizon, &linear), SceneKind::Horizon);
        assert_eq!(kind(INTEGRATOR_WHITTED, horizon | FEATURE_ARRAYS | FEATURE_TREE, &linear), SceneKind::Full);
        assert_eq!(kind(INTEGRATOR_WHITTED, horizon | FEATURE_ARRAYS, &linear), SceneKind::Grid);
        assert_eq!(kind(INTEGRATOR_WHITTED, FEATURE_ARRAYS | FEATURE_TREE, &all), SceneKind::Plain);
        assert_eq!(kind(INTEGRATOR_WHITTED, FEATURE_ARRAYS, &all), SceneKind::Grid);
        assert_eq!(kind(INTEGRATOR_WHITTED, FEATURE_LENS | FEATURE_TREE, &all), SceneKind::Full);
        // Path tracing has no kernels for scenes in parameters.
        assert_eq!(kind(INTEGRATOR_PATH, FEATURE_LENS | FEATURE_TREE, &adaptive), SceneKind::Primitives);
        assert_eq!(kind(INTEGRATOR_PATH, FEATURE_BODIES | FEATURE_TREE, &all), SceneKind::Full);
        assert_eq!(kind(INTEGRATOR_PATH, FEATURE_LENS, &all), SceneKind::Grid);
    }
}
