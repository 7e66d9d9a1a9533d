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
fn names_are_taken_apart_and_endings_are_off() {
    let stems = |text: &str| words(text).filter_map(|word| stem(&word)).collect::<Vec<_>>();
    assert_eq!(stems("parseHTMLPage"), ["pars", "html", "pag"]);
    assert_eq!(stems("validating validation Validators"), ["valid", "valid", "valid"]);
    assert_eq!(stems("parser parses parsing"), ["pars", "pars", "pars"]);
    assert_eq!(stems("running run"), ["run", "run"]);
    assert_eq!(stems("queries query"), ["query", "query"]);
    assert_eq!(stems("class process"), ["class", "proces"]);
    assert!(stems("add the new 42 files").is_empty());
}

#[test]
fn tables_are_in_order_since_they_are_searched_by_halves() {
    assert!(EMPTY.is_sorted() && VERBS.is_sorted() && SYNONYMS.is_sorted());
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
