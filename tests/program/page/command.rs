//! The program that writes the page: what it says, what it refuses, what it leaves on disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use punchlist::log::{DecisionLog, Note};
use serde_json::json;

use crate::page::sample::made_up;

struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    /// A state folder with a log of three decisions, the last of them with a snapshot.
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().expect("a folder") };
        let log = DecisionLog::in_folder(&home.path("state"));
        let made = made_up(40);
        for annotated in &made.decisions[made.decisions.len() - 3..] {
            let time = annotated.decision.time.parse().expect("a time");
            log.append(&annotated.decision, time).expect("written");
            if let Some(snapshot) = made.snapshots.get(&annotated.decision.id) {
                punchlist::log::artifacts::write_snapshot(
                    &home.path("state"),
                    &annotated.decision.id,
                    snapshot,
                );
            }
        }
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_punchlist"))
            .args(["log", "report"])
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("PUNCHLIST_HOME", self.path("state"))
            .env("TZ", "Europe/Berlin")
            .env("PATH", self.path("bin"))
            .output()
            .expect("it runs")
    }

    /// What it said on stdout and stderr, and its code, with this folder called `~`.
    fn said(&self, args: &[&str]) -> (String, String, Option<i32>) {
        let output = self.run(args);
        let real = self.folder.path().canonicalize().expect("real");
        let plain = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let text = text.replace(&real.display().to_string(), "~");
            text.replace(&self.folder.path().display().to_string(), "~")
        };
        (plain(&output.stdout), plain(&output.stderr), output.status.code())
    }

    fn opener(&self, script: &str) {
        fs::create_dir_all(self.path("bin")).expect("made");
        let path = self.path("bin/xdg-open");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("allowed");
    }
}

/// The page's size, which is of no interest, taken out.
fn sizeless(text: &str) -> String {
    let (before, after) = text.rsplit_once(", ").expect("a size");
    assert!(after.ends_with(" kB\n"), "{after}");
    format!("{before}, SIZE\n")
}

fn is_page(path: &Path) -> bool {
    let text = fs::read_to_string(path).expect("there");
    text.starts_with("<!doctype html>") && text.ends_with("</html>\n")
}

