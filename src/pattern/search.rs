//! Takes instructions and a text, gives the first match: the leftmost, and of those the one that the pattern prefers.
//! Pure. Must not take longer than the text times the pattern, whatever both are.

use super::class::folded;
use super::{Groups, Lead, Look, Pattern, Step};

/// So many instructions are walked freely. A search that takes more remembers where it has been, which costs memory
/// and keeps it from going anywhere twice.
const FREE_STEPS: usize = 20_000;

struct Walk<'a> {
    pattern: &'a Pattern,
    text: &'a [u8],
    whole: &'a str,
    todo: Vec<Todo>,
    slots: Vec<Option<usize>>,
    steps: usize,
    /// One bit for each instruction at each place, from `base` on.
    been: Vec<u64>,
    base: usize,
}

enum Todo {
    Walk { step: usize, at: usize },
    Restore { slot: usize, value: Option<usize> },
}

/// The first match at or behind `from`, with so many of its groups.
pub(super) fn search(pattern: &Pattern, text: &str, from: usize, groups: usize) -> Option<Groups> {
    if from > text.len() {
        return None;
    }
    let mut walk = Walk::new(pattern, text, groups);
    let mut at = walk.candidate(from)?;
    loop {
        if let Some(end) = walk.run(at) {
            return Some(walk.found(at, end, groups));
        }
        at = walk.candidate(at + 1)?;
    }
}

/// The first match that begins at one of these places, which of them, and so many of its groups.
pub(super) fn among(
    pattern: &Pattern,
    text: &str,
    places: &[usize],
    groups: usize,
) -> Option<(usize, Groups)> {
    let mut walk = Walk::new(pattern, text, groups);
    let is_place = |at: usize| at <= text.len() && text.is_char_boundary(at);
    places.iter().enumerate().filter(|(_, at)| is_place(**at)).find_map(|(number, at)| {
        let end = walk.run(*at)?;
        Some((number, walk.found(*at, end, groups)))
    })
}

impl<'a> Walk<'a> {
    fn new(pattern: &'a Pattern, text: &'a str, groups: usize) -> Self {
        Self {
            pattern,
            text: text.as_bytes(),
            whole: text,
            todo: Vec::new(),
            slots: vec![None; if groups > 1 { groups * 2 } else { 0 }],
            steps: 0,
            been: Vec::new(),
            base: 0,
        }
    }

    fn found(&self, start: usize, end: usize, groups: usize) -> Groups {
        let slot = |slot: usize| self.slots.get(slot).copied().flatten();
        let group = |group: usize| match group {
            0 => Some(start..end),
            group => Some(slot(group * 2)?..slot(group * 2 + 1)?),
        };
        (0..groups).map(group).collect()
    }
}

