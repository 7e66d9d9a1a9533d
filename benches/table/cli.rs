//! The benchmark's arguments.

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};

use crate::GROUPS;
use crate::transcripts::{Generator, Odd, Spec};

/// What punchlist costs, as ratios in one run.
#[derive(Debug, Parser)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// What cargo says to every benchmark.
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

/// How the table is made.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Small sizes and few rounds, to see that everything works.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only these groups of rows.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(GROUPS.map(|(name, _)| name)))]
    pub(crate) only: Vec<String>,
    /// Writes the rows to a file as well.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Counts instructions instead, and compares them with what is recorded in
    /// benches/ceilings.toml.
    #[arg(long)]
    pub(crate) instructions: bool,
    /// Records them anew.
    #[arg(long, requires = "instructions")]
    pub(crate) bless: bool,
}

/// What else there is.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reads a transcript as an audit does, and prints what is in it and the most memory that took.
    Fold {
        /// Which.
        transcript: PathBuf,
        /// Prints more of what is in it, which takes longer.
        #[arg(long)]
        more: bool,
    },
    /// Makes a decision log up: a year of a small team.
    Year {
        /// The state folder in which it is to be.
        state: PathBuf,
        /// How many decisions.
        #[arg(long, default_value_t = 20_000)]
        records: usize,
        /// Another seed is another year.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Makes a transcript up, with the files that it worked on and the truth about it.
    Generate(GenerateArgs),
}

/// What to make up.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct GenerateArgs {
    /// Where to: `NAME.jsonl`; the truth becomes `NAME.truth.json`.
    pub(crate) transcript: PathBuf,
    /// How long.
    #[arg(long, default_value = "1MiB")]
    bytes: ByteSize,
    /// Where the files are that the session works on; `NAME.workspace` by default.
    #[arg(long)]
    pub(crate) workspace: Option<PathBuf>,
    /// Another seed is another session.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// By the second generator, which takes only seed and size.
    #[arg(long)]
    second: bool,
    /// How many files are changed.
    #[arg(long)]
    files: Option<usize>,
    /// How large each of them is.
    #[arg(long)]
    file_bytes: Option<ByteSize>,
    /// How many steps PLAN.md has.
    #[arg(long, default_value_t = 0)]
    plan_steps: usize,
    /// How many commands are run; by default as many as in real sessions of that size.
    #[arg(long)]
    commands: Option<usize>,
    /// How often files are changed; by default as often as in real sessions of that size.
    #[arg(long)]
    edits: Option<usize>,
    /// How many subagents have transcripts of their own.
    #[arg(long, default_value_t = 0)]
    subagents: usize,
    /// Spaces after colons and commas.
    #[arg(long)]
    spaced: bool,
    /// Keys in any order.
    #[arg(long)]
    shuffled: bool,
    /// Torn lines.
    #[arg(long)]
    torn: bool,
    /// Two objects on a line.
    #[arg(long)]
    paired: bool,
    /// Rows that are there twice.
    #[arg(long)]
    repeated: bool,
    /// One line of this length, in the middle.
    #[arg(long, default_value = "0")]
    long_line: ByteSize,
}

impl GenerateArgs {
    /// The same for the generator.
    pub(crate) fn spec(&self) -> Spec {
        let size = |size: ByteSize| usize::try_from(size.as_u64()).unwrap_or(usize::MAX);
        let plain = Spec::of(self.bytes.as_u64());
        Spec {
            generator: if self.second { Generator::Second } else { Generator::First },
            seed: self.seed,
            files: self.files.unwrap_or(plain.files),
            file_bytes: self.file_bytes.map_or(0, size),
            plan_steps: self.plan_steps,
            commands: self.commands,
            edits: self.edits,
            subagents: self.subagents,
            odd: Odd {
                spaced: self.spaced,
                shuffled: self.shuffled,
                torn: self.torn,
                paired: self.paired,
                repeated: self.repeated,
                long_line: size(self.long_line),
            },
            ..plain
        }
    }
}
