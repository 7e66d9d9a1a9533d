//! What a project may decide: stricter, its plan and its checks. Everything else waits for the
//! person.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use punchlist::config::sources::sources;
use punchlist::config::*;
use punchlist::env;
use punchlist::testing::ConfigFiles;

/// What is left aside, in the words after the file's name.
fn said(faults: &[String]) -> Vec<&str> {
    faults.iter().map(|fault| fault.split_once(": ").map_or(fault.as_str(), |(_, said)| said)).collect()
}

const ASIDE: &str =
    " is ignored: a project may only make the gate stricter, unless you allow it: `punchlist allow`";
const OWN: &str = " counts only from your own file, [folder]/home/.config/punchlist/config.toml";

/// All that the project's file asks for, as it is when the person has allowed it.
fn allowed(files: &ConfigFiles) -> Allowed {
    sources(&files.env(&[]), &files.project(), Allowed::new).asked.iter().map(Asked::id).collect()
}

#[test]
fn a_project_can_not_silence_the_gate() {
    for line in [
        "gates.enabled = false",
        "gates.dry_run = true",
        "audit.enabled = false",
        "audit.block_on = []",
        "audit.block_on = [\"A\"]",
        "audit.planless = \"off\"",
        "subagents.audit = false",
        "subagents.skip = [\"*\"]",
        "subagents.types = []",
        "tasks.dry_run = true",
        "tasks.timeout = \"1ms\"",
        "tasks.agent = \"nobody\"",
        "loop.max_iterations = 1",
    ] {
        let files = ConfigFiles::with(None, Some(line));
        let (config, faults) = files.load(&[]);
        assert_eq!(config, Config::default(), "{line}");
        assert_eq!(said(&faults), [format!("{line}{ASIDE}")]);
        let (config, faults) = files.load_with(&[], &allowed(&files));
        assert_eq!(faults, [""; 0], "{line}: it was allowed");
        assert_ne!(config, Config::default(), "{line}: it was allowed");
    }
}

#[test]
fn model_budgets_log_and_readers_are_the_persons_alone() {
    for (key, value) in [
        ("gates.max_blocks", "0"),
        ("gates.max_blocks", "12"),
        ("audit.max_prompt_bytes", "377000"),
        ("subagents.max_prompt_bytes", "377000"),
        ("tasks.max_holds", "12"),
        ("tasks.command", "\"x\""),
        ("tasks.token_variable", "\"x\""),
        ("tasks.url", "\"x\""),
        ("auditor.model", "\"opus\""),
        ("auditor.timeout", "\"1ms\""),
        ("auditor.second_reader", "\"off\""),
        ("auditor.max_calls_per_session", "9999"),
        ("auditor.client", "\"/evil\""),
        ("auditor.max_cost_per_day", "900.0"),
        ("auditor.prompts", "\"/evil\""),
        ("log.keep", "\"1ms\""),
        ("log.max_size", "\"1B\""),
    ] {
        let files = ConfigFiles::with(None, Some(&format!("{key} = {value}")));
        for allowed in [Allowed::new(), allowed(&files)] {
            let (config, faults) = files.load_with(&[], &allowed);
            assert_eq!((config, said(&faults)), (Config::default(), vec![&*format!("{key}{OWN}")]), "{key}");
        }
    }
    let keys = "[auditor]\nclient = \"/mine\"\n";
    let (config, faults) = ConfigFiles::with(Some(keys), None).load(&[]);
    assert_eq!((config.auditor.client, faults.len()), (Some("/mine".into()), 0));
}

