//! B: files that the session changed and that neither the plan nor the person speaks of, by name, folder, module,
//! symbol or kind. What any work brings along is aside, and so is the wiring of what was planned.

use std::cell::LazyCell;
use std::collections::HashSet;

use super::{COMPARED, MOST, Promised, candidate, detours};
use crate::evidence::redact::is_secret_file;
use crate::evidence::{Evidence, FileEvidence, FileState};
use crate::facts::alike::Bag;
use crate::facts::ordinary::{COMPANIONS, is_by_machine, is_doc, is_joint, is_test};
use crate::facts::steps::written_as;
use crate::finding::{Category, Finding};
use crate::plan::mentions;
use crate::session::{Original, Session, Touch};
use crate::words::{base_name, has_any_words, has_words, normalised, padded};

/// With so many of its name's words in the plan a file is spoken of.
const NAMED: f32 = 0.5;

/// Whether a file is of a kind, by its name.
type IsOfKind = fn(&str) -> bool;

/// What a step says when it means files of a kind: the words, and which files.
const KINDS: &[(&[&str], IsOfKind)] = &[
    (&["test", "tests", "testing", "tested", "spec", "specs", "coverage", "tdd", "regression"], is_test),
    (
        &["doc", "docs", "document", "documentation", "readme", "guide", "changelog", "notes", "markdown"],
        is_doc,
    ),
    (
        &[
            "config", "configuration", "configure", "settings", "setup", "set up", "ci", "workflow",
            "pipeline", "deploy", "deployment", "docker", "environment", "env", "lint", "dependency",
            "dependencies", "tooling", "infrastructure",
        ],
        is_config,
    ),
    (
        &["style", "styles", "styling", "css", "theme", "design", "layout", "ui", "responsive", "tailwind"],
        is_style,
    ),
    (&["migration", "migrations", "schema", "database", "table", "sql"], is_migration),
    (&["fixture", "fixtures", "example", "examples", "sample", "demo", "mock", "mocks"], is_example),
    (&["translation", "translations", "i18n", "locale", "locales", "strings"], is_locale),
];

/// Words of a plan that reaches everywhere: any file that was there may have to follow.
const BROAD: &[&str] = &[
    "across", "all callers", "all files", "all imports", "all references", "all usages", "call sites",
    "callers", "codebase", "each file", "every file", "everywhere", "throughout", "usages", "whole repo",
];

pub(super) fn candidates(evidence: &Evidence, promised: &Promised<'_>) -> Vec<Finding> {
    let index = LazyCell::new(|| Index::of(evidence, promised));
    let changed = evidence.files.iter().take(COMPARED).filter(|file| {
        file.was_changed() && file.steps.is_empty() && matches!(file.state, FileState::File { .. })
    });
    changed
        .filter(|file| !is_aside(&file.name, evidence))
        .filter(|file| !is_of_another_time(file, evidence) && !index.covers(file, evidence))
        .take(MOST)
        .map(|file| Finding {
            path: Some(file.name.clone()),
            ..candidate(
                Category::B,
                format!("the session changed {}, and no step names it or speaks of it", file.name),
                "add it to the plan, or say why it was changed",
            )
        })
        .collect()
}

/// Whether a file was changed when the session was at something else than the plan.
fn is_of_another_time(file: &FileEvidence, evidence: &Evidence) -> bool {
    let touches: Vec<&Touch> = touches_of(&evidence.session, &file.name).collect();
    // Changed only after the person had asked for something else, it is likely to be for that.
    let first = touches.iter().map(|touch| touch.at).min().unwrap_or_default();
    // What was changed before the plan was approved is not what the plan is about.
    let approved = evidence.session.plans.last().map_or(0, |plan| plan.at);
    detours(evidence).any(|ask| ask.at < first) || touches.iter().all(|touch| touch.at < approved)
}

/// Files that no plan needs to mention.
fn is_aside(name: &str, evidence: &Evidence) -> bool {
    let plan = evidence.plan.as_ref().and_then(|plan| plan.path.as_deref());
    name.starts_with(['/', '~'])
        || name.starts_with("../")
        || is_by_machine(name)
        || is_secret_file(name.as_ref())
        || is_of_a_tool(name)
        || COMPANIONS.contains(&base_name(name))
        || is_joint(name)
        || plan.is_some_and(|plan| plan == name || plan.ends_with(&format!("/{name}")))
        // A plan beside the one in play is a note, not work.
        || normalised(name).split(' ').any(|word| matches!(word, "plan" | "plans" | "todo" | "notes" | "progress"))
}

/// What tools keep in folders of their own.
fn is_of_a_tool(name: &str) -> bool {
    let top = name.split('/').next().unwrap_or_default();
    name.contains('/') && top.starts_with('.') && !matches!(top, ".github" | ".circleci" | ".storybook")
}

