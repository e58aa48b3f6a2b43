//! Thin films: tables of what they mirror.

use crate::gpu_types::{FILM_LAST, Material as GpuMaterial};
use crate::math::srgb::linear_srgb;
use crate::math::vec3::{Vec3, add};
use crate::scene::{Coat, Material, MaterialKind, ThinFilm};
use std::collections::HashMap;

const ENTRIES: usize = FILM_LAST as usize + 1;

/// The films of a scene, each with its reflectance in red, green and blue at even steps of the cosine of incidence, from 0 to 1.
#[derive(Debug, Default)]
pub struct Films {
    numbers: HashMap<[u64; 6], i32>,
    tables: Vec<[f32; 3]>,
}

impl Films {
    /// The material with its film, if it has one.
    pub fn with_film(&mut self, m: &Material, bare: GpuMaterial) -> GpuMaterial {
        let base = match m.kind {
            MaterialKind::Plain { .. } | MaterialKind::Metal { .. } => bare.mirror.map(|share| index_of(share.into())),
            MaterialKind::Glass { ior, .. } if bare.sheet == 0.0 => [ior; 3],
            MaterialKind::Glass { .. } | MaterialKind::Light { .. } => return bare,
        };
        if !m.film.is_there() {
            return bare;
        }
        // The film's base reflects by its index of refraction, at all angles.
        GpuMaterial { film: self.of_film(m.film, base), edge: 0.0, ..bare }
    }

    /// The tables, one after the other.
    pub fn into_tables(self) -> Vec<[f32; 3]> {
        self.tables
    }

    /// 1 + index of the multiple-scattering loss table for brushed metal.
    pub(super) fn of_grain(&mut self, alpha: f64, stretch: f64, table: &[[f32; 3]]) -> i32 {
        // No film has an index of refraction below 1.
        self.number([alpha, stretch, 0.0, 0.0, 0.0, 0.0], || table.iter().copied())
    }

    /// 1 + index of the table by which a coat dims a rough mirror.
    pub(super) fn of_coat(&mut self, coat: Coat, bare: &GpuMaterial, table: impl FnOnce() -> Vec<[f32; 3]>) -> i32 {
        let [r, g, b] = bare.mirror.map(f64::from);
        // `alpha` is above 0 here; other tables have 0 in its position.
        self.number([coat.ior, coat.share, r, g, b, bare.alpha.into()], table)
    }

    // 1 + the number of a film on a base with these indices of refraction in red, green and blue.
    fn of_film(&mut self, film: ThinFilm, base: Vec3) -> i32 {
        self.number([film.nm, film.ior, base[0], base[1], base[2], 0.0], || table(film, base))
    }

    // 1 + the number of the table with this key, which is made if there is none.
    fn number<T: IntoIterator<Item = [f32; 3]>>(&mut self, key: [f64; 6], table: impl FnOnce() -> T) -> i32 {
        *self.numbers.entry(key.map(f64::to_bits)).or_insert_with(|| {
            self.tables.extend(table());
            (self.tables.len() / ENTRIES) as i32
        })
    }
}

/// The index of refraction of a surface that mirrors this share of light at normal incidence.
fn index_of(share: f64) -> f64 {
    let root = share.clamp(0.0, 1.0).sqrt();
    (1.0 + root) / (1.0 - root)
}

// The wavelengths of the spectrum in nanometers, each with its weights in linear sRGB, some of which are negative. Their sums are 1, so
// that what mirrors all wavelengths is white.
fn spectrum() -> Vec<(f64, Vec3)> {
    const STEPS: u32 = 132;
    let wavelengths = (0..STEPS).map(|i| 380.0 + 400.0 * (f64::from(i) + 0.5) / f64::from(STEPS));
    let seen: Vec<_> = wavelengths.map(|nm| (nm, linear_srgb(observer(nm)))).collect();
    let white = seen.iter().fold([0.0; 3], |sum, (_, colour)| add(sum, *colour));
    seen.into_iter().map(|(nm, colour)| (nm, [0, 1, 2].map(|c| colour[c] / white[c]))).collect()
}

// The color matching functions of the CIE's observer of 1931 (Wyman, Sloan and Shirley, "Simple analytic approximations to the CIE XYZ
// color matching functions", 2013).
fn observer(nm: f64) -> Vec3 {
    let lobe = |height: f64, middle: f64, below: f64, above: f64| {
        let at = (nm - middle) / if nm < middle { below } else { above };
        height * libm::exp(-0.5 * at * at)
    };
    [
        lobe(1.056, 599.8, 37.9, 31.0) + lobe(0.362, 442.0, 16.0, 26.7) - lobe(0.065, 501.1, 20.4, 26.2),
        lobe(0.821, 568.8, 46.9, 40.5) + lobe(0.286, 530.9, 16.3, 31.1),
        lobe(1.217, 437.0, 11.8, 36.0) + lobe(0.681, 459.0, 26.0, 13.8),
    ]
}

fn table(film: ThinFilm, base: Vec3) -> impl Iterator<Item = [f32; 3]> {
    let spectrum = spectrum();
    (0..ENTRIES).map(move |i| {
        let cosine = i as f64 / f64::from(FILM_LAST);
        let mut sum = [0.0; 3];
        for (nm, weights) in &spectrum {
            for channel in 0..3 {
                sum[channel] += weights[channel] * reflectance(film, base[channel], cosine, *nm);
            }
        }
        // Pure colors are outside of sRGB.
        sum.map(|share| share.clamp(0.0, 1.0) as f32)
    })
}

