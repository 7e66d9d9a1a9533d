//! Sessions and files, and the plan that is in play. Must not touch the disk.

use std::collections::HashMap;

use punchlist::plan::BeforeSource;
use punchlist::plan::Plan;
use punchlist::plan::PlanBefore;
use punchlist::plan::PlanSource;
use punchlist::plan::find::*;
use punchlist::session::ApprovedPlan;
use punchlist::session::Change;
use punchlist::session::Original;
use punchlist::session::ReadFile;
use punchlist::session::Session;
use punchlist::session::Touch;
use punchlist::testing::{self, plan_places};
use std::path::Path;
use std::path::PathBuf;

fn found(session: &Session, files: &[(&str, &str)]) -> Option<Plan> {
    let files: HashMap<PathBuf, String> =
        files.iter().map(|(k, v)| (PathBuf::from(k), (*v).to_owned())).collect();
    let now: ReadText<'_> = &|path| files.get(path).cloned();
    find(session, &plan_places(&[]), Read { now, first_read: &|_| None, committed: &|_| None })
}

fn asked(text: &str) -> Session {
    Session { asks: vec![testing::ask(text, 1)], ..Session::default() }
}

fn touched(path: &str, original: Original) -> Session {
    Session { touches: vec![touch(path, original)], ..Session::default() }
}

fn has_read(paths: &[&str]) -> Session {
    let read =
        |path: &&str| ReadFile { path: (*path).to_owned(), at: 1, time: None, text: Original::Unknown };
    Session { reads: paths.iter().map(read).collect(), ..Session::default() }
}

fn approved(text: Option<&str>, path: Option<&str>, slug: Option<&str>) -> ApprovedPlan {
    ApprovedPlan {
        text: text.map(String::from),
        path: path.map(String::from),
        slug: slug.map(String::from),
        at: 1,
    }
}

fn approves(text: Option<&str>, path: Option<&str>, slug: Option<&str>) -> Session {
    Session { plans: vec![approved(text, path, slug)], ..Session::default() }
}

fn touch(path: &str, original: Original) -> Touch {
    Touch { path: path.into(), original, ..testing::touch(path, 1) }
}

/// What the agent makes beside the plan in the same turn must not take its place.
#[test]
fn a_decoy_that_the_session_made_became_the_plan() {
    let plan = ("/w/PLAN.md", "- [x] Create `beta.txt`");
    let before = Original::Text("- [ ] Create `beta.txt`".to_owned());
    let path = |session: &Session, places: &punchlist::plan::PlanPlaces, files: &[(&str, &str)]| {
        let files: HashMap<PathBuf, String> =
            files.iter().map(|(k, v)| (PathBuf::from(k), (*v).to_owned())).collect();
        let now: ReadText<'_> = &|path| files.get(path).cloned();
        let read = Read { now, first_read: &|_| None, committed: &|_| None };
        find(session, places, read).and_then(|plan| plan.path)
    };
    // Made by a command after a plan that is older, or that the session wrote itself.
    for original in [before.clone(), Original::Absent] {
        let mut session = touched("/w/PLAN.md", original);
        session.commands = vec![testing::command("echo '- [x] ok' > z-plan.md", 5)];
        let files = [plan, ("/w/z-plan.md", "- [x] ok")];
        assert_eq!(path(&session, &plan_places(&[]), &files).as_deref(), Some("/w/PLAN.md"));
    }
    // Written with a tool after a plan that is older.
    let mut session = touched("/w/PLAN.md", before);
    session.touches.push(Touch { at: 5, ..touch("/w/z-plan.md", Original::Absent) });
    let files = [plan, ("/w/z-plan.md", "- [x] ok")];
    assert_eq!(path(&session, &plan_places(&[]), &files).as_deref(), Some("/w/PLAN.md"));
    // A later prompt may be about another plan.
    session.asks = vec![testing::ask("Make another plan.", 3)];
    assert_eq!(path(&session, &plan_places(&[]), &files).as_deref(), Some("/w/z-plan.md"));
    // A glob of the project's.
    let mut session = touched("/w/PLAN.md", Original::Absent);
    session.touches.push(Touch { at: 5, ..touch("/w/src/a.rs", Original::Unknown) });
    let files = [plan, ("/w/src/a.rs", "fn main() {}")];
    let places = plan_places(&[]).with_projects(&["**".to_owned()]);
    assert_eq!(path(&session, &places, &files).as_deref(), Some("/w/PLAN.md"));
    session.touches.remove(0);
    assert_eq!(path(&session, &places, &files).as_deref(), Some("/w/src/a.rs"));
}

