//! A: a promised file that is called missing.

use super::*;

#[test]
fn a_file_that_exists_refutes() {
    plan(TWO)
        .says("Done.")
        .on_disk("beta.txt", "x")
        .refutes(&missing("Create `beta.txt`", "beta.txt"), "the file exists");
}

#[test]
fn a_real_quote_with_an_invented_path_proves_nothing() {
    plan(TWO).says("Done.").doubts(
        &missing("Create `beta.txt`", "src/never_mentioned.rs"),
        "nobody promised a file of that name",
    );
}

#[test]
fn what_was_removed_on_purpose_is_scratch() {
    plan(TWO).says("Done.").ran("rm beta.txt", CommandEnd::Succeeded).doubts(
        &missing("Create `beta.txt`", "beta.txt"),
        "scratch: the session removed or moved it on purpose",
    );
}

#[test]
fn a_file_that_is_only_named_somewhere_is_not_promised() {
    let reason = "nobody promised a file of that name";
    let open = "- [ ] Create `alpha.txt`\n- [ ] Create `beta.txt`\n";
    plan(open).says("I created alpha.txt.").doubts(&missing("I created alpha.txt.", "beta.txt"), reason);
    plan("- [x] Create `alpha.txt`\n\nLater perhaps `gamma.txt`.\n")
        .says("All done.")
        .doubts(&missing("Create `alpha.txt`", "gamma.txt"), reason);
    plan("- [x] Create `alpha.txt`, do not create `beta.txt`\n")
        .says("All done.")
        .doubts(&missing("create `beta.txt`", "beta.txt"), reason);
    no_plan().says("Removed `legacy.js`.").doubts(&missing("Removed `legacy.js`.", "legacy.js"), reason);
    no_plan().says("Pushed the image `acme/web`.").doubts(&missing("Pushed the image", "acme/web"), reason);
}

#[test]
fn a_list_of_files_under_all_done_claims_them() {
    let list = "Done! Created:\n\n- `alpha.txt` – letters\n- `beta.txt` – more letters\n";
    no_plan().says(list).confirms(&missing("`beta.txt` – more letters", "beta.txt"), NO_FILE);
    let table = "| File | What |\n|---|---|\n| `beta.txt` | more |\n\nAll done!";
    no_plan().says(table).confirms(&missing("| `beta.txt` | more |", "beta.txt"), NO_FILE);
}

#[test]
fn a_file_that_lives_on_under_another_name_is_not_missing() {
    let case = plan(TWO).says("Done.");
    let proposed = missing("Create `beta.txt`", "beta.txt");
    let gone = Look::new("beta.txt", FileState::Missing { elsewhere: None });
    let look = Look { lives_on: Some("notes/final.txt".into()), ..gone };
    let found = verify(&Verdict { findings: vec![proposed] }, &[Some(look)], &case.evidence, Vec::new());
    assert_eq!(
        (found[0].status, found[0].verifier.as_str()),
        (Status::Refuted, "the file lives on as notes/final.txt")
    );
}

#[test]
fn a_file_that_the_session_wrote_under_a_like_name_may_stand_in_for_it() {
    for (promised, written) in
        [("src/user-profile.ts", "src/userProfile.ts"), ("tests/test_slug.py", "tests/slug_test.py")]
    {
        plan(&format!("- [x] Create `{promised}`\n"))
            .says("Done.")
            .on_disk(written, "x")
            .touched(written, 2)
            .doubts(
                &missing(&format!("Create `{promised}`"), promised),
                &format!("the session wrote {written}, perhaps in its place"),
            );
    }
    plan("- [x] Create `src/validate.rs` with `validate_row()`\n")
        .says("Done.")
        .on_disk("src/rows.rs", "pub fn validate_row() {}")
        .touched("src/rows.rs", 2)
        .doubts(
            &missing("Create `src/validate.rs` with `validate_row()`", "src/validate.rs"),
            "the session wrote `validate_row` in src/rows.rs, perhaps in its place",
        );
}

#[test]
fn what_was_cleaned_up_put_aside_or_merged_is_not_missing() {
    let beta = missing("Create `beta.txt`", "beta.txt");
    let scratch = "scratch: the session removed or moved it on purpose";
    let case = || plan(TWO).says("Done.");
    case().ran("npx rimraf beta.txt", CommandEnd::Succeeded).doubts(&beta, scratch);
    case().ran("find . -name '*.txt' -delete", CommandEnd::Succeeded).doubts(&beta, scratch);
    let merged = "scratch: the final message says that it was removed, renamed or merged";
    plan(TWO).says("Done. I merged beta.txt into alpha.txt.").doubts(&beta, merged);
    let aside = "the session wrote it; git may hold it on another branch or in a stash";
    case().touched("beta.txt", 1).ran("git switch main", CommandEnd::Succeeded).doubts(&beta, aside);
    case().ran("git switch main", CommandEnd::Succeeded).confirms(&beta, NO_FILE);
}

#[test]
fn what_a_build_makes_is_not_missing() {
    plan("- [x] Create `dist/app.js`\n").says("Done.").ran("npm run build", CommandEnd::Succeeded).doubts(
        &missing("Create `dist/app.js`", "dist/app.js"),
        "it is generated: what builds it can make it again",
    );
}

#[test]
fn a_file_of_another_worktree_is_not_missing_here() {
    let mut case = plan("- [x] Create `src/a.rs`\n")
        .says("Done.")
        .ran("git worktree add ../x", CommandEnd::Succeeded)
        .on_disk("/x/src/a.rs", "x")
        .touched("/x/src/a.rs", 2);
    if let Some(file) = case.evidence.files.iter_mut().find(|file| file.name.starts_with("/x")) {
        file.state = FileState::Outside;
    }
    case.doubts(
        &missing("Create `src/a.rs`", "src/a.rs"),
        "the session wrote /x/src/a.rs, perhaps in its place",
    );
}
