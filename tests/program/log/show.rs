//! `punchlist log show`: from a line of the log to the very words: the whole story of one decision,
//! what was sent, what came back, and what today's rules make of it.

use std::fs;

use serde_json::{Value, json};

use crate::test_project::{BETA, Run, TestProject};

/// A session that was held for `notes/beta.txt`, by disk and readers, and the block's id.
fn held() -> (TestProject, String) {
    let project = TestProject::with_drift();
    project.readers(&[BETA]);
    let run = project.run();
    run.holds();
    let id = run.record()["id"].as_str().expect("an id").to_owned();
    (project, id)
}

fn show(project: &TestProject, args: &[&str]) -> Run {
    project.run_args(&[&["log", "show"], args].concat())
}

fn json_of(run: &Run) -> Value {
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    serde_json::from_str(&run.stdout).expect("json")
}

/// What differs from run to run taken out.
fn steady(project: &TestProject, id: &str, text: &str) -> String {
    let text = text.replace(id, "[id]").replace(env!("CARGO_PKG_VERSION"), "[version]");
    let lines = text.lines().map(|line| {
        let is_time = line.trim_start().starts_with("when ") || line.contains(" ms");
        let start = line.len() - line.trim_start().len();
        let is_path = line.trim_start().starts_with("client ");
        match line.trim_start().split(' ').next() {
            Some(word) if is_time || is_path => format!("{}{word} [differs]", &line[..start]),
            _ => line.to_owned(),
        }
    });
    project.tidy(&lines.collect::<Vec<_>>().join("\n"))
}

/// What the person is told when the agent speaks against the finding that held it.
fn disputed(id: &str) -> String {
    format!(
        "1 finding, disputed by the agent (a reader says that it still stands): [A] \"Create `notes/beta.txt`\": It is ticked, and notes/beta.txt does not \
         exist. (punchlist log show {id})"
    )
}

