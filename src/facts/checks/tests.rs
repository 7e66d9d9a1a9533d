use super::*;
use crate::config::Config;
use crate::evidence::Repository;
use crate::plan::{Plan, PlanSource, steps::parse_steps};
use crate::session::{
    Change, CommandEnd, Delegation, EditTool, Forgotten, Original, OtherCall, Outcome, Touch,
};

/// A session in the making: each thing done gets the next number.
#[derive(Default)]
struct Scene {
    session: Session,
    repository: Option<Repository>,
    plan: Option<Plan>,
}

impl Scene {
    fn next(&mut self) -> usize {
        self.session.rows += 1;
        self.session.rows
    }

    fn ran(mut self, line: &str, code: i32, output: &str) -> Self {
        let end = if code == 0 { CommandEnd::Succeeded } else { CommandEnd::Failed(Some(code)) };
        let at = self.next();
        self.session.commands.push(Command {
            line: line.into(),
            at,
            end,
            output: output.into(),
            agent: None,
        });
        self
    }

    fn by_helper(mut self) -> Self {
        let last = self.session.commands.last_mut().expect("a command");
        last.agent = Some("helper".into());
        self
    }

    fn ended(mut self, end: CommandEnd) -> Self {
        self.session.commands.last_mut().expect("a command").end = end;
        self
    }

    fn forgotten(mut self) -> Self {
        let until = self.next();
        self.session.forgotten = Forgotten { commands: true, until, ..Forgotten::default() };
        self
    }

    fn edited(self, path: &str) -> Self {
        self.wrote(path, "x")
    }

    fn wrote(mut self, path: &str, text: &str) -> Self {
        let at = self.next();
        self.session.touches.push(Touch {
            path: path.into(),
            tool: EditTool::Write,
            at,
            outcome: Outcome::Done,
            original: Original::Unknown,
            agent: None,
            change_at: None,
            change: Some(Change { old: String::new(), new: text.into() }),
        });
        self
    }

    fn called(mut self, tool: &str) -> Self {
        let at = self.next();
        self.session.other_calls.push(OtherCall { tool: tool.into(), at });
        self
    }

    fn delegated(mut self) -> Self {
        let at = self.next();
        let outcome = Outcome::Done;
        self.session.delegations.push(Delegation {
            description: "x".into(),
            agent_type: "general-purpose".into(),
            outcome,
            at,
        });
        self
    }

    fn planned(mut self, plan: &str) -> Self {
        self.plan = Some(Plan {
            source: PlanSource::TouchedFile,
            path: None,
            steps: parse_steps(plan),
            text: plan.into(),
            dropped: Vec::new(),
            ticked_before: Vec::new(),
        });
        self
    }

    fn committed_at(mut self, started: &str, last_commit: i64) -> Self {
        self.session.started = Some(started.into());
        self.repository = Some(Repository {
            last_commit: Some(last_commit),
            changed: vec!["a.rs".into()],
            committed: Vec::new(),
        });
        self
    }

    fn says(mut self, message: &str) -> (Vec<Finding>, Vec<Advisory>) {
        self.session.final_message = Some(message.into());
        let evidence = Evidence {
            plan: self.plan,
            session: self.session,
            files: Vec::new(),
            deeds: Vec::new(),
            todo_paths: Vec::new(),
            repository: self.repository,
        };
        findings(&evidence, &Config::default().audit)
    }

    fn problems(self, message: &str) -> Vec<Problem> {
        self.says(message).0.into_iter().map(|finding| finding.problem).collect()
    }

    fn kinds(self, message: &str) -> Vec<AdvisoryKind> {
        let (findings, advisories) = self.says(message);
        assert_eq!(findings, Vec::new(), "{message}");
        advisories.into_iter().map(|advisory| advisory.kind).collect()
    }

    fn stays_quiet(self, message: &str) {
        let (findings, advisories) = self.says(message);
        assert!(findings.is_empty() && advisories.is_empty(), "{message}: {findings:?} {advisories:?}");
    }
}

fn scene() -> Scene {
    Scene::default()
}

#[test]
fn tests_that_failed_last_are_no_pass() {
    let (findings, advisories) =
        scene().edited("/w/a.js").ran("npm test", 1, "").says("Done. All tests pass.");
    assert_eq!(advisories, Vec::new());
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(finding.category, Category::A);
    assert_eq!(finding.status, Status::Confirmed);
    assert_eq!(finding.problem, Problem::FailedCommand);
    assert_eq!(finding.quote, "All tests pass.");
    assert_eq!(finding.evidence, ["`npm test` ended with exit code 1"]);
}

