//! One line of the log at a glance: takes its bytes, gives what lists and sums need, borrowed from them. Must not look
//! into what they do not need: a decision that looked at fifty files is passed over at the speed of its quotes. Lenient:
//! an older line lacks fields, a newer one is told apart, and what is no line of ours is torn.

use std::borrow::Cow;

use jiff::Timestamp;
use memchr::memmem::Finder;

use crate::client::json_scan::{Needle, Raw, Scan, Torn};
use crate::decision::Cause;
use crate::finding::{Category, Kind, Source, Status};
use crate::log::Note;
use crate::log::filter::Verdict;
use crate::log::{note, record};

/// What a line is.
#[derive(Debug, Clone, PartialEq)]
pub enum Line<'a> {
    /// A decision.
    Decision(Box<Summary<'a>>),
    /// What was said of one later.
    Note(Box<Noted<'a>>),
    /// Something that a newer punchlist wrote.
    Newer,
    /// Nothing that can be read.
    Torn,
}

/// A note, and its line as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Noted<'a> {
    /// The note.
    pub note: Note,
    /// Its line; nothing where nobody wants it.
    pub line: &'a [u8],
}

impl Noted<'_> {
    /// The same without its line.
    pub fn into_bare(self) -> Noted<'static> {
        Noted { note: self.note, line: &[] }
    }

    /// The decision that it is about.
    pub fn of(&self) -> &str {
        match &self.note {
            Note::Outcome(note) => &note.of,
            Note::Label(note) => &note.of,
        }
    }

    /// When it was said, in milliseconds since 1970.
    pub fn ms(&self) -> Option<i64> {
        let time = match &self.note {
            Note::Outcome(note) => &note.time,
            Note::Label(note) => &note.time,
        };
        milliseconds(time)
    }
}

/// A decision.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary<'a> {
    /// Its line, as it stands; nothing where nobody wants it.
    pub line: &'a [u8],
    /// Its short name.
    pub id: Cow<'a, str>,
    /// When, as written.
    pub time: Cow<'a, str>,
    /// The same in milliseconds since 1970.
    pub ms: i64,
    /// The session.
    pub session: Option<Cow<'a, str>>,
    /// The project's folder.
    pub project: Option<Cow<'a, str>>,
    /// What was decided.
    pub verdict: Verdict,
    /// Why; empty where nothing is said of it.
    pub cause: Cow<'a, str>,
    /// Every finding.
    pub findings: Vec<FindingSummary<'a>>,
    /// The first reader.
    pub auditor: Option<ReaderSummary<'a>>,
    /// The second reader, where it was asked.
    pub second_reader: Option<ReaderSummary<'a>>,
    /// How long all of it took, in milliseconds.
    pub total_ms: Option<f64>,
    /// How long the first reader took of that.
    pub auditor_ms: Option<f64>,
    /// How long the second one took.
    pub second_ms: Option<f64>,
}

/// One finding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingSummary<'a> {
    /// What kind of drift; none of ours in what a newer one wrote.
    pub category: Option<Category>,
    /// What the checks and the second reader made of it.
    pub status: Option<Status>,
    /// Who says so.
    pub source: Option<Source>,
    /// In which way the world is not as claimed.
    pub kind: Option<Kind>,
    /// The file concerned.
    pub path: Option<Cow<'a, str>>,
    /// Whether the second reader upheld it, where it spoke of it.
    pub upheld: Option<bool>,
}

/// A reader.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReaderSummary<'a> {
    /// Which model.
    pub model: Cow<'a, str>,
    /// How it ended.
    pub outcome: Cow<'a, str>,
    /// How long it took.
    pub duration_ms: f64,
    /// Tokens that were read, from a cache or not.
    pub tokens_in: u64,
    /// Tokens that were written.
    pub tokens_out: u64,
    /// In dollars.
    pub cost_usd: Option<f64>,
}

impl Summary<'_> {
    /// The same without its line, borrowed from nobody.
    pub fn into_bare(self) -> Summary<'static> {
        fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        let finding = |finding: FindingSummary<'_>| FindingSummary {
            category: finding.category,
            status: finding.status,
            source: finding.source,
            kind: finding.kind,
            path: finding.path.map(owned),
            upheld: finding.upheld,
        };
        let reader = |reader: ReaderSummary<'_>| ReaderSummary {
            model: owned(reader.model),
            outcome: owned(reader.outcome),
            duration_ms: reader.duration_ms,
            tokens_in: reader.tokens_in,
            tokens_out: reader.tokens_out,
            cost_usd: reader.cost_usd,
        };
        Summary {
            line: &[],
            id: owned(self.id),
            time: owned(self.time),
            session: self.session.map(owned),
            project: self.project.map(owned),
            cause: Cause::ALL
                .iter()
                .find(|cause| cause.name() == self.cause)
                .map_or_else(|| owned(self.cause), |cause| Cow::Borrowed(cause.name())),
            findings: self.findings.into_iter().map(finding).collect(),
            auditor: self.auditor.map(reader),
            second_reader: self.second_reader.map(reader),
            ms: self.ms,
            verdict: self.verdict,
            total_ms: self.total_ms,
            auditor_ms: self.auditor_ms,
            second_ms: self.second_ms,
        }
    }
}

