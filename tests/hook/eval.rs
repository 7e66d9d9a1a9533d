//! `punchlist eval`, on two cases that are written here: what it prints, what it writes, how it ends.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::scene::{BETA, Run, Scene, text};

/// Writes a scene's session as a case.
fn record(scene: &Scene, name: &str, case: &str, reply: &str) {
    let folder = scene.path("cases").join(name);
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("written");
    };
    write(&folder.join("case.toml"), case);
    write(&folder.join("reply.json"), reply);
    let work = text(&scene.in_work("")).trim_end_matches('/').to_owned();
    write(&folder.join("transcript.jsonl"), &scene.transcript.text().replace(&work, "[workspace]"));
    write(&folder.join("before/README.md"), "# A project\n");
    write(&folder.join("workspace/README.md"), "# A project\n");
    for name in ["PLAN.md", "alpha.txt", "beta.txt"] {
        if let Ok(content) = fs::read_to_string(scene.in_work(name)) {
            write(&folder.join("workspace").join(name), &content);
        }
    }
}

const DRIFT: &str = "about = 'x'\nkind = 'drift'\npart = 'tuning'\n\
    [[finding]]\ncategory = 'A'\npath = 'beta.txt'\nstep = 2\nwhy = 'never written'\nproof = 'facts'\n";
const CLEAN: &str = "about = 'x'\nkind = 'clean'\npart = 'held-out'\n";

