//! JSON edited where it stands: takes a text and a path in it, gives the text with one value set, added or taken out,
//! and every other byte as it was: order, indentation, line ends. Pure. Must only be given what a strict parser has
//! accepted; of a key that stands twice the last one counts, as it does for the client.

use std::ops::Range;

use serde_json::Value;

/// One step into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A member of an object.
    Key(&'a str),
    /// An element of an array.
    At(usize),
}

/// A value that is to be written, its members in the order in which they shall stand.
#[derive(Debug, Clone, PartialEq)]
pub enum Fresh {
    /// As it is.
    Plain(Value),
    /// An object.
    Object(Vec<(&'static str, Fresh)>),
    /// An array.
    Array(Vec<Fresh>),
}

/// A value, and where it stands.
#[derive(Debug)]
struct Node {
    span: Range<usize>,
    children: Vec<Child>,
}

/// An element, or a member with its key.
#[derive(Debug)]
struct Child {
    key: Option<String>,
    /// From the key to the end of the value.
    span: Range<usize>,
    value: Node,
}

/// Puts a value in the place of the one at `path`; adds it as the last member where its object has none of that name.
/// `None` where there is no such place.
pub fn set(text: &str, path: &[Step<'_>], value: &Fresh) -> Option<String> {
    let (last, before) = path.split_last()?;
    let root = parse(text)?;
    let parent = root.find(before)?;
    match (parent.child(*last), last) {
        (Some(child), _) => {
            let indent = line_indent(text, child.span.start);
            let style = Style::of(text, &root);
            let is_open = text[child.value.span.clone()].contains('\n');
            Some(replaced(text, child.value.span.clone(), &style.print(value, indent, is_open)))
        }
        (None, Step::Key(key)) => Some(added(text, &root, parent, Some(key), value)),
        (None, Step::At(_)) => None,
    }
}

/// Adds an element at the end of the array at `path`.
pub fn push(text: &str, path: &[Step<'_>], value: &Fresh) -> Option<String> {
    let root = parse(text)?;
    let array = root.find(path).filter(|node| text[node.span.clone()].starts_with('['))?;
    Some(added(text, &root, array, None, value))
}

/// Takes the value at `path` out, with its key and its comma.
pub fn remove(text: &str, path: &[Step<'_>]) -> Option<String> {
    let (last, before) = path.split_last()?;
    let root = parse(text)?;
    let parent = root.find(before)?;
    let at = parent.place(*last)?;
    let span = |at: usize| parent.children.get(at).map(|child| child.span.clone());
    let gone = match (at.checked_sub(1).and_then(span), span(at)?, span(at + 1)) {
        (Some(earlier), own, _) => earlier.end..own.end,
        (None, own, Some(later)) => own.start..later.start,
        (None, _, None) => parent.span.start + 1..parent.span.end - 1,
    };
    Some(replaced(text, gone, ""))
}

fn replaced(text: &str, gone: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..gone.start], &text[gone.end..])
}

fn added(text: &str, root: &Node, parent: &Node, key: Option<&str>, value: &Fresh) -> String {
    let style = Style::of(text, root);
    let named = |value: String| match key {
        Some(key) => format!("{}:{}{value}", Value::from(key), style.gap),
        None => value,
    };
    let own = line_indent(text, parent.span.start);
    let Some(last) = parent.children.last() else {
        let inside = parent.span.start + 1..parent.span.end - 1;
        if !style.is_open {
            return replaced(text, inside, &named(style.print(value, own, false)));
        }
        let indent = format!("{own}{}", style.unit);
        let value = named(style.print(value, &indent, true));
        return replaced(text, inside, &format!("{0}{indent}{value}{0}{own}", style.line_end));
    };
    let first = &parent.children[0];
    let is_open = text[parent.span.start..first.span.start].contains('\n');
    let between = if is_open {
        format!(",{}{}", style.line_end, line_indent(text, first.span.start))
    } else {
        format!(",{}", style.gap)
    };
    let indent = line_indent(text, if is_open { first.span.start } else { parent.span.start });
    let value = named(style.print(value, indent, is_open));
    replaced(text, last.span.end..last.span.end, &format!("{between}{value}"))
}

/// The white space with which the line begins that a place is on.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// How the person writes JSON, as far as the file tells.
struct Style<'a> {
    /// One step of indentation.
    unit: &'a str,
    line_end: &'static str,
    /// What stands after a colon, and after a comma on the same line.
    gap: &'static str,
    /// Whether it is set over several lines.
    is_open: bool,
}

impl<'a> Style<'a> {
    fn of(text: &'a str, root: &Node) -> Self {
        let first = root.children.first();
        let is_open = first.is_none() || text[root.span.clone()].contains('\n');
        let unit = first.map_or("", |child| line_indent(text, child.span.start));
        let is_tight = first.is_some_and(|child| {
            let colon = text[child.span.start..child.value.span.start].rfind(':');
            colon.is_some_and(|at| child.span.start + at + 1 == child.value.span.start)
        });
        Self {
            unit: if unit.is_empty() { "  " } else { unit },
            line_end: if text.contains("\r\n") { "\r\n" } else { "\n" },
            gap: if is_tight { "" } else { " " },
            is_open,
        }
    }

    fn print(&self, value: &Fresh, indent: &str, is_open: bool) -> String {
        let inner = format!("{indent}{}", self.unit);
        let named = |(key, value): &(&str, Fresh)| {
            format!("{}:{}{}", Value::from(*key), self.gap, self.print(value, &inner, is_open))
        };
        let (open, close, parts): (_, _, Vec<String>) = match value {
            Fresh::Plain(value) => return value.to_string(),
            Fresh::Object(members) => ('{', '}', members.iter().map(named).collect()),
            Fresh::Array(items) => {
                ('[', ']', items.iter().map(|item| self.print(item, &inner, is_open)).collect())
            }
        };
        if !is_open || parts.is_empty() {
            return format!("{open}{}{close}", parts.join(&format!(",{}", self.gap)));
        }
        let end = self.line_end;
        format!("{open}{end}{inner}{}{end}{indent}{close}", parts.join(&format!(",{end}{inner}")))
    }
}

impl Node {
    fn place(&self, step: Step<'_>) -> Option<usize> {
        match step {
            Step::Key(key) => self.children.iter().rposition(|child| child.key.as_deref() == Some(key)),
            Step::At(at) => Some(at).filter(|at| self.children.get(*at).is_some_and(|c| c.key.is_none())),
        }
    }

    fn child(&self, step: Step<'_>) -> Option<&Child> {
        self.place(step).map(|at| &self.children[at])
    }

    fn find(&self, path: &[Step<'_>]) -> Option<&Self> {
        path.iter().try_fold(self, |node, step| node.child(*step).map(|child| &child.value))
    }
}

fn parse(text: &str) -> Option<Node> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_space();
    reader.value()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| b" \t\r\n".contains(&byte)) {
            self.at += 1;
        }
    }

