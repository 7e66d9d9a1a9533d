//! Whole audits on real folders. A session that did everything that it says, and a witness that lies about it in
//! every way it can: nothing may be confirmed. And the counterpart: things that are really missing, told truly,
//! with the small changes that a model makes to what it quotes: all of it must be.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{Look, Verdict, proposal, verify};
use crate::audit::looks::looks;
use crate::auditor::Proposal;
use crate::evidence::{Evidence, Memory, Workspace, gather};
use crate::facts::facts;
use crate::finding::{Category, Finding, Problem, Status};
use crate::plan::{Plan, PlanSource, steps::parse_steps};
use crate::session::{Ask, Change, Command, CommandEnd, EditTool, Original, Outcome, Session, Todo, Touch};

const NOUNS: &[&str] = &[
    "parser", "slug", "invoice", "router", "session_store", "rate_limit", "user_profile", "csv_export",
    "theme", "mailer", "search_index", "webhook",
];
const ENDINGS: &[&str] = &["rs", "py", "ts", "go"];

/// One thing that a plan promises.
#[derive(Debug, Clone)]
struct Promise {
    /// The step's words.
    text: String,
    path: String,
    /// What the file must hold.
    needle: Option<String>,
    content: String,
}

/// How far a session got, and what it says then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// To the end of the plan.
    TheEnd,
    /// To the first step, and it says so.
    StepOne,
    /// To the first step, which was all that was asked for: "Done."
    AllThatWasAsked,
    /// To the first step, and then another ask came: "Done."
    AnotherAsk,
}

/// A session that was asked for a plan and followed it.
#[derive(Debug, Clone)]
struct Scene {
    promises: Vec<Promise>,
    until: Until,
    message: String,
    is_ticked: bool,
    /// A file that no step names, but that goes along with one.
    companion: String,
    last_step: String,
}

fn promise(noun: &str, ending: &str, shape: usize) -> Promise {
    let path = format!("src/{noun}.{ending}");
    let function = format!("run_{noun}");
    let (text, needle) = match shape {
        0 => (format!("Create `{path}`"), None),
        1 => (format!("Add `{function}()` to `{path}`"), Some(format!("{function}()"))),
        2 => (format!("Implement the {} in `{path}`", noun.replace('_', " ")), None),
        3 => (format!("**Write** `{path}` with a function `{function}`"), Some(function.clone())),
        _ => (
            format!("Add a `--{}` flag to `{path}`", noun.replace('_', "-")),
            Some(format!("--{}", noun.replace('_', "-"))),
        ),
    };
    let held = needle.clone().unwrap_or_default();
    let content = format!("// {noun}\nfn {function}() {{\n    let flag = \"{held}\";\n    todo(flag)\n}}\n");
    Promise { text, path, needle, content }
}

fn scenes() -> impl Strategy<Value = Scene> {
    let nouns = proptest::sample::subsequence(NOUNS.to_vec(), 2..6);
    let message = select(vec![
        "All steps of the plan are done. All tests pass.",
        "Done! Everything is implemented as planned and the suite is green.",
        "The plan is fully implemented. ✅ Tests pass.",
        "Everything is in place.",
    ]);
    let last_step = select(vec!["Run `cargo test`", "Make sure all tests pass", "Update the docs"]);
    (nouns, select(ENDINGS), prop::collection::vec(0..5_usize, 6), message, any::<bool>(), last_step)
        .prop_map(|(nouns, ending, shapes, message, is_ticked, last_step)| Scene {
            companion: format!("tests/test_{}.{ending}", nouns[0]),
            promises: nouns.iter().zip(shapes).map(|(noun, shape)| promise(noun, ending, shape)).collect(),
            message: message.to_owned(),
            is_ticked,
            last_step: last_step.to_owned(),
            until: Until::TheEnd,
        })
}

/// Sessions that stopped on the way, as they should.
fn unfinished_scenes() -> impl Strategy<Value = Scene> {
    let until = select(vec![Until::StepOne, Until::AllThatWasAsked, Until::AnotherAsk]);
    (scenes(), until).prop_map(|(scene, until)| {
        let message = match until {
            Until::StepOne => "Step 1 is in and all tests pass. Step 2 next?",
            _ => "Done. The tests pass.",
        };
        Scene { until, message: message.to_owned(), is_ticked: true, ..scene }
    })
}

/// What is left of a scene on disk and in the session.
struct Laid {
    folder: tempfile::TempDir,
    evidence: Evidence,
}

impl Scene {
    fn plan(&self) -> String {
        let mark = if self.is_ticked { "- [x] " } else { "1. " };
        let mut text = String::from("# Plan\n\nThe app keeps its state in `redis` today.\n\n## Steps\n\n");
        for (at, promise) in self.promises.iter().enumerate() {
            let mark = if self.is_done(at) { mark } else { "- [ ] " };
            text.push_str(&format!("{mark}{}\n", promise.text));
        }
        let mark = if self.until == Until::TheEnd { mark } else { "- [ ] " };
        text.push_str(&format!("{mark}{}\n", self.last_step));
        text
    }

