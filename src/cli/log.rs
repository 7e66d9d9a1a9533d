//! The arguments of `log`. Must not look at the log.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};

use crate::decision::Cause;
use crate::finding::Category;
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
    /// Shows one decision with all there is to know of it
    Show(ShowArgs),
    /// Writes them as one HTML page: figures, a timeline, a table, and each decision with its evidence
    Report(Box<ReportArgs>),
    /// What the log comes to: causes, outcomes, precision, failures, times, tokens and money
    Stats(Box<StatsArgs>),
    /// Says whether a decision, or one of its findings, was right; what you say counts before anything else
    Label(LabelArgs),
    /// Prints the decisions for other programs
    Export(Box<ExportArgs>),
    /// Takes out what is old or too much, as is done by itself once a day
    Prune(PruneArgs),
    /// Prints where the log is
    Path {
        /// Prints it as JSON, with the files of the log
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct ShowArgs {
    /// The decision's id or the start of one, `last` for the newest, `held` for the newest that held; with .N behind it, finding N alone
    #[arg(value_name = "ID[.N]")]
    pub which: String,
    /// Prints what both readers were sent
    #[arg(long, conflicts_with_all = ["reply", "replay", "json"])]
    pub prompt: bool,
    /// Prints what came back
    #[arg(long, conflicts_with_all = ["replay", "json"])]
    pub reply: bool,
    /// Judges the saved reply with today's rules, on today's disk, and shows what would differ
    #[arg(long)]
    pub replay: bool,
    /// Looks among the decisions of every machine of the fleet
    #[arg(long, conflicts_with_all = ["prompt", "reply", "replay"])]
    pub fleet: bool,
    /// Prints it for programs; docs/log-show-json.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Only the newest so many
    #[arg(short = 'n', value_name = "N")]
    pub last: Option<usize>,
    /// Prints each record as it stands, one a line, with its outcomes and labels; docs/log-json.md has the fields
    #[arg(long)]
    pub json: bool,
    /// Goes on with what is decided from now on, until it is interrupted; the newest 10 first, or as many as -n says
    #[arg(long, short = 'f')]
    pub follow: bool,
}

#[derive(Debug, Args)]
pub struct StatsArgs {
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Prints all figures as JSON; docs/log-json.md has the fields
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct LabelArgs {
    /// The decision's id or the start of one, `last` for the newest, `held` for the newest that held; with .N behind it, finding N alone
    #[arg(value_name = "ID[.N]")]
    pub of: String,
    /// Whether it was
    #[arg(value_enum)]
    pub judgement: Label,
    /// Why, in words
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Of a decision of any machine of the fleet: it counts for all who look there
    #[arg(long)]
    pub fleet: bool,
    /// Prints what was written, as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// How
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub format: ExportFormat,
    #[command(flatten)]
    pub filter: FilterArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Each record as it stands, one a line, with its outcomes and labels
    Jsonl,
    /// A row for each decision, for a spreadsheet
    Csv,
}

#[derive(Debug, Args)]
pub struct PruneArgs {
    /// How long things are kept [default: the config's, 90d]
    #[arg(long, value_name = "TIME", value_parser = crate::config::parse_duration)]
    pub keep: Option<Duration>,
    /// How much room they may take [default: the config's, 200MB]
    #[arg(long, value_name = "SIZE", value_parser = crate::config::parse_size)]
    pub max_size: Option<u64>,
    /// Only says what would be taken out
    #[arg(long)]
    pub dry_run: bool,
    /// Prints what was or would be taken out, as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The page's file; - prints it
    #[arg(short = 'o', long = "output", value_name = "FILE.html")]
    pub output: PathBuf,
    /// Opens it in the browser
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub filter: FilterArgs,
}

/// Which decisions are meant. Several filters combine; a filter with several values takes any of them.
#[derive(Debug, Default, Args)]
pub struct FilterArgs {
    /// The decisions of every machine of the fleet, in place of this machine's
    #[arg(long)]
    pub fleet: bool,
    /// Only of this project: its folder's name, or its path
    #[arg(long, value_name = "NAME|PATH")]
    pub project: Option<String>,
    /// Only of the session whose id starts so
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only from then on: 7d, 36h, 2026-10-01, 2026-10, "2026-10-01 14:00", today, yesterday
    #[arg(long, value_name = "WHEN")]
    pub since: Option<TimeArg>,
    /// Only up to then; a day or a month is meant with all of it
    #[arg(long, value_name = "WHEN")]
    pub until: Option<TimeArg>,
    /// Only those that were decided so
    #[arg(long, value_delimiter = ',', value_name = "DECISION", value_enum)]
    pub decision: Vec<DecisionKind>,
    /// Only with a finding of this category that was not refuted
    #[arg(long, value_delimiter = ',', value_name = "CATEGORY", value_parser = named(Category::ALL.into_iter(), Category::name), ignore_case = true)]
    pub category: Vec<Category>,
    /// Only for this cause
    #[arg(long, value_delimiter = ',', value_name = "CAUSE", value_parser = named(Cause::all(), Cause::name))]
    pub cause: Vec<Cause>,
    /// Only where that became of a finding, or where a person says so
    #[arg(long, value_delimiter = ',', value_name = "OUTCOME", value_enum)]
    pub outcome: Vec<OutcomeFilter>,
    /// Only where this text stands in the record or in what was said of it later, in whatever case
    #[arg(long, value_name = "TEXT")]
    pub grep: Option<String>,
}

/// Takes one of the names that `name` gives.
fn named<T: Copy + Send + Sync + 'static>(
    all: impl Iterator<Item = T>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<T> = all.collect();
    PossibleValuesParser::new(all.iter().map(|one| name(*one)).collect::<Vec<_>>()).try_map(move |word| {
        all.iter().copied().find(|one| name(*one).eq_ignore_ascii_case(&word)).ok_or("no such value")
    })
}