#[test]
fn a_project_may_be_stricter() {
    let project = "[audit]\nunrun_checks = \"block\"\nblock_on = [\"A\", \"B\"]\nplan = [\"docs/PLAN.md\"]\n\
                   [checklist]\nplan = true\ntodos = true\nfiles = [\"b.md\"]\nrequire_section = \"## Done\"\n\
                   [tasks]\nsource = \"file\"\nfile = \"tasks.json\"\n[loop]\nfeatures = \"f.json\"\n";
    let own = "[audit]\nblock_on = [\"A\"]\nplan = [\"PLAN.md\"]\n[checklist]\nfiles = [\"a.md\"]\n";
    let (config, faults) = ConfigFiles::with(Some(own), Some(project)).load(&[]);
    assert_eq!(faults, [""; 0]);
    assert_eq!(config.audit.unrun_checks, UnrunChecks::Block);
    assert_eq!(
        (config.audit.block_on.len(), config.audit.plan),
        (2, vec!["PLAN.md".into(), "docs/PLAN.md".into()])
    );
    assert_eq!((config.checklist.plan, config.checklist.todos), (true, true));
    assert_eq!(
        (config.checklist.files, &*config.checklist.require_section),
        (vec!["a.md".into(), "b.md".into()], "## Done")
    );
    assert_eq!((config.tasks.source, config.tasks.file.to_str()), (TaskSource::File, Some("tasks.json")));
    assert_eq!(config.feature_loop.features, "f.json");
}

#[test]
fn a_project_does_not_undo_what_the_person_set() {
    let own = "[gates]\nenabled = false\ndry_run = true\n[audit]\nplanless = \"off\"\nunrun_checks = \"block\"\n\
               [tasks]\nsource = \"registry\"\n[checklist]\nplan = true\nrequire_section = \"## Mine\"\n\
               [memory]\nfiles = [\"~/notes.md\"]\n";
    let project = "[gates]\nenabled = true\ndry_run = false\n[audit]\nplanless = \"audit\"\nunrun_checks = \"advise\"\n\
                   [tasks]\nsource = \"off\"\n[checklist]\nplan = false\nrequire_section = \"\"\n\
                   [memory]\nfiles = [\"a.md\"]\n";
    let (alone, _) = ConfigFiles::with(Some(own), None).load(&[]);
    let (config, faults) = ConfigFiles::with(Some(own), Some(project)).load(&[]);
    assert_eq!((config, faults.len()), (alone, 8), "{faults:#?}");
}

/// An empty file in place of the person's tasks, or of a loop's features, silences the gate.
#[test]
fn a_project_led_the_persons_tasks_and_features_to_a_file_of_its_own() {
    let project =
        "[tasks]\nfile = \"none.json\"\n[loop]\nfeatures = \"none.json\"\nprogress = \"none.txt\"\n";
    for (own, refused) in [
        ("[tasks]\nsource = \"file\"\n", 1),
        ("[tasks]\nfile = \"mine.json\"\n", 1),
        ("[loop]\nfeatures = \"mine.json\"\nprogress = \"mine.txt\"\n", 2),
        ("", 0),
    ] {
        let files = ConfigFiles::with(Some(own), Some(project));
        let (config, faults) = files.load(&[]);
        assert_eq!(faults.len(), refused, "{own}: {faults:#?}");
        assert_eq!(config.tasks.file.ends_with("none.json"), !own.contains("[tasks]"), "{own}");
        assert_eq!(config.feature_loop.features == "none.json", !own.contains("[loop]"), "{own}");
        assert_eq!(config.feature_loop.progress == "none.txt", !own.contains("[loop]"), "{own}");
        let (config, faults) = files.load_with(&[], &allowed(&files));
        assert_eq!((config.tasks.file.to_str(), faults.len()), (Some("none.json"), 0), "{own}");
    }
}

#[test]
fn what_a_project_names_stays_in_the_project() {
    for (line, refused) in [
        ("tasks.source = \"command\"", Some("tasks.source of a program or another machine")),
        ("tasks.source = \"http\"", Some("tasks.source of a program or another machine")),
        ("tasks.file = \"../tasks.json\"", Some("tasks.file outside of the project")),
        ("tasks.file = \"/etc/passwd\"", Some("tasks.file outside of the project")),
        ("tasks.file = \"a/../../b\"", Some("tasks.file outside of the project")),
        ("memory.files = [\"a.md\", \"~/a.md\"]", Some("memory.files outside of the project")),
        ("memory.mandates_file = \"/a\"", Some("memory.mandates_file outside of the project")),
        ("memory.files = [\"a.md\"]", None),
        ("tasks.file = \"docs/tasks-{agent}.json\"", None),
    ] {
        let files = ConfigFiles::with(None, Some(line));
        let (config, faults) = files.load_with(&[], &allowed(&files));
        let refused: Vec<String> = refused.map(|refused| format!("{refused}{OWN}")).into_iter().collect();
        assert_eq!(said(&faults), refused, "{line}");
        assert_eq!(config == Config::default(), !refused.is_empty(), "{line}");
    }
}

