//! Findings in words: the reason of a block, which becomes the agent's next prompt, and the line that the person
//! sees. Must not say more than the findings do.

use serde_json::{Value, json};

use crate::finding::{Finding, Status};
use crate::readers::prompt::{REASON, render};
use crate::text::first_part;

/// The person's switch, as named in every block.
pub const SWITCH: &str = "`punchlist off` (logged and reported if the agent uses it)";

/// How many findings are listed: a list of hundreds is nobody's next step.
const MOST_LISTED: usize = 20;
/// How much is shown of each text of a finding, and of all findings together.
const MAX_OF_TEXT: usize = 400;
const MAX_OF_ALL: usize = 12_000;

fn lines(findings: &[&Finding]) -> Vec<Value> {
    let line = |finding: &&Finding| {
        json!({
            "category": finding.category.name(),
            "title": finding.category.title(),
            "claim": short(&finding.claim),
            "path": finding.path,
            "why": short(&finding.why),
            "settle": short(&finding.settle),
            "note": short(&finding.check),
        })
    };
    let mut room = MAX_OF_ALL;
    let has_room = |finding: &&&Finding| {
        let texts = [&finding.claim, &finding.why, &finding.settle, &finding.check];
        let bytes: usize = texts.iter().map(|text| text.len().min(MAX_OF_TEXT)).sum();
        room.checked_sub(bytes + finding.path.as_ref().map_or(0, String::len))
            .map(|left| room = left)
            .is_some()
    };
    findings.iter().take(MOST_LISTED).take_while(has_room).map(line).collect()
}

fn short(text: &str) -> String {
    first_part(text, MAX_OF_TEXT)
}

/// The reason of a block; `decision` is its id. A template of the person's own that can't be rendered gives way to the
/// built-in one.
pub fn reason(template: &str, decision: &str, confirmed: &[&Finding], unverified: &[&Finding]) -> String {
    let (listed, not_verified) = (lines(confirmed), lines(unverified));
    let fill = |template: &str| {
        render(
            "reason.md",
            template,
            &json!({
                "decision": decision,
                "count": confirmed.len(),
                "confirmed": listed,
                "unverified": not_verified,
                "more": confirmed.len() - listed.len(),
                "switch": SWITCH,
            }),
        )
    };
    let text = fill(template).or_else(|_| fill(REASON)).unwrap_or_else(|_| one_line(confirmed));
    text.trim().to_owned()
}

/// How many findings are in a line.
const MOST_IN_LINE: usize = 8;

/// Findings in one line, for the person.
pub fn one_line(findings: &[&Finding]) -> String {
    let mut said: Vec<_> = findings
        .iter()
        .take(MOST_IN_LINE)
        .map(|finding| {
            let subject = if finding.claim.is_empty() {
                finding.path.as_deref().unwrap_or(&finding.why)
            } else {
                &finding.claim
            };
            let is_explained = matches!(finding.status, Status::CannotVerify | Status::Ignored);
            let why = if is_explained { &finding.check } else { &finding.why };
            format!("[{}] \"{}\" ({})", finding.category.name(), short(subject), short(why))
        })
        .collect();
    if findings.len() > said.len() {
        said.push(format!("and {} more", findings.len() - said.len()));
    }
    said.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Category, Kind};
    use crate::testing;

    fn finding(status: Status) -> Finding {
        Finding {
            status,
            why: "there is no beta.txt".into(),
            settle: "create it, or untick the step".into(),
            check: "remote".into(),
            ..testing::finding(Category::A, Kind::Missing, "Create `beta.txt`", Some("beta.txt"))
        }
    }

    const ONE: &str = "\
Punchlist checked this stop against the plan, the session and the disk. 1 finding is confirmed:

1. [A] claimed done, and not so
   words: \"Create `beta.txt`\"
   path: beta.txt
   found: there is no beta.txt
   settle: create it, or untick the step

Two ways on: fix what is listed, in the files or in the plan; or, where a finding is wrong, say plainly why in your final message: it is then not held against you again in this session. Either way the next stop goes through.
The person can switch this gate off with `punchlist off` (logged and reported if the agent uses it).";

    #[test]
    fn a_reason_is_short_and_whole() {
        assert_eq!(reason(REASON, "k3f9", &[&finding(Status::Confirmed)], &[]), ONE);
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let found = finding(Status::Confirmed);
        let text = reason(REASON, "k3f9", &[&found; 25], &[]);
        assert!(text.contains("25 findings are confirmed:") && text.contains("\n20. [A]"), "{text}");
        assert!(
            !text.contains("\n21. ")
                && text.contains("\n\n… and 5 more, in `punchlist log show k3f9`.\n\nTwo ways on"),
            "{text}"
        );
    }

    #[test]
    fn a_reason_is_bounded_however_long_its_findings_are() {
        let mut long = finding(Status::Confirmed);
        long.claim = "`a` ".repeat(4_000);
        long.why = "b ".repeat(8_000);
        let text = reason(REASON, "k3f9", &[&long; 30], &[&long; 30]);
        assert!(text.len() < 28_000, "{}", text.len());
        let listed = text.matches("\n   words: ").count();
        assert!(
            text.contains(&format!("… and {} more, in `punchlist log show k3f9`.", 30 - listed)),
            "{text}"
        );
        let line = one_line(&[&long; 30]);
        assert!(line.len() < 8_000 && line.ends_with("; and 22 more"), "{line}");
    }

    #[test]
    fn what_could_not_be_verified_stands_apart() {
        let text = reason(REASON, "k3f9", &[&finding(Status::Confirmed)], &[&finding(Status::CannotVerify)]);
        assert!(
            text.contains("step\n\nNot verified, for you to judge (these did not hold the stop):\n- [A] Create `beta.txt`: remote\n\nTwo ways on"),
            "{text}"
        );
    }

    #[test]
    fn a_template_that_can_not_be_filled_in_gives_way_to_the_built_in_one() {
        assert_eq!(reason("{% for x in %}", "k3f9", &[&finding(Status::Confirmed)], &[]), ONE);
    }

    #[test]
    fn words_from_the_workspace_are_not_read_as_a_template() {
        let mut hostile = finding(Status::Confirmed);
        hostile.claim = "{{ switch }} {% raw %}".into();
        assert!(reason(REASON, "k3f9", &[&hostile], &[]).contains("words: \"{{ switch }} {% raw %}\""));
    }
}
