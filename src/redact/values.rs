//! Says whether a value that follows a secret-like key is the secret itself. Must not mask what
//! only stands for one: a reference, a placeholder, a type, an expression, prose.

use crate::redact::assignments::is_about_a_secret;
use crate::redact::entropy::mean_chunk;

/// How a key and its value were written; code and config write different things the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `key = "value"`: nothing but the value can be meant.
    Assigned,
    /// `"key": "value"`, `<key>value</key>`, `key == "value"`: it may be a text about the key.
    Quoted,
    /// `KEY=value`, `Key=value`, `--key=value`: config, where an unquoted value is a literal.
    Env,
    /// `key=value`: a query string, or a keyword argument.
    Tight,
    /// `key = value`: an INI file, or an assignment in code.
    Spaced,
    /// `key: value` and nothing but a comment after it.
    ColonAlone,
    /// `key: value` with more on the line.
    ColonMore,
    /// `--key value`.
    Flag,
}

/// How guarded a key's name makes its value. `token` is also a parser's everyday word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Password,
    Secret,
    Token,
    /// Words that are a key together; a single one is none.
    Phrase,
    /// Any other key: of a cache, of a table, of a vendor.
    Key,
}

pub(super) fn is_secret(family: Family, form: Form, name: &str, value: &str) -> bool {
    if !value.bytes().any(|b| b.is_ascii_alphanumeric()) && value.is_ascii()
        || is_stand_in(value)
        || is_label(name, value)
        || is_location(value)
    {
        return false;
    }
    if matches!(form, Form::Assigned | Form::Quoted) {
        return if value.contains(char::is_whitespace) {
            is_phrase_secret(name, value)
                || family == Family::Password && form == Form::Assigned && !is_sentence(name, value)
        } else {
            is_guarded(family, value)
        };
    }
    let is_named = family == Family::Key && matches!(form, Form::Spaced | Form::ColonAlone | Form::ColonMore);
    let is_typed = matches!(form, Form::ColonAlone | Form::ColonMore) && is_type_name(value);
    if is_expression(value) || is_typed || is_named {
        return false;
    }
    let digit = value.bytes().any(|b| b.is_ascii_digit());
    let plain = value.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_');
    match form {
        Form::Assigned | Form::Quoted | Form::Env => is_guarded(family, value),
        Form::Tight | Form::Flag => !plain && is_guarded(family, value),
        Form::ColonAlone if family == Family::Password => {
            let pascal = plain && value.starts_with(|c: char| c.is_ascii_uppercase());
            !pascal && is_guarded(family, value)
        }
        Form::Spaced | Form::ColonAlone | Form::ColonMore => {
            let number = value.len() <= 5 && value.bytes().all(|b| b.is_ascii_digit());
            digit && !number && !is_numbered_word(family, value) && is_guarded(family, value)
        }
    }
}

/// Long and mixed enough for its key's family. Nobody's token is `identifier` or `42`.
fn is_guarded(family: Family, value: &str) -> bool {
    let length = value.chars().count();
    match family {
        Family::Password => length >= 3,
        Family::Secret => length >= 6,
        Family::Phrase => false,
        // `cache_key` has a hash of what is cached.
        Family::Key if is_hash(value) => false,
        Family::Key => length >= 16 && has_letters_and_digits(value) && mean_chunk(value) < 3.0,
        Family::Token => length >= 8 && (has_letters_and_digits(value) || length >= 16 && mixed_case(value)),
    }
}

/// Whether it has the length and the digits of a hash: MD5, SHA-1 and all of SHA-2.
pub(super) fn is_hash(value: &str) -> bool {
    matches!(value.len(), 32 | 40 | 56 | 64 | 96 | 128) && value.bytes().all(|b| b.is_ascii_hexdigit())
}

pub(super) fn has_letters_and_digits(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_alphabetic())
}

/// More capitals than camel case explains.
fn mixed_case(value: &str) -> bool {
    let capitals = value.bytes().filter(u8::is_ascii_uppercase).count();
    let small = value.bytes().filter(u8::is_ascii_lowercase).count();
    capitals * 4 > small && small > 0 && capitals > 2
}

