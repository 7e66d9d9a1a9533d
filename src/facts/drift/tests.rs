//! Sessions in a few lines, each with what drifted, or with nothing that did.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::evidence::signs::{Wanted, signs};
use crate::evidence::{Entered, FileEvidence, FileState, Signs, TouchNote};
use crate::plan::PlanSource;
use crate::plan::steps::parse_steps;
use crate::readings::Readings;
use crate::session::{
    ApprovedPlan, Change, Command, CommandEnd, EditTool, Original, Outcome, Session, Todo, Touch,
};

/// A session in the making.
struct Trip(Evidence);

impl Trip {
    fn with_plan(text: &str) -> Self {
        let approved = ApprovedPlan { text: Some(text.into()), path: None, slug: None, at: 2 };
        let session = Session {
            asks: vec![Ask { text: "Implement the following plan.".into(), at: 1 }].into(),
            plans: vec![approved],
            ..Session::default()
        };
        let plan = Plan {
            source: PlanSource::Approved,
            path: None,
            steps: parse_steps(text),
            text: text.to_owned(),
            dropped: Vec::new(),
            ticked_before: Vec::new(),
        };
        Self(Evidence {
            plan: Some(plan),
            session,
            files: Vec::new(),
            deeds: Vec::new(),
            todo_paths: Vec::new(),
            repository: None,
        })
    }

    fn wrote(self, name: &str, text: &str) -> Self {
        self.changed(name, "", text, Original::Absent)
    }

    fn edited(self, name: &str, old: &str, new: &str) -> Self {
        self.changed(name, old, new, Original::Unknown)
    }

    fn changed(mut self, name: &str, old: &str, new: &str, original: Original) -> Self {
        let at = 10 + self.0.session.touches.len();
        self.0.session.touches.push(Touch {
            path: format!("/w/{name}"),
            tool: EditTool::Edit,
            at,
            outcome: Outcome::Done,
            original,
            agent: None,
            change_at: None,
            change: Some(Change { old: old.into(), new: new.into() }),
        });
        let plan = self.0.plan.as_ref().expect("a plan");
        let steps =
            plan.promised().filter(|step| step.paths.iter().any(|path| path == name)).map(|step| step.number);
        self.0.files.push(FileEvidence {
            name: name.into(),
            touches: vec![TouchNote { tool: "Edit".into(), outcome: Outcome::Done, agent: None }],
            steps: steps.collect(),
            state: FileState::File { bytes: 10 },
            entered: Entered::Whole,
            text: new.into(),
            masked: 0,
            digest: String::new(),
            signs: Signs::default(),
        });
        self
    }

    fn missing(mut self, name: &str, steps: &[usize]) -> Self {
        self.0.files.push(FileEvidence {
            name: name.into(),
            touches: Vec::new(),
            steps: steps.to_vec(),
            state: FileState::Missing { elsewhere: None },
            entered: Entered::Whole,
            text: String::new(),
            masked: 0,
            digest: String::new(),
            signs: Signs::default(),
        });
        self
    }

    fn ran(mut self, line: &str) -> Self {
        let (end, output) = (CommandEnd::Succeeded, String::new());
        self.0.session.commands.push(Command { line: line.into(), at: 20, end, output, agent: None });
        self
    }

    fn todos(mut self, todos: &[&str]) -> Self {
        let todo = |text: &&str| Todo { id: None, text: (*text).to_owned(), status: "completed".into() };
        self.0.session.todos = todos.iter().map(todo).collect();
        self
    }

    fn asked(mut self, text: &str) -> Self {
        let at = 10 + self.0.session.touches.len();
        self.0.session.asks.push(Ask { text: text.into(), at });
        self
    }

    fn said(mut self, message: &str) -> Self {
        self.0.session.final_message = Some(message.into());
        self
    }

    fn found(&self, category: Category) -> Vec<String> {
        let all = candidates(&self.0);
        assert!(all.iter().all(|f| f.status == Status::CannotVerify && f.source == Source::Facts));
        let of_it = all.into_iter().filter(|finding| finding.category == category);
        of_it.map(|finding| finding.path.unwrap_or(finding.quote)).collect()
    }
}

const PLAN: &str = "# Slugs\n\n1. Create `src/slug.rs` with `slugify()`\n2. Call it from `src/post.rs`\n\
                    3. Cover it with tests in `tests/slug.rs`\n4. Add rate limiting to the upload endpoint\n";

fn trip() -> Trip {
    Trip::with_plan(PLAN).wrote("src/slug.rs", "pub fn slugify() {}").edited("src/post.rs", "a", "slugify(a)")
}

