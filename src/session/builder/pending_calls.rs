//! Calls whose results have not come yet. Pure. Must not grow: the oldest are given up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::session::Todo;

/// How many calls may be pending.
const MOST_PENDING: usize = 512;

/// What the result of a call completes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Call {
    Touch(usize),
    Command(usize),
    Delegation(usize),
    /// A read of a file whose text is not known, by the file's number from the start of the session.
    Read {
        number: usize,
        at: usize,
        time: Option<i64>,
    },
    Plan {
        text: Option<String>,
        path: Option<String>,
    },
    Todos(Vec<Todo>),
    TaskCreate(String),
    TaskUpdate {
        id: String,
        status: Option<String>,
        subject: Option<String>,
    },
    Other,
}

/// A call whose result has not come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PendingCall {
    call: Call,
    /// The main agent waits for it. Once the agent has spoken again, it does not.
    is_open: bool,
    at: usize,
}

/// The calls whose results have not come, by the hash of their id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingCalls(BTreeMap<u64, PendingCall>);

impl PendingCalls {
    pub(super) fn add(&mut self, id: u64, call: Call, is_open: bool, at: usize) {
        if self.0.len() >= MOST_PENDING
            && let Some(oldest) = self.0.iter().min_by_key(|(id, one)| (one.at, **id)).map(|(id, _)| *id)
        {
            self.0.remove(&oldest);
        }
        self.0.insert(id, PendingCall { call, is_open, at });
    }

    /// Removes a call whose result has come.
    pub(super) fn take(&mut self, id: u64) -> Option<Call> {
        self.0.remove(&id).map(|one| one.call)
    }

    /// Returns whether a call is pending.
    pub(super) fn contains(&self, id: u64) -> bool {
        self.0.contains_key(&id)
    }

    /// Returns whether the main agent waits for any.
    pub(super) fn any_open(&self) -> bool {
        self.0.values().any(|one| one.is_open)
    }

    /// Notes that the agent spoke again: calls left unanswered before that were interrupted.
    pub(super) fn close_all(&mut self) {
        self.0.values_mut().for_each(|one| one.is_open = false);
    }

    /// Renumbers commands: `to` returns the new index of each, `None` for one that was removed.
    pub(super) fn renumber_commands(&mut self, to: impl Fn(usize) -> Option<usize>) {
        self.renumber(|call| match call {
            Call::Command(at) => to(at).map_or(Call::Other, Call::Command),
            other => other,
        });
    }

    /// Renumbers touches, like [`PendingCalls::renumber_commands`].
    pub(super) fn renumber_touches(&mut self, to: impl Fn(usize) -> Option<usize>) {
        self.renumber(|call| match call {
            Call::Touch(at) => to(at).map_or(Call::Other, Call::Touch),
            other => other,
        });
    }

    /// Returns the texts in them.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.values().flat_map(|one| match &one.call {
            Call::Plan { text, .. } => text.iter().map(String::as_str).collect(),
            Call::Todos(todos) => todos.iter().map(|todo| todo.text.as_str()).collect(),
            Call::TaskCreate(text) => vec![text.as_str()],
            Call::TaskUpdate { subject, .. } => subject.iter().map(String::as_str).collect(),
            Call::Touch(_) | Call::Command(_) | Call::Delegation(_) | Call::Read { .. } | Call::Other => {
                Vec::new()
            }
        })
    }

    fn renumber(&mut self, new: impl Fn(Call) -> Call) {
        for one in self.0.values_mut() {
            one.call = new(std::mem::replace(&mut one.call, Call::Other));
        }
    }
}
