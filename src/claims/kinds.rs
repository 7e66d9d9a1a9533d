//! Takes a message or a ticked step, gives what it claims of commands: that tests, builds or linters pass, that
//! something was committed, pushed, opened, deployed or installed. A reading of words, by tables of wordings.
//! A wrong claim holds a good session: what is hedged, negated, planned, quoted, asked, told of somebody else or
//! of what code does is none, and doubt is a no.

use std::ops::Range;
use std::sync::LazyLock;

use super::asides;
use super::wording::{Needs, Wording, plain};
use crate::session::shell::{Check, Deed};

/// One thing that a sentence claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim<'a> {
    /// The sentence, as written.
    pub sentence: &'a str,
    /// What it claims to have been done.
    pub deed: Deed,
    /// How much of it.
    pub extent: Extent,
}

/// How much of a kind a sentence speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it: "the tests pass".
    Whole,
    /// A part: "the parser tests pass".
    Part,
    /// It names no kind, or may tell of something else: "everything passes". Only a failure speaks against it.
    Loose,
}

/// Words between a subject and what is said of it: "tests are now all".
const BETWEEN: &str = r"are|is|all|now|still|also|again|have|has|been|successfully|cleanly|fully|both|run|runs|ran|and|it|completed?|finish(?:ed|es)?|results?|status|checks?|the|suite|step|reports?|shows?|locally|everything|tests|\d+";

/// What is said of checks that pass. What is passed to something is none of it.
const PASS: &str =
    r"(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|success(?:ful|fully)?|green|clean|ok|okay|happy)\b";

/// Subjects, by what they are checks of. Backticks with a command in them stand as `§tests` and so on.
const SUBJECTS: &[(Check, &str)] = &[
    (
        Check::Tests,
        r"(?:tests?|specs?|test suites?|suites?|pytest|jest|vitest|mocha|rspec|phpunit|playwright|nextest|§tests)",
    ),
    (Check::Build, r"(?:builds?|compilation|§build)"),
    (
        Check::Lint,
        r"(?:lint|lints|linting|linter|linters|eslint|clippy|ruff|flake8|pylint|golangci lint|rubocop|biome|oxlint|shellcheck|§lint)",
    ),
    (
        Check::Types,
        r"(?:type checks?|typechecks?|type checking|typechecking|type checker|tsc|mypy|pyright|typescript|types|§types)",
    ),
    (Check::Format, r"(?:formatting|format|format check|prettier|rustfmt|gofmt|fmt|§format)"),
];

/// What each subject is recognised by before anything is looked for.
const SUBJECT_STEMS: [&[&str]; 5] = [
    &["test", "spec", "suite", "jest", "mocha", "phpunit", "playwright"],
    &["build", "compilation"],
    &["lint", "clippy", "ruff", "flake8", "rubocop", "biome", "shellcheck"],
    &["type", "tsc", "mypy", "pyright"],
    &["format", "prettier", "fmt"],
];

/// And what is said of them.
const PASS_STEMS: &[&str] = &["pass", "succe", "green", "clean", "ok", "happy"];
const NOTHING_STEMS: &[&str] =
    &["error", "warning", "issue", "problem", "violation", "complaint", "offense", "failure"];

