//! The modules at the top of `src` need each other in one direction: read from their `use`
//! declarations and paths, without their tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex::Regex;
use walkdir::WalkDir;

/// Which modules each module needs.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Returns the code of a file without its comments and its `mod tests`.
fn product_code(text: &str) -> String {
    let tests =
        Regex::new(r"\n#\[cfg\((?:all\()?test\b[^\n]*\n(?:#\[[^\n]*\n)*mod tests").expect("a pattern");
    let text = tests.split(text).next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Returns the names right behind `crate::`, single or in braces.
fn needed_modules(code: &str) -> BTreeSet<String> {
    let single = Regex::new(r"\bcrate::([a-z_0-9]+)").expect("a pattern");
    let group = Regex::new(r"\bcrate::\{([^;]*)\};").expect("a pattern");
    let first_names = Regex::new(r"(?:^|,)\s*([a-z_0-9]+)").expect("a pattern");
    let braces = Regex::new(r"\{[^{}]*\}").expect("a pattern");
    let mut names: BTreeSet<String> = single.captures_iter(code).map(|found| found[1].to_owned()).collect();
    for found in group.captures_iter(code) {
        let flat = braces.replace_all(&found[1], "");
        names.extend(first_names.captures_iter(&flat).map(|name| name[1].to_owned()));
    }
    names
}

fn graph_of(src: &Path) -> Graph {
    let mut graph = Graph::new();
    for entry in WalkDir::new(src) {
        let path = entry.expect("a readable tree").into_path();
        let inside = path.strip_prefix(src).expect("a path in src");
        let is_test = inside.ends_with("tests.rs") || inside == Path::new("testing.rs");
        if inside.extension().is_none_or(|extension| extension != "rs") || is_test {
            continue;
        }
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        let code = product_code(&fs::read_to_string(&path).expect("a source file"));
        graph.entry(module).or_default().extend(needed_modules(&code));
    }
    let modules: BTreeSet<String> = graph.keys().cloned().collect();
    for (module, needed) in &mut graph {
        needed.retain(|name| name != module && modules.contains(name));
    }
    graph
}

/// Returns modules that need each other in a circle, if there are any: what is left when modules
/// that need none of the rest are taken out again and again.
fn in_a_cycle(mut graph: Graph) -> BTreeSet<String> {
    loop {
        let left: BTreeSet<String> = graph.keys().cloned().collect();
        graph.retain(|_, needed| needed.iter().any(|name| left.contains(name)));
        if graph.len() == left.len() {
            return left;
        }
    }
}

#[test]
fn no_two_modules_need_each_other() {
    let graph = graph_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(graph["hook"].contains("gates"), "the graph is read: {graph:?}");
    let cycle = in_a_cycle(graph.clone());
    let edges: Vec<_> = graph
        .iter()
        .filter(|(module, _)| cycle.contains(*module))
        .map(|(module, needed)| {
            format!("{module} needs {:?}", needed.intersection(&cycle).collect::<Vec<_>>())
        })
        .collect();
    assert!(edges.is_empty(), "modules in or above a cycle:\n{}", edges.join("\n"));
}

#[test]
fn a_cycle_is_found() {
    let needs = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let graph: Graph =
        [("a", needs(&["b"])), ("b", needs(&["c"])), ("c", needs(&["b", "d"])), ("d", needs(&[]))]
            .map(|(name, needed)| (name.to_owned(), needed))
            .into();
    assert_eq!(in_a_cycle(graph), needs(&["a", "b", "c"]));
}

#[test]
fn every_form_of_a_path_is_read() {
    let code = product_code(
        "use crate::plan;\nuse crate::{log::{self, Record}, text};\nlet a = crate::shell::parse(b); // crate::no\n\
         #[cfg(test)]\nmod tests { use crate::testing; }",
    );
    let names: Vec<_> = needed_modules(&code).into_iter().collect();
    assert_eq!(names, ["log", "plan", "shell", "text"]);
}

/// A clock that stands where no calendar goes makes `Timestamp::now` panic.
#[test]
fn the_time_of_day_is_asked_for_in_one_place() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let asks = |path: &Path| {
        let code = product_code(&fs::read_to_string(path).expect("a source file"));
        code.contains("Timestamp::now()") || code.contains("Zoned::now()")
    };
    let files = WalkDir::new(&src).into_iter().map(|entry| entry.expect("a readable tree").into_path());
    let asking: Vec<_> = files.filter(|path| path.is_file() && asks(path)).collect();
    assert_eq!(asking, Vec::<std::path::PathBuf>::new(), "`clock` knows what to do with such a clock");
}