#[test]
fn failures_however_they_show() {
    let failed = [Problem::FailedCommand];
    for (line, code, output) in [
        ("cd web && npm test", 1, ""),
        ("pytest -q | tail -5", 0, "1 failed, 5 passed in 0.1s"),
        ("pytest || true", 0, "=== 1 failed, 5 passed in 0.1s ==="),
        ("npm test 2>&1 | tee log", 0, "Tests:       1 failed, 5 passed, 6 total"),
        ("cargo test; echo done", 0, "test result: FAILED. 1 passed; 1 failed"),
        ("go test ./...", 0, "--- FAIL: TestA (0.00s)\nFAIL"),
        ("timeout 60 bash -c 'npm test'", 1, ""),
        ("docker compose run --rm app pytest", 1, ""),
        ("npm run lint && npm test", 1, "Tests:       1 failed, 5 passed, 6 total"),
    ] {
        assert_eq!(scene().ran(line, code, output).problems("All tests pass."), failed, "{line}");
    }
    assert_eq!(scene().ran("cargo build", 101, "").problems("The build passes."), failed);
    assert_eq!(
        scene()
            .ran("npx tsc --noEmit | head", 0, "a.ts(1,1): error TS2322: x")
            .problems("Type checks: clean"),
        failed
    );
    assert_eq!(scene().ran("npx eslint .", 1, "").problems("No lint errors."), failed);
    assert_eq!(scene().ran("git push", 1, "").problems("Pushed to origin."), failed);
    assert_eq!(
        scene().ran("cargo build", 101, "").ran("cargo test", 101, "").problems("The build passes."),
        failed
    );
    assert_eq!(scene().ran("bd sync && git push", 1, "").problems("Pushed."), failed);
    assert_eq!(scene().ran("git add . && git commit -m x", 1, "").problems("Committed."), failed);
    assert_eq!(scene().ran("npm test", 1, "").ran("x --help", 0, "").problems("All tests pass."), failed);
    assert_eq!(scene().ran("git commit -m x", 1, "hook failed").problems("Committed the changes."), failed);
}

#[test]
fn a_failure_made_good_is_none() {
    for (first, then) in [
        ("npm test", "npm test"),
        ("npm test", "npx vitest run"),
        ("pytest", "python -m pytest -q"),
        ("cargo test --lib", "cargo test"),
        ("pytest", "pytest tests/test_a.py"),
    ] {
        scene().ran(first, 1, "").ran(then, 0, "").stays_quiet("All tests pass.");
    }
    // What failed is what was run again.
    scene()
        .ran("pytest", 1, "FAILED tests/test_a.py::test_x - assert")
        .ran("pytest tests/test_a.py", 0, "1 passed in 0.1s")
        .stays_quiet("All tests pass.");
    // And what is plainly something else is not.
    let problems = scene()
        .ran("pytest", 1, "FAILED tests/test_b.py::test_x - assert")
        .ran("pytest tests/test_a.py", 0, "tests/test_a.py . 1 passed in 0.1s")
        .problems("All tests pass.");
    assert_eq!(problems, [Problem::FailedCommand]);
}

#[test]
fn a_pass_of_something_else_makes_nothing_good() {
    let failed = "FAIL join_path with a space";
    for (first, output, then) in [
        ("go test ./internal/format/...", "FAIL", "go test ./internal/report/..."),
        ("pytest tests/test_a.py", "", "pytest tests/test_b.py"),
        ("cargo test -p core", "", "cargo test -p web"),
        ("npm --prefix web test", "", "npm --prefix api test"),
        ("pnpm --filter web test", "", "pnpm --filter api test"),
        ("yarn workspace web test", "", "yarn workspace api test"),
        ("cd web && npm test", "", "cd ../api && npm test"),
        ("cd /w && go test ./a", "", "cd /w && go test ./b"),
        ("gradle :app:test", "", "gradle :lib:test"),
        ("make test", failed, "sh test/copy_test.sh && echo copy ok"),
    ] {
        let scene = scene().ran(first, 1, output).ran(then, 0, "ok");
        assert_eq!(scene.problems("All tests pass."), [Problem::FailedCommand], "{first}, then {then}");
    }
    for (first, output, then) in [
        ("go test ./internal/format/...", "FAIL", "go test ./..."),
        ("go test ./internal/format/...", "FAIL", "go test ./internal/..."),
        ("pytest tests/test_a.py::test_x", "", "pytest tests/test_a.py"),
        ("pytest tests/test_a.py", "", "pytest -q"),
        ("pytest -k a", "", "pytest tests/test_b.py"),
        ("pytest --tb short", "", "pytest tests/test_b.py"),
        ("jest slug", "", "npx jest src/slug.test.ts"),
        ("cargo test parser", "", "cargo test lexer"),
        ("cd web && npm test", "", "npm test"),
        ("cd web && npm test", "", "cd /w/web && npx vitest run"),
        ("cd web && npm test; cd ../api && npm test", "1 failed", "cd web && npm test"),
        ("pytest test/a.py", "ERROR: file or directory not found: test/a.py", "pytest tests/b.py"),
        ("make test", "", "sh test/copy_test.sh"),
        ("npm test", "", "npm run test:unit"),
    ] {
        scene().ran(first, 1, output).ran(then, 0, "ok").stays_quiet("All tests pass.");
    }
    // Of several that failed, each has to be made good.
    let both = scene().ran("go test ./a", 1, "").ran("go test ./b", 1, "").ran("go test ./b", 0, "");
    assert_eq!(both.problems("All tests pass."), [Problem::FailedCommand]);
}

