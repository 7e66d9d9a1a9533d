//! What a command line does: its simple commands, the program of each behind its wrappers, whether
//! it changes anything, which check it runs, whether its exit status is hidden. Reads words and
//! expands nothing, so it proves no more than what is written there.

mod actions;
mod exit_status;
mod known_tools;
mod parse;
mod wrappers;

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::paths::base_name;
pub use crate::shell::actions::Action;
use crate::shell::known_tools::{READ_ONLY, READ_ONLY_GIT, REMOTE, REMOVERS};
pub use crate::shell::parse::{Separator, SimpleCommand};
use crate::shell::wrappers::{is_assignment, program_name};

/// How deeply nested scripts (`bash -c "bash -c …"`) are parsed.
const DEPTH: usize = 3;

/// A command line, parsed once, when it is first needed. Saved with the answers to the two questions
/// that every later stop asks of every command.
#[derive(Debug, Clone, Default)]
pub struct CommandLine {
    text: String,
    commands: OnceLock<Vec<SimpleCommand>>,
    only_reads: OnceLock<bool>,
    check: OnceLock<Option<Action>>,
}

impl<T: Into<String>> From<T> for CommandLine {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Serialize for CommandLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Whoever reads it as text wants the line alone.
        if serializer.is_human_readable() {
            return self.text.serialize(serializer);
        }
        (&self.text, self.only_reads(), self.check()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CommandLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer).map(Self::from);
        }
        let (text, only_reads, check) = <(String, bool, Option<Action>)>::deserialize(deserializer)?;
        Ok(Self { text, only_reads: only_reads.into(), check: check.into(), ..Self::default() })
    }
}

impl Deref for CommandLine {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for CommandLine {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for CommandLine {}

impl CommandLine {
    /// Returns the text for modification, after which it is parsed again.
    pub fn text_mut(&mut self) -> &mut String {
        self.commands.take();
        self.only_reads.take();
        self.check.take();
        &mut self.text
    }

    /// Returns its simple commands as written, each with the commands of its script, if it has one.
    pub fn commands(&self) -> &[SimpleCommand] {
        self.commands.get_or_init(|| {
            let mut commands = parse::parse(&self.text);
            parse_scripts(&mut commands, DEPTH);
            commands
        })
    }

    /// Returns all simple commands, with those of a script after the shell that runs it.
    pub fn all(&self) -> Vec<&SimpleCommand> {
        fn add<'a>(commands: &'a [SimpleCommand], all: &mut Vec<&'a SimpleCommand>) {
            for command in commands {
                all.push(command);
                add(&command.script, all);
            }
        }
        let mut all = Vec::new();
        add(self.commands(), &mut all);
        all
    }

    /// Returns the simple commands, with those of a script in place of the shell that runs it.
    fn flat(&self) -> Vec<&SimpleCommand> {
        self.all().into_iter().filter(|command| command.script.is_empty()).collect()
    }

    /// Returns whether nothing in the line can have changed a file.
    pub fn only_reads(&self) -> bool {
        *self.only_reads.get_or_init(|| self.commands().iter().all(SimpleCommand::only_reads))
    }

    /// Returns the check that the line runs, if it is one and changes nothing.
    pub fn check(&self) -> Option<Action> {
        *self.check.get_or_init(|| self.flat().into_iter().find_map(SimpleCommand::check))
    }

    /// Returns the paths that its commands take away from where they are, as written.
    pub fn removed_paths(&self) -> Vec<&str> {
        self.all().into_iter().flat_map(SimpleCommand::removed_paths).collect()
    }

    /// Whether one of these programs runs in the line.
    pub fn runs_any(&self, programs: &[&str]) -> bool {
        self.flat().iter().any(|command| programs.contains(&command.program()))
    }

    /// Returns whether the line runs a version control program or a forge's.
    pub fn uses_version_control(&self) -> bool {
        self.runs_any(&["gh", "git", "glab", "hg", "hub", "jj", "svn"])
    }

    /// Returns whether the line's exit status does not tell how a check or another action in it
    /// ended: `npm test | tail` succeeds whatever the tests do.
    pub fn hides_exit_status(&self) -> bool {
        let commands = self.flat();
        (0..commands.len()).any(|at| commands[at].action.is_some() && exit_status::is_hidden(&commands, at))
    }

