use proptest::prelude::*;

use super::*;

fn standing(status: Status) -> LoopProgress {
    LoopProgress {
        iteration: 4,
        max: 50,
        status,
        passing: (2, 5),
        left: vec!["F3".into(), "F4".into()],
        updated: "2026-11-16T19:20:00Z".into(),
    }
}

fn said(text: &str) -> (Option<u32>, Option<u32>, Option<String>) {
    let progress = read(text);
    (progress.iteration, progress.max, progress.status.map(|status| status.word().to_owned()))
}

#[test]
fn what_is_said_of_the_loop_is_read_however_it_is_written() {
    let word = |word: &str| Some(word.to_owned());
    assert_eq!(
        said("iteration: 3\nmax: 10\nstatus: IN_PROGRESS\n"),
        (Some(3), Some(10), word("IN_PROGRESS"))
    );
    assert_eq!(said("Iteration = 3/10\nSTATUS=complete"), (Some(3), Some(10), word("COMPLETE")));
    assert_eq!(
        said("# Run\r\n**Iteration:** 3 of 10\r\n- **Status**: In progress\r\n"),
        (Some(3), Some(10), word("IN_PROGRESS"))
    );
    assert_eq!(said("max_iterations: 7\nstatus: WAITING"), (None, Some(7), word("WAITING")));
    assert_eq!(said("status: `BLOCKED`"), (None, None, word("BLOCKED")));
}

#[test]
fn sentences_and_counts_of_other_things_are_notes() {
    let log = "# Claude Progress Log\n## Session 2\nStatus: All features implemented and verified.\nMax: the cat\nIteration: third\nleft: the door open\n";
    assert_eq!(said(log), (None, None, None));
    assert_eq!(said("Iterations so far: 3\nmaximum speed: 7 km\n"), (None, None, None));
}

#[test]
fn lines_keep_their_place_and_their_form_and_notes_are_kept() {
    let text = "# My run\r\n**Iteration:** 3/10\r\nstatus = IN_PROGRESS\r\n\r\n## Notes\r\n- status of the cart: broken\r\nleft: a mess";
    assert_eq!(
        write(text, &standing(Status::ReachedLimit)),
        "# My run\r\n**Iteration:** 4/50\r\nstatus = REACHED_LIMIT\r\npassing: 2 of 5\r\nleft: F3, F4\r\nupdated: 2026-11-16T19:20:00Z\r\n\r\n## Notes\r\n- status of the cart: broken\r\nleft: a mess"
    );
}

#[test]
fn a_file_that_says_nothing_gets_a_head() {
    let head = "iteration: 4\nmax: 50\nstatus: STALLED\npassing: 2 of 5\nleft: F3, F4\nupdated: 2026-11-16T19:20:00Z\n";
    assert_eq!(write("", &standing(Status::Stalled)), head);
    assert_eq!(
        write("Session 1: began.\n", &standing(Status::Stalled)),
        format!("{head}\nSession 1: began.\n")
    );
    let done = LoopProgress { left: Vec::new(), ..standing(Status::Complete) };
    assert!(write(head, &done).contains("status: COMPLETE\npassing: 2 of 5\nleft: nothing\n"));
}

#[test]
fn whoever_is_blocked_may_say_why() {
    let note = |text| note_on_status(text);
    assert_eq!(
        note("status: BLOCKED\nupdated: x\nNo key for the API.\n").as_deref(),
        Some("No key for the API.")
    );
    assert_eq!(note("status: BLOCKED\n\nNotes\n"), None);
    assert_eq!(note("nothing"), None);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_what_was_written_is_read(text in "([a-zA-Z:=#* \\-/0-9é]{0,20}\r?\n?){0,12}") {
        let written = write(&text, &standing(Status::Stalled));
        let progress = read(&written);
        prop_assert_eq!((progress.iteration, progress.max, progress.status), (Some(4), Some(50), Some(Status::Stalled)));
        prop_assert_eq!(write(&written, &standing(Status::Stalled)), written);
    }

    #[test]
    fn every_note_survives(notes in proptest::collection::vec("[a-zA-Z .,]{0,30}", 0..8), ours in any::<bool>()) {
        let head = if ours { "iteration: 1\nstatus: IN_PROGRESS\n\n" } else { "" };
        let text = format!("{head}{}\n", notes.join("\n"));
        let written = write(&text, &standing(Status::Complete));
        prop_assert!(written.ends_with(&format!("{}\n", notes.join("\n"))), "{:?}", written);
    }
}
