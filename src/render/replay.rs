//! The differences between a past audit and today's rules, for a terminal. Pure.

use std::fmt::Write as _;

use anstyle::Style;

use crate::decision::Action;
use crate::finding::{Finding, Status};
use crate::log::replay_diff::{Difference, FindingDiff, ReplayDiff};
use crate::render::paragraphs::{CLEAN, CONFIRMED, Paragraphs, TITLE, UNVERIFIED};
use crate::render::wording::quoted;
use crate::text::counted;

/// Renders the whole comparison.
pub fn text(diff: &ReplayDiff, width: usize) -> String {
    let mut page = Paragraphs::new(width);
    let version = if diff.version_then == diff.version_now || diff.version_then.is_empty() {
        format!("punchlist {}", diff.version_now)
    } else {
        format!("punchlist {}; it was decided by {}", diff.version_now, diff.version_then)
    };
    page.wrapped(&format!("Replay of {} with {version}", diff.id), TITLE, "  ");
    for caution in &diff.cautions {
        page.wrapped(&format!("Caution: {caution}"), UNVERIFIED, "  ");
    }
    if diff.findings.is_empty() {
        page.gap();
        page.wrapped("No findings, then and now.", Style::new(), "");
    }
    for one in &diff.findings {
        page.finding_diff(one);
    }
    let differing = diff.findings.iter().filter(|one| one.difference != Difference::Same).count();
    let differ = if differing == 1 { "1 differs".to_owned() } else { format!("{differing} differ") };
    let said = format!(
        "Then: {}. Today: {}. {}, {differ}.",
        word(diff.then),
        word(diff.now),
        counted(diff.findings.len(), "finding", "findings")
    );
    page.gap();
    page.wrapped(&said, if differing == 0 && diff.then == diff.now { CLEAN } else { UNVERIFIED }, "");
    page.text
}

fn word(held: Action) -> &'static str {
    match held {
        Action::Block => "held",
        Action::Allow => "let go",
    }
}

fn status_word(status: Status) -> &'static str {
    match status {
        Status::Confirmed => "confirmed",
        Status::CannotVerify => "not verified",
        Status::Refuted => "refuted",
        Status::Ignored => "ignored by the config",
    }
}

impl Paragraphs {
    fn finding_diff(&mut self, one: &FindingDiff) {
        let Some(finding) = one.then.as_ref().or(one.now.as_ref()) else { return };
        let style = match one.difference {
            Difference::Same => Style::new(),
            Difference::NowConfirmed | Difference::New => CONFIRMED,
            Difference::NowUnverified => UNVERIFIED,
            Difference::NowRefuted | Difference::NowIgnored | Difference::Gone => CLEAN,
        };
        let number = one.number.map_or_else(|| "+".to_owned(), |number| number.to_string());
        let what = one.difference.label();
        let path = finding.path.as_deref().unwrap_or_default();
        let (words, path) =
            if finding.claim.is_empty() { (path.to_owned(), "") } else { (quoted(&finding.claim), path) };
        let name = finding.category.name();
        let _ = writeln!(self.text, "\n  {TITLE}{number:<3}{TITLE:#}[{name}] {style}{what}{style:#}");
        self.labelled("words", &words);
        self.labelled("path", path);
        let reason = |finding: &Finding| format!("{}: {}", status_word(finding.status), finding.check);
        match (&one.then, &one.now) {
            (Some(then), Some(now)) if reason(then) == reason(now) => self.labelled("both", &reason(then)),
            (then, now) => {
                self.labelled("then", &then.as_ref().map(reason).unwrap_or_default());
                self.labelled("now", &now.as_ref().map(reason).unwrap_or_default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Category, Kind};
    use crate::log::replay_diff::compare;
    use crate::testing::finding;

    fn nothing() -> ReplayDiff {
        ReplayDiff {
            id: "k3f92m7q1x".into(),
            version_then: "0.1.0".into(),
            version_now: "0.1.0".into(),
            then: Action::Allow,
            now: Action::Allow,
            cautions: Vec::new(),
            changed: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn replayed(width: usize) -> String {
        let judged = |quote: &str, path: Option<&str>, status, check: &str| {
            let mut found = finding(Category::A, Kind::Missing, quote, path);
            (found.status, found.check) = (status, check.into());
            found
        };
        let then = [
            judged("Create `beta.txt`", Some("beta.txt"), Status::Confirmed, "no such file on disk"),
            judged("Write the docs", None, Status::CannotVerify, "it names no file to look for"),
            judged(
                "Create `c.txt`",
                Some("c.txt"),
                Status::Confirmed,
                "no such file on disk; nothing in the session removed or moved it",
            ),
        ];
        let now = [
            judged("Create `beta.txt`", Some("beta.txt"), Status::Refuted, "the file exists"),
            judged("Write the docs", None, Status::CannotVerify, "it names no file to look for"),
            judged("", Some("d\u{1b}[31m.txt"), Status::Confirmed, "no such file on disk"),
        ];
        let replayed = ReplayDiff {
            version_now: "0.2.0".into(),
            then: Action::Block,
            cautions: vec!["changed since: beta.txt; a difference may come from the disk".into()],
            changed: vec!["beta.txt".into()],
            findings: compare(&then, &now),
            ..nothing()
        };
        anstream::adapter::strip_str(&text(&replayed, width)).to_string()
    }

    #[test]
    fn what_differs_is_told_with_both_reasons() {
        insta::assert_snapshot!(replayed(100));
        insta::assert_snapshot!("a_narrow_terminal_wraps_it", replayed(44));
    }

    #[test]
    fn where_nothing_was_found_that_is_said() {
        assert_eq!(
            anstream::adapter::strip_str(&text(&nothing(), 80)).to_string(),
            "Replay of k3f92m7q1x with punchlist 0.1.0\n\nNo findings, then and now.\n\nThen: let go. Today: let go. 0 findings, 0 differ.\n"
        );
    }
}