const FILE: &str = "/home/me/.claude/plans/slug.md";

#[test]
fn the_newest_approved_plan_wins() {
    let session = Session {
        plans: vec![approved(Some("- [ ] one"), None, None), approved(Some("- [ ] two"), None, None)],
        ..Session::default()
    };
    let plan = found(&session, &[]).expect("a plan");
    assert_eq!((plan.text.as_str(), plan.source), ("- [ ] two", PlanSource::Approved));
}

#[test]
fn its_file_counts_when_it_was_kept_up_and_what_it_dropped_is_still_promised() {
    let text = "1. make a\n2. make b\n3. make c";
    let session = approves(Some(text), None, Some("slug"));
    let plan = found(&session, &[(FILE, "1. make a ✅\n3. make c")]).expect("a plan");
    assert_eq!(plan.source, PlanSource::ApprovedFile);
    let promised: Vec<_> = plan.promised().map(|step| (step.number, step.text.as_str())).collect();
    assert_eq!(promised, [(1, "make a ✅"), (2, "make c"), (3, "make b")]);
    assert_eq!(
        plan.diff().as_deref(),
        Some("@@ -1,3 +1,2 @@\n-1. make a\n-2. make b\n+1. make a ✅\n 3. make c\n")
    );
    let other = found(&session, &[(FILE, "1. something\n2. else")]).expect("a plan");
    assert_eq!((other.source, other.text.as_str()), (PlanSource::Approved, text));
}

#[test]
fn what_was_ticked_when_it_was_approved_is_no_claim_of_the_session() {
    let text = "- ✅ port `a.py`\n- [ ] create `b.py`";
    let session = approves(Some(text), None, Some("slug"));
    assert_eq!(found(&session, &[]).expect("a plan").ticked_before, [1]);
    let kept = found(&session, &[(FILE, "- ✅ port `a.py`\n- [x] create `b.py`")]).expect("a plan");
    assert_eq!(kept.ticked_before, [1]);
}

#[test]
fn a_call_that_names_only_the_file_is_read_from_it() {
    let session = approves(None, Some(FILE), None);
    assert_eq!(found(&session, &[(FILE, "- [ ] x")]).expect("a plan").text, "- [ ] x");
    assert_eq!(found(&session, &[]), None);
}

#[test]
fn a_touched_plan_file_is_found_wherever_plans_live() {
    for path in [
        "/w/PLAN.md",
        "/w/pkg/plan.md",
        "/w/docs/auth-plan.md",
        "/w/docs/plans/2024/x.md",
        "/w/.claude/plans/x.md",
        "docs/plans/y.md",
        "/w/packages/api/docs/plans/z.md",
        "/link-to-w/docs/plans/x.md",
    ] {
        let session = touched(path, Original::Absent);
        let absolute = plan_places(&[]).absolute(path);
        let plan = found(&session, &[(absolute.to_str().expect("text"), "- [x] a")]).expect(path);
        assert_eq!((plan.source, plan.ticked_before.len()), (PlanSource::TouchedFile, 0), "{path}");
    }
    let session = touched("/w/explanation.md", Original::Absent);
    assert_eq!(found(&session, &[("/w/explanation.md", "- [x] a")]), None);
}

#[test]
fn the_file_of_a_plan_that_was_turned_down_is_no_plan() {
    let session = Session {
        touches: vec![touch(FILE, Original::Absent)],
        rejected_plans: vec!["1. rewrite it all".into()],
        ..Session::default()
    };
    assert_eq!(found(&session, &[(FILE, "1. rewrite it all\n")]), None);
    assert!(found(&session, &[(FILE, "1. fix the typo\n")]).is_some());
}

#[test]
fn a_plan_that_is_put_up_counts_whatever_the_session_did() {
    let text = "- [x] old\n- [x] new";
    let path = Path::new("/w/notes.md");
    assert_eq!(given(&Session::default(), path, text).ticked_before, [0; 0]);
    let before = Original::Text("- [x] old\n- [ ] new".into());
    let session = touched("/w/notes.md", before);
    let plan = given(&session, path, text);
    assert_eq!((plan.source, plan.ticked_before), (PlanSource::GivenFile, vec![1]));
}

