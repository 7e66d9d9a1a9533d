//! The end of a call: takes what its result says, enters it where the call stands in the session.
//! Pure.

use crate::paths::is_markdown;
use crate::session::builder::SessionBuilder;
use crate::session::builder::calls::Call;
use crate::session::early_results::EarlyResult;
use crate::session::results::{CallResult, REPORT_CAP, ToolResult};
use crate::session::{ApprovedPlan, Original, Outcome, Session, Tail, Todo};
use crate::text::start_and_end;

impl SessionBuilder {
    /// Takes in a result, or keeps it until its call comes.
    pub(super) fn add_result(&mut self, result: &ToolResult<'_, '_>, aside: bool) {
        let Some(id) = result.block.tool_use_id.hash() else { return };
        // A second result of a call that was there lately belongs to nothing, and does not wait
        // either.
        if self.calls.is_waiting(id) || self.seen.contains(id) {
            self.finish_call(id, result, aside);
        } else {
            self.early.add(id, EarlyResult::new(result));
        }
    }

    /// Ends a call that is waiting.
    pub(super) fn finish_call(&mut self, id: u64, result: &impl CallResult, aside: bool) {
        let call = self.calls.answer(id);
        if !aside && !self.calls.any_open() && self.session.tail == Tail::OpenCall {
            self.session.tail = Tail::Result;
        }
        let session = &mut self.session;
        match call {
            Some(Call::Touch(index)) => self.end_touch(index, result),
            Some(Call::Command(index)) => {
                let (end, output) = result.command();
                let command = &mut session.commands[index];
                self.weights.commands += output.len();
                (command.end, command.output) = (end, output);
                // What was counted and masked before it had ended is not done with.
                let counted = index < session.counted.commands && command.may_have_effects();
                session.counted.effects += usize::from(counted);
                session.masked.commands = session.masked.commands.min(index);
            }
            Some(Call::Delegation(number)) => {
                let listed = number.checked_sub(self.weights.delegations);
                if let Some(index) = listed.filter(|index| *index < session.delegations.len()) {
                    let report = result.report();
                    session.delegations[index].outcome = result.outcome();
                    session.delegations[index].agent_id = report.agent_id;
                    self.set_report(index, report.text);
                }
            }
            Some(Call::Read { number, at, time }) => {
                let listed = number.checked_sub(self.weights.reads);
                let text = result.read();
                if let Some(read) = listed.and_then(|index| session.reads.get_mut(index))
                    && read.text == Original::Unknown
                    && text != Original::Unknown
                {
                    (read.text, read.at, read.time) = (text, at, time);
                }
            }
            Some(Call::Plan { text, path }) => match result.plan() {
                Some((approved_text, approved_path)) => {
                    self.approve(result.slug(), approved_text.or(text), approved_path.or(path));
                }
                None => session.rejected_plans.extend(text),
            },
            Some(Call::Todos(todos)) if result.outcome() == Outcome::Done => session.todos = todos,
            Some(Call::TaskCreate(text)) if result.outcome() == Outcome::Done => {
                session.todos.push(Todo { id: result.task_id(), text, status: "pending".into() });
            }
            Some(Call::TaskUpdate { id, status, subject }) if result.outcome() == Outcome::Done => {
                session.update_task(&id, status, subject);
            }
            _ => {}
        }
    }

    fn end_touch(&mut self, index: usize, result: &impl CallResult) {
        self.session.counted.done = None;
        let touches = &mut self.session.touches;
        let changed = self.index.changed.get_or_insert_with(|| {
            let done = touches.iter().enumerate().filter(|(_, touch)| touch.outcome == Outcome::Done);
            done.map(|(at, touch)| (touch.path.clone(), at)).collect()
        });
        let path = touches[index].path.as_str();
        let newest = changed.get_mut(path);
        let (outcome, before) = result.edit(newest.is_none());
        if outcome != Outcome::Done {
            self.session.masked.touches = self.session.masked.touches.min(index);
            touches[index].outcome = outcome;
            touches[index].forget_change();
            return;
        }
        if let Some(newest) = newest {
            // Only the newest change of a file can be looked for on disk. What a plan was before it
            // was changed counts as well.
            let older = index.min(*newest);
            *newest = index.max(*newest);
            if !is_markdown(path) {
                touches[older].forget_change();
            }
        } else {
            changed.insert(path.to_owned(), index);
            touches[index].original = before;
        }
        touches[index].outcome = outcome;
    }

    /// Enters a plan that the person accepted.
    pub(super) fn approve(&mut self, slug: Option<String>, text: Option<String>, path: Option<String>) {
        if let Some(text) = &text {
            self.session.rejected_plans.retain(|rejected| rejected != text);
        }
        self.session.plans.push(ApprovedPlan { text, path, slug, at: self.session.rows });
    }

    /// A subagent in the background has ended.
    pub(super) fn add_report(&mut self, agent_id: &str, report: &str) {
        let delegations = &self.session.delegations;
        if let Some(index) = delegations.iter().rposition(|one| one.agent_id.as_deref() == Some(agent_id)) {
            self.set_report(index, start_and_end(report, REPORT_CAP));
        }
    }

    fn set_report(&mut self, index: usize, report: String) {
        self.weights.reports += report.len();
        self.session.delegations[index].report = report;
        self.session.masked.delegations = self.session.masked.delegations.min(index);
        crate::session::retention::tidy_reports(&mut self.session, &mut self.weights);
    }
}

impl Session {
    fn update_task(&mut self, id: &str, status: Option<String>, subject: Option<String>) {
        if status.as_deref() == Some("deleted") {
            self.todos.retain(|todo| todo.id.as_deref() != Some(id));
            return;
        }
        if let Some(todo) = self.todos.iter_mut().find(|todo| todo.id.as_deref() == Some(id)) {
            todo.status = status.unwrap_or_else(|| std::mem::take(&mut todo.status));
            todo.text = subject.unwrap_or_else(|| std::mem::take(&mut todo.text));
        }
    }
}
