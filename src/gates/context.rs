//! What is known of a session at one stop: takes the stop, gives the session as its transcript has it, the workspace and the
//! plan, read once for all gates. Touches the disk; must not decide anything.

use crate::audit::{plan_in_play, plan_places};
use crate::client::folders::Settings;
use crate::evidence::Workspace;
use crate::evidence::masking::mask_session;
use crate::gates::{StopContext, StopReport};
use crate::hook::Event;
use crate::plan::{Plan, PlanPlaces};
use crate::redact::mask;
use crate::session::builder::Role;
use crate::session::load::Reading;
use crate::session::{Session, resume};
use crate::state::Chores;
use crate::timing;

/// What is known.
#[derive(Debug)]
pub struct Known {
    /// What happened.
    pub session: Session,
    /// Where.
    pub workspace: Workspace,
    /// What was promised, where a plan is in play.
    pub plan: Option<Plan>,
}

impl Known {
    fn read(stop: &StopContext<'_>, story: &mut StopReport) -> Self {
        let (mut session, workspace, places) = story.phase(timing::READ, |story| read_session(stop, story));
        let plan =
            story.phase(timing::PLAN, |story| find_plan(stop, &mut session, &workspace, &places, story));
        Self { session, workspace, plan }
    }
}

impl StopReport {
    /// What is known of the session, read at the first need.
    pub fn known(&mut self, stop: &StopContext<'_>) -> &Known {
        let known = self.take_known(stop);
        self.known.insert(known)
    }

    /// The same for the last who needs it.
    pub fn take_known(&mut self, stop: &StopContext<'_>) -> Known {
        self.known.take().unwrap_or_else(|| Known::read(stop, self))
    }
}

/// Remembers how far the transcripts were read and what came of it, unless a secret is in that: what is compared with
/// files can't be masked. Then the next stop reads from where the last one without a secret ended.
fn keep(stop: &StopContext<'_>, reading: &Reading, chores: &mut Chores) {
    let Some(points) = reading.resume_points() else { return };
    stop.state.keep_cursors(stop.session, stop.agent(), chores, move || {
        let mut texts = points.iter().flat_map(|point| point.builder.plain_texts());
        let has_secret = texts.any(|text| mask(text).count > 0);
        if has_secret { None } else { resume::encode(&points) }
    });
}

/// Does once for a session what every stop would have to do again: what is kept is masked and counted, and it is
/// known where it may name a plan.
fn settle(session: &mut Session) {
    // What the agent said last comes with the stop itself, and is compared with what the transcript says.
    let words = session.final_message.take();
    mask_session(session);
    session.final_message = words;
}

pub(super) fn read_session(
    stop: &StopContext<'_>,
    story: &mut StopReport,
) -> (Session, Workspace, PlanPlaces) {
    let role = match stop.input.event {
        Event::SubagentStop => Role::Subagent,
        Event::Stop | Event::SessionStart | Event::Other(_) => Role::Main,
    };
    let cwd = stop.input.cwd.clone().unwrap_or_else(|| stop.project.to_path_buf());
    let settings = Settings::read(stop.env, stop.project);
    story.registration_faults = settings.registration_faults();
    let folders = settings.plan_folders(stop.env, stop.project);
    let workspace = Workspace::new(stop.project, &cwd, stop.env.home(), &folders);
    let kept = resume::decode(&stop.state.cursors(stop.session, stop.agent())).unwrap_or_default();
    let last_message = stop.input.last_assistant_message.as_deref();
    let mut reading = Reading::at_stop(stop.input.own_transcript(), role, last_message, kept);
    let places = plan_places(&workspace, &stop.config.audit);
    reading.sessions_mut().for_each(settle);
    keep(stop, &reading, &mut story.chores);
    let loaded = reading.finish();
    story.tell_transcript(stop.input.own_transcript(), &loaded);
    (loaded.session, workspace, places)
}

pub(super) fn find_plan(
    stop: &StopContext<'_>,
    session: &mut Session,
    workspace: &Workspace,
    places: &PlanPlaces,
    story: &mut StopReport,
) -> Option<Plan> {
    // A subagent is asked for a part: the rest of the plan is not its promise.
    if stop.input.event == Event::SubagentStop {
        return None;
    }
    let plan = plan_in_play(session, workspace, places);
    if let Some(plan) = &plan {
        story.tell_plan(plan);
    }
    plan
}
