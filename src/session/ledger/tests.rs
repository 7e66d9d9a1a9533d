//! The fold, row by row.

use super::*;
use crate::session::lines::rows_of;

fn fold(role: Role, rows: &[&str]) -> Session {
    let mut ledger = Ledger::new(role);
    for row in rows {
        assert!(rows_of(row.as_bytes(), |row| ledger.fold(row, None)), "{row}");
    }
    ledger.into_session()
}

fn call(id: &str, tool: &str, input: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"m-{id}","content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}]}}}}"#
    )
}

fn result(id: &str, rest: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"{rest}}}"#
    )
}

fn ok(id: &str) -> String {
    result(id, "}]}")
}

fn session(rows: &[String]) -> Session {
    fold(Role::Main, &rows.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn results_are_joined_by_id_whatever_stands_between() {
    let session = session(&[
        call("1", "Write", r#"{"file_path":"/w/a","content":"x"}"#),
        call("2", "Edit", r#"{"file_path":"/w/b","old_string":"x","new_string":"y"}"#),
        result("2", r#"}]},"toolUseResult":"Error: String to replace not found""#),
        result("1", r#"}]},"toolUseResult":{"type":"create","originalFile":null}"#),
        call("3", "Write", r#"{"file_path":"/w/c","content":"x"}"#),
    ]);
    let ends: Vec<_> =
        session.touches.iter().map(|t| (t.path.as_str(), t.outcome == Outcome::Done)).collect();
    assert_eq!(ends, [("/w/a", true), ("/w/b", false), ("/w/c", false)]);
    assert_eq!(session.touches[0].original, Original::Absent);
    assert_eq!(session.touches[2].outcome, Outcome::Unanswered);
    assert_eq!(session.tail, Tail::OpenCall);
}

#[test]
fn only_the_first_change_of_a_file_tells_what_it_was() {
    let session = session(&[
        call("1", "Edit", r#"{"file_path":"/w/a"}"#),
        result("1", r#"}]},"toolUseResult":{"originalFile":"one"}"#),
        call("2", "Edit", r#"{"file_path":"/w/a"}"#),
        result("2", r#"}]},"toolUseResult":{"originalFile":"two"}"#),
    ]);
    assert_eq!(session.touches[0].original, Original::Text("one".into()));
    assert_eq!(session.touches[1].original, Original::Unknown);
}

#[test]
fn the_final_message_is_what_was_said_last_and_after_all_calls() {
    let words = |id: &str, text: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let on_the_way =
        session(&[words("m", "let me write"), call("1", "Write", r#"{"file_path":"/a"}"#), ok("1")]);
    assert_eq!((on_the_way.final_message, on_the_way.tail), (None, Tail::Result));
    let done = session(&[words("m", "first part"), words("m", "second part")]);
    assert_eq!(done.final_message.as_deref(), Some("first part\nsecond part"));
    let asked_again =
        session(&[words("m", "done"), r#"{"type":"user","message":{"content":"more"}}"#.into()]);
    assert_eq!((asked_again.final_message, asked_again.tail), (None, Tail::Prompt));
}

#[test]
fn a_plan_counts_when_it_was_approved() {
    let plan = |id: &str, text: &str| {
        call(id, "ExitPlanMode", &format!(r#"{{"plan":"{text}","planFilePath":"/p/x.md"}}"#))
    };
    let session = session(&[
        plan("1", "rejected"),
        result("1", r#","is_error":true}]},"toolUseResult":"User rejected tool use""#),
        r#"{"type":"attachment","attachment":{"type":"plan_file_reference","planFilePath":"/p/x.md","planContent":"rejected"}}"#.into(),
        plan("2", "approved"),
        result("2", r#"}]},"toolUseResult":{"plan":"approved","filePath":"/p/y.md"}"#),
        plan("3", "unanswered"),
    ]);
    assert_eq!(session.plans.len(), 1);
    assert_eq!(session.plans[0].text.as_deref(), Some("approved"));
    assert_eq!(session.plans[0].path.as_deref(), Some("/p/y.md"));
}

#[test]
fn a_plan_accepted_with_clear_context_is_recorded_as_rejected_and_still_counts() {
    let session = session(&[
        call("1", "ExitPlanMode", r#"{"plan":"the plan"}"#),
        result("1", r#","is_error":true}]},"toolUseResult":"Error: The user doesn't want to proceed""#),
        r#"{"type":"user","message":{"content":"Implement the following plan:\n\nthe plan"}}"#.into(),
    ]);
    assert_eq!(session.plans.iter().map(|p| p.text.as_deref()).collect::<Vec<_>>(), [Some("the plan")]);
    assert_eq!(session.asks[0].text, "Implement the following plan.");
}

#[test]
fn the_task_list_of_either_kind_is_kept() {
    let old = session(&[
        call(
            "1",
            "TodoWrite",
            r#"{"todos":[{"content":"a","status":"completed","activeForm":"x"},{"content":"b","status":"pending"},7]}"#,
        ),
        ok("1"),
    ]);
    assert_eq!(
        old.todos.iter().map(|t| (t.text.as_str(), t.status.as_str())).collect::<Vec<_>>(),
        [("a", "completed"), ("b", "pending")]
    );
    let new = session(&[
        call("1", "TaskCreate", r#"{"subject":"a"}"#),
        result("1", r#"}]},"toolUseResult":{"task":{"id":"7","subject":"a"}}"#),
        call("2", "TaskCreate", r#"{"subject":"b"}"#),
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"2","content":"Task #8 created successfully: b"}]}}"#.into(),
        call("3", "TaskUpdate", r#"{"taskId":"8","status":"completed"}"#),
        ok("3"),
        call("4", "TaskUpdate", r#"{"taskId":"7","status":"deleted"}"#),
        ok("4"),
    ]);
    assert_eq!(new.todos, [Todo { id: Some("8".into()), text: "b".into(), status: "completed".into() }]);
}

#[test]
fn inline_sidechain_rows_are_a_subagents_work_and_not_the_sessions_words() {
    let session = session(&[
        r#"{"type":"user","isSidechain":true,"message":{"content":"write it"}}"#.into(),
        r#"{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"tool_use","id":"1","name":"Write","input":{"file_path":"/a"}},{"type":"text","text":"sub done"}]}}"#.into(),
        ok("1"),
    ]);
    assert!(session.asks.is_empty());
    assert_eq!(session.final_message, None);
    assert_eq!(session.touches[0].agent.as_deref(), Some("sidechain"));
    assert_eq!(session.touches[0].outcome, Outcome::Done);
}

#[test]
fn a_subagents_own_file_is_its_own_session() {
    let session = fold(
        Role::Subagent,
        &[
            r#"{"type":"user","isSidechain":true,"message":{"content":"write it"}}"#,
            r#"{"type":"assistant","isSidechain":true,"message":{"id":"m","content":[{"type":"text","text":"done"}]}}"#,
        ],
    );
    assert_eq!(session.asks[0].text, "write it");
    assert_eq!(session.final_message.as_deref(), Some("done"));
}

#[test]
fn rows_copied_by_a_fork_count_once_and_unknown_types_are_counted() {
    let ask = r#"{"type":"user","uuid":"u1","message":{"content":"a"}}"#;
    let session = fold(
        Role::Main,
        &[
            ask,
            ask,
            r#"{"type":"from-the-future"}"#,
            r#"{"type":"api-request-blob","message":{"content":"x"}}"#,
            r#"{"no":"type"}"#,
        ],
    );
    assert_eq!(session.asks.len(), 1);
    assert_eq!(session.skipped.unknown, 2);
}

#[test]
fn a_prompt_typed_while_the_agent_worked_is_an_ask_once() {
    let session = fold(
        Role::Main,
        &[
            r#"{"type":"attachment","attachment":{"type":"queued_command","commandMode":"prompt","prompt":"and docs"}}"#,
            r#"{"type":"user","message":{"content":"and docs"}}"#,
            r#"{"type":"attachment","attachment":{"type":"queued_command","commandMode":"prompt","prompt":"<task-notification>x"}}"#,
        ],
    );
    assert_eq!(session.asks.iter().map(|a| a.text.as_str()).collect::<Vec<_>>(), ["and docs"]);
}
