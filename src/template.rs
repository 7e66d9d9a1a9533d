//! The texts with places to fill in: takes a template and the values, gives the text. Of Jinja's language it knows
//! what such texts need: `{{ value }}`, `{% if %}`, `{% for %}`, `{# comment #}`, `-` beside a mark to take white space
//! away, `or`, `and`, `not`, comparisons, `a if b else c`, and `loop.index`. Must not read what is filled in as a
//! template, nor escape it; what is not there is filled in as nothing.

mod expression;

use serde_json::{Map, Value, json};

use expression::{Expression, is_true};

/// A template that was read.
#[derive(Debug, PartialEq)]
pub struct Template(Vec<Node>);

#[derive(Debug, PartialEq)]
enum Node {
    Text(String),
    Fill(Expression),
    /// The branches in their order, and what is left if none is taken.
    If(Vec<(Expression, Vec<Node>)>, Vec<Node>),
    For {
        name: String,
        list: Expression,
        each: Vec<Node>,
        none: Vec<Node>,
    },
}

/// What is wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("syntax error: {what} (line {line})")]
pub struct TemplateError {
    what: String,
    line: usize,
}

/// A piece of a template, and the line on which it begins.
#[derive(Debug)]
struct Piece<'a> {
    line: usize,
    kind: Kind<'a>,
}

#[derive(Debug)]
enum Kind<'a> {
    Text(&'a str),
    Fill(&'a str),
    Block(&'a str),
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let pieces = pieces(text.strip_suffix('\n').unwrap_or(text))?;
        let mut reader = Reader { pieces: pieces.into_iter().peekable() };
        let nodes = reader.nodes()?;
        match reader.pieces.next() {
            None => Ok(Self(nodes)),
            Some(Piece { line, kind: Kind::Block(block) }) => {
                Err(error(format!("`{block}` has no beginning"), line))
            }
            Some(Piece { line, .. }) => Err(error("text after the end".into(), line)),
        }
    }

    /// Fills it in with the values of an object.
    pub fn fill(&self, values: Value) -> String {
        let mut text = String::new();
        let Value::Object(mut scope) = values else { return text };
        write(&self.0, &mut scope, &mut text);
        text
    }
}

fn error(what: String, line: usize) -> TemplateError {
    TemplateError { what, line }
}

/// Cuts a template at its marks. A `-` inside of a mark takes the white space on its side away.
fn pieces(template: &str) -> Result<Vec<Piece<'_>>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = template;
    let mut trims_start = false;
    let mut next_line = 1;
    loop {
        let line = next_line;
        let is_mark = |at: &usize| matches!(rest.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#'));
        let open = rest.match_indices('{').map(|(at, _)| at).find(is_mark);
        let text = &rest[..open.unwrap_or(rest.len())];
        let text = if trims_start { text.trim_start() } else { text };
        let Some(open) = open else {
            pieces.push(Piece { line, kind: Kind::Text(text) });
            return Ok(pieces);
        };
        let line = line + breaks(&rest[..open]);
        let (mark, inner) = rest[open..].split_at(2);
        let close = match mark {
            "{{" => "}}",
            "{%" => "%}",
            _ => "#}",
        };
        let Some(end) = end_of(inner, close) else { return Err(error(format!("`{mark}` has no end"), line)) };
        let (body, after) = (&inner[..end], &inner[end + close.len()..]);
        let (body, trims_before) = body.strip_prefix('-').map_or((body, false), |body| (body, true));
        let (body, trims_after) = body.strip_suffix('-').map_or((body, false), |body| (body, true));
        pieces.push(Piece { line, kind: Kind::Text(if trims_before { text.trim_end() } else { text }) });
        let kind = match mark {
            "{{" => Some(Kind::Fill(body.trim())),
            "{%" => Some(Kind::Block(body.trim())),
            _ => None,
        };
        pieces.extend(kind.map(|kind| Piece { line, kind }));
        next_line = line + breaks(&inner[..inner.len() - after.len()]);
        rest = after;
        trims_start = trims_after;
    }
}

/// Where a mark ends; a mark in quotes is none.
fn end_of(inner: &str, close: &str) -> Option<usize> {
    if close == "#}" {
        return inner.find(close);
    }
    let mut quote = None;
    inner.char_indices().find_map(|(at, c)| {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, _) if inner[at..].starts_with(close) => return Some(at),
            _ => {}
        }
        None
    })
}

