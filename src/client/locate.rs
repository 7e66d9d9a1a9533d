//! Finds the client that will be asked: the one that the person named, the one that runs this session, or
//! the one on PATH. Must not run anything.

use std::path::PathBuf;

use crate::env::{self, Env};
use crate::readers::Unavailable;

/// The client's program.
pub fn find(env: &Env, configured: Option<&PathBuf>) -> Result<PathBuf, Unavailable> {
    if let Some(named) = env.path(env::CLAUDE).or_else(|| configured.cloned()) {
        return resolve(env, &named)
            .ok_or_else(|| Unavailable::NotFound { looked_at: named.display().to_string() });
    }
    let running = env.path(env::CLIENT_EXECPATH).or_else(|| running_client(env));
    // Older clients are scripts: there the running program is the interpreter, not the client.
    let running = running.filter(|path| path.is_file() && !is_interpreter(path));
    running.or_else(|| resolve(env, &PathBuf::from("claude"))).ok_or_else(|| Unavailable::NotFound {
        looked_at: format!("{}, {} and PATH", env::CLAUDE, env::CLIENT_EXECPATH),
    })
}

/// The program of the process that started us. No version up to 2.1.325 gives its path to its hooks; from
/// 2.1.221 on it gives its process id.
fn running_client(env: &Env) -> Option<PathBuf> {
    let pid: u32 = env.text(env::CLIENT_PID)?.parse().ok()?;
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

fn is_interpreter(path: &std::path::Path) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    ["node", "nodejs", "bun", "deno"].contains(&stem.as_str())
}

/// A path as it is, a bare name through the PATH of the given environment.
fn resolve(env: &Env, program: &std::path::Path) -> Option<PathBuf> {
    which::which_in(program, env.get("PATH"), env.home().unwrap_or_default()).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(folder: &std::path::Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, "#!/bin/sh\n").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        path
    }

    #[test]
    fn the_named_one_then_the_configured_one_then_the_running_one_then_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let [named, configured, running, on_path, node] =
            ["named", "configured", "running", "claude", "node"].map(|name| program(folder.path(), name));
        let path = ("PATH", folder.path().to_path_buf());
        let env = Env::from_pairs([
            path.clone(),
            (env::CLAUDE, named.clone()),
            (env::CLIENT_EXECPATH, running.clone()),
        ]);
        assert_eq!(find(&env, Some(&configured)), Ok(named));
        let env = Env::from_pairs([path.clone(), (env::CLIENT_EXECPATH, running.clone())]);
        assert_eq!(find(&env, Some(&configured)), Ok(configured));
        assert_eq!(find(&env, None), Ok(running));
        let env = Env::from_pairs([path, (env::CLIENT_EXECPATH, node)]);
        assert_eq!(find(&env, None), Ok(on_path));
    }

    #[test]
    fn none_says_where_it_was_looked_for() {
        let said = |env: Env| find(&env, None).expect_err("none").to_string();
        assert_eq!(
            said(Env::default()),
            "no `claude` program was found (looked at PUNCHLIST_CLAUDE, CLAUDE_CODE_EXECPATH and PATH); \
             PUNCHLIST_CLAUDE or `[auditor] client` can name it"
        );
        assert_eq!(
            said(Env::from_pairs([(env::CLAUDE, "/nowhere/claude")])),
            "no `claude` program was found (looked at /nowhere/claude); \
             PUNCHLIST_CLAUDE or `[auditor] client` can name it"
        );
    }
}
