//! The result of auditing a past session: [`Report`], which serialized is also the JSON. Pure.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::config::AuditConfig;
use crate::decision::{Action, Cause};
use crate::evidence::{Entered, FileState};
use crate::finding::{Advisory, Category, ClaimedIn, Finding, Kind, SecondOpinion, Source, Status};
use crate::log::record::ReaderRecord;
use crate::past_sessions::audit::Audited;
use crate::plan::{Mark, Plan, PlanSource};
use crate::readers::Usage;
use crate::text::normalise::normalised;

/// The number of this format. Fields may be added under it; none is renamed or given another
/// meaning.
pub const SCHEMA: u32 = 1;

/// The result of an audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub schema: u32,
    pub session: SessionReport,
    pub plan: Option<PlanReport>,
    pub steps: Vec<StepReport>,
    #[serde(serialize_with = "findings_json")]
    pub findings: Vec<Finding>,
    pub advisories: Vec<Advisory>,
    pub files: Vec<FileReport>,
    pub auditor: ReaderReport,
    pub second_reader: Option<ReaderReport>,
    pub decision: Action,
    pub cause: Cause,
    pub cautions: Vec<String>,
    /// For locations; not part of the format.
    #[serde(skip)]
    pub workspace: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionReport {
    pub id: String,
    pub transcript: String,
    pub cwd: String,
    pub client_version: Option<String>,
    pub started: Option<String>,
    pub ended: Option<String>,
}

/// The plan in play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanReport {
    pub source: PlanSource,
    pub path: Option<String>,
    pub steps: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepReport {
    pub number: usize,
    pub line: usize,
    pub text: String,
    pub mark: Mark,
    pub paths: Vec<String>,
    pub ticked_now: bool,
}

/// A finding, with the field names of this format.
#[derive(Serialize)]
#[serde(remote = "Finding")]
struct FindingJson {
    category: Category,
    status: Status,
    source: Source,
    step: Option<usize>,
    claim: String,
    claimed_in: ClaimedIn,
    proof: String,
    path: Option<String>,
    kind: Kind,
    #[serde(rename = "detail")]
    why: String,
    settle: String,
    #[serde(rename = "note")]
    check: String,
    second: Option<SecondOpinion>,
}

fn findings_json<S: Serializer>(findings: &[Finding], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Json(#[serde(with = "FindingJson")] Finding);
    serializer.collect_seq(findings.iter().cloned().map(Json))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    pub path: String,
    pub touched: Vec<String>,
    pub state: &'static str,
    pub entered: &'static str,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ReaderReport {
    pub backend: String,
    pub model: String,
    pub outcome: String,
    pub detail: Option<String>,
    pub duration_ms: f64,
    pub usage: Usage,
}

impl From<&ReaderRecord> for ReaderReport {
    fn from(record: &ReaderRecord) -> Self {
        Self {
            backend: record.backend.clone(),
            model: record.model.clone(),
            outcome: record.outcome.clone(),
            detail: record.detail.clone(),
            duration_ms: record.duration_ms,
            usage: record.usage,
        }
    }
}

impl Report {
    /// Builds a report. `id` and `transcript` are those by which the session was found.
    pub fn new(id: &str, transcript: &Path, workspace: &Path, audited: &Audited) -> Self {
        let evidence = &audited.brief.evidence;
        let (session, plan) = (&evidence.session, evidence.plan.as_ref());
        Self {
            schema: SCHEMA,
            session: SessionReport {
                id: session.id.clone().unwrap_or_else(|| id.to_owned()),
                transcript: transcript.display().to_string(),
                cwd: workspace.display().to_string(),
                client_version: session.version.clone(),
                started: session.started.clone(),
                ended: session.ended.clone(),
            },
            plan: plan.map(|plan| PlanReport {
                source: plan.source,
                path: plan.path.as_deref().map(|path| relative(path, workspace)),
                steps: plan.promised().count(),
            }),
            steps: plan.map(steps_of).unwrap_or_default(),
            findings: audited.findings.iter().map(|finding| finding_of(finding, plan)).collect(),
            advisories: audited.advisories.clone(),
            files: audited
                .files()
                .iter()
                .map(|file| FileReport {
                    path: file.path.clone(),
                    touched: file.touched.clone(),
                    state: state_name(&file.state),
                    entered: entered_name(&file.entered),
                })
                .collect(),
            auditor: ReaderReport::from(&audited.first),
            second_reader: audited.second.as_ref().map(ReaderReport::from),
            decision: audited.decision,
            cause: audited.cause,
            cautions: Vec::new(),
            workspace: workspace.to_path_buf(),
        }
    }

    pub fn with(&self, status: Status) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.status == status)
    }

    /// Returns how many findings have a status.
    pub fn count(&self, status: Status) -> usize {
        self.with(status).count()
    }

    /// Returns whether the first reader was asked and gave no answer.
    pub fn reader_failed(&self) -> bool {
        !["answered", "not-asked"].contains(&self.auditor.outcome.as_str())
    }

    /// Withdraws what depends on a disk that has changed since: it may have been true then, and
    /// can't be checked now.
    pub fn doubt_the_disk(&mut self, why: &str, config: &AuditConfig) {
        let rests_on_disk = |finding: &Finding| match finding.kind {
            Kind::Missing | Kind::WrongContent => true,
            Kind::Other | Kind::LeftOut => finding.path.is_some(),
            Kind::Failed | Kind::NotRun | Kind::NotInPlan => false,
        };
        let doubtful = |finding: &&mut Finding| finding.status == Status::Confirmed && rests_on_disk(finding);
        for finding in self.findings.iter_mut().filter(doubtful) {
            finding.status = Status::CannotVerify;
            finding.check = format!("the disk has moved on since this session ended ({why})");
        }
        self.cautions.push(format!("the disk has moved on since this session ended ({why})"));
        let holds = self.findings.iter().any(|finding| config.blocks_for(finding));
        if self.decision == Action::Block && !holds {
            self.decision = Action::Allow;
            self.cause = Cause::OnlyUnverified;
        }
    }
}

