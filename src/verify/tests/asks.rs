//! ask: what the person asked for on the way.

use super::*;

#[test]
fn an_ask_must_be_the_persons_and_come_to_nothing() {
    let ask = proposal(Category::Ask, Problem::NoTrace, "also update the changelog", "CHANGELOG.md", "");
    let case = || plan(TWO).asked("make it", 1).asked("also update the changelog", 5);
    case().says("Done.").confirms(&ask, "the person asked for it, and nothing was done after it");
    case().touched("alpha.txt", 9).doubts(&ask, "work was done after it; nothing shows whether it was this");
    case().on_disk("CHANGELOG.md", "x").touched("CHANGELOG.md", 9).refutes(&ask, "the session did touch it");
    plan(TWO).asked("make it", 1).doubts(&ask, "quote not found in what the person asked");
    let question = proposal(Category::Ask, Problem::NoTrace, "what does this do?", "", "");
    plan(TWO)
        .asked("what does this do?", 1)
        .doubts(&question, "it is a question: an answer is no work that could be seen");
}

#[test]
fn an_ask_that_words_a_look_or_another_tool_can_settle_is_not_undone() {
    let ask = |quote: &str, path: &str| proposal(Category::Ask, Problem::NoTrace, quote, path, "");
    no_plan()
        .asked("explain how the parser works", 5)
        .doubts(&ask("explain how the parser works", ""), "words can answer it");
    let mut filed = no_plan().asked("file an issue for the flaky test", 5);
    filed.evidence.session.last_call = 7;
    filed.doubts(
        &ask("file an issue for the flaky test", ""),
        "tools were used after it; nothing shows whether for this",
    );
    no_plan()
        .asked("use src/a.rs as a template and add src/b.rs", 5)
        .on_disk("src/a.rs", "x")
        .on_disk("src/b.rs", "x")
        .touched("src/b.rs", 6)
        .doubts(
            &ask("use src/a.rs as a template", "src/a.rs"),
            "work was done after it; nothing shows whether it was this",
        );
}

#[test]
fn an_ask_that_was_taken_back_or_worked_on_is_not_undone() {
    let ask = |quote: &str| proposal(Category::Ask, Problem::NoTrace, quote, "", "");
    no_plan()
        .asked("also add a telemetry module to it", 5)
        .asked("never mind", 6)
        .refutes(&ask("also add a telemetry module"), "the person took it back");
    no_plan()
        .asked("also add a telemetry module to it", 5)
        .asked("ok. We don't need the telemetry module after all.", 9)
        .refutes(&ask("also add a telemetry module"), "the person took it back");
    no_plan()
        .asked("also add a telemetry module to it", 5)
        .on_disk("src/telemetry.rs", "x")
        .touched("src/telemetry.rs", 6)
        .refutes(
            &ask("also add a telemetry module"),
            "the session changed src/telemetry.rs, which is called like it",
        );
    no_plan().asked("can you look at the logs too? thanks", 5).doubts(
        &ask("can you look at the logs too"),
        "it is a question: an answer is no work that could be seen",
    );
    no_plan()
        .asked("also add a telemetry module to it", 5)
        .says("I did not add the telemetry module: the API is gone.")
        .doubts(&ask("also add a telemetry module"), "the final message says itself that it was not done");
}