#[test]
fn a_projects_check_does_not_replace_the_persons_of_its_name() {
    let check = |name: &str, run: &str| format!("[[check]]\nname = \"{name}\"\nrun = \"{run}\"\n");
    let own = check("test", "cargo test") + &check("lint", "cargo clippy");
    let project = check("test", "true") + &check("docs", "make docs") + &check("docs", "make all");
    let files = ConfigFiles::with(Some(&own), Some(&project));
    let checks = |config: &Config| -> Vec<(String, String, bool)> {
        let of = |check: &CheckConfig| (check.name.clone(), check.run.clone(), check.needs_leave);
        config.checks.iter().map(of).collect()
    };
    let expected = |needs_leave: bool| {
        [
            ("test", "cargo test", false),
            ("lint", "cargo clippy", false),
            ("test (project)", "true", needs_leave),
            ("docs", "make all", needs_leave),
        ]
        .map(|(name, run, needs)| (name.to_owned(), run.to_owned(), needs))
    };
    let (config, errors) = files.load(&[]);
    assert_eq!((checks(&config), errors.len()), (expected(true).to_vec(), 0));
    let (config, _) = files.load_with(&[], &allowed(&files));
    assert_eq!(checks(&config), expected(false));
}

/// An agent that adds something to the file must not put out of action what the person has allowed.
#[test]
fn what_is_added_later_takes_no_leave_away_and_has_none() {
    let check = "[[check]]\nname = \"test\"\nrun = \"make\"\n";
    let allowed = allowed(&ConfigFiles::with(None, Some(check)));
    for (text, needs_leave) in [
        (check.to_owned(), &[false][..]),
        (format!("[gates]\nenabled = false\n{check}"), &[false]),
        (format!("{check}[[check]]\nname = \"b\"\nrun = \"evil\"\n"), &[false, true]),
        (check.replace("make", "make; evil"), &[true]),
        (format!("{check}when = [\"none/**\"]\n"), &[true]),
        (format!("{check}timeout = \"1ms\"\n"), &[true]),
    ] {
        let (config, _) = ConfigFiles::with(None, Some(&text)).load_with(&[], &allowed);
        let found: Vec<bool> = config.checks.iter().map(|check| check.needs_leave).collect();
        assert_eq!((found.as_slice(), config.gates.enabled), (needs_leave, true), "{text}");
    }
}

#[test]
fn variables_win_over_both_files() {
    let files = ConfigFiles::with(Some("[gates]\nmax_blocks = 1\n"), Some("[gates]\nenabled = true\n"));
    let (config, _) = files.load(&[(env::OFF, "1"), (env::DRY_RUN, "1")]);
    assert!(!config.gates.enabled && config.gates.dry_run && config.gates.max_blocks == 1);
}

#[test]
fn tables_merge_key_by_key() {
    let files = ConfigFiles::with(
        Some("[worker.kinds.a]\nidle = \"1h\"\n[auditor]\ntimeout = \"2m\"\n"),
        Some("[worker.kinds.b]\nidle = \"2h\"\n"),
    );
    let (config, _) = files.load_with(&[], &allowed(&files));
    assert_eq!((config.worker.idle_ms("a"), config.worker.idle_ms("b")), (3_600_000, 7_200_000));
    assert_eq!((config.worker.idle_ms("c"), config.auditor.timeout), (600_000, Duration::from_secs(120)));
}

