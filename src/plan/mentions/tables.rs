//! The words that `paths` and `symbols` know. Data only.

/// What ends a word besides blanks: punctuation that no path in a workspace holds.
#[rustfmt::skip]
pub(super) const SEPARATORS: &[char] = &[
    ',', ';', '|', '"', '“', '”', '«', '»', '→', '⇒', '—', '，', '。', '；', '、', '（', '）', '：', '「',
    '」',
];

pub(super) const HTTP_METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// Extensions that make a word without a slash a file. Not in it: what is rather a member of an
/// object (`users.map`, `event.key`, `process.env`) or the end of an address.
#[rustfmt::skip]
pub(super) const EXTENSIONS: &[&str] = &[
    // Code.
    "rs", "py", "pyi", "pyx", "ipynb", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts",
    "vue", "svelte", "astro", "go", "java", "kt", "kts", "scala", "groovy", "gradle", "clj",
    "cljs", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "cs", "csproj", "sln", "swift", "mm", "rb",
    "erb", "rake", "gemspec", "php", "pl", "pm", "lua", "exs", "heex", "erl", "hs", "elm", "ml",
    "mli", "dart", "jl", "zig", "nim", "sol", "cairo", "asm", "wat", "wasm", "sh", "bash", "zsh",
    "fish", "ps1", "psm1", "bat", "sql", "prisma", "graphql", "gql", "proto", "thrift", "tf",
    "tfvars", "hcl", "nix", "cmake", "mk", "bzl", "dockerfile",
    // Text, markup and styles.
    "md", "mdx", "mdc", "rst", "txt", "adoc", "tex", "html", "htm", "xhtml", "xml", "xsd", "xsl",
    "svg", "css", "scss", "sass", "styl", "hbs", "ejs", "pug", "njk", "j2", "jinja", "tmpl",
    "tpl", "liquid", "typ",
    // Data and settings.
    "json", "jsonc", "json5", "jsonl", "ndjson", "yaml", "yml", "toml", "ini", "cfg", "conf",
    "plist", "lock", "csv", "tsv", "parquet", "avro", "db", "sqlite", "sqlite3", "log", "snap",
    "po", "pot", "pem", "crt", "cer", "entitlements", "xcconfig", "pbxproj", "storyboard", "xib",
    // What is not text.
    "png", "jpg", "jpeg", "gif", "webp", "avif", "ico", "bmp", "pdf", "doc", "docx", "xls",
    "xlsx", "ppt", "pptx", "mp3", "mp4", "wav", "ogg", "webm", "mov", "ttf", "otf", "woff",
    "woff2", "zip", "tar", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "jar", "war", "whl",
    "deb", "rpm", "dmg", "exe", "dll", "dylib", "onnx", "pt", "pkl", "npy", "npz", "h5", "glb",
    "gltf", "stl",
];

/// Extensions that are members too, of some objects: `console.log`, `res.json`.
#[rustfmt::skip]
pub(super) const MEMBERS: &[&str] = &[
    "c", "conf", "db", "h", "html", "json", "lock", "log", "sql", "tar", "xml", "zip",
];

/// What such members belong to.
#[rustfmt::skip]
pub(super) const OBJECTS: &[&str] = &[
    "a", "app", "args", "arr", "array", "axios", "body", "cfg", "client", "config", "console",
    "context", "ctx", "data", "db", "document", "e", "el", "event", "evt", "fs", "i",
    "import.meta", "item", "items", "json", "list", "log", "logger", "math", "meta", "module",
    "node", "np", "obj", "opts", "options", "os", "params", "path", "pd", "process", "props", "r",
    "re", "req", "request", "res", "response", "resp", "result", "results", "row", "rows", "self",
    "server", "session", "settings", "state", "std", "super", "sys", "this", "torch", "user",
    "values", "window", "x",
];

/// Products that are named like script files.
#[rustfmt::skip]
pub(super) const PRODUCTS: &[&str] = &[
    "alpine", "angular", "backbone", "chart", "d3", "day", "discord", "electron", "ember",
    "express", "fastify", "ghost", "handlebars", "highlight", "knockout", "lit", "mapbox",
    "moment", "mustache", "nest", "next", "node", "nuxt", "p5", "paper", "pdf", "phaser", "pixi",
    "preact", "prism", "qwik", "react", "require", "riot", "solid", "stimulus", "svelte", "three",
    "transformers", "video", "vue",
];

/// Addresses whose last part is also an extension.
pub(super) const SITES: &[&str] =
    &["docs.rs", "lib.rs", "bun.sh", "brew.sh", "rustup.rs", "obsidian.md", "typst.app"];

/// Last parts of addresses.
#[rustfmt::skip]
pub(super) const DOMAINS: &[&str] = &[
    "ai", "app", "biz", "ca", "cloud", "co", "com", "de", "dev", "edu", "eu", "fr", "gov", "info",
    "io", "jp", "land", "local", "localhost", "me", "net", "nl", "org", "ru", "site", "so",
    "tech", "tools", "tv", "uk", "us", "xyz",
];

/// Files that have no extension. Those with an ordinary meaning count only in backticks.
#[rustfmt::skip]
pub(super) const NAMES: &[&str] = &[
    "Dockerfile", "Containerfile", "Makefile", "GNUmakefile", "Justfile", "Procfile", "Rakefile",
    "Gemfile", "Brewfile", "Vagrantfile", "Jenkinsfile", "Podfile", "Fastfile", "Caddyfile",
    "Tiltfile", "Pipfile", "CODEOWNERS", "Earthfile",
];
#[rustfmt::skip]
pub(super) const NAMES_IN_CODE: &[&str] = &[
    "justfile", "makefile", "LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "VERSION",
    "BUILD", "WORKSPACE", "Snakefile",
];

