//! How an agent runs punchlist: by its name where that is on the path, else by the path of this program.

use crate::env::Env;

const NAME: &str = "punchlist";

/// The command in a shell.
pub fn own_command(env: &Env) -> String {
    let path = env.get("PATH");
    let is_found = path.is_some_and(|path| which::which_in(NAME, Some(path), ".").is_ok());
    if is_found {
        return NAME.to_owned();
    }
    std::env::current_exe().map_or_else(|_| NAME.to_owned(), |program| quoted(&program.display().to_string()))
}

/// One word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word() {
        assert_eq!(quoted("/usr/bin/punchlist"), "/usr/bin/punchlist");
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
    }

    #[test]
    fn where_it_is_not_found_by_its_name_it_is_named_by_its_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let env = Env::from_pairs([("PATH", folder.path())]);
        assert!(own_command(&env).contains('/'));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/bin/sh", folder.path().join(NAME)).expect("a link");
            assert_eq!(own_command(&env), NAME);
        }
    }
}
