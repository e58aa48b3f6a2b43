//! What a run will take of the memory, told before it begins: an allocation that fails ends a program where it stands.

use super::outputs::{Outputs, needs_of};
use crate::error::Error;
use crate::output::segments::most_waiting;
use crate::render::RenderOptions;
use crate::render::footprint;
use crate::scene::Scene;

// Program, scene, drivers.
const BASE: u64 = 256 << 20;

/// Bytes that pictures of a run take at most; `benches/memory` measures what they do take.
///
/// # Errors
/// A format cannot have what is asked of it.
pub fn estimate(scene: &Scene, outputs: &Outputs, options: &RenderOptions) -> Result<u64, Error> {
    let picture = outputs.picture_format(scene)?;
    let video = outputs.video.as_ref();
    let waiting = video
        .filter(|(settings, _)| !settings.is_single())
        .map_or(0, |(settings, film)| most_waiting(settings, film) as u64 * settings.frame_bytes(film.sides()) as u64);
    let needs = needs_of(picture.as_ref(), video.map(|(settings, _)| settings));
    let sinks = usize::from(picture.is_some()) + usize::from(video.is_some());
    Ok(BASE + footprint::most(scene, needs, options, sinks) + waiting)
}

/// Refuses what does not fit: `limit` in MiB, or nine tenths of what is free.
///
/// # Errors
/// It does not fit.
pub fn check(bytes: u64, limit: Option<u64>, size: (u32, u32)) -> Result<(), Error> {
    let most = limit.map(|mib| mib << 20).or_else(|| Some(available()? / 10 * 9));
    match most {
        Some(most) if bytes > most => Err(Error::Usage(format!(
            "a run of {} x {} pixels takes about {} MiB of memory, and may take {}: ask for a smaller --size, for no .exr or \
             --denoise, or raise --limit-memory",
            size.0,
            size.1,
            bytes >> 20,
            most >> 20
        ))),
        _ => Ok(()),
    }
}

// Free memory in bytes, of the machine and of the control group that this process is in; None where nobody tells.
fn available() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let machine = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10;
    let number =
        |file: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse::<u64>().ok();
    let group = number("memory.max").zip(number("memory.current")).map(|(most, now)| most.saturating_sub(now));
    Some(group.map_or(machine, |group| group.min(machine)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_figure() {
        assert!(check(6400 << 20, Some(6400), (1, 1)).is_ok());
        let refused = check(6400 << 20, Some(6399), (7, 5)).unwrap_err().to_string();
        assert!(
            refused.contains("7 x 5 pixels takes about 6400 MiB") && refused.contains("--limit-memory"),
            "{refused}"
        );
        if cfg!(target_os = "linux") {
            assert!(check(u64::MAX, None, (1, 1)).is_err() && check(1, None, (1, 1)).is_ok());
        }
    }
}
