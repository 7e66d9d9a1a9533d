//! What a session is given at its start: registered by `install`, the model's first request has it,
//! and has what is new when the session is resumed; after a compaction it is there again. What is
//! counted begins anew with a resume.

use super::checked::only_the_ends;
use super::{ALPHA, PROMPT, plan};
use crate::decision_log::{self, Record};
use crate::models::{self, Models, Sender};
use crate::rig::client::{Client, Earlier, Launch, Run};
use crate::rig::message::write;
use crate::rig::messages_api::MessagesApi;
use crate::rig::request::ApiRequest;
use crate::script::Script;
use crate::trip::ensure;
use crate::workspace::Workspace;

/// Every such trial, by its name.
pub(crate) const ALL: [(&str, Trial); 1] = [("started", started)];

type Trial = fn(&Client) -> Result<(), String>;

/// Why it makes no sense on a client, where it does not.
pub(crate) fn pointless_on(client: &Client) -> Option<&'static str> {
    only_the_ends(client)
}

const MANDATE: &str = "Never wave a flag.";
const DONE: &str = "All steps of the plan are done.";
const LEFT: &str = "I wrote alpha.txt; beta.txt is still open.";

fn started(client: &Client) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
    runtime.block_on(async {
        let mut desk = Desk::open(client).await?;
        let went = desk.play().await;
        went.map_err(|problem| {
            desk.workspace.stay();
            let requests = desk.requests().iter().map(ApiRequest::brief).collect::<Vec<_>>().join("\n");
            format!("{problem}\nfolder (kept): {}\n{requests}", desk.workspace.root().display())
        })
    })
}

struct Desk<'a> {
    client: &'a Client,
    workspace: Workspace,
    api: MessagesApi<Models>,
}

impl<'a> Desk<'a> {
    async fn open(client: &'a Client) -> Result<Self, String> {
        let workspace = Workspace::new()?;
        workspace.register_nothing()?;
        workspace.punchlist(&["install", "--user"])?;
        let config = format!(
            "[gates]\nmax_blocks = 1\n[audit]\nenabled = false\n[checklist]\nplan = true\n[memory]\nfiles = [\"HANDOVER.md\"]\n\
             mandates = [\"{MANDATE}\"]\n"
        );
        workspace.write(workspace.home().join(".config/punchlist/config.toml"), &config)?;
        let file = |name: &str| workspace.project().join(name).display().to_string();
        // What a compaction leaves has the prompt in it: the models know the agent by that.
        let summary = format!("<summary>The person asked: {PROMPT}</summary>");
        let mut script = Script::new(PROMPT)
            .calls([write(file("PLAN.md"), &plan(false)), write(file("alpha.txt"), ALPHA)])
            .says(DONE)
            .claimed(&[1, 2], true)
            .says(LEFT)
            .says(DONE)
            .claimed(&[1, 2], true)
            .says(LEFT)
            .says(&summary);
        // 1.0.98 does not keep a session that was compacted without a terminal.
        if client.is_since("2.0.32") {
            script = script.says("Good.");
        }
        let api = MessagesApi::start(Models::new(script)).await;
        Ok(Self { client, workspace, api })
    }

    fn notes(&self, words: &str) -> Result<(), String> {
        self.workspace.write(self.workspace.project().join("HANDOVER.md"), &format!("{words}\n"))
    }

    async fn run(&self, earlier: Option<&Run>, prompt: &str) -> Result<Run, String> {
        let earlier = earlier.and_then(Run::session).map(|session| Earlier { session, fork: false });
        let run = self
            .client
            .run(&self.workspace, &self.api.url(), (Launch::Bypass, earlier.as_ref()), prompt)
            .await?;
        ensure(run.succeeded(), || {
            format!("the client did not end well: {}\n{}\n{}", run.ending, run.lines.join("\n"), run.stderr)
        })?;
        Ok(run)
    }

    fn requests(&self) -> Vec<ApiRequest> {
        self.api.models(|models| models.requests_of(Sender::Agent))
    }

    /// Whether a request has these words, and how often.
    fn has(&self, request: usize, words: &str) -> usize {
        let requests = self.requests();
        requests
            .get(request)
            .map_or(0, |request| request.texts().iter().map(|text| text.matches(words).count()).sum())
    }

    /// Whether the newest start of a session that was given anything had this source.
    fn was_given_for(&self, source: &str) -> bool {
        let folder = self.workspace.root().join("state/sessions");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut remembered = files.filter_map(|file| std::fs::read(file.path()).ok());
        remembered.any(|bytes| {
            let session: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
            session["given"]["source"] == source
        })
    }

    async fn play(&self) -> Result<(), String> {
        self.notes("The first notes.")?;
        let first = self.run(None, PROMPT).await?;
        for words in ["The first notes.", &format!("- {MANDATE}"), " HANDOVER.md, changed "] {
            ensure(self.has(0, words) == 1, || format!("the first request has not {words:?}"))?;
        }
        self.notes("The second notes.")?;
        let so_far = self.requests().len();
        let second = self.run(Some(&first), "Go on with the plan.").await?;
        ensure(self.has(so_far, "The second notes.") == 1, || {
            "a resumed session lacks the new notes".into()
        })?;
        // With a budget of one, the second hold shows that the count began anew.
        let (records, log) = decision_log::read(&self.workspace)?;
        let decided: Vec<_> = records.iter().map(Record::decision).collect();
        let once = ["block open-items", "allow loop-guard"];
        ensure(decided == [once, once].concat(), || format!("decided {decided:?}\n{log}"))?;

        self.notes("The third notes.")?;
        let third = self.run(Some(&second), "/compact").await?;
        ensure(self.was_given_for("compact"), || "a compacted session was not given anything".into())?;
        if self.client.is_since("2.0.32") {
            // Nothing more is given from here on.
            self.workspace.write(
                self.workspace.home().join(".config/punchlist/config.toml"),
                "[gates]\nenabled = false\n",
            )?;
            let so_far = self.requests().len();
            self.run(Some(&third), "Thank you.").await?;
            ensure(self.has(so_far, "The second notes.") == 0, || "it was not compacted".into())?;
            ensure(self.has(so_far, "The third notes.") > 0, || {
                "what was compacted is not given again".into()
            })?;
        }
        let problems = models::problems(&self.api);
        ensure(problems.is_empty(), || problems.join("\n"))
    }
}