fn breaks(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

struct Reader<'a> {
    pieces: std::iter::Peekable<std::vec::IntoIter<Piece<'a>>>,
}

impl<'a> Reader<'a> {
    /// Reads up to a block that is none of its own: an end, or another branch.
    fn nodes(&mut self) -> Result<Vec<Node>, TemplateError> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.next_if(|piece| !is_inner(&piece.kind)) {
            let at = piece.line;
            match piece.kind {
                Kind::Text("") => {}
                Kind::Text(text) => nodes.push(Node::Text(text.to_owned())),
                Kind::Fill(text) => nodes.push(Node::Fill(expression(text, at)?)),
                Kind::Block(block) => nodes.push(match block.split_once(char::is_whitespace) {
                    Some(("if", condition)) => self.branches(condition, at)?,
                    Some(("for", each)) => self.each(each, at)?,
                    _ => return Err(error(format!("unknown block `{block}`"), at)),
                }),
            }
        }
        Ok(nodes)
    }

    fn branches(&mut self, condition: &str, at: usize) -> Result<Node, TemplateError> {
        let mut branches = vec![(expression(condition, at)?, self.nodes()?)];
        loop {
            let (block, line) = self.inner(at, "if")?;
            match block.split_once(char::is_whitespace) {
                Some(("elif", condition)) => branches.push((expression(condition, line)?, self.nodes()?)),
                None if block == "else" => {
                    let none = self.nodes()?;
                    self.ends(at, "if")?;
                    return Ok(Node::If(branches, none));
                }
                None if block == "endif" => return Ok(Node::If(branches, Vec::new())),
                _ => return Err(error(format!("`{block}` inside of `if`"), line)),
            }
        }
    }

    fn each(&mut self, each: &str, at: usize) -> Result<Node, TemplateError> {
        let (name, list) = each
            .split_once(" in ")
            .map(|(name, list)| (name.trim(), list))
            .filter(|(name, _)| expression::is_name(name))
            .ok_or_else(|| error(format!("`for {each}` is not `for NAME in LIST`"), at))?;
        let (name, list) = (name.to_owned(), expression(list, at)?);
        let each = self.nodes()?;
        let (block, line) = self.inner(at, "for")?;
        let none = match block {
            "endfor" => Vec::new(),
            "else" => {
                let none = self.nodes()?;
                self.ends(at, "for")?;
                none
            }
            _ => return Err(error(format!("`{block}` inside of `for`"), line)),
        };
        Ok(Node::For { name, list, each, none })
    }

    /// The block that `nodes` stopped at.
    fn inner(&mut self, at: usize, of: &str) -> Result<(&'a str, usize), TemplateError> {
        match self.pieces.next() {
            Some(Piece { line, kind: Kind::Block(block) }) => Ok((block, line)),
            _ => Err(error(format!("`{of}` has no `end{of}`"), at)),
        }
    }

    fn ends(&mut self, at: usize, of: &str) -> Result<(), TemplateError> {
        let (block, line) = self.inner(at, of)?;
        if block == format!("end{of}") { Ok(()) } else { Err(error(format!("`{block}` after `else`"), line)) }
    }
}

fn is_inner(kind: &Kind<'_>) -> bool {
    let Kind::Block(block) = kind else { return false };
    let word = block.split(char::is_whitespace).next().unwrap_or_default();
    ["elif", "else", "endif", "endfor"].contains(&word)
}

fn expression(text: &str, line: usize) -> Result<Expression, TemplateError> {
    Expression::parse(text).map_err(|what| error(what, line))
}

