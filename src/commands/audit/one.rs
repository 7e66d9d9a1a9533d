//! One saved session: finds it, audits it and prints the result.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::super::output::{print, print_json, width};
use super::super::progress::Progress;
use super::super::{complain, config_for};
use super::{Result, code_of, has_conversation, project};
use crate::cli::{AuditArgs, AuditorChoice, Format};
use crate::config::{Config, SecondReader};
use crate::env::Env;
use crate::exit;
use crate::past_sessions::audit::{Audited, Prepared, Request, prepare};
use crate::past_sessions::find::{Found, Shelf, by_path};
use crate::past_sessions::later_sessions;
use crate::plan::{self, Plan};
use crate::readers::{Budget, Prompts, Readers, RecordedReply, SealedClient, Second};
use crate::render::Report;
use crate::render::markdown::markdown;
use crate::render::report_text::text;
use crate::render::sarif::sarif;
use crate::session::{Session, load};
use crate::state::StateFolder;
use crate::text::harmless;

pub(super) fn run(args: &AuditArgs, env: &Env) -> Result {
    let spinner = Progress::start();
    spinner.set_message("looking for the session");
    let found = find(args, env)?;
    spinner.set_message("reading the session");
    let session = load::load_saved(&found.transcript);
    if let Some(problem) = session.problem {
        return Err(format!("the transcript can't be read: {problem}").into());
    }
    let is_empty = std::fs::metadata(&found.transcript).is_ok_and(|meta| meta.len() == 0);
    if let Some(what) = what_else(&session.session, is_empty) {
        return Err(format!("{} is not a transcript: {what}", found.transcript.display()).into());
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
        let answer = args.verdict.as_ref().map(|path| text_of("--verdict", path)).transpose()?;
        let prompt = match &answer {
            None => prepared.prompt(),
            Some(answer) => prepared.second_prompt(answer),
        };
        let (prompt, fault) = prompt?;
        drop(spinner);
        if let Some(fault) = fault {
            complain(&format!("{fault} (the built-in text is used)"));
        }
        let Some(prompt) = prompt else {
            complain("nothing of that answer would hold a stop: the second reader is not asked");
            return Ok(exit::OK);
        };
        // A file of the workspace may hold what steers a terminal, which a pipe may end in as well.
        return print(&harmless(&format!("{}\n\n{}\n", prompt.system, prompt.text)));
    }
    let audited = ask(args, prepared, env, &config, &spinner)?;
    drop(spinner);
    for fault in &audited.config_faults {
        complain(&format!("{fault} (the built-in text is used)"));
    }
    let mut report = Report::new(&found.id, &found.transcript, &workspace, &audited);
    report.cautions.extend(caution(&found, &workspace, env));
    match args.format {
        Format::Text => print(&text(&report, width()))?,
        Format::Markdown => print(&markdown(&report))?,
        Format::Json => print_json(&report)?,
        Format::Sarif => print_json(&sarif(&report))?,
    };
    Ok(code_of(std::slice::from_ref(&report)))
}

fn prompts_of(config: &Config) -> Prompts {
    let Some(folder) = &config.auditor.prompts else { return Prompts::default() };
    Prompts::with_overrides(folder).unwrap_or_else(|error| {
        complain(&format!("{error} (the built-in text is used)"));
        Prompts::default()
    })
}

/// Returns a file's text, or stdin for `-`.
fn text_of(flag: &str, path: &Path) -> Result<String> {
    let is_stdin = path == Path::new("-");
    let text = if is_stdin { io::read_to_string(io::stdin()) } else { std::fs::read_to_string(path) };
    Ok(text.map_err(|error| format!("{flag} {}: {error}", path.display()))?)
}

fn find(args: &AuditArgs, env: &Env) -> Result<Found> {
    let project = project(args)?;
    Ok(match &args.session {
        Some(named) if looks_like_a_path(named) => by_path(Path::new(named))?,
        Some(id) => Shelf::from_env(env)?.by_id(id, &project)?,
        None => {
            let all = Shelf::from_env(env)?.of_project(&project)?;
            let spoken = |found: &Found| has_conversation(&load::load_saved(&found.transcript).session);
            // A session without a message is skipped, unless there is no other.
            let newest = all.iter().position(spoken).unwrap_or_default();
            all.into_iter().nth(newest).ok_or("no session of this project was found")?
        }
    })
}

fn looks_like_a_path(named: &str) -> bool {
    let path = Path::new(named);
    named.contains(['/', '\\']) || path.extension().is_some_and(|ending| ending == "jsonl") || path.exists()
}

/// Returns what a file is, if it is not a transcript.
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

/// Returns the workspace: the named one, the session's own, or the current folder.
fn workspace_of(args: &AuditArgs, session: &Session) -> Result<PathBuf> {
    let own = || session.cwd.as_ref().map(PathBuf::from).filter(|folder| folder.is_dir());
    let folder = match (&args.cwd, own()) {
        (None, Some(own)) => own,
        (Some(_), _) | (None, None) => project(args)?,
    };
    Ok(std::fs::canonicalize(&folder).map_err(|error| format!("{}: {error}", folder.display()))?)
}

fn given_plan(path: &Path) -> Result<(PathBuf, String)> {
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
) -> Result<Audited> {
    let timeout = config.auditor.timeout;
    // Only the person waits for this one, so each reader gets its full time.
    let deadline = Instant::now() + timeout * 2;
    if let Some(path) = &args.verdict {
        spinner.set_message("judging the saved answers");
        let reply = text_of("--verdict", path)?;
        let second = args.second_verdict.as_ref().map(|path| text_of("--second-verdict", path));
        let second = second.transpose()?.unwrap_or_default();
        let (mut first, mut second) = (RecordedReply(&reply), RecordedReply(&second));
        let (second, budget) = (Second::Other(&mut second), Budget::default());
        let readers = Readers { first: &mut first, second, timeout, deadline, budget };
        return Ok(prepared.ask(readers, "recorded")?);
    }
    match args.auditor.unwrap_or(AuditorChoice::Claude) {
        AuditorChoice::None => Ok(prepared.ask_nobody()),
        AuditorChoice::Claude => {
            spinner.set_message(&format!("asking {} for a second opinion", config.auditor.model));
            let known = StateFolder::find(env)?;
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
            Ok(prepared.ask(readers, second_model)?)
        }
    }
}

/// Returns a caveat: the disk is today's, not the session's.
fn caution(found: &Found, workspace: &Path, env: &Env) -> Option<String> {
    let sessions = Shelf::from_env(env).and_then(|shelf| shelf.of_project(workspace)).ok()?;
    let later =
        sessions.iter().filter(|other| other.modified > found.modified && other.id != found.id).count();
    (later > 0).then(|| format!("{}, and may have changed what is on disk", later_sessions(later)))
}
