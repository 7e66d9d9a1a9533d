//! One list of metrics: what the docs name, what the dashboard draws and what is exported are the
//! same.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use punchlist::fleet::telemetry::metric::{ALL, Kind, Metric};
use regex::Regex;
use serde_json::Value;

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("a file")
}

/// The name that the collector's Prometheus exporter gives a metric, without the suffixes of a
/// histogram's series: what is no letter or digit is `_`; a unit in braces is dropped, seconds are
/// spelt out, others are appended; then come `_ratio` for a gauge of unit 1 and `_total` for a
/// counter.
fn prometheus_name(metric: &Metric) -> String {
    let unit = match (metric.unit, metric.kind) {
        ("s", _) => "_seconds",
        ("1", Kind::Gauge) => "_ratio",
        ("USD", _) => "_USD",
        (unit, _) if unit.starts_with('{') => "",
        (unit, kind) => panic!("{unit} of {kind:?}"),
    };
    let total = if metric.kind == Kind::Counter { "_total" } else { "" };
    format!("{}{unit}{total}", metric.name.replace('.', "_"))
}

/// The names of the series that an expression of the dashboard may ask for.
fn prometheus_series() -> BTreeSet<String> {
    let series = |metric: &&Metric| {
        let name = prometheus_name(metric);
        match metric.kind {
            Kind::Histogram(_) => ["_bucket", "_sum", "_count"].map(|end| format!("{name}{end}")).to_vec(),
            Kind::Counter | Kind::Gauge => vec![name],
        }
    };
    ALL.iter().flat_map(series).collect()
}

/// Every expression of the dashboard: of its panels and of its variables.
fn expressions() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read("packaging/fleet/dashboard.json")).expect("JSON");
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let panels = list(&dashboard["panels"]);
    let targets = panels.iter().flat_map(|panel| list(&panel["targets"]));
    let mut all: Vec<String> = targets.map(|target| text(&target["expr"])).collect();
    let variables = list(&dashboard["templating"]["list"]);
    all.extend(variables.iter().filter(|one| one["type"] == "query").map(|one| text(&one["query"])));
    all
}

/// The words of our names in an expression: metrics, and labels.
fn names(expression: &str) -> BTreeSet<String> {
    let word = Regex::new(r"\b(?:punchlist|gen_ai)_[A-Za-z_]+").expect("a pattern");
    word.find_iter(expression).map(|found| found.as_str().to_owned()).collect()
}

#[test]
fn the_dashboard_draws_every_metric_and_no_other() {
    let series = prometheus_series();
    let label = |name: &&str| name.replace('.', "_");
    let labels: BTreeSet<String> =
        ALL.iter().flat_map(|metric| metric.attributes).map(label).chain(["host_name".to_owned()]).collect();
    let expressions = expressions();
    assert!(expressions.len() > 15, "{expressions:?}");
    let used: BTreeSet<String> = expressions.iter().flat_map(|expression| names(expression)).collect();
    let strange: Vec<_> =
        used.iter().filter(|name| !series.contains(*name) && !labels.contains(*name)).collect();
    assert!(strange.is_empty(), "neither a metric nor an attribute: {strange:?}");
    for metric in ALL {
        let name = prometheus_name(metric);
        let ends = ["", "_bucket", "_sum", "_count"].map(|end| format!("{name}{end}"));
        assert!(ends.iter().any(|end| used.contains(end)), "no panel draws {name}");
    }
}

#[test]
fn a_panel_asks_a_metric_only_for_attributes_that_it_has() {
    for expression in expressions() {
        let used = names(&expression);
        let metrics: Vec<_> = ALL
            .iter()
            .filter(|metric| {
                let name = prometheus_name(metric);
                ["", "_bucket", "_sum", "_count"].iter().any(|end| used.contains(&format!("{name}{end}")))
            })
            .collect();
        assert!(!metrics.is_empty(), "{expression}");
        let label = |name: &&str| name.replace('.', "_");
        let has: BTreeSet<String> = metrics.iter().flat_map(|metric| metric.attributes).map(label).collect();
        let series = prometheus_series();
        for name in used.iter().filter(|name| !series.contains(*name)) {
            assert!(has.contains(name), "{name} in {expression}");
        }
    }
}

#[test]
fn the_page_names_every_metric_with_its_unit_and_attributes() {
    let page = read("docs/fleet.md");
    let (_, section) = page.split_once("## What operations watches").expect("the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows: Vec<String> =
        section.lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect();
    let row = |metric: &&Metric| {
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::Histogram(_) => "histogram",
            Kind::Gauge => "gauge",
        };
        let attributes: Vec<_> = metric.attributes.iter().map(|name| format!("`{name}`")).collect();
        let attributes = if attributes.is_empty() { "none".to_owned() } else { attributes.join(", ") };
        let Metric { name, unit, about, .. } = metric;
        format!("| `{name}` | {kind}, `{unit}` | {about} | {attributes} |")
    };
    assert_eq!(rows, ALL.iter().map(row).collect::<Vec<_>>());
}

#[test]
fn the_collector_takes_what_is_sent_and_gives_what_the_dashboard_draws() {
    let config = read("packaging/fleet/collector.yaml");
    for line in ["endpoint: 0.0.0.0:4318", "endpoint: 0.0.0.0:8889", "metric_expiration: 1h"] {
        assert!(config.contains(line), "{line}");
    }
    // Suffixes of units and types are on unless they are switched off, and the machine is a label
    // only with this.
    assert!(!config.contains("add_metric_suffixes") && !config.contains("namespace"), "{config}");
    assert!(config.contains("resource_to_telemetry_conversion:\n      enabled: true"));
}
