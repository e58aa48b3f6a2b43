//! Meshes of triangles: OBJ, and PLY in text or binary.

use super::error::AssetError;
use super::files::Files;
use super::source::Limits;
use crate::language::{Message, msg};
use crate::math::vec3::{Vec3, dot, to_f32};
use crate::quote::brief;
use crate::scene::text::diagnostic::Rule;
use crate::scene::world::standing::{Ground, Shape};
use crate::scene::{Mesh, Rectangle};
use crate::system::extension;
use ply_rs_bw::parser::{ParseError, Parser, Reader};
use ply_rs_bw::ply::{Property, PropertyAccess, PropertyAccessResult};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// A triangle's corners, or one attribute of each corner.
pub type Corners = [[f32; 3]; 3];

/// The triangles of a file.
#[derive(Clone, Debug, Default)]
pub struct Triangles {
    pub corners: Vec<Corners>,
    /// Shading normals at the corners; empty if the file has none, or if the scene asks for facets.
    pub normals: Vec<Corners>,
}

impl Triangles {
    /// The two halves of a rectangle. The last edge of both is its diagonal (kernels/shapes/triangle.cuh), so the second half
    /// is wound the other way.
    pub fn of_rectangle(rectangle: &Rectangle) -> Triangles {
        let [a, b, c, d] = rectangle.corners().map(to_f32);
        Triangles { corners: vec![[a, b, c], [a, d, c]], normals: Vec::new() }
    }
}

// Triangles that the meshes of a scene may have regardless of file size: they take less than a second, and half a
// gigabyte. Larger meshes need four bytes of file per triangle.
const TRIANGLES_OF_SMALL: u64 = 2_000_000;
const BYTES_A_TRIANGLE: u64 = 4;
// Memory per triangle, from its file to the hierarchy (measured: 180 to 200 bytes).
const TAKEN_A_TRIANGLE: u64 = 200;

/// Reads the meshes of a scene and transforms them; a file that is named several times is read once.
///
/// # Errors
/// A file is not a mesh, the meshes have too many triangles, or one cannot stand on the floor.
pub fn load_all(meshes: &[Mesh], ground: Result<Ground, Message>, files: &Files) -> Result<Vec<Triangles>, AssetError> {
    let mut uses = BTreeMap::<&Path, usize>::new();
    meshes.iter().for_each(|mesh| *uses.entry(&mesh.path).or_default() += 1);
    let bytes: u64 = uses.keys().map(|path| std::fs::metadata(path).map_or(0, |what| what.len())).sum();
    let mut room = TriangleBudget::of(bytes, files.limits);
    let mut kept = BTreeMap::<&Path, Triangles>::new();
    let load = |mesh| {
        let Mesh { path, .. }: &Mesh = mesh;
        let triangles = match kept.remove(path.as_path()) {
            Some(triangles) => triangles,
            None => read(path, files, &room)?,
        };
        room.take(triangles.corners.len(), path)?;
        let more = uses.entry(path).and_modify(|n| *n -= 1).or_default();
        if *more > 0 {
            kept.insert(path, triangles.clone());
        }
        placed(mesh, ground.clone(), triangles)
    };
    meshes.iter().map(load).collect()
}

// The remaining number of triangles.
struct TriangleBudget {
    left: u64,
    max: u64,
}

impl TriangleBudget {
    // The budget for files of that many bytes.
    fn of(bytes: u64, limits: Limits) -> TriangleBudget {
        let max = limits.triangles.unwrap_or(TRIANGLES_OF_SMALL.max(bytes / BYTES_A_TRIANGLE));
        let fits = limits.memory.map_or(u64::MAX, |memory| memory / TAKEN_A_TRIANGLE);
        let max = max.min(fits);
        TriangleBudget { left: max, max }
    }
    fn check(&self, count: usize, path: &Path) -> Result<(), AssetError> {
        match count as u64 <= self.left {
            true => Ok(()),
            false => {
                let error = AssetError::new(
                    path,
                    msg!("with this mesh the scene has more than {max} triangles", max = self.max),
                );
                Err(error.help(msg!("give smaller ones, or raise --limit-memory")))
            }
        }
    }
    fn take(&mut self, count: usize, path: &Path) -> Result<(), AssetError> {
        self.check(count, path)?;
        self.left -= count as u64;
        Ok(())
    }
}

