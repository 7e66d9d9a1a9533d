//! What people download: packed by `packaging/build`, served on loopback, installed into an empty
//! home with no cargo on the PATH, and run. Skipped aloud where npm or Python is missing. A stop
//! that is held through such a package is in `tests/real_client`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::test_machine::PUNCHLIST;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const HELD: &str = "The stop is blocked (exit 2)";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const REPOSITORY: &str = "https://forge.example/me/punchlist";

/// As which the program under test is packed: what the installer script asks for here.
fn target() -> String {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    format!("{}-{system}", std::env::consts::ARCH)
}

/// The packages of the program under test, packed once.
fn packages() -> &'static Path {
    static PACKAGES: OnceLock<PathBuf> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
        let _ = fs::remove_dir_all(&folder);
        let releases = format!("{REPOSITORY}/releases");
        let binary = ["--binary", PUNCHLIST, "--target", &target()];
        build(&[&binary[..], &["--releases", &releases, "--level", "1", "--out"]].concat(), &folder);
        folder
    })
}

#[track_caller]
fn build(args: &[&str], out: &Path) {
    let script = Path::new(ROOT).join("packaging/build");
    let mut build = Command::new("python3");
    let done = build.arg(script).args(args).arg(out).output().expect("Python");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The packages on loopback, until this is dropped.
struct Served {
    server: Child,
    url: String,
}

impl Served {
    fn new(folder: &Path) -> Self {
        let mut command = Command::new("python3");
        command.arg(Path::new(ROOT).join("packaging/registry")).arg(folder);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
        let mut url = String::new();
        BufReader::new(server.stdout.take().expect("stdout")).read_line(&mut url).expect("an address");
        Self { server, url: url.trim().to_owned() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It ends with its stdin.
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}

/// An empty home with a project, and nothing on the PATH but the system's folders and one tool's.
struct Home {
    #[expect(dead_code, reason = "removes the folder when dropped")]
    folder: tempfile::TempDir,
    root: PathBuf,
    path: String,
    vars: Vec<(&'static str, String)>,
}

impl Home {
    /// `None`, said aloud, where the tool is missing.
    fn with(tool: &str) -> Option<Self> {
        let (Ok(found), Ok(_)) = (which::which(tool), which::which("python3")) else {
            eprintln!("skipped: there is no {tool} here, or no python3");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("punchlist-home-").tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("the folder");
        fs::create_dir_all(root.join("project")).expect("a folder");
        let beside = fs::canonicalize(&found).expect("the tool");
        let folders =
            [found.parent(), beside.parent()].map(|folder| folder.expect("a folder").display().to_string());
        let path = format!("{}:{}:/usr/bin:/bin", folders[0], folders[1]);
        let has_cargo = which::which_in("cargo", Some(&path), "/").is_ok();
        assert!(
            !has_cargo || which::which_in("cargo", Some("/usr/bin:/bin"), "/").is_ok(),
            "cargo is beside {tool}"
        );
        Some(Self { folder, root, path, vars: Vec::new() })
    }

    fn run(&self, program: &str, args: &[&str]) -> (Option<i32>, String) {
        let found = which::which_in(program, Some(&self.path), &self.root).unwrap_or_else(|_| program.into());
        let mut command = Command::new(found);
        command.args(args).current_dir(self.root.join("project")).env_clear().env("HOME", &self.root);
        command.env("PATH", &self.path).envs(self.vars.iter().map(|(name, value)| (name, value)));
        let out = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{program}: {error}"));
        let said = [out.stdout, out.stderr].concat();
        (out.status.code(), String::from_utf8_lossy(&said).into_owned())
    }

    #[track_caller]
    fn runs(&self, program: &str, args: &[&str]) -> String {
        let (code, said) = self.run(program, args);
        assert_eq!(code, Some(0), "{program} {args:?}: {said}");
        said
    }

    /// What a person does first, with a program that is installed; `way` is how.
    fn plays(&self, program: &str, way: &str) {
        assert!(self.runs(program, &["demo"]).contains(HELD));
        let settings = self.root.join("project/.claude/settings.local.json");
        self.runs(program, &["install"]);
        let registered = fs::read_to_string(&settings).expect("registered");
        let registered = registered.split("p=").nth(1).and_then(|rest| rest.split(';').next());
        let registered = registered.expect("a program");
        assert!(Path::new(registered.trim_matches('\'')).is_file(), "{registered}");
        let said = self.runs(program, &["update", "--check"]);
        assert_eq!(said, format!("punchlist {VERSION}, installed {way}. There is none newer ({VERSION}).\n"));
        self.runs(program, &["uninstall"]);
        assert!(!settings.exists());
    }
}

#[test]
fn npm_installs_it_and_npx_runs_it() {
    let Some(mut home) = Home::with("npm") else { return };
    let served = Served::new(packages());
    home.vars = vec![
        ("npm_config_registry", served.url.clone()),
        ("npm_config_prefix", home.root.join("global").display().to_string()),
        ("npm_config_update_notifier", "false".into()),
    ];
    assert!(home.runs("npx", &["--yes", "punchlist", "demo"]).contains(HELD));
    home.runs("npm", &["install", "-g", "punchlist"]);
    let program = home.root.join("global/bin/punchlist").display().to_string();
    home.plays(&program, "through npm");
    // The exit code is the program's own.
    assert_eq!(home.run(&program, &["no-such-command"]).0, Some(64));
    // The plugin finds it there with nothing on the PATH.
    let hook = Path::new(ROOT).join("plugin/hooks/stop.sh").display().to_string();
    let (code, said) = home.run("sh", &[&hook]);
    assert!(
        code == Some(0) && said.starts_with("punchlist: "),
        "it runs, and says that stdin is empty: {said}"
    );
    // An update while the network is away.
    drop(served);
    home.vars.push(("npm_config_cache", home.root.join("another-cache").display().to_string()));
    let (code, said) = home.run(&program, &["update", "--check"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("it could not say (exit "), "{said}");
    home.runs("npm", &["uninstall", "-g", "punchlist"]);
    assert!(!Path::new(&program).exists());
}

/// Returns what `tar` prints of an archive.
#[track_caller]
fn tar(args: &[&str], archive: &Path) -> String {
    let done = Command::new("tar").arg(args[0]).arg(archive).args(&args[1..]).output().expect("tar");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

#[test]
fn a_package_names_the_repository_that_it_comes_from() {
    if which::which("python3").is_err() {
        eprintln!("skipped: there is no python3 here");
        return;
    }
    let npm = packages().join(format!("punchlist-{VERSION}.tgz"));
    let fields: serde_json::Value =
        serde_json::from_str(&tar(&["-xzOf", "package/package.json"], &npm)).expect("JSON");
    assert_eq!(fields["repository"]["url"], format!("git+{REPOSITORY}.git"));
    assert_eq!(fields["homepage"], REPOSITORY);
}

#[test]
fn binstall_finds_the_archive_and_the_program_in_it() {
    if which::which("python3").is_err() {
        eprintln!("skipped: there is no python3 here");
        return;
    }
    let manifest = fs::read_to_string(Path::new(ROOT).join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Value = toml::from_str(&manifest).expect("TOML");
    let binstall = &manifest["package"]["metadata"]["binstall"];
    let expanded = |template: &toml::Value, target: &str| {
        let values = [
            ("{ repo }", REPOSITORY),
            ("{ version }", VERSION),
            ("{ target }", target),
            ("{ archive-suffix }", ".tar.gz"),
            ("{ bin }", "punchlist"),
            ("{ binary-ext }", ""),
        ];
        let template = template.as_str().expect("a template").to_owned();
        values.iter().fold(template, |text, (name, value)| text.replace(name, value))
    };
    // A system with glibc takes the static program.
    let gnu = target().replace("-musl", "-gnu");
    let tables = [(binstall, target()), (binstall["overrides"].get(&gnu).unwrap_or(binstall), gnu)];
    for (table, target) in tables {
        let url = expanded(&table["pkg-url"], &target);
        let name = url.strip_prefix(&format!("{REPOSITORY}/releases/download/v{VERSION}/"));
        let archive = packages().join(name.expect("a file of the release"));
        let program = expanded(&table["bin-dir"], &target);
        assert!(tar(&["-tzf"], &archive).lines().any(|entry| entry == program), "{url}: no {program}");
    }
}

#[test]
fn a_platform_without_a_package_is_told_so() {
    let Some(home) = Home::with("node") else { return };
    let launcher = Path::new(ROOT).join("packaging/npm/punchlist.js").display().to_string();
    let (code, said) = home.run("node", &[&launcher, "hook"]);
    assert_eq!(code, Some(1), "not 2, which would hold a stop");
    assert!(said.contains("is not installed. Either there is none for this platform"), "{said}");
}

#[test]
fn pip_and_uv_install_the_wheel() {
    let Some(mut home) = Home::with("python3") else { return };
    let served = Served::new(packages());
    let index = format!("{}/simple", served.url);
    home.vars = vec![
        ("PIP_INDEX_URL", index.clone()),
        ("PIP_DISABLE_PIP_VERSION_CHECK", "1".into()),
        ("UV_DEFAULT_INDEX", index),
        ("UV_PYTHON_DOWNLOADS", "never".into()),
    ];
    home.runs("python3", &["-m", "venv", "../venv"]);
    let bin = home.root.join("venv/bin");
    home.runs(&bin.join("python3").display().to_string(), &["-m", "pip", "install", "--quiet", "punchlist"]);
    home.plays(&bin.join("punchlist").display().to_string(), "through pip");
    let Ok(uv) = which::which("uv") else {
        eprintln!("skipped: there is no uv here");
        return;
    };
    let folder = uv.parent().expect("a folder").display().to_string();
    home.path = format!("{folder}:{}", home.path);
    assert!(home.runs("uvx", &["punchlist", "demo"]).contains(HELD));
    home.runs("uv", &["tool", "install", "punchlist"]);
    home.plays(&home.root.join(".local/bin/punchlist").display().to_string(), "through uv");
}

/// The table of downloads in the docs had no command with which it could be made.
#[test]
fn anybody_can_measure_the_first_demo() {
    let (Ok(_), Ok(_)) = (which::which("npm"), which::which("python3")) else {
        eprintln!("skipped: there is no npm here, or no python3");
        return;
    };
    let size = |pattern: &str| -> u64 {
        let files = fs::read_dir(packages()).expect("packages").flatten();
        let named = files.filter(|file| file.file_name().to_string_lossy().ends_with(pattern));
        named.map(|file| file.metadata().expect("a file").len()).sum()
    };
    for (way, files) in [("npm", ".tgz"), ("pip", ".whl")] {
        let mut measure = Command::new(Path::new(ROOT).join("packaging/first-demo"));
        let done = measure.arg("--runs=1").arg(packages()).args([way, "punchlist", "demo"]).output();
        let done = done.expect("it runs");
        let said = String::from_utf8_lossy(&done.stdout);
        #[expect(clippy::cast_precision_loss, reason = "a few megabytes")]
        let wanted = format!("{:.1} MB, ", size(files) as f64 / 1e6);
        let has_played = said.starts_with(&wanted) && said.ends_with(" s, exit code 0\n");
        assert!(done.status.success() && has_played, "{way}: {wanted}: {done:?}");
    }
}

#[test]
fn the_installer_script_checks_what_it_downloads() {
    let Some(mut home) = Home::with("sh") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(packages()).expect("packages").flatten() {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
    }
    // The formula names all platforms; the others are built elsewhere.
    for target in [
        "x86_64-unknown-linux-musl",
        "aarch64-unknown-linux-musl",
        "x86_64-apple-darwin",
        "aarch64-apple-darwin",
    ] {
        let sums = folder.path().join(format!("punchlist-{target}.tar.gz.sha256"));
        if !sums.exists() {
            fs::write(sums, format!("{:064}  {target}\n", 7)).expect("written");
        }
    }
    let served = Served::new(folder.path());
    let releases = format!("{}/releases", served.url);
    build(&["--finish", "--releases", &releases, "--level", "1", "--out"], folder.path());
    let formula = fs::read_to_string(folder.path().join("punchlist.rb")).expect("a formula");
    assert_eq!(
        formula.lines().filter(|line| line.contains('@') && !line.starts_with('#')).count(),
        0,
        "{formula}"
    );
    let script = folder.path().join("install.sh").display().to_string();
    let program = home.root.join(".local/bin/punchlist");

    let archive = folder.path().join(format!("punchlist-{}.tar.gz", target()));
    let whole = fs::read(&archive).expect("an archive");
    fs::write(&archive, &whole[..whole.len() - 1]).expect("cut");
    let (code, said) = home.run("sh", &[&script]);
    assert!(code == Some(1) && said.contains("nothing was installed"), "{said}");
    assert!(!program.exists());
    fs::write(&archive, &whole).expect("mended");

    let said = home.runs("sh", &[&script]);
    assert!(said.starts_with(&format!("Installed punchlist {VERSION} in ")), "{said}");
    assert!(said.contains("That folder is not on your PATH"), "{said}");
    home.plays(&program.display().to_string(), &format!("by the installer script, from {releases}"));
    // Again, over the old one; from a folder of one's own.
    home.vars = vec![("PUNCHLIST_BIN", home.root.join("own/bin").display().to_string())];
    home.runs("sh", &[&script]);
    assert!(home.root.join("own/bin/punchlist").exists());
    let (code, said) = home.run("sh", &[&Path::new(ROOT).join("packaging/install.sh").display().to_string()]);
    assert!(code == Some(1) && said.contains("set PUNCHLIST_RELEASES"), "{said}");
}
