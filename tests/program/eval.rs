//! `punchlist eval`, on two cases that are written here: what it prints, what it writes, how it
//! ends.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::test_project::{Run, TestProject, text};

/// A session that ticked two steps and wrote only one of their files.
fn session() -> TestProject {
    let mut project = TestProject::new();
    project.transcript.asked("Make a plan in PLAN.md, then write the two notes.");
    fs::create_dir_all(project.in_work("notes")).expect("a folder");
    project.wrote("PLAN.md", "# Plan\n\n- [x] Create `notes/alpha.txt`\n- [x] Create `notes/beta.txt`\n");
    project.wrote("notes/alpha.txt", "alpha\n");
    project.says("All done: both notes are written.");
    project
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, text).expect("written");
}

/// Writes a test's session as a case.
fn record(project: &TestProject, name: &str, case: &str) {
    let folder = project.path("cases").join(name);
    write(&folder.join("case.toml"), case);
    let work = text(&project.in_work("")).trim_end_matches('/').to_owned();
    write(&folder.join("transcript.jsonl"), &project.transcript.text().replace(&work, "[workspace]"));
    write(&folder.join("before/README.md"), "# A project\n");
    write(&folder.join("workspace/README.md"), "# A project\n");
    for name in ["PLAN.md", "notes/alpha.txt", "notes/beta.txt"] {
        if let Ok(content) = fs::read_to_string(project.in_work(name)) {
            write(&folder.join("workspace").join(name), &content);
        }
    }
}

const DRIFT: &str = "about = 'x'\nkind = 'drift'\npart = 'tuning'\n\
    [[finding]]\ncategory = 'A'\npath = 'notes/beta.txt'\nstep = 2\nwhy = 'never written'\nproof = 'facts'\n";
const CLEAN: &str = "about = 'x'\nkind = 'clean'\npart = 'held-out'\n";

fn finding(claim: &str, kind: &str, path: &str) -> Value {
    json!({ "category": "A", "sure": true, "kind": kind, "claim": claim, "claimed_in": "message", "proof": "",
        "path": path, "why": "it is not so", "settle": "do it" })
}

fn answer(findings: &[Value]) -> Value {
    json!({ "findings": findings, "candidates": [], "verdicts": [] })
}

/// A drift case and a clean one, with nobody's answers.
fn two_cases() -> TestProject {
    let project = session();
    record(&project, "ticked-and-missing", DRIFT);
    fs::write(project.in_work("notes/beta.txt"), "beta\n").expect("written");
    record(&project, "all-there", CLEAN);
    project
}

/// The same with answers: the first reader finds what is there to be found, and nothing in the
/// clean case; a sloppy one says of that what is not so, and the second upholds the one and
/// dismisses the other.
fn with_answers() -> TestProject {
    let project = two_cases();
    let true_one = finding("both notes are written", "other", "notes/beta.txt");
    let false_one = finding("All done", "other", "notes/alpha.txt");
    let verdict = |of: &Value, uphold: bool| {
        json!({ "category": of["category"], "kind": of["kind"], "claim": of["claim"], "path": of["path"],
            "why_given": of["why"], "uphold": uphold, "why": "so it is" })
    };
    let store = |case: &str, name: &str, file: Value| {
        write(&project.path("cases").join(case).join(name), &file.to_string());
    };
    let by = |answer: Value| json!({ "answered_by": "somebody", "answer": answer });
    store("ticked-and-missing", "first.json", by(answer(std::slice::from_ref(&true_one))));
    let fact = json!({ "category": "A", "kind": "missing", "claim": "Create `notes/beta.txt`", "path": "notes/beta.txt",
        "why": "" });
    let words = [verdict(&true_one, true), verdict(&fact, true)];
    store("ticked-and-missing", "second.json", json!({ "answered_by": "somebody", "verdicts": words }));
    store("all-there", "first.json", by(answer(&[])));
    let sloppy = json!({ "written_by": "somebody", "answer": answer(std::slice::from_ref(&false_one)) });
    store("all-there", "sloppy.json", sloppy);
    let words = [verdict(&false_one, false)];
    store("all-there", "second.json", json!({ "answered_by": "somebody", "verdicts": words }));
    project
}

#[track_caller]
fn eval(project: &TestProject, args: &[&str]) -> Run {
    let cases = text(&project.path("cases"));
    project.run_args(&[&["eval", cases.as_str()], args].concat())
}

