//! Tone curves.

use crate::math::srgb::srgb;
use crate::scene::Tone;

type Rgb = [f64; 3];

fn shown(tone: Tone, rgb: Rgb) -> Rgb {
    tone.tone_map(rgb)
}

#[test]
fn curves_rise_from_black_to_white_and_stay_in_between() {
    for (tone, name) in Tone::ALL.map(|tone| (tone, tone.name())) {
        assert!(shown(tone, [0.0; 3]).iter().all(|x| x.abs() < 1e-3), "{name} {:?}", shown(tone, [0.0; 3]));
        let mut before = -1.0;
        for i in 0..2000 {
            let light = libm::exp2(f64::from(i) / 100.0 - 14.0);
            let [r, g, b] = shown(tone, [light; 3]);
            assert!((r - g).abs() < 2e-3 && (g - b).abs() < 2e-3, "{name}: gray stays gray: {r} {g} {b}");
            assert!(r >= before - 1e-9 && r <= 1.0, "{name} at {light}: {r} after {before}");
            before = r;
        }
        assert!(before > 0.96, "{name} ends at {before}");
        for colour in [[5.0, 0.2, 0.0], [0.0, 0.0, 90.0], [0.3, 0.9, 0.1]] {
            assert!(shown(tone, colour).iter().all(|x| (-1e-9..=1.0 + 1e-9).contains(x)), "{name} {colour:?}");
        }
    }
}

// The order of the channels, and the relative position of the middle one.
#[test]
fn new_curves_keep_hues() {
    let hue = |[r, g, b]: Rgb| (g - b) / (r - b);
    let orange = |light: f64| [light, 0.45 * light, 0.1 * light];
    for tone in [Tone::Neutral, Tone::Filmic] {
        for light in [0.1, 0.5, 1.0, 3.0, 10.0] {
            let (before, after) = (hue(orange(light)), hue(shown(tone, orange(light))));
            assert!((before - after).abs() < 0.03, "{tone:?} at {light}: {before} {after}");
        }
    }
    // Per channel, orange becomes cream. The new curves avoid that.
    assert!(hue(shown(Tone::Soft, orange(10.0))) > 0.8);
}

// Contrast keeps middle gray where it is; saturation keeps grays.
#[test]
fn agx_takes_contrast_and_saturation() {
    let of = |contrast: f64, saturation: f64| Tone::Agx { contrast, saturation };
    let grey = |contrast: f64, light: f64| shown(of(contrast, 1.0), [light; 3])[1];
    assert!((grey(1.3, 0.18) - grey(1.0, 0.18)).abs() < 1e-3);
    assert!(grey(1.3, 0.02) < 0.8 * grey(1.0, 0.02) && grey(1.3, 1.0) > 1.1 * grey(1.0, 1.0));
    let orange = [1.0, 0.3, 0.05];
    let pure = |saturation: f64| {
        let [r, _, b] = shown(of(1.0, saturation), orange);
        1.0 - b / r
    };
    assert!(pure(1.4) > pure(1.0) + 0.1 && pure(0.5) < pure(1.0) - 0.1, "{} {} {}", pure(0.5), pure(1.0), pure(1.4));
    let (a, b) = (shown(of(1.0, 2.0), [0.4; 3]), shown(of(1.0, 1.0), [0.4; 3]));
    assert!((0..3).all(|i| (a[i] - b[i]).abs() < 2e-3), "{a:?} {b:?}");
}

#[test]
fn neutral_leaves_colours_below_four_fifths_as_they_are() {
    for rgb in [[0.5, 0.2, 0.1], [0.7, 0.7, 0.1], [0.2, 0.3, 0.75]] {
        let got = shown(Tone::Neutral, rgb);
        assert!((0..3).all(|i| (got[i] - (rgb[i] - 0.04)).abs() < 1e-9), "{rgb:?} {got:?}");
    }
}

#[test]
fn display_colours_come_through_the_tone_curve_as_they_are() {
    let knee = Tone::KNEE;
    let soft = |x: f64| if x > knee { knee + (x - knee) * (1.0 - knee) / (x - knee + 1.0 - knee) } else { x };
    let before = |tone: Tone, display: f64| f64::from(tone.invert([display; 3])[0] as f32);
    for code in 0..=250 {
        let display = f64::from(code) / 255.0;
        let shown = srgb(soft(before(Tone::Soft, display)));
        assert!((shown * 255.0 - f64::from(code)).abs() < 0.01, "{code}: {shown}");
        let shown = libm::sqrt(before(Tone::Clip { gamma: 2.0 }, display));
        assert!((shown * 255.0 - f64::from(code)).abs() < 0.01, "{code}: {shown}");
    }
}

#[test]
fn light_is_found_for_what_is_to_be_shown() {
    for (tone, name) in
        Tone::ALL.map(|tone| (tone, tone.name())).into_iter().chain([(Tone::Clip { gamma: 2.0 }, "gamma")])
    {
        // AgX shows no bright color with such a high saturation.
        let pure = if tone == Tone::AGX { 0.6 } else { 0.3 };
        for display in [[0.27, 0.0, 0.33], [0.13, 0.56, 0.55], [0.9, 0.85, pure], [0.92; 3]] {
            let got = shown(tone, tone.invert(display)).map(|x| tone.encode(x.clamp(0.0, 1.0)));
            let off = (0..3).map(|i| (got[i] - display[i]).abs()).fold(0.0, f64::max);
            assert!(off < 0.06, "{name}: {got:?} for {display:?}");
        }
    }
}
