//! The rules by which a proposal is judged, one function each category. Pure. Every way out has its reason
//! in words: the log is how we learn how good the witness is.

use super::quotes::{likeness, stands_in, step_of};
use super::{Judged, Look};
use crate::auditor::Proposal;
use crate::evidence::{Evidence, FileState};
use crate::facts::ordinary::{CHORES, COMPANIONS, COVERED, GENERATED, SCRATCH, TALK, is_reference};
use crate::facts::promises::promises;
use crate::facts::{claims, steps};
use crate::finding::{Category, Problem};
use crate::plan::{Mark, Plan, Step};
use crate::session::{CommandEnd, Session, shell};
use crate::words::{base_name, has_words, normalised, padded};

/// Judges one proposal.
pub(super) fn judge(proposal: &Proposal, look: Option<&Look>, evidence: &Evidence) -> Judged {
    let session = &evidence.session;
    if let Some(path) = Some(&proposal.path).filter(|path| !path.trim().is_empty()) {
        // A workspace may itself stand in a temporary folder: what is inside of it counts.
        if look.is_none_or(|look| look.state == FileState::Outside) {
            let is_scratch = SCRATCH.iter().any(|folder| path.starts_with(folder));
            return Judged::cannot_verify(if is_scratch {
                "scratch: a temporary folder is nobody's promise"
            } else {
                "path is outside the workspace"
            });
        }
        if worked_elsewhere_on(session, path) {
            return Judged::cannot_verify("remote: the session worked on it on another machine");
        }
    }
    match proposal.category {
        Category::A => claimed_not_done(proposal, look, evidence),
        Category::B => done_not_planned(look, evidence),
        Category::C => abandoned(proposal, evidence),
        Category::D => not_in_plan(proposal, evidence),
        Category::Ask => asked_not_done(proposal, look, evidence),
    }
}

fn worked_elsewhere_on(session: &Session, path: &str) -> bool {
    let name = base_name(path);
    session
        .commands
        .iter()
        .any(|command| shell::works_elsewhere(&command.line) && command.line.contains(name))
}

fn final_message(evidence: &Evidence) -> &str {
    evidence.session.final_message.as_deref().unwrap_or_default()
}

/// A: who claims it, and is it really not there?
fn claimed_not_done(proposal: &Proposal, look: Option<&Look>, evidence: &Evidence) -> Judged {
    let message = final_message(evidence);
    let step =
        evidence.plan.as_ref().and_then(|plan| step_of(&proposal.quote, plan).map(|step| (plan, step)));
    let in_plan =
        step.is_some() || evidence.plan.as_ref().is_some_and(|plan| stands_in(&proposal.quote, &plan.text));
    let in_message = stands_in(&proposal.quote, message);
    if !in_plan && !in_message {
        return Judged::cannot_verify("quote not found in the plan or the final message");
    }
    if let Some(objection) = nobody_claims(proposal, step, in_message, message) {
        return objection;
    }
    let step = step.map(|(_, step)| step);
    if called_off(proposal, step, evidence) {
        return Judged::refuted("the person called it off");
    }
    // By name only: sentences about other steps are like this one, too.
    let name = base_name(&proposal.path);
    if !name.is_empty() && claims::admits(message, |sentence| sentence.contains(name)) {
        return Judged::cannot_verify("the final message says itself that it was not done");
    }
    match proposal.problem {
        Problem::MissingFile => missing_file(proposal, look, step, evidence),
        Problem::MissingContent => missing_content(proposal, look, step, evidence),
        Problem::FailedCommand => failed_command(proposal, &evidence.session),
        Problem::NoTrace => no_trace(proposal, look, step, evidence),
        Problem::NotInPlan => Judged::cannot_verify("not in the plan is no proof of a false claim"),
    }
}

/// Whether a sentence speaks of what a finding is about: its file, or its step.
fn speaks_of(sentence: &str, proposal: &Proposal, step: Option<&Step>) -> bool {
    let name = base_name(&proposal.path);
    (!name.is_empty() && sentence.contains(name))
        || step.is_some_and(|step| likeness(sentence, &step.text) >= COVERED)
}

