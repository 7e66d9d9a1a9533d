//! What is so at this moment: the depth of the queues, the workers that are alive, and how often
//! findings were right. Reads the registry and the whole log, so it is for `punchlist fleet push`
//! and not for a stop.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::tz::TimeZone;

use super::metric::{self, Metric};
use super::totals::{Amount, Series};
use crate::config::FleetConfig;
use crate::fleet::machine_name;
use crate::log::DecisionLog;
use crate::log::filter::Filter;
use crate::log::stats::{Precision, stats};
use crate::registry::{Registry, RegistryError};

/// The gauges of a state folder. What can't be read is left out.
pub fn gauges(state: &Path, config: &FleetConfig) -> Vec<Series> {
    let mut all = match registry(state, config) {
        Ok(series) => series,
        Err(error) => {
            tracing::debug!(%error, "queues and workers are not told");
            Vec::new()
        }
    };
    match DecisionLog::in_folder(state).query(&Filter::default(), None) {
        Ok(found) => all.extend(judged(&stats(&found.decisions, &TimeZone::UTC).precision)),
        Err(error) => tracing::debug!(%error, "the precision is not told"),
    }
    all
}

/// Tasks and workers. Every machine of a fleet tells of the same ones, by the name of the same
/// registry.
fn registry(state: &Path, config: &FleetConfig) -> Result<Vec<Series>, RegistryError> {
    let Some(mut registry) = Registry::open_if_there(state, config.database.as_deref())? else {
        return Ok(Vec::new());
    };
    registry.expire()?;
    let name = if config.database.is_some() { "fleet".to_owned() } else { machine_name(config) };
    let depths = registry.depths()?;
    let workers = registry.workers()?;
    let now_ms = registry.now_ms();
    // A queue without workers, or tasks, is told as well.
    let mut alive: BTreeMap<&str, u64> = depths.iter().map(|depth| (depth.queue.as_str(), 0)).collect();
    for worker in &workers {
        *alive.entry(&worker.queue).or_default() += u64::from(worker.is_alive(now_ms));
    }
    let name = (metric::REGISTRY, name.as_str());
    let depths = depths.iter().map(|depth| {
        let status = (metric::TASK_STATUS, depth.status.name());
        let count = u64::try_from(depth.count).unwrap_or_default();
        gauge(&metric::QUEUE_DEPTH, &[name, (metric::QUEUE, &depth.queue), status], Amount::Count(count))
    });
    let alive = alive.into_iter().map(|(queue, count)| {
        gauge(&metric::WORKERS_ALIVE, &[name, (metric::QUEUE, queue)], Amount::Count(count))
    });
    Ok(depths.chain(alive).collect())
}

fn judged(precision: &Precision) -> Vec<Series> {
    let mut all = Vec::new();
    for named in &precision.by_category {
        for (count, judgement) in [(named.share.right, "right"), (named.share.wrong, "wrong")] {
            let attributes = [(metric::CATEGORY, named.name.as_str()), (metric::JUDGEMENT, judgement)];
            all.push(gauge(&metric::JUDGED, &attributes, Amount::Count(count as u64)));
        }
    }
    let overall = precision.overall.precision;
    all.extend(overall.map(|share| gauge(&metric::PRECISION, &[], Amount::Number(share))));
    all
}

fn gauge(metric: &Metric, attributes: &[(&str, &str)], amount: Amount) -> Series {
    let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Series { metric: metric.name.to_owned(), attributes: attributes.collect(), amount }
}
