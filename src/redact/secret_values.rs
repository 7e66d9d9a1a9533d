//! The values that secret files hold, and what hides them wherever else they stand: a copy under a
//! plain name, what a command printed, a sentence. Must not read the disk, and must not hide words
//! that every text has.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use crate::paths::base_name;
use crate::redact::assignments::is_secret_name;
use crate::redact::values::{has_letters_and_digits, is_stand_in};
use crate::redact::{Find, Masked, replaced};

/// A shorter value stands in too many other words.
const SHORTEST: usize = 6;
const LONGEST: usize = 400;
/// A value of a file that is no environment must be this long, unless its key is a secret's.
const SHORTEST_UNNAMED: usize = 12;
/// No more values are looked for.
const MOST: usize = 1_000;

/// Words of settings that say nothing.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "admin1", "always", "anonymous", "chrome", "compose", "console", "default", "develop", "development", "disabled",
    "enabled", "english", "european", "example", "firefox", "google", "guest", "javascript", "local", "localhost",
    "master", "memory", "minimal", "mongodb", "mysql", "nobody", "number", "object", "oracle", "postgres",
    "postgresql", "preview", "private", "production", "public", "python", "rabbitmq", "release", "server", "service",
    "sqlite", "sqlite3", "staging", "stdout", "stderr", "string", "system", "test123", "testing", "typescript",
    "undefined", "verbose", "warning", "0.0.0.0", "127.0.0.1",
];

/// `KEY=value` of an environment, to the end of its line.
static SETTING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]{0,80})[ \t]*=[ \t]*([^\r\n]+)")
        .expect("a valid pattern")
});

/// A key and its value in JSON, YAML, an INI file or a call with two literals.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"["']?([A-Za-z_][A-Za-z0-9_.-]{0,80})["']?[ \t]*[=:,][ \t]*(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"',;#{\[][^\s"',;]*))"#,
    )
    .expect("a valid pattern")
});

/// The values of one workspace's secret files.
#[derive(Debug, Default)]
pub struct SecretValues {
    values: BTreeSet<String>,
    finder: Option<AhoCorasick>,
}

impl SecretValues {
    /// Returns the values of these files, each with its path and its text.
    pub fn in_files<'a>(files: impl IntoIterator<Item = (&'a Path, &'a str)>) -> Self {
        let mut values = BTreeSet::new();
        for (path, text) in files {
            values.extend(values_in(path, text));
        }
        let values: BTreeSet<String> = values.into_iter().take(MOST).collect();
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&values);
        Self { finder: finder.ok().filter(|_| !values.is_empty()), values }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Hides each of them in a text, where it is a word of its own.
    pub fn mask(&self, text: &str) -> Masked {
        let Some(finder) = &self.finder else { return Masked { text: text.to_owned(), count: 0 } };
        let is_free = |start: usize, end: usize| {
            let is_inner = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
            !is_inner(text[..start].chars().next_back()) && !is_inner(text[end..].chars().next())
        };
        let found = finder.find_iter(text).filter(|found| is_free(found.start(), found.end()));
        let finds: Vec<Find> =
            found.map(|found| Find { range: found.range(), kind: "secret-file" }).collect();
        let (text, count) = if finds.is_empty() { (text.to_owned(), 0) } else { replaced(text, finds) };
        Masked { text, count }
    }

    /// Hides them in place; returns how many there were.
    pub fn mask_in_place(&self, text: &mut String) -> usize {
        let masked = self.mask(text);
        if masked.count > 0 {
            *text = masked.text;
        }
        masked.count
    }
}

fn values_in(path: &Path, text: &str) -> Vec<String> {
    let name = base_name(&path.to_string_lossy()).to_lowercase();
    let is_environment = name.contains("env") || name == ".dev.vars";
    if is_environment {
        let settings = SETTING.captures_iter(text).map(|found| bare(&found[2]).to_owned());
        return settings.filter(|value| is_telling(value)).collect();
    }
    let is_value = |key: &str, value: &str| {
        is_telling(value)
            && (is_secret_name(key) || value.len() >= SHORTEST_UNNAMED && has_letters_and_digits(value))
    };
    let pairs = PAIR.captures_iter(text).filter_map(|found| {
        let value = found.iter().skip(2).flatten().next()?.as_str();
        is_value(&found[1], value).then(|| value.to_owned())
    });
    pairs.collect()
}

/// Returns a value without its quotes or the comment after it.
fn bare(value: &str) -> &str {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return inner;
        }
    }
    value.split(" #").next().unwrap_or_default().trim_end()
}

/// Whether a value says something that other texts do not say by themselves.
fn is_telling(value: &str) -> bool {
    let length = value.chars().count();
    let is_place = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start))
        || value.contains("://") && !value.contains('@');
    (SHORTEST..=LONGEST).contains(&length)
        && !is_place
        && !is_stand_in(value)
        && !COMMON.contains(&value.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(name: &str, text: &str) -> Vec<String> {
        values_in(Path::new(name), text)
    }

    #[test]
    fn an_environment_holds_values_of_any_look() {
        let text = "# a comment\nCOLOUR=vermilion heron\nexport BIRD=\"wagtail\" # small\nNODE_ENV=production\nPORT=3000\n\
                    HOST=localhost\nDEBUG=true\nURL=https://example.com/a\nDB=postgres://bob:heron@db/x\nHOME=/srv/app\n";
        let found = ["vermilion heron", "wagtail", "postgres://bob:heron@db/x"];
        assert_eq!(values(".env", text), found);
        assert_eq!(values("app/.env.local", text), found);
    }

    #[test]
    fn of_other_files_only_what_is_named_or_looks_like_a_secret() {
        let php = "define( 'DB_NAME', 'journal' );\ndefine( 'DB_PASSWORD', 'wagtail' );\n";
        assert_eq!(values("wp-config.php", php), ["wagtail"]);
        let json = "{\"kind\": \"Config\", \"client_secret\": \"wagtail\", \"id\": \"a1b2c3d4e5f6\"}";
        assert_eq!(values("local.settings.json", json), ["wagtail", "a1b2c3d4e5f6"]);
    }

    #[test]
    fn words_of_their_own_are_hidden_and_parts_of_others_are_not() {
        let secret = SecretValues::in_files([(Path::new(".env"), "A=wagtail\nB=vermilion heron\n")]);
        let masked = secret.mask("wagtails, a wagtail; KEY=vermilion heron.");
        assert_eq!(masked.text, "wagtails, a [masked:secret-file]; KEY=[masked:secret-file].");
        assert_eq!(masked.count, 2);
        assert_eq!(SecretValues::in_files([]).mask("wagtail").count, 0);
    }
}
