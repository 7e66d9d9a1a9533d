//! The notices of a session that wait to be shown: those of a stop that blocked, and of stops that
//! the client did not wait for. Each once, the newest; a named one counts as shown once it is taken.

use super::SessionState;

/// How many lines wait at the most: the newest.
const MOST_WAITING: usize = 8;

/// A line to be shown, with its name if it is shown once per session.
pub type Line = (Option<String>, String);

impl SessionState {
    /// Adds lines to those that wait.
    pub fn add_pending(&mut self, lines: impl IntoIterator<Item = Line>) {
        for (name, line) in lines {
            if name.as_ref().is_some_and(|name| self.shown_notices.contains(name)) {
                continue;
            }
            self.pending_notices.retain(|other| *other != line);
            if let Some(name) = name {
                self.pending_names.insert(line.clone(), name);
            }
            self.pending_notices.push(line);
        }
        self.pending_notices.drain(..self.pending_notices.len().saturating_sub(MOST_WAITING));
        let waiting = &self.pending_notices;
        self.pending_names.retain(|line, _| waiting.contains(line));
    }

    /// Records that these lines were shown.
    pub fn set_shown(&mut self, lines: Vec<Line>) {
        for (name, line) in lines {
            self.pending_notices.retain(|other| *other != line);
            self.pending_names.remove(&line);
            self.shown_notices.extend(name);
        }
    }

    /// Takes all lines that wait, which are shown from now on.
    pub fn take_pending(&mut self) -> Vec<Line> {
        let mut names = std::mem::take(&mut self.pending_names);
        let lines = std::mem::take(&mut self.pending_notices);
        let lines: Vec<Line> = lines.into_iter().map(|line| (names.remove(&line), line)).collect();
        self.shown_notices.extend(lines.iter().filter_map(|(name, _)| name.clone()));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unnamed(lines: &[&str]) -> Vec<Line> {
        lines.iter().map(|line| (None, (*line).to_owned())).collect()
    }

    #[test]
    fn what_a_client_does_not_show_waits_once_and_the_newest_of_it() {
        let mut session = SessionState::default();
        session.add_pending(unnamed(&["old", "not checked"]));
        session.add_pending(unnamed(&["not checked", "fixed"]));
        assert_eq!(session.pending_notices, ["old", "not checked", "fixed"]);
        session.add_pending((0..7).map(|number| (Some(format!("n{number}")), number.to_string())));
        assert_eq!((session.pending_notices.len(), session.pending_notices[0].as_str()), (8, "fixed"));
        session.add_pending(unnamed(&["a", "b"]));
        assert_eq!(session.pending_names.len(), 6, "the names go with their lines");
    }

    #[test]
    fn a_named_line_counts_as_shown_once_it_is_taken() {
        let mut session = SessionState::default();
        let named = || [(Some("n".to_owned()), "line".to_owned())];
        session.add_pending(named());
        assert!(session.shown_notices.is_empty(), "nobody has seen it");
        assert_eq!(session.take_pending(), named());
        session.add_pending(named());
        assert_eq!(session.take_pending(), []);
    }
}
