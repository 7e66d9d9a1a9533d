//! Evidence from a real folder: what goes in, how, and what is left out and said to be.

mod gather;
mod sections;
mod timeline;

use std::fs;
use std::path::Path;
use std::process::Command;

use punchlist::audit::AuditInput;
use punchlist::config::{AuditConfig, Config};
use punchlist::evidence::gather::Scope;
use punchlist::evidence::sections::files_text;
use punchlist::evidence::{Entered, Evidence, FileCache, FileState, LeftOut, Workspace, gather as gathered};
use punchlist::plan::{Plan, PlanSource};
use punchlist::readers::Prompts;
use punchlist::session::{Command as Ran, CommandEnd, EditTool, Original, Outcome, Session, Touch};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn workspace(&self) -> Workspace {
        Workspace::new(self.path(), self.path(), None, &[])
    }

    fn gather(&self, session: Session, plan: Option<Plan>, file_bytes: usize) -> Evidence {
        let scope = Scope { file_bytes, judged: None };
        gathered(session, plan, &self.workspace(), scope, &mut FileCache::default())
    }

    fn brief(&self, session: Session, plan: Plan, max_prompt_bytes: usize) -> AuditInput {
        let config = AuditConfig { max_prompt_bytes, ..Config::default().audit };
        let prompts = Prompts::default();
        AuditInput::new(
            session,
            Some(plan),
            &self.workspace(),
            prompts,
            &config,
            None,
            &mut FileCache::default(),
        )
    }
}

fn touch(path: &str, original: Original) -> Touch {
    Touch {
        time: None,
        path: path.into(),
        tool: EditTool::Edit,
        at: 1,
        outcome: Outcome::Done,
        original,
        agent: None,
        change_at: None,
        change: None,
    }
}

fn session(touches: Vec<Touch>) -> Session {
    Session { touches, ..Session::default() }
}

fn plan(text: &str) -> Plan {
    Plan::new(PlanSource::Approved, text.into(), None)
}

fn lines(from: usize, to: usize) -> String {
    (from..to).map(|number| format!("line number {number}\n")).collect()
}

const PLENTY: usize = 200_000;

#[test]
fn a_small_file_goes_in_whole_and_a_large_one_as_what_changed() {
    let folder = Folder::new();
    folder.write("small.rs", "fn main() {}\n");
    let before = lines(0, 1_000);
    folder.write("large.txt", &before.replace("line number 500\n", "changed\n"));
    let touches = vec![touch("small.rs", Original::Absent), touch("large.txt", Original::Text(before))];
    let evidence = folder.gather(session(touches), None, PLENTY);
    let small = evidence.file("small.rs").expect("small");
    assert_eq!((&small.entered, small.text.as_str()), (&Entered::Whole, "fn main() {}\n"));
    let large = evidence.file("large.txt").expect("large");
    assert_eq!(large.entered, Entered::Diff);
    assert!(large.text.contains("-line number 500\n+changed\n") && large.text.len() < 400, "{}", large.text);
}

#[test]
fn what_the_transcript_does_not_tell_git_does() {
    let folder = Folder::new();
    let git = |args: &[&str]| {
        let done = Command::new("git").args(args).current_dir(folder.path()).output().expect("git runs");
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    folder.write("large.txt", &lines(0, 1_000));
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]);
    folder.write("large.txt", &lines(0, 1_001));
    let mut session = session(vec![touch("large.txt", Original::Unknown)]);
    session.started = Some(jiff::Timestamp::now().to_string());
    let evidence = folder.gather(session, None, PLENTY);
    let file = evidence.file("large.txt").expect("there");
    assert_eq!(file.entered, Entered::Diff);
    assert!(file.text.ends_with("+line number 1000\n"), "{}", file.text);
}

#[test]
fn a_large_file_that_nobody_knows_from_before_is_cut_and_says_so() {
    let folder = Folder::new();
    folder.write("large.txt", &lines(0, 1_000));
    let evidence = folder.gather(session(vec![touch("large.txt", Original::Unknown)]), None, PLENTY);
    let file = evidence.file("large.txt").expect("there");
    assert!(matches!(file.entered, Entered::Cut(missing) if missing > 1_000));
    assert!(file.text.contains("bytes are not shown …]"), "{}", file.text);
    assert!(file.text.starts_with("line number 0\n") && file.text.trim_end().ends_with("line number 999"));
}

#[test]
fn the_room_is_spent_on_what_the_plan_names_first_and_the_rest_is_listed_as_left_out() {
    let folder = Folder::new();
    let names: Vec<String> = (0..10).map(|number| format!("file{number}.txt")).collect();
    for name in &names {
        folder.write(name, &lines(0, 200));
    }
    let touches = names.iter().map(|name| touch(name, Original::Absent)).collect();
    let evidence = folder.gather(session(touches), Some(plan("- [ ] write `file7.txt`\n")), 10_000);
    assert_eq!(evidence.files[0].name, "file7.txt");
    assert_eq!(evidence.files[0].entered, Entered::Whole);
    let left_out =
        evidence.files.iter().filter(|file| file.entered == Entered::LeftOut(LeftOut::NoRoom)).count();
    assert!(left_out >= 5, "{left_out} left out");
    let text = files_text(&evidence, "FENCE", 10_000);
    for name in &names {
        assert!(
            text.lines().any(|line| line.starts_with(&format!("{name}: exists"))),
            "{name} is named: {text}"
        );
    }
    assert!(text.contains("no room left in the prompt"), "{text}");
}

