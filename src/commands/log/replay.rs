//! `punchlist log show --replay`: judges a past audit by today's rules, with the transcript as far
//! as it was read then, the saved reply and today's disk. Calls no model, and writes neither to the
//! log nor to a session's state.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::super::config_for;
use super::{Context, Result};
use crate::audit::outcome::outcome_of;
use crate::audit::reading::{self, Setting};
use crate::audit::record::snapshot_of;
use crate::audit::{AuditInput, plan_in_play, plan_places};
use crate::client::folders;
use crate::config::{Config, SecondReader};
use crate::decision::Action;
use crate::evidence::{Evidence, FileCache, Workspace};
use crate::files::open_regular;
use crate::finding::{Finding, Source, Status};
use crate::log::replay_diff::{ReplayDiff, compare};
use crate::log::{Record, Snapshot, artifacts};
use crate::past_sessions::find::Shelf;
use crate::readers::{Prompts, ReaderOutcome, ReaderRun, RecordedReply};
use crate::session::builder::Role;
use crate::session::load;

/// Judges an audit again.
pub(super) fn replay(record: &Record, context: &Context<'_>) -> Result<ReplayDiff> {
    let mut cautions = Vec::new();
    let id = &record.id;
    let Some(read) = &record.transcript else {
        let cause = record.cause.name();
        return Err(format!(
            "decision {id} was made before anything was read ({cause}): there is nothing to replay"
        )
        .into());
    };
    let project = record.project.as_deref().map(PathBuf::from).unwrap_or_default();
    if !project.is_dir() {
        let folder = project.display();
        return Err(format!("the project's folder is gone, so there is no disk to check: {folder}").into());
    }
    let transcript =
        read.path.as_ref().map(PathBuf::from).map_or_else(|| by_session(record, &project, context), Ok)?;
    let (_folder, then) = as_it_was(&transcript, read.bytes, &mut cautions).map_err(|error| {
        format!(
            "the transcript is gone or can't be read, and nothing can be replayed without it: {}: {error}",
            transcript.display()
        )
    })?;
    let snapshot = artifacts::snapshot(&context.state, id);
    let (answer, caution) = answer_of(record, context);
    cautions.extend(caution);

    let config = config_for(&project, context.env);
    let is_subagent = record.agent.is_some();
    let role = if is_subagent { Role::Subagent } else { Role::Main };
    let message = snapshot.as_ref().and_then(|snapshot| snapshot.final_message.as_deref());
    let loaded = load::load(Some(&then), role, message);
    if let Some(problem) = loaded.problem {
        return Err(format!("the transcript can't be read: {problem}").into());
    }
    let mut session = loaded.session;
    let folders = folders::plan_folders(context.env, &project);
    let cwd = session.cwd.as_ref().map(PathBuf::from).filter(|cwd| cwd.is_dir());
    let workspace =
        Workspace::new(&project, cwd.as_deref().unwrap_or(&project), context.env.home(), &folders);
    // A subagent is asked to do a part: it did not promise the rest of the plan.
    let plan = if is_subagent {
        None
    } else {
        plan_in_play(&mut session, &workspace, &plan_places(&workspace, &config.audit))
    };
    let memory = &mut FileCache::default();
    let brief = AuditInput::new(session, plan, &workspace, Prompts::default(), &config.audit, None, memory);
    let findings = judged(&brief, &answer, record, &workspace, &config)?;
    let outcome = outcome_of(&answer, &findings, &config.audit, (&brief.prompts().reason, id));

    let changed = changed_since(record, snapshot.as_ref(), &brief.evidence);
    if !changed.is_empty() {
        cautions
            .push(format!("changed since then: {}; a difference may come from the disk", changed.join(", ")));
    }
    let was_held = record.decision == Action::Block || record.would_block;
    Ok(ReplayDiff {
        id: id.clone(),
        version_then: record.version.clone(),
        version_now: env!("CARGO_PKG_VERSION").to_owned(),
        then: if was_held { Action::Block } else { Action::Allow },
        now: if outcome.wants_block() { Action::Block } else { Action::Allow },
        cautions,
        changed,
        findings: compare(&record.findings, &findings),
    })
}

