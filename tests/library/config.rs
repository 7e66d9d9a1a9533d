//! What people see when a config is wrong, and what wins when it is not.

use std::time::Duration;

use punchlist::config::*;
use punchlist::env;
use punchlist::testing::ConfigFiles;

fn said(text: &str) -> String {
    Config::parse(text, "punchlist.toml").expect_err("a fault").to_string()
}

#[test]
fn faults_name_the_file_the_line_the_key_and_what_is_allowed() {
    for (text, expected) in [
        (
            "[gates]\nmax_block = 3\n",
            "line 2: gates.max_block: unknown field `max_block`, expected one of `enabled`, `dry_run`, \
         `max_blocks`; did you mean `max_blocks`?",
        ),
        (
            "[audit]\nmax_blocks = 3\n",
            "line 2: audit.max_blocks: unknown field `max_blocks`, expected one of `enabled`, `block_on`, `plan`, \
         `max_prompt_bytes`, `unrun_checks`, `planless`; `max_blocks` stands in [gates], for all gates together",
        ),
        (
            "[audit]\nplanless = \"never\"\n",
            "line 2: audit.planless: unknown variant `never`, expected `audit` or `off`",
        ),
        (
            "[audit]\nplanless = \"async\"\n",
            "line 2: audit.planless: unknown variant `async`, expected `audit` or `off`",
        ),
        (
            "[auditor]\n\ntimeout = \"soon\"\n",
            "line 3: auditor.timeout: \"soon\" is not a length of time; write it like \"45s\", \"2m\" or \"90d\"",
        ),
        (
            "[audit]\nblock_on = [\"A\", \"Z\"]\n",
            "line 2: audit.block_on[1]: unknown variant `Z`, expected one of `A`, `B`, `C`, `D`, `ask`",
        ),
        (
            "[log]\nmax_size = \"lots\"\n",
            "line 2: log.max_size: \"lots\" is not a size; write it like \"200MB\" or \"1GB\"",
        ),
        (
            "[audit]\nplan = [\"{a\"]\n",
            "line 2: audit.plan: \"{a\" is not a glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)",
        ),
        (
            "[audit]\nmax_prompt_bytes = 5\n",
            "line 2: audit.max_prompt_bytes: 5 is too little; at least 10000",
        ),
    ] {
        assert_eq!(said(text), format!("punchlist.toml, {expected}"));
    }
    assert!(said("[audit\n").starts_with("punchlist.toml, line 1: not TOML: "), "{}", said("[audit\n"));
}

#[test]
fn every_fault_of_a_file_is_told_with_its_line_and_column() {
    let text = "[gates]\nmax_block = 3\n[audit]\nplanless = \"of\"\nblock_on = [\"A\", \"Ask\"]\n\n[auditor]\n  timeout = 5\nmodel = \"opus\"\n\n[logs]\nkeep = 1\n";
    let faults: Vec<_> = parse::errors(text, "x")
        .into_iter()
        .map(|fault| match fault {
            ConfigError::Bad { line, column, key, why, .. } => {
                let meant = why.split_once("; ").map_or("", |(_, meant)| meant);
                format!("{line}:{column} {key} {meant}")
            }
            other => other.to_string(),
        })
        .collect();
    assert_eq!(
        faults,
        [
            "2:1 gates.max_block did you mean `max_blocks`?",
            "4:12 audit.planless did you mean `off`?",
            "5:18 audit.block_on[1] did you mean `ask`?",
            "8:13 auditor.timeout ",
            "11:2 logs did you mean `log`?",
        ]
    );
    assert_eq!(parse::errors(&reference::defaults(), "x"), []);
    assert_eq!(parse::errors("a b", "x").len(), 1);
}

#[test]
fn the_projects_file_wins_over_the_persons_and_variables_over_both() {
    let files = ConfigFiles::with(
        Some("[gates]\nmax_blocks = 1\n[auditor]\nmodel = \"sonnet\"\n"),
        Some("[gates]\nmax_blocks = 2\n"),
    );
    let (config, faults) = files.load(&[]);
    assert_eq!((config.gates.max_blocks, config.auditor.model.as_str(), faults.len()), (2, "sonnet", 0));
    let (config, _) = files.load(&[(env::OFF, "1"), (env::DRY_RUN, "1")]);
    assert!(!config.gates.enabled && config.gates.dry_run);
}