// The triangles of a file, untransformed.
fn read(path: &Path, files: &Files, room: &TriangleBudget) -> Result<Triangles, AssetError> {
    match extension(path).as_str() {
        "obj" => files.read_by("mesh", path, |file| load_obj(path, file, room)),
        "ply" => files.read_by("mesh", path, |file| load_ply(path, file, room)),
        _ => Err(AssetError::broken("mesh", path, msg!("it is neither .obj nor .ply; export it as one of them"))),
    }
}

impl Shape for Triangles {
    fn size(&self) -> f64 {
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        axes.map(|axis| (self.reach(axis) + self.reach(axis.map(|x| -x))) / 2.0).into_iter().fold(0.0, f64::max)
    }
    fn reach(&self, direction: Vec3) -> f64 {
        let points = self.corners.as_flattened().iter();
        points.map(|p| dot(p.map(f64::from), direction)).fold(f64::MIN, f64::max)
    }
}

// Transforms them into the scene.
fn placed(mesh: &Mesh, ground: Result<Ground, Message>, mut triangles: Triangles) -> Result<Triangles, AssetError> {
    if triangles.corners.is_empty() {
        return Err(AssetError::broken("mesh", &mesh.path, msg!("it has no faces")));
    }
    let scale = mesh.scale as f32;
    // If y is up, z points toward the viewer.
    let upright = |p: [f32; 3]| if mesh.z_up { p } else { [p[0], -p[2], p[1]] };
    triangles.corners.iter_mut().flatten().for_each(|p| *p = upright(*p).map(|x| x * scale));
    let mut offset = mesh.offset;
    if mesh.on.is_some() {
        let height = ground.and_then(|ground| ground.height(&triangles, offset));
        offset[2] = height
            .map_err(|why| AssetError::new(&mesh.path, msg!("the mesh cannot stand on the floor: {why}", why)))?;
    }
    let offset = offset.map(|x| x as f32);
    triangles.corners.iter_mut().flatten().for_each(|p| *p = [0, 1, 2].map(|i| p[i] + offset[i]));
    triangles.normals.iter_mut().flatten().for_each(|n| *n = upright(*n));
    // Normals that are NaN or zero are ignored.
    let is_direction = |n: &[f32; 3]| (1e-6..1e6).contains(&n.iter().map(|x| x * x).sum::<f32>());
    if !mesh.smooth || !triangles.normals.iter().flatten().all(is_direction) {
        triangles.normals.clear();
    }
    if let Some(x) =
        triangles.corners.as_flattened().as_flattened().iter().find(|&&x| !Rule::Coordinate.allows(x.into()))
    {
        let what = msg!(
            "a coordinate is {number}; expected {expected}",
            number = format_args!("{x:e}"),
            expected = Rule::Coordinate.expected()
        );
        return Err(AssetError::broken("mesh", &mesh.path, what));
    }
    Ok(triangles)
}

// Triangulates the faces. A face's corners are indices into `points`, with one point per vertex or per normal.
fn fan(
    path: &Path,
    points: &[[f32; 3]],
    faces: impl Iterator<Item = Vec<i64>>,
    room: &TriangleBudget,
) -> Result<Vec<Corners>, AssetError> {
    let mut triangles = Vec::new();
    for (n, face) in faces.enumerate() {
        let point = |i: i64| usize::try_from(i).ok().and_then(|i| points.get(i)).copied();
        let Some(face) = face.iter().map(|&i| point(i)).collect::<Option<Vec<_>>>() else {
            let bad = face.iter().find(|&&i| point(i).is_none()).unwrap_or(&0);
            let what = msg!(
                "face {face} names vertex {vertex}, and there are {count} (from 0)",
                face = n + 1,
                vertex = bad,
                count = points.len()
            );
            return Err(AssetError::broken("mesh", path, what));
        };
        room.check(triangles.len() + face.len().saturating_sub(2), path)?;
        triangles.extend((2..face.len()).map(|i| [face[0], face[i - 1], face[i]]));
    }
    Ok(triangles)
}