/// Wordings of checks that pass which name no subject before the word for passing.
const OTHER_WORDINGS: &[(Check, Needs, &str)] = &[
    (Check::Tests, [&[" passing test"], &[]], r"\b\d+ passing tests?\b"),
    (Check::Tests, [&[" fail"], &[]], r"\b\d+ (?:tests?|examples?),? (?:and )?(?:0|no|zero) fail"),
    (
        Check::Tests,
        [&[" passed"], &[]],
        r"\b\d+ passed(?:,| and|;| /)? (?:0|no|zero) (?:failed|failures?|errors?)\b",
    ),
    (Check::Tests, [&["test "], &[" pass"]], r"\btest (?:results?|runs?|summary):? \d+ pass"),
    (Check::Tests, [&["/"], &["pass"]], r"^\d+ ?/ ?\d+ (?:are )?pass(?:ing|ed)?\b"),
    (Check::Tests, [&["✅"], &[]], r"\b(?:tests|specs|test suite) ?[:—|] ?✅"),
    (
        Check::Build,
        [&["build "], &["works"]],
        r"\bbuild (?:now |still |also )?works(?:$|[.,;:!]| and| again)",
    ),
    (
        Check::Tests,
        [&["§tests"], &["pass"]],
        r"\b(?:everything|all|it) (?:builds? and )?pass(?:es|ing)? (?:with|under|in) §tests",
    ),
    (
        Check::Build,
        [&["buil", "compile"], &[]],
        r"\b(?:everything|project|code|codebase|app|application|crate|workspace|package|solution|library|site|binary|frontend|backend|^it)(?: all| now| still| also)? (?:builds?|compiles?|built|compiled)(?: and| with no| without| cleanly| successfully| fine| ok|[.,;!]| —|$| \()",
    ),
    (
        Check::Build,
        [&["buil", "compile"], &["clean", "success", "fine", "with"]],
        r"\b(?:builds|compiles|built|compiled) (?:cleanly|successfully|fine|without (?:any )?(?:errors?|warnings?)|with (?:no|zero|0) (?:errors?|warnings?))",
    ),
    (
        Check::Lint,
        [SUBJECT_STEMS[2], NOTHING_STEMS],
        r"\b(?:no|zero|0) (?:new )?(?:lint|linter|linting|eslint|clippy|ruff|flake8|pylint) (?:errors?|warnings?|issues?|problems?|violations?)\b",
    ),
    (
        Check::Types,
        [&["type", "ts", "mypy", "pyright"], NOTHING_STEMS],
        r"\b(?:no|zero|0) (?:new )?(?:type|typescript|ts|type check|typecheck|tsc|mypy|pyright) (?:errors?|issues?|problems?)\b",
    ),
];

/// What checks find nothing of: "clippy reports no warnings", "0 errors from tsc".
const NOTHING: &str = r"(?:no|zero|0|without(?: any)?) (?:new |more |further |remaining |lint |type )*(?:errors?|warnings?|issues?|problems?|violations?|complaints?|offenses?|failures?)\b";

/// Words for all that was checked, with no word for what that is.
static EVERYTHING: LazyLock<Wording> = LazyLock::new(|| {
    let all = r"(?:everything|it all|all of (?:it|them|this|these)|all (?:the )?checks|all \d+(?: checks)?|every check|(?:they |these )?all)";
    let then = r"(?: (?:is|are|now|still|also|again|come back|came back|comes back))*";
    let ends = r"(?:$|[.,;:!)]| \(| —| ✅| and| with| including| in| on| across| for| again| now| locally)";
    let wording = format!(r"(?:^|[,;:—(] |\band )(?:now )?{all}{then} (?:pass(?:es|ed|ing)?|green){ends}");
    Wording::new(wording.into(), [&["pass", "green"], &["all", "every"]])
});

/// Deeds in words that may tell how things are rather than what was done.
static LOOSE_DEEDS: LazyLock<Vec<(Deed, Wording)>> = LazyLock::new(|| {
    let place = r"(?:staging|stage|prod|production|live|the (?:\w+ ){0,2}(?:cluster|server|environment|host)|npm|pypi|crates §code|the registry|dev|qa|test|preview)";
    let wordings = [
        (Deed::PullRequest, r"^(?:the |a |my )?(?:draft )?(?:pr|pull request|merge request)(?: #\d+)? is (?:now )?(?:up|open|live)\b".to_owned()),
        (Deed::PullRequest, r"\band (?:the |a )?(?:draft )?(?:pr|pull request|merge request) is (?:now )?(?:up|open|live)\b".to_owned()),
        (Deed::Install, r"§code(?: (?:and|,) §code)*,? (?:is|are|was|were|has been|have been) (?:now |all |successfully )*installed\b".to_owned()),
        (Deed::Deploy, format!(r"^(?:released|published|rolled out|shipped) (?:[§\w.@]+ ){{1,5}}(?:to|on) {place}\b")),
        (
        Deed::Deploy,
        format!(
            r"\b(?:is|are|was|were|been|now)(?: (?:now|all|both|fully|successfully|live and))* (?:deployed|rolled out|released|published|applied|live|up|running) (?:to|on|in) {place}\b"
        ),
    ),
    ];
    wordings
        .into_iter()
        .map(|(deed, wording)| (deed, Wording::new(wording.into(), deed_needs(deed))))
        .collect()
});

