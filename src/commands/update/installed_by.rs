//! How this program was installed, judged by its location: the commands that update and remove it,
//! and who can be asked for the newest version. Must not run anything.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::text::harmless;

/// The name of the package, wherever it is published.
const PACKAGE: &str = "punchlist";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InstalledBy {
    Npm,
    /// Run from npm's cache.
    Npx,
    Pnpm,
    Bun,
    UvTool,
    /// Run from uv's cache.
    Uvx,
    Pipx,
    /// Installed in this Python.
    Pip(PathBuf),
    Cargo,
    /// `cargo install --path`, from this checkout if cargo's record of it can be read.
    CargoPath(String),
    Brew,
    /// The installer script, from this release server.
    Script(String),
    /// A build in a checkout.
    Build,
    Unknown,
}

/// Whom to ask for the newest version, and how to read the answer.
pub(crate) struct Question {
    pub program: String,
    pub args: Vec<String>,
    pub stdin: &'static str,
    pub version: fn(&str) -> Option<String>,
}

impl Question {
    fn new(program: &str, args: &[&str], version: fn(&str) -> Option<String>) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self { program: program.to_owned(), args, stdin: "", version }
    }

    pub(crate) fn line(&self) -> String {
        harmless(&format!("{} {}", self.program, self.args.join(" ")))
    }
}

impl InstalledBy {
    /// Returns how the running program was installed.
    pub(crate) fn find() -> Self {
        let own = std::env::current_exe().unwrap_or_default();
        Self::from_location(&fs::canonicalize(&own).unwrap_or(own))
    }

    /// Returns how a program was installed, by its real path.
    fn from_location(program: &Path) -> Self {
        let is_in = |name: &str| program.components().any(|part| part.as_os_str() == name);
        let folder = program.parent().unwrap_or(Path::new("."));
        let around = folder.parent().unwrap_or(Path::new("."));
        let releases = fs::read_to_string(around.join(SCRIPT_NOTE));
        match () {
            () if is_in("_npx") => Self::Npx,
            () if is_in("node_modules") && (is_in("pnpm") || is_in(".pnpm")) => Self::Pnpm,
            () if is_in("node_modules") && is_in(".bun") => Self::Bun,
            () if is_in("node_modules") => Self::Npm,
            () if is_in("Cellar") => Self::Brew,
            () if is_in("uv") && is_in("tools") => Self::UvTool,
            () if is_in("archive-v0") || is_in("environments-v2") => Self::Uvx,
            () if is_in("pipx") => Self::Pipx,
            () if is_in("target") => Self::Build,
            () if is_wheel(around) => Self::Pip(python_in(folder)),
            () => match (of_cargo(around), releases) {
                (Some(cargo), _) => cargo,
                (None, Ok(releases)) => Self::Script(releases.trim().to_owned()),
                (None, Err(_)) => Self::Unknown,
            },
        }
    }

    /// Completes "installed …".
    pub(crate) fn description(&self) -> String {
        match self {
            Self::Npm => "through npm".into(),
            Self::Npx => "for one run, through npx".into(),
            Self::Pnpm => "through pnpm".into(),
            Self::Bun => "through bun".into(),
            Self::UvTool => "through uv".into(),
            Self::Uvx => "for one run, through uvx".into(),
            Self::Pipx => "through pipx".into(),
            Self::Pip(_) => "through pip".into(),
            Self::Cargo => "through cargo".into(),
            Self::CargoPath(checkout) => format!("through cargo, from the checkout {}", harmless(checkout)),
            Self::Brew => "through Homebrew".into(),
            Self::Script(releases) => format!("by the installer script, from {}", harmless(releases)),
            Self::Build => "nowhere: it is a build in a checkout".into(),
            Self::Unknown => "by hand".into(),
        }
    }

