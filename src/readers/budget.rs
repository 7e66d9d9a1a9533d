//! A reader with a budget of calls and money. Must not ask beyond the limit: a spent budget is an
//! outcome like any other failure.

use std::time::Duration;

use super::{Prompt, Reader, ReaderOutcome, ReaderRun, Unavailable};

/// The limits, and what was spent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Budget {
    /// The calls of this session.
    pub calls: Limit<u32>,
    /// The dollars of this day; `None` for no limit.
    pub money: Option<Limit<f64>>,
    /// The calls that were made.
    pub made: u32,
    /// What they cost, in dollars.
    pub cost: f64,
}

/// A limit and what is left of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limit<T> {
    /// What is left.
    pub left: T,
    /// The limit itself.
    pub most: T,
}

impl Budget {
    /// Returns why no call is left.
    pub fn spent(&self) -> Option<String> {
        if self.made >= self.calls.left {
            let calls = match self.calls.most {
                1 => "one call".to_owned(),
                most => format!("{most} calls"),
            };
            return Some(format!(
                "this session has had its {calls} of a model (`[auditor] max_calls_per_session`)"
            ));
        }
        let money = self.money.filter(|money| self.cost >= money.left)?;
        Some(format!("today's {} dollars are spent (`[auditor] max_cost_per_day`)", money.most))
    }
}

/// A reader with a budget that it may share with others.
pub struct Budgeted<'a> {
    /// The reader.
    pub reader: &'a mut dyn Reader,
    /// The budget.
    pub budget: &'a std::cell::RefCell<Budget>,
}

impl Reader for Budgeted<'_> {
    fn ask(&mut self, prompt: &Prompt, deadline: Duration) -> ReaderRun {
        if let Some(why) = self.budget.borrow().spent() {
            return ReaderRun::not_asked(ReaderOutcome::Unavailable(Unavailable::BudgetSpent(why)));
        }
        let run = self.reader.ask(prompt, deadline);
        // A missing client cost nothing.
        if run.client.is_some() || matches!(run.outcome, ReaderOutcome::Answered(_)) {
            let mut budget = self.budget.borrow_mut();
            budget.made += 1;
            budget.cost += run.usage.cost_usd.unwrap_or_default();
        }
        run
    }

    fn backend(&self) -> &'static str {
        self.reader.backend()
    }

    fn model(&self) -> &str {
        self.reader.model()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::readers::{Answer, RecordedReply};

    const CLEAN: &str = r#"{"findings":[],"candidates":[],"verdicts":[]}"#;

    fn prompt() -> Prompt {
        Prompt { system: String::new(), text: String::new(), schema: String::new(), check: Answer::check }
    }

    #[test]
    fn no_call_is_made_beyond_the_limit_of_a_session() {
        let budget = RefCell::new(Budget { calls: Limit { left: 1, most: 60 }, ..Budget::default() });
        let mut reply = RecordedReply(CLEAN);
        let mut reader = Budgeted { reader: &mut reply, budget: &budget };
        assert!(matches!(reader.ask(&prompt(), Duration::ZERO).outcome, ReaderOutcome::Answered(_)));
        let outcome = reader.ask(&prompt(), Duration::ZERO).outcome;
        assert_eq!(
            outcome.detail().as_deref(),
            Some("this session has had its 60 calls of a model (`[auditor] max_calls_per_session`)")
        );
        assert_eq!(budget.borrow().made, 1);
    }

    #[test]
    fn no_call_is_made_beyond_the_money_of_a_day() {
        let money = Some(Limit { left: 0.0, most: 2.5 });
        let budget = Budget { calls: Limit { left: 9, most: 9 }, money, ..Budget::default() };
        assert_eq!(
            budget.spent().as_deref(),
            Some("today's 2.5 dollars are spent (`[auditor] max_cost_per_day`)")
        );
    }
}
