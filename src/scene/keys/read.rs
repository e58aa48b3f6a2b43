//! Reads tables of keys from TOML. All faults are reported together with their positions, and valid keys are read
//! anyway.

use super::key::{Key, british};
use super::schema;
use super::track::Track;
use crate::language::{Message, ToMessage, msg};
use crate::scene::text::diagnostic::{MAX_SHOWN, Problem, Rule};
use crate::scene::text::grammar::ParseOptions;
use crate::scene::text::suggest::{self, NameKind};
use std::ops::Range;
use std::sync::LazyLock;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A TOML value with its position.
pub(crate) type TomlValue<'a> = Spanned<DeValue<'a>>;

// The number of problems above which no more suggestions are searched for.
const CROWD: usize = 1000;

/// The state of parsing a whole text.
pub(crate) struct Context<'a> {
    pub options: ParseOptions<'a>,
    // Made at the first fault.
    schema: &'static LazyLock<serde_json::Value>,
    pub problems: Vec<Problem>,
    /// Likely mistakes that are no errors.
    pub warnings: Vec<Problem>,
    /// The values that change over the clip.
    pub tracks: Vec<Track>,
}

impl<'a> Context<'a> {
    pub fn new(options: ParseOptions<'a>, schema: &'static LazyLock<serde_json::Value>) -> Context<'a> {
        Context { options, schema, problems: Vec::new(), warnings: Vec::new(), tracks: Vec::new() }
    }
    pub fn problem(&mut self, span: Range<usize>, what: impl ToMessage, expected: impl ToMessage) {
        self.problems.push(Problem::expected(span, what, expected));
    }
    /// Whether there are too many problems for suggestions, which take time. Few problems are shown.
    pub fn is_crowded(&self) -> bool {
        self.problems.len() > CROWD
    }
}

/// The value of a key in the text.
pub(crate) struct Given<'i, 't, 'c> {
    pub key: &'i Key,
    pub value: &'t TomlValue<'t>,
    /// The path of the table that has the key, with a point at its end.
    pub table: &'i str,
    pub context: &'i mut Context<'c>,
}

