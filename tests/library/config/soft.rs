//! A wrong key costs that key: what is right in a file counts, and what is wrong is told without a
//! secret.

use punchlist::config::{ConfigError, parse::parse, reference, summary};
use punchlist::testing::ConfigFiles;
use std::path::Path;

/// What counts of a file, and what is said of the rest.
fn parsed(text: &str) -> (String, Vec<String>) {
    let parsed = parse(text, "x");
    (parsed.table.to_string(), parsed.errors.iter().map(ToString::to_string).collect())
}

#[test]
fn a_wrong_key_costs_that_key_and_the_other_file_still_counts() {
    let (config, faults) = ConfigFiles::with(
        Some("[gates]\nmax_blocks = \"many\"\ndry_run = true\n[auditor]\nmodle = \"x\"\nmodel = \"opus\"\n[logs]\nkeep = \"1d\"\n"),
        Some("[audit]\nunrun_checks = \"block\"\nplanless = 7\n[checklist]\nplan = true\n"),
    )
    .load(&[]);
    assert_eq!(
        (config.gates.max_blocks, config.gates.dry_run, config.auditor.model.as_str()),
        (3, true, "opus")
    );
    assert_eq!(
        (config.audit.unrun_checks, config.checklist.plan),
        (punchlist::config::UnrunChecks::Block, true)
    );
    let keys: Vec<&str> = faults.iter().filter_map(|fault| fault.split(": ").nth(1)).collect();
    assert_eq!(keys, ["gates.max_blocks", "auditor.modle", "logs", "audit.planless"], "{faults:#?}");
}

#[test]
fn what_is_no_toml_costs_its_key_or_its_table() {
    for (text, counts, lines) in [
        // The value of one key.
        ("[gates]\nmax_blocks =\ndry_run = true\n", "[gates]\ndry_run = true\n", &[2][..]),
        ("[audit]\nunrun_checks = advise\nplanless = \"off\"\n", "[audit]\nplanless = \"off\"\n", &[2]),
        ("[audit]\nunrun_checks = \"advise\nplanless = \"off\"\n", "[audit]\nplanless = \"off\"\n", &[2]),
        // A head that can't be read: its keys must not fall to the table before.
        (
            "[checklist]\nplan = true\naudit]\nenabled = false\n[log]\nkeep = \"1d\"\n",
            "[checklist]\nplan = true\n\n[log]\nkeep = \"1d\"\n",
            &[3],
        ),
        (
            "[gates]\nmax_blocks = 1\n[audit\nenabled = false\n[log]\nkeep = \"1d\"\n",
            "[gates]\nmax_blocks = 1\n\n[log]\nkeep = \"1d\"\n",
            &[3],
        ),
        // What has no end takes the rest along.
        (
            "[log]\nkeep = \"1d\"\n[audit]\nplan = [\"a\",\n[gates]\nenabled = false\n",
            "[log]\nkeep = \"1d\"\n\n[audit]\n",
            &[5],
        ),
    ] {
        let found = parse(text, "x");
        let at: Vec<usize> = found
            .errors
            .iter()
            .map(|error| match error {
                ConfigError::Bad { line, .. } => *line,
                other => panic!("{other}"),
            })
            .collect();
        assert_eq!(
            (found.table.to_string().as_str(), at.as_slice()),
            (counts, lines),
            "{text}\n{:#?}",
            found.errors
        );
    }
}

/// A table that is lost with its head was lost without a word.
#[test]
fn what_is_no_toml_says_which_lines_do_not_count() {
    let said = |text: &str| parsed(text).1.join("\n");
    let ends = |text: &str, end: &str| assert!(said(text).ends_with(end), "{}", said(text));
    ends("[gates]\nmax_blocks =\ndry_run = true\n", "; line 2 is ignored");
    ends(
        "[audit]\nplanless = \"off\"\n[gates\nmax_blocks = 1\n\n[log]\nkeep = \"1d\"\n",
        "; lines 3 to 4 are ignored",
    );
    ends("[audit]\nplan = [\"a\",\n[gates]\nenabled = false\n", "; lines 2 to 4 are ignored");
}

