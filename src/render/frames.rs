//! Lists of frames to render: `7`, `0-99`, `0-99x5`, `5-` (to the end), `last`, `-2` (the last but one), `all`, and
//! lists of these. A range stays a range, however long it is.

use crate::language::{Message, count, msg};
use crate::quote::brief;
use crate::scene::Output;
use std::collections::{BTreeMap, BTreeSet};

/// Frame numbers in the order written, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameList {
    ranges: Vec<FrameSpan>,
}

// The numbers first, first + step, ... last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameSpan {
    first: u32,
    last: u32,
    step: u32,
}

impl FrameSpan {
    fn one(n: u32) -> FrameSpan {
        FrameSpan { first: n, last: n, step: 1 }
    }
    fn len(self) -> usize {
        ((self.last - self.first) / self.step) as usize + 1
    }
    fn contains(self, n: u32) -> bool {
        (self.first..=self.last).contains(&n) && (n - self.first).is_multiple_of(self.step)
    }
    // Every `apart`th number, from index `first` to before `end`; None if that is empty.
    fn places(self, first: usize, end: usize, apart: usize) -> Option<FrameSpan> {
        let last = end.min(self.len()).checked_sub(1).filter(|&last| first <= last)?;
        let count = (last - first) / apart;
        let number = |place: usize| self.first + place as u32 * self.step;
        let step = if count == 0 { 1 } else { self.step * apart as u32 };
        Some(FrameSpan { first: number(first), last: number(first + count * apart), step })
    }
    fn numbers(self) -> impl Iterator<Item = u32> {
        (self.first..=self.last).step_by(self.step as usize)
    }
    // The number of elements below `n`.
    fn below(self, n: u32) -> usize {
        n.checked_sub(self.first).map_or(0, |d| d.div_ceil(self.step) as usize).min(self.len())
    }
    // Appends the numbers that are not in `other`, in order. Subtracts the numbers that it inspects from `work`; None
    // if `work` is too small.
    fn push_without(self, other: FrameSpan, out: &mut Vec<FrameSpan>, work: &mut usize) -> Option<()> {
        let (from, to) = (self.below(other.first), other.last.checked_add(1).map_or(self.len(), |n| self.below(n)));
        out.extend(self.places(0, from, 1));
        if let Some(shared) = self.places(from, to, 1) {
            if !self.step.is_multiple_of(other.step) {
                *work = work.checked_sub(shared.len())?;
                push(out, shared.numbers().filter(|&n| !other.contains(n)).map(FrameSpan::one));
            } else if !other.contains(shared.first) {
                out.push(shared);
            }
        }
        out.extend(self.places(to, self.len(), 1));
        Some(())
    }
}

/// Maximum number of parts in a list.
const MAX_PARTS: usize = 20_000;
// Maximum number of steps to separate overlapping parts, which take a fraction of a second.
const MAX_WORK: usize = 2_000_000;

// Spans without common numbers, indexed so that the ones near a new span are found fast.
#[derive(Default)]
struct Seen {
    // Spans with a step of 1: first to last. Without common numbers, their extents are disjoint.
    solid: BTreeMap<u32, u32>,
    // Spans with a larger step, whose extents may overlap.
    strided: Vec<FrameSpan>,
    highest: u32,
}

impl Seen {
    // The numbers of `range` that are in no span, in order; None if that takes too much work.
    fn remove_from(&self, range: FrameSpan, work: &mut usize) -> Option<Vec<FrameSpan>> {
        let mut new = vec![range];
        // A rising list has no common numbers.
        if range.first > self.highest {
            return Some(new);
        }
        let solid = self.solid.range(..=range.last).rev().take_while(|(_, last)| **last >= range.first);
        let solid = solid.map(|(&first, &last)| FrameSpan { first, last, step: 1 });
        let strided = self.strided.iter().filter(|span| span.first <= range.last && range.first <= span.last);
        for span in solid.chain(strided.copied()) {
            let mut rest = Vec::new();
            for piece in new {
                *work = work.checked_sub(1)?;
                piece.push_without(span, &mut rest, work)?;
            }
            new = rest;
            if new.len() > MAX_PARTS {
                return None;
            }
        }
        Some(new)
    }
    fn insert(&mut self, spans: &[FrameSpan]) {
        for &span in spans {
            self.highest = self.highest.max(span.last);
            match span.step {
                1 => drop(self.solid.insert(span.first, span.last)),
                _ => self.strided.push(span),
            }
        }
    }
}

