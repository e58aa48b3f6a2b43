//! The shapes of a scene: some of each kind, or a packing of balls.

use super::{MaterialUse, SceneMaker};
use crate::scene::limits::MIN_LENGTH;

impl SceneMaker<'_> {
    pub(super) fn shapes(&mut self) {
        if self.some(0.15) {
            self.packing();
            return;
        }
        self.bodies();
        self.spheres();
        self.rectangles();
        self.ellipsoids();
        self.mesh();
        self.particles();
    }
    // Balls of a similar size that fill their space, for which there is a grid.
    fn packing(&mut self) {
        let counts: [i32; 3] = self.one_of(&[[9, 9, 1], [5, 5, 4], [2, 20, 3], [100, 1, 1]]);
        let (apart, share) = (self.length(0.05, 0.5), self.one_of(&[0.2, 0.45, 0.9]));
        let place = |i: i32, n: i32| f64::from(2 * i - n) * 0.5 * apart;
        for i in 0..counts.iter().product() {
            let at = [i % counts[0], i / counts[0] % counts[1], i / counts[0] / counts[1]];
            let [x, y, z] = [0, 1, 2].map(|k| place(at[k], counts[k]) + self.between(-0.3, 0.3) * apart);
            let radius = (apart * share * self.between(0.7, 1.2)).max(MIN_LENGTH);
            self.add(format_args!("[[sphere]]\ncenter = [{x:e}, {y:e}, {z:e}]\nradius = {radius:e}"));
            if self.chance(0.02) {
                self.material(MaterialUse::Thing);
            }
        }
        if self.chance(0.5) {
            self.spheres();
        }
    }
}
