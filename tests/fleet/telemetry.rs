//! A collector gets every decision, figures that are right across processes, and nobody's words; no
//! stop waits for it.
#![expect(clippy::float_cmp, reason = "sums of so few quarters are exact")]

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::machines::{Fleet, Machine};
use crate::postgres::free_port;
use crate::receiver::{Manner, Receiver, attribute};

const CONFIG: &str = "home/.config/punchlist/config.toml";
const LOG: &str = "state/decisions/2026-01.jsonl";
const CURSOR: &str = "state/telemetry-cursor.json";

/// A machine without a database that exports to a collector.
fn machine(url: &str) -> Machine {
    let machine = Machine::new("m1", "unused");
    configure(&machine, url, "");
    machine
}

fn configure(machine: &Machine, url: &str, more: &str) {
    let config = format!("[telemetry]\notlp = \"{url}\"\n[fleet]\nmachine = \"m1\"\n{more}");
    machine.write(CONFIG, &config);
}

/// A line of the log: a block with one finding of a category, and what both readers took.
fn held(id: &str) -> String {
    let line = r#"{"schema":1,"id":"ID","time":"2026-01-01T00:00:00Z","session":"s1","project":"/home/ann/shop",
        "decision":"block","cause":"findings","findings":[{"category":"A","status":"confirmed","why":"it is missing"}],
        "auditor":{"model":"haiku","outcome":"answered","duration_ms":2000,"usage":{"input_tokens":10,
        "cache_read_tokens":1000,"output_tokens":20,"cost_usd":0.25}},
        "second_reader":{"model":"haiku","outcome":"timed-out","duration_ms":90000,"usage":{}}}"#;
    line.replace("\n        ", "").replace("ID", id) + "\n"
}

fn outcome(id: &str, of: &str, outcome: &str) -> String {
    format!(
        "{{\"kind\":\"outcome\",\"schema\":2,\"id\":\"{id}\",\"time\":\"2026-01-01T00:00:01Z\",\"project\":\"/home/ann/shop\",\
         \"of\":\"{of}\",\"finding\":1,\"category\":\"A\",\"outcome\":\"{outcome}\"}}\n"
    )
}

