//! `punchlist fleet`: the database that several machines share, and the collector that watches
//! them. Only `migrate` changes its tables.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::Result;
use super::output::{print, print_json, width};
use crate::cli::fleet::FleetCommand;
use crate::config::Config;
use crate::database::{Patience, schema};
use crate::doctor::{Diagnosis, fleet as checks};
use crate::env::Env;
use crate::exit;
use crate::fleet::connect;
use crate::fleet::decisions::SharedDecisions;
use crate::fleet::spool::{Shipped, Spool};
use crate::fleet::telemetry::Telemetry;
use crate::render::diagnosis;
use crate::state::StateFolder;
use crate::text::counted;

/// How long a step of a migration may take: an index of many decisions takes its time.
const MIGRATION: Duration = Duration::from_secs(3600);

pub(super) fn run(command: &FleetCommand, config: &Config, env: &Env) -> Result {
    let state = StateFolder::find(env)?;
    match command {
        FleetCommand::Migrate(args) => {
            let mut database = connect(&config.fleet)?;
            database.set_patience(Patience::Each(MIGRATION));
            let migrated = schema::migrate(&mut database, None)?;
            if args.json {
                return print_json(&json!({ "from": migrated.from, "to": migrated.to }));
            }
            let server = database.server();
            print(&match migrated.from {
                0 => format!("{server} has its tables now (version {}).\n", migrated.to),
                from if from == migrated.to => format!("{server} is up to date (version {from}).\n"),
                from => format!("{server} was brought from version {from} to {}.\n", migrated.to),
            })
        }
        FleetCommand::Push(args) => push(state.root(), config, args.json),
        FleetCommand::Doctor(args) => {
            let diagnosis = Diagnosis::new(checks::checks(state.root(), config));
            if args.json {
                print_json(&diagnosis)?;
            } else {
                print(&diagnosis::text(&diagnosis, width(), env.home().as_deref()))?;
            }
            Ok(if diagnosis.fine { exit::OK } else { exit::FAILED })
        }
    }
}

/// Ships to every configured destination. A failure of one does not affect the other.
fn push(state: &Path, config: &Config, as_json: bool) -> Result {
    let otlp = config.telemetry.otlp.as_deref();
    // Without any, the database's error says what to set.
    let shipped = (config.fleet.database.is_some() || otlp.is_none())
        .then(|| Spool::new(state, SharedDecisions::new(&config.fleet)).ship());
    let exported = otlp
        .map(|url| Spool::new(state, Telemetry::new(url, state, &config.fleet).with_gauges(state)).ship());
    if as_json {
        let counts = |shipped: Shipped| json!({ "shipped": shipped.lines, "refused": shipped.refused, "unreadable": shipped.unreadable });
        let mut value = shipped.transpose()?.map_or_else(|| json!({}), counts);
        if let Some(exported) = exported.transpose()? {
            value["telemetry"] = counts(exported);
        }
        return print_json(&value);
    }
    if let Some(Ok(shipped)) = shipped {
        print(&told(shipped, "Shipped", "ship"))?;
    }
    if let Some(Ok(exported)) = exported {
        print(&told(exported, "Exported", "export"))?;
    }
    shipped.transpose()?;
    exported.transpose()?;
    Ok(exit::OK)
}

fn told(shipped: Shipped, done: &str, to_do: &str) -> String {
    let Shipped { lines, refused, unreadable } = shipped;
    if lines + refused + unreadable == 0 {
        return format!("Nothing was left to {to_do}.\n");
    }
    let mut text = format!("{done}: {}", counted(lines, "line", "lines"));
    if refused > 0 {
        let _ = write!(text, ", {} refused for what is in them", counted(refused, "line was", "lines were"));
    }
    if unreadable > 0 {
        let can = counted(unreadable, "line is", "lines are");
        let _ = write!(text, ", {can} torn or of a newer punchlist");
    }
    text + ". Nothing is left.\n"
}
