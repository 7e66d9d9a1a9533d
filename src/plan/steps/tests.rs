//! Plans -> their steps; the plans are made up, in the manner of real ones. Must not depend on a disk.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::Mark::{Abandoned, None as Unmarked, Open, Ticked};
use super::StepKind::{Bullet, Checkbox, Heading, Numbered};
use super::{Mark, Step, StepKind, parse_steps, parse_steps_again, parse_words};

fn outline(markdown: &str) -> Vec<(StepKind, Mark, usize, String)> {
    parse_steps(markdown).into_iter().map(|step| (step.kind, step.mark, step.depth, step.text)).collect()
}

#[track_caller]
fn one(markdown: &str) -> Step {
    let mut steps = parse_steps(markdown);
    assert_eq!(steps.len(), 1, "steps of {markdown:?}: {steps:?}");
    steps.remove(0)
}

#[track_caller]
fn marked(markdown: &str, mark: Mark) {
    assert_eq!(one(markdown).mark, mark, "the mark of {markdown:?}");
}

#[test]
fn a_plan_is_read_whole() {
    let plan = "\
# Plan: sort the shelf

Some words about it.

## Steps

- [ ] Measure `src/shelf.rs`
  - the left side
  - [x] the right side,
    from top to bottom
- [x] Write **down** [what](docs/size.md) was found
1. Saw
2) Paint `fn paint()`
* plain

### Phase 2: Books

**File:** `src/books.rs:12`

Text.
";
    let steps = parse_steps(plan);
    let lines: Vec<(usize, usize)> = steps.iter().map(|step| (step.number, step.line)).collect();
    assert_eq!(lines, [(1, 7), (2, 8), (3, 9), (4, 11), (5, 12), (6, 13), (7, 14), (8, 16)]);
    assert_eq!(
        outline(plan),
        [
            (Checkbox, Open, 0, "Measure `src/shelf.rs`".to_owned()),
            (Bullet, Unmarked, 1, "the left side".to_owned()),
            (Checkbox, Ticked, 1, "the right side, from top to bottom".to_owned()),
            (Checkbox, Ticked, 0, "Write **down** [what](docs/size.md) was found".to_owned()),
            (Numbered, Unmarked, 0, "Saw".to_owned()),
            (Numbered, Unmarked, 0, "Paint `fn paint()`".to_owned()),
            (Bullet, Unmarked, 0, "plain".to_owned()),
            (Heading, Unmarked, 0, "Phase 2: Books".to_owned()),
        ]
    );
    assert_eq!(steps[0].section.as_deref(), Some("Steps"));
    assert_eq!(steps[7].section.as_deref(), Some("Steps"));
    assert_eq!(steps[0].paths, ["src/shelf.rs"]);
    assert_eq!(steps[3].paths, ["docs/size.md"]);
    assert_eq!(steps[5].symbols, ["paint"]);
    assert_eq!(steps[7].paths, ["src/books.rs"]);
}

#[test]
fn boxes_and_signs() {
    for text in ["- [x] a", "* [X] a", "+ [x] a", "1. [x] a", "- ☑ a", "- ☑\u{fe0f} a", "-\t[x]\ta"] {
        let step = one(text);
        assert_eq!((step.kind, step.mark, step.text.as_str()), (Checkbox, Ticked, "a"), "{text}");
    }
    for text in ["- [ ] a", "1) [ ] a", "- ☐ a", "- [] a"] {
        let step = one(text);
        assert_eq!((step.kind, step.mark, step.text.as_str()), (Checkbox, Open, "a"), "{text}");
    }
    assert_eq!(
        outline("- ✅ a\n1. ❌ b\n2. ⏳ c"),
        [
            (Bullet, Ticked, 0, "a".to_owned()),
            (Numbered, Open, 0, "b".to_owned()),
            (Numbered, Open, 0, "c".to_owned()),
        ]
    );
    assert_eq!(one("- [x](https://example.com) a").kind, Bullet);
    marked("- a (done)", Ticked);
    marked("- [ ] a (done)", Open);
    marked("- ~~a~~ ✅", Ticked);
    marked("- rename to ALL-DONE", Unmarked);
    marked("- a done thing", Unmarked);
}

#[test]
fn what_was_given_up() {
    for text in [
        "- [-] a",
        "- [~] a",
        "- ~~a~~",
        "- [ ] ~~a `b`~~",
        "- [x] ~~a~~ (b instead)",
        "- **~~a~~** — b is enough",
        "- a (abandoned)",
        "- a (skipped)",
        "- a (skipped, too slow)",
        "- a [skipped]",
        "- [skipped] a",
        "- [ ] [deferred to v2] a",
        "- (Deferred) a",
        "- SKIPPED a",
        "- SKIPPED: a",
        "- Skipped — a",
        "- **Skipped**: a",
        "- a — abandoned: b was there already",
        "- a - skipped",
        "- a – won't do",
        "- a: won’t do",
        "- a: N/A",
        "- a — dropped.",
        "- a — deferred to the next release",
        "- a — skipped (not needed)",
        "- a **cancelled**",
        "- [x] a — canceled",
        "1. [obsolete] a",
        "- Superseded: a",
        "### ~~Step 3: a~~",
        "### Step 3: ~~a~~",
        "## Phase 2: a (deferred)",
        "| [ ] | a | dropped: too slow |\n",
    ] {
        let text = match text.strip_prefix('|') {
            Some(_) => format!("| x | y | z |\n|---|---|---|\n{text}"),
            None => text.to_owned(),
        };
        marked(&text, Abandoned);
    }
}

