//! Shapes, their materials and the tree over them: the arrays that a time step replaces.

use super::film::Films;
use super::lazy::{LazyTrees, Missing, MissingTrees, Span, measure};
use super::shapes::particle::{self, FlatParticles};
use super::shapes::{ellipsoid, isolation, leaf_code, polyhedron, sphere, triangle};
use super::upload::ArrayUploader;
use super::{finish, materials};
use crate::assets::Assets;
use crate::assets::mesh::Triangles;
use crate::assets::particles::ColouredSpheres;
use crate::gpu_types::{
    Body, Cone, Constants, Cut, Ellipsoid, Emitter, FEATURE_ARRAYS, FEATURE_BODIES, FEATURE_CONES, FEATURE_CUTS,
    FEATURE_ELLIPSOIDS, FEATURE_FINISHES, FEATURE_PAINT, FEATURE_ROUGHNESS, FEATURE_SMOOTH_NORMALS, FEATURE_SPHERES,
    FEATURE_TREE, FEATURE_TRIANGLES, FeatureSet, Finish, GRID_FEATURES, Grid as GpuGrid, Material, NO_BVH, Node,
    SHAPE_BODY, SHAPE_CONE, SHAPE_ELLIPSOID, SHAPE_SPHERE, SHAPE_TRIANGLE, SMALL_BODIES, SMALL_SLABS,
    Scene as GpuScene, Slab, Sphere, Triangle,
};
use crate::math::bounds::around;
use crate::math::bvh::{Bounds, Forest, Group, MANY, Subtree};
use crate::math::grid::{Ball, Grid, Lattice, QUICK_BALLS};
use crate::math::vec3::{Vec3, add, dot, length, normalise, sub, to_f32};
use crate::scene::Scene;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// In place of a tree: what is missing, the threads that build what a device does not make, and the same shapes with their tree.
#[derive(Clone, Debug)]
pub struct LazyTree {
    pub missing: Missing,
    pub pool: Arc<rayon::ThreadPool>,
    built: OnceLock<Box<Geometry>>,
}

/// All shapes except the floor.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    /// The face planes of all bodies.
    pub slabs: Vec<Slab>,
    pub bodies: Vec<Body>,
    /// The pictures on each body; empty if none has any.
    pub finishes: Vec<Finish>,
    /// The light map of lamps on the floor, with texels in the order of the floor's texture.
    pub lightmap: Vec<i32>,
    pub nodes: Vec<Node>,
    /// The root: a node, a leaf of few bodies, or [`NO_BVH`].
    pub root: i32,
    /// The number of the first spheres that are much larger than the others.
    pub large: u32,
    /// A grid over the other spheres, if kernels for grids can render the scene.
    pub grid: Option<Grid>,
    /// What there is in place of the tree; None if it is built.
    pub lazy: Option<LazyTree>,
    /// Spheres in the order of the tree's leaves; without a tree those of files as they come.
    pub spheres: Arc<Vec<Sphere>>,
    /// The material indices of the spheres.
    pub sphere_materials: Vec<i32>,
    /// Triangles in the order of the tree's leaves.
    pub triangles: Vec<Triangle>,
    /// Ellipsoids in the order of the tree's leaves.
    pub ellipsoids: Vec<Ellipsoid>,
    pub cones: Vec<Cone>,
    /// Planes that cut particles open.
    pub cuts: Vec<Cut>,
    /// Vertex normals of smooth triangles, nine numbers each.
    pub normals: Vec<[[f32; 3]; 3]>,
    pub materials: Vec<Material>,
    /// The tables of thin films.
    pub films: Vec<[f32; 3]>,
    /// Emitters that are sampled for light (see emitters.rs).
    pub emitters: Vec<Emitter>,
    /// The probability of an emitter divided by its brightness times its size.
    pub emitter_scale: f32,
    /// The minimum probability of an emitter.
    pub emitter_min: f32,
    /// The features that the shapes need from kernels, as bits of Constants::features.
    pub features: FeatureSet,
    /// A bound of all coordinates, including those of the floor and the camera.
    pub reach: f32,
}

// As many triangles one thread takes.
const SERIAL: usize = 4096;

