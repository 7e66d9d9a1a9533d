//! A: a promised text that is called missing.

use super::*;

#[test]
fn content_is_looked_for_in_the_whole_file() {
    let lacks = |needle: &str| {
        proposal(Category::A, Problem::MissingContent, "Add `--json` to `cli.rs`", "cli.rs", needle)
    };
    let case = || plan("- [x] Add `--json` to `cli.rs`\n").says("Done.");
    case().on_disk("cli.rs", "fn main() {}").confirms(&lacks("--json"), "the file does not hold `--json`");
    case().on_disk("cli.rs", "arg(\"--json\")").refutes(&lacks("--json"), "the file holds `--json`");
    case().on_disk("cli.rs", "x").doubts(&lacks("fn parse_json_flag("), "nobody promised that exact text");
    case().on_disk("cli.rs", "x").doubts(&lacks(""), "it names no text to look for");
    case().confirms(&lacks("--json"), NO_FILE);
    let unseen = Look::new("cli.rs", FileState::File { bytes: 9 });
    let verdict = Verdict { findings: vec![lacks("--json")] };
    let found = verify(&verdict, &[Some(unseen)], &case().evidence, Vec::new());
    assert_eq!(found[0].verifier, "file was cut, or can't be read as text");
}

#[test]
fn content_in_another_form_is_not_missing() {
    let reason = "the file holds it in another form, or another file of the session does";
    plan("- [x] Add a `--verbose` flag to `cli.rs`\n")
        .says("All done.")
        .on_disk("cli.rs", "#[arg(long)] verbose: bool")
        .doubts(&lacks("Add a `--verbose` flag", "cli.rs", "--verbose"), reason);
    plan("- [x] Add `validate()` to `a.rs`\n")
        .says("All done.")
        .on_disk("a.rs", "mod check;")
        .on_disk("a/check.rs", "fn validate() {}")
        .touched("a/check.rs", 2)
        .doubts(&lacks("Add `validate()` to `a.rs`", "a.rs", "validate()"), reason);
    plan("- [x] Add installation notes to `README.md`\n")
        .says("All done.")
        .on_disk("README.md", "Setup")
        .doubts(
            &lacks("Add installation notes", "README.md", "installation"),
            "nobody promised that exact text",
        );
    plan("- [x] Add a `## Usage` section to `README.md`\n")
        .says("All done.")
        .on_disk("README.md", "The usage is simple.")
        .confirms(
            &lacks("Add a `## Usage` section", "README.md", "## Usage"),
            "the file does not hold `## Usage`",
        );
}

#[test]
fn only_what_the_quoted_words_promise_for_that_file_can_be_missing() {
    let text = "- [x] Add `parse()` to `a.rs`\n- [x] Add `render()` to `b.rs`\n- [x] Remove `legacy()` from `a.rs`\n";
    let case = || plan(text).says("All done.").on_disk("a.rs", "x").on_disk("b.rs", "x");
    let nobody = "nobody promised that exact text";
    case().doubts(&lacks("Add `parse()` to `a.rs`", "a.rs", "render()"), nobody);
    case().doubts(&lacks("Remove `legacy()` from `a.rs`", "a.rs", "legacy()"), nobody);
    case().doubts(&lacks("Add `parse()` to `a.rs`", "a.rs", "fn main"), nobody);
    let not_there = "nobody said that it would stand in that file";
    case().doubts(&lacks("Add `parse()` to `a.rs`", "b.rs", "parse()"), not_there);
    case()
        .confirms(&lacks("Add `parse()` to `a.rs`", "a.rs", "`parse()`"), "the file does not hold `parse()`");
}

#[test]
fn a_new_name_is_promised_and_the_old_one_is_not() {
    let quote = "Rename `fetch_all` to `fetch_page` in `a.rs`";
    let case = || plan(&format!("- [x] {quote}\n")).says("All done.").on_disk("a.rs", "fn fetch_all() {}");
    case().confirms(&lacks(quote, "a.rs", "fetch_page"), "the file does not hold `fetch_page`");
    plan(&format!("- [x] {quote}\n"))
        .says("All done.")
        .on_disk("a.rs", "fn fetch_page() {}")
        .doubts(&lacks(quote, "a.rs", "fetch_all"), "nobody promised that exact text");
}

#[test]
fn an_item_below_a_file_is_meant_for_it() {
    plan("- [x] Edit `a.rs`\n  - [x] add `parse()`\n")
        .says("All done.")
        .on_disk("a.rs", "x")
        .confirms(&lacks("add `parse()`", "a.rs", "parse()"), "the file does not hold `parse()`");
}

#[test]
fn what_an_edit_took_out_or_a_program_renamed_is_not_missing() {
    let reason = "the session wrote it, and took it out or renamed it later";
    let quote = "Add `parse()` to `a.rs`";
    let case = || plan(&format!("- [x] {quote}\n")).says("All done.").on_disk("a.rs", "fn read_all() {}");
    case()
        .ran("sed -i 's/parse()/read_all()/' a.rs", CommandEnd::Succeeded)
        .doubts(&lacks(quote, "a.rs", "parse()"), reason);
    let mut edited = case().touched("a.rs", 3);
    edited.evidence.session.touches[0].change =
        Some(crate::session::Change { old: "fn parse() {}".into(), new: "fn read_all() {}".into() });
    edited.doubts(&lacks(quote, "a.rs", "parse()"), reason);
}

#[test]
fn a_text_that_the_mask_hides_can_not_be_looked_for() {
    let quote = "Set `token = \"[masked:secret]\"` in `a.toml`";
    let look = Look::new("a.toml", FileState::File { bytes: 9 });
    let case = plan(&format!("- [x] {quote}\n")).says("All done.");
    let verdict = Verdict { findings: vec![lacks(quote, "a.toml", "token = \"[masked:secret]\"")] };
    let found = verify(&verdict, &[Some(look)], &case.evidence, Vec::new());
    assert_eq!(found[0].verifier, "a part of that text is hidden: it can't be looked for");
}

#[test]
fn what_the_message_lists_as_not_included_is_not_claimed() {
    let quote = "`ScratchDelete` deletes a pad";
    let claim = proposal(Category::A, Problem::MissingContent, quote, "a.lua", "ScratchDelete");
    no_plan()
        .says("All commands are done.\n\nNot included:\n- `ScratchDelete` deletes a pad\n")
        .on_disk("a.lua", "print(1)")
        .doubts(&claim, "the final message says itself that it was not done");
}