impl<'a> Summary<'a> {
    /// The readers that took part.
    pub fn readers(&self) -> impl Iterator<Item = &ReaderSummary<'a>> {
        self.auditor.iter().chain(&self.second_reader)
    }

    /// What both readers cost, in dollars, as far as the client tells.
    pub fn cost_usd(&self) -> Option<f64> {
        let cost = self.readers().filter_map(|reader| reader.cost_usd).reduce(|one, other| one + other);
        // No provider counts closer than that, and a sum of two must not show how floats are added.
        cost.map(|cost| (cost * 1e9).round() / 1e9)
    }

    /// How long both readers took, in milliseconds, as the phases have it or else as each says itself.
    pub fn readers_ms(&self) -> Option<f64> {
        let own = |reader: &Option<ReaderSummary<'_>>| {
            reader.as_ref().filter(|reader| reader.was_asked()).map(|reader| reader.duration_ms)
        };
        let first = self.auditor_ms.or_else(|| own(&self.auditor));
        let second = self.second_ms.or_else(|| own(&self.second_reader));
        [first, second].into_iter().flatten().reduce(|one, other| one + other)
    }
}

impl ReaderSummary<'_> {
    /// Whether it was asked at all.
    pub fn was_asked(&self) -> bool {
        self.outcome != "not-asked"
    }
}

impl<'a> Line<'a> {
    /// Looks at a line. `None` where nothing stands on it.
    pub fn of(line: &'a [u8]) -> Option<Self> {
        let line = trimmed(line);
        if line.is_empty() {
            return None;
        }
        Some(glance(line).unwrap_or(Self::Torn))
    }
}

/// A line without the white space and the NULs around it, which a crash may leave there.
fn trimmed(mut line: &[u8]) -> &[u8] {
    let is_noise = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    while let [first, rest @ ..] = line
        && is_noise(first)
    {
        line = rest;
    }
    while let [rest @ .., last] = line
        && is_noise(last)
    {
        line = rest;
    }
    line
}

fn glance(line: &[u8]) -> Result<Line<'_>, Torn> {
    // What stands in the list of files is most of a line, and nobody looks at it. Where a guess at its end is wrong, it
    // is read like anything else.
    taken_apart(line, true).or_else(|Torn| taken_apart(line, false))
}

fn taken_apart(line: &[u8], quickly: bool) -> Result<Line<'_>, Torn> {
    let mut fields = Fields { glance: Summary { line, ..Summary::default() }, ..Fields::default() };
    let mut scan = Scan::new(line);
    let mut behind_files = None;
    let whole = scan.fields(|key, scan| {
        if quickly && key == b"files" {
            behind_files = behind_list(line, scan);
            if behind_files.is_some() {
                return Err(Torn);
            }
        }
        fields.take(key, scan)
    });
    match behind_files {
        None => whole?,
        Some(at) => {
            scan = Scan::new(&line[at..]);
            scan.fields_from_here(|key, scan| fields.take(key, scan))?;
        }
    }
    if scan.peek().is_some() {
        return Err(Torn);
    }
    fields.line()
}

/// Where the key behind the list of objects that comes next probably stands: behind the first end of a list of objects.
fn behind_list(line: &[u8], scan: &mut Scan<'_>) -> Option<usize> {
    static END: Needle = Needle::new(|| Finder::new("}],\""));
    let rest = scan.rest().json();
    let found = rest.starts_with(b"[{").then(|| END.find(rest)).flatten()?;
    Some(line.len() - rest.len() + found + 3)
}

/// What was seen of a line so far.
#[derive(Debug, Default)]
struct Fields<'a> {
    glance: Summary<'a>,
    schema: u64,
    kind: Option<Raw<'a>>,
    blocks: bool,
    would_block: bool,
}

