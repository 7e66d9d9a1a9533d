//! Names of scripts and options that say what a command does, and programs that do nothing which could be claimed.
//! Data only; `deeds` reads it.

use crate::shell::actions::Check;

use Check::{Build, Format, Lint, Tests, Types};

/// Programs that run what a file of the project calls by a name, with the words before that name.
pub(super) const SCRIPT_RUNNERS: &[&str] = &[
    "npm run", "npm run-script", "npm rum", "pnpm run", "pnpm", "yarn run", "yarn workspace …",
    "yarn workspaces …", "yarn", "bun run", "deno task", "npm-run-all", "run-s", "run-p", "make", "gmake",
    "just", "task", "rake", "mise run", "mise r", "mise tasks run", "nx run-many", "nx run", "nx affected",
    "nx", "turbo run", "turbo", "lerna run", "rush", "rushx", "gulp", "grunt", "composer run",
    "composer run-script", "composer", "poe", "pdm run", "hatch run", "invoke", "inv", "ant", "cargo make",
    "cargo xtask", "mage", "earthly", "moon run", "moon", "wireit", "pixi run", "devbox run", "rails", "mix",
    "doit", "bb", "tsx", "ts-node", "node", "python", "python3", "bash", "sh", "zsh", "ruby", "php", "perl",
    "deno run", "bun", "source", ".",
];

/// Parts of a script's name that say what it does.
pub(super) const SCRIPT_WORDS: &[(&str, Check)] = &[
    ("test", Tests),
    ("tests", Tests),
    ("spec", Tests),
    ("specs", Tests),
    ("e2e", Tests),
    ("unit", Tests),
    ("vitest", Tests),
    ("jest", Tests),
    ("pytest", Tests),
    ("runtests", Tests),
    ("testing", Tests),
    ("integration", Tests),
    ("smoke", Tests),
    ("playwright", Tests),
    ("cypress", Tests),
    ("lint", Lint),
    ("linter", Lint),
    ("eslint", Lint),
    ("clippy", Lint),
    ("ruff", Lint),
    ("vet", Lint),
    ("lints", Lint),
    ("typecheck", Types),
    ("types", Types),
    ("tsc", Types),
    ("mypy", Types),
    ("typescript", Types),
    ("tc", Types),
    ("type", Types),
    ("build", Build),
    ("compile", Build),
    ("bundle", Build),
    ("dist", Build),
    ("fmt", Format),
    ("format", Format),
    ("prettier", Format),
    ("formatting", Format),
];

/// Names of scripts that run several checks, nobody outside knows which.
pub(super) const SCRIPT_MIXES: &[&str] = &[
    "all", "check", "checks", "ci", "precommit", "preflight", "prepush", "qa", "quality", "validate",
    "validation", "verify",
];

/// Parts of a script's name that say that it is something else: `test-server`, `build:watch`.
pub(super) const SCRIPT_OTHERS: &[&str] = &[
    "clean", "container", "create", "data", "db", "debug", "deploy", "dev", "docs", "down", "env",
    "fixtures", "gen", "generate", "init", "install", "list", "migrate", "new", "open", "prepare", "release",
    "report", "reset", "seed", "serve", "server", "setup", "start", "stop", "ui", "up", "update", "watch",
];

/// Options with which a runner runs nothing.
pub(super) const IDLE_OPTIONS: &[&str] = &[
    "--co", "--collect-only", "--dry-run", "--help", "--init", "--list", "--list-tests", "--listTests",
    "--print-config", "--showConfig", "--version", "--watch", "--watchAll", "-version", "--ui",
];

/// Options that make a run a run of a part.
pub(super) const NARROWING_OPTIONS: &[&str] = &[
    "--bin", "--changed", "--failed", "--ff", "--filter", "--grep", "--last-failed", "--lf", "--lib",
    "--only", "--onlyChanged", "--package", "--test", "--testNamePattern", "--testPathPattern", "--tests",
    "-Dtest", "-F", "-R", "-g", "-k", "-m", "-only-testing", "-p", "-run", "-t", "-w", "--workspace=",
    "--run",
];

/// Options whose value is the package or the folder that a run is for.
pub(super) const PLACE_OPTIONS: &[&str] = &[
    "--cwd", "--dir", "--directory", "--filter", "--manifest-path", "--package", "--prefix", "--project",
    "--rootDir", "--scope", "--workspace", "-C", "-F", "-chdir", "-p", "-pl", "-w",
];

/// Options before a subcommand that take a value.
pub(super) const VALUED_OPTIONS: &[&str] = &[
    "--config", "--context", "--cwd", "--dir", "--directory", "--file", "--filter", "--kubeconfig",
    "--manifest-path", "--namespace", "--prefix", "--project", "--project-name", "--repo", "--rootDir",
    "--workspace", "-C", "-F", "-R", "-c", "-f", "-j", "-n", "-pl", "-project", "-scheme", "-w",
    "-destination", "-workspace", "-sdk", "-configuration",
];
