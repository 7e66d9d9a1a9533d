//! Reasons that more than one rule gives, or that somebody else has to know. Data only.

pub(super) const NOT_CLAIMED: &str = "the final message does not claim it";
pub(super) const NO_STEP: &str =
    "the quote is no step of the plan, and words around the steps promise nothing";
pub(super) const CALLED_OFF: &str = "the person called it off";
pub(super) const ADMITTED: &str = "the final message says itself that it was not done";
pub(super) const REMOTE: &str = "remote: the session worked on it on another machine";
pub(super) const OUTSIDE: &str = "path is outside the workspace";
/// What needs a plan is refuted where there is none.
pub const NO_PLAN: &str = "no plan was in play";
pub(super) const ANOTHER_FORM: &str =
    "the file holds it in another form, or another file of the session does";
pub(super) const CHECKED_AFTER: &str = "another check of that kind succeeded after it";
pub(super) const SUCCEEDED_AFTER: &str = "the same program succeeded after it";
pub(super) const CHECKED_ELSEWHERE: &str =
    "remote: a check of that kind succeeded on another machine after it";

/// Reasons for which nothing is confirmed, and which nevertheless settle what was found before.
pub const SETTLING: &[&str] = &[CHECKED_AFTER, SUCCEEDED_AFTER, CHECKED_ELSEWHERE, ANOTHER_FORM];