/// `token2` and `arg1` are names in code. A password of that shape (`hunter2`) is still a password.
fn is_numbered_word(family: Family, value: &str) -> bool {
    let word = value.trim_end_matches(|c: char| c.is_ascii_digit());
    family != Family::Password
        && value.len() - word.len() <= 2
        && !word.is_empty()
        && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// Quoted text with blanks is a message to a person, unless it has a word no person would write, or
/// the key announces a passphrase.
fn is_phrase_secret(name: &str, value: &str) -> bool {
    let words = value.split_whitespace().count();
    let phrase_key = name.to_ascii_lowercase().ends_with("phrase");
    phrase_key && words >= 4
        || words <= 3
            && value.split_whitespace().any(|word| {
                word.len() >= 6 && has_letters_and_digits(word) && !word.contains(['(', '{', '<', '$'])
            })
}

/// Whether a text of several words tells a person about a password, and is none itself.
fn is_sentence(name: &str, value: &str) -> bool {
    #[rustfmt::skip]
    const ABOUT: &[&str] = &[
        "change", "confirm", "error", "forgot", "hint", "invalid", "label", "message", "missing", "no", "repeat",
        "require", "reset", "update", "weak", "wrong",
    ];
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "cannot", "character", "characters", "choose", "click", "enter", "failed", "invalid", "must", "please",
        "required", "too", "type", "wrong", "your",
    ];
    let (name, value) = (name.to_ascii_lowercase(), value.to_ascii_lowercase());
    let is_named = name.split(['_', '-', '.']).any(|part| ABOUT.contains(&part.trim_end_matches(['d', 's'])));
    is_named
        || value.split(|c: char| !c.is_ascii_alphabetic()).any(|word| WORDS.contains(&word))
        || is_about_a_secret(&value)
        || value.contains(['{', '<', '$', '(', '%', '/', '\\'])
        || value.trim_end().ends_with(['.', '?', ':', ','])
}

/// A form's own label, or a constant that names a field: `"password": "Password"`.
fn is_label(name: &str, value: &str) -> bool {
    let squeeze = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect()
    };
    let words_only = value.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b' ' | b'_' | b'-'));
    words_only && value.len() <= 40 && squeeze(name).ends_with(&squeeze(value))
}

/// Something that stands for a secret: a variable, a template, a placeholder, an earlier mask.
pub(super) fn is_stand_in(value: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "!Ref", "!Sub", "!GetAtt", "!secret", "arn:", "op://", "vault:", "ref+", "ENC[",
        "secretRef", "sops:", "env:", "file:",
    ];
    #[rustfmt::skip]
    const PARTS: &[&str] = &[
        "process.env", "os.environ", "getenv", "env::var", "ENV[", "env(", "import.meta.env",
        "secrets.", "...", "\u{2026}", "***", "\u{2022}\u{2022}", "xxxx", "XXXX", "[masked:",
        "${", "{{", "<your", "-your-", "_your_",
    ];
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "your", "changeme", "change-", "change_", "replace", "example", "dummy",
        "placeholder", "redacted", "todo", "fixme", "insert-", "insert_", "enter-", "enter_",
        "fake", "sample", "masked", "put your", "put-your", "put_your",
    ];
    // An environment variable's name, as in `token_from="GITHUB_TOKEN"`.
    let variable = value.contains('_')
        && value.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && value.split('_').any(|word| word.len() > 2 && word.bytes().all(|b| b.is_ascii_uppercase()));
    let lower: String = value.chars().take(16).map(|c| c.to_ascii_lowercase()).collect();
    STARTS.iter().any(|start| value.starts_with(start))
        || PARTS.iter().any(|part| value.contains(part))
        || WORDS.iter().any(|word| lower.starts_with(word))
        || ["EXAMPLE", "EXAMPLEKEY"].iter().any(|end| value.ends_with(end))
        || variable
        || is_filler(value)
        || is_variable(value)
        || is_template(value)
        || is_type(value)
}

