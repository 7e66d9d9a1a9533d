//! Counters and histograms of one state folder. Pure.
//!
//! They are cumulative: sums over all lines since the first one that was counted, whose time is
//! their start. Each hook is a process of its own, so they can't live in one; they are kept beside
//! the position of the spool, in the same file and the same write, and a line is counted exactly
//! when the position moves past it. So a push that is repeated, a process that is killed and a log
//! whose start is pruned count nothing twice and lose nothing. Deltas would not do: one whose
//! answer was lost would have to be sent again, and would be counted twice by whoever got both,
//! while a cumulative sum that comes twice says the same; and the collector's Prometheus exporter
//! wants cumulative histograms. If the position is lost, all is counted anew from the lines that
//! are there, and the start is the time of the first of them: the same start and sums as before, or
//! a later start, which says that they began anew.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::metric::{self, Kind, Metric};
use crate::decision::Action;
use crate::log::note::OutcomeNote;
use crate::log::record::ReaderRecord;
use crate::log::{Annotated, Note};
use crate::readers::Usage;

/// The most series of one metric: more projects than that are counted together.
const MAX_SERIES: usize = 2_000;

/// The attributes of a series, with their values.
pub type Attributes = Vec<(String, String)>;

/// The value of one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    Count(u64),
    Number(f64),
    Histogram { count: u64, sum: f64, buckets: Vec<u64> },
}

/// One series of a metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    pub metric: String,
    pub attributes: Attributes,
    pub amount: Amount,
}

/// The sums of all lines that were counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// The time of the first line that was counted, in milliseconds since 1970.
    pub start_ms: Option<i64>,
    /// In the order of metrics and attributes.
    pub series: Vec<Series>,
}

impl Totals {
    /// Counts a decision. `project` is its name in the fleet.
    pub fn count_decision(&mut self, decided: &Annotated, project: &str) {
        self.begin(decided.at);
        let record = &decided.decision;
        let project = (metric::PROJECT, project);
        let cause = (metric::CAUSE, record.cause.name());
        let is_held = record.decision == Action::Block;
        let action = if is_held { "block" } else { "allow" };
        self.add(&metric::STOPS, &[project, (metric::DECISION, action), cause], 1);
        if is_held {
            self.add(&metric::HOLDS, &[project, cause], 1);
        }
        for finding in &record.findings {
            let category = (metric::CATEGORY, finding.category.name());
            let status = (metric::STATUS, finding.status.name());
            self.add(&metric::FINDINGS, &[project, category, status], 1);
        }
        for (reader, name) in [(&record.auditor, "first"), (&record.second_reader, "second")] {
            if let Some(reader) = reader.as_ref().filter(|reader| reader.was_asked()) {
                self.count_reader(reader, name);
                self.count_cost(&reader.usage, &[project, (metric::MODEL, &reader.model)]);
            }
        }
        for usage in record.gates.iter().filter_map(|gate| gate.usage.as_ref()) {
            self.count_cost(usage, &[project]);
        }
    }

