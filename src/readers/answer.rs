//! A reader's answer: what `prompts/answer.schema.json` allows, and nothing else. Must not be lenient: an answer that does
//! not fit is no answer.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::finding::{Category, ClaimedIn, Kind};

/// The whole answer. Both readers have the same shape, so that the second finds what the first was shown in the provider's
/// cache; each fills in its own part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What the first reader found.
    pub findings: Vec<Proposal>,
    /// What it says of the program's own candidates.
    pub candidates: Vec<Opinion>,
    /// What the second reader says of the findings.
    pub verdicts: Vec<Verdict>,
}

/// One finding as a reader puts it: a witness's word, not yet a finding of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// What kind of drift.
    pub category: Category,
    /// Whether the reader has no doubt.
    pub sure: bool,
    /// In which way the world is not as claimed.
    pub kind: Kind,
    /// The words it rests on.
    pub claim: String,
    /// Where those stand.
    pub claimed_in: ClaimedIn,
    /// The words that show that it is not so.
    pub proof: String,
    /// The file it speaks of; empty for none.
    pub path: String,
    /// What was found.
    pub why: String,
    /// What would settle it.
    pub settle: String,
}

/// What the first reader says of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opinion {
    /// Which one, from 1.
    pub number: usize,
    /// Whether it is so.
    pub agree: bool,
    /// Why.
    pub why: String,
}

/// What the second reader says of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// Which one, from 1.
    pub number: usize,
    /// Whether it survives.
    pub uphold: bool,
    /// Why.
    pub why: String,
}

/// More than this is noise, or an attempt to drown us.
const MOST_FINDINGS: usize = 20;
const MOST_VERDICTS: usize = 40;

impl Answer {
    /// Reads a structured answer.
    pub fn from_json(json: &str) -> Result<Self, String> {
        let answer: Self = parse(json)?;
        for (name, count, most) in [
            ("findings", answer.findings.len(), MOST_FINDINGS),
            ("candidates", answer.candidates.len(), MOST_FINDINGS),
            ("verdicts", answer.verdicts.len(), MOST_VERDICTS),
        ] {
            if count > most {
                return Err(format!("{count} {name}, more than {most}"));
            }
        }
        Ok(answer)
    }

    /// Whether a text is an answer.
    pub fn check(json: &str) -> Result<(), String> {
        Self::from_json(json).map(drop)
    }
}

/// Reads JSON of one shape, with the fault in words.
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
    fn an_answer_that_fits_counts() {
        assert_eq!(Answer::from_json(&one()).expect("fits").findings[0].path, "b");
        assert_eq!(
            Answer::from_json(r#"{"findings":[],"candidates":[],"verdicts":[]}"#),
            Ok(Answer::default())
        );
    }

    #[test]
    fn an_answer_that_does_not_fit_is_none() {
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

    /// The schema has no other constraint than those compared here.
    #[test]
    fn the_schema_and_the_types_agree() {
        let schema: Value = serde_json::from_str(crate::readers::prompt::SCHEMA).expect("a schema");
        let opinion = Opinion { number: 1, agree: true, why: String::new() };
        let verdict = Verdict { number: 1, uphold: true, why: String::new() };
        let finding: Value = serde_json::from_str(FINDING).expect("an object");
        assert_eq!(keys(&schema["properties"]), keys(&json!(Answer::default())));
        for (list, one, most) in [
            ("findings", finding, MOST_FINDINGS),
            ("candidates", json!(opinion), MOST_FINDINGS),
            ("verdicts", json!(verdict), MOST_VERDICTS),
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
        assert_eq!(strings(&item["kind"]["enum"]), Kind::ALL.map(Kind::name));
        assert_eq!(strings(&item["claimed_in"]["enum"]), ClaimedIn::ALL.map(ClaimedIn::name));
    }
}
