//! How the hook is written into a settings file, and taken out again.

use punchlist::client::settings::registered_hooks::{ON_PATH, is_ours, quoted, shell_words};
use punchlist::client::settings::registration::*;
use serde_json::{Value, json};

fn wanted() -> Wanted {
    Wanted {
        program: "/opt/punchlist".into(),
        min_timeout: 60,
        timeout: 120,
        background: None,
        status_line: false,
        subagents: false,
    }
}

fn registered(text: &str) -> Edited {
    register(text, &wanted()).unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

#[track_caller]
fn hooks_of(text: &str, event: &str) -> Vec<Value> {
    let value: Value = serde_json::from_str(text).expect("json");
    let groups = value["hooks"][event].as_array().cloned().unwrap_or_default();
    groups.iter().flat_map(|group| group["hooks"].as_array().cloned().unwrap_or_default()).collect()
}

const TEAM: &str = r#"{
    "permissions": { "allow": ["Bash(npm run test:*)"] },
    "hooks": {
        "PreToolUse": [ { "matcher": "Bash", "hooks": [ { "type": "command", "command": "guard" } ] } ],
        "Stop": [
            { "hooks": [ { "type": "command", "command": "say done" } ] }
        ]
    },
    "model": "opus"
}
"#;

#[test]
fn uninstall_restores_the_file_to_the_byte() {
    for text in [
        "{}",
        "{}\n",
        "{\n}\n",
        r#"{"model":"opus"}"#,
        "{\n\t\"model\": \"opus\"\n}\n",
        TEAM,
        "{\"hooks\": {}}",
        "{\n  \"hooks\": {}\n}\n",
        "{\n  \"hooks\": { \"Stop\": [] }\n}\n",
        "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"Stop\": []\r\n  }\r\n}\r\n",
    ] {
        for subagents in [false, true] {
            let background = Some(subagents);
            let edited = register(text, &Wanted { subagents, background, ..wanted() }).expect("registered");
            assert_eq!(hooks_of(&edited.text, "UserPromptSubmit").len(), usize::from(subagents));
            assert_eq!(hooks_of(&edited.text, "Stop").iter().filter(|h| is_ours(h)).count(), 1);
            assert_eq!(hooks_of(&edited.text, "SubagentStop").len(), usize::from(subagents));
            assert_eq!(hooks_of(&edited.text, "SessionStart").len(), 1);
            let again = register(&edited.text, &wanted()).expect("registered");
            assert_eq!(
                (again.text.as_str(), &again.created[..]),
                (edited.text.as_str(), &[][..]),
                "idempotent"
            );
            let back = unregister(&edited.text, Some(&edited.created)).expect("taken out");
            let wanted = if text == "{\n}\n" { "{}\n" } else { text };
            assert_eq!(back, wanted, "{}", edited.text);
        }
    }
}

#[test]
fn install_adds_one_hook_for_stops_and_one_for_starts() {
    let text = registered(TEAM).text;
    let new: Vec<&str> = text.lines().filter(|line| !TEAM.lines().any(|old| old == *line)).collect();
    assert_eq!(
        new,
        [
            "            { \"hooks\": [ { \"type\": \"command\", \"command\": \"say done\" } ] },",
            "            {",
            "                \"hooks\": [",
            "                    {",
            "                        \"type\": \"command\",",
            "                        \"command\": \"/opt/punchlist hook --hook-timeout 120\",",
            "                        \"timeout\": 120,",
            "                        \"statusMessage\": \"punchlist checks this stop\"",
            "                    }",
            "                ]",
            "            }",
            "        ],",
            "        \"SessionStart\": [",
            "            {",
            "                \"hooks\": [",
            "                    {",
            "                        \"type\": \"command\",",
            "                        \"command\": \"/opt/punchlist hook --hook-timeout 10\",",
            "                        \"timeout\": 10",
            "                    }",
            "                ]",
            "            }",
        ]
    );
}

