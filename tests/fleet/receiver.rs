//! A collector on loopback: takes OTLP over HTTP, decodes it by the official definitions, and fails
//! as it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, Metric};
use prost::Message;

/// What it does with a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Manner {
    #[default]
    Takes,
    /// Takes it, and hangs up instead of an answer.
    LosesAnswers,
    /// Answers with a status, and takes nothing.
    Refuses(u16),
    /// The same for messages with these bytes in them, and takes others.
    RefusesWith(u16, &'static str),
    /// Does not answer for so long.
    Waits(Duration),
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

#[derive(Default)]
struct Shared {
    manner: Manner,
    taken: Vec<Request>,
}

pub(crate) struct Receiver {
    pub(crate) url: String,
    shared: Arc<Mutex<Shared>>,
}

/// One point of a metric, in plain words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) value: f64,
    pub(crate) start: u64,
}

impl Receiver {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let shared = Arc::new(Mutex::new(Shared::default()));
        let inside = Arc::clone(&shared);
        // Ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&inside);
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
        Self { url, shared }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("nobody panicked")
    }

    pub(crate) fn set(&self, manner: Manner) {
        self.lock().manner = manner;
    }

    /// What it has taken so far.
    pub(crate) fn taken(&self) -> Vec<Request> {
        self.lock().taken.clone()
    }

    pub(crate) fn forget(&self) {
        self.lock().taken.clear();
    }

    pub(crate) fn records(&self) -> Vec<LogRecord> {
        let logs = self.taken().into_iter().filter(|request| request.path == "/v1/logs");
        let messages =
            logs.map(|request| ExportLogsServiceRequest::decode(&request.body[..]).expect("a message"));
        messages
            .flat_map(|message| message.resource_logs)
            .flat_map(|resource| resource.scope_logs)
            .flat_map(|scope| scope.log_records)
            .collect()
    }

    /// The ids of all records, in order.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.records().iter().map(|record| attribute(&record.attributes, "log.record.uid")).collect()
    }

    /// The newest message with metrics: of whom, and which.
    pub(crate) fn newest(&self) -> (Vec<KeyValue>, Vec<Metric>) {
        let taken = self.taken();
        let request = taken.iter().rfind(|request| request.path == "/v1/metrics").expect("metrics");
        let message = ExportMetricsServiceRequest::decode(&request.body[..]).expect("a message");
        let mut resources = message.resource_metrics;
        assert_eq!(resources.len(), 1);
        let one = resources.remove(0);
        let metrics = one.scope_metrics.into_iter().flat_map(|scope| scope.metrics).collect();
        (one.resource.expect("a resource").attributes, metrics)
    }

    /// The points of a metric in the newest message. Of a histogram the value is its count.
    pub(crate) fn points(&self, name: &str) -> Vec<Point> {
        let (_, metrics) = self.newest();
        let Some(metric) = metrics.into_iter().find(|metric| metric.name == name) else { return Vec::new() };
        let cumulative = AggregationTemporality::Cumulative as i32;
        let numbers = match metric.data.expect("data") {
            Data::Sum(sum) => {
                assert!(sum.is_monotonic && sum.aggregation_temporality == cumulative, "{name}");
                sum.data_points
            }
            Data::Gauge(gauge) => gauge.data_points,
            Data::Histogram(histogram) => {
                assert_eq!(histogram.aggregation_temporality, cumulative, "{name}");
                let points = histogram.data_points.into_iter();
                return points
                    .map(|point| {
                        assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count, "{name}");
                        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1, "{name}");
                        Point {
                            attributes: plain(&point.attributes),
                            value: f64::from(u32::try_from(point.count).expect("few")),
                            start: point.start_time_unix_nano,
                        }
                    })
                    .collect();
            }
            other => panic!("{name}: {other:?}"),
        };
        let value = |value: Option<Number>| match value.expect("a value") {
            Number::AsInt(count) => f64::from(u32::try_from(count).expect("few")),
            Number::AsDouble(number) => number,
        };
        numbers
            .into_iter()
            .map(|point| Point {
                attributes: plain(&point.attributes),
                value: value(point.value),
                start: point.start_time_unix_nano,
            })
            .collect()
    }

    /// The sum over all points of a metric.
    pub(crate) fn total(&self, name: &str) -> f64 {
        self.points(name).iter().map(|point| point.value).sum()
    }
}

/// The text of an attribute; empty without it.
pub(crate) fn attribute(attributes: &[KeyValue], name: &str) -> String {
    let found = attributes.iter().find(|pair| pair.key == name).and_then(|pair| pair.value.as_ref());
    found.map(text).unwrap_or_default()
}

fn plain(attributes: &[KeyValue]) -> Vec<(String, String)> {
    attributes.iter().map(|pair| (pair.key.clone(), attribute(attributes, &pair.key))).collect()
}

fn text(value: &AnyValue) -> String {
    match &value.value {
        Some(Any::StringValue(text)) => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn serve(stream: &TcpStream, shared: &Mutex<Shared>) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let mut shared = shared.lock().expect("nobody panicked");
        let manner = shared.manner;
        let holds = |bytes: &str| request.body.windows(bytes.len()).any(|part| part == bytes.as_bytes());
        let status = match manner {
            Manner::Refuses(status) => status,
            Manner::RefusesWith(status, bytes) if holds(bytes) => status,
            _ => 200,
        };
        if status == 200 {
            shared.taken.push(request);
        }
        drop(shared);
        match manner {
            Manner::LosesAnswers => return,
            Manner::Waits(time) => std::thread::sleep(time),
            _ => {}
        }
        let answer = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n"
        );
        if (&*stream).write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length?];
    reader.read_exact(&mut body).ok()?;
    let path = head.split(' ').nth(1)?.to_owned();
    Some(Request { path, head, body })
}
