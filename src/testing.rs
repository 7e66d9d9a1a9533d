//! Builders for tests: a session and what stands in it, a plan, evidence, findings and proposals, a folder on disk, a reader
//! that was told what to say. Each gives the plainest value of its kind; a test changes the field that it is about.

#![expect(clippy::missing_panics_doc, reason = "a builder that can not build fails its test")]

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use crate::config::{Allowed, CHECK_TIMEOUT, CheckConfig, CheckOn, Config};
use crate::env::Env;
use crate::evidence::{
    Entered, Evidence, FileChange, FileEvidence, FileState, LeftOut, Repository, TouchNote, Workspace,
};
use crate::feature_loop::features;
use crate::feature_loop::{Feature, LoopState};
use crate::finding::{Category, ClaimedIn, Finding, Kind, Source, Status};
use crate::log::{self, Annotated, Record};
use crate::plan::steps::parse_steps;
use crate::plan::{BeforeSource, Plan, PlanBefore, PlanPlaces, PlanSource};
use crate::readers::{Answer, CandidateOpinion, Prompt, Proposal, Reader, ReaderOutcome, ReaderRun, Verdict};
use crate::session::{
    Ask, Change, Command, CommandEnd, Delegation, EditTool, Original, Outcome, Remark, Session, Todo, Touch,
};

/// The least that a record can be.
pub fn record(id: &str) -> Record {
    let least = r#"{"schema":1,"id":"ID","time":"2026-10-01T00:00:00Z","session":null,"project":null,
        "event":"Stop","decision":"allow","cause":"clean"}"#;
    serde_json::from_str(&least.replace("ID", id)).expect("a record")
}

/// The decisions of a log, all of whose lines must be readable.
pub fn annotated(log: &str) -> Vec<Annotated> {
    let found = log::query::parse(log);
    assert_eq!((found.torn, found.newer), (0, 0), "{log}");
    found.decisions
}

/// Where the session of [`session`] works.
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

/// A command that succeeded and printed nothing.
pub fn command(line: &str, at: usize) -> Command {
    let (line, output) = (line.into(), String::new());
    Command { line, at, time: None, end: CommandEnd::Succeeded, output, agent: None }
}

/// A command that failed with exit code 1.
pub fn failed(line: &str, at: usize, output: &str) -> Command {
    Command { end: CommandEnd::Failed(Some(1)), output: output.to_owned(), ..command(line, at) }
}

/// An edit that was done; `path` is seen from [`ROOT`].
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

/// An edit that put `new` in the place of `old`; of a whole file where that is empty.
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

/// A session at [`ROOT`] in which nothing happened.
pub fn session() -> Session {
    Session { cwd: Some(ROOT.to_owned()), ..Session::default() }
}

/// A session with a final message.
pub fn said(message: &str) -> Session {
    Session { final_message: Some(message.to_owned()), ..session() }
}

/// A plan file that the session changed; every tick in it is the session's own.
pub fn plan(text: &str) -> Plan {
    Plan {
        source: PlanSource::TouchedFile,
        path: Some("PLAN.md".to_owned()),
        text: text.to_owned(),
        steps: parse_steps(text),
        before: None,
        ticked_before: Vec::new(),
    }
}

/// The same with what it was before the session.
pub fn plan_from(before: &str, now: &str) -> Plan {
    let before = PlanBefore { text: before.to_owned(), from: BeforeSource::Original };
    Plan { before: Some(before), ..plan(now) }
}

/// Plans of a workspace at [`ROOT`] and of a home `/home/me`, with these globs besides the built-in
/// ones.
pub fn plan_places(more: &[&str]) -> PlanPlaces {
    let globs = ["PLAN.md", "plan.md", "*-plan.md", "docs/plans/**", ".claude/plans/**"];
    let globs: Vec<String> = globs.iter().chain(more).map(|glob| (*glob).to_owned()).collect();
    PlanPlaces::new(ROOT.into(), vec!["/home/me/.claude/plans".into()], &globs)
}

/// A file of which nothing was shown.
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

/// How an edit tool touched a file, once and with success.
pub fn touched() -> Vec<TouchNote> {
    vec![TouchNote { tool: "Edit".to_owned(), outcome: Outcome::Done, agent: None, times: 1 }]
}

/// Evidence of a session without a plan, and of no file.
pub fn evidence(session: Session) -> Evidence {
    Evidence {
        plan: None,
        session,
        files: Vec::new(),
        unlisted: 0,
        limits: Vec::new(),
        repository: None,
        judged: None,
    }
}

/// A repository on `main` in which nothing differs.
pub fn repository() -> Repository {
    Repository { branch: Some("main".to_owned()), ..Repository::default() }
}

/// A fact that is confirmed.
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

/// A proposal of category A on words of the plan, of which the reader is sure.
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

/// The first reader's answer.
pub fn proposing(findings: &[Proposal], candidates: &[(usize, bool)]) -> ReaderOutcome {
    let opinion = |(number, agree): &(usize, bool)| CandidateOpinion {
        number: *number,
        agree: *agree,
        why: "the disk says so".to_owned(),
    };
    let candidates = candidates.iter().map(opinion).collect();
    answered(&Answer { findings: findings.to_vec(), candidates, verdicts: Vec::new() })
}

/// The second reader's answer.
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

/// A reader that was told what to say, and keeps what it was asked. With nothing left to say it can't answer.
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

/// A folder with a workspace `w` and a home of its own.
#[derive(Debug)]
pub struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    /// A folder with these files in its workspace.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir_all(folder.root()).expect("made");
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    /// A folder with these files in and beside its workspace, which is `w`.
    pub fn around(files: &[(&str, &str)]) -> Self {
        let folder = Self::new(&[]);
        for (name, text) in files {
            folder.write(&format!("../{name}"), text);
        }
        folder
    }

    /// The folder around the workspace.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the workspace is.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("w")
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// Makes a file as old as a time in the client's words.
    pub fn age(&self, name: &str, time: &str) {
        let time: jiff::Timestamp = time.parse().expect("a time");
        let file = fs::File::options().write(true).open(self.root().join(name)).expect("there");
        file.set_modified(time.into()).expect("aged");
    }

    /// Runs git at a time in the client's words; whatever the machine's own settings are.
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

/// The features of a list in JSON.
pub fn features(list: &str) -> Vec<Feature> {
    features::parse(list).expect("features")
}

/// A loop that was started at time 0 with this list, may take 10 iterations, and whose workspace
/// has the fingerprint `a`.
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

    /// The settings in force, and every fault with the folder left out.
    pub fn load(&self, vars: &[(&str, &str)]) -> (Config, Vec<String>) {
        self.load_with(vars, &Allowed::new())
    }

    /// The same where the person has allowed something.
    pub fn load_with(&self, vars: &[(&str, &str)], allowed: &Allowed) -> (Config, Vec<String>) {
        let (config, errors) = Config::load(&self.env(vars), &self.project(), || allowed.clone());
        let folder = self.0.path().display().to_string();
        (config, errors.iter().map(|error| error.to_string().replace(&folder, "[folder]")).collect())
    }
}

/// A check of the tests.
pub fn check(run: &str) -> CheckConfig {
    let (name, on, needs_leave) = ("test".to_owned(), CheckOn::Stop, false);
    CheckConfig { name, run: run.to_owned(), when: Vec::new(), timeout: CHECK_TIMEOUT, on, needs_leave }
}