fn write(nodes: &[Node], scope: &mut Map<String, Value>, text: &mut String) {
    for node in nodes {
        match node {
            Node::Text(words) => text.push_str(words),
            Node::Fill(expression) => match &*expression.value(scope) {
                Value::Null => {}
                Value::String(words) => text.push_str(words),
                other => text.push_str(&other.to_string()),
            },
            Node::If(branches, none) => {
                let taken = branches.iter().find(|(condition, _)| is_true(&condition.value(scope)));
                write(taken.map_or(none, |(_, nodes)| nodes), scope, text);
            }
            Node::For { name, list, each, none } => {
                let items = list.value(scope).as_array().cloned().unwrap_or_default();
                if items.is_empty() {
                    write(none, scope, text);
                }
                let (hidden, outer) = (scope.get(name).cloned(), scope.get("loop").cloned());
                let count = items.len();
                for (at, item) in items.into_iter().enumerate() {
                    let round = json!({ "index": at + 1, "index0": at, "first": at == 0, "last": at + 1 == count, "length": count });
                    scope.insert(name.clone(), item);
                    scope.insert("loop".into(), round);
                    write(each, scope, text);
                }
                for (name, before) in [(name.as_str(), hidden), ("loop", outer)] {
                    scope.remove(name);
                    scope.extend(before.map(|before| (name.to_owned(), before)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, values: &Value) -> String {
        Template::parse(template).expect("a template").fill(values.clone())
    }

    fn said(template: &str) -> String {
        Template::parse(template).expect_err("a fault").to_string()
    }

    #[test]
    fn values_are_filled_in_as_they_are() {
        let values = json!({ "a": "<{{ b }}>", "n": 3, "yes": true, "o": { "in": "deep" }, "none": null });
        assert_eq!(
            filled("{{ a }}|{{n}}|{{ yes }}|{{ o.in }}|{{ none }}{{ no.such }}|\n", &values),
            "<{{ b }}>|3|true|deep||"
        );
        assert_eq!(filled("{{ \"}}\" }}{{ 'x' }}{# {{ a }} #}", &values), "}}x");
    }

    #[test]
    fn branches_are_taken_by_what_is_true() {
        let text = "{% if n == 1 %}one{% elif n > 1 and not odd %}many{% else %}none{% endif %}";
        let of = |n: i64, odd: bool| filled(text, &json!({ "n": n, "odd": odd }));
        assert_eq!(
            (of(1, true), of(2, false), of(2, true), of(0, false)),
            ("one".into(), "many".into(), "none".into(), "none".into())
        );
        let pick = "{{ a or b or 'c' }} {{ 'is' if (n != 2) else \"are\" }}";
        assert_eq!(filled(pick, &json!({ "a": "", "b": [], "n": 2 })), "c are");
        assert_eq!(filled(pick, &json!({ "b": "B" })), "B is");
    }

    #[test]
    fn lists_are_gone_through_and_a_name_means_what_it_meant_after() {
        let values = json!({ "x": "out", "list": [{ "n": "a" }, { "n": "b" }], "empty": [] });
        let text = "{% for x in list %}{{ loop.index }}{{ x.n }}{% if not loop.last %}, {% endif %}{% endfor %} {{ x }}{{ loop.index }}";
        assert_eq!(filled(text, &values), "1a, 2b out");
        assert_eq!(filled("{% for x in empty %}x{% else %}none{% endfor %}", &values), "none");
    }

    #[test]
    fn a_dash_takes_the_white_space_on_its_side_away() {
        assert_eq!(filled("a \n {%- if x %} b {%- endif -%} \n c", &json!({ "x": 1 })), "a bc");
        assert_eq!(filled("a {{- x -}} b", &json!({ "x": 1 })), "a1b");
    }

    #[test]
    fn faults_are_told_with_their_line() {
        for (template, fault) in [
            ("a\n{{ x", "syntax error: `{{` has no end (line 2)"),
            ("{% for x in %}", "syntax error: `for x in` is not `for NAME in LIST` (line 1)"),
            ("{{ a or }}", "syntax error: an expression is missing (line 1)"),
            ("{% for x y %}", "syntax error: `for x y` is not `for NAME in LIST` (line 1)"),
            ("{% if a %}\nx", "syntax error: `if` has no `endif` (line 1)"),
            ("{% if a %}{% endfor %}", "syntax error: `endfor` inside of `if` (line 1)"),
            ("x{% endif %}", "syntax error: `endif` has no beginning (line 1)"),
            ("{% macro x() %}", "syntax error: unknown block `macro x()` (line 1)"),
            ("\n\n{{ a | upper }}", "syntax error: unexpected `|` (line 3)"),
            ("{{ 'a }} b", "syntax error: `{{` has no end (line 1)"),
            ("{{ a b }}", "syntax error: unexpected `b` (line 1)"),
        ] {
            assert_eq!(said(template), fault);
        }
    }
}
