//! Splits a command line into simple commands and the separators between them. Reads quotes,
//! substitutions, comments and here-documents as a shell does; expands nothing. Must not panic on
//! any text: a line can be cut anywhere.

use crate::shell::actions::{Action, action};
use crate::shell::wrappers::program_words;

/// The separator between a command and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`, `|&`
    Pipe,
    /// `;` or a new line.
    Next,
    /// `&`
    Background,
    /// The end of the line.
    End,
}

/// One simple command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Its words without quotes and redirections, including shell words such as `then`.
    pub words: Vec<String>,
    /// Files that its output goes to, as written.
    pub writes: Vec<String>,
    /// Files that it reads by `<`, as written.
    pub reads: Vec<String>,
    /// Text that it reads by `<<` or `<<<`.
    pub input: String,
    /// What comes after it.
    pub separator: Separator,
    /// Whether it is part of a condition, a loop or a function: the line's exit status tells
    /// neither whether it ran nor how it ended.
    pub is_conditional: bool,
    /// The commands of its script, if it is a shell: `bash -c '…'`, `eval …`, `sh <<EOF`.
    pub script: Vec<SimpleCommand>,
    /// The index in `words` at which the program begins, after assignments, shell words and
    /// wrappers.
    pub(super) program_at: usize,
    /// What its program does, if it is known.
    pub action: Option<Action>,
}

/// Returns the simple commands of a line, in order. Scripts are not parsed.
pub(super) fn parse(line: &str) -> Vec<SimpleCommand> {
    let mut reader = Reader { text: line, at: 0, heredocs: Vec::new() };
    let mut commands = Vec::new();
    let mut draft = Draft::default();
    while let Some(c) = reader.peek(0) {
        match c {
            '\n' => {
                reader.at += 1;
                draft.end(Separator::Next, &mut commands);
                for (command, text) in reader.take_heredocs() {
                    if let Some(command) = commands.get_mut(command) {
                        command.input.push_str(text);
                    }
                }
            }
            c if c.is_whitespace() => reader.pass(c),
            '\\' if reader.peek(1) == Some('\n') => reader.at += 2,
            '#' => reader.skip_comment(),
            ';' => {
                reader.at += 1;
                draft.end(Separator::Next, &mut commands);
            }
            '|' => {
                let separator = if reader.peek(1) == Some('|') { Separator::Or } else { Separator::Pipe };
                reader.at += if matches!(reader.peek(1), Some('|' | '&')) { 2 } else { 1 };
                draft.end(separator, &mut commands);
            }
            '&' if reader.peek(1) == Some('>') => draft.redirect(&mut reader, commands.len()),
            '&' => {
                let is_and = reader.peek(1) == Some('&');
                reader.at += if is_and { 2 } else { 1 };
                draft.end(if is_and { Separator::And } else { Separator::Background }, &mut commands);
            }
            // A group is read as if its brackets were not there: what follows its last command
            // follows the group.
            '(' | ')' => reader.at += 1,
            '<' | '>' => draft.redirect(&mut reader, commands.len()),
            c if c.is_ascii_digit() && reader.is_numbered_redirection() => {
                draft.redirect(&mut reader, commands.len());
            }
            _ => draft.words.push(reader.word()),
        }
    }
    draft.end(Separator::End, &mut commands);
    if let Some(last) = commands.last_mut().filter(|last| last.separator == Separator::Next) {
        last.separator = Separator::End;
    }
    mark_conditional(&mut commands);
    commands
}

/// A command that is being read.
#[derive(Default)]
struct Draft {
    words: Vec<String>,
    writes: Vec<String>,
    reads: Vec<String>,
    input: String,
}

impl Draft {
    fn end(&mut self, separator: Separator, commands: &mut Vec<SimpleCommand>) {
        let Self { mut words, writes, reads, input } = std::mem::take(self);
        if words.first().is_some_and(|word| word == "}") {
            words.remove(0);
        }
        if words.is_empty() && writes.is_empty() {
            // `(a) && b`, `a\n\n`: the later separator counts, unless the earlier one is an
            // operator.
            if let Some(last) = commands.last_mut()
                && last.separator == Separator::Next
                && separator != Separator::End
            {
                last.separator = separator;
            }
            return;
        }
        let program = program_words(&words);
        commands.push(SimpleCommand {
            program_at: words.len() - program.len(),
            action: action(program),
            words,
            writes,
            reads,
            input,
            separator,
            is_conditional: false,
            script: Vec::new(),
        });
    }

