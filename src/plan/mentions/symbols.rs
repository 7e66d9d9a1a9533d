//! The content of one code span -> the symbol that it names, if it names one.
//! Must not take command lines, literals or markup for symbols.

/// Words that are no symbols in backticks: values.
#[rustfmt::skip]
const LITERALS: &[&str] = &[
    "true", "false", "null", "nil", "none", "undefined", "nan", "self", "this", "yes", "no", "ok",
    "on", "off", "todo", "main", "master", "head", "utf-8", "json", "yaml", "toml", "html", "css",
    "int", "str", "string", "bool", "boolean", "float", "number", "any", "void", "object",
];

/// Programs of the shell.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "apt", "awk", "bash", "biome", "black", "brew", "bun", "bundle", "cargo", "cat", "cd",
    "chmod", "claude", "cmake", "composer", "cp", "curl", "deno", "diff", "docker", "dotnet",
    "echo", "eslint", "find", "gcc", "gh", "git", "go", "gradle", "grep", "helm", "jest", "jq",
    "just", "kubectl", "ls", "make", "mise", "mkdir", "mv", "mvn", "mypy", "ninja", "node", "npm",
    "npx", "pip", "pip3", "playwright", "pnpm", "poetry", "prettier", "psql", "pytest", "python",
    "python3", "pwd", "rg", "rm", "rsync", "ruby", "ruff", "rustc", "rustup", "scp", "sed", "sh",
    "sqlite3", "ssh", "sudo", "swift", "tar", "terraform", "touch", "tsc", "tsx", "uv", "uvx",
    "vite", "vitest", "wget", "which", "xcodebuild", "yarn", "zsh",
];

/// Keywords before a name in a declaration.
#[rustfmt::skip]
const DECLARATORS: &[&str] = &[
    "abstract", "async", "class", "const", "def", "default", "enum", "export", "final", "fn",
    "func", "function", "impl", "interface", "let", "macro_rules!", "mod", "module", "override",
    "private", "protected", "protocol", "pub", "pub(crate)", "public", "readonly", "record",
    "static", "struct", "trait", "type", "union", "unsafe", "val", "var",
];

/// The name, without a call's parentheses, a type's parameters, or what declares it.
pub(super) fn symbol(code: &str) -> Option<&str> {
    if code.len() > 300 {
        return None;
    }
    if let Some(flag) = flag(code) {
        return Some(flag);
    }
    let declared = after_declarators(code);
    let code = declared.unwrap_or(code);
    let (code, element) = match code.strip_prefix('<') {
        Some(tag) => (tag, true),
        None => (code.strip_prefix('@').unwrap_or(code), false),
    };
    let end =
        code.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':'))).unwrap_or(code.len());
    let (name, rest) = code.split_at(end);
    let name = match declared {
        Some(_) => name.trim_end_matches(':'),
        None => name,
    };
    let complete = match rest.chars().next() {
        None | Some('(') => true,
        Some('!') => rest.len() == 1 || rest.starts_with("!("),
        Some('<') => rest.ends_with(['>', ')']),
        Some('>' | ' ' | '/') if element => true,
        Some(_) => declared.is_some(),
    };
    // HTML's own elements are lower case; what a program defines is not.
    let defined = !element || name.starts_with(|c: char| c.is_uppercase());
    let program = PROGRAMS.contains(&name) && !rest.starts_with('(');
    (complete && defined && !program && is_identifier(name)).then_some(name)
}

/// `--flag`, also with a value.
fn flag(code: &str) -> Option<&str> {
    let name = code.strip_prefix("--")?;
    let end = name.find(['=', ' ', '<', '[']).unwrap_or(name.len());
    let plain = name[..end].chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    (plain && name.starts_with(|c: char| c.is_ascii_alphabetic())).then(|| &code[..end + 2])
}

/// `pub async fn parse(…)` from `parse(…)` on. None if nothing is declared.
fn after_declarators(code: &str) -> Option<&str> {
    let mut rest = code;
    while let Some((word, after)) = rest.split_once(' ') {
        if !DECLARATORS.contains(&word) {
            break;
        }
        rest = after.trim_start();
    }
    (rest.len() < code.len()).then_some(rest)
}

/// A dotted or `::`-joined name that is no literal.
fn is_identifier(name: &str) -> bool {
    let lower = name.to_lowercase();
    let parts_ok = name.replace("::", ".").split('.').all(|part| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    });
    name.chars().count() > 1 && parts_ok && !LITERALS.contains(&lower.as_str())
}