impl<'a> Fields<'a> {
    fn take(&mut self, key: &[u8], scan: &mut Scan<'a>) -> Result<(), Torn> {
        let glance = &mut self.glance;
        match key {
            b"schema" => self.schema = whole_number(scan.value()?),
            b"kind" => self.kind = Some(scan.value()?),
            b"id" => glance.id = scan.value()?.text().ok_or(Torn)?,
            b"time" => glance.time = scan.value()?.text().ok_or(Torn)?,
            b"session" => glance.session = scan.value()?.text(),
            b"project" => glance.project = scan.value()?.text(),
            b"decision" => self.blocks = scan.value()?.is("block"),
            b"would_block" => self.would_block = scan.value()?.is_true(),
            b"cause" => glance.cause = scan.value()?.text().unwrap_or_default(),
            b"findings" if scan.peek() == Some(b'[') => {
                scan.items(|scan| {
                    glance.findings.push(finding(scan)?);
                    Ok::<_, Torn>(())
                })?;
            }
            b"auditor" if scan.peek() == Some(b'{') => glance.auditor = Some(reader(scan)?),
            b"second_reader" if scan.peek() == Some(b'{') => glance.second_reader = Some(reader(scan)?),
            b"phases_ms" if scan.peek() == Some(b'{') => scan.fields(|key, scan| {
                let value = scan.value()?;
                match key {
                    b"total" => glance.total_ms = number(value),
                    b"auditor" => glance.auditor_ms = number(value),
                    b"second-reader" => glance.second_ms = number(value),
                    _ => {}
                }
                Ok::<_, Torn>(())
            })?,
            _ => scan.skip()?,
        }
        Ok(())
    }

    fn line(self) -> Result<Line<'a>, Torn> {
        let mut glance = self.glance;
        if let Some(kind) = self.kind {
            let is_ours = kind.is("outcome") || kind.is("label");
            if !is_ours || self.schema > u64::from(note::SCHEMA) {
                return Ok(Line::Newer);
            }
            let note = serde_json::from_slice(glance.line).map_err(|_| Torn)?;
            return Ok(Line::Note(Box::new(Noted { note, line: glance.line })));
        }
        if self.schema > u64::from(record::SCHEMA) {
            return Ok(Line::Newer);
        }
        glance.ms = milliseconds(&glance.time).ok_or(Torn)?;
        if glance.id.is_empty() {
            return Err(Torn);
        }
        glance.verdict = match (self.blocks, self.would_block) {
            (true, _) => Verdict::Block,
            (false, true) => Verdict::WouldBlock,
            (false, false) => Verdict::Allow,
        };
        Ok(Line::Decision(Box::new(glance)))
    }
}

fn finding<'a>(scan: &mut Scan<'a>) -> Result<FindingSummary<'a>, Torn> {
    let mut found = FindingSummary::default();
    scan.fields(|key, scan| {
        match key {
            b"category" => found.category = one_of(scan.value()?, &Category::ALL, Category::name),
            b"status" => found.status = one_of(scan.value()?, &Status::ALL, Status::name),
            b"source" => {
                let value = scan.value()?;
                found.source =
                    one_of(value, &Source::ALL, Source::name).or_else(|| older(value, &OLDER_SOURCES));
            }
            b"kind" | b"problem" => {
                let value = scan.value()?;
                found.kind = one_of(value, &Kind::ALL, Kind::name).or_else(|| older(value, &OLDER_KINDS));
            }
            b"path" => found.path = scan.value()?.text(),
            b"second" if scan.peek() == Some(b'{') => scan.fields(|key, scan| {
                let value = scan.value()?;
                if key == b"upheld" {
                    found.upheld = Some(value.is_true());
                }
                Ok::<_, Torn>(())
            })?,
            _ => scan.skip()?,
        }
        Ok::<_, Torn>(())
    })?;
    Ok(found)
}

fn reader<'a>(scan: &mut Scan<'a>) -> Result<ReaderSummary<'a>, Torn> {
    let mut seen = ReaderSummary::default();
    scan.fields(|key, scan| {
        match key {
            b"model" => seen.model = scan.value()?.text().unwrap_or_default(),
            b"outcome" => seen.outcome = scan.value()?.text().unwrap_or_default(),
            b"duration_ms" => seen.duration_ms = number(scan.value()?).unwrap_or_default(),
            b"usage" if scan.peek() == Some(b'{') => scan.fields(|key, scan| {
                let value = scan.value()?;
                match key {
                    b"input_tokens" | b"cache_read_tokens" | b"cache_write_tokens" => {
                        seen.tokens_in += whole_number(value);
                    }
                    b"output_tokens" => seen.tokens_out += whole_number(value),
                    b"cost_usd" => seen.cost_usd = number(value),
                    _ => {}
                }
                Ok::<_, Torn>(())
            })?,
            _ => scan.skip()?,
        }
        Ok::<_, Torn>(())
    })?;
    Ok(seen)
}

