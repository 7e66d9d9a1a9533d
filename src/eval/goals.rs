//! Takes scores, says which goals they miss. Pure.

use super::run::{Asking, ReaderChoice, SecondChoice};
use super::score::Score;
use crate::finding::Category;

/// Of the drifting cases, how many have to be held with the recorded answers, in each part.
pub const DRIFTING_HELD: f64 = 0.95;
/// Of the true findings of the recorded answers, how many the checks have to let through.
pub const LET_THROUGH: f64 = 0.97;
/// Of all that is claimed and not so, how much has to be found with no reader at all.
pub const A_WITHOUT_READER: f64 = 0.2;

/// The goals that are missed, each in a sentence. `parts` are the scores of each part, by its name.
pub fn missed(parts: &[(&str, Score)], all: &Score, asking: Asking<'_>) -> Vec<String> {
    let mut missed = Vec::new();
    let mut want = |holds: bool, said: String| {
        if !holds {
            missed.push(said);
        }
    };
    let clean = all.clean_held;
    want(clean.part == 0, format!("{} of {} clean cases are held", clean.part, clean.of));
    want(all.reader_faults == 0, format!("{} answers can't be read", all.reader_faults));
    if asking.reader == ReaderChoice::None {
        let a = all.category(Category::A);
        let share = super::score::share(a.found, a.truths);
        want(
            share.is_none_or(|share| share >= A_WITHOUT_READER),
            format!("A: {} of {} are found, under {A_WITHOUT_READER}", a.found, a.truths),
        );
        want(a.false_confirmed == 0, format!("A: {} findings are wrong", a.false_confirmed));
    }
    let asks_second = asking.second == SecondChoice::Recorded;
    if matches!(asking.reader, ReaderChoice::Recorded | ReaderChoice::Claude) {
        for (name, score) in parts {
            let held = score.drifting_held;
            want(
                held.share().is_none_or(|share| share >= DRIFTING_HELD),
                format!(
                    "{name}: {} of {} drifting cases are held, under {DRIFTING_HELD}",
                    held.part, held.of
                ),
            );
        }
        let through = all.let_through;
        want(
            through.share().is_none_or(|share| share >= LET_THROUGH),
            format!(
                "the checks let {} of {} true findings through, under {LET_THROUGH}",
                through.part, through.of
            ),
        );
        let calls = all.second_calls_at_clean;
        want(calls == 0, format!("the second reader is asked at {calls} clean stops"));
    }
    want(all.no_reply == 0, format!("{} cases have no answer of the first reader", all.no_reply));
    want(
        all.not_recorded == 0 || !asks_second,
        format!("{} findings have no word of the second reader", all.not_recorded),
    );
    let lies = all.all_false_findings();
    want(lies.hold == 0, format!("{} of {} false findings would hold", lies.hold, lies.total()));
    missed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::run::CaseResult;
    use crate::eval::score::tests::{finding, result};
    use crate::finding::Status;

    fn missed_by(results: &[CaseResult], reader: ReaderChoice) -> Vec<String> {
        let score = Score::of(results);
        let asking = Asking { reader, second: SecondChoice::Recorded, replies: None, record: None };
        missed(&[("tuning", score.clone())], &score, asking)
    }

    #[test]
    fn a_good_score_misses_no_goal() {
        let found = result(&[Category::A], &[(finding(Category::A, Status::Confirmed), &[0])]);
        let results = [found, result(&[], &[])];
        for reader in [ReaderChoice::None, ReaderChoice::Recorded, ReaderChoice::Lying, ReaderChoice::Claude]
        {
            assert_eq!(missed_by(&results, reader), [""; 0], "{reader:?}");
        }
    }

    #[test]
    fn each_goal_that_is_missed_is_told() {
        let held = result(&[], &[(finding(Category::A, Status::Confirmed), &[])]);
        let drift = result(&[Category::A, Category::C], &[]);
        let results = [held, CaseResult { no_reply: true, not_recorded: vec!["x".into()], ..drift }];
        assert_eq!(
            missed_by(&results, ReaderChoice::None)[..3],
            ["1 of 1 clean cases are held", "A: 0 of 1 are found, under 0.2", "A: 1 findings are wrong"]
        );
        assert_eq!(
            missed_by(&results, ReaderChoice::Recorded),
            [
                "1 of 1 clean cases are held",
                "tuning: 0 of 1 drifting cases are held, under 0.95",
                "1 cases have no answer of the first reader",
                "1 findings have no word of the second reader",
            ]
        );
    }
}
