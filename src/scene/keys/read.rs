//! Reads tables of keys from TOML: all faults come at once, each with its place, and what is not faulty is read.

use super::schema;
use super::{Key, Keys};
use crate::scene::ParseOptions;
use crate::scene::diagnostic::{MAX_SHOWN, Problem};
use crate::scene::suggest::{self, NameKind};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value of TOML and its place.
pub(crate) type TomlValue<'a> = Spanned<DeValue<'a>>;

// Problems with suggestions.
const CROWD: usize = 1000;

/// What holds for the whole text.
pub(crate) struct Context<'a> {
    pub options: ParseOptions<'a>,
    pub problems: Vec<Problem>,
    /// What may not be meant, and is done.
    pub warnings: Vec<Problem>,
}

impl Context<'_> {
    pub fn problem(&mut self, span: Range<usize>, what: impl Into<String>, expected: impl Into<String>) {
        self.problems.push(Problem::new(span, what, expected));
    }
    /// Whether so much is wrong that no more suggestions are looked for: they take time, and few problems are shown.
    pub fn is_crowded(&self) -> bool {
        self.problems.len() > CROWD
    }
    /// A word that is none of a key's, with what may have been meant.
    pub fn no_such_word(&mut self, problem: Problem, key: &Key, word: &str, words: impl Iterator<Item = &'static str>) {
        let problem = if self.is_crowded() { problem } else { problem.with_suggestion(key.name, word, words) };
        self.problems.push(problem);
    }
    /// A value of the wrong kind.
    pub fn wrong(&mut self, key: &Key, value: &TomlValue, expected: impl std::fmt::Display) {
        let what = format!("`{}` is {}", key.name, describe(value.get_ref()));
        self.problem(value.span(), what, format!("expected {expected}"));
    }
    /// A number that is finite, or a share such as `60%`.
    pub fn number(&mut self, key: &Key, value: &TomlValue) -> Option<f64> {
        let number = number(value.get_ref());
        if number.is_none() {
            self.wrong(key, value, "a number");
            if let (Some(x), Some(last)) = (value.get_ref().as_str().and_then(quoted_number), self.problems.last_mut())
            {
                last.help = Some(format!("a number stands without quotes: {x}"));
            }
        }
        number
    }
    /// A number by the key's rule.
    pub fn ruled(&mut self, key: &Key, value: &TomlValue) -> Option<f64> {
        let x = self.number(key, value)?;
        if !key.rule.allows(x) {
            self.problem(value.span(), format!("`{}` is {x}", key.name), format!("expected {}", key.rule.expected()));
            return None;
        }
        Some(x)
    }
    /// A number by the key's rule, or a word that `word` understands; `words` are what is expected of it.
    pub fn number_or_word<T>(
        &mut self,
        key: &Key,
        value: &TomlValue,
        word: impl Fn(&str) -> Option<T>,
        words: &str,
    ) -> Option<Result<f64, T>> {
        match value.get_ref() {
            DeValue::String(text) => match word(text) {
                Some(value) => return Some(Err(value)),
                None => {
                    let expected = format!("expected {}, or {words}", key.rule.expected());
                    self.problem(value.span(), format!("`{}` is \"{text}\"", key.name), expected);
                }
            },
            other => match number(other) {
                Some(x) if key.rule.allows(x) => return Some(Ok(x)),
                Some(x) => {
                    let expected = format!("expected {}, or {words}", key.rule.expected());
                    self.problem(value.span(), format!("`{}` is {x}", key.name), expected);
                }
                None => self.wrong(key, value, "a number or a word in quotes"),
            },
        }
        None
    }
    /// N numbers, whatever they are.
    pub fn numbers<const N: usize>(&mut self, key: &Key, value: &TomlValue) -> Option<[f64; N]> {
        let expected = || format!("a list of {N} numbers");
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong(key, value, expected());
            return None;
        };
        if list.len() != N {
            let what = format!("`{}` is a list of {}", key.name, list.len());
            self.problem(value.span(), what, format!("expected {}", expected()));
            return None;
        }
        let mut numbers = [0.0; N];
        for (x, value) in numbers.iter_mut().zip(list.iter()) {
            *x = self.number(key, value)?;
        }
        Some(numbers)
    }
    /// N numbers, each by the key's rule.
    pub fn ruled_numbers<const N: usize>(&mut self, key: &Key, value: &TomlValue) -> Option<[f64; N]> {
        let numbers = self.numbers(key, value)?;
        self.check_numbers(key, value, &numbers).then_some(numbers)
    }
    /// Whether all follow the key's rule.
    pub fn check_numbers(&mut self, key: &Key, value: &TomlValue, numbers: &[f64]) -> bool {
        let Some(bad) = numbers.iter().find(|&&x| !key.rule.allows(x)) else { return true };
        let count = if numbers.len() == 2 { "two" } else { "three" };
        let expected = format!("expected {count} values, each {}", key.rule.expected());
        // A number as its author may have written it: without a hundred noughts.
        let shown = if bad.abs() >= 1e15 { format!("{bad:e}") } else { bad.to_string() };
        let mut problem = Problem::new(value.span(), format!("`{}` holds {shown}", key.name), expected);
        if key.is_colour && *bad > 3.0 && numbers.iter().all(|x| x.fract() == 0.0 && (0.0..=255.0).contains(x)) {
            let code: String = numbers.iter().map(|x| format!("{:02x}", *x as u8)).collect();
            problem = problem.help(format!("codes of 0 to 255 are written as \"#{code}\""));
        }
        self.problems.push(problem);
        false
    }
    pub fn text<'v>(&mut self, key: &Key, value: &'v TomlValue) -> Option<&'v str> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.wrong(key, value, "a text in quotes");
        }
        text
    }
}

