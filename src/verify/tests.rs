//! Every rule of the verifier, with the reason it gives.

use super::*;
use crate::evidence::{Entered, FileEvidence, LeftOut, TouchNote};
use crate::finding::{Category, Problem};
use crate::plan::{Plan, PlanSource, steps::parse_steps};
use crate::session::{Ask, Command, CommandEnd, EditTool, Original, Outcome, Session, Todo, Touch};

/// Evidence in the making.
struct Case {
    evidence: Evidence,
    disk: Vec<(&'static str, &'static str)>,
}

fn plan(text: &str) -> Case {
    let plan = Plan {
        source: PlanSource::TouchedFile,
        path: Some("/w/PLAN.md".into()),
        text: text.into(),
        steps: parse_steps(text),
        dropped: Vec::new(),
        ticked_before: Vec::new(),
    };
    let files = plan
        .steps
        .iter()
        .flat_map(|step| step.paths.iter().map(|path| (step.number, path.clone())))
        .map(|(step, name)| FileEvidence {
            name,
            touches: Vec::new(),
            steps: vec![step],
            state: FileState::Missing { elsewhere: None },
            entered: Entered::LeftOut(LeftOut::Missing),
            text: String::new(),
            masked: 0,
            digest: String::new(),
            signs: crate::evidence::Signs::default(),
        })
        .collect();
    Case {
        evidence: Evidence {
            plan: Some(plan),
            session: Session::default(),
            files,
            deeds: Vec::new(),
            repository: None,
        },
        disk: Vec::new(),
    }
}

fn no_plan() -> Case {
    Case {
        evidence: Evidence {
            plan: None,
            session: Session::default(),
            files: Vec::new(),
            deeds: Vec::new(),
            repository: None,
        },
        disk: Vec::new(),
    }
}

impl Case {
    fn says(mut self, message: &str) -> Self {
        self.evidence.session.final_message = Some(message.into());
        self
    }

    fn on_disk(mut self, name: &'static str, content: &'static str) -> Self {
        self.disk.push((name, content));
        let state = FileState::File { bytes: content.len() as u64 };
        match self.evidence.files.iter_mut().find(|file| file.name == name) {
            Some(file) => (file.state, file.text) = (state, content.into()),
            None => self.evidence.files.push(FileEvidence {
                name: name.into(),
                touches: Vec::new(),
                steps: Vec::new(),
                state,
                entered: Entered::Whole,
                text: content.into(),
                masked: 0,
                digest: String::new(),
                signs: crate::evidence::Signs::default(),
            }),
        }
        self
    }

    fn touched(mut self, name: &'static str, at: usize) -> Self {
        let note = TouchNote { tool: "Write".into(), outcome: Outcome::Done, agent: None };
        if let Some(file) = self.evidence.files.iter_mut().find(|file| file.name == name) {
            file.touches.push(note);
        }
        let (tool, outcome, original) = (EditTool::Write, Outcome::Done, Original::Absent);
        self.evidence.session.touches.push(Touch {
            path: name.into(),
            tool,
            at,
            outcome,
            original,
            agent: None,
            change: None,
        });
        self
    }

    fn ran(mut self, line: &str, end: CommandEnd) -> Self {
        self.evidence.session.commands.push(Command {
            line: line.into(),
            at: 1,
            end,
            output: String::new(),
            agent: None,
        });
        self
    }

    fn asked(mut self, text: &str, at: usize) -> Self {
        self.evidence.session.asks.push(Ask { text: text.into(), at });
        self
    }

    fn todo(mut self, text: &str) -> Self {
        self.evidence.session.todos.push(Todo { id: None, text: text.into(), status: "completed".into() });
        self
    }

    fn ticked_before(mut self, number: usize) -> Self {
        if let Some(plan) = &mut self.evidence.plan {
            plan.ticked_before.push(number);
        }
        self
    }

    fn look(&self, proposal: &Proposal) -> Option<Look> {
        let name = proposal.path.clone();
        if name.is_empty() {
            return None;
        }
        if name.starts_with('/') || name.starts_with("..") {
            return Some(Look { name, state: FileState::Outside, holds_needle: None });
        }
        Some(match self.disk.iter().find(|(file, _)| *file == name) {
            Some((_, content)) => {
                let holds_needle = (!proposal.needle.is_empty()).then(|| content.contains(&proposal.needle));
                Look { name, state: FileState::File { bytes: content.len() as u64 }, holds_needle }
            }
            None => Look { name, state: FileState::Missing { elsewhere: None }, holds_needle: None },
        })
    }

