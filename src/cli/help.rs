//! The examples at the end of each command's help. A test here parses each line that starts with the
//! program's name, and one of the program's tests runs it.

/// Examples of the program itself.
pub const PROGRAM: &str = "\
Examples:
  punchlist demo                    see it at work: no account, no network
  punchlist install                 registers the hook for this project
  punchlist doctor                  is all in place, does the gate hold?
  punchlist audit                   look back at this project's newest session
  punchlist log                     what was decided, newest last
  punchlist config show             every setting, and where it comes from

Registered as a Stop hook it runs by itself. PUNCHLIST_OFF=1 switches it off.";
pub(super) const HOOK: &str = "\
Examples:
  punchlist hook                    as registered with \"timeout\": 120
  punchlist hook --hook-timeout 60  registered with \"timeout\": 60
  punchlist hook --background       registered with \"asyncRewake\": true

Exit codes: 0 the stop goes through, 2 it is held.
`punchlist doctor` tells whether the registration fits.";
pub(super) const DEMO: &str = "\
Examples:
  punchlist demo";
pub(super) const INSTALL: &str = "\
Examples:
  punchlist install                 this project, for you alone
  punchlist install --user          every project of yours
  punchlist install --dry-run       only shows the change

Running it again changes nothing. `punchlist doctor` tells whether it fits,
`punchlist uninstall` takes it out.";
pub(super) const UNINSTALL: &str = "\
Examples:
  punchlist uninstall               takes out what `punchlist install` put in
  punchlist uninstall --user";
pub(super) const OFF: &str = "\
Examples:
  punchlist off                     every stop of this project goes through
  punchlist off --session 3f2a      only those of one session

`punchlist on` switches it on again.";
pub(super) const ON: &str = "\
Examples:
  punchlist on
  punchlist on --session 3f2a";
pub(super) const ALLOW: &str = "\
Examples:
  punchlist allow                   shows this project's checks, and asks
  punchlist allow --yes             where you have read them
  punchlist allow --revoke          takes it back

What stands in your own config file needs no leave.";
pub(super) const AUDIT: &str = "\
Examples:
  punchlist audit                          the newest session of this project
  punchlist audit 3f2a                     a session by the start of its id
  punchlist audit --auditor none           no model: disk and session alone
  punchlist audit --show-prompt            what would be sent; nothing is
  punchlist audit --format sarif           for code scanning
  punchlist audit --all                    every saved session of this project

Exit codes: 0 nothing confirmed, 1 confirmed findings, 2 it could not audit.";
pub(super) const EVAL: &str = "\
Examples:
  punchlist eval fixtures/cases                     no model
  punchlist eval fixtures/cases --reader recorded   stored answers
  punchlist eval fixtures/cases --reader lying      are inventions believed?
  punchlist eval fixtures/cases --reader recorded --second off
  punchlist eval fixtures/cases --case background-run-awaited --verbose
  punchlist eval prompts fixtures/cases --out prompts --key key.json
  punchlist eval fixtures/cases --replies answers --key key.json

With --reader sloppy and lying only clean cases are audited.";
pub(super) const EVAL_PROMPTS: &str = "\
Examples:
  punchlist eval prompts fixtures/cases --out p1 --key key.json
  punchlist eval prompts fixtures/cases --out p2 --key key.json --second

Have a model answer each file by itself: 001.first.md in 001.first.json, with
nothing but the JSON object that answer.schema.json describes. Then store them:
  punchlist eval fixtures/cases --replies answers --key key.json --record NAME";
pub(super) const LOG: &str = "\
Examples:
  punchlist log                                    one line each, newest last
  punchlist log --since 7d --decision block
  punchlist log --outcome disputed --category A,ask -n 20
  punchlist log --follow
  punchlist log show held                          why the newest block was one
  punchlist log stats --since 30d
  punchlist log report -o report.html --open";
pub(super) const LOG_LIST: &str = "\
Examples:
  punchlist log list --since yesterday --project shop
  punchlist log list --cause auditor-timeout,auditor-unavailable
  punchlist log list --json -n 1";
pub(super) const LOG_SHOW: &str = "\
Examples:
  punchlist log show last                  the newest decision
  punchlist log show held                  the newest that held a stop
  punchlist log show k3f9.2                the second finding of one, alone
  punchlist log show k3f9 --prompt         what both readers were sent
  punchlist log show k3f9 --replay         today's rules on the saved reply";
pub(super) const LOG_REPORT: &str = "\
Examples:
  punchlist log report -o report.html --open
  punchlist log report -o - --since 30d --project shop";