impl<'t, 'c> Given<'_, 't, 'c> {
    // An element of a list that is the key's value.
    pub fn within(&mut self, value: &'t TomlValue<'t>) -> Given<'_, 't, 'c> {
        Given { key: self.key, value, table: self.table, context: self.context }
    }
    pub fn problem<T>(&mut self, what: impl ToMessage, expected: impl ToMessage) -> Option<T> {
        self.context.problem(self.value.span(), what, expected);
        None
    }
    /// Refuses the value. `what` describes it.
    pub fn refuse<T>(&mut self, what: impl ToMessage, expected: impl ToMessage) -> Option<T> {
        self.problem(msg!("`{key}` is {what}", key = self.key.name, what), expected)
    }
    /// Refuses a value of the wrong type.
    pub fn wrong<T>(&mut self, expected: impl ToMessage) -> Option<T> {
        self.refuse(describe(self.value.get_ref()), expected)
    }
    /// Adds a remedy to the last problem.
    pub fn help(&mut self, help: Option<Message>) {
        if let (Some(problem), true) = (self.context.problems.last_mut(), help.is_some()) {
            problem.help = help;
        }
    }
    /// Adds the nearest valid word as a suggestion.
    pub fn suggest(&mut self, word: &str, words: impl Iterator<Item = &'static str>) {
        if !self.context.is_crowded() {
            self.help(suggest::meant(NameKind::Value(self.key.name), word, words));
        }
    }
    /// A finite number, or a percentage such as `60%`.
    pub fn number(&mut self) -> Option<f64> {
        self.number_as(&msg!("a number"))
    }
    // The same, with another text for what is expected.
    fn number_as(&mut self, expected: &Message) -> Option<f64> {
        let number = number(self.value.get_ref());
        if number.is_none() {
            self.wrong::<f64>(expected);
        }
        number
    }
    /// A number in the key's range.
    pub fn ruled(&mut self) -> Option<f64> {
        let rule = self.key.rule;
        let x = self.number_as(&if rule == Rule::Finite { msg!("a number") } else { rule.expected() })?;
        if !rule.allows(x) {
            return self.refuse(short(x), rule.expected());
        }
        Some(x)
    }
    /// A number in the key's range, or a word that `word` parses; `words` is the expected text.
    pub fn number_or_word<T>(
        &mut self,
        word: impl Fn(&str) -> Option<T>,
        words: impl ToMessage,
    ) -> Option<Result<f64, T>> {
        let rule = self.key.rule;
        let what = match self.value.get_ref() {
            DeValue::String(text) => match word(text) {
                Some(value) => return Some(Err(value)),
                None => format!("\"{text}\""),
            },
            other => match number(other) {
                Some(x) if rule.allows(x) => return Some(Ok(x)),
                Some(x) => short(x),
                None => return self.wrong(msg!("a number or a word in quotes")),
            },
        };
        self.refuse::<()>(what, msg!("{range}, or {words}", range = rule.expected(), words));
        if let (Some(text), false) = (self.value.get_ref().as_str(), self.context.is_crowded()) {
            let words = words.to_message().to_string();
            let quoted = words.split('"').skip(1).step_by(2);
            self.help(suggest::meant(NameKind::Value(self.key.name), text, quoted));
        }
        None
    }
    /// N numbers of any value.
    pub fn numbers<const N: usize>(&mut self) -> Option<[f64; N]> {
        let expected = msg!("a list of {count} numbers", count = N);
        let DeValue::Array(list) = self.value.get_ref() else {
            return self.wrong(expected);
        };
        if list.len() != N {
            return self.refuse(msg!("a list of {count}", count = list.len()), expected);
        }
        let mut numbers = [0.0; N];
        for (x, value) in numbers.iter_mut().zip(list.iter()) {
            *x = self.within(value).number()?;
        }
        Some(numbers)
    }
    /// N numbers, each in the key's range.
    pub fn ruled_numbers<const N: usize>(&mut self) -> Option<[f64; N]> {
        let numbers = self.numbers()?;
        self.check_numbers(numbers)
    }
    /// Returns the numbers if all are in the key's range.
    pub fn check_numbers<const N: usize>(&mut self, numbers: [f64; N]) -> Option<[f64; N]> {
        let key = self.key;
        let Some(bad) = numbers.iter().find(|&&x| !key.rule.allows(x)) else { return Some(numbers) };
        let shown = short(*bad);
        let each = key.rule.expected();
        let expected =
            if N == 2 { msg!("two values, each {each}", each) } else { msg!("three values, each {each}", each) };
        self.problem(msg!("`{key}` holds {number}", key = key.name, number = shown), expected)
    }
    pub fn text(&mut self) -> Option<&'t str> {
        let text = self.value.get_ref().as_str();
        if text.is_none() {
            self.wrong::<()>(msg!("a text in quotes"));
        }
        text
    }
}

// A number without a hundred zeros.
fn short(x: f64) -> String {
    if x.abs() >= 1e15 { format!("{x:e}") } else { x.to_string() }
}

// A TOML number, or a percentage such as "60%".
fn number(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Integer(x) => i64::from_str_radix(x.as_str(), x.radix()).ok().map(|x| x as f64),
        DeValue::Float(x) => x.as_str().parse().ok(),
        DeValue::String(text) => percent(text),
        _ => None,
    }
}

/// The fraction that a percentage such as `60%` means.
pub(crate) fn percent(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    // The exponent is parsed with the digits. A division by 100 would round differently for some numbers.
    format!("{number}e-2").parse().ok()
}

// A value's description in messages.
fn describe(value: &DeValue) -> Message {
    match value {
        DeValue::String(text) => msg!("the text {text}", text = format_args!("{text:?}")),
        DeValue::Integer(x) => msg!("the number `{number}`", number = x.to_string()),
        DeValue::Float(x) => msg!("the number `{number}`", number = x.to_string()),
        DeValue::Boolean(x) => Message::text(format_args!("`{x}`")),
        DeValue::Datetime(_) => msg!("a date"),
        DeValue::Array(_) => msg!("a list"),
        DeValue::Table(_) => msg!("one table"),
    }
}