    fn judge(&self, proposal: &Proposal) -> (Status, String) {
        let look = self.look(proposal);
        let verdict = Verdict { findings: vec![proposal.clone()] };
        let found = verify(&verdict, &[look], &self.evidence, Vec::new()).remove(0);
        (found.status, found.verifier)
    }

    #[track_caller]
    fn confirms(&self, proposal: &Proposal, reason: &str) {
        assert_eq!(self.judge(proposal), (Status::Confirmed, reason.to_owned()));
    }

    #[track_caller]
    fn doubts(&self, proposal: &Proposal, reason: &str) {
        assert_eq!(self.judge(proposal), (Status::CannotVerify, reason.to_owned()));
    }

    #[track_caller]
    fn refutes(&self, proposal: &Proposal, reason: &str) {
        assert_eq!(self.judge(proposal), (Status::Refuted, reason.to_owned()));
    }
}

fn proposal(category: Category, problem: Problem, quote: &str, path: &str, needle: &str) -> Proposal {
    Proposal {
        category,
        problem,
        quote: quote.into(),
        path: path.into(),
        needle: needle.into(),
        why: "because".into(),
        settle: "do it".into(),
    }
}

fn missing(quote: &str, path: &str) -> Proposal {
    proposal(Category::A, Problem::MissingFile, quote, path, "")
}

const TWO: &str = "- [x] Create `alpha.txt`\n- [x] Create `beta.txt`\n";
const NO_FILE: &str = "no such file on disk; nothing in the session removed or moved it";

#[test]
fn a_ticked_step_without_its_file_is_confirmed() {
    plan(TWO).says("Done.").confirms(&missing("Create `beta.txt`", "beta.txt"), NO_FILE);
    plan(TWO).says("Done.").confirms(&missing("create beta.txt", "beta.txt"), NO_FILE);
}

#[test]
fn an_invented_quote_is_not_found() {
    let reason = "quote not found in the plan or the final message";
    plan(TWO).says("Done.").doubts(&missing("Create the gamma module", "beta.txt"), reason);
    plan(TWO).says("Done.").doubts(&missing("", "beta.txt"), reason);
    plan(TWO).says("Done.").doubts(&missing("a", "beta.txt"), reason);
}

#[test]
fn a_file_that_exists_refutes() {
    plan(TWO)
        .says("Done.")
        .on_disk("beta.txt", "x")
        .refutes(&missing("Create `beta.txt`", "beta.txt"), "the file exists");
}

#[test]
fn a_real_quote_with_an_invented_path_proves_nothing() {
    plan(TWO).says("Done.").doubts(
        &missing("Create `beta.txt`", "src/never_mentioned.rs"),
        "nobody promised a file of that name",
    );
}

#[test]
fn a_path_outside_and_a_temporary_one_are_nobodys_business() {
    let outside = "path is outside the workspace";
    plan(TWO).says("Done.").doubts(&missing("Create `beta.txt`", "/etc/passwd"), outside);
    plan(TWO).says("Done.").doubts(&missing("Create `beta.txt`", "../x"), outside);
    plan(TWO).says("Done.").doubts(
        &missing("Create `beta.txt`", "/tmp/beta.txt"),
        "scratch: a temporary folder is nobody's promise",
    );
}

#[test]
fn a_workspace_in_a_temporary_folder_is_not_scratch() {
    let case = plan(TWO).says("Done.");
    let absolute = missing("Create `beta.txt`", "/tmp/w/beta.txt");
    let inside =
        Look { name: "beta.txt".into(), state: FileState::Missing { elsewhere: None }, holds_needle: None };
    let found = verify(&Verdict { findings: vec![absolute] }, &[Some(inside)], &case.evidence, Vec::new());
    assert_eq!((found[0].status, found[0].verifier.as_str()), (Status::Confirmed, NO_FILE));
}

#[test]
fn what_was_done_on_another_machine_can_not_be_seen() {
    plan(TWO).says("Done.").ran("ssh box 'touch beta.txt'", CommandEnd::Succeeded).doubts(
        &missing("Create `beta.txt`", "beta.txt"),
        "remote: the session worked on it on another machine",
    );
}

#[test]
fn what_was_removed_on_purpose_is_scratch() {
    plan(TWO).says("Done.").ran("rm beta.txt", CommandEnd::Succeeded).doubts(
        &missing("Create `beta.txt`", "beta.txt"),
        "scratch: the session removed or moved it on purpose",
    );
}

