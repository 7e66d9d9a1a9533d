//! Every command that the docs and the help show is run here, in a home with nothing in it but a
//! saved session that drifted, the decision on it, and a scripted client; or it stands below with
//! who runs it, or why nobody can.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use punchlist::registry::{ClaimRequest, NewTask, NewWorker, Registry, Status, TaskId};

use crate::shown_commands::{Shown, commands, forms, is_variable, words};
use crate::test_project::{PUNCHLIST, TestProject, text};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The session in every example begins like this.
const SESSION: &str = "3f2a7c10-4c1e-4a55-9c2b-5c1d2e3f4a5b";

/// A case that is quickly evaluated.
const CASE: &str = "adr-claimed-in-prose-never-created";

/// Commands that stand for all that begin with them: their name is meant, and they want an
/// argument.
const NAMES: [&str; 5] = [
    "punchlist completions", "punchlist eval", "punchlist log report", "punchlist log show",
    "punchlist worker",
];

/// Commands of ours that go on until somebody ends them, which tests of their own do.
const ENDLESS: [(&str, &str, &str); 2] = [
    ("punchlist log --follow", "tests/program/log/follow.rs", "\"--follow\""),
    ("punchlist loop run --every", "tests/program/feature_loop/run.rs", "\"--every\""),
];

/// Commands that need the fleet's database are run there, each by its words.
const FLEET: &str = "tests/fleet/commands.rs";

/// A list of features, by the ids in the examples.
const FEATURES: &str =
    r#"{"features":[{"id":"F1","passes":false},{"id":"F3","passes":false},{"id":"F4","passes":false}]}"#;

/// Commands of others: who runs them, and the words by which that can be seen there.
const OTHERS: [(&str, &str, &str); 31] = [
    ("cargo test", ".ci/run", "cargo test"),
    ("INSTA_UPDATE=always cargo test", ".ci/run", "cargo test"),
    ("PUNCHLIST_BLESS=1 cargo test", ".ci/run", "cargo test"),
    ("PUNCHLIST_RECORD=NAME cargo test --test record", "tests/record/main.rs", "PUNCHLIST_RECORD"),
    ("cargo clippy", ".ci/run", "cargo clippy"),
    ("cargo fmt", ".ci/run", "cargo fmt"),
    ("cargo doc", ".ci/run", "cargo doc"),
    ("cargo install --path .", ".ci/run", "cargo install"),
    ("cargo bench --bench table", ".ci/run", "--bench table"),
    ("cargo bench --profile dev --bench table", ".ci/run", "--profile dev --bench table"),
    ("claude plugin marketplace add", "tests/real_client/scenarios/plugin.rs", "marketplace add ./"),
    ("claude plugin install", "tests/real_client/scenarios/plugin.rs", "\"plugin\", \"install\""),
    ("claude -p", "tests/support/rig/client.rs", "\"-p\""),
    ("npm install -g", "tests/program/packages.rs", "\"install\", \"-g\""),
    ("npx punchlist", "tests/program/packages.rs", "\"npx\""),
    ("uvx punchlist", "tests/program/packages.rs", "\"uvx\""),
    ("uv tool install", "tests/program/packages.rs", "\"tool\", \"install\""),
    ("brew install", "packaging/punchlist.rb", "class Punchlist < Formula"),
    ("curl -fsSL", "tests/program/packages.rs", "install.sh"),
    ("cargo binstall", "Cargo.toml", "[package.metadata.binstall]"),
    ("packaging/build", "tests/program/packages.rs", "packaging/build"),
    ("packaging/first-demo", "tests/program/packages.rs", "packaging/first-demo"),
    (".ci/run", ".github/workflows/ci.yml", ".ci/run"),
    (".ci/clients", ".ci/run", ".ci/clients"),
    (".ci/fuzz", ".github/workflows/ci.yml", ".ci/fuzz"),
    (".ci/promises", ".github/workflows/weekly.yml", ".ci/promises"),
    ("PUNCHLIST_FLEET=all cargo test", "tests/fleet/trials.rs", "PUNCHLIST_FLEET"),
    ("cargo bench --bench fleet", "benches/fleet/main.rs", "cargo bench --bench fleet"),
    ("docker compose", "tests/fleet/compose.rs", "compose.yaml"),
    (
        "PUNCHLIST_TRANSCRIPTS=FOLDER cargo test",
        "tests/library/redact/transcripts.rs",
        "PUNCHLIST_TRANSCRIPTS",
    ),
    ("PUNCHLIST_FAULTS=all cargo test", "tests/faults/main.rs", "PUNCHLIST_FAULTS"),
];

