//! A reader that counts: takes another reader and what may still be spent, asks it as long as there is anything left, and
//! tells what it spent. Must not ask beyond the limit: a spent budget is an outcome like any other failure.

use std::time::Duration;

use super::{Prompt, Reader, ReaderOutcome, ReaderRun, Unavailable};

/// What may still be spent, and what was.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Budget {
    /// How many calls are left in this session, and how many there were to begin with.
    pub calls: Limit<u32>,
    /// How much money is left today, in dollars; `None` for no limit.
    pub money: Option<Limit<f64>>,
    /// How many calls were made.
    pub made: u32,
    /// What they cost, as far as the client tells.
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
    /// Why nothing more may be asked, if that is so.
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

/// A reader with a budget, which others may share.
pub struct Budgeted<'a> {
    /// Who is asked.
    pub reader: &'a mut dyn Reader,
    /// What may be spent.
    pub budget: &'a std::cell::RefCell<Budget>,
}

impl Reader for Budgeted<'_> {
    fn ask(&mut self, prompt: &Prompt, deadline: Duration) -> ReaderRun {
        if let Some(why) = self.budget.borrow().spent() {
            return ReaderRun::not_asked(ReaderOutcome::Unavailable(Unavailable::BudgetSpent(why)));
        }
        let run = self.reader.ask(prompt, deadline);
        // A client that is not there cost nothing.
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
    fn nobody_is_asked_beyond_the_calls_of_a_session() {
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
    fn nobody_is_asked_beyond_the_money_of_a_day() {
        let money = Some(Limit { left: 0.0, most: 2.5 });
        let budget = Budget { calls: Limit { left: 9, most: 9 }, money, ..Budget::default() };
        assert_eq!(
            budget.spent().as_deref(),
            Some("today's 2.5 dollars are spent (`[auditor] max_cost_per_day`)")
        );
    }
}
