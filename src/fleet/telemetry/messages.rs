//! Entries and series as the messages of OTLP, by the official definitions. Pure.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs, SeverityNumber};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric as Message, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use serde_json::Value;

use super::metric::{self, Kind};
use super::totals::{Amount, Series};
use super::{Entry, Service};

pub(super) fn logs(service: &Service, entries: &[Entry], now_ms: i64) -> ExportLogsServiceRequest {
    let log_records = entries.iter().map(|entry| record(entry, now_ms)).collect();
    ExportLogsServiceRequest {
        resource_logs: vec![ResourceLogs {
            resource: Some(resource(service)),
            scope_logs: vec![ScopeLogs { scope: Some(scope()), log_records, ..ScopeLogs::default() }],
            ..ResourceLogs::default()
        }],
    }
}

fn record(entry: &Entry, now_ms: i64) -> LogRecord {
    let severity = if entry.is_warning { SeverityNumber::Warn } else { SeverityNumber::Info };
    let ids = [("log.record.uid", entry.id.as_str()), ("punchlist.decision.id", &entry.decision)];
    let more = entry.attributes.iter().map(|(name, value)| (*name, value.as_str()));
    LogRecord {
        time_unix_nano: nanoseconds(entry.at.as_millisecond()),
        observed_time_unix_nano: nanoseconds(now_ms),
        severity_number: severity.into(),
        severity_text: if entry.is_warning { "WARN" } else { "INFO" }.to_owned(),
        body: Some(any(&entry.body)),
        attributes: ids.into_iter().chain(more).map(|(name, value)| pair(name, value)).collect(),
        event_name: entry.event.to_owned(),
        ..LogRecord::default()
    }
}

pub(super) fn metrics(
    service: &Service,
    start_ms: Option<i64>,
    series: &[Series],
    now_ms: i64,
) -> ExportMetricsServiceRequest {
    let times = Times { start: nanoseconds(start_ms.unwrap_or(now_ms)), now: nanoseconds(now_ms) };
    let messages = metric::ALL.into_iter().filter_map(|metric| {
        let mine: Vec<_> = series.iter().filter(|one| one.metric == metric.name).collect();
        (!mine.is_empty()).then(|| message(metric, &mine, times))
    });
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource(service)),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(scope()),
                metrics: messages.collect(),
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

#[derive(Clone, Copy)]
struct Times {
    start: u64,
    now: u64,
}

fn message(metric: &metric::Metric, series: &[&Series], times: Times) -> Message {
    let temporality = AggregationTemporality::Cumulative.into();
    let data = match metric.kind {
        Kind::Counter => Data::Sum(Sum {
            data_points: series.iter().filter_map(|one| number(one, times.start, times.now)).collect(),
            aggregation_temporality: temporality,
            is_monotonic: true,
        }),
        Kind::Gauge => Data::Gauge(Gauge {
            data_points: series.iter().filter_map(|one| number(one, 0, times.now)).collect(),
        }),
        Kind::Histogram(bounds) => Data::Histogram(Histogram {
            data_points: series.iter().filter_map(|one| histogram(one, bounds, times)).collect(),
            aggregation_temporality: temporality,
        }),
    };
    Message {
        name: metric.name.to_owned(),
        description: metric.about.to_owned(),
        unit: metric.unit.to_owned(),
        data: Some(data),
        ..Message::default()
    }
}

fn number(series: &Series, start_time_unix_nano: u64, time_unix_nano: u64) -> Option<NumberDataPoint> {
    let value = match series.amount {
        Amount::Count(count) => Number::AsInt(i64::try_from(count).unwrap_or(i64::MAX)),
        Amount::Number(number) => Number::AsDouble(number),
        Amount::Histogram { .. } => return None,
    };
    Some(NumberDataPoint {
        attributes: attributes(series),
        start_time_unix_nano,
        time_unix_nano,
        value: Some(value),
        ..NumberDataPoint::default()
    })
}

fn histogram(series: &Series, bounds: &[f64], times: Times) -> Option<HistogramDataPoint> {
    let Amount::Histogram { count, sum, buckets } = &series.amount else { return None };
    Some(HistogramDataPoint {
        attributes: attributes(series),
        start_time_unix_nano: times.start,
        time_unix_nano: times.now,
        count: *count,
        sum: Some(*sum),
        bucket_counts: buckets.clone(),
        explicit_bounds: bounds.to_vec(),
        ..HistogramDataPoint::default()
    })
}

fn attributes(series: &Series) -> Vec<KeyValue> {
    series.attributes.iter().map(|(name, value)| pair(name, value)).collect()
}

fn resource(service: &Service) -> Resource {
    let attributes = [
        ("service.name", "punchlist"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", &service.instance),
        ("host.name", &service.machine),
    ];
    let attributes = attributes.into_iter().map(|(name, value)| pair(name, value)).collect();
    Resource { attributes, ..Resource::default() }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "punchlist".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}

fn pair(name: &str, value: &str) -> KeyValue {
    keyed(name, AnyValue { value: Some(Any::StringValue(value.to_owned())) })
}

fn keyed(name: &str, value: AnyValue) -> KeyValue {
    KeyValue { key: name.to_owned(), value: Some(value), ..KeyValue::default() }
}

/// A JSON value; fields without one are left out.
fn any(value: &Value) -> AnyValue {
    let value = match value {
        Value::Null => None,
        Value::Bool(value) => Some(Any::BoolValue(*value)),
        Value::Number(number) => Some(match number.as_i64() {
            Some(whole) => Any::IntValue(whole),
            None => Any::DoubleValue(number.as_f64().unwrap_or_default()),
        }),
        Value::String(text) => Some(Any::StringValue(text.clone())),
        Value::Array(items) => Some(Any::ArrayValue(ArrayValue { values: items.iter().map(any).collect() })),
        Value::Object(fields) => {
            let there = fields.iter().filter(|(_, value)| !value.is_null());
            let values = there.map(|(name, value)| keyed(name, any(value))).collect();
            Some(Any::KvlistValue(KeyValueList { values }))
        }
    };
    AnyValue { value }
}

fn nanoseconds(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or_default().saturating_mul(1_000_000)
}
