//! What the commands say, to people.

use crate::registry::machine::Machine;

#[test]
fn a_task_goes_from_hand_to_hand() {
    let machine = Machine::new();
    assert_eq!(machine.print(&["tasks"]), "No task. `punchlist tasks add TITLE` adds one.\n");
    assert_eq!(machine.print(&["tasks", "add", " Mend  the\ngate "]), "Added: t1 Mend the gate\n");
    assert_eq!(
        machine.print(&["worker", "register", "ann", "--kind", "builder"]),
        "You are worker ann, of kind builder, in the queue default.\n`punchlist tasks claim` gives you the next task, `punchlist \
         worker leave` ends it.\n"
    );
    assert_eq!(
        machine.print(&["tasks", "claim", "--worker", "ann"]),
        "t1  Mend the gate\n\nIt is yours. When it is done: `punchlist tasks complete t1 --worker ann`. If it can't be done: \
         `punchlist tasks fail t1 --worker ann --note WHY`, or `punchlist tasks release t1 --worker ann` for somebody else.\n"
    );
    assert_eq!(
        machine.print(&["tasks", "start", "1", "--worker", "ann"]),
        "You are at it: t1 Mend the gate\n"
    );
    assert_eq!(
        machine.print(&["tasks", "list"]),
        "id  status       worker  since  title\nt1  in_progress  ann       0 s  Mend the gate\n"
    );
    assert_eq!(
        machine.print(&["tasks", "complete", "t1", "--worker", "ann", "--note", "oiled"]),
        "Completed: t1 Mend the gate\n"
    );
    assert_eq!(
        machine.print(&["tasks", "claim", "--worker", "ann"]),
        "No open task in the queue default of this project.\n"
    );
    assert_eq!(
        machine.print(&["tasks"]),
        "No task. `--all` shows those that are over, `--all-projects` those of every project.\n"
    );
    let shown = machine.print(&["tasks", "show", "t1"]);
    assert!(
        shown.starts_with(
            "t1  Mend the gate\ncompleted, ann, for 0 s\noiled\n\nqueue    default\nproject  DIR/shop\n"
        ),
        "{shown}"
    );
    assert!(shown.ends_with("       0 s ago  completed ann: oiled\n"), "{shown}");
    assert_eq!(machine.print(&["worker", "leave", "ann"]), "ann has left.\n");
    assert_eq!(
        machine.print(&["worker", "list"]),
        "No worker. `punchlist worker register` makes this session one.\n"
    );
}

#[test]
fn a_refusal_says_what_to_do() {
    let machine = Machine::new();
    let whose = "whose task? Name the worker with --worker NAME or PUNCHLIST_WORKER, or run `punchlist worker register` in the \
                 session first";
    assert_eq!(machine.refuses(&["tasks", "claim"]), whose);
    assert_eq!(
        machine.refuses(&["tasks", "claim", "--worker", "ann"]),
        "no worker ann; `punchlist worker list` shows them, `punchlist worker register ann` makes it one"
    );
    assert_eq!(
        machine.refuses(&["tasks", "show", "t7"]),
        "no task t7; `punchlist tasks list --all` shows them"
    );
    assert_eq!(
        machine.refuses(&["tasks", "add", "  "]),
        "a task needs a title: `punchlist tasks add \"Mend the gate\"`"
    );
    let usage = machine.run(&["tasks", "complete", "seven"]);
    assert_eq!(usage.code, Some(64));
    assert!(usage.stderr.contains("they are named like t7"), "{}", usage.stderr);
}

#[test]
fn a_session_is_known_by_what_its_client_tells() {
    let machine = Machine::new();
    let session = |session: &str, args: &[&str]| machine.run_in("shop", Some(session), args).printed();
    assert!(session("s1", &["worker", "register"]).starts_with("You are worker w1, "));
    assert!(session("s2", &["worker", "register"]).starts_with("You are worker w2, "));
    machine.print(&["tasks", "add", "Mend the gate"]);
    assert!(session("s2", &["tasks", "claim"]).starts_with("t1  Mend the gate\n"));
    assert_eq!(session("s2", &["tasks", "list", "--mine"]).lines().count(), 2);
    assert!(session("s1", &["tasks", "list", "--mine"]).starts_with("No task. "));
    let refused = machine.run_in("shop", Some("s1"), &["tasks", "complete", "t1"]);
    assert_eq!(
        refused.stderr,
        "punchlist: t1 is w2's (accepted), not w1's; `punchlist tasks claim` takes another one\n"
    );
    session("s2", &["tasks", "complete", "t1"]);
}

