//! Kernels of the benchmarks: the set "counting", which counts the operations of each function (counting.cpp), and tests of
//! triangles for each instruction set (triangles.cpp). Only benchmarks depend on this package, so that no other build
//! compiles them. src/kernels.rs declares the entries of the set.
#![expect(unsafe_code, reason = "calls the kernels through their C entries")]

#[cfg(not(target_family = "wasm"))]
pub mod gpu;
pub mod triangles;

use std::collections::BTreeMap;
use std::ops::{Add, Sub};
use std::process::Command;

/// Floating-point operations. A fused multiply-add is a multiplication and an addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Additions and subtractions.
    pub additions: u64,
    /// Multiplications.
    pub multiplications: u64,
    /// Divisions and reciprocals.
    pub divisions: u64,
    /// Square roots.
    pub roots: u64,
}

impl Operations {
    /// Of all kinds.
    pub fn all(self) -> u64 {
        self.additions + self.multiplications + self.divisions + self.roots
    }
}

impl Add for Operations {
    type Output = Operations;
    fn add(self, other: Operations) -> Operations {
        Operations {
            additions: self.additions + other.additions,
            multiplications: self.multiplications + other.multiplications,
            divisions: self.divisions + other.divisions,
            roots: self.roots + other.roots,
        }
    }
}

impl Sub for Operations {
    type Output = Operations;
    fn sub(self, other: Operations) -> Operations {
        Operations {
            additions: self.additions - other.additions,
            multiplications: self.multiplications - other.multiplications,
            divisions: self.divisions - other.divisions,
            roots: self.roots - other.roots,
        }
    }
}

/// A function of the kernels: how often it was called, and its operations without those of functions that it calls.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name without parameters, that of the class for a method of a class template; functions for different kinds of scenes
    /// have one.
    pub name: String,
    /// Calls.
    pub calls: u64,
    /// Operations of all calls.
    pub operations: Operations,
}

// A row of the table in counting.cpp.
#[repr(C)]
struct Counted {
    function: usize,
    calls: u64,
    operations: [u64; 4],
}

unsafe extern "C" {
    fn polyfly_counting_table(places: *mut i32) -> *const Counted;
}

// The rows that are in use. The first one has the operations outside of all functions.
fn rows() -> &'static [Counted] {
    let mut places = 0;
    // SAFETY: the table is static, and only kernels of this thread write to it; no row is kept while they run.
    unsafe {
        let first = polyfly_counting_table(&raw mut places);
        std::slice::from_raw_parts(first, places.unsigned_abs() as usize)
    }
}

fn operations_of(row: &Counted) -> Operations {
    let [additions, multiplications, divisions, roots] = row.operations;
    Operations { additions, multiplications, divisions, roots }
}

/// The operations that the set "counting" has done so far. One thread may use the set at a time.
pub fn operations() -> Operations {
    rows().iter().map(operations_of).fold(Operations::default(), Add::add)
}

/// The same by function, the one with most operations first.
pub fn by_function() -> Vec<Function> {
    let names = symbols();
    let mut all: BTreeMap<String, Function> = BTreeMap::new();
    for row in rows().iter().filter(|row| row.function != 0) {
        let name = names.get(&row.function).cloned().unwrap_or_else(|| format!("{:#x}", row.function));
        let one = Function { name: name.clone(), calls: 0, operations: Operations::default() };
        let one = all.entry(name).or_insert(one);
        (one.calls, one.operations) = (one.calls + row.calls, one.operations + operations_of(row));
    }
    let mut all: Vec<Function> = all.into_values().filter(|one| one.operations.all() > 0).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.operations.all()));
    all
}

// The program's functions by their addresses, as `nm` of binutils tells them. None without it.
fn symbols() -> BTreeMap<usize, String> {
    let listed = std::env::current_exe().and_then(|program| Command::new("nm").arg(program).output());
    let text = listed.map(|nm| String::from_utf8_lossy(&nm.stdout).into_owned()).unwrap_or_default();
    let rows: Vec<(usize, &str)> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (address, name) = (usize::from_str_radix(words.next()?, 16).ok()?, words.nth(1)?);
            Some((address, name))
        })
        .collect();
    // The program is loaded anywhere: one function says where.
    let own = polyfly_counting_table as *const () as usize;
    let file = rows.iter().find(|(_, name)| name.trim_start_matches('_') == "polyfly_counting_table");
    let Some(moved) = file.map(|(address, _)| own.wrapping_sub(*address)) else { return BTreeMap::new() };
    rows.iter().filter_map(|(address, name)| Some((address.wrapping_add(moved), plain_name(name)?))).collect()
}

// The last two names of a mangled one (Itanium C++ ABI) without namespaces: `_ZN7polyfly12_GLOBAL__N_17Whitted5shade..` is
// `Whitted::shade`.
fn plain_name(mangled: &str) -> Option<String> {
    let Some(mut rest) = mangled.trim_start_matches('_').strip_prefix("ZN") else { return Some(mangled.into()) };
    let mut names: Vec<&str> = Vec::new();
    loop {
        rest = rest.trim_start_matches(['L', 'K']);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Ok(length) = rest[..digits].parse::<usize>() else { break };
        let (name, tail) = rest[digits..].split_at_checked(length)?;
        names.push(name);
        rest = tail;
    }
    let own: Vec<&str> = names.into_iter().filter(|name| *name != "polyfly" && !name.starts_with("_GLOBAL_")).collect();
    (!own.is_empty()).then(|| own.join("::"))
}
