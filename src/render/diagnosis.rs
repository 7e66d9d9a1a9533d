//! The doctor's checks for a terminal, a line or two for each. Pure.

use std::fmt::Write as _;
use std::path::Path;

use crate::doctor::{Check, Diagnosis, Mark};
use crate::render::paragraphs::{CLEAN, CONFIRMED, LABEL, TITLE, UNVERIFIED, options, squeezed};
use crate::text::{counted, harmless};

/// The width of marks and names.
const LEFT: usize = 11;

/// Renders all checks. Paths below `home` are written with a `~`.
pub fn text(diagnosis: &Diagnosis, width: usize, home: Option<&Path>) -> String {
    let mut text = format!("{TITLE}punchlist {}{TITLE:#}\n\n", diagnosis.version);
    let mut last = "";
    for check in &diagnosis.checks {
        // A name appears once, before the first of its checks.
        let name = if check.name == last { "" } else { check.name };
        last = check.name;
        line(&mut text, check, name, width, home);
    }
    text.push('\n');
    let (style, words) = match diagnosis.faults() {
        0 => (CLEAN, "All fine.".to_owned()),
        count => (CONFIRMED, format!("{} to do.", counted(count, "thing", "things"))),
    };
    let _ = writeln!(text, "{style}{words}{style:#}");
    text
}

fn line(text: &mut String, check: &Check, name: &str, width: usize, home: Option<&Path>) {
    let (style, mark) = match check.mark {
        Mark::Fine => (CLEAN, '✓'),
        Mark::Note => (UNVERIFIED, '·'),
        Mark::Fault => (CONFIRMED, '✗'),
    };
    let mut head = format!("{style}{mark}{style:#} {TITLE}{name:<9}{TITLE:#}");
    for words in wrapped(&check.found, "", width, home) {
        let _ = writeln!(text, "{head}{words}");
        head = " ".repeat(LEFT);
    }
    for words in wrapped(check.next.as_deref().unwrap_or_default(), "→ ", width, home) {
        let _ = writeln!(text, "{head}{LABEL}{words}{LABEL:#}");
    }
}

fn wrapped(words: &str, mark: &str, width: usize, home: Option<&Path>) -> Vec<String> {
    let words = harmless(&squeezed(words));
    if words.is_empty() {
        return Vec::new();
    }
    let home = home.map(|home| home.display().to_string()).filter(|home| home.len() > 1);
    let words = home.map_or_else(|| words.clone(), |home| words.replace(&format!("{home}/"), "~/"));
    let indent = " ".repeat(mark.chars().count());
    let options = options(width.saturating_sub(LEFT).max(20)).initial_indent(mark).subsequent_indent(&indent);
    textwrap::wrap(&words, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnosis() -> Diagnosis {
        Diagnosis {
            version: "0.0.0",
            ..Diagnosis::new(vec![
                Check::fine("client", "claude 2.1.325, /home/me/.local/bin/claude, can be sealed completely"),
                Check::fault(
                    "login",
                    "the client is not logged in where hooks run",
                    "log in with `claude`, or set ANTHROPIC_API_KEY; until then only what the disk proves blocks",
                ),
                Check::note(
                    "reader",
                    "haiku was not asked",
                    "`punchlist doctor --audit` asks it one tiny question",
                ),
                Check::fine("gate", "a session that did what it says goes through, quietly"),
                Check::fine("gate", "a session that says more than it did is \u{1b}[2Jheld"),
            ])
        }
    }

    fn plain(width: usize) -> String {
        anstream::adapter::strip_str(&text(&diagnosis(), width, Some(Path::new("/home/me")))).to_string()
    }

    #[test]
    fn a_tick_or_a_cross_and_a_next_step_for_each() {
        insta::assert_snapshot!(plain(80));
        insta::assert_snapshot!("a_narrow_terminal_wraps_it", plain(44));
    }

    #[test]
    fn a_flag_is_not_broken() {
        let all = Diagnosis::new(vec![Check::fine(
            "client",
            "this one has no --no-session-persistence, and that is all",
        )]);
        let text = text(&all, 44, None);
        assert!(text.contains(" --no-session-persistence,"), "{text}");
    }

    #[test]
    fn marks_have_their_colours_and_all_fine_is_said() {
        let fine = Diagnosis::new(vec![Check::fine("state", "x")]);
        let text = text(&fine, 80, None);
        assert!(
            text.contains("\u{1b}[1m\u{1b}[32m✓")
                && text.ends_with("\u{1b}[1m\u{1b}[32mAll fine.\u{1b}[0m\n"),
            "{text:?}"
        );
    }
}
