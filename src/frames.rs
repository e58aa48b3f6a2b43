//! Which frames to render: `7`, `0-99`, `0-99x5`, and lists of these.

/// The frames that `text` names, of a clip of `total`, in the order written and each once.
pub fn parse(text: &str, total: u32) -> Result<Vec<u32>, String> {
    let mut frames = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for part in text.split(',') {
        let part = part.trim();
        let number = |s: &str| {
            s.trim().parse::<u32>().map_err(|_| format!("`{part}` names no frames; expected N, A-B or A-BxSTEP"))
        };
        let (range, step) = match part.split_once('x') {
            Some((range, step)) => (range, number(step)?),
            None => (part, 1),
        };
        let (first, last) = match range.split_once('-') {
            Some((a, b)) => (number(a)?, number(b)?),
            None => (number(range)?, number(range)?),
        };
        if step == 0 {
            return Err(format!("the step of `{part}` is 0"));
        }
        if last < first {
            return Err(format!("`{part}` runs backwards"));
        }
        if last >= total {
            return Err(format!("`{part}` reaches frame {last}, and the scene has frames 0-{}", total - 1));
        }
        frames.extend((first..=last).step_by(step as usize).filter(|&n| seen.insert(n)));
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn ranges() {
        assert_eq!(parse("3", 10), Ok(vec![3]));
        assert_eq!(parse("0-3", 10), Ok(vec![0, 1, 2, 3]));
        assert_eq!(parse("0-9x4", 10), Ok(vec![0, 4, 8]));
        assert_eq!(parse("0-2, 2-4", 10), Ok(vec![0, 1, 2, 3, 4]));
        for wrong in ["", "a", "3-1", "10", "0-10", "0-5x0", "1-2-3", "-1"] {
            assert!(parse(wrong, 10).is_err(), "{wrong}");
        }
    }
}
