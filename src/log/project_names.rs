//! The shortest names that tell projects apart, by their folders. Pure.

use std::collections::HashMap;

use crate::paths::base_name;

/// Returns a name for each path, in their order: that of its folder; where several have the same,
/// with the part of the path in which they differ; where that is not enough, the whole path.
pub fn names(paths: &[&str]) -> Vec<String> {
    let mut alike: HashMap<&str, Vec<&str>> = HashMap::new();
    for path in paths {
        alike.entry(base_name(path)).or_default().push(path);
    }
    paths.iter().map(|path| name(path, &alike[base_name(path)])).collect()
}

fn name(path: &str, alike: &[&str]) -> String {
    let own = base_name(path);
    if alike.len() == 1 {
        return own.to_owned();
    }
    let mine = parts(path);
    let others: Vec<_> = alike.iter().filter(|other| **other != path).map(|other| parts(other)).collect();
    let differs = (1..mine.len()).find(|at| others.iter().all(|other| other.get(*at) != mine.get(*at)));
    differs.map_or_else(|| path.to_owned(), |at| format!("{own} ({})", mine[at]))
}

/// The parts of a path, the last one first.
fn parts(path: &str) -> Vec<&str> {
    path.rsplit('/').filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_several_share_says_where_they_differ() {
        let paths = ["/home/ana/work/shop", "/home/bo/work/shop", "/home/ana/work/infra", ""];
        assert_eq!(names(&paths), ["shop (ana)", "shop (bo)", "infra", ""]);
        assert_eq!(names(&["/a/b/shop", "/a/c/shop", "/d/b/shop"]), ["/a/b/shop", "shop (c)", "shop (d)"]);
        assert_eq!(names(&["/shop", "/a/shop"]), ["/shop", "shop (a)"]);
    }
}
