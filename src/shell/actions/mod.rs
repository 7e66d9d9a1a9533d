//! Takes the words of a program, says what it does of what people claim: test, build, lint, commit, push, and so
//! on. By the tables in `runners`. Must not take an unknown program for harmless.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::shell::LOOKERS;
use crate::shell::known_tools::{RUNNERS, Runner};
use crate::shell::names::{
    IDLE_OPTIONS, NARROWING_OPTIONS, PLACE_OPTIONS, SCRIPT_MIXES, SCRIPT_OTHERS, SCRIPT_RUNNERS,
    SCRIPT_WORDS, VALUED_OPTIONS,
};
use crate::shell::wrappers::program_name;

/// What a command checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Check {
    /// The tests.
    Tests,
    /// That it builds.
    Build,
    /// The style.
    Lint,
    /// The types.
    Types,
    /// The layout of the code.
    Format,
}

/// What a command does of what people claim to have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Action {
    /// It checks something.
    Check(Check),
    /// It makes a commit.
    Commit,
    /// It sends commits, or an image, to another place.
    Push,
    /// It opens a pull request.
    PullRequest,
    /// It files an issue.
    Issue,
    /// It puts the work into service.
    Deploy,
    /// It installs something.
    Install,
}

/// All checks.
const CHECKS: [Check; 5] = [Check::Tests, Check::Build, Check::Lint, Check::Types, Check::Format];

/// What one program does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Does {
    /// What it does: done if it succeeds, failed if it fails.
    pub deeds: Vec<Action>,
    /// What is shown as well if it succeeds.
    pub shows: Vec<Action>,
    /// Whether it is for a part only: some tests, one package.
    pub is_narrow: bool,
    /// Which part, where that is a place: files, folders, packages, what is pushed or installed.
    pub places: Vec<String>,
    /// The script of the project that it runs by name, if it does: `test` of `npm test`, `scripts/test.sh`.
    pub script: Option<String>,
}

/// What a program does; nothing for one that is not known to do any of it.
pub fn does(words: &[String]) -> Does {
    let Some(program) = words.first().map(|word| program_name(word)) else { return Does::default() };
    let is_idle = |word: &String| {
        let word = word.split('=').next().unwrap_or(word);
        IDLE_OPTIONS.contains(&word)
    };
    let is_looker = LOOKERS.contains(&program) && program != "test";
    if is_looker
        || words.iter().any(is_idle)
        || matches!(words.get(1).map(String::as_str), Some("-h" | "-V" | "-v" | "help"))
            && words.len() == 2
            && program != "pytest"
            && program != "go"
    {
        return Does::default();
    }
    let plain = plain_words(words);
    if let Some((runner, used)) =
        runners_called(&plain).find_map(|runner| Some((runner, fits(runner, words, &plain)?)))
    {
        return of_runner(runner, used, words, &plain);
    }
    of_script(program, words, &plain)
}

fn of_runner(runner: &Runner, used: usize, words: &[String], plain: &[&str]) -> Does {
    let mut does = Does {
        deeds: vec![runner.deed],
        shows: runner.shows.iter().map(|check| Action::Check(*check)).collect(),
        is_narrow: is_narrow(words, plain, used),
        places: places(words, plain, used),
        script: None,
    };
    let has = |option: &str| words.iter().any(|word| word == option);
    // `cargo test --no-run` and `go test -c` build and do not test.
    if runner.deed == Action::Check(Check::Tests)
        && (has("--no-run") || (plain.first() == Some(&"go") && has("-c")))
    {
        does.deeds = vec![Action::Check(Check::Build)];
        does.shows.retain(|deed| *deed != Action::Check(Check::Tests));
    }
    if runner.deed == Action::PullRequest {
        does.shows = vec![Action::Push];
    }
    if matches!(plain, ["svn", ..]) {
        does.shows = vec![Action::Push];
    }
    if matches!(plain, ["npm" | "pnpm" | "yarn" | "composer", name, ..] if SCRIPT_WORDS.iter().any(|(word, _)| name.starts_with(word)))
    {
        does.script = plain.get(1).map(|name| (*name).to_owned());
    }
    does
}

/// The words without options and the values of those that are known to take one. An option with its value in
/// one word is an option.
fn plain_words(words: &[String]) -> Vec<&str> {
    let mut plain = Vec::new();
    let mut rest = words.iter().map(String::as_str);
    if let Some(program) = rest.next() {
        plain.push(program_name(program));
    }
    while let Some(word) = rest.next() {
        if VALUED_OPTIONS.contains(&word) {
            rest.next();
        } else if !(word.starts_with('-') || word.starts_with('+')) {
            plain.push(word);
        }
    }
    plain
}

