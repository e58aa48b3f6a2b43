//! The plots of `polyfly bench --balance`, as SVG.

use std::fmt::Write as _;

/// One way of dealing.
pub struct Curve {
    /// Its name.
    pub name: &'static str,
    /// Rays of each thread.
    pub work: Vec<u64>,
    /// Threads, and how many times faster than one they are.
    pub speed_ups: Vec<(usize, f64)>,
}

/// The report's plots for the CPU.
pub struct Plots {
    /// Rays of the frame.
    pub serial_rays: u64,
    /// The ways.
    pub curves: Vec<Curve>,
}

const COLOURS: [&str; 3] = ["#dc7a22", "#3366cc", "#2a9d5c"];

impl Plots {
    /// Bars: each thread's rays in per cent of an even share.
    pub fn work(&self) -> String {
        let even = self.serial_rays as f64 / self.curves.first().map_or(1, |c| c.work.len().max(1)) as f64;
        let most = self.curves.iter().flat_map(|c| &c.work).map(|&w| w as f64 / even).fold(1.0, f64::max).ceil();
        let threads = self.curves.first().map_or(1, |c| c.work.len().max(1));
        let mut body = String::new();
        let each = 560.0 / (threads * 4) as f64;
        for (i, curve) in self.curves.iter().enumerate() {
            for (thread, &work) in curve.work.iter().enumerate() {
                let height = 300.0 * work as f64 / even / most;
                let x = 60.0 + (thread * 4 + i) as f64 * each;
                let _ = write!(
                    body,
                    r#"<rect x="{x:.1}" y="{:.1}" width="{:.1}" height="{height:.1}" fill="{}"/>"#,
                    340.0 - height,
                    each * 0.9,
                    COLOURS[i]
                );
            }
        }
        self.frame(&body, "thread", "rays, in even shares", most)
    }

    /// Lines: the speed-up against the number of threads.
    pub fn speed_up(&self) -> String {
        let most =
            self.curves.iter().flat_map(|c| &c.speed_ups).fold(1.0, |m: f64, &(n, s)| m.max(s).max(n as f64)).ceil();
        let place = |n: usize, s: f64| (60.0 + 560.0 * n as f64 / most, 340.0 - 300.0 * s / most);
        let (x, y) = place(most as usize, most);
        let mut body = format!(r##"<path d="M60 340L{x:.1} {y:.1}" stroke="#bbb" stroke-dasharray="4 4"/>"##);
        for (i, curve) in self.curves.iter().enumerate() {
            let points: Vec<String> =
                curve.speed_ups.iter().map(|&(n, s)| place(n, s)).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
            let _ = write!(
                body,
                r#"<path d="M{}" fill="none" stroke="{}" stroke-width="2"/>"#,
                points.join("L"),
                COLOURS[i]
            );
            for &(n, s) in &curve.speed_ups {
                let (x, y) = place(n, s);
                let _ = write!(body, r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{}"/>"#, COLOURS[i]);
            }
        }
        self.frame(&body, &format!("threads, 0 to {most}"), "times as fast as one thread", most)
    }

    fn frame(&self, body: &str, x: &str, y: &str, top: f64) -> String {
        let mut svg = String::from(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 400" font-family="sans-serif" font-size="13"><rect width="760" height="400" fill="white"/>"##,
        );
        for step in 0..=4 {
            let value = top * f64::from(step) / 4.0;
            let at = 340.0 - 75.0 * f64::from(step);
            let _ = write!(
                svg,
                r##"<path d="M60 {at}H620" stroke="#ddd"/><text x="52" y="{:.1}" text-anchor="end">{value}</text>"##,
                at + 4.0
            );
        }
        svg += body;
        for (i, curve) in self.curves.iter().enumerate() {
            let y = 60 + 22 * i;
            let _ = write!(svg, r#"<text x="634" y="{y}" fill="{}">{}</text>"#, COLOURS[i], curve.name);
        }
        let _ =
            write!(svg, r#"<text x="340" y="375" text-anchor="middle">{x}</text><text x="60" y="24">{y}</text></svg>"#);
        svg
    }
}
