//! Takes one command, says whether it drops or empties tables or databases. Pure. A file of SQL that is written,
//! searched or printed drops nothing: a client has to run it.

use std::sync::LazyLock;

use regex::Regex;

use super::Action;
use super::line::Simple;
use crate::finding::AdvisoryKind;
use crate::text::normalise::base_name;

/// Programs that run what they are given.
const CLIENTS: &[&str] = &[
    "clickhouse-client", "cockroach", "duckdb", "mariadb", "mongo", "mongosh", "mysql", "psql", "redis-cli",
    "snowsql", "sqlcmd", "sqlite3", "turso", "wrangler",
];

static DROPS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(drop\s+(table|database|schema|collection)\b|truncate\s+(table\s+)?[\w.\x22`]+|dropDatabase\s*\(|flushall\b|flushdb\b)",
    )
    .expect("a valid pattern")
});

/// Commands of frameworks that drop everything, as words that stand in a row.
const RESETS: &[&[&str]] = &[
    &["prisma", "migrate", "reset"],
    &["db:drop"],
    &["db:reset"],
    &["db:wipe"],
    &["migrate:fresh"],
    &["migrate:reset"],
    &["migrate:refresh"],
    &["schema:drop"],
    &["ecto.drop"],
    &["ecto.reset"],
    &["supabase", "db", "reset"],
    &["diesel", "database", "reset"],
    &["sqlx", "database", "drop"],
    &["sqlx", "database", "reset"],
    &["flyway", "clean"],
    &["alembic", "downgrade", "base"],
    &["manage.py", "flush"],
    &["manage.py", "reset_db"],
    &["--force-reset"],
];

/// Programs that only print or search.
const LOOKERS: &[&str] = &["cat", "echo", "git", "grep", "head", "less", "ls", "printf", "rg", "sed", "tail"];

/// Words that mark a database of no worth.
const WORTHLESS: &[&str] =
    &["test", "tests", "testing", "tmp", "temp", "scratch", "memory", "demo", "sandbox", "ci"];

pub(super) fn deed(command: &Simple) -> Option<Action> {
    let program = base_name(command.program());
    if LOOKERS.contains(&program) || is_worthless(command) || command.has("--help") {
        return None;
    }
    let runs_client = command.words.iter().take(12).any(|word| CLIENTS.contains(&base_name(word)));
    let drops_by_sql =
        runs_client && (DROPS.is_match(&command.fed) || command.arguments().any(|word| DROPS.is_match(word)));
    let words: Vec<&str> = command.words.iter().take(8).map(|word| base_name(word)).collect();
    let by_framework = RESETS.iter().any(|reset| words.windows(reset.len()).any(|row| row == *reset));
    let is_dropdb = matches!(program, "dropdb" | "dropuser");
    (drops_by_sql || by_framework || is_dropdb).then(|| Action::of(AdvisoryKind::DroppedTable, command))
}

/// Whether it is a database for tests, or one that stands in a temporary folder.
fn is_worthless(command: &Simple) -> bool {
    let says_so = |word: &str| {
        word.split(|c: char| !c.is_alphanumeric())
            .any(|part| WORTHLESS.contains(&part.to_lowercase().as_str()))
    };
    command.assignments.iter().any(|set| says_so(set))
        // Words of SQL say nothing of where it runs.
        || command.arguments().filter(|word| !word.contains(' ')).any(says_so)
}
