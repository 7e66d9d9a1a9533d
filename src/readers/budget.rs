//! The two readers that may be asked, with their time and their budget of calls and money. Must not
//! ask beyond a limit: a spent budget is an outcome like any other failure.

use std::time::{Duration, Instant};

use super::{Prompt, Reader, ReaderOutcome, ReaderRun, Unavailable, Usage};

/// The readers of an audit, how long they may take and what they may cost.
pub struct Readers<'a> {
    /// Proposes findings, and answers small questions.
    pub first: &'a mut dyn Reader,
    pub second: Second<'a>,
    /// How long each may take.
    pub timeout: Duration,
    /// When everything has to be finished.
    pub deadline: Instant,
    pub budget: Budget,
}

/// Who is asked to refute what would block.
pub enum Second<'a> {
    /// The first reader, again.
    Same,
    Other(&'a mut dyn Reader),
    /// Nobody: what passes the checks blocks.
    Off,
}

impl Readers<'_> {
    /// With less time than this a reader could not answer.
    pub const LEAST_TIME: Duration = Duration::from_secs(4);

    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub fn ask(&mut self, prompt: &Prompt) -> ReaderRun {
        self.ask_within(self.timeout, prompt)
    }

    /// Asks the first reader a small question.
    pub fn ask_within(&mut self, most: Duration, prompt: &Prompt) -> ReaderRun {
        let time = self.time_left().min(self.timeout).min(most);
        self.budget.ask(self.first, prompt, time)
    }

    /// Asks the second reader, unless it is switched off.
    pub fn ask_second(&mut self, prompt: &Prompt) -> Option<ReaderRun> {
        let left = self.time_left();
        let reader = match &mut self.second {
            Second::Off => return None,
            _ if left < Self::LEAST_TIME => {
                return Some(ReaderRun::not_asked(ReaderOutcome::Unavailable(Unavailable::NoTime)));
            }
            Second::Other(reader) => &mut **reader,
            Second::Same => &mut *self.first,
        };
        Some(self.budget.ask(reader, prompt, left.min(self.timeout)))
    }
}

/// The limits, and what was spent. By default there are none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Budget {
    /// The calls of this session.
    pub calls: Option<Limit<u32>>,
    /// The dollars of this day.
    pub money: Option<Limit<f64>>,
    /// What each call that was made cost.
    pub made: Vec<Usage>,
}

/// A limit and what is left of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit<T> {
    pub left: T,
    pub most: T,
}

impl Budget {
    /// Returns what all calls cost, in dollars.
    pub fn cost(&self) -> f64 {
        Usage::sum(&self.made).cost_usd.unwrap_or_default()
    }

    /// Returns what the calls after the first `before` cost together, if there were any.
    pub fn since(&self, before: usize) -> Option<Usage> {
        let made = self.made.get(before..).filter(|made| !made.is_empty())?;
        Some(Usage::sum(made))
    }

    /// Returns why no call is left.
    fn spent(&self) -> Option<String> {
        if let Some(Limit { most, .. }) = self.calls.filter(|calls| self.made.len() >= calls.left as usize) {
            let calls = if most == 1 { "one call".to_owned() } else { format!("{most} calls") };
            return Some(format!(
                "this session has used its {calls} of a model (`[auditor] max_calls_per_session`)"
            ));
        }
        let money = self.money.filter(|money| self.cost() >= money.left)?;
        Some(format!("today's {} dollars are spent (`[auditor] max_cost_per_day`)", money.most))
    }

    fn ask(&mut self, reader: &mut dyn Reader, prompt: &Prompt, time: Duration) -> ReaderRun {
        if let Some(why) = self.spent() {
            return ReaderRun::not_asked(ReaderOutcome::Unavailable(Unavailable::BudgetSpent(why)));
        }
        let run = reader.ask(prompt, time);
        // A missing client costs nothing.
        if run.client.is_some() || matches!(run.outcome, ReaderOutcome::Answered(_)) {
            self.made.push(run.usage);
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::{Answer, RecordedReply};

    #[test]
    fn no_call_is_made_beyond_a_limit() {
        let clean = r#"{"findings":[],"candidates":[],"verdicts":[]}"#;
        let prompt = Prompt {
            system: String::new(),
            text: String::new(),
            schema: String::new(),
            check: Answer::check,
        };
        let calls = Some(Limit { left: 1, most: 60 });
        let mut readers = Readers {
            first: &mut RecordedReply(clean),
            second: Second::Same,
            timeout: Duration::ZERO,
            deadline: Instant::now(),
            budget: Budget { calls, ..Budget::default() },
        };
        assert!(matches!(readers.ask(&prompt).outcome, ReaderOutcome::Answered(_)));
        let spent = readers.ask(&prompt).outcome.detail();
        let why = "this session has used its 60 calls of a model (`[auditor] max_calls_per_session`)";
        assert_eq!((spent.as_deref(), readers.budget.made.len()), (Some(why), 1));
        readers.budget = Budget { money: Some(Limit { left: 0.0, most: 2.5 }), ..Budget::default() };
        let spent = readers.ask(&prompt).outcome.detail();
        let why = "today's 2.5 dollars are spent (`[auditor] max_cost_per_day`)";
        assert_eq!((spent.as_deref(), readers.budget.made.len()), (Some(why), 0));
    }
}