/// A table that is being read. It records which keys have been requested.
pub(crate) struct Table<'t, 'c> {
    pub context: &'t mut Context<'c>,
    values: &'t DeTable<'t>,
    // The position of its header.
    pub span: Range<usize>,
    // The name in the schema.
    name: &'static str,
    // The path from the top, with a point at its end.
    path: String,
    known: Vec<&'static str>,
    missing: Vec<&'static str>,
    problems_before: usize,
    tracks_before: usize,
}

impl<'t, 'c> Table<'t, 'c> {
    pub fn new(context: &'t mut Context<'c>, table: &'t DeTable<'t>, span: Range<usize>, name: &'static str) -> Self {
        let (problems_before, tracks_before) = (context.problems.len(), context.tracks.len());
        Table {
            context,
            values: table,
            span,
            name,
            path: String::new(),
            known: Vec::new(),
            missing: Vec::new(),
            problems_before,
            tracks_before,
        }
    }
    // The value of a key, with its position.
    fn get(&self, name: &str) -> Option<&'t TomlValue<'t>> {
        self.values.get(name).or_else(|| self.values.get(british(name)?.as_str()))
    }
    // The value at a path through tables and lists, such as `relief.roughness_map` or `key.2.fov_deg`.
    fn at(&self, path: &str) -> Option<&'t TomlValue<'t>> {
        let mut parts = path.split('.');
        let first = self.get(parts.next()?);
        parts.fold(first, |value, part| match value?.get_ref() {
            DeValue::Table(table) => table.get(part),
            DeValue::Array(list) => list.get(part.parse::<usize>().ok()?),
            _ => None,
        })
    }
    /// Whether the path has a value.
    pub fn has(&self, path: &str) -> bool {
        self.at(path).is_some()
    }
    /// Whether the path has a value, in either spelling of its last key.
    pub fn gives(&self, path: &str) -> bool {
        let british = |(table, key): (&str, &str)| Some(format!("{table}.{}", british(key)?));
        self.has(path) || path.rsplit_once('.').and_then(british).is_some_and(|path| self.has(&path))
    }
    /// The string at a path.
    pub fn word(&self, path: &str) -> Option<&'t str> {
        self.at(path)?.get_ref().as_str()
    }
    /// The position of the value at a path, if there is one.
    pub fn span_of(&self, path: &str) -> Option<Range<usize>> {
        self.at(path).map(Spanned::span)
    }
    /// The position of the first key in an inner table.
    pub fn first_span_in(&self, table: &str) -> Option<Range<usize>> {
        let keys = self.get(table)?.get_ref().as_table()?.iter();
        keys.map(|(_, value)| value.span()).min_by_key(|span| span.start)
    }
    /// Whether the table has had no fault so far.
    pub fn is_faultless(&self) -> bool {
        self.context.problems.len() == self.problems_before
    }
    pub fn problem(&mut self, span: Range<usize>, what: impl ToMessage, expected: impl ToMessage) {
        self.context.problem(span, what, expected);
    }
    pub fn warn(&mut self, span: Range<usize>, what: impl ToMessage, so: impl ToMessage) {
        self.context.warnings.push(Problem::new(span, what.to_message(), so.to_message()));
    }
    /// Whether the value at a path changes over the clip.
    pub fn is_animated(&self, path: &str) -> bool {
        let own = &self.context.tracks[self.tracks_before..];
        own.iter().any(|track| track.path.strip_prefix(&self.path) == Some(path))
    }
    /// Reports a problem at the value of a path, if there is one.
    pub fn problem_at(&mut self, path: &str, what: impl ToMessage, expected: impl ToMessage) {
        // An invalid value has been reported already.
        let is_reported =
            |span: &Range<usize>| self.context.problems.iter().rev().take(MAX_SHOWN).any(|p| p.span == *span);
        if let Some(span) = self.span_of(path).filter(|span| !is_reported(span)) {
            self.problem(span, what, expected);
        }
    }
    /// Marks a key as one of this table.
    pub fn know(&mut self, key: &'static Key) {
        self.known.push(key.name);
    }
    /// Takes the value of a key.
    pub fn take<'i>(&'i mut self, key: &'static Key) -> Option<Given<'i, 't, 'c>> {
        self.know(key);
        let both = british(key.name).filter(|_| self.values.contains_key(key.name));
        if let Some((span, other)) = both.and_then(|other| Some((self.values.get(other.as_str())?.span(), other))) {
            self.problem(
                span,
                msg!("`{first}` and `{second}` are the same", first = other, second = key.name),
                msg!("one of them"),
            );
        }
        let value = self.get(key.name);
        if value.is_none() && key.required {
            self.missing.push(key.name);
        }
        value.map(|value| Given { key, value, table: &self.path, context: self.context })
    }
    /// The inner table of a key, if there is one.
    pub fn inner<'i>(&'i mut self, key: &'static Key, name: &'static str) -> Option<Table<'i, 'c>> {
        let mut given = self.take(key)?;
        if let DeValue::Table(table) = given.value.get_ref() {
            let path = format!("{}{}.", given.table, key.name);
            return Some(Table { path, ..Table::new(given.context, table, given.value.span(), name) });
        }
        let header = schema::header(given.context.schema, name);
        given.wrong::<()>(msg!("a table: a line {header}, and its keys below", header));
        let keys = schema::keys_of(given.context.schema, name).join(", ");
        given.help(Some(msg!("{header} has {keys}", header, keys)));
        None
    }
    pub fn list<T>(&mut self, key: &'static Key, name: &'static str, read: impl Fn(&mut Table) -> T) -> Vec<T> {
        let Some(mut given) = self.take(key) else { return Vec::new() };
        let DeValue::Array(list) = given.value.get_ref() else {
            let header = schema::header(given.context.schema, name);
            given.wrong::<T>(msg!("two brackets around the name, as in {header}: there may be several", header));
            return Vec::new();
        };
        let mut all = Vec::with_capacity(list.len());
        for (i, one) in list.iter().enumerate() {
            let DeValue::Table(table) = one.get_ref() else {
                given.within(one).wrong::<T>(msg!("a table, whose values have names"));
                continue;
            };
            let path = format!("{}{}.{i}.", given.table, key.name);
            let mut inner = Table { path, ..Table::new(given.context, table, one.span(), name) };
            all.push(read(&mut inner));
            inner.finish();
        }
        all
    }
    fn knows(&self, key: &str) -> bool {
        self.known.iter().any(|name| *name == key || british(name).is_some_and(|other| other == key))
    }
    /// Reports unknown and missing keys, after all keys have been requested.
    pub fn finish(self) {
        let unknown: Vec<_> = self.values.iter().map(|(key, _)| key).filter(|key| !self.knows(key.get_ref())).collect();
        for key in &unknown {
            let found = key.get_ref();
            let (expected, help) = if self.context.is_crowded() {
                (msg!("expected {what}", what = msg!("a key of the table")), None)
            } else {
                self.expected_key(found)
            };
            let problem = Problem::new(key.span(), msg!("unknown key `{key}`", key = found), expected);
            self.context.problems.push(Problem { help, ..problem });
        }
        // The missing key may be one of the misspelt ones.
        if unknown.is_empty() {
            let noun = if self.name == "key" { "camera key" } else { self.name };
            for key in self.missing {
                self.context.problem(
                    self.span.clone(),
                    msg!("this {table} has no `{key}`", table = noun, key),
                    msg!("`{key} = ...` in it", key),
                );
            }
        }
    }
    // The suggestion for an unknown key: from another program's name, another table that has it, or a similar spelling; else the keys of
    // the table.
    fn expected_key(&self, found: &str) -> (Message, Option<Message>) {
        let known = || msg!("expected one of {list}", list = self.known.join(", "));
        let tables = schema::tables_with(self.context.schema, found);
        if let Some(advice) = suggest::other_name(NameKind::Key, found) {
            return (advice, None);
        }
        if !tables.is_empty() {
            let tables = Message::all_of(&tables);
            return (msg!("`{key}` is a key of {tables}", key = found, tables), Some(known()));
        }
        let near = suggest::nearest(found, self.known.iter().copied());
        let header = |name| if self.name == "scene" { schema::header(self.context.schema, name) } else { name.into() };
        (near.map_or_else(known, |name| msg!("did you mean `{name}`?", name = header(name))), None)
    }
}
