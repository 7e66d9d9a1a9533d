//! Edits JSON in place: sets, appends or removes one value and leaves every other byte as it was.
//! Pure. Must only be given what a strict parser has accepted. Of a repeated key the last one
//! counts, as it does for the client.
//!
//! `jsonc-parser` finds the values. Its own editor is not used: it writes new objects over several
//! lines and with spaces, whatever the rest of the file looks like, so that removing the hook would
//! not restore the file.

use std::ops::Range;

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::json;

/// One step into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A member of an object.
    Key(&'a str),
    /// An element of an array.
    At(usize),
}

/// A value to write, its members in the order given.
#[derive(Debug, Clone, PartialEq)]
pub enum NewValue {
    /// A string, a number, a boolean or null.
    Plain(serde_json::Value),
    /// An object.
    Object(Vec<(&'static str, NewValue)>),
    /// An array.
    Array(Vec<NewValue>),
}

/// An element of an array, or a member of an object.
struct Child<'a> {
    key: Option<&'a str>,
    /// From the key to the end of the value.
    span: Range<usize>,
    value: &'a Value<'a>,
}

/// Replaces the value at `path`, or adds it as the last member of its object. `None` where there is
/// no such place.
pub fn set(text: &str, path: &[Step<'_>], value: &NewValue) -> Option<String> {
    let (last, before) = path.split_last()?;
    let root = parse(text)?;
    let parent = find(&root, before)?;
    let children = children(parent);
    match (place(&children, *last).map(|at| &children[at]), last) {
        (Some(child), _) => {
            let indent = line_indent(text, child.span.start);
            let old = span(child.value);
            let is_multiline = text[old.clone()].contains('\n');
            let new = Style::detect(text, &root).print(value, indent, is_multiline);
            Some(replaced(text, old, &new))
        }
        (None, Step::Key(key)) => Some(added(text, &root, parent, Some(key), value)),
        (None, Step::At(_)) => None,
    }
}

/// Adds an element at the end of the array at `path`.
pub fn push(text: &str, path: &[Step<'_>], value: &NewValue) -> Option<String> {
    let root = parse(text)?;
    let array = find(&root, path).filter(|value| matches!(value, Value::Array(_)))?;
    Some(added(text, &root, array, None, value))
}

/// Removes the value at `path`, with its key and its comma.
pub fn remove(text: &str, path: &[Step<'_>]) -> Option<String> {
    let (last, before) = path.split_last()?;
    let root = parse(text)?;
    let parent = find(&root, before)?;
    let children = children(parent);
    let at = place(&children, *last)?;
    let own = children[at].span.clone();
    let gone = match (at.checked_sub(1).map(|at| &children[at]), children.get(at + 1)) {
        (Some(previous), _) => previous.span.end..own.end,
        (None, Some(next)) => own.start..next.span.start,
        (None, None) => inside(parent),
    };
    Some(replaced(text, gone, ""))
}

fn replaced(text: &str, gone: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..gone.start], &text[gone.end..])
}

fn added(text: &str, root: &Value<'_>, parent: &Value<'_>, key: Option<&str>, value: &NewValue) -> String {
    let style = Style::detect(text, root);
    let named = |value: String| match key {
        Some(key) => format!("{}:{}{value}", json!(key), style.gap),
        None => value,
    };
    let own = line_indent(text, parent.start());
    let children = children(parent);
    let (Some(first), Some(last)) = (children.first(), children.last()) else {
        if !style.is_multiline {
            return replaced(text, inside(parent), &named(style.print(value, own, false)));
        }
        let indent = format!("{own}{}", style.unit);
        let value = named(style.print(value, &indent, true));
        return replaced(text, inside(parent), &format!("{0}{indent}{value}{0}{own}", style.line_end));
    };
    let is_multiline = text[parent.start()..first.span.start].contains('\n');
    let (indent, comma) = if is_multiline {
        let indent = line_indent(text, first.span.start);
        (indent, format!(",{}{indent}", style.line_end))
    } else {
        (own, format!(",{}", style.gap))
    };
    let value = named(style.print(value, indent, is_multiline));
    replaced(text, last.span.end..last.span.end, &format!("{comma}{value}"))
}

/// Returns the white space at the start of the line that a position is on.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The formatting of a file.
struct Style<'a> {
    /// One step of indentation.
    unit: &'a str,
    line_end: &'static str,
    /// After a colon, and after a comma on the same line.
    gap: &'static str,
    /// Whether the file has more than one line.
    is_multiline: bool,
}

impl<'a> Style<'a> {
    fn detect(text: &'a str, root: &Value<'_>) -> Self {
        let children = children(root);
        let first = children.first();
        let is_multiline = first.is_none() || text[span(root)].contains('\n');
        let unit = first.map_or("", |child| line_indent(text, child.span.start));
        let is_tight = first.is_some_and(|child| text[..child.value.start()].ends_with(':'));
        Self {
            unit: if unit.is_empty() { "  " } else { unit },
            line_end: if text.contains("\r\n") { "\r\n" } else { "\n" },
            gap: if is_tight { "" } else { " " },
            is_multiline,
        }
    }

