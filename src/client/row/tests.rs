//! Lines of every shape, and the rows in them.

use proptest::prelude::*;

use super::*;

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

#[test]
fn an_ignored_row_hides_no_other_row() {
    let kinds = |line: &str| {
        let mut kinds = Vec::new();
        assert!(rows_of(line.as_bytes(), |row| kinds.extend(row.kind.owned())), "{line}");
        kinds
    };
    let user = r#"{"type":"user","uuid":"1","toolUseResult":{"a":"x"},"more":[1]}"#;
    let ignored = r#"{"type":"progress","data":{"type":"user","message":{"content":"no"}}}"#;
    assert_eq!(kinds(ignored), ["progress"]);
    assert_eq!(kinds(&format!("{ignored}{user}")), ["progress", "user"]);
    assert_eq!(kinds(&format!("{user} {ignored}")), ["user", "progress"]);
    assert_eq!(kinds(&ignored.replace(':', " : ")), ["progress"]);
}

fn said(json: &str) -> Option<String> {
    let mut said = None;
    rows_of(json.as_bytes(), |row| {
        said = row.message().map(|message| message.content.text().into_owned());
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
