//! Evidence from real folders, with and without git: which files enter, what became of each, and
//! what is left out.

use punchlist::evidence::Entered;
use punchlist::evidence::Evidence;
use punchlist::evidence::FileCache;
use punchlist::evidence::FileChange;
use punchlist::evidence::FileEvidence;
use punchlist::evidence::JudgedUntil;
use punchlist::evidence::LeftOut;
use punchlist::evidence::Limit;
use punchlist::evidence::NamedIn;
use punchlist::evidence::gather::*;
use punchlist::evidence::sections::files_text;
use punchlist::plan::Plan;
use punchlist::session::EditTool;
use punchlist::session::Original;
use punchlist::session::Outcome;
use punchlist::session::Session;
use punchlist::session::Touch;
use punchlist::testing::{self, Folder, ask, command, plan, plan_from, todo};
use punchlist::workspace::FileState;

/// Before, in and after the session, which began at ten.
const BEFORE: &str = "2026-01-01T09:00:00Z";
const START: &str = "2026-01-01T10:00:00Z";
const DURING: &str = "2026-01-01T11:00:00Z";
const PLENTY: Scope = Scope { file_bytes: 100_000, judged: None };

/// A session that began at [`START`].
fn session() -> Session {
    Session { started: Some(START.into()), ..Session::default() }
}

fn said(message: &str) -> Session {
    Session { final_message: Some(message.into()), ..session() }
}

fn touch(path: &str, original: Original) -> Touch {
    Touch { path: path.into(), original, ..testing::touch(path, 3) }
}

fn gathered(folder: &Folder, session: Session, plan: Option<Plan>) -> Evidence {
    gather(session, plan, &folder.workspace(), PLENTY, &mut FileCache::default())
}

/// A repository with these files, committed before the session.
fn repository_of(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(files);
    folder.git(BEFORE, &["init", "-q"]);
    folder.git(BEFORE, &["commit", "-q", "--allow-empty", "-m", "First"]);
    if !files.is_empty() {
        folder.commit(BEFORE, "Second");
    }
    for (name, _) in files {
        folder.age(name, BEFORE);
    }
    folder
}

/// The names of what entered, with what became of each.
fn changes(evidence: &Evidence) -> Vec<(&str, FileChange)> {
    let mut changes: Vec<_> = evidence.files.iter().map(|file| (file.name.as_str(), file.change)).collect();
    changes.sort_unstable_by_key(|(name, _)| *name);
    changes
}

fn one<'a>(evidence: &'a Evidence, name: &str) -> &'a FileEvidence {
    evidence.file(name).unwrap_or_else(|| panic!("{name} is not among {:?}", changes(evidence)))
}

#[test]
fn git_tells_what_the_shell_changed() {
    let folder =
        repository_of(&[("a.rs", "one\n"), ("b.rs", "two\n"), ("same.rs", "three\n"), ("c.rs", "x\n")]);
    folder.write("a.rs", "one\nmore\n");
    folder.write("new/d.rs", "four\n");
    std::fs::remove_file(folder.root().join("b.rs")).expect("removed");
    let evidence = gathered(&folder, session(), None);
    assert_eq!(
        changes(&evidence),
        [("a.rs", FileChange::Modified), ("b.rs", FileChange::Deleted), ("new/d.rs", FileChange::Created)]
    );
    let a = one(&evidence, "a.rs");
    assert_eq!((&a.entered, a.text.as_str()), (&Entered::Whole, "one\nmore\n"), "the diff would be longer");
    assert_eq!(one(&evidence, "b.rs").entered, Entered::LeftOut(LeftOut::Missing));
}

#[test]
fn without_git_times_tell_what_the_shell_changed() {
    let folder = Folder::new(&[("a.rs", "one\n"), ("old.rs", "two\n"), ("node_modules/x.js", "3\n")]);
    folder.age("old.rs", BEFORE);
    let evidence = gathered(&folder, session(), None);
    assert_eq!(evidence.repository, None);
    assert_eq!(changes(&evidence), [("a.rs", FileChange::Modified)]);
    let unknown = gathered(&folder, Session::default(), None);
    assert_eq!(changes(&unknown), [], "a session whose start is not known");
}

#[test]
fn what_was_changed_before_the_session_is_not_the_sessions() {
    let folder = repository_of(&[("a.rs", "one\n")]);
    folder.write("a.rs", "one, not committed\n");
    folder.age("a.rs", BEFORE);
    folder.write("notes.txt", "from yesterday\n");
    folder.age("notes.txt", BEFORE);
    let evidence = gathered(&folder, session(), None);
    assert_eq!(changes(&evidence), []);
    // Where somebody names it, it is told as it is.
    let evidence = gathered(&folder, said("See `notes.txt`."), None);
    assert_eq!(changes(&evidence), [("notes.txt", FileChange::Unchanged)]);
    assert_eq!(one(&evidence, "notes.txt").text, "from yesterday\n");
}

