//! What the gates get of one stop. The session, the workspace and the plan are read once, when the
//! first gate asks for them. Must not decide anything.

use std::cell::OnceCell;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::audit::record::transcript_record;
use crate::audit::{plan_in_play, plan_places};
use crate::client::folders::Settings;
use crate::client::hook_input::{Event, HookInput};
use crate::config::Config;
use crate::decision::Cause;
use crate::env::Env;
use crate::evidence::Workspace;
use crate::evidence::masking::{mask_session, mask_values_said};
use crate::log::record::TranscriptRecord;
use crate::plan::Plan;
use crate::redact::{SecretValues, mask};
use crate::registry::{Registry, RegistryError, Task, Worker};
use crate::session::builder::Role;
use crate::session::load::Reading;
use crate::session::{Session, resume};
use crate::state::{NewestStop, SessionState, StateFolder};
use crate::tasks::in_hand_of;
use crate::timing::{self, Phases};

/// The time reserved after readers and checks: for merging, counting, logging and answering.
const ROOM_TO_ANSWER: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct StopContext<'a> {
    /// The id of its decision.
    pub id: &'a str,
    pub input: &'a HookInput,
    pub env: &'a Env,
    pub config: &'a Config,
    pub state: &'a StateFolder,
    /// The name of the session in the state folder.
    pub session: &'a str,
    pub project: &'a Path,
    /// When this process started, in milliseconds since 1970.
    pub started_ms: i64,
    /// When the client ends this process.
    pub deadline: Instant,
    /// Why only those gates run that keep the session working or that recheck what they blocked
    /// for.
    pub guard: Option<Cause>,
    /// Only in the background: tells whether a newer stop has come.
    pub newest: Option<&'a NewestStop<'a>>,
    pub phases: &'a Phases,
    /// The state of the session before this stop; [`StopContext::saved`] reads it.
    pub state_before: OnceCell<SessionState>,
    /// The worker that the session is; [`StopContext::worker`] looks it up.
    pub worker: OnceCell<Result<Option<WorkerAtStop>, RegistryError>>,
    pub view: OnceCell<SessionView>,
}

/// The worker that a session is.
#[derive(Debug)]
pub struct WorkerAtStop {
    pub worker: Worker,
    /// Its tasks that are not over.
    pub in_hand: Vec<Task>,
    /// The time by the registry's clock.
    pub now_ms: i64,
}

impl StopContext<'_> {
    /// The agent that stops; empty for the main agent.
    pub fn agent(&self) -> &str {
        self.input.agent_id.as_deref().unwrap_or_default()
    }

    /// Returns whether it is a stop of the session itself, rather than of a subagent.
    pub fn is_main(&self) -> bool {
        self.input.event == Event::Stop
    }

    /// Returns whether the session goes on without waiting for this hook.
    pub fn is_background(&self) -> bool {
        self.newest.is_some()
    }

    /// Returns when readers and checks have to be finished.
    pub fn work_deadline(&self) -> Instant {
        self.deadline.checked_sub(ROOM_TO_ANSWER).unwrap_or(self.deadline)
    }

    /// Returns how often a gate has blocked this session.
    pub fn blocks_by(&self, gate: &str) -> u32 {
        self.saved().blocked_by.get(gate).copied().unwrap_or_default()
    }

    /// Returns the state of the session before this stop; read by the first call. An unreadable
    /// state is empty here: taking the stop's lock reads it again, and refuses.
    pub fn saved(&self) -> &SessionState {
        let read = || self.state.session(self.session).unwrap_or_default();
        self.state_before.get_or_init(|| self.phases.time(timing::STATE, read))
    }

    /// Returns the worker that the session is; looked up by the first call. All gates share what
    /// came of it: a database that does not answer is waited for once.
    pub fn worker(&self) -> Result<Option<&WorkerAtStop>, &RegistryError> {
        self.worker.get_or_init(|| self.find_worker()).as_ref().map(Option::as_ref)
    }

    fn find_worker(&self) -> Result<Option<WorkerAtStop>, RegistryError> {
        let Some(session) = self.input.session_id.as_deref() else { return Ok(None) };
        let (named, fleet) = (self.env.text(crate::env::WORKER), self.config.fleet.database.as_deref());
        let opened = Registry::open_for_stop(self.state.root(), fleet, Some(session), named.as_deref())?;
        let Some(mut registry) = opened else { return Ok(None) };
        let Some(worker) = registry.record_stop(session, named.as_deref())? else { return Ok(None) };
        let in_hand = registry.tasks(&in_hand_of(&worker.name))?;
        Ok(Some(WorkerAtStop { worker, in_hand, now_ms: registry.now_ms() }))
    }

    /// Returns the session, its workspace and its plan; read by the first call.
    pub fn view(&self) -> &SessionView {
        self.view.get_or_init(|| SessionView::read(self, self.phases))
    }
}

