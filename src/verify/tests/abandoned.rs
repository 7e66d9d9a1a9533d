//! C: a step that was left.

use super::*;

#[test]
fn an_unfinished_plan_is_normal() {
    let step = proposal(Category::C, Problem::NoTrace, "Create `beta.txt`", "", "");
    let open = "- [x] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    plan(open)
        .says("Step 1 is in. Shall I go on?")
        .refutes(&step, "the session does not say that it is finished: an unfinished plan is normal");
    plan(open)
        .says("All done.")
        .confirms(&step, "the session says that it is over, and nothing in it touched the step's files");
    plan(open)
        .says("All done.")
        .on_disk("beta.txt", "x")
        .touched("beta.txt", 1)
        .refutes(&step, "the session did touch it");
    let mut long = plan(open).says("All done.");
    long.evidence.session.forgotten.commands = true;
    long.refutes(&step, "the session is too long to be kept whole: what was done early can't be told");
    plan(TWO).says("All done.").doubts(&step, "the step is ticked: done or not, it is not abandoned");
    plan(open).says("All done.").doubts(
        &proposal(Category::C, Problem::NoTrace, "Write the gamma docs", "", ""),
        "quote not found in the plan's steps",
    );
}

#[test]
fn an_abandoned_step_without_files_needs_the_sessions_own_word() {
    let step = proposal(Category::C, Problem::NoTrace, "Migrate the user table", "", "");
    let open = "1. Migrate the user table\n2. Update docs\n";
    plan(open)
        .says("Everything is done. I skipped the user table migration.")
        .confirms(&step, "the final message says that the step was left or replaced");
    plan(open)
        .says("Everything is done.")
        .doubts(&step, "the step names no file, and the final message does not speak of it");
}

#[test]
fn a_step_to_look_at_a_file_or_one_that_a_command_may_have_done_is_not_abandoned() {
    let left = |quote: &str| proposal(Category::C, Problem::NoTrace, quote, "a.rs", "");
    let reason = "the step promises no change of its files";
    plan("1. Review `a.rs`\n").says("All done.").on_disk("a.rs", "x").doubts(&left("Review `a.rs`"), reason);
    plan("## Critical files\n- `a.rs`: the pattern\n")
        .says("All done.")
        .on_disk("a.rs", "x")
        .doubts(&left("`a.rs`: the pattern"), reason);
    plan("1. Set up `a.rs`\n")
        .says("All done.")
        .on_disk("a.rs", "x")
        .ran("cargo init .", CommandEnd::Succeeded)
        .doubts(&left("Set up `a.rs`"), "a command of the session may have changed it");
}

#[test]
fn a_step_that_was_worked_on_is_not_abandoned() {
    let left = |quote: &str| proposal(Category::C, Problem::NoTrace, quote, "", "");
    let case = |text: &str| plan(text).says("All done.");
    case("1. Add `validate_row()`\n")
        .on_disk("src/rows.rs", "fn validate_row() {}")
        .touched("src/rows.rs", 2)
        .refutes(&left("Add `validate_row()`"), "the session wrote what the step names, in src/rows.rs");
    case("1. Run `cargo test --all`\n")
        .ran("cargo test --all 2>&1 | tail", CommandEnd::Succeeded)
        .refutes(&left("Run `cargo test --all`"), "the session ran `cargo test --all 2>&1 | tail`");
    case("1. Show the user profile\n")
        .on_disk("web/UserProfile.tsx", "x")
        .touched("web/UserProfile.tsx", 2)
        .refutes(
            &left("Show the user profile"),
            "the session changed web/UserProfile.tsx, which is called like it",
        );
    case("1. Migrate the user table\n")
        .ran("git commit -m 'Migrated the user table'", CommandEnd::Succeeded)
        .refutes(&left("Migrate the user table"), "a commit of the session speaks of it");
    case("- [ ] The store\n  - [ ] Create `a.rs`\n")
        .on_disk("a.rs", "x")
        .touched("a.rs", 2)
        .refutes(&left("The store"), "the session worked on a part of it, step 2");
    case("1. Create `a.rs`\n").on_disk("a.rs", "x").refutes(&left("Create `a.rs`"), "a.rs was there already");
}