impl Geometry {
    /// The shapes of a scene, relative to the origin of its assets; `others` are the features of everything else.
    pub fn new(scene: &Scene, assets: &Assets, others: FeatureSet, lazy: &LazyTrees) -> Geometry {
        let world = &scene.world;
        let mut slabs = Vec::new();
        let isolated = isolation::isolated(scene, assets);
        let floor = world.floor.as_ref();
        let mut films = Films::default();
        let mut all: Vec<Material> =
            floor.map(|f| materials::floor(scene, &f.material, &mut films)).into_iter().collect();
        let ground = floor.filter(|f| f.has_ground()).and_then(|f| f.ground);
        all.extend(ground.into_iter().flat_map(|colour| materials::ground(scene, colour, &mut films)));
        let isolated_bodies = isolated.iter().enumerate();
        let bodies: Vec<Body> = isolated_bodies
            .map(|(k, &is)| polyhedron::flatten(scene, k, is, &mut slabs, &mut all, &mut films))
            .collect();
        let first = all.len() as i32;
        all.extend(world.spheres.iter().map(|s| materials::flatten(scene, &s.material, &mut films)));
        let [finishes, of_rectangles] = finish::flatten(world, &assets.finishes);
        let mut g = Geometry {
            slabs,
            bodies,
            finishes,
            spheres: Arc::new(world.spheres.iter().map(sphere::flatten).collect()),
            sphere_materials: (first..all.len() as i32).collect(),
            materials: all,
            ..Geometry::default()
        };
        let mut shaped = FlatParticles::default();
        if let Some(particles) = &assets.particles {
            let first = g.materials.len() as i32;
            g.add_colours(scene, assets, particles, &mut films);
            let base = g.materials.clone();
            let mut bevelled: HashMap<(u16, u32), i32> = HashMap::new();
            let material = |colour: u16, width: f32| {
                *bevelled.entry((colour, width.to_bits())).or_insert_with(|| {
                    let plain = first + i32::from(colour);
                    let (bevel, material) = (if width > 0.0 { 1.0 / width } else { 0.0 }, base[plain as usize]);
                    if bevel == 0.0 && material.emission == [0.0; 3] {
                        return plain;
                    }
                    g.materials.push(Material { bevel, emission: [0.0; 3], ..material });
                    g.materials.len() as i32 - 1
                })
            };
            shaped = particle::flatten(&particles.shaped, [g.bodies.len(), g.slabs.len()], material);
            g.slabs.append(&mut shaped.slabs);
            g.bodies.append(&mut shaped.bodies);
            match g.spheres.is_empty() {
                true => g.spheres = Arc::clone(&particles.spheres),
                false => Arc::make_mut(&mut g.spheres).par_extend(particles.spheres.par_iter()),
            }
            g.sphere_materials.par_extend(particles.colour_indices.par_iter().map(|&i| first + i32::from(i)));
        }
        if !assets.finishes.is_empty() {
            g.finishes.resize(g.bodies.len(), Finish::default());
            g.finishes.extend(&of_rectangles);
        }
        let mut meshes = Vec::new();
        for (i, (material, Triangles { corners, normals })) in
            world.panel_materials().zip(assets.meshes.iter()).enumerate()
        {
            let picture =
                i.checked_sub(world.meshes.len()).filter(|&i| of_rectangles.get(i).is_some_and(|f| f.paints > 0));
            let material_index = g.materials.len() as i32;
            g.materials.push(materials::flatten(scene, material, &mut films));
            meshes.push((g.triangles.len(), corners.len()));
            let first = g.normals.len() as i32;
            g.normals.extend(normals);
            let smooth = |i: i32| match picture {
                Some(picture) => -1 - (g.bodies.len() + picture) as i32,
                None if normals.is_empty() => 0,
                None => first + i + 1,
            };
            let all = corners.par_iter().enumerate().with_min_len(SERIAL);
            g.triangles.par_extend(all.map(|(i, t)| triangle::flatten(t, material_index, smooth(i as i32))));
        }
        for e in &world.ellipsoids {
            let material = materials::index(&mut g.materials, materials::flatten(scene, &e.material, &mut films));
            g.ellipsoids.push(ellipsoid::flatten(e, material));
        }
        g.ellipsoids.append(&mut shaped.ellipsoids);
        g.cones = std::mem::take(&mut shaped.cones);
        g.films = films.into_tables();
        // A small scene has a material for each body.
        let is_small = g.bodies.len() == world.bodies.len()
            && g.bodies.len() <= SMALL_BODIES as usize
            && g.slabs.len() <= SMALL_SLABS as usize;
        g.features = shaped.features | g.needed(scene, is_small);
        let eye = scene.camera_reach(assets.origin());
        let sides = floor.iter().flat_map(|f| f.sides()).map(|[corner, _, down]| add(corner, down));
        let corners = floor.iter().flat_map(|f| f.corners).chain(sides);
        g.reach = corners.map(length).fold(eye, f64::max) as f32;
        if !g.leaves_out_tree(others, lazy) {
            g.build_tree(scene, &shaped, &meshes, lazy);
        }
        g
    }

