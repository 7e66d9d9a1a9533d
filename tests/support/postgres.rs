//! A throw-away `PostgreSQL` in a temporary folder, on a loopback port and a Unix socket. It is
//! stopped and removed when the process of the test ends, however it ends.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Makes a missing server a failure: CI installs one.
const REQUIRED: &str = "PUNCHLIST_POSTGRES";

pub(crate) const PASSWORD: &str = "not-a-secret";

pub(crate) struct Cluster {
    folder: PathBuf,
    bin: PathBuf,
    pub(crate) port: u16,
    /// Stops the server when its stdin ends, which happens when this process ends.
    #[expect(dead_code, reason = "its stdin is what keeps the server")]
    keeper: Child,
    databases: AtomicUsize,
}

/// The cluster that all tests of a process share; `None`, said aloud, where there is no
/// `PostgreSQL`.
pub(crate) fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(&["fsync=off", "max_connections=400"])).as_ref()
}

/// The folder of the server's programs.
fn programs() -> Option<PathBuf> {
    let mut folders: Vec<_> = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().collect();
    folders.sort_by_key(fs::DirEntry::file_name);
    let installed = folders.iter().rev().map(|folder| folder.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<_> = std::env::split_paths(&path).collect();
    installed.chain(on_path).find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

/// Who may run the server: root may not.
fn as_server_user(program: &Path) -> Command {
    if !rustix::process::getuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    command
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

impl Cluster {
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        let Some(bin) = programs() else {
            assert!(
                std::env::var(REQUIRED).as_deref() != Ok("required"),
                "{REQUIRED}=required, and none is installed"
            );
            let _ = writeln!(std::io::stderr(), "SKIPPED: there is no PostgreSQL here (Debian: postgresql)");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("punchlist-pg-").tempdir().expect("a folder").keep();
        let data = folder.join("data");
        fs::write(folder.join("password"), PASSWORD).expect("written");
        if rustix::process::getuid().is_root() {
            succeeds(Command::new("chown").args(["-R", "postgres:postgres"]).arg(&folder));
        }
        succeeds(
            as_server_user(&bin.join("initdb"))
                .args(["--auth-local=trust", "--auth-host=scram-sha-256", "--username=postgres", "--no-sync"])
                .arg("--encoding=UTF8")
                .arg(format!("--pwfile={}", folder.join("password").display()))
                .arg("-D")
                .arg(&data),
        );
        let port = free_port();
        let mut conf = format!(
            "port={port}\nlisten_addresses='127.0.0.1'\nunix_socket_directories='{}'\n",
            folder.display()
        );
        conf.extend(settings.iter().map(|setting| format!("{setting}\n")));
        fs::write(data.join("postgresql.auto.conf"), conf).expect("written");
        let stop = format!(
            "read _; {} -D '{}' -m immediate stop; rm -rf '{}'",
            bin.join("pg_ctl").display(),
            data.display(),
            folder.display()
        );
        let mut keeper = as_server_user(Path::new("/bin/sh"));
        let keeper =
            keeper.args(["-c", &stop]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let keeper = keeper.spawn().expect("it starts");
        let cluster = Self { folder, bin, port, keeper, databases: AtomicUsize::new(0) };
        cluster.run_server();
        Some(cluster)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// One of the server's programs.
    pub(crate) fn program(&self, name: &str) -> Command {
        as_server_user(&self.bin.join(name))
    }

    /// Starts the server, and waits until it answers.
    pub(crate) fn run_server(&self) {
        succeeds(
            self.program("pg_ctl")
                .arg("-D")
                .arg(self.data())
                .arg("-l")
                .arg(self.folder.join("log"))
                .args(["-w", "-t", "60", "start"]),
        );
    }

    /// Ends the server and all its processes as a power cut would.
    pub(crate) fn kill(&self) {
        let pid = fs::read_to_string(self.data().join("postmaster.pid")).expect("a running server");
        let pid = pid.lines().next().expect("a pid").to_owned();
        succeeds(Command::new("kill").args(["-9", &pid]));
        // Its children end by themselves once they see that it is gone.
        let end = Instant::now() + Duration::from_secs(30);
        while Path::new("/proc").join(&pid).exists() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
    }

    /// Runs SQL as the owner, and returns what it prints.
    #[track_caller]
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database])
            .arg("-h")
            .arg(&self.folder);
        psql.args(["-p", &self.port.to_string(), "-c", sql]);
        succeeds(&mut psql)
    }

    /// A new, empty database.
    pub(crate) fn empty_database(&self) -> String {
        let name = format!("fleet{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// A new database with all tables.
    pub(crate) fn database(&self) -> String {
        let name = self.empty_database();
        let patience = punchlist::database::Patience::Each(Duration::from_secs(30));
        let mut database =
            punchlist::database::Database::connect(&self.url(&name), patience).expect("connected");
        punchlist::database::schema::migrate(&mut database, None).expect("migrated");
        name
    }

    /// The owner's URL of a database.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://postgres:{PASSWORD}@127.0.0.1:{}/{database}", self.port)
    }
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}
