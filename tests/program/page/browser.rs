//! A real browser on loopback: takes a page's text, opens it as a file, and tells what a person
//! would see, what the console says and which requests are made. Ends the browser and its driver
//! however a test ends.

use std::fmt::Debug;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Makes a missing browser a failure.
const REQUIRED: &str = "PUNCHLIST_CHROMIUM";
/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// One at a time: two browsers on two cores only wait for each other.
static TURN: Mutex<()> = Mutex::new(());

/// It is said once that there is no browser.
static SAID: Once = Once::new();

/// A browser with one page open.
pub(crate) struct Browser {
    client: Client,
    runtime: Runtime,
    #[expect(dead_code, reason = "held, not read: the browser ends with it")]
    driver: Driver,
    url: String,
    #[expect(dead_code, reason = "held, not read: others wait for it")]
    turn: MutexGuard<'static, ()>,
}

/// The driver's process and the folder that marks its browser.
struct Driver {
    child: Child,
    folder: tempfile::TempDir,
}

/// The browser and its driver, or `None`, said aloud.
fn programs() -> Option<(PathBuf, PathBuf)> {
    let browser =
        ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| which::which(name).ok());
    let found = browser.zip(which::which("chromedriver").ok());
    if found.is_none() {
        let why = "chromium and chromedriver are not here (apt-get install chromium chromium-driver)";
        assert!(std::env::var(REQUIRED).as_deref() != Ok("required"), "{REQUIRED}=required, and {why}");
        // Straight to stderr: what a test that passes prints is shown to nobody.
        SAID.call_once(|| {
            let _ = writeln!(std::io::stderr(), "SKIPPED: the report in a browser, for {why}");
        });
    }
    found
}