/// What may come before a deed at the start of a sentence: "Done. Committed", "I have also pushed".
const OPENING: &str = r"^(?:(?:done|perfect|great|yes|ok|okay|all|now|also|then|finally|successfully|and|i|i've|i have|we|we've|we have|just|already|everything|changes?|both|all changes|the changes|all files|status|result|git)[,:!]? (?:— )?)*";

/// What a deed is done to.
const WORK: &str = r"(?:changes?|everything|work|all|it|fix|fixes|files?|code|features?|updates?|docs|branch|commits?|both|implementation|plan|tag|refactor|refactoring|cleanup)";

/// Forms of "to be" and "to have" between work and deed.
const BEEN: &str =
    r"(?: (?:is|are|was|were|has|have|been|now|all|also|both|successfully|fully|safely|already))*";

/// What may follow a deed that is over, lest "committed lines" be one.
const AFTER: &str = r"(?: (?:and|as|to|in|with|on|under|at|—|locally|separately|successfully|the|all|your|my|our|this|these|both|everything|it|§|via|upstream|origin|[0-9a-f]{7,40}|fix(?:es)?|changes?|branch|tags?|them)\b|[.,;:!)]| \(|: | §| —| ✅|$)";

/// How a sentence begins that tells of deeds one after the other: "I added it and committed the change".
const TOLD: &str = r"^(?:i|i've|we|we've|added|changed|created|fixed|implemented|moved|refactored|removed|renamed|tested|updated|wrote)";

static CHECKS: LazyLock<Vec<(Check, Wording)>> = LazyLock::new(|| {
    let subjects = SUBJECTS.iter().zip(SUBJECT_STEMS).map(|((check, subject), stems)| {
        // "Tests: passing", "tests — all passing", "tests (3577 passing)", "tests and lint are clean".
        let more = r"(?:(?:,| and|,? \+| &| /) [§\w ]{1,24}?){0,3}";
        // "tests of all three packages".
        let of_all = r"(?: (?:of|in|for|across) (?:all|both|every|each|the (?:whole|entire|full)) (?:[§\w]+ ){0,3}?[§\w]+)?";
        let passes = format!(
            r"(?:^|[^\w§-]){subject}{of_all}{more}(?: \([^)]*\))?(?: ?[:,—(|✅])* ?(?:(?:{BETWEEN}) ){{0,5}}{PASS}"
        );
        let finds = r"(?: (?:now|still|also|run|ran|runs|reports?|shows?|finds?|found|gives?|has|have|with|is|are|completes?|completed|finish(?:es|ed)|passes|passed|exits?|succeeds?|succeeded|—)|[:,(])*";
        let finds_nothing = format!(
            r"(?:^|[^\w§-]){subject}{finds} {NOTHING}|\b{NOTHING} (?:from|by|in|under) (?:the )?{subject}(?:$|[^\w-])"
        );
        let passes = Wording::new(passes.into(), [stems, PASS_STEMS]);
        let finds_nothing = Wording::new(finds_nothing.into(), [stems, NOTHING_STEMS]);
        [(*check, passes), (*check, finds_nothing)]
    });
    let others = OTHER_WORDINGS.iter().map(|(check, needs, wording)| (*check, Wording::of(wording, *needs)));
    subjects.flatten().chain(others).collect()
});