fn load_obj(path: &Path, file: File, room: &TriangleBudget) -> Result<Triangles, AssetError> {
    let options = tobj::LoadOptions { triangulate: false, single_index: false, ..tobj::LoadOptions::default() };
    // Materials come from the scene, not from the file.
    let (models, _) = tobj::load_obj_buf(&mut std::io::BufReader::new(file), &options, |_| Ok(Default::default()))
        .map_err(|e| AssetError::broken("mesh", path, Message::text(e)))?;
    let mut triangles = Triangles::default();
    for model in models {
        let mesh = &model.mesh;
        let faces = |indices: &[u32], values: &[f32]| {
            let points: Vec<[f32; 3]> = values.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
            let mut sizes = mesh.face_arities.iter().map(|&n| n as usize);
            let mut rest = indices;
            let faces = std::iter::from_fn(|| {
                let n = sizes.next().unwrap_or(3).min(rest.len());
                let (face, after) = rest.split_at(n);
                rest = after;
                (n > 0).then(|| face.iter().map(|&i| i64::from(i)).collect())
            });
            fan(path, &points, faces, room)
        };
        triangles.corners.extend(faces(&mesh.indices, &mesh.positions)?);
        triangles.normals.extend(faces(&mesh.normal_indices, &mesh.normals)?);
    }
    // Some objects of the file may have normals, and others not.
    if triangles.normals.len() != triangles.corners.len() {
        triangles.normals.clear();
    }
    Ok(triangles)
}

// x, y, z and nx, ny, nz.
#[derive(Default)]
struct Vertex([f32; 6]);
#[derive(Default)]
struct Face(Vec<i64>);

