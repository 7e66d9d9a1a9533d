//! Takes the words of a ticked step, gives what it says to have been run: "Run `npm test`", "Commit and push". Pure.
//! A step that builds a command, a script or a workflow runs nothing, and doubt is a no.

use std::sync::LazyLock;

use super::kinds::{Extent, deeds_of};
use super::wording::{Needs, Wording, plain};
use crate::readings::{What, recall};
use crate::session::shell::{Check, Deed};

/// What a ticked step says to have been run: "Run `npm test`", "Commit and push".
pub fn steps_deeds(step: &str) -> Vec<Deed> {
    recall(What::StepDeeds, step, || deeds_in(step))
}

fn deeds_in(step: &str) -> Vec<Deed> {
    let words = plain(step);
    if NO_STEP.is_match(&words) {
        return Vec::new();
    }
    let mut found: Vec<Deed> = Vec::new();
    for (deed, wording) in STEPS.iter() {
        if !found.contains(deed) && wording.is_match(&words) {
            found.push(*deed);
        }
    }
    // "`npm run build` passes": a step that says how a check has to end.
    let states = deeds_of(step).into_iter().filter(|(_, extent)| *extent == Extent::Whole);
    for deed in states.map(|(deed, _)| deed).filter(|deed| matches!(deed, Deed::Check(_))) {
        if !found.contains(&deed) {
            found.push(deed);
        }
    }
    found
}

static NO_STEP: Wording = Wording::of(
    r"\b(?:fail|fails|failing|red|ci|workflow|workflows|hook|hooks|script|scripts|not|don't|if|optional|optionally|manual|manually|you|user|document|docs|add|write|create a script|implement|later|support|command)\b",
    [&[], &[]],
);

static STEPS: LazyLock<Vec<(Deed, Wording)>> = LazyLock::new(|| {
    let run = r"^(?:step \d+:? |\d+\. |final(?:ly)?,? |then,? )?(?:run|re run|rerun|execute|verify with|verify:|check with)(?: [\w./&,+]+){0,4}? ";
    let ends = r"(?:$|[.,;:)(]| and| pass| with| again| to (?:verify|confirm|check|make)| —| via| using|/| \+| &| locally| (?:of|in|for|across) (?:all|both|every|each|the (?:whole|entire|full)))";
    let sure = r"^(?:make sure|ensure|verify|check|confirm)(?: that)? (?:all |the |full |whole |entire |existing |unit )*";
    let good = r"(?: (?:still|all|suite|is|are))* (?:pass|passes|green|clean|succeeds?|works?)\b";
    let wordings = [
        (Deed::Check(Check::Tests), format!("{run}(?:tests?|test suites?|suite|specs|§tests){ends}")),
        (Deed::Check(Check::Tests), format!("{sure}(?:tests?|test suites?|suite|specs|§tests){good}")),
        (Deed::Check(Check::Build), format!("{sure}(?:build|§build){good}")),
        (Deed::Check(Check::Lint), format!("{sure}(?:lint|linter|linting|clippy|eslint|§lint){good}")),
        (Deed::Check(Check::Tests), "^§tests$".to_owned()),
        (Deed::Check(Check::Build), "^§build$".to_owned()),
        (Deed::Check(Check::Lint), "^§lint$".to_owned()),
        (Deed::Check(Check::Types), "^§types$".to_owned()),
        (Deed::Deploy, "^(?:run |execute )?§deploy(?:$|[.,;:]| on| to| in| against| and| with)".to_owned()),
        (Deed::Deploy, r"^(?:deploy|roll out|release)(?: (?:the|it|this|app|service|site|changes|new|version|everything))* to (?:staging|production|prod|the (?:server|cluster))\b".to_owned()),
        (Deed::Check(Check::Build), format!("{run}(?:build|§build){ends}")),
        (Deed::Check(Check::Lint), format!("{run}(?:lint|linter|linting|linters|clippy|eslint|§lint){ends}")),
        (Deed::Check(Check::Types), format!("{run}(?:typecheck|type checks?|type checker|tsc|§types){ends}")),
        (Deed::Commit, r"^(?:git )?commit(?: (?:the |all |your |my )*(?:changes|work|everything|it|all|fix|result|files))?(?:$|[.:;]|,? (?:and|&|\+) push| —| with (?:a )?(?:message|clear|descriptive))".to_owned()),
        (Deed::Push, r"^(?:(?:git )?commit(?: (?:the |all )*(?:changes|work|everything|it|all))? ?(?:,|and|&|\+) )?(?:git )?push(?: (?:the |all )*(?:changes|work|everything|it|all|branch|commits?|to (?:origin|remote|main|github|the remote|the branch)))?(?:$|[.:;]| and| —| to (?:origin|remote|main|github))".to_owned()),
        (Deed::PullRequest, r"^(?:(?:push|commit)[\w ,&+]{0,30}(?:and|,|&|\+) )?(?:open|create|submit|raise) (?:a |the |draft |new )*(?:pr|pull request|merge request)(?:$|[.:;]| for| with| against| to| on| —)".to_owned()),
    ];
    wordings.into_iter().map(|(deed, wording)| (deed, Wording::new(wording.into(), needs(deed)))).collect()
});

