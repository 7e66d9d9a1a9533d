use proptest::prelude::*;
use serde_json::json;

use super::*;

fn told(text: &str) -> Vec<(String, bool, usize)> {
    let features = read(text).expect("features");
    features.into_iter().map(|feature| (feature.key, feature.passes, feature.steps.len())).collect()
}

fn one(text: &str) -> Feature {
    let mut features = read(text).expect("features");
    assert_eq!(features.len(), 1, "{features:?}");
    features.remove(0)
}

#[test]
fn a_list_and_an_object_with_a_list_are_read() {
    let plain =
        r#"[{"category":"functional","description":"New chat","steps":["Open","Click"],"passes":false}]"#;
    let feature = one(plain);
    assert_eq!((feature.id, feature.description.as_str()), (None, "New chat"));
    assert_eq!((feature.steps, feature.passes), (vec!["Open".to_owned(), "Click".into()], false));
    let ralph = r#"{"branchName":"ralph/x","userStories":[{"id":"US-001","title":"Add a field","description":"As a user …",
        "acceptanceCriteria":["Typecheck passes"],"priority":1,"passes":true,"notes":""}]}"#;
    let feature = one(ralph);
    assert_eq!(
        (feature.id.as_deref(), feature.description.as_str()),
        (Some("US-001"), "Add a field: As a user …")
    );
    assert_eq!((feature.steps.len(), feature.passes), (1, true));
    let statuses = r#"{"project":"x","rules":{"valid_status":["pending","done"]},"features":[
        {"id":1,"name":"auth","title":"Login","description":"JWT","acceptance":["401"],"status":"done"},
        {"id":2,"name":"b","description":"c","status":"in_progress"}, {"id":2,"description":"again"}]}"#;
    assert_eq!(told(statuses), [("1".into(), true, 1), ("2".into(), false, 0), ("2~2".into(), false, 0)]);
    let phases = r#"{"phases":[{"id":"P0"}],"features":[{"name":"Base","features":[{"id":"a","done":true},{"id":"b","steps":"one\n\ntwo"}]},"c"]}"#;
    let words = ContentId::of("c")[..12].to_owned();
    assert_eq!(told(phases), [("a".into(), true, 0), ("b".into(), false, 2), (words, false, 0)]);
    let by_id =
        r#"{"features":{"F1":{"description":"x","passes":"yes"},"F2":{"description":"y","passes":null}}}"#;
    assert_eq!(told(by_id), [("F1".into(), true, 0), ("F2".into(), false, 0)]);
    assert_eq!(told("\u{feff}[]"), []);
}

#[test]
fn what_is_no_list_says_what_is_wrong() {
    for (text, said) in [
        ("", "it is empty"),
        (" \n\0", "it is empty"),
        ("[{\"id\": 1,", "it is not JSON: EOF while parsing a value at line 1 column 10"),
        ("{\"version\": 1}", "there is no list of features in it"),
        ("7", "there is no list of features in it"),
    ] {
        assert_eq!(read(text).expect_err("a fault"), said, "{text:?}");
    }
}

#[test]
fn a_mark_is_set_where_it_stands_and_nothing_else_changes() {
    let text = "{\n  \"v\": 1e2, \"features\": [\n    {\"id\": 7, \"x\": {\"b\": [1,2],\"a\":1},\"passes\" :false },\n    { \"id\":\"b\" },\n    {}, {\"id\":\"s\",\"status\": \"in_progress\"}\n  ],\"z\":null}\r\n";
    let seven = with_mark(text, "7", true).expect("changed");
    assert_eq!(seven, text.replace("\"passes\" :false", "\"passes\" :true"));
    assert_eq!(with_mark(&seven, "7", false).expect("back"), text);
    let b = with_mark(text, "b", true).expect("changed");
    assert_eq!(b, text.replace("{ \"id\":\"b\" }", "{\"passes\": true,  \"id\":\"b\" }"));
    let s = with_mark(text, "s", true).expect("changed");
    assert_eq!(s, text.replace("\"in_progress\"", "\"done\""));
    assert_eq!(
        with_mark("[{\"id\":\"a\"},{\"description\":\"later\"}]", "c", true).expect_err("none"),
        "there is no feature \"c\" in it; there are a, later"
    );
    assert!(with_mark("[\"words\"]", &ContentId::of("words")[..12], true).is_err());
}

#[test]
fn a_markdown_list_becomes_features() {
    let made = from_markdown(
        "# Shop\n\n- [x] Log in\n  - open the page\n  - type\n- [ ] Log out\n1. Pay\n\nwords\n",
    );
    let list = read(&json!({ "features": made }).to_string()).expect("features");
    let told: Vec<_> =
        list.iter().map(|f| (f.called(), f.description.as_str(), f.passes, f.steps.len())).collect();
    assert_eq!(
        told,
        [
            ("F001".to_owned(), "Log in", true, 2),
            ("F002".into(), "Log out", false, 0),
            ("F003".into(), "Pay", false, 0)
        ]
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z \\n\"\\\\é]{0,8}".prop_map(Value::from),
    ];
    let names = prop_oneof![
        Just("features".to_owned()),
        Just("id".into()),
        Just("passes".into()),
        Just("status".into()),
        Just("steps".into()),
        Just("description".into()),
        Just("tasks".into()),
        "[a-z\"\\\\]{0,4}".prop_map(String::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((names.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn without_marks(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(without_marks),
        Value::Object(fields) => {
            PASSES.iter().chain(&STATES).for_each(|name| drop(fields.remove(*name)));
            fields.values_mut().for_each(without_marks);
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn whatever_is_marked_only_its_mark_changes(value in any_json(), passes in any::<bool>()) {
        let text = serde_json::to_string_pretty(&value).expect("text");
        for feature in read(&text).unwrap_or_default() {
            let Ok(changed) = with_mark(&text, &feature.key, passes) else { continue };
            let (before, after) = (read(&text).expect("before"), read(&changed).expect("after"));
            prop_assert_eq!(before.len(), after.len());
            let at = before.iter().position(|one| one.key == feature.key || one.id.as_ref() == Some(&feature.key));
            for (index, (old, new)) in before.iter().zip(&after).enumerate() {
                if Some(index) == at {
                    prop_assert_eq!(&Feature { passes, ..old.clone() }, new);
                } else {
                    prop_assert_eq!(old, new);
                }
            }
            let (mut before, mut after): (Value, Value) = (value.clone(), serde_json::from_str(&changed).expect("JSON"));
            without_marks(&mut before);
            without_marks(&mut after);
            prop_assert_eq!(before, after, "what is not known is kept");
        }
    }
}
