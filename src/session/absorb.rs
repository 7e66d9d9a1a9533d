//! A subagent's work in its place in the session: takes the session of a subagent's own transcript,
//! puts its changes and commands among those of the main one. Pure. Must not leave the lists out of
//! order.

use std::collections::HashMap;

use super::results::REPORT_CAP;
use super::{ChangeAt, Command, Delegation, List, Original, Session, Touch};
use crate::text::start_and_end;

/// Which entry of the session was the newest at a time.
struct Timeline {
    /// Times in order, each with the largest `at` of all entries up to it: clocks go back in most
    /// transcripts.
    entries: Vec<(i64, usize)>,
}

impl Timeline {
    fn of(session: &Session) -> Self {
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

    /// Returns the largest `at` of an entry that is not later: 0 where all are. `None` where no
    /// entry has a time.
    fn at(&self, time: i64) -> Option<usize> {
        let earlier = self.entries.partition_point(|(entry, _)| *entry <= time);
        let place = self.entries[..earlier].last().map_or(0, |(_, at)| *at);
        (!self.entries.is_empty()).then_some(place)
    }

    /// Returns the places of a subagent's changes and commands, by where they stand in its own
    /// transcript. None stands before one that came before it, nor before `start`.
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
    /// Takes in what a subagent did: its changes and commands, under its name, each where it
    /// belongs by its time. Those with no time stand where the work was handed over, or, where that
    /// is not known, at the end. The subagent's own order stays as it is, whatever its clock says.
    /// Entries with the same `at` are in order within their list; across lists their times tell.
    pub fn absorb(&mut self, mut subagent: Session, name: &str) {
        let id = name.strip_prefix("agent-").unwrap_or(name);
        let handed_over = self.delegations.iter().rposition(|one| one.agent_id.as_deref() == Some(id));
        let start = handed_over.map(|index| self.delegations[index].at);
        let places = Timeline::of(self).places_of(&subagent, start);
        let end = self.rows;
        let place = |at: usize| places.get(&at).copied().unwrap_or(end);
        let sources = self.sources.len();
        self.sources.append(&mut subagent.sources);
        let touches = subagent.touches.into_iter().map(|touch| Touch {
            at: place(touch.at),
            agent: Some(name.to_owned()),
            original: match touch.original {
                Original::Recorded(place) => Original::Recorded(place.moved_by(sources)),
                known => known,
            },
            change_at: touch.change_at.map(|at| ChangeAt {
                old: at.old.map(|old| old.moved_by(sources)),
                new: at.new.moved_by(sources),
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
        // What was counted and noted by the place of an entry has to be looked for again.
        (self.counted.commands, self.counted.effects, self.counted.done) = (0, 0, None);
        if let Some(index) = handed_over {
            self.add_report(index, subagent.final_message);
        }
        self.skipped += subagent.skipped;
        self.forgotten.work += subagent.forgotten.work;
        self.forgotten.files |= subagent.forgotten.files;
        self.forgotten.commands |= subagent.forgotten.commands;
    }

    /// A subagent in the background reports by its last message.
    fn add_report(&mut self, index: usize, message: Option<String>) {
        let Delegation { report, .. } = &mut self.delegations[index];
        if let Some(message) = message.filter(|_| report.is_empty()) {
            *report = start_and_end(&message, REPORT_CAP);
            self.masked.delegations = self.masked.delegations.min(index);
        }
    }
}

/// Puts new entries among those of a list, in order, behind those at the same place. Of the
/// `masked` ones at the start of the list only those stay so that still are there.
fn merge<T>(list: &mut List<T>, new: Vec<T>, masked: &mut usize, at: impl Fn(&T) -> usize)
where
    T: Clone + serde::de::DeserializeOwned,
{
    let Some(first) = new.iter().map(&at).min() else { return };
    let before = list.iter().position(|entry| at(entry) > first).unwrap_or(list.len());
    *masked = before.min(*masked);
    list.extend(new);
    // Stable: the new entries stand behind.
    list.sort_by_key(at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Ask, CommandEnd, EditTool, Outcome};

    fn touch(path: &str, at: usize, time: Option<i64>) -> Touch {
        Touch {
            path: path.into(),
            tool: EditTool::Edit,
            at,
            time,
            outcome: Outcome::Done,
            original: Original::Unknown,
            agent: None,
            change: None,
            change_at: None,
        }
    }

    fn command(line: &str, at: usize, time: Option<i64>) -> Command {
        Command {
            line: line.into(),
            at,
            time,
            end: CommandEnd::Succeeded,
            output: String::new(),
            agent: None,
        }
    }

    fn delegation(id: &str, at: usize) -> Delegation {
        Delegation {
            description: "work".into(),
            agent_type: String::new(),
            outcome: Outcome::Done,
            report: String::new(),
            agent_id: Some(id.into()),
            at,
            time: Some(300),
        }
    }

    /// An edit at 10, a delegation at 20, a test at 30, an edit at 40.
    fn main() -> Session {
        Session {
            asks: vec![Ask { text: "do it".into(), at: 1, time: Some(100) }].into(),
            touches: vec![touch("a", 10, Some(200)), touch("b", 40, Some(500))].into(),
            commands: vec![command("cargo test", 30, Some(400))].into(),
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
            touches: touches.into(),
            commands: vec![command("cargo build", 4, Some(360))].into(),
            final_message: Some("It works.".into()),
            ..Session::default()
        };
        session.masked.touches = 2;
        session.absorb(subagent, "agent-x");
        assert_eq!(places(&session), [("a", 10), ("s1", 20), ("s2", 30), ("b", 40), ("s3", 40)]);
        assert_eq!(session.masked.touches, 1, "what stands behind the first new one is looked at again");
        let commands: Vec<_> = session.commands.iter().map(|one| (one.line.as_str(), one.at)).collect();
        assert_eq!(commands, [("cargo build", 20), ("cargo test", 30)]);
        assert_eq!(session.touches[1].agent.as_deref(), Some("agent-x"));
        assert_eq!(session.delegations[0].report, "It works.");
    }

    #[test]
    fn work_with_no_time_stands_where_it_was_handed_over_or_at_the_end() {
        for (name, at) in [("agent-x", 20), ("agent-y", 50)] {
            let mut session = main();
            let subagent = Session { touches: vec![touch("s", 3, None)].into(), ..Session::default() };
            session.absorb(subagent, name);
            assert!(places(&session).contains(&("s", at)), "{name}");
            assert!(session.touches.is_sorted_by_key(|touch| touch.at));
        }
    }

    #[test]
    fn work_from_before_every_entry_of_the_session_is_not_taken_for_its_last() {
        for (name, at) in [("agent-x", 20), ("agent-y", 0)] {
            let mut session = main();
            let subagent = Session { touches: vec![touch("s", 3, Some(50))].into(), ..Session::default() };
            session.absorb(subagent, name);
            assert!(places(&session).contains(&("s", at)), "{name}");
        }
    }

    #[test]
    fn a_clock_that_goes_back_does_not_put_work_before_what_it_followed() {
        let mut session = main();
        session.touches.push(touch("c", 45, Some(150)));
        let subagent = Session { touches: vec![touch("s", 3, Some(250))].into(), ..Session::default() };
        session.absorb(subagent, "agent-x");
        assert_eq!(places(&session), [("a", 10), ("b", 40), ("c", 45), ("s", 45)]);
    }

    #[test]
    fn a_subagents_own_order_stays_though_its_clock_goes_back() {
        let mut session = main();
        let touches = vec![touch("s1", 3, Some(450)), touch("s2", 7, Some(250)), touch("s3", 9, None)];
        let subagent = Session {
            touches: touches.into(),
            commands: vec![command("cargo build", 5, Some(350))].into(),
            ..Session::default()
        };
        session.absorb(subagent, "agent-y");
        assert_eq!(places(&session), [("a", 10), ("s1", 30), ("s2", 30), ("s3", 30), ("b", 40)]);
        assert_eq!(session.commands[1].at, 30);
    }

    #[test]
    fn a_report_that_is_known_stays() {
        let mut session = main();
        session.delegations[0].report = "Told already.".into();
        session.absorb(Session { final_message: Some("More.".into()), ..Session::default() }, "agent-x");
        assert_eq!(session.delegations[0].report, "Told already.");
    }
}