#[test]
fn the_sessions_own_commit_does_not_become_before() {
    let folder = repository_of(&[("a.rs", &"line\n".repeat(1_000))]);
    folder.write("a.rs", &format!("{}added\n", "line\n".repeat(1_000)));
    folder.write("b.rs", "new\n");
    folder.commit(DURING, "Do it");
    let mut session = session();
    session.touches.push(touch("a.rs", Original::Unknown));
    let evidence = gathered(&folder, session, None);
    assert_eq!(changes(&evidence), [("a.rs", FileChange::Modified), ("b.rs", FileChange::Created)]);
    let a = one(&evidence, "a.rs");
    assert_eq!(a.entered, Entered::Diff);
    assert!(a.text.ends_with("+added\n"), "{}", a.text);
    let git = evidence.repository.expect("a repository");
    let subjects: Vec<_> = git.commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!((subjects, git.committed().contains("b.rs")), (vec!["Do it"], true));
}

#[test]
fn an_edit_that_is_gone_leaves_the_file_as_it_was() {
    let folder = Folder::new(&[("a.rs", "one\n")]);
    let mut session = Session::default();
    session.touches.push(touch("a.rs", Original::Text("one\n".into())));
    assert_eq!(changes(&gathered(&folder, session.clone(), None)), [("a.rs", FileChange::Unchanged)]);
    folder.write("a.rs", "two\n");
    assert_eq!(changes(&gathered(&folder, session.clone(), None)), [("a.rs", FileChange::Modified)]);
    std::fs::remove_file(folder.root().join("a.rs")).expect("removed");
    assert_eq!(changes(&gathered(&folder, session, None)), [("a.rs", FileChange::Deleted)]);
}

#[test]
fn an_edit_that_was_reverted_through_git_leaves_the_file_as_it_was() {
    let folder = repository_of(&[("a.rs", "one\n")]);
    let mut session = session();
    session.touches.push(touch("a.rs", Original::Unknown));
    let evidence = gathered(&folder, session, None);
    assert_eq!(changes(&evidence), [("a.rs", FileChange::Unchanged)]);
}

#[test]
fn a_file_that_the_session_wrote_and_that_was_not_there_is_new() {
    let folder = Folder::new(&[("a.rs", "one\n")]);
    let mut session = Session::default();
    session.touches.push(Touch { tool: EditTool::Write, ..touch("a.rs", Original::Absent) });
    assert_eq!(changes(&gathered(&folder, session, None)), [("a.rs", FileChange::Created)]);
}

#[test]
fn touches_are_noted_in_their_order_and_counted_in_a_row() {
    let folder = Folder::new(&[("a.rs", "one\n")]);
    let mut session = Session::default();
    let write = |at| Touch { tool: EditTool::Write, at, ..touch("a.rs", Original::Absent) };
    let failed = Touch { outcome: Outcome::Failed("no such text".into()), ..write(9) };
    let absolute = folder.root().join("a.rs").display().to_string();
    session.touches =
        vec![write(1), touch("./a.rs", Original::Unknown), touch(&absolute, Original::Unknown), failed];
    let evidence = gathered(&folder, session, None);
    let notes: Vec<_> =
        evidence.files[0].touches.iter().map(|note| (note.tool.as_str(), note.times)).collect();
    assert_eq!((evidence.files.len(), notes), (1, vec![("Write", 1), ("Edit", 2), ("Write", 1)]));
}

#[test]
fn files_that_are_only_named_are_shown_where_they_are_small() {
    let long = "x\n".repeat(MAX_OF_UNCHANGED);
    let folder = repository_of(&[("docs/small.md", "text\n"), ("docs/long.md", &long)]);
    let mut session = said("I read docs/small.md and docs/long.md.");
    session.asks.push(ask("Look at docs/none.md", 1));
    session.todos.push(todo("Mend `docs/small.md`", "pending"));
    let plan = plan("- [x] Read `docs/small.md`\n- [ ] Write `src/later.rs`\n");
    let evidence = gathered(&folder, session, Some(plan));
    let small = one(&evidence, "docs/small.md");
    assert_eq!((small.change, &small.entered), (FileChange::Unchanged, &Entered::Whole));
    assert_eq!(small.named_in, [NamedIn::Step(1), NamedIn::Message, NamedIn::Task]);
    assert_eq!(small.steps().collect::<Vec<_>>(), [1]);
    let long = one(&evidence, "docs/long.md");
    assert_eq!((long.change, &long.entered), (FileChange::Unchanged, &Entered::LeftOut(LeftOut::Unchanged)));
    let none = one(&evidence, "docs/none.md");
    assert_eq!(
        (&none.state, &none.named_in[..]),
        (&FileState::Missing { elsewhere: None }, &[NamedIn::Ask][..])
    );
    assert_eq!(one(&evidence, "src/later.rs").named_in, [NamedIn::Step(2)]);
}

