//! D: a task that is in no step.

use super::*;

#[test]
fn a_task_must_be_on_the_list_and_like_no_step() {
    let task = proposal(Category::D, Problem::NotInPlan, "Rewrite the login page", "", "");
    plan(TWO)
        .todo("Rewrite the login page")
        .confirms(&task, "it is on the task list, and no step is like it");
    plan(TWO).doubts(&task, "quote not found in the task list");
    plan("1. Rewrite the login page in Svelte\n")
        .todo("Rewrite the login page")
        .refutes(&task, "step 1 of the plan covers it");
}

#[test]
fn a_task_in_other_words_or_off_the_list_is_no_drift() {
    let task = |text: &str| proposal(Category::D, Problem::NotInPlan, text, "", "");
    let text = "1. Migrate the user table to uuid keys\n2. Add `slugify()` to `src/slug.rs`\n";
    for todo in ["User table migration", "Step 1: ids", "Write slugify in src/slug.rs"] {
        let number = if todo.contains("slug") { 2 } else { 1 };
        plan(text).todo(todo).refutes(&task(todo), &format!("step {number} of the plan covers it"));
    }
    let mut off = plan(text).todo("Rewrite the login page");
    off.evidence.session.todos[0].status = "cancelled".into();
    off.refutes(&task("Rewrite the login page"), "it was taken off the list");
    plan(text)
        .todo("Investigate the flaky runner")
        .doubts(&task("Investigate the flaky"), "it is a chore of any work");
}

#[test]
fn a_step_that_another_task_is_does_not_cover_this_one() {
    let task = |text: &str| proposal(Category::D, Problem::NotInPlan, text, "", "");
    let plan = || {
        plan("# Config file\n\n- [x] `Config` struct in `src/config.rs`\n- [x] Read it from `app.toml` (`Config::load`)\n")
            .todo("Config struct")
            .todo("Load app.toml")
            .todo("Support reading YAML config alongside TOML")
    };
    plan().confirms(
        &task("Support reading YAML config alongside TOML"),
        "it is on the task list, and no step is like it",
    );
    plan().refutes(&task("Load app.toml"), "step 2 of the plan covers it");
}

#[test]
fn a_task_at_the_place_of_a_step_may_be_that_step() {
    let task = proposal(Category::D, Problem::NotInPlan, "Signup page", "", "");
    plan("- [x] Subscribe form: `subscribe.php`\n- [x] Double opt-in with a signed link\n")
        .todo("Signup page")
        .todo("Signed confirmation links")
        .doubts(&task, "it may be step 1 of the plan in other words");
}
