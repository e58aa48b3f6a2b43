//! YUV planes with alpha: Y, U and V of the straight colors at 4:2:0, and alpha at full size, sides padded to even
//! numbers.

use crate::kernels::Isa;

/// The planes of RGBA with straight alpha, one after the other.
pub fn planes(isa: Isa, rgba: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let (wide, tall) = (width as usize, height as usize);
    let filled = filled(rgba, wide, tall);
    let mut planes = Vec::new();
    isa.convert(&filled, width, height, &mut planes);
    for y in 0..tall.next_multiple_of(2) {
        let row = &rgba[y.min(tall - 1) * wide * 4..][..wide * 4];
        planes.extend((0..wide.next_multiple_of(2)).map(|x| row[4 * x.min(wide - 1) + 3]));
    }
    planes
}

// Transparent pixels are black and would darken the chroma of their visible neighbors. They get the mean color of
// those.
fn filled(rgba: &[u8], width: usize, height: usize) -> Vec<u8> {
    let mut filled = rgba.to_vec();
    for top in (0..height).step_by(2) {
        for left in (0..width).step_by(2) {
            let places = [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(x, y)| (left + x, top + y));
            let block = places.into_iter().filter(|&(x, y)| x < width && y < height).map(|(x, y)| 4 * (y * width + x));
            let (clear, seen): (Vec<usize>, Vec<usize>) = block.partition(|at| rgba[at + 3] == 0);
            if clear.is_empty() || seen.is_empty() {
                continue;
            }
            for channel in 0..3 {
                let sum: usize = seen.iter().map(|at| usize::from(rgba[at + channel])).sum();
                clear.iter().for_each(|at| filled[at + channel] = (sum / seen.len()) as u8);
            }
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_clear_darkens_no_colour_beside_it() {
        // Red beside transparent pixels, in a picture of odd sides.
        let mut rgba = [255, 0, 0, 255].repeat(9);
        rgba[4..8].copy_from_slice(&[0; 4]);
        let planes = planes(Isa::available()[0], &rgba, (3, 3));
        assert_eq!(planes.len(), 16 * 5 / 2);
        let (colour, alpha) = planes.split_at(16 * 3 / 2);
        assert!(colour[..16].iter().all(|y| *y == colour[0]) && colour[16..20].iter().all(|u| *u == colour[16]));
        assert_eq!(alpha, [255, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]);
    }
}
