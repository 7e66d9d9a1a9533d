//! The picture of a block in the docs, as far as it can be looked at without a client:
//! `tests/real_client` compares it with one.

#[path = "../../support/screenshot.rs"]
mod drawn;

use std::path::Path;

use drawn::{Screen, svg, words};

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect(name)
}

#[test]
fn the_readme_shows_a_block_and_nothing_of_the_machine_it_was_recorded_on() {
    assert!(file("README.md").contains("](docs/block.svg)"));
    let shown = words(&file("docs/block.svg")).join("\n");
    for wanted in [
        "All four steps of the plan are done",
        "punchlist holds this stop for 2 findings:",
        "[A] claimed done, and not so: tests/slug.rs",
        "punchlist off",
    ] {
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        assert!(squeezed(&shown).contains(&squeezed(wanted)), "{wanted}: {shown}");
    }
    for machine in ["/tmp", "/home", "/root", "/Users", "127.0.0.1", "\u{fffd}"] {
        assert!(!shown.contains(machine), "{machine}: {shown}");
    }
}

#[test]
fn colours_and_styles_are_drawn_and_words_come_back() {
    let mut screen = Screen::read(
        "left out\n\u{1b}[1mbold\u{1b}[0m a<b & \"c\" \u{1b}[38;2;1;2;3mrgb\u{1b}[39m\n\u{1b}[48;5;196m 日本\u{1b}[0m x\n\n",
    );
    assert_eq!(screen.lines().collect::<Vec<_>>(), ["left out", "bold a<b & \"c\" rgb", " 日本 x"]);
    screen.keep(|line| line > 0);
    let drawn = svg(&screen, "a <title>");
    assert_eq!(words(&drawn), ["bold a<b & \"c\" rgb", "日本 x"]);
    for part in [
        "<title>a &lt;title&gt;</title>",
        "font-weight=\"bold\">bold</text>",
        "a&lt;b &amp; &quot;c&quot;",
        "fill=\"#010203\">rgb</text>",
        // Five cells wide, for each of the two characters takes two.
        "<rect x=\"20.0\" y=\"38.0\" width=\"42.0\" height=\"18.0\" fill=\"#ff0000\"/>",
        "<text x=\"28.4\" y=\"51.0\" textLength=\"33.6\">日本</text>",
    ] {
        assert!(drawn.contains(part), "{part}\n{drawn}");
    }
}
