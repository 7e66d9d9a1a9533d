//! One thing said twice, and candidates of the facts.

use super::*;
use crate::verify::merge::NOT_TAKEN_UP;

#[test]
fn one_thing_said_twice_becomes_one_finding() {
    let case = plan(TWO).says("Done.");
    let proposals = vec![
        missing("Create `beta.txt`", "beta.txt"),
        proposal(Category::A, Problem::NoTrace, "create beta.txt", "beta.txt", ""),
    ];
    let facts = crate::facts::facts(&case.evidence, &crate::config::Config::default().audit).findings;
    assert_eq!(facts.iter().filter(|fact| fact.path.as_deref() == Some("beta.txt")).count(), 1);
    let looks: Vec<_> = proposals.iter().map(|proposal| case.look(proposal)).collect();
    let found = verify(&Verdict { findings: proposals }, &looks, &case.evidence, facts);
    let beta: Vec<_> = found.iter().filter(|finding| finding.path.as_deref() == Some("beta.txt")).collect();
    assert_eq!((beta.len(), beta[0].source), (1, Source::Both));
}

fn fact(category: Category, status: Status, quote: &str, path: Option<&str>, step: Option<usize>) -> Finding {
    Finding {
        category,
        status,
        source: Source::Facts,
        problem: Problem::NoTrace,
        quote: quote.into(),
        path: path.map(str::to_owned),
        why: "the facts' words".into(),
        settle: "settle it".into(),
        verifier: "the facts' reason".into(),
        step,
        evidence: Vec::new(),
    }
}

fn audited(case: &Case, proposals: Vec<Proposal>, facts: Vec<Finding>) -> Vec<Finding> {
    let looks: Vec<_> = proposals.iter().map(|proposal| case.look(proposal)).collect();
    verify(&Verdict { findings: proposals }, &looks, &case.evidence, facts)
}

const OPEN: &str = "- [x] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";

#[test]
fn a_candidate_that_the_auditor_takes_up_and_the_rules_confirm_is_confirmed() {
    let case = plan(OPEN).says("All done.").on_disk("src/extra.rs", "x").touched("src/extra.rs", 1);
    let candidate = fact(Category::B, Status::CannotVerify, "", Some("src/extra.rs"), None);
    let named = proposal(Category::B, Problem::NotInPlan, "", "src/extra.rs", "");
    let found = audited(&case, vec![named], vec![candidate]);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].status, found[0].source), (Status::Confirmed, Source::Both));
    assert_eq!(found[0].why, "the facts' words");
    assert_eq!(found[0].evidence, ["src/extra.rs: on disk, 1 bytes, changed in this session"]);
}

#[test]
fn a_candidate_that_the_auditor_leaves_out_says_so() {
    let case = plan(OPEN).says("All done.");
    let candidate = fact(Category::C, Status::CannotVerify, "Create `beta.txt`", None, Some(2));
    let proven = fact(Category::A, Status::Confirmed, "Create `alpha.txt`", Some("alpha.txt"), Some(1));
    let found = audited(&case, Vec::new(), vec![candidate, proven.clone()]);
    assert_eq!((found[0].status, found[0].verifier.as_str()), (Status::CannotVerify, NOT_TAKEN_UP));
    assert_eq!(found[1], proven);
}

#[test]
fn a_candidate_falls_with_the_auditors_word_and_a_proven_fact_does_not() {
    let case =
        plan(OPEN).says("Step 1 is in. Shall I go on?").on_disk("alpha.txt", "x").touched("alpha.txt", 1);
    let left = proposal(Category::C, Problem::NoTrace, "Create `beta.txt`", "", "");
    let candidate = fact(Category::C, Status::CannotVerify, "Create `beta.txt`", Some("beta.txt"), Some(2));
    let found = audited(&case, vec![left], vec![candidate]);
    assert_eq!((found.len(), found[0].status, found[0].source), (1, Status::Refuted, Source::Both));

    let mut proven = fact(Category::A, Status::Confirmed, "Create `alpha.txt`", Some("alpha.txt"), Some(1));
    proven.problem = Problem::MissingFile;
    let found = audited(&case, vec![missing("Create `alpha.txt`", "alpha.txt")], vec![proven]);
    assert_eq!((found.len(), found[0].status, found[0].source), (1, Status::Confirmed, Source::Both));
}