static DEEDS: LazyLock<Vec<(Deed, Wording)>> = LazyLock::new(|| {
    let request = r"(?:prs?|pull requests?|merge requests?|mrs?)";
    let ends = r"(?: (?:#\d+|§|for|with|at|to|from|on|titled|against|and|here|successfully|is|—)|[.,;:!)]| \(|: | #| https?:|$)";
    let wordings = [
        (Deed::Commit, format!(r"{OPENING}committed{AFTER}")),
        (Deed::Commit, format!(r"\bi(?:'ve| have)?(?: (?:also|now|just|successfully|then))* committed{AFTER}")),
        (Deed::Commit, format!(r"\b{WORK}{BEEN} committed{AFTER}")),
        (Deed::Commit, format!(r"{TOLD}\b.*\band(?: then| also| finally)? committed{AFTER}")),
        (Deed::Push, format!(r"{TOLD}\b.*\band(?: then| also| finally)? (?:committed and )?pushed{AFTER}")),
        (Deed::Commit, r"\b(?:created|made) (?:a |the |an |new |empty |single |clean |\d+ |two |three )*commits?(?: §| with| for| and pushed|[.,:;]|$)".to_owned()),
        (Deed::Commit, r"^commit(?:ted)?(?: created| hash| sha)?:? §hash".to_owned()),
        (Deed::Push, format!(r"{OPENING}(?:committed (?:and|&) )?pushed{AFTER}")),
        (Deed::Push, format!(r"\bi(?:'ve| have)?(?: (?:also|now|just|successfully|then|fixed and|committed and))* pushed{AFTER}")),
        (Deed::Push, format!(r"\b{WORK}{BEEN}(?: committed (?:and|&))? pushed{AFTER}")),
        (Deed::Push, r"\bcommits? and pushed (?:them|it|both|everything|all|to)\b".to_owned()),
        (Deed::PullRequest, format!(r"\b(?:opened|created|submitted|raised)(?: (?:a|the|new|draft|an|github|gitlab|follow up|single|separate|two|three))* {request}{ends}")),
        (Deed::PullRequest, format!(r"^{request}(?: #\d+| §)?(?: has been| is| was)?(?: now| successfully)? (?:created|opened|submitted){ends}")),
        (Deed::Issue, r"\b(?:filed|opened|raised|created|submitted)(?: (?:a|an|the|new|github|gitlab|follow up|tracking|separate|bug|linear|jira|two|three))* (?:issues?|tickets?|bug reports?)(?: (?:#\d+|for|to track|at|on|about|§|and)|[.,;:]| \(|: | #|$)".to_owned()),
        (Deed::Issue, r"\bfiled (?:as )?#\d+".to_owned()),
        (Deed::Issue, r"^(?:the |an )?(?:issue|ticket)(?: #\d+)? (?:is|was|has been) (?:now )?(?:filed|opened|created)\b".to_owned()),
        (Deed::Deploy, format!(r"{OPENING}deployed(?: (?:to|and|the|it|successfully|with|on|via|as)\b|[.,;:!]| \(|$)")),
        (Deed::Deploy, r"\bi(?:'ve| have)?(?: (?:also|now|just|successfully|then))* deployed\b".to_owned()),
        (Deed::Deploy, format!(r"\b(?:{WORK}|app|site|service|server|version|application|website){BEEN} deployed(?: (?:to|and|successfully|on)\b|[.,;:!]|$)")),
        (Deed::Deploy, r"\bdeployment(?: is| was| has)?(?: now| been| fully)? (?:complete|completed|successful|succeeded|done)\b".to_owned()),
        (Deed::Install, r"^(?:done[.,!]? )?(?:successfully )?installed (?:the |all |all the |new |required |missing |npm |project )*(?:dependenc|packages?\b|§)".to_owned()),
        (Deed::Install, r"\bi(?:'ve| have)?(?: (?:also|now|just|successfully|then))* installed (?:the |all |all the |new |required |missing )*(?:dependenc|packages?\b|§)".to_owned()),
        (Deed::Install, r"\b(?:dependencies|packages) (?:are|were|have been|are now|all) (?:now |all |successfully )*installed\b|^(?:all )?(?:dependencies|packages) installed(?:$|[.,;:!]| and| with)".to_owned()),
    ];
    wordings
        .into_iter()
        .map(|(deed, wording)| (deed, Wording::new(wording.into(), deed_needs(deed))))
        .collect()
});

