//! Results that stand before their calls, as clients from 2.1.101 on write them now and then. Takes
//! what a result says, whatever its call may turn out to be, and gives it back when the call comes.
//! Pure. Must not grow: the oldest go first.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::results::{CallResult, Report};
use super::{CommandEnd, Original, Outcome};

/// How many results wait for their calls at the most, and how many bytes they may take together.
const MOST: usize = 64;
const MOST_BYTES: usize = 256 << 10;
/// A longer plan is not kept: the call has its text, too.
const PLAN_CAP: usize = 32 << 10;

/// What one result says, for each kind of call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlyResult {
    outcome: Outcome,
    edit: (Outcome, Original),
    command: (CommandEnd, String),
    plan: Option<(Option<String>, Option<String>)>,
    slug: Option<String>,
    task_id: Option<String>,
    report: Report,
    read: Original,
}

impl EarlyResult {
    pub fn new(result: &impl CallResult) -> Self {
        let short = |text: &String| text.len() <= PLAN_CAP;
        Self {
            outcome: result.outcome(),
            edit: result.edit(true),
            command: result.command(),
            plan: result.plan().map(|(text, path)| (text.filter(short), path)),
            slug: result.slug(),
            task_id: result.task_id(),
            report: result.report(),
            read: result.read(),
        }
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let failures = [&self.outcome, &self.edit.0].into_iter().filter_map(|outcome| match outcome {
            Outcome::Failed(why) => Some(why.as_str()),
            Outcome::Done | Outcome::Unanswered => None,
        });
        let held = [&self.edit.1, &self.read].into_iter().filter_map(Original::held);
        let plan = self.plan.iter().filter_map(|(text, _)| text.as_deref());
        failures.chain(held).chain(plan).chain([self.command.1.as_str(), self.report.text.as_str()])
    }
}

impl CallResult for EarlyResult {
    fn outcome(&self) -> Outcome {
        self.outcome.clone()
    }

    fn edit(&self, _: bool) -> (Outcome, Original) {
        self.edit.clone()
    }

    fn command(&self) -> (CommandEnd, String) {
        self.command.clone()
    }

    fn plan(&self) -> Option<(Option<String>, Option<String>)> {
        self.plan.clone()
    }

    fn slug(&self) -> Option<String> {
        self.slug.clone()
    }

    fn task_id(&self) -> Option<String> {
        self.task_id.clone()
    }

    fn report(&self) -> Report {
        self.report.clone()
    }

    fn read(&self) -> Original {
        self.read.clone()
    }
}

/// Results that wait for their calls, oldest first, each with the hash of its call's id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlyResults(VecDeque<(u64, EarlyResult)>);

impl EarlyResults {
    /// Keeps a result until its call comes.
    pub fn add(&mut self, call: u64, result: EarlyResult) {
        self.0.push_back((call, result));
        while self.0.len() > MOST || self.texts().map(str::len).sum::<usize>() > MOST_BYTES {
            self.0.pop_front();
        }
    }

    /// The result of a call, if it came before it.
    pub fn take(&mut self, call: u64) -> Option<EarlyResult> {
        let at = self.0.iter().position(|(id, _)| *id == call)?;
        self.0.remove(at).map(|(_, result)| result)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|(_, result)| result.texts())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(bytes: usize) -> EarlyResult {
        EarlyResult {
            outcome: Outcome::Done,
            edit: (Outcome::Done, Original::Unknown),
            command: (CommandEnd::Succeeded, "x".repeat(bytes)),
            plan: None,
            slug: None,
            task_id: None,
            report: Report::default(),
            read: Original::Unknown,
        }
    }

    #[test]
    fn results_whose_calls_never_come_do_not_pile_up() {
        let mut early = EarlyResults::default();
        (0..1_000).for_each(|id| early.add(id, printed(10)));
        assert_eq!((early.len(), early.take(0), early.take(999)), (MOST, None, Some(printed(10))));
        (0..20).for_each(|id| early.add(id, printed(MOST_BYTES / 4)));
        assert!(early.texts().map(str::len).sum::<usize>() <= MOST_BYTES && early.take(19).is_some());
    }
}