#[test]
fn a_step_that_is_claimed_and_missing_is_not_also_abandoned() {
    let case = plan(OPEN).says("All steps are done.");
    let left = proposal(Category::C, Problem::NoTrace, "Create `beta.txt`", "", "");
    for proposals in [
        vec![left.clone(), missing("Create `beta.txt`", "beta.txt")],
        vec![missing("create beta.txt", ""), left.clone()],
    ] {
        let found = audited(&case, proposals, Vec::new());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].category, found[0].status, found[0].step),
            (Category::A, Status::Confirmed, Some(2))
        );
    }
}

#[test]
fn the_better_of_two_words_on_one_thing_counts_and_a_refuted_one_stands_apart() {
    let case = plan("- [x] Add `--json` to `cli.rs`\n").says("Done.").on_disk("cli.rs", "fn main() {}");
    let quote = "Add `--json` to `cli.rs`";
    let found = audited(
        &case,
        vec![
            missing("something that nobody wrote", "cli.rs"),
            missing(quote, "cli.rs"),
            proposal(Category::A, Problem::MissingContent, quote, "cli.rs", "--json"),
        ],
        Vec::new(),
    );
    let statuses: Vec<_> = found.iter().map(|finding| finding.status).collect();
    assert_eq!(statuses, [Status::Confirmed, Status::Refuted]);
}

#[test]
fn two_claims_on_one_failed_command_are_one() {
    let failed = |quote: &str| proposal(Category::A, Problem::FailedCommand, quote, "", "cargo test");
    let case = plan("- [x] Run `cargo test`\n")
        .says("All tests pass.")
        .ran("cargo test", CommandEnd::Failed(Some(101)));
    let found = audited(&case, vec![failed("Run `cargo test`"), failed("All tests pass.")], Vec::new());
    assert_eq!((found.len(), found[0].status), (1, Status::Confirmed));
    assert_eq!(found[0].evidence, ["`cargo test`, run last: exit code 101"]);
}

#[test]
fn a_word_on_one_command_says_nothing_of_another() {
    let sentence = "The types are in and the project builds cleanly.";
    let case = no_plan()
        .says(sentence)
        .ran("npm run build", CommandEnd::Failed(Some(2)))
        .ran("sed -i s/a/b/ x", CommandEnd::Succeeded);
    let facts = crate::facts::facts(&case.evidence, &crate::config::Config::default().audit).findings;
    assert_eq!(facts.len(), 1);
    let failed = |needle: &str| proposal(Category::A, Problem::FailedCommand, sentence, "", needle);
    let found = audited(&case, vec![failed("sed -i s/a/b/ x"), failed("npm run build")], facts);
    let ends: Vec<_> = found.iter().map(|finding| (finding.status, finding.source)).collect();
    assert_eq!(ends, [(Status::Confirmed, Source::Both), (Status::Refuted, Source::Auditor)]);
}

#[test]
fn judgement_takes_two() {
    let lone = |category, source| {
        let mut found = fact(category, Status::Confirmed, "Add a cache", None, None);
        found.source = source;
        let mut findings = vec![found];
        crate::verify::merge::without_lone_words(&mut findings);
        findings.pop().map(|finding| finding.status)
    };
    assert_eq!(lone(Category::D, Source::Auditor), Some(Status::CannotVerify));
    assert_eq!(lone(Category::D, Source::Both), Some(Status::Confirmed));
    // What the disk shows needs no hint.
    assert_eq!(lone(Category::A, Source::Auditor), Some(Status::Confirmed));
}