/// What plan and person speak of, for looking files up.
struct Index<'a> {
    promised: &'a Promised<'a>,
    /// Plan and asks in lower case.
    written: String,
    /// The same in plain words.
    padded: String,
    /// The same with nothing between the letters.
    bare: String,
    /// Files that plan and person name.
    paths: HashSet<String>,
    /// Folders that are named for themselves.
    folders: Vec<String>,
    /// Symbols that the plan names and no file that it names defines: another may be meant to.
    unmade: HashSet<String>,
    /// Names of planned modules.
    planned: HashSet<String>,
    /// Those and these.
    modules: HashSet<String>,
    names_paths: bool,
    is_broad: bool,
    asks: Bag,
}

impl<'a> Index<'a> {
    fn of(evidence: &Evidence, promised: &'a Promised<'a>) -> Self {
        let plan = promised.plan;
        let asks: Vec<&str> = evidence.session.asks.iter().map(|ask| ask.text.as_str()).collect();
        let dropped = plan.dropped.iter().map(|step| step.text.as_str());
        let texts: Vec<&str> =
            std::iter::once(plan.text.as_str()).chain(dropped).chain(asks.iter().copied()).collect();
        let written = texts.join("\n").to_lowercase();
        let named = mentions::mentions_of_all(&texts);
        // What stands in a code block of a plan (a tree of files, a snippet) is spoken of, too.
        let in_plan: HashSet<String> =
            plan.promised().flat_map(|step| step.paths.iter().cloned()).chain(named.paths).collect();
        let symbols: HashSet<String> = plan
            .promised()
            .flat_map(|step| step.symbols.iter().cloned())
            .chain(named.symbols)
            .flat_map(|symbol| {
                symbol
                    .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .map(String::from)
                    .collect::<Vec<_>>()
            })
            .filter(|symbol| symbol.len() > 3)
            .collect();
        let made: HashSet<String> = evidence
            .files
            .iter()
            .filter(|file| file.was_changed() && in_plan.iter().any(|path| written_as(path, &file.name)))
            .flat_map(|file| defined(&file.text))
            .map(String::from)
            .collect();
        let unmade = symbols.difference(&made).cloned().collect();
        let planned: HashSet<String> = in_plan
            .iter()
            .map(|path| stem(path).to_owned())
            .filter(|stem| stem.len() > 3 && !is_joint(stem))
            .collect();
        let modules = symbols.iter().chain(&planned).cloned().collect();
        let words = normalised(&written);
        Self {
            promised,
            bare: words.replace(' ', ""),
            padded: padded(&words),
            folders: in_plan.iter().filter_map(|path| folder_named(path)).collect(),
            unmade,
            planned,
            modules,
            names_paths: in_plan.iter().any(|path| mentions::is_surely_a_path(path)),
            is_broad: has_any_words(&padded(&words), BROAD),
            asks: Bag::all(promised.asks.iter().cloned()),
            paths: in_plan,
            written,
        }
    }

    fn covers(&self, file: &FileEvidence, evidence: &Evidence) -> bool {
        let name = &file.name;
        let touches: Vec<&Touch> = touches_of(&evidence.session, name).collect();
        let is_new = touches.iter().any(|touch| touch.original == Original::Absent);
        let in_name = Bag::of_words(stem(name));
        let in_path = Bag::of_words(name.rsplit_once('.').map_or(name, |(path, _)| path));
        if self.is_named(name)
            || self.is_of_a_kind(name)
            || (has_folder_of(name, &self.planned) && !self.lists_files_beside(name))
            || self.folders.iter().any(|folder| is_under(name, folder))
            || in_name.within(&self.promised.whole) >= NAMED
            || in_name.within(&self.asks) >= NAMED
            || (self.is_broad && !is_new)
        {
            return true;
        }
        let counterpart = stem(name);
        if is_test(name) && self.modules.iter().any(|module| counterpart.contains(module.as_str())) {
            return true;
        }
        let changes = touches.iter().filter_map(|touch| touch.change.as_ref());
        if is_new {
            let texts = changes.map(|change| change.new.as_str()).chain([file.text.as_str()]);
            if texts.into_iter().any(|text| defines_any(text, &self.unmade)) {
                return true;
            }
        } else {
            let texts = changes.flat_map(|change| [change.new.as_str(), change.old.as_str()]);
            // With no change to look at nothing can be told.
            if touches.iter().all(|touch| touch.change.is_none())
                || texts.into_iter().any(|text| uses_any(text, &self.modules))
            {
                return true;
            }
        }
        // A plan in prose names no files at all: only a new one that has nothing to do with it stands out.
        let is_apart = in_path.shared(&self.promised.whole) == 0 && in_path.shared(&self.asks) == 0;
        !(self.names_paths || is_new && is_apart)
    }