#[test]
fn what_is_claimed_comes_first_and_what_has_no_room_is_still_named() {
    let text = "word\n".repeat(300);
    let names: Vec<String> = (0..8).map(|number| format!("f{number}.txt")).collect();
    let folder = repository_of(&[]);
    for name in &names {
        folder.write(name, &text);
    }
    let scope = Scope { file_bytes: 8 * 180 + 3_000, judged: None };
    let workspace = folder.workspace();
    let evidence =
        gather(said("I wrote `f6.txt`."), None, &workspace, scope.clone(), &mut FileCache::default());
    assert_eq!(evidence.files.len(), 8);
    assert_eq!((evidence.files[0].name.as_str(), &evidence.files[0].entered), ("f6.txt", &Entered::Whole));
    let left_out =
        evidence.files.iter().filter(|file| file.entered == Entered::LeftOut(LeftOut::NoRoom)).count();
    assert!(left_out >= 5, "{left_out}");
    let shown: usize = evidence.files.iter().map(|file| file.text.len()).sum();
    assert!(shown <= 8 * 180 + 3_000, "{shown}");
}

#[test]
fn of_a_small_file_all_is_shown_and_what_changed_of_a_larger_one_what_changed() {
    let (small, large) = ("line\n".repeat(100), "line\n".repeat(SMALL));
    let folder = repository_of(&[("small.txt", &small), ("large.txt", &large)]);
    folder.write("small.txt", &format!("{small}added\n"));
    folder.write("large.txt", &format!("{large}added\n"));
    let evidence = gathered(&folder, session(), None);
    let small = one(&evidence, "small.txt");
    assert_eq!(small.entered, Entered::Whole);
    assert!(small.text.contains("line\nadded\n[what changed in it:]\n@@ -98,3 +98,4 @@\n"), "{}", small.text);
    let large = one(&evidence, "large.txt");
    assert_eq!(large.entered, Entered::Diff);
    assert!(large.text.starts_with("@@ ") && large.text.ends_with("+added\n"), "{}", large.text);
}

#[test]
fn what_an_ask_names_comes_before_what_nobody_names() {
    let folder = repository_of(&[]);
    for name in ["a.gen.txt", "b.gen.txt", "wanted.txt", "edited.txt"] {
        folder.write(name, "x\n");
    }
    let mut session = session();
    session.asks.push(ask("Write `wanted.txt`.", 1));
    session.touches.push(touch("edited.txt", Original::Absent));
    let evidence = gathered(&folder, session, None);
    let names: Vec<_> = evidence.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["edited.txt", "wanted.txt", "a.gen.txt", "b.gen.txt"]);
}

#[test]
fn a_long_file_is_cut_in_its_middle_and_says_so() {
    let folder = repository_of(&[]);
    folder.write("long.txt", &format!("START\n{}END\n", "word\n".repeat(5_000)));
    let evidence = gathered(&folder, session(), None);
    let file = one(&evidence, "long.txt");
    assert!(matches!(file.entered, Entered::Cut(missing) if missing > 10_000), "{:?}", file.entered);
    assert!(file.text.starts_with("START\n") && file.text.ends_with("END\n"), "{}", file.text);
    assert!(file.text.contains("bytes are not shown …]") && file.text.len() <= MAX_OF_OTHER + 60);
}

#[test]
fn generated_secret_and_binary_files_are_named_and_not_shown() {
    let folder = repository_of(&[]);
    folder.write("Cargo.lock", "[[package]]\n");
    folder.write(".env", "KEY=1\n");
    folder.write("logo.png", "a\0b");
    let evidence = gathered(&folder, session(), None);
    for (name, why) in
        [("Cargo.lock", LeftOut::Generated), (".env", LeftOut::Secret), ("logo.png", LeftOut::Binary)]
    {
        let file = one(&evidence, name);
        assert_eq!((&file.entered, file.text.as_str()), (&Entered::LeftOut(why), ""), "{name}");
        assert_eq!(file.change, FileChange::Created, "{name}");
    }
}

