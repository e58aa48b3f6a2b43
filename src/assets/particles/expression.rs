//! Expressions of columns, such as `0.5*mass*(vx^2+vy^2+vz^2)`: parsed once, and evaluated for all rows, many at a time. No crate that is
//! kept works by columns. Functions are those of `libm`, which are the same on all systems.

use crate::language::{Message, msg};
use crate::quote::brief;
use rayon::prelude::*;
use std::ops::Range;

/// An expression, as operations on a stack.
#[derive(Clone, Debug)]
pub struct Expression {
    operations: Vec<Operation>,
    names: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Number(f64),
    // The column of this name.
    Name(usize),
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
}

type Unary = (&'static str, fn(f64) -> f64);
type Sign = (&'static str, u8, fn(f64, f64) -> f64);
type Binary = (&'static str, fn(f64, f64) -> f64);

const UNARY: [Unary; 6] = [
    ("sqrt", f64::sqrt),
    ("abs", f64::abs),
    ("log", libm::log),
    ("exp", libm::exp),
    ("sin", libm::sin),
    ("cos", libm::cos),
];
const BINARY: [Binary; 2] = [("min", f64::min), ("max", f64::max)];

// A sign, how strongly it binds, and what it does; what is true is 1. A sign before a number binds between products and powers.
const SIGNS: [Sign; 13] = [
    ("||", 1, |a, b| truth(is_true(a) || is_true(b))),
    ("&&", 2, |a, b| truth(is_true(a) && is_true(b))),
    ("==", 3, |a, b| truth(a == b)),
    ("!=", 3, |a, b| truth(a != b)),
    ("<=", 3, |a, b| truth(a <= b)),
    (">=", 3, |a, b| truth(a >= b)),
    ("<", 3, |a, b| truth(a < b)),
    (">", 3, |a, b| truth(a > b)),
    ("+", 4, |a, b| a + b),
    ("-", 4, |a, b| a - b),
    ("*", 5, |a, b| a * b),
    ("/", 5, |a, b| a / b),
    ("^", 7, power),
];
const BEFORE: u8 = 6;

/// Whether a value counts as true: a number that is not 0.
pub fn is_true(x: f64) -> bool {
    x != 0.0 && !x.is_nan()
}

fn truth(is: bool) -> f64 {
    f64::from(u8::from(is))
}

// Squares and cubes are exact products.
fn power(a: f64, b: f64) -> f64 {
    match b {
        2.0 => a * a,
        3.0 => a * a * a,
        _ => libm::pow(a, b),
    }
}

/// Numbers of all rows.
pub enum Values<'a> {
    /// A column.
    Column(&'a [f64]),
    /// A coordinate of each position.
    Axis(&'a [[f64; 3]], usize),
    /// Numbers that were computed.
    Own(Vec<f64>),
}

impl Values<'_> {
    fn copy(&self, rows: Range<usize>, to: &mut [f64]) {
        match self {
            Values::Column(values) => to.copy_from_slice(&values[rows]),
            Values::Axis(values, axis) => to.iter_mut().zip(&values[rows]).for_each(|(to, p)| *to = p[*axis]),
            Values::Own(values) => to.copy_from_slice(&values[rows]),
        }
    }
}

// Rows that are computed at once.
const CHUNK: usize = 1024;
// Parentheses within each other, and operations.
const MAX_DEPTH: usize = 64;
const MAX_OPERATIONS: usize = 1000;

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// What is wrong with it, and at which character.
    pub fn parse(text: &str) -> Result<Expression, Message> {
        let expression = Expression { operations: Vec::new(), names: Vec::new() };
        let mut parser = Parser { text, rest: text, expression, depth: 0 };
        parser.sum(0)?;
        if !parser.rest.trim_start().is_empty() {
            return Err(parser.expected(&msg!("an operator, or the end")));
        }
        Ok(parser.expression)
    }

    /// The names of its columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Its values in `count` rows; `columns` are those of its names.
    pub fn values(&self, count: usize, columns: &[Values]) -> Vec<f64> {
        let mut all = vec![0.0; count];
        all.par_chunks_mut(CHUNK).enumerate().for_each(|(i, out)| {
            let rows = i * CHUNK..i * CHUNK + out.len();
            let mut stack: Vec<Vec<f64>> = Vec::new();
            for operation in &self.operations {
                match *operation {
                    Operation::Number(x) => stack.push(vec![x; out.len()]),
                    Operation::Name(name) => {
                        let mut values = vec![0.0; out.len()];
                        columns[name].copy(rows.clone(), &mut values);
                        stack.push(values);
                    }
                    Operation::One(of) => {
                        stack.last_mut().into_iter().flatten().for_each(|x| *x = of(*x));
                    }
                    Operation::Two(of) => {
                        let second = stack.pop().unwrap_or_default();
                        stack.last_mut().into_iter().flatten().zip(second).for_each(|(x, y)| *x = of(*x, y));
                    }
                }
            }
            out.copy_from_slice(&stack.pop().unwrap_or_default());
        });
        all
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    expression: Expression,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn expected(&self, what: &Message) -> Message {
        let rest = self.rest.trim_start();
        let at = self.text.chars().count() - rest.chars().count() + 1;
        msg!("character {at} of `{text}`: expected {what}", at, text = brief(self.text), what)
    }
    fn push(&mut self, operation: Operation) -> Result<(), Message> {
        self.expression.operations.push(operation);
        match self.expression.operations.len() > MAX_OPERATIONS {
            true => Err(self.expected(&msg!("a shorter expression"))),
            false => Ok(()),
        }
    }
    // Takes a sign if it comes next.
    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
    // Operands between signs that bind more strongly than `bound`.
    fn sum(&mut self, bound: u8) -> Result<(), Message> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.expected(&msg!("a shorter expression")));
        }
        if self.takes("-") {
            self.sum(BEFORE)?;
            self.push(Operation::One(|x| -x))?;
        } else if self.takes("!") {
            self.sum(BEFORE)?;
            self.push(Operation::One(|x| truth(!is_true(x))))?;
        } else {
            self.operand()?;
        }
        while let Some(&(sign, strength, of)) =
            SIGNS.iter().find(|(sign, strength, _)| *strength > bound && self.rest.trim_start().starts_with(*sign))
        {
            self.takes(sign);
            // Powers are taken from the right.
            self.sum(if sign == "^" { strength - 1 } else { strength })?;
            self.push(Operation::Two(of))?;
        }
        self.depth -= 1;
        Ok(())
    }
    // The text as long as its characters are of a kind.
    fn word(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
    fn operand(&mut self) -> Result<(), Message> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next() {
            Some('(') => {
                self.takes("(");
                self.sum(0)?;
                self.closes()
            }
            Some('`') => {
                let name = self.rest[1..].split_once('`');
                let (name, rest) = name.ok_or_else(|| self.expected(&msg!("a name between two backticks")))?;
                self.rest = rest;
                self.name(name)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => {
                let word = self.word(|c| c.is_alphanumeric() || "_.:[]".contains(c));
                if self.rest.trim_start().starts_with('(') { self.call(word) } else { self.name(word) }
            }
            _ => Err(self.expected(&msg!("a number, a column, a function or a parenthesis"))),
        }
    }
    fn closes(&mut self) -> Result<(), Message> {
        if self.takes(")") { Ok(()) } else { Err(self.expected(&msg!("a closing parenthesis"))) }
    }
    fn name(&mut self, name: &str) -> Result<(), Message> {
        let names = &mut self.expression.names;
        let at = names.iter().position(|one| one == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        self.push(Operation::Name(at))
    }
    fn number(&mut self) -> Result<(), Message> {
        let before = self.rest;
        self.word(|c| c.is_ascii_digit() || c == '.');
        let end = before.len() - self.rest.len();
        // An exponent, with its sign.
        let exponent = self.rest.strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        let digits =
            exponent.map_or(0, |rest| rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        let end = match exponent {
            Some(rest) if digits > 0 => before.len() - rest.len() + digits,
            _ => end,
        };
        match before[..end].parse() {
            Ok(x) => {
                self.rest = &before[end..];
                self.push(Operation::Number(x))
            }
            Err(_) => {
                self.rest = before;
                Err(self.expected(&msg!("a number")))
            }
        }
    }
    fn call(&mut self, word: &str) -> Result<(), Message> {
        let one = UNARY.iter().find(|(name, _)| *name == word);
        let two = BINARY.iter().find(|(name, _)| *name == word);
        if one.is_none() && two.is_none() {
            let all: Vec<&str> = UNARY.iter().map(|f| f.0).chain(BINARY.iter().map(|f| f.0)).collect();
            return Err(msg!("there is no function `{word}`; there are {list}", word, list = all.join(", ")));
        }
        self.takes("(");
        self.sum(0)?;
        if let Some((_, of)) = one {
            self.closes()?;
            return self.push(Operation::One(*of));
        }
        let mut count = 1;
        while let (Some((_, of)), true) = (two, self.takes(",")) {
            self.sum(0)?;
            self.push(Operation::Two(*of))?;
            count += 1;
        }
        if count == 1 {
            return Err(self.expected(&msg!("a comma and another value")));
        }
        self.closes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, String> {
        let expression = Expression::parse(text).map_err(|e| e.to_string())?;
        let known = |name: &String| match name.as_str() {
            "a" => vec![3.0],
            "c_s[1]" => vec![5.0],
            "two words" => vec![7.0],
            _ => vec![f64::NAN],
        };
        let columns: Vec<Values> = expression.names().iter().map(|name| Values::Own(known(name))).collect();
        Ok(expression.values(1, &columns)[0])
    }

    #[test]
    fn expressions_have_the_values_of_arithmetic() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2)*3 - 4/8", 8.5),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("2^3^2", 512.0),
            ("8 - 3 - 2", 3.0),
            ("a*a - c_s[1]", 4.0),
            ("`two words`/2", 3.5),
            ("1.5e1 + 2e-1*5", 16.0),
            ("sqrt(abs(-16)) + max(1, a, 2) - min(a, 2)", 5.0),
            ("exp(log(5)) + cos(0) - sin(0)", 6.0),
            ("--3", 3.0),
            ("a > 2 && 1 + 1 == 2 || 0", 1.0),
            ("!(a <= 3) || a != 3", 0.0),
            ("1 < 2 + `two words`*nan", 0.0),
            ("!nan && a >= 3", 1.0),
        ] {
            assert!((value(text).unwrap() - expected).abs() < 1e-12, "{text}: {:?}", value(text));
        }
        for (text, what) in [
            ("", "character 1 of ``: expected a number, a column"),
            ("1 +", "character 4 of `1 +`: expected a number"),
            ("2 a", "character 3 of `2 a`: expected an operator"),
            ("(1", "a closing parenthesis"),
            ("lg(2)", "there is no function `lg`; there are sqrt, abs"),
            ("min(2)", "a comma and another value"),
            ("`a", "a name between two backticks"),
            ("1.2.3", "character 1 of `1.2.3`: expected a number"),
            (&"(".repeat(100_000), "a shorter expression"),
            (&"1+".repeat(2_000), "a shorter expression"),
        ] {
            let fault = value(text).unwrap_err();
            assert!(fault.contains(what), "{text:.20}: {fault}");
        }
    }

    #[test]
    fn all_rows_are_computed() {
        let x: Vec<f64> = (0..10_000).map(f64::from).collect();
        let p: Vec<[f64; 3]> = x.iter().map(|&x| [0.0, x, 0.0]).collect();
        let expression = Expression::parse("2*x + y").unwrap();
        let values = expression.values(x.len(), &[Values::Column(&x), Values::Axis(&p, 1)]);
        assert!(values.iter().zip(&x).all(|(value, x)| *value == 3.0 * x) && values.len() == 10_000);
    }
}