/// What every wording of a step that runs something has.
fn needs(deed: Deed) -> Needs {
    let stems: &[&str] = match deed {
        Deed::Check(Check::Tests) => &["test", "suite", "specs"],
        Deed::Check(Check::Build) => &["build"],
        Deed::Check(Check::Lint) => &["lint", "clippy"],
        Deed::Check(Check::Types) => &["type", "tsc"],
        Deed::Check(Check::Format) | Deed::Issue | Deed::Install => &[],
        Deed::Commit => &["commit"],
        Deed::Push => &["push"],
        Deed::PullRequest => &["pr", "request"],
        Deed::Deploy => &["deploy", "roll out", "release"],
    };
    [stems, &[]]
}

#[cfg(test)]
pub(super) fn all_wordings() -> impl Iterator<Item = &'static Wording> {
    STEPS.iter().map(|(_, wording)| wording).chain([&NO_STEP])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_name_a_command_to_run() {
        let tests = Deed::Check(Check::Tests);
        for (step, expected) in [
            ("Run `npm test`", vec![tests]),
            ("Run the test suite", vec![tests]),
            ("Run tests and fix what breaks", vec![tests]),
            ("Run full test suite with `cargo test`", vec![tests]),
            ("Run `cargo clippy`", vec![Deed::Check(Check::Lint)]),
            ("Commit", vec![Deed::Commit]),
            ("Commit the changes", vec![Deed::Commit]),
            ("Commit and push", vec![Deed::Commit, Deed::Push]),
            ("Open a PR", vec![Deed::PullRequest]),
            ("Push and open a PR", vec![Deed::Push, Deed::PullRequest]),
            ("`npm run build` passes", vec![Deed::Check(Check::Build)]),
            ("Run the tests of all three packages", vec![tests]),
            ("Make sure the tests pass", vec![tests]),
            ("Verify that `npm test` is green", vec![tests]),
            ("All tests pass", vec![tests]),
            ("`terraform apply` on staging", vec![Deed::Deploy]),
            ("Deploy to staging", vec![Deed::Deploy]),
            ("Tests", vec![]),
            ("Deploy keys for staging", vec![]),
            ("Check that the parser tests its input", vec![]),
            ("Add `npm test` to CI", vec![]),
            ("Document how to run the tests", vec![]),
            ("Run the test to verify it fails", vec![]),
            ("Implement the commit command", vec![]),
            ("Commit graph rendering", vec![]),
            ("Create `beta.txt`", vec![]),
            ("Write tests for the parser", vec![]),
            ("Push notifications", vec![]),
        ] {
            assert_eq!(steps_deeds(step), expected, "{step}");
        }
    }
}
