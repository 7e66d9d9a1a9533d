//! What the client is asked: told by the task that stands last in the prompt. Must not guess: a
//! prompt with none of the known tasks is no question of the program's.

use serde_json::{Value, json};

/// The questions that the program has for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// What drifts?
    First,
    /// Is it so?
    Second,
    /// What became of it?
    Settle,
    /// Which open items are claimed as done?
    Checklist,
    /// Were these features built?
    Features,
}

const ALL: [(Question, &str, &str); 5] = [
    (Question::First, "first", include_str!("../../../prompts/first.md")),
    (Question::Second, "second", include_str!("../../../prompts/second.md")),
    (Question::Settle, "settle", include_str!("../../../prompts/settle.md")),
    (Question::Checklist, "checklist", include_str!("../../../prompts/checklist.md")),
    (Question::Features, "features", include_str!("../../../prompts/features.md")),
];

impl Question {
    /// The one of that name.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        ALL.iter().find(|(_, known, _)| *known == name).map(|(question, ..)| *question)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        ALL.iter().find(|(question, ..)| *question == self).map_or("", |(_, name, _)| name)
    }

    /// The one that a prompt asks: data may hold the words of any, and the task stands last.
    pub(crate) fn of(prompt: &str) -> Option<Self> {
        let at = |task: &str| prompt.rfind(task.lines().next().unwrap_or_default());
        let found = ALL.iter().filter_map(|(question, _, task)| Some((at(task)?, *question)));
        found.max_by_key(|(at, _)| *at).map(|(_, question)| question)
    }

    /// What is wrong with an answer to it, as far as its lists tell.
    pub(crate) fn misfit(self, answer: &Value) -> Option<String> {
        let (all, filled): (&[&str], &[&str]) = match self {
            Self::First => (&["candidates", "findings", "verdicts"], &["candidates", "findings"]),
            Self::Second => (&["candidates", "findings", "verdicts"], &["verdicts"]),
            Self::Settle => (&["findings"], &["findings"]),
            Self::Checklist => (&["claimed", "finished"], &["claimed", "finished"]),
            Self::Features => (&["features"], &["features"]),
        };
        let Some(object) = answer.as_object() else { return Some("it is no object".to_owned()) };
        let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
        keys.sort_unstable();
        if keys != all {
            return Some(format!("{keys:?} in the place of {all:?}"));
        }
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        let stray = object.iter().find(|(key, value)| !filled.contains(&key.as_str()) && !is_empty(value));
        stray.map(|(key, _)| format!("`{key}` is not for the question {}", self.name()))
    }
}

/// The numbers of the findings that a prompt lists at its end.
fn listed(prompt: &str) -> Result<Vec<Value>, String> {
    let (_, after) = prompt.rsplit_once("\nThe findings:\n").ok_or("the prompt lists no findings")?;
    let lines = after.lines().skip(1).take_while(|line| !line.starts_with("<<"));
    lines
        .map(|line| {
            let finding: Value = serde_json::from_str(line).map_err(|why| format!("{why}: {line}"))?;
            Ok(finding["number"].clone())
        })
        .collect()
}

/// The second reader's answer: the same for each finding.
pub(crate) fn verdicts(prompt: &str, uphold: bool, why: &str) -> Result<Value, String> {
    let verdict = |number| json!({ "number": number, "uphold": uphold, "why": why });
    let verdicts: Vec<Value> = listed(prompt)?.into_iter().map(verdict).collect();
    Ok(json!({ "findings": [], "candidates": [], "verdicts": verdicts }))
}

/// The answer at the stop after a block: the same for each finding.
pub(crate) fn states(prompt: &str, state: &str, why: &str) -> Result<Value, String> {
    let word = |number| json!({ "number": number, "state": state, "why": why });
    let words: Vec<Value> = listed(prompt)?.into_iter().map(word).collect();
    Ok(json!({ "findings": words }))
}
