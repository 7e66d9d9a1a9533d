//! Drafts of the steps in a Markdown text: where their text is, and what contains it. Must read
//! only as much text as it takes to tell a step from other headings and rows; marks and paths come
//! later.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{Mark, StepKind, headings, marks, one_line, tables};
use crate::plan::mentions::paths_named;

/// A step before its text is parsed.
pub(super) struct Draft {
    /// Its own text in the source, still with a checkbox.
    pub words: Range<usize>,
    /// Further text that belongs to it: paragraphs of its item, `File:` lines below its heading.
    pub more: Vec<Range<usize>>,
    /// All that is part of it.
    pub scope: Range<usize>,
    pub kind: StepKind,
    /// The mark of a table's row and whether it is a box; other steps have it in their text.
    pub row: Option<(Mark, bool)>,
}

impl Draft {
    /// Returns a step that is nothing but its text.
    fn new(words: Range<usize>, kind: StepKind) -> Self {
        Self { scope: words.clone(), words, more: Vec::new(), kind, row: None }
    }
}

pub(super) fn drafts(markdown: &str) -> Vec<Draft> {
    let body = front_matter(markdown);
    let options = Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES;
    let mut reader = Reader {
        source: markdown,
        drafts: Vec::new(),
        hidden: 0,
        items: Vec::new(),
        lists: Vec::new(),
        headings: Vec::new(),
        rows: Vec::new(),
        paragraphs: Vec::new(),
        runs: HashMap::new(),
        run: None,
        below_heading: None,
    };
    for (event, range) in Parser::new_ext(&markdown[body..], options).into_offset_iter() {
        reader.read(&event, body + range.start..body + range.end);
    }
    reader.finish()
}

/// Returns where the text begins after YAML front matter. The parser's own option for it would also
/// swallow what is between two rules further down.
fn front_matter(markdown: &str) -> usize {
    let mut at = 0;
    for (number, line) in markdown.split_inclusive('\n').enumerate() {
        at += line.len();
        let line = line.trim_end();
        match number {
            0 if line != "---" => return 0,
            1 if !line.contains(':') => return 0,
            2.. if line == "---" => return at,
            _ => {}
        }
    }
    0
}

/// Text of one block that is being read.
struct Run {
    range: Range<usize>,
    block: Block,
    /// The bold text that it opens with.
    bold: Option<Range<usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Heading(HeadingLevel),
    /// A paragraph, or the text of an item in a tight list, which has none.
    Text,
}

struct Item {
    scope: Range<usize>,
    words: Option<Range<usize>>,
    more: Vec<Range<usize>>,
}

struct Heading {
    level: HeadingLevel,
    /// Its draft, if it is a step.
    draft: Option<usize>,
}

struct Reader<'a> {
    source: &'a str,
    drafts: Vec<Draft>,
    /// How many enclosing blocks can't contain steps.
    hidden: usize,
    items: Vec<Item>,
    /// For each open list, whether it is numbered.
    lists: Vec<bool>,
    /// The headings above, from the outermost.
    headings: Vec<Heading>,
    /// The rows of the table that is being read.
    rows: Vec<Range<usize>>,
    /// Paragraphs outside of lists: the steps of a text without any others.
    paragraphs: Vec<Draft>,
    /// Headings that are steps only together with similar ones.
    runs: HashMap<(HeadingLevel, String), Vec<usize>>,
    run: Option<Run>,
    /// The heading step whose `File:` lines would come next.
    below_heading: Option<usize>,
}

