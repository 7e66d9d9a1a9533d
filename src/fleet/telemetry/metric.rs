//! Every metric that is exported: its name, unit, kind and attributes. The one list: docs and
//! dashboard are held against it. Names of the semantic conventions where they have one, else under
//! `punchlist.`. Plain data.

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A sum that only grows.
    Counter,
    /// Counts of values up to each of these bounds.
    Histogram(&'static [f64]),
    /// What is so at the moment.
    Gauge,
}

#[derive(Debug, PartialEq)]
pub struct Metric {
    pub name: &'static str,
    pub unit: &'static str,
    pub about: &'static str,
    pub kind: Kind,
    pub attributes: &'static [&'static str],
}

pub const PROJECT: &str = "punchlist.project";
pub const DECISION: &str = "punchlist.decision";
pub const CAUSE: &str = "punchlist.cause";
pub const CATEGORY: &str = "punchlist.finding.category";
pub const STATUS: &str = "punchlist.finding.status";
pub const OUTCOME: &str = "punchlist.finding.outcome";
pub const JUDGEMENT: &str = "punchlist.finding.judgement";
pub const READER: &str = "punchlist.reader";
pub const REGISTRY: &str = "punchlist.registry";
pub const QUEUE: &str = "punchlist.queue";
pub const TASK_STATUS: &str = "punchlist.task.status";
pub const OPERATION: &str = "gen_ai.operation.name";
pub const PROVIDER: &str = "gen_ai.provider.name";
pub const MODEL: &str = "gen_ai.request.model";
pub const TOKEN_TYPE: &str = "gen_ai.token.type";
pub const ERROR_TYPE: &str = "error.type";

/// Stands in place of all attributes where a metric has too many series, as in the SDKs.
pub const OVERFLOW: &str = "otel.metric.overflow";

/// The bounds that the semantic conventions name for both, in seconds and in tokens.
const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS: [f64; 14] = [
    1.0, 4.0, 16.0, 64.0, 256.0, 1_024.0, 4_096.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0, 4_194_304.0,
    16_777_216.0, 67_108_864.0,
];

pub static STOPS: Metric = Metric {
    name: "punchlist.stops",
    unit: "{stop}",
    about: "Stops that were decided",
    kind: Kind::Counter,
    attributes: &[PROJECT, DECISION, CAUSE],
};

pub static HOLDS: Metric = Metric {
    name: "punchlist.holds",
    unit: "{stop}",
    about: "Stops that were held",
    kind: Kind::Counter,
    attributes: &[PROJECT, CAUSE],
};

pub static FINDINGS: Metric = Metric {
    name: "punchlist.findings",
    unit: "{finding}",
    about: "Findings, as they were made",
    kind: Kind::Counter,
    attributes: &[PROJECT, CATEGORY, STATUS],
};

pub static OUTCOMES: Metric = Metric {
    name: "punchlist.finding.outcomes",
    unit: "{finding}",
    about: "What became of findings that held a stop",
    kind: Kind::Counter,
    attributes: &[PROJECT, CATEGORY, OUTCOME],
};

pub static JUDGED: Metric = Metric {
    name: "punchlist.findings.judged",
    unit: "{finding}",
    about: "Confirmed findings of the log that are known to be right or wrong",
    kind: Kind::Gauge,
    attributes: &[CATEGORY, JUDGEMENT],
};

pub static PRECISION: Metric = Metric {
    name: "punchlist.precision",
    unit: "1",
    about: "The share of the judged findings that was right",
    kind: Kind::Gauge,
    attributes: &[],
};

pub static DURATION: Metric = Metric {
    name: "gen_ai.client.operation.duration",
    unit: "s",
    about: "How long a reader took",
    kind: Kind::Histogram(&SECONDS),
    attributes: &[OPERATION, PROVIDER, MODEL, ERROR_TYPE, READER],
};

pub static TOKEN_USAGE: Metric = Metric {
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    about: "Tokens of a reader's call",
    kind: Kind::Histogram(&TOKENS),
    attributes: &[OPERATION, PROVIDER, MODEL, TOKEN_TYPE, READER],
};

pub static COST: Metric = Metric {
    name: "punchlist.cost",
    unit: "USD",
    about: "What the readers cost, as far as the client says",
    kind: Kind::Counter,
    attributes: &[PROJECT, MODEL],
};

pub static QUEUE_DEPTH: Metric = Metric {
    name: "punchlist.queue.depth",
    unit: "{task}",
    about: "Tasks that wait, are in hand or are dead",
    kind: Kind::Gauge,
    attributes: &[REGISTRY, QUEUE, TASK_STATUS],
};

pub static WORKERS_ALIVE: Metric = Metric {
    name: "punchlist.workers.alive",
    unit: "{worker}",
    about: "Workers whose last heartbeat is recent",
    kind: Kind::Gauge,
    attributes: &[REGISTRY, QUEUE],
};

/// All of them.
pub static ALL: [&Metric; 11] = [
    &STOPS, &HOLDS, &FINDINGS, &OUTCOMES, &JUDGED, &PRECISION, &DURATION, &TOKEN_USAGE, &COST, &QUEUE_DEPTH,
    &WORKERS_ALIVE,
];

/// The metric of a name.
pub fn named(name: &str) -> Option<&'static Metric> {
    ALL.into_iter().find(|metric| metric.name == name)
}