#[test]
fn a_duplicate_key_says_which_and_where_both_are() {
    let (table, faults) =
        parsed("[audit]\nenabled = true\n[gates]\nmax_blocks = 1\nenabled = true\nmax_blocks = 2\n");
    assert_eq!(table, "[audit]\nenabled = true\n\n[gates]\nmax_blocks = 1\nenabled = true\n");
    assert_eq!(
        faults,
        ["x, line 6: gates.max_blocks: duplicate key: already set on line 4; the first one counts"]
    );
    let (table, faults) = parsed(
        "[audit]\nunrun_checks = \"advise\"\n\n[gates]\ndry_run = true\n\n[audit]\nplanless = \"off\"\n",
    );
    assert_eq!(table, "[gates]\ndry_run = true\n\n[audit]\nunrun_checks = \"advise\"\nplanless = \"off\"\n");
    assert_eq!(faults, ["x, line 7: [audit]: duplicate key: already set on line 1; the keys of both count"]);
    let (table, faults) = parsed("audit.enabled = false\n[audit]\nplanless = \"off\"\n");
    assert_eq!(table, "[audit]\nenabled = false\nplanless = \"off\"\n");
    assert_eq!(faults, ["x, line 2: [audit]: duplicate key: already set on line 1; the keys of both count"]);
    let (_, faults) =
        parsed("[[check]]\nname = \"a\"\nrun = \"x\"\n[[check]]\nname = \"b\"\nrun = \"x\"\nname = \"c\"\n");
    assert_eq!(faults, ["x, line 7: check.name: duplicate key: already set on line 5; the first one counts"]);
}

#[test]
fn a_check_with_a_typo_is_named_and_the_others_run() {
    let text = "[[check]]\nname = \"a\"\nrunn = \"x\"\n[[check]]\nname = \"b\"\nrun = \"y\"\ntimeot = \"1m\"\n[[check]]\nname = \"c\"\nrun = \"z\"\n";
    let (table, faults) = parsed(text);
    assert_eq!(table, "[[check]]\nname = \"b\"\nrun = \"y\"\n\n[[check]]\nname = \"c\"\nrun = \"z\"\n");
    assert_eq!(
        faults,
        [
            "x, line 3: check \"a\", runn: unknown key (did you mean `run`?); the table is ignored without it",
            "x, line 7: check \"b\", timeot: unknown key (did you mean `timeout`?)",
        ]
    );
}

/// "The first one counts (the default is used)" said two things at once.
#[test]
fn what_counts_in_place_of_a_fault_is_said_once() {
    let said = |text: &str| {
        let errors = parse(text, "/x.toml").errors;
        let lines: Vec<String> = errors.iter().map(|error| format!("{error}{}", error.note())).collect();
        lines.join("\n") + "\n" + &summary(&errors.iter().collect::<Vec<_>>(), None)
    };
    let duplicate = "[gates]\nmax_blocks = 1\nmax_blocks = 2\n";
    assert_eq!(
        said(duplicate),
        "/x.toml, line 3: gates.max_blocks: duplicate key: already set on line 2; the first one counts\n\
         /x.toml: line 3: gates.max_blocks: duplicate key: already set on line 2; the first one counts \
         (`punchlist config check` shows all errors)"
    );
    let lacking = said("[[check]]\nname = \"a\"\n");
    assert!(lacking.contains("is ignored without it") && !lacking.contains("default"), "{lacking}");
    let both = said(&format!("{duplicate}dry_run = 3\n"));
    assert!(
        both.ends_with(
            "(where a value is wrong, the default is used; `punchlist config check` shows all errors)"
        ),
        "{both}"
    );
}

#[test]
fn a_key_without_its_table_says_where_it_stands() {
    let (_, faults) = parsed("max_blocks = 1\n");
    assert_eq!(faults, ["x, line 1: max_blocks: unknown key (`max_blocks` belongs in [gates])"]);
}