/// Words that make of a sentence no claim of anything.
static NO_CLAIM: Wording = Wording::of(
    concat!(
        r"\b(?:not|never|cannot|can't|couldn't|didn't|doesn't|don't|hasn't|haven't|isn't|wasn't|won't|wouldn't|aren't|weren't|",
        r"will|i'll|we'll|you'll|it'll|would|should|could|might|may|must|shall|can be|to be|being|get|gets|getting|",
        r"if|once|unless|until|when|whenever|while|before|after (?:you|that|this|the|it)|whether|assuming|provided|so that|in case|",
        r"want|wants|need|needs|needed|plan to|planning|going to|about to|ready to|able to|next|todo|later|soon|(?:still|is|are) pending|remaining|awaiting|waiting|",
        r"make sure|makes sure|ensure|ensures|ensuring|verify|verifies|confirm that you|please|let me|let's|try|",
        r"you|user|users|someone|team|teammate|maintainers?|developer|colleague|",
        r"make|makes|making|lets|allows?|helps?|requires?|expects?|expected|returns?|prints?|displays?|logs?|",
        r"previous session|earlier session|last session|previously|originally|yesterday|last week|used to|already was|were passing|was passing|",
        r"without (?:running|testing|building|committing|pushing)|instead of|rather than|example|e\.g|eg|hypothetical|wip|draft of|estimated|would've)\b"
    ),
    [&[], &[]],
);

/// Words that make of a sentence no claim that all checks pass.
static NOT_ALL: Wording = Wording::of(
    concat!(
        r"\b(?:except|excluding|apart from|aside from|other than|besides|but|only|most|mostly|some|several|almost|nearly|partially|partly|half|",
        r"fail|fails|failed|failing|flaky|skipped|broken|errors? remain|red|timed? ?out|",
        r"ci|cd|pipeline|workflow|workflows|github actions|actions|hooks?|remotely|upstream|on main|on master|baseline|",
        r"manual|manually|smoke|by hand|(?:was|were) (?:already )?(?:passing|green|clean))\b"
    ),
    [&[], &[]],
);

/// "0 failed", "no failures": the fail in it is none.
static NO_FAILS: Wording = Wording::of(
    r"\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:fail(?:s|ed|ures?|ing)?|errors?|skipped|flaky)\b(?: tests?)?|\b(?:fixed|resolved|repaired)(?: \w+){0,4} (?:failing|broken|failed|flaky)\b|\bpreviously (?:failing|broken)\b",
    [&["fail", "error", "skipped", "flaky", "broken"], &[]],
);

static PARTIAL: Wording = Wording::of(r"\b(\d+) ?(?:of|/|out of)(?: the)? ?(\d+)\b", [&["of", "/"], &[]]);

/// What is passed on: "the tests pass the flag".
static PASSES_ON: Wording = Wording::of(
    r"\bpass(?:es|ed|ing)? (?:the|a|an|its|their|it|them|this|null|arguments?|args|values?|parameters?|data|options?|along|through|control|§code|in (?:the|a|an)|to|by|down|as|around|over|judgement)\b",
    [&["pass"], &[]],
);

/// Words that set a subject apart from the whole: "the parser tests", "26 new tests".
const WHOLE_WORDS: &[&str] = &[
    "a", "all", "and", "are", "every", "everything", "existing", "full", "implementation", "is", "now",
    "our", "passing", "project", "same", "still", "suite", "test", "tests", "the", "whole", "entire",
    "complete", "done", "build", "lint", "clean", "pass", "i", "ran", "run", "verified", "confirmed", "that",
    "with", "its", "both", "linting", "types", "yes", "no", "✅", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten",
];

/// What a message claims, in order. Each kind once for a sentence.
pub fn claimed(message: &str) -> Vec<Claim<'_>> {
    let mut found: Vec<Claim<'_>> = Vec::new();
    for sentence in asides::told(message) {
        for (deed, extent) in deeds_of(sentence) {
            if !found.iter().any(|claim| claim.sentence == sentence && claim.deed == deed) {
                found.push(Claim { sentence, deed, extent });
            }
        }
    }
    if found.is_empty() {
        return found;
    }
    let admitted = admitted(message);
    found.retain(|claim| !admitted.contains(&claim.deed));
    found
}

