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
