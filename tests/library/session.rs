//! The fold, row by row.

use punchlist::client::row::rows_of;
use punchlist::session::Session;
use punchlist::session::builder::{ASK_CAP, REMARK_CAP, Role, SessionBuilder};
use punchlist::session::resume;
use punchlist::session::resume::{Mark, ResumePoint};
use punchlist::session::{Original, Outcome, Tail, Todo};

fn fold(role: Role, rows: &[&str]) -> Session {
    let mut builder = SessionBuilder::new(role);
    for row in rows {
        assert!(rows_of(row.as_bytes(), |row| builder.fold(row, None)), "{row}");
    }
    builder.into_session()
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
    let on_the_way =
        session(&[words("m", "let me write"), call("1", "Write", r#"{"file_path":"/a"}"#), ok("1")]);
    assert_eq!((on_the_way.final_message, on_the_way.tail), (None, Tail::Result));
    let done = session(&[words("m", "first part"), words("m", "second part")]);
    assert_eq!(done.final_message.as_deref(), Some("first part\nsecond part"));
    let asked_again = session(&[words("m", "done"), ask("more")]);
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

fn words(message: &str, text: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{message}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

fn ask(text: &str) -> String {
    format!(r#"{{"type":"user","message":{{"content":"{text}"}}}}"#)
}

/// The row with a time, in seconds since 1970.
fn timed(row: &str, seconds: u8) -> String {
    row.replacen('{', &format!(r#"{{"timestamp":"1970-01-01T00:00:{seconds:02}.500Z","#), 1)
}

#[test]
fn every_entry_knows_when_it_happened() {
    let session = session(&[
        timed(&ask("do it"), 1),
        timed(&words("m", "on it"), 2),
        timed(&call("1", "Write", r#"{"file_path":"/w/a"}"#), 3),
        timed(&call("2", "Bash", r#"{"command":"make"}"#), 4),
        timed(&call("3", "Agent", r#"{"description":"look"}"#), 5),
        timed(&call("4", "Read", r#"{"file_path":"/w/b"}"#), 6),
        call("5", "Bash", r#"{"command":"ls"}"#).replacen('{', r#"{"timestamp":"yesterday","#, 1),
    ]);
    assert_eq!((session.asks[0].time, session.remarks[0].time), (Some(1_500), Some(2_500)));
    assert_eq!((session.touches[0].time, session.commands[0].time), (Some(3_500), Some(4_500)));
    assert_eq!((session.delegations[0].time, session.reads[0].time), (Some(5_500), Some(6_500)));
    assert_eq!(session.commands[1].time, None, "a time that can not be read");
}

#[test]
fn what_the_agent_said_on_the_way_is_kept_and_its_final_message_is_none_of_it() {
    let session = session(&[
        ask("do it"),
        words("m-1", "let me write"),
        call("1", "Write", r#"{"file_path":"/a"}"#),
        ok("1"),
        words("n", "first turn"),
        words("n", "is done"),
        ask("more"),
        words("o", "background work runs"),
        ask("<task-notification>\\n<task-id>x</task-id>"),
        call("2", "Write", r#"{"file_path":"/b"}"#),
        ok("2"),
        words("p", "all done"),
    ]);
    let said: Vec<_> =
        session.remarks.iter().map(|remark| (remark.text.as_str(), remark.at, remark.ends_turn)).collect();
    assert_eq!(
        said,
        [("let me write", 2, false), ("first turn\nis done", 6, true), ("background work runs", 8, true)]
    );
    assert_eq!(session.final_message.as_deref(), Some("all done"));
}

#[test]
fn a_long_remark_keeps_both_ends() {
    let long = format!("I left out the docs. {} The tests fail.", "x".repeat(9_000));
    let session = session(&[words("m", &long), ask("go on")]);
    let text = &session.remarks[0].text;
    assert!(text.starts_with("I left out the docs.") && text.ends_with("The tests fail."), "{text}");
    assert!(text.len() < REMARK_CAP + 40);
}

#[test]
fn a_pasted_log_pushes_no_other_ask_out_and_keeps_what_stands_around_it() {
    let log = format!("fix this: {} and write the docs", "x".repeat(300_000));
    let mut rows: Vec<String> = (0..20).map(|n| ask(&format!("please write part number {n}"))).collect();
    rows.insert(10, ask(&log));
    let session = session(&rows);
    assert_eq!((session.asks.len(), session.forgotten.asks), (21, 0));
    let text = &session.asks[10].text;
    assert!(text.starts_with("fix this: x") && text.ends_with("x and write the docs"));
    assert!(text.contains("bytes cut") && text.len() < ASK_CAP + 40);
}

#[test]
fn a_subagents_report_is_kept_whenever_it_comes() {
    let session = session(&[
        call("1", "Task", r#"{"description":"look"}"#),
        result(
            "1",
            r#"}]},"toolUseResult":{"agentId":"a1","status":"completed","content":[{"type":"text","text":"seen"}]}"#,
        ),
        call("2", "Agent", r#"{"description":"work"}"#),
        result("2", r#"}]},"toolUseResult":{"agentId":"a2","status":"async_launched"}"#),
        call("3", "Agent", r#"{"description":"runs"}"#),
        result("3", r#"}]},"toolUseResult":{"agentId":"a3","status":"async_launched"}"#),
        ask("<task-notification>\\n<task-id>a2</task-id>\\n<result>worked</result>"),
    ]);
    let reports: Vec<_> =
        session.delegations.iter().map(|one| (one.agent_id.as_deref(), one.report.as_str())).collect();
    assert_eq!(reports, [(Some("a1"), "seen"), (Some("a2"), "worked"), (Some("a3"), "")]);
    assert!(session.asks.is_empty());
}

fn read_of(lines: usize, text: &str) -> String {
    format!(
        r#"}}]}},"toolUseResult":{{"type":"text","file":{{"content":"{text}","startLine":1,"numLines":{lines},"totalLines":3}}}}"#
    )
}

#[test]
fn the_first_whole_read_of_a_page_tells_what_it_held() {
    let read = |id: &str, path: &str| call(id, "Read", &format!(r#"{{"file_path":"{path}"}}"#));
    let session = session(&[
        read("1", "/w/PLAN.md"),
        result("1", &read_of(2, "a part")),
        read("2", "/w/PLAN.md"),
        result("2", &read_of(3, "the whole")),
        read("3", "/w/PLAN.md"),
        result("3", &read_of(3, "the whole, changed")),
        read("4", "/w/a.rs"),
        result("4", &read_of(3, "code")),
        read("5", "/w/gone.md"),
        result("5", r#","is_error":true}]},"toolUseResult":"Error: File does not exist.""#),
    ]);
    let reads: Vec<_> =
        session.reads.iter().map(|read| (read.path.as_str(), read.at, read.text.clone())).collect();
    assert_eq!(
        reads,
        [
            ("/w/PLAN.md", 3, Original::Text("the whole".into())),
            ("/w/a.rs", 7, Original::Unknown),
            ("/w/gone.md", 9, Original::Unknown)
        ]
    );
}

/// Calls of every kind whose results say something, each with its result.
fn calls_and_results() -> Vec<[String; 2]> {
    let plan = r#"}]},"uuid":"u","timestamp":"2026-01-01T00:00:00Z","isSidechain":false,"toolUseResult":{"plan":"the plan","filePath":"/p/y.md"},"slug":"y""#;
    let report = r#"}]},"toolUseResult":{"agentId":"a1","status":"completed","content":[{"type":"text","text":"seen"}]}"#;
    vec![
        [
            call("1", "Write", r#"{"file_path":"/w/a"}"#),
            result("1", r#"}]},"toolUseResult":{"type":"create","originalFile":null}"#),
        ],
        [
            call("2", "Edit", r#"{"file_path":"/w/b"}"#),
            result("2", r#"}]},"toolUseResult":{"originalFile":"before"}"#),
        ],
        [
            call("3", "Edit", r#"{"file_path":"/w/c"}"#),
            result("3", r#"}]},"toolUseResult":"Error: no such text""#),
        ],
        [call("4", "Bash", r#"{"command":"make"}"#), result("4", r#","is_error":true}]}"#)],
        [call("5", "Task", r#"{"description":"look"}"#), result("5", report)],
        [call("6", "ExitPlanMode", r#"{"plan":"a plan"}"#), result("6", plan)],
        [
            call("7", "ExitPlanMode", r#"{"plan":"another"}"#),
            result("7", r#","is_error":true}]},"toolUseResult":"rejected""#),
        ],
        [
            call("8", "TaskCreate", r#"{"subject":"a"}"#),
            result("8", r#"}]},"toolUseResult":{"task":{"id":"7"}}"#),
        ],
        [call("9", "Read", r#"{"file_path":"/w/p.md"}"#), result("9", &read_of(3, "page"))],
        [call("10", "WebSearch", "{}"), ok("10")],
    ]
}

/// A session with all places, which depend on the order of the rows, taken out.
fn without_places(mut session: Session) -> Session {
    session.asks.iter_mut().for_each(|ask| ask.at = 0);
    session.touches.iter_mut().for_each(|touch| touch.at = 0);
    session.commands.iter_mut().for_each(|command| command.at = 0);
    session.reads.iter_mut().for_each(|read| read.at = 0);
    session.delegations.iter_mut().for_each(|delegation| delegation.at = 0);
    session.plans.iter_mut().for_each(|plan| plan.at = 0);
    session.other_calls.iter_mut().for_each(|call| call.at = 0);
    Session { last_call: 0, ..session }
}

#[test]
fn a_result_that_stands_before_its_call_is_not_lost() {
    for [call, result] in calls_and_results() {
        let (usual, early) = (session(&[call.clone(), result.clone()]), session(&[result.clone(), call]));
        assert_eq!(without_places(early), without_places(usual), "{result}");
    }
}

#[test]
fn a_result_before_its_call_is_not_lost_between_two_readings() {
    let rows = calls_and_results();
    let mut builder = SessionBuilder::new(Role::Main);
    let fold = |builder: &mut SessionBuilder, row: &str| {
        assert!(rows_of(row.as_bytes(), |row| builder.fold(row, None)), "{row}");
    };
    for [_, result] in &rows {
        fold(&mut builder, result);
    }
    let texts: Vec<String> = builder.plain_texts().map(str::to_owned).collect();
    assert!(texts.iter().any(|text| text == "before"), "they are looked through for secrets: {texts:?}");
    let mark = Mark { inode: 1, offset: 1, tail: 1 };
    let bytes = resume::encode(&[ResumePoint { path: "p".into(), mark, builder }]).expect("bytes");
    let mut builder = resume::decode(&bytes).expect("resume points").remove(0).builder;
    for [call, _] in &rows {
        fold(&mut builder, call);
    }
    let usual: Vec<String> = rows.into_iter().flatten().collect();
    assert_eq!(without_places(builder.into_session()), without_places(session(&usual)));
}

/// Rows of a turn as the client writes them, each after the one before it: an ask, words on the
/// way, a call, its result and the last words.
fn turn(number: u8) -> Vec<String> {
    let id = number.to_string();
    let rows = [
        ask(&format!("ask {id}")),
        words(&format!("m-{id}"), &format!("on it {id}")),
        call(&id, "Write", r#"{"file_path":"/w/a"}"#),
        ok(&id),
        words(&format!("n-{id}"), &format!("done {id}")),
    ];
    let rows = rows.iter().zip(number * 5..).map(|(row, at)| {
        let parent = at.checked_sub(1).map_or("null".into(), |at| format!(r#""row-{at}""#));
        timed(&row.replacen('{', &format!(r#"{{"parentUuid":{parent},"uuid":"row-{at}","#), 1), at)
    });
    rows.collect()
}

#[test]
fn last_words_that_overtook_the_rows_before_them_are_still_the_last() {
    // How many rows of the turn come in time, and how many of the rest come after those that follow
    // them.
    for (in_time, late) in [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1)] {
        for turns in [1, 2] {
            // The last words of a later turn tell it by the row right before them, or by a result
            // without its call.
            if turns == 2 && in_time + late < 3 {
                continue;
            }
            let mut rows: Vec<String> = (0..turns).flat_map(turn).collect();
            let start = rows.len() - 5 + in_time;
            rows[start..].rotate_left(late);
            let case = format!("{rows:#?}");
            let session = session(&rows);
            let last = format!("done {}", turns - 1);
            assert_eq!((session.final_message.as_ref(), session.tail), (Some(&last), Tail::Words), "{case}");
            assert_eq!(session.asks.len(), usize::from(turns), "{case}");
            let said = session.remarks.last().map(|remark| remark.text.clone());
            assert_eq!(said, Some(format!("on it {}", turns - 1)), "{case}");
            assert!(session.touches.iter().all(|touch| touch.outcome == Outcome::Done), "{case}");
        }
    }
}

#[test]
fn words_that_overtook_an_ask_end_with_the_next_one_and_stand_behind_the_first() {
    let mut rows = turn(0);
    rows.rotate_left(3);
    rows.extend(turn(1));
    let session = session(&rows);
    let said: Vec<_> =
        session.remarks.iter().map(|remark| (remark.text.as_str(), remark.ends_turn)).collect();
    assert_eq!(said, [("on it 0", false), ("done 0", true), ("on it 1", false)]);
    assert!(session.asks[0].at < session.remarks[1].at && session.remarks[1].at < session.asks[1].at);
    assert_eq!(session.final_message.as_deref(), Some("done 1"));
}

#[test]
fn an_ask_whose_time_goes_back_still_follows_the_words_before_it() {
    let [mut rows, mut next] = [turn(0), turn(1)];
    next[0] = next[0].replace("00:00:05", "00:00:01");
    rows.push(next.remove(0));
    let session = session(&rows);
    assert_eq!((session.final_message, session.tail), (None, Tail::Prompt));
}

/// Returns every order of the numbers below `count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let shorter = orders(last);
    let insert = |order: &Vec<usize>, at: usize| [&order[..at], &[last], &order[at..]].concat();
    shorter.iter().flat_map(|order| (0..count).map(move |at| insert(order, at))).collect()
}

#[test]
fn the_last_words_of_a_subagent_are_its_final_message_whatever_the_order_of_its_rows() {
    let mut rows = turn(0);
    // The words on the way.
    let dropped = rows.remove(1);
    assert!(dropped.contains("on it"));
    for order in orders(rows.len()) {
        let in_order: Vec<&str> = order.iter().map(|at| rows[*at].as_str()).collect();
        let session = fold(Role::Subagent, &in_order);
        assert_eq!(session.final_message.as_deref(), Some("done 0"), "{order:?}");
        assert_eq!((session.asks.len(), session.tail), (1, Tail::Words), "{order:?}");
        assert_eq!(session.touches[0].outcome, Outcome::Done, "{order:?}");
    }
}

fn queued(operation: &str, content: &str) -> String {
    let content = if content.is_empty() { String::new() } else { format!(r#","content":"{content}""#) };
    format!(r#"{{"type":"queue-operation","operation":"{operation}","sessionId":"s"{content}}}"#)
}

fn asks(rows: &[String]) -> Vec<String> {
    session(rows).asks.into_iter().map(|ask| ask.text).collect()
}

fn user(text: &str) -> String {
    format!(r#"{{"type":"user","message":{{"content":"{text}"}}}}"#)
}

fn attached(text: &str) -> String {
    format!(
        r#"{{"type":"attachment","attachment":{{"type":"queued_command","prompt":"{text}","commandMode":"prompt"}}}}"#
    )
}

#[test]
fn a_prompt_that_is_taken_up_in_the_middle_of_a_turn_is_an_ask() {
    let rows = [user("add a"), queued("enqueue", "also add b"), queued("remove", "")];
    assert_eq!(asks(&rows), ["add a", "also add b"]);
}

#[test]
fn a_queued_prompt_that_stands_elsewhere_too_is_one_ask() {
    let (one, two) = (queued("enqueue", "add b"), queued("enqueue", "add c"));
    let removed = queued("remove", "");
    let taken = [
        user("add a"),
        one.clone(),
        two.clone(),
        removed.clone(),
        removed,
        attached("add b"),
        attached("add c"),
    ];
    assert_eq!(asks(&taken), ["add a", "add b", "add c"]);
    let later = [user("add a"), one.clone(), queued("dequeue", ""), user("add b")];
    assert_eq!(asks(&later), ["add a", "add b"]);
    let again = [
        user("add a"),
        one,
        queued("remove", ""),
        attached("add b"),
        two,
        queued("dequeue", ""),
        user("add c"),
        user("add b"),
    ];
    assert_eq!(asks(&again), ["add a", "add b", "add c", "add b"], "the last is a prompt of its own");
}

#[test]
fn a_prompt_that_the_person_pulled_back_or_the_client_queued_is_no_ask() {
    let notice = queued("enqueue", "<task-notification><task-id>a</task-id></task-notification>");
    let removed = queued("remove", "");
    let rows = [
        user("add a"),
        queued("enqueue", "add b"),
        queued("popAll", ""),
        removed.clone(),
        notice,
        removed.clone(),
        queued("enqueue", ""),
        queued("enqueue", "add c"),
        removed.clone(),
        removed,
    ];
    assert_eq!(asks(&rows), ["add a", "add c"], "each removal takes the oldest");
}
