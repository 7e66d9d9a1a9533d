//! A reader's answer, exactly as in `prompts/answer.schema.json`. Must not be lenient: an answer
//! that does not fit is no answer.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::finding::{Category, ClaimedIn, Kind};

/// The whole answer. Both readers have the same schema, which is part of the prefix that the
/// provider caches; each fills in its own lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    pub findings: Vec<Proposal>,
    /// The first reader's opinions on the candidates, which are the facts.
    pub candidates: Vec<CandidateOpinion>,
    /// The second reader's verdicts on the findings.
    pub verdicts: Vec<Verdict>,
}

/// A finding as the first reader reports it, before the checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    pub category: Category,
    pub sure: bool,
    /// How the claim and the facts differ.
    pub kind: Kind,
    /// The quoted text of the false claim.
    pub claim: String,
    /// The section that it is quoted from.
    pub claimed_in: ClaimedIn,
    /// The quoted evidence that shows it; empty if absence is the proof.
    pub proof: String,
    pub path: String,
    pub why: String,
    pub settle: String,
}

/// How much of a quote counts: its start is enough.
const QUOTE: usize = 1_000;

impl Proposal {
    /// Cuts quotes that are longer than anybody reads, before they are looked for in the evidence.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        for text in [&mut self.claim, &mut self.proof, &mut self.path] {
            text.truncate(text.floor_char_boundary(QUOTE));
        }
        self
    }
}

/// The first reader's opinion on one candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CandidateOpinion {
    pub number: usize,
    pub agree: bool,
    pub why: String,
}

/// The second reader's verdict on one finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    pub number: usize,
    pub uphold: bool,
    pub why: String,
}

/// An answer with more is rejected.
const MAX_FINDINGS: usize = 20;
const MAX_VERDICTS: usize = 40;

impl Answer {
    pub fn from_json(json: &str) -> Result<Self, String> {
        let answer: Self = parse(json)?;
        for (name, count, most) in [
            ("findings", answer.findings.len(), MAX_FINDINGS),
            ("candidates", answer.candidates.len(), MAX_FINDINGS),
            ("verdicts", answer.verdicts.len(), MAX_VERDICTS),
        ] {
            if count > most {
                return Err(format!("{count} {name}, more than {most}"));
            }
        }
        Ok(answer)
    }

    /// Returns why a text is not a valid answer.
    pub fn check(json: &str) -> Result<(), String> {
        Self::from_json(json).map(drop)
    }
}

/// Parses JSON; the error is a message.
pub fn parse<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const FINDING: &str = r#"{"category":"A","sure":true,"kind":"missing","claim":"make b","claimed_in":"plan","proof":"","path":"b","why":"no b","settle":"make it"}"#;

    fn one() -> String {
        format!(r#"{{"findings":[{FINDING}],"candidates":[],"verdicts":[]}}"#)
    }

    #[test]
    fn an_answer_that_fits_is_parsed() {
        assert_eq!(Answer::from_json(&one()).expect("fits").findings[0].path, "b");
        assert_eq!(
            Answer::from_json(r#"{"findings":[],"candidates":[],"verdicts":[]}"#),
            Ok(Answer::default())
        );
    }

    #[test]
    fn an_answer_that_does_not_fit_is_rejected() {
        for json in [
            r"{}".to_owned(),
            r#"{"findings":{},"candidates":[],"verdicts":[]}"#.to_owned(),
            r#"{"findings":[],"candidates":[],"verdicts":[],"approved":true}"#.to_owned(),
            one().replace("\"A\"", "\"E\""),
            one().replace("missing", "bad-vibes"),
            one().replace(r#","proof":"""#, ""),
            one().replace("true", "\"yes\""),
            one().replace("\"b\"", "null"),
            one().replace(FINDING, &vec![FINDING; 21].join(",")),
        ] {
            assert!(Answer::from_json(&json).is_err(), "{json}");
        }
    }

    fn keys(value: &Value) -> Vec<String> {
        let mut keys: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
        keys.sort();
        keys
    }

    fn strings(value: &Value) -> Vec<String> {
        value.as_array().expect("a list").iter().map(|name| name.as_str().expect("text").to_owned()).collect()
    }

    /// Compares every constraint of the schema.
    #[test]
    fn the_schema_and_the_types_agree() {
        let schema: Value = serde_json::from_str(crate::readers::prompt::SCHEMA).expect("a schema");
        let opinion = CandidateOpinion { number: 1, agree: true, why: String::new() };
        let verdict = Verdict { number: 1, uphold: true, why: String::new() };
        let finding: Value = serde_json::from_str(FINDING).expect("an object");
        assert_eq!(keys(&schema["properties"]), keys(&json!(Answer::default())));
        for (list, one, most) in [
            ("findings", finding, MAX_FINDINGS),
            ("candidates", json!(opinion), MAX_FINDINGS),
            ("verdicts", json!(verdict), MAX_VERDICTS),
        ] {
            let list = &schema["properties"][list];
            let item = &list["items"];
            assert_eq!(list["maxItems"], most);
            assert_eq!(keys(&item["properties"]), keys(&one));
            let mut required = strings(&item["required"]);
            required.sort();
            assert_eq!(required, keys(&one));
            assert_eq!(item["additionalProperties"], false);
            for (field, value) in one.as_object().expect("an object") {
                let said = &item["properties"][field];
                let is_same = match value {
                    Value::Bool(_) => said["type"] == "boolean",
                    Value::Number(_) => said["type"] == "integer",
                    _ => said["type"] == "string" || said["enum"].is_array(),
                };
                assert!(is_same, "{field}");
            }
        }
        let item = &schema["properties"]["findings"]["items"]["properties"];
        assert_eq!(strings(&item["category"]["enum"]), Category::ALL.map(Category::name));
        assert_eq!(
            strings(&item["kind"]["enum"]),
            Kind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>()
        );
        assert_eq!(strings(&item["claimed_in"]["enum"]), ClaimedIn::ALL.map(ClaimedIn::name));
    }
}
