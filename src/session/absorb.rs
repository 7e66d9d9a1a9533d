//! Merges a subagent's session, from its own transcript, into the main one: its changes and
//! commands in order of time. Pure. Must not leave the lists out of order.

use std::collections::HashMap;

use crate::client::tool_result::REPORT_CAP;
use crate::session::{ChangeAt, Command, Delegation, Original, Session, Touch};
use crate::text::start_and_end;

/// Finds the newest entry of the session at a time.
struct Timeline {
    /// Times in order, each with the largest `at` of all entries up to it: clocks go back in most
    /// transcripts.
    entries: Vec<(i64, usize)>,
}

impl Timeline {
    fn new(session: &Session) -> Self {
        let asks = session.asks.iter().map(|ask| (ask.time, ask.at));
        let touches = session.touches.iter().map(|touch| (touch.time, touch.at));
        let commands = session.commands.iter().map(|command| (command.time, command.at));
        let delegations = session.delegations.iter().map(|delegation| (delegation.time, delegation.at));
        let remarks = session.remarks.iter().map(|remark| (remark.time, remark.at));
        let all = asks.chain(touches).chain(commands).chain(delegations).chain(remarks);
        let mut entries: Vec<(i64, usize)> = all.filter_map(|(time, at)| Some((time?, at))).collect();
        entries.sort_unstable();
        let mut largest = 0;
        for (_, at) in &mut entries {
            largest = largest.max(*at);
            *at = largest;
        }
        Self { entries }
    }

    /// Returns the largest `at` of an entry that is not later, or 0 if all are later. `None` if no
    /// entry has a time.
    fn at(&self, time: i64) -> Option<usize> {
        let earlier = self.entries.partition_point(|(entry, _)| *entry <= time);
        let place = self.entries[..earlier].last().map_or(0, |(_, at)| *at);
        (!self.entries.is_empty()).then_some(place)
    }

    /// Returns the positions of a subagent's changes and commands, by their `at` in its own
    /// transcript. None is before an earlier one of the subagent, or before `start`.
    fn places_of(&self, subagent: &Session, start: Option<usize>) -> HashMap<usize, usize> {
        let touches = subagent.touches.iter().map(|touch| (touch.at, touch.time));
        let commands = subagent.commands.iter().map(|command| (command.at, command.time));
        let mut entries: Vec<_> = touches.chain(commands).collect();
        entries.sort_unstable();
        let mut newest = start;
        let mut places = HashMap::new();
        for (at, time) in entries {
            newest = newest.max(time.and_then(|time| self.at(time)));
            places.extend(newest.map(|place| (at, place)));
        }
        places
    }
}

impl Session {
    /// Adds a subagent's changes and commands under its name, by their time. Those without a time
    /// are placed where the work was delegated or, if that is not known, at the end. The subagent's
    /// own order stays, whatever its clock says. Entries with the same `at` are in order within
    /// their list; across lists their times decide.
    pub fn absorb(&mut self, mut subagent: Session, name: &str) {
        let id = name.strip_prefix("agent-").unwrap_or(name);
        let delegation = self.delegations.iter().rposition(|one| one.agent_id.as_deref() == Some(id));
        let start = delegation.map(|index| self.delegations[index].at);
        let places = Timeline::new(self).places_of(&subagent, start);
        let end = self.rows;
        let place = |at: usize| places.get(&at).copied().unwrap_or(end);
        let sources = self.sources.len();
        self.sources.append(&mut subagent.sources);
        let touches = subagent.touches.into_iter().map(|touch| Touch {
            at: place(touch.at),
            agent: Some(name.to_owned()),
            original: match touch.original {
                Original::Recorded(place) => Original::Recorded(place.shift_source(sources)),
                known => known,
            },
            change_at: touch.change_at.map(|at| ChangeAt {
                old: at.old.map(|old| old.shift_source(sources)),
                new: at.new.shift_source(sources),
            }),
            ..touch
        });
        let commands = subagent.commands.into_iter().map(|command| Command {
            at: place(command.at),
            agent: Some(name.to_owned()),
            ..command
        });
        let masked = &mut self.masked;
        merge(&mut self.touches, touches.collect(), &mut masked.touches, |touch| touch.at);
        merge(&mut self.commands, commands.collect(), &mut masked.commands, |command| command.at);
        if let Some(index) = delegation {
            self.add_report(index, subagent.final_message);
        }
        self.skipped += subagent.skipped;
        self.forgotten.work += subagent.forgotten.work;
        self.forgotten.files |= subagent.forgotten.files;
        self.forgotten.commands |= subagent.forgotten.commands;
    }

    /// Takes the last message of a background subagent as its report.
    fn add_report(&mut self, index: usize, message: Option<String>) {
        let Delegation { report, .. } = &mut self.delegations[index];
        if let Some(message) = message.filter(|_| report.is_empty()) {
            *report = start_and_end(&message, REPORT_CAP);
            self.masked.delegations = self.masked.delegations.min(index);
        }
    }
}