#[test]
fn a_project_may_not_choose_the_program_nor_open_a_folder() {
    let keys = "[auditor]\nclient = \"/evil\"\nprompts = \"/evil\"\nmodel = \"opus\"\n";
    let (config, faults) = ConfigFiles::with(None, Some(keys)).load(&[]);
    assert_eq!(
        (config.auditor.client, config.auditor.prompts, config.auditor.model.as_str()),
        (None, None, "opus")
    );
    assert_eq!(
        faults,
        [
            "[folder]/w/.claude/punchlist.toml: auditor.client counts only from your own file, \
             [folder]/home/.config/punchlist/config.toml: a project may not choose what runs or is read",
            "[folder]/w/.claude/punchlist.toml: auditor.prompts counts only from your own file, \
             [folder]/home/.config/punchlist/config.toml: a project may not choose what runs or is read"
        ]
    );
    let (config, faults) = ConfigFiles::with(Some(keys), None).load(&[]);
    assert_eq!((config.auditor.client, faults.len()), (Some("/evil".into()), 0));
}

#[test]
fn a_file_with_a_fault_counts_as_absent_and_the_other_still_counts() {
    let (config, faults) = ConfigFiles::with(
        Some("[gates]\nmax_blocks = 1\n"),
        Some("[gates]\nmax_blocks = \"many\"\nenabled = false\n"),
    )
    .load(&[]);
    assert_eq!((config.gates.max_blocks, config.gates.enabled, faults.len()), (1, true, 1));
}

#[test]
fn what_a_session_is_given_stays_in_the_project_where_the_project_chooses() {
    let keys = "[memory]\nfiles = [\"NOTES.md\", \"~/diary.md\"]\nmandates_file = \"/etc/motd\"\nmandates = [\"Be kind.\"]\n";
    let (config, faults) = ConfigFiles::with(None, Some(keys)).load(&[]);
    assert_eq!((config.memory.files.len(), config.memory.mandates_file.as_str()), (0, ""));
    assert_eq!(config.memory.mandates, ["Be kind."]);
    assert_eq!(
        faults,
        [
            "[folder]/w/.claude/punchlist.toml: memory.files with a path outside of the project counts only from your \
             own file, [folder]/home/.config/punchlist/config.toml: a project may not choose what runs or is read",
            "[folder]/w/.claude/punchlist.toml: memory.mandates_file outside of the project counts only from your own \
             file, [folder]/home/.config/punchlist/config.toml: a project may not choose what runs or is read",
        ]
    );
    let (config, faults) = ConfigFiles::with(Some(keys), None).load(&[]);
    assert_eq!((config.memory.files.len(), config.memory.mandates_file.as_str()), (2, "/etc/motd"));
    assert_eq!(faults.len(), 0);
}

#[test]
fn values_that_make_no_sense_are_refused() {
    for (text, expected) in [
        (
            "[checklist]\nfiles = [\"/etc/*.md\"]\n",
            "line 2: checklist.files: \"/etc/*.md\" leads out of the project; name files from the project's folder on",
        ),
        (
            "[memory]\nfiles = [\"../x.md\"]\n",
            "line 2: memory.files: \"../x.md\" is not a glob: it names no file, or goes up with `..`",
        ),
        (
            "[checklist]\nrequire_section = \"Plan Completion Check\"\n",
            "line 2: checklist.require_section: \"Plan Completion Check\" is no heading; write one line like \
             \"## Plan Completion Check\"",
        ),
        ("[[check]]\nname = \"test\"\n", "line 1: check[0]: missing field `run`"),
        ("[[check]]\nname = \"\"\nrun = \"x\"\n", "line 2: check[0].name: a name that is empty"),
        (
            "[[check]]\nname = \"a\"\nrun = \"x\"\non = \"start\"\n",
            "line 4: check[0].on: unknown variant `start`, expected one of `stop`, `subagent`, `both`",
        ),
        ("[loop]\nmax_iterations = 0\n", "line 2: loop.max_iterations: 0 is too little; at least 1"),
        ("[loop]\ncontext = 80.0\n", "line 2: loop.context: 80 is not a part of 1; write it like 0.8"),
    ] {
        assert_eq!(said(text), format!("punchlist.toml, {expected}"));
    }
    for name in ["/etc/passwd", "../list.json", "a/../../b", ""] {
        let expected = format!(
            "punchlist.toml, line 2: loop.features: \"{name}\" is not a file in the loop's folder; write it like \
             \"docs/features.json\""
        );
        assert_eq!(said(&format!("[loop]\nfeatures = \"{name}\"\n")), expected);
    }
    assert!(said("[check]\nname = \"a\"\n").starts_with("punchlist.toml, line 1: check: invalid type: map"));
}