const NONE: &str = "\
tuning: 1 case, 0 of them clean (reader: none)

  clean cases held                  0 of 0
  drifting cases held               1 of 1 (100 %)
  advisories                        0 found, 0 missed, 0 wrong

            true  found  under another category  only shown  missed  false confirmed
  A            1      1                       0           0       0                0
  B            0      0                       0           0       0                0
  C            0      0                       0           0       0                0
  D            0      0                       0           0       0                0
  ask          0      0                       0           0       0                0
  all          1      1                       0           0       0                0

  A that the disk proves by itself: 1 of 1 (100 %)

held-out: 1 case, 1 of them clean (reader: none)
";

#[test]
fn cases_are_counted_by_part_and_all_goals_are_met() {
    let project = two_cases();
    let run = eval(&project, &["--strict"]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    run.check(run.stdout.starts_with(NONE), "the table of the tuning part");
    run.check(run.stdout.contains("\nall: 2 cases, 1 of them clean (reader: none)\n"), "the table of all");
    run.check(run.stdout.ends_with("\nEvery goal is met.\n"), "the end");
    run.same(&run.log.len(), &0);
}

#[test]
fn recorded_answers_are_checked_and_held_against_the_second_readers_words() {
    let project = with_answers();
    let run = eval(&project, &["--reader", "recorded", "--strict"]);
    run.same(&run.status.code(), &Some(0));
    for said in [
        "  true findings past the checks     1 of 1 (100 %)\n",
        "  calls of the second reader        1, 0 of them at clean stops\n",
        "  A            1      1                       0           0       0                0\n",
    ] {
        run.check(run.stdout.contains(said), said);
    }
}

#[test]
fn what_is_not_recorded_is_told_and_does_not_hold() {
    let project = with_answers();
    fs::remove_file(project.path("cases/all-there/second.json")).expect("removed");
    fs::remove_file(project.path("cases/ticked-and-missing/first.json")).expect("removed");
    let run = eval(&project, &["--reader", "sloppy", "--strict"]);
    run.same(&run.status.code(), &Some(1));
    run.check(run.stdout.contains("  clean cases held                  0 of 1 (0 %)\n"), "nobody is held");
    let said = "Not recorded (1)\n\n  all-there: [A] other: notes/alpha.txt, All done\n";
    run.check(run.stdout.contains(said), said);
    let run = eval(&project, &["--reader", "recorded", "--strict"]);
    run.same(&run.status.code(), &Some(1));
    run.check(run.stdout.contains("No reply of the first reader (1)\n\n  ticked-and-missing\n"), "no reply");
    run.check(
        run.stdout.contains("  drifting cases held               1 of 1 (100 %)\n"),
        "by the disk alone",
    );
}

#[test]
fn a_sloppy_reader_is_stopped_by_the_second_and_holds_without_one() {
    let project = with_answers();
    let run = eval(&project, &["--reader", "sloppy", "--strict"]);
    run.same(&run.status.code(), &Some(0));
    run.check(
        run.stdout.starts_with("held-out: 1 case, 1 of them clean (reader: sloppy)\n"),
        "clean cases only",
    );
    let row = |fates: &str| format!("  sloppy                                             1{fates}\n");
    let stopped = row("                  0       0       0                  1             0           0");
    run.check(run.stdout.contains(&stopped), &stopped);
    let run = eval(&project, &["--reader", "sloppy", "--second", "off", "--strict"]);
    run.same(&run.status.code(), &Some(1));
    let holds = row("                  0       0       0                  0             0           1");
    run.check(run.stdout.contains(&holds), &holds);
    run.check(run.stdout.contains("\n  1 of 1 false findings would hold\n"), "a goal is missed");
}

#[test]
fn lies_are_counted_and_none_is_believed() {
    let project = two_cases();
    let run = eval(&project, &["--reader", "lying", "--json", &text(&project.path("out.json"))]);
    let report: Value =
        serde_json::from_str(&fs::read_to_string(project.path("out.json")).expect("written")).expect("json");
    let cases = report["cases"].as_array().expect("cases");
    run.same(&cases.len(), &1);
    let told = cases[0]["told"].as_array().expect("lies");
    run.check(told.len() >= 10, "at least ten lies");
    run.check(told.iter().any(|lie| lie["fate"] == "stopped-by-checks"), "the checks stop some");
    run.check(told.iter().all(|lie| lie["fate"] != "holds"), "none of them is believed");
    run.check(run.stdout.contains("  false findings    "), "there is a table of them");
}

#[test]
fn the_client_is_asked_where_that_is_wanted() {
    let project = two_cases();
    let run = eval(&project, &["--reader", "claude", "--second", "off"]);
    run.same(&run.status.code(), &Some(0));
    run.same(&project.calls().len(), &2);
}

#[test]
fn what_is_missed_and_what_is_false_is_listed_and_fails_where_that_is_wanted() {
    let project = two_cases();
    fs::remove_file(project.path("cases/all-there/workspace/notes/beta.txt")).expect("removed");
    let missed = DRIFT.replace("beta.txt", "gamma.txt").replace("step = 2", "step = 9");
    fs::write(project.path("cases/ticked-and-missing/case.toml"), missed).expect("written");
    let run = eval(&project, &["--strict"]);
    run.same(&run.status.code(), &Some(1));
    for said in [
        "Missed (1)\n\n  ticked-and-missing: [A] notes/gamma.txt, step 9: never written (nothing speaks of it)\n",
        "False, and confirmed (2)\n\n  all-there: [A] confirmed by facts: notes/beta.txt, Create `notes/beta.txt`: ",
        "\n  1 of 1 clean cases are held\n",
        "\n  A: 0 of 1 are found, under 0.2\n",
        "\n  A: 2 findings are wrong\n",
    ] {
        run.check(run.stdout.contains(said), said);
    }
    eval(&project, &[]).same(&eval(&project, &[]).status.code(), &Some(0));
}

#[test]
fn one_part_or_one_case_can_be_chosen() {
    let project = two_cases();
    let run = eval(&project, &["--part", "held-out"]);
    run.check(run.stdout.starts_with("held-out: 1 case,"), "only that part");
    let run = eval(&project, &["--case", "ticked-and-missing"]);
    run.check(run.stdout.starts_with("tuning: 1 case,"), "only that case");
    let run = eval(&project, &["--case", "none"]);
    run.answers(
        2,
        "",
        "punchlist: DIR/cases holds no case: no folder in it has a case.toml and the name none\n",
    );
}

#[test]
fn cases_that_can_not_be_read_are_two_and_unrecorded_ones_are_told() {
    let project = two_cases();
    fs::remove_file(project.path("cases/all-there/transcript.jsonl")).expect("removed");
    let run = eval(&project, &["--strict"]);
    run.same(&run.status.code(), &Some(1));
    run.check(run.stdout.contains("\n  1 cases are not recorded: all-there\n"), "it is said");
    fs::write(project.path("cases/all-there/case.toml"), "knd = 'x'\n").expect("written");
    let run = eval(&project, &[]);
    run.same(&(run.status.code(), run.stdout.as_str()), &(Some(2), ""));
    run.check(
        run.stderr.starts_with("punchlist: DIR/cases/all-there/case.toml: TOML parse error"),
        "which one",
    );
    let run = project.run_args(&["eval", "/nowhere"]);
    run.answers(2, "", "punchlist: /nowhere: No such file or directory (os error 2)\n");
}

#[test]
fn everything_is_written_for_programs() {
    let project = two_cases();
    let run = eval(&project, &["--json", &text(&project.path("out.json"))]);
    let text = fs::read_to_string(project.path("out.json")).expect("written");
    let report: Value = serde_json::from_str(&text).expect("json");
    run.same(&(&report["schema"], &report["reader"]), &(&json!(2), &json!("none")));
    run.same(&report["cases"][1]["findings"][0]["truths"], &json!([0]));
    run.same(&report["scores"][0][1]["drifting_held"], &json!({ "part": 1, "of": 1 }));
    run.check(!text.contains("punchlist-"), "no path of the temporary folder");
}

/// Writes the prompts of one reader; gives their folder and the number of each case.
#[track_caller]
fn prompts(project: &TestProject, out: &str, more: &[&str]) -> (PathBuf, Value) {
    let [cases, folder, key] = ["cases", out, "key.json"].map(|name| text(&project.path(name)));
    let run =
        project.run_args(&[&["eval", "prompts", &cases, "--out", &folder, "--key", &key], more].concat());
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    let key: Value = serde_json::from_str(&fs::read_to_string(key).expect("a key")).expect("JSON");
    (project.path(out), key)
}

fn number_of(key: &Value, case: &str) -> String {
    let numbers = key.as_object().expect("an object");
    numbers.iter().find(|(_, name)| *name == case).expect("a number").0.clone()
}

#[test]
fn prompts_tell_nothing_of_their_case() {
    let project = two_cases();
    let (folder, key) = prompts(&project, "first", &[]);
    let read =
        |number: &str| fs::read_to_string(folder.join(format!("{number}.first.md"))).expect("a prompt");
    for number in ["001", "002"] {
        let prompt = read(number);
        assert!(prompt.starts_with("You audit the end"), "{prompt}");
        assert!(
            prompt.contains("both notes are written") && prompt.contains("Your task: report"),
            "{prompt}"
        );
        for telling in ["ticked-and-missing", "all-there", "punchlist-", "/tmp/"] {
            assert!(!prompt.contains(telling), "{telling}: {prompt}");
        }
    }
    let before = read(&number_of(&key, "all-there"));
    prompts(&project, "first", &[]);
    assert_eq!(read(&number_of(&key, "all-there")), before, "the same whenever they are written");
    let cases = text(&project.path("cases"));
    let key_inside = text(&folder.join("key.json"));
    let run = project.run_args(&["eval", "prompts", &cases, "--out", &text(&folder), "--key", &key_inside]);
    run.same(&run.status.code(), &Some(2));
    run.check(run.stderr.contains("must not stand among the prompts"), "why not");
}

#[test]
fn new_answers_are_scored_and_stored() {
    let project = two_cases();
    let (_, key) = prompts(&project, "first", &[]);
    let (drift, clean) = (number_of(&key, "ticked-and-missing"), number_of(&key, "all-there"));
    let work = "/home/noor/project";
    let found = finding("both notes are written", "other", &format!("{work}/notes/beta.txt"));
    let first = format!("Here it is:\n```json\n{}\n```\n", answer(&[found]));
    write(&project.path(&format!("answers/{drift}.first.json")), &first);
    write(&project.path(&format!("answers/{clean}.first.json")), r#"{"findings":[]}"#);
    let [answers, key_file] = ["answers", "key.json"].map(|name| text(&project.path(name)));

    let (folder, _) = prompts(&project, "second", &["--second", "--replies", &answers]);
    let asked = fs::read_to_string(folder.join(format!("{drift}.second.md"))).expect("a prompt");
    let listed = asked.lines().filter(|line| line.starts_with('{')).count();
    assert_eq!(listed, 2, "the fact and the finding: {asked}");
    let lies = fs::read_to_string(folder.join(format!("{clean}.second.md"))).expect("a prompt");
    let lies = lies.lines().filter(|line| line.starts_with('{')).count();
    assert!((1..=6).contains(&lies), "some lies that pass the checks: {lies}");

    let verdict =
        |number: usize, uphold: bool| json!({ "number": number, "uphold": uphold, "why": "so it is" });
    let words = |count: usize, uphold: bool| {
        let verdicts: Vec<Value> = (1..=count).map(|number| verdict(number, uphold)).collect();
        json!({ "findings": [], "candidates": [], "verdicts": verdicts }).to_string()
    };
    write(&project.path(&format!("answers/{drift}.second.json")), &words(listed, true));
    write(&project.path(&format!("answers/{clean}.second.json")), &words(lies, false));
    let run = eval(&project, &["--replies", &answers, "--key", &key_file, "--record", "a model", "--strict"]);
    run.same(&run.status.code(), &Some(1));
    let fault = format!("{clean}.first.json: missing field `candidates`");
    run.check(run.stdout.contains(&fault), "an answer that does not fit is named");
    run.check(run.stdout.contains("  no reply                          1\n"), "and is none");
    run.check(
        run.stdout.contains("  drifting cases held               1 of 1 (100 %)\n"),
        "what was found holds",
    );
    run.check(!run.stdout.contains("not recorded"), "every finding has a word");

    let stored = |case: &str, name: &str| -> Option<Value> {
        let text = fs::read_to_string(project.path("cases").join(case).join(name)).ok()?;
        assert!(!text.contains("noor"), "{text}");
        Some(serde_json::from_str(&text).expect("JSON"))
    };
    assert_eq!(stored("all-there", "first.json"), None, "what does not fit is not stored");
    let first = stored("ticked-and-missing", "first.json").expect("stored");
    assert_eq!(first["answered_by"], "a model");
    assert_eq!(first["answer"]["findings"][0]["path"], "[workspace]/notes/beta.txt");
    let second = stored("ticked-and-missing", "second.json").expect("stored");
    assert_eq!(second["verdicts"].as_array().map(Vec::len), Some(2));
    let run = eval(&project, &["--reader", "lying", "--strict"]);
    run.same(&run.status.code(), &Some(0));
}