/// Inserts entries into a list, in order, after those at the same position. `masked` is how many at
/// the start of the list are masked; it is reduced to those before the first new one.
fn merge<T>(list: &mut Vec<T>, new: Vec<T>, masked: &mut usize, at: impl Fn(&T) -> usize) {
    let Some(first) = new.iter().map(&at).min() else { return };
    let before = list.iter().position(|entry| at(entry) > first).unwrap_or(list.len());
    *masked = before.min(*masked);
    list.extend(new);
    // The sort is stable: the new entries stay behind.
    list.sort_by_key(at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Ask;
    use crate::testing;

    fn touch(path: &str, at: usize, time: Option<i64>) -> Touch {
        Touch { path: path.into(), time, ..testing::touch(path, at) }
    }

    fn command(line: &str, at: usize, time: Option<i64>) -> Command {
        Command { time, ..testing::command(line, at) }
    }

    fn delegation(id: &str, at: usize) -> Delegation {
        Delegation { agent_id: Some(id.into()), time: Some(300), ..testing::delegation("work", at, "") }
    }

    /// An edit at 10, a delegation at 20, a test at 30, an edit at 40.
    fn main() -> Session {
        Session {
            asks: vec![Ask { time: Some(100), ..testing::ask("do it", 1) }],
            touches: vec![touch("a", 10, Some(200)), touch("b", 40, Some(500))],
            commands: vec![command("cargo test", 30, Some(400))],
            delegations: vec![delegation("x", 20)],
            rows: 50,
            ..Session::default()
        }
    }

    fn places(session: &Session) -> Vec<(&str, usize)> {
        session.touches.iter().map(|touch| (touch.path.as_str(), touch.at)).collect()
    }

    #[test]
    fn an_edit_of_a_subagent_after_the_tests_is_not_taken_for_one_before() {
        let mut session = main();
        let touches = vec![touch("s1", 3, Some(350)), touch("s2", 5, Some(450)), touch("s3", 7, Some(900))];
        let subagent = Session {
            touches,
            commands: vec![command("cargo build", 4, Some(360))],
            final_message: Some("It works.".into()),
            ..Session::default()
        };
        session.masked.touches = 2;
        session.absorb(subagent, "agent-x");
        assert_eq!(places(&session), [("a", 10), ("s1", 20), ("s2", 30), ("b", 40), ("s3", 40)]);
        assert_eq!(session.masked.touches, 1, "what stands behind the first new one is looked at again");
        let commands: Vec<_> = session.commands.iter().map(|one| (&*one.line, one.at)).collect();
        assert_eq!(commands, [("cargo build", 20), ("cargo test", 30)]);
        assert_eq!(session.touches[1].agent.as_deref(), Some("agent-x"));
        assert_eq!(session.delegations[0].report, "It works.");
    }

    #[test]
    fn work_with_no_time_is_where_it_was_delegated_or_at_the_end_and_old_work_is_not_the_last() {
        for (name, time, at) in [
            ("agent-x", None, 20),
            ("agent-y", None, 50),
            ("agent-x", Some(50), 20),
            ("agent-y", Some(50), 0),
        ] {
            let mut session = main();
            let subagent = Session { touches: vec![touch("s", 3, time)], ..Session::default() };
            session.absorb(subagent, name);
            assert!(places(&session).contains(&("s", at)), "{name} {time:?}");
            assert!(session.touches.is_sorted_by_key(|touch| touch.at));
        }
    }

    #[test]
    fn a_clock_that_goes_back_does_not_put_work_before_what_it_followed() {
        let mut session = main();
        session.touches.push(touch("c", 45, Some(150)));
        let subagent = Session { touches: vec![touch("s", 3, Some(250))], ..Session::default() };
        session.absorb(subagent, "agent-x");
        assert_eq!(places(&session), [("a", 10), ("b", 40), ("c", 45), ("s", 45)]);
    }

    #[test]
    fn a_subagents_own_order_stays_though_its_clock_goes_back() {
        let mut session = main();
        let touches = vec![touch("s1", 3, Some(450)), touch("s2", 7, Some(250)), touch("s3", 9, None)];
        let subagent =
            Session { touches, commands: vec![command("cargo build", 5, Some(350))], ..Session::default() };
        session.absorb(subagent, "agent-y");
        assert_eq!(places(&session), [("a", 10), ("s1", 30), ("s2", 30), ("s3", 30), ("b", 40)]);
        assert_eq!(session.commands[1].at, 30);
    }

    #[test]
    fn a_report_that_is_known_stays() {
        let mut session = main();
        session.delegations[0].report = "Known already.".into();
        session.absorb(Session { final_message: Some("More.".into()), ..Session::default() }, "agent-x");
        assert_eq!(session.delegations[0].report, "Known already.");
    }
}
