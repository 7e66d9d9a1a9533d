//! Takes a session, says whether something in it may have done a thing without a trace: a script, another server's
//! tool, a helper whose transcript is not there, work in the background. Pure. Where there is such a thing, nobody
//! can say that something was never done.

use std::collections::HashSet;

use super::runs::was_refused;
use crate::session::shell::deeds::may_do_anything;
use crate::session::shell::masks::{Mask, reach};
use crate::session::shell::wrappers::{flat_parts, program_words};
use crate::session::shell::{Deed, works_elsewhere};
use crate::session::{Command, CommandEnd, Outcome, Session};

/// Types of helpers that only look.
const LOOKING_HELPERS: &[&str] = &["Explore", "Plan", "claude-code-guide", "statusline-setup"];

/// Tools of the client itself that do nothing of what is claimed.
const QUIET_TOOLS: &[&str] = &[
    "AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "KillBash",
    "KillShell", "LS", "TaskStop", "ListMcpResourcesTool", "NotebookRead", "Read", "ReadMcpResourceTool",
    "Skill", "SlashCommand", "TaskOutput", "ToolSearch", "WebFetch", "WebSearch", "StructuredOutput",
];

/// Whether something after `from` may have done any of it unseen. `strict` counts programs given on the line of an
/// interpreter (`python -c`), too.
pub(super) fn may_have_been_done_unseen(session: &Session, from: usize, strict: bool) -> bool {
    let by_tool =
        session.other_calls.iter().any(|call| call.at >= from && !QUIET_TOOLS.contains(&call.tool.as_str()));
    // A long session is not kept whole.
    let is_forgotten = session.forgotten.commands && session.forgotten.until >= from;
    by_tool
        || is_forgotten
        || has_unseen_helper(session, from)
        || session.commands.iter().any(|command| command.at >= from && hides_something(command, strict))
}

fn has_unseen_helper(session: &Session, from: usize) -> bool {
    let working = session
        .delegations
        .iter()
        .filter(|helper| !matches!(helper.outcome, Outcome::Failed(_)))
        .filter(|helper| !LOOKING_HELPERS.contains(&helper.agent_type.as_str()));
    let seen: HashSet<&str> = session
        .commands
        .iter()
        .filter_map(|command| command.agent.as_deref())
        .chain(session.touches.iter().filter_map(|touch| touch.agent.as_deref()))
        .collect();
    let (count, newest) = working.fold((0, 0), |(count, newest), helper| (count + 1, newest.max(helper.at)));
    // Helpers of clients that write them into the main transcript have one name for all.
    count > 0 && newest >= from && !seen.contains("sidechain") && count > seen.len()
}

fn hides_something(command: &Command, strict: bool) -> bool {
    if was_refused(command) {
        return false;
    }
    if command.end == CommandEnd::Background || command.line.contains("bytes cut …]") {
        return true;
    }
    let parts = flat_parts(&command.line);
    parts.iter().enumerate().any(|(at, part)| {
        let words = program_words(&part.words);
        let is_inline =
            words.iter().skip(1).take(2).any(|word| matches!(word.as_str(), "-c" | "-e" | "-p" | "-"))
                || (words.len() == 1
                    && words.first().is_some_and(|word| word.starts_with("python") || word == "node"));
        let may = may_do_anything(words) && (strict || !is_inline);
        may || reach(&parts, at).mask == Some(Mask::Background)
            || part.words.iter().any(|word| word.contains("$(") && strict && may_hold_a_command(word))
    })
}

/// Whether a substitution may run more than a look: `$(git rev-parse HEAD)` does not.
fn may_hold_a_command(word: &str) -> bool {
    let Some((_, inner)) = word.split_once("$(") else { return false };
    let inner = inner.trim_end_matches(')');
    flat_parts(inner).iter().any(|part| may_do_anything(program_words(&part.words)))
}

/// Whether a line may have done that deed in a way that the tables do not know.
pub(super) fn may_be(command: &Command, deed: Deed) -> bool {
    let line = command.line.as_str();
    let mentions = |words: &[&str]| words.iter().any(|word| line.contains(word));
    match deed {
        Deed::Check(_) => false,
        Deed::Commit => {
            mentions(&[
                "commit", "git merge", "git rebase", "git pull", "git cherry-pick", "release", "version",
            ]) && line.contains("commit")
        }
        Deed::Push => mentions(&["push", "gh pr", "submit", "release", "publish"]),
        Deed::PullRequest => {
            mentions(&["gh api", "pulls", "curl", "pr create", "pull-request", "merge_request", "gh pr"])
        }
        Deed::Issue => mentions(&["gh api", "issue", "curl"]),
        Deed::Deploy => {
            works_elsewhere(line)
                || mentions(&[
                    "deploy", "push", "docker", "publish", "release", "curl", "systemctl", "restart", "pm2",
                    "gh ", "merge", "rsync", "cp ",
                ])
        }
        Deed::Install => mentions(&[
            "install", "add", "curl", "wget", "cargo", "go ", "mvn", "gradle", "npx", "uv", "setup", "npm",
            "yarn", "pnpm", "bun", "pip", "init", "create", "swift", "dotnet", "mix", "docker",
        ]),
    }
}
