//! `punchlist doctor`, as a person and a script run it: what it prints, what it exits with, and
//! that it leaves nothing behind.

use serde_json::{Value, json};

use crate::test_project::{PUNCHLIST, TestProject};

/// A client of today that is logged in and answers every question with no findings; it notes what
/// it is run with.
const CLIENT: &str = r#"echo "$1 $2" >> DIR/ran
case "$1" in
  --version) echo "2.1.325 (Claude Code)" ;;
  --help) printf '  --tools\n  --system-prompt\n  --setting-sources\n  --settings\n  --json-schema\n  --no-session-persistence\n  --disable-slash-commands\nCommands:\n  auth   Manage authentication\n' ;;
  auth) echo '{"loggedIn":true,"authMethod":"claude.ai","apiProvider":"firstParty"}' ;;
  *) cat > /dev/null; echo '{"type":"result","subtype":"success","is_error":false,"result":"","total_cost_usd":0.0004,"usage":{"input_tokens":210,"output_tokens":9},"structured_output":{"findings":[],"candidates":[],"verdicts":[]}}' ;;
esac"#;

fn new_project() -> TestProject {
    let mut project = TestProject::new();
    let client = project.shell_client(CLIENT);
    project.var("PUNCHLIST_CLAUDE", client);
    project
}

fn register(project: &TestProject, file: &str, hook: &Value) {
    let path = project.path(file);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    let settings = json!({"hooks": {"Stop": [{"hooks": [hook]}]}});
    std::fs::write(path, settings.to_string()).expect("written");
}

fn registered() -> TestProject {
    let project = new_project();
    let hook = json!({"type": "command", "command": PUNCHLIST, "args": ["hook"], "timeout": 120});
    register(&project, "home/.claude/settings.json", &hook);
    project
}

/// What differs from run to run and from machine to machine taken out.
fn steady(text: &str) -> String {
    let text = text.replace(PUNCHLIST, "[punchlist]").replace(env!("CARGO_PKG_VERSION"), "[version]");
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        match (line.find('('), line.find(" ms)")) {
            (Some(from), Some(to)) if from < to => {
                out.push_str(&format!("{}([n]{}", &line[..from], &line[to..]));
            }
            _ => out.push_str(line),
        }
    }
    out
}

#[test]
fn where_all_is_in_place_it_says_so_and_exits_with_0() {
    let project = registered();
    let run = project.run_args(&["doctor", "--json"]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    let told: Value = serde_json::from_str(&run.stdout).expect("JSON");
    run.same(&(&told["schema"], &told["fine"]), &(&json!(1), &json!(true)));
    let checks = told["checks"].as_array().expect("checks");
    let of = |name: &str| -> Vec<String> {
        let of_name = checks.iter().filter(|check| check["name"] == name);
        of_name
            .map(|check| steady(&format!("{}: {}", check["mark"], check["found"]).replace('"', "")))
            .collect()
    };
    run.same(
        &of("client")[..],
        &["fine: claude 2.1.325, DIR/client.sh, can be sealed completely".to_owned()][..],
    );
    run.same(&of("login")[..], &["fine: claude.ai, firstParty".to_owned()][..]);
    run.same(
        &of("hook")[..],
        &["fine: Stop in DIR/home/.claude/settings.json (user): `[punchlist] hook`, 120 s".to_owned()][..],
    );
    run.same(&of("log")[..], &["note: no stop yet".to_owned()][..]);
    run.same(
        &of("gate")[..],
        &[
            "fine: a session that did what it says goes through, quietly",
            "fine: a session that says more than it did is blocked",
            "fine: a session in which nothing was done is left alone",
            "fine: run as a hook, this program blocks as the client expects ([n] ms)",
        ]
        .map(str::to_owned)[..],
    );
    let text = project.run_args(&["doctor"]);
    text.same(&text.status.code(), &Some(0));
    text.check(text.stdout.ends_with("\nAll fine.\n"), "it says so");
    // Nobody was asked anything, and nothing of the test is in the person's log.
    let ran = std::fs::read_to_string(project.path("ran")).expect("it was run");
    text.check(
        ran.lines().all(|line| ["--version ", "--help ", "auth status"].contains(&line)),
        "the client only told of itself",
    );
    text.same(&(project.log().len(), text.stdout.contains('\u{1b}')), &(0, false));
}

#[test]
fn what_is_to_be_done_is_said_and_the_exit_code_is_1() {
    let mut project = TestProject::new();
    project.var("PUNCHLIST_CLAUDE", project.path("nowhere/claude"));
    project.var("PUNCHLIST_DRY_RUN", "1");
    let hook =
        json!({"type": "command", "command": "/gone/punchlist hook", "timeout": 20, "asyncRewake": true});
    register(&project, "work/.claude/settings.local.json", &hook);
    std::fs::create_dir_all(project.path("home/.claude")).expect("made");
    std::fs::write(project.path("home/.claude/settings.json"), "{ // mine\n}").expect("written");
    project.own_config("[gates]\nmax_blocks = 1\n");
    project.project_config("[audit]\nmod = \"hold\"\n");
    let run = project.run_args(&["doctor", "--json"]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(1), ""));
    let told: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let mut lines = String::new();
    for check in told["checks"].as_array().expect("checks") {
        let text = |key: &str| check[key].as_str().unwrap_or_default();
        lines.push_str(&format!("{} {}: {}\n", text("mark"), text("name"), text("found")));
        if check["next"].is_string() {
            lines.push_str(&format!("    -> {}\n", text("next")));
        }
    }
    insta::assert_snapshot!(steady(&lines));
    let text = project.run_args(&["doctor"]);
    text.same(&text.status.code(), &Some(1));
    text.check(text.stdout.ends_with(" things to do.\n"), "it counts them");
}

#[test]
fn the_model_is_asked_only_where_that_is_wanted() {
    let project = registered();
    let run = project.run_args(&["doctor", "--audit"]);
    run.same(&run.status.code(), &Some(0));
    let line = run.stdout.lines().find(|line| line.contains("reader  ")).unwrap_or_default().to_owned();
    run.check(line.starts_with("✓ reader   haiku answered in "), &line);
    run.check(line.ends_with(" s, $0.0004, 210 tokens in, 9 out"), &line);
}

#[test]
fn a_client_that_does_not_tell_of_logins_is_not_asked_for_one() {
    let mut project = new_project();
    let client = project.shell_client(&CLIENT.replace("Commands:\\n  auth   Manage authentication\\n", ""));
    project.var("PUNCHLIST_CLAUDE", client);
    let run = project.run_args(&["doctor"]);
    run.check(run.stdout.contains("this client does not tell whether it is logged in"), "it says so");
    // An older one would take the word for a prompt.
    let ran = std::fs::read_to_string(project.path("ran")).expect("it was run");
    run.check(!ran.contains("auth"), &ran);
}

#[test]
fn failures_of_the_last_days_are_told() {
    let project = registered();
    let mut failing = TestProject::with_drift();
    failing.var("PUNCHLIST_HOME", project.path("state"));
    failing.file("notes/beta.txt", "beta\n");
    failing.client("exit 1");
    failing.run();
    let run = project.run_args(&["doctor"]);
    run.same(&run.status.code(), &Some(1));
    run.check(
        run.stdout.contains("✗ log      1 stop in 7 days, 0 held; 1 auditor-unavailable, the last at "),
        "told",
    );
}