#[test]
fn an_open_step_that_nobody_claims_is_no_finding() {
    let open = "- [x] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    let proposal = missing("Create `beta.txt`", "beta.txt");
    plan(open)
        .says("Step 1 is written. Step 2 next?")
        .refutes(&proposal, "the step is open and nobody claims that it is done");
    plan(open).says("All steps are done.").confirms(&proposal, NO_FILE);
    plan(open).says("I created beta.txt as planned earlier.").confirms(&proposal, NO_FILE);
}

#[test]
fn a_tick_from_before_the_session_is_not_its_claim() {
    plan(TWO)
        .ticked_before(2)
        .says("I fixed the typo.")
        .doubts(&missing("Create `beta.txt`", "beta.txt"), "the step was ticked before this session");
}

#[test]
fn an_abandoned_step_is_no_claim() {
    plan("- [x] Create `alpha.txt`\n- [ ] ~~Create `beta.txt`~~\n")
        .says("All steps are done.")
        .refutes(&missing("Create `beta.txt`", "beta.txt"), "the plan marks the step as abandoned");
}

#[test]
fn a_claim_of_the_final_message_counts_without_a_plan() {
    let proposal = missing("I wrote beta.txt", "beta.txt");
    no_plan().says("I wrote beta.txt and tidied up.").confirms(&proposal, NO_FILE);
    no_plan()
        .says("I wrote beta.txt and tidied up.")
        .on_disk("beta.txt", "x")
        .refutes(&proposal, "the file exists");
    let planned = missing("I will write beta.txt", "beta.txt");
    no_plan().says("I will write beta.txt next.").refutes(&planned, "the final message does not claim it");
}

#[test]
fn content_is_looked_for_in_the_whole_file() {
    let lacks = |needle: &str| {
        proposal(Category::A, Problem::MissingContent, "Add `--json` to `cli.rs`", "cli.rs", needle)
    };
    let case = || plan("- [x] Add `--json` to `cli.rs`\n").says("Done.");
    case().on_disk("cli.rs", "fn main() {}").confirms(&lacks("--json"), "the file does not hold `--json`");
    case().on_disk("cli.rs", "arg(\"--json\")").refutes(&lacks("--json"), "the file holds `--json`");
    case().on_disk("cli.rs", "x").doubts(&lacks("fn parse_json_flag("), "nobody promised that exact text");
    case().on_disk("cli.rs", "x").doubts(&lacks(""), "it names no text to look for");
    case().confirms(&lacks("--json"), NO_FILE);
    let unseen = Look { name: "cli.rs".into(), state: FileState::File { bytes: 9 }, holds_needle: None };
    let verdict = Verdict { findings: vec![lacks("--json")] };
    let found = verify(&verdict, &[Some(unseen)], &case().evidence, Vec::new());
    assert_eq!(found[0].verifier, "file was cut, or can't be read as text");
}

#[test]
fn a_command_is_judged_by_its_last_run() {
    let proposal = proposal(Category::A, Problem::FailedCommand, "The tests pass", "", "cargo test");
    let case = || no_plan().says("The tests pass now.");
    case()
        .ran("cargo test --all", CommandEnd::Failed(Some(101)))
        .confirms(&proposal, "the command ended with exit code 101 when it was run last");
    case()
        .ran("cargo test", CommandEnd::Failed(Some(101)))
        .ran("cargo test", CommandEnd::Succeeded)
        .refutes(&proposal, "the command succeeded when it was run last");
    case().doubts(&proposal, "no such command in the session");
    case()
        .ran("cargo test", CommandEnd::Background)
        .doubts(&proposal, "how the command ended is not recorded");
}

#[test]
fn no_trace_needs_something_to_look_at() {
    let bare = proposal(Category::A, Problem::NoTrace, "Create `beta.txt`", "", "");
    plan(TWO).says("Done.").doubts(&bare, "it names nothing that disk or session could show");
    let named = proposal(Category::A, Problem::NoTrace, "Create `beta.txt`", "beta.txt", "");
    plan(TWO).says("Done.").confirms(&named, NO_FILE);
    plan(TWO)
        .says("Done.")
        .on_disk("beta.txt", "x")
        .touched("beta.txt", 1)
        .refutes(&named, "the session did touch it");
    plan(TWO)
        .says("Done.")
        .on_disk("beta.txt", "x")
        .doubts(&named, "the file exists, and only its content could tell");
}