fn called_off(proposal: &Proposal, step: Option<&Step>, evidence: &Evidence) -> bool {
    let mut asks = evidence.session.asks.iter();
    asks.any(|ask| claims::calls_off(&ask.text, |sentence| speaks_of(sentence, proposal, step)))
}

/// An unfinished plan is normal: a step counts as claimed when it was ticked in this session, when the final
/// message says that all is done, or when it claims that step or file.
fn nobody_claims(
    proposal: &Proposal,
    step: Option<(&Plan, &Step)>,
    in_message: bool,
    message: &str,
) -> Option<Judged> {
    if in_message {
        let is_claim = claims::sentences(message)
            .iter()
            .any(|sentence| stands_in(&proposal.quote, sentence) || stands_in(sentence, &proposal.quote))
            || claims::says_finished(message);
        return (!is_claim).then(|| Judged::refuted("the final message does not claim it"));
    }
    let (plan, step) = step?;
    if step.mark == Mark::Abandoned {
        return Some(Judged::refuted("the plan marks the step as abandoned"));
    }
    let claims_it =
        claims::sentences(message).iter().any(|sentence| speaks_of(sentence, proposal, Some(step)));
    if plan.ticked_now(step) || claims_it || claims::says_finished(message) {
        return None;
    }
    Some(match step.mark {
        Mark::Ticked => Judged::cannot_verify("the step was ticked before this session"),
        _ => Judged::refuted("the step is open and nobody claims that it is done"),
    })
}

fn missing_file(
    proposal: &Proposal,
    look: Option<&Look>,
    step: Option<&Step>,
    evidence: &Evidence,
) -> Judged {
    let Some(look) = look else { return Judged::cannot_verify("it names no file to look for") };
    match &look.state {
        FileState::File { .. } | FileState::Folder => Judged::refuted("the file exists"),
        FileState::Missing { elsewhere: Some(there) } => {
            Judged::refuted(format!("the file exists, at {there}"))
        }
        FileState::Outside => Judged::cannot_verify("path is outside the workspace"),
        FileState::Unreadable(why) => Judged::cannot_verify(format!("the path can't be read ({why})")),
        FileState::Missing { elsewhere: None } => {
            if !is_promised_file(proposal, &look.name, step, evidence) {
                Judged::cannot_verify("nobody promised a file of that name")
            } else if steps::was_removed(&evidence.session, &look.name) {
                Judged::cannot_verify("scratch: the session removed or moved it on purpose")
            } else if let Some(there) = steps::stand_in(evidence, &look.name) {
                Judged::cannot_verify(format!("the session wrote {there}, perhaps in its place"))
            } else {
                Judged::confirmed("no such file on disk; nothing in the session removed or moved it")
            }
        }
    }
}

/// Whether a file was promised where it counts: in the step that the finding quotes, in a sentence that claims
/// something, or, when all is said to be done, in any step. That a plan names it somewhere is no promise.
fn is_promised_file(proposal: &Proposal, name: &str, step: Option<&Step>, evidence: &Evidence) -> bool {
    let folder = if proposal.path.trim_end().ends_with('/') { "/" } else { "" };
    let written = format!("{}{folder}", base_name(name));
    let in_step = |step: &Step| {
        steps::is_promised(step, name) || (step.text.contains(&written) && promises(&step.text, &written))
    };
    let message = final_message(evidence);
    let is_over = claims::says_finished(message);
    let in_message = || {
        // Under "all done" a list or a table of files claims them, with no verb of its own.
        let claimed = claims::sentences(message).into_iter();
        let listed = claims::all_sentences(message).filter(|_| is_over);
        claimed.chain(listed).any(|sentence| sentence.contains(&written) && promises(sentence, &written))
    };
    let in_plan = || {
        let mut steps = evidence.plan.iter().flat_map(Plan::promised);
        is_over && steps.any(|step| step.mark != Mark::Abandoned && in_step(step))
    };
    step.is_some_and(in_step) || in_message() || in_plan()
}