    // Adds the materials of particles, and the planes that cut them open.
    fn add_colours(&mut self, scene: &Scene, assets: &Assets, particles: &ColouredSpheres, films: &mut Films) {
        let first = self.materials.len();
        // The colors are those of a map, or of the material, which may change over the clip.
        let own = scene.world.particles.as_ref().map(|p| p.material).filter(|_| !scene.tracks.is_empty());
        let now = |m: &crate::scene::Material| match own {
            Some(own) if particles.range.is_some() || m.colour != particles.colours[0].colour => {
                crate::scene::Material { colour: m.colour, ..own }
            }
            own => own.unwrap_or(*m),
        };
        self.materials.extend(particles.colours.iter().map(|m| materials::flatten(scene, &now(m), films)));
        let cuts = scene.world.particles.iter().flat_map(|p| &p.cuts);
        self.cuts = cuts.map(|cut| flat_cut(cut, assets.origin())).collect();
        let is_cut = i32::from(!self.cuts.is_empty());
        self.materials[first..].iter_mut().for_each(|material| material.cut = is_cut);
    }

    // The features that the scene's own shapes and all materials need; a small scene has no arrays.
    fn needed(&self, scene: &Scene, is_small: bool) -> FeatureSet {
        let of_bodies = scene.world.bodies.iter().map(|body| polyhedron::features(scene, body));
        let of_materials = scene.world.materials().map(|m| materials::features(scene, m));
        let of_all = self.materials.iter().map(materials::features_of);
        FEATURE_TREE
            | of_all.fold(0, |all, one| all | one)
            | (FeatureSet::from(!self.bodies.is_empty()) * FEATURE_BODIES)
            | (FeatureSet::from(!self.spheres.is_empty()) * FEATURE_SPHERES)
            | (FeatureSet::from(!self.triangles.is_empty()) * FEATURE_TRIANGLES)
            | of_bodies.chain(of_materials).fold(0, |all, one| all | one)
            | (FeatureSet::from(!self.is_bodies_only() || !is_small) * FEATURE_ARRAYS)
            | (FeatureSet::from(!self.ellipsoids.is_empty()) * FEATURE_ELLIPSOIDS)
            | (FeatureSet::from(!self.cones.is_empty()) * FEATURE_CONES)
            | (FeatureSet::from(!self.cuts.is_empty()) * (FEATURE_CUTS | FEATURE_ARRAYS))
            | (FeatureSet::from(!self.normals.is_empty()) * FEATURE_SMOOTH_NORMALS)
            | (FeatureSet::from(!self.finishes.is_empty()) * (FEATURE_FINISHES | FEATURE_ROUGHNESS))
            | (FeatureSet::from(self.finishes.iter().any(|finish| finish.paints > 0)) * FEATURE_PAINT)
    }

    /// `scene` with these arrays, uploaded by `to`.
    pub fn place<P: ArrayUploader>(&self, to: &mut P, scene: &GpuScene) -> Result<GpuScene, P::Error> {
        let grid = self.grid.as_ref();
        let mut placed = GpuScene {
            slabs: to.push(&self.slabs)?,
            bodies: to.push(&self.bodies)?,
            finishes: to.push(&self.finishes)?,
            lightmap: to.push(&self.lightmap)?,
            nodes: to.push(&self.nodes)?,
            spheres: to.push(&self.spheres)?,
            sphere_materials: to.push(&self.sphere_materials)?,
            triangles: to.push(&self.triangles)?,
            ellipsoids: to.push(&self.ellipsoids)?,
            cones: to.push(&self.cones)?,
            cuts: to.push(&self.cuts)?,
            normals: to.push(self.normals.as_flattened().as_flattened())?,
            materials: to.push(&self.materials)?,
            films: to.push(self.films.as_flattened())?,
            emitters: to.push(&self.emitters)?,
            cells: to.push(grid.map_or(&[][..], |g| &g.cells))?,
            cell_balls: to.push(grid.map_or(&[][..], |g| &g.balls))?,
            grid: grid.map_or_else(GpuGrid::default, |g| self.placed_grid(&g.lattice)),
            ..*scene
        };
        self.set_constants(&mut placed.constants);
        Ok(placed)
    }
    /// Writes the root, the features and the emitters' scale into the constants.
    pub fn set_constants(&self, constants: &mut Constants) {
        constants.bvh_root = self.root;
        constants.features |= self.features;
        (constants.emitter_scale, constants.emitter_min) = (self.emitter_scale, self.emitter_min);
    }