#[test]
fn work_that_the_plan_does_not_mention_must_be_real() {
    let extra = proposal(Category::B, Problem::NotInPlan, "", "src/extra.rs", "");
    let case = || plan(TWO).says("Done.").on_disk("src/extra.rs", "x");
    case()
        .touched("src/extra.rs", 1)
        .confirms(&extra, "the session changed it, and no step names it or its folder");
    case().refutes(&extra, "the session did not change it");
    plan("- [ ] work on `src/` only\n")
        .on_disk("src/extra.rs", "x")
        .touched("src/extra.rs", 1)
        .refutes(&extra, "the plan mentions it");
    no_plan().on_disk("src/extra.rs", "x").touched("src/extra.rs", 1).refutes(&extra, "no plan was in play");
    let lock = proposal(Category::B, Problem::NotInPlan, "", "Cargo.lock", "");
    plan(TWO).on_disk("Cargo.lock", "x").touched("Cargo.lock", 1).refutes(&lock, "it is generated");
}

#[test]
fn an_unfinished_plan_is_normal() {
    let step = proposal(Category::C, Problem::NoTrace, "Create `beta.txt`", "", "");
    let open = "- [x] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    plan(open)
        .says("Step 1 is in. Shall I go on?")
        .refutes(&step, "the session does not say that it is finished: an unfinished plan is normal");
    plan(open)
        .says("All done.")
        .confirms(&step, "the session says that it is over, and nothing in it touched the step's files");
    plan(open)
        .says("All done.")
        .on_disk("beta.txt", "x")
        .touched("beta.txt", 1)
        .refutes(&step, "the session did touch it");
    plan(TWO).says("All done.").doubts(&step, "the step is ticked: done or not, it is not abandoned");
    plan(open).says("All done.").doubts(
        &proposal(Category::C, Problem::NoTrace, "Write the gamma docs", "", ""),
        "quote not found in the plan's steps",
    );
}

#[test]
fn an_abandoned_step_without_files_needs_the_sessions_own_word() {
    let step = proposal(Category::C, Problem::NoTrace, "Migrate the user table", "", "");
    let open = "1. Migrate the user table\n2. Update docs\n";
    plan(open)
        .says("Everything is done. I skipped the user table migration.")
        .confirms(&step, "the final message says that the step was left or replaced");
    plan(open)
        .says("Everything is done.")
        .doubts(&step, "the step names no file, and the final message does not speak of it");
}

#[test]
fn a_task_must_be_on_the_list_and_like_no_step() {
    let task = proposal(Category::D, Problem::NotInPlan, "Rewrite the login page", "", "");
    plan(TWO)
        .todo("Rewrite the login page")
        .confirms(&task, "it is on the task list, and no step is like it");
    plan(TWO).doubts(&task, "quote not found in the task list");
    plan("1. Rewrite the login page in Svelte\n")
        .todo("Rewrite the login page")
        .refutes(&task, "step 1 of the plan covers it");
}

#[test]
fn an_ask_must_be_the_persons_and_come_to_nothing() {
    let ask = proposal(Category::Ask, Problem::NoTrace, "also update the changelog", "CHANGELOG.md", "");
    let case = || plan(TWO).asked("make it", 1).asked("also update the changelog", 5);
    case().says("Done.").confirms(&ask, "the person asked for it, and nothing was done after it");
    case().touched("alpha.txt", 9).doubts(&ask, "work was done after it; nothing shows whether it was this");
    case().on_disk("CHANGELOG.md", "x").touched("CHANGELOG.md", 9).refutes(&ask, "the session did touch it");
    plan(TWO).asked("make it", 1).doubts(&ask, "quote not found in what the person asked");
    let question = proposal(Category::Ask, Problem::NoTrace, "what does this do?", "", "");
    plan(TWO)
        .asked("what does this do?", 1)
        .doubts(&question, "it is a question: an answer is no work that could be seen");
}

#[test]
fn one_thing_said_twice_becomes_one_finding() {
    let case = plan(TWO).says("Done.");
    let proposals = vec![
        missing("Create `beta.txt`", "beta.txt"),
        proposal(Category::A, Problem::NoTrace, "create beta.txt", "beta.txt", ""),
    ];
    let facts = crate::facts::facts(&case.evidence, &crate::config::Config::default().audit).findings;
    assert_eq!(facts.iter().filter(|fact| fact.path.as_deref() == Some("beta.txt")).count(), 1);
    let looks: Vec<_> = proposals.iter().map(|proposal| case.look(proposal)).collect();
    let found = verify(&Verdict { findings: proposals }, &looks, &case.evidence, facts);
    let beta: Vec<_> = found.iter().filter(|finding| finding.path.as_deref() == Some("beta.txt")).collect();
    assert_eq!((beta.len(), beta[0].source), (1, Source::Both));
}