// A number of TOML, or a share written as "60%".
fn number(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Integer(x) => i64::from_str_radix(x.as_str(), x.radix()).ok().map(|x| x as f64),
        DeValue::Float(x) => x.as_str().parse().ok(),
        DeValue::String(text) => percent(text),
        _ => None,
    }
}

/// The share that a text such as `60%` says.
pub(crate) fn percent(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    // The same digits two places on: a hundredth by division would be another number now and then.
    format!("{number}e-2").parse().ok()
}

// A number in quotes, as people write it elsewhere.
fn quoted_number(text: &str) -> Option<f64> {
    text.trim().replace(',', ".").parse().ok()
}

// A value as a message calls it.
fn describe(value: &DeValue) -> String {
    match value {
        DeValue::String(text) => format!("the text {text:?}"),
        DeValue::Integer(x) => format!("the number `{x}`"),
        DeValue::Float(x) => format!("the number `{x}`"),
        DeValue::Boolean(x) => format!("`{x}`"),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "one table".into(),
    }
}

/// A table while it is read. It knows which keys it was asked for.
pub(crate) struct Table<'t, 'c> {
    pub context: &'t mut Context<'c>,
    values: &'t DeTable<'t>,
    // Of its header.
    pub span: Range<usize>,
    // In the schema.
    name: &'static str,
    known: Vec<&'static str>,
    missing: Vec<&'static str>,
    problems_before: usize,
}

// What some keys are called in British English.
fn other_spelling(name: &str) -> Option<String> {
    match name {
        "center" => Some("centre".into()),
        _ => name.contains("color").then(|| name.replace("color", "colour")),
    }
}