/// Names that begin with a dot and are no mere suffix or method.
#[rustfmt::skip]
pub(super) const DOT_NAMES: &[&str] = &[
    ".bazelrc", ".browserslistrc", ".cargo", ".changeset", ".circleci", ".clang-format",
    ".clang-tidy", ".claude", ".claude-plugin", ".clippy.toml", ".codex", ".config",
    ".coveragerc", ".cursor", ".cursorrules", ".devcontainer", ".dockerignore", ".editorconfig",
    ".env", ".envrc", ".flake8", ".flaskenv", ".gitattributes", ".github", ".gitignore",
    ".gitkeep", ".gitlab", ".gitmodules", ".gemini", ".helmignore", ".husky", ".idea", ".mailmap",
    ".markdownlint", ".mise", ".node-version", ".npmignore", ".npmrc", ".nvmrc", ".pnp",
    ".prettierignore", ".prettierrc", ".pylintrc", ".python-version", ".ruby-version",
    ".stylelintrc", ".swiftlint", ".tool-versions", ".venv", ".vscode", ".vscodeignore",
    ".watchmanconfig", ".yarnrc", ".zed", ".zshrc", ".bashrc", ".eslintignore", ".eslintrc",
    ".babelrc", ".swcrc", ".taplo", ".windsurf", ".windsurfrules", ".clinerules",
];

/// First parts of suffixes that begin with a dot: `.test.ts`, `.tar.gz`.
#[rustfmt::skip]
pub(super) const SUFFIXES: &[&str] = &[
    "bench", "cjs", "config", "cy", "d", "e2e", "int", "integration", "min", "module", "pb",
    "schema", "snap", "spec", "stories", "story", "tar", "test", "tests", "unit",
];

/// First folders of a machine, which make a rooted path without an extension more than a route.
#[rustfmt::skip]
pub(super) const ROOTS: &[&str] = &[
    "Applications", "Library", "System", "Users", "Volumes", "bin", "boot", "dev", "etc", "home",
    "lib", "mnt", "nix", "opt", "private", "proc", "root", "sbin", "srv", "sys", "tmp", "usr",
    "var", "workspace", "workspaces",
];

/// First parts of branches and remotes.
#[rustfmt::skip]
pub(super) const REFS: &[&str] = &[
    "bugfix", "chore", "feat", "feature", "fix", "heads", "hotfix", "origin", "refactor", "refs",
    "release", "remotes", "upstream",
];

pub(super) const MIME: &[&str] =
    &["application", "audio", "font", "image", "message", "model", "multipart", "text", "video"];

/// Pairs that prose writes with a slash, even in backticks.
#[rustfmt::skip]
pub(super) const PAIRS: &[&str] = &[
    "and/or", "async/await", "before/after", "client/server", "create/update", "dev/prod",
    "either/or", "enable/disable", "error/warning", "get/set", "he/she", "input/output",
    "key/value", "load/save", "on/off", "open/close", "pass/fail", "pub/sub", "read/write",
    "request/response", "show/hide", "start/stop", "stdin/stdout", "success/failure",
    "true/false", "try/catch", "user/assistant", "yes/no",
];

/// Words that are no symbols in backticks: values, and programs of the shell.
#[rustfmt::skip]
pub(super) const LITERALS: &[&str] = &[
    "true", "false", "null", "nil", "none", "undefined", "nan", "self", "this", "yes", "no", "ok",
    "on", "off", "todo", "main", "master", "head", "utf-8", "json", "yaml", "toml", "html", "css",
    "int", "str", "string", "bool", "boolean", "float", "number", "any", "void", "object",
];
#[rustfmt::skip]
pub(super) const PROGRAMS: &[&str] = &[
    "apt", "awk", "bash", "biome", "black", "brew", "bun", "bundle", "cargo", "cat", "cd",
    "chmod", "claude", "cmake", "composer", "cp", "curl", "deno", "diff", "docker", "dotnet",
    "echo", "eslint", "find", "gcc", "gh", "git", "go", "gradle", "grep", "helm", "jest", "jq",
    "just", "kubectl", "ls", "make", "mise", "mkdir", "mv", "mvn", "mypy", "ninja", "node", "npm",
    "npx", "pip", "pip3", "playwright", "pnpm", "poetry", "prettier", "psql", "pytest", "python",
    "python3", "pwd", "rg", "rm", "rsync", "ruby", "ruff", "rustc", "rustup", "scp", "sed", "sh",
    "sqlite3", "ssh", "sudo", "swift", "tar", "terraform", "touch", "tsc", "tsx", "uv", "uvx",
    "vite", "vitest", "wget", "which", "xcodebuild", "yarn", "zsh",
];

/// Words before a name in a declaration.
#[rustfmt::skip]
pub(super) const DECLARATORS: &[&str] = &[
    "abstract", "async", "class", "const", "def", "default", "enum", "export", "final", "fn",
    "func", "function", "impl", "interface", "let", "macro_rules!", "mod", "module", "override",
    "private", "protected", "protocol", "pub", "pub(crate)", "public", "readonly", "record",
    "static", "struct", "trait", "type", "union", "unsafe", "val", "var",
];
