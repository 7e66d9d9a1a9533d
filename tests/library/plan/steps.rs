//! Plans -> their steps; the plans are made up, in the manner of real ones. Must not depend on a
//! disk.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use punchlist::plan::steps::Mark::{Abandoned, None as Unmarked, Open, Ticked};
use punchlist::plan::steps::StepKind::{Bullet, Checkbox, Heading, Numbered, Paragraph, Row};
use punchlist::plan::steps::{Mark, Step, StepKind, parse_steps};

#[track_caller]
fn outline(markdown: &str, expected: &[(StepKind, Mark, &str)]) {
    let steps = parse_steps(markdown);
    let outline: Vec<_> = steps.iter().map(|step| (step.kind, step.mark, step.text.as_str())).collect();
    assert_eq!(outline, expected, "{markdown}");
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
    outline(
        plan,
        &[
            (Checkbox, Open, "Measure `src/shelf.rs`"),
            (Bullet, Unmarked, "the left side"),
            (Checkbox, Ticked, "the right side, from top to bottom"),
            (Checkbox, Ticked, "Write **down** [what](docs/size.md) was found"),
            (Numbered, Unmarked, "Saw"),
            (Numbered, Unmarked, "Paint `fn paint()`"),
            (Bullet, Unmarked, "plain"),
            (Heading, Unmarked, "Phase 2: Books"),
        ],
    );
    assert_eq!(steps[0].paths, ["src/shelf.rs"]);
    assert_eq!(steps[3].paths, ["docs/size.md"]);
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
    outline(
        "- ✅ a\n1. ❌ b\n2. ⏳ c",
        &[(Bullet, Ticked, "a"), (Numbered, Open, "b"), (Numbered, Open, "c")],
    );
    assert_eq!(one("- [x](https://example.com) a").kind, Bullet);
    marked("- a ✅", Ticked);
    marked("- a ✅ (2024-05-01)", Ticked);
    marked("- [ ] a ✅", Open);
    marked("- ~~a~~ ✅", Ticked);
    marked("- a (done)", Unmarked);
    marked("- show ✅ or ❌", Unmarked);
    marked("- show ✅ when it is over", Unmarked);
    marked("- print `✅`", Unmarked);
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
        "### ~~Step 3: a~~",
        "### Step 3: ~~a~~",
        "| x | y | z |\n|---|---|---|\n| [ ] | ~~a~~ | b |\n",
        "| x | y |\n|---|---|\n| a | ⏭ |\n",
    ] {
        marked(text, Abandoned);
    }
}

#[test]
fn words_are_no_marks() {
    for text in [
        "- handle skipped tests",
        "- a (skipped)",
        "- a — deferred to the next release",
        "- SKIPPED: a",
        "- ~~use a~~ use b",
        "- use ~~a~~ b",
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
## ~~Phase 1: e~~
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
        "## Teil IV: a",
        "## Schritt 3: a",
        "## 第2步：a",
        "# TASK 3:",
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
        "## Python 3", "## In `src/a.rs`",
    ] {
        assert!(parse_steps(text).iter().all(|step| step.kind != Heading), "{text}");
    }
}

#[test]
fn headings_in_a_row_are_steps_together() {
    outline(
        "## Python 3\n\n## Phase 1 Store\n\n## Phase 2 Load\n",
        &[(Heading, Unmarked, "Phase 1 Store"), (Heading, Unmarked, "Phase 2 Load")],
    );
    outline(
        "## Changes\n\n### `src/a.rs`\n\nx\n\n### New file `src/b.rs`\n\ny\n",
        &[(Heading, Unmarked, "`src/a.rs`"), (Heading, Unmarked, "New file `src/b.rs`")],
    );
    let steps = parse_steps("### `src/a.rs`\n\nx\n\n### `src/b.rs`\n\ny\n");
    assert_eq!(steps[1].paths, ["src/b.rs"]);
}

#[test]
fn a_plan_in_prose_has_its_paragraphs_for_steps() {
    let plan = "# Shelf\n\nFirst the sides are cut, as in `src/side.rs`.\nThen they are glued.\n\n## Paint\n\nIt is painted. ✅\n";
    outline(
        plan,
        &[
            (Paragraph, Unmarked, "First the sides are cut, as in `src/side.rs`. Then they are glued."),
            (Paragraph, Ticked, "It is painted. ✅"),
        ],
    );
    let steps = parse_steps(plan);
    assert_eq!((steps[0].line, steps[0].paths.len()), (3, 1));
    outline(&format!("{plan}\n- one item\n"), &[(Bullet, Unmarked, "one item")]);
}

