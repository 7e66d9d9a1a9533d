//! Known tools and their actions, as data: the one place to add a tool. `actions` reads it. Must
//! not contain code.

use crate::shell::actions::Action;

use Action::{Build, Commit, Deploy, Format, Install, Issue, Lint, PullRequest, Push, Test, Types};

/// Programs with the words that follow them, by action.
///
/// Words are compared without options. `*` stands for any start or end of a word, `…` for any words
/// in between. The first matching entry for a program counts, so longer ones come first.
#[rustfmt::skip]
pub(super) const TOOLS: &[(Action, &[&str])] = &[
    // Rust
    (Test, &[
        "cargo nextest", "cargo test", "cargo t", "cargo llvm-cov", "cargo tarpaulin", "cargo miri test",
        "cargo insta test", "cargo hack … test", "wasm-pack test", "cross test",
    ]),
    (Format, &["cargo fmt", "rustfmt"]),
    (Lint, &["cargo clippy", "cargo deny", "cargo machete"]),
    (Build, &[
        "cargo build", "cargo b", "cargo check", "cargo c", "cargo rustc", "cargo doc", "rustc",
        "trunk build", "wasm-pack build", "cross build",
    ]),
    // JavaScript and TypeScript
    (Test, &[
        "npm test", "npm t", "npm tst", "pnpm test", "pnpm t", "yarn test", "bun test", "deno test", "jest",
        "vitest", "mocha", "ava", "tap", "jasmine", "karma start", "playwright test", "cypress run", "wtr",
        "uvu", "react-scripts test", "ng test",
    ]),
    (Build, &[
        "deno compile", "react-scripts build", "ng build", "vite build", "next build", "nuxt build",
        "nuxi build", "astro build", "svelte-kit build", "remix build", "webpack", "rollup", "esbuild",
        "parcel build", "rspack build", "tsup", "tsdown", "bun build", "expo export",
    ]),
    (Lint, &[
        "deno lint", "ng lint", "next lint", "eslint", "oxlint", "xo", "standard", "stylelint", "tslint",
        "biome check", "biome ci", "biome lint", "ultracite", "knip", "markdownlint*", "commitlint",
    ]),
    (Format, &["deno fmt", "biome format", "prettier", "dprint check"]),
    (Types, &["deno check", "nuxi typecheck", "astro check", "svelte-check", "tsc", "tsgo", "vue-tsc"]),
    // Python
    (Test, &[
        "pytest", "py.test", "unittest", "nose2", "nosetests", "doctest", "behave", "trial", "tox", "nox",
        "hatch test", "python … manage.py … test", "python3 … manage.py … test", "manage.py test",
        "django-admin test", "python setup.py test",
    ]),
    (Format, &["hatch fmt", "uv format", "ruff format", "isort", "black", "yapf"]),
    (Types, &["mypy", "dmypy", "pyright", "basedpyright", "pyre", "pytype", "ty check"]),
    (Lint, &["ruff", "flake8", "pylint", "pycodestyle", "pydocstyle", "bandit"]),
    (Build, &[
        "hatch build", "python … manage.py … check", "python3 … manage.py … check", "python setup.py build",
        "py_compile", "compileall", "uv build", "poetry build", "pdm build", "build",
    ]),
    // Go
    (Test, &["go test", "gotestsum", "ginkgo"]),
    (Format, &["gofmt", "gofumpt", "goimports"]),
    (Lint, &["go vet", "golangci-lint", "staticcheck", "revive", "goreleaser check"]),
    (Build, &["go build", "goreleaser build"]),
    // Ruby
    (Test, &["rspec", "rails test*", "rake test*", "rake spec*", "minitest", "cucumber", "ruby … *_test.rb"]),
    (Types, &["srb tc", "steep check"]),
    (Lint, &["rubocop", "standardrb"]),
    // Java and Kotlin
    (Test, &[
        "mvn … test", "mvn … verify", "mvn … install", "mvn … package", "gradle … *test*", "gradle … *Test*",
        "gradle … *check", "gradle … *build", "ant … test",
    ]),
    (Build, &[
        "mvn … compile", "mvn … test-compile", "gradle … *assemble*", "gradle … *compile*", "javac",
        "kotlinc",
    ]),
    (Lint, &[
        "mvn … checkstyle:check", "gradle … *lint*", "gradle … ktlint*", "gradle … detekt", "ktlint",
        "detekt",
    ]),
    (Format, &["mvn … spotless:check", "gradle … spotless*"]),
    // .NET
    (Test, &["dotnet test", "dotnet vstest"]),
    (Format, &["dotnet format"]),
    (Build, &["dotnet build", "dotnet publish", "msbuild"]),
    // PHP
    (Test, &[
        "phpunit", "pest", "paratest", "codecept run", "php artisan test", "artisan test", "php bin/phpunit",
        "composer test*",
    ]),
    (Format, &["pint", "php-cs-fixer"]),
    (Types, &["phpstan", "psalm"]),
    (Lint, &["phpcs"]),
    // Elixir and Erlang
    (Test, &["mix test*", "rebar3 eunit", "rebar3 ct"]),
    (Format, &["mix format"]),
    (Types, &["mix dialyzer"]),
    (Lint, &["mix credo"]),
    (Build, &["mix compile", "rebar3 compile"]),
    // Swift
    (Test, &["swift test", "xcodebuild … test*", "fastlane … test*"]),
    (Format, &["swiftformat"]),
    (Lint, &["swiftlint"]),
    (Build, &["swift build", "swiftc", "xcodebuild"]),
    // C and C++
    (Test, &[
        "ctest", "ninja … test", "meson test", "bazel test", "bazelisk test", "buck2 test", "pants test",
        "zig build test", "zig test",
    ]),
    (Format, &["clang-format"]),
    (Lint, &["clang-tidy", "cppcheck"]),
    (Build, &[
        "cmake", "ninja", "meson compile", "bazel build", "bazelisk build", "buck2 build", "gcc", "g++", "cc",
        "clang", "clang++", "zig build",
    ]),
    // Dart and Flutter
    (Test, &["flutter test", "dart test"]),
    (Format, &["dart format"]),
    (Lint, &["flutter analyze", "dart analyze"]),
    (Build, &["flutter build", "dart compile"]),
    // Haskell, Scala, Clojure, OCaml, Elm and others
    (Test, &[
        "stack test", "cabal test", "sbt … *test*", "mill … *test*", "lein test", "clojure … *test*",
        "dune test", "dune runtest", "elm-test", "gleam test", "forge test", "hardhat test", "anchor test",
        "julia … runtests.jl", "busted", "nimble test", "crystal spec", "prove", "nix flake check",
    ]),
    (Build, &[
        "stack build", "cabal build", "sbt … *compile*", "mill … *compile*", "dune build", "elm make",
        "gleam build", "forge build", "hardhat compile", "anchor build", "perl … Makefile.PL",
        "typst compile", "hugo", "jekyll build", "mkdocs build", "sphinx-build", "docker build",
        "docker buildx build", "docker compose build", "docker-compose build", "podman build", "nix build",
    ]),
    (Lint, &["hlint", "clj-kondo", "luacheck"]),
    (Format, &["sbt … scalafmtCheck*"]),
    // Infrastructure and shell
    (Test, &[
        "terraform test", "helm unittest", "bats", "shellspec", "dbt test", "node … --test", "tsx … --test",
    ]),
    (Format, &["terraform fmt", "shfmt"]),
    (Lint, &[
        "terraform validate", "tofu validate", "tflint", "helm lint", "ansible-lint", "yamllint",
        "actionlint", "hadolint", "shellcheck", "sqlfluff lint", "buf lint", "pre-commit run", "prek",
        "lefthook run", "trunk check", "ct lint",
    ]),
    (Build, &["dbt build", "dbt compile", "buf build"]),
    // Everything else
    (Commit, &[
        "git commit", "git merge", "git cherry-pick", "git revert", "git rebase", "git am", "git pull",
        "git commit-tree", "jj commit", "jj ci", "jj describe", "jj desc", "jj squash", "jj new", "hg commit",
        "hg ci", "sl commit", "sl amend", "svn commit", "svn ci", "gt create", "gt modify", "gt commit",
        "npm version", "gh pr merge",
    ]),
    (Push, &[
        "git push", "git subtree push", "git lfs push", "jj git push", "hg push", "sl push", "gt push",
        "docker push", "docker compose push", "podman push", "gh repo create", "gh repo sync",
        "gh release create",
    ]),
    (PullRequest, &[
        "gt submit", "gt ss", "gh pr create", "gh pr new", "glab mr create", "glab mr new",
        "hub pull-request", "tea pr create", "tea pulls create", "az repos pr create", "sl pr submit",
        "arc diff",
    ]),
    (Issue, &[
        "gh issue create", "gh issue new", "glab issue create", "hub issue create", "tea issues create",
        "bd create",
    ]),
    (Deploy, &[
        "vercel", "netlify deploy", "fly deploy", "flyctl deploy", "fly launch", "firebase deploy",
        "wrangler deploy", "wrangler publish", "wrangler pages deploy", "kubectl apply", "kubectl rollout",
        "kubectl set", "helm upgrade", "helm install", "terraform apply", "tofu apply", "pulumi up",
        "cdk deploy", "serverless deploy", "sls deploy", "sam deploy", "gcloud … deploy", "aws … deploy*",
        "aws … sync", "aws … update-*", "az … deploy*", "ansible-playbook", "docker compose up",
        "docker-compose up", "docker stack deploy", "eb deploy", "railway up", "supabase functions deploy",
        "supabase db push", "kamal deploy", "cap … deploy", "gh workflow run", "npm publish", "pnpm publish",
        "cargo publish", "gh-pages", "mkdocs gh-deploy", "surge", "modal deploy", "convex deploy",
        "sst deploy", "amplify publish", "forge script",
    ]),
    (Install, &[
        "npm install", "npm i", "npm ci", "npm add", "npm update", "npm link", "pnpm install", "pnpm i",
        "pnpm add", "pnpm update", "yarn install", "yarn add", "yarn global add", "bun install", "bun i",
        "bun add", "deno install", "deno add", "pip install", "pip3 install", "uv pip install", "uv pip sync",
        "uv sync", "uv add", "uv tool install", "uv python install", "pipx install", "poetry install",
        "poetry add", "pipenv install", "pdm install", "pdm add", "rye sync", "conda install", "conda create",
        "conda env", "mamba install", "cargo install", "cargo binstall", "cargo add", "cargo fetch", "rustup",
        "go get", "go install", "go mod", "gem install", "bundle", "brew install", "brew upgrade",
        "brew bundle", "apt install", "apt-get install", "apk add", "dnf install", "yum install", "pacman",
        "snap install", "winget install", "choco install", "scoop install", "nix-env", "nix profile",
        "composer install", "composer require", "composer update", "dotnet add", "dotnet restore",
        "dotnet tool install", "mix deps.get", "flutter pub", "dart pub", "pod install", "swift package",
        "nvm install", "asdf install", "mise install", "mise use", "pre-commit install", "playwright install",
        "terraform init", "gh extension install", "claude plugin", "claude mcp", "shadcn*", "expo install",
    ]),
];

