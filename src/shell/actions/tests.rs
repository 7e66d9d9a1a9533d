use super::*;
use crate::shell::parse::parts;
use crate::shell::wrappers::program_words;

fn of(line: &str) -> Does {
    let part = parts(line).remove(0);
    does(program_words(&part.words))
}

fn first(line: &str) -> Option<Action> {
    of(line).deeds.first().copied()
}

#[rustfmt::skip]
const RUNNERS_OF_EVERY_KIND: &[(Check, &[&str])] = &[
    (Check::Tests, &[
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
        "timeout 60 npm test",
    ]),
    (Check::Build, &[
        "cargo build --release", "cargo check", "npm run build", "pnpm build", "yarn build",
        "npx vite build", "next build", "go build ./...", "mvn compile", "./gradlew assembleDebug",
        "dotnet build", "cmake --build b", "make", "make -j8", "ninja -C b", "cargo test --no-run",
        "go test -c ./x", "tsup", "docker build .", "swift build",
    ]),
    (Check::Lint, &[
        "cargo clippy --all-targets", "npm run lint", "npx eslint .", "ruff check .", "uv run ruff check",
        "flake8", "go vet ./...", "golangci-lint run", "rubocop", "pre-commit run -a", "shellcheck a.sh",
        "terraform validate", "make lint", "biome check",
    ]),
    (Check::Types, &[
        "tsc --noEmit", "npx tsc -p .", "npm run typecheck", "npm run type-check", "pnpm check-types",
        "mypy src", "pyright",
    ]),
    (Check::Format, &[
        "cargo fmt --check", "prettier --check .", "black --check .", "gofmt -l .", "npm run format:check",
    ]),
];

#[test]
fn runners_of_every_kind() {
    for (check, lines) in RUNNERS_OF_EVERY_KIND {
        for line in *lines {
            assert_eq!(first(line), Some(Action::Check(*check)), "{line}");
        }
    }
}

#[test]
fn what_runs_nothing() {
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
        assert!(!of(line).deeds.iter().any(|deed| matches!(deed, Action::Check(_))), "{line}");
    }
}

#[test]
fn other_deeds() {
    for (line, deed) in [
        ("git commit -m x", Action::Commit),
        ("git -C a -c user.name=b commit -am x", Action::Commit),
        ("git push -u origin main", Action::Push),
        ("gh pr create --fill", Action::PullRequest),
        ("glab mr create", Action::PullRequest),
        ("gh issue create -t x", Action::Issue),
        ("jj git push", Action::Push),
        ("vercel --prod", Action::Deploy),
        ("npm ci", Action::Install),
        ("uv sync", Action::Install),
        ("sudo apt-get install -y x", Action::Install),
    ] {
        assert_eq!(first(line), Some(deed), "{line}");
    }
}

#[test]
fn a_mix_of_checks_is_all_of_them() {
    assert_eq!(of("make check").deeds.len(), 5);
    assert_eq!(of("npm run ci").deeds.len(), 5);
    assert_eq!(of("make lint test").deeds, [Action::Check(Check::Lint), Action::Check(Check::Tests)]);
}

#[test]
fn a_run_of_a_part_is_narrow() {
    for line in [
        "pytest tests/x.py", "pytest -k a", "cargo test -p a", "cargo test name", "go test ./pkg",
        "npm test -- a.js",
    ] {
        assert!(of(line).is_narrow, "{line}");
    }
    for line in [
        "pytest -q", "cargo test --workspace", "go test ./...", "npm test", "vitest run", "make test",
        "pytest tests/",
    ] {
        assert!(!of(line).is_narrow, "{line}");
    }
}

#[test]
fn the_places_that_a_run_is_for() {
    for (line, places) in [
        ("go test ./internal/unit/...", vec!["./internal/unit/..."]),
        ("pytest tests/a.py -k name", vec!["tests/a.py"]),
        ("pytest -q --tb short -n 4", vec![]),
        ("pytest -p no:cacheprovider", vec![]),
        ("cargo test -p core name", vec!["core"]),
        ("cargo test --workspace --locked", vec![]),
        ("npm --prefix web test", vec!["web"]),
        ("npm test -w packages/a", vec!["packages/a"]),
        ("pnpm --filter=api test", vec!["api"]),
        ("yarn workspace api test", vec!["api"]),
        ("make -C lib test", vec!["lib"]),
        ("gradle :app:test", vec!["app"]),
        ("sh test/copy_test.sh", vec!["test/copy_test.sh"]),
        ("./scripts/run-tests.sh", vec![]),
        ("git push -u origin v1", vec!["origin", "v1"]),
        ("git commit -m x", vec![]),
        ("npm test", vec![]),
    ] {
        assert_eq!(of(line).places, places, "{line}");
    }
    assert!(of("sh test/copy_test.sh").is_narrow);
    assert!(!of("sh scripts/test.sh").is_narrow);
}