fn steps_of(plan: &Plan) -> Vec<StepReport> {
    let steps = plan.promised().map(|step| StepReport {
        number: step.number,
        line: step.line,
        text: step.text.clone(),
        mark: step.mark,
        paths: step.paths.clone(),
        ticked_now: plan.ticked_now(step),
    });
    steps.collect()
}

/// Returns a finding with its step. A finding that quotes a whole step is about that step.
fn finding_of(finding: &Finding, plan: Option<&Plan>) -> Finding {
    let quoted = || {
        let words = normalised(&finding.claim);
        let step = plan?.promised().find(|step| !words.is_empty() && normalised(&step.text) == words)?;
        Some(step.number)
    };
    Finding { step: finding.step.or_else(quoted), ..finding.clone() }
}

/// Returns a path relative to the workspace; one outside stays as it is.
fn relative(path: &str, workspace: &Path) -> String {
    let real = std::fs::canonicalize(workspace).unwrap_or_else(|_| workspace.to_path_buf());
    let path = Path::new(path);
    let below = path.strip_prefix(workspace).or_else(|_| path.strip_prefix(&real));
    below.unwrap_or(path).to_string_lossy().into_owned()
}

fn state_name(state: &FileState) -> &'static str {
    match state {
        FileState::File { .. } => "file",
        FileState::Folder => "folder",
        FileState::Missing { elsewhere: None } => "missing",
        FileState::Missing { elsewhere: Some(_) } => "elsewhere",
        FileState::Outside => "outside",
        FileState::Unreadable(_) => "unreadable",
    }
}

fn entered_name(entered: &Entered) -> &'static str {
    match entered {
        Entered::Whole => "whole",
        Entered::Diff => "diff",
        Entered::Cut(_) => "cut",
        Entered::LeftOut(_) => "left-out",
    }
}