impl<'t, 'c> Table<'t, 'c> {
    pub fn new(context: &'t mut Context<'c>, table: &'t DeTable<'t>, span: Range<usize>, name: &'static str) -> Self {
        let problems_before = context.problems.len();
        Table { context, values: table, span, name, known: Vec::new(), missing: Vec::new(), problems_before }
    }
    /// Reads a struct's keys, and checks them together.
    pub fn read(&mut self, keys: &mut impl Keys) {
        for (key, field) in keys.fields() {
            if !key.is_elsewhere {
                field.read(key, self);
            }
        }
        keys.check(self);
    }
    /// The value of a key, with its place.
    pub fn get(&self, name: &str) -> Option<&'t TomlValue<'t>> {
        self.values.get(name).or_else(|| self.values.get(other_spelling(name)?.as_str()))
    }
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
    /// The text of a key.
    pub fn word(&self, name: &str) -> Option<&'t str> {
        self.get(name)?.get_ref().as_str()
    }
    /// The place of a key's value, if it is given.
    pub fn place(&self, name: &str) -> Option<Range<usize>> {
        self.get(name).map(Spanned::span)
    }
    /// The place of the value of a key in a table within.
    pub fn place_in(&self, table: &str, name: &str) -> Option<Range<usize>> {
        self.get(table)?.get_ref().as_table()?.get(name).map(Spanned::span)
    }
    /// The place of the first key of a table within.
    pub fn first_place_in(&self, table: &str) -> Option<Range<usize>> {
        let keys = self.get(table)?.get_ref().as_table()?.iter();
        keys.map(|(_, value)| value.span()).min_by_key(|span| span.start)
    }
    /// The place of a table in a list within, or of a key of it.
    pub fn place_of(&self, path: &[&str], i: usize) -> Option<Range<usize>> {
        let (list, key) = path.split_first()?;
        let table = self.get(list)?.get_ref().as_array()?.get(i)?;
        match key.first() {
            Some(key) => table.get_ref().as_table()?.get(*key).map(Spanned::span),
            None => Some(table.span()),
        }
    }
    /// Whether nothing was wrong with it so far.
    pub fn is_faultless(&self) -> bool {
        self.context.problems.len() == self.problems_before
    }
    pub fn problem(&mut self, span: Range<usize>, what: impl Into<String>, expected: impl Into<String>) {
        self.context.problem(span, what, expected);
    }
    /// A problem at a key, if it is given.
    pub fn problem_at(&mut self, name: &str, what: impl Into<String>, expected: impl Into<String>) {
        // One that is wrong by itself is told of as such.
        let is_told = |span: &Range<usize>| self.context.problems.iter().rev().take(MAX_SHOWN).any(|p| p.span == *span);
        if let Some(span) = self.place(name).filter(|span| !is_told(span)) {
            self.problem(span, what, expected);
        }
    }
    /// It is a key of this table.
    pub fn know(&mut self, key: &'static Key) {
        self.known.push(key.name);
    }
    /// Takes the value of a key.
    pub fn take(&mut self, key: &'static Key) -> Option<&'t TomlValue<'t>> {
        self.know(key);
        let value = self.get(key.name);
        if value.is_none() && key.is_required {
            self.missing.push(key.name);
        }
        let other = other_spelling(key.name).filter(|other| self.values.contains_key(other.as_str()));
        if let (Some(other), true) = (other, self.values.contains_key(key.name)) {
            let what = format!("`{other}` and `{}` are the same", key.name);
            let span = self.values[other.as_str()].span();
            self.problem(span, what, "expected one of them");
        }
        value
    }
    /// A table within it, if it is given.
    pub fn inner<'i>(&'i mut self, key: &'static Key, name: &'static str) -> Option<Table<'i, 'c>> {
        let value = self.take(key)?;
        let context = &mut *self.context;
        match value.get_ref() {
            DeValue::Table(table) => Some(Table::new(context, table, value.span(), name)),
            other => {
                let header = schema::header(name);
                let what = match other {
                    // Its values would be taken in the order of the keys.
                    DeValue::Array(_) => format!("`{}` is a list", key.name),
                    _ => format!("`{}` is {}", key.name, describe(other)),
                };
                let expected = format!("expected a table: a line {header}, and its keys below");
                let problem = Problem::new(value.span(), what, expected);
                context.problems.push(problem.help(format!("{header} has {}", schema::keys_of(name).join(", "))));
                None
            }
        }
    }
    /// The tables of a list within it.
    pub fn list<T>(&mut self, key: &'static Key, name: &'static str, read: impl Fn(&mut Table) -> T) -> Vec<T> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let DeValue::Array(list) = value.get_ref() else {
            let what = format!("`{}` is {}", key.name, describe(value.get_ref()));
            let expected =
                format!("expected two brackets around the name, as in {}: there may be several", schema::header(name));
            self.problem(value.span(), what, expected);
            return Vec::new();
        };
        let mut all = Vec::with_capacity(list.len());
        for one in list.iter() {
            let DeValue::Table(table) = one.get_ref() else {
                let what = format!("`{}` is {}", key.name, describe(one.get_ref()));
                self.problem(one.span(), what, "expected a table, whose values have names");
                continue;
            };
            let mut inner = Table::new(self.context, table, one.span(), name);
            all.push(read(&mut inner));
            inner.finish();
        }
        all
    }
    /// Whether one of its keys is none.
    pub fn has_unknown(&self) -> bool {
        self.values.iter().any(|(key, _)| !self.knows(key.get_ref()))
    }
    fn knows(&self, key: &str) -> bool {
        self.known.iter().any(|name| *name == key || other_spelling(name).is_some_and(|other| other == key))
    }
    /// When all keys were asked for: tells of those that are none, and of those that are missing.
    pub fn finish(mut self) {
        for (key, _) in self.values {
            if !self.knows(key.get_ref()) {
                let found = key.get_ref();
                let is_crowded = self.context.is_crowded();
                let expected =
                    if is_crowded { "expected a key of the table".into() } else { expected_key(found, &self.known) };
                self.problem(key.span(), format!("unknown key `{found}`"), expected);
            }
        }
        // A misspelt one may be the one that is missing.
        if self.has_unknown() {
            return;
        }
        let noun = if self.name == "key" { "camera key" } else { self.name };
        for key in std::mem::take(&mut self.missing) {
            let span = self.span.clone();
            self.problem(span, format!("this {noun} has no `{key}`"), format!("expected `{key} = ...` in it"));
        }
    }
}

// What to write instead of a key that is none of a table's: another program's name, a misspelt one, or one of another table.
fn expected_key(found: &str, known: &[&'static str]) -> String {
    let is_whole = |name: &str| known.contains(&"output") && known.contains(&name);
    let tables = schema::tables_with(found);
    if !tables.is_empty() {
        return format!("`{found}` is a key of {}", and(&tables));
    }
    if let Some(advice) = suggest::other_name(NameKind::Key, found) {
        return advice.to_owned();
    }
    match suggest::nearest(found, known.iter().copied()) {
        Some(name) if is_whole(name) => format!("did you mean `{}`?", schema::header(name)),
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("expected one of {}", known.join(", ")),
    }
}

// Names as a sentence lists them: `a, b and c`.
fn and(names: &[String]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}
