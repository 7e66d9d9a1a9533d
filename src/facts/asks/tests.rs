//! What people say on the way, and what became of it.

use proptest::prelude::*;

use super::*;
use crate::evidence::signs::{Wanted, signs};
use crate::evidence::{Entered, FileEvidence, FileState};
use crate::session::{Change, Command, CommandEnd, EditTool, Original, Outcome, Touch};

/// Asks at 10, 20, 30 …; the first one is the session's own.
fn session(asks: &[&str], message: &str) -> Session {
    let ask = |(n, text): (usize, &&str)| Ask { text: (*text).to_owned(), at: (n + 1) * 10 };
    Session {
        asks: asks.iter().enumerate().map(ask).collect(),
        final_message: Some(message.to_owned()),
        ..Session::default()
    }
}

fn touch(path: &str, new: &str, at: usize) -> Touch {
    Touch {
        path: format!("/w/{path}"),
        tool: EditTool::Edit,
        at,
        outcome: Outcome::Done,
        original: Original::Unknown,
        agent: None,
        change_at: None,
        change: Some(Change { old: "x".into(), new: new.into() }),
    }
}

fn command(line: &str, at: usize) -> Command {
    Command { line: line.into(), at, end: CommandEnd::Succeeded, output: String::new(), agent: None }
}

fn evidence(session: Session) -> Evidence {
    Evidence {
        plan: None,
        session,
        files: Vec::new(),
        deeds: Vec::new(),
        todo_paths: Vec::new(),
        repository: None,
    }
}

fn found(session: Session) -> Vec<String> {
    candidates(&evidence(session)).into_iter().map(|finding| finding.quote).collect()
}

const FIRST: &str = "Write the parser for the config format.";

#[test]
fn an_ask_with_nothing_after_it_is_told() {
    let asks = [FIRST, "Looks good. Also add a CHANGELOG entry for the parser."];
    let mut session = session(&asks, "The parser is in place.");
    session.touches.push(touch("src/parser.rs", "fn parse() {}", 15));
    session.commands.push(command("cat CHANGELOG.md", 25));
    assert_eq!(found(session.clone()), ["Also add a CHANGELOG entry for the parser."]);
    session.forgotten.until = 24;
    assert_eq!(found(session), Vec::<String>::new(), "something after it is not kept");
}

#[test]
fn an_ask_that_the_work_after_it_does_not_speak_of_is_told() {
    for ask in [
        "Please also add a `--json` flag to `src/cli.rs`.",
        "Oh, and rename the settings folder to preferences while you're at it.",
        "Can you also write migration notes for the Postgres upgrade",
    ] {
        let mut session = session(&[FIRST, ask], "The parser handles comments now.");
        session.touches.push(touch("src/parser.rs", "fn skip_comments() {}", 25));
        assert_eq!(found(session).len(), 1, "{ask}");
    }
}

#[test]
fn what_was_done_is_not_told() {
    for (ask, path, new, line) in [
        ("Also add a `--json` flag to `src/cli.rs`.", "src/cli.rs", "json: bool", "ls"),
        ("Please add a CHANGELOG entry for the parser.", "CHANGELOG.md", "- parser", "ls"),
        ("Rename the settings folder to preferences.", "x.rs", "x", "git mv settings preferences"),
        ("Fix the flaky upload test as well please.", "tests/upload.rs", "retry", "ls"),
    ] {
        let mut session = session(&[FIRST, ask], "Done.");
        session.touches.push(touch(path, new, 25));
        session.commands.push(command(line, 26));
        assert_eq!(found(session), Vec::<String>::new(), "{ask}");
    }
}

#[test]
fn a_file_that_is_asked_for_by_name_and_not_touched_is_told() {
    let ask = "Great! Now a --json flag too, and describe both flags in README.md please.";
    let mut session = session(&[FIRST, ask, "does it follow links?"], "Flags and README: `--json` is in.");
    session.touches.push(touch("README.md", "the flags", 15));
    session.touches.push(touch("bin/disk", "--json, both flags, readme", 25));
    assert_eq!(found(session.clone()), ["describe both flags in README.md please."]);
    session.touches.push(touch("README.md", "the flags", 26));
    assert_eq!(found(session), Vec::<String>::new());
}