/// Whether this very text was promised or claimed: it stands in the quote, the plan or the final message, and
/// is a name or stands in backticks or quotes there. "Add installation notes" does not promise the word.
fn is_promised_text(words: &str, proposal: &Proposal, evidence: &Evidence) -> bool {
    let plan = evidence.plan.as_ref().map_or("", |plan| plan.text.as_str());
    let is_prose = words.chars().all(|c| c.is_lowercase() || c.is_whitespace() || ",.".contains(c));
    let is_set_off = |text: &str| {
        let quoted = [('`', '`'), ('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’')];
        quoted.iter().any(|(open, close)| text.contains(&format!("{open}{words}{close}")))
    };
    [proposal.quote.as_str(), plan, final_message(evidence)]
        .iter()
        .any(|text| text.contains(words) && (!is_prose || is_set_off(text)))
}

fn missing_content(
    proposal: &Proposal,
    look: Option<&Look>,
    step: Option<&Step>,
    evidence: &Evidence,
) -> Judged {
    let Some(look) = look else { return Judged::cannot_verify("it names no file to look into") };
    if let FileState::Missing { .. } = look.state {
        return missing_file(proposal, Some(look), step, evidence);
    }
    let needle = proposal.needle.trim();
    if needle.is_empty() {
        return Judged::cannot_verify("it names no text to look for");
    }
    match look.holds_needle {
        Some(true) => Judged::refuted(format!("the file holds `{}`", short(needle))),
        None => Judged::cannot_verify("file was cut, or can't be read as text"),
        Some(false) if !is_promised_text(needle, proposal, evidence) => {
            Judged::cannot_verify("nobody promised that exact text")
        }
        Some(false) if holds_another_form(evidence, &look.name, needle) => {
            Judged::cannot_verify("the file holds it in another form, or another file of the session does")
        }
        Some(false) => Judged::confirmed(format!("the file does not hold `{}`", short(needle))),
    }
}

