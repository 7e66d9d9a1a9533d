//! What a program asked of the kernel: runs it under `strace` and reads what that wrote down.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::Command;

use crate::measure::{Fault, timed};

/// What was asked.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// How many system calls there were, of all its threads and children.
    pub(crate) calls: usize,
    /// How many threads and processes were started.
    pub(crate) started: usize,
    /// How many bytes were read from each file, or mapped of it.
    pub(crate) read: BTreeMap<String, u64>,
}

impl Asked {
    /// Bytes read from files, but for programs, their libraries and what the C library looks at by itself.
    pub(crate) fn bytes_of_files(&self) -> u64 {
        self.read.iter().filter(|(path, _)| !is_the_loaders(path)).map(|(_, bytes)| bytes).sum()
    }
}

/// Whether there is a `strace` that may trace.
pub(crate) fn is_there() -> bool {
    Command::new("strace")
        .args(["-o", "/dev/null", "/bin/true"])
        .output()
        .is_ok_and(|out| out.status.success())
}

/// Runs a command under `strace`.
pub(crate) fn traced(command: &Command, stdin: &[u8]) -> Result<Asked, Fault> {
    let file = tempfile::NamedTempFile::new().map_err(|why| format!("strace: {why}"))?;
    let mut traced = Command::new("strace");
    traced.args(["-f", "-y", "-s", "0", "-o"]).arg(file.path()).arg(command.get_program());
    traced.args(command.get_args()).env_clear();
    if let Some(folder) = command.get_current_dir() {
        traced.current_dir(folder);
    }
    traced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    timed(&mut traced, stdin)?;
    let text = std::fs::read_to_string(file.path()).map_err(|why| format!("strace: {why}"))?;
    Ok(parse(&text))
}

fn parse(text: &str) -> Asked {
    let mut asked = Asked::default();
    let mut unfinished: HashMap<&str, (&str, Option<&str>)> = HashMap::new();
    for line in text.lines() {
        let Some((pid, line)) = line.split_once(' ') else { continue };
        let line = line.trim_start();
        if line.starts_with("+++") || line.starts_with("---") {
            continue;
        }
        let (name, path) = if line.starts_with("<...") {
            unfinished.remove(pid).unwrap_or(("", None))
        } else {
            asked.calls += 1;
            let name = line.split('(').next().unwrap_or_default();
            if matches!(name, "clone" | "clone3" | "fork" | "vfork") {
                asked.started += 1;
            }
            (name, path_of(name, line))
        };
        if line.ends_with("<unfinished ...>") {
            unfinished.insert(pid, (name, path));
            continue;
        }
        let (Some(path), Some((call, result))) = (path, line.rsplit_once(" = ")) else { continue };
        let bytes: u64 = match name {
            "mmap" => {
                if result.starts_with("-1") {
                    0
                } else {
                    second_argument(call)
                }
            }
            _ => result.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0),
        };
        *asked.read.entry(path.to_owned()).or_default() += bytes;
    }
    asked
}

/// The file that a call reads from or maps.
fn path_of<'a>(name: &str, line: &'a str) -> Option<&'a str> {
    if !matches!(
        name,
        "read" | "pread64" | "readv" | "preadv" | "preadv2" | "mmap" | "sendfile" | "copy_file_range"
    ) {
        return None;
    }
    let inside = &line[line.find("</")? + 1..];
    let path = &inside[..inside.find('>')?];
    let is_file = !["/dev/", "/proc/", "/sys/"].iter().any(|start| path.starts_with(start));
    is_file.then_some(path)
}

fn second_argument(call: &str) -> u64 {
    call.split(", ").nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn is_the_loaders(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "so")
        || path.contains(".so.")
        || path.starts_with("/etc/ld.so")
        || path.contains("/locale")
        || path == crate::scene::PUNCHLIST
}