#[test]
fn a_later_file_adds_checks_and_replaces_those_it_names() {
    let check = |name: &str, run: &str| format!("[[check]]\nname = \"{name}\"\nrun = \"{run}\"\n");
    let own = check("test", "cargo test") + &check("lint", "cargo clippy");
    let project = check("test", "make test") + &check("docs", "make docs") + &check("docs", "make all");
    let (config, errors) = ConfigFiles::with(Some(&own), Some(&project)).load(&[]);
    let checks: Vec<_> =
        config.checks.iter().map(|check| (&*check.name, &*check.run, check.is_projects)).collect();
    assert_eq!(
        checks,
        [("test", "make test", true), ("lint", "cargo clippy", false), ("docs", "make all", true)]
    );
    assert_eq!(errors, [""; 0]);
}

#[test]
fn tables_merge_key_by_key_and_lists_replace_each_other() {
    let files = ConfigFiles::with(
        Some(
            "[worker.kinds.a]\nidle = \"1h\"\n[audit]\nplan = [\"a\", \"b\"]\n[auditor]\ntimeout = \"2m\"\n",
        ),
        Some(
            "[worker.kinds.b]\nidle = \"2h\"\n[audit]\nplan = [\"c\"]\n[auditor]\nsecond_reader = \"opus\"\n",
        ),
    );
    let (config, _) = files.load(&[]);
    assert_eq!((config.worker.idle_ms("a"), config.worker.idle_ms("b")), (3_600_000, 7_200_000));
    assert_eq!((config.worker.idle_ms("c"), config.audit.plan), (600_000, vec!["c".to_owned()]));
    assert_eq!(config.auditor.timeout, Duration::from_secs(120));
    assert_eq!(config.auditor.second_reader, SecondReader::Model("opus".into()));
}

#[test]
fn subagents_are_chosen_by_globs_of_their_types() {
    let config = SubagentsConfig {
        types: vec!["code-*".into(), "general-purpose".into()],
        skip: vec!["code-reader".into()],
        ..SubagentsConfig::default()
    };
    for (agent_type, is_included) in [
        ("code-writer", true),
        ("Code-Writer", true),
        ("general-purpose", true),
        ("code-reader", false),
        ("Explore", false),
        ("", false),
    ] {
        assert_eq!(config.includes(agent_type), is_included, "{agent_type}");
    }
    assert!(SubagentsConfig::default().includes("") && SubagentsConfig::default().includes("a:b/c"));
}

/// A config that can be pasted: every block of TOML in the gates' pages.
#[test]
fn every_config_in_the_gates_pages_is_right() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/gates");
    let mut blocks = 0;
    for page in std::fs::read_dir(folder).expect("docs/gates").flatten() {
        let text = std::fs::read_to_string(page.path()).expect("a page");
        for block in text.split("```toml\n").skip(1) {
            let block = block.split("```").next().unwrap_or_default();
            let file = format!("docs/gates/{}", page.file_name().to_string_lossy());
            assert_eq!(parse::errors(block, &file), [], "{block}");
            blocks += 1;
        }
    }
    assert!(blocks >= 5, "{blocks} configs to paste");
}
