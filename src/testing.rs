//! Builders for tests: sessions and their entries, plans, evidence, findings and proposals, a
//! folder on disk, a scripted reader. Each returns the plainest value of its kind; a test changes
//! the field that it is about.

#![expect(clippy::missing_panics_doc, reason = "a builder that can not build fails its test")]

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use crate::config::{Allowed, CHECK_TIMEOUT, CheckConfig, CheckOn, Config, MAX_HOLDS};
use crate::env::Env;
use crate::evidence::{
    Entered, Evidence, FileChange, FileEvidence, FileState, LeftOut, Repository, TouchNote, Workspace,
};
use crate::feature_loop::features;
use crate::feature_loop::{Feature, LoopState};
use crate::finding::{Category, ClaimedIn, Finding, Kind, Source, Status};
use crate::log::{self, Annotated, Record};
use crate::plan::{BeforeSource, Plan, PlanBefore, PlanPlaces, PlanSource};
use crate::readers::{Answer, CandidateOpinion, Prompt, Proposal, Reader, ReaderOutcome, ReaderRun, Verdict};
use crate::session::{
    Ask, Change, Command, CommandEnd, Delegation, EditTool, Original, Outcome, Remark, Session, Todo, Touch,
};

/// Returns a minimal record.
pub fn record(id: &str) -> Record {
    let least = r#"{"schema":1,"id":"ID","time":"2026-10-01T00:00:00Z","session":null,"project":null,
        "event":"Stop","decision":"allow","cause":"clean"}"#;
    serde_json::from_str(&least.replace("ID", id)).expect("a record")
}

/// Returns the decisions of a log, all of whose lines must be readable.
pub fn annotated(log: &str) -> Vec<Annotated> {
    let found = log::query::parse(log);
    assert_eq!((found.torn, found.newer), (0, 0), "{log}");
    found.decisions
}

/// The workspace of the session of [`session`].
pub const ROOT: &str = "/w";

pub fn ask(text: &str, at: usize) -> Ask {
    Ask { text: text.to_owned(), at, time: None }
}

pub fn remark(text: &str, at: usize) -> Remark {
    Remark { text: text.to_owned(), at, time: None, ends_turn: false }
}

pub fn todo(text: &str, status: &str) -> Todo {
    Todo { id: None, text: text.to_owned(), status: status.to_owned() }
}

/// Returns a command that succeeded and printed nothing.
pub fn command(line: &str, at: usize) -> Command {
    let (line, output) = (line.into(), String::new());
    Command { line, at, time: None, ended: None, end: CommandEnd::Succeeded, output, agent: None }
}

/// Returns a command that failed with exit code 1.
pub fn failed(line: &str, at: usize, output: &str) -> Command {
    Command { end: CommandEnd::Failed(Some(1)), output: output.to_owned(), ..command(line, at) }
}

/// Returns an edit that was done; `path` is relative to [`ROOT`].
pub fn touch(path: &str, at: usize) -> Touch {
    Touch {
        path: if path.starts_with('/') { path.to_owned() } else { format!("{ROOT}/{path}") },
        tool: EditTool::Edit,
        at,
        time: None,
        outcome: Outcome::Done,
        original: Original::Unknown,
        agent: None,
        change: None,
        change_at: None,
    }
}

/// Returns an edit that replaced `old` with `new`, or a whole file if `old` is empty.
pub fn change(path: &str, at: usize, old: &str, new: &str) -> Touch {
    let tool = if old.is_empty() { EditTool::Write } else { EditTool::Edit };
    Touch { tool, change: Some(Change { old: old.to_owned(), new: new.to_owned() }), ..touch(path, at) }
}

pub fn delegation(description: &str, at: usize, report: &str) -> Delegation {
    Delegation {
        description: description.to_owned(),
        agent_type: "general-purpose".to_owned(),
        outcome: Outcome::Done,
        report: report.to_owned(),
        agent_id: None,
        at,
        time: None,
    }
}

/// Returns a session at [`ROOT`] in which nothing happened.
pub fn session() -> Session {
    Session { cwd: Some(ROOT.to_owned()), ..Session::default() }
}

/// Returns a session with a final message.
pub fn said(message: &str) -> Session {
    Session { final_message: Some(message.to_owned()), ..session() }
}

/// Returns a plan file that the session changed; every tick in it is the session's own.
pub fn plan(text: &str) -> Plan {
    Plan::new(PlanSource::TouchedFile, text.to_owned(), Some("PLAN.md".as_ref()))
}

/// Returns the same with its text from before the session.
pub fn plan_from(before: &str, now: &str) -> Plan {
    let plan = plan(now).since(Some(PlanBefore::new(before, BeforeSource::Original)));
    Plan { ticked_before: Vec::new(), ..plan }
}

