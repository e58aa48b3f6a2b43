//! Source files do not import each other in circles, so that each can be read after those that it imports.

use super::architecture::{rust_files, without_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module's path: `["output", "video"]` for `src/output/video.rs`.
type ModulePath = Vec<String>;

// A name that a `use` declaration brings into a module, and its target. The name of a glob import is `*`.
struct Import {
    name: String,
    target: Vec<String>,
}

struct Module {
    // The text without comments, tests and `use` declarations.
    code: String,
    imports: Vec<Import>,
}

fn words(path: &str) -> Vec<String> {
    path.split("::").map(|word| word.trim().to_owned()).collect()
}

// The imports of a `use` declaration's tree, such as `super::{a, b::{self, C as D}}`.
fn expand(prefix: &[String], tree: &str, imports: &mut Vec<Import>) {
    let tree = tree.trim();
    if let Some((head, inside)) = tree.split_once('{') {
        let head = head.trim().trim_end_matches("::");
        let prefix = [prefix, &if head.is_empty() { Vec::new() } else { words(head) }].concat();
        let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
        let (mut depth, mut start) = (0, 0);
        for (at, c) in inside.char_indices().chain([(inside.len(), ',')]) {
            depth += i32::from(c == '{') - i32::from(c == '}');
            if c == ',' && depth == 0 {
                expand(&prefix, &inside[start..at], imports);
                start = at + 1;
            }
        }
    } else if !tree.is_empty() {
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
        let mut target = [prefix, &words(path)].concat();
        target.pop_if(|word| word == "self" && !prefix.is_empty());
        let name = alias.map(str::trim).map(str::to_owned).or_else(|| target.last().cloned()).unwrap_or_default();
        imports.push(Import { name, target });
    }
}

// The offset of the first `use` declaration in a text.
fn find_use(text: &str) -> Option<usize> {
    let begins_line = |at: usize| {
        let before = text[..at].rsplit('\n').next().unwrap_or_default().trim();
        before.is_empty() || before == "pub" || (before.starts_with("pub(") && before.ends_with(')'))
    };
    text.match_indices("use ").map(|(at, _)| at).find(|&at| begins_line(at))
}

impl Module {
    fn parse(text: &str) -> Module {
        let text = without_tests(text).lines().filter(|line| !line.trim_start().starts_with("//"));
        let text = text.collect::<Vec<_>>().join("\n");
        let (mut code, mut imports, mut rest) = (String::new(), Vec::new(), text.as_str());
        while let Some((at, end)) = find_use(rest).and_then(|at| Some((at, at + rest[at..].find(';')?))) {
            code.push_str(&rest[..at]);
            expand(&[], &rest[at + "use ".len()..end], &mut imports);
            rest = &rest[end + 1..];
        }
        code.push_str(rest);
        Module { code, imports }
    }

    fn defines(&self, name: &str) -> bool {
        let kinds = ["struct", "enum", "union", "trait", "type", "fn", "const", "static", "macro_rules!"];
        kinds.iter().any(|kind| {
            let definition = format!("{kind} {name}");
            let ends = |at: usize| !self.code[at..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
            self.code.match_indices(&definition).any(|(at, found)| ends(at + found.len()))
        })
    }

    // Paths such as `super::name::Thing` in the code.
    fn paths(&self) -> Vec<Vec<String>> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let runs = self.code.split(|c: char| !is_part(c)).filter(|run| run.contains("::"));
        runs.map(|run| words(run).into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>())
            .filter(|path: &Vec<String>| path.len() > 1)
            .collect()
    }
}

struct Modules(BTreeMap<ModulePath, Module>);

impl Modules {
    fn of(files: &BTreeMap<std::path::PathBuf, String>) -> Modules {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let modules = files.iter().map(|(path, text)| {
            let inside = path.strip_prefix(&source).unwrap().with_extension("");
            let path: ModulePath = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            (if path == ["lib"] { Vec::new() } else { path }, Module::parse(text))
        });
        Modules(modules.collect())
    }

    // The module that defines the target of a path, as seen from `here`; None for paths into other crates.
    fn resolve(&self, here: &ModulePath, path: &[String], depth: usize) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        let parent = |module: &ModulePath| module.split_last().map(|(_, parent)| parent.to_vec());
        let (mut module, mut rest) = match first.as_str() {
            "crate" => (Vec::new(), rest),
            "self" => (here.clone(), rest),
            "super" => (parent(here)?, rest),
            child if self.0.contains_key(&[here.as_slice(), &[child.to_owned()]].concat()) => (here.clone(), path),
            _ => return None,
        };
        while let Some((name, after)) = rest.split_first() {
            let child = [module.as_slice(), std::slice::from_ref(name)].concat();
            module = match name.as_str() {
                "super" => parent(&module)?,
                _ if self.0.contains_key(&child) => child,
                _ => return Some(self.definition(&module, name, depth)),
            };
            rest = after;
        }
        Some(module)
    }

    // The module that defines a name that is visible in `module`.
    fn definition(&self, module: &ModulePath, name: &str, depth: usize) -> ModulePath {
        let Some(found) = self.0.get(module).filter(|_| depth < 8) else { return module.clone() };
        if found.defines(name) {
            return module.clone();
        }
        let named = found.imports.iter().filter(|import| import.name == name);
        let mut named = named.filter_map(|import| self.resolve(module, &import.target, depth + 1));
        let globs = found.imports.iter().filter(|import| import.name == "*");
        let mut globs = globs.filter_map(|import| {
            let (_, target) = import.target.split_last()?;
            let from = self.resolve(module, target, depth + 1)?;
            let at = self.definition(&from, name, depth + 1);
            self.0.get(&at)?.defines(name).then_some(at)
        });
        named.next().or_else(|| globs.next()).unwrap_or_else(|| module.clone())
    }

    // The imports of each module, without itself. The crate's root is left out, because it only declares modules.
    fn graph(&self) -> BTreeMap<&ModulePath, BTreeSet<ModulePath>> {
        let is_part = |path: &ModulePath| path.first().is_some_and(|top| !["main", "tests"].contains(&top.as_str()));
        let modules = self.0.iter().filter(|(path, _)| is_part(path));
        modules
            .map(|(here, module)| {
                let imports = module.imports.iter().map(|import| match import.name.as_str() {
                    "*" => &import.target[..import.target.len() - 1],
                    _ => &import.target,
                });
                let code = module.paths();
                let targets = imports.chain(code.iter().map(Vec::as_slice));
                let found = targets.filter_map(|target| self.resolve(here, target, 0));
                (here, found.filter(|there| there != here && is_part(there)).collect())
            })
            .collect()
    }
}