/// Programs that run a script of the project by its name, with the words before that name; `…` is
/// any word.
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

/// Those of them that run all the scripts named after them.
#[rustfmt::skip]
pub(super) const RUNNERS_OF_SEVERAL: &[&str] = &[
    "make", "gmake", "just", "task", "rake", "turbo", "nx", "mage", "ant", "inv", "invoke", "run-s", "run-p",
    "npm-run-all",
];

/// Parts of a script's name that tell what it does.
#[rustfmt::skip]
pub(super) const SCRIPT_NAMES: &[(Action, &[&str])] = &[
    (Test, &[
        "test", "tests", "spec", "specs", "e2e", "unit", "vitest", "jest", "pytest", "runtests", "testing",
        "integration", "smoke", "playwright", "cypress",
    ]),
    (Lint, &["lint", "linter", "eslint", "clippy", "ruff", "vet", "lints"]),
    (Types, &["typecheck", "types", "tsc", "mypy", "typescript", "tc"]),
    (Build, &["build", "compile", "bundle", "dist"]),
    (Format, &["fmt", "format", "prettier", "formatting"]),
    // These run several checks, including the tests.
    (Test, &[
        "all", "check", "checks", "ci", "precommit", "preflight", "prepush", "qa", "quality", "validate",
        "validation", "verify",
    ]),
];

