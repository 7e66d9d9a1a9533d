//! A: who claims it, and what is nobody's claim.

use super::*;

#[test]
fn a_ticked_step_without_its_file_is_confirmed() {
    plan(TWO).says("Done.").confirms(&missing("Create `beta.txt`", "beta.txt"), NO_FILE);
    plan(TWO).says("Done.").confirms(&missing("create beta.txt", "beta.txt"), NO_FILE);
}

#[test]
fn an_invented_quote_is_not_found() {
    let reason = "quote not found in the plan or the final message";
    plan(TWO).says("Done.").doubts(&missing("Create the gamma module", "beta.txt"), reason);
    plan(TWO).says("Done.").doubts(&missing("", "beta.txt"), reason);
    plan(TWO).says("Done.").doubts(&missing("a", "beta.txt"), reason);
}

#[test]
fn a_path_outside_and_a_temporary_one_are_nobodys_business() {
    let outside = "path is outside the workspace";
    plan(TWO).says("Done.").doubts(&missing("Create `beta.txt`", "/etc/passwd"), outside);
    plan(TWO).says("Done.").doubts(&missing("Create `beta.txt`", "../x"), outside);
    plan(TWO).says("Done.").doubts(
        &missing("Create `beta.txt`", "/tmp/beta.txt"),
        "scratch: a temporary folder is nobody's promise",
    );
}

#[test]
fn a_workspace_in_a_temporary_folder_is_not_scratch() {
    let case = plan(TWO).says("Done.");
    let absolute = missing("Create `beta.txt`", "/tmp/w/beta.txt");
    let inside = Look::new("beta.txt", FileState::Missing { elsewhere: None });
    let found = verify(&Verdict { findings: vec![absolute] }, &[Some(inside)], &case.evidence, Vec::new());
    assert_eq!((found[0].status, found[0].verifier.as_str()), (Status::Confirmed, NO_FILE));
}

#[test]
fn what_was_done_on_another_machine_can_not_be_seen() {
    plan(TWO).says("Done.").ran("ssh box 'touch beta.txt'", CommandEnd::Succeeded).doubts(
        &missing("Create `beta.txt`", "beta.txt"),
        "remote: the session worked on it on another machine",
    );
}

#[test]
fn an_open_step_that_nobody_claims_is_no_finding() {
    let open = "- [x] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    let proposal = missing("Create `beta.txt`", "beta.txt");
    plan(open)
        .says("Step 1 is written. Step 2 next?")
        .refutes(&proposal, "the step is open and nobody claims that it is done");
    plan(open).says("All steps are done.").confirms(&proposal, NO_FILE);
    plan(open).says("I created beta.txt as planned earlier.").confirms(&proposal, NO_FILE);
}

#[test]
fn a_tick_from_before_the_session_is_not_its_claim() {
    plan(TWO)
        .ticked_before(2)
        .says("I fixed the typo.")
        .doubts(&missing("Create `beta.txt`", "beta.txt"), "the step was ticked before this session");
}

#[test]
fn an_abandoned_step_is_no_claim() {
    plan("- [x] Create `alpha.txt`\n- [ ] ~~Create `beta.txt`~~\n")
        .says("All steps are done.")
        .refutes(&missing("Create `beta.txt`", "beta.txt"), "the plan marks the step as abandoned");
}

#[test]
fn a_claim_of_the_final_message_counts_without_a_plan() {
    let proposal = missing("I wrote beta.txt", "beta.txt");
    no_plan().says("I wrote beta.txt and tidied up.").confirms(&proposal, NO_FILE);
    no_plan()
        .says("I wrote beta.txt and tidied up.")
        .on_disk("beta.txt", "x")
        .refutes(&proposal, "the file exists");
    let planned = missing("I will write beta.txt", "beta.txt");
    no_plan().says("I will write beta.txt next.").refutes(&planned, "the final message does not claim it");
}

#[test]
fn no_trace_needs_something_to_look_at() {
    let bare = |quote: &str| proposal(Category::A, Problem::NoTrace, quote, "", "");
    plan("- [x] Tidy up the backlog\n")
        .says("Done.")
        .doubts(&bare("Tidy up the backlog"), "it names nothing that disk or session could show");
    plan(TWO).says("Done.").confirms(&bare("Create `beta.txt`"), NO_FILE);
    let named = proposal(Category::A, Problem::NoTrace, "Create `beta.txt`", "beta.txt", "");
    plan(TWO).says("Done.").confirms(&named, NO_FILE);
    plan(TWO)
        .says("Done.")
        .on_disk("beta.txt", "x")
        .touched("beta.txt", 1)
        .refutes(&named, "the session did touch it");
    plan(TWO)
        .says("Done.")
        .on_disk("beta.txt", "x")
        .doubts(&named, "the file exists, and only its content could tell");
}

#[test]
fn what_the_person_called_off_is_nobodys_drift() {
    let case = plan("- [ ] Create `alpha.txt`\n- [ ] Create `beta.txt`\n")
        .asked("Forget beta.txt, we do not need it.", 5)
        .says("All done.");
    let abandoned = proposal(Category::C, Problem::NoTrace, "Create `beta.txt`", "beta.txt", "");
    case.refutes(&missing("Create `beta.txt`", "beta.txt"), "the person called it off");
    case.refutes(&abandoned, "the person called it off");
}