    fn count_cost(&mut self, usage: &Usage, attributes: &[(&'static str, &str)]) {
        let cost = usage.cost_usd.unwrap_or_default();
        self.add_number(&metric::COST, attributes, cost);
    }

    fn count_reader(&mut self, reader: &ReaderRecord, name: &str) {
        let call = [
            (metric::OPERATION, "chat"),
            (metric::PROVIDER, "anthropic"),
            (metric::MODEL, reader.model.as_str()),
            (metric::READER, name),
        ];
        let error = (reader.outcome != "answered").then_some((metric::ERROR_TYPE, reader.outcome.as_str()));
        let attributes: Vec<_> = call.into_iter().chain(error).collect();
        self.record(&metric::DURATION, &attributes, reader.duration_ms / 1_000.0);
        let usage = &reader.usage;
        for (tokens, kind) in [
            (usage.input, "input"),
            (usage.cache_read, "cache_read"),
            (usage.cache_write, "cache_write"),
            (usage.output, "output"),
        ] {
            if tokens > 0 {
                let attributes: Vec<_> = call.into_iter().chain([(metric::TOKEN_TYPE, kind)]).collect();
                #[expect(clippy::cast_precision_loss, reason = "no call has so many tokens")]
                self.record(&metric::TOKEN_USAGE, &attributes, tokens as f64);
            }
        }
    }

    /// Counts a note. `project` is the name in the fleet of the project that it says.
    pub fn count_note(&mut self, note: &Note, project: &str) {
        if let Ok(at) = note.time().parse() {
            self.begin(at);
        }
        // What a person says may change what was said before, which no counter can: see `snapshot`.
        if let Note::Outcome(OutcomeNote { category, outcome, usage, .. }) = note {
            if let Some(usage) = usage {
                self.count_cost(usage, &[(metric::PROJECT, project)]);
            }
            let category = (metric::CATEGORY, category.map_or("unknown", |category| category.name()));
            let outcome = (metric::OUTCOME, outcome.name());
            self.add(&metric::OUTCOMES, &[(metric::PROJECT, project), category, outcome], 1);
        }
    }

    fn begin(&mut self, at: Timestamp) {
        self.start_ms.get_or_insert(at.as_millisecond());
    }

    /// The series with these attributes, which begins at nothing.
    fn entry(&mut self, metric: &Metric, attributes: &[(&str, &str)], nothing: Amount) -> &mut Amount {
        let mut attributes: Attributes =
            attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        attributes.sort_unstable();
        let mut place = self.place(metric, &attributes);
        if place.is_err() && self.series.iter().filter(|one| one.metric == metric.name).count() >= MAX_SERIES
        {
            attributes = vec![(metric::OVERFLOW.to_owned(), "true".to_owned())];
            place = self.place(metric, &attributes);
        }
        let at = place.unwrap_or_else(|at| {
            self.series.insert(at, Series { metric: metric.name.to_owned(), attributes, amount: nothing });
            at
        });
        &mut self.series[at].amount
    }

    /// Where a series is, or would be.
    fn place(&self, metric: &Metric, attributes: &Attributes) -> Result<usize, usize> {
        self.series
            .binary_search_by(|one| (one.metric.as_str(), &one.attributes).cmp(&(metric.name, attributes)))
    }

    fn add(&mut self, metric: &Metric, attributes: &[(&str, &str)], count: u64) {
        if let Amount::Count(sum) = self.entry(metric, attributes, Amount::Count(0)) {
            *sum += count;
        }
    }

    fn add_number(&mut self, metric: &Metric, attributes: &[(&str, &str)], number: f64) {
        if let Amount::Number(sum) = self.entry(metric, attributes, Amount::Number(0.0))
            && number > 0.0
            && number.is_finite()
        {
            // No provider counts closer than that.
            *sum = ((*sum + number) * 1e9).round() / 1e9;
        }
    }

    fn record(&mut self, metric: &Metric, attributes: &[(&str, &str)], value: f64) {
        let Kind::Histogram(bounds) = metric.kind else { return };
        let nothing = Amount::Histogram { count: 0, sum: 0.0, buckets: vec![0; bounds.len() + 1] };
        if let Amount::Histogram { count, sum, buckets } = self.entry(metric, attributes, nothing)
            && value >= 0.0
            && value.is_finite()
        {
            *count += 1;
            *sum += value;
            // A bound is part of the bucket below it.
            let bucket = bounds.partition_point(|bound| *bound < value);
            if let Some(bucket) = buckets.get_mut(bucket) {
                *bucket += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::annotated;

    const LOG: &str = r#"
{"id":"a","time":"2026-10-01T00:00:00Z","decision":"allow","cause":"clean","auditor":{"model":"haiku","outcome":"answered","duration_ms":1280.0,"usage":{"input_tokens":4,"output_tokens":5,"cost_usd":0.1}}}
{"id":"b","time":"2026-10-01T00:00:01Z","decision":"block","cause":"findings","findings":[{"category":"A","status":"confirmed"},{"category":"A","status":"confirmed"}],"auditor":{"model":"haiku","outcome":"timed-out","duration_ms":200000.0,"usage":{"cost_usd":0.2}},"second_reader":{"outcome":"not-asked"}}"#;

    fn of(totals: &Totals, metric: &Metric) -> Vec<(String, Amount)> {
        let mine = totals.series.clone().into_iter().filter(|series| series.metric == metric.name);
        let text = |attributes: &Attributes| {
            let values: Vec<_> = attributes.iter().map(|(_, value)| value.as_str()).collect();
            values.join(" ")
        };
        mine.map(|series| (text(&series.attributes), series.amount)).collect()
    }

    fn counted() -> Totals {
        let mut totals = Totals::default();
        for decided in annotated(LOG) {
            totals.count_decision(&decided, "shop");
        }
        totals
    }

    #[test]
    fn stops_holds_findings_and_cost_are_summed() {
        let totals = counted();
        let one = |text: &str, count| (text.to_owned(), Amount::Count(count));
        assert_eq!(of(&totals, &metric::STOPS), [one("clean allow shop", 1), one("findings block shop", 1)]);
        assert_eq!(of(&totals, &metric::HOLDS), [one("findings shop", 1)]);
        assert_eq!(of(&totals, &metric::FINDINGS), [one("A confirmed shop", 2)]);
        let cost = of(&totals, &metric::COST);
        assert_eq!(cost, [("haiku shop".to_owned(), Amount::Number(0.3))]);
        let mut totals = Totals::default();
        let gate =
            r#"{"id":"c","time":"2026-10-01T00:00:00Z","gates":[{"gate":"loop","usage":{"cost_usd":0.4}}]}"#;
        for decided in annotated(gate) {
            totals.count_decision(&decided, "shop");
        }
        assert_eq!(of(&totals, &metric::COST), [("shop".to_owned(), Amount::Number(0.4))], "nobody's model");
        assert_eq!(totals.start_ms, Some(1_790_812_800_000));
    }

    #[test]
    fn a_value_on_a_bound_is_in_the_bucket_below_it_and_one_over_all_in_the_last() {
        let totals = counted();
        let durations = of(&totals, &metric::DURATION);
        let buckets = |text: &str| match durations.iter().find(|(name, _)| name == text) {
            Some((_, Amount::Histogram { count: 1, buckets, .. })) => {
                buckets.iter().position(|count| *count == 1)
            }
            other => panic!("{text}: {other:?} of {durations:?}"),
        };
        assert_eq!(buckets("chat anthropic haiku first"), Some(7));
        assert_eq!(buckets("timed-out chat anthropic haiku first"), Some(14));
        let tokens = of(&totals, &metric::TOKEN_USAGE);
        let names: Vec<_> = tokens.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["chat anthropic haiku input first", "chat anthropic haiku output first"]);
    }

    #[test]
    fn every_attribute_is_one_that_the_metric_names() {
        let mut totals = counted();
        let block = annotated(LOG)[1].decision.clone();
        let now = Timestamp::UNIX_EPOCH;
        let outcome = OutcomeNote::new(&block, 1, crate::log::note::FindingOutcome::Fixed, now);
        totals.count_note(&Note::Outcome(outcome), "shop");
        for series in &totals.series {
            let metric = metric::named(&series.metric).expect("a metric of the list");
            for (name, _) in &series.attributes {
                assert!(metric.attributes.contains(&name.as_str()), "{name} of {}", metric.name);
            }
        }
        assert_eq!(of(&totals, &metric::OUTCOMES), [("A fixed shop".to_owned(), Amount::Count(1))]);
    }

    #[test]
    fn totals_come_back_from_their_file() {
        let totals = counted();
        let text = serde_json::to_string(&totals).expect("JSON");
        assert_eq!(serde_json::from_str::<Totals>(&text).expect("totals"), totals);
    }

    #[test]
    fn projects_without_end_are_counted_together_in_the_end() {
        let mut totals = Totals::default();
        let decided = annotated(LOG);
        for number in 0..MAX_SERIES + 10 {
            totals.count_decision(&decided[0], &format!("p{number}"));
        }
        let stops = of(&totals, &metric::STOPS);
        assert_eq!(stops.len(), MAX_SERIES + 1);
        assert!(stops.contains(&("true".to_owned(), Amount::Count(10))));
    }
}