#[test]
fn an_older_registration_is_updated_in_place() {
    let upgraded = |hook: Value| {
        let text = json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } }).to_string();
        let hooks = hooks_of(&registered(&text).text, "Stop");
        assert_eq!(hooks.len(), 1);
        hooks[0].clone()
    };
    let today = json!({ "type": "command", "command": "/opt/punchlist hook --hook-timeout 120", "timeout": 120,
        "statusMessage": "punchlist checks this stop" });
    for old in [
        json!({ "type": "command", "command": "punchlist hook", "timeout": 120 }),
        json!({ "type": "command", "command": "'/old place/punchlist' hook" }),
        json!({ "type": "command", "command": "/old/punchlist", "args": ["hook"], "timeout": 10 }),
        json!({ "type": "command", "command": r"C:\bin\punchlist.exe", "args": ["hook"], "timeout": 120 }),
        json!({ "type": "command", "command": format!("{ON_PATH} hook --hook-timeout=9"), "timeout": 9 }),
    ] {
        assert_eq!(upgraded(old.clone()), today, "{old}");
    }
    // A longer timeout and other fields are the person's choice.
    let longer =
        json!({ "type": "command", "command": "punchlist hook", "timeout": 300, "statusMessage": "…" });
    let updated = upgraded(longer);
    assert_eq!((&updated["timeout"], &updated["statusMessage"]), (&json!(300), &json!("…")));
    assert_eq!(updated["command"], "/opt/punchlist hook --hook-timeout 300");
}

/// As `install` registered it before punchlist had a `SessionStart` hook.
#[test]
fn an_older_registration_gets_session_start_added() {
    let old = "{\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"/opt/punchlist hook --hook-timeout 120\", \"timeout\": 120 }] }]\n  }\n}\n";
    let edited = registered(old);
    let mut stop = hooks_of(old, "Stop");
    stop[0]["statusMessage"] = json!("punchlist checks this stop");
    assert_eq!(hooks_of(&edited.text, "Stop"), stop);
    let start =
        json!({ "type": "command", "command": "/opt/punchlist hook --hook-timeout 10", "timeout": 10 });
    assert_eq!(
        (hooks_of(&edited.text, "SessionStart"), &edited.created[..]),
        (vec![start], &[Created::SessionStart][..])
    );
    // The person's own hook on the same event stays, with its container.
    let both = r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"hello"}]}]}}"#;
    let edited = registered(both);
    assert_eq!(hooks_of(&edited.text, "SessionStart").len(), 2);
    assert_eq!(unregister(&edited.text, Some(&edited.created)).as_deref(), Ok(both));
}

/// In the background the client shows what a stop has to tell at the next prompt alone.
#[test]
fn a_prompt_is_registered_where_nobody_waits_for_a_stop_and_nowhere_else() {
    let prompt = "UserPromptSubmit";
    let mode = |text: &str, background| {
        register(text, &Wanted { background: Some(background), ..wanted() }).expect("registered").text
    };
    let ours =
        json!({ "type": "command", "command": "/opt/punchlist hook --hook-timeout 10", "timeout": 10 });
    let behind = mode(TEAM, true);
    assert_eq!(hooks_of(&behind, prompt), std::slice::from_ref(&ours));
    assert_eq!(mode(&behind, false), mode(TEAM, false), "--hold takes it out");
    // As it was registered before there was a hook on a prompt.
    let old = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/punchlist hook --background","timeout":120,"asyncRewake":true}]}]}}"#;
    assert_eq!(hooks_of(&registered(old).text, prompt), std::slice::from_ref(&ours), "an upgrade adds it");
    // The person's own hook stays, with its container.
    let both = r#"{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"hello"}]}]}}"#;
    assert_eq!(hooks_of(&mode(both, true), prompt).len(), 2);
    assert_eq!(hooks_of(&mode(&mode(both, true), false), prompt).len(), 1);
}

#[test]
fn two_registrations_of_one_event_become_one() {
    let hook = json!({ "type": "command", "command": "punchlist hook" });
    let other = json!({ "type": "command", "command": "say done" });
    let text = json!({ "hooks": { "Stop": [{ "hooks": [hook] }, { "hooks": [other, hook] }, { "hooks": [hook] }] } });
    let hooks = hooks_of(&registered(&text.to_string()).text, "Stop");
    assert_eq!(hooks.len(), 2);
    assert_eq!(hooks[1], other);
}

#[test]
fn a_custom_command_line_is_not_rewritten_and_can_be_removed() {
    let command = "PUNCHLIST_TRACE=1 punchlist hook 2>>/tmp/trace";
    let text = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": command }] }] } })
        .to_string();
    let edited = registered(&text);
    assert_eq!(
        (hooks_of(&edited.text, "Stop"), &edited.custom[..]),
        (hooks_of(&text, "Stop"), &[command.to_owned()][..])
    );
    assert_eq!(unregister(&text, None).as_deref(), Ok("{}"));
}

#[test]
fn hooks_that_only_look_like_ours_are_left_alone() {
    let hooks = ["punchlist", "punchlist log", "notpunchlist hook", "echo punchlist-hook", "hook punchlist"]
        .map(|command| json!({ "type": "command", "command": command }));
    let text = json!({ "hooks": { "Stop": [{ "hooks": hooks }, { "hooks": 7 }, 3] } }).to_string();
    assert_eq!(unregister(&text, None), Ok(text.clone()));
    assert_eq!(hooks_of(&registered(&text).text, "Stop").len(), 6);
}

