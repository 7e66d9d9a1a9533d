//! `punchlist config`, as a person runs it.

use serde_json::Value;

use crate::test_project::TestProject;

#[test]
fn show_tells_every_value_with_its_source() {
    let mut project = TestProject::new();
    project.unset("PUNCHLIST_CLAUDE");
    project.own_config("[auditor]\nmodel = \"sonnet\"\n");
    project.project_config(
        "[gates]\ndry_run = true\n[audit]\nunrun_checks = \"block\"\n[[check]]\nname = \"test\"\nrun = \"make\"\n",
    );
    let run = project.run_args(&["config", "show"]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(0), ""));
    insta::assert_snapshot!(run.stdout);
    let bare = project.run_args(&["config"]);
    bare.same(&bare.stdout, &run.stdout);
    let json = project.run_args(&["config", "show", "--json"]);
    let told: Value = serde_json::from_str(&json.stdout).expect("JSON");
    let settings = told["settings"].as_array().expect("settings");
    let model = settings.iter().find(|setting| setting["key"] == "auditor.model").expect("the model");
    json.same(
        &(model["value"].as_str(), model["source"].as_str(), model["default"].as_str()),
        &(Some("sonnet"), Some("own"), Some("haiku")),
    );
}

#[test]
fn init_writes_a_file_that_sets_nothing_and_never_overwrites() {
    for (flag, file, schema) in [
        ("--user", "home/.config/punchlist/config.toml", "home/.config/punchlist/config.schema.json"),
        ("--project", "work/.claude/punchlist.toml", "work/.claude/punchlist.schema.json"),
    ] {
        let project = TestProject::new();
        let run = project.run_args(&["config", "init", flag]);
        run.answers(
            0,
            &format!(
                "Wrote DIR/{file}, with every setting commented out.\nIts schema is beside it, for your editor. \
                 `punchlist config show` tells what counts.\n"
            ),
            "",
        );
        let text = std::fs::read_to_string(project.path(file)).expect("the file");
        let name = schema.rsplit('/').next().expect("a name");
        run.check(text.starts_with(&format!("#:schema {name}\n")), "editors find the schema");
        let schema = std::fs::read_to_string(project.path(schema)).expect("the schema");
        let printed = project.run_args(&["config", "schema"]);
        printed.same(&printed.stdout, &schema);
        let check = project.run_args(&["config", "check"]);
        check.same(&check.status.code(), &Some(0));

        std::fs::write(project.path(file), "# mine\n").expect("written");
        let again = project.run_args(&["config", "init", flag]);
        again.answers(
            1,
            "",
            &format!("punchlist: DIR/{file} already exists and was left as it is; `punchlist config show` tells what it sets\n"),
        );
        again.same(&std::fs::read_to_string(project.path(file)).expect("the file").as_str(), &"# mine\n");
    }
}

#[test]
fn check_tells_every_fault_with_its_place() {
    let project = TestProject::new();
    project.own_config("[gates]\nmax_block = 3\n\n[auditor]\n  timeout = \"soon\"\n[logs]\n");
    project.project_config("[gates]\nenabled = false\n[auditor]\nclient = \"/evil\"\n");
    let run = project.run_args(&["config", "check"]);
    run.same(&(run.status.code(), run.stderr.as_str()), &(Some(1), ""));
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn check_takes_a_file_and_says_where_there_is_none() {
    let project = TestProject::new();
    project.run_args(&["config", "check"]).answers(
        0,
        "DIR/home/.config/punchlist/config.toml: not there, which is fine\nDIR/work/.claude/punchlist.toml: not there, which is fine\n",
        "",
    );
    project.run_args(&["config", "check", "none.toml"]).answers(
        1,
        "",
        "punchlist: none.toml: there is no such file\n",
    );
    project.file("some.toml", "[auditor]\nclient = \"/x\"\n");
    project.run_args(&["config", "check", "some.toml"]).answers(0, "some.toml: nothing is wrong\n", "");
    project.file("torn.toml", "[audit]\nplan = [\"a\"\n");
    let run = project.run_args(&["config", "check", "torn.toml"]);
    run.same(&run.status.code(), &Some(1));
    run.check(run.stdout.starts_with("torn.toml:2:"), "the place is named");
}
