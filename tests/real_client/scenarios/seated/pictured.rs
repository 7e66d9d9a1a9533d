//! What a person sees when a stop is held: docs/block.svg, recorded from the newest client. Says so
//! when the client or the block has come to look otherwise; `PUNCHLIST_BLESS=1` records it anew.

use std::path::Path;

use serde_json::json;

use super::{UPHELD, sit_down};
use crate::rig::client::Client;
use crate::rig::message::{ToolCall, write};
use crate::rig::terminal::Size;
use crate::screenshot::{self, Screen};
use crate::script::Script;
use crate::trip::ensure;
use crate::workspace::Workspace;

/// As wide as a page shows it legibly, and as high as the whole session is.
const SIZE: Size = (104, 60);

const PROMPT: &str = "Carry out PLAN.md";
const CLAIM: &str = "All four steps of the plan are done: `slugify` is in place, `tests/slug.rs` covers it, the README \
                     has its usage section, and `cargo test` passes.";
const MENDED: &str =
    "Both findings were right: the tests were missing. They are written now, and cargo test passes.";

/// Where the picture begins; what comes before is the first step, done as promised.
const BEGINS: &str = "● Write(PLAN.md)";

const TESTS: &str = "#[test]\nfn words_are_joined() {\n    assert_eq!(slugs::slugify(\"Hello World\"), \"hello-world\");\n}\n";
const CARGO: &str = "#!/bin/sh\n[ -e tests/slug.rs ] || { echo 'error: no test target named `slug`' >&2; exit 101; }\n\
                     echo 'test result: ok. 1 passed; 0 failed'\n";

const PLAN: &str = include_str!("../../../../fixtures/trips/drift/workspace/PLAN.md");
const SLUG: &str = include_str!("../../../../fixtures/trips/drift/workspace/src/slug.rs");
const README: &str = include_str!("../../../../fixtures/trips/drift/workspace/README.md");

pub(super) fn pictured(client: &Client) -> Result<(), String> {
    let workspace = Workspace::at_home("slugs")?;
    let file = |name: &str| workspace.project().join(name).display().to_string();
    workspace.write(file("PLAN.md"), &PLAN.replace("[x]", "[ ]"))?;
    workspace.write(file("README.md"), README)?;
    workspace.program("bin/cargo", CARGO)?;
    let test = || ToolCall {
        name: "Bash".into(),
        input: json!({ "command": "cargo test", "description": "Run the tests" }),
    };
    let script = Script::new(PROMPT)
        .calls([write(file("src/slug.rs"), SLUG)])
        .calls([test()])
        .calls([write(file("PLAN.md"), PLAN)])
        .says(CLAIM)
        .proposed(&[])
        .judged(&[UPHELD, UPHELD])
        .calls([write(file("tests/slug.rs"), TESTS)])
        .calls([test()])
        .says(MENDED);
    sit_down(client, workspace, SIZE, script, |seat| {
        seat.terminal.types(PROMPT)?;
        seat.decided(&["block findings", "allow loop-guard"])?;
        seat.terminal.shows(MENDED)?;
        seat.terminal.shows("punchlist: 2 findings, fixed")?;
        seat.terminal.wait_for("the turn to end", |screen| screen.contains(TURN_IS_OVER))?;
        compare(&seat.terminal.colours()?)
    })
}

/// How the line begins with which the client says how long a turn took, each time in another word.
const TURN_IS_OVER: &str = "✻";

/// The lines above and below the prompt.
const RULE: &str = "────";

/// Compares what is on the screen with the picture in the docs.
fn compare(captured: &str) -> Result<(), String> {
    let mut screen = Screen::read(captured);
    let lines: Vec<_> = screen.lines().collect();
    let find = |after: usize, begins: &str| {
        let found = lines.iter().skip(after).position(|line| line.starts_with(begins)).map(|at| after + at);
        found.ok_or_else(|| format!("no line begins with {begins:?}:\n{}", lines.join("\n")))
    };
    let begins = find(0, BEGINS)?;
    let took = find(begins, TURN_IS_OVER)?;
    let above_prompt = find(took, RULE)?;
    let below_prompt = find(above_prompt + 1, RULE)?;
    // How long it took is never the same, and what stands below the prompt is a matter of how it
    // was started.
    screen.keep(|line| (begins..took).contains(&line) || (above_prompt..=below_prompt).contains(&line));
    let svg = screenshot::svg(
        &screen,
        "Claude Code says that all is done; punchlist holds the stop, and says what is not",
    );
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/block.svg");
    if std::env::var_os("PUNCHLIST_BLESS").is_some() {
        return std::fs::write(&file, svg).map_err(|error| format!("{}: {error}", file.display()));
    }
    let drawn = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let (drawn, shown) = (squeezed(&drawn), squeezed(&svg));
    ensure(drawn == shown, || {
        let pairs = drawn.iter().zip(&shown).find(|(drawn, shown)| drawn != shown);
        format!(
            "docs/block.svg is not what the client shows now; look at both, then record it anew with `PUNCHLIST_BLESS=1 \
             cargo test --test real_client pictured`: {} and {} lines, {pairs:?}",
            drawn.len(),
            shown.len()
        )
    })
}

/// What can be read in a picture, without the spaces and the decision's id, which is never the
/// same.
fn squeezed(svg: &str) -> Vec<String> {
    let squeezed = |line: &String| {
        let line: String = line.split_whitespace().collect();
        let id = line.strip_prefix("Decision").and_then(|rest| rest.split_once(':')).map(|(id, _)| id);
        id.map_or_else(|| line.clone(), |id| line.replace(id, "[id]"))
    };
    screenshot::words(svg).iter().map(squeezed).collect()
}