#[test]
fn the_docs_snippets_can_be_appended_to_a_new_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut snippets = 0;
    for is_projects in [false, true] {
        let begun = reference::commented_file("x.json", is_projects);
        for page in walkdir::WalkDir::new(folder.join("docs")).into_iter().flatten() {
            let text = std::fs::read_to_string(page.path()).unwrap_or_default();
            for snippet in text.split("```toml\n").skip(1) {
                let snippet = snippet.split("```").next().unwrap_or_default();
                assert_eq!(parse(&format!("{begun}\n{snippet}"), "x").errors, [], "{snippet}");
                snippets += 1;
            }
        }
    }
    assert!(snippets >= 10, "{snippets}");
}

#[test]
fn a_fault_tells_no_secret_and_steers_no_terminal() {
    let token = format!("sk-ant-api03-{}", "Ab3dE5gH7jK9".repeat(6));
    for text in [
        format!("[auditor]\ntimeout = \"{token}\"\n"),
        format!("[gates]\nmax_blocks = \"{token}\"\n"),
        format!("[audit]\nplanless = \"{token}\"\n"),
        format!("[audit]\nblock_on = [\"{token}\"]\n"),
        format!("[gates]\n{token} = 1\n"),
        format!("[\"{token}\"]\na = 1\n"),
        format!("[gates]\n{token} = 1\n{token} = 2\n"),
        format!("[gates]\nmax_blocks = {token}\n"),
        format!("[auditor]\nmax_calls_per_session = \"password = {token}\"\n"),
        format!("[log]\nkeep = \"postgres://me:{token}@host/db\"\n"),
    ] {
        let errors = parse(&text, "x").errors;
        assert!(!errors.is_empty(), "{text}");
        let all: Vec<&ConfigError> = errors.iter().collect();
        let said =
            format!("{}{}", errors.iter().map(ToString::to_string).collect::<String>(), summary(&all, None));
        assert!(!said.contains(&token[20..40]), "{text}: {said}");
    }
    for text in ["[gates]\n\"a\\u001b[2Jb\" = 1\n", "[audit]\nplanless = \"a\\u001b[2Jb\\nc\\u202ed\"\n"] {
        let (_, faults) = parsed(text);
        assert!(!faults[0].contains(['\u{1b}', '\n', '\u{202e}']), "{faults:?}");
    }
}

#[test]
fn a_hostile_file_costs_little() {
    let keys: String = (0..30_000).map(|key| format!("gates.k{key}=1\n")).collect();
    let tables: String = (0..30_000).map(|key| format!("[t{key}]\n")).collect();
    for text in [
        keys,
        tables,
        "[".repeat(200_000),
        format!("a = {}", "[".repeat(200_000)),
        "a.".repeat(100_000),
        "=\n".repeat(100_000),
    ] {
        let begun = std::time::Instant::now();
        let errors = parse(&text, "x").errors;
        assert!(!errors.is_empty() && errors.len() <= 31, "{}: {}", &text[..20], errors.len());
        assert!(begun.elapsed().as_secs() < 120, "{}: {:?}", &text[..20], begun.elapsed());
    }
}

#[test]
fn the_person_is_told_in_one_line() {
    let parsed = parse("[gates]\na = 1\nb = 1\nc = 1\nd = 1\n", "/home/me/.config/punchlist/config.toml");
    let left = |setting: &str, own: Option<&str>| ConfigError::LeftAside {
        file: "/w/.claude/punchlist.toml".into(),
        setting: setting.into(),
        own: own.map(Into::into),
    };
    let known = "unknown key, expected one of `enabled`, `dry_run`, `max_blocks`";
    assert_eq!(
        summary(&parsed.errors.iter().collect::<Vec<_>>(), Some(Path::new("/home/me"))),
        format!(
            "~/.config/punchlist/config.toml: line 2: gates.a: {known}; line 3: gates.b: {known}; line 4: gates.c: {known}; and \
             1 more (`punchlist config check` shows all errors)",
        )
    );
    let all = [
        left("gates.enabled = false", None),
        left("audit.planless = \"off\"", None),
        left("log.keep", Some("/o")),
    ];
    assert_eq!(
        summary(&all.iter().collect::<Vec<_>>(), None),
        "/w/.claude/punchlist.toml: ignored, since a project may only make the gate stricter: gates.enabled = false, \
         audit.planless = \"off\" (`punchlist allow` shows and allows it); counts only from your own file: log.keep"
    );
}
