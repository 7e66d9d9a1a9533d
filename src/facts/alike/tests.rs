//! Pairs as plans, task lists and asks really word them. The tables say where the line runs: all of the
//! paraphrases but a few are found, and hardly any other pair is taken for one.

use proptest::prelude::*;

use super::*;

/// A step, and a task that means the same.
const SAME_WORK: &[(&str, &str)] = &[
    ("Add JWT verification to the auth middleware", "Implement JWT token verification in middleware"),
    ("Create `src/parser.rs` with a recursive descent parser", "Write parser.rs"),
    ("Set up the database schema for users and sessions", "Create users/sessions DB schema"),
    ("Write unit tests for the slug generator", "Add slug generator tests"),
    ("Add a `--json` flag to the `list` command", "Support --json output in list command"),
    ("Configure ESLint and Prettier", "Set up eslint/prettier configuration"),
    ("Migrate the settings page to React hooks", "Convert settings page to hooks"),
    ("Add rate limiting to the login endpoint", "Rate limit login route"),
    ("Update the README with installation instructions", "Document installation in README"),
    ("Handle network errors in the API client", "API client: network error handling"),
    ("Extract validation helpers into `utils/validate.ts`", "Move validation into utils/validate.ts"),
    ("Implement the `UserService` class", "Create user service"),
    ("Create the checkout form component", "Build CheckoutForm"),
    ("Add pagination to the orders list", "Paginate order list"),
    ("Introduce a retry policy with exponential backoff", "Exponential backoff for retries"),
    ("Add dark mode toggle to the navigation bar", "Implement dark-mode toggle in navbar navigation"),
    ("Replace moment.js with date-fns", "Swap moment for date-fns"),
    ("Cache compiled templates", "Template caching"),
    ("Add a GitHub Actions workflow for CI", "Set up CI pipeline with GitHub Actions"),
    ("Parse the YAML front matter of posts", "Front matter parsing"),
    ("Expose metrics on `/metrics`", "Add Prometheus metrics endpoint /metrics"),
    ("Define the error type in `error.rs`", "Create error.rs with the error enum"),
    ("Write the migration that adds `deleted_at`", "DB migration for deleted_at column"),
    ("Stream large uploads to S3", "Upload streaming (S3)"),
    ("Sanitise HTML in comments", "Comment HTML sanitising"),
    ("Add structured logging", "Structured logs via tracing"),
    ("Debounce the search input", "Search input debouncing"),
    ("Load plugins from a folder", "Plugin loading from the plugins directory"),
    ("Compress responses with gzip", "gzip response compression"),
    ("Internationalise the date picker", "Date picker i18n"),
    ("Send a welcome mail after sign-up", "Welcome email on signup: send mail"),
    ("Draw the histogram of latencies", "Latency histogram"),
    ("Support reading the config from environment variables", "Env var configuration"),
    ("Verify webhook signatures", "Webhook signature verification"),
];