/// Returns the plans of a workspace at [`ROOT`] and of a home `/home/me`, with these globs besides
/// the built-in ones.
pub fn plan_places(more: &[&str]) -> PlanPlaces {
    let globs = ["PLAN.md", "plan.md", "*-plan.md", "docs/plans/**", ".claude/plans/**"];
    let globs: Vec<String> = globs.iter().chain(more).map(|glob| (*glob).to_owned()).collect();
    PlanPlaces::new(ROOT.into(), vec!["/home/me/.claude/plans".into()], &globs)
}

/// Returns a file without shown content.
pub fn file(name: &str, state: FileState) -> FileEvidence {
    let why = match state {
        FileState::File { .. } => LeftOut::Unchanged,
        FileState::Folder => LeftOut::Folder,
        FileState::Missing { .. } => LeftOut::Missing,
        FileState::Outside => LeftOut::Outside,
        FileState::Unreadable(_) => LeftOut::Unreadable,
    };
    FileEvidence {
        name: name.to_owned(),
        touches: Vec::new(),
        named_in: Vec::new(),
        change: FileChange::Unknown,
        state,
        entered: Entered::LeftOut(why),
        text: String::new(),
        masked: 0,
        digest: String::new(),
    }
}

pub fn missing(name: &str) -> FileEvidence {
    file(name, FileState::Missing { elsewhere: None })
}

pub fn shown(name: &str, text: &str) -> FileEvidence {
    let state = FileState::File { bytes: text.len() as u64 };
    FileEvidence { entered: Entered::Whole, text: text.to_owned(), ..file(name, state) }
}

/// Returns one successful touch by an edit tool.
pub fn touched() -> Vec<TouchNote> {
    vec![TouchNote { tool: "Edit".to_owned(), outcome: Outcome::Done, agent: None, times: 1 }]
}

/// Returns the evidence of a session without a plan, and without files.
pub fn evidence(session: Session) -> Evidence {
    Evidence { session, ..Evidence::default() }
}

/// Returns a repository on `main` without changes.
pub fn repository() -> Repository {
    Repository { branch: Some("main".to_owned()), ..Repository::default() }
}

/// Returns a confirmed fact.
pub fn finding(category: Category, kind: Kind, claim: &str, path: Option<&str>) -> Finding {
    Finding {
        category,
        status: Status::Confirmed,
        source: Source::Facts,
        kind,
        claim: claim.to_owned(),
        claimed_in: ClaimedIn::Plan,
        proof: String::new(),
        path: path.map(str::to_owned),
        why: "why".to_owned(),
        settle: "settle".to_owned(),
        check: "check".to_owned(),
        second: None,
        step: None,
    }
}

/// Returns a proposal of category A that quotes the plan, of which the reader is sure.
pub fn proposal(kind: Kind, claim: &str, path: &str) -> Proposal {
    Proposal {
        category: Category::A,
        sure: true,
        kind,
        claim: claim.to_owned(),
        claimed_in: ClaimedIn::Plan,
        proof: String::new(),
        path: path.to_owned(),
        why: "why".to_owned(),
        settle: "settle".to_owned(),
    }
}

/// Returns the first reader's answer.
pub fn proposing(findings: &[Proposal], candidates: &[(usize, bool)]) -> ReaderOutcome {
    let opinion = |(number, agree): &(usize, bool)| CandidateOpinion {
        number: *number,
        agree: *agree,
        why: "the disk says so".to_owned(),
    };
    let candidates = candidates.iter().map(opinion).collect();
    answered(&Answer { findings: findings.to_vec(), candidates, verdicts: Vec::new() })
}

/// Returns the second reader's answer.
pub fn judging(verdicts: &[(usize, bool)]) -> ReaderOutcome {
    let verdict = |(number, uphold): &(usize, bool)| Verdict {
        number: *number,
        uphold: *uphold,
        why: "the timeline shows it".to_owned(),
    };
    answered(&Answer { verdicts: verdicts.iter().map(verdict).collect(), ..Answer::default() })
}

fn answered(answer: &Answer) -> ReaderOutcome {
    ReaderOutcome::Answered(serde_json::to_string(answer).expect("JSON"))
}

/// A reader that gives prepared answers, and records what it was asked. When they run out, it can't
/// answer.
#[derive(Debug, Default)]
pub struct ScriptedReader {
    pub asked: Vec<String>,
    answers: VecDeque<ReaderOutcome>,
}