    pub(crate) fn update_line(&self) -> Option<String> {
        let line = match self {
            Self::Npm | Self::Npx => "npm install -g punchlist@latest",
            Self::Pnpm => "pnpm add -g punchlist@latest",
            Self::Bun => "bun add -g punchlist@latest",
            Self::UvTool => "uv tool upgrade punchlist",
            Self::Uvx => "uv tool install punchlist@latest",
            Self::Pipx => "pipx upgrade punchlist",
            Self::Pip(python) => {
                return Some(format!("{} -m pip install --upgrade punchlist", python.display()));
            }
            Self::Cargo => "cargo install punchlist",
            Self::CargoPath(_) | Self::Build => "git pull && cargo install --path .",
            Self::Brew => "brew upgrade punchlist",
            Self::Script(releases) => {
                let folder =
                    std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_path_buf()));
                let is_usual = folder.as_ref().is_none_or(|folder| folder.ends_with(".local/bin"));
                let place =
                    folder.filter(|_| !is_usual).map(|folder| format!("PUNCHLIST_BIN={} ", folder.display()));
                let place = place.unwrap_or_default();
                return Some(format!("curl -fsSL {releases}/latest/download/install.sh | {place}sh"));
            }
            Self::Unknown => return None,
        };
        Some(line.to_owned())
    }

    /// Returns the command that removes the program itself.
    pub(crate) fn remove_line(&self) -> Option<String> {
        let line = match self {
            Self::Npm => "npm uninstall -g punchlist",
            Self::Pnpm => "pnpm remove -g punchlist",
            Self::Bun => "bun remove -g punchlist",
            Self::UvTool => "uv tool uninstall punchlist",
            Self::Pipx => "pipx uninstall punchlist",
            Self::Pip(python) => return Some(format!("{} -m pip uninstall punchlist", python.display())),
            Self::Cargo | Self::CargoPath(_) => "cargo uninstall punchlist",
            Self::Brew => "brew uninstall punchlist",
            Self::Script(_) => {
                let program = std::env::current_exe().ok()?;
                let note = program.parent()?.parent()?.join(SCRIPT_NOTE);
                return Some(format!("rm {} {}", program.display(), note.display()));
            }
            Self::Npx | Self::Uvx | Self::Build | Self::Unknown => return None,
        };
        Some(line.to_owned())
    }

    /// Returns whom to ask for the newest version, if anybody.
    pub(crate) fn question(&self) -> Option<Question> {
        let view = ["view", PACKAGE, "version"];
        let pip = ["-m", "pip", "index", "versions", PACKAGE, "--disable-pip-version-check"];
        Some(match self {
            Self::Npm | Self::Npx => Question::new("npm", &view, first_word),
            Self::Pnpm => Question::new("pnpm", &view, first_word),
            Self::Bun => Question::new("bun", &["pm", "view", PACKAGE, "version"], first_word),
            Self::UvTool | Self::Uvx => {
                let args = ["pip", "compile", "-", "--no-deps", "--no-header", "--no-annotate", "--quiet"];
                Question { stdin: PACKAGE, ..Question::new("uv", &args, pinned) }
            }
            Self::Pipx => {
                Question::new("pipx", &["runpip", PACKAGE, "index", "versions", PACKAGE], in_parentheses)
            }
            Self::Pip(python) => Question::new(&python.to_string_lossy(), &pip, in_parentheses),
            Self::Cargo => Question::new("cargo", &["info", PACKAGE], cargo_version),
            Self::Brew => Question::new("brew", &["info", "--json=v2", PACKAGE], brew_version),
            Self::Script(releases) => {
                let url = format!("{releases}/latest/download/punchlist-version.txt");
                Question::new("curl", &["-fsSL", "--max-time", "15", &url], first_word)
            }
            Self::CargoPath(_) | Self::Build | Self::Unknown => return None,
        })
    }
}

/// Returns whether a folder with `bin` in it has our wheel's metadata in its site packages.
fn is_wheel(around: &Path) -> bool {
    let names = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut libraries: Vec<PathBuf> = names(&around.join("lib"));
    libraries.retain(|path| name(path).starts_with("python"));
    // Windows has a folder without a version.
    libraries.push(around.join("Lib"));
    let packages = libraries.iter().flat_map(|lib| [lib.join("site-packages"), lib.join("dist-packages")]);
    packages.flat_map(|folder| names(&folder)).any(|path| {
        let name = name(&path);
        name.starts_with("punchlist-") && name.ends_with(".dist-info")
    })
}

/// Returns the Python beside a script, else the one on the PATH.
fn python_in(folder: &Path) -> PathBuf {
    let beside = ["python3", "python", "python.exe"].map(|name| folder.join(name));
    beside.into_iter().find(|python| python.is_file()).unwrap_or_else(|| "python3".into())
}

/// Where the installer script records its download URL, beside the folder of programs.
pub(crate) const SCRIPT_NOTE: &str = "share/punchlist/installed-from";

/// Returns what cargo's install record says about us.
fn of_cargo(around: &Path) -> Option<InstalledBy> {
    let note: Value = serde_json::from_slice(&fs::read(around.join(".crates2.json")).ok()?).ok()?;
    // `punchlist 0.1.0 (path+file:///home/me/punchlist)`
    let (key, _) = note["installs"].as_object()?.iter().find(|(key, _)| key.starts_with("punchlist "))?;
    let source = key.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'))?;
    if let Some(path) = source.strip_prefix("path+file://") {
        return Some(InstalledBy::CargoPath(path.split('#').next().unwrap_or(path).to_owned()));
    }
    // From a repository, or a private registry: crates.io would be the wrong place to ask.
    Some(if source.starts_with("registry+") { InstalledBy::Cargo } else { InstalledBy::Unknown })
}

fn is_version(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')
}

fn first_word(answer: &str) -> Option<String> {
    answer.split_whitespace().next().filter(|word| is_version(word)).map(str::to_owned)
}