#[test]
fn worktrees_share_their_tasks_and_other_projects_do_not() {
    let machine = Machine::new();
    machine.print(&["worker", "register", "ann"]);
    let run = |folder: &str, args: &[&str]| machine.run_in(folder, None, args).printed();
    run("shop/src", &["tasks", "add", "Mend the gate"]);
    run("blog", &["tasks", "add", "Write of it"]);
    run("blog", &["tasks", "add", "Anything", "--anywhere"]);
    let titles = |folder: &str| {
        let list = run(folder, &["tasks", "list"]);
        list.lines()
            .skip(1)
            .map(|line| line.rsplit("  ").next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(titles("shop"), ["Mend the gate", "Anything"]);
    assert_eq!(titles("tree"), ["Mend the gate", "Anything"]);
    assert_eq!(titles("blog"), ["Write of it", "Anything"]);
    assert_eq!(run("shop", &["tasks", "list", "--all-projects"]).lines().count(), 4);
    assert!(run("tree", &["tasks", "claim", "--worker", "ann"]).starts_with("t1  Mend the gate\n"));
    assert!(run("tree", &["tasks", "claim", "--worker", "ann"]).starts_with("t3  Anything\n"));
    assert!(run("tree", &["tasks", "claim", "--worker", "ann"]).starts_with("No open task"));
}

#[test]
fn a_worker_that_went_silent_loses_its_task_at_the_next_look() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.path("home/.config/punchlist")).expect("made");
    std::fs::write(machine.path("home/.config/punchlist/config.toml"), "[worker]\nlease = \"1s\"\n")
        .expect("written");
    machine.print(&["worker", "register", "ann"]);
    machine.print(&["worker", "register", "bob"]);
    machine.print(&["tasks", "add", "Mend the gate"]);
    machine.print(&["tasks", "claim", "--worker", "ann"]);
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    let list = machine.print(&["tasks", "list"]);
    assert!(list.lines().nth(1).is_some_and(|line| line.starts_with("t1  open ")), "{list}");
    let refused = machine.refuses(&["tasks", "start", "t1", "--worker", "ann"]);
    assert!(refused.contains("(it came back: ann was silent for "), "{refused}");
    assert!(machine.print(&["tasks", "claim", "--worker", "bob"]).starts_with("t1  "));
    let refused = machine.refuses(&["tasks", "complete", "t1", "--worker", "ann"]);
    assert!(refused.contains("t1 is bob's (accepted), not ann's"), "{refused}");
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    machine.print(&["tasks", "list"]);
    let late = machine.print(&["tasks", "complete", "t1", "--worker", "bob"]);
    assert!(late.contains("(its lease ended ") && late.contains("nobody had taken it"), "{late}");
}

#[test]
fn a_claim_waits_for_a_task_that_comes_meanwhile() {
    let machine = Machine::new();
    machine.print(&["worker", "register", "ann"]);
    let waiting = machine.command("shop", &["tasks", "claim", "--worker", "ann", "--wait", "30s"]);
    let mut waiting = waiting_with_pipe(waiting);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(waiting.try_wait().expect("a status").is_none(), "it waits");
    machine.print(&["tasks", "add", "Mend the gate"]);
    let output = waiting.wait_with_output().expect("it ends");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("t1  Mend the gate\n"));
    let none = machine.print(&["tasks", "claim", "--worker", "ann", "--wait", "600ms"]);
    assert_eq!(none, "No open task in the queue default of this project.\n");
}

fn waiting_with_pipe(mut command: std::process::Command) -> std::process::Child {
    command.stdout(std::process::Stdio::piped()).spawn().expect("it starts")
}

#[test]
fn the_text_of_a_task_may_come_from_stdin() {
    use std::io::Write;
    let machine = Machine::new();
    let mut command = machine.command("shop", &["tasks", "add", "Mend the gate", "--body", "-"]);
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().expect("it starts");
    child
        .stdin
        .take()
        .expect("stdin")
        .write_all("First \u{1b}oil.\nThen paint.\n".as_bytes())
        .expect("written");
    assert!(child.wait().expect("it ends").success());
    machine.print(&["worker", "register", "ann"]);
    let claimed = machine.print(&["tasks", "claim", "--worker", "ann"]);
    assert!(
        claimed.starts_with("t1  Mend the gate\n\nFirst \u{fffd}oil.\nThen paint.\n\nIt is yours."),
        "{claimed}"
    );
}