    // Whether there are kernels that render the shapes by a grid. Shadow rays meet balls in another order than in the tree, and the order
    // of factors can change their product: so no ball may let light through.
    fn has_grid_kernels(&self, others: FeatureSet) -> bool {
        let opaque = |m: &Material| m.stops_shadow_rays != 0 || m.transmit == [0.0; 3];
        let is_balls_only = self.bodies.is_empty() && self.has_plain_shapes();
        let is_covered = (self.features & !FEATURE_TREE | others) & !GRID_FEATURES == 0;
        is_covered && is_balls_only && self.materials.iter().all(opaque)
    }

    /// Makes a grid beside the tree, if there are kernels for it and it pays; `rays` is the number of those from the camera.
    pub fn add_grid(&mut self, others: FeatureSet, rays: u64) {
        let pays = Grid::pays(self.spheres.len() - self.large as usize, rays);
        if self.lazy.is_none() && pays && self.has_grid_kernels(others) {
            let balls: Vec<Ball> = self.spheres.par_iter().map(|s| (s.centre, s.radius)).collect();
            self.grid = Grid::new(&balls, self.large as usize, self.reach);
        }
        if self.grid.is_some() {
            self.features &= !FEATURE_TREE;
        }
    }

    /// The grid in the kernels' format.
    pub fn placed_grid(&self, grid: &Lattice) -> GpuGrid {
        let [centre, half] = grid.bounds();
        GpuGrid {
            centre,
            large: self.large as i32,
            half,
            lower: grid.lower,
            side: grid.side,
            per_length: grid.side.map(|s| 1.0 / s),
            cells: grid.counts.map(|n| n as i32),
            ..GpuGrid::default()
        }
    }

    // Leaves out the tree if there may be devices that do without. Few balls have their tree and their grid at once.
    fn leaves_out_tree(&mut self, others: FeatureSet, lazy: &LazyTrees) -> bool {
        let Some(pool) = lazy else { return false };
        if self.spheres.len() <= QUICK_BALLS || !self.has_grid_kernels(others) {
            return false;
        }
        let (large, extent, farthest) = measure(&self.spheres);
        let reach = self.reach.max(farthest);
        let Some(lattice) = Lattice::new(&extent, reach) else { return false };
        for (to, from) in large.iter().enumerate() {
            Arc::make_mut(&mut self.spheres).swap(to, *from);
            self.sphere_materials.swap(to, *from);
        }
        (self.reach, self.root, self.large) = (reach, NO_BVH, large.len() as u32);
        self.leave_out(Missing::Cells(lattice), pool);
        true
    }
    fn leave_out(&mut self, missing: Missing, pool: &Arc<rayon::ThreadPool>) {
        self.lazy = Some(LazyTree { missing, pool: Arc::clone(pool), built: OnceLock::new() });
    }

    /// The same shapes with their tree, which is built now if it was left out.
    pub fn with_tree(&self) -> &Geometry {
        let Some(LazyTree { missing, pool, built }) = &self.lazy else { return self };
        built.get().unwrap_or_else(|| {
            // No thread waits for another one here, which may be a task of the same pool: two that come at once both build it.
            let now = Box::new(pool.install(|| self.built(missing)));
            built.get_or_init(|| now)
        })
    }

    // The same shapes with their tree.
    fn built(&self, missing: &Missing) -> Geometry {
        let mut all = Geometry { lazy: None, ..self.clone() };
        match missing {
            Missing::Cells(_) => {
                let boxes: Vec<Bounds> = self.spheres.par_iter().map(sphere::bounds).collect();
                let balls = Span { kind: SHAPE_SPHERE, first: 0, count: boxes.len(), is_rectangle: false };
                let forest = Forest::plant(&[balls.group(&boxes)], &self.node_maker(), |_| false);
                all.large = forest.large[0];
                all.sort(&[balls], &forest.orders);
                all.join(forest);
            }
            Missing::Trees(MissingTrees { forest, spans, .. }) => {
                let mut forest = forest.clone();
                for at in forest.missing() {
                    let (span, large) = (spans[at], forest.large[at]);
                    let boxes = self.boxes(span.after(large));
                    let (root, order) = forest.grow(&boxes, &span.group(&[]), large, &self.node_maker());
                    let order = (0..large).chain(order.into_iter().map(|i| i + large)).collect();
                    all.sort(&[span], &[order]);
                    forest.add(at, root);
                }
                all.join(forest);
                all.link_twins(spans);
            }
        }
        all
    }

