//! `stats`, `label`, `export`, `prune` and `path`, as a person sees them.

use std::fs;

use serde_json::Value;

use crate::log::machine::Machine;
use crate::test_machine::ProgramOutput;

const RECORDS: usize = 1500;

fn whole(ran: &ProgramOutput) -> String {
    format!("{:?}\n{}{}", ran.code, ran.stdout, ran.stderr)
}

#[test]
fn stats_of_a_year() {
    let machine = Machine::with_year(RECORDS);
    insta::assert_snapshot!(machine.print(&["log", "stats"]));
}

#[test]
fn stats_of_two_weeks_are_by_day() {
    let machine = Machine::with_year(RECORDS);
    insta::assert_snapshot!(
        machine.print(&["log", "stats", "--since", "2026-05-04", "--until", "2026-05-17"])
    );
}

#[test]
fn stats_of_nothing_say_so() {
    insta::assert_snapshot!(whole(&Machine::new().run(&["log", "stats"])));
}

#[test]
fn stats_agree_with_the_records() {
    let machine = Machine::with_year(RECORDS);
    let stats: Value = serde_json::from_str(&machine.print(&["log", "stats", "--json"])).expect("JSON");
    let records = machine.json(&["log", "--json"]);
    assert_eq!(stats["decisions"], RECORDS);
    let blocks: Vec<_> = records.iter().filter(|record| record["decision"] == "block").collect();
    assert_eq!(stats["blocks"], blocks.len());
    let all_notes = blocks.iter().flat_map(|record| record["outcomes"].as_array().expect("a list"));
    assert_eq!(stats["outcomes"]["fixed"], all_notes.filter(|note| note["outcome"] == "fixed").count());
    let readers = records.iter().flat_map(|record| [&record["auditor"], &record["second_reader"]]);
    let cost: f64 = readers.filter_map(|reader| reader["usage"]["cost_usd"].as_f64()).sum();
    let days: f64 =
        stats["days"].as_array().expect("days").iter().filter_map(|day| day["cost_usd"].as_f64()).sum();
    assert!((cost - days).abs() < 1e-6, "{cost} {days}");
    let empty: Value =
        serde_json::from_str(&Machine::new().print(&["log", "stats", "--json"])).expect("JSON");
    assert_eq!((&empty["decisions"], &empty["block_rate"]), (&Value::from(0), &Value::Null));
}

