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

#[test]
fn work_from_before_the_ask_is_no_answer_to_it() {
    let quote = "pin postgres to 16.4 in docker-compose.yml";
    let ask = proposal(Category::Ask, Problem::NoTrace, quote, "docker-compose.yml", "");
    let case = |text| {
        no_plan()
            .asked("write the compose file", 1)
            .on_disk("docker-compose.yml", text)
            .touched("docker-compose.yml", 2)
            .asked(quote, 5)
            .on_disk("Makefile", "up:")
            .touched("Makefile", 6)
    };
    case("image: postgres:latest")
        .confirms(&ask, "the person asked for it, and docker-compose.yml has no `16.4`");
    case("image: postgres:16.4")
        .confirms(&ask, "the person asked for it by name, and nothing in the session touched that file");
    case("image: postgres:16.4").touched("docker-compose.yml", 7).refutes(&ask, "the session did touch it");
}

#[test]
fn a_name_that_is_still_there_was_not_removed_or_changed() {
    let rename = "rename load_cfg to load_config everywhere";
    let ask = proposal(Category::Ask, Problem::NoTrace, rename, "app/settings.py", "");
    let case = |text| {
        let asked = "Yes, go on. And rename load_cfg to load_config everywhere, it annoys me.";
        no_plan()
            .asked("go", 1)
            .asked(asked, 5)
            .on_disk("app/settings.py", text)
            .touched("app/settings.py", 6)
    };
    case("def load_cfg(): pass").confirms(
        &ask,
        "the person asked for it, and app/settings.py still has `load_cfg`, and no `load_config`",
    );
    case("def load_config(): pass").refutes(&ask, "app/settings.py has `load_config`");
    case("def load_config(): pass\nload_cfg = load_config").refutes(&ask, "the session did touch it");
}

#[test]
fn a_page_to_write_on_makes_work_of_a_description() {
    let quote = "describe both flags in README.md please";
    let ask = proposal(Category::Ask, Problem::NoTrace, quote, "README.md", "");
    no_plan()
        .asked("go", 1)
        .asked(quote, 5)
        .says("Fine.")
        .confirms(&ask, "the person asked for it, and nothing was done after it");
}

#[test]
fn thanks_ask_for_nothing() {
    let quote = "great, thanks! ran it on the nas, works. all tests pass, ha ha";
    let ask = proposal(Category::Ask, Problem::NoTrace, quote, "", "");
    no_plan()
        .asked("go", 1)
        .asked(quote, 5)
        .says("Glad to hear it!")
        .doubts(&ask, "nothing in it plainly asks for work");
}
