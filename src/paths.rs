//! What kind of file a path names, by its components alone: a test, a document, a generated file,
//! scratch. No other code decides that. Must not look at the disk.

/// Suffixes of lock files and of generated files.
const GENERATED: &[&str] = &[
    ".lock", "-lock.json", "-lock.yaml", ".lockb", ".sum", ".min.js", ".min.css", ".map", ".snap", ".pb.go",
    "_pb2.py", ".g.dart", ".generated.ts", "npm-shrinkwrap.json", ".tsbuildinfo",
];

/// Folders of other people's files, a repository's history, or build output: walks through a
/// workspace skip them.
pub const SKIPPED_FOLDERS: &[&str] = &[
    ".git", ".hg", ".jj", ".next", ".venv", "Pods", "__pycache__", "bower_components", "dist",
    "node_modules", "site-packages", "target", "third-party", "third_party", "vendor", "vendored", "venv",
];

/// Folders of generated files that a repository keeps among its own.
const GENERATED_FOLDERS: &[&str] = &["__generated__", "__snapshots__", "generated"];

/// Folders of temporary files.
const SCRATCH: &[&str] = &["/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/dev/shm/"];

const TEST_FOLDERS: &[&str] =
    &["__tests__", "__test__", "e2e", "spec", "specs", "test", "testdata", "testing", "tests", "unittests"];

/// Returns whether a file is a lock file, generated or vendored.
pub fn is_generated(path: &str) -> bool {
    let is_generated = |folder| SKIPPED_FOLDERS.contains(&folder) || GENERATED_FOLDERS.contains(&folder);
    GENERATED.iter().any(|end| path.ends_with(end)) || path.split('/').rev().skip(1).any(is_generated)
}

/// Returns whether a path is in a folder of temporary files.
pub fn is_scratch(path: &str) -> bool {
    let with_end = format!("{}/", path.trim_end_matches('/'));
    SCRATCH.iter().any(|folder| with_end.starts_with(folder))
        || with_end.contains("/scratchpad/")
        || ["$TMP", "${TMP", "$(mktemp"].iter().any(|start| path.starts_with(start))
}

/// Returns whether a file holds tests, by its name or a folder above it. `path` is relative to the
/// workspace, so that the folders above the workspace do not count.
pub fn is_test(path: &str) -> bool {
    let file = base_name(path);
    let mut folders = path.split('/').rev().skip(1);
    let mut parts = file.split(['.', '_', '-']);
    let stem = file.split('.').next().unwrap_or(file);
    folders.any(|folder| TEST_FOLDERS.contains(&folder))
        || parts.any(|part| matches!(part, "test" | "tests" | "spec" | "specs" | "e2e" | "conftest"))
        || stem.len() > 4 && (stem.ends_with("Test") || stem.ends_with("Tests") || stem.ends_with("Spec"))
}

/// Returns whether a file is a document for people.
pub fn is_document(path: &str) -> bool {
    let ending = base_name(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending.to_lowercase().as_str(), "md" | "mdx" | "rst" | "adoc" | "txt")
}

/// Returns whether a file is Markdown.
pub fn is_markdown(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("md"))
}

/// Returns the last component of a path, also for a folder.
pub fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// Returns a path relative to a folder if it is inside, and unchanged otherwise.
pub fn seen_from<'a>(folder: Option<&str>, path: &'a str) -> &'a str {
    let below = folder.and_then(|folder| path.strip_prefix(folder.trim_end_matches('/')));
    below.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

/// Returns a path without the folders that it shares with the workspace, to judge what kind of file
/// it is: the folders above a project, which may be called `dist` or `test`, say nothing about its
/// files.
pub fn without_shared_folders<'a>(workspace: Option<&str>, path: &'a str) -> &'a str {
    let workspace = workspace.unwrap_or_default().split('/');
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders).split('/');
    let shared = folders.zip(workspace).take_while(|(one, other)| one == other);
    let length: usize = shared.map(|(folder, _)| folder.len() + 1).sum();
    if length > 1 { &path[length..] } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_file_by_its_name_and_folders() {
        assert!(is_generated("Cargo.lock") && is_generated("web/node_modules/a/index.js"));
        assert!(is_generated("venv/lib/a.py") && is_generated("web/.next/a.js"));
        assert!(!is_generated("src/lock.rs") && !is_generated("distance.rs"));
        assert!(is_test("src/a.test.ts") && is_test("tests/a.rs") && is_test("src/ParserTest.java"));
        assert!(!is_test("src/latest.rs") && !is_test("contest/a.rs"));
        assert!(is_document("README.md") && !is_document("docs/conf.py"));
        assert!(
            is_scratch("/tmp/a") && is_scratch("/private/tmp/x/scratchpad/a.py") && !is_scratch("tmp.rs")
        );
    }

    #[test]
    fn a_path_is_relative_only_to_a_folder_above_it() {
        assert_eq!(seen_from(Some("/home/me/shop"), "/home/me/shop/src/a.rs"), "src/a.rs");
        assert_eq!(seen_from(Some("/home/me/shop"), "/home/me/shopping/a.rs"), "/home/me/shopping/a.rs");
    }

    #[test]
    fn folders_that_are_shared_with_the_workspace_do_not_count() {
        for (workspace, path, expected) in [
            (Some("/home/me/dist/shop"), "/home/me/dist/shop/src/a.rs", "src/a.rs"),
            (Some("/home/me/dist/shop/web"), "/home/me/dist/shop/src/a.rs", "src/a.rs"),
            (Some("/home/me/shop/"), "/home/me/shopping/a.rs", "shopping/a.rs"),
            (Some("/w"), "/tmp/a.rs", "/tmp/a.rs"),
            (None, "/w/a.rs", "/w/a.rs"),
            (Some("/w"), "a.rs", "a.rs"),
        ] {
            assert_eq!(without_shared_folders(workspace, path), expected, "{workspace:?} {path}");
        }
    }

    #[test]
    fn a_folder_has_a_name_too() {
        assert_eq!([base_name("src/a.rs"), base_name("src/api/"), base_name("a")], ["a.rs", "api", "a"]);
    }
}