/// A step of a plan, and a task that is another one.
const OTHER_WORK: &[(&str, &str)] = &[
    ("Add JWT verification to the auth middleware", "Add dark mode to the settings page"),
    ("Create `src/parser.rs` with a recursive descent parser", "Refactor the logger to use tracing"),
    ("Set up the database schema for users and sessions", "Add a Dockerfile"),
    ("Write unit tests for the slug generator", "Upgrade all npm packages"),
    ("Add a `--json` flag to the `list` command", "Add a progress bar to downloads"),
    ("Configure ESLint and Prettier", "Write a benchmark for the tokenizer"),
    ("Migrate the settings page to React hooks", "Fix memory leak in websocket client"),
    ("Add rate limiting to the login endpoint", "Add CSV export to reports"),
    ("Add rate limiting to the login endpoint", "Redesign the login page"),
    ("Update the README with installation instructions", "Rename the crate"),
    ("Handle network errors in the API client", "Add telemetry"),
    ("Extract validation helpers into `utils/validate.ts`", "Add an admin dashboard"),
    ("Implement the `UserService` class", "Implement the billing service"),
    ("Create the checkout form component", "Create the profile avatar component"),
    ("Add pagination to the orders list", "Add sorting to the customers table"),
    ("Introduce a retry policy with exponential backoff", "Replace axios with fetch"),
    ("Add dark mode toggle to the navigation bar", "Add keyboard shortcuts"),
    ("Cache compiled templates", "Bump the minimum Rust version"),
    ("Add a GitHub Actions workflow for CI", "Add Sentry error reporting"),
    ("Parse the YAML front matter of posts", "Generate an RSS feed"),
    ("Expose metrics on `/metrics`", "Refactor connection pool"),
    ("Define the error type in `error.rs`", "Add a changelog generator script"),
    ("Write the migration that adds `deleted_at`", "Seed demo data"),
    ("Stream large uploads to S3", "Add thumbnails for images"),
    ("Sanitise HTML in comments", "Add moderation queue"),
    ("Add structured logging", "Switch from REST to GraphQL"),
    ("Debounce the search input", "Add fuzzy matching to the command palette"),
    ("Load plugins from a folder", "Sandbox untrusted scripts"),
    ("Compress responses with gzip", "Add HTTP/2"),
    ("Internationalise the date picker", "Rewrite the colour theme"),
    ("Send a welcome mail after sign-up", "Add two-factor authentication"),
    ("Draw the histogram of latencies", "Delete the legacy importer"),
    ("Support reading the config from environment variables", "Add shell completions"),
    ("Verify webhook signatures", "Add Stripe invoices"),
];

#[test]
fn paraphrases_are_told_from_other_work() {
    let is_same = |(step, task): &&(&str, &str)| same_work(&Bag::of(step), &Bag::of(task));
    let missed: Vec<_> = SAME_WORK.iter().filter(|pair| !is_same(pair)).collect();
    let mistaken: Vec<_> = OTHER_WORK.iter().filter(is_same).collect();
    assert!(missed.len() <= 2, "{missed:#?}");
    assert!(mistaken.is_empty(), "{mistaken:#?}");
    assert!(SAME_WORK.len() + OTHER_WORK.len() >= 60);
}

#[test]
fn texts_that_share_anything_share_it_in_their_sketches() {
    let texts: Vec<&str> =
        SAME_WORK.iter().chain(OTHER_WORK).flat_map(|(one, other)| [*one, *other]).collect();
    let (mut common, mut told_apart) = (0, 0);
    for (one, other) in texts.iter().flat_map(|one| texts.iter().map(move |other| (one, other))) {
        let (one, other) = (Bag::of(one), Bag::of(other));
        let may_share = Sketch::of([&one]).may_share(&Sketch::of([&other]));
        let is_common = one.shared(&other) > 0 || one.shares_a_name(&other);
        assert!(may_share || !is_common);
        common += usize::from(is_common);
        told_apart += usize::from(!may_share);
    }
    assert!(common > texts.len() && told_apart > texts.len() * texts.len() / 2, "{common} {told_apart}");
}

#[test]
fn a_bag_is_kept_as_it_is() {
    let bag = Bag::of("Define the error type in `src/error.rs`, and `ParseError`");
    let bytes = postcard::to_allocvec(&bag).expect("bytes");
    assert_eq!(postcard::from_bytes::<Bag>(&bytes).expect("a bag"), bag);
    assert_eq!(bytes.len(), 2 + 8 * (bag.stems.len() + bag.names.len()));
}

#[test]
fn names_are_taken_apart_and_endings_are_off() {
    let stems = |text: &str| {
        let parts = text.split(' ').flat_map(humps).map(str::to_lowercase);
        parts.filter_map(|mut word| stem(&mut word).then_some(word)).collect::<Vec<_>>()
    };
    assert_eq!(stems("parseHTMLPage"), ["pars", "html", "pag"]);
    assert_eq!(stems("validating validation Validators"), ["valid", "valid", "valid"]);
    assert_eq!(stems("parser parses parsing"), ["pars", "pars", "pars"]);
    assert_eq!(stems("running run"), ["run", "run"]);
    assert_eq!(stems("queries query"), ["query", "query"]);
    assert_eq!(stems("class process"), ["class", "proces"]);
    assert!(stems("add the new 42 files").is_empty());
}