#[test]
fn a_file_that_no_step_speaks_of_is_told() {
    assert_eq!(trip().wrote("src/telemetry.rs", "pub fn send() {}").found(Category::B), ["src/telemetry.rs"]);
    assert_eq!(trip().edited("src/theme.rs", "dark", "light").found(Category::B), ["src/theme.rs"]);
}

#[test]
fn a_file_that_goes_along_with_the_plan_is_not() {
    for (name, old, new) in [
        ("tests/slug.rs", "", "x"),
        ("tests/slug_unicode.rs", "", "x"),
        ("src/slug/unicode.rs", "", "x"),
        ("src/mod.rs", "a", "mod slug;"),
        ("Cargo.lock", "a", "b"),
        ("Cargo.toml", "a", "b"),
        ("src/feed.rs", "title", "slugify(title)"),
        ("src/upload.rs", "a", "b"),
        ("src/rate_limit.rs", "", "x"),
        (".claude/settings.json", "a", "b"),
        ("vendor/x.rs", "a", "b"),
        ("/elsewhere/a.rs", "a", "b"),
        ("docs/plans/slug.md", "a", "b"),
    ] {
        let trip = if old.is_empty() { trip().wrote(name, new) } else { trip().edited(name, old, new) };
        assert_eq!(trip.found(Category::B), Vec::<String>::new(), "{name}");
    }
    let asked = trip().asked("Also give the theme a lighter colour.").edited("src/theme.rs", "dark", "light");
    assert_eq!(asked.found(Category::B), Vec::<String>::new());
}

#[test]
fn a_module_does_not_cover_its_folder_where_the_plan_names_what_goes_there() {
    let plan = "- [ ] Extract `Mailer::Template` into `lib/mailer/template.rb`\n\
                - [ ] Let `Mailer#deliver` in `lib/mailer.rb` take a name\n";
    let trip = Trip::with_plan(plan)
        .wrote("lib/mailer/template.rb", "class Mailer\n class Template\n end\nend")
        .edited("lib/mailer.rb", "a", "class Mailer\n def deliver\n end\nend")
        .wrote("lib/mailer/webhook.rb", "class Mailer\n class Webhook\n end\nend");
    assert_eq!(trip.found(Category::B), ["lib/mailer/webhook.rb"]);
}

#[test]
fn a_plan_in_prose_covers_almost_everything() {
    let prose = "1. Add a retry policy to the client\n2. Make the timeout configurable\n";
    let trip = |name: &str, new: bool| {
        let trip = Trip::with_plan(prose);
        if new { trip.wrote(name, "x") } else { trip.edited(name, "a", "b") }.found(Category::B)
    };
    assert_eq!(trip("src/http.rs", false), Vec::<String>::new());
    assert_eq!(trip("src/client/backoff.rs", true), Vec::<String>::new());
    assert_eq!(trip("web/darkmode.css", true), ["web/darkmode.css"]);
}

#[test]
fn a_task_that_no_step_is_like_is_told_and_chores_are_not() {
    let todos = [
        "Create slugify function",
        "Call slugify from post.rs",
        "Write tests",
        "Run cargo clippy",
        "Rate limit uploads",
        "Add dark mode to the settings page",
        "Fix failing tests",
        "Update README",
    ];
    assert_eq!(trip().todos(&todos).found(Category::D), ["Add dark mode to the settings page"]);
    let asked = trip().asked("And give me dark mode on the settings page, please.").todos(&todos);
    assert_eq!(asked.found(Category::D), Vec::<String>::new());
}

#[test]
fn a_step_is_the_task_that_fits_it_best_and_the_other_one_is_unplanned() {
    let plan = "# Config file\n\n- [x] `Config` struct with defaults in `src/config.rs`\n\
                - [x] Read it from `app.toml` (`Config::load`)\n- [x] `--config PATH` in `src/main.rs`\n";
    let todos = [
        "Config struct and defaults",
        "Load app.toml",
        "Support reading YAML config alongside TOML",
        "Add the --config switch",
    ];
    let trip = Trip::with_plan(plan).wrote("src/config.rs", "struct Config;").todos(&todos);
    assert_eq!(trip.found(Category::D), ["Support reading YAML config alongside TOML"]);
}

#[test]
fn a_task_at_the_place_of_a_step_that_no_other_is_like_may_be_that_step() {
    let plan = "- [x] Subscribe form: `public/subscribe.php`\n- [x] Double opt-in with a signed link\n\
                - [x] Unsubscribe link: `public/unsubscribe.php`\n";
    let todos = [
        "Signup page",
        "Signed confirmation links",
        "Let people unsubscribe",
        "Weekly digest mail for inactive readers",
    ];
    let trip = Trip::with_plan(plan).wrote("public/subscribe.php", "x").todos(&todos);
    assert_eq!(trip.found(Category::D), ["Weekly digest mail for inactive readers"]);
    assert_eq!(tasks(&trip.0)[0], Standing::InPlaceOf(1));
    let retries = "- [x] `src/retry.js`: `retry(fn, times)` with backoff\n- [x] wrap the delivery\n";
    let trip = Trip::with_plan(retries).wrote("src/retry.ts", "x").todos(&["Write the retry helper"]);
    assert_eq!(trip.found(Category::D), Vec::<String>::new());
}

