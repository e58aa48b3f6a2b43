//! What a run will take of the memory, told before it begins: an allocation that fails ends a program where it stands.

use crate::error::Error;
use crate::output::segments::most_waiting;
use crate::output::video::{Film, Settings};
use crate::scene::{FilmSettings, Scene};

// Bytes a pixel of a run, by what leaves the renderer; measured as the largest resident size of runs at 2048 x 2048 over all
// that a small one takes, and rounded up (`--size 2048x2048 --frames 0-5`, one writer and four).
const CODES: u64 = 24;
const LIGHT: u64 = 72;
const LAYERS: u64 = 280;
// Program, scene, drivers.
const BASE: u64 = 256 << 20;

/// Bytes that pictures of a run take at most.
pub fn estimate(scene: &Scene, denoise: bool, video: Option<&(Settings, Film)>) -> u64 {
    let pixels = u64::from(scene.render.width) * u64::from(scene.render.height);
    let has_layers = denoise || scene.output.files.extension() == "exr" || scene.world.sky.transparent;
    let is_deep = video.is_some_and(|(settings, _)| settings.deep.is_some());
    let is_light = is_deep || scene.output.bits.is_some_and(|bits| bits > 8) || scene.film != FilmSettings::default();
    let each = if has_layers {
        LAYERS
    } else if is_light {
        LIGHT
    } else {
        CODES
    };
    let waiting = video
        .filter(|(settings, _)| !settings.is_single())
        .map_or(0, |(settings, film)| most_waiting(settings, film) as u64 * settings.frame_bytes(film.sides()) as u64);
    BASE + pixels * each + waiting
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
        let mut scene = Scene::sample();
        scene.film = FilmSettings::default();
        (scene.render.width, scene.render.height) = (1 << 14, 1 << 14);
        let plain = estimate(&scene, false, None);
        assert_eq!(plain, BASE + (CODES << 28));
        assert_eq!(estimate(&scene, true, None), BASE + (LAYERS << 28));
        scene.output.bits = Some(16);
        assert_eq!(estimate(&scene, false, None), BASE + (LIGHT << 28));
        assert!(check(plain, Some(plain >> 20), (1, 1)).is_ok());
        let refused = check(plain, Some((plain >> 20) - 1), (7, 5)).unwrap_err().to_string();
        assert!(
            refused.contains("7 x 5 pixels takes about 6400 MiB") && refused.contains("--limit-memory"),
            "{refused}"
        );
        if cfg!(target_os = "linux") {
            assert!(check(u64::MAX, None, (1, 1)).is_err() && check(1, None, (1, 1)).is_ok());
        }
    }
}
