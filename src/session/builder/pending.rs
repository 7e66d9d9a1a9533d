//! Calls whose results have not come yet, and results whose calls have not. Pure. Must not grow:
//! the oldest are dropped.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::client::tool_call::{PlanText, TaskChange};
use crate::client::tool_result::{CommandEnd, Report, ToolResult};
use crate::session::retention::Trimmed;
use crate::session::{Original, Outcome};

/// How many calls may be pending.
const MOST_CALLS: usize = 512;
/// How many results may come before their calls, and how many bytes they may take together.
const MOST_EARLY: usize = 64;
const MOST_EARLY_BYTES: usize = 256 << 10;
/// A longer plan is not stored in an early result: the call has its text, too.
const PLAN_CAP: usize = 32 << 10;

/// What the result of a call completes. Entries of the session's lists are given by index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Call {
    Touch(usize),
    Command(usize),
    Delegation(usize),
    /// A read of a file whose text is not known.
    Read {
        index: usize,
        at: usize,
        time: Option<i64>,
    },
    Plan(PlanText),
    Tasks(TaskChange),
    Other,
}

/// The parts of a result that its call needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallResult {
    pub(super) outcome: Outcome,
    /// When it was written, in milliseconds since 1970.
    pub(super) time: Option<i64>,
    pub(super) edit: (Outcome, Original),
    pub(super) command: (CommandEnd, String),
    /// The approved plan; `None` if it was rejected.
    pub(super) plan: Option<PlanText>,
    pub(super) task_id: Option<String>,
    pub(super) report: Report,
    pub(super) read: Original,
}

impl CallResult {
    /// Returns what this call needs or, if the call has not come yet, everything that any call
    /// could need.
    pub(super) fn new(result: &ToolResult<'_, '_>, line_at: Option<u64>, call: Option<&Call>) -> Self {
        let outcome = result.error().map_or(Outcome::Done, Outcome::Failed);
        let mut new = Self { outcome, ..Self::default() };
        if matches!(call, None | Some(Call::Touch(_))) {
            new.edit = match result.edit() {
                Ok(before) => (Outcome::Done, Original::new(before, line_at)),
                Err(failure) => (Outcome::Failed(failure), Original::Unknown),
            };
        }
        if matches!(call, None | Some(Call::Command(_))) {
            new.command = result.command();
        }
        if matches!(call, None | Some(Call::Delegation(_))) {
            new.report = result.report();
        }
        if matches!(call, None | Some(Call::Read { .. })) {
            new.read = Original::new(result.read(), line_at);
        }
        if matches!(call, None | Some(Call::Plan(_))) {
            new.plan = result.plan();
        }
        if matches!(call, None | Some(Call::Tasks(_))) {
            new.task_id = result.task_id();
        }
        new
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let failures = [&self.outcome, &self.edit.0].into_iter().filter_map(|outcome| match outcome {
            Outcome::Failed(why) => Some(why.as_str()),
            Outcome::Done | Outcome::Unanswered => None,
        });
        let originals = [&self.edit.1, &self.read].into_iter().filter_map(Original::text);
        let plan = self.plan.iter().filter_map(|plan| plan.text.as_deref());
        failures.chain(originals).chain(plan).chain([self.command.1.as_str(), self.report.text.as_str()])
    }
}

/// A call whose result has not come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PendingCall {
    call: Call,
    /// Whether the main agent waits for it. Once the agent has spoken again, it does not.
    is_open: bool,
    at: usize,
}

/// Calls without results and results without calls, by the hash of the call's id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    calls: BTreeMap<u64, PendingCall>,
    /// Oldest first. Clients from 2.1.101 on write some results before their calls.
    early: VecDeque<(u64, CallResult)>,
}

impl Pending {
    pub(super) fn add_call(&mut self, id: u64, call: Call, is_open: bool, at: usize) {
        if self.calls.len() >= MOST_CALLS
            && let Some(oldest) = self.calls.iter().min_by_key(|(id, one)| (one.at, **id)).map(|(id, _)| *id)
        {
            self.calls.remove(&oldest);
        }
        self.calls.insert(id, PendingCall { call, is_open, at });
    }

    /// Removes a call whose result has come.
    pub(super) fn take_call(&mut self, id: u64) -> Option<Call> {
        self.calls.remove(&id).map(|one| one.call)
    }

    /// Returns whether the main agent waits for any call.
    pub(super) fn any_open(&self) -> bool {
        self.calls.values().any(|one| one.is_open)
    }

    /// Records that the agent spoke again: calls left unanswered before that were interrupted.
    pub(super) fn close_all(&mut self) {
        self.calls.values_mut().for_each(|one| one.is_open = false);
    }

    pub(super) fn add_early(&mut self, id: u64, mut result: CallResult) {
        if let Some(plan) = &mut result.plan {
            plan.text.take_if(|text| text.len() > PLAN_CAP);
        }
        self.early.push_back((id, result));
        while self.early.len() > MOST_EARLY || self.early_bytes() > MOST_EARLY_BYTES {
            self.early.pop_front();
        }
    }

    /// Removes the result that came before its call.
    pub(super) fn take_early(&mut self, id: u64) -> Option<CallResult> {
        let at = self.early.iter().position(|(call, _)| *call == id)?;
        self.early.remove(at).map(|(_, result)| result)
    }

    pub(super) fn has_early(&self) -> bool {
        !self.early.is_empty()
    }

    fn early_bytes(&self) -> usize {
        self.early.iter().flat_map(|(_, result)| result.texts()).map(str::len).sum()
    }

    /// Updates the indexes into the session's lists.
    pub(super) fn renumber(&mut self, trimmed: &Trimmed) {
        for one in self.calls.values_mut() {
            let (index, moved) = match &mut one.call {
                Call::Touch(index) => (index, &trimmed.touches),
                Call::Command(index) => (index, &trimmed.commands),
                Call::Delegation(index) => (index, &trimmed.delegations),
                Call::Read { index, .. } => (index, &trimmed.reads),
                Call::Plan(_) | Call::Tasks(_) | Call::Other => continue,
            };
            match moved.as_ref().map_or(Some(*index), |moved| moved[*index]) {
                Some(new) => *index = new,
                None => one.call = Call::Other,
            }
        }
    }

    /// Returns all texts in them.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let calls = self.calls.values().flat_map(|one| match &one.call {
            Call::Plan(plan) => plan.text.iter().map(String::as_str).collect(),
            Call::Tasks(TaskChange::SetAll(todos)) => todos.iter().map(|todo| todo.text.as_str()).collect(),
            Call::Tasks(TaskChange::Create(text)) => vec![text.as_str()],
            Call::Tasks(TaskChange::Update { subject, .. }) => subject.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        });
        calls.chain(self.early.iter().flat_map(|(_, result)| result.texts()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_whose_calls_never_come_do_not_pile_up() {
        let printed = |bytes| CallResult {
            command: (CommandEnd::Succeeded, "x".repeat(bytes)),
            ..CallResult::default()
        };
        let mut pending = Pending::default();
        (0..1_000).for_each(|id| pending.add_early(id, printed(10)));
        assert_eq!(pending.early.len(), MOST_EARLY);
        assert_eq!((pending.take_early(0), pending.take_early(999)), (None, Some(printed(10))));
        (0..20).for_each(|id| pending.add_early(id, printed(MOST_EARLY_BYTES / 4)));
        assert!(pending.early_bytes() <= MOST_EARLY_BYTES && pending.take_early(19).is_some());
    }
}
