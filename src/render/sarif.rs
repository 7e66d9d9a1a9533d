//! The report of an audit as SARIF 2.1.0, for code scanning. Pure. A refuted finding is not a
//! result.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::finding::{AdvisoryKind, Category, Finding, Source, Status};
use crate::ids::ContentId;
use crate::render::report::Report;
use crate::render::wording::{check_label, describe_reader_failure, describe_second};

/// The id that viewers use for the root of the sources.
const ROOT: &str = "%SRCROOT%";

/// The whole log.
pub fn sarif(report: &Report) -> Value {
    let shown =
        report.findings.iter().filter(|finding| !matches!(finding.status, Status::Refuted | Status::Ignored));
    let findings = shown.map(|finding| finding_result(finding, report));
    let advisories = report.advisories.iter().map(|advisory| {
        let text = format!("{} ({})", advisory.text, advisory.evidence);
        result(advisory.kind.name(), "note", &text, &[&advisory.evidence], &json!({}))
    });
    let failed = report.reader_failed();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "punchlist",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules(),
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { ROOT: { "uri": folder_uri(&report.workspace) } },
            "invocations": [{
                "executionSuccessful": !failed,
                "toolExecutionNotifications": report.cautions.iter().cloned()
                    .chain(describe_reader_failure(report))
                    .map(|text| json!({ "level": "note", "message": { "text": text } }))
                    .collect::<Vec<_>>(),
            }],
            "results": findings.chain(advisories).collect::<Vec<_>>(),
            "properties": {
                "session": report.session.id,
                "decision": report.decision,
                "cause": report.cause,
            },
        }],
    })
}

/// Every rule: the categories, then the advisories.
fn rules() -> Vec<Value> {
    let rule = |id: &str, text: &str, level: &str| {
        json!({
            "id": id,
            "name": pascal_case(id),
            "shortDescription": { "text": text },
            "defaultConfiguration": { "level": level },
        })
    };
    let categories = Category::ALL.iter().map(|category| rule(category.name(), category.title(), "error"));
    let advisories = AdvisoryKind::ALL.iter().map(|kind| rule(kind.name(), kind.title(), "note"));
    categories.chain(advisories).collect()
}

fn pascal_case(id: &str) -> String {
    let word =
        |word: &str| word.get(..1).unwrap_or_default().to_uppercase() + word.get(1..).unwrap_or_default();
    id.split('-').map(word).collect()
}

fn finding_result(finding: &Finding, report: &Report) -> Value {
    let level = match (finding.status, finding.source) {
        (Status::Confirmed, _) => "error",
        // No reader has looked at it yet.
        (_, Source::Facts) => "note",
        _ => "warning",
    };
    let mut text = finding.why.clone();
    if !finding.claim.is_empty() {
        let _ = write!(text, " Words: \"{}\".", finding.claim);
    }
    let _ = write!(text, " To settle it: {}", finding.settle);
    let in_plan = plan_location(finding, report);
    let at_path = finding.path.as_deref().map(|path| location(path, None));
    // A missing file has no line; the step that promises it has one.
    let (main, related) = match (in_plan, at_path) {
        (Some(plan), path) => (Some(plan), path),
        (None, path) => (path, None),
    };
    let mut more = json!({ "properties": {
        "status": finding.status,
        "source": finding.source,
        "kind": finding.kind,
        "claimedIn": finding.claimed_in,
        "proof": finding.proof,
        "checks": check_label(finding),
        "secondReader": describe_second(finding, report.second_reader.is_some()),
    }});
    if let Some(main) = main {
        more["locations"] = json!([main]);
    }
    if let Some(related) = related {
        more["relatedLocations"] = json!([related]);
    }
    let path = finding.path.as_deref().unwrap_or_default();
    result(finding.category.name(), level, &text, &[&finding.claim, path], &more)
}

/// Returns a result. Its fingerprint is a hash of what makes it the same finding in the next run.
fn result(rule: &str, level: &str, text: &str, same: &[&str], more: &Value) -> Value {
    let mut name = ContentId::default();
    std::iter::once(&rule).chain(same).for_each(|part| name.add(part));
    let index = rules().iter().position(|known| known["id"] == rule);
    let mut result = json!({
        "ruleId": rule,
        "ruleIndex": index,
        "level": level,
        "message": { "text": text },
        "partialFingerprints": { "punchlist/v1": name.finish() },
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        result[key] = value.clone();
    }
    result
}

/// Returns the plan's line with the finding's step.
fn plan_location(finding: &Finding, report: &Report) -> Option<Value> {
    let step = report.steps.iter().find(|step| Some(step.number) == finding.step)?;
    Some(location(report.plan.as_ref()?.path.as_deref()?, Some(step.line)))
}

fn location(path: &str, line: Option<usize>) -> Value {
    let artifact = if Path::new(path).is_absolute() {
        json!({ "uri": file_uri(path) })
    } else {
        json!({ "uri": encoded(path), "uriBaseId": ROOT })
    };
    let mut place = json!({ "artifactLocation": artifact });
    if let Some(line) = line {
        place["region"] = json!({ "startLine": line.max(1) });
    }
    json!({ "physicalLocation": place })
}

fn folder_uri(folder: &Path) -> String {
    format!("{}/", file_uri(&folder.display().to_string()).trim_end_matches('/'))
}

fn file_uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let root = if path.starts_with('/') { "" } else { "/" };
    format!("file://{root}{}", encoded(&path))
}

/// Returns a path encoded for a URI.
fn encoded(path: &str) -> String {
    let encoded = |byte: u8| {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~/:@!$&'()*+,;=".contains(&byte);
        if is_plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    path.replace('\\', "/").bytes().map(encoded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_fit_for_uris() {
        assert_eq!(encoded("docs/my notes#1.md"), "docs/my%20notes%231.md");
        assert_eq!(encoded("docs/café.md"), "docs/caf%C3%A9.md");
        assert_eq!(file_uri("C:\\w\\a.rs"), "file:///C:/w/a.rs");
        assert_eq!(folder_uri(Path::new("/home/me/shop")), "file:///home/me/shop/");
    }

    #[test]
    fn a_rule_has_a_name_that_viewers_can_show() {
        assert_eq!(pascal_case("stale-tests"), "StaleTests");
    }
}
