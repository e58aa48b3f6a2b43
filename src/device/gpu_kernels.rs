//! The embedded PTX, and the kernels of it that suit a scene.

use super::driver::{Context, Function, Module};
use super::{DeviceError, DeviceNeeds};
use crate::gpu_types::{Scene as GpuScene, THREADS as GPU_THREADS};

/// Threads of a block.
pub const THREADS: u32 = GPU_THREADS as u32;

// The kernels for any GPU from Turing on; scripts/ptx makes them, a test says when they are stale. Modules hold no more
// than is used together, since the driver compiles them whole: of an integrator and a kind of scene one for finished
// pictures and one for sums and first surfaces, and of each integrator one for adaptive sampling.
macro_rules! ptx {
    ($name:literal) => {
        Ptx { name: $name, text: include_str!(concat!("../../kernels/", $name, ".ptx")) }
    };
}
struct Ptx {
    #[cfg_attr(not(test), expect(dead_code, reason = "a test asks whether the text is as new as the sources"))]
    name: &'static str,
    text: &'static str,
}
// Of an integrator and a kind of scene.
struct Pair {
    picture: Ptx,
    linear: Ptx,
}
const WHITTED: Pair = Pair { picture: ptx!("whitted"), linear: ptx!("whitted_linear") };
const WHITTED_SMALL: Pair = Pair { picture: ptx!("whitted_small"), linear: ptx!("whitted_small_linear") };
const WHITTED_RICH: Pair = Pair { picture: ptx!("whitted_rich"), linear: ptx!("whitted_rich_linear") };
const PATH: Pair = Pair { picture: ptx!("path"), linear: ptx!("path_linear") };
const PATH_RICH: Pair = Pair { picture: ptx!("path_rich"), linear: ptx!("path_rich_linear") };
const WHITTED_ADAPTIVE: Ptx = ptx!("whitted_adaptive");
const PATH_ADAPTIVE: Ptx = ptx!("path_adaptive");

/// What a scene's tasks launch.
pub struct Kernels {
    picture: Option<PictureKernels>,
    linear: Option<LinearKernels>,
    /// Of scenes that are sampled adaptively.
    pub adaptive: Option<AdaptiveKernels>,
    /// They take the scene in their parameters.
    pub small: bool,
}

/// Those of finished pictures.
pub struct PictureKernels {
    /// The pictures.
    pub trace: Function,
    /// Pictures to the planes of a video.
    pub convert: Function,
    /// Whitted's rays dealt out in other ways; there are none for paths.
    pub schedule: Option<Function>,
    _module: Module,
}

/// Those of linear light.
pub struct LinearKernels {
    /// Sums of light.
    pub sums: Function,
    /// First surfaces.
    pub features: Function,
    _module: Module,
}

/// Those of adaptive sampling.
pub struct AdaptiveKernels {
    /// The samples that all pixels take.
    pub trial: Function,
    /// A round of those that are in doubt.
    pub more: Function,
    /// What comes after the trial, and after a round: to a picture.
    pub picture: [Function; 2],
    /// The same to sums.
    pub sums: [Function; 2],
    _module: Module,
}

impl AdaptiveKernels {
    fn load(ptx: &Ptx, context: &Context) -> Result<AdaptiveKernels, DeviceError> {
        let module = Module::load(ptx.text, context)?;
        Ok(AdaptiveKernels {
            trial: module.function(c"polyfly_pilot", THREADS)?,
            more: module.function(c"polyfly_trace_active", THREADS)?,
            picture: [
                module.function(c"polyfly_update_active_after_pilot", THREADS)?,
                module.function(c"polyfly_update_active", THREADS)?,
            ],
            sums: [
                module.function(c"polyfly_update_active_after_pilot_sums", THREADS)?,
                module.function(c"polyfly_update_active_sums", THREADS)?,
            ],
            _module: module,
        })
    }
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
        let (trace, sums, features) = match scene.constants.depth {
            _ if path => (c"polyfly_path", c"polyfly_path_sums", c"polyfly_path_features"),
            0..=16 => (c"polyfly_trace_16", c"polyfly_trace_16_sums", c"polyfly_features"),
            _ => (c"polyfly_trace_128", c"polyfly_trace_128_sums", c"polyfly_features"),
        };
        let picture = || {
            let module = Module::load(ptx.picture.text, context)?;
            Ok::<_, DeviceError>(PictureKernels {
                trace: module.function(trace, THREADS)?,
                convert: module.function(c"polyfly_convert", THREADS)?,
                schedule: (!path).then(|| module.function(c"polyfly_schedule", THREADS)).transpose()?,
                _module: module,
            })
        };
        let linear = || {
            let module = Module::load(ptx.linear.text, context)?;
            let (sums, features) = (module.function(sums, THREADS)?, module.function(features, THREADS)?);
            Ok::<_, DeviceError>(LinearKernels { sums, features, _module: module })
        };
        let adaptive = if path { PATH_ADAPTIVE } else { WHITTED_ADAPTIVE };
        Ok(Kernels {
            picture: (needs.rgba || needs.yuv).then(picture).transpose()?,
            linear: needs.linear.then(linear).transpose()?,
            adaptive: needs.adaptive.then(|| AdaptiveKernels::load(&adaptive, context)).transpose()?,
            small,
        })
    }
    /// Those of finished pictures, if the device was made ready for them.
    pub fn picture(&self) -> Result<&PictureKernels, DeviceError> {
        self.picture.as_ref().ok_or_else(|| not_ready("finished pictures"))
    }
    /// Those of linear light, likewise.
    pub fn linear(&self) -> Result<&LinearKernels, DeviceError> {
        self.linear.as_ref().ok_or_else(|| not_ready("linear light"))
    }
}

fn not_ready(for_what: &str) -> DeviceError {
    DeviceError::Failed(format!("the device was not made ready for {for_what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let pairs = [WHITTED, WHITTED_SMALL, WHITTED_RICH, PATH, PATH_RICH];
        let pairs = pairs.into_iter().flat_map(|p| [p.picture, p.linear]);
        for Ptx { name, text: ptx } in pairs.chain([WHITTED_ADAPTIVE, PATH_ADAPTIVE]) {
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