#[test]
fn a_list_about_something_else_says_nothing_of_the_plan() {
    let todos = ["Redesign navigation bar", "Port the importer to Go", "Draw latency histograms"];
    assert_eq!(trip().todos(&todos).found(Category::D), Vec::<String>::new());
    // Nor does a session that has done nothing yet.
    assert_eq!(
        Trip::with_plan(PLAN).todos(&["Redesign navigation"]).found(Category::D),
        Vec::<String>::new()
    );
}

fn done_but_for_the_limit() -> Trip {
    trip().wrote("tests/slug.rs", "#[test] fn slugs() {}")
}

#[test]
fn a_step_that_nothing_worked_on_is_told_when_all_is_said_to_be_done() {
    let trip = done_but_for_the_limit().said("All steps of the plan are implemented and the tests pass.");
    assert_eq!(trip.found(Category::C), ["Add rate limiting to the upload endpoint"]);
    assert_eq!(candidates(&trip.0)[0].step, Some(4));
}

#[test]
fn a_file_that_was_changed_for_another_step_is_no_trace_of_this_one() {
    let plan = "- [x] Parse vCards in `contacts/vcard.py`\n- [x] Call it from `contacts/cli.py`\n\
                - [ ] Add a `--dry-run` flag to `contacts/cli.py` that writes nothing\n";
    let trip = |text: &str| {
        let mut trip = Trip::with_plan(plan)
            .wrote("contacts/vcard.py", "def parse(): pass")
            .wrote("contacts/cli.py", text)
            .said("The contact importer is finished. `contacts/cli.py` ties it together.");
        for file in &mut trip.0.files {
            let wanted = Wanted::of(["--dry-run".to_owned()]);
            file.signs =
                signs(&file.name, &file.text, &wanted, None, || std::borrow::Cow::Owned(Original::Unknown));
        }
        trip.found(Category::C)
    };
    assert_eq!(
        trip("add_argument('file')"),
        ["Add a `--dry-run` flag to `contacts/cli.py` that writes nothing"]
    );
    assert_eq!(trip("add_argument('--dry-run')"), Vec::<String>::new());
}

#[test]
fn words_in_common_are_no_trace_where_the_steps_own_file_or_name_is_not_there() {
    let plan = "1. Write `proto/event.proto`\n2. Read both formats in `store/read.go`\n\
                3. Have the quickstart in German as well\n\
                4. Benchmark reading a million events, and put the numbers into `docs/perf.md`\n\
                5. Rewrite `docs/quickstart.md`\n";
    let mut trip = Trip::with_plan(plan)
        .wrote("proto/event.proto", "message Event: reading, numbers, million, benchmark")
        .wrote("store/read.go", "reads events")
        .wrote("docs/quickstart.md", "a quickstart")
        .missing("docs/perf.md", &[4])
        .said("The protobuf migration is complete.");
    if let Some(file) = trip.0.files.iter_mut().find(|file| file.name == "docs/perf.md") {
        file.state = FileState::File { bytes: 1 };
    }
    assert_eq!(
        trip.found(Category::C),
        [
            "Have the quickstart in German as well",
            "Benchmark reading a million events, and put the numbers into `docs/perf.md`"
        ]
    );
}

#[test]
fn a_step_in_whose_place_something_else_was_done_is_told() {
    let plan = "- [ ] Store sessions in Redis (`config/session.php`)\n- [x] Session lifetime to 8 hours\n";
    let trip = |text: &str| {
        let said = "Done! For storage I ended up using the `database` driver instead of Redis.";
        Trip::with_plan(plan).edited("config/session.php", "a", text).said(said).found(Category::C)
    };
    assert_eq!(trip("'driver' => 'database'"), ["Store sessions in Redis (`config/session.php`)"]);
    assert_eq!(trip("'driver' => 'redis'"), Vec::<String>::new());
}

#[test]
fn an_unfinished_plan_is_normal() {
    for message in [
        "I created the slug module and its tests.",
        "Steps 1 to 3 are done; shall I go on?",
        "Done with step 1.",
    ] {
        assert_eq!(
            done_but_for_the_limit().said(message).found(Category::C),
            Vec::<String>::new(),
            "{message}"
        );
    }
}

