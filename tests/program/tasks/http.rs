//! Tasks behind a URL: what is sent, what is tried again, and that nothing of what can go wrong
//! holds anybody.

use std::time::Duration;

use serde_json::json;
use wiremock::matchers::{header, method, path, query_param};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::test_project::{Run, TestProject};

struct Tracker {
    project: TestProject,
    server: MockServer,
    runtime: tokio::runtime::Runtime,
}

const TOKEN: &str = "not-a-secret-7";

/// A tracker on loopback, and a session that is ann; `config` is what else is set.
fn tracker(config: &str) -> Tracker {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let server = runtime.block_on(MockServer::start());
    let mut project = TestProject::new();
    project.own_config(&format!(
        "[tasks]\nsource = \"http\"\nurl = \"{}/tasks?of={{agent}}\"\n{config}",
        server.uri()
    ));
    project.var("PUNCHLIST_WORKER", "ann");
    project.var("TRACKER_TOKEN", TOKEN);
    Tracker { project, server, runtime }
}

impl Tracker {
    fn answers(&self, times: u64, answer: ResponseTemplate) {
        let mock = Mock::given(method("GET")).and(path("/tasks")).and(query_param("of", "ann"));
        self.runtime.block_on(mock.respond_with(answer).up_to_n_times(times).mount(&self.server));
    }

    fn asked(&self) -> usize {
        self.runtime.block_on(self.server.received_requests()).map_or(0, |requests| requests.len())
    }

    fn run(&self) -> Run {
        self.project.run()
    }

    /// Asserts that the stop went through, and why, with the server's address as `URL`.
    #[track_caller]
    fn tells(&self, why: &str) {
        let run = self.run();
        let told: serde_json::Value = serde_json::from_str(&run.stdout).unwrap_or_default();
        let message = told["systemMessage"].as_str().unwrap_or_default().replace(&self.server.uri(), "URL");
        run.same(
            &message,
            &format!(
                "punchlist: the tasks could not be read, so they did not block this stop: URL/tasks: {why}"
            ),
        );
        run.logs("allow", "tasks-unknown");
        run.check(!run.record().to_string().contains(TOKEN), "the token is in no log");
    }
}

fn tasks() -> ResponseTemplate {
    ResponseTemplate::new(200)
        .set_body_json(json!([{ "id": 7, "title": "Mend the gate", "status": "assigned" }]))
}

#[test]
fn tasks_are_asked_for_with_the_token_and_hold() {
    let tracker = tracker("token_variable = \"TRACKER_TOKEN\"\n");
    let mock = Mock::given(method("GET")).and(header("authorization", format!("Bearer {TOKEN}").as_str()));
    tracker.runtime.block_on(mock.respond_with(tasks()).mount(&tracker.server));
    let reason = tracker.run().holds();
    assert!(
        reason.starts_with("One of your tasks is not finished:\n- 7 (assigned): Mend the gate\n\n"),
        "{reason}"
    );
    assert_eq!(tracker.asked(), 1);
}

#[test]
fn no_proxy_sees_a_token_that_is_meant_for_this_machine() {
    let mut tracker = tracker("token_variable = \"TRACKER_TOKEN\"\n");
    let proxy = tracker.runtime.block_on(MockServer::start());
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        tracker.project.var(name, proxy.uri());
    }
    tracker.answers(1, tasks());
    tracker.run().holds();
    let seen = tracker.runtime.block_on(proxy.received_requests()).unwrap_or_default();
    assert_eq!((tracker.asked(), seen.len()), (1, 0), "{seen:?}");
}

#[test]
fn a_failure_that_may_pass_is_tried_again() {
    let tracker = tracker("");
    tracker.answers(2, ResponseTemplate::new(503));
    tracker.answers(1, tasks());
    tracker.run().holds();
    assert_eq!(tracker.asked(), 3);
}

#[test]
fn one_that_stays_is_told() {
    let tracker = tracker("retries = 1\n");
    tracker.answers(9, ResponseTemplate::new(500));
    tracker.tells("it answered 500 Internal Server Error");
    assert_eq!(tracker.asked(), 2);
}

#[test]
fn a_refusal_is_not_asked_again() {
    let tracker = tracker("");
    tracker.answers(9, ResponseTemplate::new(401));
    tracker.tells("it answered 401 Unauthorized; is `token_variable` set, and the token in it right?");
    assert_eq!(tracker.asked(), 1);
}

#[test]
fn a_server_that_hangs_is_left() {
    let tracker = tracker("timeout = \"700ms\"\n");
    tracker.answers(9, tasks().set_delay(Duration::from_secs(30)));
    tracker.tells("no answer within 0.7 s");
}

#[test]
fn garbage_is_told() {
    let tracker = tracker("");
    tracker.answers(1, ResponseTemplate::new(200).set_body_string("<html>"));
    tracker.tells("not JSON: expected value at line 1 column 1");
}

#[test]
fn an_answer_without_an_end_is_not_read_to_it() {
    let tracker = tracker("");
    tracker.answers(1, ResponseTemplate::new(200).set_body_bytes(vec![b' '; 9 << 20]));
    tracker.tells("an answer of more than 8 MB");
}

#[test]
fn a_redirect_is_not_followed() {
    let tracker = tracker("token_variable = \"TRACKER_TOKEN\"\n");
    tracker.answers(9, ResponseTemplate::new(302).insert_header("Location", "/elsewhere"));
    tracker.tells("it answered 302 Found; it wants to be asked elsewhere, and that is not followed: set `url` to that place");
    assert_eq!(tracker.asked(), 1);
}

#[test]
fn a_token_that_is_missing_or_would_be_seen_on_the_way_is_not_sent() {
    let mut tracker = tracker("token_variable = \"TRACKER_TOKEN\"\n");
    tracker.project.unset("TRACKER_TOKEN");
    tracker.tells("the variable TRACKER_TOKEN, which should have its token, is not set here");
    tracker.project.var("TRACKER_TOKEN", TOKEN);
    tracker.project.own_config(
        "[tasks]\nsource = \"http\"\nurl = \"http://tracker.example/tasks\"\ntoken_variable = \"TRACKER_TOKEN\"\n",
    );
    let run = tracker.run();
    run.tells(
        "the tasks could not be read, so they did not block this stop: http://tracker.example/tasks: its token is sent over https, or to \
         this machine: this is neither; DIR/home/.config/punchlist/config.toml was changed during this session",
    );
    assert_eq!(tracker.asked(), 0);
}

#[test]
fn nobody_is_asked_for_a_session_that_is_no_worker() {
    let mut tracker = tracker("");
    tracker.project.unset("PUNCHLIST_WORKER");
    tracker.run().is_silent();
    assert_eq!(tracker.asked(), 0);
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let tracker = tracker("retries = 0\n");
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    tracker.project.own_config(&format!(
        "[tasks]\nsource = \"http\"\nurl = \"http://127.0.0.1:{port}/t\"\nretries = 0\n"
    ));
    let run = tracker.run();
    run.check(run.stdout.contains("/t: io: Connection refused"), "it says why");
    run.logs("allow", "tasks-unknown");
}
