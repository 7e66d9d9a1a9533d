//! The auditor's answer: what `prompts/verdict.schema.json` allows, and nothing else. Must not be lenient:
//! an answer that does not fit is no answer.

use serde::{Deserialize, Serialize};

use crate::finding::{Category, Problem};

/// The whole answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// What it found.
    pub findings: Vec<Proposal>,
}

/// One finding as the auditor puts it: a witness's word, not yet a finding of ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// What kind of drift.
    pub category: Category,
    /// Which check would prove it.
    pub problem: Problem,
    /// The words it rests on.
    pub quote: String,
    /// The file it speaks of; empty for none.
    pub path: String,
    /// The text that should be there, or the command that failed.
    pub needle: String,
    /// What was found.
    pub why: String,
    /// What would settle it.
    pub settle: String,
}

/// More than this is noise, or an attempt to drown us.
const MOST_FINDINGS: usize = 20;

/// After so many braces that open nothing the rest of a text is not worth reading.
const MOST_TRIES: usize = 200;

impl Verdict {
    /// Reads a structured answer.
    pub fn from_json(json: &str) -> Result<Self, String> {
        let verdict: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if verdict.findings.len() > MOST_FINDINGS {
            return Err(format!("{} findings, more than {MOST_FINDINGS}", verdict.findings.len()));
        }
        Ok(verdict)
    }

    /// Finds the answer in a text, for clients that can't enforce a schema: exactly one JSON object in it
    /// may fit. None is no answer; two are a doubt, and a doubt is no answer either.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut found = None;
        let mut last_fault = None;
        let mut rest = text;
        let mut tries = 0;
        while let Some(start) = rest.find('{') {
            rest = &rest[start..];
            tries += 1;
            if tries > MOST_TRIES {
                return Err("its text is full of braces that are no answer".into());
            }
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<serde::de::IgnoredAny>();
            match stream.next() {
                Some(Ok(_)) => {
                    let end = stream.byte_offset();
                    match Self::from_json(&rest[..end]) {
                        Ok(verdict) if found.is_none() => found = Some(verdict),
                        Ok(_) => return Err("its text holds more than one answer".into()),
                        Err(fault) => last_fault = Some(fault),
                    }
                    rest = &rest[end..];
                }
                _ => rest = &rest[1..],
            }
        }
        found.ok_or_else(|| match last_fault {
            Some(fault) => format!("its JSON does not fit: {fault}"),
            None => "its text holds no JSON object".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FINDING: &str = r#"{"category":"A","problem":"missing-file","quote":"make b","path":"b","needle":"","why":"no b","settle":"make it"}"#;

    fn one() -> String {
        format!(r#"{{"findings":[{FINDING}]}}"#)
    }

    #[test]
    fn an_answer_that_fits_counts() {
        assert_eq!(Verdict::from_json(&one()).expect("fits").findings[0].path, "b");
        assert_eq!(Verdict::from_json(r#"{"findings":[]}"#), Ok(Verdict::default()));
    }

    #[test]
    fn an_answer_that_does_not_fit_is_none() {
        for json in [
            r"{}".to_owned(),
            r#"{"findings":{}}"#.to_owned(),
            r#"{"findings":[],"approved":true}"#.to_owned(),
            one().replace("\"A\"", "\"E\""),
            one().replace("missing-file", "bad-vibes"),
            one().replace(r#","needle":"""#, ""),
            one().replace("\"b\"", "null"),
            format!(r#"{{"findings":[{}]}}"#, vec![FINDING; 21].join(",")),
        ] {
            assert!(Verdict::from_json(&json).is_err(), "{json}");
        }
    }

    #[test]
    fn in_a_text_exactly_one_object_may_fit() {
        let one = one();
        for text in [one.clone(), format!("Here it is:\n```json\n{one}\n```\nThat's all {{sic}}.")] {
            assert_eq!(Verdict::from_text(&text).expect("one").findings.len(), 1, "{text}");
        }
        for (text, fault) in [
            (String::new(), "its text holds no JSON object"),
            ("All good!".into(), "its text holds no JSON object"),
            (format!("{one} or {one}"), "its text holds more than one answer"),
            (one[..one.len() - 3].to_owned(), "its text holds no JSON object"),
            (format!("{FINDING} is all"), "its JSON does not fit: unknown field `category`"),
        ] {
            let said = Verdict::from_text(&text).expect_err("no answer");
            assert!(said.starts_with(fault), "{text}: {said}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[{}\\[\\]\":,a-zé\\\\ ]{0,200}") {
            let _ = Verdict::from_text(&text);
        }
    }

    /// The schema has no other constraint than those compared here.
    #[test]
    fn the_schema_and_the_type_agree() {
        let schema: serde_json::Value =
            serde_json::from_str(crate::auditor::prompt::SCHEMA).expect("a schema");
        let finding: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(FINDING).expect("an object");
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let fields = sorted(finding.keys().cloned().collect());
        let list = &schema["properties"]["findings"];
        let item = &list["items"];
        let strings = |value: &serde_json::Value| -> Vec<String> {
            let list = value.as_array().expect("a list");
            list.iter().map(|name| name.as_str().expect("text").to_owned()).collect()
        };
        let keys = |value: &serde_json::Value| -> Vec<String> {
            value.as_object().expect("an object").keys().cloned().collect()
        };
        assert_eq!(strings(&schema["required"]), ["findings"]);
        assert_eq!(keys(&schema["properties"]), ["findings"]);
        assert_eq!(sorted(strings(&item["required"])), fields);
        assert_eq!(sorted(keys(&item["properties"])), fields);
        assert!(schema["additionalProperties"] == false && item["additionalProperties"] == false);
        assert_eq!(list["maxItems"], MOST_FINDINGS);
        let written = |value: serde_json::Value| value.as_str().expect("text").to_owned();
        let categories = Category::ALL.map(|category| written(serde_json::json!(category)));
        assert_eq!(strings(&item["properties"]["category"]["enum"]), categories);
        let problems = Problem::ALL.map(|problem| written(serde_json::json!(problem)));
        assert_eq!(strings(&item["properties"]["problem"]["enum"]), problems);
        for field in fields.iter().filter(|field| !["category", "problem"].contains(&field.as_str())) {
            assert_eq!(item["properties"][field]["type"], "string", "{field}");
        }
    }
}
