//! Separable filters over a band of a picture's rows.

use std::ops::{AddAssign, Mul, Range};

/// The rows that a band has above and below its own: the radius of the largest filter.
pub const MARGIN: usize = 10;

/// Values of a band's rows and of its margins. Rows beyond the picture repeat its border.
pub struct Band<T> {
    width: usize,
    values: Vec<T>,
}

/// The rows of a band and its margins, by their numbers in the picture.
pub fn rows_with_margin(rows: &Range<usize>, height: usize) -> impl Iterator<Item = usize> {
    (rows.start..rows.end + 2 * MARGIN).map(move |row| row.saturating_sub(MARGIN).min(height - 1))
}

impl<T: Copy + Default + Mul<Output = T> + AddAssign> Band<T> {
    pub fn new(width: usize, values: Vec<T>) -> Band<T> {
        Band { width, values }
    }

    /// Filters each row. The kernel has an odd length; pixels beyond the picture repeat its border.
    pub fn across(&self, kernel: &[T]) -> Band<T> {
        let radius = kernel.len() / 2;
        let mut filtered = vec![T::default(); self.values.len()];
        let mut padded = vec![T::default(); self.width + 2 * radius];
        for (row, to) in self.values.chunks_exact(self.width).zip(filtered.chunks_exact_mut(self.width)) {
            padded[..radius].fill(row[0]);
            padded[radius..radius + self.width].copy_from_slice(row);
            padded[radius + self.width..].fill(row[self.width - 1]);
            for (at, &weight) in kernel.iter().enumerate() {
                add_weighted(to, &padded[at..at + self.width], weight);
            }
        }
        Band { width: self.width, values: filtered }
    }

    /// Filters each column, and drops the margins.
    pub fn down(&self, kernel: &[T]) -> Vec<T> {
        let radius = kernel.len() / 2;
        let mut filtered = vec![T::default(); self.values.len() - 2 * MARGIN * self.width];
        for (y, to) in filtered.chunks_exact_mut(self.width).enumerate() {
            for (at, &weight) in kernel.iter().enumerate() {
                let row = (y + MARGIN - radius + at) * self.width;
                add_weighted(to, &self.values[row..row + self.width], weight);
            }
        }
        filtered
    }
}

fn add_weighted<T: Copy + Mul<Output = T> + AddAssign>(to: &mut [T], from: &[T], weight: T) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to += weight * from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_are_repeated() {
        // A picture of 3 x 2 pixels in one band.
        let rows: Vec<usize> = rows_with_margin(&(0..2), 2).collect();
        assert!(rows[..=MARGIN].iter().all(|&row| row == 0) && rows[MARGIN + 1..].iter().all(|&row| row == 1));
        let band = Band::new(3, rows.iter().flat_map(|&row| [1.0, 2.0, 4.0].map(|x| x + 10.0 * row as f64)).collect());
        assert_eq!(band.down(&[1.0]), [1.0, 2.0, 4.0, 11.0, 12.0, 14.0]);
        // The sum of a pixel and its neighbors; then of rows.
        assert_eq!(band.across(&[1.0; 3]).down(&[1.0]), [4.0, 7.0, 10.0, 34.0, 37.0, 40.0]);
        assert_eq!(band.down(&[1.0; 3]), [13.0, 16.0, 22.0, 23.0, 26.0, 32.0]);
        // A kernel that is not symmetric reads the pixel to the left.
        assert_eq!(band.across(&[1.0, 0.0, 0.0]).down(&[1.0]), [1.0, 1.0, 2.0, 11.0, 11.0, 12.0]);
    }
}