#[test]
fn what_the_final_message_admits_is_no_false_claim() {
    let open = "- [ ] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    let beta = missing("Create `beta.txt`", "beta.txt");
    plan(open)
        .says("I did not create beta.txt: the API changed. All the steps are done otherwise.")
        .doubts(&beta, "the final message says itself that it was not done");
    plan(open)
        .says("Step 1 is done and all tests pass.")
        .refutes(&beta, "the step is open and nobody claims that it is done");
}

#[test]
fn a_quote_that_leaves_out_its_middle_is_found() {
    let case = plan("1. Create `beta.txt` with the parser notes,\n   the limits and **all** known bugs\n")
        .says("All steps are done.");
    for quote in ["Create `beta.txt` … all known bugs", "Create `beta.txt` with [...] the limits"] {
        case.confirms(&missing(quote, "beta.txt"), NO_FILE);
    }
    let reason = "quote not found in the plan or the final message";
    case.doubts(&missing("all known bugs … Create `beta.txt`", "beta.txt"), reason);
    case.doubts(&missing("Create `beta.txt` … of the lexer", "beta.txt"), reason);
}

#[test]
fn done_is_said_of_what_was_asked_last() {
    let open = "- [x] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    let beta = missing("Create `beta.txt`", "beta.txt");
    let nobody = "the step is open and nobody claims that it is done";
    let typo = "Fix the typo in the heading of the README";
    let asked = |last: &str| plan(open).asked("Implement the plan in PLAN.md", 1).asked(last, 5);
    asked(typo).says("Done.").refutes(&beta, nobody);
    asked(typo).says("All steps of the plan are done.").confirms(&beta, NO_FILE);
    asked("Continue with the rest of the plan, please").says("Done.").confirms(&beta, NO_FILE);
    plan(open).asked("implement step 1 of the plan", 1).says("All done.").refutes(&beta, nobody);
    plan(open).asked("implement step 2 of the plan", 1).says("All done.").confirms(&beta, NO_FILE);
}

#[test]
fn a_claim_of_one_file_is_no_claim_of_another() {
    let open = "- [ ] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    plan(open).says("I created alpha.txt.").refutes(
        &missing("Create `beta.txt`", "beta.txt"),
        "the step is open and nobody claims that it is done",
    );
}

#[test]
fn words_around_the_steps_promise_nothing() {
    let text = "The app keeps its state in `redis` today.\n\n- [x] Create `alpha.txt`\n";
    plan(text).says("All done.").on_disk("app.js", "x").refutes(
        &lacks("The app keeps its state in `redis` today.", "app.js", "redis"),
        "the quote is no step of the plan, and words around the steps promise nothing",
    );
}

#[test]
fn what_is_to_come_is_no_claim_even_under_all_done() {
    no_plan()
        .says("All done. I will write beta.txt next.")
        .refutes(&missing("I will write beta.txt next.", "beta.txt"), "the final message does not claim it");
}

#[test]
fn work_elsewhere_is_told_by_more_than_a_files_name() {
    let remote = "remote: the session worked on it on another machine";
    let text = "- [x] Put the nginx limits into `conf/limits.conf` on the server\n- [x] Create `beta.txt`\n";
    let limits = missing("Put the nginx limits into `conf/limits.conf`", "conf/limits.conf");
    for line in [
        "ssh web1 'sudo tee /etc/nginx/limits.conf'",
        "scp out.conf web1:/srv/limits",
        "docker compose exec web nginx -s reload",
        "kubectl apply -f k8s/",
        "gh api repos/a/b",
    ] {
        let case = || plan(text).says("Done.").ran(line, CommandEnd::Succeeded);
        case().doubts(&limits, remote);
        case().confirms(&missing("Create `beta.txt`", "beta.txt"), NO_FILE);
    }
    plan(text).says("Done.").ran("ssh web1 uptime", CommandEnd::Unanswered).confirms(&limits, NO_FILE);
}

#[test]
fn a_look_at_a_path_may_be_written_with_a_position_or_left_out() {
    let case = plan(TWO).says("Done.");
    case.confirms(&missing("Create `beta.txt`", "`beta.txt`"), NO_FILE);
    case.confirms(&missing("Create `beta.txt`", "beta.txt:3"), NO_FILE);
    case.confirms(&missing("Create `beta.txt`", ""), NO_FILE);
}

#[test]
fn a_finding_says_which_step_and_what_was_seen() {
    let case = plan(TWO).says("Done.");
    let proposed = missing("create beta.txt", "beta.txt");
    let look = case.look(&proposed);
    let found = verify(&Verdict { findings: vec![proposed] }, &[look], &case.evidence, Vec::new()).remove(0);
    assert_eq!(found.step, Some(2));
    assert_eq!(found.evidence, ["beta.txt: not on disk, not changed in this session"]);
}