/// Applies today's checks to the saved answers. The second reader's verdicts from then still count;
/// a finding that it was not asked about can't be verified now.
fn judged(
    brief: &AuditInput,
    answer: &ReaderOutcome,
    record: &Record,
    workspace: &Workspace,
    config: &Config,
) -> Result<Vec<Finding>> {
    let (shown, _) = brief.shown()?;
    let setting = Setting { workspace, config: &config.audit, is_disputed: &|_| false };
    let run = ReaderRun::not_asked(answer.clone());
    let mut findings = reading::proposed(brief, &shown, run, setting).findings;
    for at in reading::asked_about(&findings, setting) {
        let finding = &mut findings[at];
        let then = record.findings.iter().find(|then| then.grounds() == finding.grounds());
        match then.and_then(|then| then.second.clone()) {
            Some(second) => {
                if !second.upheld {
                    finding.status = Status::Refuted;
                    finding.check = format!("the second reader dismissed it then: {}", second.why);
                }
                finding.second = Some(second);
            }
            None if finding.source == Source::Reader && config.auditor.second_reader != SecondReader::Off => {
                finding.status = Status::CannotVerify;
                finding.check = String::from("the second reader was not asked about it then");
            }
            None => {}
        }
    }
    Ok(findings)
}

/// Returns what the first reader said, and a caveat about it.
fn answer_of(record: &Record, context: &Context<'_>) -> (ReaderOutcome, Option<String>) {
    let answered = record.auditor.as_ref().is_some_and(|reader| reader.outcome == "answered");
    if !answered {
        return (ReaderOutcome::NotAsked, None);
    }
    let Ok(reply) = artifacts::reply(&context.state, &record.id) else {
        let caution =
            "the first reader's reply is gone: only what disk and session show by themselves is compared";
        return (ReaderOutcome::NotAsked, Some(caution.to_owned()));
    };
    match RecordedReply(&reply).replay().outcome {
        answer @ ReaderOutcome::Answered(_) => (answer, None),
        other => {
            let why = other.detail().unwrap_or_else(|| "no answer".to_owned());
            let caution = format!(
                "the saved reply is no longer valid ({why}): only what disk and session show by themselves is compared"
            );
            (ReaderOutcome::NotAsked, Some(caution))
        }
    }
}

/// Finds the transcript by the session's id, for older records that do not have its path.
fn by_session(record: &Record, project: &Path, context: &Context<'_>) -> Result<PathBuf> {
    let unknown = || format!("decision {} does not say where its transcript is", record.id);
    let session = record.session.as_deref().ok_or_else(unknown)?;
    let found = Shelf::from_env(context.env).and_then(|shelf| shelf.by_id(session, project));
    let found = found.map_err(|why| format!("{}, and it was not found: {why}", unknown()))?;
    Ok(found.transcript)
}

/// Copies the transcript, up to the last byte read then, and its subagents' into a folder of its
/// own.
fn as_it_was(
    transcript: &Path,
    bytes: u64,
    cautions: &mut Vec<String>,
) -> io::Result<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let file = open_regular(transcript)?;
    let length = file.metadata()?.len();
    let name = transcript.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let path = folder.path().join(name);
    let wanted = if bytes == 0 { length } else { bytes };
    io::copy(&mut file.take(wanted), &mut File::create(&path)?)?;
    let own = transcript.with_extension("").join("subagents");
    let there = path.with_extension("").join("subagents");
    copy_agents(&own, &there)?;
    if !there.is_dir()
        && let Some(beside) = transcript.parent()
    {
        copy_agents(beside, folder.path())?;
    }
    if bytes == 0 {
        cautions.push(
            "the record does not say how much of the transcript was read then: all of it is used".into(),
        );
    } else if length < bytes {
        cautions.push("the transcript is shorter than it was then".into());
    }
    Ok((folder, path))
}

fn copy_agents(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if text.starts_with("agent-")
            && text.ends_with(".jsonl")
            && entry.file_type().is_ok_and(|kind| kind.is_file())
        {
            fs::create_dir_all(to)?;
            let (from, to) = (entry.path(), to.join(&name));
            fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop))?;
        }
    }
    Ok(())
}

/// Returns the names of what has changed: the plan, and files by their content as shown, or by
/// whether they exist.
fn changed_since(record: &Record, snapshot: Option<&Snapshot>, now: &Evidence) -> Vec<String> {
    let shown_now = snapshot_of(now);
    let shown = |snapshot: &Snapshot, path: &str| {
        snapshot.files.iter().find(|file| file.path == path).map(|file| file.text.clone())
    };
    let is_changed = |path: &str, state| {
        let file = now.file(path);
        let by_content = snapshot.is_some_and(|then| shown(then, path) != shown(&shown_now, path));
        file.map(|file| &file.state) != Some(state) || by_content
    };
    let mut changed: Vec<String> = record
        .files
        .iter()
        .filter(|file| is_changed(&file.path, &file.state))
        .map(|file| file.path.clone())
        .collect();
    if snapshot.is_some_and(|then| then.steps != shown_now.steps) {
        changed.push("the plan".to_owned());
    }
    changed
}