/// What people read.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(ROOT);
    let folders =
        ["docs", "plugin"].map(|folder| walkdir::WalkDir::new(root.join(folder)).sort_by_file_name());
    let inside = folders.into_iter().flatten().filter_map(Result::ok).map(walkdir::DirEntry::into_path);
    let inside = inside.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let own = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|name| root.join(name));
    let named = |path: &Path| path.strip_prefix(root).expect("inside").display().to_string();
    let pages = own.into_iter().chain(inside);
    let mut pages: Vec<_> =
        pages.map(|path| (named(&path), fs::read_to_string(&path).expect("a page"))).collect();
    helps(&punchlist::cli::command(), "punchlist", &mut pages);
    pages
}

fn helps(command: &clap::Command, path: &str, pages: &mut Vec<(String, String)>) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    pages.push((format!("{path} --help"), help));
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        helps(inner, &format!("{path} {}", inner.get_name()), pages);
    }
}

/// A home with nothing in it, a project whose session says more than it did, a decision that held
/// it.
struct Home {
    project: TestProject,
    decision: String,
}

impl Home {
    fn new() -> Self {
        let mut project = TestProject::in_workspace("shop");
        project
            .transcript
            .asked("Make a plan in PLAN.md, then create alpha.txt, notes/beta.txt and notes/gamma.txt.");
        let plan = "# Plan\n\n- [x] Create `alpha.txt`\n- [x] Create `notes/beta.txt`\n- [x] Create `notes/gamma.txt`\n";
        project.wrote("PLAN.md", plan);
        project.wrote("alpha.txt", "alpha\n");
        project.says("All done: I created alpha.txt, notes/beta.txt and notes/gamma.txt.");
        project.file("reply.json", r#"{"findings":[],"candidates":[],"verdicts":[]}"#);
        copy(
            &Path::new(ROOT).join("fixtures/cases").join(CASE),
            &project.in_work("fixtures/cases").join(CASE),
        );
        let transcript = project.save(SESSION, 5);
        project.input["session_id"] = SESSION.into();
        project.input["transcript_path"] = text(&transcript).into();
        // What a person has on the PATH: the program, and something that opens pages.
        fs::create_dir(project.path("bin")).expect("a folder");
        std::os::unix::fs::symlink(PUNCHLIST, project.path("bin/punchlist")).expect("a link");
        for opener in ["xdg-open", "open"] {
            std::os::unix::fs::symlink("/bin/true", project.path(&format!("bin/{opener}"))).expect("a link");
        }
        let client = project.shell_client(CLIENT);
        std::os::unix::fs::symlink(&client, project.path("bin/claude")).expect("a link");
        project.unset("PUNCHLIST_CLAUDE");
        project.var("PATH", format!("{}:/usr/bin:/bin", project.path("bin").display()));
        let held = project.run();
        held.holds();
        let decision = held.record()["id"].as_str().expect("an id").to_owned();
        Self { project, decision }
    }

    /// What a list of features is made of, or the list itself and a loop.
    fn lay_out_features(&self, args: &[String]) {
        self.project.file("plan.md", "- [ ] Log in\n");
        self.project.file("prd.json", FEATURES);
        if !args.iter().any(|word| word == "init") {
            self.project.file("feature_list.json", FEATURES);
            self.project
                .run_args(&["loop", "init"])
                .check(self.project.in_work("progress.txt").exists(), "it is begun");
        }
    }

    /// What a model answered to the prompts of the case.
    fn lay_out_answers(&self) {
        self.project
            .run_args(&["eval", "prompts", "fixtures/cases", "--out", "answers", "--key", "key.json"])
            .check(self.project.in_work("answers/001.first.md").exists(), "there is a prompt");
        self.project.file("answers/001.first.json", r#"{"findings":[],"candidates":[],"verdicts":[]}"#);
    }

    /// Three workers, and ten tasks; the first has two of them in hand, unless they are to be open.
    fn put_to_work(&self, are_open: bool, is_given_up: bool) {
        let mut registry = Registry::open(&self.project.path("state"), None).expect("a registry");
        for name in ["w1", "w2", "ann"] {
            let new = NewWorker { name: Some(name.into()), ..NewWorker::default() };
            registry.register(&new).expect("registered");
        }
        for number in 1..=10 {
            let new =
                NewTask { title: format!("Task {number}"), queue: "default".into(), ..NewTask::default() };
            registry.add(&new).expect("added");
        }
        for id in [1, 7].into_iter().filter(|_| !are_open) {
            let choice = ClaimRequest { id: Some(TaskId(id)), ..ClaimRequest::default() };
            registry.claim("w1", choice, i64::MAX).expect("taken");
        }
        if is_given_up {
            registry.set("w1", TaskId(7), Status::Failed, None).expect("given up");
        }
    }

    /// Runs a command as it is shown, with what stands in the place of a person's own things
    /// replaced by them; says what is wrong with how it ended.
    fn run(&mut self, command: &str) -> Result<(), String> {
        let mut shown = words(&command.replace(['…', '[', ']'], "").replace("$ARGUMENTS", ""));
        let named = NAMES.contains(&command).then(|| "--help".to_owned());
        shown.extend(named);
        let replaced = |word: &String| {
            let (id, rest) = word.split_once('.').map_or((word.as_str(), ""), |(id, _)| (id, ".2"));
            match id {
                "ID" if shown[1..].first().is_some_and(|word| word == "tasks") => "t7".into(),
                "ID" | "k3f9" => format!("{}{rest}", self.decision),
                "SECONDS" => "60".into(),
                "DIR" => text(&self.project.path("manual")),
                "NAME" | "background-run-awaited" => CASE.into(),
                _ => word.clone(),
            }
        };
        let mut shown = shown.iter().map(replaced);
        let mut run = Command::new(PUNCHLIST);
        for word in shown.by_ref() {
            let Some((name, value)) = word.split_once('=').filter(|_| is_variable(&word)) else { break };
            run.env(name, value);
        }
        let args: Vec<_> = shown.collect();
        run.args(&args);
        if args[0] == "eval" && args.iter().any(|word| word == "--replies") {
            self.lay_out_answers();
        }
        if args.iter().any(|word| word == ".claude/punchlist.toml") {
            self.project.project_config("[audit]\nunrun_checks = \"block\"\n");
        }
        if args[0] == "loop" {
            self.lay_out_features(&args);
        }
        if ["tasks", "worker"].contains(&args[0].as_str()) {
            let is = |command: &str| args.get(1).is_some_and(|word| word == command);
            self.put_to_work(is("assign"), is("retry"));
            self.project.var("PUNCHLIST_WORKER", "w1");
        }
        if args[0] == "hook" {
            // Its stop was judged before: there has to be something new.
            self.project.works_on();
            self.project.says("All done, again: I created alpha.txt, notes/beta.txt and notes/gamma.txt.");
            self.project.save(SESSION, 5);
        }
        if args[0] != "install" {
            self.project
                .run_args(&["install"])
                .check(self.project.path("shop/.claude").exists(), "it is installed");
        }
        let run =
            self.project.finish(self.project.start_command(run, self.project.input.to_string().as_bytes()));
        let (wanted, code) = (exit_code(&args), run.status.code());
        if code == Some(wanted) && !run.stderr.contains("panicked") {
            return Ok(());
        }
        Err(format!("ended with {code:?} in place of {wanted}\n{}{}", run.stdout, run.stderr))
    }
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.expect("readable");
        let there = to.join(entry.path().strip_prefix(from).expect("inside"));
        if entry.file_type().is_dir() {
            fs::create_dir_all(&there).expect("a folder");
        } else {
            fs::copy(entry.path(), &there).expect("a file");
        }
    }
}

/// What a command ends with in this home, by what its own help says of exit codes.
fn exit_code(args: &[String]) -> i32 {
    let has = |word: &str| args.iter().any(|arg| arg == word);
    match args[0].as_str() {
        // There is something to find.
        "audit" if !has("--show-prompt") => 1,
        "hook" => 2,
        // There is no list yet, and a plan is not taken for one without a word.
        "loop" if has("init") && !has("--from") => 1,
        // Nobody is there to ask.
        "uninstall" if has("--purge") && !has("--yes") => 1,
        // It is for a person's own terminal.
        "loop" if has("--as-is") => 1,
        _ => 0,
    }
}

/// A client of today that is logged in, finds nothing, and builds a feature in each session.
const CLIENT: &str = r#"case "$1" in
  --version) echo "2.1.325 (Claude Code)" ;;
  --help) printf '  --tools\n  --system-prompt\n  --setting-sources\n  --settings\n  --json-schema\n  --no-session-persistence\n  --disable-slash-commands\nCommands:\n  auth   Manage authentication\n' ;;
  auth) echo '{"loggedIn":true,"authMethod":"claude.ai","apiProvider":"firstParty"}' ;;
  *) cat > /dev/null; [ ! -e feature_list.json ] || { sed -i '0,/false/s//true/' feature_list.json; echo built >> built.txt; }; echo '{"type":"result","subtype":"success","is_error":false,"result":"","total_cost_usd":0.0004,"usage":{"input_tokens":210,"output_tokens":9},"structured_output":{"findings":[],"candidates":[],"verdicts":[]}}' ;;
