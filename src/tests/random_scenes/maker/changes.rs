//! What is changed in the finished text of a random scene.

use super::SceneMaker;

impl SceneMaker<'_> {
    // Lets some values change over the clip: from what they are to those of another line with the same key.
    pub(super) fn over_time(&mut self) {
        let schema = &*crate::scene::text::toml::SCHEMA;
        let text = std::mem::take(&mut self.text);
        let (has_relief, has_keys) = (text.contains("[floor.relief]"), text.contains("[[camera.key]]"));
        let mut sections = text.split("\n[");
        let (mut table, mut section) = (String::new(), "");
        for line in text.lines() {
            if line.starts_with('[') {
                (table, section) = (line.to_owned(), sections.next().unwrap_or_default());
            }
            let Some((key, value)) = line.split_once(" = ") else {
                self.add(format_args!("{line}"));
                continue;
            };
            let mut tables = schema["definitions"].as_object().into_iter().flatten();
            let is_animated = tables.any(|(_, definition)| {
                definition["x-header"] == table.as_str() && definition["properties"][key]["x-animated"] == true
            });
            let of_table = text
                .split("\n[")
                .filter(|part| part.starts_with(table.trim_start_matches('[')) || part.starts_with(&table));
            let others = of_table.flat_map(str::lines).filter_map(|other| other.strip_prefix(key)?.strip_prefix(" = "));
            let others: Vec<&str> = others.filter(|other| !other.contains("auto")).collect();
            if !is_animated
                || value.contains("auto")
                || (has_relief && key == "roughness")
                || (has_keys && table == "[camera]" && key == "fov_deg")
                || (section.contains("coat = ") && ["transparency", "film_nm", "fade"].contains(&key))
                || others.is_empty()
                || !self.chance(0.3)
            {
                self.add(format_args!("{line}"));
                continue;
            }
            let other = others[self.below(others.len())];
            if self.chance(0.2) {
                let beats = self.one_of(&[
                    "bpm = 1000, attack = 0.01",
                    "bpm = 333, offset = -0.02",
                    "beats = [0, 0.03, 0.1], closed = true",
                ]);
                self.add(format_args!("{key} = {{ {beats}, from = {value}, to = {other}, decay = 0.04 }}"));
                continue;
            }
            let ease = self.one_of(&["", ", ease = \"linear\"", ", ease = \"hold\"", ", closed = true"]);
            self.add(format_args!(
                "{key} = {{ keys = [[0.1, {value}], [0.8, {other}, \"in\"], [0.9, {value}]]{ease} }}"
            ));
        }
    }
    // Objects that stand on a flat floor.
    pub(super) fn standing(&mut self) {
        let is_flat = self.text.split_once("[floor]\ncorners = ").is_some_and(|(_, rest)| {
            let corners = rest.lines().next().unwrap_or_default().split("],[");
            let heights: Vec<_> = corners.map(|p| p.trim_end_matches(']').rsplit(',').next()).collect();
            heights.iter().all(|z| *z == heights[0])
        });
        if is_flat && self.some(0.4) {
            for object in ["body", "sphere", "ellipsoid", "rectangle", "mesh"] {
                let header = format!("[[{object}]]\n");
                self.text = self.text.replacen(&header, &format!("{header}on = \"floor\"\n"), 2);
            }
            let parts: Vec<String> = self.text.split("\n[").map(str::to_owned).collect();
            let lies = |part: &str| {
                let is_upright = !part.contains("\naxis = ") || part.contains("\naxis = [0, 0, 1]\n");
                part.starts_with("[body]]\non = ") && is_upright
            };
            let on = "on = \"floor\"\n";
            let laid = parts.into_iter().map(|part| match lies(&part) && self.chance(0.6) {
                true => part.replacen(on, &format!("{on}rest = \"face\"\n"), 1),
                false => part,
            });
            self.text = laid.collect::<Vec<_>>().join("\n[");
        }
    }
}
