//! What people see when a config is wrong, and what wins when it is not.

mod project;
mod soft;

use punchlist::config::*;

fn said(text: &str) -> String {
    Config::parse(text, "punchlist.toml").expect_err("a fault").to_string()
}

#[test]
fn faults_name_the_file_the_line_the_key_and_what_is_allowed() {
    for (text, expected) in [
        ("[gates]\nmax_block = 3\n", "line 2: gates.max_block: unknown key (did you mean `max_blocks`?)"),
        (
            "[audit]\nmax_blocks = 3\n",
            "line 2: audit.max_blocks: unknown key (`max_blocks` belongs in [gates])",
        ),
        (
            "[audit]\nplanless = \"never\"\n",
            "line 2: audit.planless: `never` is not a value here, expected `audit` or `off`",
        ),
        (
            "[audit]\nplanless = \"async\"\n",
            "line 2: audit.planless: `async` is not a value here, expected `audit` or `off`",
        ),
        (
            "[auditor]\n\ntimeout = \"soon\"\n",
            "line 3: auditor.timeout: \"soon\" is not a duration; write it like \"45s\", \"2m\" or \"90d\"",
        ),
        (
            "[auditor]\ntimeout = \"4us\"\n",
            "line 2: auditor.timeout: \"4us\" is not a duration; write it like \"45s\", \"2m\" or \"90d\"",
        ),
        (
            "[audit]\nblock_on = [\"A\", \"Z\"]\n",
            "line 2: audit.block_on[1]: `Z` is not a value here, expected one of `A`, `B`, `C`, `D`, `ask`",
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
    let faults: Vec<_> = parse::parse(text, "x")
        .errors
        .into_iter()
        .map(|fault| match fault {
            ConfigError::Bad { line, column, key, why, .. } => {
                let meant = why.split_once(" (").map_or("", |(_, meant)| meant.trim_end_matches(')'));
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
    assert_eq!(parse::parse(&reference::defaults(), "x").errors, []);
    assert_eq!(parse::parse("a b", "x").errors.len(), 1);
}

#[test]
fn values_that_make_no_sense_are_refused() {
    for (text, expected) in [
        (
            "[checklist]\nfiles = [\"/etc/*.md\"]\n",
            "line 2: checklist.files: \"/etc/*.md\" leads out of the project; name files relative to the project's folder",
        ),
        (
            "[memory]\nfiles = [\"../x.md\"]\n",
            "line 2: memory.files: \"../x.md\" is not a glob: it names no file, or goes up with `..`",
        ),
        (
            "[checklist]\nrequire_section = \"Plan Completion Check\"\n",
            "line 2: checklist.require_section: \"Plan Completion Check\" is not a heading; write one line like \
             \"## Plan Completion Check\"",
        ),
        (
            "[[check]]\nname = \"test\"\n",
            "line 1: check \"test\": missing field `run`; the table is ignored without it",
        ),
        (
            "[[check]]\nname = \"\"\nrun = \"x\"\n",
            "line 2: check number 1, name: a name that is empty; the table is ignored without it",
        ),
        (
            "[[check]]\nname = \"a\"\nrun = \"x\"\non = \"start\"\n",
            "line 4: check \"a\", on: `start` is not a value here, expected one of `stop`, `subagent`, `both`",
        ),
        ("[loop]\nmax_iterations = 0\n", "line 2: loop.max_iterations: 0 is too little; at least 1"),
        ("[loop]\ncontext = 80.0\n", "line 2: loop.context: 80 is not a fraction of 1; write it like 0.8"),
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
}

/// What a parser calls "map", "sequence" and "u32" was left in its words.
#[test]
fn a_wrong_type_was_told_in_a_parsers_words() {
    for (text, expected) in [
        (
            "[check]\nname = \"a\"\nrun = \"x\"\n",
            "line 1: check: one table where there may be several: write [[check]]",
        ),
        (
            "[gates]\nmax_blocks = \"three\"\n",
            "line 2: gates.max_blocks: a number is expected, not \"three\"",
        ),
        ("[gates]\ndry_run = \"no\"\n", "line 2: gates.dry_run: true or false is expected, not \"no\""),
        ("[audit]\nblock_on = \"A\"\n", "line 2: audit.block_on: a list is expected, not \"A\""),
        ("[audit]\nblock_on = 7\n", "line 2: audit.block_on: a list is expected, not `7`"),
    ] {
        assert_eq!(said(text), format!("punchlist.toml, {expected}"));
    }
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
            assert_eq!(parse::parse(block, &file).errors, [], "{block}");
            blocks += 1;
        }
    }
    assert!(blocks >= 5, "{blocks} configs to paste");
}
