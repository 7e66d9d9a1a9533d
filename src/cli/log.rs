//! The arguments of `log`. Must not read the log.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};

use crate::decision::Cause;
use crate::finding::{AdvisoryKind, Category};
use crate::log::filter::{DecisionKind, OutcomeFilter};
use crate::log::note::Label;
use crate::log::time_arg::TimeArg;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct LogArgs {
    #[command(subcommand)]
    pub command: Option<LogCommand>,
    #[command(flatten)]
    pub list: ListArgs,
}

#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Lists the decisions, newest last
    List(Box<ListArgs>),
    /// Shows one decision in full
    Show(ShowArgs),
    /// Writes one HTML page: figures, a timeline, a table, and each decision with its evidence
    Report(Box<ReportArgs>),
    /// Summarises the log: causes, outcomes, precision, failures, times, tokens and money
    Stats(Box<StatsArgs>),
    /// Records whether a decision, or one of its findings, was right; your label overrides
    /// everything else
    Label(LabelArgs),
    /// Prints the decisions for other programs
    Export(Box<ExportArgs>),
    /// Deletes old entries and what exceeds the size limit, as happens automatically once a day
    Prune(PruneArgs),
    /// Prints the location of the log
    Path {
        /// Prints it as JSON, with the files of the log
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct ShowArgs {
    /// The decision's id or a prefix of it, `last` for the newest, `held` for the newest block; add
    /// .N for finding N alone
    #[arg(value_name = "ID[.N]")]
    pub which: String,
    /// Prints the prompts of both readers
    #[arg(long, conflicts_with_all = ["reply", "replay", "json"])]
    pub prompt: bool,
    /// Prints their replies
    #[arg(long, conflicts_with_all = ["replay", "json"])]
    pub reply: bool,
    /// Judges the saved reply again with today's rules and disk, and shows the differences
    #[arg(long)]
    pub replay: bool,
    /// Searches the decisions of every machine of the fleet
    #[arg(long, conflicts_with_all = ["prompt", "reply", "replay"])]
    pub fleet: bool,
    /// Prints JSON; docs/log-show-json.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Only the newest N
    #[arg(short = 'n', value_name = "N")]
    pub last: Option<usize>,
    /// Prints each record as it is stored, one per line, with its outcomes and labels;
    /// docs/log-json.md describes the fields
    #[arg(long)]
    pub json: bool,
    /// Keeps printing new decisions until interrupted; starts with the newest 10, or as many as -n
    /// says
    #[arg(long, short = 'f')]
    pub follow: bool,
}

#[derive(Debug, Args)]
pub struct StatsArgs {
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Prints all figures as JSON; docs/log-json.md describes the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct LabelArgs {
    /// The decision's id or a prefix of it, `last` for the newest, `held` for the newest block; add
    /// .N for finding N alone
    #[arg(value_name = "ID[.N]")]
    pub of: String,
    /// Your verdict
    #[arg(value_enum)]
    pub judgement: Label,
    /// A note that says why
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Labels a decision of any machine of the fleet, for everybody who queries it
    #[arg(long)]
    pub fleet: bool,
    /// Prints what was written, as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The output format
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub format: ExportFormat,
    #[command(flatten)]
    pub filter: FilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Each record as it is stored, one per line, with its outcomes and labels
    Jsonl,
    /// One row per decision, for a spreadsheet
    Csv,
}

#[derive(Debug, Args)]
pub struct PruneArgs {
    /// How long entries are kept [default: the config's, 90d]
    #[arg(long, value_name = "TIME", value_parser = crate::config::parse_duration)]
    pub keep: Option<Duration>,
    /// The size limit [default: the config's, 200MB]
    #[arg(long, value_name = "SIZE", value_parser = crate::config::parse_size)]
    pub max_size: Option<u64>,
    /// Shows what would be deleted, and deletes nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Prints what was or would be deleted, as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The page's file; - prints it to stdout
    #[arg(short = 'o', long = "output", value_name = "FILE.html")]
    pub output: PathBuf,
    /// Opens it in the browser
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub filter: FilterArgs,
}

/// Which decisions to show. Filters combine; a filter with several values accepts any of them.
#[derive(Debug, Default, Args)]
pub struct FilterArgs {
    /// The decisions of every machine of the fleet, instead of only this machine's
    #[arg(long)]
    pub fleet: bool,
    /// Only of this machine of the fleet
    #[arg(long, value_name = "NAME", requires = "fleet")]
    pub machine: Option<String>,
    /// Only of this project: the name of its folder, or its path
    #[arg(long, value_name = "NAME|PATH")]
    pub project: Option<String>,
    /// Only of the session whose id starts with this
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only from this time on: 7d, 36h, 2026-10-01, 2026-10, "2026-10-01 14:00", today, yesterday
    #[arg(long, value_name = "WHEN")]
    pub since: Option<TimeArg>,
    /// Only up to this time; a day or a month is included as a whole
    #[arg(long, value_name = "WHEN")]
    pub until: Option<TimeArg>,
    /// Only with this decision
    #[arg(long, value_delimiter = ',', value_name = "DECISION", value_enum)]
    pub decision: Vec<DecisionKind>,
    /// Only with a finding of this category that was not refuted
    #[arg(long, value_delimiter = ',', value_name = "CATEGORY", value_parser = named(Category::ALL.into_iter(), Category::name), ignore_case = true)]
    pub category: Vec<Category>,
    /// Only for this cause
    #[arg(long, value_delimiter = ',', value_name = "CAUSE", value_parser = named(Cause::all(), Cause::name))]
    pub cause: Vec<Cause>,
    /// Only with this outcome of a finding, or this label
    #[arg(long, value_delimiter = ',', value_name = "OUTCOME", value_enum)]
    pub outcome: Vec<OutcomeFilter>,
    /// Only with an advisory of this kind
    #[arg(long, value_delimiter = ',', value_name = "KIND", value_parser = named(AdvisoryKind::ALL.iter().copied(), AdvisoryKind::name))]
    pub advisory: Vec<AdvisoryKind>,
    /// Only if this text is in the record, its outcomes or its labels; ignores case
    #[arg(long, value_name = "TEXT")]
    pub grep: Option<String>,
}

/// Returns a parser of the names that `name` gives.
fn named<T: Copy + Send + Sync + 'static>(
    all: impl Iterator<Item = T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<T> = all.collect();
    PossibleValuesParser::new(all.iter().map(|one| name(*one)).collect::<Vec<_>>()).try_map(move |word| {
        all.iter().copied().find(|one| name(*one).eq_ignore_ascii_case(&word)).ok_or("no such value")
    })
}
