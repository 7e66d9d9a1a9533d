//! Whether the findings of a background audit still hold when it ends: files may have changed and
//! the session may have gone on meanwhile. Rows that the client writes late belong to the audited
//! stop and must not count as progress.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::SystemTime;

use jiff::Timestamp;
use strum::EnumMessage;

use crate::client::folders::open_session;
use crate::client::hook_input::{Event, HookInput};
use crate::client::row;
use crate::env::Env;
use crate::evidence::{Evidence, Workspace};
use crate::files::open_regular;
use crate::finding::{Finding, Status};
use crate::session::builder::{Role, SessionBuilder};

/// How much of what was added to a transcript is read: a prompt or a call is near its start.
const ADDED_CAP: u64 = 8 << 20;

/// The length and modification time of a file; `None` if it does not exist.
pub type Stamp = Option<(u64, Option<SystemTime>)>;

/// The stamps of the plan and of the files that findings may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamps(BTreeMap<String, Stamp>);

impl Stamps {
    /// Takes the stamps of all files of the evidence.
    pub fn take(workspace: &Workspace, evidence: &Evidence, facts: &[Finding]) -> Self {
        let plan = evidence.plan.as_ref().and_then(|plan| plan.path.as_ref());
        let files = evidence.files.iter().map(|file| &file.name);
        let names = files.chain(facts.iter().filter_map(|finding| finding.path.as_ref())).chain(plan);
        Self(names.map(|name| (name.clone(), stamp(workspace, name))).collect())
    }

    /// Returns the names of the files that have changed since.
    pub fn changed(&self, workspace: &Workspace) -> Vec<&str> {
        let is_changed = |(name, then): &(&String, &Stamp)| stamp(workspace, name) != **then;
        self.0.iter().filter(is_changed).map(|(name, _)| name.as_str()).collect()
    }
}

fn stamp(workspace: &Workspace, name: &str) -> Stamp {
    let meta = fs::metadata(workspace.locate(name)?.path).ok()?;
    Some((meta.len(), meta.modified().ok()))
}

/// Marks the confirmed findings on files that have changed as not verifiable. Returns the other
/// findings, and the files that have changed. All findings rest on the plan.
pub fn drop_stale(
    findings: &mut [Finding],
    changed: &[&str],
    plan: Option<&str>,
) -> (Vec<Finding>, Vec<String>) {
    let plan = plan.filter(|plan| changed.contains(plan));
    let (mut current, mut stale): (Vec<Finding>, Vec<String>) = (Vec::new(), Vec::new());
    for finding in findings {
        let own = finding.path.as_deref().filter(|path| changed.contains(path));
        match own.or(plan).filter(|_| finding.status == Status::Confirmed) {
            None => current.push(finding.clone()),
            Some(file) => {
                if !stale.iter().any(|known| known == file) {
                    stale.push(file.to_owned());
                }
                finding.check = format!("{file} has changed since it was looked at");
                finding.status = Status::CannotVerify;
            }
        }
    }
    (current, stale)
}

/// What a session may have done since its stop. The log reports the first, which is the plainest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumMessage)]
pub enum Progress {
    #[strum(message = "the client has gone on to another session")]
    Left,
    #[strum(message = "the person has typed on since this stop")]
    Asked,
    #[strum(message = "the session has used tools since this stop")]
    Worked,
    #[strum(message = "the session is at work again")]
    AtWork,
}

#[derive(Debug)]
pub struct TranscriptMark {
    path: PathBuf,
    bytes: u64,
}

impl TranscriptMark {
    /// Returns the transcript of the agent that stopped, with its current length.
    pub fn now(input: &HookInput) -> Option<Self> {
        let path = input.own_transcript()?.to_path_buf();
        let bytes = fs::metadata(&path).map_or(0, |meta| meta.len());
        Some(Self { path, bytes })
    }
}

