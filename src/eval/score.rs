//! Takes what became of cases, counts. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::case::{Kind, Proof};
use super::matching::Worth;
use super::run::CaseResult;
use crate::decision::Held;
use crate::finding::{Category, Source, Status};

/// What was found of one category, by everybody or by one source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// How many there are to be found.
    pub truths: usize,
    /// True and confirmed.
    pub confirmed: usize,
    /// True and shown: confirmed, or not verified.
    pub shown: usize,
    /// Not true and confirmed, in any case.
    pub false_confirmed: usize,
    /// Not true and shown in clean cases.
    pub false_in_clean: usize,
}

impl Count {
    /// Of what was confirmed, how much is true. `None` where nothing was.
    pub fn precision(&self) -> Option<f64> {
        share(self.confirmed, self.confirmed + self.false_confirmed)
    }

    /// Of what is true, how much was confirmed.
    pub fn recall(&self) -> Option<f64> {
        share(self.confirmed, self.truths)
    }

    /// Of what is true, how much was shown.
    pub fn shown_recall(&self) -> Option<f64> {
        share(self.shown, self.truths)
    }

    fn add(&mut self, other: Self) {
        self.truths += other.truths;
        self.confirmed += other.confirmed;
        self.shown += other.shown;
        self.false_confirmed += other.false_confirmed;
        self.false_in_clean += other.false_in_clean;
    }
}

/// A share; `None` of nothing.
#[expect(clippy::cast_precision_loss, reason = "nobody has so many cases")]
pub fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// One category: all of it, and by source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CategoryScore {
    /// Whoever found it.
    pub all: Count,
    /// By who found it. The truths are the category's.
    pub by_source: BTreeMap<&'static str, Count>,
}

/// What became of lies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Lies {
    /// Believed.
    pub confirmed: usize,
    /// Shown as not verified.
    pub unverified: usize,
    /// Refuted.
    pub refuted: usize,
}

impl Lies {
    /// How many were told.
    pub fn told(&self) -> usize {
        self.confirmed + self.unverified + self.refuted
    }

    fn add(&mut self, status: Status) {
        match status {
            Status::Confirmed => self.confirmed += 1,
            Status::CannotVerify => self.unverified += 1,
            Status::Refuted => self.refuted += 1,
        }
    }
}

/// What a set of cases came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Score {
    /// How many cases.
    pub cases: usize,
    /// How many of them are clean.
    pub clean: usize,
    /// How many of those would have been held.
    pub clean_blocked: usize,
    /// How many that are not clean would have been held.
    pub drift_blocked: usize,
    /// By category.
    pub categories: BTreeMap<&'static str, CategoryScore>,
    /// A that disk and session alone prove: how many, and how many of them are confirmed.
    pub provable: (usize, usize),
    /// Advisories: found, missed, wrong.
    pub advisories: (usize, usize, usize),
    /// True findings of the replies: how many, how many are shown still, how many are confirmed.
    pub replied: (usize, usize, usize),
    /// Lies by kind: how many, and what became of them.
    pub lies: BTreeMap<&'static str, Lies>,
    /// Adversarial cases with something to be found: how many, and in how many it is shown.
    pub adversarial: (usize, usize),
    /// Cases in which the auditor gave no answer.
    pub auditor_faults: usize,
}

impl Score {
    /// Counts.
    pub fn of<'a>(results: impl IntoIterator<Item = &'a CaseResult>) -> Self {
        let mut score = Self::default();
        for category in Category::ALL {
            score.categories.insert(category.name(), CategoryScore::default());
        }
        for result in results {
            score.add(result);
        }
        score
    }

    /// All categories together.
    pub fn all(&self) -> Count {
        let mut all = Count::default();
        for category in self.categories.values() {
            all.add(category.all);
        }
        all
    }

    /// All lies together.
    pub fn all_lies(&self) -> Lies {
        self.lies.values().fold(Lies::default(), |all, lies| Lies {
            confirmed: all.confirmed + lies.confirmed,
            unverified: all.unverified + lies.unverified,
            refuted: all.refuted + lies.refuted,
        })
    }

    /// One category.
    pub fn category(&self, category: Category) -> Count {
        self.categories.get(category.name()).map(|score| score.all).unwrap_or_default()
    }

    fn add(&mut self, result: &CaseResult) {
        let blocked = result.decision == Held::Block;
        self.cases += 1;
        self.clean += usize::from(result.is_clean());
        self.clean_blocked += usize::from(result.is_clean() && blocked);
        self.drift_blocked += usize::from(!result.is_clean() && blocked);
        self.auditor_faults += usize::from(result.auditor_fault.is_some());
        for (at, truth) in result.truths.iter().enumerate() {
            let count = |count: &mut Count| count.truths += 1;
            let entry = self.categories.entry(truth.category.name()).or_default();
            count(&mut entry.all);
            for source in [Source::Facts, Source::Auditor, Source::Both] {
                count(entry.by_source.entry(source_name(source)).or_default());
            }
            if truth.category == Category::A && truth.proof == Proof::Facts {
                self.provable.0 += 1;
                let is_confirmed = |status| status == Status::Confirmed;
                self.provable.1 +=
                    usize::from(result.found(at).is_some_and(|found| is_confirmed(found.status)));
            }
        }
        for weighed in &result.findings {
            let finding = &weighed.finding;
            let count = count_of(weighed.worth, finding.status, result.is_clean());
            let entry = self.categories.entry(finding.category.name()).or_default();
            entry.all.add(count);
            entry.by_source.entry(source_name(finding.source)).or_default().add(count);
        }
        self.advisories.0 += result.advised.found.len();
        self.advisories.1 += result.advised.missed.len();
        self.advisories.2 += result.advised.wrong.len();
        for kept in &result.kept {
            self.replied.0 += 1;
            self.replied.1 += usize::from(kept.status != Status::Refuted);
            self.replied.2 += usize::from(kept.status == Status::Confirmed);
        }
        for told in &result.told {
            self.lies.entry(told.kind).or_default().add(told.finding.status);
        }
        if result.kind == Kind::Adversarial && !result.is_clean() {
            let is_shown = |at| result.found(at).is_some_and(|finding| finding.status != Status::Refuted);
            self.adversarial.0 += 1;
            self.adversarial.1 += usize::from((0..result.truths.len()).any(is_shown));
        }
    }
}

/// What one finding adds to the count.
fn count_of(worth: Worth, status: Status, in_clean: bool) -> Count {
    let mut count = Count::default();
    match (worth, status) {
        (_, Status::Refuted) | (Worth::Again(_), _) => {}
        (Worth::True(_), status) => {
            count.shown = 1;
            count.confirmed = usize::from(status == Status::Confirmed);
        }
        (Worth::False, status) => {
            count.false_confirmed = usize::from(status == Status::Confirmed);
            count.false_in_clean = usize::from(in_clean);
        }
    }
    count
}

/// As the tables name a source.
pub fn source_name(source: Source) -> &'static str {
    match source {
        Source::Facts => "facts",
        Source::Auditor => "auditor",
        Source::Both => "both",
    }
}