/// What older lines call what has another name now.
const OLDER_SOURCES: [(&str, Source); 1] = [("auditor", Source::Reader)];
const OLDER_KINDS: [(&str, Kind); 4] = [
    ("missing-file", Kind::Missing),
    ("missing-content", Kind::WrongContent),
    ("failed-command", Kind::Failed),
    ("no-trace", Kind::Other),
];

fn older<T: Copy>(value: Raw<'_>, names: &[(&str, T)]) -> Option<T> {
    names.iter().find(|(name, _)| value.is(name)).map(|(_, one)| *one)
}

fn one_of<T: Copy>(value: Raw<'_>, all: &[T], name: fn(T) -> &'static str) -> Option<T> {
    all.iter().copied().find(|one| value.is(name(*one)))
}

fn number(value: Raw<'_>) -> Option<f64> {
    std::str::from_utf8(value.json()).ok()?.parse().ok()
}

fn whole_number(value: Raw<'_>) -> u64 {
    std::str::from_utf8(value.json()).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// A time as the log writes it, in milliseconds since 1970.
pub fn milliseconds(time: &str) -> Option<i64> {
    plain_milliseconds(time.as_bytes())
        .or_else(|| time.parse::<Timestamp>().ok().map(Timestamp::as_millisecond))
}

/// The form in which the log has nearly all of them, `2026-10-01T00:00:00.000Z`.
fn plain_milliseconds(time: &[u8]) -> Option<i64> {
    let two = |at: usize| -> Option<i64> {
        let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
        Some(digit(time[at])? * 10 + digit(time[at + 1])?)
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if time.len() != 24 || marks.iter().any(|(at, mark)| time[*at] != *mark) {
        return None;
    }
    let (year, month, day) = (two(0)? * 100 + two(2)?, two(5)?, two(8)?);
    let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
    let thousandths = two(20)? * 10 + two(21)? % 10;
    let is_plain = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=28).contains(&day);
    if !is_plain || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // The days since 1970 of the civil calendar, with years that begin in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::record::tests::record;

    fn decision(json: &str) -> Summary<'_> {
        match Line::of(json.as_bytes()) {
            Some(Line::Decision(glance)) => *glance,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_glance_sees_what_the_record_says() {
        let mut whole = record("k3f92m7q1x");
        whole.project = Some("/home/me/sh\"op".into());
        whole.would_block = true;
        whole.phases_ms.insert("total".into(), 12.5);
        whole.phases_ms.insert("auditor".into(), 10.0);
        whole.phases_ms.insert("second-reader".into(), 1.5);
        let finding = r#"{"category":"ask","status":"cannot-verify","source":"both","kind":"left-out",
            "claim":"}]","path":"a/b.rs","why":"w","settle":"s","check":"c","second":{"upheld":false,"why":"}"}}"#;
        whole.findings.push(serde_json::from_str(finding).expect("a finding"));
        let auditor = r#"{"backend":"claude","client":null,"model":"haiku","outcome":"answered","duration_ms":9.5,
            "usage":{"input_tokens":1,"output_tokens":2,"cache_read_tokens":30,"cache_write_tokens":400,
            "cost_usd":0.25},"flags":["--x"]}"#;
        whole.auditor = serde_json::from_str(auditor).expect("a reader");
        whole.second_reader = serde_json::from_str(&auditor.replace("haiku", "sonnet")).expect("a reader");
        let json = serde_json::to_string(&whole).expect("json");
        let glance = decision(&json);
        assert_eq!(
            (glance.id.as_ref(), glance.project.as_deref(), glance.verdict, glance.cause.as_ref()),
            ("k3f92m7q1x", Some("/home/me/sh\"op"), Verdict::WouldBlock, "clean")
        );
        assert_eq!(
            (glance.total_ms, glance.auditor_ms, glance.second_ms),
            (Some(12.5), Some(10.0), Some(1.5))
        );
        assert_eq!(
            (glance.readers_ms(), glance.cost_usd()),
            (Some(11.5), Some(0.5)),
            "both readers' together"
        );
        assert_eq!(
            glance.findings,
            [FindingSummary {
                category: Some(Category::Ask),
                status: Some(Status::CannotVerify),
                source: Some(Source::Both),
                kind: Some(Kind::LeftOut),
                path: Some("a/b.rs".into()),
                upheld: Some(false),
            }]
        );
        assert_eq!(glance.second_reader.as_ref().map(|second| second.model.as_ref()), Some("sonnet"));
        let auditor = glance.auditor.expect("a reader");
        assert_eq!((auditor.tokens_in, auditor.tokens_out, auditor.cost_usd), (431, 2, Some(0.25)));
        assert_eq!((auditor.model.as_ref(), auditor.outcome.as_ref()), ("haiku", "answered"));
    }

    #[test]
    fn an_older_line_lacks_fields_and_a_newer_one_is_told_apart() {
        let old = decision(r#"{"schema":0,"id":"a","time":"2026-10-01T00:00:00Z","decision":"block"}"#);
        assert_eq!((old.verdict, old.cause.as_ref(), old.findings.len()), (Verdict::Block, "", 0));
        let old = decision(
            r#"{"id":"a","time":"2026-10-01T00:00:00Z","findings":[{"source":"auditor","problem":"missing-file"}]}"#,
        );
        assert_eq!(
            (old.findings[0].source, old.findings[0].kind),
            (Some(Source::Reader), Some(Kind::Missing))
        );
        assert_eq!((old.findings[0].upheld, old.second_reader), (None, None), "there was one reader");
        for newer in [
            r#"{"schema":2,"id":"a","time":"2026-10-01T00:00:00Z"}"#,
            r#"{"kind":"outcome","schema":3,"id":"a"}"#,
            r#"{"kind":"mood","schema":2,"id":"a"}"#,
        ] {
            assert_eq!(Line::of(newer.as_bytes()), Some(Line::Newer), "{newer}");
        }
    }

    #[test]
    fn a_note_is_read_whole() {
        let label = r#"{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00.000Z","of":"b","label":"wrong"}"#;
        let Some(Line::Note(noted)) = Line::of(label.as_bytes()) else { panic!("no note") };
        assert_eq!((noted.of(), noted.ms()), ("b", Some(1_790_812_800_000)));
    }

    #[test]
    fn what_is_no_line_is_torn_and_an_empty_one_is_none() {
        for torn in [
            "{\"schema\":1,\"id\":\"to",
            "\u{fffd}",
            "7",
            "{}",
            r#"{"id":"a"}"#,
            r#"{"id":"a","time":"soon"}"#,
            r#"{"time":"2026-10-01T00:00:00Z"}"#,
            r#"{"id":"a","time":"2026-10-01T00:00:00Z"}{"id":"b"}"#,
            r#"{"kind":"label","schema":2}"#,
        ] {
            assert_eq!(Line::of(torn.as_bytes()), Some(Line::Torn), "{torn}");
        }
        assert_eq!(Line::of(b" \0\0\n"), None);
        let padded = b"\0\0{\"id\":\"a\",\"time\":\"2026-10-01T00:00:00Z\"}\0\n";
        assert!(matches!(Line::of(padded), Some(Line::Decision(glance)) if glance.line.starts_with(b"{")));
    }

    #[test]
    fn the_list_of_files_is_passed_over_whatever_stands_in_it() {
        for files in [
            "[]",
            r#"[{"path":"a"}]"#,
            r#"[{"path":"}],\"cause\":"}]"#,
            r#"[{"path":"a","hunks":[{"a":[{}],"b":1}],"cause":"inner","id":7},{"x":[{}]}]"#,
            "null",
        ] {
            for end in ["", r#","masked":0,"phases_ms":{"total":5}"#] {
                let json = format!(
                    r#"{{"id":"a","time":"2026-10-01T00:00:00Z","cause":"clean","files":{files}{end}}}"#
                );
                let glance = decision(&json);
                assert_eq!((glance.id.as_ref(), glance.cause.as_ref()), ("a", "clean"), "{json}");
                assert_eq!(glance.total_ms.is_some(), !end.is_empty(), "{json}");
            }
        }
    }

    #[test]
    fn a_bare_glance_says_the_same() {
        let json = r#"{"id":"a","time":"2026-10-01T00:00:00Z","project":"p","findings":[{"path":"x"}],"auditor":{"model":"m"},"second_reader":{"model":"n"}}"#;
        let glance = decision(json);
        assert_eq!(Summary { line: glance.line, ..glance.clone().into_bare() }, glance);
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        let from = "1970-01-01T00:00:00Z".parse::<Timestamp>().expect("a time").as_millisecond();
        for step in 0..40_000 {
            let ms = from + step * (12 * 3_600_000 + 59_003);
            let time = format!("{:.3}", Timestamp::from_millisecond(ms).expect("in range"));
            assert_eq!(milliseconds(&time), Some(ms), "{time}");
        }
        assert_eq!(milliseconds("2026-02-31T00:00:00.000Z"), None);
        assert_eq!(milliseconds("2026-10-01T00:00:00+02:00"), milliseconds("2026-09-30T22:00:00.000Z"));
    }
}
