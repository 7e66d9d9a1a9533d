//! A table or a database was dropped or emptied. Writing, searching or printing a SQL file drops
//! nothing: a client has to run it.

use std::sync::LazyLock;

use regex::Regex;

use super::newest;
use crate::evidence::Evidence;
use crate::paths::base_name;
use crate::session::Command;
use crate::shell::SimpleCommand;

/// Programs that run SQL.
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

/// Framework commands that drop everything, as consecutive words.
const RESETS: &[&str] = &[
    "prisma migrate reset", "db:drop", "db:reset", "db:wipe", "migrate:fresh", "migrate:reset",
    "migrate:refresh", "schema:drop", "ecto.drop", "ecto.reset", "supabase db reset",
    "diesel database reset", "sqlx database drop", "sqlx database reset", "flyway clean",
    "alembic downgrade base", "manage.py flush", "manage.py reset_db", "--force-reset",
];

/// Words that mark a database as disposable.
const WORTHLESS: &[&str] =
    &["test", "tests", "testing", "tmp", "temp", "scratch", "memory", "demo", "sandbox", "ci"];

pub(super) fn find(_: &Evidence, commands: &[&Command]) -> Option<String> {
    newest(commands, drops)
}

fn drops(command: &SimpleCommand) -> bool {
    let program = command.program();
    if program == "git" || command.program_only_reads() || is_worthless(command) || command.has("--help") {
        return false;
    }
    let names: Vec<&str> = command.words.iter().take(12).map(|word| base_name(word)).collect();
    let runs_client = names.iter().any(|name| CLIENTS.contains(name));
    let drops_by_sql = || DROPS.is_match(&command.input) || command.words.iter().any(|it| DROPS.is_match(it));
    let line = format!(" {} ", names.join(" "));
    matches!(program, "dropdb" | "dropuser")
        || RESETS.iter().any(|reset| line.contains(reset) && line.contains(&format!(" {reset} ")))
        || runs_client && drops_by_sql()
}

/// Returns whether it is a test database, or one in a temporary folder.
fn is_worthless(command: &SimpleCommand) -> bool {
    let says_so = |word: &str| {
        word.split(|c: char| !c.is_alphanumeric())
            .any(|part| WORTHLESS.contains(&part.to_lowercase().as_str()))
    };
    let program = command.program_words().first();
    // The SQL text does not say where it runs.
    let mut words = command.words.iter().filter(|word| Some(*word) != program && !word.contains(' '));
    words.any(|word| says_so(word))
}
