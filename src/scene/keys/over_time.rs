//! Reads a value that may change over the clip: the value itself, or a table of keys with their times, such as
//! `{ keys = [[0, 0.2], [0.5, 7]], ease = "smooth", closed = true }`. Any key that is declared with `animated()` takes
//! such a table.

use super::Value;
use super::key::Key;
use super::kinds::{Kind, list_text, number_text};
use super::read::{Given, Table};
use super::track::{Beats, Ease, TimedValue, Track};
use super::words::{Names, words_schema};
use super::write::Lines;
use crate::language::msg;
use crate::math::vec3::Vec3;
use crate::scene::text::diagnostic::Rule;
use serde_json::{Map, Value as Json, json};
use toml::de::DeValue;

// The name of the table in messages, and in the schema, where a reference has no spaces.
const TABLE: &str = "value over time";
const DEFINITION: &str = "value-over-time";

const KEYS: Key = Key {
    required: true,
    ..Key::new(
        "keys",
        "Times and values, `[time, value]`, and if it differs from `ease` the way to the next key: `[time, value, \"linear\"]`. The time is a share of the clip: 0 is the first frame, 1 would be the frame after the last.",
    )
};
const EASE: Key = Key::new("ease", "How the value goes from key to key.");
const CLOSED: Key = Key::new("closed", "After the last key the value returns to the first, and the clip loops.");
const BPM: Key = Key {
    rule: Rule::Within(1.0, 1000.0),
    ..Key::new(
        "bpm",
        "Beats per minute, instead of `keys`: at each beat the value goes to `to`, and falls back to `from`.",
    )
};
const BEATS: Key = Key {
    rule: Rule::NotNegative,
    ..Key::new(
        "beats",
        "The beats one by one, in seconds from the clip's start, instead of `bpm`. With `closed` they go on from the clip's end at its start.",
    )
};
const FROM: Key = Key { required: true, ..Key::new("from", "The value between beats.") };
const TO: Key = Key { required: true, ..Key::new("to", "The value at a beat.") };
const ATTACK: Key = Key { rule: Rule::Within(0.0, 60.0), ..Key::new("attack", "Seconds from a beat to `to`.") };
const DECAY: Key = Key {
    rule: Rule::Within(0.001, 3600.0),
    ..Key::new("decay", "Seconds from `to` to `from`: fast at first. The next beat ends them.")
};
const OFFSET: Key = Key {
    rule: Rule::Within(-3600.0, 3600.0),
    ..Key::new("offset", "Seconds by which all beats are late, so that one lamp follows another.")
};
const DEFAULT_DECAY: f64 = 0.4;
const TIME: Key = Key { rule: Rule::Fraction, ..Key::new("time", "") };

/// The schema with the table of a value over time among its definitions.
pub(crate) fn defined(schema: &Json) -> Json {
    let mut schema = schema.clone();
    schema["definitions"][DEFINITION] = table_schema();
    schema
}

/// The schema for editors: keys that may change over the clip take tables too.
pub(crate) fn published(schema: &Json) -> Json {
    let mut schema = defined(schema);
    let tables = schema["definitions"].as_object_mut().into_iter().flatten();
    let keys = tables.filter_map(|(_, table)| table["properties"].as_object_mut()).flatten();
    for (_, key) in keys.filter(|(_, key)| key["x-animated"] == true) {
        let any = match key["anyOf"].take() {
            Json::Array(any) => any,
            _ => {
                let bounds = [
                    "type",
                    "minimum",
                    "maximum",
                    "exclusiveMinimum",
                    "exclusiveMaximum",
                    "items",
                    "minItems",
                    "maxItems",
                ];
                let key = key.as_object_mut().into_iter();
                let moved = key.flat_map(|key| bounds.map(|name| (name.to_owned(), key.remove(name))));
                vec![moved.filter_map(|(name, value)| Some((name, value?))).collect::<Map<_, _>>().into()]
            }
        };
        let over_time = json!({ "$ref": format!("#/definitions/{DEFINITION}") });
        key["anyOf"] = any.into_iter().chain([over_time]).collect();
    }
    schema
}

// The JSON schema of such a table.
fn table_schema() -> Json {
    let described = |mut schema: Json, key: &Key, default: Json| {
        schema["description"] = key.doc.into();
        if !default.is_null() {
            schema["default"] = default;
        }
        schema
    };
    let number = |key: &Key, default: f64| {
        let (least, most) = key.rule.range();
        described(json!({ "type": "number", "minimum": least, "maximum": most }), key, default.into())
    };
    let bpm = json!({ "type": "number", "minimum": 1, "maximum": 1000 });
    let pair = json!({ "type": "array", "minItems": 2, "maxItems": 3 });
    json!({
        "type": "object",
        "description": "A value that changes over the clip.",
        "additionalProperties": false,
        "oneOf": [{ "required": ["keys"] }, { "required": ["bpm", "from", "to"] }, { "required": ["beats", "from", "to"] }],
        "properties": {
            "keys": described(json!({ "type": "array", "minItems": 2, "items": pair }), &KEYS, ().into()),
            "ease": described(words_schema(Ease::NAMES), &EASE, "smooth".into()),
            "closed": described(json!({ "type": "boolean" }), &CLOSED, false.into()),
            "bpm": described(bpm, &BPM, ().into()),
            "beats": described(json!({ "type": "array", "minItems": 1, "items": { "type": "number" } }), &BEATS, ().into()),
            "from": described(json!({}), &FROM, ().into()),
            "to": described(json!({}), &TO, ().into()),
            "attack": number(&ATTACK, 0.0),
            "decay": number(&DECAY, DEFAULT_DECAY),
            "offset": number(&OFFSET, 0.0),
        },
    })
}