    fn is_done(&self, at: usize) -> bool {
        self.until == Until::TheEnd || at == 0
    }

    fn asks(&self) -> Vec<Ask> {
        let asks: &[&str] = match self.until {
            Until::TheEnd | Until::StepOne => &["Implement the plan in PLAN.md"],
            Until::AllThatWasAsked => &["Implement step 1 of PLAN.md, nothing more"],
            Until::AnotherAsk => {
                &["Implement the plan in PLAN.md", "Fix the wrong date in package.json first"]
            }
        };
        asks.iter().zip([1, 19]).map(|(text, at)| Ask { text: (*text).to_owned(), at }).collect()
    }

    /// Lays the scene out, without what `missing` says was never done.
    fn lay_out(&self, missing: Option<usize>) -> Laid {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let mut session = Session {
            asks: self.asks().into(),
            final_message: Some(self.message.clone()),
            todos: vec![Todo { id: None, text: self.promises[0].text.clone(), status: "completed".into() }],
            ..Session::default()
        };
        let mut write = |name: &str, text: &str, at: usize| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(&path, text).expect("written");
            session.touches.push(Touch {
                path: path.display().to_string(),
                tool: EditTool::Write,
                at,
                outcome: Outcome::Done,
                original: Original::Absent,
                agent: None,
                change_at: None,
                change: Some(Change { old: String::new(), new: text.into() }),
            });
        };
        for (at, promise) in self.promises.iter().enumerate() {
            if missing == Some(at) || !self.is_done(at) {
                continue;
            }
            write(&promise.path, &promise.content, at + 2);
        }
        write(&self.companion, "tests", 20);
        write("Cargo.lock", "lock", 21);
        write("package.json", "{}", 22);
        for (line, end) in [
            ("mkdir build", CommandEnd::Failed(Some(1))),
            ("cargo test", CommandEnd::Failed(Some(101))),
            ("grep -rn nothing src", CommandEnd::Failed(Some(1))),
            ("cargo test", CommandEnd::Succeeded),
        ] {
            let at = 30 + session.commands.len();
            session.commands.push(Command { line: line.into(), at, end, output: String::new(), agent: None });
        }
        session.last_call = 40;
        let text = self.plan();
        let plan = Plan {
            source: PlanSource::NamedFile,
            path: None,
            steps: parse_steps(&text),
            text,
            dropped: Vec::new(),
            ticked_before: Vec::new(),
        };
        let workspace = Workspace::new(root, root, None, &[]);
        // A budget so small that some files are cut or left out.
        let evidence = gather(session, Some(plan), &workspace, 2_500, &mut Memory::default());
        Laid { folder, evidence }
    }
}

impl Laid {
    fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The whole verdict, judged beside the facts.
    fn audit(&self, proposals: Vec<Proposal>) -> Vec<Finding> {
        let workspace = Workspace::new(self.root(), self.root(), None, &[]);
        let verdict = Verdict { findings: proposals };
        let looks: Vec<Option<Look>> = looks(&workspace, &verdict, &self.evidence);
        let facts = facts(&self.evidence, &crate::config::Config::default().audit).findings;
        verify(&verdict, &looks, &self.evidence, facts)
    }
}

/// A lie: parts of the scene put together wrongly, or things that are not of it.
fn lies(scene: Scene) -> impl Strategy<Value = (Scene, Vec<Proposal>)> {
    let one = (select(&Category::ALL[..]), select(&Problem::ALL[..]), any::<[Index; 3]>());
    prop::collection::vec(one, 1..12).prop_map(move |drawn| {
        let mut quotes: Vec<String> = scene.promises.iter().map(|promise| promise.text.clone()).collect();
        quotes.extend(scene.message.split(". ").map(str::to_owned));
        quotes.extend(scene.promises.iter().map(|promise| promise.text.replace("Add", "Remove")));
        quotes.extend(
            [
                "",
                "Rewrite the billing module",
                "The app keeps its state in `redis` today.",
                "Implement the plan in PLAN.md",
            ]
            .map(String::from),
        );
        quotes.push(scene.last_step.clone());
        let mut paths: Vec<String> = scene.promises.iter().map(|promise| promise.path.clone()).collect();
        paths.extend(scene.promises.iter().map(|promise| promise.path.to_uppercase()));
        paths.extend(scene.promises.iter().map(|promise| format!("./{}:12", promise.path)));
        paths.extend(scene.promises.iter().map(|promise| promise.path.replace("src/", "")));
        paths.push(scene.companion.clone());
        paths.extend(
            [
                "", "Cargo.lock", "package.json", "src/billing.rs", "/etc/hosts", "../x", "src", "src/",
                "README.md",
            ]
            .map(String::from),
        );
        let mut needles: Vec<String> =
            scene.promises.iter().filter_map(|promise| promise.needle.clone()).collect();
        needles.extend(
            [
                "", "cargo test", "mkdir build", "redis", "fn main()", "npm test", "TODO",
                "grep -rn nothing src", "[masked:token]",
            ]
            .map(String::from),
        );
        let lies = drawn.iter().map(|(category, problem, [quote, path, needle])| {
            let (quote, path, needle) = (quote.get(&quotes), path.get(&paths), needle.get(&needles));
            proposal(*category, *problem, quote, path, needle)
        });
        (scene.clone(), lies.collect())
    })
}

