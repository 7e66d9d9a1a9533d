//! Whether what an audit found still fits: takes what was seen when it looked and what is seen now, gives what has
//! moved. Pure. Must not take for a move what the session wrote down late: its rows come after its stop.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::finding::{Finding, Status};

/// What tells a file from what it was: how long it is and when it was changed. `None` where there is none.
pub type Stamp = Option<(u64, Option<SystemTime>)>;

/// Files, by the names that findings have for them.
pub type Stamps = BTreeMap<String, Stamp>;

/// What a session may have done since its stop, the plainest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Move {
    /// The client has another session open in its place.
    Left,
    /// The person has said something.
    Asked,
    /// Tools were called.
    Worked,
    /// A turn is under way, whatever started it.
    AtWork,
}

impl Move {
    /// In words, for the log.
    pub fn words(self) -> &'static str {
        match self {
            Self::Left => "the client has gone on to another session",
            Self::Asked => "the person has typed on since this stop",
            Self::Worked => "the session has used tools since this stop",
            Self::AtWork => "the session is at work again",
        }
    }
}

/// The names of what is not as it was.
pub fn changed<'a>(then: &'a Stamps, now: &Stamps) -> Vec<&'a str> {
    then.iter()
        .filter(|(name, stamp)| now.get(*name) != Some(*stamp))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// Sets aside the confirmed findings that speak of what has changed; gives those that may be told, and the files
/// for which others may not. All of them rest on the plan.
pub fn fitting(
    findings: &mut [Finding],
    changed: &[&str],
    plan: Option<&str>,
) -> (Vec<Finding>, Vec<String>) {
    let plan = plan.filter(|plan| changed.contains(plan));
    let (mut fitting, mut moved) = (Vec::new(), Vec::new());
    for finding in findings {
        let own = finding.path.as_deref().filter(|path| changed.contains(path));
        match own.or(plan).filter(|_| finding.status == Status::Confirmed) {
            None => fitting.push(finding.clone()),
            Some(file) => {
                if !moved.iter().any(|known| known == file) {
                    moved.push(file.to_owned());
                }
                finding.check = format!("{file} has changed since it was looked at");
                finding.status = Status::CannotVerify;
            }
        }
    }
    (fitting, moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Category, Kind, Source};
    use crate::testing;

    fn finding(path: Option<&str>, status: Status) -> Finding {
        let source = Source::Both;
        Finding { status, source, ..testing::finding(Category::A, Kind::Missing, "", path) }
    }

    fn stamps(files: &[(&str, Stamp)]) -> Stamps {
        files.iter().map(|(name, stamp)| ((*name).to_owned(), *stamp)).collect()
    }

    #[test]
    fn what_came_went_grew_or_was_written_again_has_changed() {
        let time = |seconds| Some(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds));
        let then = stamps(&[
            ("came", None),
            ("went", Some((1, time(1)))),
            ("grew", Some((1, time(1)))),
            ("rewritten", Some((1, time(1)))),
            ("same", Some((1, time(1)))),
            ("still missing", None),
        ]);
        let now = stamps(&[
            ("came", Some((0, time(1)))),
            ("went", None),
            ("grew", Some((2, time(1)))),
            ("rewritten", Some((1, time(2)))),
            ("same", Some((1, time(1)))),
            ("still missing", None),
        ]);
        assert_eq!(changed(&then, &now), ["came", "grew", "rewritten", "went"]);
    }

    #[test]
    fn what_speaks_of_another_file_still_fits() {
        let mut findings = [
            finding(Some("a.txt"), Status::Confirmed),
            finding(Some("b.txt"), Status::Confirmed),
            finding(Some("a.txt"), Status::Refuted),
            finding(None, Status::Confirmed),
        ];
        let (fits, moved) = fitting(&mut findings, &["a.txt"], Some("PLAN.md"));
        assert_eq!(
            fits.iter().map(|f| f.path.as_deref()).collect::<Vec<_>>(),
            [Some("b.txt"), Some("a.txt"), None]
        );
        assert_eq!(moved, ["a.txt"]);
        assert_eq!(findings[0].status, Status::CannotVerify);
        assert_eq!(findings[0].check, "a.txt has changed since it was looked at");
        assert_eq!(findings[2].status, Status::Refuted, "what was dropped stays dropped");
    }

    #[test]
    fn nothing_fits_a_plan_that_was_rewritten() {
        let mut findings = [finding(Some("a.txt"), Status::Confirmed), finding(None, Status::Confirmed)];
        let (fits, moved) = fitting(&mut findings, &["PLAN.md"], Some("PLAN.md"));
        assert_eq!((fits.len(), moved.as_slice()), (0, ["PLAN.md".to_owned()].as_slice()));
    }
}