    // Takes the nodes of a forest, whose trees are joined.
    fn join(&mut self, forest: Forest<Node>) {
        let (above, root) = forest.join(forest.nodes.len(), &self.node_maker());
        self.nodes = forest.nodes;
        self.nodes.extend(above);
        self.root = root.unwrap_or(NO_BVH);
    }
    /// Joins the trees of a forest, of which some are elsewhere: `others` are their roots, by group, and what is returned has the numbers
    /// from `first` on.
    pub fn joined(&self, forest: &Forest<Node>, others: &[(usize, Subtree)], first: usize) -> (Vec<Node>, i32) {
        let mut forest = forest.clone();
        others.iter().for_each(|&(group, root)| forest.add(group, root));
        let (above, root) = forest.join(first, &self.node_maker());
        (above, root.unwrap_or(NO_BVH))
    }

    // The boxes of some spheres or triangles.
    fn boxes(&self, Span { kind, first, count, .. }: Span) -> Vec<Bounds> {
        match kind {
            SHAPE_SPHERE => self.spheres[first..first + count].par_iter().map(sphere::bounds).collect(),
            _ => self.triangles[first..first + count].par_iter().map(triangle::bounds).collect(),
        }
    }

    // Sorts the shapes of groups. All spheres are one group.
    fn sort(&mut self, spans: &[Span], orders: &[Vec<u32>]) {
        fn sorted<T: Copy + Send + Sync>(items: &[T], order: &[u32]) -> Vec<T> {
            order.par_iter().map(|&i| items[i as usize]).collect()
        }
        for (span, order) in spans.iter().zip(orders).filter(|(_, order)| !order.is_empty()) {
            if span.kind == SHAPE_SPHERE {
                self.spheres = Arc::new(sorted(&self.spheres, order));
                self.sphere_materials = sorted(&self.sphere_materials, order);
            } else {
                let triangles = &mut self.triangles[span.first..span.first + span.count];
                let new = sorted(triangles, order);
                triangles.copy_from_slice(&new);
            }
        }
    }
    fn link_twins(&mut self, spans: &[Span]) {
        let triangles = spans.iter().filter(|span| span.kind == SHAPE_TRIANGLE);
        triangle::link_twins(&mut self.triangles, triangles.filter(|span| span.is_rectangle).map(|span| span.first));
    }

    /// What boxes are larger by: the rounding error at these coordinates, so that no ray misses a box that it should hit.
    pub fn box_margin(&self) -> f32 {
        self.reach * f32::EPSILON * 6.0
    }

    fn node_maker(&self) -> impl Fn([Bounds; 2], [i32; 2]) -> Node + Sync + use<> {
        let margin = self.box_margin();
        move |bounds, children| node(bounds, children, margin)
    }

    /// Whether all shapes are polyhedra.
    pub fn is_bodies_only(&self) -> bool {
        self.spheres.is_empty() && self.has_plain_shapes()
    }
    // Whether there are no shapes but polyhedra and spheres.
    fn has_plain_shapes(&self) -> bool {
        self.triangles.is_empty() && self.ellipsoids.is_empty() && self.cones.is_empty()
    }