    /// Returns whether part of the line works on another machine or in a container.
    pub fn works_elsewhere(&self) -> bool {
        self.commands().iter().any(SimpleCommand::works_elsewhere)
    }
}

fn parse_scripts(commands: &mut [SimpleCommand], depth: usize) {
    for command in commands {
        let Some(script) = wrappers::script(command) else { continue };
        command.script = parse::parse(&script);
        for inner in &mut command.script {
            inner.is_conditional |= command.is_conditional;
        }
        if let Some(last) = command.script.last_mut() {
            last.separator = command.separator;
        }
        if depth > 1 {
            parse_scripts(&mut command.script, depth - 1);
        }
    }
}

impl SimpleCommand {
    /// Returns its words, then the files that it writes and reads.
    pub fn words_and_files(&self) -> Vec<String> {
        [self.words.as_slice(), &self.writes, &self.reads].concat()
    }

    /// Returns its words from the program on, after assignments, shell words and wrappers.
    pub fn program_words(&self) -> &[String] {
        &self.words[self.program_at..]
    }

    /// Returns the name of its program without the folder; empty if there is none.
    pub fn program(&self) -> &str {
        self.program_words().first().map_or("", |program| program_name(program))
    }

    /// Returns the arguments of its program.
    pub fn arguments(&self) -> &[String] {
        self.program_words().get(1..).unwrap_or_default()
    }

    /// Returns the check that it runs, if it is one and changes nothing.
    fn check(&self) -> Option<Action> {
        let check = self.action.filter(|action| action.is_check())?;
        let is_read_only = match check {
            Action::Format => {
                ["--check", "-c", "-l", "--list-different", "--diff"].iter().any(|it| self.has(it))
            }
            _ => !self.has("--fix") && !self.has("--write"),
        };
        is_read_only.then_some(check)
    }

    pub fn has(&self, argument: &str) -> bool {
        self.arguments().iter().any(|word| word == argument)
    }

    /// Returns the variables that are set for its program, as `NAME=value`.
    pub fn assignments(&self) -> impl Iterator<Item = &str> {
        self.words[..self.program_at].iter().map(String::as_str).filter(|word| is_assignment(word))
    }

    /// Returns the subcommand of `git` and what follows it, if that is its program.
    pub fn git(&self) -> Option<(&str, &[String])> {
        let arguments = Some(self.arguments()).filter(|_| self.program() == "git")?;
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            match word.as_str() {
                "-C" | "-c" | "--git-dir" | "--work-tree" => at += 2,
                option if option.starts_with('-') => at += 1,
                subcommand => return Some((subcommand, &arguments[at + 1..])),
            }
        }
        None
    }

    fn only_reads(&self) -> bool {
        self.writes.iter().all(|file| keeps_nothing(file)) && self.program_only_reads()
    }

    /// Returns whether its program changes nothing; its output may still go to a file.
    pub fn program_only_reads(&self) -> bool {
        let changes_in_place = || {
            self.arguments().iter().any(|word| {
                let is_short = word.starts_with('-') && !word.starts_with("--");
                (is_short && word.contains('i') && self.program() == "sed")
                    || word.starts_with("--in-place")
                    || matches!(word.as_str(), "-delete" | "-exec" | "-execdir" | "-ok")
            })
        };
        match self.program() {
            "" => true,
            "git" => self.git().is_some_and(|(subcommand, _)| READ_ONLY_GIT.contains(&subcommand)),
            "sed" | "find" => !changes_in_place(),
            program => READ_ONLY.contains(&program),
        }
    }

    /// Returns the paths that it takes away from where they are.
    fn removed_paths(&self) -> Vec<&str> {
        let (program, arguments) = match self.git() {
            Some((subcommand, arguments)) => (subcommand, arguments),
            None => (self.program(), self.arguments()),
        };
        let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
        let (before, behind) = arguments.split_at(end);
        let options = before.iter().filter(|word| !word.starts_with('-'));
        let mut paths: Vec<&str> = options.chain(behind.iter().skip(1)).map(String::as_str).collect();
        if program == "mv" {
            paths.pop();
        } else if !REMOVERS.contains(&program) {
            paths.clear();
        }
        paths
    }