/// One character again and again, to the end of what is as long as a token: `ghp_0000…`.
pub(super) fn is_filler(value: &str) -> bool {
    const REPEATED: usize = 12;
    let mut last = value.bytes().rev().take(REPEATED);
    let same = last.next().is_some_and(|byte| last.all(|other| other == byte));
    same && value.len() >= REPEATED + 4
}

/// `$NAME`, `@name`, `%NAME%`, `%s`. A password may well begin with such a sign, and then goes on
/// with something that no name holds.
fn is_variable(value: &str) -> bool {
    let Some(name) = value.strip_prefix(['$', '@', '%']) else {
        return false;
    };
    let name = name.strip_suffix('%').unwrap_or(name);
    name.starts_with(['{', '(', '['])
        || name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'%'))
}

/// `<token>`, `{password}`, `[…]`; the closing bracket may be what ended the value.
fn is_template(value: &str) -> bool {
    [('<', '>'), ('{', '}'), ('[', ']'), ('(', ')')].iter().any(|(open, close)| {
        value.strip_prefix(*open).is_some_and(|rest| {
            rest.contains(*close) || rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-. :!".contains(&b))
        })
    })
}

/// Words that fill a value's place in schemas, types and defaults.
fn is_type(value: &str) -> bool {
    #[rustfmt::skip]
    const TYPES: &[&str] = &[
        "any", "array", "bool", "boolean", "bytes", "char", "disabled", "enabled", "false",
        "hidden", "int", "integer", "never", "nil", "no", "none", "null", "number", "object",
        "off", "on", "optional", "password", "required", "secret", "secretstr", "str",
        "string", "text", "token", "true", "undefined", "unknown", "varchar", "void", "yes",
    ];
    let name = value.trim_start_matches('&').trim_end_matches(['?', '!', '.', '|']);
    TYPES.contains(&name.to_ascii_lowercase().as_str())
}

/// `Uint8Array`, `__u32`, `SecretKey32Bytes`: what follows a colon in code. `Hunter2024` is not.
fn is_type_name(value: &str) -> bool {
    let bare = value.trim_start_matches('_');
    let machine = bare
        .strip_prefix(['u', 'i', 'f'])
        .is_some_and(|width| matches!(width, "8" | "16" | "32" | "64" | "128" | "size"));
    let named = bare.starts_with(|c: char| c.is_ascii_uppercase())
        && bare.ends_with(|c: char| c.is_ascii_lowercase())
        && bare.bytes().all(|b| b.is_ascii_alphanumeric())
        && bare.bytes().any(|b| b.is_ascii_digit())
        && mean_chunk(bare) >= 3.0;
    machine || named
}

/// Code that computes a value: a call, a member, an index, a borrow, a path of modules.
pub(super) fn is_expression(value: &str) -> bool {
    let members = value.split(['.', ':']).filter(|part| !part.is_empty());
    let dotted = (value.contains('.') || value.contains("::"))
        && members.clone().all(|part| {
            part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        })
        // `a.b` with a long jumble in it is a token with dots.
        && members.clone().all(|part| part.len() < 24);
    let borrowed = value
        .strip_prefix(['&', '*', '!'])
        .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'.'));
    value.contains('(') || value.contains('[') || dotted || borrowed
}

/// A file or an address, which is where a secret is and not what it is.
fn is_location(value: &str) -> bool {
    #[rustfmt::skip]
    const EXTENSIONS: &[&str] = &[
        "cer", "cfg", "conf", "crt", "der", "enc", "env", "gpg", "ini", "jks", "js", "json", "key",
        "md", "p12", "pem", "pfx", "pub", "py", "rs", "toml", "ts", "txt", "yaml", "yml",
    ];
    let extension = value
        .rsplit_once('.')
        .is_some_and(|(stem, extension)| stem.len() > 1 && EXTENSIONS.contains(&extension));
    let rooted = ["./", "../", "~/", "/"].iter().any(|root| value.starts_with(root))
        && value.split('/').skip(1).all(|part| part.bytes().filter(u8::is_ascii_digit).count() <= 4);
    rooted || extension || value.contains("://") || value.starts_with("C:\\")
}