/// What every wording of a deed has.
fn deed_needs(deed: Deed) -> Needs {
    let stems: &[&str] = match deed {
        Deed::Commit => &["commit"],
        Deed::Push => &["push"],
        Deed::PullRequest => &["pr", "request", "mr"],
        Deed::Issue => &["filed", "issue", "ticket", "report"],
        Deed::Install => &["install"],
        Deed::Deploy => {
            &["deploy", "released", "rolled", "published", "shipped", "applied", "live", "up", "running"]
        }
        Deed::Check(_) => &[],
    };
    [stems, &[]]
}

/// What a sentence claims, and how much of it.
pub(super) fn deeds_of(sentence: &str) -> Vec<(Deed, Extent)> {
    let is_unticked =
        ["[ ]", "❌", "✗", "✘", "⚠", "⏳", "🚧", "⬜", "☐"].iter().any(|mark| sentence.contains(mark));
    if is_unticked || sentence.trim_end().ends_with('?') {
        return Vec::new();
    }
    let words = plain(sentence);
    let mut found = checks_of(sentence, &words);
    // Most sentences claim nothing: whether they speak of all of it is only asked of those that do.
    if !found.is_empty() && is_not_all(&words) {
        found.clear();
    }
    let deeds = DEEDS.iter().map(|wording| (wording, Extent::Whole));
    for ((deed, wording), extent) in deeds.chain(LOOSE_DEEDS.iter().map(|wording| (wording, Extent::Loose))) {
        if !found.iter().any(|(other, _)| other == deed) && wording.is_match(&words) {
            found.push((*deed, extent));
        }
    }
    if !found.is_empty() && NO_CLAIM.is_match(&words) {
        found.clear();
    }
    found
}

/// The checks that a sentence says to pass.
fn checks_of(sentence: &str, words: &str) -> Vec<(Deed, Extent)> {
    let mut found: Vec<(Deed, Extent)> = Vec::new();
    for (check, wording) in CHECKS.iter() {
        if !found.iter().any(|(deed, _)| *deed == Deed::Check(*check))
            && let Some(at) = wording.find(words)
        {
            found.push((Deed::Check(*check), extent(&words[..at.start])));
        }
    }
    found.extend(ticked_subject(sentence, words).map(|check| (Deed::Check(check), Extent::Whole)));
    if found.is_empty() && EVERYTHING.is_match(words) {
        found.extend(everything(words));
    }
    found
}

/// What "everything passes" claims: the checks that the sentence names, else any.
fn everything(words: &str) -> Vec<(Deed, Extent)> {
    let words = padded(words);
    let is_named = |nouns: &[&str]| crate::words::has_any_words(&words, nouns);
    let named: Vec<_> = NOUNS.iter().filter(|(_, nouns)| is_named(nouns)).collect();
    if named.is_empty() {
        return NOUNS.iter().map(|(check, _)| (Deed::Check(*check), Extent::Loose)).collect();
    }
    named.into_iter().map(|(check, _)| (Deed::Check(*check), Extent::Whole)).collect()
}

/// Whether a sentence about checks speaks of less than all of them, or of somebody else's run.
fn is_not_all(words: &str) -> bool {
    let rest = NO_FAILS.blanked(words);
    let is_partial = PARTIAL.in_question(words).is_some_and(|pattern| {
        let part = |group: &Option<Range<usize>>| group.clone().map(|range| &words[range]);
        pattern.groups_iter(words).any(|groups| part(&groups[1]) != part(&groups[2]))
    });
    is_partial || NOT_ALL.is_match(&rest) || PASSES_ON.is_match(&rest)
}