/// Whether the session wrote it after all: `--verbose` as a field `verbose`, or in another file than promised.
fn holds_another_form(evidence: &Evidence, name: &str, needle: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let wanted = bare(needle);
    let files = evidence.files.iter().filter(|file| file.name == name || file.was_changed());
    wanted.len() > 2
        && files.into_iter().any(|file| {
            // A heading is a heading: the same words elsewhere in the text are not it.
            let is_same_file = file.name == name && !needle.starts_with('#');
            (is_same_file && bare(&file.text).contains(&wanted))
                || (file.name != name && file.text.contains(needle))
        })
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

fn failed_command(proposal: &Proposal, session: &Session) -> Judged {
    let squeezed = |text: &str| padded(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let wanted = squeezed(&proposal.needle);
    let last = session.commands.iter().rposition(|command| {
        let line = squeezed(&command.line);
        wanted.len() > 4 && (line.contains(&wanted) || wanted.contains(&line))
    });
    let Some(at) = last else { return Judged::cannot_verify("no such command in the session") };
    let command = &session.commands[at];
    let failed = match command.end {
        CommandEnd::Succeeded => return Judged::refuted("the command succeeded when it was run last"),
        CommandEnd::Failed(Some(code)) => {
            format!("the command ended with exit code {code} when it was run last")
        }
        CommandEnd::Failed(None) => "the command failed when it was run last".to_owned(),
        CommandEnd::Interrupted | CommandEnd::Background | CommandEnd::Unanswered => {
            return Judged::cannot_verify("how the command ended is not recorded");
        }
    };
    if shell::only_looks(&command.line) {
        return Judged::cannot_verify("the command only looks: that it found nothing is no failure");
    }
    let kind = shell::check(&command.line);
    let passed_later = session.commands[at + 1..].iter().any(|later| {
        later.end == CommandEnd::Succeeded && kind.is_some() && shell::check(&later.line) == kind
    });
    if passed_later {
        return Judged::cannot_verify("another check of that kind succeeded after it");
    }
    Judged::confirmed(failed)
}

fn no_trace(proposal: &Proposal, look: Option<&Look>, step: Option<&Step>, evidence: &Evidence) -> Judged {
    let Some(look) = look else {
        return Judged::cannot_verify("it names nothing that disk or session could show");
    };
    if let FileState::Missing { .. } = look.state {
        return missing_file(proposal, Some(look), step, evidence);
    }
    match did_work_on(evidence, &look.name) {
        Some(how) => Judged::refuted(how),
        None => Judged::cannot_verify("the file exists, and only its content could tell"),
    }
}

/// How the session worked on a file, if it did.
fn did_work_on(evidence: &Evidence, name: &str) -> Option<String> {
    if evidence.was_changed(name) {
        return Some("the session did touch it".into());
    }
    let by_command = evidence
        .session
        .commands
        .iter()
        .any(|command| command.may_have_effects() && command.line.contains(base_name(name)));
    by_command.then(|| "a command of the session worked on it".into())
}

/// B: did the session really change it, and does the plan really not mention it?
fn done_not_planned(look: Option<&Look>, evidence: &Evidence) -> Judged {
    let Some(plan) = &evidence.plan else { return Judged::refuted("no plan was in play") };
    let Some(look) = look else { return Judged::cannot_verify("it names no file") };
    if !evidence.was_changed(&look.name) {
        return Judged::refuted("the session did not change it");
    }
    if !matches!(look.state, FileState::File { .. }) {
        return Judged::refuted("it is not there any more");
    }
    if GENERATED.iter().any(|end| look.name.ends_with(end)) {
        return Judged::refuted("it is generated");
    }
    if mentions(&plan.text, &look.name) {
        return Judged::refuted("the plan mentions it");
    }
    if evidence.session.asks.iter().any(|ask| ask.text.contains(base_name(&look.name))) {
        return Judged::refuted("the person asked for it");
    }
    if COMPANIONS.contains(&base_name(&look.name)) {
        return Judged::cannot_verify("it goes along with almost any work");
    }
    Judged::confirmed("the session changed it, and no step names it or its folder")
}

/// Whether a plan speaks of a file: by name, by stem, or by a folder above it.
fn mentions(plan: &str, name: &str) -> bool {
    let file = base_name(name);
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or(file);
    let words = padded(&normalised(plan));
    let stem_words = normalised(stem);
    let by_stem = stem_words.len() > 3 && has_words(&words, &stem_words);
    let mut folder = name;
    let mut by_folder = false;
    while let Some((above, _)) = folder.rsplit_once('/') {
        by_folder |= plan.contains(&format!("{above}/"));
        folder = above;
    }
    plan.contains(file) || by_stem || by_folder
}

/// C: does the plan list it, does the session say that it is over, and did nothing touch it?
fn abandoned(proposal: &Proposal, evidence: &Evidence) -> Judged {
    let Some(plan) = &evidence.plan else { return Judged::refuted("no plan was in play") };
    let Some(step) = step_of(&proposal.quote, plan) else {
        return Judged::cannot_verify("quote not found in the plan's steps");
    };
    match step.mark {
        Mark::Abandoned => return Judged::refuted("the plan marks the step as abandoned"),
        Mark::Ticked => return Judged::cannot_verify("the step is ticked: done or not, it is not abandoned"),
        Mark::None | Mark::Open => {}
    }
    if called_off(proposal, Some(step), evidence) {
        return Judged::refuted("the person called it off");
    }
    let message = final_message(evidence);
    let says_left = claims::says_left_something(message);
    if !claims::says_finished(message) && !says_left {
        return Judged::refuted("the session does not say that it is finished: an unfinished plan is normal");
    }
    let files: Vec<_> = evidence.files.iter().filter(|file| file.steps.contains(&step.number)).collect();
    if let Some(how) = files.iter().find_map(|file| did_work_on(evidence, &file.name)) {
        return Judged::refuted(how);
    }
    if !says_left
        && !files.is_empty()
        && (is_reference(step) || !files.iter().any(|f| steps::is_promised(step, &f.name)))
    {
        return Judged::cannot_verify("the step promises no change of its files");
    }
    let is_there = files.iter().any(|file| matches!(file.state, FileState::File { .. }));
    if is_there && evidence.session.commands.iter().any(|c| shell::may_change_anything(&c.line)) {
        return Judged::cannot_verify("a command of the session may have changed it");
    }
    if !files.is_empty() {
        return Judged::confirmed(
            "the session says that it is over, and nothing in it touched the step's files",
        );
    }
    let spoken_of = message
        .split(['\n', '.', ';'])
        .any(|sentence| claims::says_left_something(sentence) && likeness(sentence, &step.text) >= COVERED);
    if spoken_of {
        Judged::confirmed("the final message says that the step was left or replaced")
    } else {
        Judged::cannot_verify("the step names no file, and the final message does not speak of it")
    }
}

/// D: is it on the task list, and does no step cover it?
fn not_in_plan(proposal: &Proposal, evidence: &Evidence) -> Judged {
    let Some(plan) = &evidence.plan else { return Judged::refuted("no plan was in play") };
    let Some(todo) = evidence.session.todos.iter().find(|todo| stands_in(&proposal.quote, &todo.text)) else {
        return Judged::cannot_verify("quote not found in the task list");
    };
    if let Some(step) = plan.promised().find(|step| likeness(&step.text, &todo.text) >= COVERED) {
        return Judged::refuted(format!("step {} of the plan covers it", step.number));
    }
    if stands_in(&todo.text, &plan.text) {
        return Judged::refuted("the plan mentions it");
    }
    let words = normalised(&todo.text);
    if words.split(' ').take(2).any(|word| CHORES.contains(&word)) {
        return Judged::cannot_verify("it is a chore of any work");
    }
    if evidence.session.asks.iter().any(|ask| likeness(&ask.text, &todo.text) >= COVERED) {
        return Judged::refuted("the person asked for it");
    }
    Judged::confirmed("it is on the task list, and no step is like it")
}

/// ask: did the person say it, and did nothing happen after it?
fn asked_not_done(proposal: &Proposal, look: Option<&Look>, evidence: &Evidence) -> Judged {
    let session = &evidence.session;
    let Some(ask) = session.asks.iter().find(|ask| stands_in(&proposal.quote, &ask.text)) else {
        return Judged::cannot_verify("quote not found in what the person asked");
    };
    if proposal.quote.trim_end().ends_with('?') {
        return Judged::cannot_verify("it is a question: an answer is no work that could be seen");
    }
    if normalised(&proposal.quote).split(' ').next().is_some_and(|word| TALK.contains(&word)) {
        return Judged::cannot_verify("words can answer it");
    }
    if let Some(how) = look.and_then(|look| did_work_on(evidence, &look.name)) {
        return Judged::refuted(how);
    }
    let worked_after = session.done_touches().any(|touch| touch.at > ask.at)
        || session.commands.iter().any(|command| command.at > ask.at && command.may_have_effects());
    match (worked_after, look) {
        // A look may be all that was asked for, and what other servers' tools do can't be seen here.
        (false, _) if session.last_call > ask.at => {
            Judged::cannot_verify("tools were used after it; nothing shows whether for this")
        }
        (false, _) => Judged::confirmed("the person asked for it, and nothing was done after it"),
        (true, Some(look)) if is_asked_for(&look.name, &ask.text) => {
            Judged::confirmed("the person asked for it by name, and nothing in the session touched that file")
        }
        (true, _) => Judged::cannot_verify("work was done after it; nothing shows whether it was this"),
    }
}

fn is_asked_for(name: &str, ask: &str) -> bool {
    let file = base_name(name);
    // As it is written there, folders and all, since what stands before it tells what is asked.
    let written =
        ask.split(|c: char| c.is_whitespace() || "`'\",;()".contains(c)).find(|word| word.contains(file));
    written.is_some_and(|written| promises(ask, written.trim_end_matches(['.', ':', '!'])))
}