    /// Parses `2>&1`, `>a`, `&> a`, `< a`, `<<EOF`, `<<< word`. `number` is the index of this
    /// command in the line.
    fn redirect(&mut self, reader: &mut Reader<'_>, number: usize) {
        while reader.peek(0).is_some_and(|c| c.is_ascii_digit() || c == '&') {
            reader.at += 1;
        }
        let is_output = reader.peek(0) == Some('>');
        let mut arrows = 0;
        while matches!(reader.peek(0), Some('<' | '>')) {
            reader.at += 1;
            arrows += 1;
        }
        if !is_output && arrows == 2 {
            reader.open_heredoc(number);
            return;
        }
        if matches!(reader.peek(0), Some('|' | '&')) {
            let is_copy = reader.peek(0) == Some('&');
            reader.at += 1;
            if is_copy && reader.peek(0).is_some_and(|c| c.is_ascii_digit() || c == '-') {
                reader.at += 1;
                return;
            }
        }
        if reader.peek(0) == Some('(') {
            // `<(command)` is one word.
            self.words.push(reader.word());
            return;
        }
        while reader.peek(0).is_some_and(|c| c == ' ' || c == '\t') {
            reader.at += 1;
        }
        let target = reader.word();
        if target.is_empty() {
            return;
        }
        match (is_output, arrows) {
            (true, _) => self.writes.push(target),
            (false, 3) => self.input.push_str(&target),
            (false, _) => self.reads.push(target),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// In bytes; a trailing backslash takes it past the end.
    at: usize,
    /// Here-documents that begin on the next line: the number of the command that reads it, and its
    /// delimiter.
    heredocs: Vec<(usize, String)>,
}

/// Returns whether a character has a special meaning in a word.
fn is_special(c: char) -> bool {
    c.is_whitespace() || r#"\'"`$()|&;<>"#.contains(c)
}

impl<'a> Reader<'a> {
    /// Returns the character this many bytes ahead; those in between must be ASCII.
    fn peek(&self, ahead: usize) -> Option<char> {
        let at = self.at + ahead;
        match self.text.as_bytes().get(at)? {
            byte if byte.is_ascii() => Some(char::from(*byte)),
            _ => self.text[at..].chars().next(),
        }
    }

    fn pass(&mut self, c: char) {
        self.at += c.len_utf8();
    }

    /// Skips a backslash and the character that it escapes, and returns that.
    fn pass_escaped(&mut self) -> Option<char> {
        let escaped = self.peek(1);
        self.at += 1 + escaped.map_or(1, char::len_utf8);
        escaped
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at.min(self.text.len())..]
    }

    /// Returns the text up to a character, and skips both.
    fn pass_until(&mut self, end: char) -> &'a str {
        let rest = self.rest();
        let length = rest.find(end).unwrap_or(rest.len());
        self.at = (self.at + length + end.len_utf8()).min(self.text.len());
        &rest[..length]
    }

