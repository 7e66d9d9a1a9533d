//! Decisions for a spreadsheet, one row each, according to RFC 4180. Pure. Text from a workspace
//! must not be taken for a formula.

use crate::finding::{Category, Status};
use crate::log::Annotated;
use crate::log::filter::OutcomeFilter;
use crate::timing;

const COLUMNS: [&str; 25] = [
    "id", "time", "session", "project", "decision", "cause", "confirmed", "not_verified", "refuted",
    "categories", "fixed", "disputed", "ignored", "said_right", "said_wrong", "label", "model", "auditor",
    "total_ms", "auditor_ms", "tokens_in", "tokens_out", "cost_usd", "second_reader", "second_reader_ms",
];

/// Returns the names of the columns, and a row for each decision.
pub fn csv(all: &[Annotated]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for annotated in all {
        writer.write_record(row(annotated).map(without_formula))?;
    }
    writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

fn row(annotated: &Annotated) -> [String; COLUMNS.len()] {
    let record = &annotated.decision;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    let count = |status: Status| annotated.count(status, None).to_string();
    let is_confirmed = |category: &Category| annotated.count(Status::Confirmed, Some(*category)) > 0;
    let categories = Category::ALL.into_iter().filter(is_confirmed).map(Category::name);
    let outcome = |outcome: OutcomeFilter| {
        annotated.findings.iter().filter(|notes| outcome.matches(notes)).count().to_string()
    };
    let (auditor, second) = (record.auditor.as_ref(), record.second_reader.as_ref());
    let tokens = auditor.map(|_| annotated.tokens());
    let tokens = tokens.map(|(read, written)| [read.to_string(), written.to_string()]);
    let [tokens_in, tokens_out] = tokens.unwrap_or_default();
    [
        record.id.clone(),
        record.time.clone(),
        text(record.session.as_deref()),
        text(record.project.as_deref()),
        annotated.kind().name().to_owned(),
        annotated.cause.clone(),
        count(Status::Confirmed),
        count(Status::CannotVerify),
        count(Status::Refuted),
        categories.collect::<Vec<_>>().join(" "),
        outcome(OutcomeFilter::Fixed),
        outcome(OutcomeFilter::Disputed),
        outcome(OutcomeFilter::Ignored),
        outcome(OutcomeFilter::Right),
        outcome(OutcomeFilter::Wrong),
        text(annotated.label.as_ref().map(|note| note.label.name())),
        text(auditor.map(|auditor| auditor.model.as_str())),
        text(auditor.map(|auditor| auditor.outcome.as_str())),
        number(annotated.phase(timing::TOTAL)),
        number(annotated.phase(timing::AUDITOR)),
        tokens_in,
        tokens_out,
        number(annotated.cost_usd()),
        text(second.map(|second| second.outcome.as_str())),
        number(annotated.phase(timing::SECOND_READER)),
    ]
}

/// Puts a quote before text that a spreadsheet would run as a formula.
fn without_formula(cell: String) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { format!("'{cell}") } else { cell }
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