#[test]
fn each_word_is_known_for_one_thing() {
    assert!(EMPTY.is_sorted() && VERBS.is_sorted() && SYNONYMS.is_sorted());
    assert_eq!(KNOWN.len(), EMPTY.len() + VERBS.len() + SYNONYMS.len());
}

/// The stems of a text as they were once worked out: all words first, each a text of its own.
mod slowly {
    use super::*;

    pub(super) fn stems(text: &str) -> Vec<u64> {
        let words =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).flat_map(humps);
        words.filter_map(|word| stem(&word)).map(|stem| hash(&stem)).collect()
    }

    fn humps(word: &str) -> Vec<String> {
        let chars: Vec<char> = word.chars().collect();
        let mut parts = vec![String::new()];
        for (at, c) in chars.iter().enumerate() {
            let after_small = at > 0 && chars[at - 1].is_lowercase();
            let before_small =
                at > 0 && chars[at - 1].is_uppercase() && chars.get(at + 1).is_some_and(|c| c.is_lowercase());
            if c.is_uppercase() && (after_small || before_small) {
                parts.push(String::new());
            }
            if let Some(part) = parts.last_mut() {
                part.extend(c.to_lowercase());
            }
        }
        parts
    }

    fn stem(word: &str) -> Option<String> {
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        if word.len() < 2 || is_number || EMPTY.contains(&word) || VERBS.contains(&word) {
            return None;
        }
        if let Some(same) = synonym(word) {
            return Some(same.to_owned());
        }
        if !word.is_ascii() {
            return Some(word.to_owned());
        }
        let one = word.strip_suffix('s').filter(|one| one.len() > 2 && !one.ends_with('s'));
        let mut stem = one.unwrap_or(word).to_owned();
        while let Some(shorter) = without_ending(&stem) {
            stem = shorter;
        }
        stem.truncate(STEM);
        Some(synonym(&stem).map_or(stem, str::to_owned))
    }

    fn synonym(word: &str) -> Option<&'static str> {
        SYNONYMS.iter().find(|(from, _)| *from == word).map(|(_, to)| *to)
    }

    fn without_ending(word: &str) -> Option<String> {
        const ENDINGS: &[&str] =
            &["ations", "ation", "ing", "ions", "ion", "ment", "able", "ers", "er", "or", "ed", "ly", "e"];
        if let Some(start) = word.strip_suffix("ie").filter(|start| start.len() > 2) {
            return Some(format!("{start}y"));
        }
        let start = ENDINGS.iter().find_map(|end| word.strip_suffix(end).filter(|start| start.len() > 2))?;
        if word.ends_with("ss") {
            return None;
        }
        let bytes = start.as_bytes();
        let doubled =
            bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] && !start.ends_with("ss");
        Some(if doubled && word.len() - start.len() > 1 {
            start[..start.len() - 1].to_owned()
        } else {
            start.to_owned()
        })
    }
}

proptest! {
    #[test]
    fn stems_are_those_of_each_word_by_itself(
        text in "(parse|HTML|Page|user|ation|s|ing|ie|ment|er|ed|ss|run|n|the|validat|or|é|É|ß|İ| |_|-|4|\\.|config|docs?){0,24}",
    ) {
        let mut found = Vec::new();
        each_stem(&text, |stem| found.push(stem));
        prop_assert_eq!(found, slowly::stems(&text), "{}", text);
    }
}

#[test]
fn a_file_or_symbol_in_common_is_enough() {
    let one = Bag::of("Create `src/db.rs`");
    assert!(same_work(&one, &Bag::of("wire up db.rs everywhere in the start-up sequence")));
    assert!(!same_work(&one, &Bag::of("wire up dc.rs")));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(one in ".{0,120}", other in ".{0,120}") {
        let (one, other) = (Bag::of(&one), Bag::of(&other));
        prop_assert_eq!(same_work(&one, &other), same_work(&other, &one));
        prop_assert!((0.0..=1.0).contains(&one.within(&other)));
    }
}
