//! The commands that people are shown: takes a page of the docs or a command's help, gives each
//! command in it and where it stands. Pure; it must not know what a command does.

/// A command as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The page and the line.
    pub(crate) place: String,
    /// The command, with what is said of it taken off.
    pub(crate) command: String,
}

/// What a line has to begin with to be a command, after the variables that it sets.
const PROGRAMS: [&str; 16] = [
    "punchlist", "cargo", "claude", "git", "npm", "npx", "uv", "uvx", "brew", "curl", "sh", "rustup", "gh",
    ".ci/run", ".ci/clients", "chromium",
];

/// Every command on a page, in order: lines of code, and code within a sentence.
pub(crate) fn commands(page: &str, text: &str) -> Vec<Shown> {
    let mut shown = Vec::new();
    let mut fence: Option<bool> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let place = format!("{page}:{number}");
        if let Some(language) = line.trim_start().strip_prefix("```") {
            // What a program printed is no command.
            fence = fence.is_none().then(|| ["", "sh", "bash", "console"].contains(&language));
            continue;
        }
        let lines = match fence {
            Some(true) => vec![line],
            Some(false) => vec![],
            None if line.starts_with("    ") || line.starts_with("  punchlist ") => vec![line],
            None => line.split('`').skip(1).step_by(2).collect(),
        };
        let found = lines.into_iter().map(without_remark).filter(|line| is_command(line));
        shown.extend(found.map(|command| Shown { place: place.clone(), command: command.to_owned() }));
    }
    shown
}

/// Without what stands behind two spaces or a `#`.
fn without_remark(line: &str) -> &str {
    let line = line.trim();
    let line = line.split_once("  ").map_or(line, |(command, _)| command);
    line.split_once(" #").map_or(line, |(command, _)| command)
}

fn is_command(line: &str) -> bool {
    let mut words = line.split(' ').skip_while(|word| is_variable(word));
    // A name by itself is a name.
    words.next().is_some_and(|program| PROGRAMS.contains(&program)) && words.next().is_some()
        || line.starts_with(".ci/")
        || line.starts_with("packaging/")
}

/// Whether a word sets a variable.
pub(crate) fn is_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
    })
}

/// Each form of a command that shows several at once: `--format json|sarif` is two.
pub(crate) fn forms(command: &str) -> Vec<String> {
    let Some(choice) = command.split(' ').find(|word| word.contains('|') && *word != "||") else {
        return vec![command.to_owned()];
    };
    choice.split('|').flat_map(|one| forms(&command.replacen(choice, one, 1))).collect()
}

/// The words of a command line, as a shell splits plain ones.
pub(crate) fn words(command: &str) -> Vec<String> {
    let quoted = command.split('"').enumerate();
    let parts = quoted.flat_map(
        |(at, part)| {
            if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
        },
    );
    parts.map(str::to_owned).collect()
}
