//! The report of an audit as Markdown, for a comment on a pull request. Pure. Text from a workspace
//! must not become markup, links or mentions of people.

use std::fmt::Write as _;

use crate::finding::{Finding, Status};
use crate::past_sessions::find::short_id;
use crate::render::paragraphs::squeezed;
use crate::render::report::Report;
use crate::render::wording::{
    by_whom, check_label, describe_cost, describe_decision, describe_reader_failure, describe_second,
};
use crate::text::{counted, harmless};

/// Renders the whole report.
pub fn markdown(report: &Report) -> String {
    let confirmed = report.count(Status::Confirmed);
    let mut text = match confirmed {
        0 => "### Punchlist: nothing confirmed\n\n".to_owned(),
        count => format!("### Punchlist: {} confirmed\n\n", counted(count, "finding is", "findings are")),
    };
    let plan = match &report.plan {
        None => "no plan in play".to_owned(),
        Some(plan) => {
            let name = plan.path.as_deref().map_or_else(|| "approved in the session".to_owned(), code);
            format!("plan {name} ({})", counted(plan.steps, "step", "steps"))
        }
    };
    let _ = writeln!(
        text,
        "Session {}, {plan}. {}",
        code(&short_id(&report.session.id)),
        describe_decision(report)
    );
    for caution in &report.cautions {
        let _ = writeln!(text, "\n**Caution:** {}", escaped(caution));
    }
    for finding in report.with(Status::Confirmed) {
        text.push('\n');
        text.push_str(&item(finding, report));
    }
    for (title, status) in [
        ("Not verified", Status::CannotVerify),
        ("Refuted", Status::Refuted),
        ("Ignored by the config", Status::Ignored),
    ] {
        let items: Vec<_> = report.with(status).map(|finding| item(finding, report)).collect();
        folded(&mut text, title, &items);
    }
    let known: Vec<_> = report
        .advisories
        .iter()
        .map(|advisory| {
            format!(
                "- {}: {} ({})\n",
                code(advisory.kind.name()),
                escaped(&advisory.text),
                code(&advisory.evidence)
            )
        })
        .collect();
    folded(&mut text, "Worth knowing", &known);
    for words in describe_reader_failure(report).into_iter().chain(describe_cost(report)) {
        let _ = writeln!(text, "\n{}", escaped(&words));
    }
    harmless(&text)
}

fn folded(text: &mut String, title: &str, items: &[String]) {
    if !items.is_empty() {
        let _ = writeln!(
            text,
            "\n<details><summary>{title} ({})</summary>\n\n{}\n</details>",
            items.len(),
            items.concat()
        );
    }
}

fn item(finding: &Finding, report: &Report) -> String {
    let mut text = format!("- **{}**: {}", finding.category.name(), finding.category.title());
    if let Some(path) = &finding.path {
        let _ = write!(text, ", {}", code(path));
    }
    text.push('\n');
    if !finding.claim.is_empty() {
        let _ = writeln!(text, "  > {}", escaped(&finding.claim));
    }
    let _ = writeln!(text, "\n  {}", escaped(&finding.why));
    let _ = writeln!(text, "  To settle it: {}", escaped(&finding.settle));
    let _ = writeln!(
        text,
        "  Said by {}. The checks: {}. The second reader: {}.",
        by_whom(finding.source),
        sentence(check_label(finding)),
        sentence(&describe_second(finding, report.second_reader.is_some()))
    );
    text
}

/// Returns a text that ends with a full stop.
fn sentence(words: &str) -> String {
    escaped(words.trim_end_matches('.'))
}

/// Returns any text as a code span.
fn code(words: &str) -> String {
    let words = squeezed(words);
    // Two backticks with nothing in between would open a span that ends somewhere else.
    if words.is_empty() {
        return "-".to_owned();
    }
    let longest = words.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let room = if words.starts_with('`') || words.ends_with('`') { " " } else { "" };
    format!("{fence}{room}{words}{room}{fence}")
}

/// Returns a text as plain text: code spans stay, all other markup is escaped.
fn escaped(words: &str) -> String {
    let words = squeezed(words);
    let parts: Vec<&str> = words.split('`').collect();
    // With an odd number of backticks it is not clear what is code, so nothing is.
    if parts.len().is_multiple_of(2) {
        return plain(&words.replace('`', "'"));
    }
    let part = |(at, part): (usize, &&str)| match (at % 2, part.is_empty()) {
        (0, _) => plain(part),
        (_, true) => String::new(),
        (_, false) => code(part),
    };
    parts.iter().enumerate().map(part).collect()
}

fn plain(words: &str) -> String {
    let mut text = String::with_capacity(words.len());
    for (at, c) in words.char_indices() {
        let is_after_www = || words.as_bytes()[at.saturating_sub(3)..at].eq_ignore_ascii_case(b"www");
        match c {
            // What looks like an address becomes a link by itself.
            ':' if words[at..].starts_with("://") => text.push_str("&#58;"),
            '.' if is_after_www() => text.push_str("&#46;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '&' => text.push_str("&amp;"),
            '@' => text.push_str("&#64;"),
            '\\' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => text.extend(['\\', c]),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_workspace_are_no_markup() {
        assert_eq!(escaped("Create `beta.txt`, *now*"), "Create `beta.txt`, \\*now\\*");
        assert_eq!(escaped("<img src=x> @all [x](y)"), "&lt;img src=x&gt; &#64;all \\[x\\](y)");
        assert_eq!(escaped("an odd ` tick <b>"), "an odd ' tick &lt;b&gt;");
        assert_eq!(
            escaped("see https://x.example/a, WWW.x.example: `https://b`"),
            "see https&#58;//x.example/a, WWW&#46;x.example: `https://b`"
        );
        assert_eq!(code("a `b` c"), "``a `b` c``");
        assert_eq!(code("`b`"), "`` `b` ``");
        assert_eq!(code(""), "-");
        assert_eq!(escaped("two\nlines"), "two lines");
    }
}