impl FrameList {
    /// Frames 0 to `total - 1`.
    ///
    /// # Panics
    /// `total` is 0.
    pub fn all(total: u32) -> FrameList {
        assert!(total > 0, "a clip has frames");
        FrameList { ranges: vec![FrameSpan { first: 0, last: total - 1, step: 1 }] }
    }
    /// All frames of a clip. One that loops begins with its poster.
    pub fn of_clip(output: &Output) -> FrameList {
        let all = FrameList::all(output.frames);
        let first = output.poster.filter(|&n| output.is_loop && n > 0 && n < output.frames);
        first.map_or(all, |n| FrameList {
            ranges: vec![
                FrameSpan { first: n, last: output.frames - 1, step: 1 },
                FrameSpan { first: 0, last: n - 1, step: 1 },
            ],
        })
    }
    /// One frame.
    pub fn one(n: u32) -> FrameList {
        FrameList { ranges: vec![FrameSpan::one(n)] }
    }
    /// These numbers without duplicates; None if there are none.
    pub fn of_numbers(numbers: impl Iterator<Item = u32>) -> Option<FrameList> {
        let mut ranges = Vec::new();
        push(&mut ranges, numbers.map(FrameSpan::one));
        (!ranges.is_empty()).then_some(FrameList { ranges })
    }
    /// Part `part` of `parts`, from 0: consecutive frames. The parts' lengths differ by at most one. None if the part is empty, because
    /// there are more parts than frames.
    pub fn part(&self, part: u32, parts: u32) -> Option<FrameList> {
        let (part, parts) = (part as usize, parts as usize);
        let (from, to) = (self.len() * part / parts, self.len() * (part + 1) / parts);
        let mut before = 0;
        let mut ranges = Vec::new();
        for &range in &self.ranges {
            // Indices into this range that belong to the part.
            let len = range.len();
            let (first, end) = (from.saturating_sub(before).min(len), to.saturating_sub(before).min(len));
            ranges.extend(range.places(first, end, 1));
            before += len;
        }
        (!ranges.is_empty()).then_some(FrameList { ranges })
    }
    /// Parses the frames that `text` names, of a clip with `total` frames.
    ///
    /// # Errors
    /// What is wrong with the text, in one sentence.
    pub fn parse(text: &str, total: u32) -> Result<FrameList, String> {
        FrameList::read(text, total).map_err(|e| e.to_string())
    }
    /// As [`FrameList::parse`], with the error in all languages.
    pub(crate) fn read(text: &str, total: u32) -> Result<FrameList, Message> {
        let (mut ranges, mut seen, mut work) = (Vec::new(), Seen::default(), MAX_WORK);
        for part in text.split(',') {
            let range = parse_range(part.trim(), total)?;
            // Numbers that were named before are removed.
            let new = seen.remove_from(range, &mut work).ok_or_else(|| {
                msg!(
                    "`{part}` overlaps the parts before it too often: write separate ranges",
                    part = brief(part.trim())
                )
            })?;
            seen.insert(&new);
            ranges.extend(new);
            if ranges.len() > MAX_PARTS {
                return Err(msg!("there are more than {max} parts", max = MAX_PARTS));
            }
        }
        Ok(FrameList { ranges })
    }
    /// Whether the list has this frame.
    pub fn contains(&self, n: u32) -> bool {
        self.ranges.iter().any(|range| range.contains(n))
    }
    /// The intersection with `numbers`.
    pub fn among(&self, numbers: &BTreeSet<u32>) -> BTreeSet<u32> {
        // Iterates over the smaller of the two.
        match self.len() <= numbers.len().saturating_mul(self.ranges.len()) {
            true => self.iter().filter(|n| numbers.contains(n)).collect(),
            false => numbers.iter().copied().filter(|&n| self.contains(n)).collect(),
        }
    }
    /// The frames that are not in `numbers`, in order; None if there are none.
    pub fn without(&self, numbers: &BTreeSet<u32>) -> Option<FrameList> {
        let mut ranges = Vec::new();
        for range in &self.ranges {
            let mut from = 0;
            for &n in numbers.range(range.first..=range.last).filter(|&&n| range.contains(n)) {
                let at = range.below(n);
                push(&mut ranges, range.places(from, at, 1));
                from = at + 1;
            }
            push(&mut ranges, range.places(from, range.len(), 1));
        }
        (!ranges.is_empty()).then_some(FrameList { ranges })
    }
    /// The frames that are not in the other list, in order; None if there are none, or if the lists cross each other too
    /// often.
    pub(crate) fn except(&self, others: &FrameList) -> Option<FrameList> {
        let (mut ranges, mut seen, mut work) = (Vec::new(), Seen::default(), MAX_WORK);
        seen.insert(&others.ranges);
        for &range in &self.ranges {
            push(&mut ranges, seen.remove_from(range, &mut work)?);
        }
        (!ranges.is_empty()).then_some(FrameList { ranges })
    }
    /// The number of frames.
    pub fn len(&self) -> usize {
        self.ranges.iter().map(|r| r.len()).sum()
    }
    /// Always false: a list has at least one frame.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    /// The frame at an index, from 0.
    pub fn nth(&self, place: usize) -> Option<u32> {
        let mut before = 0;
        self.ranges.iter().find_map(|range| {
            let at = place - before;
            before += range.len();
            range.places(at, at + 1, 1).map(|found| found.first)
        })
    }
    /// The frames at some indices, from 0, in ascending order; all frames if no index is given.
    pub(crate) fn at(&self, places: impl IntoIterator<Item = usize>) -> FrameList {
        let numbers: BTreeSet<u32> = places.into_iter().filter_map(|place| self.nth(place)).collect();
        FrameList::of_numbers(numbers.into_iter()).unwrap_or_else(|| self.clone())
    }
    /// At most `count` frames, spread evenly, with the first one.
    pub(crate) fn spread(&self, count: usize) -> FrameList {
        let count = count.clamp(1, self.len());
        self.at((0..count).map(|i| i * self.len() / count))
    }
    /// The frames in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|r| r.numbers())
    }
}

