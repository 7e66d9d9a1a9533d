//! What several machines share: their decisions, in the fleet's database. Decisions are written to the local
//! log first; `spool` ships copies of them, and `shared_log` reads what all machines shipped.

pub mod copy;
pub mod shared_log;
pub mod spool;

use std::time::Duration;

use crate::config::FleetConfig;
use crate::database::{Database, DatabaseError, Patience};

/// How long each call of a command may take.
const COMMAND: Duration = Duration::from_secs(30);

/// Opens the configured database for a command.
pub fn connect(config: &FleetConfig) -> Result<Database, DatabaseError> {
    let missing = "none is set: `[fleet] database` in your own config, or PUNCHLIST_DATABASE_URL";
    let url = config.database.as_deref().ok_or_else(|| DatabaseError::BadUrl(missing.into()))?;
    Database::connect(&url.parse()?, Patience::Each(COMMAND))
}

/// The name of this machine in the fleet: the configured one, else the host's.
pub fn machine_name(config: &FleetConfig) -> String {
    config.machine.clone().unwrap_or_else(host_name)
}

#[cfg(unix)]
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}