    fn print(&self, value: &NewValue, indent: &str, is_multiline: bool) -> String {
        let inner = format!("{indent}{}", self.unit);
        let named = |(key, value): &(&str, NewValue)| {
            format!("{}:{}{}", json!(key), self.gap, self.print(value, &inner, is_multiline))
        };
        let (open, close, parts): (_, _, Vec<String>) = match value {
            NewValue::Plain(value) => return value.to_string(),
            NewValue::Object(members) => ('{', '}', members.iter().map(named).collect()),
            NewValue::Array(items) => {
                ('[', ']', items.iter().map(|item| self.print(item, &inner, is_multiline)).collect())
            }
        };
        if !is_multiline || parts.is_empty() {
            return format!("{open}{}{close}", parts.join(&format!(",{}", self.gap)));
        }
        let end = self.line_end;
        format!("{open}{end}{inner}{}{end}{indent}{close}", parts.join(&format!(",{end}{inner}")))
    }
}

fn parse(text: &str) -> Option<Value<'_>> {
    parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?.value
}

fn span(value: &Value<'_>) -> Range<usize> {
    value.start()..value.end()
}

/// The span between the brackets.
fn inside(container: &Value<'_>) -> Range<usize> {
    container.start() + 1..container.end() - 1
}

fn children<'a>(value: &'a Value<'a>) -> Vec<Child<'a>> {
    match value {
        Value::Object(object) => {
            let member = |member: &'a ObjectProp<'a>| Child {
                key: Some(member.name.as_str()),
                span: member.start()..member.end(),
                value: &member.value,
            };
            object.properties.iter().map(member).collect()
        }
        Value::Array(array) => {
            array.elements.iter().map(|value| Child { key: None, span: span(value), value }).collect()
        }
        _ => Vec::new(),
    }
}

