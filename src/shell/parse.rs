//! Takes a shell command line, gives its simple commands and what joins them. Quotes, substitutions, comments
//! and here-documents are read as a shell reads them; nothing is expanded. Must not panic on any text: a line
//! can be cut anywhere.

/// What stands between a command and the next one.
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
    /// Nothing: it is the last one.
    End,
}

/// One simple command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its words, quotes off, shell words such as `then` included, redirections not.
    pub words: Vec<String>,
    /// Files that its output goes to, as written.
    pub writes: Vec<String>,
    /// Files that it reads from by `<`, as written.
    pub reads: Vec<String>,
    /// What comes after it.
    pub joint: Separator,
    /// Whether it stands in a condition, a loop or a function: whether it ran, and how it ended, is not told
    /// by how the line ended.
    pub is_guarded: bool,
}

/// The simple commands of a line, in order.
pub fn parts(line: &str) -> Vec<Part> {
    let mut reader = Reader { text: line, at: 0, heredocs: Vec::new() };
    let mut found = Vec::new();
    let mut part = Draft::default();
    while let Some(c) = reader.peek(0) {
        match c {
            '\n' => {
                reader.at += 1;
                reader.skip_heredocs();
                part.end(Separator::Next, &mut found);
            }
            c if c.is_whitespace() => reader.pass(c),
            '\\' if reader.peek(1) == Some('\n') => reader.at += 2,
            '#' => reader.skip_comment(),
            ';' => {
                reader.at += 1;
                part.end(Separator::Next, &mut found);
            }
            '|' => {
                let joint = if reader.peek(1) == Some('|') { Separator::Or } else { Separator::Pipe };
                reader.at += if matches!(reader.peek(1), Some('|' | '&')) { 2 } else { 1 };
                part.end(joint, &mut found);
            }
            '&' if reader.peek(1) == Some('>') => part.redirect(&mut reader),
            '&' => {
                let joint = if reader.peek(1) == Some('&') { Separator::And } else { Separator::Background };
                reader.at += if joint == Separator::And { 2 } else { 1 };
                part.end(joint, &mut found);
            }
            // A group is read as if its brackets were not there: what joins its last command joins the group.
            '(' | ')' => reader.at += 1,
            '<' | '>' => part.redirect(&mut reader),
            c if c.is_ascii_digit() && reader.is_numbered_redirection() => part.redirect(&mut reader),
            _ => part.words.push(reader.word()),
        }
    }
    part.end(Separator::End, &mut found);
    if let Some(last) = found.last_mut().filter(|last| last.joint == Separator::Next) {
        last.joint = Separator::End;
    }
    mark_guarded(&mut found);
    found
}

/// A command in the making.
#[derive(Default)]
struct Draft {
    words: Vec<String>,
    writes: Vec<String>,
    reads: Vec<String>,
}

impl Draft {
    fn end(&mut self, joint: Separator, found: &mut Vec<Part>) {
        let Self { mut words, writes, reads } = std::mem::take(self);
        if words.first().is_some_and(|word| word == "}") {
            words.remove(0);
        }
        if words.is_empty() && writes.is_empty() {
            // `(a) && b`, `a\n\n`: what was said last of the command before counts, unless it was a joint.
            if let Some(last) = found.last_mut()
                && last.joint == Separator::Next
                && joint != Separator::End
            {
                last.joint = joint;
            }
            return;
        }
        found.push(Part { words, writes, reads, joint, is_guarded: false });
    }

    /// Reads `2>&1`, `>a`, `&> a`, `< a`, `<<EOF`, `<<< word`.
    fn redirect(&mut self, reader: &mut Reader<'_>) {
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
            reader.open_heredoc();
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
            // `<(command)`: read as a word.
            self.words.push(reader.word());
            return;
        }
        while reader.peek(0).is_some_and(|c| c == ' ' || c == '\t') {
            reader.at += 1;
        }
        let target = reader.word();
        if target.is_empty() || arrows == 3 {
            return;
        }
        if is_output { self.writes.push(target) } else { self.reads.push(target) }
    }
}