#[test]
fn a_stop_exports_its_decision_as_a_record_and_its_figures() {
    let receiver = Receiver::start();
    let machine = machine(&receiver.url);
    assert_eq!(machine.stop("s1").stderr, "");
    machine.print(&["fleet", "push"]);
    let records = receiver.records();
    assert_eq!(records.len(), 1, "exported once: {records:?}");
    let record = &records[0];
    let line: Value = serde_json::from_str(
        fs::read_dir(machine.path("state/decisions"))
            .expect("a log")
            .flatten()
            .map(|file| fs::read_to_string(file.path()).expect("text"))
            .collect::<String>()
            .trim(),
    )
    .expect("one line");
    let of = |name: &str| attribute(&record.attributes, name);
    assert_eq!(record.event_name, "punchlist.decision");
    assert_eq!((of("log.record.uid"), of("punchlist.decision.id")), (id(&line), id(&line)));
    assert_eq!((of("punchlist.decision"), of("session.id")), ("allow".into(), "s1".into()));
    assert_eq!(of("punchlist.project"), "example.org/acme/shop");
    assert_eq!((record.severity_number, record.severity_text.as_str()), (9, "INFO"));
    assert!(record.time_unix_nano > 0 && record.observed_time_unix_nano >= record.time_unix_nano);
    let (resource, _) = receiver.newest();
    assert_eq!(attribute(&resource, "service.name"), "punchlist");
    assert_eq!(attribute(&resource, "host.name"), "m1");
    let instance = attribute(&resource, "service.instance.id");
    assert_eq!(instance.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{instance}");
    let stops = receiver.points("punchlist.stops");
    assert_eq!((stops.len(), stops[0].value), (1, 1.0));
    assert_eq!(stops[0].start, record.time_unix_nano);
}

fn id(line: &Value) -> String {
    line["id"].as_str().expect("an id").to_owned()
}

#[test]
fn every_figure_of_a_decision_and_its_outcome_is_exported() {
    let receiver = Receiver::start();
    let machine = machine(&receiver.url);
    machine
        .write(LOG, &(held("a") + &held("b") + &outcome("n", "a", "fixed") + &outcome("o", "b", "disputed")));
    machine.print(&["worker", "register", "w1"]);
    machine.print(&["tasks", "add", "One"]);
    machine.print(&["tasks", "add", "Two"]);
    machine.print(&["tasks", "claim", "--worker", "w1"]);
    assert_eq!(machine.print(&["fleet", "push"]), "Exported: 4 lines. Nothing is left.\n");
    let values = |name: &str, label: &str| -> Vec<(String, f64)> {
        let points = receiver.points(name);
        let of = |attributes: &[(String, String)]| {
            attributes
                .iter()
                .find(|(name, _)| name == label)
                .map(|(_, value)| value.clone())
                .unwrap_or_default()
        };
        let mut all: Vec<_> = points.iter().map(|point| (of(&point.attributes), point.value)).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    let named = |all: &[(&str, f64)]| {
        all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect::<Vec<_>>()
    };
    assert_eq!(values("punchlist.stops", "punchlist.cause"), named(&[("findings", 2.0)]));
    assert_eq!(values("punchlist.holds", "punchlist.cause"), named(&[("findings", 2.0)]));
    assert_eq!(values("punchlist.findings", "punchlist.finding.category"), named(&[("A", 2.0)]));
    assert_eq!(
        values("punchlist.finding.outcomes", "punchlist.finding.outcome"),
        named(&[("disputed", 1.0), ("fixed", 1.0)])
    );
    assert_eq!(
        values("punchlist.findings.judged", "punchlist.finding.judgement"),
        named(&[("right", 1.0), ("wrong", 1.0)])
    );
    assert_eq!(values("punchlist.precision", ""), named(&[("", 0.5)]));
    assert_eq!(
        values("gen_ai.client.operation.duration", "error.type"),
        named(&[("", 2.0), ("timed-out", 2.0)])
    );
    assert_eq!(
        values("gen_ai.client.token.usage", "gen_ai.token.type"),
        named(&[("cache_read", 2.0), ("input", 2.0), ("output", 2.0)])
    );
    assert_eq!(values("punchlist.cost", "gen_ai.request.model"), named(&[("haiku", 0.5)]));
    assert_eq!(
        values("punchlist.queue.depth", "punchlist.task.status"),
        named(&[("accepted", 1.0), ("assigned", 0.0), ("dead", 0.0), ("in_progress", 0.0), ("open", 1.0)])
    );
    assert_eq!(values("punchlist.workers.alive", "punchlist.queue"), named(&[("default", 1.0)]));
    let (_, metrics) = receiver.newest();
    let exported: Vec<_> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    let all: Vec<_> = punchlist::fleet::telemetry::metric::ALL.iter().map(|metric| metric.name).collect();
    assert_eq!(exported, all, "every metric, and no other");
}

#[test]
fn two_pushes_and_a_restart_count_every_line_once() {
    let receiver = Receiver::start();
    let machine = machine(&receiver.url);
    machine.write(LOG, &(held("a") + &held("b")));
    machine.print(&["fleet", "push"]);
    let first = receiver.points("punchlist.stops");
    assert_eq!(machine.print(&["fleet", "push"]), "Nothing was left to export.\n");
    assert_eq!(receiver.points("punchlist.stops"), first, "a sum that comes again says the same");
    machine.write(LOG, &(held("a") + &held("b") + &held("c")));
    machine.print(&["fleet", "push"]);
    let second = receiver.points("punchlist.stops");
    assert_eq!((second[0].value, second[0].start), (3.0, first[0].start));
    assert_eq!(receiver.total("punchlist.cost"), 0.75);
    assert_eq!(receiver.ids(), ["a", "b", "c"]);
    // The position is lost: counted anew, with the same start and the same sums.
    fs::remove_file(machine.path(CURSOR)).expect("a cursor");
    machine.print(&["fleet", "push"]);
    assert_eq!(receiver.points("punchlist.stops"), second);
}

#[test]
fn a_log_whose_start_was_pruned_was_counted_twice() {
    let receiver = Receiver::start();
    let machine = machine(&receiver.url);
    machine.write(LOG, &(held("a") + &held("b") + &held("c")));
    machine.print(&["fleet", "push"]);
    machine.write(LOG, &(held("b") + &held("c") + &held("d")));
    machine.print(&["fleet", "push"]);
    assert_eq!((receiver.total("punchlist.stops"), receiver.ids().len()), (4.0, 4));
    // With it goes all that was exported.
    machine.write(LOG, &held("e"));
    machine.print(&["fleet", "push"]);
    assert_eq!((receiver.total("punchlist.stops"), receiver.ids().len()), (5.0, 5));
    fs::remove_file(machine.path(LOG)).expect("a log");
    machine.write("state/decisions/2026-02.jsonl", &held("f"));
    machine.print(&["fleet", "push"]);
    assert_eq!(receiver.total("punchlist.stops"), 6.0);
    assert_eq!(receiver.ids(), ["a", "b", "c", "d", "e", "f"]);
}

#[test]
fn an_answer_that_was_lost_brings_a_record_twice_by_one_id_and_counts_it_once() {
    let receiver = Receiver::start();
    let machine = machine(&receiver.url);
    machine.write(LOG, &held("a"));
    receiver.set(Manner::LosesAnswers);
    machine.fails(&["fleet", "push"]);
    receiver.set(Manner::Takes);
    machine.print(&["fleet", "push"]);
    let ids = receiver.ids();
    assert!(ids.len() >= 2 && ids.iter().all(|id| id == "a"), "{ids:?}");
    assert_eq!(receiver.total("punchlist.stops"), 1.0);
}

#[test]
fn a_collector_that_is_down_or_refuses_costs_no_decision_and_gets_it_later() {
    let receiver = Receiver::start();
    let machine = machine(&format!("http://127.0.0.1:{}", free_port()));
    let output = machine.stop("s1");
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (Some(0), "", ""));
    let told = machine.run(&["fleet", "doctor"]).stdout;
    assert!(told.contains("can't be reached") && told.contains("1 line waits to be shipped"), "{told}");
    assert!(!told.contains("database"), "none is set, and none is missed: {told}");
    configure(&machine, &receiver.url, "");
    for status in [401, 404, 429, 503] {
        receiver.set(Manner::Refuses(status));
        let told = machine.fails(&["fleet", "push"]);
        assert!(told.contains(&status.to_string()), "{told}");
    }
    receiver.set(Manner::Takes);
    assert_eq!(machine.print(&["fleet", "push"]), "Exported: 1 line. Nothing is left.\n");
    assert_eq!((receiver.ids().len(), receiver.total("punchlist.stops")), (1, 1.0));
    let text = machine.print(&["fleet", "doctor"]);
    assert!(text.contains("takes what it is sent") && text.ends_with("All fine.\n"), "{text}");
}

#[test]
fn a_collector_that_does_not_answer_keeps_no_stop_waiting() {
    let receiver = Receiver::start();
    let machine = machine(&receiver.url);
    receiver.set(Manner::Waits(Duration::from_secs(60)));
    let begun = Instant::now();
    let output = machine.stop("s1");
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (Some(0), "", ""));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    receiver.forget();
    machine.stop("s2");
    assert_eq!(receiver.taken().len(), 0, "the next stop leaves it alone for a while");
}