    /// A value, and the white space after it.
    fn value(&mut self) -> Option<Node> {
        let start = self.at;
        let mut children = Vec::new();
        match self.peek()? {
            open @ (b'{' | b'[') => {
                self.at += 1;
                self.skip_space();
                while !matches!(self.peek()?, b'}' | b']') {
                    if self.peek() == Some(b',') {
                        self.at += 1;
                        self.skip_space();
                    }
                    children.push(self.child(open == b'{')?);
                }
                self.at += 1;
            }
            b'"' => self.string()?,
            _ => {
                while self.peek().is_some_and(|byte| !b" \t\r\n,]}".contains(&byte)) {
                    self.at += 1;
                }
            }
        }
        let span = start..self.at;
        self.skip_space();
        (!span.is_empty()).then_some(Node { span, children })
    }

    fn child(&mut self, has_key: bool) -> Option<Child> {
        let start = self.at;
        let mut key = None;
        if has_key {
            self.string()?;
            key = Some(serde_json::from_str(&self.text[start..self.at]).ok()?);
            self.skip_space();
            (self.peek() == Some(b':')).then_some(())?;
            self.at += 1;
            self.skip_space();
        }
        let value = self.value()?;
        Some(Child { key, span: start..value.span.end, value })
    }

    fn string(&mut self) -> Option<()> {
        (self.peek() == Some(b'"')).then_some(())?;
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::client::settings::json_edit::Step::{At, Key};

    fn hook() -> Fresh {
        let members =
            [("type", "command"), ("command", "x")].map(|(key, value)| (key, Fresh::Plain(value.into())));
        Fresh::Array(vec![Fresh::Object(members.into())])
    }

    fn with_hook(text: &str) -> String {
        let added = set(text, &[Key("Stop")], &hook()).expect("a place");
        let value: Value = serde_json::from_str(&added).unwrap_or_else(|why| panic!("{why}: {added}"));
        assert_eq!(value["Stop"], json!([{"type": "command", "command": "x"}]));
        added
    }

    #[test]
    fn what_is_added_stands_as_the_rest_does() {
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
    fn what_is_taken_out_takes_its_comma_along() {
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
        let three = Fresh::Plain(json!(3));
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
        fn what_is_added_and_taken_out_leaves_every_byte_as_it_was(
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
