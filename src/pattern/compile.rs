//! Takes a pattern's tree, gives its instructions and what its matches begin with. Pure.

use super::class::Bytes;
use super::parse::Node;
use super::{Lead, Look, Pattern, Step};

/// Fewer ways than this are tried one after the other.
const WORTH_A_SWITCH: usize = 4;

pub(super) fn compile(node: &Node, groups: usize) -> Pattern {
    let mut pattern = Pattern {
        steps: Vec::new(),
        classes: Vec::new(),
        literals: String::new(),
        switches: Vec::new(),
        ways: Vec::new(),
        first: None,
        lead: lead(node).unwrap_or(Lead::Anywhere),
        groups,
    };
    let mut first = Bytes::default();
    if !firsts(node, &mut first) {
        pattern.first = Some(Box::new(first));
    }
    pattern.emit(node);
    pattern.steps.push(Step::Match);
    pattern
}

impl Pattern {
    fn emit(&mut self, node: &Node) {
        match node {
            Node::Char(c) => self.emit_literal(*c, false),
            Node::Folded(c) => self.steps.push(Step::Folded(*c)),
            Node::Class(class) => {
                self.steps.push(Step::One(self.classes.len()));
                self.classes.push(class.clone());
            }
            Node::Look(look) => self.steps.push(Step::Look(*look)),
            Node::Group(inner, number) => {
                self.steps.push(Step::Save(number * 2));
                self.emit(inner);
                self.steps.push(Step::Save(number * 2 + 1));
            }
            Node::Row(row) => {
                let mut was_char = false;
                for node in row {
                    match node {
                        Node::Char(c) => self.emit_literal(*c, was_char),
                        node => self.emit(node),
                    }
                    was_char = matches!(node, Node::Char(_));
                }
            }
            Node::Either(ways) => self.emit_either(ways),
            Node::Repeat { node, least, most, greedy } => self.emit_repeat(node, *least, *most, *greedy),
        }
    }

    /// A letter of a literal; one that follows another belongs to the same.
    fn emit_literal(&mut self, c: char, follows: bool) {
        let start = self.literals.len();
        self.literals.push(c);
        match self.steps.last_mut() {
            Some(Step::Literal { end, .. }) if follows => *end = self.literals.len(),
            _ => self.steps.push(Step::Literal { start, end: self.literals.len() }),
        }
    }

    fn emit_either(&mut self, ways: &[Node]) {
        let firsts: Option<Vec<u8>> = ways.iter().map(first_byte).collect();
        match firsts {
            Some(firsts) if ways.len() >= WORTH_A_SWITCH => self.emit_switch(ways, &firsts),
            _ => self.emit_ways(ways.iter()),
        }
    }

    /// Words that begin with different letters exclude each other, so only those with the right one are tried.
    fn emit_switch(&mut self, ways: &[Node], firsts: &[u8]) {
        let (switch, base) = (self.switches.len(), self.ways.len());
        self.steps.push(Step::Switch { switch, base });
        self.switches.push([0; 256]);
        let mut letters: Vec<u8> = firsts.to_vec();
        letters.sort_unstable();
        letters.dedup();
        self.ways.resize(base + letters.len(), 0);
        let mut ends = Vec::with_capacity(letters.len());
        for (number, letter) in (1_u8..).zip(letters) {
            self.switches[switch][usize::from(letter)] = number;
            self.ways[base + usize::from(number) - 1] = self.steps.len();
            self.emit_ways(
                ways.iter().zip(firsts).filter(|(_, first)| **first == letter).map(|(way, _)| way),
            );
            ends.push(self.steps.len());
            self.steps.push(Step::Jump(0));
        }
        let end = self.steps.len();
        for jump in ends {
            self.steps[jump] = Step::Jump(end);
        }
    }

    fn emit_ways<'a>(&mut self, ways: impl Iterator<Item = &'a Node>) {
        let mut ways = ways.peekable();
        let mut ends = Vec::new();
        while let Some(way) = ways.next() {
            if ways.peek().is_none() {
                self.emit(way);
                break;
            }
            let split = self.steps.len();
            self.steps.push(Step::Split(split + 1, 0));
            self.emit(way);
            ends.push(self.steps.len());
            self.steps.push(Step::Jump(0));
            self.steps[split] = Step::Split(split + 1, self.steps.len());
        }
        let end = self.steps.len();
        for jump in ends {
            self.steps[jump] = Step::Jump(end);
        }
    }

    fn emit_repeat(&mut self, node: &Node, least: usize, most: Option<usize>, greedy: bool) {
        let split = |on, out| if greedy { Step::Split(on, out) } else { Step::Split(out, on) };
        for _ in 0..least {
            self.emit(node);
        }
        let Some(most) = most else {
            let at = self.steps.len();
            self.steps.push(Step::Jump(0));
            self.emit(node);
            self.steps.push(Step::Jump(at));
            self.steps[at] = split(at + 1, self.steps.len());
            return;
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.steps.len());
            self.steps.push(Step::Jump(0));
            self.emit(node);
        }
        let end = self.steps.len();
        for at in splits {
            self.steps[at] = split(at + 1, end);
        }
    }
}

/// The byte that a part begins with, where that is a single one.
fn first_byte(node: &Node) -> Option<u8> {
    match node {
        Node::Char(c) => {
            let mut buffer = [0; 4];
            Some(c.encode_utf8(&mut buffer).as_bytes()[0])
        }
        Node::Row(row) => row.first().and_then(first_byte),
        _ => None,
    }
}

/// Adds the bytes that a part can begin with; gives whether it can be empty.
fn firsts(node: &Node, first: &mut Bytes) -> bool {
    match node {
        Node::Char(c) => {
            let mut buffer = [0; 4];
            first.add(c.encode_utf8(&mut buffer).as_bytes()[0]);
            false
        }
        Node::Folded(c) => {
            if c.is_ascii() {
                first.add(c.to_ascii_lowercase() as u8);
                first.add(c.to_ascii_uppercase() as u8);
            }
            if !c.is_ascii() || matches!(c, 's' | 'k') {
                first.add_beyond_ascii();
            }
            false
        }
        Node::Class(class) => {
            first.join(&class.first());
            false
        }
        Node::Look(_) => true,
        Node::Group(inner, _) => firsts(inner, first),
        Node::Row(row) => row.iter().all(|node| firsts(node, first)),
        Node::Either(ways) => ways.iter().fold(false, |empty, way| firsts(way, first) | empty),
        Node::Repeat { node, least, most, .. } => {
            let is_empty = *most != Some(0) && firsts(node, first);
            *least == 0 || is_empty
        }
    }
}

/// Where a part that has to be there can begin.
fn lead(node: &Node) -> Option<Lead> {
    match node {
        Node::Look(Look::TextStart) => Some(Lead::Text),
        Node::Look(Look::LineStart) => Some(Lead::Line),
        Node::Group(inner, _) => lead(inner),
        Node::Row(row) => lead(row.first()?),
        Node::Either(ways) => {
            let mut leads = ways.iter().map(lead);
            let one = leads.next()??;
            leads.all(|other| other == Some(one)).then_some(one)
        }
        Node::Repeat { node, least, .. } if *least > 0 => lead(node),
        _ => None,
    }
}