#[test]
fn the_story_of_a_block_goes_from_the_ask_to_the_end() {
    let (mut project, id) = held();
    project.says("I checked: notes/beta.txt is not needed, alpha.txt holds both.");
    project.input["stop_hook_active"] = json!(true);
    project.run().tells(&disputed(&id));
    let run = show(&project, &[&id[..6]]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    run.check(!run.stdout.contains('\u{1b}'), "no colours where nobody sees them");
    for wanted in [
        "block (findings)",
        "Asked (1)\n  1. Make a plan in PLAN.md, then create alpha.txt and notes/beta.txt.",
        "  [x]  1  Create `alpha.txt`\n  [x]  2  Create `notes/beta.txt`  <- finding 1",
        "Said at the end\n  All done: I created alpha.txt and notes/beta.txt.",
        "Findings (1 confirmed, 0 not verified, 0 refuted)",
        "     said in  the plan",
        "     found by disk and session, and the first reader",
        "     checks   disk and session show it",
        "     second   upheld: It is so.",
        "     became   disputed: the final message mentions it, and a reader says that it still stands:",
        "     agent    \"I checked: notes/beta.txt is not needed, alpha.txt holds both.\"",
        "     again    a reader that was asked again says that the finding was right",
        "First reader\n  claude haiku, answered in ",
        "Second reader\n  claude haiku, answered in ",
        ", $0.0024, prompt of ",
        "Files (2)\n  alpha.txt: whole, 6 bytes; touched with Write\n  notes/beta.txt: left out: there is no such file",
    ] {
        run.check(run.stdout.contains(wanted), wanted);
    }
    insta::assert_snapshot!(
        steady(&project, &id, &show(&project, &[&format!("{id}.1")]).stdout)
            .replace(run.log.last().and_then(|stop| stop["id"].as_str()).expect("an id"), "[stop]")
            .lines()
            .filter(|line| !line.contains("became") && !line.contains("[stop]"))
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn the_newest_is_last() {
    let (mut project, _) = held();
    project.input["stop_hook_active"] = json!(true);
    project.run();
    let run = show(&project, &["last"]);
    run.check(run.stdout.contains("allow (loop-guard)"), "the stop after the block");
}

#[test]
fn for_programs_it_is_the_record_with_all_that_was_said_of_it() {
    let (mut project, id) = held();
    project.wrote("notes/beta.txt", "beta\n");
    project.says("Written.");
    project.input["stop_hook_active"] = json!(true);
    project.run().tells("1 finding, fixed");
    let run = show(&project, &[&id, "--json"]);
    let shown = json_of(&run);
    run.same(&shown["id"], &json!(id));
    run.same(&shown["outcomes"][0]["outcome"], &json!("fixed"));
    run.same(&shown["labels"], &json!([]));
    run.same(&shown["scene"]["steps"][1]["state"], &json!("ticked"));
    let one = json_of(&show(&project, &[&format!("{id}.1"), "--json"]));
    run.same(&(&one["of"], &one["number"]), &(&json!(id), &json!(1)));
    run.same(
        &(&one["finding"]["path"], &one["outcome"]["why"]),
        &(&json!("notes/beta.txt"), &json!("notes/beta.txt is there now")),
    );
}

/// Every name of a field in a value, but for those inside of findings, which are the record's own.
fn names(value: &Value, into: &mut std::collections::BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                into.insert(name.clone());
                if !matches!(name.as_str(), "then" | "now" | "finding") {
                    names(value, into);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, into)),
        _ => {}
    }
}

#[test]
fn the_document_names_every_field() {
    let (mut project, id) = held();
    project.says("notes/beta.txt is not needed.");
    project.input["stop_hook_active"] = json!(true);
    project.run().tells(&disputed(&id));
    let mut fields = std::collections::BTreeSet::new();
    let shown = json_of(&show(&project, &[&id, "--json"]));
    for own in ["outcomes", "labels", "scene"] {
        fields.insert(own.to_owned());
        names(&shown[own], &mut fields);
    }
    names(&json_of(&show(&project, &[&format!("{id}.1"), "--json"])), &mut fields);
    names(&json_of(&show(&project, &[&id, "--replay", "--json"])), &mut fields);
    let document = include_str!("../../../docs/log-show-json.md");
    for field in fields {
        assert!(document.contains(&format!("`{field}`")), "docs/log-show-json.md does not name `{field}`");
    }
}

#[test]
fn what_was_sent_and_what_came_back_are_printed_as_they_were() {
    let (project, id) = held();
    let prompt = show(&project, &[&id, "--prompt"]);
    prompt.same(&(prompt.status.code(), prompt.stderr.as_str()), &(Some(0), ""));
    prompt.check(
        prompt.stdout.contains(&project.tidy(&project.prompt("first"))),
        "all that the client was given",
    );
    let reply = show(&project, &[&id, "--reply"]);
    reply.check(reply.stdout.contains("nothing wrote notes/beta.txt"), "all that it said");
    fs::remove_file(project.path(&format!("state/audits/{id}.prompt.md"))).expect("gone");
    show(&project, &[&id, "--prompt"]).answers(
        1,
        "",
        &format!("punchlist: the prompt of decision {id} is gone: it was kept for as long as [log] keep and max_size allow\n"),
    );
}

#[test]
fn what_is_not_there_says_what_to_do() {
    let project = TestProject::with_drift();
    show(&project, &["last"]).answers(
        1,
        "",
        "punchlist: no decision is in the log yet: once the hook is registered, each stop of a session adds one, in DIR/state/decisions\n",
    );
    let (mut project, id) = held();
    show(&project, &["~"]).answers(
        1,
        "",
        "punchlist: no decision has an id that starts with \"~\"; `punchlist log` lists them, `last` is the newest, `held` the newest that held\n",
    );
    show(&project, &[&format!("{id}.2")]).answers(
        1,
        "",
        &format!("punchlist: decision {id} has no finding 2: they are numbered from 1 to 1\n"),
    );
    project.input["stop_hook_active"] = json!(true);
    let quiet = project.run().record()["id"].as_str().expect("an id").to_owned();
    // The stop after a block is the last one, and not the one that people ask about.
    for (word, meant) in [("last", &quiet), ("held", &id)] {
        let run = show(&project, &[word, "--json"]);
        run.same(&json_of(&run)["id"], &json!(meant));
    }
    show(&project, &["held.2"]).answers(
        1,
        "",
        &format!("punchlist: decision {id} has no finding 2: they are numbered from 1 to 1\n"),
    );
    show(&project, &["last", "--reply"]).answers(
        1,
        "",
        &format!("punchlist: decision {quiet} has no reply: no reader was asked (loop-guard)\n"),
    );
    show(&project, &["last", "--replay"]).answers(
        1,
        "",
        &format!("punchlist: decision {quiet} was made before anything was read (loop-guard): there is nothing to replay\n"),
    );
    for args in [&["last", "--prompt", "--reply"][..], &[], &["last", "--replay", "--prompt"]] {
        let run = show(&project, args);
        run.same(&run.status.code(), &Some(64));
    }
}

#[test]
fn a_replay_on_the_same_disk_says_the_same() {
    let (project, id) = held();
    let run = show(&project, &[&id, "--replay"]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    insta::assert_snapshot!(steady(&project, &id, &run.stdout));
}

#[test]
fn a_replay_on_another_disk_names_what_has_changed() {
    let (mut project, id) = held();
    project.wrote("notes/beta.txt", "beta\n");
    project.says("Now it is written.");
    // What the session did after the block is not read; what stands on the disk now is.
    let run = show(&project, &[&id, "--replay"]);
    insta::assert_snapshot!(steady(&project, &id, &run.stdout));
    let replayed = json_of(&show(&project, &[&id, "--replay", "--json"]));
    run.same(&(&replayed["then"], &replayed["now"]), &(&json!("block"), &json!("allow")));
    run.same(&replayed["changed"], &json!(["notes/beta.txt"]));
    run.same(&replayed["findings"][0]["difference"], &json!("now-refuted"));
}

#[test]
fn a_replay_without_its_reply_or_transcript_says_so() {
    let (project, id) = held();
    fs::remove_file(project.path(&format!("state/audits/{id}.reply.txt"))).expect("gone");
    let run = show(&project, &[&id, "--replay"]);
    run.check(
        run.stdout.contains("Caution: the first reader's reply is gone: only what disk and session show by themselves is compared\n"),
        "it says so",
    );
    run.check(run.stdout.contains("[A] same"), "the facts stand");
    fs::remove_file(project.path("transcript.jsonl")).expect("gone");
    fs::create_dir(project.path("transcript.jsonl")).expect("in its place");
    let run = show(&project, &[&id, "--replay"]);
    run.same(&(run.status.code(), run.stdout.as_str()), &(Some(1), ""));
    run.check(
        run.stderr.starts_with("punchlist: the transcript is gone or can't be read, and nothing can be replayed without it: DIR/transcript.jsonl: "),
        "it says so",
    );
}

#[test]
fn an_older_record_is_replayed_as_far_as_it_tells() {
    let (project, id) = held();
    let bytes = project.log()[0]["transcript"]["bytes"].as_u64().expect("a number");
    edit_log(&project, &format!("\"bytes\":{bytes},"), "");
    let run = show(&project, &[&id, "--replay"]);
    run.check(
        run.stdout.contains(
            "Caution: the record does not say how much of the transcript was read then: all of it is used",
        ),
        "it says so",
    );
    run.check(run.stdout.contains("[A] same"), "and is judged");
    let path = serde_json::to_string(&project.path("transcript.jsonl")).expect("json");
    edit_log(&project, &format!("\"path\":{path},\"rows\""), "\"rows\"");
    let run = show(&project, &[&id, "--replay"]);
    run.same(&(run.status.code(), run.stdout.as_str()), &(Some(1), ""));
    run.check(
        run.stderr.starts_with(&format!(
            "punchlist: decision {id} does not say where its transcript is, and it was not found: "
        )),
        "it says so",
    );
}

/// Changes the text of the log.
fn edit_log(project: &TestProject, from: &str, to: &str) {
    let folder = project.path("state/decisions");
    let file = fs::read_dir(folder).expect("the log").next().expect("a file").expect("a file").path();
    let text = fs::read_to_string(&file).expect("text");
    assert!(text.contains(from), "{from} is not in {text}");
    fs::write(&file, text.replace(from, to)).expect("written");
}

#[test]
fn a_hostile_record_does_not_steer_the_terminal() {
    let (project, id) = held();
    edit_log(&project, "notes/beta.txt does not exist", "\\u001b]0;owned\\u0007 and no notes/beta.txt");
    let run = show(&project, &[&id]);
    run.check(run.stdout.contains("\u{fffd}]0;owned\u{fffd} and no notes/beta.txt"), "shown as a mark");
    run.check(!run.stdout.contains(['\u{1b}', '\u{7}']), "nothing of it gets through");
}