/// Whether words before a subject set it apart from the whole. What stands in a clause of its own does not.
fn extent(words: &str) -> Extent {
    let is_set_apart = ["for ", "in ", "on ", "under ", "with "].iter().any(|start| words.starts_with(start));
    if is_set_apart {
        return Extent::Part;
    }
    let clause = words.rsplit([',', ';', ':', '—']).next().unwrap_or(words);
    let clause = clause.rsplit(" and ").next().unwrap_or(clause);
    let before =
        clause.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '§'));
    let mut before = before.filter(|word| !word.is_empty());
    let is_apart = before.any(|word| {
        !WHOLE_WORDS.contains(&word) && !word.starts_with('§') && !word.chars().all(|c| c.is_ascii_digit())
    });
    if is_apart { Extent::Part } else { Extent::Whole }
}

/// "✅ Tests", "| Tests | ✅ |": nothing but a subject and a mark.
fn ticked_subject(sentence: &str, words: &str) -> Option<Check> {
    if !sentence.contains(['✅', '✔', '✓', '☑']) {
        return None;
    }
    let rest = words.replace(['✅', '|', ':', '-', '—'], " ");
    let rest: Vec<&str> = rest
        .split_whitespace()
        .filter(|word| !matches!(*word, "all" | "the" | "full" | "unit" | "integration" | "step"))
        .collect();
    match rest.as_slice() {
        ["tests" | "§tests"] | ["test", "suite"] => Some(Check::Tests),
        ["build" | "§build"] => Some(Check::Build),
        ["lint" | "linting" | "§lint"] => Some(Check::Lint),
        ["typecheck" | "types" | "§types"] | ["type", "check" | "checking" | "checks"] => Some(Check::Types),
        ["formatting" | "§format"] => Some(Check::Format),
        _ => None,
    }
}

/// Checks and deeds that the message itself says to have failed or been left out, in any sentence.
fn admitted(message: &str) -> Vec<Deed> {
    let mut found = Vec::new();
    for sentence in super::all_sentences(message) {
        let words = plain(sentence);
        // What a fail that is none leaves behind admits nothing that was not there before.
        if ADMISSION.in_question(&words).is_none() {
            continue;
        }
        let rest = NO_FAILS.blanked(&words);
        if !ADMISSION.is_match(&rest) {
            continue;
        }
        let rest_padded = padded(&rest);
        for (check, noun) in NOUNS {
            if crate::words::has_any_words(&rest_padded, noun) {
                found.push(Deed::Check(*check));
            }
        }
        for (deed, stems) in DEED_STEMS {
            if stems.iter().any(|stem| rest.contains(stem)) {
                found.push(*deed);
            }
        }
    }
    found
}

fn padded(words: &str) -> String {
    let only: String = words.chars().map(|c| if c.is_alphanumeric() || c == '§' { c } else { ' ' }).collect();
    format!(" {} ", only.split_whitespace().collect::<Vec<_>>().join(" "))
}

static ADMISSION: Wording = Wording::of(
    r"\b(?:fails?|failed|failing|failures?|broken|pre ?existing|couldn't|could not|cannot|can't|unable|didn't|did not|haven't|have not|hasn't|not been|wasn't|weren't|not run|not yet|unrelated|rejected|blocked)\b",
    [&["fail", "broken", "existing", "n't", "not", "unable", "unrelated", "rejected", "blocked"], &[]],
);

const NOUNS: &[(Check, &[&str])] = &[
    (Check::Tests, &["test", "tests", "suite", "spec", "specs", "§tests"]),
    (Check::Build, &["build", "builds", "compile", "compilation", "§build"]),
    (Check::Lint, &["lint", "linting", "linter", "eslint", "clippy", "ruff", "§lint"]),
    (Check::Types, &["type", "types", "typecheck", "tsc", "mypy", "typescript", "§types"]),
    (Check::Format, &["format", "formatting", "prettier", "§format"]),
];

const DEED_STEMS: &[(Deed, &[&str])] = &[
    (Deed::Commit, &["commit"]),
    (Deed::Push, &["push"]),
    (Deed::PullRequest, &["pull request", " pr ", " pr."]),
    (Deed::Issue, &["issue", "ticket"]),
    (Deed::Deploy, &["deploy"]),
    (Deed::Install, &["install"]),
];

#[cfg(test)]
mod tests;
