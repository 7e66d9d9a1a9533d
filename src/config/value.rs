//! How single values are written in a config file, and which are rejected. Every error says what
//! would be right. Must not know which key a value belongs to.

use std::fmt::Display;
use std::path::{Component, Path};
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

use super::audit::agent_type_glob;
use crate::globs::{FileGlob, anywhere_glob};

/// A smaller prompt would have no room for the question.
pub(super) const MIN_PROMPT_BYTES: usize = 10_000;
/// With fewer bytes there is no room for the text around the files.
pub(super) const MIN_MEMORY_BYTES: usize = 2_000;

/// Parses a duration, such as "45s". There is none of less than a millisecond, as they are written.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let span: Option<jiff::Span> = text.parse().ok();
    let duration = span.and_then(|span| span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok());
    let duration = duration.and_then(|duration| Duration::try_from(duration).ok());
    duration
        .map(|duration| Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| format!("\"{text}\" is not a duration; write it like \"45s\", \"2m\" or \"90d\""))
}

/// Parses a size, such as "200MB".
pub fn parse_size(text: &str) -> Result<u64, String> {
    let size = text.parse::<bytesize::ByteSize>().map(|size| size.as_u64());
    size.map_err(|_| format!("\"{text}\" is not a size; write it like \"200MB\" or \"1GB\""))
}

/// Writes a number in the largest unit that divides it.
fn in_units(number: u128, units: &[(u128, &str)]) -> String {
    let fits = |(unit, _): &&(u128, &str)| number > 0 && number.is_multiple_of(*unit);
    let (unit, name) = units.iter().find(fits).unwrap_or(&units[units.len() - 1]);
    format!("{}{name}", number / unit)
}

pub(super) mod duration {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::{Duration, in_units, parse_duration};

    const UNITS: [(u128, &str); 5] =
        [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];

    pub(in crate::config) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&in_units(time.as_millis(), &UNITS))
    }

    pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        parse_duration(&String::deserialize(from)?).map_err(de::Error::custom)
    }
}

pub(super) fn optional_duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    duration::deserialize(from).map(Some)
}

pub(super) mod size {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::{in_units, parse_size};

    const UNITS: [(u128, &str); 4] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B")];

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(in crate::config) fn serialize<S: Serializer>(bytes: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&in_units(u128::from(*bytes), &UNITS))
    }

    pub(in crate::config) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        parse_size(&String::deserialize(from)?).map_err(de::Error::custom)
    }
}

/// Reads a number that is at least `MIN`.
pub(super) fn at_least<'de, const MIN: usize, T, D>(from: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Display + PartialOrd + TryFrom<usize>,
    D: Deserializer<'de>,
{
    let number = T::deserialize(from)?;
    if T::try_from(MIN).is_ok_and(|min| number < min) {
        return Err(de::Error::custom(format!("{number} is too little; at least {MIN}")));
    }
    Ok(number)
}

/// Reads an optional command line.
pub(super) fn optional_command<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    command(from).map(Some)
}

/// Reads a number above 0 and up to 1.
pub(super) fn fraction<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let part = f64::deserialize(from)?;
    if part > 0.0 && part <= 1.0 {
        return Ok(part);
    }
    Err(de::Error::custom(format!("{part} is not a fraction of 1; write it like 0.8")))
}

fn not_empty<'de, D: Deserializer<'de>>(from: D, what: &str) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if text.trim().is_empty() {
        return Err(de::Error::custom(format!("{what} that is empty")));
    }
    Ok(text)
}

pub(super) fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    not_empty(from, "a name")
}

pub(super) fn reason<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    not_empty(from, "a reason")
}

pub(super) fn command<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    not_empty(from, "a command")
}

/// Reads a path that stays in its folder.
pub(super) fn file_in_folder<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    let is_inside = Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !is_inside {
        return Err(de::Error::custom(format!(
            "\"{name}\" is not a file in the loop's folder; write it like \"docs/features.json\""
        )));
    }
    Ok(name)
}

/// Reads one Markdown heading, or an empty text.
pub(super) fn heading<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let text = text.trim();
    let is_heading = text.starts_with('#') && !text.trim_start_matches('#').trim().is_empty();
    if text.is_empty() || is_heading && !text.contains('\n') {
        return Ok(text.to_owned());
    }
    Err(de::Error::custom(format!(
        "\"{text}\" is not a heading; write one line like \"## Plan Completion Check\""
    )))
}

fn compiled<'de, D: Deserializer<'de>, T>(
    from: D,
    compile: impl Fn(&str) -> Result<T, globset::Error>,
) -> Result<Vec<String>, D::Error> {
    let globs = Vec::<String>::deserialize(from)?;
    for glob in &globs {
        compile(glob)
            .map_err(|error| de::Error::custom(format!("\"{glob}\" is not a glob: {}", error.kind())))?;
    }
    Ok(globs)
}

pub(super) fn globs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    compiled(from, anywhere_glob)
}

/// Reads at least one glob.
pub(super) fn some_globs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let globs = globs(from)?;
    if globs.is_empty() {
        return Err(de::Error::custom("no glob; write one like \"src/generated/**\""));
    }
    Ok(globs)
}

pub(super) fn agent_types<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    compiled(from, agent_type_glob)
}

/// Reads globs of files, each of which names a file and does not go up.
pub(super) fn file_globs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let globs = compiled(from, FileGlob::new)?;
    let goes_up = |glob: &&String| glob.trim().is_empty() || glob.split('/').any(|part| part == "..");
    match globs.iter().find(goes_up) {
        Some(glob) => Err(de::Error::custom(format!(
            "\"{glob}\" is not a glob: it names no file, or goes up with `..`"
        ))),
        None => Ok(globs),
    }
}

pub(super) fn file_globs_in_project<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let globs = file_globs(from)?;
    match globs.iter().find(|glob| leads_outside(glob)) {
        Some(glob) => Err(de::Error::custom(format!(
            "\"{glob}\" leads out of the project; name files relative to the project's folder"
        ))),
        None => Ok(globs),
    }
}

/// Returns whether the text of a path or glob leads out of the folder that it is relative to.
pub(super) fn leads_outside(path: &str) -> bool {
    let is_inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    path.starts_with('~') || !Path::new(path).components().all(is_inside)
}
