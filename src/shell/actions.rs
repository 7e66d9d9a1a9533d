//! Classifies what a program does, for actions that people claim: test, build, lint, commit, push
//! and so on. Knows tools by the tables in `known_tools` and scripts of the project by their names.
//! Must not assume that an unknown program is harmless.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::paths::base_name;
use crate::shell::known_tools::{
    IDLE_OPTIONS, READ_ONLY, RUNNERS_OF_SEVERAL, SCRIPT_NAMES, SCRIPT_OTHERS, SCRIPT_RUNNERS, TOOLS,
    VALUED_OPTIONS,
};
use crate::shell::wrappers::program_name;

/// An action that people claim to have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Action {
    /// Runs tests.
    Test,
    Build,
    /// Checks the style.
    Lint,
    /// Checks the types.
    Types,
    /// Checks or fixes the formatting of the code.
    Format,
    /// Makes a commit.
    Commit,
    /// Sends commits or an image to another place.
    Push,
    /// Opens a pull request.
    PullRequest,
    /// Files an issue.
    Issue,
    /// Deploys the work.
    Deploy,
    /// Installs something.
    Install,
}

impl Action {
    /// Returns whether it checks the code.
    pub fn is_check(self) -> bool {
        matches!(self, Self::Test | Self::Build | Self::Lint | Self::Types | Self::Format)
    }
}

/// Returns what a program does, given its words; `None` if it is not known to do any of these.
pub(super) fn action(words: &[String]) -> Option<Action> {
    let program = program_name(words.first()?);
    let is_idle = |word: &String| IDLE_OPTIONS.contains(&word.split('=').next().unwrap_or(word));
    let asks_for_help = matches!(words, [_, option] if matches!(option.as_str(), "-h" | "-V" | "-v" | "help"))
        && program != "pytest"
        && program != "go";
    if READ_ONLY.contains(&program) && program != "test" || words.iter().any(is_idle) || asks_for_help {
        return None;
    }
    let plain = plain_words(words);
    let tools = TOOLS_BY_PROGRAM.get(known_name(program)).into_iter().flatten();
    let by_start = TOOLS_BY_PROGRAM.get("*").into_iter().flatten();
    match tools.chain(by_start).find(|(pattern, _)| matches(pattern, words, &plain)) {
        // `cargo test --no-run` and `go test -c` build without testing.
        Some((_, Action::Test))
            if words.iter().any(|word| word == "--no-run" || program == "go" && word == "-c") =>
        {
            Some(Action::Build)
        }
        Some((_, action)) => Some(*action),
        None => script_action(program, words, &plain),
    }
}

/// Returns the words without options and the values of those that are known to take one.
fn plain_words(words: &[String]) -> Vec<&str> {
    let mut plain = Vec::new();
    let mut rest = words.iter().map(String::as_str);
    plain.extend(rest.next().map(program_name));
    while let Some(word) = rest.next() {
        if VALUED_OPTIONS.contains(&word) {
            rest.next();
        } else if !word.starts_with(['-', '+']) {
            plain.push(word);
        }
    }
    plain
}

/// Patterns by program; `*` has those that give only the start of its name.
static TOOLS_BY_PROGRAM: LazyLock<HashMap<&str, Vec<(&str, Action)>>> = LazyLock::new(|| {
    let mut by_program: HashMap<_, Vec<_>> = HashMap::new();
    for (action, patterns) in TOOLS {
        for pattern in *patterns {
            let program = pattern.split(' ').next().unwrap_or_default();
            let program = if program.ends_with('*') { "*" } else { program };
            by_program.entry(program).or_default().push((*pattern, *action));
        }
    }
    by_program
});

/// `./gradlew`, `./mvnw` and `gradlew.bat` are called like the programs that they run.
fn known_name(program: &str) -> &str {
    match program {
        "gradlew" | "gradlew.bat" => "gradle",
        "mvnw" | "mvnd" => "mvn",
        other => other,
    }
}

fn matches(pattern: &str, words: &[String], plain: &[&str]) -> bool {
    let mut pattern = pattern.split(' ');
    let program = known_name(plain[0]);
    if !pattern.next().is_some_and(|wanted| matches_word(wanted, program)) {
        return false;
    }
    // `python -m build` is a build tool; what a project's own `./build` does is unknown.
    if program == "build" && words[0].contains('/') {
        return false;
    }
    let mut rest = &plain[1..];
    let mut anywhere = false;
    for wanted in pattern {
        if wanted == "…" {
            anywhere = true;
            continue;
        }
        if wanted.starts_with("--") {
            if !words.iter().any(|word| word == wanted) {
                return false;
            }
            continue;
        }
        let found = rest.iter().position(|word| matches_word(wanted, word));
        let Some(at) = found.filter(|at| anywhere || *at == 0) else { return false };
        rest = &rest[at + 1..];
    }
    true
}

fn matches_word(pattern: &str, word: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => word.contains(pattern.trim_matches('*')),
        (None, Some(start)) => word.starts_with(start),
        (Some(end), None) => word.ends_with(end),
        (None, None) => word == pattern,
    }
}

