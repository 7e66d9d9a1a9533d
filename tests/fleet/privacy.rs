//! What leaves the machine of a whole session: held, disputed and labelled, with something planted
//! wherever a person, a file, a command or a model could put it.

use serde_json::json;

use crate::machines::Fleet;
use crate::receiver::Receiver;
use crate::test_project::TestProject;

const SECRET: &str = concat!("AKIA", "Q3EGRTVX7WLMNB2C");

/// Everything that the database and the collector got of a session with plants.
fn shipped_of_a_session(fleet: &Fleet, more: &str) -> (String, String) {
    let receiver = Receiver::start();
    let mut project = TestProject::new();
    project.own_config(&format!(
        "[fleet]\nmachine = \"m1\"\ndatabase = \"{}\"\n{more}\n[telemetry]\notlp = \"{}\"\n\
         [[check]]\nname = \"suite\"\nrun = \"echo PLANTED check; exit 1\"\n",
        fleet.socket_url(),
        receiver.url
    ));
    project.git(&["init", "--quiet"]);
    project.git(&["remote", "add", "origin", &project.path("origin/shop.git").display().to_string()]);
    project.transcript.asked(&format!("PLANTED prompt, with the key {SECRET}."));
    project.wrote(
        "PLAN.md",
        "# Plan\n\n- [x] Create `alpha.txt`\n- [x] Say 'PLANTED words' in `notes/beta.txt`\n\
         - [x] Run `make PLANTED target`\n- [x] Create `notes/gone.txt` for PLANTED\n",
    );
    project.wrote("alpha.txt", &format!("PLANTED content\nkey = {SECRET}\n"));
    project.wrote("notes/beta.txt", "PLANTED greeting\n");
    let alpha = project.in_work("alpha.txt");
    project.transcript.rewrote(alpha.to_str().expect("text"), "PLANTED before\n", "PLANTED content\n");
    project.transcript.ran_in_vain("make PLANTED target", "PLANTED output");
    project.transcript.noted(&[("PLANTED todo", "completed")]);
    project.transcript.sent("a1", "PLANTED errand", "PLANTED report");
    let why = format!(
        "notes/beta.txt has \"PLANTED greeting\" where \u{201c}PLANTED words\u{201d} was promised, and `cat PLANTED` shows \
         it as `PLANTED`: Say 'PLANTED words' in `notes/beta.txt`, see {} and /srv/PLANTED/x with {SECRET}",
        project.in_work("notes/beta.txt").display()
    );
    let finding = json!({
        "category": "A", "sure": true, "kind": "wrong-content", "claim": "Say 'PLANTED words' in `notes/beta.txt`",
        "claimed_in": "plan", "proof": "PLANTED greeting", "path": "notes/beta.txt", "why": why,
        "settle": "PLANTED settle",
    });
    project.client(&format!(
        "first answer {}\nsecond verdicts uphold It has \"PLANTED greeting\".\n\
         settle states stands It still has \"PLANTED greeting\".\n\
         checklist answer {{\"claimed\":[],\"finished\":false}}",
        json!({ "findings": [finding], "candidates": [], "verdicts": [] })
    ));
    project.says("PLANTED final words: all steps are done.");
    let held = project.run();
    held.check(held.status.code() == Some(2) && held.stdout.contains("PLANTED words"), "it is held");
    project.input["stop_hook_active"] = json!(true);
    project.says("PLANTED dispute: notes/beta.txt says it in other words on purpose.");
    project.run();
    let label = ["log", "label", "last", "wrong", "--note", "PLANTED note"];
    for args in [&label[..], &["fleet", "push"], &[&label[..], &["--fleet"]].concat()] {
        let run = project.run_args(args);
        run.check(run.status.success(), "it is done");
    }
    let tables = ["tasks", "workers", "events", "prerequisites", "decisions", "notes"];
    let rows = tables.map(|table| fleet.sql(&format!("SELECT t::text FROM punchlist.{table} AS t"))).concat();
    let sent: Vec<u8> = receiver.taken().into_iter().flat_map(|request| request.body).collect();
    let all = rows + &String::from_utf8_lossy(&sent);
    (all, project.path("").display().to_string())
}

#[test]
fn nothing_that_a_session_or_its_files_say_leaves_the_machine_unless_it_is_to_go() {
    let Some(fleet) = Fleet::new() else { return };
    let (all, folder) = shipped_of_a_session(&fleet, "");
    let folder = folder.trim_matches('/');
    for word in ["PLANTED", SECRET, folder, "/srv"] {
        assert!(!all.contains(word), "{word} left the machine: {all}");
    }
    for word in ["notes/beta.txt", "suite", "wrong", "disputed"] {
        assert!(all.contains(word), "{word} is missing: {all}");
    }
    let Some(fleet) = Fleet::new() else { return };
    let (all, folder) = shipped_of_a_session(&fleet, "ship_evidence = true");
    for word in ["PLANTED words", "PLANTED greeting", "PLANTED dispute", "PLANTED note"] {
        assert!(all.contains(word), "{word} is missing: {all}");
    }
    for word in
        [SECRET, folder.trim_matches('/'), "/srv", "PLANTED prompt", "PLANTED content", "PLANTED before"]
    {
        assert!(!all.contains(word), "{word} left the machine: {all}");
    }
}
