//! Rust's side of kernels/modules.def: codes of integrators, and the table of the embedded modules.

use crate::definitions::{Call, calls};
use flate2::{Compression, write::DeflateEncoder};
use std::io::Write;
use std::path::Path;

/// The integrators' codes, for gpu_types.rs.
pub fn integrator_codes(definitions: &str) -> String {
    let rows = calls("modules.def", definitions).into_iter().filter(|call| call.word == "INTEGRATOR");
    let codes = rows.enumerate().map(|(code, row)| {
        let (name, constant) = (row.arguments[0], row.arguments[0].to_uppercase());
        format!("/// kernels/integrators/{name}.cuh.\npub const INTEGRATOR_{constant}: i32 = {code};\n")
    });
    codes.collect()
}

/// The table of modules. Each module's PTX and SPIR-V go to `out`, packed; what scripts/ptx has not made is empty.
pub fn rust_modules(definitions: &str, kernels: &Path, out: &Path) -> String {
    let calls = calls("modules.def", definitions);
    let rows = |word| calls.iter().filter(move |call| call.word == word);
    let find = |word, name: &str| -> &Call {
        let row = rows(word).find(|row| row.arguments[0] == name);
        row.unwrap_or_else(|| panic!("kernels/modules.def: no {word}({name}, ..)"))
    };
    let embedded = |name: &str, parameters: &str| {
        let [ptx, spirv] = [("ptx", "ptx"), ("spirv", "spv")].map(|(folder, ending)| {
            let packed = out.join(format!("{name}.{ending}.deflate"));
            let code = std::fs::read(kernels.join(folder).join(format!("{name}.{ending}"))).unwrap_or_default();
            pack(&code, &packed).unwrap_or_else(|e| panic!("{}: {e}", packed.display()));
            packed
        });
        format!(
            "Embedded {{ name: {name:?}, parameters: {parameters:?}, ptx: include_bytes!({ptx:?}), spirv: include_bytes!({spirv:?}) }}"
        )
    };
    let post = rows("POST_MODULE").chain(rows("OPENCL_MODULE")).map(|row| {
        let name = row.arguments[0];
        format!(
            "/// kernels/entry/{name}.cuh.\npub static {}: Embedded = {};\n",
            name.to_uppercase(),
            embedded(name, "")
        )
    });
    let post: String = post.collect();
    let modules = rows("MODULE").map(|row| {
        let [integrator, scene, blocks @ ..] = &row.arguments[..] else {
            panic!("kernels/modules.def: {:?}", row.arguments)
        };
        let (integrator, scene) = (&find("INTEGRATOR", integrator).arguments, &find("SCENE", scene).arguments);
        let name = format!("{}_{}", integrator[0], scene[0]);
        let parameters = format!("{} {} {} {}", integrator[1], integrator[2], scene[1], blocks.join(" "));
        format!(
            "    SceneModule {{\n        code: {},\n        integrator: gpu_types::INTEGRATOR_{},\n        rays: Rays::{},\n        \
             kind: {:?},\n        features: gpu_types::{},\n        threads: {},\n    }},\n",
            embedded(&name, &parameters),
            integrator[0].to_uppercase(),
            capitalised(&integrator[2].to_lowercase()),
            scene[0],
            scene[2],
            blocks[0],
        )
    });
    let modules: String = modules.collect();
    format!("static MODULES: &[SceneModule] = &[\n{modules}];\n{post}")
}

fn pack(text: &[u8], to: &Path) -> std::io::Result<()> {
    let mut encoder = DeflateEncoder::new(std::fs::File::create(to)?, Compression::default());
    encoder.write_all(text)?;
    encoder.finish().map(|_| ())
}

fn capitalised(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}