fn place(children: &[Child<'_>], step: Step<'_>) -> Option<usize> {
    match step {
        Step::Key(key) => children.iter().rposition(|child| child.key == Some(key)),
        Step::At(at) => Some(at).filter(|at| children.get(*at).is_some_and(|child| child.key.is_none())),
    }
}

fn find<'a>(root: &'a Value<'a>, path: &[Step<'_>]) -> Option<&'a Value<'a>> {
    path.iter().try_fold(root, |value, step| {
        let children = children(value);
        Some(children[place(&children, *step)?].value)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::Step::{At, Key};
    use super::*;

    fn hook() -> NewValue {
        let members =
            [("type", "command"), ("command", "x")].map(|(key, value)| (key, NewValue::Plain(value.into())));
        NewValue::Array(vec![NewValue::Object(members.into())])
    }

    fn with_hook(text: &str) -> String {
        let added = set(text, &[Key("Stop")], &hook()).expect("a place");
        let value: Value = serde_json::from_str(&added).unwrap_or_else(|why| panic!("{why}: {added}"));
        assert_eq!(value["Stop"], json!([{"type": "command", "command": "x"}]));
        added
    }

    #[test]
    fn a_new_value_is_formatted_like_the_file() {
        for (text, wanted) in [
            (
                "{}",
                "{\n  \"Stop\": [\n    {\n      \"type\": \"command\",\n      \"command\": \"x\"\n    }\n  ]\n}",
            ),
            (r#"{"a":1}"#, r#"{"a":1,"Stop":[{"type":"command","command":"x"}]}"#),
            (r#"{"a": 1}"#, r#"{"a": 1, "Stop": [{"type": "command", "command": "x"}]}"#),
            (
                "{\r\n\t\"a\": 1\r\n}\r\n",
                "{\r\n\t\"a\": 1,\r\n\t\"Stop\": [\r\n\t\t{\r\n\t\t\t\"type\": \"command\",\r\n\t\t\t\"command\": \"x\"\r\n\t\t}\r\n\t]\r\n}\r\n",
            ),
        ] {
            assert_eq!(with_hook(text), wanted);
        }
    }

    #[test]
    fn a_value_is_removed_with_its_comma() {
        let text = "{\n  \"a\": [1, 2, 3],\n  \"b\": {\"c\": \"}\\\"\"}\n}";
        for (path, wanted) in [
            (&[Key("a"), At(0)][..], "{\n  \"a\": [2, 3],\n  \"b\": {\"c\": \"}\\\"\"}\n}"),
            (&[Key("a"), At(2)], "{\n  \"a\": [1, 2],\n  \"b\": {\"c\": \"}\\\"\"}\n}"),
            (&[Key("a")], "{\n  \"b\": {\"c\": \"}\\\"\"}\n}"),
            (&[Key("b")], "{\n  \"a\": [1, 2, 3]\n}"),
            (&[Key("b"), Key("c")], "{\n  \"a\": [1, 2, 3],\n  \"b\": {}\n}"),
        ] {
            assert_eq!(remove(text, path).as_deref(), Some(wanted));
        }
        assert_eq!(remove(text, &[Key("a"), At(3)]), None);
        assert_eq!(remove(text, &[Key("z")]), None);
    }

    #[test]
    fn a_value_is_set_in_place_and_the_last_of_two_keys_counts() {
        let text = r#"{"t": 1, "x": 0, "t": 2}"#;
        let three = NewValue::Plain(json!(3));
        assert_eq!(set(text, &[Key("t")], &three).as_deref(), Some(r#"{"t": 1, "x": 0, "t": 3}"#));
        let pushed = push(r#"{"a": [1]}"#, &[Key("a")], &three);
        assert_eq!(pushed.as_deref(), Some(r#"{"a": [1, 3]}"#));
        assert_eq!(push(text, &[Key("t")], &three), None, "no array");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z\"\\\\{},:\\[\\]é\n ]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"\\\\ ]{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn adding_and_removing_leaves_every_byte_as_it_was(
            rest in prop::collection::btree_map("[a-z\"\\\\ ]{0,4}", any_json(), 1..5),
            pretty: bool,
        ) {
            let rest = Value::Object(rest.into_iter().collect());
            let text = if pretty { serde_json::to_string_pretty(&rest) } else { serde_json::to_string(&rest) }.expect("json");
            let added = with_hook(&text);
            let more = push(&added, &[Key("Stop")], &hook()).expect("an array");
            prop_assert!(serde_json::from_str::<Value>(&more).is_ok(), "{}", more);
            prop_assert_eq!(remove(&more, &[Key("Stop"), At(1)]), Some(added.clone()));
            prop_assert_eq!(remove(&added, &[Key("Stop")]), Some(text));
        }
    }
}
