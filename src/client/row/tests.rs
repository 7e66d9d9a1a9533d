//! Lines of every shape, and the rows in them.

use proptest::prelude::*;

use super::*;

#[test]
fn the_idle_types_are_sorted_for_the_search() {
    assert!(KNOWN_AND_IDLE.is_sorted());
}

#[test]
fn a_field_of_another_type_is_absent_and_the_rest_is_used() {
    let mut kinds = Vec::new();
    let whole = rows_of(br#"{"type":"user","uuid":7,"isMeta":null,"slug":["x"],"cwd":"/w"}"#, |row| {
        kinds.push((row.kind.is("user"), row.uuid.text().is_none(), row.cwd.is("/w")));
    });
    assert!(whole);
    assert_eq!(kinds, [(true, true, true)]);
}

#[test]
fn two_objects_on_one_line_are_two_rows() {
    let mut rows = 0;
    assert!(rows_of(br#"{"type":"user"}{"type":"assistant"}"#, |_| rows += 1));
    assert_eq!(rows, 2);
}

#[test]
fn a_line_that_is_being_written_is_not_whole_before_its_end() {
    let line = r#"{"type":"progress","data":{"a":{"b":1}}}{"type":"user"}"#;
    let whole: Vec<usize> = (1..=line.len()).filter(|end| is_whole(&line.as_bytes()[..*end])).collect();
    assert_eq!(whole, [line.len() - 15, line.len()]);
}

#[test]
fn what_stands_before_a_tear_is_used() {
    let mut rows = 0;
    assert!(!rows_of(br#"{"type":"user"}{"type":"assis"#, |_| rows += 1));
    assert_eq!(rows, 1);
}

/// Has enough of every row with an id.
#[derive(Default)]
struct Hasty(Vec<String>);

impl RowNeeds for Hasty {
    fn is_idle_result(&self, call: Field<'_>) -> bool {
        call.is("idle")
    }

    fn has_enough(&self, row: &Row<'_>) -> bool {
        row.uuid.text().is_some()
    }
}

impl RowSink for Hasty {
    fn take(&mut self, row: &Row<'_>) {
        let result = row.tool_use_result.raw().and_then(|raw| raw.scan().value().ok());
        let result = result.map_or("none".into(), |raw| String::from_utf8_lossy(raw.json()));
        self.0.push(format!("{} {result}", row.kind.text().unwrap_or_default()));
    }
}

#[test]
fn a_row_of_which_there_is_enough_hides_no_other_row() {
    let taken = |line: &str| {
        let mut hasty = Hasty::default();
        assert!(take_rows(line.as_bytes(), &mut hasty), "{line}");
        hasty.0
    };
    let result = r#"{"type":"user","uuid":"1","toolUseResult":{"a":"x"},"more":[1]}"#;
    let idle = r#"{"type":"progress","data":{"type":"user","message":{"content":"no"}}}"#;
    assert_eq!(taken(result), [r#"user {"a":"x"}"#]);
    assert_eq!(taken(idle), ["progress none"]);
    assert_eq!(taken(&format!("{idle}{result}")), ["progress none", r#"user {"a":"x"}"#]);
    assert_eq!(taken(&format!("{result} {idle}")), [r#"user {"a":"x"}"#, "progress none"]);
    let read = |call: &str, rest: &str| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"tool_use_id":"{call}","type":"tool_result","content":"\"uuid\":"}}{rest}"#
        )
    };
    let words = |rest: &str| {
        let row = format!(
            r#"{{"message":{{"id":"m","content":[{{"type":"text","text":"\"type\":\"assistant\""}}],"usage":{{}}}}{rest}"#
        );
        taken(&row)
    };
    assert_eq!(words(r#","requestId":"r","type":"assistant","uuid":"3"}"#), ["assistant none"]);
    assert_eq!(words(r#","isApiErrorMessage":true,"type":"assistant"}"#), ["assistant none"]);
    assert_eq!(words(r#","type":"user","toolUseResult":7}"#), ["user 7"]);
    let usual = r#"]},"uuid":"2","toolUseResult":{"b":1},"x":1}"#;
    assert_eq!(taken(&read("idle", usual)), [r#"user {"b":1}"#]);
    assert_eq!(taken(&read("other", usual)), [r#"user {"b":1}"#]);
    assert_eq!(
        taken(&read("idle", r#"]},"toolUseResult":{"b":1},"id":7}"#)),
        [r#"user {"b":1}"#],
        "no id behind it"
    );
    let two =
        read("idle", &format!(r#",{{"type":"tool_result","tool_use_id":"idle","content":"x"}}{usual}"#));
    assert_eq!(taken(&two), [r#"user {"b":1}"#]);
}

fn said(json: &str) -> Option<String> {
    let mut said = None;
    rows_of(json.as_bytes(), |row| {
        said = row.message.as_ref().map(|message| message.content.text().into_owned());
    });
    said
}

#[test]
fn escapes_are_decoded_and_blocks_are_joined() {
    let text = r#"{"type":"user","message":{"content":"a\n\"b\" \u00e9"}}"#;
    assert_eq!(said(text).as_deref(), Some("a\n\"b\" é"));
    let blocks = r#"{"type":"user","message":{"content":["x",{"text":"a"},{"type":"image"},{"text":"b"}]}}"#;
    assert_eq!(said(blocks).as_deref(), Some("a\nb"));
    assert_eq!(said(r#"{"type":"user","message":{"content":7}}"#).as_deref(), Some(""));
    assert_eq!(said(r#"{"type":"user","message":"x"}"#), None);
}

#[test]
fn spaces_and_another_order_of_keys_lose_nothing() {
    let spaced =
        r#"{ "message" : { "content" : [ { "text" : "a" , "type" : "text" } ] } , "type" : "user" }"#;
    assert_eq!(said(spaced).as_deref(), Some("a"));
}

proptest! {
    #[test]
    fn no_line_makes_it_panic(line in ".{0,300}") {
        rows_of(line.as_bytes(), |_| ());
    }
}