impl PropertyAccess for Vertex {
    fn new() -> Vertex {
        Vertex::default()
    }
    fn set_property(&mut self, key: &str, value: Property) -> PropertyAccessResult {
        let Some(axis) = ["x", "y", "z", "nx", "ny", "nz"].iter().position(|&a| a == key) else {
            return PropertyAccessResult::Ignored;
        };
        self.0[axis] = match value {
            Property::Float(x) => x,
            Property::Double(x) => x as f32,
            Property::Int(x) => x as f32,
            Property::Short(x) => f32::from(x),
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}
impl PropertyAccess for Face {
    fn new() -> Face {
        Face::default()
    }
    fn set_property(&mut self, key: &str, value: Property) -> PropertyAccessResult {
        if key != "vertex_indices" && key != "vertex_index" {
            return PropertyAccessResult::Ignored;
        }
        self.0 = match value {
            Property::ListInt(v) => v.into_iter().map(i64::from).collect(),
            Property::ListUInt(v) => v.into_iter().map(i64::from).collect(),
            Property::ListShort(v) => v.into_iter().map(i64::from).collect(),
            Property::ListUShort(v) => v.into_iter().map(i64::from).collect(),
            Property::ListChar(v) => v.into_iter().map(i64::from).collect(),
            Property::ListUChar(v) => v.into_iter().map(i64::from).collect(),
            _ => return PropertyAccessResult::UnsupportedType,
        };
        PropertyAccessResult::Set
    }
}

// The error of a PLY file, without the file's contents: the file may be private, and a message is public.
fn in_short(e: &ParseError) -> Message {
    let words = e.to_string();
    let words = words.lines().next().unwrap_or_default().split(['\'', '"', '`']).next().unwrap_or_default();
    let words: String = words.chars().filter(|c| !c.is_control()).take(120).collect();
    msg!("it is not a PLY file, or it is broken ({why})", why = words.trim().trim_end_matches([':', ',']))
}

fn load_ply(path: &Path, file: File, room: &TriangleBudget) -> Result<Triangles, AssetError> {
    let bytes = file.metadata().map_err(|e| AssetError::read("mesh", path, e))?.len();
    let mut input = Reader::new(std::io::BufReader::new(file));
    let broken = |e: ParseError| AssetError::broken("mesh", path, in_short(&e));
    let (vertices, faces) = (Parser::<Vertex>::new(), Parser::<Face>::new());
    let header = vertices.read_header(&mut input).map_err(broken)?;
    let (mut points, mut all, mut has_normals) = (Vec::new(), Vec::new(), false);
    for (_, element) in &header.elements {
        if element.count as u64 > bytes || (element.properties.is_empty() && element.count > 0) {
            let what = msg!(
                "it declares {count} elements `{name}`, but has only {bytes} bytes",
                count = element.count,
                name = brief(&element.name),
                bytes
            );
            return Err(AssetError::broken("mesh", path, what));
        }
        match element.name.as_str() {
            "vertex" => {
                has_normals = ["nx", "ny", "nz"].iter().all(|&n| element.properties.contains_key(n));
                points = vertices.read_payload_for_element(&mut input, element, &header).map_err(broken)?;
            }
            // Unknown elements are read as faces without corners.
            name => {
                let read = faces.read_payload_for_element(&mut input, element, &header).map_err(broken)?;
                if name == "face" {
                    all = read;
                }
            }
        }
    }
    let part = |first: usize| points.iter().map(|v| [v.0[first], v.0[first + 1], v.0[first + 2]]).collect::<Vec<_>>();
    let faces = || all.iter().map(|f: &Face| f.0.clone());
    let corners = fan(path, &part(0), faces(), room)?;
    let normals = if has_normals { fan(path, &part(3), faces(), room)? } else { Vec::new() };
    Ok(Triangles { corners, normals })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Material, Support};

    fn meshes(path: &Path, times: usize) -> Vec<Mesh> {
        let mesh = |i| Mesh {
            path: path.to_owned(),
            material: Material::default(),
            scale: 1.0,
            offset: [f64::from(i), 0.0, 0.0],
            smooth: false,
            z_up: false,
            on: None,
        };
        (0..times as i32).map(mesh).collect()
    }

    #[test]
    fn a_scene_has_no_more_triangles_than_it_may() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.obj");
        std::fs::write(&path, format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n{}", "f 1 2 3\n".repeat(100))).unwrap();
        let load =
            |times, limits| load_all(&meshes(&path, times), Err(msg!("there is no floor")), &Files::from(limits));
        let limits = |triangles, memory| Limits { triangles, memory, ..Limits::default() };
        let three = load(3, limits(Some(300), None)).unwrap();
        assert_eq!(three.iter().map(|mesh| mesh.corners.len()).collect::<Vec<_>>(), [100; 3]);
        assert_eq!(three.iter().map(|mesh| mesh.corners[0][1][0]).collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
        for limits in [limits(Some(299), None), limits(None, Some(299 * 200)), Limits::within(299 * 200)] {
            let e = load(3, limits).unwrap_err();
            assert!(e.to_string().contains("more than 299 triangles"), "{e}");
            assert!(e.remedy.is_some_and(|remedy| remedy.to_string().contains("--limit-memory")));
        }
        // As many as two million, or one per four bytes of the file.
        assert!(load(20_000, Limits::default()).is_ok());
        assert!(load(20_001, Limits::default()).is_err());
    }

    #[test]
    fn a_mesh_stands_on_its_lowest_vertex() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.obj");
        // A pyramid far below its own origin, once with y up and once with z up.
        std::fs::write(&path, "v 0 -50 0\nv 1 -50 0\nv 0 -50 1\nv 0 -48 0\nf 1 2 3\nf 1 2 4\n").unwrap();
        let scene = "[floor]\ncorners = [[-5, -5, 0], [-5, 5, 0], [5, 5, 10], [5, -5, 10]]\n";
        let world = crate::scene::Scene::parse(scene, "s.toml", "".as_ref()).unwrap().scene.world;
        for (z_up, scale) in [(false, 1.0), (true, 1.0), (false, 3.0)] {
            let on = Some(Support::Floor);
            let mesh = Mesh { offset: [2.0, 1.0, 77.0], on, z_up, scale, ..meshes(&path, 1).remove(0) };
            let triangles = load_all(&[mesh], world.ground(), &Files::default()).unwrap().remove(0);
            // The floor is z = x + 5.
            let above = |p: &[f32; 3]| f64::from(p[2] - p[0] - 5.0) / 2f64.sqrt();
            let lowest = triangles.corners.as_flattened().iter().map(above).fold(f64::MAX, f64::min);
            assert!((0.3e-4..3e-4).contains(&(lowest / scale)), "z_up = {z_up}, scale {scale}: {lowest}");
            assert!(z_up || triangles.corners[0][0][..2] == [2.0, 1.0]);
        }
    }

    #[test]
    fn a_face_of_very_many_corners_is_counted_before_it_is_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.ply");
        let corners = 3_000_000_u32;
        let mut file = b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
            element face 1\nproperty list uint uchar vertex_indices\nend_header\n"
            .to_vec();
        file.extend([0; 12]);
        file.extend(corners.to_le_bytes());
        file.resize(file.len() + corners as usize, 0);
        std::fs::write(&path, file).unwrap();
        let e = load_all(&meshes(&path, 1), Err(msg!("there is no floor")), &Files::default()).unwrap_err().to_string();
        assert!(e.contains("more than 2000000 triangles"), "{e}");
    }
}