#[test]
fn a_record_that_the_collector_can_not_take_keeps_no_other_back() {
    let receiver = Receiver::start();
    let machine = machine(&receiver.url);
    let lines: String = ["a", "b", "poison", "c", "d"].map(held).concat();
    machine.write(LOG, &lines);
    receiver.set(Manner::RefusesWith(400, "poison"));
    assert_eq!(
        machine.print(&["fleet", "push"]),
        "Exported: 4 lines, 1 line was refused for what is in them. Nothing is left.\n"
    );
    assert_eq!(receiver.ids(), ["a", "b", "c", "d"]);
    assert_eq!(receiver.total("punchlist.stops"), 5.0, "it was a stop all the same");
}

#[test]
fn a_collector_that_refuses_every_message_had_every_record_given_up() {
    let receiver = Receiver::start();
    let machine = machine(&receiver.url);
    machine.write(LOG, &["a", "b", "c"].map(held).concat());
    for status in [400, 413] {
        receiver.set(Manner::Refuses(status));
        let told = machine.fails(&["fleet", "push"]);
        assert!(told.ends_with(&format!(" refuses what it is sent ({status})\n")), "{told}");
        assert!(machine.run(&["fleet", "doctor"]).stdout.contains("3 lines wait to be shipped"));
    }
    receiver.set(Manner::Takes);
    assert_eq!(machine.print(&["fleet", "push"]), "Exported: 3 lines. Nothing is left.\n");
    assert_eq!(receiver.ids(), ["a", "b", "c"]);
}

