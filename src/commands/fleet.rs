//! `punchlist fleet`: the database that several machines share. Only `migrate` changes its tables.

use serde_json::json;

use super::Result;
use super::output::{print, print_json, width};
use crate::cli::fleet::FleetCommand;
use crate::config::Config;
use crate::database::schema;
use crate::doctor::{Diagnosis, fleet as checks};
use crate::env::Env;
use crate::exit;
use crate::fleet::connect;
use crate::fleet::spool::Spool;
use crate::render::diagnosis;
use crate::state::StateFolder;
use crate::text::counted;

pub(super) fn run(command: &FleetCommand, config: &Config, env: &Env) -> Result {
    let spool = Spool::in_folder(StateFolder::find(env)?.root());
    match command {
        FleetCommand::Migrate(args) => {
            let mut database = connect(&config.fleet)?;
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
        FleetCommand::Push(args) => {
            let shipped = spool.ship(&config.fleet)?;
            if args.json {
                return print_json(&json!({ "shipped": shipped.lines, "refused": shipped.refused }));
            }
            let refused = match shipped.refused {
                0 => String::new(),
                count => format!(", {} refused", counted(count, "line was", "lines were")),
            };
            print(&match shipped.lines {
                0 => "Nothing was left to ship.\n".to_owned(),
                lines => format!("Shipped: {}{refused}. Nothing is left.\n", counted(lines, "line", "lines")),
            })
        }
        FleetCommand::Doctor(args) => {
            let diagnosis = Diagnosis::new(checks::checks(&config.fleet, &spool));
            if args.json {
                print_json(&diagnosis)?;
            } else {
                print(&diagnosis::text(&diagnosis, width(), env.home().as_deref()))?;
            }
            Ok(if diagnosis.fine { exit::OK } else { exit::FAILED })
        }
    }
}