struct Reader<'a> {
    text: &'a str,
    /// In bytes; a backslash at the end takes it past the end.
    at: usize,
    /// Delimiters of here-documents that begin at the next line.
    heredocs: Vec<String>,
}

/// What can stand in a word and means nothing but itself.
static IS_PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        // As `char::is_whitespace` has it, which knows the vertical tab too.
        let is_blank = byte.is_ascii_whitespace() || byte == 0x0b;
        let is_special = matches!(
            byte,
            b'\\' | b'\'' | b'"' | b'`' | b'$' | b'(' | b')' | b'|' | b'&' | b';' | b'<' | b'>'
        );
        table[byte as usize] = !is_blank && !is_special;
        byte += 1;
    }
    table
};

impl<'a> Reader<'a> {
    /// The character so many bytes on: those between are ASCII.
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

    /// Passes a backslash and what it escapes; gives that.
    fn pass_escaped(&mut self) -> Option<char> {
        let escaped = self.peek(1);
        self.at += 1 + escaped.map_or(1, char::len_utf8);
        escaped
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at.min(self.text.len())..]
    }

    /// What is left of the text up to a character, which is passed too.
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

    /// One word: up to white space or an operator, quotes off. A substitution is kept as it stands.
    fn word(&mut self) -> String {
        let mut word = String::new();
        let start = self.at;
        loop {
            let rest = self.rest();
            let plain = rest.bytes().take_while(|byte| IS_PLAIN[usize::from(*byte)]).count();
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

    /// `$( … )` with all that is in it: quotes and here-documents may hold brackets of their own.
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
                // Not by `double_quoted`: substitutions in quotes in substitutions would nest without bound.
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
                    self.open_heredoc();
                }
                '\n' => {
                    self.at += 1;
                    self.skip_heredocs();
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

    /// The delimiter after `<<`; what follows the line is its document.
    fn open_heredoc(&mut self) {
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
            self.heredocs.push(delimiter);
        }
    }

    /// Passes over the documents that begin here.
    fn skip_heredocs(&mut self) {
        for delimiter in std::mem::take(&mut self.heredocs) {
            while !self.rest().is_empty() {
                if self.pass_until('\n').trim() == delimiter {
                    break;
                }
            }
        }
    }
}

/// Shell words that can stand before others of their kind: `then if …`.
pub(super) const OPENERS: &[&str] = &["then", "do", "else", "{"];

fn mark_guarded(parts: &mut [Part]) {
    let mut depth = 0usize;
    for part in parts {
        let first = part.words.iter().map(String::as_str).find(|word| !OPENERS.contains(word));
        match first {
            Some("if" | "for" | "while" | "until" | "case" | "select" | "function") => depth += 1,
            Some("fi" | "done" | "esac") => depth = depth.saturating_sub(1),
            _ => {}
        }
        part.is_guarded = depth > 0 || first == Some("!");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(line: &str) -> Vec<(String, Separator)> {
        parts(line).into_iter().map(|part| (part.words.join(" "), part.joint)).collect()
    }

    #[test]
    fn commands_and_their_joints() {
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
                expected.iter().map(|(words, joint)| ((*words).to_owned(), *joint)).collect();
            assert_eq!(shape(line), expected, "{line}");
        }
    }

    #[test]
    fn a_commit_message_in_a_here_document_holds_no_commands() {
        let line = "git commit -m \"$(cat <<'EOF'\nfix: don't run \"x\" (again)\n\nrm a && git push\nEOF\n)\" && git push";
        let found = shape(line);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[1].0, "git push");
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
            assert_eq!(parts(line)[0].writes, expected, "{line}");
        }
    }

    #[test]
    fn what_stands_in_a_condition_or_a_loop_is_guarded() {
        for (line, expected) in [
            ("if a; then b; fi; c", vec![true, true, false, false]),
            ("! a", vec![true]),
            ("for f in x; do a; done && b", vec![true, true, false, false]),
            ("a && b", vec![false, false]),
        ] {
            assert_eq!(
                parts(line).iter().map(|part| part.is_guarded).collect::<Vec<_>>(),
                expected,
                "{line}"
            );
        }
    }
}
