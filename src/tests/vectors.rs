//! docs/vectors.txt: Rust's operations, which are those of IEEE 754, give the same bits.

const FILE: &str = include_str!("../../docs/vectors.txt");

// The result of an operation of docs/arithmetic.md by Rust's arithmetic.
fn result(name: &str, [x, y, z]: [u32; 3]) -> u32 {
    let [a, b, c] = [x, y, z].map(f32::from_bits);
    match name {
        "add" => (a + b).to_bits(),
        "sub" => (a - b).to_bits(),
        "mul" => (a * b).to_bits(),
        "div" => (a / b).to_bits(),
        "neg" => (-a).to_bits(),
        "fma" => a.mul_add(b, c).to_bits(),
        "reciprocal" => (1.0 / a).to_bits(),
        "sqrt" | "square_root" => a.sqrt().to_bits(),
        "min" => (if a < b { a } else { b }).to_bits(),
        "max" => (if a > b { a } else { b }).to_bits(),
        "less" => u32::from(a < b),
        "equal" => u32::from(a == b),
        "unequal" => u32::from(a != b),
        "select" => (if a < b { b } else { c }).to_bits(),
        "abs" => a.abs().to_bits(),
        "to_real" => (x.cast_signed() as f32).to_bits(),
        "to_int" => (a as i32).cast_unsigned(),
        "to_index" => (if a.is_nan() { b } else { a.clamp(0.0, b) }) as u32,
        "wrap_add" => x.wrapping_add(y),
        "wrap_mul" => x.wrapping_mul(y),
        "shift_down" => x >> y,
        "shift_up" => x << y,
        other => panic!("{other} is no operation"),
    }
}

#[test]
fn operations_have_the_bits_of_ieee_arithmetic() {
    let lines = FILE.lines().take_while(|line| !line.starts_with("# Frames")).filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, x, y, z, "=", expected] = words[..] else { panic!("{line}") };
        let number = |word: &str| u32::from_str_radix(word, 16).unwrap();
        assert_eq!(result(name, [x, y, z].map(number)), number(expected), "{line}");
        count += 1;
    }
    assert!(count > 2000 && FILE.len() < 100_000, "{count} operations");
}
