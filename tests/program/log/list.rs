//! `punchlist log` and `punchlist log list`.

use crate::log::machine::Machine;

/// Fewer than a year of a team has; what it takes at full size is for the benchmark to say.
const RECORDS: usize = 1500;

fn ids(machine: &Machine, args: &[&str]) -> Vec<String> {
    let args = [&["log", "list", "--json"], args].concat();
    machine.json(&args).iter().map(|record| record["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn the_newest_stand_last_and_log_alone_lists() {
    let machine = Machine::with_year(RECORDS);
    let list = machine.print(&["log"]);
    assert_eq!(list, machine.print(&["log", "list"]));
    assert_eq!(list.lines().count(), RECORDS);
    let newest: Vec<_> = list.lines().skip(RECORDS - 12).collect();
    assert_eq!(machine.print(&["log", "-n", "12"]).lines().count(), 12);
    let ids_of = |lines: &[&str]| lines.iter().map(|line| line[..10].to_owned()).collect::<Vec<_>>();
    let few = machine.print(&["log", "-n", "12"]);
    assert_eq!(ids_of(&few.lines().collect::<Vec<_>>()), ids_of(&newest));
    insta::assert_snapshot!(few);
}

#[test]
fn filters_combine() {
    let machine = Machine::with_year(RECORDS);
    let all = machine.json(&["log", "--json"]);
    let among = |is: &dyn Fn(&serde_json::Value) -> bool| -> Vec<String> {
        all.iter()
            .filter(|record| is(record))
            .map(|record| record["id"].as_str().expect("an id").to_owned())
            .collect()
    };
    let blocks = among(&|record| record["decision"] == "block");
    assert!(blocks.len() > 50);
    assert_eq!(ids(&machine, &["--decision", "block"]), blocks);
    let would = among(&|record| record["would_block"] == true);
    assert_eq!(ids(&machine, &["--decision", "would-block"]), would);
    assert_eq!(ids(&machine, &["--decision", "block,would-block"]).len(), blocks.len() + would.len());
    let is_in = |record: &serde_json::Value, from: &str, to: &str| {
        record["time"].as_str().is_some_and(|time| time >= from && time < to)
    };
    assert_eq!(
        ids(
            &machine,
            &["--since", "2026-02-03", "--until", "2026-03-01", "--project", "shop", "--cause", "clean"]
        ),
        among(&|record| {
            let project = record["project"].as_str().is_some_and(|project| project.ends_with("/shop"));
            is_in(record, "2026-02-03", "2026-03-02") && project && record["cause"] == "clean"
        })
    );
    let has = |record: &serde_json::Value, outcome: &str| {
        record["outcomes"].as_array().is_some_and(|all| all.iter().any(|note| note["outcome"] == outcome))
    };
    let disputed = among(&|record| has(record, "disputed"));
    assert!(!disputed.is_empty());
    assert_eq!(ids(&machine, &["--outcome", "disputed"]), disputed);
    let with_ask = among(&|record| {
        let findings = record["findings"].as_array().expect("a list");
        findings.iter().any(|finding| finding["category"] == "ask" && finding["status"] != "refuted")
    });
    assert_eq!(ids(&machine, &["--category", "ask"]), with_ask);
    let session = all[RECORDS / 2]["session"].as_str().expect("a session");
    let of_session = among(&|record| record["session"] == session);
    assert_eq!(ids(&machine, &["--session", &session[..13]]), of_session);
    let sentence = ids(&machine, &["--grep", "RENAMED it in the last", "--decision", "block"]);
    assert!(
        !sentence.is_empty() && sentence.iter().all(|id| disputed.contains(id)),
        "a note's words count, too"
    );
}

#[test]
fn an_empty_log_says_what_it_will_be_and_where() {
    let ran = Machine::new().run(&["log"]);
    insta::assert_snapshot!(format!("{:?}\n{}{}", ran.code, ran.stdout, ran.stderr));
    let ran = Machine::new().run(&["log", "--json"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn filters_that_mean_nothing_say_so() {
    let ran = Machine::with_year(50).run(&["log", "--cause", "error", "--project", "nowhere"]);
    insta::assert_snapshot!(format!("{:?}\n{}{}", ran.code, ran.stdout, ran.stderr));
}

#[test]
fn what_can_not_be_meant_is_told_with_what_can() {
    let machine = Machine::new();
    for (name, args) in [
        ("cause", &["log", "--cause", "auditor-time-out"][..]),
        ("since", &["log", "--since", "last tuesday"]),
        ("decision", &["log", "list", "--decision", "blok"]),
        ("turned", &["log", "--since", "2026-02-01", "--until", "2026-01-01"]),
    ] {
        let ran = machine.run(args);
        insta::assert_snapshot!(
            format!("unmeant-{name}"),
            format!("{:?}\n{}{}", ran.code, ran.stdout, ran.stderr)
        );
    }
}

#[test]
fn times_are_shown_in_the_persons_zone_and_meant_there() {
    let machine = Machine::new().var("TZ", "Asia/Kolkata");
    for (id, time) in [
        ("a", "2026-09-30T18:29:59.000Z"),
        ("b", "2026-09-30T18:30:00.000Z"),
        ("c", "2026-10-01T18:30:00.000Z"),
    ] {
        let line =
            format!(r#"{{"schema":1,"id":"{id}","time":"{time}","decision":"allow","cause":"clean"}}"#);
        machine.append(&time[..7], format!("{line}\n").as_bytes());
    }
    let list = machine.print(&["log"]);
    assert!(list.starts_with("a  2026-09-30 23:59"), "{list}");
    let day = machine.print(&["log", "--since", "2026-10-01", "--until", "2026-10-01"]);
    assert_eq!(day, "b  2026-10-01 00:00  -  -  allow  clean\n");
}

#[test]
fn what_can_not_be_read_is_counted_and_nobody_is_lost_by_it() {
    let machine = Machine::with_year(100);
    let before = machine.print(&["log"]).lines().count();
    let old = r#"{"schema":0,"id":"older","time":"2026-09-30T20:00:00Z","decision":"block"}"#;
    let newer = r#"{"schema":7,"id":"newer","time":"2026-09-30T20:00:00Z","verdict":{"hold":true}}"#;
    let noise = format!(
        "\0\0\0{old}\n{{\"schema\":1,\"id\":\"torn\n\u{fffd}\n{newer}\n{{\"kind\":\"mood\",\"schema\":4}}\n"
    );
    machine.append("2026-09", noise.as_bytes());
    // Somebody writes at this very moment.
    machine.append("2026-09", br#"{"schema":1,"id":"half"#);
    let ran = machine.run(&["log"]);
    assert_eq!(ran.stdout.lines().count(), before + 1);
    assert!(ran.stdout.lines().last().is_some_and(|line| line.starts_with("older ")), "{}", ran.stdout);
    insta::assert_snapshot!(ran.stderr);
    let json = machine.run(&["log", "--json", "-n", "1"]);
    assert_eq!(json.stdout, old.replacen('}', ",\"outcomes\":[],\"labels\":[]}\n", 1));
    let shown = machine.run(&["log", "show", "older"]);
    assert!(shown.stdout.starts_with("older  block (unknown)\n"), "{}{}", shown.stdout, shown.stderr);
    let paged = machine.run(&["log", "report", "-o", "page.html"]);
    assert!(
        paged.stdout.starts_with(&format!("DIR/page.html: {} decisions", before + 1)),
        "{}",
        paged.stdout
    );
}