/// Every field of the figures stands in the document about them.
#[test]
fn each_field_of_the_json_is_documented() {
    fn names(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    into.push(name.clone());
                    names(field, into);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| names(item, into)),
            _ => {}
        }
    }
    let machine = Machine::with_year(RECORDS);
    let document = include_str!("../../../docs/log-json.md");
    let mut all = Vec::new();
    names(&serde_json::from_str(&machine.print(&["log", "stats", "--json"])).expect("JSON"), &mut all);
    names(
        &serde_json::from_str(&machine.print(&["log", "prune", "--dry-run", "--json"])).expect("JSON"),
        &mut all,
    );
    names(&serde_json::from_str(&machine.print(&["log", "path", "--json"])).expect("JSON"), &mut all);
    for record in machine.json(&["log", "--json"]) {
        let mut record = record;
        // The phases are named in the code, and these grow.
        record.as_object_mut().expect("an object").remove("phases_ms");
        names(&record, &mut all);
    }
    all.sort();
    all.dedup();
    let missing: Vec<_> = all.iter().filter(|name| !document.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

const BLOCK: &str = r#"{"schema":1,"id":"k3f92m7q1x","time":"2026-10-01T08:00:00.000Z","project":"/w/shop","decision":"block","cause":"findings","findings":[{"category":"A","status":"confirmed","source":"facts","kind":"missing"},{"category":"B","status":"confirmed","source":"reader","kind":"not-in-plan"}]}"#;
const CLEAN: &str = r#"{"schema":1,"id":"k3zzzzzzzz","time":"2026-10-01T09:00:00.000Z","project":"/w/shop","decision":"allow","cause":"clean"}"#;

fn two() -> Machine {
    let machine = Machine::new();
    machine.append("2026-10", format!("{BLOCK}\n{CLEAN}\n").as_bytes());
    machine
}

#[test]
fn a_label_is_noted_and_counts_before_what_the_agent_said() {
    let machine = two();
    let outcome = r#"{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T08:10:00Z","of":"k3f92m7q1x","finding":2,"outcome":"disputed"}"#;
    machine.append("2026-10", format!("{outcome}\n").as_bytes());
    assert_eq!(
        machine.print(&["log", "label", "k3f.2", "right", "--note", "it was missing"]),
        "Noted: finding 2 of k3f92m7q1x was right.\n"
    );
    let stats: Value = serde_json::from_str(&machine.print(&["log", "stats", "--json"])).expect("JSON");
    assert_eq!(
        (&stats["precision"]["overall"]["right"], &stats["precision"]["overall"]["wrong"]),
        (&1.into(), &0.into())
    );
    assert_eq!(
        machine.print(&["log", "label", "k3f92m7q1x", "wrong"]),
        "Noted: k3f92m7q1x and its 2 findings were wrong.\n"
    );
    assert_eq!(machine.print(&["log", "label", "k3z", "wrong"]), "Noted: k3zzzzzzzz was wrong.\n");
    let records = machine.json(&["log", "--json", "--outcome", "wrong"]);
    assert_eq!(records.len(), 2);
    assert_eq!(records[0]["labels"].as_array().map(Vec::len), Some(2));
    assert_eq!(records[0]["labels"][0]["note"], "it was missing");
    let json = machine.json(&["log", "label", "k3z", "right", "--json"]);
    assert_eq!(
        (&json[0]["kind"], &json[0]["of"], &json[0]["label"]),
        (&"label".into(), &"k3zzzzzzzz".into(), &"right".into())
    );
    assert_eq!(machine.json(&["log", "--json", "--outcome", "right"]).len(), 1, "the newest counts");
}

#[test]
fn what_can_not_be_labelled_is_told_with_the_reason() {
    let machine = two();
    for (name, of) in [
        ("unknown", "zz"),
        ("ambiguous", "k3"),
        ("range", "k3f.3"),
        ("none", "k3z.1"),
        ("number", "k3f.two"),
        ("zero", "k3f.0"),
        ("empty", ".1"),
    ] {
        insta::assert_snapshot!(format!("label-{name}"), whole(&machine.run(&["log", "label", of, "right"])));
    }
    insta::assert_snapshot!("label-word", whole(&machine.run(&["log", "label", "k3f", "rihgt"])));
    assert_eq!(machine.json(&["log", "--json"])[0]["labels"], Value::Array(vec![]), "nothing was written");
}

#[test]
fn decisions_are_exported_as_lines_and_as_a_table() {
    let machine = Machine::with_year(300);
    assert_eq!(machine.print(&["log", "export"]), machine.print(&["log", "list", "--json"]));
    let csv = machine.print(&["log", "export", "--format", "csv", "--decision", "block"]);
    let blocks = machine.print(&["log", "--decision", "block"]);
    assert_eq!(csv.matches("\r\n").count(), blocks.lines().count() + 1);
    let head: String = csv.lines().take(4).map(|line| format!("{line}\n")).collect();
    insta::assert_snapshot!(head.replace('\r', ""));
}

#[test]
fn where_the_log_is() {
    let machine = two();
    assert_eq!(machine.print(&["log", "path"]), "DIR/state/decisions\n");
    let json: Value = serde_json::from_str(&machine.print(&["log", "path", "--json"])).expect("JSON");
    assert_eq!(json["files"][0], "DIR/state/decisions/2026-10.jsonl");
}

/// A decision so many days ago.
fn days_ago(id: &str, days: i64) -> (String, String) {
    let then = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * days);
    let line = format!(r#"{{"schema":1,"id":"{id}","time":"{then:.3}","decision":"allow","cause":"clean"}}"#);
    (then.strftime("%Y-%m").to_string(), line + "\n")
}

#[test]
fn prune_takes_out_what_is_old_to_the_day_and_says_so() {
    let machine = Machine::new();
    for (id, days) in [("a", 400), ("b", 200), ("c", 31), ("d", 29), ("e", 1)] {
        let (month, line) = days_ago(id, days);
        machine.append(&month, line.as_bytes());
    }
    fs::create_dir_all(machine.state().join("audits")).expect("a folder");
    fs::write(machine.state().join("audits/e.prompt.md"), "new").expect("written");
    let ids =
        || machine.json(&["log", "--json"]).iter().map(|record| record["id"].to_string()).collect::<String>();
    let said = machine.print(&["log", "prune", "--keep", "30d", "--dry-run"]);
    assert!(said.starts_with("Would be removed from DIR/state (limits: 30 days and 200.0 MB):\n"), "{said}");
    assert_eq!(ids(), r#""a""b""c""d""e""#);
    let dry: Value =
        serde_json::from_str(&machine.print(&["log", "prune", "--keep", "30d", "--dry-run", "--json"]))
            .expect("JSON");
    let said = machine.print(&["log", "prune", "--keep", "30d"]);
    assert!(said.starts_with("Removed from DIR/state"), "{said}");
    assert_eq!(ids(), r#""d""e""#);
    let left: u64 = walk(&machine.state());
    assert_eq!((dry["left_bytes"].as_u64(), dry["dry_run"].as_bool()), (Some(left), Some(true)));
    assert!(machine.state().join("audits/e.prompt.md").exists());
    let said = machine.print(&["log", "prune", "--keep", "30d"]);
    assert!(
        said.starts_with(
            "Nothing in DIR/state is too old or too large (limits: 30 days and 200.0 MB); it takes "
        ),
        "{said}"
    );
    let said = machine.run(&["log", "prune", "--keep", "soon"]);
    insta::assert_snapshot!(whole(&said));
}

fn walk(folder: &std::path::Path) -> u64 {
    let files = fs::read_dir(folder).expect("a folder").filter_map(Result::ok);
    files
        .map(|entry| {
            if entry.path().is_dir() {
                walk(&entry.path())
            } else {
                entry.metadata().map_or(0, |meta| meta.len())
            }
        })
        .sum()
}

#[test]
fn prune_by_size_takes_prompts_before_months() {
    let machine = Machine::with_year(200);
    fs::create_dir_all(machine.state().join("audits")).expect("a folder");
    fs::write(machine.state().join("audits/x.prompt.md"), vec![b'x'; 50_000]).expect("written");
    let said = machine.print(&["log", "prune", "--keep", "99999d", "--max-size", "1GB"]);
    assert!(said.starts_with("Nothing"), "{said}");
    let said = machine.print(&["log", "prune", "--keep", "99999d", "--max-size", "200kB"]);
    assert!(said.contains("\n  1 artifact of an audit (50.0 kB)\n"), "{said}");
    assert!(!machine.state().join("audits/x.prompt.md").exists());
    assert!(walk(&machine.state()) <= 200_000);
}
