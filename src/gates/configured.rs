//! Which gates are set, one line for each, in the order in which they check a stop. Pure.

use super::{audit, checklist, checks, keep_alive, pending_tasks};
use crate::config::{Config, TaskSource};
use crate::text::{counted, time_span};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured {
    pub name: &'static str,
    pub words: String,
}

pub fn configured(config: &Config) -> Vec<Configured> {
    let mut gates = Vec::new();
    let tasks = &config.tasks;
    let place = match tasks.source {
        TaskSource::Off => None,
        TaskSource::Registry => Some("tasks of the registry".to_owned()),
        TaskSource::File => Some(format!("tasks in {}", tasks.file.display())),
        TaskSource::Command => Some("tasks that a command prints".to_owned()),
        TaskSource::Http => Some("tasks behind a URL".to_owned()),
    };
    if let Some(place) = place {
        let holds = counted(usize::try_from(tasks.max_holds).unwrap_or(usize::MAX), "hold", "holds");
        let dry = if tasks.dry_run { ", dry run" } else { "" };
        gates.push(Configured { name: pending_tasks::NAME, words: format!("{place}, at most {holds}{dry}") });
    }
    if config.worker.keep_alive {
        let span = |kind: &str| time_span(config.worker.idle_ms(kind));
        let mut words = format!("workers, {} without work", time_span(ms(config.worker.idle)));
        for kind in config.worker.kinds.keys() {
            words.push_str(&format!(", {kind} {}", span(kind)));
        }
        gates.push(Configured { name: keep_alive::NAME, words });
    }
    let checklist = &config.checklist;
    if checklist.is_set() {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(checklist.plan.then(|| "the plan".to_owned()));
        parts.extend(checklist.files.iter().cloned());
        parts.extend(checklist.todos.then(|| "the task list".to_owned()));
        parts.extend(Some(&checklist.require_section).filter(|section| !section.is_empty()).cloned());
        gates.push(Configured { name: checklist::NAME, words: parts.join(", ") });
    }
    if !config.checks.is_empty() {
        let names: Vec<&str> = config.checks.iter().map(|check| check.name.as_str()).collect();
        gates.push(Configured { name: checks::NAME, words: names.join(", ") });
    }
    if config.audit.enabled {
        gates.push(Configured { name: audit::AUDIT, words: config.auditor.model.clone() });
    }
    gates
}

fn ms(time: std::time::Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gate_that_is_set_says_what_it_goes_by() {
        let lines = |toml: &str| -> Vec<String> {
            let config = Config::parse(toml, "x").expect("a config");
            configured(&config).into_iter().map(|gate| format!("{}: {}", gate.name, gate.words)).collect()
        };
        assert_eq!(lines(""), ["audit: haiku"]);
        let all = "[tasks]\nsource = \"file\"\nmax_holds = 1\ndry_run = true\n[worker]\nkeep_alive = true\n[worker.kinds.builder]\nidle = \"2h\"\n";
        assert_eq!(
            lines(all),
            [
                "pending-tasks: tasks in .claude/tasks.json, at most 1 hold, dry run",
                "keep-alive: workers, 10 min without work, builder 2 h",
                "audit: haiku",
            ]
        );
    }
}