#[test]
fn words_that_name_no_kind_are_only_spoken_against_by_a_failure() {
    let doc_test = scene().ran("cargo test", 101, "test result: FAILED. 1 passed; 1 failed;");
    assert_eq!(doc_test.problems("Everything passes."), [Problem::FailedCommand]);
    scene().edited("/w/a.rs").stays_quiet("Everything passes.");
    scene().edited("/w/a.rs").stays_quiet("The proxy is deployed to staging.");
    let applied = scene().ran("terraform -chdir=infra apply -auto-approve", 1, "Error: quota exceeded");
    assert_eq!(applied.problems("The proxy is deployed to staging 🚀"), [Problem::FailedCommand]);
}

#[test]
fn of_several_deeds_the_one_that_is_meant_counts() {
    let hook = "hook: lint failed";
    scene()
        .ran("git commit -am x", 1, hook)
        .ran("git commit -am x", 0, "")
        .stays_quiet("Committed the changes.");
    let second = scene().ran("git commit -am x", 0, "").ran("git commit -am y", 1, hook);
    assert_eq!(second.problems("Committed the changes."), [Problem::FailedCommand]);
    let pushes =
        || scene().ran("git push origin main", 0, "").ran("git push origin v1.2", 1, "error: failed to push");
    pushes().stays_quiet("I pushed the changes to main.");
    assert_eq!(pushes().problems("I pushed the changes and the tag v1.2."), [Problem::FailedCommand]);
    let installs = || scene().ran("npm install left", 0, "").ran("npm install right", 1, "");
    installs().stays_quiet("Installed `left`.");
    assert_eq!(installs().problems("Installed `right`."), [Problem::FailedCommand]);
    scene()
        .ran("gh pr create --fill", 1, "gh: not logged in")
        .ran("hub pull-request -m x", 0, "https://x.y/a/b/pull/1")
        .stays_quiet("Opened PR #1.");
    let refused = scene().ran("gh pr create --fill", 1, "gh: not logged in");
    assert_eq!(refused.problems("Opened PR #1."), [Problem::FailedCommand]);
}

#[test]
fn a_step_and_a_sentence_that_claim_the_same_are_one_finding() {
    let built = |plan: &str, message: &str| {
        let (findings, _) = scene().edited("/w/a.ts").ran("npm run build", 2, "").planned(plan).says(message);
        let [finding] = findings.as_slice() else { panic!("{findings:?}") };
        (finding.step, finding.quote.clone())
    };
    let sentence = "The project builds cleanly.".to_owned();
    let ticked = "- [x] Types\n- [x] `npm run build` passes\n";
    assert_eq!(built(ticked, &sentence), (Some(2), sentence.clone()));
    assert_eq!(built(ticked, "Hello."), (Some(2), "`npm run build` passes".to_owned()));
    let open = "1. Types\n2. Run `npm run build`\n";
    assert_eq!(built(open, &sentence), (Some(2), sentence.clone()));
    assert_eq!(built(open, "Both steps of the plan are done."), (Some(2), "Run `npm run build`".to_owned()));
    let twice = "1. Run `npm run build`\n2. Run `npm run build`\n";
    assert_eq!(built(twice, &sentence), (None, sentence));
}