#[test]
fn what_only_speaks_of_giving_up() {
    for text in [
        "- handle skipped tests",
        "- count tests that were skipped",
        "- show states: passed, failed, skipped",
        "- show states — skipped, failed and passed",
        "- print the rest (skipped if offline)",
        "- print the rest (skipped on Windows)",
        "- log dropped packets",
        "- deferred loading of images",
        "- set the state to `skipped`",
        "- add variant `Skipped`: for tests",
        "- ~~use a~~ use b",
        "- use ~~a~~ b",
        "- do not drop it",
        "- Remove `a()` — no longer needed (b does it)",
        "- Delete a.rs (obsolete)",
        "- a N/A-safe parser",
    ] {
        marked(text, Unmarked);
    }
}

#[test]
fn parts_of_what_was_given_up() {
    let plan = "\
- [ ] ~~a~~
  - b
  - [x] c
- d
## Phase 1: e (deferred)
1. f
### More
2. g
## Phase 2: h
1. i
";
    let marks: Vec<Mark> = parse_steps(plan).iter().map(|step| step.mark).collect();
    assert_eq!(
        marks,
        [Abandoned, Abandoned, Ticked, Unmarked, Abandoned, Abandoned, Abandoned, Unmarked, Unmarked]
    );
}

#[test]
fn headings_count_only_with_the_form_of_a_step() {
    for text in [
        "## Step 1: a",
        "### Phase 2 — a",
        "# TASK 3",
        "## Part IV: a",
        "## Milestone 1.2: a",
        "### Phase 4a: a",
        "## 3. Do a",
        "### 2) Do a",
        "### 1.2 Do a",
        "### **Step 3: a**",
        "## 🚀 Phase 1: a",
        "Step 2: a\n=====",
        "**Step 1.1: do `a`** _(b)_",
        "**1. Do a** (`b`)",
        "**Step 2:** do a",
        "**Step 2** - do a",
    ] {
        assert_eq!(one(text).kind, Heading, "{text}");
    }
    for text in [
        "## Context", "## Next steps", "## Part of a whole", "## Task list", "## 2024 in numbers",
        "## 1.2.0 (2024-05-01)", "## ✅ Completed", "**Note:** a", "**Phase 1** covers a", "Step 1: a",
    ] {
        assert_eq!(outline(text), [], "{text}");
    }
}

#[test]
fn headings_with_marks() {
    for text in [
        "### [x] Step 3: a", "### ✅ Step 3: a", "### Step 3: a ✅", "### 3. ✅ a", "### Step 3: a (DONE)",
        "### [x] a",
    ] {
        let step = one(text);
        assert_eq!((step.kind, step.mark), (Heading, Ticked), "{text}");
        assert!(!step.text.contains("[x]"), "{}", step.text);
    }
    marked("## [ ] 2. a", Open);
    marked("## Step 1: a", Unmarked);
    let steps = parse_steps("## [x] Step 1: a\n- b");
    assert_eq!(steps[1].section.as_deref(), Some("Step 1: a"));
}

#[test]
fn sections_are_the_nearest_headings() {
    let steps = parse_steps("- a\n# One\n- b\n## Two\n- c\n# Three\n## Step 1\n- d");
    let sections: Vec<Option<&str>> = steps.iter().map(|step| step.section.as_deref()).collect();
    assert_eq!(sections, [None, Some("One"), Some("Two"), Some("Three"), Some("Step 1")]);
}

#[test]
fn code_comments_quotes_and_tables_hold_no_steps() {
    for text in [
        "```\n- [x] a\n```",
        "~~~md\n1. a\n~~~",
        "    - [x] a",
        "<!-- \n- [x] a\n\n- b -->",
        "> - [x] a\n> 1. b",
        "| a | b |\n|---|---|\n| c | ✅ |\n| - d | 1. e |",
        "---\ntodos:\n  - a\n---\n",
        "```\n- never closed",
        "",
        "- \n- [ ]\n1. ",
    ] {
        assert_eq!(outline(text), [], "{text}");
    }
    assert_eq!(
        outline("- a\n\n  ```\n  - [x] b\n  ```\n\n  > - c\n- d"),
        [(Bullet, Unmarked, 0, "a".to_owned()), (Bullet, Unmarked, 0, "d".to_owned())]
    );
}