#[test]
fn a_plan_of_megabytes_is_cut() {
    let text = "- [x] Create `a.txt`\n".repeat(100_000);
    let session = touched("/w/PLAN.md", Original::Absent);
    assert!(found(&session, &[("/w/PLAN.md", &text)]).expect("a plan").text.len() <= PLAN_CAP);
    let session = approves(Some(&text), None, None);
    assert!(found(&session, &[]).expect("a plan").text.len() <= PLAN_CAP);
}

#[test]
fn ticks_from_before_the_session_are_not_its_claims() {
    let before = Original::Text("- [x] old\n- [ ] new".into());
    let session = touched("/w/PLAN.md", before);
    let plan = found(&session, &[("/w/PLAN.md", "- [x] old\n- [x] new")]).expect("a plan");
    assert_eq!(plan.ticked_before, [1]);
    assert!(plan.ticked_now(&plan.steps[1]) && !plan.ticked_now(&plan.steps[0]));
}

#[test]
fn what_the_file_was_is_told_by_the_transcript_then_a_read_then_the_commit() {
    let sources = |original: Original, read: Option<&str>, committed: Option<&str>| {
        let reads = has_read(&["/w/PLAN.md"]).reads;
        let session = Session { reads, ..touched("/w/PLAN.md", original) };
        let plan = find(
            &session,
            &plan_places(&[]),
            Read {
                now: &|path| path.ends_with("PLAN.md").then(|| "- [x] a".to_owned()),
                first_read: &|_| read.map(String::from),
                committed: &|_| committed.map(String::from),
            },
        );
        let plan = plan.expect("a plan");
        (plan.before.map(|before| (before.text, before.from)), plan.ticked_before)
    };
    let known = |text: &str, from| Some((text.to_owned(), from));
    let (ticked, open) = ("- [x] a", "- [ ] a");
    assert_eq!(
        sources(Original::Text(ticked.into()), Some(open), Some(open)),
        (known(ticked, BeforeSource::Original), vec![1])
    );
    assert_eq!(
        sources(Original::Unknown, Some(open), Some(ticked)),
        (known(open, BeforeSource::FirstRead), Vec::new())
    );
    assert_eq!(
        sources(Original::Unknown, None, Some(ticked)),
        (known(ticked, BeforeSource::Commit), vec![1])
    );
    assert_eq!(sources(Original::Unknown, None, None), (None, Vec::new()));
    assert_eq!(sources(Original::Absent, Some(ticked), Some(ticked)), (None, Vec::new()));
}

#[test]
fn a_plan_that_the_person_named_is_in_play() {
    let files = [("/w/docs/plans/x.md", "- [x] a")];
    for ask in [
        "implement @docs/plans/x.md, please",
        "setze `docs/plans/x.md` um",
        "请实现docs/plans/x.md中的功能",
        "<command-args>docs/plans/x.md</command-args>",
    ] {
        let plan = found(&asked(ask), &files).expect(ask);
        assert_eq!((plan.source, plan.ticked_before), (PlanSource::NamedFile, vec![1]), "{ask}");
    }
    assert_eq!(found(&asked("go on with the plan"), &files), None);
}

#[test]
fn a_page_that_the_person_named_is_a_plan_where_its_steps_are_in_order() {
    let session = asked("Could you build the report? docs/report.md says what we want.");
    let plan = |text: &str| found(&session, &[("/w/docs/report.md", text)]);
    assert!(plan("## 1. Totals\n\nx\n\n## 2. Text\n\nx\n\n## 3. Command\n").is_some());
    assert!(plan("- [ ] Totals\n").is_some());
    assert!(plan("- Totals are fine\n- Text is fine\n- So are commands\n").is_none());
    assert!(plan("Totals.\n\nText.\n\nCommands.\n").is_none());
    // One that was to be changed is no plan.
    let touches = vec![touch("/w/docs/report.md", Original::Text("1. a\n2. b\n".into()))];
    let session = Session { touches, ..session };
    assert_eq!(found(&session, &[("/w/docs/report.md", "1. a\n2. b\n3. c\n")]), None);
}