crate::language::texts!(FrameList);

impl std::fmt::Display for FrameList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, r) in self.ranges.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            match (r.last - r.first, r.step) {
                (0, _) => write!(f, "{comma}{}", r.first)?,
                (_, 1) => write!(f, "{comma}{}-{}", r.first, r.last)?,
                (_, step) => write!(f, "{comma}{}-{}x{step}", r.first, r.last)?,
            }
        }
        Ok(())
    }
}

// Appends ranges, and merges each with the one before if it continues that.
fn push(ranges: &mut Vec<FrameSpan>, more: impl IntoIterator<Item = FrameSpan>) {
    for range in more {
        match ranges.last_mut() {
            Some(last) if last.step == 1 && range.step == 1 && last.last.checked_add(1) == Some(range.first) => {
                last.last = range.last;
            }
            _ => ranges.push(range),
        }
    }
}

fn parse_range(part: &str, total: u32) -> Result<FrameSpan, Message> {
    let quoted = brief(part);
    let wrong = || {
        msg!(
            "`{part}` names no frames; expected N, A-B or A..B, A-BxSTEP, A- (to the end), -N (from the end), last or all",
            part = quoted
        )
    };
    let plain = |s: &str| s.trim().parse::<u32>().map_err(|_| wrong());
    let end = total - 1;
    let number = |s: &str| if s.trim() == "last" { Ok(end) } else { plain(s) };
    let (range, step) = match part.split_once('x') {
        Some((range, step)) => (range.trim(), plain(step)?),
        None => (part, 1),
    };
    // The syntax of ranges of samples.
    let ends = range.split_once("..").filter(|(first, _)| !first.is_empty());
    let (first, last) = match ends.or_else(|| range.split_once('-')) {
        _ if range == "all" => (0, end),
        // The last frame is -1.
        Some(("", n)) => match plain(n)? {
            0 => return Err(wrong()),
            n if n > total => {
                return Err(msg!(
                    "`{part}` is before frame 0: the scene has {total}",
                    part = quoted,
                    total = count!(total, "frame", "frames")
                ));
            }
            n => (total - n, total - n),
        },
        Some((a, "")) => (number(a)?, end),
        Some((a, b)) => (number(a)?, number(b)?),
        None => (number(range)?, number(range)?),
    };
    if step == 0 {
        return Err(msg!("the step of `{part}` is 0", part = quoted));
    }
    if last < first {
        let forwards = FrameSpan { first: last, last: first, step: 1 };
        let forwards = FrameList { ranges: vec![forwards] };
        let step = if step == 1 { String::new() } else { format!("x{step}") };
        return Err(msg!(
            "`{part}` runs backwards: did you mean {forwards}?",
            part = quoted,
            forwards = format_args!("{forwards}{step}")
        ));
    }
    if last >= total {
        return Err(msg!(
            "`{part}` reaches frame {frame}, and the scene has frames 0-{last}",
            part = quoted,
            frame = last,
            last = end
        ));
    }
    Ok(FrameSpan { first, last: last - (last - first) % step, step })
}

