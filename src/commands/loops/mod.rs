//! `punchlist loop`: starts, shows and runs feature loops. Here is what its commands share. Must
//! not decide what comes next in a loop; `feature_loop` does.

mod client_session;
mod display;
mod outcome;
mod run;
mod start;
mod status;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::{Result, complain, output};
use crate::cli::loops::{LoopArgs, LoopCommand};
use crate::client::env_vars;
use crate::config::Config;
use crate::env::Env;
use crate::feature_loop::LoopState;
use crate::state::{Shell, StateFolder};

struct LoopContext<'a> {
    env: &'a Env,
    config: &'a Config,
    state: StateFolder,
    working_dir: PathBuf,
}

pub(super) fn run(args: &LoopArgs, config: &Config, env: &Env) -> Result {
    let working_dir = std::env::current_dir().unwrap_or_default();
    let context = LoopContext { env, config, state: StateFolder::find(env)?, working_dir };
    match &args.command {
        None => status::run(&context, args.status.json),
        Some(LoopCommand::Status(args)) => status::run(&context, args.json),
        Some(LoopCommand::Init(args)) => start::init(&context, args),
        Some(LoopCommand::Start(args)) => start::start(&context, args),
        Some(LoopCommand::Stop) => start::stop(&context),
        Some(LoopCommand::Pass(args)) => start::pass(&context, args),
        Some(LoopCommand::Run(args)) => run::run(&context, args),
    }
}

impl LoopContext<'_> {
    /// Whether a person typed the command, in a terminal that no agent opened: the same that makes
    /// `punchlist off` a person's. A variable that is missing shows nothing, since whoever starts a
    /// command can leave it out.
    fn is_persons(&self) -> bool {
        let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        at_terminal
            && self.env.get(env_vars::INSIDE_SESSION).is_none()
            && Shell::current().is_some_and(Shell::is_a_persons)
    }

    /// The nearest folder upwards with a loop, else with a feature list, else this one.
    fn folder(&self) -> PathBuf {
        let above = || self.working_dir.ancestors();
        let has_list = |folder: &&Path| folder.join(&self.config.feature_loop.features).is_file();
        let found = above().find(|folder| self.state.loop_of(folder).is_some());
        found.or_else(|| above().find(has_list)).unwrap_or(&self.working_dir).to_path_buf()
    }

    fn new_loop(&self, folder: &Path) -> LoopState {
        let config = &self.config.feature_loop;
        LoopState {
            // A link in the path may point elsewhere another day.
            folder: std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf()),
            features: config.features.clone(),
            progress: config.progress.clone(),
            max: config.max_iterations,
            begun_ms: crate::feature_loop::snapshot::now_ms(),
            ..LoopState::default()
        }
    }
}
