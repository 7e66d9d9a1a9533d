//! Takes the words of a simple command, gives those of the program that really runs: assignments, shell words
//! and programs that run another one (`sudo`, `timeout 60`, `uv run`, `docker exec web`) off. Must not guess: a
//! wrapper that is not in the table is a program like any other.

use crate::shell::parse::{OPENERS, Part, parts};
use crate::text::normalise::base_name;

/// How deep scripts in scripts (`bash -c "bash -c …"`) are followed.
const DEPTH: usize = 3;

/// A program that runs another: its name with the words that make it one, its options that take a value, and
/// how many of its own operands stand before the other program.
type Wrapper = (&'static str, &'static [&'static str], usize);

/// By name: it is looked up so.
const WRAPPERS: &[Wrapper] = &[
    ("arch", &[], 0),
    ("asdf exec", &[], 0),
    ("builtin", &[], 0),
    ("bun x", &[], 0),
    ("bundle exec", &[], 0),
    ("bunx", &["-p", "--package"], 0),
    ("c8", &["-r", "--reporter"], 0),
    ("caffeinate", &["-t"], 0),
    ("chronic", &[], 0),
    ("command", &[], 0),
    ("conda run", &["-n", "--name", "-p", "--prefix"], 0),
    ("coverage run", &["--source", "--omit", "--rcfile"], 0),
    ("cross-env", &[], 0),
    ("ddev exec", &["-s", "-d"], 0),
    ("direnv exec", &[], 1),
    ("doas", &["-u"], 0),
    ("docker compose exec", &["-e", "--env", "-u", "--user", "-w", "--workdir", "--index"], 1),
    (
        "docker compose run",
        &["-e", "--env", "-u", "--user", "-w", "-v", "--volume", "--name", "--entrypoint"],
        1,
    ),
    ("docker exec", &["-e", "--env", "-u", "--user", "-w", "--workdir"], 1),
    (
        "docker run",
        &[
            "-e", "--env", "-u", "--user", "-w", "-v", "--volume", "--name", "--network", "-p", "--mount",
            "--platform",
        ],
        1,
    ),
    ("docker-compose exec", &["-e", "-u", "-w"], 1),
    ("docker-compose run", &["-e", "-u", "-w", "-v", "--name"], 1),
    ("doppler run", &["-p", "-c"], 0),
    ("dotenv", &["-e", "-f"], 0),
    ("env", &["-u", "--unset", "-C"], 0),
    ("exec", &["-a"], 0),
    ("gtimeout", &["-k", "-s"], 1),
    ("ionice", &["-c", "-n"], 0),
    ("kubectl exec", &["-n", "-c", "--namespace", "--container"], 1),
    ("mise exec", &[], 0),
    ("mise x", &[], 0),
    ("nice", &["-n"], 0),
    ("nohup", &[], 0),
    ("npm exec", &["-p", "-w", "--workspace"], 0),
    ("npm x", &[], 0),
    ("npx", &["-p", "--package"], 0),
    ("nyc", &[], 0),
    ("op run", &["--env-file"], 0),
    ("pdm run", &["-p"], 0),
    ("pipenv run", &[], 0),
    ("pipx run", &["--spec"], 0),
    ("pnpm dlx", &[], 0),
    ("pnpm exec", &["--filter", "-F"], 0),
    ("podman exec", &["-e", "-u", "-w"], 1),
    ("podman run", &["-e", "-u", "-w", "-v", "--name"], 1),
    ("poetry run", &["-C"], 0),
    // Proxies that shorten what a command prints.
    ("rtk", &[], 0),
    ("rye run", &[], 0),
    ("setsid", &[], 0),
    ("stdbuf", &[], 0),
    ("sudo", &["-u", "-g"], 0),
    ("time", &["-f", "-o"], 0),
    ("timeout", &["-k", "-s"], 1),
    ("unbuffer", &[], 0),
    (
        "uv run",
        &[
            "--with", "--python", "-p", "--extra", "--group", "--project", "--directory", "--package",
            "--env-file",
        ],
        0,
    ),
    ("uv tool run", &["--from", "--with", "--python"], 0),
    ("uvx", &["--from", "--with", "--python"], 0),
    ("volta run", &["--node"], 0),
    ("xargs", &["-n", "-P", "-I", "-d", "-L"], 0),
    ("xcrun", &["--sdk"], 0),
    ("xvfb-run", &["-s", "-e"], 0),
    ("yarn dlx", &[], 0),
    ("yarn exec", &[], 0),
];

/// Shell words that can stand before a program.
const SHELL_WORDS: &[&str] = &["!", "elif", "if", "until", "while"];

const SHELLS: &[&str] = &["bash", "dash", "ksh", "sh", "zsh"];
const INTERPRETERS: &[&str] = &["node", "php", "python", "python2", "python3", "py", "ruby"];

/// The words of a simple command from its program on.
pub fn program_words(words: &[String]) -> &[String] {
    let mut rest = words;
    loop {
        let before = rest.len();
        rest = without_one_wrapper(rest);
        if rest.len() == before {
            return rest;
        }
    }
}

fn without_one_wrapper(words: &[String]) -> &[String] {
    let Some(first) = words.first() else { return words };
    if is_assignment(first) || SHELL_WORDS.contains(&first.as_str()) || OPENERS.contains(&first.as_str()) {
        return &words[1..];
    }
    let name = program_name(first);
    if INTERPRETERS.contains(&name) {
        return of_interpreter(words);
    }
    let from = WRAPPERS.partition_point(|wrapper| wrapper.0 < name);
    let of_name = WRAPPERS[from..].iter().take_while(|wrapper| wrapper.0.starts_with(name));
    let found = of_name.filter_map(|wrapper| Some((wrapper, after_name(words, wrapper.0)?)));
    let Some(((_, valued, operands), after)) = found.max_by_key(|(wrapper, _)| wrapper.0.len()) else {
        return words;
    };
    let inner = after_options(&words[after..], valued, *operands);
    // `command -v x`, `npx --version`, `time` alone: nothing is run by it.
    if inner.is_empty() || (name == "command" && words.get(1).is_some_and(|word| word.starts_with('-'))) {
        words
    } else {
        inner
    }
}

/// `python -m pytest` runs `pytest`, `node node_modules/.bin/jest` runs `jest`.
fn of_interpreter(words: &[String]) -> &[String] {
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

/// Where the words go on after a wrapper's name. Options may stand between its words: `docker compose -f x run`.
fn after_name(words: &[String], name: &str) -> Option<usize> {
    let mut wanted = name.split(' ');
    if program_name(words.first()?) != wanted.next()? {
        return None;
    }
    let mut at = 1;
    for word in wanted {
        while words.get(at)?.starts_with('-') {
            // Of what stands before a subcommand, these take a value.
            at += if matches!(
                words[at].as_str(),
                "-f" | "--file"
                    | "-p"
                    | "-C"
                    | "--project-name"
                    | "--context"
                    | "-n"
                    | "--profile"
                    | "--env-file"
                    | "--filter"
                    | "-F"
            ) {
                2
            } else {
                1
            };
        }
        if words.get(at)? != word {
            return None;
        }
        at += 1;
    }
    Some(at)
}

fn after_options<'a>(words: &'a [String], valued: &[&str], operands: usize) -> &'a [String] {
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
            let takes_value = valued.contains(&word.as_str());
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

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// A program's name without its folder and a version (`python3.12`).
pub(super) fn program_name(program: &str) -> &str {
    let name = base_name(program);
    if name.starts_with("python3.") { "python3" } else { name }
}

/// The simple commands of a line, those of scripts given to a shell (`bash -c '…'`, `eval`) in the place of the
/// shell that runs them.
pub fn flat_parts(line: &str) -> Vec<Part> {
    let mut found = Vec::new();
    flatten(line, 0, &mut found);
    found
}

fn flatten(line: &str, depth: usize, found: &mut Vec<Part>) {
    for part in parts(line) {
        let script = if depth < DEPTH { script_of(program_words(&part.words)) } else { None };
        let Some(script) = script else {
            found.push(part);
            continue;
        };
        let from = found.len();
        flatten(&script, depth + 1, found);
        for inner in &mut found[from..] {
            inner.is_guarded |= part.is_guarded;
        }
        if let Some(last) = found[from..].last_mut() {
            last.joint = part.joint;
        }
    }
}

/// The script in `bash -c '…'` or `eval …`.
fn script_of(words: &[String]) -> Option<String> {
    let name = program_name(words.first()?);
    if name == "eval" {
        return Some(words[1..].join(" "));
    }
    if !SHELLS.contains(&name) {
        return None;
    }
    let options = words.iter().skip(1).take_while(|word| word.starts_with('-'));
    let at = options.into_iter().position(|word| !word.starts_with("--") && word.ends_with('c'))?;
    words.get(at + 2).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let part = parts(line).remove(0);
            assert_eq!(program_words(&part.words).join(" "), expected, "{line}");
        }
    }

    #[test]
    fn wrappers_are_in_the_order_of_their_names() {
        assert!(WRAPPERS.is_sorted_by_key(|wrapper| wrapper.0));
    }

    #[test]
    fn scripts_are_read_in_place() {
        let words =
            |line: &str| flat_parts(line).into_iter().map(|part| part.words.join(" ")).collect::<Vec<_>>();
        assert_eq!(words("bash -c 'cd x && npm test' && b"), ["cd x", "npm test", "b"]);
        assert_eq!(words("bash -lc \"npm test\""), ["npm test"]);
        assert_eq!(words("bash x.sh -c"), ["bash x.sh -c"]);
    }
}
