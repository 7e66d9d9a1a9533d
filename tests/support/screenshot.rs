//! A terminal's screen as a picture: takes the text with its colour codes (`tmux capture-pane -e`),
//! gives an SVG, whose words stay words. [`words`] takes them out again. Pure; it must not know
//! what is on the screen.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

/// One cell, in pixels, and the room around all of them.
const CELL: (f32, f32) = (8.4, 18.0);
const ROOM: f32 = 20.0;

const PAPER: &str = "#161719";
const INK: Colour = Colour(0xd4, 0xd4, 0xd4);

/// The sixteen that have names.
const NAMED: [Colour; 16] = [
    Colour(0x2e, 0x34, 0x36),
    Colour(0xe0, 0x5f, 0x65),
    Colour(0x7c, 0xb3, 0x6b),
    Colour(0xd9, 0xa5, 0x4a),
    Colour(0x6c, 0x9f, 0xd8),
    Colour(0xb0, 0x86, 0xc9),
    Colour(0x5f, 0xb3, 0xb3),
    Colour(0xd4, 0xd4, 0xd4),
    Colour(0x80, 0x86, 0x8b),
    Colour(0xf2, 0x77, 0x7a),
    Colour(0x99, 0xcc, 0x99),
    Colour(0xff, 0xcc, 0x66),
    Colour(0x82, 0xb1, 0xff),
    Colour(0xcc, 0x99, 0xcc),
    Colour(0x66, 0xcc, 0xcc),
    Colour(0xff, 0xff, 0xff),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Colour(u8, u8, u8);

impl Colour {
    /// One of the 256 that have numbers.
    fn numbered(number: u8) -> Self {
        match number {
            0..16 => NAMED[usize::from(number)],
            16..232 => {
                let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
                let cube = number - 16;
                Self(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
            }
            232.. => {
                let grey = 8 + 10 * (number - 232);
                Self(grey, grey, grey)
            }
        }
    }

    fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// How a run of characters looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "so many switches a terminal has")]
struct Look {
    ink: Option<Colour>,
    paper: Option<Colour>,
    bold: bool,
    faint: bool,
    italic: bool,
    underlined: bool,
    turned: bool,
}

impl Look {
    /// What the numbers of one code change.
    fn change(&mut self, codes: &str) {
        let mut numbers = codes.split([';', ':']).map(|number| number.parse::<u8>().unwrap_or_default());
        while let Some(number) = numbers.next() {
            match number {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.faint = true,
                3 => self.italic = true,
                4 => self.underlined = true,
                7 => self.turned = true,
                22 => (self.bold, self.faint) = (false, false),
                23 => self.italic = false,
                24 => self.underlined = false,
                27 => self.turned = false,
                30..=37 => self.ink = Some(Colour::numbered(number - 30)),
                38 => self.ink = colour(&mut numbers),
                39 => self.ink = None,
                40..=47 => self.paper = Some(Colour::numbered(number - 40)),
                48 => self.paper = colour(&mut numbers),
                49 => self.paper = None,
                90..=97 => self.ink = Some(Colour::numbered(number - 82)),
                100..=107 => self.paper = Some(Colour::numbered(number - 92)),
                _ => {}
            }
        }
    }

    fn papers(self) -> Option<Colour> {
        if self.turned { Some(self.ink.unwrap_or(INK)) } else { self.paper }
    }

    /// As attributes of a text.
    fn attributes(self) -> String {
        let mut attributes = String::new();
        let mut add = |name: &str, value: &str| attributes.push_str(&format!(" {name}=\"{value}\""));
        match (self.turned, self.ink) {
            (true, _) => add("fill", &self.paper.map_or_else(|| PAPER.to_owned(), Colour::hex)),
            (false, Some(ink)) => add("fill", &ink.hex()),
            (false, None) => {}
        }
        for (is_so, name, value) in [
            (self.bold, "font-weight", "bold"),
            (self.faint, "opacity", "0.6"),
            (self.italic, "font-style", "italic"),
            (self.underlined, "text-decoration", "underline"),
        ] {
            if is_so {
                add(name, value);
            }
        }
        attributes
    }
}

/// What comes after 38 and 48.
fn colour(numbers: &mut impl Iterator<Item = u8>) -> Option<Colour> {
    match numbers.next()? {
        5 => numbers.next().map(Colour::numbered),
        2 => Some(Colour(numbers.next()?, numbers.next()?, numbers.next()?)),
        _ => None,
    }
}

/// Characters that look alike, and the column that they begin in.
#[derive(Debug)]
struct Run {
    column: usize,
    width: usize,
    text: String,
    look: Look,
}

fn runs(line: &str, look: &mut Look) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let (mut column, mut rest) = (0, line);
    while let Some(character) = rest.chars().next() {
        if let Some((codes, after)) = rest.strip_prefix("\u{1b}[").and_then(|after| after.split_once('m')) {
            look.change(codes);
            rest = after;
            continue;
        }
        rest = &rest[character.len_utf8()..];
        // Few fonts have these, and an empty box in their place is no picture of a terminal.
        let character = match character {
            '⎿' => '└',
            '⏵' => '▸',
            other => other,
        };
        let width = character.width().unwrap_or(0);
        match runs.last_mut() {
            Some(run) if run.look == *look => {
                run.text.push(character);
                run.width += width;
            }
            _ => runs.push(Run { column, width, text: character.into(), look: *look }),
        }
        column += width;
    }
    runs
}

/// What stands on a screen, line by line.
#[derive(Debug)]
pub(crate) struct Screen(Vec<Vec<Run>>);

impl Screen {
    /// Reads it; empty lines at its end are left out.
    pub(crate) fn read(captured: &str) -> Self {
        let mut look = Look::default();
        Self(captured.trim_end().lines().map(|line| runs(line, &mut look)).collect())
    }

    /// Its lines without their looks.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|runs| runs.iter().map(|run| run.text.as_str()).collect())
    }

    /// Leaves out the lines for which it is not so, by their number.
    pub(crate) fn keep(&mut self, is_kept: impl Fn(usize) -> bool) {
        let mut number = 0..;
        self.0.retain(|_| number.next().is_some_and(&is_kept));
    }
}

/// The picture of a screen.
pub(crate) fn svg(Screen(rows): &Screen, title: &str) -> String {
    let columns = rows.iter().flatten().filter(|run| !run.text.trim().is_empty());
    let columns = columns.map(|run| run.column + run.width).max().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "no screen is that large")]
    let at = |column: usize, row: usize| (ROOM + CELL.0 * column as f32, ROOM + CELL.1 * row as f32);
    let (right, bottom) = at(columns, rows.len());
    let (width, height) = (right + ROOM, bottom + ROOM);
    let title = escaped(title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<rect width=\"100%\" height=\"100%\" rx=\"10\" \
         fill=\"{PAPER}\"/>\n<g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', \
         monospace\" font-size=\"14\" fill=\"{}\" style=\"white-space: pre\">\n",
        INK.hex()
    );
    for (row, runs) in rows.iter().enumerate() {
        for run in runs {
            let ((x, y), (end, _)) = (at(run.column, row), at(run.column + run.width, row));
            if let Some(paper) = run.look.papers() {
                let (width, height, fill) = (end - x, CELL.1, paper.hex());
                // Writing to a string cannot fail.
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>"
                );
            }
        }
        for run in runs {
            let text = run.text.trim_start();
            let column = run.column + run.text.len() - text.len();
            let text = text.trim_end();
            let cells: usize = text.chars().filter_map(UnicodeWidthChar::width).sum();
            if cells == 0 {
                continue;
            }
            // With its length said, a run ends in its column whatever font is there.
            let ((x, y), length) = (at(column, row), at(cells, 0).0 - ROOM);
            let _ = write!(
                svg,
                "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{length:.1}\"{}>{}</text>",
                y + CELL.1 * 0.72,
                run.look.attributes(),
                escaped(text)
            );
        }
        svg.push('\n');
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// What can be read in a picture, a line for each of the screen's.
pub(crate) fn words(svg: &str) -> Vec<String> {
    let body = svg.split_once("<g ").and_then(|(_, body)| body.split_once('\n')).map_or("", |(_, body)| body);
    let texts = |line: &str| {
        let texts = line.split("<text ").skip(1).filter_map(|text| text.split_once('>'));
        texts.filter_map(|(_, text)| Some(text.split_once("</text>")?.0)).collect::<Vec<_>>().join(" ")
    };
    let lines = body.lines().filter(|line| !line.starts_with("<rect") && !line.starts_with("</"));
    lines.map(|line| unescaped(&texts(line))).collect()
}

const ESCAPES: [(&str, &str); 4] = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")];

fn escaped(text: &str) -> String {
    ESCAPES.iter().fold(text.to_owned(), |text, (plain, escape)| text.replace(plain, escape))
}

fn unescaped(text: &str) -> String {
    ESCAPES.iter().rev().fold(text.to_owned(), |text, (plain, escape)| text.replace(escape, plain))
}