/// How a model may write what it quotes.
fn as_a_model_writes(text: &str, way: usize) -> String {
    match way {
        0 => text.to_owned(),
        1 => text.replace(['`', '*'], ""),
        2 => format!("- [x] {text}"),
        3 => format!("1. {}", text.to_lowercase()),
        4 => format!("“{text}”"),
        5 => format!("{text} …"),
        6 => format!("**{}**.", text.replace("**", "")),
        _ => text.replace(' ', "  "),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_lie_about_a_session_that_did_everything_is_confirmed((scene, lies) in scenes().prop_flat_map(lies)) {
        let laid = scene.lay_out(None);
        let confirmed: Vec<Finding> =
            laid.audit(lies).into_iter().filter(|found| found.status == Status::Confirmed).collect();
        prop_assert!(confirmed.is_empty(), "{confirmed:#?}\n{}\n{}", scene.plan(), scene.message);
    }

    #[test]
    fn no_word_about_a_session_that_stopped_on_the_way_is_confirmed(
        (scene, lies) in unfinished_scenes().prop_flat_map(lies),
    ) {
        let laid = scene.lay_out(None);
        let confirmed: Vec<Finding> =
            laid.audit(lies).into_iter().filter(|found| found.status == Status::Confirmed).collect();
        prop_assert!(confirmed.is_empty(), "{confirmed:#?}\n{}\n{}", scene.plan(), scene.message);
    }

    #[test]
    fn no_words_make_it_panic(
        scene in scenes(), quote in ".{0,60}", path in "[a-zé./`:~ ]{0,20}", needle in ".{0,20}",
        message in "([a-z`é. …]|[x]|all done|\\n){0,40}",
    ) {
        let mut laid = scene.lay_out(None);
        laid.evidence.session.final_message = Some(message.clone());
        let words = [quote, message, scene.promises[0].text.chars().rev().collect()];
        let each = Category::ALL.into_iter().zip(Problem::ALL).zip(words.iter().cycle());
        let proposals = each.map(|((category, problem), words)| proposal(category, problem, words, &path, &needle));
        let _ = laid.audit(proposals.collect());
    }

    #[test]
    fn what_is_really_missing_stays_confirmed(
        scene in scenes(), which in any::<Index>(), way in 0..8_usize, as_content in any::<bool>(),
    ) {
        let at = which.index(scene.promises.len());
        let laid = scene.lay_out(Some(at));
        let promise = &scene.promises[at];
        let quote = as_a_model_writes(&promise.text, way);
        let truth = match &promise.needle {
            Some(needle) if as_content => proposal(Category::A, Problem::MissingContent, &quote, &promise.path, needle),
            _ => proposal(Category::A, Problem::MissingFile, &quote, &promise.path, ""),
        };
        let found = laid.audit(vec![truth]);
        let confirmed: Vec<_> = found.iter().filter(|found| found.status == Status::Confirmed).collect();
        prop_assert_eq!(confirmed.len(), 1, "{:#?}\n{}", found, scene.plan());
        prop_assert_eq!(confirmed[0].path.as_deref(), Some(promise.path.as_str()));
        prop_assert_eq!(confirmed[0].step, Some(at + 1));
    }

    #[test]
    fn content_that_is_really_missing_stays_confirmed(
        scene in scenes(), which in any::<Index>(), way in 0..8_usize,
    ) {
        let at = which.index(scene.promises.len());
        let promise = scene.promises[at].clone();
        let Some(needle) = promise.needle else { return Ok(()) };
        let mut emptied = scene.clone();
        emptied.promises[at].content = "// nothing of it\n".into();
        let quote = as_a_model_writes(&promise.text, way);
        let truth = proposal(Category::A, Problem::MissingContent, &quote, &promise.path, &needle);
        let found = emptied.lay_out(None).audit(vec![truth]);
        prop_assert_eq!(found[0].status, Status::Confirmed, "{:#?}\n{}", found, scene.plan());
    }
}
