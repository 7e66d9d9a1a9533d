//! One saved session: found, audited, printed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::super::progress::Progress;
use super::{
    Refusal, code_of, config_for, has_conversation, print, progress, project, prompts_of, shown, text_of,
};
use crate::cli::{AuditArgs, AuditorChoice};
use crate::config::{Config, SecondReader};
use crate::env::Env;
use crate::exit;
use crate::past_sessions::audit::{Audited, Prepared, Request, prepare};
use crate::past_sessions::find::{Found, Shelf, by_path};
use crate::past_sessions::moved_on::later_sessions;
use crate::plan::{self, Plan};
use crate::readers::{Budget, Readers, RecordedReply, SealedClient, Second};
use crate::render::Report;
use crate::session::{Session, load};
use crate::state::StateFolder;

pub(super) fn run(args: &AuditArgs, env: &Env) -> Result<u8, Refusal> {
    let spinner = progress::spinner();
    spinner.set_message("looking for the session");
    let found = find(args, env)?;
    spinner.set_message("reading the session");
    let session = load::load_saved(&found.transcript);
    if let Some(problem) = session.problem {
        return Err(format!("the transcript can't be read: {problem}"));
    }
    let is_empty = std::fs::metadata(&found.transcript).is_ok_and(|meta| meta.len() == 0);
    if let Some(what) = what_else(&session.session, is_empty) {
        return Err(format!("{} is not a transcript: {what}", found.transcript.display()));
    }
    let workspace = workspace_of(args, &session.session)?;
    let config = config_for(&workspace, env);
    let given = args.plan.as_deref().map(given_plan).transpose()?;
    let request = Request {
        transcript: &found.transcript,
        workspace: &workspace,
        env,
        config: &config,
        prompts: prompts_of(&config),
        judged: None,
    };
    spinner.set_message("comparing plan, session and disk");
    let prepared = prepare(request, |session| {
        given.as_ref().map(|(path, text)| -> Plan { plan::given(session, path, text) })
    })?;
    if args.show_prompt {
        let answer = args.verdict.as_ref().map(|path| text_of(path)).transpose();
        let answer = answer.map_err(|why| format!("--verdict {why}"))?;
        let prompt = match &answer {
            None => prepared.prompt(),
            Some(answer) => prepared.second_prompt(answer),
        };
        let (prompt, fault) = prompt.map_err(|error| error.to_string())?;
        drop(spinner);
        if let Some(fault) = fault {
            super::complain(&format!("{fault} (the built-in text is used)"));
        }
        match prompt {
            Some(prompt) => print(&format!("{}\n\n{}\n", prompt.system, prompt.text))?,
            None => {
                super::complain("nothing of that answer would hold a stop: the second reader is not asked");
            }
        }
        return Ok(exit::OK);
    }
    let audited = ask(args, prepared, env, &config, &spinner)?;
    drop(spinner);
    for fault in &audited.config_faults {
        super::complain(&format!("{fault} (the built-in text is used)"));
    }
    let mut report = Report::new(&found.id, &found.transcript, &workspace, &audited);
    report.cautions.extend(caution(&found, &workspace, env));
    print(&shown(&report, args.format)?)?;
    Ok(code_of([&report]))
}

/// The session that is meant.
fn find(args: &AuditArgs, env: &Env) -> Result<Found, Refusal> {
    let project = project(args)?;
    let found = match &args.session {
        Some(named) if looks_like_a_path(named) => by_path(Path::new(named)),
        Some(id) => Shelf::of(env).and_then(|shelf| shelf.by_id(id, &project)),
        None => {
            let all =
                Shelf::of(env).and_then(|shelf| shelf.of_project(&project)).map_err(|why| why.to_string())?;
            let spoken = |found: &Found| has_conversation(&load::load_saved(&found.transcript).session);
            // One without a word is passed over, unless there is no other.
            let newest = all.iter().position(spoken).unwrap_or_default();
            return all
                .into_iter()
                .nth(newest)
                .ok_or_else(|| "no session of this project was found".to_owned());
        }
    };
    found.map_err(|why| why.to_string())
}

