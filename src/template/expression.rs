//! What stands between the marks of a template: takes its words, gives its value for the values at hand. Must not
//! fail on a value that is missing: that is nothing, and not true.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Map, Value};

/// An expression that was read.
#[derive(Debug, PartialEq)]
pub(super) enum Expression {
    Value(Value),
    /// A name, and what is in it.
    Path(Vec<String>),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Compare(Box<Expression>, &'static str, Box<Expression>),
    /// The condition, and what it is with and without.
    Pick(Box<[Expression; 3]>),
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

/// Whether a word can be a name.
pub(super) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a value counts as true: there, not zero, not empty.
pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

impl Expression {
    /// Reads it; gives what is wrong where it can't.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut words = Words { words: words(text)?, next: 0 };
        let expression = words.pick()?;
        match words.peek() {
            None => Ok(expression),
            Some(word) => Err(format!("unexpected `{word}`")),
        }
    }

    /// What it comes to.
    pub(super) fn value<'a>(&'a self, scope: &'a Map<String, Value>) -> Cow<'a, Value> {
        match self {
            Self::Value(value) => Cow::Borrowed(value),
            Self::Path(names) => {
                let found = names.split_first().and_then(|(first, inner)| {
                    inner.iter().try_fold(scope.get(first)?, |value, name| value.get(name))
                });
                found.map_or(Cow::Owned(Value::Null), Cow::Borrowed)
            }
            Self::Not(inner) => Cow::Owned(Value::Bool(!is_true(&inner.value(scope)))),
            Self::And(left, right) => {
                Some(left.value(scope)).filter(|left| !is_true(left)).unwrap_or_else(|| right.value(scope))
            }
            Self::Or(left, right) => {
                Some(left.value(scope)).filter(|left| is_true(left)).unwrap_or_else(|| right.value(scope))
            }
            Self::Compare(left, by, right) => {
                Cow::Owned(Value::Bool(compare(&left.value(scope), by, &right.value(scope))))
            }
            Self::Pick(parts) => {
                let [condition, with, without] = &**parts;
                if is_true(&condition.value(scope)) { with.value(scope) } else { without.value(scope) }
            }
        }
    }
}

fn compare(left: &Value, by: &str, right: &Value) -> bool {
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => {
            left.as_f64().zip(right.as_f64()).and_then(|(left, right)| left.partial_cmp(&right))
        }
        _ => (left == right).then_some(Ordering::Equal),
    };
    match by {
        "==" => order == Some(Ordering::Equal),
        "!=" => order != Some(Ordering::Equal),
        "<" => order == Some(Ordering::Less),
        ">" => order == Some(Ordering::Greater),
        "<=" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// The words of an expression: names with their dots, numbers, texts in quotes, signs.
fn words(text: &str) -> Result<Vec<&str>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = if first == '"' || first == '\'' {
            rest[1..].find(first).map(|at| at + 2).ok_or("a text in quotes has no end")?
        } else if let Some(sign) = COMPARISONS.iter().find(|sign| rest.starts_with(**sign)) {
            sign.len()
        } else if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    Ok(words)
}

struct Words<'a> {
    words: Vec<&'a str>,
    next: usize,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.next).copied()
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(word);
        self.next += usize::from(is_next);
        is_next
    }

    fn pick(&mut self) -> Result<Expression, String> {
        let with = self.or()?;
        if !self.take("if") {
            return Ok(with);
        }
        let condition = self.or()?;
        let without = if self.take("else") { self.pick()? } else { Expression::Value(Value::Null) };
        Ok(Expression::Pick(Box::new([condition, with, without])))
    }

    fn or(&mut self) -> Result<Expression, String> {
        let mut left = self.and()?;
        while self.take("or") {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expression, String> {
        let mut left = self.not()?;
        while self.take("and") {
            left = Expression::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expression, String> {
        if self.take("not") {
            return Ok(Expression::Not(Box::new(self.not()?)));
        }
        let left = self.single()?;
        match COMPARISONS.into_iter().find(|sign| self.take(sign)) {
            Some(sign) => Ok(Expression::Compare(Box::new(left), sign, Box::new(self.single()?))),
            None => Ok(left),
        }
    }

    fn single(&mut self) -> Result<Expression, String> {
        let word = self.peek().ok_or("an expression is missing")?;
        self.next += 1;
        if word == "(" {
            let inner = self.pick()?;
            return if self.take(")") { Ok(inner) } else { Err("`(` has no end".into()) };
        }
        let quoted = word.strip_prefix(['"', '\'']).map(|inner| &inner[..inner.len().saturating_sub(1)]);
        let value = match (quoted, word) {
            (Some(text), _) => Value::String(text.to_owned()),
            (None, "true" | "True") => Value::Bool(true),
            (None, "false" | "False") => Value::Bool(false),
            (None, "none" | "None") => Value::Null,
            (None, word) if word.starts_with(|c: char| c.is_ascii_digit()) => {
                serde_json::from_str(word).map_err(|_| format!("`{word}` is not a number"))?
            }
            (None, word) if word.split('.').all(is_name) => {
                return Ok(Expression::Path(word.split('.').map(str::to_owned).collect()));
            }
            (None, word) => return Err(format!("unexpected `{word}`")),
        };
        Ok(Expression::Value(value))
    }
}
