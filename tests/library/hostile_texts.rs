//! Texts that are made to take long: in the plan, the message, a task, an ask. The work on each
//! grows with its length and no faster, and what is longer than anybody writes is cut before it is
//! read.
#![cfg(unix)]

use std::time::Duration;

use punchlist::plan::mentions::paths_named;
use punchlist::plan::steps::parse_steps;
use punchlist::redact::mask;
use rustix::time::{ClockId, clock_gettime};

/// Texts of about so many bytes, each by its name.
fn hostile(bytes: usize) -> Vec<(&'static str, String)> {
    let again = |part: &str| part.repeat(bytes / part.len());
    let counting = |line: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        let mut number = 0;
        while text.len() < bytes {
            text += &line(number);
            number += 1;
        }
        text
    };
    vec![
        ("one run of backticks", again("`")),
        ("backticks apart", again("` ")),
        ("runs of backticks of every length", counting(&|n| format!("{} ", "`".repeat(n % 700 + 1)))),
        ("opening brackets", again("[")),
        ("closing brackets", again("]")),
        ("links", again("](")),
        ("images", again("![")),
        ("nested links", again("[a](")),
        ("references", counting(&|n| format!("[{n}]: a\n"))),
        ("one reference again and again", again("[a]: a\n")),
        ("uses of references", again("[a][b] ")),
        ("parentheses", again("(")),
        ("closing parentheses", again("a)")),
        ("braces", again("{}{")),
        ("pipes", again("|")),
        ("a table", format!("|a|b|\n|-|-|\n{}", again("|1|✅|\n"))),
        (
            "a wide table",
            format!("{}\n{}\n{}", "|a".repeat(bytes / 9), "|-".repeat(bytes / 9), "|✅".repeat(bytes / 9)),
        ),
        ("a table of boxes", format!("|a|b|\n|-|-|\n{}", again("|[x]|`a.rs`|\n"))),
        ("quotes", again(">")),
        ("quotes on lines of their own", again("> > > a\n")),
        ("nested quotes", counting(&|n| format!("{}a\n", "> ".repeat(n % 300)))),
        ("nested lists", counting(&|n| format!("{}- a\n", "  ".repeat(n % 300)))),
        ("lists in a line", again("- ")),
        ("numbers in a line", again("1. ")),
        ("boxes", again("- [x] a\n")),
        ("boxes in a line", again("[x] ")),
        ("headings", again("# 1. a\n")),
        ("headings with files", again("## src/a.rs\n")),
        ("bold", again("**")),
        ("emphasis", again("*a_ ")),
        ("emphasis both ways", again("a**b_c*")),
        ("underscores", again("_")),
        ("strikes", again("~~")),
        ("strikes with words", again("~~a~~ ")),
        ("tildes", again("~")),
        ("comments", again("<!--")),
        ("tags", again("<a ")),
        ("angle brackets", again("<")),
        ("processing", again("<?")),
        ("declarations", again("<!A")),
        ("entities", again("&#35;")),
        ("ampersands", again("&")),
        ("backslashes", again("\\")),
        ("combining signs", again("e\u{301}\u{302}")),
        ("only combining signs", again("\u{301}")),
        ("zero-width signs", again("\u{200b}")),
        ("signs", again("✅ ")),
        ("signs without blanks", again("✅")),
        ("crosses and checks", again("✅❌⏳")),
        ("one word", again("a")),
        ("one path", again("a/")),
        ("dots", again(".")),
        ("slashes", again("/")),
        ("quotation marks", again("\"")),
        ("apostrophes", again("'")),
        ("possessives", again("'s")),
        ("equals", again("=")),
        ("colons", again("a:")),
        ("digits", again("1")),
        ("digits and dots", again("1.")),
        ("blanks", again(" ")),
        ("tabs", again("\t")),
        ("line ends", again("\n")),
        ("carriage returns", again("\r")),
        ("blanks before line ends", again(" \n")),
        ("rules", again("---\n")),
        ("front matter", format!("---\na: b\n{}", again("a: b\n"))),
        ("names", counting(&|n| format!("`src/file{n}.rs` "))),
        ("ticked names", counting(&|n| format!("- [x] Create `src/file{n}.rs`\n"))),
        ("bare names", counting(&|n| format!("src/file{n}.rs, "))),
        ("secrets", counting(&|n| format!("key = sk-ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5{n} "))),
        ("long hexadecimal", again("0123456789abcdef")),
        ("base64", again("aGVsbG8gd29ybGQgMTIz")),
        ("other scripts", again("計画を書く")),
        ("four bytes", again("👍🏽")),
        ("nul", again("\0")),
    ]
}

/// The processor's time for some work, which other programs do not take from it.
fn time(work: impl Fn()) -> Duration {
    let now = || {
        let spent = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(spent.tv_sec.unsigned_abs(), u32::try_from(spent.tv_nsec).expect("less than a second"))
    };
    let measured = || {
        let begun = now();
        work();
        now().saturating_sub(begun)
    };
    (0..3).map(|_| measured()).min().unwrap_or_default()
}

/// Short texts are as quick as the clock can tell.
const FLOOR: Duration = Duration::from_millis(60);

type Work = fn(&str);

#[test]
fn reading_a_text_takes_no_longer_than_its_length() {
    let works: [(&str, Work); 3] = [
        ("parse_steps", |text| drop(parse_steps(text))),
        ("paths_named", |text| drop(paths_named(text))),
        ("mask", |text| drop(mask(text))),
    ];
    let mut slow = Vec::new();
    for ((name, short), (_, long)) in hostile(16 << 10).into_iter().zip(hostile(64 << 10)) {
        for (work, run) in works {
            let (little, much) = (time(|| run(&short)), time(|| run(&long)));
            // Four times the text is four times the work; sixteen times is what must not be.
            if much > little.max(FLOOR / 10) * 9 && much > FLOOR {
                slow.push(format!("{work} of {name}: {little:?}, then {much:?}"));
            }
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}