/// Parts of a script's name that mean something else: `test-server`, `build:watch`.
pub(super) const SCRIPT_OTHERS: &[&str] = &[
    "clean", "container", "create", "data", "db", "debug", "deploy", "dev", "docs", "down", "env",
    "fixtures", "gen", "generate", "init", "install", "list", "migrate", "new", "open", "prepare", "release",
    "report", "reset", "seed", "serve", "server", "setup", "start", "stop", "ui", "up", "update", "watch",
];

/// Options that make a tool only show something, or wait.
pub(super) const IDLE_OPTIONS: &[&str] = &[
    "--co", "--collect-only", "--dry-run", "--help", "--init", "--list", "--list-tests", "--listTests",
    "--print-config", "--showConfig", "--version", "--watch", "--watchAll", "-version", "--ui",
];

/// Options before a subcommand that take a value.
pub(super) const VALUED_OPTIONS: &[&str] = &[
    "--config", "--context", "--cwd", "--dir", "--directory", "--file", "--filter", "--kubeconfig",
    "--manifest-path", "--namespace", "--prefix", "--project", "--project-name", "--repo", "--rootDir",
    "--workspace", "-C", "-F", "-R", "-c", "-f", "-j", "-n", "-pl", "-project", "-scheme", "-w",
    "-destination", "-workspace", "-sdk", "-configuration",
];