/// One report with everything in it, in each format.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::AdvisoryKind;
    use crate::render::markdown::markdown;
    use crate::render::report_text::{sessions, text};
    use crate::render::sarif::sarif;
    use crate::testing;

    fn finding(category: Category, status: Status, source: Source) -> Finding {
        Finding {
            status,
            source,
            why: "the step is ticked, and there is no beta.txt".into(),
            settle: "create beta.txt, or untick the step".into(),
            check: "no such file on disk".into(),
            claimed_in: ClaimedIn::Nowhere,
            ..testing::finding(category, Kind::Missing, "", None)
        }
    }

    fn reader(model: &str, duration_ms: f64, cost: f64) -> ReaderReport {
        let cost_usd = Some(cost);
        let usage = Usage { input: 1200, output: 30, cost_usd, ..Usage::default() };
        ReaderReport {
            backend: "claude".into(),
            model: model.into(),
            outcome: "answered".into(),
            detail: None,
            duration_ms,
            usage,
        }
    }

    /// Returns a report with everything in it.
    fn report() -> Report {
        let step = |number, text: &str, mark| StepReport {
            number,
            line: number + 2,
            text: text.into(),
            mark,
            paths: vec!["beta.txt".into()],
            ticked_now: mark == Mark::Ticked,
        };
        Report {
            schema: SCHEMA,
            session: SessionReport {
                id: "3f2a91c0-1111-2222-3333-444444444444".into(),
                transcript: "/home/me/.claude/projects/-w/3f2a91c0-1111-2222-3333-444444444444.jsonl".into(),
                cwd: "/w".into(),
                client_version: Some("2.1.325".into()),
                started: Some("2026-01-01T10:00:00.000Z".into()),
                ended: Some("2026-01-01T10:07:30.000Z".into()),
            },
            plan: Some(PlanReport { source: PlanSource::TouchedFile, path: Some("PLAN.md".into()), steps: 2 }),
            steps: vec![step(1, "Create `beta.txt`", Mark::Ticked), step(2, "Document it", Mark::Open)],
            findings: vec![
                Finding {
                    step: Some(1),
                    claim: "Create `beta.txt`".into(),
                    path: Some("beta.txt".into()),
                    claimed_in: ClaimedIn::Plan,
                    proof: "$ touch beta.txt => failed, exit code 1".into(),
                    second: Some(SecondOpinion { upheld: true, why: "no other file stands in for it.".into() }),
                    ..finding(Category::A, Status::Confirmed, Source::Both)
                },
                Finding {
                    path: Some("src/my helper.rs".into()),
                    kind: Kind::NotInPlan,
                    why:
                        "no step names src/my helper.rs, which the session wrote while it was about something \
                             else altogether, as the plan has it"
                            .into(),
                    settle: "name it in the plan".into(),
                    check: "nobody has judged it".into(),
                    ..finding(Category::B, Status::CannotVerify, Source::Facts)
                },
                Finding {
                    claim: "and a LICENSE".into(),
                    claimed_in: ClaimedIn::Asks,
                    kind: Kind::LeftOut,
                    why: "there is no LICENSE".into(),
                    settle: "write it".into(),
                    check: "the second reader dismisses it: the person took it back".into(),
                    second: Some(SecondOpinion { upheld: false, why: "the person took it back".into() }),
                    ..finding(Category::Ask, Status::Refuted, Source::Reader)
                },
            ],
            advisories: vec![Advisory {
                kind: AdvisoryKind::ForcePush,
                text: "a branch on a remote was overwritten".into(),
                evidence: "git push --force".into(),
            }],
            files: vec![FileReport {
                path: "beta.txt".into(),
                touched: Vec::new(),
                state: "missing",
                entered: "left-out",
            }],
            auditor: reader("haiku", 4210.0, 0.004),
            second_reader: Some(reader("sonnet", 1000.0, 0.01)),
            decision: Action::Block,
            cause: Cause::Findings,
            cautions: vec!["2 later sessions worked here since".into()],
            workspace: "/w".into(),
        }
    }

    /// Returns a report with nothing in it.
    fn clean(cause: Cause) -> Report {
        Report {
            findings: Vec::new(),
            advisories: Vec::new(),
            cautions: Vec::new(),
            plan: None,
            steps: Vec::new(),
            decision: Action::Allow,
            cause,
            ..report()
        }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_report_is_made_to_be_read() {
        let set = text(&report(), 60);
        insta::assert_snapshot!(plain(&set));
        assert_ne!(set, plain(&set), "there are colours for whoever can show them");
        let title = "Session 3f2a91c0, 2026-01-01 10:07, plan PLAN.md (2 steps, 1 ticked)\n";
        assert!(plain(&text(&report(), 100)).starts_with(title));
    }

    #[test]
    fn an_audit_without_an_answer_says_so() {
        let mut unasked = report();
        unasked.auditor.outcome = "not-asked".into();
        assert!(plain(&text(&unasked, 120)).contains("\nNo reader was asked: "));
        unasked.auditor.outcome = "timed-out".into();
        unasked.auditor.detail = Some("after 45.0 s".into());
        assert!(plain(&text(&unasked, 120)).contains(
            "\nThe first reader gave no answer (timed-out: after 45.0 s); only disk and session were looked at.\n"
        ));
        let mut half = report();
        half.findings[0].second = None;
        half.second_reader =
            Some(ReaderReport { outcome: "unavailable".into(), ..reader("haiku", 1.0, 0.0) });
        let text = plain(&text(&half, 120));
        assert!(text.contains("second   gave no answer\n"), "{text}");
        assert!(
            text.contains(
                "The second reader gave no answer (unavailable); what needs its verdict is not verified."
            ),
            "{text}"
        );
    }

    #[test]
    fn a_clean_report_is_short() {
        let clean = Report {
            auditor: ReaderReport { backend: "recorded".into(), ..reader("", 0.0, 0.0) },
            second_reader: None,
            ..clean(Cause::Clean)
        };
        assert_eq!(
            plain(&text(&clean, 120)),
            "Session 3f2a91c0, 2026-01-01 10:07, no plan in play\n\n0 confirmed, 0 not verified, 0 refuted, 0 things \
             worth knowing. The hook would have let this stop through (clean).\n"
        );
    }

    #[test]
    fn a_comment_has_the_confirmed_in_the_open_and_the_rest_folded() {
        insta::assert_snapshot!(markdown(&report()));
    }

    /// What the schema of SARIF 2.1.0 requires of the objects that are used here, and which keys it
    /// allows in them.
    #[test]
    fn a_sarif_log_has_what_the_schema_requires() {
        let log = sarif(&report());
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let driver = &run["tool"]["driver"];
        assert_eq!(driver["name"], "punchlist");
        let rules = driver["rules"].as_array().expect("rules");
        let mut ids: Vec<_> = rules.iter().map(|rule| rule["id"].as_str().expect("an id")).collect();
        assert_eq!(ids[..6], ["A", "B", "C", "D", "ask", "not-run"]);
        ids.dedup();
        assert_eq!(ids.len(), 5 + AdvisoryKind::ALL.len());
        for rule in rules {
            assert!(rule["shortDescription"]["text"].is_string(), "{rule}");
            let level = rule["defaultConfiguration"]["level"].as_str().expect("a level");
            assert!(["none", "note", "warning", "error"].contains(&level), "{rule}");
        }
        let results = run["results"].as_array().expect("results");
        let levels: Vec<_> =
            results.iter().map(|result| result["level"].as_str().expect("a level")).collect();
        assert_eq!(levels, ["error", "note", "note"], "what was refuted is no result");
        for result in results {
            assert!(result["message"]["text"].is_string(), "{result}");
            let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
            assert_eq!(rules[index]["id"], result["ruleId"]);
            for place in result["locations"].as_array().into_iter().flatten() {
                let artifact = &place["physicalLocation"]["artifactLocation"];
                let uri = artifact["uri"].as_str().expect("a uri");
                assert!(!uri.contains(' ') && !uri.starts_with('/'), "{uri}");
                assert!(
                    run["originalUriBaseIds"][artifact["uriBaseId"].as_str().expect("a base")].is_object()
                );
            }
        }
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(
            (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
            (&"PLAN.md".into(), &3.into())
        );
        let related = &results[0]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(related, "beta.txt");
        let properties = &results[0]["properties"];
        assert_eq!(properties["checks"], "no such file on disk");
        assert_eq!(properties["secondReader"], "upheld: no other file stands in for it.");
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
        assert_eq!(run["originalUriBaseIds"]["%SRCROOT%"]["uri"], "file:///w/");
    }

    #[test]
    fn many_sessions_are_a_table() {
        insta::assert_snapshot!(plain(&sessions(&[clean(Cause::NothingToAudit), report()], false)));
        assert!(plain(&sessions(&[report()], true)).lines().nth(1).expect("a row").ends_with("  /w"));
    }

    #[test]
    fn what_rests_on_the_disk_is_doubted_and_what_the_session_shows_is_not() {
        let config = crate::config::Config::default().audit;
        let mut doubted = report();
        doubted.doubt_the_disk("its folder is gone", &config);
        assert_eq!((doubted.decision, doubted.cause), (Action::Allow, Cause::OnlyUnverified));
        assert_eq!(doubted.findings[0].status, Status::CannotVerify);
        assert_eq!(
            doubted.findings[0].check,
            "the disk has moved on since this session ended (its folder is gone)"
        );
        let mut failed = report();
        failed.findings[0].kind = Kind::Failed;
        failed.doubt_the_disk("its folder is gone", &config);
        assert_eq!((failed.decision, failed.findings[0].status), (Action::Block, Status::Confirmed));
    }

    /// Every field is in the document, and nothing else is.
    #[test]
    fn the_document_names_every_field_and_no_other() {
        let document = include_str!("../../docs/audit-json.md");
        let documented: std::collections::BTreeSet<String> = document
            .lines()
            .filter_map(|line| line.strip_prefix("| `"))
            .filter_map(|rest| rest.split_once('`'))
            .map(|(name, _)| name.to_owned())
            .collect();
        let mut fields = std::collections::BTreeSet::new();
        fields_of(&serde_json::to_value(report()).expect("json"), "", &mut fields);
        assert_eq!(documented, fields);
    }

    fn fields_of(value: &serde_json::Value, path: &str, fields: &mut std::collections::BTreeSet<String>) {
        match value {
            serde_json::Value::Object(object) => {
                for (name, value) in object {
                    let name = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    fields.insert(name.clone());
                    fields_of(value, &name, fields);
                }
            }
            serde_json::Value::Array(items) => {
                for item in items {
                    fields_of(item, &format!("{path}[]"), fields);
                }
            }
            _ => {}
        }
    }
}