impl ScriptedReader {
    pub fn new(answers: impl IntoIterator<Item = ReaderOutcome>) -> Self {
        Self { asked: Vec::new(), answers: answers.into_iter().collect() }
    }
}

impl Reader for ScriptedReader {
    fn ask(&mut self, prompt: &Prompt, _deadline: Duration) -> ReaderRun {
        self.asked.push(prompt.text.clone());
        let unreadable = || ReaderOutcome::Unreadable("it has nothing more to say".to_owned());
        ReaderRun::not_asked(self.answers.pop_front().unwrap_or_else(unreadable))
    }

    fn backend(&self) -> &'static str {
        "scripted"
    }

    fn model(&self) -> &'static str {
        "none"
    }
}

/// A folder with a workspace `w` and its own home.
#[derive(Debug)]
pub struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    /// Returns a folder with these files in its workspace.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir_all(folder.root()).expect("made");
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    /// Returns a folder with these files in and beside its workspace, which is `w`.
    pub fn around(files: &[(&str, &str)]) -> Self {
        let folder = Self::new(&[]);
        for (name, text) in files {
            folder.write(&format!("../{name}"), text);
        }
        folder
    }

    /// Returns the folder around the workspace.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the workspace.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("w")
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// Sets a file's age to a time in the client's format.
    pub fn age(&self, name: &str, time: &str) {
        let time: jiff::Timestamp = time.parse().expect("a time");
        let file = fs::File::options().write(true).open(self.root().join(name)).expect("there");
        file.set_modified(time.into()).expect("aged");
    }

    /// Runs git at a time in the client's format, without the machine's own settings.
    pub fn git(&self, time: &str, args: &[&str]) {
        let ended = process::Command::new("git")
            .args([
                "-c",
                "user.name=Ann",
                "-c",
                "user.email=ann@example.com",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(args)
            .current_dir(self.root())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_DATE", time)
            .env("GIT_COMMITTER_DATE", time)
            .output()
            .expect("git runs");
        assert!(ended.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    }

    /// Commits everything.
    pub fn commit(&self, time: &str, subject: &str) {
        self.git(time, &["add", "-A"]);
        self.git(time, &["commit", "-q", "-m", subject]);
    }

    pub fn workspace(&self) -> Workspace {
        let (root, home) = (self.root(), self.path().join("home"));
        Workspace::new(&root, &root, Some(home.clone()), &[home.join(".claude/plans")])
    }
}

/// Returns the features of a list in JSON.
pub fn features(list: &str) -> Vec<Feature> {
    features::parse(list).expect("features")
}

/// Returns a loop that was started at time 0 with this list, may take 10 iterations, and whose
/// workspace has the fingerprint `a`.
pub fn started_loop(list: &str) -> LoopState {
    let mut state = LoopState {
        max: 10,
        features: "feature_list.json".into(),
        progress: "progress.txt".into(),
        ..LoopState::default()
    };
    state.begin(&features(list), Some("a".into()), 0);
    state
}

/// A home folder and a project, each with a config file or none.
pub struct ConfigFiles(tempfile::TempDir);

impl ConfigFiles {
    pub fn with(own: Option<&str>, project: Option<&str>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in
            [("home/.config/punchlist/config.toml", own), ("w/.claude/punchlist.toml", project)]
        {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            if let Some(text) = text {
                std::fs::write(path, text).expect("written");
            }
        }
        Self(folder)
    }

    pub fn env(&self, vars: &[(&str, &str)]) -> Env {
        let home = ("HOME".to_owned(), self.0.path().join("home").display().to_string());
        let vars = vars.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Env::from_pairs(vars.chain([home]))
    }

    pub fn project(&self) -> PathBuf {
        self.0.path().join("w")
    }

    /// Returns the settings in force, and every fault without the folder's path.
    pub fn load(&self, vars: &[(&str, &str)]) -> (Config, Vec<String>) {
        self.load_with(vars, &Allowed::new())
    }

    /// Returns the same if the person has allowed something.
    pub fn load_with(&self, vars: &[(&str, &str)], allowed: &Allowed) -> (Config, Vec<String>) {
        let (config, errors) = Config::load(&self.env(vars), &self.project(), || allowed.clone());
        let folder = self.0.path().display().to_string();
        (config, errors.iter().map(|error| error.to_string().replace(&folder, "[folder]")).collect())
    }
}

/// Returns a check that runs the tests.
pub fn check(run: &str) -> CheckConfig {
    CheckConfig {
        name: "test".to_owned(),
        run: run.to_owned(),
        when: Vec::new(),
        timeout: CHECK_TIMEOUT,
        on: CheckOn::Stop,
        max_holds: MAX_HOLDS,
        needs_leave: false,
    }
}
