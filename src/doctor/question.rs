//! The model: takes what came of one tiny question, gives a check with its time and cost. Pure.

use super::Check;
use crate::readers::{ReaderOutcome, ReaderRun};

/// The check; `None` where nobody was to be asked.
pub fn check(run: Option<&ReaderRun>, model: &str) -> Check {
    const NAME: &str = "reader";
    let Some(run) = run else {
        let next = "`punchlist doctor --audit` asks it one tiny question".to_owned();
        return Check::note(NAME, format!("{model} was not asked"), Some(next));
    };
    let took = format!("{:.1} s", run.duration.as_secs_f64());
    let cost = run.usage.cost_usd.map_or_else(|| "cost unknown".to_owned(), |cost| format!("${cost:.4}"));
    let tokens = run.usage.total_input();
    match &run.outcome {
        ReaderOutcome::Answered(_) => Check::fine(
            NAME,
            format!("{model} answered in {took}, {cost}, {tokens} tokens in, {} out", run.usage.output),
        ),
        ReaderOutcome::TimedOut(_) => Check::fault(
            NAME,
            format!("{model} gave no answer in {took}"),
            "raise `[auditor] timeout`, or look at your network",
        ),
        ReaderOutcome::Unreadable(why) => Check::fault(
            NAME,
            format!("{model} answered in {took} with what does not count: {why}"),
            "try another `[auditor] model`",
        ),
        ReaderOutcome::Unavailable(why) => {
            Check::fault(NAME, why.to_string(), "until it can be asked, only what the disk proves is held")
        }
        ReaderOutcome::NotAsked | ReaderOutcome::Superseded | ReaderOutcome::Interrupted(_) => {
            Check::fault(NAME, format!("{model} was not heard: interrupted"), "try it again")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::doctor::Mark;
    use crate::readers::{Unavailable, Usage};

    #[test]
    fn an_answer_has_its_time_and_cost_and_a_failure_its_next_step() {
        let run = ReaderRun {
            duration: Duration::from_millis(2_340),
            usage: Usage { input: 300, output: 12, cost_usd: Some(0.000_42), ..Usage::default() },
            ..ReaderRun::not_asked(ReaderOutcome::Answered(String::new()))
        };
        assert_eq!(
            check(Some(&run), "haiku"),
            Check::fine("reader", "haiku answered in 2.3 s, $0.0004, 300 tokens in, 12 out")
        );
        let failed =
            ReaderRun { outcome: ReaderOutcome::Unavailable(Unavailable::RateLimited("429".into())), ..run };
        let failed = check(Some(&failed), "haiku");
        assert_eq!(
            (failed.mark, failed.found.as_str()),
            (Mark::Fault, "the model's service is limiting requests (429)")
        );
        assert_eq!(check(None, "haiku").mark, Mark::Note);
    }
}