    fn works_elsewhere(&self) -> bool {
        let is_before = |word: &String| {
            word.contains('=') || matches!(word.as_str(), "sudo" | "time" | "env" | "then" | "do")
        };
        // `docker exec web touch a` runs `touch`, but inside the container.
        let outer = self.words.iter().position(|word| !is_before(word)).unwrap_or(self.words.len());
        [&self.words[outer..], self.program_words()].iter().any(|words| {
            let second = words.get(1).map(String::as_str);
            match words.first().map(|program| base_name(program)) {
                Some("docker" | "podman") => matches!(second, Some("exec" | "cp" | "compose" | "run")),
                Some("gh") => second == Some("api"),
                Some(name) => REMOTE.contains(&name),
                None => false,
            }
        })
    }
}

/// Returns whether what is written to a file is gone: `/dev/shm` has files like any other folder.
fn keeps_nothing(file: &str) -> bool {
    matches!(file, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty") || file.starts_with("/dev/fd/")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_that_change_nothing() {
        for line in [
            "ls -la",
            "cd src && cat a.rs | head -5",
            "git status; git -C . log --oneline 2>&1 | tail",
            "grep -rn 'a > b' src 2>/dev/null",
            "sed -n 1,20p x",
            "find . -name '*.rs'",
            "for f in *; do cat $f; done",
            "cat a 2> /dev/null",
        ] {
            assert!(CommandLine::from(line).only_reads(), "{line}");
        }
        for line in [
            "cargo build",
            "echo x > a",
            "echo x>a.txt",
            "echo x > a 2>/dev/null",
            "echo x > /dev/shm/a",
            "cat >>a",
            "env A=1 cargo build",
            "sed --in-place s/a/b/ x",
            "sed -Ei s/a/b/ x",
            "sed -i s/a/b/ x",
            "git commit -m x",
            "rm a",
            "ls && touch b",
        ] {
            assert!(!CommandLine::from(line).only_reads(), "{line}");
        }
    }

    #[test]
    fn paths_that_are_taken_away() {
        let removed = |line: &str| CommandLine::from(line).removed_paths().join(" ");
        assert_eq!(removed("rm -rf a 'b c' && sudo unlink d"), "a b c d");
        assert_eq!(removed("git rm --cached -- -e; git mv f g; mv h i dir/"), "-e f h i");
        assert_eq!(removed("bash -c 'rm j' && echo rm k; git commit -m rm; cp l m"), "j");
    }

    #[test]
    fn checks_and_other_commands() {
        for (line, expected) in [
            ("npm test", Some(Action::Test)),
            ("cd web && npx vitest run", Some(Action::Test)),
            ("npm run test:unit -- a", Some(Action::Test)),
            ("python -m pytest -q", Some(Action::Test)),
            ("bash <<EOF\nnpm test\nEOF", Some(Action::Test)),
            ("cargo clippy", Some(Action::Lint)),
            ("npm run build", Some(Action::Build)),
            ("tsc --noEmit", Some(Action::Types)),
            ("cargo init .", None),
            ("npx prisma generate", None),
            ("python codemod.py", None),
            ("git apply a.diff", None),
            ("cargo fmt", None),
            ("cargo clippy --fix", None),
            ("git add . && git commit -m 'fix test'", None),
            ("mkdir -p a", None),
            ("grep test a", None),
        ] {
            assert_eq!(CommandLine::from(line).check(), expected, "{line}");
        }
    }

    #[test]
    fn work_on_other_machines() {
        for line in
            ["ssh host 'touch a'", "cd x && kubectl apply -f y", "docker exec c touch a", "FOO=1 scp a h:b"]
        {
            assert!(CommandLine::from(line).works_elsewhere(), "{line}");
        }
        for line in ["echo ssh", "docker build .", "cat ~/.ssh/config"] {
            assert!(!CommandLine::from(line).works_elsewhere(), "{line}");
        }
    }

    #[test]
    fn scripts_are_parsed() {
        let words = |line: &str| {
            let line = CommandLine::from(line);
            line.flat().iter().map(|command| command.words.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(words("bash -c 'cd x && npm test' && b"), ["cd x", "npm test", "b"]);
        assert_eq!(words("bash -lc \"npm test\""), ["npm test"]);
        assert_eq!(words("sh <<EOF\nnpm test\nEOF\nb"), ["npm test", "b"]);
        assert_eq!(words("bash x.sh -c"), ["bash x.sh -c"]);
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in ".{0,200}") {
            let line = CommandLine::from(line);
            let _ = (line.only_reads(), line.works_elsewhere(), line.check(), line.hides_exit_status());
        }
    }
}
