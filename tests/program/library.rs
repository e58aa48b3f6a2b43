//! The library as a black box, and the files of linear light, read back.

use exr::prelude::{self as openexr, FlatSamples};
use polyfly::{
    Cancel, Error, FrameList, Outcome, OutputError, PixelFormats, RenderedFrame, Renderer, RunInfo, RunRequest, Scene,
    Sink, VideoOptions, VideoSink,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const SCENE: &str = "[output]\nframes = 3\nsize = [48, 32]\n[render]\nsamples = 2\n[camera]\nposition = [4, -5, 2]\n\
    look_at = [0, 0, 0.2]\n[[body]]\nsolid = \"cube\"\nreflection = 0.3\ntransparency = 0.5\nlamps = 2\n\
    [[sphere]]\ncenter = [1.5, -1, 0]\nradius = 0.6\n[floor]\ntexture = \"@checker\"\n\
    corners = [[-4, -4, -1], [-4, 4, -1], [4, 4, -1], [4, -4, -1]]\n\
    [[light]]\nposition = [3, -4, 6]\ncolor = [2, 2, 2]\n";

fn scene() -> Scene {
    Scene::parse(SCENE, "scene", Path::new("")).unwrap().scene
}

// Frame 1 as a file of the program.
fn file(folder: &Path, name: &str, args: &[&str]) -> std::path::PathBuf {
    std::fs::write(folder.join("scene.toml"), SCENE).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_polyfly"))
        .args(["scene.toml", "--cpu", "-q", "--frames", "1", "-o", name])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    folder.join(name)
}

// The channels of an EXR file by name, and whether each has half precision.
fn channels(path: &Path) -> BTreeMap<String, (Vec<f32>, bool)> {
    let image = openexr::read_first_flat_layer_from_file(path).unwrap();
    assert_eq!((image.layer_data.size.0, image.layer_data.size.1), (48, 32));
    let list = image.layer_data.channel_data.list;
    list.into_iter()
        .map(|c| {
            let is_half = matches!(c.sample_data, FlatSamples::F16(_));
            (c.name.to_string(), (c.sample_data.values_as_f32().collect(), is_half))
        })
        .collect()
}

#[test]
fn exr_files_hold_the_linear_picture_and_its_layers() {
    let folder = tempfile::tempdir().unwrap();
    let (light, layers) = Renderer::new(scene()).unwrap().still_linear(1).unwrap();
    let layers = layers.unwrap();
    let images = [
        (&light, &["R", "G", "B"][..], true),
        (&layers.coverage, &["A"], true),
        (&layers.albedo, &["albedo.R", "albedo.G", "albedo.B"], true),
        (&layers.normal, &["normal.X", "normal.Y", "normal.Z"], true),
        (&layers.depth, &["depth.Z"], false),
        (&layers.samples, &["samples.N"], false),
    ];
    for (bits, name) in [("16", "half%d.exr"), ("32", "float%d.exr")] {
        file(folder.path(), name, &["--set", &format!("output.bits={bits}")]);
        let mut read = channels(&folder.path().join(name.replace("%d", "1")));
        for (image, names, may_be_half) in images {
            for (i, &channel) in names.iter().enumerate() {
                let (values, is_half) = read.remove(channel).unwrap_or_else(|| panic!("{name} has no {channel}"));
                assert_eq!(is_half, bits == "16" && may_be_half, "{channel} of {name}");
                for (at, (&got, want)) in
                    values.iter().zip(image.data().iter().skip(i).step_by(names.len())).enumerate()
                {
                    let want = if is_half { openexr::f16::from_f32(*want).to_f32() } else { *want };
                    assert!(got.to_bits() == want.to_bits(), "{channel} of {name}, pixel {at}: {got}, not {want}");
                }
            }
        }
        assert!(read.is_empty(), "{name} also has {:?}", read.keys());
    }
    // The layers contain what their names say.
    let normal = layers.normal.pixel(24, 31);
    assert!(normal[2] > 0.99 && normal[0].abs() < 0.01, "the floor's normal is {normal:?}");
    assert!(layers.samples.data().iter().all(|&n| n == 4.0));
    assert_eq!(layers.coverage.pixel(0, 0), [0.0]);
    assert_eq!(layers.coverage.pixel(24, 31), [1.0]);
    let away = layers.depth.pixel(24, 31)[0];
    assert!((3.0..6.4).contains(&away), "the floor in front is {away} away");
}

#[test]
fn sixteen_bit_files_are_the_same_picture_with_finer_steps() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "deep%d.png", &["--set", "output.bits=16"]);
    file(folder.path(), "plain%d.png", &[]);
    let deep = image::open(folder.path().join("deep1.png")).unwrap();
    assert_eq!(deep.color(), image::ColorType::Rgb16);
    let deep = deep.into_rgb16();
    let plain = image::open(folder.path().join("plain1.png")).unwrap().into_rgb8();
    let mut fine = 0;
    for (d, p) in deep.as_raw().iter().zip(plain.as_raw()) {
        // 8 bits come from a table with steps of its own: up to a quarter of a code beside the rounded curve.
        let eight = f64::from(*d) / 257.0;
        assert!((eight - f64::from(*p)).abs() <= 0.75, "{d} is not {p}");
        fine += u32::from(d % 257 != 0);
    }
    assert!(fine > 1000, "only {fine} values lie between the steps of 8 bits");
}

