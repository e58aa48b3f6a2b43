//! Lists of frames to render: `7`, `0-99`, `0-99x5`, `5-` (to the end), `last`, `-2` (the last but one), `all`, and
//! lists of these. Numbers that follow one another are kept as a range, however long it is.

use crate::language::{Message, count, msg};
use crate::output::Already;
use crate::quote::brief;
use crate::scene::Output;
use std::collections::{BTreeMap, BTreeSet};

/// Frame numbers in the order written, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameList {
    // The first and the last number of each range.
    ranges: Vec<(u32, u32)>,
}

/// Maximum number of parts in a list. Each number of a part with a step counts.
const MAX_PARTS: usize = 1 << 20;
// Numbers with equal steps are written as one part if there are so many.
const STRIDED: usize = 4;

// Numbers, as ranges without common ones: the last number by the first.
#[derive(Default)]
struct NumberSet(BTreeMap<u32, u32>);

impl NumberSet {
    // Adds a range; returns those of its numbers that were not there.
    fn add(&mut self, (first, last): (u32, u32)) -> Vec<(u32, u32)> {
        let overlapping = self.0.range(..=last).rev().take_while(|(_, end)| **end >= first);
        let old: Vec<(u32, u32)> = overlapping.map(|(&start, &end)| (start, end)).collect();
        let (mut new, mut next, mut whole) = (Vec::new(), first, (first, last));
        for (start, end) in old.into_iter().rev() {
            if start > next {
                new.push((next, start - 1));
            }
            next = end.saturating_add(1);
            whole = (whole.0.min(start), whole.1.max(end));
            self.0.remove(&start);
        }
        if next <= last {
            new.push((next, last));
        }
        self.0.insert(whole.0, whole.1);
        new
    }
}

impl FrameList {
    /// Frames 0 to `total - 1`.
    ///
    /// # Panics
    /// `total` is 0.
    pub fn all(total: u32) -> FrameList {
        assert!(total > 0, "a clip has frames");
        FrameList { ranges: vec![(0, total - 1)] }
    }
    /// All frames of a clip. One that loops begins with its poster.
    pub fn of_clip(output: &Output) -> FrameList {
        let all = FrameList::all(output.frames);
        let first = output.poster.filter(|&n| output.is_loop && n > 0 && n < output.frames);
        first.map_or(all, |n| FrameList { ranges: vec![(n, output.frames - 1), (0, n - 1)] })
    }
    /// One frame.
    pub fn one(n: u32) -> FrameList {
        FrameList { ranges: vec![(n, n)] }
    }
    /// These numbers without duplicates; None if there are none.
    pub fn of_numbers(numbers: impl Iterator<Item = u32>) -> Option<FrameList> {
        FrameList::of_ranges(numbers.map(|n| (n, n)))
    }
    // None if there are none.
    fn of_ranges(all: impl Iterator<Item = (u32, u32)>) -> Option<FrameList> {
        let mut ranges = Vec::new();
        all.for_each(|range| push(&mut ranges, range));
        (!ranges.is_empty()).then_some(FrameList { ranges })
    }
    /// Part `part` of `parts`, from 0: consecutive frames. The parts' lengths differ by at most one. None if the part is empty, because
    /// there are more parts than frames.
    pub fn part(&self, part: u32, parts: u32) -> Option<FrameList> {
        let (part, parts) = (part as usize, parts as usize);
        let (from, to) = (self.len() * part / parts, self.len() * (part + 1) / parts);
        let mut before = 0;
        let ranges = self.ranges.iter().filter_map(|&(first, last)| {
            let len = length((first, last));
            let (skipped, end) = (from.saturating_sub(before).min(len), to.saturating_sub(before).min(len));
            before += len;
            (skipped < end).then(|| (first + skipped as u32, first + (end - 1) as u32))
        });
        FrameList::of_ranges(ranges)
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
        let (mut ranges, mut named, mut parts) = (Vec::new(), NumberSet::default(), 0);
        for part in text.split(',') {
            let ((first, last), step) = parse_range(part.trim(), total)?;
            let (count, length) = if step == 1 { (1, last - first) } else { ((last - first) / step + 1, 0) };
            parts += count as usize;
            if parts > MAX_PARTS {
                return Err(msg!("there are more than {max} parts", max = MAX_PARTS));
            }
            for first in (0..count).map(|i| first + i * step) {
                named.add((first, first + length)).into_iter().for_each(|range| push(&mut ranges, range));
            }
        }
        Ok(FrameList { ranges })
    }
    /// Whether the list has this frame.
    pub fn contains(&self, n: u32) -> bool {
        self.ranges.iter().any(|(first, last)| (first..=last).contains(&&n))
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
        self.without_ranges(numbers.iter().map(|&n| (n, n)))
    }
    /// The frames that are not in the other list, in order; None if there are none.
    pub(crate) fn except(&self, others: &FrameList) -> Option<FrameList> {
        self.without_ranges(others.ranges.iter().copied())
    }
    fn without_ranges(&self, others: impl Iterator<Item = (u32, u32)>) -> Option<FrameList> {
        let mut others = NumberSet(others.collect());
        FrameList::of_ranges(self.ranges.iter().flat_map(|&range| others.add(range)))
    }
    /// The number of frames.
    pub fn len(&self) -> usize {
        self.ranges.iter().map(|&range| length(range)).sum()
    }
    /// Always false: a list has at least one frame.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    /// The frame at an index, from 0.
    pub fn nth(&self, place: usize) -> Option<u32> {
        let mut left = place;
        self.ranges.iter().find_map(|&(first, last)| {
            let len = length((first, last));
            let found = (left < len).then(|| first + left as u32);
            left = left.saturating_sub(len);
            found
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
        self.ranges.iter().flat_map(|&(first, last)| first..=last)
    }
}

/// The frames of a run that do not exist yet.
pub struct WantedFrames<'a> {
    all: Box<dyn Iterator<Item = u32> + Send + 'a>,
    // Those that all of these have exist.
    already: &'a [Already],
    taken: usize,
    /// The number of frames that existed.
    pub skipped: usize,
}

impl<'a> WantedFrames<'a> {
    pub fn new(all: &'a FrameList, already: &'a [Already]) -> WantedFrames<'a> {
        WantedFrames { all: Box::new(all.iter()), already, taken: 0, skipped: 0 }
    }
    /// The next one: how many have been taken before, and its number.
    pub fn next(&mut self) -> Option<(usize, u32)> {
        loop {
            let number = self.all.next()?;
            if !self.already.is_empty() && self.already.iter().all(|has| has(number)) {
                self.skipped += 1;
                continue;
            }
            self.taken += 1;
            return Some((self.taken - 1, number));
        }
    }
}

