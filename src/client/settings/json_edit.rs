//! Edits JSON in place: sets, appends or removes one value and leaves every other byte as it was.
//! Pure. Must only be given text that a strict parser has accepted. If a key is repeated, the last
//! one counts, as for the client. A path has keys and indexes: `hooks/Stop/0`.
//!
//! `jsonc-parser` finds the values. Its own editor is not used: it writes new objects over several
//! lines and with spaces, whatever the rest of the file looks like, so that removing the hook would
//! not restore the file.

use std::ops::Range;

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::json;

/// An element of an array, or a member of an object.
struct Child<'a> {
    key: Option<&'a str>,
    /// From the key to the end of the value.
    span: Range<usize>,
    value: &'a Value<'a>,
}

/// Replaces the value at `path`, or adds it as the last member of its object. `None` if there is no
/// such place.
pub fn set(text: &str, path: &str, json: &str) -> Option<String> {
    let (before, last) = path.rsplit_once('/').unwrap_or(("", path));
    let root = parse(text)?;
    let parent = find(&root, before)?;
    let children = children(parent);
    match place(parent, &children, last) {
        Some(at) => {
            let indent = line_indent(text, children[at].span.start);
            let old = span(children[at].value);
            let is_multiline = text[old.clone()].contains('\n');
            let new = Style::detect(text, &root).print(json, &parse(json)?, indent, is_multiline);
            Some(replaced(text, old, &new))
        }
        None if matches!(parent, Value::Object(_)) => added(text, &root, parent, Some(last), json),
        None => None,
    }
}

/// Adds an element at the end of the array at `path`.
pub fn push(text: &str, path: &str, json: &str) -> Option<String> {
    let root = parse(text)?;
    let array = find(&root, path).filter(|value| matches!(value, Value::Array(_)))?;
    added(text, &root, array, None, json)
}

/// Removes the value at `path`, with its key and its comma.
pub fn remove(text: &str, path: &str) -> Option<String> {
    let (before, last) = path.rsplit_once('/').unwrap_or(("", path));
    let root = parse(text)?;
    let parent = find(&root, before)?;
    let children = children(parent);
    let at = place(parent, &children, last)?;
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

fn added(text: &str, root: &Value<'_>, parent: &Value<'_>, key: Option<&str>, json: &str) -> Option<String> {
    let style = Style::detect(text, root);
    let value = parse(json)?;
    let print =
        |indent: &str, is_multiline| style.named(key, style.print(json, &value, indent, is_multiline));
    let own = line_indent(text, parent.start());
    let children = children(parent);
    let (Some(first), Some(last)) = (children.first(), children.last()) else {
        let indent = format!("{own}{}", style.unit);
        let new = if style.is_multiline {
            format!("{0}{indent}{1}{0}{own}", style.line_end, print(&indent, true))
        } else {
            print(own, false)
        };
        return Some(replaced(text, inside(parent), &new));
    };
    let is_multiline = text[parent.start()..first.span.start].contains('\n');
    let (indent, comma) = if is_multiline {
        let indent = line_indent(text, first.span.start);
        (indent, format!(",{}{indent}", style.line_end))
    } else {
        (own, format!(",{}", style.gap))
    };
    let new = format!("{comma}{}", print(indent, is_multiline));
    Some(replaced(text, last.span.end..last.span.end, &new))
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
    /// The space after a colon, and after a comma on the same line.
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

    fn named(&self, key: Option<&str>, value: String) -> String {
        match key {
            Some(key) => format!("{}:{}{value}", json!(key), self.gap),
            None => value,
        }
    }

    /// Formats a value of `json` in the style of the file.
    fn print(&self, json: &str, value: &Value<'_>, indent: &str, is_multiline: bool) -> String {
        let (open, close) = match value {
            Value::Object(_) => ('{', '}'),
            Value::Array(_) => ('[', ']'),
            _ => return json[span(value)].to_owned(),
        };
        let inner = format!("{indent}{}", self.unit);
        let parts: Vec<String> = children(value)
            .iter()
            .map(|child| self.named(child.key, self.print(json, child.value, &inner, is_multiline)))
            .collect();
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

/// Returns the span between the brackets.
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

fn place(parent: &Value<'_>, children: &[Child<'_>], step: &str) -> Option<usize> {
    match parent {
        Value::Array(_) => step.parse().ok().filter(|at| *at < children.len()),
        _ => children.iter().rposition(|child| child.key == Some(step)),
    }
}

fn find<'a>(root: &'a Value<'a>, path: &str) -> Option<&'a Value<'a>> {
    path.split('/').filter(|step| !step.is_empty()).try_fold(root, |value, step| {
        let children = children(value);
        Some(children[place(value, &children, step)?].value)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    const HOOK: &str = r#"[{"type":"command","command":"x"}]"#;

    fn with_hook(text: &str) -> String {
        let added = set(text, "Stop", HOOK).expect("a place");
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
            ("a/0", "{\n  \"a\": [2, 3],\n  \"b\": {\"c\": \"}\\\"\"}\n}"),
            ("a/2", "{\n  \"a\": [1, 2],\n  \"b\": {\"c\": \"}\\\"\"}\n}"),
            ("a", "{\n  \"b\": {\"c\": \"}\\\"\"}\n}"),
            ("b", "{\n  \"a\": [1, 2, 3]\n}"),
            ("b/c", "{\n  \"a\": [1, 2, 3],\n  \"b\": {}\n}"),
        ] {
            assert_eq!(remove(text, path).as_deref(), Some(wanted));
        }
        assert_eq!(remove(text, "a/3"), None);
        assert_eq!(remove(text, "z"), None);
    }

    #[test]
    fn a_value_is_set_in_place_and_the_last_of_two_keys_counts() {
        let text = r#"{"t": 1, "x": 0, "t": 2}"#;
        assert_eq!(set(text, "t", "3").as_deref(), Some(r#"{"t": 1, "x": 0, "t": 3}"#));
        let pushed = push(r#"{"a": [1]}"#, "a", "3");
        assert_eq!(pushed.as_deref(), Some(r#"{"a": [1, 3]}"#));
        assert_eq!(push(text, "t", "3"), None, "no array");
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
            let more = push(&added, "Stop", HOOK).expect("an array");
            prop_assert!(serde_json::from_str::<Value>(&more).is_ok(), "{}", more);
            prop_assert_eq!(remove(&more, "Stop/1"), Some(added.clone()));
            prop_assert_eq!(remove(&added, "Stop"), Some(text));
        }
    }
}