#[test]
fn missing_secret_binary_and_outside_files_are_named_and_not_shown() {
    let folder = Folder::new();
    folder.write(".env", "TOKEN=abc");
    folder.write("image.bin", "a\0b");
    let touches = [".env", "image.bin", "gone.txt", "/etc/hostname", "../up.txt"];
    let evidence = folder.gather(
        session(touches.iter().map(|path| touch(path, Original::Unknown)).collect()),
        None,
        PLENTY,
    );
    let entered = |name: &str| evidence.file(name).map(|file| (file.entered.clone(), file.text.clone()));
    let left_out = |why| Some((Entered::LeftOut(why), String::new()));
    assert_eq!(entered(".env"), left_out(LeftOut::Secret));
    assert_eq!(entered("image.bin"), left_out(LeftOut::Binary));
    assert_eq!(entered("gone.txt"), left_out(LeftOut::Missing));
    assert_eq!(entered("/etc/hostname"), left_out(LeftOut::Outside));
    assert_eq!(entered("../up.txt"), left_out(LeftOut::Outside));
}

#[test]
fn a_planned_file_that_stands_deeper_is_found_there() {
    let folder = Folder::new();
    folder.write("packages/api/src/a.ts", "x");
    let evidence = folder.gather(Session::default(), Some(plan("- [x] write `src/a.ts`\n")), PLENTY);
    let there = FileState::Missing { elsewhere: Some("packages/api/src/a.ts".into()) };
    assert_eq!(evidence.file("src/a.ts").map(|file| &file.state), Some(&there));
    assert_eq!(punchlist::facts::facts(&evidence), [], "a step that is satisfied elsewhere is no finding");
}

#[test]
fn secrets_are_masked_in_all_that_is_shown() {
    let folder = Folder::new();
    let secret = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5");
    folder.write("deploy.sh", &format!("export GITHUB={secret}\n"));
    let mut session = session(vec![touch("deploy.sh", Original::Absent)]);
    session.commands.push(Ran {
        line: format!("curl -H 'Authorization: Bearer {secret}' x").into(),
        at: 1,
        time: None,
        ended: None,
        end: CommandEnd::Failed(Some(1)),
        output: format!("401 for {secret}"),
        agent: None,
    });
    session.final_message = Some(format!("Deployed with {secret}."));
    let brief = folder.brief(session, plan(&format!("- [x] use {secret}\n")), PLENTY);
    assert!(brief.masked >= 5, "{}", brief.masked);
    assert_eq!(brief.evidence.file("deploy.sh").expect("there").masked, 1);
    let shown = brief.shown_between("FENCE").expect("evidence");
    let first = shown.first(brief.prompts()).expect("a prompt");
    let second = shown.second(brief.prompts(), "(none)").expect("a prompt");
    for prompt in [first, second] {
        assert!(!prompt.whole().contains(&secret));
        assert!(prompt.text.matches("[masked:github-token]").count() >= 5, "{}", prompt.text);
    }
}

#[test]
fn a_prompt_is_never_longer_than_its_budget() {
    let folder = Folder::new();
    let mut touches = Vec::new();
    let mut steps = String::new();
    for number in 0..300 {
        let name = format!("src/a/rather/long/path/to/module_{number}.rs");
        if number < 60 {
            folder.write(&name, &lines(0, 1_200));
        }
        steps += &format!("- [x] Write `{name}` with all that belongs to it\n");
        touches.push(touch(&name, Original::Unknown));
    }
    let mut session = session(touches);
    session.final_message = Some("All done. ".repeat(5_000));
    for number in 0..2_000 {
        session.commands.push(Ran {
            line: format!("cargo run -- {number}").into(),
            at: number,
            time: None,
            ended: None,
            end: CommandEnd::Succeeded,
            output: String::new(),
            agent: None,
        });
    }
    let plan = plan(&steps);
    for max_bytes in [10_000, 40_000, 60_000] {
        let brief = folder.brief(session.clone(), plan.clone(), max_bytes);
        let (shown, fault) = brief.shown().expect("evidence");
        assert!(fault.is_none(), "{fault:?}");
        let prompt = shown.first(brief.prompts()).expect("a prompt");
        let bytes = prompt.system.len() + prompt.text.len();
        assert!(bytes <= max_bytes, "{bytes} of {max_bytes}");
        assert!(bytes * 2 > max_bytes, "the room is used: {bytes} of {max_bytes}");
    }
}