/// `punchlist==0.2.0`
fn pinned(answer: &str) -> Option<String> {
    let line = answer.lines().find_map(|line| line.trim().strip_prefix("punchlist=="))?;
    first_word(line)
}

/// `punchlist (0.2.0)`
fn in_parentheses(answer: &str) -> Option<String> {
    let (_, rest) = answer.split_once("punchlist (")?;
    first_word(rest.split(')').next()?)
}

/// `version: 0.2.0`, among other lines
fn cargo_version(answer: &str) -> Option<String> {
    answer.lines().find_map(|line| line.strip_prefix("version: ")).and_then(first_word)
}

fn brew_version(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    first_word(answer["formulae"][0]["versions"]["stable"].as_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> InstalledBy {
        InstalledBy::from_location(Path::new(path))
    }

    #[test]
    fn the_way_is_told_by_where_the_program_lies() {
        for (path, way) in [
            (
                "/usr/lib/node_modules/punchlist/node_modules/@punchlist/linux-x64/bin/punchlist",
                InstalledBy::Npm,
            ),
            ("/home/me/.npm/_npx/ab/node_modules/@punchlist/linux-x64/bin/punchlist", InstalledBy::Npx),
            (
                "/home/me/.local/share/pnpm/global/5/.pnpm/@punchlist+linux-x64@1/node_modules/x/bin/punchlist",
                InstalledBy::Pnpm,
            ),
            (
                "/home/me/.bun/install/global/node_modules/@punchlist/linux-x64/bin/punchlist",
                InstalledBy::Bun,
            ),
            ("/home/me/.local/share/uv/tools/punchlist/bin/punchlist", InstalledBy::UvTool),
            ("/home/me/.cache/uv/archive-v0/x/bin/punchlist", InstalledBy::Uvx),
            ("/home/me/.local/share/pipx/venvs/punchlist/bin/punchlist", InstalledBy::Pipx),
            ("/opt/homebrew/Cellar/punchlist/0.1.0/bin/punchlist", InstalledBy::Brew),
            ("/src/punchlist/target/debug/punchlist", InstalledBy::Build),
            ("/nowhere/bin/punchlist", InstalledBy::Unknown),
        ] {
            assert_eq!(of(path), way, "{path}");
        }
    }

    #[test]
    fn a_wheel_cargo_and_the_script_are_told_by_their_notes() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        };
        let found = |path: &str| of(&folder.path().join(path).display().to_string());
        write("venv/bin/python3", "");
        write("venv/lib/python3.12/site-packages/punchlist-0.1.0.dist-info/METADATA", "");
        assert_eq!(found("venv/bin/punchlist"), InstalledBy::Pip(folder.path().join("venv/bin/python3")));
        let crates = |source: &str| {
            let key = format!("punchlist 0.1.0 ({source})");
            write("cargo/.crates2.json", &serde_json::json!({ "installs": { key: {} } }).to_string());
        };
        crates("registry+https://index");
        assert_eq!(found("cargo/bin/punchlist"), InstalledBy::Cargo);
        crates("git+https://x.test/punchlist#abc");
        assert_eq!(found("cargo/bin/punchlist"), InstalledBy::Unknown);
        crates("path+file:///home/me/punchlist");
        assert_eq!(found("cargo/bin/punchlist"), InstalledBy::CargoPath("/home/me/punchlist".into()));
        write("local/share/punchlist/installed-from", "https://x.test/releases\n");
        let script = found("local/bin/punchlist");
        assert_eq!(script, InstalledBy::Script("https://x.test/releases".into()));
        assert_eq!(
            script.question().expect("a question").line(),
            "curl -fsSL --max-time 15 https://x.test/releases/latest/download/punchlist-version.txt"
        );
    }

    #[test]
    fn each_answer_is_read_in_its_own_form() {
        let read = |way: InstalledBy, answer: &str| (way.question().expect("a question").version)(answer);
        let newest = Some("0.2.0".to_owned());
        assert_eq!(read(InstalledBy::Npm, "0.2.0\n"), newest);
        assert_eq!(read(InstalledBy::UvTool, "punchlist==0.2.0\n"), newest);
        let pip = "WARNING: x\npunchlist (0.2.0)\nAvailable versions: 0.2.0, 0.1.0\n  INSTALLED: 0.1.0\n";
        assert_eq!(read(InstalledBy::Pip("python3".into()), pip), newest);
        assert_eq!(read(InstalledBy::Pipx, pip), newest);
        assert_eq!(
            read(InstalledBy::Cargo, "punchlist #hook\nA hook\nversion: 0.2.0\nlicense: MIT\n"),
            newest
        );
        assert_eq!(read(InstalledBy::Brew, r#"{"formulae":[{"versions":{"stable":"0.2.0"}}]}"#), newest);
        assert_eq!(read(InstalledBy::Npm, "npm notice\n"), None);
    }
}