impl<T: Kind> Value for T {
    fn read(&mut self, key: &'static Key, table: &mut Table) {
        if let Some(value) = table.take(key).and_then(|mut given| parse(&mut given)) {
            *self = value;
        }
    }
    fn list(&self, key: &'static Key, lines: &mut Lines) {
        lines.value(key, Some(self.text(key)), T::schema);
    }
    fn put(&mut self, key: &'static Key, path: &str, value: Vec3) {
        if let Some(value) = T::of_numbers(value).filter(|_| path == key.name) {
            *self = value;
        }
    }
}

impl<T: Kind> Value for Option<T> {
    fn read(&mut self, key: &'static Key, table: &mut Table) {
        if let Some(mut given) = table.take(key) {
            let is_none = T::TAKES_NONE && given.value.get_ref().as_str() == Some("none");
            *self = if is_none { None } else { parse(&mut given) };
        }
    }
    fn list(&self, key: &'static Key, lines: &mut Lines) {
        lines.value(key, self.as_ref().map(|value| value.text(key)), T::schema);
    }
    fn put(&mut self, key: &'static Key, path: &str, value: Vec3) {
        if let Some(value) = T::of_numbers(value).filter(|_| path == key.name) {
            *self = Some(value);
        }
    }
}

// Parses a value, or the first of a value over time.
fn parse<T: Kind>(given: &mut Given) -> Option<T> {
    let is_over_time = |value: &DeValue| {
        value
            .as_table()
            .is_some_and(|table| [KEYS, EASE, CLOSED, BPM, BEATS].iter().any(|key| table.contains_key(key.name)))
    };
    if !is_over_time(given.value.get_ref()) {
        return T::parse(given);
    }
    if !given.key.animated {
        given.problem::<()>(msg!("`{key}` cannot change over the clip", key = given.key.name), msg!("one value"));
        let is_path = given.table == "camera." && ["position", "look_at"].contains(&given.key.name);
        given.help(is_path.then(|| msg!("a camera moves along [[camera.key]], or round [camera.orbit]")));
        return None;
    }
    let track = track::<T>(given)?;
    let first = T::of_numbers(track.at(0.0));
    given.context.tracks.push(track);
    first
}

// Reads a value over time.
fn track<T: Kind>(given: &mut Given) -> Option<Track> {
    let (key, path) = (given.key, format!("{}{}", given.table, given.key.name));
    let values = given.value.get_ref().as_table()?;
    let mut table = Table::new(given.context, values, given.value.span(), TABLE);
    let ease = table.take(&EASE).and_then(|mut given| Ease::parse(&mut given)).unwrap_or_default();
    let closed = table.take(&CLOSED).and_then(|mut given| bool::parse(&mut given)).unwrap_or_default();
    let mut track = Track {
        path,
        count: 0,
        keys: Vec::new(),
        beats: None,
        ease,
        closed,
        is_colour: key.colour,
        period: match key.unit {
            "degrees" => Some(360.0),
            "cycles" => Some(1.0),
            _ => None,
        },
    };
    if [BPM, BEATS].iter().any(|key| values.contains_key(key.name)) {
        read_beats::<T>(key, &mut table, &mut track);
    } else if let Some(mut given) = table.take(&KEYS) {
        read_keys::<T>(key, &mut given, &mut track);
    }
    let is_right = table.is_faultless();
    table.finish();
    (is_right && track.keys.len() > 1).then_some(track)
}