crate::language::texts!(FrameList);

impl std::fmt::Display for FrameList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut left = &self.ranges[..];
        let mut comma = "";
        while let &[(first, last), ..] = left {
            // Single numbers with equal steps.
            let step = left.get(1).map_or(0, |next| next.0.saturating_sub(first));
            let singles = left.windows(2).take_while(|two| {
                let [here, next] = [two[0], two[1]];
                here.0 == here.1 && next.0 == next.1 && here.0.checked_add(step) == Some(next.0)
            });
            let count = if step > 1 { 1 + singles.count() } else { 1 };
            let part = if count >= STRIDED { count } else { 1 };
            match part {
                1 if first == last => write!(f, "{comma}{first}")?,
                1 => write!(f, "{comma}{first}-{last}")?,
                _ => write!(f, "{comma}{first}-{}x{step}", left[part - 1].0)?,
            }
            (left, comma) = (&left[part..], ",");
        }
        Ok(())
    }
}

fn length((first, last): (u32, u32)) -> usize {
    (last - first) as usize + 1
}

// Appends a range, or continues the one before.
fn push(ranges: &mut Vec<(u32, u32)>, range: (u32, u32)) {
    match ranges.last_mut() {
        Some(last) if last.1.checked_add(1) == Some(range.0) => last.1 = range.1,
        _ => ranges.push(range),
    }
}

// The first and the last number of a part, and its step.
fn parse_range(part: &str, total: u32) -> Result<((u32, u32), u32), Message> {
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
        let forwards = FrameList { ranges: vec![(last, first)] };
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
    Ok(((first, last), step))
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
        let list = FrameList::parse("0-99999999,7-99999998", 100_000_000);
        // The second part adds no frame.
        let list = list.unwrap();
        assert_eq!((list.len(), list.ranges.len()), (100_000_000, 1));
        assert_eq!(list.iter().nth(5), Some(5));
        let list = FrameList::parse("3,0-4211572140", u32::MAX).unwrap();
        assert_eq!((list.to_string().as_str(), list.len()), ("3,0-2,4-4211572140", 4_211_572_141));
        assert_eq!(FrameList::parse("0-98x7,0-98x14,1-98x7", 99).unwrap().to_string(), "0-98x7,1-92x7");
        let e = FrameList::parse("0-99999999x2", 100_000_000).unwrap_err();
        assert_eq!(e, "there are more than 1048576 parts");
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
    fn a_list_is_what_it_says() {
        let parse = |text: &str| FrameList::parse(text, u32::MAX).unwrap();
        assert_eq!(parse("1,3,5,8").to_string(), "1,3,5,8");
        assert_eq!(parse("0-3,5,7,9,11,12,20").to_string(), "0-3,5,7,9,11-12,20");
        assert_eq!(parse("9,5,1,0").to_string(), "9,5,1,0");
        // Tens of thousands of single numbers beside others, each of which is below the highest.
        for text in ["3,29,0-49939x3,230-499912", "40-50000x7,3,200-90000x3,0-80000x2"] {
            let list = parse(text);
            assert_eq!(parse(&list.to_string()), list);
        }
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
