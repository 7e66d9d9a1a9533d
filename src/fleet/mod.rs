//! What several machines share: their decisions, in the fleet's database and with a collector that
//! operations watches. Decisions are written to the local log first; `spool` ships lines of it,
//! `decisions` stores copies of them, `telemetry` exports them, and `shared_log` reads what all
//! machines shipped.

pub mod copy;
mod cursor;
pub mod decisions;
mod places;
mod quotes;
pub mod shared_log;
pub mod spool;
pub mod telemetry;

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use decisions::SharedDecisions;
use spool::{Spool, StopTime};
use telemetry::Telemetry;

use crate::child;
use crate::config::{Config, FleetConfig};
use crate::database::{Database, DatabaseError, Patience};
use crate::env::Env;
use crate::exit;

/// How long each call of a command may take.
const COMMAND: Duration = Duration::from_secs(30);

/// Opens the configured database for a command.
pub fn connect(config: &FleetConfig) -> Result<Database, DatabaseError> {
    let url = config.database.as_deref().ok_or(DatabaseError::NotSet)?;
    Database::connect(url, Patience::Each(COMMAND))
}

/// Whether decisions are shipped anywhere.
pub fn has_destination(config: &Config) -> bool {
    config.fleet.database.is_some() || config.telemetry.otlp.is_some()
}

/// The argument with which this program ships for a stop; the state folder follows it.
pub const SHIP: &str = "ship";

/// How long the process that ships for a stop may be there at all: what it waits for on the network
/// has an end of its own, and looking up a server's name has none.
const LONGEST: Duration = Duration::from_secs(5);

/// Has a process of its own ship what waits, so that the session does not wait for the network.
/// After a failure no destination is tried again for a while.
pub fn start_shipping(state: &Path, config: &Config, project: &Path, env: &Env) {
    let is_left_alone = database_spool(state, config).is_none_or(|spool| spool.has_failed_lately())
        && telemetry_spool(state, config).is_none_or(|spool| spool.has_failed_lately());
    if is_left_alone {
        return;
    }
    if let Err(error) = child::start_apart(&[OsStr::new(SHIP), state.as_os_str()], project, env) {
        tracing::debug!(%error, "decisions wait for the next stop");
    }
}

/// Ships what there is time for to every destination that is set, and ends this process if that
/// takes too long.
pub fn ship_and_end(state: &Path, config: &Config) {
    std::thread::spawn(|| {
        std::thread::sleep(LONGEST);
        std::process::exit(exit::OK.into());
    });
    let mut time = StopTime::begin();
    if let Some(mut spool) = database_spool(state, config) {
        spool.ship_at_stop(&mut time);
    }
    if let Some(mut spool) = telemetry_spool(state, config) {
        spool.ship_at_stop(&mut time);
    }
}

/// Where what waits for a destination that is set begins in a file of the log; the end of all files
/// where nothing does. What can't be known waits.
pub fn waiting_from(state: &Path, config: &Config, path: &Path, file: &File) -> u64 {
    let database = database_spool(state, config);
    let database = database.map(|spool| spool.offset_in(path, file).unwrap_or_default());
    let collector = telemetry_spool(state, config);
    let collector = collector.map(|spool| spool.offset_in(path, file).unwrap_or_default());
    database.into_iter().chain(collector).min().unwrap_or(u64::MAX)
}

/// The spool of the database, where one is set.
fn database_spool<'a>(state: &Path, config: &'a Config) -> Option<Spool<SharedDecisions<'a>>> {
    config.fleet.database.as_ref().map(|_| Spool::new(state, SharedDecisions::new(&config.fleet)))
}

/// The spool of the collector, where one is set.
pub fn telemetry_spool<'a>(state: &Path, config: &'a Config) -> Option<Spool<Telemetry<'a>>> {
    let url = config.telemetry.otlp.as_deref()?;
    Some(Spool::new(state, Telemetry::new(url, state, &config.fleet)))
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