#[test]
fn a_step_that_left_a_trace_is_not_told() {
    let done = |trip: Trip| trip.said("All steps of the plan are implemented.").found(Category::C);
    let traces = [
        done_but_for_the_limit().edited("src/upload.rs", "a", "let limit = RateLimiter::new();"),
        done_but_for_the_limit().ran("cargo add rate-limit"),
        done_but_for_the_limit().todos(&["Rate limiting for uploads"]),
        done_but_for_the_limit().asked("Forget the rate limiting of the upload endpoint, we do not need it."),
    ];
    for trip in traces {
        assert_eq!(done(trip), Vec::<String>::new());
    }
    // What is missing on disk is told as such.
    let missing = done_but_for_the_limit().missing("src/limit.rs", &[4]);
    assert_eq!(done(missing), Vec::<String>::new());
}

#[test]
fn a_step_that_the_message_says_was_left_is_told_unless_the_plan_says_so_too() {
    let message = "The slug module is there. I skipped rate limiting on the upload endpoint, it needs redis.";
    assert_eq!(
        done_but_for_the_limit().said(message).found(Category::C),
        ["Add rate limiting to the upload endpoint"]
    );
    let marked = PLAN.replace(
        "Add rate limiting to the upload endpoint",
        "~~Add rate limiting to the upload endpoint~~ (skipped)",
    );
    let trip = Trip::with_plan(&marked).wrote("src/slug.rs", "x").said(message);
    assert_eq!(trip.found(Category::C), Vec::<String>::new());
    let other = "All 12 tests passed, 2 skipped. The upload endpoint is next.";
    assert_eq!(done_but_for_the_limit().said(other).found(Category::C), Vec::<String>::new());
}

#[test]
fn done_after_a_detour_is_said_of_the_detour() {
    let trip =
        done_but_for_the_limit().asked("Now give the button a background colour.").said("Done! It has one.");
    assert_eq!(trip.found(Category::C), Vec::<String>::new());
}

#[test]
fn a_plan_that_was_read_before_shows_the_same() {
    let trip = done_but_for_the_limit()
        .said("The plan is done.")
        .todos(&["Buy a rubber duck", "Write the slug module"]);
    let fresh = candidates(&trip.0);
    assert!(!fresh.is_empty());
    let readings = Readings::begin(Vec::new, "one");
    assert_eq!(candidates(&trip.0), fresh);
    let kept = readings.end()().expect("bytes");
    let _readings = Readings::begin(move || kept, "one");
    assert_eq!(candidates(&trip.0), fresh);
    // The same text, and a step that is no longer in it.
    let mut lost = trip;
    for (step, called) in [
        ("1. Print the quarterly figures of `src/figures.rs`", 1),
        ("1. Mail the yearly figures", 0),
        ("## Mail\n\n1. Mail the yearly figures", 0),
    ] {
        lost.0.plan.as_mut().expect("a plan").dropped = parse_steps(step);
        let promised = Promised::of(lost.0.plan.as_ref().expect("a plan"), &lost.0);
        let newest = promised.steps.last().expect("steps");
        assert_eq!((&newest.bag, newest.called.len()), (&Bag::of(&newest.step.text), called), "{step}");
        let mut whole = Bag::of(&newest.step.text);
        whole.add(&Bag::of_words(newest.step.section.as_deref().unwrap_or_default()));
        assert_eq!(newest.with_details, whole, "{step}");
    }
}

#[test]
fn a_large_plan_costs_little() {
    let step = |n: usize| {
        format!("{n}. Add part{n} of feature{} to `src/part{n}.rs` with `make_part{n}()`\n", n % 7)
    };
    let plan: String = (1..200).map(step).collect();
    let mut trip = Trip::with_plan(&plan).said("All steps of the plan are implemented.");
    for n in 0..50 {
        trip =
            trip.edited(&format!("src/other{n}.rs"), "old text", &"some new words of code here ".repeat(200));
    }
    let todos: Vec<String> = (0..60).map(|n| format!("Tidy module{n} of the importer{n}")).collect();
    let trip = trip.todos(&todos.iter().map(String::as_str).collect::<Vec<_>>());
    let start = Instant::now();
    let _ = candidates(&trip.0);
    // A few milliseconds when optimised; tests are not, and share their machine.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(plan in ".{0,200}", name in "[a-z./é]{0,20}", text in ".{0,80}") {
        let trip = Trip::with_plan(&format!("1. {plan}\n2. {text}")).wrote(&name, &text).edited(&name, &plan, &text);
        let _ = candidates(&trip.todos(&[&text, &plan]).asked(&plan).said(&text).0);
    }
}
