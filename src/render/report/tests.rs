//! One report with everything in it, and what each form makes of it.

use super::*;
use crate::finding::AdvisoryKind;
use crate::render::markdown::markdown;
use crate::render::report_text::text;
use crate::render::sarif::sarif;
use crate::render::sessions::sessions;

fn finding(category: Category, status: Status, source: Source) -> FindingReport {
    FindingReport {
        category,
        status,
        source,
        step: None,
        claim: String::new(),
        path: None,
        kind: Kind::Missing,
        detail: "the step is ticked, and there is no beta.txt".into(),
        claimed_in: ClaimedIn::Nowhere,
        proof: String::new(),
        second: None,
        settle: "create beta.txt, or untick the step".into(),
        note: "no such file on disk".into(),
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

/// A report with everything in it.
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
            FindingReport {
                step: Some(1),
                claim: "Create `beta.txt`".into(),
                path: Some("beta.txt".into()),
                claimed_in: ClaimedIn::Plan,
                proof: "$ touch beta.txt => failed, exit code 1".into(),
                second: Some(SecondOpinion { upheld: true, why: "no other file stands in for it.".into() }),
                ..finding(Category::A, Status::Confirmed, Source::Both)
            },
            FindingReport {
                path: Some("src/my helper.rs".into()),
                kind: Kind::NotInPlan,
                detail:
                    "no step names src/my helper.rs, which the session wrote while it was about something \
                         else altogether, as the plan has it"
                        .into(),
                settle: "name it in the plan".into(),
                note: "nobody has judged it".into(),
                ..finding(Category::B, Status::CannotVerify, Source::Facts)
            },
            FindingReport {
                claim: "and a LICENSE".into(),
                claimed_in: ClaimedIn::Asks,
                kind: Kind::LeftOut,
                detail: "there is no LICENSE".into(),
                settle: "write it".into(),
                note: "the second reader dismisses it: the person took it back".into(),
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

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

const TEXT: &str = r#"Session 3f2a91c0, 2026-01-01 10:07, plan PLAN.md (2 steps, 1 ticked)
Caution: 2 later sessions worked here since

Confirmed (1)

  A  claimed done, and not so
     words    "Create `beta.txt`"
     step     1 (PLAN.md:3)
     path     beta.txt
     found    the step is ticked, and there is no beta.txt
     proof    "$ touch beta.txt => failed, exit code 1"
     settle   create beta.txt, or untick the step
     found by disk and session, and the first reader
     checks   no such file on disk
     second   upheld: no other file stands in for it.

Not verified (1)

  B  done, but the plan does not mention it
     path     src/my helper.rs
     found    no step names src/my helper.rs, which the
              session wrote while it was about something
              else altogether, as the plan has it
     settle   name it in the plan
     found by disk and session
     checks   nobody has judged it
     second   was not asked

Refuted (1)

  ask asked for, never done
     words    "and a LICENSE"
     found    there is no LICENSE
     settle   write it
     found by the first reader
     checks   they have no objection of their own
     second   dismissed: the person took it back

Worth knowing (1)

  force-push: a branch on a remote was overwritten
              git push --force

2 calls of a model (haiku, sonnet): 5.2 s, 2,400 tokens in,
60 out, $0.0140.

1 confirmed, 1 not verified, 1 refuted, 1 thing worth
knowing. The hook would have held this stop (findings).
"#;

#[test]
fn a_report_is_made_to_be_read() {
    let set = text(&report(), 60);
    assert_eq!(
        plain(&set),
        TEXT.replace(
            "Session 3f2a91c0, 2026-01-01 10:07, plan PLAN.md (2 steps, 1 ticked)",
            "Session 3f2a91c0, 2026-01-01 10:07, plan PLAN.md (2 steps, 1\n  ticked)"
        )
    );
    assert_ne!(set, plain(&set), "there are colours for whoever can show them");
    assert!(plain(&text(&report(), 100)).starts_with(TEXT.lines().next().expect("a line")));
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
    half.second_reader = Some(ReaderReport { outcome: "unavailable".into(), ..reader("haiku", 1.0, 0.0) });
    let text = plain(&text(&half, 120));
    assert!(text.contains("second   gave no answer\n"), "{text}");
    assert!(
        text.contains("The second reader gave no answer (unavailable); what needs its word is not verified."),
        "{text}"
    );
}

#[test]
fn a_clean_report_is_short() {
    let clean = Report {
        findings: Vec::new(),
        advisories: Vec::new(),
        cautions: Vec::new(),
        plan: None,
        steps: Vec::new(),
        auditor: ReaderReport { backend: "recorded".into(), ..reader("", 0.0, 0.0) },
        second_reader: None,
        decision: Action::Allow,
        cause: Cause::Clean,
        ..report()
    };
    assert_eq!(
        plain(&text(&clean, 120)),
        "Session 3f2a91c0, 2026-01-01 10:07, no plan in play\n\n0 confirmed, 0 not verified, 0 refuted, 0 things \
         worth knowing. The hook would have let this stop go (clean).\n"
    );
}

#[test]
fn a_comment_has_the_confirmed_in_the_open_and_the_rest_folded() {
    assert_eq!(
        markdown(&report()),
        "### Punchlist: 1 finding is confirmed

Session `3f2a91c0`, plan `PLAN.md` (2 steps). The hook would have held this stop (findings).

**Caution:** 2 later sessions worked here since

- **A**: claimed done, and not so, `beta.txt`
  > Create `beta.txt`

  the step is ticked, and there is no beta.txt
  To settle it: create beta.txt, or untick the step
  Said by disk and session, and the first reader. The checks: no such file on disk. The second reader: upheld: no other file stands in for it.

<details><summary>Not verified (1)</summary>

- **B**: done, but the plan does not mention it, `src/my helper.rs`

  no step names src/my helper.rs, which the session wrote while it was about something else altogether, as the plan has it
  To settle it: name it in the plan
  Said by disk and session. The checks: nobody has judged it. The second reader: was not asked.

</details>

<details><summary>Refuted (1)</summary>

- **ask**: asked for, never done
  > and a LICENSE

  there is no LICENSE
  To settle it: write it
  Said by the first reader. The checks: they have no objection of their own. The second reader: dismissed: the person took it back.

</details>

<details><summary>Worth knowing (1)</summary>

- `force-push`: a branch on a remote was overwritten (`git push --force`)

</details>

2 calls of a model (haiku, sonnet): 5.2 s, 2,400 tokens in, 60 out, $0.0140.
"
    );
}

/// What the schema of SARIF 2.1.0 requires of the objects that are used here, and which keys it
/// knows in them.
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
    let levels: Vec<_> = results.iter().map(|result| result["level"].as_str().expect("a level")).collect();
    assert_eq!(levels, ["error", "note", "note"], "what was refuted is no result");
    for result in results {
        assert!(result["message"]["text"].is_string(), "{result}");
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        for place in result["locations"].as_array().into_iter().flatten() {
            let artifact = &place["physicalLocation"]["artifactLocation"];
            let uri = artifact["uri"].as_str().expect("a uri");
            assert!(!uri.contains(' ') && !uri.starts_with('/'), "{uri}");
            assert!(run["originalUriBaseIds"][artifact["uriBaseId"].as_str().expect("a base")].is_object());
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
    let clean = Report {
        findings: Vec::new(),
        advisories: Vec::new(),
        cautions: Vec::new(),
        plan: None,
        steps: Vec::new(),
        cause: Cause::NothingToAudit,
        ..report()
    };
    assert_eq!(
        plain(&sessions(&[clean, report()], false)),
        "\
session   when              plan     steps  confirmed  not verified  worth knowing  cause
3f2a91c0  2026-01-01 10:07  -        -      0          0             0              nothing-to-audit
3f2a91c0  2026-01-01 10:07  PLAN.md  1/2    1          1             1              findings*

* The disk has moved on since: what rests on it is not verified.

2 sessions, 1 with confirmed findings. No reader was asked: what needs judgement is only a candidate here.
"
    );
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
        doubted.findings[0].note,
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
    let document = include_str!("../../../docs/audit-json.md");
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
