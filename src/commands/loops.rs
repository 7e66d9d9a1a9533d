//! `punchlist loop`: begins, binds, shows and runs feature loops. Here is what its commands share: the folder that is meant,
//! and the loop in it.

mod begin;
mod mark;
mod outside;
mod run;
mod session;
mod show;
mod status;

use std::path::{Path, PathBuf};

use super::complain;
use crate::cli::{LoopArgs, LoopCommand};
use crate::config::Config;
use crate::env::Env;
use crate::exit;
use crate::feature_loop::Loop;
use crate::state::StateFolder;

/// What its commands need.
struct Desk<'a> {
    env: &'a Env,
    config: &'a Config,
    state: StateFolder,
    /// Where the person stands.
    here: PathBuf,
}

/// Runs it.
pub fn run(args: &LoopArgs, config: &Config, env: &Env) -> u8 {
    let here = std::env::current_dir().unwrap_or_default();
    let desk = Desk { env, config, state: StateFolder::find(env), here };
    let result = match &args.command {
        None => Ok(status::run(&desk, args.status.json)),
        Some(LoopCommand::Status(args)) => Ok(status::run(&desk, args.json)),
        Some(LoopCommand::Init(args)) => begin::init(&desk, args),
        Some(LoopCommand::Start(args)) => begin::start(&desk, args),
        Some(LoopCommand::Stop) => begin::stop(&desk),
        Some(LoopCommand::Pass(args)) => mark::run(&desk, args),
        Some(LoopCommand::Run(args)) => run::run(&desk, args),
    };
    result.unwrap_or_else(|why| {
        complain(&why);
        exit::FAILED
    })
}

impl Desk<'_> {
    /// The folder that is meant: this one or the nearest above in which there is a loop, or else a list; this one where there
    /// is neither.
    fn folder(&self) -> PathBuf {
        let above = || self.here.ancestors();
        let has_list = |folder: &&Path| folder.join(&self.config.feature_loop.features).is_file();
        let found = above().find(|folder| self.state.loop_of(folder).is_some());
        found.or_else(|| above().find(has_list)).unwrap_or(&self.here).to_path_buf()
    }

    /// A loop that nobody has begun yet.
    fn new_loop(&self, folder: &Path) -> Loop {
        let config = &self.config.feature_loop;
        Loop {
            // As it is kept: links in a path may lead elsewhere another day.
            folder: std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf()),
            features: config.features.clone(),
            progress: config.progress.clone(),
            max: config.max_iterations,
            begun_ms: crate::feature_loop::round::now_ms(),
            ..Loop::default()
        }
    }
}