impl Browser {
    /// Opens a page in a window of this size; `None` where there is no browser.
    pub(crate) fn open(page: &str, width: u32, height: u32) -> Option<Self> {
        let (chromium, chromedriver) = programs()?;
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("report.html");
        std::fs::write(&file, page).expect("written");
        let (driver, port) = Driver::start(&chromedriver, folder);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let capabilities = json!({
            "goog:chromeOptions": { "binary": chromium, "args": [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
                format!("--user-data-dir={}", driver.folder.path().join("profile").display()),
                format!("--window-size={width},{height}"),
            ] },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        });
        let Value::Object(capabilities) = capabilities else { unreachable!() };
        let client = runtime.block_on(async {
            let mut builder = ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new());
            builder.capabilities(capabilities).connect(&format!("http://127.0.0.1:{port}")).await
        });
        let client = client.expect("a session");
        let url = format!("file://{}", file.display());
        let browser = Self { client, runtime, driver, url, turn };
        browser.cdp(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}),
        );
        // The browser's own first tab is none of ours.
        browser.log("performance");
        browser.runtime.block_on(browser.client.goto(&browser.url)).expect("loaded");
        Some(browser)
    }

    /// Loads the page anew.
    pub(crate) fn reload(&self) {
        self.runtime.block_on(self.client.refresh()).expect("loaded");
    }

    /// What a script's `return` gives.
    pub(crate) fn eval(&self, script: &str) -> Value {
        let done = self.runtime.block_on(self.client.execute(script, vec![]));
        done.unwrap_or_else(|error| panic!("{script}\n{error}"))
    }

    /// The same, as a text.
    pub(crate) fn text(&self, script: &str) -> String {
        let value = self.eval(script);
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// The same, as a number.
    pub(crate) fn number(&self, script: &str) -> f64 {
        let value = self.eval(script);
        value.as_f64().unwrap_or_else(|| panic!("{script}\nno number: {value}"))
    }

    /// Waits until a script returns `true`.
    pub(crate) fn wait_for(&self, condition: &str) {
        let started = Instant::now();
        while self.eval(&format!("return {condition}")) != Value::Bool(true) {
            assert!(started.elapsed() < PATIENCE, "never so: {condition}");
            sleep(Duration::from_millis(30));
        }
    }

    /// Clicks what a selector finds.
    pub(crate) fn click(&self, selector: &str) {
        let done =
            self.runtime.block_on(async { self.client.find(Locator::Css(selector)).await?.click().await });
        done.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Presses keys wherever the focus is.
    pub(crate) fn press(&self, keys: &str) {
        let done = self.runtime.block_on(async { self.client.active_element().await?.send_keys(keys).await });
        done.unwrap_or_else(|error| panic!("{keys:?}: {error}"));
    }

    /// Types into what a selector finds.
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        let done = self
            .runtime
            .block_on(async { self.client.find(Locator::Css(selector)).await?.send_keys(text).await });
        done.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Chooses a value of a list.
    pub(crate) fn choose(&self, selector: &str, value: &str) {
        let done = self
            .runtime
            .block_on(async { self.client.find(Locator::Css(selector)).await?.select_by_value(value).await });
        done.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    /// Runs a command of the browser's own protocol.
    pub(crate) fn cdp(&self, command: &str, params: &Value) -> Value {
        self.issue("goog/cdp/execute", &json!({"cmd": command, "params": params}))
    }

    /// Takes a picture, for whoever wants to look: `PUNCHLIST_PICTURES` names the folder.
    pub(crate) fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("PUNCHLIST_PICTURES").map(PathBuf::from) else { return };
        let png = self.runtime.block_on(self.client.screenshot()).expect("a picture");
        std::fs::create_dir_all(&folder).expect("made");
        std::fs::write(folder.join(format!("{name}.png")), png).expect("written");
    }

    fn issue(&self, path: &'static str, body: &Value) -> Value {
        let command = Own { path, body: body.to_string() };
        self.runtime
            .block_on(self.client.issue_cmd(command))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        let Value::Array(entries) = self.issue("se/log", &json!({"type": kind})) else { return vec![] };
        entries
    }

    /// Asserts that the console says nothing and that nothing but the page itself was ever asked
    /// for.
    pub(crate) fn assert_quiet(&self) {
        assert_eq!(self.log("browser"), Vec::<Value>::new(), "the console");
        let asked: Vec<String> = self
            .log("performance")
            .iter()
            .filter_map(|entry| serde_json::from_str::<Value>(entry["message"].as_str()?).ok())
            .filter(|event| event["message"]["method"] == "Network.requestWillBeSent")
            .map(|event| event["message"]["params"]["request"]["url"].as_str().unwrap_or_default().to_owned())
            .filter(|url| !url.starts_with(&self.url) && !url.starts_with("data:"))
            .collect();
        assert_eq!(asked, Vec::<String>::new(), "requests");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // What does not end when asked is ended by the driver's own drop.
        let close = async { tokio::time::timeout(Duration::from_secs(5), self.client.clone().close()).await };
        let _ = self.runtime.block_on(close);
    }
}

impl Driver {
    fn start(program: &Path, folder: tempfile::TempDir) -> (Self, u16) {
        let mut child = Command::new(program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Whatever the browser writes, and wherever it thinks that it is at home.
            .env("HOME", folder.path())
            .env("TMPDIR", folder.path())
            .env_remove("DISPLAY")
            .spawn()
            .expect("chromedriver starts");
        let out = child.stdout.take().expect("a pipe");
        let driver = Self { child, folder };
        let port = BufReader::new(out).lines().map_while(Result::ok).find_map(|line| {
            line.strip_prefix("ChromeDriver was started successfully on port ")?
                .trim_end_matches('.')
                .parse()
                .ok()
        });
        (driver, port.expect("chromedriver says its port"))
    }

    /// The processes that name our folder: the browser's, whoever started them.
    fn browsers(&self) -> Vec<Pid> {
        let mark = self.folder.path().display().to_string();
        let output = Command::new("ps").args(["-A", "-ww", "-o", "pid=,args="]).output().expect("ps");
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter(|line| line.contains(&mark))
            .filter_map(|line| Pid::from_raw(line.split_whitespace().next()?.parse().ok()?))
            .collect()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let started = Instant::now();
        loop {
            let left = self.browsers();
            if left.is_empty() || started.elapsed() > Duration::from_secs(5) {
                break;
            }
            for pid in left {
                let _ = kill_process(pid, Signal::KILL);
            }
            sleep(Duration::from_millis(20));
        }
    }
}

/// A command that not every driver has.
#[derive(Debug)]
struct Own {
    path: &'static str,
    body: String,
}

impl WebDriverCompatibleCommand for Own {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.clone()))
    }
}