#[test]
fn headings_with_marks() {
    for text in [
        "### [x] Step 3: a", "### ✅ Step 3: a", "### Step 3: a ✅", "### 3. ✅ a", "### Step 3: a ✅ DONE",
        "### [x] a",
    ] {
        let step = one(text);
        assert_eq!((step.kind, step.mark), (Heading, Ticked), "{text}");
        assert!(!step.text.contains("[x]"), "{}", step.text);
    }
    marked("## [ ] 2. a", Open);
    marked("## Step 1: a", Unmarked);
}

#[test]
fn code_comments_quotes_and_tables_that_compare_hold_no_steps() {
    for text in [
        "```\n- [x] a\n```",
        "~~~md\n1. a\n~~~",
        "    - [x] a",
        "<!-- \n- [x] a\n\n- b -->",
        "> - [x] a\n> 1. b",
        "| a | b |\n|---|---|\n| - c | 1. d |\n| - [x] e | f |",
        "| a | b | c |\n|---|---|---|\n| d | ✅ | ❌ |\n| e | ❌ | ✅ |",
        "| code | means |\n|---|---|\n| 200 | fine |\n| 404 | gone |",
        "---\ntodos:\n  - a\n---\n",
        "```\n- never closed",
        "",
        "- \n- [ ]\n1. ",
    ] {
        outline(text, &[]);
    }
    outline(
        "- a\n\n  ```\n  - [x] b\n  ```\n\n  > - c\n- d",
        &[(Bullet, Unmarked, "a"), (Bullet, Unmarked, "d")],
    );
}

#[test]
fn rules_are_no_front_matter() {
    one("# a\n\n---\nb: c\n\n- d\n\n---\n");
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
| [~]  | wax  | - |
";
    outline(
        table,
        &[
            (Checkbox, Ticked, "saw  | `src/a.rs`"),
            (Checkbox, Open, "sand | -"),
            (Row, Unmarked, "yes  | oil  | -"),
            (Checkbox, Abandoned, "wax  | -"),
        ],
    );
    let steps = parse_steps(table);
    assert_eq!(steps[0].line, 3);
    assert_eq!(steps[0].paths, ["src/a.rs"]);
}

#[test]
fn table_rows_with_a_status_or_a_count_are_steps() {
    outline(
        "| what | status |\n|---|---|\n| saw | ✅ Done |\n| sand \\| oil | 🔄 |\n| wax | later |\n",
        &[(Row, Ticked, "saw"), (Row, Open, "sand \\| oil"), (Row, Unmarked, "wax")],
    );
    outline(
        "| # | what | where |\n|---|---|---|\n| 1 | saw | here |\n| 2 | sand | there |\n",
        &[(Row, Unmarked, "saw | here"), (Row, Unmarked, "sand | there")],
    );
    outline(
        "| id | what | ok |\n|---|---|---|\n| **1.1** | saw | ☑ |\n| **1.2** | sand | ☐ |\n| **2.1** | wax | ☐ |\n",
        &[(Checkbox, Ticked, "saw"), (Checkbox, Open, "sand"), (Checkbox, Open, "wax")],
    );
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
    let read: Vec<(usize, &str)> = steps.iter().map(|step| (step.line, step.text.as_str())).collect();
    assert_eq!(read, [(3, "b"), (4, "c d")]);
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
            "<!-- ", " -->", "a", "src/a.rs", "| 1 | ", "\n| 2 | ", " — ", "☐ ", "✅", "é", "🦀", "---\n",
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
        "- a ✅ ", "# Phase 1 a\n", "第1步：", "a/b.rs ", "a\n\n", "# `a.rs`\n", "- [ ] a `b/c.rs`\n", "- ",
        "`a ", "~~a", "[a](", "# Step 1\n", "| [ ] | a |\n", "**1. a** ", "(", "<!-- ",
    ] {
        let plan = unit.repeat((1 << 16) / unit.len());
        let start = Instant::now();
        parse_steps(&plan);
        let table = format!("| a | b |\n|---|---|\n{}", "| [ ] | ✅ a |\n".repeat(plan.len() / 16));
        parse_steps(&table);
        assert!(start.elapsed() < BUDGET, "{unit:?} took {:?}", start.elapsed());
    }
}