/// Fails if a config is weaker, dearer or more forgetful than another. Every key is named, so that
/// a new one has to be thought of here.
fn assert_not_weaker(now: &Config, own: &Config) {
    let Config {
        gates,
        feature_loop,
        tasks,
        worker,
        audit,
        subagents,
        auditor,
        checklist,
        memory,
        log,
        checks,
        fleet,
        telemetry,
    } = now;
    assert_eq!(
        (gates, worker, subagents, auditor, log, fleet, telemetry),
        (&own.gates, &own.worker, &own.subagents, &own.auditor, &own.log, &own.fleet, &own.telemetry)
    );
    let LoopConfig { features, progress, .. } = feature_loop.clone();
    let unset = LoopConfig::default();
    assert!(features == own.feature_loop.features || own.feature_loop.features == unset.features);
    assert!(progress == own.feature_loop.progress || own.feature_loop.progress == unset.progress);
    assert_eq!(*feature_loop, LoopConfig { features, progress, ..own.feature_loop.clone() });
    let is_inside = |path: &str| !path.starts_with(['/', '~']) && !path.split('/').any(|part| part == "..");

    let TasksConfig { source, file, .. } = tasks.clone();
    assert_eq!(*tasks, TasksConfig { source, file: file.clone(), ..own.tasks.clone() });
    let is_stricter =
        own.tasks.source == TaskSource::Off && matches!(source, TaskSource::Registry | TaskSource::File);
    assert!(is_stricter || source == own.tasks.source, "{source:?}");
    let may_name_it = own.tasks.source == TaskSource::Off && own.tasks.file == TasksConfig::default().file;
    assert!(
        file == own.tasks.file || may_name_it && is_inside(&file.to_string_lossy()),
        "{}",
        file.display()
    );

    let AuditConfig { block_on, plan, projects_plan, unrun_checks, .. } = audit.clone();
    assert!(own.audit.block_on.iter().all(|category| block_on.contains(category)), "{block_on:?}");
    assert!(own.audit.plan.iter().all(|glob| plan.contains(glob)), "{plan:?}");
    assert_eq!(audit.ignore, own.audit.ignore);
    assert!(unrun_checks == UnrunChecks::Block || own.audit.unrun_checks == UnrunChecks::Advise);
    assert_eq!(*audit, AuditConfig { block_on, plan, projects_plan, unrun_checks, ..own.audit.clone() });

    let ChecklistConfig { plan, files, todos, require_section } = checklist.clone();
    assert!(plan >= own.checklist.plan && todos >= own.checklist.todos);
    assert!(own.checklist.files.iter().all(|glob| files.contains(glob)));
    assert!(own.checklist.require_section.is_empty() || require_section == own.checklist.require_section);

    let files = memory.files.clone();
    assert!(
        files == own.memory.files || own.memory.files.is_empty() && files.iter().all(|file| is_inside(file))
    );
    assert_eq!(*memory, MemoryConfig { files, ..own.memory.clone() });

    let (persons, projects) = checks.split_at(own.checks.len());
    assert_eq!(persons, own.checks);
    assert!(projects.iter().all(|check| check.needs_leave));
}

/// A value for a key of each kind, right or wrong.
fn value() -> impl Strategy<Value = String> {
    let words = [
        "audit", "off", "block", "advise", "hold", "background", "file", "http", "command", "registry",
        "same", "opus", "1ms", "9h", "1B", "9GB", "PLAN.md", "../x", "/etc/passwd", "~/x", "*", "## Done",
        "",
    ];
    let word = prop::sample::select(words.to_vec()).prop_map(|word| format!("{word:?}"));
    let lists = [
        "[]",
        "[\"A\"]",
        "[\"A\", \"B\", \"C\", \"D\", \"ask\"]",
        "[\"a.md\"]",
        "[\"*\"]",
        "[\"/etc/*\"]",
        "{ a = { idle = \"1h\" } }",
    ];
    prop_oneof![
        any::<bool>().prop_map(|value| value.to_string()),
        prop::sample::select(vec!["0", "1", "12", "377000", "0.5", "900.0"]).prop_map(str::to_owned),
        word,
        prop::sample::select(lists.to_vec()).prop_map(str::to_owned),
    ]
}