/// Programs that change nothing.
pub(super) const READ_ONLY: &[&str] = &[
    "[", "awk", "basename", "cat", "cd", "column", "cut", "date", "df", "diff", "dirname", "du", "echo",
    "done", "esac", "exit", "export", "false", "fd", "fi", "file", "find", "for", "grep", "head", "hostname",
    "id", "jq", "less", "ls", "more", "nl", "ps", "printenv", "printf", "pwd", "readlink", "realpath", "rg",
    "sed", "set", "sleep", "sort", "stat", "tail", "test", "tree", "true", "type", "uname", "uniq", "wc",
    "which", "whoami", "xxd",
];

/// Programs, and subcommands of git, that take away the files that they are given.
pub(super) const REMOVERS: &[&str] = &["rm", "rmdir", "shred", "trash", "trash-put", "unlink"];

/// Subcommands of `git` that change nothing.
pub(super) const READ_ONLY_GIT: &[&str] = &[
    "blame", "describe", "diff", "grep", "log", "ls-files", "ls-tree", "reflog", "rev-parse", "show",
    "status",
];

/// Programs that work on another machine or in a container, which this disk does not show.
pub(super) const REMOTE: &[&str] = &[
    "ssh", "scp", "sftp", "rsync", "kubectl", "helm", "aws", "gcloud", "az", "fly", "flyctl", "heroku",
    "vercel", "netlify", "wrangler", "ansible", "ansible-playbook", "terraform",
];
