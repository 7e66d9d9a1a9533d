//! The files that a team starts from: they can be read, what they name is there, and the
//! dashboard's queries run on the tables by the rights of a reviewer.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use yaml_rust2::{Yaml, YamlLoader};

use crate::machines::Fleet;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/fleet")
}

fn yaml(name: &str) -> Yaml {
    let text = fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut documents = YamlLoader::load_from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(documents.len(), 1, "{name}");
    documents.remove(0)
}

fn texts(list: &Yaml) -> Vec<&str> {
    list.as_vec().into_iter().flatten().filter_map(Yaml::as_str).collect()
}

#[test]
fn the_services_are_named_with_their_versions_and_everything_that_they_mount_is_there() {
    let compose = yaml("compose.yaml");
    let services = compose["services"].as_hash().expect("services");
    let names: Vec<_> = services.keys().filter_map(Yaml::as_str).collect();
    assert_eq!(names, ["postgres", "collector", "prometheus", "grafana"]);
    for (name, service) in services {
        let image = service["image"].as_str().expect("an image");
        let version = image.rsplit_once(':').map(|(_, version)| version.trim_start_matches('v'));
        let version = version.unwrap_or_default();
        assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{name:?}: {image}");
        for port in texts(&service["ports"]) {
            assert!(port.starts_with("127.0.0.1:"), "{name:?} is open to others: {port}");
        }
        for volume in texts(&service["volumes"]) {
            let (from, _) = volume.split_once(':').expect("a place");
            let is_there = match from.strip_prefix("./") {
                Some(file) => folder().join(file).is_file(),
                None => !compose["volumes"][from].is_badvalue(),
            };
            assert!(is_there, "{name:?}: {volume}");
        }
    }
}

#[test]
fn the_collector_has_a_pipeline_for_logs_and_one_for_metrics_of_parts_that_it_has() {
    let collector = yaml("collector.yaml");
    for pipeline in ["logs", "metrics"] {
        let pipeline = &collector["service"]["pipelines"][pipeline];
        for part in ["receivers", "processors", "exporters"] {
            let names = texts(&pipeline[part]);
            assert!(!names.is_empty(), "{part}");
            assert!(names.iter().all(|name| !collector[part][*name].is_badvalue()), "{names:?}");
        }
    }
}

#[test]
fn prometheus_reads_where_the_collector_offers_its_metrics() {
    let (prometheus, collector) = (yaml("prometheus.yaml"), yaml("collector.yaml"));
    let offered = collector["exporters"]["prometheus"]["endpoint"].as_str().expect("an endpoint");
    let target = prometheus["scrape_configs"][0]["static_configs"][0]["targets"][0].as_str();
    assert_eq!(target, Some(offered.replace("0.0.0.0", "collector").as_str()));
    assert!(!yaml("compose.yaml")["services"]["collector"].is_badvalue());
}

#[test]
fn grafana_finds_the_database_the_dashboard_and_every_query_of_it_runs() {
    let (sources, places) = (yaml("grafana-sources.yaml"), yaml("grafana-dashboards.yaml"));
    let source = &sources["datasources"][0];
    assert_eq!(source["user"].as_str(), Some("punchlist_reviewer"));
    let compose = yaml("compose.yaml");
    let folder_of_dashboards = places["providers"][0]["options"]["path"].as_str().expect("a path");
    let mounted = texts(&compose["services"]["grafana"]["volumes"]);
    assert!(
        mounted.iter().any(|volume| volume.contains(&format!(":{folder_of_dashboards}/"))),
        "{mounted:?}"
    );
    let dashboard = fs::read_to_string(folder().join("decisions.json")).expect("a dashboard");
    let dashboard: Value = serde_json::from_str(&dashboard).expect("JSON");
    let targets = dashboard["panels"].as_array().expect("panels").iter().flat_map(|panel| {
        let targets = panel["targets"].as_array().expect("targets").iter();
        targets.map(|target| (panel["datasource"]["uid"].clone(), target["rawSql"].clone()))
    });
    let queries: Vec<String> = targets
        .filter(|(uid, _)| uid.as_str() == source["uid"].as_str())
        .map(|(_, sql)| sql.as_str().expect("a query").to_owned())
        .collect();
    assert!(!queries.is_empty());
    let Some(fleet) = Fleet::new() else { return };
    let machine = fleet.machine("m1");
    machine.stop("s1");
    machine.print(&["fleet", "push"]);
    machine.print(&["tasks", "add", "x"]);
    machine.print(&["worker", "register", "w1"]);
    machine.print(&["log", "label", "last", "right", "--fleet"]);
    let with_rows = queries.iter().filter(|query| {
        let query = query.replace("$__timeFilter(at)", "at > now() - interval '1 day'");
        !fleet.sql(&query).is_empty()
    });
    assert!(with_rows.count() >= queries.len() - 1, "findings alone may be missing");
}
