//! What a person sees on a terminal: colours or none, as wide as it is, through the pager. The
//! terminal is one that `script` makes; without it the tests are skipped aloud.

use std::process::Stdio;

use crate::log::machine::{Machine, PUNCHLIST};

/// What comes out of a terminal of this size, or nothing where there is no `script`.
fn on_terminal(machine: &Machine, (columns, rows): (usize, usize), args: &str) -> Option<String> {
    let line = format!("stty cols {columns} rows {rows}; exec '{PUNCHLIST}' {args}");
    let mut script = machine.other("script");
    script.args(["-q", "-e", "-c", &line, "/dev/null"]).env("SHELL", "/bin/sh").stdin(Stdio::null());
    let output = match script.output() {
        Ok(output) => output,
        Err(error) => {
            assert_ne!(std::env::var("PUNCHLIST_STRACE").as_deref(), Ok("required"), "there is no `script`");
            eprintln!("SKIPPED: there is no terminal without `script` ({error})");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    assert!(output.status.success(), "{args}: {}\n{text}", output.status);
    Some(text)
}

fn year() -> Machine {
    Machine::with_year(300).var("TERM", "xterm-256color")
}

const ESCAPE: char = '\u{1b}';

#[test]
fn a_terminal_has_colours_unless_somebody_wants_none() {
    for args in ["log -n 20", "log stats", "log show last"] {
        let cat = || year().var("PAGER", "cat");
        let Some(coloured) = on_terminal(&cat(), (120, 40), args) else { return };
        assert!(coloured.contains(ESCAPE), "{args}: {coloured}");
        for (name, value) in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
            let plain = on_terminal(&cat().var(name, value), (120, 40), args).expect("a terminal");
            assert!(!plain.contains(ESCAPE), "{args} {name}: {plain}");
            assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain, "{args} {name}");
        }
        let piped = year().print(&args.split(' ').collect::<Vec<_>>());
        assert!(!piped.contains(ESCAPE), "{args}: {piped}");
        let forced = year().var("CLICOLOR_FORCE", "1").print(&args.split(' ').collect::<Vec<_>>());
        assert!(forced.contains(ESCAPE), "{args}: {forced}");
    }
}

#[test]
fn a_list_is_as_wide_as_the_terminal_and_has_a_head() {
    let machine = year().var("PAGER", "cat").var("NO_COLOR", "1");
    for columns in [50, 80, 140] {
        let Some(text) = on_terminal(&machine, (columns, 24), "log") else { return };
        assert!(text.starts_with("id "), "{text}");
        assert_eq!(text.lines().count(), 301);
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}: {text}");
    }
}

#[test]
fn text_goes_through_the_persons_pager() {
    for args in ["log", "log stats", "log show last"] {
        let own = year().var("PAGER", "sed 's/^/paged: /'").var("NO_COLOR", "1");
        let Some(text) = on_terminal(&own, (100, 24), args) else { return };
        assert!(text.lines().count() > 3, "{args}: {text}");
        assert!(text.lines().all(|line| line.starts_with("paged: ")), "{args}: {text}");
        // Who has seen enough is no error.
        let hasty = year().var("PAGER", "head -n 1").var("NO_COLOR", "1");
        assert_eq!(on_terminal(&hasty, (100, 24), args).expect("a terminal").lines().count(), 1, "{args}");
    }
    for args in ["log --json -n 5", "log path", "log export --format csv", "log label last right"] {
        let own = year().var("PAGER", "sed 's/^/paged: /'");
        let text = on_terminal(&own, (100, 24), args).expect("a terminal");
        assert!(!text.contains("paged: "), "{args}: {text}");
    }
}

#[test]
fn less_is_told_to_leave_colours_and_what_fits_alone_unless_the_person_says_otherwise() {
    let machine = year().var("PAGER", "echo \"[$LESS]\"; cat > /dev/null");
    let Some(text) = on_terminal(&machine, (100, 24), "log") else { return };
    assert_eq!(text, "[FRX]\n");
    let text = on_terminal(&machine.var("LESS", "-S"), (100, 24), "log").expect("a terminal");
    assert_eq!(text, "[-S]\n");
}

#[test]
fn without_a_pager_it_is_printed() {
    let machine = year().var("PAGER", "no-such-pager-anywhere").var("NO_COLOR", "1");
    let Some(text) = on_terminal(&machine, (100, 24), "log -n 3") else { return };
    assert_eq!(text.lines().filter(|line| !line.contains("no-such-pager")).count(), 4, "{text}");
}

#[test]
fn nothing_that_a_workspace_says_steers_the_terminal() {
    let hostile = "/w/\\u001b[2Jx\\u001b]0;owned\\u0007\\u009b31m\u{202e}gnp\\r";
    let record = format!(
        r#"{{"schema":1,"id":"k3f92m7q1x","time":"2026-10-01T08:00:00.000Z","session":"{hostile}","project":"{hostile}",
        "decision":"block","cause":"findings","detail":"{hostile}","plan":{{"source":"touched-file","path":"{hostile}","steps":1,"ticked":1,"dropped":0}},
        "findings":[{{"category":"A","status":"confirmed","source":"reader","kind":"missing","claim":"{hostile}","proof":"{hostile}","path":"{hostile}",
        "why":"{hostile}","settle":"{hostile}","check":"{hostile}","second":{{"upheld":true,"why":"{hostile}"}}}}],
        "auditor":{{"backend":"{hostile}","client":null,"model":"{hostile}","outcome":"{hostile}","duration_ms":1,
        "usage":{{"input_tokens":1,"output_tokens":1,"cache_read_tokens":0,"cache_write_tokens":0,"cost_usd":0.1}},"flags":[]}},
        "second_reader":{{"backend":"{hostile}","client":"{hostile}","model":"{hostile}","outcome":"{hostile}","detail":"{hostile}","duration_ms":1}}}}"#
    )
    .replace('\n', "");
    let note = format!(
        r#"{{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T08:10:00Z","of":"k3f92m7q1x","finding":1,"outcome":"disputed","why":"{hostile}","sentence":"{hostile}"}}"#
    );
    let machine = Machine::new().var("TERM", "xterm-256color").var("PAGER", "cat").var("NO_COLOR", "1");
    machine.append("2026-10", format!("{record}\n{note}\n").as_bytes());
    for args in [
        "log",
        "log stats",
        "log show last",
        "log show last.1",
        "log show last --json",
        "log --json",
        "log stats --json",
        "log export",
        "log export --format csv",
        "log label last wrong --json",
    ] {
        let Some(text) = on_terminal(&machine, (100, 24), args) else { return };
        let steers = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        // A line of CSV ends in two characters.
        assert!(!text.replace("\r\n", "\n").contains(steers), "{args}: {text:?}");
        assert!(text.contains("owned") || args.contains("label"), "{args}: {text:?}");
    }
    // Behind a pipe there is often a terminal as well.
    assert!(!machine.print(&["log", "export", "--format", "csv"]).contains('\u{1b}'));
}
