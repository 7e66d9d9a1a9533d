//! Finds the program that a simple command really runs, after assignments, shell words and programs
//! that run another one (`sudo`, `timeout 60`, `uv run`, `docker exec web`). Must not guess: a
//! wrapper that is not in the table is an ordinary program.

use crate::paths::base_name;
use crate::shell::parse::{OPENERS, SimpleCommand};

/// Wrappers with no options that take a value.
#[rustfmt::skip]
const PLAIN_WRAPPERS: &[&str] = &[
    "arch", "asdf exec", "builtin", "bun x", "bundle exec", "chronic", "command", "cross-env", "mise exec", "mise x",
    "nohup", "npm x", "nyc", "pipenv run", "pnpm dlx", "rtk", "rye run", "setsid", "stdbuf", "unbuffer", "yarn dlx",
    "yarn exec",
];

/// Wrappers with their options that take a value, and how many operands come before the wrapped
/// program.
const WRAPPERS: &[(&str, &str, usize)] = &[
    ("bunx", "-p --package", 0),
    ("c8", "-r --reporter", 0),
    ("caffeinate", "-t", 0),
    ("conda run", "-n --name -p --prefix", 0),
    ("coverage run", "--source --omit --rcfile", 0),
    ("ddev exec", "-s -d", 0),
    ("direnv exec", "", 1),
    ("doas", "-u", 0),
    ("docker compose exec", "-e --env -u --user -w --workdir --index", 1),
    ("docker compose run", "-e --env -u --user -w -v --volume --name --entrypoint", 1),
    ("docker exec", "-e --env -u --user -w --workdir", 1),
    ("docker run", "-e --env -u --user -w -v --volume --name --network -p --mount --platform", 1),
    ("docker-compose exec", "-e -u -w", 1),
    ("docker-compose run", "-e -u -w -v --name", 1),
    ("doppler run", "-p -c", 0),
    ("dotenv", "-e -f", 0),
    ("env", "-u --unset -C", 0),
    ("exec", "-a", 0),
    ("gtimeout", "-k -s", 1),
    ("ionice", "-c -n", 0),
    ("kubectl exec", "-n -c --namespace --container", 1),
    ("nice", "-n", 0),
    ("npm exec", "-p -w --workspace", 0),
    ("npx", "-p --package", 0),
    ("op run", "--env-file", 0),
    ("pdm run", "-p", 0),
    ("pipx run", "--spec", 0),
    ("pnpm exec", "--filter -F", 0),
    ("podman exec", "-e -u -w", 1),
    ("podman run", "-e -u -w -v --name", 1),
    ("poetry run", "-C", 0),
    ("sudo", "-u -g", 0),
    ("time", "-f -o", 0),
    ("timeout", "-k -s", 1),
    ("uv run", "--with --python -p --extra --group --project --directory --package --env-file", 0),
    ("uv tool run", "--from --with --python", 0),
    ("uvx", "--from --with --python", 0),
    ("volta run", "--node", 0),
    ("xargs", "-n -P -I -d -L", 0),
    ("xcrun", "--sdk", 0),
    ("xvfb-run", "-s -e", 0),
];

/// Options with a value that can come between the words of a wrapper's name.
const BEFORE_SUBCOMMAND: &str =
    "-f --file -p -C --project-name --context -n --profile --env-file --filter -F";

/// Shell words that can come before a program.
const SHELL_WORDS: &[&str] = &["!", "elif", "if", "until", "while"];

const SHELLS: &[&str] = &["bash", "dash", "ksh", "sh", "zsh"];
const INTERPRETERS: &[&str] = &["node", "php", "python", "python2", "python3", "py", "ruby"];

/// Returns the words of a simple command from its program on.
pub(super) fn program_words(words: &[String]) -> &[String] {
    let mut rest = words;
    loop {
        let inner = without_one_wrapper(rest);
        if inner.len() == rest.len() {
            return rest;
        }
        rest = inner;
    }
}

fn without_one_wrapper(words: &[String]) -> &[String] {
    let Some(first) = words.first() else { return words };
    if is_assignment(first) || SHELL_WORDS.contains(&first.as_str()) || OPENERS.contains(&first.as_str()) {
        return &words[1..];
    }
    let name = program_name(first);
    if INTERPRETERS.contains(&name) {
        return interpreted(words);
    }
    let plain = PLAIN_WRAPPERS.iter().map(|wrapper| (*wrapper, "", 0));
    let wrappers = plain.chain(WRAPPERS.iter().copied()).filter(|(wrapper, ..)| wrapper.starts_with(name));
    let matching = wrappers.filter_map(|wrapper| Some((wrapper, after_name(words, wrapper.0)?)));
    let Some(((_, valued, operands), after)) = matching.max_by_key(|(wrapper, _)| wrapper.0.len()) else {
        return words;
    };
    let inner = after_options(&words[after..], valued, operands);
    // `command -v x`, `npx --version`, `time` alone run nothing.
    if inner.is_empty() || (name == "command" && words.get(1).is_some_and(|word| word.starts_with('-'))) {
        words
    } else {
        inner
    }
}