/// The runners of that program. The table is long, and a session has hundreds of commands.
fn runners_called(plain: &[&str]) -> impl Iterator<Item = &'static Runner> {
    let program = plain.first().map_or("", |program| stands_for(program));
    let of_program = BY_PROGRAM.get(program).into_iter().flatten().copied();
    of_program.chain(BY_PROGRAM.get("*").into_iter().flatten().copied())
}

/// Runners by their program; under `*` those whose program is only named by its start.
static BY_PROGRAM: LazyLock<HashMap<&'static str, Vec<&'static Runner>>> = LazyLock::new(|| {
    let mut by_program: HashMap<_, Vec<_>> = HashMap::new();
    for runner in RUNNERS {
        let program = runner.words.split(' ').next().unwrap_or_default();
        by_program.entry(if program.ends_with('*') { "*" } else { program }).or_default().push(runner);
    }
    by_program
});

/// `./gradlew`, `./mvnw` and `gradlew.bat` are called like what they stand for.
fn stands_for(program: &str) -> &str {
    match program {
        "gradlew" | "gradlew.bat" => "gradle",
        "mvnw" | "mvnd" => "mvn",
        other => other,
    }
}

/// Whether a runner's words are these; gives how many of the plain words they take.
fn fits(runner: &Runner, words: &[String], plain: &[&str]) -> Option<usize> {
    let mut pattern = runner.words.split(' ');
    let program = stands_for(plain.first()?);
    if !matches_word(pattern.next()?, program) {
        return None;
    }
    // `python -m build` is a builder, a `build` script of the project is not known.
    if program == "build" && words.first()?.contains('/') {
        return None;
    }
    let mut at = 1;
    let mut anywhere = false;
    for wanted in pattern {
        if wanted == "…" {
            anywhere = true;
        } else if wanted.starts_with("--") {
            words.iter().find(|word| *word == wanted)?;
        } else if anywhere {
            at += plain[at.min(plain.len())..].iter().position(|word| matches_word(wanted, word))? + 1;
        } else {
            if !matches_word(wanted, plain.get(at)?) {
                return None;
            }
            at += 1;
        }
    }
    Some(at)
}

fn matches_word(pattern: &str, word: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => word.contains(pattern.trim_matches('*')),
        (None, Some(start)) => word.starts_with(start),
        (Some(end), None) => word.ends_with(end),
        (None, None) => word == pattern,
    }
}

/// Whether an operand stands for all there is.
fn is_whole(word: &str) -> bool {
    matches!(
        word,
        "." | "./..." | "..." | "run" | "all" | "tests" | "test" | "src" | "tests/" | "discover" | "//..."
    )
}

/// The places that a line names: operands, and values of options that name a package or a folder.
fn places(words: &[String], plain: &[&str], used: usize) -> Vec<String> {
    // What follows `cargo test` are names of tests, what follows `git commit` may be a message.
    let is_by_name = matches!(plain, ["cargo" | "swift" | "git", "test" | "t" | "nextest" | "commit", ..]);
    let operands = plain.iter().skip(if is_by_name { plain.len() } else { used }).copied();
    // What follows an option may be its value: `--tb short`.
    let is_value = |operand: &str| {
        let follows_option = words.windows(2).any(|pair| pair[1] == operand && pair[0].starts_with('-'));
        follows_option && !operand.contains(['/', '.'])
    };
    let is_installer = matches!(plain.get(1), Some(&("add" | "i" | "install" | "push")));
    let operands = operands.filter(|word| !is_whole(word) && (is_installer || !is_value(word)));
    // `gradle :app:test`
    let tasks = plain.iter().skip(1).take(used).filter_map(|word| word.strip_prefix(':')?.rsplit_once(':'));
    let of_options = words.iter().enumerate().filter_map(|(at, word)| match word.split_once('=') {
        Some((option, value)) => PLACE_OPTIONS.contains(&option).then_some(value),
        None if PLACE_OPTIONS.contains(&word.as_str()) => words.get(at + 1).map(String::as_str),
        None => None,
    });
    // `-p 4`, `-p no:cacheprovider`, `--workspace --locked`
    let of_options = of_options
        .filter(|value| *value != "." && !value.starts_with('-') && !value.starts_with("no:"))
        .filter(|value| !value.starts_with(|c: char| c.is_ascii_digit()));
    let all = operands.chain(tasks.map(|(project, _)| project)).chain(of_options);
    all.map(ToOwned::to_owned).collect()
}

