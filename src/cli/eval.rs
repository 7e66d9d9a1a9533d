//! The arguments of `eval`. Must not read a case.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::eval::case::Part;
use crate::eval::run::{ReaderChoice, SecondChoice};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct EvalArgs {
    #[command(subcommand)]
    pub command: Option<EvalCommand>,
    /// The folder of the cases, one subfolder each
    #[arg(value_name = "DIR", required = true)]
    pub folder: Option<PathBuf>,
    /// The first reader [default: none, or recorded with --replies]
    #[arg(long, value_enum)]
    pub reader: Option<ReaderChoice>,
    /// The second reader, which tries to refute what would block
    #[arg(long, value_enum, default_value_t = SecondChoice::Recorded)]
    pub second: SecondChoice,
    /// Takes new answers from this folder (NNN.first.json and NNN.second.json), and stored ones for
    /// the rest
    #[arg(long, value_name = "DIR", requires = "key")]
    pub replies: Option<PathBuf>,
    /// The file that maps numbers to cases, as `eval prompts` wrote it
    #[arg(long, value_name = "FILE", requires = "replies")]
    pub key: Option<PathBuf>,
    /// Stores the new answers with the cases; NAME says who gave them
    #[arg(long, value_name = "NAME", requires = "replies")]
    pub record: Option<String>,
    /// Only the cases of this part
    #[arg(long, value_enum)]
    pub part: Option<Part>,
    /// Only this case
    #[arg(long, value_name = "NAME")]
    pub case: Option<String>,
    /// Also writes everything to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Prints each finding in full
    #[arg(long)]
    pub verbose: bool,
    /// Exits with 1 if a goal is missed
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Writes the readers' prompts under neutral names, to be answered by a model that must not
    /// know the case
    Prompts(PromptsArgs),
}

#[derive(Debug, Args)]
pub struct PromptsArgs {
    /// The folder of the cases
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Where the prompts go: 001.first.md and so on
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Where to write which number stands for which case; not among the prompts
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// The second reader's prompts: what would block after the first reader's answers
    #[arg(long)]
    pub second: bool,
    /// With --second: takes the first reader's answers from this folder if it has them
    #[arg(long, value_name = "DIR", requires = "second")]
    pub replies: Option<PathBuf>,
}
