//! Takes a shell line, gives its simple commands: words without quotes, assignments before them, what is fed to
//! them, and whether their output goes on into the next one. Comments and bodies of here-documents are no
//! commands. A reading, not a shell: nothing is expanded.

use super::short;

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// `NAME=value` words before it.
    pub(super) assignments: Vec<String>,
    /// The program and its arguments, quotes off.
    pub(super) words: Vec<String>,
    /// The text fed to it by `<<` or `<<<`.
    pub(super) fed: String,
    /// Whether its output goes into the next command.
    pub(super) is_piped_on: bool,
}

/// Shell words and programs that run what follows them.
const WRAPPERS: &[&str] = &[
    "!", "(", "command", "do", "doas", "else", "env", "exec", "if", "nohup", "sudo", "then", "time", "while",
    "{",
];

/// How deep `sh -c "…"` is followed.
const DEPTH: usize = 2;
/// So many commands of a line count.
const MOST: usize = 200;

impl Simple {
    /// The program, as written.
    pub(super) fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Its arguments.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map(String::as_str)
    }

    /// Whether one of its arguments is this.
    pub(super) fn has(&self, argument: &str) -> bool {
        self.arguments().any(|word| word == argument)
    }

    /// As it is shown to the person.
    pub(super) fn shown(&self) -> String {
        short(&self.assignments.iter().chain(&self.words).map(String::as_str).collect::<Vec<_>>().join(" "))
    }
}

/// The simple commands of a line, those inside `sh -c "…"` and `eval "…"` after it.
pub(super) fn read(line: &str) -> Vec<Simple> {
    let mut all = Vec::new();
    read_into(line, 0, &mut all);
    all
}

fn read_into(line: &str, depth: usize, all: &mut Vec<Simple>) {
    for simple in Reader::new(line).simples() {
        if all.len() >= MOST {
            return;
        }
        let inner = inner_line(&simple).filter(|_| depth < DEPTH);
        all.push(simple);
        if let Some(inner) = inner {
            read_into(&inner, depth + 1, all);
        }
    }
}

/// What a shell is told to run by its arguments or its input.
fn inner_line(simple: &Simple) -> Option<String> {
    let program = crate::text::normalise::base_name(simple.program());
    if program == "eval" {
        return Some(simple.words[1..].join(" "));
    }
    if !matches!(program, "sh" | "bash" | "zsh" | "dash") {
        return None;
    }
    let at = simple.words.iter().position(|w| w.starts_with('-') && !w.starts_with("--") && w.ends_with('c'));
    match at {
        Some(at) => simple.words.get(at + 1).cloned(),
        None => Some(simple.fed.clone()).filter(|fed| !fed.is_empty()),
    }
}

struct Reader<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    done: Vec<Simple>,
    now: Simple,
    word: Option<String>,
    /// Words that end here-documents whose bodies begin on the next line.
    waiting: Vec<String>,
    wants_delimiter: bool,
    wants_fed_word: bool,
}

impl<'a> Reader<'a> {
    fn new(line: &'a str) -> Self {
        Self {
            chars: line.chars().peekable(),
            done: Vec::new(),
            now: Simple::default(),
            word: None,
            waiting: Vec::new(),
            wants_delimiter: false,
            wants_fed_word: false,
        }
    }

    fn simples(mut self) -> Vec<Simple> {
        while let Some(c) = self.chars.next() {
            match c {
                '\'' => self.quoted('\''),
                '"' => self.quoted('"'),
                '`' => self.quoted('`'),
                '\\' => {
                    if let Some(next) = self.chars.next().filter(|next| *next != '\n') {
                        self.push(next);
                    }
                }
                '#' if self.word.is_none() => while self.chars.next_if(|c| *c != '\n').is_some() {},
                '(' if self.word.as_deref().is_some_and(|word| word.ends_with(['$', '<', '>', '='])) => {
                    self.push('(');
                    self.nested();
                }
                '(' | ')' if self.word.is_none() => {}
                ')' => self.end_word(),
                '<' if self.chars.next_if_eq(&'<').is_some() => {
                    self.end_word();
                    if self.chars.next_if_eq(&'<').is_some() {
                        self.wants_fed_word = true;
                    } else {
                        let _ = self.chars.next_if_eq(&'-');
                        self.wants_delimiter = true;
                    }
                }
                '|' => {
                    let is_or = self.chars.next_if_eq(&'|').is_some();
                    let _ = self.chars.next_if_eq(&'&');
                    self.end_command(!is_or);
                }
                ';' => self.end_command(false),
                '&' if !self.word.as_deref().is_some_and(|w| w.ends_with('>'))
                    && self.chars.peek() != Some(&'>') =>
                {
                    self.end_command(false);
                }
                '\n' => {
                    self.end_command(false);
                    self.bodies();
                }
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command(false);
        self.done
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn quoted(&mut self, open: char) {
        let mut inside = String::new();
        while let Some(c) = self.chars.next() {
            match c {
                c if c == open => break,
                '\\' if open == '"' => inside.extend(self.chars.next()),
                c => inside.push(c),
            }
        }
        self.word.get_or_insert_default().push_str(&inside);
    }

    /// What stands in `$(…)` and `<(…)` stays one word.
    fn nested(&mut self) {
        let mut depth = 1;
        while depth > 0 {
            let Some(c) = self.chars.next() else { return };
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            self.push(c);
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if std::mem::take(&mut self.wants_delimiter) {
            self.waiting.push(word);
            return;
        }
        if std::mem::take(&mut self.wants_fed_word) {
            self.now.fed.push_str(&word);
            return;
        }
        if self.now.words.is_empty() {
            if WRAPPERS.contains(&word.as_str()) {
                return;
            }
            let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            });
            if is_assignment {
                self.now.assignments.push(word);
                return;
            }
        }
        self.now.words.push(word);
    }

    fn end_command(&mut self, is_piped_on: bool) {
        self.end_word();
        let mut simple = std::mem::take(&mut self.now);
        if !simple.words.is_empty() || !simple.assignments.is_empty() {
            simple.is_piped_on = is_piped_on;
            self.done.push(simple);
        }
    }

    /// The bodies of here-documents: fed to the newest command.
    fn bodies(&mut self) {
        for delimiter in std::mem::take(&mut self.waiting) {
            let mut body = String::new();
            while self.chars.peek().is_some() {
                let line: String = self.chars.by_ref().take_while(|c| *c != '\n').collect();
                if line.trim() == delimiter {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            if let Some(simple) = self.done.last_mut() {
                simple.fed.push_str(&body);
            }
        }
    }
}
