//! Takes a pattern as written, gives it as a tree. Pure.

use super::class::{Class, Kind, folded};
use super::{BadPattern, Look};

/// A part of a pattern.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Char(char),
    Folded(char),
    Class(Class),
    Look(Look),
    /// A group that is asked for, by its number.
    Group(Box<Node>, usize),
    Row(Vec<Node>),
    Either(Vec<Node>),
    Repeat {
        node: Box<Node>,
        least: usize,
        most: Option<usize>,
        greedy: bool,
    },
}

#[derive(Clone, Copy)]
struct Flags {
    folds: bool,
    lines: bool,
    unicode: bool,
}

struct Parser<'a> {
    pattern: &'a str,
    at: usize,
    groups: usize,
}

/// The tree, and how many groups it has, the whole being one.
pub(super) fn parse(pattern: &str) -> Result<(Node, usize), BadPattern> {
    let mut parser = Parser { pattern, at: 0, groups: 1 };
    let flags = Flags { folds: false, lines: false, unicode: true };
    let node = parser.either(flags)?;
    if parser.at < pattern.len() {
        return Err(parser.bad("a bracket too many"));
    }
    Ok((node, parser.groups))
}

impl Parser<'_> {
    fn bad(&self, why: &'static str) -> BadPattern {
        BadPattern { pattern: self.pattern.to_owned(), at: self.at, why }
    }

    fn peek(&self) -> Option<char> {
        self.pattern[self.at..].chars().next()
    }

    fn next(&mut self) -> Result<char, BadPattern> {
        let c = self.peek().ok_or_else(|| self.bad("it ends too soon"))?;
        self.at += c.len_utf8();
        Ok(c)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let is_there = self.pattern[self.at..].starts_with(wanted);
        if is_there {
            self.at += wanted.len();
        }
        is_there
    }

    fn either(&mut self, mut flags: Flags) -> Result<Node, BadPattern> {
        let mut ways = Vec::new();
        let mut row = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                ')' => break,
                '|' => {
                    self.at += 1;
                    ways.push(Node::Row(std::mem::take(&mut row)));
                }
                _ => {
                    if let Some(node) = self.one(&mut flags)? {
                        row.push(self.repeated(node)?);
                    }
                }
            }
        }
        if ways.is_empty() {
            return Ok(if row.len() == 1 { row.swap_remove(0) } else { Node::Row(row) });
        }
        ways.push(Node::Row(row));
        Ok(Node::Either(ways))
    }

    /// One part; none where only flags were set for what follows.
    fn one(&mut self, flags: &mut Flags) -> Result<Option<Node>, BadPattern> {
        let node = match self.next()? {
            '(' => return self.group(flags),
            '[' => Node::Class(self.class(*flags)?),
            '.' => {
                let mut class = Class::default();
                class.add('\n', '\n', false);
                class.negate();
                Node::Class(class)
            }
            '^' => Node::Look(if flags.lines { Look::LineStart } else { Look::TextStart }),
            '$' => Node::Look(if flags.lines { Look::LineEnd } else { Look::TextEnd }),
            '\\' => self.escape(*flags)?,
            '*' | '+' | '?' | '{' => return Err(self.bad("nothing to repeat")),
            c => literal(c, *flags),
        };
        Ok(Some(node))
    }

    fn group(&mut self, flags: &mut Flags) -> Result<Option<Node>, BadPattern> {
        if !self.take("?") {
            let number = self.groups;
            self.groups += 1;
            let inner = self.either(*flags)?;
            return self.closed(Node::Group(Box::new(inner), number)).map(Some);
        }
        let mut set = *flags;
        let mut on = true;
        loop {
            match self.next()? {
                '-' => on = false,
                'i' => set.folds = on,
                'm' => set.lines = on,
                'u' => set.unicode = on,
                ')' => {
                    *flags = set;
                    return Ok(None);
                }
                ':' => break,
                _ => return Err(self.bad("an unknown flag")),
            }
        }
        let inner = self.either(set)?;
        self.closed(inner).map(Some)
    }

    fn closed(&mut self, node: Node) -> Result<Node, BadPattern> {
        if self.take(")") { Ok(node) } else { Err(self.bad("a group without an end")) }
    }

    fn repeated(&mut self, node: Node) -> Result<Node, BadPattern> {
        let mut node = node;
        loop {
            let (least, most) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => {
                    let (least, most) = self.counts()?;
                    node = self.with_counts(node, least, most);
                    continue;
                }
                _ => return Ok(node),
            };
            self.at += 1;
            node = self.with_counts(node, least, most);
        }
    }

    fn with_counts(&mut self, node: Node, least: usize, most: Option<usize>) -> Node {
        let greedy = !self.take("?");
        Node::Repeat { node: Box::new(node), least, most, greedy }
    }

    /// `{2}`, `{2,}`, `{2,5}`.
    fn counts(&mut self) -> Result<(usize, Option<usize>), BadPattern> {
        self.at += 1;
        let least = self.number()?;
        let most = match self.next()? {
            '}' => return Ok((least, Some(least))),
            ',' if self.take("}") => return Ok((least, None)),
            ',' => self.number()?,
            _ => return Err(self.bad("no number of times")),
        };
        if self.take("}") && most >= least {
            Ok((least, Some(most)))
        } else {
            Err(self.bad("no number of times"))
        }
    }

    fn number(&mut self) -> Result<usize, BadPattern> {
        let rest = &self.pattern[self.at..];
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[..length].parse().map_err(|_| self.bad("no number of times"))?;
        self.at += length;
        Ok(number)
    }

    fn escape(&mut self, flags: Flags) -> Result<Node, BadPattern> {
        let c = self.next()?;
        if c == 'b' {
            return Ok(Node::Look(if flags.unicode { Look::Boundary } else { Look::AsciiBoundary }));
        }
        if let Some((kind, negated)) = kind(c) {
            let mut class = Class::default();
            class.add_kind(kind, negated, flags.unicode);
            return Ok(Node::Class(class));
        }
        Ok(literal(self.escaped(c)?, flags))
    }

    /// The character that an escape stands for.
    fn escaped(&mut self, c: char) -> Result<char, BadPattern> {
        match c {
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'x' => {
                let code = self.pattern.get(self.at..self.at + 2);
                let code = code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(u8::is_ascii);
                self.at += 2;
                code.map(char::from).ok_or_else(|| self.bad("no code of a character"))
            }
            c if c.is_ascii_alphanumeric() => Err(self.bad("an unknown escape")),
            c => Ok(c),
        }
    }

    fn class(&mut self, flags: Flags) -> Result<Class, BadPattern> {
        let mut class = Class::default();
        let negated = self.take("^");
        let mut is_first = true;
        loop {
            let c = match self.next()? {
                ']' if !is_first => break,
                '[' if self.peek() == Some(':') => return Err(self.bad("an unknown class")),
                '\\' => {
                    let c = self.next()?;
                    if let Some((kind, negated)) = kind(c) {
                        class.add_kind(kind, negated, flags.unicode);
                        is_first = false;
                        continue;
                    }
                    self.escaped(c)?
                }
                c => c,
            };
            is_first = false;
            let rest = &self.pattern[self.at..];
            let to = if rest.starts_with('-') && !rest.starts_with("-]") {
                self.at += 1;
                match self.next()? {
                    '\\' => {
                        let c = self.next()?;
                        self.escaped(c)?
                    }
                    to => to,
                }
            } else {
                c
            };
            class.add(c, to, flags.folds);
        }
        if negated {
            class.negate();
        }
        Ok(class)
    }
}

fn kind(c: char) -> Option<(Kind, bool)> {
    Some(match c {
        'd' => (Kind::Digit, false),
        's' => (Kind::Space, false),
        'S' => (Kind::Space, true),
        'w' => (Kind::Word, false),
        _ => return None,
    })
}

fn literal(c: char, flags: Flags) -> Node {
    if flags.folds && c.is_alphabetic() { Node::Folded(folded(c)) } else { Node::Char(c) }
}