#[test]
fn secrets_in_what_is_shown_are_masked_and_counted() {
    let folder = repository_of(&[]);
    let token = format!("{}_{}", "ghp", "0123456789abcdefghijABCDEFGHIJ012345");
    folder.write("client.rs", &format!("const TOKEN: &str = \"{token}\";\n"));
    let evidence = gathered(&folder, session(), None);
    let file = one(&evidence, "client.rs");
    assert!(!file.text.contains(&token) && file.masked == 1, "{}", file.text);
}

#[test]
fn the_plan_is_shown_as_the_plan_alone() {
    let folder = repository_of(&[]);
    folder.write("PLAN.md", "- [x] Create `a.rs`\n");
    folder.write("a.rs", "x\n");
    let evidence = gathered(&folder, session(), Some(plan("- [x] Create `a.rs`\n")));
    assert_eq!(changes(&evidence), [("a.rs", FileChange::Created)]);
}

#[test]
fn a_name_that_is_no_path_gets_no_entry() {
    let folder = repository_of(&[("src/queue.py", "x\n")]);
    let message = "Queue.put now locks, e.g. in v1.2, as origin/main and and/or has it; Node.js and asyncio.run too. \
                   `src/queue.py` and `src/lock.py` are done.";
    let evidence = gathered(&folder, said(message), None);
    let names: Vec<_> = changes(&evidence).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["src/lock.py", "src/queue.py"]);
}

#[test]
fn a_file_that_is_not_where_it_was_said_to_be_is_found_elsewhere() {
    let folder = repository_of(&[("packages/api/src/a.ts", "x\n")]);
    let evidence = gathered(&folder, said("`src/a.ts` is mended."), None);
    let there = FileState::Missing { elsewhere: Some("packages/api/src/a.ts".into()) };
    assert_eq!(one(&evidence, "src/a.ts").state, there);
}

#[test]
fn what_is_outside_is_named_only_where_the_session_touched_it() {
    let folder = repository_of(&[]);
    let mut session = said("See `/etc/hosts` and `/etc/passwd`.");
    session.touches.push(touch("/etc/hosts", Original::Unknown));
    let evidence = gathered(&folder, session, None);
    let hosts = one(&evidence, "/etc/hosts");
    assert_eq!((&hosts.state, &hosts.entered), (&FileState::Outside, &Entered::LeftOut(LeftOut::Outside)));
    assert_eq!(evidence.files.len(), 1);
}

#[test]
fn an_install_that_changes_thousands_of_files_is_bounded() {
    let folder = repository_of(&[]);
    for number in 0..MAX_OTHERS + 30 {
        folder.write(&format!("gen/f{number}.txt"), "x\n");
    }
    folder.write("src/mine.rs", "x\n");
    let mut session = session();
    session.touches.push(touch("src/mine.rs", Original::Absent));
    session.commands.push(command("make gen", 4));
    let evidence = gathered(&folder, session, None);
    assert_eq!((evidence.files.len(), evidence.unlisted), (MAX_OTHERS + 1, 30));
    assert_eq!(one(&evidence, "src/mine.rs").change, FileChange::Created);
}

#[test]
fn what_was_judged_before_and_has_not_changed_is_not_shown_again() {
    let folder = repository_of(&[]);
    folder.write("old.rs", "x\n");
    folder.write("new.rs", "y\n");
    let mut session = session();
    session.touches = vec![touch("old.rs", Original::Absent), touch("new.rs", Original::Absent)];
    let then = gathered(&folder, session.clone(), None).changed_files();
    folder.write("new.rs", "z\n");
    let scope = Scope { judged: Some(JudgedUntil { at: 3, files: then }), ..PLENTY };
    let evidence = gather(session, None, &folder.workspace(), scope, &mut FileCache::default());
    assert_eq!(one(&evidence, "old.rs").entered, Entered::LeftOut(LeftOut::JudgedBefore));
    assert_eq!(one(&evidence, "new.rs").entered, Entered::Whole);
}

#[test]
fn what_is_cached_is_what_would_be_read() {
    let folder = repository_of(&[("a.rs", "one\n")]);
    folder.write("a.rs", "two\n");
    folder.age("a.rs", DURING);
    let now = 4_000_000_000_000_000_000;
    let mut cache = FileCache::decode(&[], now);
    let first = gather(session(), None, &folder.workspace(), PLENTY, &mut cache);
    let mut again = FileCache::decode(&cache.encode().expect("a new entry"), now);
    let second = gather(session(), None, &folder.workspace(), PLENTY, &mut again);
    assert_eq!(first.files, second.files);
    assert_eq!(again.encode(), None, "nothing was read again");
}