pub(super) const LOG_STATS: &str = "\
Examples:
  punchlist log stats --since 30d
  punchlist log stats --project shop --json";
pub(super) const LOG_LABEL: &str = "\
Examples:
  punchlist log label k3f9.2 wrong --note \"that file is generated\"
  punchlist log label held right";
pub(super) const LOG_EXPORT: &str = "\
Examples:
  punchlist log export --format csv
  punchlist log export --since 2026-10 --decision block";
pub(super) const LOG_PRUNE: &str = "\
Examples:
  punchlist log prune --dry-run
  punchlist log prune --keep 30d --max-size 50MB";
pub(super) const LOG_PATH: &str = "\
Examples:
  punchlist log path
  punchlist log path --json";
pub(super) const LOOP: &str = "\
Examples:
  punchlist loop init --from plan.md       a list of features, a progress file
  punchlist loop run -- --permission-mode acceptEdits
  punchlist loop                           how it stands
  punchlist loop stop                      nobody is held any more

docs/gates/feature-loop.md tells how it goes on and when it ends.";
pub(super) const LOOP_INIT: &str = "\
Examples:
  punchlist loop init                      feature_list.json, progress.txt
  punchlist loop init --from prd.json --max 30

Files that are there are left as they are. Run by a session (`! punchlist loop
init`), it binds that session: its stops are held until every feature passes.";
pub(super) const LOOP_START: &str = "\
Examples:
  punchlist loop start                     run by a session: binds that one
  punchlist loop start --max 80            and raises the limit
  punchlist loop start --session 11111111-2222-4333-8444-555555555555
  punchlist loop start --as-is             what was removed stays removed";
pub(super) const LOOP_STOP: &str = "\
Examples:
  punchlist loop stop

`punchlist loop start` or `punchlist loop run` goes on.";
pub(super) const LOOP_STATUS: &str = "\
Examples:
  punchlist loop status
  punchlist loop status --json";
pub(super) const LOOP_PASS: &str = "\
Examples:
  punchlist loop pass F3
  punchlist loop pass F3 F4 --undo";
pub(super) const LOOP_RUN: &str = "\
Examples:
  punchlist loop run -- --permission-mode acceptEdits --model opus
  punchlist loop run --max-cost 5 --max-time 2h --max-iterations 30
  punchlist loop run --every 10m           looks again, also when all pass
  punchlist loop run --interactive         in this terminal
  punchlist loop run --dry-run             the next command and its prompt

What stands behind -- goes to the client. Without a permission to edit, it can
do nothing in print mode. Ctrl-C ends the session and the run; another run goes
on. Exit codes: 0 all features pass, 1 it ended before that.";
pub(super) const TASKS: &str = "\
Examples:
  punchlist tasks add \"Mend the gate\" --body \"It squeaks.\"
  punchlist tasks                          those that are not over
  punchlist tasks claim                    the next one, for you alone
  punchlist tasks complete t7 --note \"oiled\"
  punchlist tasks fail t7 --note \"no oil\"

Tasks are this project's, all its worktrees together. docs/registry.md has
the rest, and the JSON.";
pub(super) const TASKS_ADD: &str = "\
Examples:
  punchlist tasks add \"Mend the gate\"
  punchlist tasks add \"Paint it\" --priority 5 --queue painting
  punchlist tasks add \"Oil it\" --assign w2
  punchlist tasks add \"Move house\" --body -    the rest from stdin";
pub(super) const TASKS_LIST: &str = "\
Examples:
  punchlist tasks list
  punchlist tasks list --mine --json
  punchlist tasks list --status open,failed --all-projects";
pub(super) const TASKS_SHOW: &str = "\
Examples:
  punchlist tasks show t7";
pub(super) const TASKS_CLAIM: &str = "\
Examples:
  punchlist tasks claim
  punchlist tasks claim t7
  punchlist tasks claim --wait 60s --json    waits for one

Exit codes: 0, with a task or without one; 1 it could not be done.";
pub(super) const TASKS_START: &str = "\
Examples:
  punchlist tasks start t7";
pub(super) const TASKS_COMPLETE: &str = "\
Examples:
  punchlist tasks complete t7
  punchlist tasks complete t7 --note \"oiled and painted\"";
pub(super) const TASKS_FAIL: &str = "\
Examples:
  punchlist tasks fail t7 --note \"there is no oil\"";
pub(super) const TASKS_RELEASE: &str = "\
Examples:
  punchlist tasks release t7 --note \"not mine to do\"";