#[test]
fn a_question_out_of_courtesy_is_no_question_back() {
    let asks = [FIRST, "ok. Add an entry to CHANGELOG.md for this, and tell me what it prints"];
    let message = "It prints one line. The entry belongs under Unreleased. Anything else you'd like?";
    assert_eq!(found(session(&asks, message)), ["Add an entry to CHANGELOG.md for this"]);
}

#[test]
fn what_is_still_there_was_not_removed_whatever_else_was_done_to_its_file() {
    let ask = "thanks. while you're in there drop the unused legacy_hash helper, and make the token 32 bytes";
    let told = |text: &str| {
        let mut session = session(&[FIRST, ask], "Tokens are 32 bytes now.");
        let original = Original::Text("def legacy_hash; end; def token; end".to_owned());
        session.touches.push(Touch { original, ..touch("lib/auth.rb", "token(32) bytes", 25) });
        let mut evidence = evidence(session);
        evidence.files.push(file("lib/auth.rb", text));
        candidates(&evidence).into_iter().map(|finding| finding.quote).collect::<Vec<_>>()
    };
    assert_eq!(told("def legacy_hash; end"), ["while you're in there drop the unused legacy_hash helper"]);
    assert_eq!(told("def token; end"), Vec::<String>::new());
}

fn file(name: &str, text: &str) -> FileEvidence {
    FileEvidence {
        name: name.into(),
        touches: Vec::new(),
        steps: Vec::new(),
        state: FileState::File { bytes: 1 },
        entered: Entered::Whole,
        text: text.into(),
        masked: 0,
        digest: String::new(),
        signs: signs(name, text, &Wanted::of(["legacy_hash".to_owned()]), None, || {
            std::borrow::Cow::Owned(Original::Unknown)
        }),
    }
}

#[test]
fn what_asks_for_nothing_is_not_told() {
    for ask in [
        "Why did you choose a recursive parser here?",
        "Thanks, that looks really great to me now!",
        "yes, go ahead with the second option then",
        "The second one, with the blue background, is the one I meant.",
        "explain how the parser handles comments in nested blocks",
        "I see this error: cannot find value `x` in this scope",
        "ok, continue",
        "fix them all, but leave the first one for me",
        "If the tests fail, add a retry to the upload client.",
    ] {
        assert_eq!(found(session(&[FIRST, ask], "The parser is in place.")), Vec::<String>::new(), "{ask}");
    }
}

#[test]
fn what_was_taken_back_or_answered_is_not_told() {
    let ask = "Also add a CHANGELOG entry for the parser.";
    for later in ["Never mind, I'll do that myself.", "Skip the CHANGELOG entry, we don't need it."] {
        assert_eq!(found(session(&[FIRST, ask, later], "Fine.")), Vec::<String>::new(), "{later}");
    }
    for message in
        ["The CHANGELOG already has an entry for the parser.", "Which version should the entry go under?"]
    {
        assert_eq!(found(session(&[FIRST, ask], message)), Vec::<String>::new(), "{message}");
    }
}

#[test]
fn the_first_ask_is_the_session_itself() {
    assert_eq!(found(session(&[FIRST], "Hello.")), Vec::<String>::new());
}

#[test]
fn the_aftermath_is_told_ask_by_ask() {
    let mut session = session(&[FIRST, "Also add notes to the README.", "Thanks!"], "Fine.");
    session.touches.push(touch("README.md", "x", 25));
    session.touches.push(touch("README.md", "y", 26));
    session.commands.push(command("npm run docs", 27));
    session.commands.push(command("ls", 28));
    let told = aftermath(&session);
    assert_eq!(
        told,
        [
            ("Also add notes to the README.".to_owned(), "1 file changed: README.md; 1 command".to_owned()),
            ("Thanks!".to_owned(), "nothing".to_owned()),
        ]
    );
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(one in ".{0,120}", other in ".{0,120}", message in ".{0,80}") {
        let mut session = session(&[&one, &other, &one], &message);
        session.touches.push(touch(&other, &one, 25));
        session.commands.push(command(&one, 35));
        let _ = aftermath(&session);
        let _ = found(session);
    }
}