#[test]
fn the_page_is_written_whole_and_said_where() {
    let home = Home::new();
    let (out, err, code) = home.said(&["-o", "report.html"]);
    assert_eq!(
        (sizeless(&out).as_str(), err.as_str(), code),
        ("~/report.html: 3 decisions, SIZE\n", "", Some(0))
    );
    assert!(is_page(&home.path("report.html")));
    let mode = fs::metadata(home.path("report.html")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it quotes people's code");
    fs::write(home.path("report.html"), "old").expect("written");
    assert_eq!(home.said(&["-o", "report.html"]).2, Some(0));
    assert!(is_page(&home.path("report.html")), "an older one is replaced");
    assert_eq!(
        fs::read_dir(home.folder.path()).expect("there").count(),
        2,
        "the page and the state, nothing else"
    );
}

#[test]
fn the_page_is_printed_for_a_dash() {
    let home = Home::new();
    let (out, err, code) = home.said(&["-o", "-"]);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    assert!(out.starts_with("<!doctype html>") && out.ends_with("</html>\n"));
    assert!(out.contains("Europe/Berlin"));
    assert!(out.contains("id=\"snapshot-"), "snapshots are found");
}

#[test]
fn filters_say_on_the_page_what_it_is_about() {
    let home = Home::new();
    let (out, _, code) =
        home.said(&["-o", "-", "--since", "2026-01-01", "--project", "nowhere", "--decision", "block,allow"]);
    assert_eq!(code, Some(0));
    assert!(
        out.contains(r#""only":"since 2026-01-01 00:00, of project nowhere, decided block or allow""#),
        "{out}"
    );
}

#[test]
fn an_empty_log_is_a_page_too() {
    let home = Home { folder: tempfile::tempdir().expect("a folder") };
    let (out, err, code) = home.said(&["-o", "report.html"]);
    assert_eq!((sizeless(&out).as_str(), code), ("~/report.html: 0 decisions, SIZE\n", Some(0)));
    assert_eq!(
        err,
        "punchlist: no decision is in the log yet: once the hook is registered, each stop of a session adds one, in \
         ~/state/decisions\n"
    );
    assert!(is_page(&home.path("report.html")));
    let (_, err, code) = Home::new().said(&["-o", "report.html", "--project", "nowhere"]);
    assert_eq!(code, Some(0));
    assert_eq!(err, "punchlist: none of the 3 decisions matches\n");
}

#[test]
fn what_can_not_be_read_is_told_and_counted() {
    let home = Home::new();
    let file = DecisionLog::in_folder(&home.path("state")).files().pop().expect("a file");
    let mut text = fs::read_to_string(&file).expect("there");
    text.push_str("{\"schema\":1,\"id\":\"to\n{\"schema\":9,\"id\":\"new\",\"kind\":\"dream\"}\n");
    fs::write(&file, text).expect("written");
    let (out, err, code) = home.said(&["-o", "-"]);
    assert_eq!(code, Some(0));
    assert_eq!(
        err,
        "punchlist: skipped in ~/state/decisions: 1 line that can't be read, 1 line written by a newer punchlist\n"
    );
    assert!(out.contains("\"torn\":2,"), "{out}");
}

#[test]
fn a_place_where_no_page_can_be_is_refused() {
    let home = Home::new();
    fs::create_dir(home.path("folder")).expect("made");
    for (place, why) in [
        ("folder", "that is a folder; name a file in it"),
        ("no/such/report.html", "there is no such folder"),
        ("/dev/null", "that is no regular file; -o - prints the page"),
    ] {
        let said = home.said(&["-o", place]);
        assert_eq!(said, (String::new(), format!("punchlist: -o {place}: {why}\n"), Some(1)));
    }
    let (_, err, code) = home.said(&["-o", "-", "--open"]);
    assert_eq!((err.as_str(), code), ("punchlist: --open needs a file to open: name one with -o\n", Some(1)));
    assert_eq!(fs::read_dir(home.path("folder")).expect("there").count(), 0);
}

#[test]
fn a_page_is_opened_or_said_not_to_be() {
    let home = Home::new();
    let (out, err, code) = home.said(&["-o", "report.html", "--open"]);
    assert_eq!((sizeless(&out).as_str(), code), ("~/report.html: 3 decisions, SIZE\n", Some(0)));
    assert_eq!(
        err,
        "punchlist: the page can't be opened from here (there is no xdg-open); open it yourself: ~/report.html\n"
    );
    home.opener("exit 3");
    let (_, err, code) = home.said(&["-o", "report.html", "--open"]);
    assert_eq!(code, Some(0));
    assert_eq!(
        err,
        "punchlist: the page can't be opened from here (xdg-open: exit status: 3); open it yourself: ~/report.html\n"
    );
    home.opener("echo \"$1\" >opened");
    let (_, err, code) = home.said(&["-o", "report.html", "--open"]);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let opened = fs::read_to_string(home.path("opened")).expect("opened");
    assert!(opened.ends_with("/report.html\n") && opened.starts_with('/'), "{opened}");
}

#[test]
fn what_was_said_of_a_decision_later_is_on_its_page() {
    let home = Home::new();
    let log = DecisionLog::in_folder(&home.path("state"));
    let mut id = String::new();
    log.read(|record| id = record.id).expect("readable");
    let note: Note = serde_json::from_value(
        json!({"kind": "label", "schema": 2, "id": "l", "time": "2026-11-16T00:00:00Z",
        "of": id, "label": "wrong", "note": "we looked"}),
    )
    .expect("a note");
    log.append_notes(&[note], "2026-11-16T00:00:00Z".parse().expect("a time")).expect("written");
    let (out, _, _) = home.said(&["-o", "-"]);
    assert!(out.contains(r#""label":[null,null,"wrong"]"#) && out.contains("we looked"), "{out}");
}