pub(super) const TASKS_ASSIGN: &str = "\
Examples:
  punchlist tasks assign t7 w2";
pub(super) const TASKS_CHECK: &str = "\
Examples:
  punchlist tasks check
  punchlist tasks check --worker w2 --json

Exit codes: 0 a stop would go through, 1 it would be held, 2 the tasks could
not be looked at. Nothing is held or counted.";
pub(super) const WORKER: &str = "\
Examples:
  punchlist worker register              this session becomes w1, w2 …
  punchlist worker register ann --kind builder --queue build
  punchlist worker list
  punchlist worker leave";
pub(super) const WORKER_REGISTER: &str = "\
Examples:
  punchlist worker register
  punchlist worker register ann --kind builder --queue build

Run in a session (from Claude Code 2.1.136 on) it is that session; with an
older client, start the session with PUNCHLIST_WORKER=ann.";
pub(super) const WORKER_HEARTBEAT: &str = "\
Examples:
  punchlist worker heartbeat
  punchlist worker heartbeat ann";
pub(super) const WORKER_LIST: &str = "\
Examples:
  punchlist worker list
  punchlist worker list --json";
pub(super) const WORKER_LEAVE: &str = "\
Examples:
  punchlist worker leave
  punchlist worker leave ann";
pub(super) const STATUS: &str = "\
Examples:
  punchlist status
  punchlist status --json";
pub(super) const CONFIG: &str = "\
Examples:
  punchlist config show             every value, and where it comes from
  punchlist config init             a commented file of your own
  punchlist config check            what is wrong with the files
  punchlist config schema           for your editor

docs/config.md has all keys.";
pub(super) const CONFIG_SHOW: &str = "\
Examples:
  punchlist config show
  punchlist config show --json";
pub(super) const CONFIG_INIT: &str = "\
Examples:
  punchlist config init             your own file
  punchlist config init --project   .claude/punchlist.toml";
pub(super) const CONFIG_SCHEMA: &str = "\
Examples:
  punchlist config schema

In a TOML file, the line `#:schema FILE` names it to editors (taplo, Even
Better TOML); `config init` writes both.";
pub(super) const CONFIG_CHECK: &str = "\
Examples:
  punchlist config check
  punchlist config check .claude/punchlist.toml

Exit codes: 0 nothing is wrong, 1 something is.";
pub(super) const DOCTOR: &str = "\
Examples:
  punchlist doctor                  all checks, nothing is sent anywhere
  punchlist doctor --audit          one tiny question to the model: time, cost
  punchlist doctor --json           for scripts

Exit codes: 0 all fine, 1 there is something to do.";
pub(super) const COMPLETIONS: &str = "\
Examples:
  punchlist completions bash
  punchlist completions zsh

Where its output goes:
  bash  ~/.local/share/bash-completion/completions/punchlist
  zsh   _punchlist in a folder of $fpath
  fish  ~/.config/fish/completions/punchlist.fish";
pub(super) const MAN: &str = "\
Examples:
  punchlist man                             the program's page, for `man -l -`
  punchlist man ~/.local/share/man/man1     a page for each command";

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory, Parser};

    use crate::cli::Cli;

    fn each(command: &Command, path: &str, look: &mut impl FnMut(&str, &Command)) {
        look(path, command);
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            each(inner, &format!("{path} {}", inner.get_name()), look);
        }
    }

    #[test]
    fn every_command_has_examples_and_the_parser_understands_each() {
        let mut count = 0;
        each(&Cli::command(), "punchlist", &mut |path, command| {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:\n  punchlist"), "{path} has no examples");
            for line in help.lines().filter_map(|line| line.strip_prefix("  punchlist ")) {
                // What stands behind two spaces is said of the example.
                let line = line.split("   ").next().unwrap_or(line).split("  ").next().unwrap_or(line).trim();
                let words = line.split('"').enumerate().flat_map(|(at, part)| {
                    if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
                });
                let parsed = Cli::try_parse_from(std::iter::once("punchlist").chain(words));
                assert!(parsed.is_ok(), "{path}: {line}: {}", parsed.expect_err("a fault"));
                count += 1;
            }
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty(), "{path} says what it does");
        });
        assert!(count > 50, "{count}");
    }

    #[test]
    fn examples_fit_an_ordinary_terminal() {
        each(&Cli::command(), "punchlist", &mut |path, command| {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines() {
                assert!(line.chars().count() < 80, "{path}: {line}");
            }
        });
    }
}
