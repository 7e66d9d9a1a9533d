//! Takes a session and the name of a script of the project, says whether the session itself wrote that script so
//! that it does nothing: `"test": "exit 0"`. The plain forms only. Pure.

use std::sync::LazyLock;

use crate::pattern::Pattern;
use crate::session::shell::parts::parts;
use crate::session::{Session, Touch};
use crate::words::base_name;

/// Whether the session wrote that script, before `at`, so that it can only succeed.
pub(super) fn is_gutted(session: &Session, script: &str, at: usize) -> bool {
    let before = session.done_touches().filter(|touch| touch.agent.is_some() || touch.at <= at);
    before
        .filter_map(|touch| Some((touch, touch.change.as_ref()?)))
        .any(|(touch, change)| body(touch, script, &change.new).is_some_and(|body| does_nothing(&body)))
}

/// What the script of that name does, where the text that was written says so.
fn body(touch: &Touch, script: &str, text: &str) -> Option<String> {
    let file = base_name(&touch.path);
    match file {
        "package.json" | "composer.json" | "deno.json" => PACKAGE_SCRIPT
            .groups_iter(text)
            .filter_map(|groups| Some((&text[groups[1].clone()?], &text[groups[2].clone()?])))
            .find(|(name, _)| *name == script)
            .map(|(_, body)| body.replace("\\\"", "\"")),
        "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile" => {
            let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("{script}:")));
            lines.next()?;
            let recipe: Vec<&str> = lines
                .take_while(|line| line.starts_with(['\t', ' ']))
                .map(|line| line.trim().trim_start_matches(['@', '-']))
                .collect();
            (!recipe.is_empty()).then(|| recipe.join("\n"))
        }
        _ if file == base_name(script)
            && (script.contains('/') || script.contains('.'))
            && touch.path.ends_with(script.trim_start_matches("./")) =>
        {
            let lines = text.lines().filter(|line| !line.starts_with("#!"));
            // Of a change in the middle of a script nobody knows the rest.
            touch.change.as_ref().filter(|change| change.old.is_empty())?;
            Some(lines.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

static PACKAGE_SCRIPT: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::known(r#""([\w:.-]+)"\s*:\s*"((?:[^"\\]|\\.)*)""#));

fn does_nothing(script: &str) -> bool {
    let parts = parts(script);
    !parts.is_empty()
        && parts.iter().all(|part| match part.words.first().map(String::as_str) {
            Some("echo" | "printf" | "true" | ":" | "set") => true,
            Some("node" | "python" | "python3" | "ruby") => only_prints(&part.words),
            Some("exit") => part.words.get(1).is_none_or(|code| code == "0"),
            _ => false,
        })
}

/// `node -e "console.log('9 passing')"`: a program on the line that only prints.
fn only_prints(words: &[String]) -> bool {
    let code = match words {
        [_, flag, code] if flag == "-e" || flag == "-c" => code.trim(),
        _ => return false,
    };
    let is_print = |statement: &str| {
        let statement = statement.trim();
        statement.is_empty()
            || ["console.log(", "print(", "puts "].iter().any(|start| statement.starts_with(start))
    };
    code.split(';').all(is_print)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Change, EditTool, Original, Outcome};

    fn gutted(path: &str, text: &str, script: &str) -> bool {
        let touch = Touch {
            path: path.into(),
            tool: EditTool::Write,
            at: 1,
            outcome: Outcome::Done,
            original: Original::Unknown,
            agent: None,
            change_at: None,
            change: Some(Change { old: String::new(), new: text.into() }),
        };
        is_gutted(&Session { touches: vec![touch].into(), ..Session::default() }, script, 2)
    }

    #[test]
    fn scripts_that_can_only_succeed() {
        for (path, text, script) in [
            ("/w/package.json", r#"{"scripts": {"test": "exit 0"}}"#, "test"),
            ("/w/package.json", r#"{"scripts": {"test": "echo \"5 passed\" && exit 0"}}"#, "test"),
            ("/w/package.json", r#"{"scripts": {"lint": "true"}}"#, "lint"),
            ("/w/package.json", r#"{"scripts": {"test": "node -e \"console.log('9 passing')\""}}"#, "test"),
            ("/w/Makefile", "all: x\n\ntest:\n\t@echo ok\n\t@exit 0\n", "test"),
            ("/w/scripts/test.sh", "#!/bin/sh\n# tests\nset -e\necho ok\n", "./scripts/test.sh"),
        ] {
            assert!(gutted(path, text, script), "{path} {text}");
        }
        for (path, text, script) in [
            ("/w/package.json", r#"{"scripts": {"test": "jest"}}"#, "test"),
            ("/w/package.json", r#"{"scripts": {"test": "echo no && exit 1"}}"#, "test"),
            ("/w/package.json", r#"{"scripts": {"lint": "true", "test": "jest"}}"#, "test"),
            ("/w/Makefile", "test:\n\tpytest\n", "test"),
            ("/w/scripts/test.sh", "#!/bin/sh\npytest\n", "./scripts/test.sh"),
            ("/w/other/test.sh", "echo x", "./scripts/test.sh"),
        ] {
            assert!(!gutted(path, text, script), "{path} {text}");
        }
    }
}