#[test]
fn subagents_wait_in_either_mode() {
    let both = Wanted { background: Some(true), subagents: true, ..wanted() };
    let text = register("{}", &both).expect("registered").text;
    let stop = &hooks_of(&text, "Stop")[0];
    assert_eq!(stop["command"], "/opt/punchlist hook --hook-timeout 120 --background");
    assert_eq!(stop["asyncRewake"], true);
    let subagent = &hooks_of(&text, "SubagentStop")[0];
    assert_eq!(subagent["command"], "/opt/punchlist hook --hook-timeout 120");
    assert_eq!(subagent.get("asyncRewake"), None);
}

#[test]
fn a_file_that_can_not_be_edited_says_why() {
    let fault = |text: &str| register(text, &wanted()).expect_err(text).to_string();
    assert_eq!(fault("{"), "is not valid JSON (EOF while parsing an object at line 1 column 1)");
    assert_eq!(
        fault("{\n  // mine\n  \"a\": 1\n}"),
        "has comments in it, and JSON knows none (line 2, column 3)"
    );
    assert_eq!(fault("[]"), "has something else than an object in place of its settings");
    assert_eq!(fault(r#"{"hooks":[]}"#), "has something else than an object in \"hooks\"");
    assert_eq!(fault(r#"{"hooks":{"Stop":{}}}"#), "has something else than an array in \"hooks.Stop\"");
}

#[test]
fn a_path_is_quoted_where_the_shell_needs_it() {
    for (path, wanted) in [
        ("/usr/local/bin/punchlist", "/usr/local/bin/punchlist"),
        ("/home/a b/punchlist", "'/home/a b/punchlist'"),
        ("/it's/$HOME/punchlist", r"'/it'\''s/$HOME/punchlist'"),
        (r"C:\bin\punchlist.exe", r"'C:\bin\punchlist.exe'"),
    ] {
        assert_eq!(quoted(path), wanted);
        assert_eq!(shell_words(&format!("{} hook", quoted(path))), [path, "hook"]);
    }
}

#[test]
fn an_enabled_plugin_is_found() {
    assert_eq!(
        plugin(&json!({ "enabledPlugins": { "punchlist@punchlist": true } })),
        Some("punchlist@punchlist")
    );
    assert_eq!(plugin(&json!({ "enabledPlugins": { "punchlist@punchlist": false, "other@x": true } })), None);
    assert_eq!(plugin(&json!({})), None);
}

#[test]
fn the_mode_stays_as_it_is_registered_unless_another_is_asked_for() {
    let mode = |background| Wanted { background, ..wanted() };
    let behind = register("{}", &mode(Some(true))).expect("registered").text;
    assert_eq!(hooks_of(&behind, "Stop")[0]["asyncRewake"], true);
    assert_eq!(registered(&behind).text, behind, "an upgrade changes nothing");
    let held = register(&behind, &mode(Some(false))).expect("registered").text;
    assert_eq!(held, registered("{}").text);
    // One of the two alone is neither mode: mended to the one that waits.
    let neither = behind.replace(" --background", "");
    assert_eq!(registered(&neither).text, held);
    assert_eq!(unregister(&behind, None).expect("taken out").trim(), "{}");
}

#[test]
fn a_status_line_is_set_where_there_is_none_and_taken_out_again() {
    let lined =
        |text: &str| register(text, &Wanted { status_line: true, ..wanted() }).expect("registered").text;
    let line = |text: &str| serde_json::from_str::<Value>(text).expect("json")["statusLine"].clone();
    let ours = json!({ "type": "command", "command": "/opt/punchlist statusline", "refreshInterval": 5 });
    let text = lined("{\n  \"model\": \"opus\"\n}\n");
    assert_eq!(line(&text), ours);
    assert_eq!(registered(&text).text, text, "it stays when it is not asked for again");
    assert_eq!(unregister(&text, None).expect("taken out"), "{\n  \"model\": \"opus\"\n}\n");
    let moved = text.replace("/opt/punchlist statusline", "/old/punchlist statusline");
    assert_eq!(line(&registered(&moved).text), ours, "and follows the program");
    let other = r#"{"statusLine":{"type":"command","command":"~/line.sh"}}"#;
    assert_eq!(line(&lined(other)), json!({ "type": "command", "command": "~/line.sh" }));
    assert_eq!(unregister(other, None).expect("nothing of ours"), other);
}