    /// Whether the plan names files in the very folder of this one: then it says what goes there, and this is not it.
    fn lists_files_beside(&self, name: &str) -> bool {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.paths.iter().any(|path| path.rsplit_once('/').is_some_and(|(beside, _)| beside == folder))
    }

    fn is_named(&self, name: &str) -> bool {
        let file = base_name(name).to_lowercase();
        let stem = stem(name).to_lowercase();
        let bare: String = stem.chars().filter(|c| c.is_alphanumeric()).collect();
        self.written.contains(&file)
            || (stem.len() > 2 && has_words(&self.padded, &normalised(&stem)))
            || (bare.len() > 5 && self.bare.contains(&bare))
    }

    fn is_of_a_kind(&self, name: &str) -> bool {
        KINDS.iter().any(|(words, is_it)| is_it(name) && has_any_words(&self.padded, words))
    }
}

fn touches_of<'a>(session: &'a Session, name: &'a str) -> impl Iterator<Item = &'a Touch> {
    let end = format!("/{name}");
    session.done_touches().filter(move |touch| touch.path == name || touch.path.ends_with(&end))
}

/// A file's name without its ending; one that only opens a folder is called after it.
fn stem(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    let file = base_name(path);
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or(file);
    if matches!(stem, "index" | "mod" | "__init__" | "main" | "page" | "route" | "layout" | "lib")
        && let Some((above, _)) = path.rsplit_once('/')
    {
        return base_name(above);
    }
    stem
}

/// The folder, where a path names one for itself: `src/api/`, `src/api/*`, `packages/core`.
fn folder_named(path: &str) -> Option<String> {
    let path = path.trim_start_matches("./");
    let folder = path.split(['*', '{', '<', '[']).next().unwrap_or(path);
    let is_pattern = folder.len() < path.len();
    let folder = if is_pattern { folder.rsplit_once('/').map_or("", |(above, _)| above) } else { folder };
    let is_folder = is_pattern || path.ends_with('/') || !base_name(path).contains('.');
    let folder = folder.trim_end_matches('/');
    (is_folder && !folder.is_empty()).then(|| folder.to_owned())
}

fn is_under(name: &str, folder: &str) -> bool {
    let padded = format!("/{name}");
    padded.contains(&format!("/{}/", folder.trim_start_matches('/')))
        // An absolute folder of the plan, seen from the workspace.
        || name.rsplit_once('/').is_some_and(|(above, _)| folder.ends_with(&format!("/{above}")))
}

/// Whether a folder above it is called like one of these: a module that grew into a folder.
fn has_folder_of(name: &str, modules: &HashSet<String>) -> bool {
    name.split('/').rev().skip(1).any(|folder| modules.contains(folder))
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

fn uses_any(text: &str, names: &HashSet<String>) -> bool {
    identifiers(text).any(|word| names.contains(word))
}

/// Whether a text defines one of these names.
fn defines_any(text: &str, names: &HashSet<String>) -> bool {
    defined(text).any(|name| names.contains(name))
}

/// The names that a text defines.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    const DEFINES: &[&str] = &[
        "class", "const", "def", "enum", "fn", "func", "function", "interface", "let", "struct", "trait",
        "type", "var",
    ];
    identifiers(text)
        .zip(identifiers(text).skip(1))
        .filter(|(word, _)| DEFINES.contains(word))
        .map(|(_, name)| name)
}

fn ending(name: &str) -> &str {
    base_name(name).rsplit_once('.').map_or("", |(_, ending)| ending)
}

fn has_folder(name: &str, folders: &[&str]) -> bool {
    name.split('/').rev().skip(1).any(|part| folders.contains(&part))
}

fn is_config(name: &str) -> bool {
    let file = base_name(name);
    matches!(ending(name), "toml" | "yml" | "yaml" | "ini" | "cfg" | "conf" | "json" | "env" | "properties")
        || file.contains("config")
        || file.starts_with('.')
        || matches!(file, "Dockerfile" | "Makefile" | "justfile" | "Procfile")
        || has_folder(name, &[".github", ".circleci", "ci", "config", "infra", "deploy"])
}

fn is_style(name: &str) -> bool {
    matches!(ending(name), "css" | "scss" | "sass" | "less" | "styl")
        || has_folder(name, &["styles", "theme"])
}

fn is_migration(name: &str) -> bool {
    ending(name) == "sql" || has_folder(name, &["migrations", "migrate", "prisma", "versions"])
}

fn is_example(name: &str) -> bool {
    has_folder(name, &["examples", "example", "fixtures", "fixture", "samples", "mocks", "__mocks__", "demo"])
}

fn is_locale(name: &str) -> bool {
    has_folder(name, &["locales", "locale", "i18n", "translations", "lang"])
}