/// A file with some keys and some checks.
fn file() -> impl Strategy<Value = String> {
    let paths: Vec<String> = reference::settings()
        .iter()
        .filter(|setting| !setting.is_of_many)
        .map(reference::Setting::path)
        .collect();
    let keys = prop::collection::btree_map(prop::sample::select(paths), value(), 0..12);
    let checks = prop::collection::vec((prop::sample::select(vec!["test", "lint"]), "[a-z]{1,3}"), 0..3);
    (keys, checks).prop_map(|(keys, checks)| {
        let keys = keys.iter().map(|(key, value)| format!("{key} = {value}\n"));
        let checks =
            checks.iter().map(|(name, run)| format!("[[check]]\nname = \"{name}\"\nrun = \"{run}\"\n"));
        keys.chain(checks).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_value_of_a_project_weakens_the_gate(own in file(), project in file()) {
        let (alone, _) = ConfigFiles::with(Some(&own), None).load(&[]);
        let (config, _) = ConfigFiles::with(Some(&own), Some(&project)).load(&[]);
        assert_not_weaker(&config, &alone);
    }
}

/// Every key alone, with every value that its kind can have.
#[test]
fn no_key_of_a_project_weakens_the_gate() {
    let values = [
        "true",
        "false",
        "0",
        "1",
        "12",
        "377000",
        "0.01",
        "900.0",
        "[]",
        "[\"*\"]",
        "[\"A\"]",
        "\"1ms\"",
        "\"900d\"",
        "\"1B\"",
        "\"x\"",
        "\"\"",
        "{ a = { idle = \"1h\" } }",
        "[{ paths = [\"*\"], why = \"x\" }]",
    ];
    for setting in reference::settings().iter().filter(|setting| !setting.is_of_many) {
        let words = setting.words.iter().map(|(word, _)| format!("{word:?}"));
        let mut counted = 0;
        for value in values.iter().map(|value| (*value).to_owned()).chain(words) {
            let line = format!("{} = {value}\n", setting.path());
            let (config, faults) = ConfigFiles::with(None, Some(&line)).load(&[]);
            assert_not_weaker(&config, &Config::default());
            counted += usize::from(faults.iter().all(|fault| !fault.contains("line 1")));
        }
        assert!(counted > 0, "no value of {} was right", setting.path());
    }
}

#[test]
fn what_a_project_would_ignore_waits_for_the_person_one_by_one() {
    let rule = |path: &str| {
        format!("[[audit.ignore]]\npaths = [\"{path}\"]\ncategories = [\"B\"]\nwhy = \"{path}\"\n")
    };
    let paths = |config: &Config| config.audit.ignore.iter().map(|one| one.why.clone()).collect::<Vec<_>>();
    let first = ConfigFiles::with(Some(&rule("mine")), Some(&rule("gen/**")));
    let leave = allowed(&first);
    let (config, faults) = first.load(&[]);
    assert_eq!((paths(&config), faults.len()), (vec!["mine".to_owned()], 1));
    let later = ConfigFiles::with(Some(&rule("mine")), Some(&(rule("gen/**") + &rule("**"))));
    let (config, faults) = later.load_with(&[], &leave);
    assert_eq!((paths(&config), faults.len()), (vec!["mine".to_owned(), "gen/**".to_owned()], 1));
}

#[test]
fn a_link_a_pipe_and_a_large_file_are_told_and_not_read() {
    let files = ConfigFiles::with(None, None);
    let path = project_file(&files.project());
    let outside = files.project().join("../outside.toml");
    std::fs::write(&outside, "[checklist]\nplan = true\nsecret-of-outside = 1\n").expect("written");
    let load = || {
        let (config, faults) = files.load(&[]);
        assert_eq!(config, Config::default());
        std::fs::remove_file(&path).expect("removed");
        faults
    };
    std::fs::write(&path, "#".repeat(50 << 20)).expect("written");
    assert_eq!(load(), ["[folder]/w/.claude/punchlist.toml: larger than 256 KiB: it is not read"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        for (target, said) in [
            (outside.as_path(), "a link to a file outside of the project: it is not read"),
            (Path::new("/dev/zero"), "outside of the project"),
            (Path::new("/proc/kmsg"), "outside of the project"),
        ] {
            if !target.exists() {
                continue;
            }
            symlink(target, &path).expect("linked");
            let faults = load();
            // Who may not read the kernel's messages is told that.
            let is_refused = faults[0].contains("ermission denied") || faults[0].contains("not permitted");
            assert!(faults[0].contains(said) || is_refused, "{faults:?}");
        }
    }
}