// Reads beats. Their keys are made when the length of the clip is known; until then the value between beats is the first of two.
fn read_beats<T: Kind>(key: &Key, table: &mut Table, track: &mut Track) {
    let mut number = |key: &'static Key| table.take(key).and_then(|mut given| given.ruled());
    let bpm = number(&BPM);
    let [attack, decay, offset] = [&ATTACK, &DECAY, &OFFSET].map(&mut number);
    let mut times = Vec::new();
    if let Some(mut given) = table.take(&BEATS) {
        let list = given.value.get_ref().as_array().filter(|list| !list.is_empty() && bpm.is_none());
        times.extend(list.into_iter().flatten().filter_map(|one| given.within(one).ruled()));
        if list.is_none() || !times.is_sorted_by(|a, b| a < b) {
            given.wrong::<()>(msg!("times in seconds that grow from beat to beat, and no `bpm`"));
        }
    }
    let mut value = |own: &'static Key| {
        let mut given = table.take(own)?;
        let value = T::parse(&mut Given { key, ..given.within(given.value) })?;
        value.numbers().or_else(|| given.refuse(value.text(key), msg!("a number at each key")))
    };
    let (Some((_, from)), Some((count, to))) = (value(&FROM), value(&TO)) else { return };
    track.count = count;
    track.keys = [from, to].map(|value| TimedValue { time: 0.0, value, ease: Ease::Hold }).into();
    let (attack, decay) = (attack.unwrap_or_default(), decay.unwrap_or(DEFAULT_DECAY));
    track.beats = Some(Beats { bpm, times, from, to, attack, decay, offset: offset.unwrap_or_default() });
}

// Reads the keys of a value over time. `key` is that of the value.
fn read_keys<T: Kind>(key: &Key, given: &mut Given, track: &mut Track) {
    let DeValue::Array(list) = given.value.get_ref() else {
        given.wrong::<()>(msg!("a list of keys, each `[time, value]`: [[0, ...], [0.5, ...]]"));
        return;
    };
    for (i, one) in list.iter().enumerate() {
        let mut given = given.within(one);
        let Some(parts) = one.get_ref().as_array().filter(|parts| (2..=3).contains(&parts.len())) else {
            given.problem::<()>(
                msg!("key {number} of `{key}` is not a pair", number = i + 1, key = key.name),
                msg!("`[time, value]`, or with an ease after them"),
            );
            continue;
        };
        let time = Given { key: &TIME, ..given.within(&parts[0]) }.ruled();
        let value = T::parse(&mut Given { key, ..given.within(&parts[1]) });
        let ease = match parts.get(2) {
            Some(ease) => Ease::parse(&mut Given { key: &EASE, ..given.within(ease) }),
            None => Some(track.ease),
        };
        let (Some(time), Some(value), Some(ease)) = (time, value, ease) else { continue };
        let Some((count, value)) = value.numbers() else {
            Given { key, ..given.within(&parts[1]) }.refuse::<()>(value.text(key), msg!("a number at each key"));
            continue;
        };
        track.count = count;
        if let Some(before) = track.keys.last().filter(|before| time <= before.time) {
            given.within(&parts[0]).problem::<()>(
                msg!("this key's time, {time}, is not after the one before, {before}", time, before = before.time),
                msg!("times that grow from key to key"),
            );
        }
        track.keys.push(TimedValue { time, value, ease });
    }
    if let ([_], [_]) = (&list[..], &track.keys[..]) {
        given.problem::<()>(
            msg!("`{key}` has one key", key = key.name),
            msg!("at least two; a value that stays stands alone"),
        );
    }
    let (Some(first), Some(last)) = (track.keys.first(), track.keys.last()) else {
        if list.is_empty() {
            given.problem::<()>(
                msg!("`{key}` has no keys", key = key.name),
                msg!("a list of keys, each `[time, value]`: [[0, ...], [0.5, ...]]"),
            );
        }
        return;
    };
    if track.closed && last.time - first.time >= 1.0 {
        given.problem::<()>(
            msg!("no time is left to close the loop"),
            msg!("its time below 1: the way back to the first key takes the rest of the clip"),
        );
    }
}

/// A value over time in TOML.
pub(crate) fn text(track: &Track) -> String {
    let value = |value: &Vec3| match track.count {
        1 => number_text(value[0]),
        count => list_text(&value[..count]),
    };
    if let Some(beats) = &track.beats {
        let rate = match beats.bpm {
            Some(bpm) => format!("bpm = {}", number_text(bpm)),
            None => format!("beats = {}", list_text(&beats.times)),
        };
        let rest =
            [("attack", beats.attack, 0.0), ("decay", beats.decay, DEFAULT_DECAY), ("offset", beats.offset, 0.0)];
        let rest = rest.into_iter().filter(|(_, x, default)| x != default);
        let rest: String = rest.map(|(name, x, _)| format!(", {name} = {}", number_text(x))).collect();
        let closed = if track.closed { ", closed = true" } else { "" };
        return format!("{{ {rate}, from = {}, to = {}{rest}{closed} }}", value(&beats.from), value(&beats.to));
    }
    let key = |key: &TimedValue| {
        let value = value(&key.value);
        let ease = if key.ease == track.ease { String::new() } else { format!(", \"{}\"", key.ease.name()) };
        format!("[{}, {value}{ease}]", number_text(key.time))
    };
    let keys = track.keys.iter().map(key).collect::<Vec<_>>().join(", ");
    let ease = if track.ease == Ease::Smooth { "" } else { &format!(", ease = \"{}\"", track.ease.name()) };
    let closed = if track.closed { ", closed = true" } else { "" };
    format!("{{ keys = [{keys}]{ease}{closed} }}")
}