#[test]
fn what_the_person_called_off_is_nobodys_drift() {
    let case = plan("- [ ] Create `alpha.txt`\n- [ ] Create `beta.txt`\n")
        .asked("Forget beta.txt, we do not need it.", 5)
        .says("All done.");
    let abandoned = proposal(Category::C, Problem::NoTrace, "Create `beta.txt`", "beta.txt", "");
    case.refutes(&missing("Create `beta.txt`", "beta.txt"), "the person called it off");
    case.refutes(&abandoned, "the person called it off");
}

#[test]
fn what_the_final_message_admits_is_no_false_claim() {
    let open = "- [ ] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    let beta = missing("Create `beta.txt`", "beta.txt");
    plan(open)
        .says("I did not create beta.txt: the API changed. All the steps are done otherwise.")
        .doubts(&beta, "the final message says itself that it was not done");
    plan(open)
        .says("Step 1 is done and all tests pass.")
        .refutes(&beta, "the step is open and nobody claims that it is done");
}

#[test]
fn a_file_that_is_only_named_somewhere_is_not_promised() {
    let reason = "nobody promised a file of that name";
    let open = "- [ ] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    plan(open).says("I created alpha.txt.").doubts(&missing("I created alpha.txt.", "beta.txt"), reason);
    plan("- [x] Create `alpha.txt`\n\nLater perhaps `gamma.txt`.\n")
        .says("All done.")
        .doubts(&missing("Create `alpha.txt`", "gamma.txt"), reason);
    plan("- [x] Create `alpha.txt`, do not create `beta.txt`\n")
        .says("All done.")
        .doubts(&missing("create `beta.txt`", "beta.txt"), reason);
    no_plan().says("Removed `legacy.js`.").doubts(&missing("Removed `legacy.js`.", "legacy.js"), reason);
    no_plan().says("Pushed the image `acme/web`.").doubts(&missing("Pushed the image", "acme/web"), reason);
}

#[test]
fn a_list_of_files_under_all_done_claims_them() {
    let list = "Done! Created:\n\n- `alpha.txt` – letters\n- `beta.txt` – more letters\n";
    no_plan().says(list).confirms(&missing("`beta.txt` – more letters", "beta.txt"), NO_FILE);
    let table = "| File | What |\n|---|---|\n| `beta.txt` | more |\n\nAll done!";
    no_plan().says(table).confirms(&missing("| `beta.txt` | more |", "beta.txt"), NO_FILE);
}

fn lacks(quote: &str, path: &str, needle: &str) -> Proposal {
    proposal(Category::A, Problem::MissingContent, quote, path, needle)
}

#[test]
fn content_in_another_form_is_not_missing() {
    let reason = "the file holds it in another form, or another file of the session does";
    plan("- [x] Add a `--verbose` flag to `cli.rs`\n")
        .says("All done.")
        .on_disk("cli.rs", "#[arg(long)] verbose: bool")
        .doubts(&lacks("Add a `--verbose` flag", "cli.rs", "--verbose"), reason);
    plan("- [x] Add `validate()` to `a.rs`\n")
        .says("All done.")
        .on_disk("a.rs", "mod check;")
        .on_disk("a/check.rs", "fn validate() {}")
        .touched("a/check.rs", 2)
        .doubts(&lacks("Add `validate()` to `a.rs`", "a.rs", "validate()"), reason);
    plan("- [x] Add installation notes to `README.md`\n")
        .says("All done.")
        .on_disk("README.md", "Setup")
        .doubts(
            &lacks("Add installation notes", "README.md", "installation"),
            "nobody promised that exact text",
        );
    plan("- [x] Add a `## Usage` section to `README.md`\n")
        .says("All done.")
        .on_disk("README.md", "The usage is simple.")
        .confirms(
            &lacks("Add a `## Usage` section", "README.md", "## Usage"),
            "the file does not hold `## Usage`",
        );
}

