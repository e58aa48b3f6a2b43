//! Drawn keys of particles.

use super::{finite, material, triple};
use crate::math::colormap::ColourMap;
use crate::scene::{ColourBy, ColumnNames, Particles, RangeOver, TypeRadii, ValueRange, ValueScale};
use proptest::prelude::*;

pub(super) fn particles() -> BoxedStrategy<Particles> {
    let over = prop::sample::select(RangeOver::ALL.map(|(over, _)| over).to_vec());
    let found = (over, 0u32..50, 51u32..=100, any::<bool>()).prop_map(|(over, low, high, is_symmetric)| {
        ValueRange::Found { over, shares: [low, high].map(|x| f64::from(x) / 100.0), is_symmetric }
    });
    let ends = (finite(), 0.01..100.0).prop_map(|(low, more)| ValueRange::Ends([low, low + more]));
    let range = prop_oneof![ends, found, Just(ValueRange::default())].boxed();
    let scale = prop::sample::select(vec![ValueScale::Linear, ValueScale::Symlog]);
    let radii = prop::collection::btree_map(-9i64..9, 0.01..9.0, 0..3).prop_map(TypeRadii);
    let names = prop::collection::btree_map("[a-z. ]{1,6}", prop::collection::vec("[a-z ]{1,4}", 1..2), 0..3);
    let names = names.prop_map(|mut all| {
        all.insert("position".into(), vec!["px".into(), "py".into(), "2*\"".into()]);
        all.remove("radius");
        ColumnNames(all)
    });
    let columns = (prop::option::of(names), prop::option::of(0.01..9.0), prop::option::of(radii), scale).boxed();
    let by = prop::sample::select(vec!["nothing", "velocity", "a + \"b\"", "c_press[2]"]).prop_map(ColourBy::from);
    let names = || prop::sample::select(ColourMap::names().collect::<Vec<_>>());
    let map = prop_oneof![
        names().prop_map(|name| ColourMap::named(name).unwrap()),
        names().prop_map(|name| ColourMap::named(&format!("{name}_r")).unwrap()),
        prop::collection::vec(triple(0.0..1.0), 2..5).prop_map(|list| ColourMap::through(list).unwrap()),
    ]
    .boxed();
    ("[a-z]{1,8}%0[1-9]d\\.bin", 0u32..99, 1u32..9, (by, map, columns), range, material(), any::<bool>())
        .prop_map(|(path, first, step, (colour_by, map, (columns, radius, radii, scale)), range, material, legend)| {
            Particles {
                path: path.into(),
                first,
                step,
                columns,
                radius,
                radii,
                colour_by,
                map,
                range,
                scale,
                material,
                legend: legend && !range.is_of_each_frame(),
                ..Particles::default()
            }
        })
        .boxed()
}
