//! Everything that may hold a stop. A gate takes a [`Stop`] and gives an [`Outcome`]; what it learned on the
//! way goes into the [`Story`], for the log.

pub mod aftermath;
pub mod aside;
pub mod audit;
pub mod moved;
pub mod sight;
pub mod story;
pub mod switched;

use std::path::Path;
use std::time::Instant;

pub use story::Story;

use crate::config::Config;
use crate::decision::Outcome;
use crate::env::Env;
use crate::hook::HookInput;
use crate::state::{Claim, StateFolder};

/// One stop of one session.
#[derive(Debug)]
pub struct Stop<'a> {
    /// The name that the decision on it will have.
    pub id: &'a str,
    /// What the client says of it.
    pub input: &'a HookInput,
    /// The environment.
    pub env: &'a Env,
    /// The settings in force.
    pub config: &'a Config,
    /// What is remembered.
    pub state: &'a StateFolder,
    /// Under which name the session is remembered.
    pub session: &'a str,
    /// The project's folder.
    pub project: &'a Path,
    /// When this process started, in milliseconds since 1970.
    pub started_ms: i64,
    /// By when everything has to be over.
    pub deadline: Instant,
    /// In the background only: the claim to decide it, which a newer stop takes away.
    pub claim: Option<&'a Claim<'a>>,
}

impl Stop<'_> {
    /// Whose stop it is: empty for the main agent.
    pub fn agent(&self) -> &str {
        self.input.agent_id.as_deref().unwrap_or_default()
    }
}

/// Something that may hold a stop.
pub trait Gate {
    /// Looks at a stop. Must not fail: what goes wrong is an outcome too.
    fn check(&mut self, stop: &Stop<'_>, story: &mut Story) -> Outcome;
}