    // Builds the tree, and sorts the shapes into the order of its leaves. Trees of many shapes are left to the devices if they may make
    // them.
    fn build_tree(&mut self, scene: &Scene, shaped: &FlatParticles, meshes: &[(usize, usize)], lazy: &LazyTrees) {
        let own = scene.world.bodies.iter().map(polyhedron::bounds);
        let body_boxes: Vec<Bounds> = own.chain(shaped.body_boxes.iter().copied()).collect();
        let sphere_boxes: Vec<Bounds> = self.spheres.par_iter().map(sphere::bounds).collect();
        let triangle_boxes: Vec<Bounds> = self.triangles.par_iter().map(triangle::bounds).collect();
        let own = scene.world.ellipsoids.iter().map(ellipsoid::bounds);
        let ellipsoid_boxes: Vec<Bounds> = own.chain(shaped.ellipsoid_boxes.iter().copied()).collect();
        let cone_boxes = &shaped.cone_boxes;
        let boxes = [&body_boxes, &sphere_boxes, &triangle_boxes, &ellipsoid_boxes, cone_boxes];
        let farthest = |b: &Bounds| b.as_flattened().iter().fold(0.0_f32, |m, x| m.max(x.abs()));
        let all = boxes.into_par_iter().flatten().map(farthest).reduce(|| 0.0, f32::max);
        self.reach = self.reach.max(all);
        let bodies = self.bodies.len() as u32;
        if bodies <= SMALL_BODIES as u32 && self.is_bodies_only() {
            self.root = if bodies == 0 { NO_BVH } else { leaf_code(SHAPE_BODY, 0)(0, bodies) };
            return;
        }
        let span = |kind, first, count| Span { kind, first, count, is_rectangle: false };
        let mut spans = vec![span(SHAPE_BODY, 0, body_boxes.len()), span(SHAPE_SPHERE, 0, sphere_boxes.len())];
        let rectangles = scene.world.meshes.len();
        spans.extend(
            meshes.iter().enumerate().map(|(i, &(first, count))| Span {
                is_rectangle: i >= rectangles,
                ..span(SHAPE_TRIANGLE, first, count)
            }),
        );
        spans.push(span(SHAPE_ELLIPSOID, 0, ellipsoid_boxes.len()));
        spans.push(span(SHAPE_CONE, 0, cone_boxes.len()));
        let boxes_of = |span: &Span| match span.kind {
            SHAPE_BODY => body_boxes.as_slice(),
            SHAPE_SPHERE => &sphere_boxes,
            SHAPE_TRIANGLE => &triangle_boxes[span.first..span.first + span.count],
            SHAPE_ELLIPSOID => &ellipsoid_boxes,
            _ => cone_boxes,
        };
        let groups: Vec<Group> = spans.iter().map(|span| span.group(boxes_of(span))).collect();
        let pool = lazy.as_ref().filter(|_| self.devices_may_sort(meshes));
        let forest = Forest::plant(&groups, &self.node_maker(), |count| pool.is_some() && count > MANY);
        self.large = forest.large[1];
        self.sort(&spans, &forest.orders);
        self.link_twins(&spans);
        match pool.filter(|_| !forest.missing().is_empty()) {
            Some(pool) => {
                let bounds = |&at: &usize| match forest.large[at] {
                    0 => around(boxes_of(&spans[at])),
                    large => around(&self.boxes(spans[at].after(large))),
                };
                let bounds = forest.missing().iter().map(bounds).collect();
                self.root = NO_BVH;
                self.leave_out(Missing::Trees(MissingTrees { forest, spans, bounds }), pool);
            }
            None => self.join(forest),
        }
    }

    // Whether devices may sort shapes. Emitters name triangles by their numbers; and areas of boxes must be numbers.
    fn devices_may_sort(&self, meshes: &[(usize, usize)]) -> bool {
        let shines = |&(first, count): &(usize, usize)| {
            let one = self.triangles[first..first + count].first();
            one.is_some_and(|t| self.materials[t.material_index as usize].emission != [0.0; 3])
        };
        self.reach < 1e18 && !meshes.iter().any(shines)
    }
}

// A plane relative to an origin.
fn flat_cut(cut: &crate::scene::Cut, origin: Vec3) -> Cut {
    let normal = normalise(cut.normal);
    Cut { n: to_f32(normal), d: dot(normal, sub(cut.point, origin)) as f32 }
}

// The center of a box, and half its sides plus a margin.
fn centre_and_half([lower, upper]: Bounds, margin: f32) -> ([f32; 3], [f32; 3]) {
    let centre = [0, 1, 2].map(|i| f32::midpoint(lower[i], upper[i]));
    (centre, [0, 1, 2].map(|i| (upper[i] - centre[i]).max(centre[i] - lower[i]) + margin))
}

fn node(bounds: [Bounds; 2], [child0, child1]: [i32; 2], margin: f32) -> Node {
    let [(centre0, half0), (centre1, half1)] = bounds.map(|b| centre_and_half(b, margin));
    Node { centre0, half0, centre1, half1, child0, child1, ..Node::default() }
}

#[cfg(test)]
mod tests {
    use crate::gpu_types::{CELL_BALLS, CELL_SHIFT, GRID_CELLS};
    use crate::math::grid;

    #[test]
    fn cells_are_coded_as_kernels_read_them() {
        assert_eq!((grid::CELL_BALLS, grid::CELL_SHIFT), (CELL_BALLS as usize, CELL_SHIFT as u32));
        assert_eq!(grid::MOST_CELLS, GRID_CELLS as usize);
    }
}