pub fn progress_since(
    mark: Option<&TranscriptMark>,
    input: &HookInput,
    env: &Env,
    stopped_ms: i64,
) -> Option<Progress> {
    let role = if input.event == Event::SubagentStop { Role::Subagent } else { Role::Main };
    let added = mark.and_then(|mark| added_to(mark, role, stopped_ms).ok()).unwrap_or_default();
    // Under `-p` the client waits for us, and reports itself as busy.
    let open = open_session(env).filter(|open| open.is_interactive);
    let has_left =
        open.as_ref().is_some_and(|open| input.session_id.as_ref().is_some_and(|own| *own != open.session));
    let is_at_work = open.is_some_and(|open| open.busy_since_ms.is_some_and(|busy| busy > stopped_ms));
    let open = [has_left.then_some(Progress::Left), is_at_work.then_some(Progress::AtWork)];
    added.into_iter().chain(open.into_iter().flatten()).min()
}

/// Returns what was added to the transcript. Rows of the audited turn arrive late, and its prompt
/// may even follow rows written after the stop (seen in 2.1.221), so the time of each row counts.
fn added_to(mark: &TranscriptMark, role: Role, stopped_ms: i64) -> io::Result<Vec<Progress>> {
    let mut builder = SessionBuilder::new(role);
    let mut file = open_regular(&mark.path)?;
    // A line that was half written at that point is not JSON from here on, and is older anyway.
    file.seek(SeekFrom::Start(mark.bytes))?;
    for line in BufReader::new(file.take(ADDED_CAP)).split(b'\n') {
        row::rows_of(String::from_utf8_lossy(&line?).as_bytes(), |row| {
            let made: Option<Timestamp> = row.timestamp.text().and_then(|time| time.parse().ok());
            if made.is_some_and(|made| made.as_millisecond() > stopped_ms) {
                builder.fold(row, None);
            }
        });
    }
    let added = builder.session();
    let asked = (!added.asks.is_empty()).then_some(Progress::Asked);
    let worked = (added.last_call > 0 || !added.todos.is_empty()).then_some(Progress::Worked);
    Ok(asked.into_iter().chain(worked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Category, Kind, Source};
    use crate::testing::{self, Folder};

    fn finding(path: Option<&str>, status: Status) -> Finding {
        let source = Source::Both;
        Finding { status, source, ..testing::finding(Category::A, Kind::Missing, "", path) }
    }

    #[test]
    fn what_came_went_grew_or_was_written_again_has_changed() {
        let folder = Folder::new(&[("went", "1"), ("grew", "1"), ("rewritten", "1"), ("same", "1")]);
        let names = ["came", "went", "grew", "rewritten", "same", "still missing"];
        let facts: Vec<Finding> = names.map(|name| finding(Some(name), Status::Confirmed)).into();
        let evidence = testing::evidence(testing::session());
        let stamps = Stamps::take(&folder.workspace(), &evidence, &facts);
        folder.write("came", "");
        folder.write("grew", "12");
        folder.age("rewritten", "2020-01-01T00:00:00Z");
        fs::remove_file(folder.root().join("went")).expect("gone");
        assert_eq!(stamps.changed(&folder.workspace()), ["came", "grew", "rewritten", "went"]);
    }

    #[test]
    fn what_speaks_of_another_file_still_fits() {
        let mut findings = [
            finding(Some("a.txt"), Status::Confirmed),
            finding(Some("b.txt"), Status::Confirmed),
            finding(Some("a.txt"), Status::Refuted),
            finding(None, Status::Confirmed),
        ];
        let (current, stale) = drop_stale(&mut findings, &["a.txt"], Some("PLAN.md"));
        assert_eq!(
            current.iter().map(|f| f.path.as_deref()).collect::<Vec<_>>(),
            [Some("b.txt"), Some("a.txt"), None]
        );
        assert_eq!(stale, ["a.txt"]);
        assert_eq!(findings[0].status, Status::CannotVerify);
        assert_eq!(findings[0].check, "a.txt has changed since it was looked at");
        assert_eq!(findings[2].status, Status::Refuted, "what was dropped stays dropped");
        let mut findings = [finding(Some("a.txt"), Status::Confirmed), finding(None, Status::Confirmed)];
        let (current, stale) = drop_stale(&mut findings, &["PLAN.md"], Some("PLAN.md"));
        assert_eq!((current.len(), stale), (0, vec!["PLAN.md".to_owned()]), "nothing fits another plan");
    }
}