// Groups of modules in which each imports all others, directly or indirectly.
fn circles<'a>(graph: &BTreeMap<&'a ModulePath, BTreeSet<ModulePath>>) -> Vec<Vec<&'a ModulePath>> {
    let reachable: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> = graph
        .keys()
        .map(|&start| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(module) = open.pop() {
                open.extend(graph.get(module).into_iter().flatten().filter(|next| seen.insert(*next)));
            }
            (start, seen)
        })
        .collect();
    let mut circles = Vec::new();
    let mut done = BTreeSet::new();
    for &module in graph.keys().filter(|module| reachable[*module].contains(*module)) {
        if done.insert(module) {
            let others = graph.keys().filter(|other| reachable[module].contains(**other));
            let circle: Vec<_> = others.filter(|other| reachable[**other].contains(module)).copied().collect();
            done.extend(&circle);
            circles.push(circle);
        }
    }
    circles
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let modules = Modules::of(&rust_files());
    let graph = modules.graph();
    let mut wrong = String::new();
    for circle in circles(&graph) {
        wrong += "These files import each other:\n";
        for module in &circle {
            let imported = graph[module].iter().filter(|other| circle.contains(other));
            let imported: Vec<String> = imported.map(|other| other.join("::")).collect();
            wrong += &format!("  {} imports {}\n", module.join("::"), imported.join(", "));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn circles_are_found_through_braces_aliases_and_reexports() {
    let file = |path: &str, text: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path);
        (path, text.to_owned())
    };
    let found = |files: Vec<(std::path::PathBuf, String)>| {
        let modules = Modules::of(&files.into_iter().collect());
        let graph = modules.graph();
        circles(&graph).iter().map(|circle| circle.iter().map(|m| m.join("::")).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let none: [Vec<String>; 0] = [];
    let face = "mod b;\nmod c;\npub use b::B;\n";
    // `super::B` is defined in b, although a re-exports it.
    assert_eq!(found(vec![file("a.rs", face), file("a/b.rs", "struct B;"), file("a/c.rs", "use super::B;")]), none);
    let named = "struct B;\nfn f() { super::c::g() }";
    let aliased = "use super::{self as above, b::{B as _}};\n// use crate::nothing;\nfn g() {}";
    let circle = found(vec![file("a.rs", face), file("a/b.rs", named), file("a/c.rs", aliased)]);
    assert_eq!(circle, [["a", "a::b", "a::c"]], "an alias of a is an import of a");
    let tests = "struct B;\n#[cfg(test)]\nmod tests {\n    use super::super::c::g;\n}\n";
    assert_eq!(
        found(vec![file("a.rs", face), file("a/b.rs", tests), file("a/c.rs", "pub(crate) use super::b::B;")]),
        none
    );
    let glob = "use super::b::*;\nfn g() -> B { B }";
    let both = found(vec![file("a.rs", face), file("a/b.rs", named), file("a/c.rs", glob)]);
    assert_eq!(both, [["a::b", "a::c"]]);
}
