//! The outcome of a block on one line, for the person. Pure.

use super::{PendingBlock, Resolution};
use crate::finding::Finding;
use crate::log::note::FindingOutcome;
use crate::text::{counted, first_part, shorten};

/// How many unfixed findings are named. One alone is told with its reason; of several there is room
/// for what each is about.
const MOST_NAMED: usize = 3;
const NAME_CAP: usize = 160;
const SUBJECT_CAP: usize = 60;

/// Summarises the outcome of each finding of a block, in order.
pub fn summary(block: &PendingBlock, resolutions: &[Resolution]) -> Option<String> {
    let count = |words| resolutions.iter().filter(|one| outcome_words(one) == words).count();
    let findings = counted(resolutions.len(), "finding", "findings");
    let outcomes: Vec<(usize, &str)> = [FIXED, DISPUTED, DISPUTED_RIGHTLY, DISPUTED_WRONGLY, IGNORED]
        .into_iter()
        .map(|words| (count(words), words))
        .filter(|(count, _)| *count > 0)
        .collect();
    let head = match outcomes[..] {
        [] => return None,
        [(_, name)] => format!("{findings}, {name}"),
        _ => {
            let each: Vec<String> = outcomes.iter().map(|(count, name)| format!("{count} {name}")).collect();
            format!("{findings}: {}", each.join(", "))
        }
    };
    let open = block.findings.iter().zip(resolutions);
    let open = open.filter(|(_, resolution)| resolution.outcome != FindingOutcome::Fixed);
    let open: Vec<&Finding> = open.map(|(pending, _)| &pending.finding).collect();
    let open: Vec<String> = match open[..] {
        [] => return Some(head),
        [finding] => vec![name(finding)],
        _ => open.into_iter().map(short_name).collect(),
    };
    let more = open.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let listed = open[..open.len().min(MOST_NAMED)].join("; ");
    Some(format!("{head}: {listed}{more} (punchlist log show {})", block.id))
}

const FIXED: &str = "fixed";
const DISPUTED: &str = "disputed by the agent";
const DISPUTED_RIGHTLY: &str = "disputed by the agent (a reader agrees)";
const DISPUTED_WRONGLY: &str = "disputed by the agent (a reader says that it still stands)";
const IGNORED: &str = "ignored by the agent";

fn outcome_words(resolution: &Resolution) -> &'static str {
    match (resolution.outcome, resolution.was_wrong) {
        (FindingOutcome::Fixed, _) => FIXED,
        (FindingOutcome::Ignored, _) => IGNORED,
        (FindingOutcome::Disputed, None) => DISPUTED,
        (FindingOutcome::Disputed, Some(true)) => DISPUTED_RIGHTLY,
        (FindingOutcome::Disputed, Some(false)) => DISPUTED_WRONGLY,
    }
}

/// Returns a finding in a few words, on one line.
fn name(finding: &Finding) -> String {
    let why = finding.why.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = match finding.subject() {
        subject if subject == finding.why => why,
        subject => format!("\"{}\": {why}", subject.split_whitespace().collect::<Vec<_>>().join(" ")),
    };
    format!("[{}] {}", finding.category.name(), first_part(&words, NAME_CAP))
}

/// Returns what a finding is about.
fn short_name(finding: &Finding) -> String {
    let subject = finding.subject().split_whitespace().collect::<Vec<_>>().join(" ");
    format!("[{}] \"{}\"", finding.category.name(), shorten(&subject, SUBJECT_CAP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Category, Kind};
    use crate::followup::PendingFinding;
    use crate::testing::finding;
    use FindingOutcome::{Disputed, Fixed, Ignored};

    fn line(outcomes: &[FindingOutcome]) -> Option<String> {
        line_with(outcomes, None)
    }

    fn line_with(outcomes: &[FindingOutcome], was_wrong: Option<bool>) -> Option<String> {
        let pending = |at: usize| {
            let path = format!("{at}.txt");
            let why = format!("nothing wrote {path}");
            let finding = finding(Category::A, Kind::Missing, &format!("Create `{path}`"), Some(&path));
            PendingFinding { number: at, finding: Finding { why, ..finding }, mark: None }
        };
        let findings = (1..=outcomes.len()).map(pending).collect();
        let block = PendingBlock { id: "k3f9".into(), findings, ..PendingBlock::default() };
        let resolutions: Vec<_> = outcomes
            .iter()
            .map(|outcome| Resolution { outcome: *outcome, why: String::new(), was_wrong })
            .collect();
        summary(&block, &resolutions)
    }

    #[test]
    fn what_was_fixed_is_told_in_three_words_and_the_rest_by_name() {
        assert_eq!(line(&[]), None);
        assert_eq!(line(&[Fixed]).as_deref(), Some("1 finding, fixed"));
        assert_eq!(line(&[Fixed, Fixed]).as_deref(), Some("2 findings, fixed"));
        assert_eq!(
            line(&[Ignored]).as_deref(),
            Some(
                "1 finding, ignored by the agent: [A] \"Create `1.txt`\": nothing wrote 1.txt (punchlist log show k3f9)"
            )
        );
        assert_eq!(
            line(&[Ignored, Fixed, Disputed]).as_deref(),
            Some(
                "3 findings: 1 fixed, 1 disputed by the agent, 1 ignored by the agent: [A] \"Create `1.txt`\"; \
                 [A] \"Create `3.txt`\" (punchlist log show k3f9)"
            )
        );
        for (was_wrong, begins) in [
            (Some(true), "1 finding, disputed by the agent (a reader agrees): [A]"),
            (Some(false), "1 finding, disputed by the agent (a reader says that it still stands): [A]"),
        ] {
            let line = line_with(&[Disputed], was_wrong).expect("a line");
            assert!(line.starts_with(begins), "{line}");
        }
        let many = line(&[Ignored; 5]).expect("a line");
        assert!(many.ends_with("`3.txt`\"; and 2 more (punchlist log show k3f9)"), "{many}");
    }
}