    fn skip_comment(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    fn is_numbered_redirection(&self) -> bool {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        matches!(self.peek(digits), Some('<' | '>'))
    }

    /// Parses a word: up to white space or an operator, without quotes. A substitution stays as
    /// written.
    fn word(&mut self) -> String {
        let mut word = String::new();
        let start = self.at;
        loop {
            let rest = self.rest();
            let plain = rest.find(is_special).unwrap_or(rest.len());
            word.push_str(&rest[..plain]);
            self.at += plain;
            let Some(c) = self.peek(0) else { break };
            match c {
                '\\' => word.extend(self.pass_escaped().filter(|next| *next != '\n')),
                '\'' => {
                    self.at += 1;
                    word.push_str(self.pass_until('\''));
                }
                '"' => self.double_quoted(&mut word),
                '`' => self.take_until('`', &mut word),
                '$' if self.peek(1) == Some('(') => self.substitution(&mut word),
                '(' if self.at == start || word.ends_with('=') => self.substitution(&mut word),
                c if c.is_whitespace() || "|&;()<>".contains(c) => break,
                c => {
                    word.push(c);
                    self.pass(c);
                }
            }
        }
        self.at = self.at.min(self.text.len());
        word
    }

    fn double_quoted(&mut self, word: &mut String) {
        self.at += 1;
        while let Some(c) = self.peek(0) {
            match c {
                '"' => {
                    self.at += 1;
                    return;
                }
                '\\' => word.extend(self.pass_escaped().filter(|next| *next != '\n')),
                '$' if self.peek(1) == Some('(') => self.substitution(word),
                c => {
                    word.push(c);
                    self.pass(c);
                }
            }
        }
    }

    fn take_until(&mut self, end: char, word: &mut String) {
        word.push(end);
        self.at += 1;
        let rest = self.rest();
        let length = rest.find(end).map_or(rest.len(), |at| at + end.len_utf8());
        word.push_str(&rest[..length]);
        self.at += length;
    }

    /// Parses `$( … )`: quotes and here-documents in it may contain brackets.
    fn substitution(&mut self, word: &mut String) {
        let start = self.at;
        let outer = std::mem::take(&mut self.heredocs);
        let mut depth = 0usize;
        while let Some(c) = self.peek(0) {
            match c {
                '\\' => {
                    self.pass_escaped();
                }
                '\'' => {
                    self.at += 1;
                    self.pass_until('\'');
                }
                // Not by `double_quoted`: substitutions in quotes in substitutions would nest
                // without bound.
                '"' => self.flat_double_quoted(),
                '(' => {
                    depth += 1;
                    self.at += 1;
                }
                ')' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
                '<' if self.peek(1) == Some('<') && self.peek(2) != Some('<') => {
                    self.at += 2;
                    self.open_heredoc(0);
                }
                '\n' => {
                    self.at += 1;
                    self.take_heredocs();
                }
                c => self.pass(c),
            }
        }
        self.heredocs = outer;
        self.at = self.at.min(self.text.len());
        word.push_str(&self.text[start..self.at]);
    }

    fn flat_double_quoted(&mut self) {
        self.at += 1;
        while let Some(c) = self.peek(0) {
            match c {
                '\\' => {
                    self.pass_escaped();
                }
                '"' => {
                    self.at += 1;
                    return;
                }
                c => self.pass(c),
            }
        }
    }

    /// Parses the delimiter after `<<`; the document begins on the next line.
    fn open_heredoc(&mut self, command: usize) {
        if self.peek(0) == Some('-') {
            self.at += 1;
        }
        while self.peek(0) == Some(' ') {
            self.at += 1;
        }
        let mut delimiter = String::new();
        while let Some(c) = self.peek(0).filter(|c| !c.is_whitespace() && !"|&;()<>".contains(*c)) {
            if !matches!(c, '\'' | '"' | '\\') {
                delimiter.push(c);
            }
            self.pass(c);
        }
        if !delimiter.is_empty() {
            self.heredocs.push((command, delimiter));
        }
    }

    /// Reads the documents that begin here, each with the number of its command.
    fn take_heredocs(&mut self) -> Vec<(usize, &'a str)> {
        let mut documents = Vec::new();
        for (command, delimiter) in std::mem::take(&mut self.heredocs) {
            let start = self.at.min(self.text.len());
            let mut end = self.text.len();
            while !self.rest().is_empty() {
                let line = self.at;
                if self.pass_until('\n').trim() == delimiter {
                    end = line;
                    break;
                }
            }
            documents.push((command, &self.text[start..end]));
        }
        documents
    }
}

/// Shell words that can come before another one: `then if …`.
pub(super) const OPENERS: &[&str] = &["then", "do", "else", "{"];

fn mark_conditional(commands: &mut [SimpleCommand]) {
    let mut depth = 0usize;
    for command in commands {
        let first = command.words.iter().map(String::as_str).find(|word| !OPENERS.contains(word));
        match first {
            Some("if" | "for" | "while" | "until" | "case" | "select" | "function") => depth += 1,
            Some("fi" | "done" | "esac") => depth = depth.saturating_sub(1),
            _ => {}
        }
        command.is_conditional = depth > 0 || first == Some("!");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(line: &str) -> Vec<(String, Separator)> {
        parse(line).into_iter().map(|command| (command.words.join(" "), command.separator)).collect()
    }

    #[test]
    fn commands_and_their_separators() {
        use Separator::{And, Background, End, Next, Or, Pipe};
        let cases: &[(&str, &[(&str, Separator)])] = &[
            ("a b && c", &[("a b", And), ("c", End)]),
            ("a || true", &[("a", Or), ("true", End)]),
            ("a 2>&1 | tail -5", &[("a", Pipe), ("tail -5", End)]),
            ("a |& tee x", &[("a", Pipe), ("tee x", End)]),
            ("a; b\nc\n", &[("a", Next), ("b", Next), ("c", End)]),
            ("a & b", &[("a", Background), ("b", End)]),
            ("a &", &[("a", Background)]),
            ("a &> x && b >&2", &[("a", And), ("b", End)]),
            ("(cd x && a) | tail", &[("cd x", And), ("a", Pipe), ("tail", End)]),
            ("(a; b) && c", &[("a", Next), ("b", And), ("c", End)]),
            ("a # b && c\nd", &[("a", Next), ("d", End)]),
            ("a 'x; y' \"z && $(b; c)\"", &[("a x; y z && $(b; c)", End)]),
            ("a \\\n  --b", &[("a --b", End)]),
            ("A=1 a $((1 + 2))", &[("A=1 a $((1 + 2))", End)]),
            ("cat <<'EOF' > x && b\nrm -rf /; it's\nEOF\nc", &[("cat", And), ("b", Next), ("c", End)]),
            ("a <<< 'x' && b", &[("a", And), ("b", End)]),
            ("diff <(a) <(b)", &[("diff (a) (b)", End)]),
        ];
        for (line, expected) in cases {
            let expected: Vec<_> =
                expected.iter().map(|(words, separator)| ((*words).to_owned(), *separator)).collect();
            assert_eq!(shape(line), expected, "{line}");
        }
    }

    #[test]
    fn a_commit_message_in_a_here_document_has_no_commands() {
        let line = "git commit -m \"$(cat <<'EOF'\nfix: don't run \"x\" (again)\n\nrm a && git push\nEOF\n)\" && git push";
        let found = shape(line);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[1].0, "git push");
    }

    #[test]
    fn text_that_a_command_reads() {
        for (line, at, expected) in [
            ("psql <<EOF | cat\nDROP x;\nEOF\nls", 0, "DROP x;\n"),
            ("a && psql <<'E' > x && b\none\ntwo\nE", 1, "one\ntwo\n"),
            ("bash <<< 'git push' && b", 0, "git push"),
            ("cat <<A <<B\n1\nA\n2\nB\nls", 0, "1\n2\n"),
            ("cat <<EOF\ncut off", 0, "cut off"),
        ] {
            assert_eq!(parse(line)[at].input, expected, "{line}");
        }
    }

    #[test]
    fn files_that_are_written() {
        for (line, expected) in [
            ("echo x>a.txt", vec!["a.txt"]),
            ("echo x > a.txt 2>/dev/null", vec!["a.txt", "/dev/null"]),
            ("cat >>'a b'", vec!["a b"]),
            ("a 2>err &>all >|forced", vec!["err", "all", "forced"]),
            ("grep 'a > b' x", vec![]),
            ("a 2>&1 >&2 2>&-", vec![]),
        ] {
            assert_eq!(parse(line)[0].writes, expected, "{line}");
        }
    }

    #[test]
    fn commands_of_a_condition_or_a_loop_are_conditional() {
        for (line, expected) in [
            ("if a; then b; fi; c", vec![true, true, false, false]),
            ("! a", vec![true]),
            ("for f in x; do a; done && b", vec![true, true, false, false]),
            ("a && b", vec![false, false]),
        ] {
            let found: Vec<bool> = parse(line).iter().map(|command| command.is_conditional).collect();
            assert_eq!(found, expected, "{line}");
        }
    }
}
