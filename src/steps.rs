//! Simulations: every frame has particles of its own. While a device renders one time step, the next one's
//! file is read and its tree built.

use crate::assets::Assets;
use crate::device::cpu::Cpu;
use crate::device::cuda::Gpu;
use crate::device::{DeviceError, FrameStats};
use crate::layout::{FrameData, Layout, World, frame};
use crate::particles::Cloud;
use crate::pipeline::{Deal, Memory, Picture, Share, Worker};
use crate::scene::{Particles, Scene};
use crossbeam_channel::bounded;

// The triangles of the scene's meshes, which do not move.
type Meshes = std::sync::Arc<Vec<Vec<crate::assets::Corners>>>;

/// A device whose particles can be replaced.
pub trait Stage: Send {
    /// Its name.
    fn name(&self) -> String;
    /// Puts other particles in place of those that are there.
    fn show(&mut self, world: World) -> Result<(), DeviceError>;
    /// Renders a frame.
    fn render(&mut self, camera: &FrameData, picture: &mut Picture) -> Result<FrameStats, DeviceError>;
}

impl Stage for Gpu {
    fn name(&self) -> String {
        Worker::name(self).to_owned()
    }
    fn show(&mut self, world: World) -> Result<(), DeviceError> {
        Gpu::show(self, &world)
    }
    fn render(&mut self, camera: &FrameData, picture: &mut Picture) -> Result<FrameStats, DeviceError> {
        self.still_into(camera, picture)
    }
}

impl Stage for Cpu {
    fn name(&self) -> String {
        "cpu".into()
    }
    fn show(&mut self, world: World) -> Result<(), DeviceError> {
        Cpu::show(self, world);
        Ok(())
    }
    fn render(&mut self, camera: &FrameData, picture: &mut Picture) -> Result<FrameStats, DeviceError> {
        // A GPU may have used this memory: its planes are another frame's.
        picture.yuv = Memory::default();
        let rest = self.layout().host().rest;
        let bytes = 4 * rest.width as usize * rest.height as usize;
        Ok(self.render_rows(camera, 0, picture.rgba.sized(bytes)))
    }
}

/// A device that works through time steps.
pub struct Steps<'a> {
    stage: Box<dyn Stage + 'a>,
    name: String,
    scene: &'a Scene,
    layout: &'a Layout,
    particles: Particles,
    meshes: Meshes,
    share: Share,
}

impl<'a> Steps<'a> {
    /// `layout` and `assets` are the scene's first frame, which fixes the colour map's ends.
    pub fn new(stage: Box<dyn Stage + 'a>, scene: &'a Scene, layout: &'a Layout, assets: &Assets) -> Option<Steps<'a>> {
        let mut particles = scene.particles.clone()?;
        particles.range = assets.particles.as_ref().and_then(|p| p.range).or(particles.range);
        let name = stage.name();
        let share = Share::new(&name);
        Some(Steps { stage, name, scene, layout, particles, meshes: assets.meshes.clone(), share })
    }
}

// A time step that is ready to be rendered, or why it is not.
struct Step {
    index: usize,
    number: u32,
    picture: Picture,
    world: Result<World, DeviceError>,
}

impl Worker for Steps<'_> {
    fn name(&self) -> &str {
        &self.name
    }
    fn in_flight(&self) -> usize {
        3
    }
    fn run(&mut self, deal: &Deal) -> Result<(), (DeviceError, Vec<usize>)> {
        let (send, ready) = bounded::<Step>(1);
        let (scene, layout) = (self.scene, self.layout);
        let (particles, meshes) = (&self.particles, &self.meshes);
        let (stage, share) = (&mut self.stage, &mut self.share);
        std::thread::scope(|threads| {
            // Gives the frame that nobody took, at the end.
            let reader = threads.spawn(move || {
                while let Some((mut hand, picture)) = deal.take(true) {
                    let world = Cloud::load(particles, hand.frame()).map(|cloud| {
                        let assets = Assets { particles: Some(cloud), meshes: meshes.clone(), ..Assets::default() };
                        layout.new_world(scene, &assets)
                    });
                    let world = world.map_err(|e| DeviceError::Input(e.to_string()));
                    let (index, number) = hand.keep();
                    if send.send(Step { index, number, picture, world }).is_err() {
                        return Some(index);
                    }
                }
                None
            });
            let mut failed = None;
            for mut step in &ready {
                let done = step.world.and_then(|world| {
                    stage.show(world)?;
                    stage.render(&frame(scene, step.number), &mut step.picture)
                });
                match done {
                    Ok(stats) => {
                        share.add(&stats);
                        deal.finish(step.index, step.number, step.picture, stats);
                    }
                    Err(e) => {
                        failed = Some((e, step.index));
                        break;
                    }
                }
            }
            let Some((e, index)) = failed else { return Ok(()) };
            let mut lost: Vec<usize> = ready.try_iter().map(|s| s.index).collect();
            drop(ready);
            lost.extend(reader.join().ok().flatten());
            lost.push(index);
            Err((e, lost))
        })
    }
    fn shares(&self) -> Vec<Share> {
        vec![self.share.clone()]
    }
}