impl Walk<'_> {
    /// The next place at which a match can begin.
    fn candidate(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            at = match self.pattern.lead {
                Lead::Text if at > 0 => return None,
                Lead::Line if at > 0 && at <= self.text.len() && self.text[at - 1] != b'\n' => {
                    at + 1 + self.text[at..].iter().position(|byte| *byte == b'\n')?
                }
                _ => at,
            };
            let Some(first) = &self.pattern.first else {
                return (at <= self.text.len()).then(|| self.whole.ceil_char_boundary(at));
            };
            if self.pattern.lead != Lead::Anywhere {
                if first.has(*self.text.get(at)?) {
                    return Some(at);
                }
                at += 1;
                continue;
            }
            let rest = self.text.get(at..)?;
            at += rest.iter().position(|byte| first.has(*byte))?;
            if self.whole.is_char_boundary(at) {
                return Some(at);
            }
            at += 1;
        }
    }

    /// Where a match that begins here ends.
    fn run(&mut self, start: usize) -> Option<usize> {
        self.todo.clear();
        let mut next = Some(Todo::Walk { step: 0, at: start });
        while let Some(todo) = next {
            match todo {
                Todo::Restore { slot, value } => self.slots[slot] = value,
                Todo::Walk { step, at } => {
                    if let Some(end) = self.follow(step, at) {
                        return Some(end);
                    }
                    if self.steps > FREE_STEPS && self.been.is_empty() {
                        // From here on with a memory, and this start again.
                        self.base = start;
                        let bits = self.pattern.steps.len() * (self.text.len() - start + 1);
                        self.been = vec![0; bits / 64 + 1];
                        self.slots.fill(None);
                        return self.run(start);
                    }
                }
            }
            next = self.todo.pop();
        }
        None
    }

    fn was_here(&mut self, step: usize, at: usize) -> bool {
        if self.been.is_empty() {
            return false;
        }
        let bit = (at - self.base) * self.pattern.steps.len() + step;
        let was = self.been[bit / 64] >> (bit % 64) & 1 == 1;
        self.been[bit / 64] |= 1 << (bit % 64);
        was
    }

    /// Follows one way as far as it goes; what branches off is put aside.
    fn follow(&mut self, mut step: usize, mut at: usize) -> Option<usize> {
        loop {
            self.steps += 1;
            if self.was_here(step, at) || self.been.is_empty() && self.steps > FREE_STEPS {
                return None;
            }
            match self.pattern.steps[step] {
                Step::Literal { start, end } => {
                    if !self.text[at..].starts_with(&self.pattern.literals.as_bytes()[start..end]) {
                        return None;
                    }
                    at += end - start;
                }
                Step::Folded(wanted) => at += self.char_at(at).filter(|c| folded(*c) == wanted)?.len_utf8(),
                Step::One(class) => {
                    at += self.char_at(at).filter(|c| self.pattern.classes[class].has(*c))?.len_utf8();
                }
                Step::Switch { switch, base } => {
                    step = self.way(switch, base, at)?;
                    continue;
                }
                Step::Split(one, other) => {
                    if self.may_go(one, at) {
                        if self.may_go(other, at) {
                            self.todo.push(Todo::Walk { step: other, at });
                        }
                        step = one;
                    } else {
                        step = other;
                    }
                    continue;
                }
                Step::Jump(to) => {
                    step = to;
                    continue;
                }
                Step::Look(look) => {
                    if !self.holds(look, at) {
                        return None;
                    }
                }
                Step::Save(slot) => {
                    if slot < self.slots.len() {
                        self.todo.push(Todo::Restore { slot, value: self.slots[slot] });
                        self.slots[slot] = Some(at);
                    }
                }
                Step::Match => return Some(at),
            }
            step += 1;
        }
    }

    fn way(&self, switch: usize, base: usize, at: usize) -> Option<usize> {
        let number = usize::from(self.pattern.switches[switch][usize::from(*self.text.get(at)?)]);
        number.checked_sub(1).map(|way| self.pattern.ways[base + way])
    }

    /// Whether a way is worth trying, as far as its first byte tells.
    fn may_go(&self, step: usize, at: usize) -> bool {
        match self.pattern.steps[step] {
            Step::Literal { start, .. } => {
                self.text.get(at) == Some(&self.pattern.literals.as_bytes()[start])
            }
            Step::Switch { switch, base } => self.way(switch, base, at).is_some(),
            _ => true,
        }
    }

    fn char_at(&self, at: usize) -> Option<char> {
        let byte = *self.text.get(at)?;
        if byte.is_ascii() { Some(char::from(byte)) } else { self.whole[at..].chars().next() }
    }

    fn holds(&self, look: Look, at: usize) -> bool {
        let ascii = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let before = at.checked_sub(1).and_then(|before| self.text.get(before));
        match look {
            Look::TextStart => at == 0,
            Look::TextEnd => at == self.text.len(),
            Look::LineStart => before.is_none_or(|byte| *byte == b'\n'),
            Look::LineEnd => self.text.get(at).is_none_or(|byte| *byte == b'\n'),
            Look::AsciiBoundary => ascii(before) != ascii(self.text.get(at)),
            Look::Boundary => {
                let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
                let before = match before {
                    Some(byte) if !byte.is_ascii() => self.whole[..at].chars().next_back(),
                    byte => byte.map(|byte| char::from(*byte)),
                };
                word(before) != word(self.char_at(at))
            }
        }
    }
}