#[cfg(test)]
mod tests {
    use super::FrameList;
    use crate::scene::Output;

    #[test]
    fn ranges() {
        let parse = |text: &str| FrameList::parse(text, 10).map(|f| f.iter().collect::<Vec<_>>());
        assert_eq!(parse("3"), Ok(vec![3]));
        assert_eq!(parse("0-3"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(parse("0-9x4"), Ok(vec![0, 4, 8]));
        assert_eq!(parse("0-2, 2-4"), Ok(vec![0, 1, 2, 3, 4]));
        assert_eq!(parse("4-6,0-9x3,5,1-2"), Ok(vec![4, 5, 6, 0, 3, 9, 1, 2]));
        assert_eq!(parse("1..3, 8.."), Ok(vec![1, 2, 3, 8, 9]));
        assert!(parse("..").is_err() && parse("1...3").is_err());
        assert_eq!(parse("last"), Ok(vec![9]));
        assert_eq!(parse("-1,-10"), Ok(vec![9, 0]));
        assert_eq!(parse("7-, 2-lastx6"), Ok(vec![7, 8, 9, 2]));
        assert_eq!(parse("allx4"), Ok(vec![0, 4, 8]));
        assert_eq!(parse("8-x2"), Ok(vec![8]));
        for wrong in ["", "a", "3-1", "10", "0-10", "0-5x0", "1-2-3", "-0", "-11", "10-", "-", "x2", "lastly"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_have_every_frame_once() {
        let list = FrameList::parse("0-9,20-40x2,15", 50).unwrap();
        assert_eq!(list.to_string(), "0-9,20-40x2,15");
        assert_eq!((0..=list.len()).map_while(|i| list.nth(i)).collect::<Vec<_>>(), list.iter().collect::<Vec<_>>());
        for parts in [1, 4, 7, 30] {
            let parts: Vec<_> = (0..parts).map(|k| list.part(k, parts)).collect();
            let sizes: Vec<usize> = parts.iter().map(|p| p.as_ref().map_or(0, FrameList::len)).collect();
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
            let all: Vec<u32> = parts.iter().flatten().flat_map(|p| p.iter().collect::<Vec<_>>()).collect();
            assert_eq!(all, list.iter().collect::<Vec<_>>());
            assert_eq!(FrameList::of_numbers(all.into_iter()).unwrap().len(), list.len());
        }
        let part = list.part(1, 3).unwrap();
        assert_eq!(part.to_string(), FrameList::parse(&part.to_string(), 50).unwrap().to_string());
    }

    #[test]
    fn lists_are_subtracted() {
        let parse = |text: &str| FrameList::parse(text, u32::MAX).unwrap();
        let except = |a: &str, b: &str| parse(a).except(&parse(b)).map_or_else(String::new, |list| list.to_string());
        assert_eq!(except("0-9", "0-3"), "4-9");
        assert_eq!(except("0-9,20", "3,20,40"), "0-2,4-9");
        assert_eq!(except("9,0-3", "2"), "9,0-1,3");
        assert_eq!((except("4-6", "0-9"), except("4-6", "1-3")), (String::new(), "4-6".into()));
        assert_eq!(except("0-99999999", "50"), "0-49,51-99999999");
    }

    #[test]
    fn long_ranges_take_no_memory() {
        let list = FrameList::parse("0-99999999,0-99999998x2", 100_000_000);
        // The second part adds no frame.
        let list = list.unwrap();
        assert_eq!((list.len(), list.ranges.len()), (100_000_000, 1));
        assert_eq!(list.iter().nth(5), Some(5));
        let list = FrameList::parse("3,0-4211572140", u32::MAX).unwrap();
        assert_eq!((list.to_string().as_str(), list.len()), ("3,0-2,4-4211572140", 4_211_572_141));
        assert_eq!(FrameList::parse("0-98x7,0-98x14,1-98x7", 99).unwrap().to_string(), "0-98x7,1-92x7");
        let e = FrameList::parse("0-99999999x2,0-99999999x3", 100_000_000).unwrap_err();
        assert!(e.contains("too often"), "{e}");
    }

    #[test]
    fn a_loop_begins_with_its_poster() {
        let of = |is_loop, poster| {
            FrameList::of_clip(&Output { frames: 6, is_loop, poster, ..Output::default() }).to_string()
        };
        assert_eq!(of(true, Some(4)), "4-5,0-3");
        assert_eq!(of(true, Some(1)), "1-5,0");
        for other in [of(true, Some(0)), of(false, Some(4)), of(true, None)] {
            assert_eq!(other, FrameList::all(6).to_string());
        }
    }

    #[test]
    fn work_is_bounded_for_all_pieces_of_a_part_together() {
        // A thousand parts, each of which shares hundreds of thousands of numbers with another. This once took eleven
        // seconds.
        let e = FrameList::parse("40-x7,0-x2623953,200-x3,3,78-x796498", u32::MAX).unwrap_err();
        assert!(e.starts_with("`200-x3` overlaps"), "{e}");
        assert!(FrameList::parse("40-x7,0-x2623953,200-x3,3,78-x796498", 50_000).is_ok());
        // Sixteen thousand single numbers, each below the highest: comparing every pair took over a second unoptimized.
        let list = FrameList::parse("3,29,0-49939x3,230-499912", u32::MAX).unwrap();
        assert_eq!(FrameList::parse(&list.to_string(), u32::MAX), Ok(list));
    }

    #[test]
    fn overlaps_are_told_apart_as_numbers_would_be() {
        let mut dice = 1_u64;
        let mut below = |n: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % n
        };
        for _ in 0..500 {
            let parts = (0..=below(4)).map(|_| {
                let first = below(40);
                format!("{first}-{}x{}", first + below(20), 1 + below(6))
            });
            let text = parts.collect::<Vec<_>>().join(",");
            let mut expected = Vec::<u32>::new();
            for part in text.split(',') {
                let (range, step) = part.split_once('x').unwrap();
                let (first, last) = range.split_once('-').unwrap();
                for n in (first.parse().unwrap()..=last.parse().unwrap()).step_by(step.parse().unwrap()) {
                    if !expected.contains(&n) {
                        expected.push(n);
                    }
                }
            }
            assert_eq!(FrameList::parse(&text, 100).unwrap().iter().collect::<Vec<u32>>(), expected, "{text}");
        }
    }
}