#[test]
fn rules_are_no_front_matter() {
    assert_eq!(outline("# a\n\n---\nb: c\n\n- d\n\n---\n").len(), 1);
    assert_eq!(one("---\na: b\n---\n- c").line, 4);
}

#[test]
fn table_rows_with_a_checkbox_are_steps() {
    let table = "\
| done | what | where |
|------|------|-------|
| [x]  | saw  | `src/a.rs` |
| [ ]  | sand | - |
| yes  | oil  | - |
| 4    | ☐    | wax |
| glue | [x]  |
";
    assert_eq!(
        outline(table),
        [
            (Checkbox, Ticked, 0, "saw  | `src/a.rs`".to_owned()),
            (Checkbox, Open, 0, "sand | -".to_owned()),
            (Checkbox, Open, 0, "4    | ☐    | wax".to_owned()),
            (Checkbox, Ticked, 0, "glue".to_owned()),
        ]
    );
    let steps = parse_steps(table);
    assert_eq!(steps[0].line, 3);
    assert_eq!(steps[0].paths, ["src/a.rs"]);
}

#[test]
fn further_paragraphs_name_files_but_are_not_the_text() {
    let step = one("1. Write the parser\n\n   It goes to `src/parse.rs`.\n");
    assert_eq!(step.text, "Write the parser");
    assert_eq!(step.paths, ["src/parse.rs"]);

    let step = one("### 2. Write it\n**Files:** `a.rs`, b.rs\n\nLike `c.rs`.");
    assert_eq!(step.paths, ["a.rs", "b.rs"]);
}

#[test]
fn windows_line_ends_and_tabs() {
    let steps = parse_steps("# a\r\n\r\n- [x] b\r\n\t- c\r\n\t  d\r\n");
    let read: Vec<(usize, usize, &str)> =
        steps.iter().map(|step| (step.line, step.depth, step.text.as_str())).collect();
    assert_eq!(read, [(3, 0, "b"), (4, 1, "c d")]);
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Every step's words are in the source, from its line on.
fn check(markdown: &str) -> Result<(), TestCaseError> {
    let lines: Vec<&str> = markdown.split('\n').collect();
    for (index, step) in parse_steps(markdown).iter().enumerate() {
        prop_assert_eq!(step.number, index + 1);
        prop_assert!(!step.text.contains('\n') && !step.text.trim().is_empty());
        let below = squeezed(&lines[step.line - 1..].join("\n"));
        let at = below.find(&squeezed(&step.text));
        prop_assert!(at.is_some(), "{step:?} is not in {markdown:?}");
        // Only boxes may stand alone on the first line.
        let first = squeezed(lines[step.line - 1]).len();
        let between = below.get(first..at.unwrap_or(0)).unwrap_or_default();
        prop_assert!(
            !between.contains(|c: char| c.is_alphanumeric() && !matches!(c, 'x' | 'X')),
            "{step:?} starts elsewhere"
        );
    }
    Ok(())
}

fn crafted() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "- ", "* ", "1. ", "2) ", "[ ] ", "[x] ", "[-] ", "\n", "\n\n", "\r\n", "  ", "    ", "\t", "# ",
            "### ", "Step 1: ", "**1. a**", "~~", "**", "`", "```\n", "> ", "| ", " |", "\n|---|---|\n",
            "<!-- ", " -->", "a", "src/a.rs", "(skipped)", " — ", "☐ ", "✅", "é", "🦀", "---\n",
            "[a](b.md)", "\\", "&amp;", "<b>", "    ",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn words_are_in_the_source(markdown in crafted()) {
        check(&markdown)?;
    }

    #[test]
    fn any_text_is_read(markdown in any::<String>()) {
        check(&markdown)?;
    }
}

#[test]
fn long_plans_of_any_kind_are_quick() {
    // Generous, since tests run unoptimised on busy machines; quadratic behaviour takes minutes.
    const BUDGET: Duration = Duration::from_secs(5);
    for unit in [
        "- [ ] a `b/c.rs`\n", "- ", "`a ", "~~a", "[a](", "# Step 1\n", "| [ ] | a |\n", "**1. a** ", "(",
        "<!-- ",
    ] {
        let plan = unit.repeat((1 << 16) / unit.len());
        let start = Instant::now();
        parse_steps(&plan);
        assert!(start.elapsed() < BUDGET, "{unit:?} took {:?}", start.elapsed());
    }
}

#[test]
fn a_plan_is_the_same_however_it_is_read() {
    let plan = "# Plan\n\n1. Write `src/a.rs`\n   - [x] with `parse()`\n- ~~b.rs~~\n";
    assert_eq!(parse_steps_again(plan), parse_steps(plan));
    let nameless = |step: Step| Step { paths: Vec::new(), symbols: Vec::new(), ..step };
    assert_eq!(parse_words(plan), parse_steps(plan).into_iter().map(nameless).collect::<Vec<_>>());
}
