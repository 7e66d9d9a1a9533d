//! Parses tasks from JSON as people and trackers write it: a list, or an object with one, with the
//! usual field names. Pure. Skips items that are no tasks; fails only on invalid JSON.

use serde_json::{Map, Value};

use super::{PendingTask, TaskQuery};
use crate::registry::Status;

/// Fields that may hold the list.
const LISTS: [&str; 5] = ["tasks", "items", "data", "results", "todos"];
const IDS: [&str; 6] = ["id", "task_id", "taskId", "key", "number", "uuid"];
const TITLES: [&str; 7] = ["title", "name", "subject", "summary", "content", "task", "description"];
const STATUSES: [&str; 3] = ["status", "state", "phase"];
const ASSIGNEES: [&str; 10] = [
    "assignee", "assigned_to", "assignedTo", "agent", "agent_id", "agentId", "owner", "worker", "claimed_by",
    "claimedBy",
];

/// Parses the pending tasks of a query. `is_for_asker` means that the source was asked for this
/// worker's tasks, so that those without an assignee count, too.
pub(super) fn parse_pending(
    bytes: &[u8],
    query: &TaskQuery,
    is_for_asker: bool,
) -> Result<Vec<PendingTask>, String> {
    // A byte order mark.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}"))?;
    let list = value.as_array().or_else(|| LISTS.iter().find_map(|name| value.get(*name)?.as_array()));
    let list = list.ok_or("JSON, but neither a list of tasks nor an object with one under \"tasks\"")?;
    let is_name = |name: String| {
        [&query.agent, &query.session].into_iter().flatten().any(|own| own.eq_ignore_ascii_case(&name))
    };
    let is_mine = |task: &&Map<String, Value>| first(task, &ASSIGNEES).map_or(is_for_asker, is_name);
    Ok(list.iter().filter_map(Value::as_object).filter(is_mine).filter_map(parse_task).collect())
}

/// Parses a task, if it is pending. Its title replaces a missing id.
fn parse_task(task: &Map<String, Value>) -> Option<PendingTask> {
    let title = first(task, &TITLES).unwrap_or_default();
    let id = first(task, &IDS).or_else(|| Some(title.clone()).filter(|title| !title.is_empty()))?;
    let status = pending_status(&first(task, &STATUSES)?)?;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(PendingTask { id, title, status })
}

/// Returns the first of the fields that has a text, a number, or an object with a name.
fn first(task: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        let text = match task.get(*name)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Object(inner) => ["name", "login", "username", "id"]
                .iter()
                .find_map(|name| inner.get(*name)?.as_str())?
                .to_owned(),
            Value::Null | Value::Bool(_) | Value::Array(_) => return None,
        };
        (!text.is_empty()).then_some(text)
    })
}

/// Parses the usual words for a pending status; any other status is not pending.
fn pending_status(words: &str) -> Option<Status> {
    let plain: String = words.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
    match plain.as_str() {
        "assigned" => Some(Status::Assigned),
        "accepted" | "claimed" => Some(Status::Accepted),
        "inprogress" | "progress" | "doing" | "started" | "working" | "active" => Some(Status::InProgress),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(json: &str, is_for_asker: bool) -> Vec<String> {
        let query = TaskQuery { agent: Some("w2".into()), session: Some("3f2a".into()) };
        let tasks = parse_pending(json.as_bytes(), &query, is_for_asker).expect("tasks");
        tasks.into_iter().map(|task| task.id).collect()
    }

    #[test]
    fn a_list_or_an_object_with_one_will_do() {
        let list = r#"[{"id":"a","title":"t","status":"assigned","assignee":"w2"}]"#;
        assert_eq!(ids(list, false), ["a"]);
        for name in LISTS {
            assert_eq!(ids(&format!(r#"{{"count":1,"{name}":{list}}}"#), false), ["a"], "{name}");
        }
        assert_eq!(ids(&format!("\u{feff}{list}"), false), ["a"]);
        assert_eq!(ids("[]", false), [""; 0]);
    }

    #[test]
    fn fields_have_their_usual_names() {
        for task in [
            r#"{"task_id":7,"name":"x","state":"In Progress","assigned_to":"W2"}"#,
            r#"{"key":"7","summary":"x","status":"in-progress","owner":"3f2a"}"#,
            r#"{"number":7,"subject":"x","status":"doing","agent":"w2","assignee":null}"#,
            r#"{"id":"7","content":"x","status":"ACCEPTED","assignee":{"login":"w2","id":9}}"#,
        ] {
            assert_eq!(ids(&format!("[{task}]"), false), ["7"], "{task}");
        }
        assert_eq!(
            ids(r#"[{"title":"by its title","status":"started","worker":"w2"}]"#, false),
            ["by its title"]
        );
    }

    #[test]
    fn only_what_is_this_ones_and_not_over_counts() {
        for status in ["open", "pending", "todo", "completed", "failed", "done", "cancelled", ""] {
            let json = format!(r#"[{{"id":1,"status":"{status}","assignee":"w2"}}]"#);
            assert_eq!(ids(&json, true), [""; 0], "{status}");
        }
        let other =
            r#"[{"id":1,"status":"assigned","assignee":"w3"},{"id":2,"status":"assigned"}, 7, {"id":3}]"#;
        assert_eq!(ids(other, false), [""; 0]);
        assert_eq!(ids(other, true), ["2"], "the source was asked for this one's");
    }

    #[test]
    fn what_is_no_list_of_tasks_is_a_fault() {
        let error =
            |json: &str| parse_pending(json.as_bytes(), &TaskQuery::default(), true).expect_err("a fault");
        assert!(error("{\"tasks\": [").starts_with("not JSON: EOF"), "half written");
        assert!(error("").starts_with("not JSON: EOF"));
        for json in ["7", "{}", "{\"tasks\": 7}"] {
            assert_eq!(
                error(json),
                "JSON, but neither a list of tasks nor an object with one under \"tasks\""
            );
        }
    }

    proptest! {
        #[test]
        fn no_bytes_whatever_bring_it_down(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_pending(&bytes, &TaskQuery::default(), true);
        }

        #[test]
        fn what_is_anothers_never_counts(assignee in "[a-z0-9]{1,8}", status in "(assigned|accepted|in_progress)") {
            prop_assume!(assignee != "w2" && assignee != "3f2a");
            let json = format!(r#"[{{"id":1,"status":"{status}","assignee":"{assignee}"}}]"#);
            prop_assert_eq!(ids(&json, true), Vec::<String>::new());
        }
    }
}