#[test]
fn what_is_admitted_or_of_a_part_is_not_held() {
    scene().ran("npm test", 1, "").stays_quiet("2 tests still fail. All other tests pass.");
    scene().ran("npx jest slug", 0, "").ran("npm test", 1, "").stays_quiet("The slug tests pass.");
    scene().ran("npm test", 1, "").stays_quiet("I added the flag.");
}

#[test]
fn a_failure_that_may_be_anothers_is_left() {
    scene().ran("npm run lint && npm test", 1, "").stays_quiet("All tests pass.");
    scene().ran("npm test | grep foo", 1, "").stays_quiet("All tests pass.");
    scene().ran("make check", 2, "").stays_quiet("All tests pass.");
    scene().ran("npm test", 143, "").stays_quiet("All tests pass.");
    scene().ran("npm test", 1, "").ran("./ci.sh", 0, "").stays_quiet("All tests pass.");
    scene().ran("npm test", 1, "").called("mcp__ci__run").stays_quiet("All tests pass.");
    scene()
        .ran("npm test", 1, "")
        .ran("npm test", 0, "")
        .ended(CommandEnd::Background)
        .stays_quiet("All tests pass.");
    scene().ran("npm test", 1, "").ran("npm test", 0, "").by_helper().stays_quiet("All tests pass.");
    let refused = scene().ran("npm test", 1, "The user doesn't want to proceed with this tool use.");
    assert_eq!(refused.ended(CommandEnd::Failed(None)).kinds("All tests pass."), [AdvisoryKind::UnrunTests]);
}

#[test]
fn checks_that_never_ran_are_told() {
    assert_eq!(
        scene().edited("/w/a.rs").ran("ls", 0, "").kinds("All tests pass."),
        [AdvisoryKind::UnrunTests]
    );
    assert_eq!(scene().edited("/w/a.rs").kinds("The build passes."), [AdvisoryKind::UnrunBuild]);
    assert_eq!(
        scene().edited("/w/a.rs").kinds("Lint is clean and type checks pass."),
        [AdvisoryKind::UnrunLint]
    );
    for line in [
        "pytest || true",
        "pytest || echo x",
        "pytest; true",
        "! pytest",
        "echo '5 passed'",
        "cat test.log",
        "pytest --collect-only",
        "sh -n bin/x.sh && echo 'all tests passed'",
        "php -l a.php",
    ] {
        assert_eq!(scene().ran(line, 0, "").kinds("All tests pass."), [AdvisoryKind::UnrunTests], "{line}");
    }
    let gutted = scene().wrote("/w/package.json", r#"{"scripts":{"test":"exit 0"}}"#).ran("npm test", 0, "");
    assert_eq!(gutted.kinds("All tests pass."), [AdvisoryKind::UnrunTests]);
}

#[test]
fn what_may_have_run_unseen_is_not_told() {
    scene().ran("./ci.sh", 0, "").stays_quiet("All tests pass.");
    scene().ran("make all", 0, "").stays_quiet("All tests pass.");
    scene().ran("python -c 'x'", 0, "").stays_quiet("All tests pass.");
    scene().called("mcp__ci__run").stays_quiet("All tests pass.");
    scene().delegated().stays_quiet("All tests pass.");
    scene().ran("ssh host pytest", 0, "").stays_quiet("All tests pass.");
    scene().ran("pytest | tail -5", 0, "").stays_quiet("All tests pass.");
    scene().ran("tsc | tail -5", 0, "x").stays_quiet("Type checks pass.");
    let silent = scene().ran("pytest | tail -5", 0, "collected 5 items");
    assert_eq!(silent.kinds("All tests pass."), [AdvisoryKind::UnrunTests]);
    scene().ran("pytest | tail -5", 0, "5 passed in 0.1s").stays_quiet("All tests pass.");
    scene().stays_quiet("All CI checks pass.");
}

#[test]
fn checks_before_the_last_edit_are_told() {
    let stale = scene().edited("/w/a.rs").ran("cargo test", 0, "").edited("/w/a.rs");
    assert_eq!(stale.kinds("All tests pass."), [AdvisoryKind::StaleTests]);
    for path in ["/w/README.md", "/w/CHANGELOG.md", "/w/docs/plan.md", "/w/notes.txt"] {
        scene().edited("/w/a.rs").ran("cargo test", 0, "").edited(path).stays_quiet("All tests pass.");
    }
    scene().edited("/w/a.rs").ran("cargo test", 0, "").stays_quiet("All tests pass and it builds cleanly.");
    scene().ran("cargo test", 0, "").edited("/w/a.rs").ran("./ci.sh", 0, "").stays_quiet("All tests pass.");
}

#[test]
fn where_the_config_says_so_they_are_findings() {
    let mut config = Config::default().audit;
    config.unrun_checks = UnrunChecks::Block;
    let mut session = scene().edited("/w/a.rs").session;
    session.final_message = Some("All tests pass.".into());
    let evidence = Evidence {
        plan: None,
        session,
        files: Vec::new(),
        deeds: Vec::new(),
        todo_paths: Vec::new(),
        repository: None,
    };
    let (findings, advisories) = findings(&evidence, &config);
    assert!(advisories.is_empty());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].problem, Problem::NoTrace);
}