/// `python -m pytest` runs `pytest`, `node node_modules/.bin/jest` runs `jest`.
fn interpreted(words: &[String]) -> &[String] {
    for (at, word) in words.iter().enumerate().skip(1) {
        match word.as_str() {
            "-m" => return if at + 1 < words.len() { &words[at + 1..] } else { words },
            "-W" | "-X" => {}
            word if word.contains("/.bin/") || word.contains("vendor/bin/") => return &words[at..],
            word if word.starts_with('-') && word != "-c" && word != "-e" => {}
            _ => return words,
        }
    }
    words
}

/// Returns the index of the first word after a wrapper's name. Options may come between the words
/// of the name: `docker compose -f x run`.
fn after_name(words: &[String], name: &str) -> Option<usize> {
    let mut wanted = name.split(' ');
    if program_name(words.first()?) != wanted.next()? {
        return None;
    }
    let mut at = 1;
    for word in wanted {
        while words.get(at)?.starts_with('-') {
            at += if is_one_of(BEFORE_SUBCOMMAND, &words[at]) { 2 } else { 1 };
        }
        if words.get(at)? != word {
            return None;
        }
        at += 1;
    }
    Some(at)
}

fn after_options<'a>(words: &'a [String], valued: &str, operands: usize) -> &'a [String] {
    let mut rest = words;
    let mut operands = operands;
    while let Some(word) = rest.first() {
        if word == "--" {
            rest = &rest[1..];
            if operands == 0 {
                break;
            }
        } else if word == "-m" {
            // `coverage run -m pytest`
            return &rest[1..];
        } else if word.starts_with('-') && word.len() > 1 {
            let takes_value = is_one_of(valued, word);
            rest = &rest[(1 + usize::from(takes_value)).min(rest.len())..];
        } else if is_assignment(word) {
            rest = &rest[1..];
        } else if operands > 0 {
            operands -= 1;
            rest = &rest[1..];
        } else {
            break;
        }
    }
    rest
}

fn is_one_of(options: &str, word: &str) -> bool {
    options.split(' ').any(|option| option == word)
}

/// Returns whether a word is `NAME=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Returns a program's name without its folder and version (`python3.12`).
pub(super) fn program_name(program: &str) -> &str {
    let name = base_name(program);
    if name.starts_with("python3.") { "python3" } else { name }
}

/// Returns the script that a shell is given: by `bash -c '…'`, `eval …` or on its input.
pub(super) fn script(command: &SimpleCommand) -> Option<String> {
    let words = command.program_words();
    let name = program_name(words.first()?);
    if name == "eval" {
        return Some(words[1..].join(" "));
    }
    if !SHELLS.contains(&name) {
        return None;
    }
    let options = words.iter().skip(1).take_while(|word| word.starts_with('-'));
    match options.into_iter().position(|word| !word.starts_with("--") && word.ends_with('c')) {
        Some(at) => words.get(at + 2).cloned(),
        None if words.iter().skip(1).all(|word| word.starts_with('-')) => Some(command.input.clone()),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::shell::parse::parse;

    #[test]
    fn the_program_behind_its_wrappers() {
        for (line, expected) in [
            ("sudo -u x npm test", "npm test"),
            ("env A=1 B=2 npm test", "npm test"),
            ("A=1 time npm test", "npm test"),
            ("timeout 60 npm test", "npm test"),
            ("timeout -k 5 60 npm test", "npm test"),
            ("nice -n 10 npm test", "npm test"),
            ("uv run --with x pytest -q", "pytest -q"),
            ("poetry run python -m pytest", "pytest"),
            ("bundle exec rspec", "rspec"),
            ("npx --yes vitest run", "vitest run"),
            ("pnpm --filter web exec jest", "jest"),
            ("docker exec -it -e A=1 web npm test", "npm test"),
            ("docker compose -f x.yml run --rm app pytest", "pytest"),
            ("kubectl exec -n x pod -- npm test", "npm test"),
            ("python3.12 -m unittest", "unittest"),
            ("node node_modules/.bin/jest", "node_modules/.bin/jest"),
            ("coverage run -m pytest", "pytest"),
            ("if ! npm test", "npm test"),
            ("command -v npm", "command -v npm"),
            ("python x.py -m y", "python x.py -m y"),
        ] {
            assert_eq!(parse(line)[0].program_words().join(" "), expected, "{line}");
        }
    }
}