/// What happened in a session, where, and what was promised.
#[derive(Debug)]
pub struct SessionView {
    pub session: Session,
    pub workspace: Workspace,
    /// The plan in play. A subagent has none: it is asked to do a part, and did not promise the
    /// rest.
    pub plan: Option<Plan>,
    /// How the transcript was read, for the log.
    pub transcript: TranscriptRecord,
    /// What is wrong with the registration of the hook.
    pub registration_faults: Vec<String>,
}

impl SessionView {
    /// Reads the transcript from its resume point on, and finds the plan.
    pub fn read(stop: &StopContext<'_>, phases: &Phases) -> Self {
        let started = Instant::now();
        let role = if stop.input.event == Event::SubagentStop { Role::Subagent } else { Role::Main };
        let cwd = stop.input.cwd.as_deref().unwrap_or(stop.project);
        let settings = Settings::read(stop.env, stop.project);
        let folders = settings.plan_folders(stop.env, stop.project);
        let workspace = Workspace::new(stop.project, cwd, stop.env.home(), &folders);
        let places = plan_places(&workspace, &stop.config.audit);
        let resume = resume::decode(&stop.state.cursors(stop.session, stop.agent())).unwrap_or_default();
        let path = stop.input.own_transcript();
        let last_message = stop.input.last_assistant_message.as_deref();
        let mut reading = Reading::at_stop(path, role, last_message, resume);
        let values = workspace.secret_values();
        reading.sessions_mut().for_each(|session| {
            mask_and_count(session);
            mask_values_said(values, session);
        });
        save_resume_points(stop, &reading, values);
        let loaded = reading.finish();
        phases.add(timing::WAIT, loaded.waited);
        phases.add(timing::READ, started.elapsed());
        let transcript = transcript_record(path, &loaded);
        let mut session = loaded.session;
        let plan = phases.time(timing::PLAN, || match role {
            Role::Main => plan_in_play(&mut session, &workspace, &places),
            Role::Subagent => None,
        });
        Self { session, workspace, plan, transcript, registration_faults: settings.registration_faults() }
    }
}

/// Masks and counts before the resume point is saved, so that the next stop need not do it again.
fn mask_and_count(session: &mut Session) {
    // The final message comes with the stop itself, and is compared with the transcript's.
    let final_message = session.final_message.take();
    mask_session(session);
    session.final_message = final_message;
}

/// Saves how far the transcripts were read, unless a secret is in it: texts that are compared with
/// files are not masked. Then the next stop reads on from the last resume point without a secret.
fn save_resume_points(stop: &StopContext<'_>, reading: &Reading, values: &SecretValues) {
    let Some(points) = reading.resume_points() else { return };
    let has_secret = points
        .iter()
        .flat_map(|point| point.builder.plain_texts())
        .any(|text| mask(text).count > 0 || values.mask(text).count > 0);
    if let Some(bytes) = (!has_secret).then(|| resume::encode(&points)).flatten() {
        stop.state.save_cursors(stop.session, stop.agent(), &bytes);
    }
}
