//! What a reader is asked about features that were set to pass at once: the prompt, and its answer. Pure. An answer that
//! does not fit the schema is none.

use serde::Deserialize;
use serde_json::json;

use super::features::Feature;
use crate::readers::Prompt;
use crate::readers::answer::parse;
use crate::readers::prompt::{PromptError, SharedPrompt, one_line, render};
use crate::redact::mask;
use crate::text::first_part;

const QUESTION: &str = include_str!("../../prompts/features.md");
const SCHEMA: &str = include_str!("../../prompts/features.schema.json");

/// How many are asked about, and how much is shown of one.
pub const MOST: usize = 40;
const FEATURE_CAP: usize = 1_000;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    features: Vec<Verdict>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    number: usize,
    built: bool,
    why: String,
}

fn check(json: &str) -> Result<(), String> {
    parse::<Answer>(json).map(drop)
}

/// Returns the question about these features, after the evidence as it is now.
pub fn prompt(shown: &SharedPrompt, features: &[&Feature]) -> Result<Prompt, PromptError> {
    let line = |(at, feature): (usize, &&Feature)| {
        let steps = feature.steps.join("; ");
        let words = format!("{} {} {steps}", feature.id.as_deref().unwrap_or_default(), feature.description);
        format!("{}. {}", at + 1, first_part(&mask(words.trim()).text, FEATURE_CAP))
    };
    let listed: Vec<String> = features.iter().take(MOST).enumerate().map(line).collect();
    let values = json!({ "fence": shown.fence, "features": listed.join("\n") });
    let task = render("features.md", QUESTION, &values)?;
    Ok(Prompt { schema: one_line(SCHEMA), check, ..shown.prompt(&task) })
}

/// Parses the answer on so many features. Returns why each was not built, where the reader says so.
pub fn not_built(json: &str, count: usize) -> Vec<Option<String>> {
    let answer: Answer = parse(json).unwrap_or_default();
    let verdict = |number: usize| answer.features.iter().find(|verdict| verdict.number == number);
    let why = |verdict: &Verdict| format!("a reader finds no work for it: {}", verdict.why);
    (1..=count).map(|number| verdict(number).filter(|verdict| !verdict.built).map(why)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_passes_and_what_nobody_speaks_of_too() {
        let json = r#"{"features":[{"number":2,"built":false,"why":"No cart."},{"number":1,"built":true,"why":"a"}]}"#;
        let built = not_built(json, 3);
        assert_eq!(built, [None, Some("a reader finds no work for it: No cart.".into()), None]);
        assert_eq!(not_built("torn", 2), [None, None]);
        assert!(check(json).is_ok() && check("{}").is_err());
    }
}
