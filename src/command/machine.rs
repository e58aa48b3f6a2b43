//! Measures whether other programs use this machine.

use std::time::Instant;

pub struct Others {
    start: Option<(u64, u64)>,
    begun: Instant,
}

impl Others {
    pub fn watch() -> Others {
        Others { start: ticks(), begun: Instant::now() }
    }

    /// The fraction of all cores that other programs have used. None if the system does not report it, or after too
    /// short a time.
    pub fn share(&self) -> Option<f64> {
        let ((all0, own0), (all, own)) = (self.start?, ticks()?);
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        // A tick is a hundredth of a second on Linux.
        let available = self.begun.elapsed().as_secs_f64() * 100.0 * cores;
        let others = all.saturating_sub(all0).saturating_sub(own.saturating_sub(own0)) as f64;
        (available > 50.0).then(|| (others / available).min(1.0))
    }
}

// CPU ticks of all programs, and of this one with its children.
fn ticks() -> Option<(u64, u64)> {
    let all = std::fs::read_to_string("/proc/stat").ok()?;
    let fields: Vec<u64> = all.lines().next()?.split_whitespace().skip(1).filter_map(|w| w.parse().ok()).collect();
    // The fields are user, nice, system, idle, iowait, irq, softirq and steal.
    let busy = fields.get(..3)?.iter().sum::<u64>() + fields.get(5..8).map_or(0, |f| f.iter().sum());
    let own = std::fs::read_to_string("/proc/self/stat").ok()?;
    let times: Vec<u64> =
        own.rsplit(')').next()?.split_whitespace().skip(11).take(4).filter_map(|w| w.parse().ok()).collect();
    Some((busy, times.iter().sum()))
}

#[cfg(all(test, target_os = "linux"))]
#[test]
fn work_of_others_is_told_from_our_own() {
    let others = Others::watch();
    let begun = Instant::now();
    let mut sum = 0_u64;
    while begun.elapsed().as_millis() < 1200 {
        sum = std::hint::black_box(sum.wrapping_add(1));
    }
    let share = others.share();
    assert!(share.is_some_and(|s| (0.0..=1.0).contains(&s)), "{share:?}");
}
