//! Decisions for a spreadsheet, a row each, as RFC 4180 has it. Pure. What came from a workspace
//! must not be taken for a formula.

use std::borrow::Cow;

use crate::finding::{Category, Status};
use crate::log::Annotated;
use crate::log::filter::OutcomeFilter;
use crate::log::record::ReaderRecord;
use crate::log::summary::Summary;

const COLUMNS: [&str; 25] = [
    "id", "time", "session", "project", "decision", "cause", "confirmed", "not_verified", "refuted",
    "categories", "fixed", "disputed", "ignored", "said_right", "said_wrong", "label", "model", "auditor",
    "total_ms", "auditor_ms", "tokens_in", "tokens_out", "cost_usd", "second_reader", "second_reader_ms",
];

/// The names of the columns, and a row for each decision.
pub fn csv(all: &[Annotated<Summary>]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for annotated in all {
        writer.write_record(row(annotated).iter().map(|cell| without_formula(cell).into_owned()))?;
    }
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

fn row(annotated: &Annotated<Summary>) -> [String; COLUMNS.len()] {
    let summary = &annotated.decision;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let count = |status: Status| {
        summary.findings.iter().filter(|finding| finding.status == Some(status)).count().to_string()
    };
    let confirmed = |category: Category| {
        summary
            .findings
            .iter()
            .any(|finding| finding.status == Some(Status::Confirmed) && finding.category == Some(category))
    };
    let categories = Category::ALL.into_iter().filter(|category| confirmed(*category));
    let outcomes = OutcomeFilter::ALL
        .map(|outcome| annotated.findings.iter().filter(|notes| outcome.matches(notes)).count().to_string());
    let [fixed, disputed, ignored, right, wrong] = outcomes;
    let auditor = summary.auditor.as_ref();
    let both = |tokens: fn(&ReaderRecord) -> u64| {
        auditor.map(|_| summary.readers().map(tokens).sum::<u64>().to_string()).unwrap_or_default()
    };
    [
        summary.id.clone(),
        summary.time.clone(),
        text(summary.session.as_deref()),
        text(summary.project.as_deref()),
        summary.decision().name().to_owned(),
        summary.cause.clone(),
        count(Status::Confirmed),
        count(Status::CannotVerify),
        count(Status::Refuted),
        categories.map(Category::name).collect::<Vec<_>>().join(" "),
        fixed,
        disputed,
        ignored,
        right,
        wrong,
        text(annotated.label.as_ref().map(|note| note.label.name())),
        text(auditor.map(|auditor| auditor.model.as_str())),
        text(auditor.map(|auditor| auditor.outcome.as_str())),
        number(summary.phases_ms.total),
        number(summary.phases_ms.auditor),
        both(|reader| reader.usage.total_input()),
        both(|reader| reader.usage.output),
        number(summary.cost_usd()),
        text(summary.second_reader.as_ref().map(|second| second.outcome.as_str())),
        number(summary.phases_ms.second_reader),
    ]
}

/// Puts a quote before what a spreadsheet would run as a formula.
fn without_formula(cell: &str) -> Cow<'_, str> {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        Cow::Owned(format!("'{cell}"))
    } else {
        Cow::Borrowed(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::annotated;

    #[test]
    fn cells_are_quoted_where_they_must_be_and_run_nowhere() {
        let line = r#"{"id":"-1+1","time":"2026-10-01T00:00:00Z","session":"=cmd|' /C calc'!A0","project":"/w/a, \"b\"\nc","decision":"block","cause":"@x","findings":[{"category":"A","status":"confirmed"},{"category":"ask","status":"confirmed"}],"auditor":{"model":"haiku","outcome":"answered","usage":{"input_tokens":5,"output_tokens":6,"cost_usd":0.25}},"second_reader":{"outcome":"answered","usage":{"input_tokens":2,"output_tokens":1,"cost_usd":0.5}},"phases_ms":{"total":12.5,"auditor":10,"second-reader":1.5}}"#;
        let text = csv(&annotated(line)).expect("written");
        let text = String::from_utf8(text).expect("text");
        let (head, rows) = text.split_once("\r\n").expect("a head");
        assert_eq!(head, COLUMNS.join(","));
        assert_eq!(
            rows,
            "'-1+1,2026-10-01T00:00:00Z,'=cmd|' /C calc'!A0,\"/w/a, \"\"b\"\"\nc\",block,'@x,2,0,0,A ask,0,0,0,0,0,,haiku,answered,12.5,10,7,7,0.75,answered,1.5\r\n"
        );
    }
}
