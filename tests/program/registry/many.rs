//! Many processes at one registry: each task is taken once, whoever takes it, and whoever is ended
//! in the middle leaves it whole.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::Value;

use crate::registry::machine::Machine;

const TASKS: usize = 200;
const CLAIMERS: usize = 20;

#[test]
fn twenty_claimers_take_two_hundred_tasks_each_exactly_once() {
    let machine = Machine::new();
    let machine = &machine;
    std::thread::scope(|scope| {
        // Even the file itself is made by whoever comes first.
        let adders: Vec<_> = (0..4)
            .map(|adder| {
                scope.spawn(move || {
                    for number in 0..TASKS / 4 {
                        machine.print(&["tasks", "add", &format!("task {adder}.{number}")]);
                    }
                })
            })
            .collect();
        for adder in adders {
            adder.join().expect("added");
        }
    });
    let claimed: Vec<(String, String)> = std::thread::scope(|scope| {
        let claimers: Vec<_> = (0..CLAIMERS)
            .map(|number| {
                scope.spawn(move || {
                    let name = format!("claimer-{number}");
                    machine.print(&["worker", "register", &name]);
                    let mut mine = Vec::new();
                    loop {
                        let task = machine.json(&["tasks", "claim", "--worker", &name, "--json"]);
                        let Some(id) = task["task"]["id"].as_str() else { break mine };
                        mine.push((id.to_owned(), name.clone()));
                    }
                })
            })
            .collect();
        claimers.into_iter().flat_map(|claimer| claimer.join().expect("claimed")).collect()
    });
    let owners: BTreeMap<&str, &str> =
        claimed.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
    assert_eq!((claimed.len(), owners.len()), (TASKS, TASKS));
    let all = machine.json(&["tasks", "list", "--json"]);
    for task in all["tasks"].as_array().expect("tasks") {
        let id = task["id"].as_str().expect("an id");
        assert_eq!(task["assignee"].as_str(), owners.get(id).copied(), "{task}");
        assert_eq!((&task["attempts"], &task["status"]), (&Value::from(1), &Value::from("accepted")));
    }
}

#[test]
fn whoever_is_killed_in_the_middle_leaves_a_registry_that_works() {
    let machine = Machine::new();
    machine.print(&["worker", "register", "ann"]);
    for round in 0..10 {
        let mut children: Vec<_> = (0..6)
            .map(|number| {
                let title = format!("task {round}.{number}");
                let mut command = machine.command("shop", &["tasks", "add", &title]);
                command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
            })
            .collect();
        for (at, child) in children.iter_mut().enumerate() {
            if at % 2 == 0 {
                let _ = child.kill();
            }
        }
        for child in &mut children {
            child.wait().expect("it ends");
        }
    }
    let all = machine.json(&["tasks", "list", "--json"]);
    let tasks = all["tasks"].as_array().expect("tasks").len();
    assert!((30..=60).contains(&tasks), "{tasks}");
    let claimed = machine.json(&["tasks", "claim", "--worker", "ann", "--json"]);
    assert_eq!(claimed["task"]["id"], all["tasks"][0]["id"]);
}
