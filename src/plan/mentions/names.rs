//! Names that are registered or fixed by tools: extensions, files without one, top-level folders,
//! domains, remotes. Data only. Must not have words of a language.

/// What ends a word besides white space: punctuation that paths do not contain.
#[rustfmt::skip]
pub(super) const SEPARATORS: &[char] = &[
    '“', '”', '«', '»', '→', '⇒', '—', '，', '。', '；', '、', '（', '）', '：', '「', '」', '《', '》', '！', '？',
];

/// A word after one of these is a route.
pub(super) const HTTP_METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// Extensions that make a word without a slash a file. Members of objects (`users.map`,
/// `event.key`, `process.env`) and domains are left out.
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
    // Binary files.
    "png", "jpg", "jpeg", "gif", "webp", "avif", "ico", "bmp", "pdf", "doc", "docx", "xls",
    "xlsx", "ppt", "pptx", "mp3", "mp4", "wav", "ogg", "webm", "mov", "ttf", "otf", "woff",
    "woff2", "zip", "tar", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "jar", "war", "whl",
    "deb", "rpm", "dmg", "exe", "dll", "dylib", "onnx", "pt", "pkl", "npy", "npz", "h5", "glb",
    "gltf", "stl",
];

/// Members of common objects that look like extensions.
#[rustfmt::skip]
pub(super) const MEMBERS: &[&str] = &[
    "axios.html", "console.log", "ctx.json", "document.html", "fs.lock", "logger.log", "math.log", "np.log", "r.json",
    "req.json", "request.json", "res.html", "res.json", "resp.json", "response.json", "self.lock", "this.lock",
    "torch.log", "tf.log",
];

/// Libraries whose names look like scripts.
#[rustfmt::skip]
pub(super) const LIBRARIES: &[&str] = &[
    "alpine", "angular", "backbone", "chart", "d3", "day", "discord", "electron", "ember",
    "express", "fastify", "ghost", "handlebars", "highlight", "knockout", "lit", "mapbox",
    "moment", "mustache", "nest", "next", "node", "nuxt", "p5", "paper", "pdf", "phaser", "pixi",
    "preact", "prism", "qwik", "react", "require", "riot", "solid", "stimulus", "svelte", "three",
    "transformers", "video", "vue",
];

/// Sites whose domain is also an extension.
pub(super) const SITES: &[&str] = &["docs.rs", "lib.rs", "bun.sh", "brew.sh", "rustup.rs", "obsidian.md"];

/// Top-level domains.
#[rustfmt::skip]
pub(super) const DOMAINS: &[&str] = &[
    "ai", "app", "biz", "ca", "cloud", "co", "com", "de", "dev", "edu", "eu", "fr", "gov", "info",
    "io", "jp", "land", "local", "localhost", "me", "net", "nl", "org", "ru", "site", "so",
    "tech", "tools", "tv", "uk", "us", "xyz",
];

/// Files that have no extension.
#[rustfmt::skip]
pub(super) const FILES: &[&str] = &[
    "Dockerfile", "Containerfile", "Makefile", "GNUmakefile", "Justfile", "Procfile", "Rakefile",
    "Gemfile", "Brewfile", "Vagrantfile", "Jenkinsfile", "Podfile", "Fastfile", "Caddyfile",
    "Tiltfile", "Pipfile", "go.mod", "go.sum", "go.work", "CODEOWNERS", "Earthfile",
];

/// Files without an extension that are ordinary words, too: they count only in backticks, as links
/// or after a slash.
#[rustfmt::skip]
pub(super) const FILES_IN_CODE: &[&str] = &[
    "justfile", "makefile", "LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "VERSION",
    "BUILD", "WORKSPACE", "Snakefile",
];

/// Returns whether the name of one of these files may begin with a letter.
pub(super) fn is_initial(letter: char) -> bool {
    letter.is_ascii_uppercase() || matches!(letter, 'g' | 'j' | 'm')
}

/// Files and folders that begin with a dot.
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

/// Top-level folders of a machine, which make an absolute path without an extension more than a
/// route.
#[rustfmt::skip]
pub(super) const ROOTS: &[&str] = &[
    "Applications", "Library", "System", "Users", "Volumes", "bin", "boot", "dev", "etc", "home",
    "lib", "mnt", "nix", "opt", "private", "proc", "root", "sbin", "srv", "sys", "tmp", "usr",
    "var", "workspace", "workspaces",
];

/// First parts of git's refs, remotes and branches.
#[rustfmt::skip]
pub(super) const REFS: &[&str] = &[
    "bugfix", "chore", "feat", "feature", "fix", "heads", "hotfix", "origin", "refactor", "refs",
    "release", "remotes", "upstream",
];

/// First parts of media types.
pub(super) const MEDIA_TYPES: &[&str] =
    &["application", "audio", "font", "image", "message", "model", "multipart", "text", "video"];
