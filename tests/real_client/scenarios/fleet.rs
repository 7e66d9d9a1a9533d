//! Two workers on two machines that share one queue: each is a session of the real client with a
//! home, a state folder and a checkout of its own. Both are kept alive, both wait, each is handed
//! one task by the wait, completes it, and is let go.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::decision_log::{self, Record};
use crate::models::{self, Models, Sender};
use crate::postgres::{self, Cluster};
use crate::rig::client::{Client, Launch, Run, VERSIONS};
use crate::rig::message::ToolCall;
use crate::rig::messages_api::MessagesApi;
use crate::rig::request::ApiRequest;
use crate::script::{Script, Turn};
use crate::trip::ensure;
use crate::workspace::{PUNCHLIST, Workspace};

const PROMPT: &str = "Be a worker: register, and do what the queue gives you.";
const LAST_WORDS: &str = "There is nothing more.";

/// Why it makes no sense on a client, where it does not.
pub(crate) fn pointless_on(client: &Client) -> Option<&'static str> {
    if VERSIONS.last() != Some(&client.version) {
        return Some("what differs between the versions is tried with the other scenarios");
    }
    postgres::shared().is_none().then_some("no PostgreSQL to share")
}

fn bash(command: &str) -> ToolCall {
    ToolCall { name: "Bash".into(), input: json!({ "command": command, "description": "Run punchlist" }) }
}

/// The command of the hold by which the agent waits for its next task.
fn wait(request: &ApiRequest) -> Result<Turn, String> {
    let texts = request.user_texts();
    let hold = texts.iter().rev().find(|text| text.contains("Stop hook feedback:")).ok_or("not held")?;
    let command = hold.split('`').skip(1).step_by(2).find(|command| command.contains("worker wait"));
    Ok(Turn::Calls(vec![bash(command.ok_or_else(|| format!("no command to wait by: {hold}"))?)]))
}

/// The command by which the task that came is completed, as it was told with it.
fn complete(request: &ApiRequest) -> Result<Turn, String> {
    let answer = request.tool_results().last().ok_or("no answer")?.text;
    let command = answer.split('`').skip(1).step_by(2).find(|command| command.contains("tasks complete"));
    let command = command.ok_or_else(|| format!("the wait gave no task: {answer}"))?;
    Ok(Turn::Calls(vec![bash(&command.replacen("punchlist", &format!("'{PUNCHLIST}'"), 1))]))
}

/// One machine: its workspace, and the API that its agent talks to.
struct Machine {
    workspace: Workspace,
    api: MessagesApi<Models>,
}

impl Machine {
    async fn new(name: &str, url: &str) -> Result<Self, String> {
        let workspace = Workspace::new()?;
        let config = workspace.home().join(".config/punchlist/config.toml");
        let text = format!(
            "[fleet]\ndatabase = \"{url}\"\nmachine = \"{name}\"\n[worker]\nkeep_alive = true\nidle = \"10m\"\n[audit]\nenabled = false\n"
        );
        workspace.write(&config, &text)?;
        // The person makes the time shorter meanwhile, so that it is up.
        let shorter = format!("sleep 1.1; sed -i s/10m/1s/ '{}'", config.display());
        let script = Script::new(PROMPT)
            .calls([bash(&format!("'{PUNCHLIST}' worker register"))])
            .says("There is nothing to do.")
            .reads(wait)
            .reads(complete)
            .says("The task is done.")
            .calls([bash(&shorter)])
            .says(LAST_WORDS);
        Ok(Self { workspace, api: MessagesApi::start(Models::new(script)).await })
    }

    async fn run(&self, client: &Client) -> Result<Run, String> {
        client.run(&self.workspace, &self.api.url(), (Launch::Bypass, None), PROMPT).await
    }

    fn check(&self, run: &Run) -> Result<(), String> {
        let problems = models::problems(&self.api);
        ensure(problems.is_empty(), || {
            format!("the models' script was not followed:\n{}", problems.join("\n"))
        })?;
        ensure(run.succeeded() && run.result().as_deref() == Some(LAST_WORDS), || run.stderr.clone())?;
        let (records, log) = decision_log::read(&self.workspace)?;
        let decisions: Vec<_> = records.iter().map(Record::decision).collect();
        let wanted = ["block keep-alive", "block keep-alive", "allow worker-idle"];
        ensure(decisions == wanted, || format!("decided {decisions:?}\n{log}"))?;
        let asked = self.api.models(|models| models.requests_of(Sender::Agent)).len();
        ensure(asked == 7, || format!("{asked} turns in place of 7: the wait costs one"))
    }
}

/// Adds two tasks once both workers wait.
async fn add_tasks(cluster: &Cluster, database: &str, workspace: &Workspace) -> Result<(), String> {
    let listens =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'punchlist/%' AND state = 'idle'
         AND clock_timestamp() - state_change > interval '300 ms'";
    let end = Instant::now() + Duration::from_secs(60);
    while cluster.sql(database, listens).trim() != "2" {
        ensure(Instant::now() < end, || "the workers do not wait".into())?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for title in ["Mend the garden gate", "Oil the hinges"] {
        workspace.punchlist(&["tasks", "add", title])?;
    }
    Ok(())
}

pub(crate) fn play(client: &Client) -> Result<(), String> {
    let cluster = postgres::shared().ok_or("no PostgreSQL")?;
    let database = cluster.database();
    let url = cluster.url(&database);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| format!("no runtime: {error}"))?.block_on(async {
        let (mut one, mut other) = (Machine::new("m1", &url).await?, Machine::new("m2", &url).await?);
        let (first, second, added) =
            tokio::join!(one.run(client), other.run(client), add_tasks(cluster, &database, &one.workspace));
        let check = || {
            added?;
            one.check(&first?)?;
            other.check(&second?)?;
            let done = "SELECT string_agg(w.machine || ' ' || t.status, ', ' ORDER BY w.machine)
                        FROM punchlist.tasks t JOIN punchlist.workers w ON w.name = t.assignee";
            let done = cluster.sql(&database, done);
            ensure(done.trim() == "m1 completed, m2 completed", || format!("the tasks: {done}"))?;
            let pushed = one
                .workspace
                .punchlist(&["fleet", "push"])
                .and(other.workspace.punchlist(&["fleet", "push"]));
            pushed?;
            let decisions =
                "SELECT machine, count(*) FROM punchlist.decisions GROUP BY machine ORDER BY machine";
            let decisions = cluster.sql(&database, decisions);
            ensure(decisions == "m1|3\nm2|3\n", || format!("the decisions: {decisions}"))
        };
        check().map_err(|problem: String| {
            one.workspace.stay();
            other.workspace.stay();
            let (one, other) = (one.workspace.root().display(), other.workspace.root().display());
            format!("{problem}\nfolders (kept): {one} {other}")
        })
    })
}
