//! Findings as text: the reason of a block, which becomes the agent's next prompt, and the line
//! that the person sees. Must not say more than the findings do.

use serde_json::{Value, json};

use crate::finding::{Finding, Status};
use crate::readers::prompt::{REASON, render};
use crate::text::first_part;

/// The person's switch, as named in every block.
pub const SWITCH: &str = "`punchlist off` (logged and reported if the agent uses it)";

/// Returns the end of a block: where to find the rest, then two lines for the agent, each within
/// what the client leaves of 80 columns. Gates with the same end share one.
pub fn closing(decision: &str) -> String {
    format!(
        "Decision {decision}: `punchlist log show {decision}` has all of it.\n\
         Fix what is listed, or say in your final message why it is wrong:\n\
         either lets you go. `punchlist off` is for the person, and reported."
    )
}

/// How many findings are listed: nobody works through a list of hundreds.
const MOST_LISTED: usize = 20;
/// How much of each text of a finding is shown, and of all findings together.
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

/// Returns the reason of a block; `decision` is its id. If the person's own template can't be
/// rendered, the built-in one is used.
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
                "closing": closing(decision),
            }),
        )
    };
    let text = fill(template).or_else(|_| fill(REASON)).unwrap_or_else(|_| one_line(confirmed));
    text.trim().to_owned()
}

/// How many findings fit on a line.
const MOST_IN_LINE: usize = 8;

/// Returns the findings on one line, for the person.
pub fn one_line(findings: &[&Finding]) -> String {
    let mut said: Vec<_> = findings
        .iter()
        .take(MOST_IN_LINE)
        .map(|finding| {
            let subject = finding.subject();
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
punchlist holds this stop for 1 finding:

1. [A] claimed done, and not so: beta.txt
   \"Create `beta.txt`\"
   there is no beta.txt
   To settle: create it, or untick the step

Decision k3f92m7q1x: `punchlist log show k3f92m7q1x` has all of it.
Fix what is listed, or say in your final message why it is wrong:
either lets you go. `punchlist off` is for the person, and reported.";

    #[test]
    fn no_line_of_ours_is_wider_than_the_client_has_room_for() {
        // 80 columns, less the five by which the client moves a block to the right.
        assert!(ONE.lines().all(|line| line.len() <= 75), "{ONE}");
    }

    #[test]
    fn a_reason_is_short_and_whole() {
        assert_eq!(reason(REASON, "k3f92m7q1x", &[&finding(Status::Confirmed)], &[]), ONE);
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let found = finding(Status::Confirmed);
        let text = reason(REASON, "k3f9", &[&found; 25], &[]);
        assert!(text.starts_with("punchlist holds this stop for 25 findings:\n\n1. [A]"), "{text}");
        assert!(
            text.contains("\n20. [A]")
                && !text.contains("\n21. ")
                && text.contains("\n\n… and 5 more\n\nDecision"),
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
        let listed = text.matches("\n   To settle: ").count();
        assert!(text.contains(&format!("… and {} more\n", 30 - listed)), "{text}");
        let line = one_line(&[&long; 30]);
        assert!(line.len() < 8_000 && line.ends_with("; and 22 more"), "{line}");
    }

    #[test]
    fn what_could_not_be_verified_stands_apart() {
        let text = reason(REASON, "k3f9", &[&finding(Status::Confirmed)], &[&finding(Status::CannotVerify)]);
        assert!(
            text.contains(
                "step\n\nNot verified, and not held for:\n- [A] Create `beta.txt`: remote\n\nDecision"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_template_that_can_not_be_filled_in_gives_way_to_the_built_in_one() {
        assert_eq!(reason("{% for x in %}", "k3f92m7q1x", &[&finding(Status::Confirmed)], &[]), ONE);
    }

    #[test]
    fn words_from_the_workspace_are_not_read_as_a_template() {
        let mut hostile = finding(Status::Confirmed);
        hostile.claim = "{{ switch }} {% raw %}".into();
        assert!(reason(REASON, "k3f9", &[&hostile], &[]).contains("\n   \"{{ switch }} {% raw %}\"\n"));
    }
}