/// The Python that has the official definitions: the one that the variable names, which then must,
/// else the one on the path.
fn python() -> Option<String> {
    if let Ok(named) = std::env::var("PUNCHLIST_OTLP_PYTHON") {
        return Some(named);
    }
    let import = ["-c", "import opentelemetry.proto.collector.logs.v1.logs_service_pb2"];
    let has_it = Command::new("python3").args(import).output().is_ok_and(|output| output.status.success());
    if !has_it {
        eprintln!("SKIPPED: there is no Python with opentelemetry-proto here");
    }
    has_it.then(|| "python3".to_owned())
}

#[test]
fn what_is_exported_is_decoded_by_somebody_elses_definitions() {
    let Some(python) = python() else { return };
    let receiver = Receiver::start();
    let machine = machine(&receiver.url);
    machine.write(LOG, &(held("a") + &outcome("n", "a", "fixed")));
    machine.print(&["fleet", "push"]);
    let mut decode = Command::new(python);
    decode.args(["-c", include_str!("decode.py")]);
    for (number, request) in receiver.taken().iter().enumerate() {
        let file = machine.path(&format!("message-{number}"));
        fs::write(&file, &request.body).expect("written");
        decode.arg(request.path.trim_start_matches("/v1/")).arg(file);
    }
    let output = decode.output().expect("Python");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let decoded: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let parts = |kind: &str, scope: &str, each: &str| -> Vec<Value> {
        let all = decoded.iter().filter_map(|message| message[kind][0][scope][0][each].as_array());
        all.flatten().cloned().collect()
    };
    let of = |attributes: &Value, name: &str| {
        let found = attributes.as_array().and_then(|all| all.iter().find(|one| one["key"] == name));
        found.map(|one| one["value"]["stringValue"].clone()).unwrap_or_default()
    };
    let records = parts("resourceLogs", "scopeLogs", "logRecords");
    let ids: Vec<_> = records.iter().map(|record| of(&record["attributes"], "log.record.uid")).collect();
    assert_eq!(ids, ["a", "n"]);
    let record = &records[0];
    assert_eq!(
        (&record["eventName"], &record["severityText"]),
        (&"punchlist.decision".into(), &"WARN".into())
    );
    let body = record["body"]["kvlistValue"]["values"].clone();
    assert_eq!(of(&body, "cause"), "findings");
    let metrics = parts("resourceMetrics", "scopeMetrics", "metrics");
    let named = |name: &str| metrics.iter().find(|metric| metric["name"] == name).expect(name).clone();
    assert_eq!(named("punchlist.stops")["sum"]["dataPoints"][0]["asInt"], "1");
    assert_eq!(named("punchlist.cost")["sum"]["dataPoints"][0]["asDouble"], 0.25);
    assert_eq!(named("punchlist.precision")["gauge"]["dataPoints"][0]["asDouble"], 1.0);
    let durations = named("gen_ai.client.operation.duration")["histogram"]["dataPoints"].clone();
    let counts: Vec<_> = durations.as_array().expect("points").iter().map(|point| &point["count"]).collect();
    assert_eq!(counts, ["1", "1"]);
}