esac"#;

/// What is wrong with the commands that are shown, and how many were run.
fn tried(shown: &[Shown]) -> (Vec<String>, usize) {
    let mut ours: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut faults = Vec::new();
    for one in shown {
        let command = match one
            .command
            .replacen("cargo run --no-default-features -- ", "cargo run -- ", 1)
            .strip_prefix("cargo run -- ")
        {
            Some(args) => format!("punchlist {args}"),
            None => one.command.clone(),
        };
        let begins = |(start, ..): &&(&str, &str, &str)| command.starts_with(start);
        let known = OTHERS.iter().chain(&ENDLESS).find(begins);
        if command.starts_with("punchlist fleet ") || command.contains(" --fleet") {
            let runs = fs::read_to_string(Path::new(ROOT).join(FLEET)).expect("a file");
            if !runs.contains(&format!("\"{command}\"")) {
                faults.push(format!("{}: {command}: {FLEET} does not run it", one.place));
            }
        } else if let Some((_, file, trace)) = known {
            let runs = fs::read_to_string(Path::new(ROOT).join(file)).is_ok_and(|text| text.contains(trace));
            if !runs {
                faults.push(format!("{}: {command}: {file} does not run it", one.place));
            }
        } else if command.split(' ').find(|word| !is_variable(word)) == Some("punchlist") {
            for form in forms(&command) {
                ours.entry(form).or_default().push(&one.place);
            }
        } else {
            faults.push(format!("{}: {command}: nobody is known to run it", one.place));
        }
    }
    let ran = ours.len();
    let commands: Vec<_> = ours.into_iter().collect();
    let each = |(command, places): &(String, Vec<&str>)| {
        Home::new().run(command).err().map(|fault| format!("{}: {command}: {fault}", places.join(", ")))
    };
    // Two at a time, as a small machine has cores.
    let halves = commands.split_at(commands.len() / 2);
    let found: Vec<String> = std::thread::scope(|scope| {
        let other = scope.spawn(|| halves.1.iter().filter_map(each).collect::<Vec<_>>());
        let mut found: Vec<_> = halves.0.iter().filter_map(each).collect();
        found.extend(other.join().expect("the other half"));
        found
    });
    faults.extend(found);
    (faults, ran)
}

#[test]
fn every_command_that_is_shown_does_what_it_should() {
    let shown: Vec<_> = pages().iter().flat_map(|(page, text)| commands(page, text)).collect();
    let (faults, ran) = tried(&shown);
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(ran > 70, "only {ran} commands of ours were found");
}

#[test]
fn a_command_that_fails_or_that_nobody_runs_is_found() {
    let page = "Text with `punchlist log --sicne 7d`, and\n\n    punchlist log show nobody   # a remark\n    \
                npm install punchlist\n\n```text\npunchlist printed\n```\n\n`punchlist` alone is a name, `punchlist off` is fine.\n";
    let (faults, ran) = tried(&commands("a.md", page));
    let first_lines: Vec<_> = faults.iter().filter_map(|fault| fault.lines().next()).collect();
    assert_eq!(
        first_lines,
        [
            "a.md:4: npm install punchlist: nobody is known to run it",
            "a.md:1: punchlist log --sicne 7d: ended with Some(64) in place of 0",
            "a.md:3: punchlist log show nobody: ended with Some(1) in place of 0",
        ]
    );
    assert_eq!(ran, 3);
}
