//! The scripted client itself: that it answers like the client, tells the questions apart, and
//! fails loudly on what it does not know.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of its own for one test, with the script.
struct Sandbox(tempfile::TempDir);

impl Sandbox {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs it with a script, arguments and a prompt. `DIR` in the script becomes this stage's
    /// folder.
    fn run(&self, script: Option<&str>, args: &[&str], prompt: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-claude"));
        command.args(args).current_dir(self.0.path()).env_remove("FAKE_CLAUDE_SCRIPT");
        if let Some(script) = script {
            let dir = self.0.path().to_str().expect("a plain path");
            fs::write(self.path("script"), script.replace("DIR", dir)).expect("the script");
            command.env("FAKE_CLAUDE_SCRIPT", self.path("script"));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let mut stdin = child.stdin.take().expect("stdin");
        // It need not read any of it.
        let _ = stdin.write_all(prompt.as_bytes());
        drop(stdin);
        child.wait_with_output().expect("its end")
    }
}

fn show(ended: &Output) -> String {
    let text = String::from_utf8_lossy;
    format!("{}\nstdout: {}\nstderr: {}", ended.status, text(&ended.stdout), text(&ended.stderr))
}

#[test]
fn it_fails_loudly_on_what_it_does_not_know() {
    let stage = Sandbox::new();
    for script in [
        "stdout first\nno-such-thing\n",
        "sleep soon\n",
        "exit\n",
        "answer {\n",
        "verdicts perhaps It may be.\n",
        "states gone\n",
        "second\n",
        "second no-such-thing\n",
        "stdout \\q\n",
        "if-flag --x\n",
        "unless-flag --x no-such-thing\n",
        "hang on\n",
    ] {
        let ended = stage.run(Some(script), &[], "");
        assert_eq!(ended.status.code(), Some(97), "{}", show(&ended));
        assert_eq!(ended.stdout, b"", "nothing runs before the whole script is known");
        assert!(ended.stderr.starts_with(b"fake-claude: line "), "{}", show(&ended));
    }
    let ended = stage.run(None, &[], "");
    assert_eq!(ended.status.code(), Some(97), "{}", show(&ended));
}

#[test]
fn it_answers_like_the_client() {
    let stage = Sandbox::new();
    let json = |ended: &Output| -> serde_json::Value {
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|why| panic!("{why}: {}", show(ended)))
    };

    let ended = stage.run(Some("answer {\"findings\":[]}\n"), &[], "");
    assert_eq!(ended.status.code(), Some(0), "{}", show(&ended));
    assert_eq!(json(&ended)["structured_output"], serde_json::json!({"findings": []}));
    assert_eq!(json(&ended)["is_error"], false);

    let ended = stage.run(Some("text-answer a\\nb\n"), &[], "");
    assert_eq!(json(&ended)["result"], "a\nb");
    assert_eq!(json(&ended).get("structured_output"), None);

    let ended = stage.run(Some("api-error Not logged in\nstdout never\n"), &[], "");
    assert_eq!(ended.status.code(), Some(1), "{}", show(&ended));
    assert_eq!((&json(&ended)["is_error"], &json(&ended)["subtype"]), (&true.into(), &"success".into()));

    fs::write(stage.path("canned"), "canned").expect("a file");
    assert_eq!(stage.run(Some("stdout-file DIR/canned\n"), &[], "").stdout, b"canned");
}

#[test]
fn it_looks_at_its_arguments_first() {
    let stage = Sandbox::new();
    let script = "stdout played\nrefuse-flag --x\nhelp --print --tools\nversion 2.1.325 (Claude Code)\n";
    let with = |flag: &str| stage.run(Some(script), &[flag], "p");

    assert_eq!(with("-p").stdout, b"played");
    assert_eq!(with("--version").stdout, b"2.1.325 (Claude Code)\n");
    let help = String::from_utf8(with("--help").stdout).expect("text");
    let flags: Vec<&str> = help.split_whitespace().filter(|word| word.starts_with("--")).collect();
    assert_eq!(flags, ["--print", "--print", "--tools", "--tools"], "{help}");
    let refused = with("--x=1");
    assert_eq!(refused.status.code(), Some(1), "{}", show(&refused));
    assert_eq!((refused.stdout, refused.stderr), (Vec::new(), b"error: unknown option '--x'\n".to_vec()));
}

/// The prompt of a question, with data before it that holds the words of another.
fn asked(question: &str) -> String {
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("prompts/{question}.md")));
    let listed = "{\"number\":1}\n{\"number\":2}";
    let text = text.expect("a prompt").replace("{{ findings }}", listed);
    format!(
        "Your task: report where promise, word and world drift apart.\n{}",
        text.replace("{{ fence }}", "F")
    )
}

#[test]
fn it_tells_the_questions_apart() {
    let stage = Sandbox::new();
    let script = "record DIR/calls\nfirst answer {\"findings\":[],\"candidates\":[],\"verdicts\":[]}\n\
        second verdicts dismiss No.\nsettle states wrong Never.\n\
        checklist answer {\"claimed\":[2],\"finished\":true}\n";
    let word = |key: &str, value: serde_json::Value| {
        let word = |number| serde_json::json!({ "number": number, key: value, "why": if key == "uphold" { "No." } else { "Never." } });
        serde_json::json!([word(1), word(2)])
    };
    for (question, expected) in [
        ("first", serde_json::json!({ "findings": [], "candidates": [], "verdicts": [] })),
        (
            "second",
            serde_json::json!({ "findings": [], "candidates": [], "verdicts": word("uphold", false.into()) }),
        ),
        ("settle", serde_json::json!({ "findings": word("state", "wrong".into()) })),
        ("checklist", serde_json::json!({ "claimed": [2], "finished": true })),
    ] {
        let ended = stage.run(Some(script), &[], &asked(question));
        assert_eq!(ended.status.code(), Some(0), "{}", show(&ended));
        let reply: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("JSON");
        assert_eq!(reply["structured_output"], expected, "{question}");
        let calls = fs::read_to_string(stage.path("calls")).expect("calls");
        let last: serde_json::Value =
            serde_json::from_str(calls.lines().last().expect("a call")).expect("JSON");
        assert_eq!(last["question"], question);
    }
}

#[test]
fn it_fails_where_a_question_has_no_fitting_answer() {
    for (question, script) in [
        ("second", "first answer {\"findings\":[],\"candidates\":[],\"verdicts\":[]}\n"),
        ("second", "answer {\"findings\":[{}],\"candidates\":[],\"verdicts\":[]}\n"),
        ("first", "answer {\"findings\":[]}\n"),
        ("first", "verdicts uphold Yes.\n"),
        ("settle", "answer {\"findings\":[],\"candidates\":[],\"verdicts\":[]}\n"),
    ] {
        let stage = Sandbox::new();
        let ended = stage.run(Some(script), &[], &asked(question));
        assert_eq!(ended.status.code(), Some(97), "{}", show(&ended));
        assert_eq!(ended.stdout, b"", "{script}");
        assert!(stage.path("script.broken").exists(), "a test can see that: {script}");
    }
}

#[test]
fn it_has_guards() {
    let stage = Sandbox::new();
    let script = "if-flag --x stdout x\nunless-flag --x stdout no-x\non-call 2 if-flag --x stdout  twice\n";
    let with = |flag: &str| stage.run(Some(script), &[flag], "").stdout;
    assert_eq!(with("--x"), b"x");
    assert_eq!(with("--x"), b"x twice");
    assert_eq!(with("--y"), b"no-x");
}