/// Returns what a script of the project does, by its name: `npm run test:unit`, `make lint`,
/// `./scripts/test.sh`.
fn script_action(program: &str, words: &[String], plain: &[&str]) -> Option<Action> {
    let after_runner = SCRIPT_RUNNERS.iter().find_map(|runner| {
        let mut names = plain.iter();
        let is_it =
            runner.split(' ').all(|wanted| names.next().is_some_and(|word| wanted == "…" || wanted == *word));
        is_it.then_some(names.as_slice())
    });
    let ending = program.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_script = words[0].contains('/') || matches!(ending, "sh" | "py");
    let names: Vec<&str> = match after_runner {
        Some(names) if RUNNERS_OF_SEVERAL.contains(&program) => {
            names.iter().copied().filter(|word| !word.contains('=')).collect()
        }
        Some(names) => names.iter().copied().take(1).collect(),
        None if is_script => vec![&words[0]],
        None => return None,
    };
    // `make` alone builds the default target.
    if names.is_empty() && matches!(program, "make" | "gmake") {
        return Some(Action::Build);
    }
    names.into_iter().find_map(action_named)
}

/// Returns what a script is named after.
fn action_named(script: &str) -> Option<Action> {
    let is_file = script.contains(['/', '.']);
    let stem = base_name(script);
    let stem = if is_file { stem.rsplit_once('.').map_or(stem, |(stem, _)| stem) } else { stem };
    let lower = stem.to_lowercase();
    let parts: Vec<&str> = lower.split([':', '-', '_', '.', '/']).filter(|part| !part.is_empty()).collect();
    if parts.iter().any(|part| SCRIPT_OTHERS.contains(part)) {
        return None;
    }
    if parts.contains(&"type") && (parts.contains(&"check") || parts.contains(&"checks")) {
        return Some(Action::Types);
    }
    let mut names = SCRIPT_NAMES.iter();
    names.find(|(_, names)| names.iter().any(|name| parts.contains(name))).map(|(action, _)| *action)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse::parse;

    fn action_of(line: &str) -> Option<Action> {
        action(parse(line)[0].program_words())
    }

    #[rustfmt::skip]
    const LINES: &[(Action, &[&str])] = &[
        (Action::Test, &[
            "cargo test", "cargo +nightly test --workspace", "cargo nextest run", "npm test",
            "npm run test:unit -- a", "npm --prefix web test", "pnpm --filter web test", "yarn test",
            "yarn workspace web test", "bun test", "npx jest src/a", "deno test -A", "npx nx test web",
            "npx nx run web:test", "turbo run test", "python -m pytest -q", "uv run pytest",
            "poetry run pytest", "tox -e py312", "nox -s tests", "python -m unittest discover",
            "python manage.py test", "go test ./...", "bundle exec rspec", "bin/rails test", "mvn -q test",
            "mvn clean verify", "./gradlew :app:testDebugUnitTest", "gradle clean test", "dotnet test",
            "vendor/bin/phpunit", "php artisan test", "mix test", "swift test", "xcodebuild -scheme A test",
            "ctest --test-dir build", "make test", "make -C sub -j4 unit-test", "bazel test //...",
            "meson test -C b", "flutter test", "stack test", "cabal test all", "sbt test", "just test",
            "task test", "mise run test:ci", "docker compose run --rm app pytest", "./scripts/test.sh",
            "bash run_tests.sh", "python run_tests.py", "node --test", "./run-tests", "npm t", "sudo npm test",
            "timeout 60 npm test", "make check", "npm run ci", "sh test/copy_test.sh",
        ]),
        (Action::Build, &[
            "cargo build --release", "cargo check", "npm run build", "pnpm build", "yarn build",
            "npx vite build", "next build", "go build ./...", "mvn compile", "./gradlew assembleDebug",
            "dotnet build", "cmake --build b", "make", "make -j8", "ninja -C b", "cargo test --no-run",
            "go test -c ./x", "tsup", "docker build .", "swift build",
        ]),
        (Action::Lint, &[
            "cargo clippy --all-targets", "npm run lint", "npx eslint .", "ruff check .", "uv run ruff check",
            "flake8", "go vet ./...", "golangci-lint run", "rubocop", "pre-commit run -a", "shellcheck a.sh",
            "terraform validate", "make lint", "make lint test", "biome check",
        ]),
        (Action::Types, &[
            "tsc --noEmit", "npx tsc -p .", "npm run typecheck", "npm run type-check", "pnpm check-types",
            "mypy src", "pyright",
        ]),
        (Action::Format, &[
            "cargo fmt --check", "prettier --check .", "black --check .", "gofmt -l .", "npm run format:check",
        ]),
        (Action::Commit, &["git commit -m x", "git -C a -c user.name=b commit -am x"]),
        (Action::Push, &["git push -u origin main", "jj git push"]),
        (Action::PullRequest, &["gh pr create --fill", "glab mr create"]),
        (Action::Issue, &["gh issue create -t x"]),
        (Action::Deploy, &["vercel --prod"]),
        (Action::Install, &["npm ci", "uv sync", "sudo apt-get install -y x"]),
    ];

    #[test]
    fn tools_and_scripts_of_every_kind() {
        for (action, lines) in LINES {
            for line in *lines {
                assert_eq!(action_of(line), Some(*action), "{line}");
            }
        }
    }

    #[test]
    fn what_checks_nothing() {
        for line in [
            "pytest --collect-only",
            "npm test --help",
            "cargo --version",
            "jest --listTests",
            "vitest --watch",
            "echo npm test",
            "cat test.sh",
            "npm run dev",
            "make clean",
            "npm run test:watch",
            "./scripts/test-server.sh",
            "git log --grep test",
            "test -f x",
            "[ -f test ]",
            "npm run build:watch",
            "grep -rn test .",
            "ls tests",
            "npm install",
            "which pytest",
            "cargo test --help",
        ] {
            assert!(!action_of(line).is_some_and(Action::is_check), "{line}");
        }
    }
}
