//! The config: what is wrong in it, and which values differ from the built-in ones.

use std::path::PathBuf;

use super::Check;
use crate::config::CheckConfig;
use crate::config::sources::{Source, Sources};

/// Reports that the person's switch is off. `folders` are those with a switch that cover the
/// project.
pub fn switch_check(folders: &[PathBuf]) -> Option<Check> {
    let off = folders.first()?;
    let found = format!("off for {}: every stop there goes through", off.display());
    Some(Check::note("switch", found, "punchlist on"))
}

/// Reports the commands of a project's file that the person has not allowed.
pub fn unallowed_check(checks: &[CheckConfig]) -> Option<Check> {
    let names: Vec<_> =
        checks.iter().filter(|check| check.needs_leave).map(|check| check.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let found = format!("the project's do not run yet: {}", names.join(", "));
    Some(Check::note("checks", found, "look at them: punchlist allow"))
}

pub fn checks(sources: &Sources) -> Vec<Check> {
    const NAME: &str = "config";
    let mut checks: Vec<Check> = Vec::new();
    for fault in &sources.faults {
        checks.push(if fault.is_fault() {
            Check::fault(NAME, fault.to_string(), "`punchlist config check` shows all errors")
        } else {
            Check::note(NAME, fault.to_string(), "look at it, and count it for this project: punchlist allow")
        });
    }
    let differing: Vec<_> = sources
        .settings
        .iter()
        .filter(|sourced| sourced.value != sourced.setting.default)
        .map(|sourced| {
            let by = match sourced.source {
                Source::Default => "built in",
                Source::Own => "yours",
                Source::Project => "project",
                Source::Variable => sourced.place.as_deref().unwrap_or("variable"),
            };
            format!("{} = {} ({by})", sourced.setting.path(), sourced.value_text())
        })
        .collect();
    let found = if differing.is_empty() { "all as built in".into() } else { differing.join(", ") };
    checks.push(Check::fine(NAME, found));
    let is = |path: &str, value: bool| {
        let found = sources.settings.iter().find(|sourced| sourced.setting.path() == path);
        found.is_some_and(|sourced| sourced.value == Some(value.into()))
    };
    if is("gates.enabled", false) {
        let next = "unset PUNCHLIST_OFF, or set `enabled = true`";
        checks.push(Check::note(NAME, "the gate is switched off: every stop goes through", next));
    }
    if is("gates.dry_run", true) {
        let next = "unset PUNCHLIST_DRY_RUN, or set `dry_run = false`, when you trust it";
        checks.push(Check::note(NAME, "a dry run: everything is done, and nothing is held", next));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Allowed;
    use crate::config::sources::sources;
    use crate::doctor::Mark;
    use crate::env::{self, Env};

    fn checked(own: &str, variable: &str) -> Vec<(Mark, String)> {
        let folder = crate::testing::Folder::around(&[("punchlist/config.toml", own)]);
        let env = Env::from_pairs([("XDG_CONFIG_HOME", folder.path().as_os_str()), (variable, "1".as_ref())]);
        let all = checks(&sources(&env, &folder.root(), Allowed::new));
        let tidy = |text: String| text.replace(&folder.path().display().to_string(), "[folder]");
        all.into_iter().map(|check| (check.mark, tidy(check.found))).collect()
    }

    #[test]
    fn a_switch_that_is_off_is_a_note() {
        assert_eq!(switch_check(&[]), None);
        let check = switch_check(&["/w".into()]).expect("a check");
        assert_eq!(
            (check.mark, check.found.as_str()),
            (Mark::Note, "off for /w: every stop there goes through")
        );
    }

    #[test]
    fn commands_of_a_project_that_are_not_allowed_are_a_note() {
        let file = "[[check]]\nname = \"test\"\nrun = \"make\"\n";
        let mut config = crate::config::Config::parse(file, "x").expect("a config file");
        assert_eq!(unallowed_check(&config.checks), None, "one's own, or allowed");
        config.checks[0].needs_leave = true;
        let check = unallowed_check(&config.checks).expect("a check");
        assert_eq!((check.mark, check.found.as_str()), (Mark::Note, "the project's do not run yet: test"));
    }

    #[test]
    fn only_values_that_differ_are_listed() {
        assert_eq!(checked("[gates]\nmax_blocks = 3\n", "X"), [(Mark::Fine, "all as built in".into())]);
        assert_eq!(
            checked("[gates]\nmax_blocks = 1\n", env::DRY_RUN),
            [
                (Mark::Fine, "gates.dry_run = true (PUNCHLIST_DRY_RUN), gates.max_blocks = 1 (yours)".into()),
                (Mark::Note, "a dry run: everything is done, and nothing is held".into())
            ]
        );
    }

    #[test]
    fn a_fault_and_a_disabled_gate_are_listed() {
        let all = checked("[gates]\nmax_block = 1\n", env::OFF);
        assert_eq!(
            all.iter().map(|(mark, _)| *mark).collect::<Vec<_>>(),
            [Mark::Fault, Mark::Fine, Mark::Note]
        );
        assert!(all[0].1.starts_with("[folder]/punchlist/config.toml, line 2: gates.max_block"), "{all:?}");
        assert_eq!(all[2].1, "the gate is switched off: every stop goes through");
    }
}