#[test]
fn a_plan_by_any_name_is_in_play_once_it_was_read() {
    for path in [
        "/w/.impl/plan.md",
        "/w/.planning/phases/03/03-02-PLAN.md",
        "/w/IMPLEMENTATION_PLAN.md",
        "/w/plan-auth.md",
        "/w/notes/plans/roadmap.md",
    ] {
        let plan = found(&has_read(&[path]), &[(path, "- [x] a\n- [ ] b")]).expect(path);
        assert_eq!((plan.source, plan.ticked_before), (PlanSource::NamedFile, vec![1]), "{path}");
        assert_eq!(found(&has_read(&[path]), &[(path, "Only words.")]), None, "{path}");
    }
    for path in [
        "/w/notes.md",
        "/w/docs/explanation.md",
        "/w/.planning/ROADMAP.md",
        "/w/plans/README.md",
        "/other/plan.txt",
    ] {
        assert_eq!(found(&has_read(&[path]), &[(path, "- [ ] a")]), None, "{path}");
    }
    // A file's own name counts for more than its folder's, and the newest for more than an older
    // one.
    let reads = has_read(&["/w/.planning/01-PLAN.md", "/w/.planning/02-PLAN.md", "/w/.planning/STATE.md"]);
    let text = "- [ ] a";
    let files = [
        ("/w/.planning/01-PLAN.md", text),
        ("/w/.planning/02-PLAN.md", text),
        ("/w/.planning/STATE.md", text),
    ];
    assert_eq!(found(&reads, &files).expect("a plan").path.as_deref(), Some("/w/.planning/02-PLAN.md"));
}

#[test]
fn a_page_in_which_the_session_ticked_boxes_is_a_plan() {
    let before = Original::Text("- [ ] a\n- [x] b\n".into());
    for path in ["/w/notes/tasks.md", "/w/README.md"] {
        let plan = found(&touched(path, before.clone()), &[(path, "- [x] a\n- [x] b\n")]).expect(path);
        assert_eq!((plan.source, plan.ticked_before), (PlanSource::TouchedFile, vec![2]), "{path}");
        assert_eq!(
            found(&touched(path, before.clone()), &[(path, "- [ ] a\n- [x] b\n- [x] c\n")]),
            None,
            "{path}"
        );
    }
    // One that the session made and ticked on the way.
    let change = |old: &str, new: &str| Some(Change { old: old.into(), new: new.into() });
    let made = Touch { change: change("", "- [ ] a\n"), ..touch("/w/todo.md", Original::Absent) };
    let ticked =
        Touch { at: 2, change: change("- [ ] a", "- [x] a"), ..touch("/w/todo.md", Original::Unknown) };
    let session = |touches: Vec<Touch>| Session { touches, ..Session::default() };
    let files = [("/w/todo.md", "- [x] a\n")];
    let plan = found(&session(vec![made.clone(), ticked]), &files).expect("a plan");
    let first_written = PlanBefore::new("- [ ] a\n", BeforeSource::FirstWritten);
    assert_eq!((plan.before, plan.ticked_before.len()), (Some(first_written), 0));
    assert_eq!(found(&session(vec![made]), &files), None);
}

#[test]
fn what_was_changed_counts_for_more_than_what_was_named_and_that_for_more_than_what_was_read() {
    let files = [("/w/a-plan.md", "- [x] a"), ("/w/b-plan.md", "- [ ] b"), ("/w/c-plan.md", "- [ ] c")];
    let read = has_read(&["/w/c-plan.md"]);
    let named = Session { asks: asked("do b-plan.md").asks, ..read.clone() };
    let changed = Session { touches: vec![touch("/w/a-plan.md", Original::Absent)], ..named.clone() };
    for (session, path) in [(read, "/w/c-plan.md"), (named, "/w/b-plan.md"), (changed, "/w/a-plan.md")] {
        assert_eq!(found(&session, &files).expect("a plan").path.as_deref(), Some(path));
    }
}

#[test]
fn prompts_of_the_client_and_of_a_plugin_are_no_plans() {
    let text = "- [x] a";
    for path in ["/w/.claude/commands/make-plan.md", "/w/tools/commands/make-plan.md", "/w/templates/plan.md"]
    {
        let files = [(path, text), ("/w/tools/.claude-plugin/plugin.json", "{}")];
        let session =
            Session { reads: has_read(&[path]).reads, ..touched(path, Original::Text("- [ ] a".into())) };
        assert_eq!(found(&session, &files), None, "{path}");
    }
    let path = "/w/other/commands/make-plan.md";
    assert!(found(&touched(path, Original::Absent), &[(path, text)]).is_some());
}