#[test]
fn stills_are_what_the_program_writes() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "f%d.png", &[]);
    let written = image::open(folder.path().join("f1.png")).unwrap().into_rgba8();
    let still = Renderer::new(scene()).unwrap().still(1).unwrap();
    assert!(still.data() == written.as_raw(), "a still in memory is not the file");
}

// Keeps the numbers of frames; fails at one of them.
struct Numbers(std::sync::mpsc::Sender<u32>, Option<u32>);
impl Sink for Numbers {
    fn needs(&self) -> PixelFormats {
        PixelFormats { rgba8: true, ..PixelFormats::default() }
    }
    fn frame(&mut self, frame: &RenderedFrame) -> Result<(), OutputError> {
        assert_eq!(frame.rgba8().len(), 48 * 32 * 4);
        if self.1 == Some(frame.number) {
            return Err(OutputError::Custom("full".into()));
        }
        self.0.send(frame.number).map_err(|e| OutputError::Custom(e.into()))
    }
}

#[test]
fn sinks_of_others_get_frames_in_order_and_may_fail() {
    for (fails, expected) in [(None, vec![0, 1, 2]), (Some(1), vec![0])] {
        let (to, from) = std::sync::mpsc::channel();
        let mut renderer = Renderer::new(scene()).unwrap();
        let run = renderer.run(&FrameList::all(3), vec![Box::new(Numbers(to, fails))], &mut ());
        assert_eq!(run.is_err(), fails.is_some());
        if let Err(e) = run {
            assert_eq!(e.to_string(), "full");
        }
        drop(renderer);
        assert_eq!(from.iter().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn scenes_built_in_code_are_checked() {
    let refused = |change: fn(&mut Scene), words: &str| {
        let mut scene = scene();
        change(&mut scene);
        match Renderer::new(scene) {
            Err(Error::Scene(problems)) => assert!(problems.to_string().contains(words), "{problems}"),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("taken: {words}"),
        }
    };
    refused(|s| s.output.frames = 0, "frames");
    refused(|s| s.render.width = 0, "size");
    refused(|s| s.world.bodies[0].radius = f64::NAN, "radius");
    refused(|s| s.world.lights[0].position[1] = f64::INFINITY, "position");
    refused(|s| s.world.spheres[0].radius = -1.0, "radius");
    assert!(matches!(Renderer::new(scene()).unwrap().still(3), Err(Error::Usage(_))));
}

fn request(folder: &Path) -> RunRequest {
    RunRequest::new(scene()).files(folder.join("%02d.png")).unwrap()
}

#[test]
fn a_run_is_cancelled_and_another_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let cancel = Cancel::new();
    cancel.stop();
    let stopped = request(folder.path()).cancel(cancel).plan(&mut ()).unwrap().run(&mut ());
    assert!(matches!(stopped, Err(Error::Interrupted { done: 0, total: 3 })), "{stopped:?}");
    let first = request(folder.path()).frames(FrameList::one(1)).resume().plan(&mut ()).unwrap().run(&mut ()).unwrap();
    assert_eq!((first.frames, first.skipped), (1, 0));
    // Nothing is replaced that nobody wants replaced.
    let Err(Error::Usage(why)) = request(folder.path()).plan(&mut ()) else { panic!("frame 1 exists") };
    assert!(why.to_string().contains("01.png already exists"), "{why}");
    let plan = request(folder.path()).resume().plan(&mut ()).unwrap();
    assert_eq!((plan.to_render().unwrap().to_string().as_str(), plan.done()), ("0,2", 1));
    assert_eq!(plan.run(&mut ()).unwrap().frames, 2);
    let again = request(folder.path()).resume().plan(&mut ()).unwrap();
    assert!(again.to_render().is_none());
    assert_eq!(again.run(&mut ()).unwrap().skipped, 3);
    // The program goes on with the same folder: it is of the same scene.
    file(folder.path(), "%02d.png", &["--resume"]);
}

// Frames of a clip never mix two contents of a file.
#[test]
fn files_that_change_during_a_run_end_it_or_are_read_once() {
    const FRAMES: u32 = 6;
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let sky = |red: u8| {
        let pixels = [red, 40, 40, 129].repeat(128);
        std::fs::write(at("sky.hdr"), [b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 8 +X 16\n", &pixels[..]].concat())
            .unwrap();
    };
    let step = |n: u32, x: f64| std::fs::write(at(&format!("g{n}.csv")), format!("x,y,z,r\n{x:.3},0,0,1\n")).unwrap();
    sky(40);
    (0..FRAMES).for_each(|n| step(n, f64::from(n) / 8.0));
    let text = SCENE.replace("frames = 3", &format!("frames = {FRAMES}"))
        + "[sky]\nimage = \"sky.hdr\"\nintensity = { keys = [[0, 1], [1, 2]] }\n\
           [particles]\npath = \"g%d.csv\"\ncolor_by = \"nothing\"\n";
    let plan = |to: &str, is_resumed: bool| {
        let scene = Scene::parse(&text, "scene", dir.path()).unwrap().scene;
        let request = RunRequest::new(scene).files(at(to).join("%d.png")).unwrap();
        let options = polyfly::RenderOptions::new().devices(polyfly::Devices::Cpu);
        let request = request.options(options);
        if is_resumed { request.resume() } else { request }.plan(&mut ()).unwrap()
    };
    plan("whole", false).run(&mut ()).unwrap();
    let changed = |result: Result<_, Error>, name: &str| match result.map(drop) {
        Err(Error::Asset(e)) => assert!(e.path.ends_with(name) && e.to_string().contains("has changed"), "{e}"),
        other => panic!("{name}: {other:?}"),
    };
    // After the checksums are in the manifest, and before the files are read.
    let planned = plan("mixed", false);
    sky(200);
    changed(planned.run(&mut ()), "sky.hdr");
    sky(40);
    // After the files are read: the sky is in memory, and the file of a later step is not.
    let open = plan("mixed", true).open(&mut ()).unwrap();
    sky(200);
    step(4, 2.0);
    changed(open.render(&mut ()), "g4.csv");
    sky(40);
    step(4, 0.5);
    plan("mixed", true).run(&mut ()).unwrap();
    for n in 0..FRAMES {
        let frame = |folder: &str| std::fs::read(at(folder).join(format!("{n}.png"))).unwrap();
        assert!(frame("whole") == frame("mixed"), "frame {n}");
    }
}

#[test]
fn frames_of_ones_own_become_a_video() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.y4m");
    let options = VideoOptions::new().fps(24.0);
    let mut video = Box::new(VideoSink::create(&path, &FrameList::all(2), &options).unwrap());
    video.open(&RunInfo { frames: 2, first: 0, width: 6, height: 4 }).unwrap();
    for number in 0..2 {
        video.frame(&RenderedFrame::of_rgba8(number, (6, 4), &[255; 6 * 4 * 4])).unwrap();
    }
    assert_eq!(video.finish(Outcome::Complete).unwrap().as_deref(), Some(path.as_path()));
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"YUV4MPEG2 W6 H4 F24:1"));
    // White is code 235, without color.
    let planes = bytes.split(|&b| b == b'\n').next_back().unwrap();
    assert_eq!((planes.len(), planes[0], planes[24]), (36, 235, 128));
    let Err(Error::Usage(why)) = VideoSink::create("own.txt", &FrameList::all(2), &options).map(drop) else { panic!() };
    assert!(why.to_string().contains("is a `.txt` file: expected a name that ends in"), "{why}");
}

#[test]
fn a_renderer_goes_on_after_a_sink_has_failed() {
    let mut renderer = Renderer::new(scene()).unwrap();
    let (to, _from) = std::sync::mpsc::channel();
    renderer.run(&FrameList::all(3), vec![Box::new(Numbers(to, Some(0)))], &mut ()).unwrap_err();
    assert_eq!(renderer.still(2).unwrap().width(), 48);
}

#[test]
fn scenes_are_read_from_files_and_changed_by_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, SCENE).unwrap();
    let read = Scene::load(&path).unwrap();
    assert_eq!(read.world, scene().world);
    assert_eq!(read.with("output.frames", "7").unwrap().output.frames, 7);
    let Err(Error::Scene(problems)) = read.with("output.frames", "-7") else { panic!("frames below 0") };
    assert!(problems.to_string().contains("frames"), "{problems}");
    assert!(matches!(Scene::load(folder.path().join("none.toml")), Err(Error::Read(..))));
    std::fs::write(&path, [0x89, b'P', b'N', b'G', 0]).unwrap();
    assert!(matches!(Scene::load(&path), Err(Error::NotText(..))));
}