#[test]
fn what_was_left_elsewhere_does_not_make_an_open_step_abandoned() {
    let open = "- [x] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    let step = proposal(Category::C, Problem::NoTrace, "Create `beta.txt`", "", "");
    let normal = "the session does not say that it is finished: an unfinished plan is normal";
    plan(open).says("Step 1 is in, I skipped the linter. Step 2 next?").refutes(&step, normal);
    plan(open)
        .says("Step 1 is in. I skipped beta.txt.")
        .confirms(&step, "the final message says that the step was left or replaced");
    plan(open).asked("implement step 1", 1).says("Done.").refutes(&step, normal);
}

#[test]
fn a_file_that_was_changed_for_another_step_is_no_work_on_this_one() {
    let quote = "Add a `--dry-run` flag to `cli.py`";
    let left = proposal(Category::C, Problem::NoTrace, quote, "cli.py", "");
    let case = |text: &'static str| {
        let mut case = plan("- [x] Call both from `cli.py`\n- [ ] Add a `--dry-run` flag to `cli.py`\n")
            .says("The importer is finished.")
            .on_disk("cli.py", text)
            .touched("cli.py", 2);
        case.evidence.files.truncate(1);
        let file = &mut case.evidence.files[0];
        file.steps = vec![1, 2];
        file.signs = crate::evidence::signs::signs(
            "cli.py",
            text,
            &crate::evidence::signs::Wanted::of(["--dry-run".to_owned()]),
            None,
            || std::borrow::Cow::Owned(Original::Unknown),
        );
        case
    };
    case("add_argument('file')")
        .confirms(&left, "the session says that it is over, and cli.py has nothing of what the step names");
    case("add_argument('--dry-run')").refutes(&left, "the session did touch it");
}

#[test]
fn a_file_that_another_step_is_called_like_as_well_tells_nothing() {
    let left = proposal(Category::C, Problem::NoTrace, "Have the quickstart in German as well", "", "");
    plan("1. Rewrite the quickstart\n2. Have the quickstart in German as well\n")
        .says("All done.")
        .on_disk("docs/quickstart.md", "x")
        .touched("docs/quickstart.md", 2)
        .doubts(&left, "the step names no file, and the final message does not speak of it");
}

#[test]
fn a_step_in_whose_place_something_else_was_done_is_abandoned() {
    let quote = "Store sessions in Redis (`session.php`)";
    let left = proposal(Category::C, Problem::NoTrace, quote, "", "");
    let case = |text: &'static str| {
        plan("- [ ] Store sessions in Redis (`session.php`)\n- [x] Lifetime to 8 hours\n")
            .says("Done! I ended up using the `database` driver instead of Redis.")
            .on_disk("session.php", text)
            .touched("session.php", 2)
    };
    case("'database'").confirms(&left, "the final message says that the step was left or replaced");
    case("'redis'").refutes(&left, "the session did touch it");
}

#[test]
fn an_optional_step_and_a_plan_that_was_only_written_are_not_abandoned() {
    let left = |quote: &str| proposal(Category::C, Problem::NoTrace, quote, "", "");
    plan("- [ ] (optional) `bin/a.js`\n- [x] b\n")
        .says("All done. I skipped the optional `bin/a.js`.")
        .doubts(&left("(optional) `bin/a.js`"), "the step says itself that it is optional");
    plan("- [ ] Create `a.php`\n- [ ] Create `b.php`\n")
        .says("The plan is written: two steps.")
        .on_disk("PLAN.md", "x")
        .touched("PLAN.md", 2)
        .refutes(
            &left("Create `a.php`"),
            "the session does not say that it is finished: an unfinished plan is normal",
        );
}