fn is_narrow(words: &[String], plain: &[&str], used: usize) -> bool {
    let by_operand = plain.iter().skip(used).any(|word| !is_whole(word));
    let by_option = words.iter().skip(1).any(|word| {
        let name = word.split('=').next().unwrap_or(word);
        NARROWING_OPTIONS.contains(&name)
    });
    by_operand || by_option
}

/// What a script of the project does, by its name: `npm run test:unit`, `make lint`, `./scripts/test.sh`.
fn of_script(program: &str, words: &[String], plain: &[&str]) -> Does {
    let by_runner = SCRIPT_RUNNERS.iter().find_map(|runner| {
        let mut pattern = runner.split(' ');
        let mut at = 0;
        for wanted in pattern.by_ref() {
            if wanted != "…" && plain.get(at) != Some(&wanted) {
                return None;
            }
            at += 1;
        }
        Some(at)
    });
    let ending = program.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_own = words.first().is_some_and(|word| word.contains('/')) || matches!(ending, "sh" | "py");
    let names: Vec<&str> = match by_runner {
        // All that follow are names of scripts for these, one for the others.
        Some(at)
            if matches!(
                program,
                "make"
                    | "gmake"
                    | "just"
                    | "task"
                    | "rake"
                    | "turbo"
                    | "nx"
                    | "mage"
                    | "ant"
                    | "inv"
                    | "invoke"
                    | "run-s"
                    | "run-p"
                    | "npm-run-all"
            ) =>
        {
            plain.iter().skip(at).copied().filter(|word| !word.contains('=')).collect()
        }
        Some(at) => plain.get(at).copied().into_iter().collect(),
        None if is_own => vec![words.first().map_or("", String::as_str)],
        None => return Does::default(),
    };
    // `make` alone builds whatever is built there.
    if names.is_empty() && matches!(program, "make" | "gmake") {
        return Does { deeds: vec![Action::Check(Check::Build)], ..Does::default() };
    }
    let mut does = Does::default();
    for name in &names {
        for deed in deeds_by_name(name) {
            if !does.deeds.contains(&deed) {
                does.deeds.push(deed);
            }
        }
    }
    if !does.deeds.is_empty() {
        does.script = names.first().map(|name| (*name).to_owned());
        let used = plain.iter().position(|word| Some(word) == names.last()).map_or(plain.len(), |at| at + 1);
        does.is_narrow = plain.iter().skip(used).any(|word| !word.starts_with('-'));
        does.places = places(words, plain, used);
        if let ["yarn", "workspace", package, ..] = plain {
            does.places.push((*package).to_owned());
        }
        // `sh test/copy_test.sh` is one of the tests, `sh scripts/test.sh` runs them.
        let own = names.iter().find(|name| is_one_of_many(name));
        if let Some(own) = own {
            does.is_narrow = true;
            does.places.push((*own).to_owned());
        }
    }
    does
}

/// Whether a script is a file that is called after one thing: `test/copy_test.sh`.
fn is_one_of_many(script: &str) -> bool {
    let Some((stem, _)) = crate::text::normalise::base_name(script).rsplit_once('.') else { return false };
    let stem = stem.to_lowercase();
    let mut parts = stem.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.any(|part| {
        let is_of_all = ["all", "ci", "do", "full", "local", "main", "quick", "run", "script", "suite"];
        !is_of_all.contains(&part)
            && !SCRIPT_MIXES.contains(&part)
            && !SCRIPT_WORDS.iter().any(|(word, _)| *word == part)
    })
}

/// What a script is called after. A mix of checks gives all of them.
fn deeds_by_name(name: &str) -> Vec<Action> {
    let is_file = name.contains('/') || name.contains('.');
    let stem = crate::text::normalise::base_name(name);
    let stem = if is_file { stem.rsplit_once('.').map_or(stem, |(stem, _)| stem) } else { stem };
    let lower = stem.to_lowercase();
    let parts: Vec<&str> = lower.split([':', '-', '_', '.', '/']).filter(|part| !part.is_empty()).collect();
    if parts.iter().any(|part| SCRIPT_OTHERS.contains(part)) {
        return Vec::new();
    }
    if parts.contains(&"type") && (parts.contains(&"check") || parts.contains(&"checks")) {
        return vec![Action::Check(Check::Types)];
    }
    let found: Vec<Action> = SCRIPT_WORDS
        .iter()
        .filter(|(word, _)| *word != "type" && parts.contains(word))
        .map(|(_, check)| Action::Check(*check))
        .collect();
    if !found.is_empty() {
        return found.into_iter().take(1).collect();
    }
    if parts.iter().any(|part| SCRIPT_MIXES.contains(part)) {
        return CHECKS.into_iter().map(Action::Check).collect();
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
