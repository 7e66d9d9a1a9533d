//! Takes what `strace -f -y` wrote down, says what the program asked of the kernel. Pure.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

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
    /// Reads what was written down.
    pub(crate) fn of(text: &str) -> Self {
        parse(text)
    }

    /// Bytes read from files, but for the `program`, its libraries and what the C library looks at by itself.
    pub(crate) fn bytes_of_files(&self, program: &str) -> u64 {
        let files = self.read.iter().filter(|(path, _)| *path != program && !is_the_loaders(path));
        files.map(|(_, bytes)| bytes).sum()
    }
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
}