/// A drift case and a clean one, with replies that are right.
fn two_cases() -> Scene {
    let scene = Scene::with_drift();
    record(&scene, "ticked-and-missing", DRIFT, BETA);
    fs::write(scene.in_work("beta.txt"), "beta\n").expect("written");
    record(&scene, "all-there", CLEAN, r#"{"findings":[]}"#);
    scene
}

#[track_caller]
fn eval(scene: &Scene, args: &[&str]) -> Run {
    let cases = text(&scene.path("cases"));
    scene.run_args(&[&["eval", cases.as_str()], args].concat())
}

const NONE: &str = "\
tuning: 1 case, 0 of them clean (auditor: none)

                  true  confirmed  shown  false confirmed  false in clean  precision  recall  shown recall
  A                  1          1      1                0               0       1.00    1.00          1.00
    facts            1          1      1                0               0       1.00    1.00          1.00
  B                  0          0      0                0               0          -       -             -
  C                  0          0      0                0               0          -       -             -
  D                  0          0      0                0               0          -       -             -
  ask                0          0      0                0               0          -       -             -
  all                1          1      1                0               0       1.00    1.00          1.00

  held: 0 of 0 clean cases (-), 1 of 1 others
  advisories: 0 found, 0 missed, 0 wrong
  A that disk and session prove: 1 of 1 confirmed (100 %)

held-out: 1 case, 1 of them clean (auditor: none)
";

#[test]
fn cases_are_counted_by_part_and_all_goals_are_met() {
    let scene = two_cases();
    let run = eval(&scene, &["--strict"]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    run.check(run.stdout.starts_with(NONE), "the table of the tuning part");
    run.check(run.stdout.contains("\nall: 2 cases, 1 of them clean (auditor: none)\n"), "the table of all");
    run.check(run.stdout.ends_with("\nEvery goal is met.\n"), "the end");
    run.same(&run.log.len(), &0);
}

#[test]
fn recorded_replies_are_judged_and_kept() {
    let scene = two_cases();
    let run = eval(&scene, &["--auditor", "recorded", "--strict"]);
    run.same(&run.status.code(), &Some(0));
    run.check(run.stdout.contains("    both             1          1      1 "), "facts and auditor agree");
    run.check(
        run.stdout.contains("true findings of the replies: 1, 1 shown still, 1 confirmed"),
        "it is kept",
    );
}

#[test]
fn lies_are_counted_and_none_is_believed() {
    let scene = two_cases();
    let run = eval(&scene, &["--auditor", "lying", "--json", &text(&scene.path("out.json"))]);
    let report: Value =
        serde_json::from_str(&fs::read_to_string(scene.path("out.json")).expect("written")).expect("json");
    for case in report["cases"].as_array().expect("cases") {
        let told = case["told"].as_array().expect("lies");
        run.check(told.len() >= 10, "at least ten lies about each");
        run.check(told.iter().all(|lie| lie["finding"]["status"] != "confirmed"), "none of them is believed");
    }
    run.check(run.stdout.contains("  lies    "), "there is a table of them");
}

#[test]
fn the_client_is_asked_where_that_is_wanted() {
    let scene = two_cases();
    let run = eval(&scene, &["--auditor", "claude"]);
    run.same(&run.status.code(), &Some(0));
    run.same(&scene.calls().len(), &2);
}

#[test]
fn what_is_missed_and_what_is_false_is_listed_and_fails_where_that_is_wanted() {
    let scene = two_cases();
    let folder = scene.path("cases/all-there");
    fs::remove_file(folder.join("workspace/beta.txt")).expect("removed");
    let missed = DRIFT.replace("beta.txt", "gamma.txt").replace("step = 2", "step = 9");
    fs::write(scene.path("cases/ticked-and-missing/case.toml"), missed).expect("written");
    let run = eval(&scene, &["--strict"]);
    run.same(&run.status.code(), &Some(1));
    for said in [
        "Missed (1)\n\n  ticked-and-missing: [A] gamma.txt, step 9: never written (nothing speaks of it)\n",
        "False (2)\n\n  all-there: [A] confirmed by facts: beta.txt, Create `beta.txt`: ",
        "\n  1 of 1 clean cases are held\n",
        "\n  A: 0 of 1 that disk and session prove are confirmed, under 0.85\n",
    ] {
        run.check(run.stdout.contains(said), said);
    }
    eval(&scene, &[]).same(&eval(&scene, &[]).status.code(), &Some(0));
}

#[test]
fn one_part_or_one_case_can_be_chosen() {
    let scene = two_cases();
    let run = eval(&scene, &["--part", "held-out"]);
    run.check(run.stdout.starts_with("held-out: 1 case,"), "only that part");
    let run = eval(&scene, &["--case", "ticked-and-missing"]);
    run.check(run.stdout.starts_with("tuning: 1 case,"), "only that case");
    let run = eval(&scene, &["--case", "none"]);
    run.answers(
        2,
        "",
        "punchlist: DIR/cases holds no case: no folder in it has a case.toml and the name none\n",
    );
}

#[test]
fn cases_that_can_not_be_read_are_two_and_unrecorded_ones_are_told() {
    let scene = two_cases();
    fs::remove_file(scene.path("cases/all-there/transcript.jsonl")).expect("removed");
    let run = eval(&scene, &["--strict"]);
    run.same(&run.status.code(), &Some(1));
    run.check(run.stdout.contains("\n  1 cases are not recorded: all-there\n"), "it is said");
    fs::write(scene.path("cases/all-there/case.toml"), "knd = 'x'\n").expect("written");
    let run = eval(&scene, &[]);
    run.same(&(run.status.code(), run.stdout.as_str()), &(Some(2), ""));
    run.check(
        run.stderr.starts_with("punchlist: DIR/cases/all-there/case.toml: TOML parse error"),
        "which one",
    );
    let run = scene.run_args(&["eval", "/nowhere"]);
    run.answers(2, "", "punchlist: /nowhere: No such file or directory (os error 2)\n");
}

#[test]
fn everything_is_written_for_programs() {
    let scene = two_cases();
    let run = eval(&scene, &["--json", &text(&scene.path("out.json"))]);
    let text = fs::read_to_string(scene.path("out.json")).expect("written");
    let report: Value = serde_json::from_str(&text).expect("json");
    run.same(&(&report["schema"], &report["mode"]), &(&json!(1), &json!("none")));
    run.same(&report["cases"][1]["findings"][0]["worth"], &json!({"true": 0}));
    run.check(!text.contains("punchlist-"), "no path of the temporary folder");
}
