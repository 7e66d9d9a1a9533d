//! Words in any language count alike: the final message reaches the readers as it was said, and a
//! finding that quotes it is checked like an English one.

use serde_json::json;

use crate::test_project::TestProject;

/// What a session asks, promises and says in each language, and the words that a reader quotes.
const SAID: [(&str, &str, &str, &str); 5] = [
    (
        "Crée a.txt et notes/b.txt, s'il te plaît.",
        "Créer `a.txt`",
        "Voilà, c'est terminé : `a.txt` est créé et « notes/b.txt » aussi, tout à été vérifié.",
        "`a.txt` est créé et « notes/b.txt » aussi",
    ),
    (
        "请创建 a.txt 和 notes/b.txt。",
        "创建 `a.txt`",
        "全部完成：`a.txt` 和 notes/b.txt 都已创建，测试通过。",
        "notes/b.txt 都已创建",
    ),
    (
        "Lege bitte a.txt und notes/b.txt an.",
        "`a.txt` anlegen",
        "Fertig! Übrigens: `a.txt` und notes/b.txt sind angelegt und geprüft.",
        "Übrigens: a.txt und notes/b.txt sind angelegt",
    ),
    (
        "Crea a.txt y notes/b.txt, por favor.",
        "Crear `a.txt`",
        "¡Listo! He creado `a.txt` y notes/b.txt según el plan; también añadí las pruebas.",
        "¡Listo! He creado `a.txt` y notes/b.txt según el plan",
    ),
    (
        "a.txt と notes/b.txt を作成して。",
        "`a.txt` を作成",
        "完了しました。a.txt と notes/b.txt を作成しました。",
        "notes/b.txt を作成しました",
    ),
];

#[test]
fn a_finding_that_quotes_the_final_message_is_confirmed_in_any_language() {
    for (ask, step, message, quoted) in SAID {
        let mut project = TestProject::new();
        project.transcript.asked(ask);
        project.wrote("PLAN.md", &format!("- [x] {step}\n"));
        project.wrote("a.txt", "a\n");
        project.says(message);
        let finding = json!({
            "category": "A", "sure": true, "kind": "missing", "claim": quoted, "claimed_in": "message",
            "proof": "", "path": "notes/b.txt", "why": "there is none", "settle": "create it",
        });
        project.readers(&[&finding.to_string()]);
        let run = project.run();
        run.check(run.holds().contains(&format!("\n   \"{quoted}\"\n")), "in its own words");
        let found = &run.record()["findings"][0];
        run.same(
            &(&found["status"], &found["claimed_in"], &found["claim"]),
            &(&json!("confirmed"), &json!("message"), &json!(quoted)),
        );
        let prompt = project.prompt("first");
        for words in [ask, step, message] {
            run.check(prompt.contains(words), words);
        }
    }
}

#[test]
fn words_that_were_not_said_are_not_confirmed_in_any_language() {
    for (ask, step, message, _) in SAID {
        let mut project = TestProject::new();
        project.transcript.asked(ask);
        project.wrote("PLAN.md", &format!("- [x] {step}\n"));
        project.wrote("a.txt", "a\n");
        project.says(message);
        let finding = json!({
            "category": "A", "sure": true, "kind": "missing", "claim": "数据库已迁移", "claimed_in": "message",
            "proof": "", "path": "notes/b.txt", "why": "there is none", "settle": "create it",
        });
        project.readers(&[&finding.to_string()]);
        let run = project.run();
        run.logs("allow", "only-unverified");
        run.same(&run.record()["findings"][0]["check"], &json!("its quote is not in the final message"));
    }
}
