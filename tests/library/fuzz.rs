//! The fuzz targets' properties without a fuzzer: on every seed, and on seeds that are cut, joined
//! and altered. `PUNCHLIST_FUZZ_ROUNDS` says how many of those; the fuzzer itself is in `fuzz`.

#[path = "../support/fuzz/properties.rs"]
mod properties;

use std::fs;
use std::path::Path;

/// Numbers that look random and are the same in every run (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from(mixed >> 33).unwrap_or_default() % most.max(1)
    }
}

/// Bytes that mean something in one of the formats.
const SPICE: &[u8] = b"\n\r\0\"\\{}[]:,'`$#-*|<>()&;=~\t 01ex\xff\xc3\xe2";

/// How many altered seeds each property is given, unless the environment says it.
const ROUNDS: usize = 400;

fn alter(seeds: &[(String, Vec<u8>)], random: &mut Random) -> Vec<u8> {
    let mut below = |most| random.below(most);
    let mut bytes = seeds[below(seeds.len())].1.clone();
    for _ in 0..=below(4) {
        let at = below(bytes.len() + 1);
        match below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, SPICE[below(SPICE.len())]),
            2 => bytes = [&bytes[..at], &seeds[below(seeds.len())].1[..]].concat(),
            3 if at < bytes.len() => bytes[at] ^= 1 << below(8),
            _ => {
                let from = below(at + 1);
                let part = bytes[from..at].repeat(1 + below(3));
                bytes.splice(at..at, part);
            }
        }
    }
    bytes.truncate(64 << 10);
    bytes
}

/// The seeds of a property, by name.
fn seeds_of(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/fuzz/seeds").join(name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut seeds: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read(&path).expect("a seed"))
        })
        .collect();
    seeds.sort();
    seeds
}

fn hold(name: &str) {
    let (_, property) = properties::ALL.into_iter().find(|(known, _)| *known == name).expect("a property");
    let seeds = seeds_of(name);
    assert!(!seeds.is_empty(), "no seeds for {name}");
    for (seed, bytes) in &seeds {
        eprintln!("seed {name}/{seed}");
        property(bytes);
    }
    let rounds = std::env::var("PUNCHLIST_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let mut random = Random(7);
    for _ in 0..rounds.unwrap_or(ROUNDS) {
        let bytes = alter(&seeds, &mut random);
        let failed = std::panic::catch_unwind(|| property(&bytes)).is_err();
        assert!(!failed, "{name} does not hold for {:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn any_bytes_on_stdin_are_a_hook_input_or_none() {
    hold("hook_input");
}

#[test]
fn a_transcript_read_in_two_parts_is_the_one_read_whole() {
    hold("rows");
}

#[test]
fn any_text_is_a_plan_with_steps_in_order() {
    hold("plan");
}

#[test]
fn only_what_is_checked_is_an_answer() {
    hold("answer");
}

#[test]
fn a_hook_put_into_any_settings_is_taken_out_again() {
    hold("settings");
}

#[test]
fn settings_are_read_as_they_are_written() {
    hold("config");
}

#[test]
fn a_record_is_read_as_it_is_written() {
    hold("log_record");
}

#[test]
fn a_diff_has_both_texts_in_it() {
    hold("diff");
}

#[test]
fn a_command_line_is_parsed_alike_each_time() {
    hold("shell");
}

/// Each property has a target of the fuzzer, and each target a property.
#[test]
fn properties_and_fuzz_targets_are_the_same() {
    let Ok(manifest) = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/Cargo.toml"))
    else {
        eprintln!("skipped: the published package has no fuzz targets");
        return;
    };
    let mut targets: Vec<_> = manifest
        .split("[[bin]]")
        .skip(1)
        .filter_map(|bin| bin.lines().find_map(|line| line.strip_prefix("name = ")))
        .map(|name| name.trim_matches('"'))
        .collect();
    targets.sort_unstable();
    let mut names: Vec<_> = properties::ALL.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    assert_eq!(targets, names);
}