fn looks_like_a_path(named: &str) -> bool {
    let path = Path::new(named);
    named.contains(['/', '\\']) || path.extension().is_some_and(|ending| ending == "jsonl") || path.exists()
}

/// What a file is that is no transcript.
fn what_else(session: &Session, is_empty: bool) -> Option<String> {
    let skipped = session.skipped;
    match (session.rows, skipped.unreadable, skipped.unknown) {
        _ if is_empty => Some("it is empty".to_owned()),
        (0, torn @ 1.., 0) => {
            Some(format!("none of its lines ({torn}) is JSON; a transcript has one object a line"))
        }
        _ if has_conversation(session) => None,
        _ => Some("it is JSON, but nobody says or does anything in it".to_owned()),
    }
}

/// The workspace: the one that is named, the session's own, or the current folder.
fn workspace_of(args: &AuditArgs, session: &Session) -> Result<PathBuf, Refusal> {
    let own = || session.cwd.as_ref().map(PathBuf::from).filter(|folder| folder.is_dir());
    let folder = match (&args.cwd, own()) {
        (None, Some(own)) => own,
        (Some(_), _) | (None, None) => project(args)?,
    };
    std::fs::canonicalize(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn given_plan(path: &Path) -> Result<(PathBuf, String), Refusal> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("--plan {}: {error}", path.display()))?;
    Ok((std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()), text))
}

fn ask(
    args: &AuditArgs,
    prepared: Prepared,
    env: &Env,
    config: &Config,
    spinner: &Progress,
) -> Result<Audited, Refusal> {
    let timeout = config.auditor.timeout;
    // Nobody waits for this one but the person: each reader has its whole time.
    let deadline = Instant::now() + timeout * 2;
    if let Some(path) = &args.verdict {
        spinner.set_message("judging the saved answers");
        let reply = text_of(path).map_err(|why| format!("--verdict {why}"))?;
        let second = args.second_verdict.as_ref().map(|path| text_of(path)).transpose();
        let second = second.map_err(|why| format!("--second-verdict {why}"))?.unwrap_or_default();
        let (mut first, mut second) = (RecordedReply(&reply), RecordedReply(&second));
        let (second, budget) = (Second::Other(&mut second), Budget::default());
        let readers = Readers { first: &mut first, second, timeout, deadline, budget };
        return prepared.ask(readers, "recorded").map_err(|error| error.to_string());
    }
    match args.auditor.unwrap_or(AuditorChoice::Claude) {
        AuditorChoice::None => Ok(prepared.ask_nobody()),
        AuditorChoice::Claude => {
            spinner.set_message(format!("asking {} for a second opinion", config.auditor.model));
            let known = StateFolder::find(env);
            let sealed = |model| SealedClient {
                env,
                program: config.auditor.client.as_deref(),
                model,
                flag_cache: &known,
                is_wanted: None,
            };
            let mut first = sealed(&config.auditor.model);
            let mut other = sealed(config.auditor.second_reader.name());
            let (second, second_model) = match &config.auditor.second_reader {
                SecondReader::Same => (Second::Same, config.auditor.model.as_str()),
                SecondReader::Off => (Second::Off, ""),
                SecondReader::Model(model) => (Second::Other(&mut other), model.as_str()),
            };
            let budget = Budget::default();
            let readers = Readers { first: &mut first, second, timeout, deadline, budget };
            prepared.ask(readers, second_model).map_err(|error| error.to_string())
        }
    }
}

/// What to keep in mind: the disk is the one of today.
fn caution(found: &Found, workspace: &Path, env: &Env) -> Option<String> {
    let sessions = Shelf::of(env).and_then(|shelf| shelf.of_project(workspace)).ok()?;
    let later =
        sessions.iter().filter(|other| other.modified > found.modified && other.id != found.id).count();
    (later > 0).then(|| format!("{}, and may have changed what is on disk", later_sessions(later)))
}
