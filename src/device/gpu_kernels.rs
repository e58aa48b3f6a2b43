//! The embedded PTX, and the kernels of it that suit a scene.

use super::driver::{Context, Function, Module};
use super::{DeviceError, DeviceNeeds};
use crate::gpu_types::Scene as GpuScene;

// The kernels for any GPU from Turing on; scripts/ptx makes them, a test says when they are stale. One module an
// integrator and a kind of scene, and one for adaptive sampling, so that the driver compiles no more than is needed.
const WHITTED: &str = include_str!("../../kernels/whitted.ptx");
const WHITTED_SMALL: &str = include_str!("../../kernels/whitted_small.ptx");
const WHITTED_RICH: &str = include_str!("../../kernels/whitted_rich.ptx");
const PATH: &str = include_str!("../../kernels/path.ptx");
const PATH_RICH: &str = include_str!("../../kernels/path_rich.ptx");
const WHITTED_ADAPTIVE: &str = include_str!("../../kernels/whitted_adaptive.ptx");
const PATH_ADAPTIVE: &str = include_str!("../../kernels/path_adaptive.ptx");

/// What a scene's tasks launch.
pub struct Kernels {
    /// Finished pictures.
    pub picture: Function,
    /// Sums of light.
    pub sums: Function,
    /// First surfaces.
    pub features: Function,
    /// Pictures to the planes of a video.
    pub convert: Function,
    /// Of scenes that are sampled adaptively.
    pub adaptive: Option<AdaptiveKernels>,
    /// Whitted's rays dealt out in other ways; there are none for paths.
    pub schedule: Option<Function>,
    /// They take the scene in their parameters.
    pub small: bool,
    _module: Module,
    _adaptive_module: Option<Module>,
}

/// Those of adaptive sampling.
#[derive(Clone, Copy)]
pub struct AdaptiveKernels {
    /// The samples that all pixels take.
    pub trial: Function,
    /// A round of those that are in doubt.
    pub more: Function,
    /// What comes after the trial, and after a round: to a picture.
    pub picture: [Function; 2],
    /// The same to sums.
    pub sums: [Function; 2],
}

impl Kernels {
    /// Those that suit a scene: in the parameters or in arrays, plain or rich, by its integrator and depth.
    pub fn load(small: bool, scene: &GpuScene, needs: DeviceNeeds, context: &Context) -> Result<Kernels, DeviceError> {
        let path = scene.constants.path == 1;
        let ptx = match (path, small, scene.constants.plain == 1) {
            (true, _, true) => PATH,
            (true, _, false) => PATH_RICH,
            (false, true, _) => WHITTED_SMALL,
            (false, false, true) => WHITTED,
            (false, false, false) => WHITTED_RICH,
        };
        let module = Module::load(ptx, context)?;
        let (picture, sums, features) = match scene.constants.depth {
            _ if path => (c"polyfly_path", c"polyfly_path_sums", c"polyfly_path_features"),
            0..=16 => (c"polyfly_trace_16", c"polyfly_trace_16_sums", c"polyfly_features"),
            _ => (c"polyfly_trace_128", c"polyfly_trace_128_sums", c"polyfly_features"),
        };
        let adaptive_ptx = if path { PATH_ADAPTIVE } else { WHITTED_ADAPTIVE };
        let adaptive_module = needs.adaptive.then(|| Module::load(adaptive_ptx, context)).transpose()?;
        let adaptive = |module: &Module| -> Result<_, DeviceError> {
            let judges =
                |[trial, round]: [_; 2]| Ok::<_, DeviceError>([module.function(trial)?, module.function(round)?]);
            Ok(AdaptiveKernels {
                trial: module.function(c"polyfly_trial")?,
                more: module.function(c"polyfly_more")?,
                picture: judges([c"polyfly_judge_trial", c"polyfly_judge_round"])?,
                sums: judges([c"polyfly_judge_trial_sums", c"polyfly_judge_round_sums"])?,
            })
        };
        Ok(Kernels {
            adaptive: adaptive_module.as_ref().map(adaptive).transpose()?,
            picture: module.function(picture)?,
            sums: module.function(sums)?,
            features: module.function(features)?,
            convert: module.function(c"polyfly_convert")?,
            schedule: (!path).then(|| module.function(c"polyfly_schedule")).transpose()?,
            small,
            _module: module,
            _adaptive_module: adaptive_module,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Component, Path, PathBuf};

    // A path without its `..`.
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
        for (name, ptx) in [
            ("whitted", super::WHITTED),
            ("whitted_small", super::WHITTED_SMALL),
            ("whitted_rich", super::WHITTED_RICH),
            ("path", super::PATH),
            ("path_rich", super::PATH_RICH),
            ("whitted_adaptive", super::WHITTED_ADAPTIVE),
            ("path_adaptive", super::PATH_ADAPTIVE),
        ] {
            let mut found = BTreeMap::new();
            let mut queue = vec![PathBuf::from(format!("entry/{name}.cu"))];
            while let Some(name) = queue.pop() {
                let text = std::fs::read_to_string(folder.join(&name)).unwrap();
                let included = text.lines().filter_map(|l| l.strip_prefix("#include \"")?.strip_suffix('"'));
                let beside = |n: &str| tidy(&name.parent().unwrap().join(n));
                queue.extend(included.map(beside).filter(|n| !found.contains_key(n)));
                found.insert(name, text);
            }
            let mut state = Sha256::new();
            for (name, text) in &found {
                state.update(name.to_str().unwrap().as_bytes());
                state.update([0]);
                state.update(text.as_bytes());
                state.update([0]);
            }
            let digest: String = state.finalize().iter().map(|b| format!("{b:02x}")).collect();
            let header = ptx.lines().next().unwrap_or_default();
            assert_eq!(header, format!("// {name}.cu, sources {digest}"), "kernels/ changed: run scripts/ptx");
        }
    }
}