#[test]
fn each_path_is_named_by_whoever_names_it_the_plan_first() {
    let mut session = said("`a.rs` is done.");
    session.todos.push(todo("Mend `a.rs`", "completed"));
    session.asks.push(ask("Make src/b.rs", 1));
    let plan = plan("- [x] Create `a.rs`\n- [ ] Rest\n- [ ] Mend `a.rs`\n");
    assert_eq!(
        named_paths(&session, Some(&plan)),
        [
            ("a.rs".into(), NamedIn::Step(1), true),
            ("a.rs".into(), NamedIn::Step(3), true),
            ("a.rs".into(), NamedIn::Message, true),
            ("a.rs".into(), NamedIn::Task, true),
            ("src/b.rs".into(), NamedIn::Ask, true),
        ]
    );
}

#[test]
fn a_step_that_was_taken_out_still_names_its_files_and_a_listing_is_bounded() {
    let plan = plan_from("- [ ] Create `a.rs`\n- [ ] Create `b.rs`\n", "- [x] Create `a.rs`\n");
    let named = named_paths(&said("Done."), Some(&plan));
    assert_eq!(named, [("a.rs".into(), NamedIn::Step(1), true), ("b.rs".into(), NamedIn::Step(2), true)]);
    let listing: String = (0..200).map(|number| format!("src/f{number}.rs\n")).collect();
    assert_eq!(named_paths(&said(&listing), None).len(), MAX_IN_ONE_TEXT);
}

/// A plan of so many steps, each ticked and with a file of its own that is not there.
fn long_plan(steps: usize) -> Plan {
    plan(&(0..steps).map(|number| format!("- [x] Create `src/f{number}.rs`\n")).collect::<String>())
}

#[test]
fn ten_thousand_names_are_bounded_and_that_is_told() {
    let folder = repository_of(&[("src/mine.rs", "own\n")]);
    folder.write("src/mine.rs", "own work\n");
    let mut session = said("Done.");
    session.touches.push(touch("src/mine.rs", Original::Unknown));
    let scope = Scope { file_bytes: 60_000, judged: None };
    let mut long = long_plan(4_000);
    long.steps.insert(0, plan("- [x] Mend `src/mine.rs`\n").steps.remove(0));
    let evidence = gather(session, Some(long), &folder.workspace(), scope, &mut FileCache::default());
    assert_eq!(evidence.files.len(), MAX_NAMED);
    let beyond = 4_001 - MAX_NAMED;
    assert_eq!(evidence.limits, [Limit::Names(beyond)]);
    assert_eq!(one(&evidence, "src/mine.rs").entered, Entered::Whole, "names leave room for content");
    let shown = files_text(&evidence, "FENCE", 60_000);
    assert!(shown.len() < 60_000 && shown.contains("own work"), "{shown}");
    assert!(shown.contains(" more files are not listed …]\n"), "{shown}");
    let told = format!(
        "\n[… {beyond} more paths are named than are looked at: what was not looked at proves nothing …]\n"
    );
    assert!(shown.contains(&told), "{shown}");
    let one_step: String = (0..10_000).map(|number| format!("`src/f{number}.rs` ")).collect();
    assert_eq!(named_paths(&said(""), Some(&plan(&format!("- [x] {one_step}\n")))).len(), MAX_IN_ONE_TEXT);
    let evidence = gathered(&folder, said(&one_step), None);
    assert_eq!(evidence.limits, [Limit::Names(10_000 - MAX_IN_ONE_TEXT)]);
}

#[test]
fn more_changed_files_than_are_looked_at_are_counted_and_that_is_told() {
    let folder = repository_of(&[]);
    for number in 0..MAX_CHANGED + 5 {
        folder.write(&format!("gen/f{number}.txt"), "x\n");
    }
    let evidence = gathered(&folder, session(), None);
    assert_eq!(
        (evidence.limits.as_slice(), evidence.unlisted),
        ([Limit::Changes(5)].as_slice(), MAX_CHANGED + 5 - MAX_OTHERS)
    );
}

#[test]
fn a_file_that_is_missing_from_a_workspace_too_large_to_search_is_told() {
    let files = [("a.rs", "x"), ("b.rs", "x"), ("c.rs", "x")];
    let limits = |folder: &Folder, most: usize| {
        let workspace = folder.workspace().searching(most);
        gather(said("Done."), Some(long_plan(1)), &workspace, PLENTY, &mut FileCache::default()).limits
    };
    let without_git = Folder::new(&files);
    assert_eq!(limits(&without_git, 100), []);
    assert_eq!(limits(&without_git, 2), [Limit::Search]);
    // The index of git knows every name.
    assert_eq!(limits(&repository_of(&files), 2), []);
}
