//! What a reader is asked about features that were set to pass at once: the prompt, and its answer.
//! Pure. An answer that does not fit the schema is none.

use serde::Deserialize;
use serde_json::json;

use super::features::Feature;
use super::verify::Judgement;
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

/// Parses the answer on so many features. One that the reader says nothing of, or was not asked
/// about, is not judged.
pub fn judgements(json: &str, count: usize) -> Vec<Judgement> {
    let answer: Answer = parse(json).unwrap_or_default();
    let judgement = |number: usize| {
        let verdict = answer.features.iter().find(|verdict| verdict.number == number && number <= MOST);
        match verdict {
            Some(verdict) if verdict.built => Judgement::Built,
            Some(Verdict { why, .. }) => Judgement::NotBuilt(format!("a reader finds no work for it: {why}")),
            None => Judgement::NotJudged,
        }
    };
    (1..=count).map(judgement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_speaks_of_is_not_judged() {
        let json = r#"{"features":[{"number":2,"built":false,"why":"No cart."},{"number":1,"built":true,"why":"a"}]}"#;
        let no_cart = Judgement::NotBuilt("a reader finds no work for it: No cart.".into());
        assert_eq!(judgements(json, 3), [Judgement::Built, no_cart, Judgement::NotJudged]);
        assert_eq!(judgements("torn", 2), [Judgement::NotJudged, Judgement::NotJudged]);
        let beyond = r#"{"features":[{"number":41,"built":true,"why":"It was not shown."}]}"#;
        assert_eq!(judgements(beyond, 41).last(), Some(&Judgement::NotJudged));
        assert!(check(json).is_ok() && check("{}").is_err());
    }
}