#[test]
fn only_the_person_names_a_collector() {
    let (theirs, own) = (Receiver::start(), Receiver::start());
    let machine = machine(&own.url);
    machine.write(CONFIG, "");
    machine.write("code/shop/.claude/punchlist.toml", &format!("[telemetry]\notlp = \"{}\"\n", theirs.url));
    machine.stop("s1");
    machine.fails(&["fleet", "push"]);
    assert_eq!(theirs.taken().len(), 0);
    let mut command = machine.command(&["fleet", "push"]);
    let output = machine.run_command(command.env("PUNCHLIST_OTLP", &own.url));
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!((own.ids().len(), theirs.taken().len()), (1, 0));
}

#[test]
fn a_password_of_the_url_is_the_collectors_and_nobody_is_shown_it() {
    let receiver = Receiver::start();
    let machine = machine(&receiver.url.replace("http://", "http://ann:secret@"));
    machine.write(LOG, &held("a"));
    machine.print(&["fleet", "push"]);
    let taken = receiver.taken();
    let sent = taken[0].head.lines().find(|line| line.to_lowercase().starts_with("authorization:"));
    assert_eq!(
        sent.and_then(|line| line.split_once(": ")).map(|(_, value)| value),
        Some("Basic YW5uOnNlY3JldA==")
    );
    for args in [&["fleet", "doctor"][..], &["config", "show"]] {
        let output = machine.run(args);
        assert!(!output.stdout.contains("secret") && !output.stderr.contains("secret"), "{}", output.stdout);
    }
}

#[test]
fn database_and_collector_each_get_every_decision_and_the_fleets_queue_has_one_name() {
    let Some(fleet) = Fleet::new() else { return };
    let receiver = Receiver::start();
    let machines = ["m1", "m2"].map(|name| {
        let machine = fleet.machine(name);
        let telemetry = format!("[telemetry]\notlp = \"{}\"\n", receiver.url);
        machine.configure(name, &fleet.url(), &telemetry);
        machine
    });
    machines[0].print(&["worker", "register"]);
    machines[0].print(&["tasks", "add", "One"]);
    for machine in &machines {
        machine.stop("s1");
        machine.print(&["fleet", "push"]);
        let of = |label: &str, name: &str| -> Vec<String> {
            let attributes = receiver.points(name).into_iter().flat_map(|point| point.attributes);
            attributes.filter(|(name, _)| name == label).map(|(_, value)| value).collect()
        };
        assert_eq!(of("punchlist.registry", "punchlist.workers.alive"), ["fleet"]);
        assert_eq!(receiver.total("punchlist.queue.depth"), 1.0);
        let marks = machine.json(&["fleet", "doctor", "--json"]);
        let names: Vec<_> =
            marks["checks"].as_array().expect("checks").iter().map(|one| &one["name"]).collect();
        // One that is longer than its column ran into what was found.
        assert_eq!(names, ["database", "tables", "rights", "clock", "spool", "otlp", "otlp"]);
        assert_eq!(marks["fine"], true, "{marks}");
    }
    assert_eq!(fleet.sql("SELECT count(*) FROM punchlist.decisions"), "2");
    assert_eq!(receiver.ids().len(), 2);
    // One that is down keeps nothing from the other.
    machines[0].configure(
        "m1",
        &format!("postgres://x:y@127.0.0.1:{}/z", free_port()),
        &format!("[telemetry]\notlp = \"{}\"\n", receiver.url),
    );
    machines[0].stop("s2");
    let pushed = machines[0].run(&["fleet", "push"]);
    assert!(pushed.code == Some(1) && pushed.stderr.contains("can't be reached"), "{}", pushed.stderr);
    assert_eq!(receiver.ids().len(), 3);
}