#[test]
fn deeds_without_a_trace() {
    for message in [
        "Committed as `abc1234`.",
        "Changes are pushed.",
        "Opened PR #12.",
        "Filed issue #12.",
        "Deployed to staging.",
        "I installed the dependencies.",
    ] {
        assert_eq!(
            scene().edited("/w/a.rs").ran("ls", 0, "").problems(message),
            [Problem::NoTrace],
            "{message}"
        );
    }
}

#[test]
fn deeds_with_a_trace_or_a_doubt() {
    for (line, message) in [
        ("git commit -m x", "Committed the changes."),
        ("git -C a -c b=c commit -m x", "Committed the changes."),
        ("git add . && git commit -m x && git push", "Committed and pushed."),
        ("git commit -m x 2>&1 | tail -3", "Committed the changes."),
        ("git push 2>&1 | tail -1", "Pushed."),
        ("gh pr create --fill", "Opened PR #12."),
        ("gt submit", "Opened a PR."),
        ("gh issue create -t x", "Filed issue #12."),
        ("npm run release", "Committed and pushed."),
        ("make ship", "Pushed."),
        ("git ship", "Pushed."),
        ("rtk git add a && rtk git commit -m x", "Committed: `x` — 3 files changed."),
        ("python3 -c 'import os; os.system(\"git push\")'", "Pushed."),
        ("vercel --prod", "Deployed to production."),
        ("git push", "Deployed to staging."),
        ("scp a host:b", "Deployed to the server."),
        ("npm ci", "Installed the dependencies."),
        ("cargo build", "Installed the dependencies."),
    ] {
        scene().ran(line, 0, "").stays_quiet(message);
    }
    scene().called("mcp__github__create_pull_request").stays_quiet("Opened PR #12.");
    scene()
        .edited("/w/a.rs")
        .committed_at("2026-01-01T00:00:00Z", 1_767_225_700)
        .stays_quiet("Committed the changes.");
    let before = scene().edited("/w/a.rs").committed_at("2026-01-01T00:00:00Z", 1_767_225_500);
    assert_eq!(before.problems("Committed the changes."), [Problem::NoTrace]);
    scene().stays_quiet("Committed the changes.");
    // A chain that failed at its end has committed all the same.
    let pushed =
        scene().ran("git commit -m x && git push", 1, "[main 1a2b3c4] x\n ! [rejected] main -> main");
    assert_eq!(pushed.problems("Committed and pushed."), [Problem::FailedCommand]);
    scene()
        .ran("git commit -m x", 1, "nothing to commit, working tree clean")
        .stays_quiet("Everything is committed.");
}

#[test]
fn a_ticked_step_is_a_claim() {
    let (findings, _) =
        scene().ran("npm test", 1, "").planned("- [ ] Other\n- [x] Run `npm test`\n").says("Some words.");
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.step, finding.quote.as_str()), (Some(2), "Run `npm test`"));
    let commit = scene().edited("/w/a.rs").planned("- [x] Commit the changes\n").problems("Some words.");
    assert_eq!(commit, [Problem::NoTrace]);
    scene().edited("/w/a.rs").planned("- [ ] Commit the changes\n").stays_quiet("Some words.");
}

proptest::proptest! {
    #[test]
    fn no_session_makes_it_panic(line in ".{0,120}", output in ".{0,120}", code in 0..3) {
        let _ = scene().ran(&line, code, &output).says("All tests pass. Committed and pushed. The build passes.");
    }
}

#[test]
fn of_a_session_that_is_not_kept_whole_nobody_says_that_nothing_was_run() {
    scene().forgotten().edited("/w/a.js").stays_quiet("Done. All tests pass.");
    scene().forgotten().edited("/w/a.js").stays_quiet("I committed it and pushed the branch.");
    let problems = scene().forgotten().ran("npm test", 1, "").problems("Done. All tests pass.");
    assert_eq!(problems, [Problem::FailedCommand], "the newest run is there");
}