#[test]
fn a_failure_that_was_made_good_or_is_none_is_not_confirmed() {
    let failed = CommandEnd::Failed(Some(1));
    let claim = |needle: &str| proposal(Category::A, Problem::FailedCommand, "All tests pass.", "", needle);
    no_plan()
        .says("All tests pass.")
        .ran("npm test", failed)
        .ran("npx vitest run", CommandEnd::Succeeded)
        .doubts(&claim("npm test"), "another check of that kind succeeded after it");
    no_plan()
        .says("All tests pass.")
        .ran("npm test", failed)
        .ran("npm run build", CommandEnd::Succeeded)
        .confirms(&claim("npm test"), "the command ended with exit code 1 when it was run last");
    no_plan().says("All tests pass.").ran("grep -rn old_name src", failed).doubts(
        &claim("grep -rn old_name src"),
        "the command only looks: that it found nothing is no failure",
    );
    no_plan()
        .says("All tests pass.")
        .ran("npm run tools", CommandEnd::Succeeded)
        .ran("ls", failed)
        .refutes(&claim("npm run tools"), "the command succeeded when it was run last");
}

#[test]
fn a_step_to_look_at_a_file_or_one_that_a_command_may_have_done_is_not_abandoned() {
    let left = |quote: &str| proposal(Category::C, Problem::NoTrace, quote, "a.rs", "");
    let reason = "the step promises no change of its files";
    plan("1. Review `a.rs`\n").says("All done.").on_disk("a.rs", "x").doubts(&left("Review `a.rs`"), reason);
    plan("## Critical files\n- `a.rs`: the pattern\n")
        .says("All done.")
        .on_disk("a.rs", "x")
        .doubts(&left("`a.rs`: the pattern"), reason);
    plan("1. Set up `a.rs`\n")
        .says("All done.")
        .on_disk("a.rs", "x")
        .ran("cargo init .", CommandEnd::Succeeded)
        .doubts(&left("Set up `a.rs`"), "a command of the session may have changed it");
}

#[test]
fn what_the_person_asked_for_and_what_goes_along_with_any_work_needs_no_step() {
    let two = || plan(TWO).says("All done.");
    let added = |path: &str| proposal(Category::B, Problem::NotInPlan, "", path, "");
    let todo = |text: &str| proposal(Category::D, Problem::NotInPlan, text, "", "");
    two()
        .on_disk("NOTES.md", "x")
        .touched("NOTES.md", 3)
        .asked("Also write NOTES.md", 2)
        .refutes(&added("NOTES.md"), "the person asked for it");
    two()
        .on_disk("package.json", "x")
        .touched("package.json", 3)
        .doubts(&added("package.json"), "it goes along with almost any work");
    two().todo("Run the linter and fix it").doubts(&todo("Run the linter"), "it is a chore of any work");
    two()
        .todo("Add telemetry module")
        .asked("Please also add a telemetry module", 2)
        .refutes(&todo("Add telemetry module"), "the person asked for it");
}

#[test]
fn an_ask_that_words_a_look_or_another_tool_can_settle_is_not_undone() {
    let ask = |quote: &str, path: &str| proposal(Category::Ask, Problem::NoTrace, quote, path, "");
    no_plan()
        .asked("explain how the parser works", 5)
        .doubts(&ask("explain how the parser works", ""), "words can answer it");
    let mut filed = no_plan().asked("file an issue for the flaky test", 5);
    filed.evidence.session.last_call = 7;
    filed.doubts(
        &ask("file an issue for the flaky test", ""),
        "tools were used after it; nothing shows whether for this",
    );
    no_plan()
        .asked("use src/a.rs as a template and add src/b.rs", 5)
        .on_disk("src/a.rs", "x")
        .on_disk("src/b.rs", "x")
        .touched("src/b.rs", 6)
        .doubts(
            &ask("use src/a.rs as a template", "src/a.rs"),
            "work was done after it; nothing shows whether it was this",
        );
}

#[test]
fn a_quote_that_leaves_out_its_middle_is_found() {
    let case = plan("1. Create `beta.txt` with the parser notes,\n   the limits and **all** known bugs\n")
        .says("All steps are done.");
    for quote in ["Create `beta.txt` … all known bugs", "Create `beta.txt` with [...] the limits"] {
        case.confirms(&missing(quote, "beta.txt"), NO_FILE);
    }
    let reason = "quote not found in the plan or the final message";
    case.doubts(&missing("all known bugs … Create `beta.txt`", "beta.txt"), reason);
    case.doubts(&missing("Create `beta.txt` … of the lexer", "beta.txt"), reason);
}
