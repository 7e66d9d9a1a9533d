//! What the hook costs, as ratios in one run: `cargo bench --bench hook`. Prints a table; asserts nothing, since
//! machines are noisy. Each line is the least and the median of many runs, taken in turns.

#![expect(clippy::print_stdout, reason = "the table is the point")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use punchlist::stage::Stage;

const ROUNDS: usize = 40;

/// The fast path as a script would do it: read the input, look at three fields, log a line.
const WITH_JQ: &str = r#"
input=$(cat)
active=$(printf %s "$input" | jq -r '.stop_hook_active')
mode=$(printf %s "$input" | jq -r '.permission_mode')
if [ "$active" = true ] || [ "$mode" = plan ]; then
  printf '%s' "$input" | jq -c '{session: .session_id, decision: "allow", cause: "loop-guard"}' >> "$PUNCHLIST_HOME/jq.jsonl"
  exit 0
fi
"#;

struct Bench {
    folder: Stage,
}

struct Timed {
    name: &'static str,
    times: Vec<Duration>,
}

impl Bench {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    fn lay_out() -> Self {
        let bench = Self { folder: Stage::new("workspace").expect("a folder") };
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/trips/clean");
        bench.folder.copy(&fixture.join("workspace"), bench.folder.workspace()).expect("copied");
        for name in ["hook.json", "transcript.jsonl"] {
            let text = std::fs::read_to_string(fixture.join(name)).expect(name);
            std::fs::write(bench.path(name), bench.folder.placed_in_json(&text)).expect("written");
        }
        let held = std::fs::read_to_string(bench.path("hook.json")).expect("input");
        let held = held.replace("\"stop_hook_active\": false", "\"stop_hook_active\": true");
        std::fs::write(bench.path("held.json"), held).expect("written");
        std::fs::write(
            bench.path("script"),
            "help --tools --system-prompt --json-schema\nverdict {\"findings\":[]}\n",
        )
        .expect("written");
        std::fs::create_dir_all(bench.path("state")).expect("made");
        bench
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("PUNCHLIST_HOME", self.path("state"))
            .env("PUNCHLIST_CLAUDE", env!("CARGO_BIN_EXE_fake-claude"))
            .env("FAKE_CLAUDE_SCRIPT", self.path("script"));
        command
    }

    fn time(&self, program: &str, args: &[&str], input: &str) -> Duration {
        let stdin =
            if input.is_empty() { Vec::new() } else { std::fs::read(self.path(input)).expect("input") };
        let started = Instant::now();
        let mut child = self
            .command(program, args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let _ = child.stdin.take().expect("a pipe").write_all(&stdin);
        let status = child.wait().expect("ended");
        let time = started.elapsed();
        assert!(status.success(), "{program} {args:?}: {status}");
        time
    }

    /// A clean audit is remembered; forgotten, the next stop audits again.
    fn forget(&self) {
        let _ = std::fs::remove_dir_all(self.path("state/sessions"));
    }
}

fn main() {
    let bench = Bench::lay_out();
    let punchlist = env!("CARGO_BIN_EXE_punchlist");
    let mut timed = [
        "/bin/true",
        "hook, fast path (loop guard)",
        "the same with bash and jq",
        "the fake auditor alone",
        "hook, whole audit with that auditor",
    ]
    .map(|name| Timed { name, times: Vec::new() });
    let has_jq = Command::new("jq").arg("--version").output().is_ok();
    for _ in 0..ROUNDS {
        timed[0].times.push(bench.time("/bin/true", &[], ""));
        timed[1].times.push(bench.time(punchlist, &["hook"], "held.json"));
        if has_jq {
            timed[2].times.push(bench.time("bash", &["-c", WITH_JQ], "held.json"));
        }
        timed[3].times.push(bench.time(env!("CARGO_BIN_EXE_fake-claude"), &["-p"], "hook.json"));
        bench.forget();
        timed[4].times.push(bench.time(punchlist, &["hook"], "hook.json"));
    }
    let least = |timed: &Timed| timed.times.iter().min().copied().unwrap_or_default();
    let median = |timed: &Timed| {
        let mut sorted = timed.times.clone();
        sorted.sort();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    };
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let unit = ms(least(&timed[0]));
    println!("{:<40} {:>10} {:>10} {:>12}", "", "least ms", "median ms", "x /bin/true");
    for one in timed.iter().filter(|one| !one.times.is_empty()) {
        println!(
            "{:<40} {:>10.2} {:>10.2} {:>12.1}",
            one.name,
            ms(least(one)),
            ms(median(one)),
            ms(least(one)) / unit
        );
    }
    println!(
        "over the auditor's own time: {:.2} ms (least to least), {:.2} ms (median to median)",
        ms(least(&timed[4])) - ms(least(&timed[3])),
        ms(median(&timed[4])) - ms(median(&timed[3])),
    );
}