// The reflectance of a layer on a base, for unpolarized light in air (Airy, 1833): the sum of all reflections within the layer.
fn reflectance(film: ThinFilm, base: f64, cosine: f64, wavelength: f64) -> f64 {
    let sine2 = 1.0 - cosine * cosine;
    let behind2 = 1.0 - sine2 / (base * base);
    if cosine == 0.0 || behind2 < 0.0 || base.is_infinite() {
        return 1.0;
    }
    let (n, behind) = (film.ior, behind2.sqrt());
    let within = (1.0 - sine2 / (n * n)).sqrt();
    // Of the electric field, for both polarizations.
    let amplitude = |a: f64, b: f64| (a - b) / (a + b);
    let across = [amplitude(cosine, n * within), amplitude(n * within, base * behind)];
    let along = [amplitude(n * cosine, within), amplitude(base * within, n * behind)];
    // Of the way down and up again.
    let phase = 4.0 * std::f64::consts::PI * n * film.nm * within / wavelength;
    let [across, along] = [across, along].map(|[top, bottom]| {
        let both = 2.0 * top * bottom * libm::cos(phase);
        (top * top + bottom * bottom + both) / (1.0 + top * top * bottom * bottom + both)
    });
    0.5 * (across + along)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEN: f64 = 550.0;

    // Fresnel's equations, by the angle behind the surface.
    fn fresnel(base: f64, cosine: f64) -> f64 {
        let (outer, inner) = (libm::acos(cosine), libm::asin((1.0 - cosine * cosine).sqrt() / base));
        let across = libm::sin(outer - inner) / libm::sin(outer + inner);
        let along = libm::tan(outer - inner) / libm::tan(outer + inner);
        0.5 * (across * across + along * along)
    }

    #[test]
    fn a_film_of_its_base_s_index_is_the_bare_surface() {
        for base in [1.3, 1.5, 2.4] {
            for (i, entry) in table(ThinFilm { nm: 380.0, ior: base }, [base; 3]).enumerate().skip(1) {
                let cosine = (i as f64 / f64::from(FILM_LAST)).min(1.0 - 1e-9);
                let expected = fresnel(base, cosine);
                assert!(entry.iter().all(|&x| (f64::from(x) - expected).abs() < 1e-6), "{base} {cosine}: {entry:?}");
            }
        }
    }

    #[test]
    fn a_quarter_wave_of_the_root_of_the_index_mirrors_nothing() {
        for base in [1.5, 2.25, 4.0] {
            let ior = f64::sqrt(base);
            let film = ThinFilm { nm: GREEN / 4.0 / ior, ior };
            assert!(reflectance(film, base, 1.0, GREEN) < 1e-12, "{base}");
            // A half wave does nothing.
            let half = ThinFilm { nm: GREEN / 2.0 / ior, ior };
            let amplitude = (base - 1.0) / (base + 1.0);
            assert!((reflectance(half, base, 1.0, GREEN) - amplitude * amplitude).abs() < 1e-12, "{base}");
        }
    }

    // The rays that leave the layer after zero, one, two .. ways down and up, added up one by one.
    #[test]
    fn airy_s_formula_is_the_sum_of_all_reflections() {
        for (nm, ior, base, cosine) in
            [(380.0, 1.33, 1.5, 0.8), (120.0, 2.3, 6.0, 1.0), (700.0, 1.5, 1.0, 0.3), (90.0, 1.0, 2.0, 0.5)]
        {
            let within = (1.0_f64 - (1.0 - cosine * cosine) / (ior * ior)).sqrt();
            let behind = (1.0_f64 - (1.0 - cosine * cosine) / (base * base)).sqrt();
            let phase = 4.0 * std::f64::consts::PI * ior * nm * within / GREEN;
            let mut mean = 0.0;
            for [top, bottom] in [
                [(cosine, ior * within), (ior * within, base * behind)],
                [(ior * cosine, within), (base * within, ior * behind)],
            ]
            .map(|both| both.map(|(a, b)| (a - b) / (a + b)))
            {
                let (mut real, mut imaginary, mut share) = (top, 0.0, (1.0 - top * top) * bottom);
                for k in 1..200 {
                    real += share * libm::cos(f64::from(k) * phase);
                    imaginary += share * libm::sin(f64::from(k) * phase);
                    share *= -top * bottom;
                }
                mean += 0.5 * (real * real + imaginary * imaginary);
            }
            let got = reflectance(ThinFilm { nm, ior }, base, cosine, GREEN);
            assert!((got - mean).abs() < 1e-9, "{nm} {ior} {base} {cosine}: {got}, expected {mean}");
        }
    }

    #[test]
    fn films_mirror_no_more_than_all() {
        let sums = spectrum().into_iter().fold([0.0; 3], |sum, (_, weights)| add(sum, weights));
        assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-9), "{sums:?}");
        for base in [1.0, 0.7, 1.5, 80.0, index_of(1.0), index_of(0.999_999)] {
            for nm in [1.0, 380.0, 2000.0] {
                let entries: Vec<_> = table(ThinFilm { nm, ior: 1.33 }, [base; 3]).collect();
                assert!(entries.as_flattened().iter().all(|x| (0.0..=1.0).contains(x)), "{base} {nm}");
                assert_eq!(entries[0], [1.0; 3], "{base} {nm}");
            }
        }
        assert!((index_of(0.04) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn equal_films_have_one_table() {
        let mut films = Films::default();
        let film = ThinFilm { nm: 380.0, ior: 1.33 };
        let numbers = [1.5, 2.0, 1.5].map(|base| films.of_film(film, [base; 3]));
        assert_eq!((numbers, films.into_tables().len()), ([1, 2, 1], 2 * ENTRIES));
    }
}