impl Reader<'_> {
    fn read(&mut self, event: &Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) if hides(tag.to_end()) => {
                self.end_run();
                self.hidden += 1;
            }
            Event::End(tag) if hides(*tag) => self.hidden -= 1,
            _ if self.hidden > 0 => {}
            Event::Start(Tag::List(first)) => {
                self.end_run();
                self.below_heading = None;
                self.lists.push(first.is_some());
            }
            Event::Start(Tag::Item) => self.items.push(Item { scope: range, words: None, more: Vec::new() }),
            Event::Start(Tag::Heading { level, .. }) => self.start_run(Block::Heading(*level), range),
            Event::Start(Tag::Paragraph) => self.start_run(Block::Text, range),
            Event::Start(Tag::TableRow) => {
                self.end_run();
                self.rows.push(range);
            }
            Event::End(TagEnd::Table) => self.table(),
            Event::Start(Tag::Strong) => {
                self.extend_run(range.clone());
                if let Some(run) = &mut self.run
                    && run.range == range
                {
                    run.bold = Some(range);
                }
            }
            Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableCell)
            | Event::Rule
            | Event::End(TagEnd::Heading(_) | TagEnd::Paragraph) => self.end_run(),
            Event::End(TagEnd::List(_)) => {
                self.lists.pop();
            }
            Event::End(TagEnd::Item) => {
                self.end_run();
                self.item();
            }
            Event::End(TagEnd::TableCell) => self.run = None,
            Event::End(_) => {}
            _ => self.extend_run(range),
        }
    }

    /// Starts empty: a block's range includes its markers, but its text does not.
    fn start_run(&mut self, block: Block, range: Range<usize>) {
        self.end_run();
        self.run = Some(Run { range: range.start..range.start, block, bold: None });
    }

    fn extend_run(&mut self, range: Range<usize>) {
        match &mut self.run {
            Some(run) if run.range.is_empty() => run.range = range,
            Some(run) => run.range.end = run.range.end.max(range.end),
            None => {
                self.run = Some(Run { range, block: Block::Text, bold: None });
            }
        }
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take().filter(|run| !run.range.is_empty()) else {
            return;
        };
        match (run.block, self.items.last_mut()) {
            (Block::Heading(level), _) => self.heading(level, run.range),
            (Block::Text, Some(item)) if item.words.is_none() => item.words = Some(run.range),
            (Block::Text, Some(item)) => item.more.push(run.range),
            (Block::Text, None) => self.paragraph(run),
        }
    }

    fn item(&mut self) {
        let Some(Item { scope, words: Some(words), more }) = self.items.pop() else {
            return;
        };
        let numbered = self.lists.last().copied().unwrap_or(false);
        let kind = if numbered { StepKind::Numbered } else { StepKind::Bullet };
        self.drafts.push(Draft { words, more, scope, kind, row: None });
    }

    fn table(&mut self) {
        self.run = None;
        for row in tables::steps(self.source, &std::mem::take(&mut self.rows)) {
            let kind = if row.boxed { StepKind::Checkbox } else { StepKind::Row };
            self.drafts.push(Draft { row: Some((row.mark, row.boxed)), ..Draft::new(row.words, kind) });
        }
    }

    fn heading(&mut self, level: HeadingLevel, words: Range<usize>) {
        self.close_headings(level, words.start);
        let line = one_line(&self.source[words.clone()]);
        let (title, boxed) = marks::without_box(&line);
        let counted = headings::counted(title);
        let is_step = boxed || counted.as_ref().is_some_and(|heading| heading.is_set_off);
        // "Phase 2 Storage" is a step among similar ones, and so is a heading that names a file.
        let run = match counted {
            _ if is_step => None,
            Some(heading) => Some(heading.label),
            None => paths_named(title).iter().any(|named| named.marked).then(String::new),
        };
        let draft = (is_step || run.is_some()).then(|| self.heading_step(words));
        if let (Some(label), Some(draft)) = (run, draft) {
            self.runs.entry((level, label)).or_default().push(draft);
        }
        self.below_heading = draft;
        self.headings.push(Heading { level, draft });
    }

    fn heading_step(&mut self, words: Range<usize>) -> usize {
        self.drafts.push(Draft::new(words, StepKind::Heading));
        self.drafts.len() - 1
    }

    /// Closes the headings that a heading of `level` at `at` ends, and with them their steps.
    fn close_headings(&mut self, level: HeadingLevel, at: usize) {
        while let Some(heading) = self.headings.pop_if(|heading| heading.level >= level) {
            if let Some(draft) = heading.draft {
                self.drafts[draft].scope.end = at;
            }
        }
    }

    fn paragraph(&mut self, run: Run) {
        let source = self.source;
        let mut lines = lines(source, run.range.clone());
        if let Some(bold) = run.bold
            && let Some(first) = lines.first().cloned()
            && bold.end <= first.end
            && headings::is_bold_heading(&source[bold.clone()], &source[bold.end..first.end])
        {
            lines.remove(0);
            self.below_heading = Some(self.heading_step(first));
        }
        if let Some(draft) = self.below_heading {
            let names_path = |word: &str| !paths_named(word).is_empty();
            lines.retain(|line| headings::is_file_line(&source[line.clone()], names_path));
            self.drafts[draft].more.extend(lines);
        }
        self.paragraphs.push(Draft::new(run.range, StepKind::Paragraph));
    }

    fn finish(mut self) -> Vec<Draft> {
        self.end_run();
        self.close_headings(HeadingLevel::H1, self.source.len());
        let mut is_step = vec![true; self.drafts.len()];
        for alone in self.runs.values().filter(|run| run.len() == 1).flatten() {
            is_step[*alone] = false;
        }
        let mut is_step = is_step.into_iter();
        self.drafts.retain(|_| is_step.next().unwrap_or(true));
        if self.drafts.is_empty() { self.paragraphs } else { self.drafts }
    }
}

/// Returns the lines of a range, without surrounding spaces.
fn lines(source: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut at = range.start;
    for line in source[range].split_inclusive('\n') {
        let start = at + (line.len() - line.trim_start().len());
        let end = start + line.trim().len();
        lines.push(start..end);
        at += line.len();
    }
    lines
}

/// Returns whether such a block contains no steps.
fn hides(tag: TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::BlockQuote(_)
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::FootnoteDefinition
            | TagEnd::MetadataBlock(_)
    )
}
