//! Which words of a text are paths. The texts are made up, in the manner of real plans.

use proptest::prelude::*;

use punchlist::plan::mentions::paths_named;

#[track_caller]
fn paths(text: &str, expected: &[&str]) {
    let named: Vec<String> = paths_named(text).into_iter().map(|named| named.path).collect();
    assert_eq!(named, expected, "paths in {text}");
}

#[test]
fn files_are_found_bare_and_in_backticks() {
    for (text, path) in [
        ("Edit src/a.rs.", "src/a.rs"),
        ("Edit `src/a.rs`", "src/a.rs"),
        ("(see README.md)", "README.md"),
        ("bump Cargo.toml, then push", "Cargo.toml"),
        ("run ./x.py", "./x.py"),
        ("everything in tests/", "tests/"),
        ("move `~/.config/app`", "~/.config/app"),
        ("write /abs/file.txt", "/abs/file.txt"),
        (r"open C:\x\y.ts", r"C:\x\y.ts"),
        (r"open src\lib\a.rs", r"src\lib\a.rs"),
        ("the Dockerfile builds", "Dockerfile"),
        ("`Makefile`", "Makefile"),
        ("add to .gitignore", ".gitignore"),
        ("`.env.local`", ".env.local"),
        ("see path/to/file.ts:42", "path/to/file.ts"),
        ("see `lib/a.py:10-20`", "lib/a.py"),
        ("see src/a.rs:4:2, line 4", "src/a.rs"),
        ("see src/a.rs#L4-L9", "src/a.rs"),
        ("`tests/test_a.py::test_one`", "tests/test_a.py"),
        ("`src/a.rs:parse`", "src/a.rs"),
        ("`src/a.rs:139,157`", "src/a.rs"),
        ("src/a.rs's tests", "src/a.rs"),
        ("**src/a.rs**: new", "src/a.rs"),
        ("**Update src/a.rs** now", "src/a.rs"),
        ("_src/a.rs_", "src/a.rs"),
        (r"my\_file.py", "my_file.py"),
        ("`src/components`", "src/components"),
        ("`app/[id]/page.tsx`", "app/[id]/page.tsx"),
        ("`app/(auth)/page.tsx`", "app/(auth)/page.tsx"),
        ("[the guide](docs/guide.md)", "docs/guide.md"),
        ("[a.toml](a.toml#L3 \"title\")", "a.toml"),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
        (".claude/commands holds them", ".claude/commands"),
        ("`.mcp.json`", ".mcp.json"),
        ("`__init__.py`", "__init__.py"),
        ("docs/2024-01-02-notes.md", "docs/2024-01-02-notes.md"),
        ("`data/ünïcode.json`", "data/ünïcode.json"),
        ("`/home/me/project`", "/home/me/project"),
        ("`node_modules/@scope/pkg/index.js`", "node_modules/@scope/pkg/index.js"),
        ("`go.mod:1`", "go.mod"),
        ("`jest.config.js`", "jest.config.js"),
        ("修改 `src/a.rs`，然后", "src/a.rs"),
        ("implement @docs/report.md, please", "docs/report.md"),
    ] {
        paths(text, &[path]);
    }
}

#[test]
fn what_only_looks_like_a_file_is_left_out() {
    for text in [
        "https://example.com/a/b.html and http://x.y/z.rs",
        "www.example.com or example.com/docs/ or `github.com/a/b`",
        "`*.rs`, src/** and `src/**/*.ts`, *.md",
        "`<name>.md` `{id}.json` $HOME/x `$HOME/x.rs` foo/… foo/...",
        "docs/YYYY-MM-DD.md NN-PLAN.md `phases/NN/NN-PLAN.md` `XXX.md` docs/xxx.md",
        "example.org `users.map` `entry.key` `\\d+.rs`",
        "1.2.3 v2.0 `v1.2.3` 2.0.0-beta.1 `3.12`",
        "and/or input/output client/server TCP/IP CI/CD `TCP/IP` I/O",
        "e.g. this, e.g that, i.e. that, etc. Queue.put `Queue.put` read.me",
        "Node.js Next.js Vue.js transformers.js `Next.js`",
        "`foo.bar()` foo.bar() `console.log` `process.env` `res.json` `event.key`",
        "`std::fs` std::fs::read",
        "`@scope/pkg` @scope/pkg `@/components/x`",
        "`origin/main` origin/main `feature/login`",
        "/api/users `GET /health` GET /report.json `/how-it-works` POST /v1/items",
        "application/json `application/json` `text/html` image/png",
        "2024/01/02 `2024/01/02` 12/31/2024 24/7",
        "w/o w/ n/a `s/a/b/` </div> `<br/>`",
        "`.ts` `.test.ts` `.tar.gz` `_test.go` `.unwrap` `.button` a tar.gz `d.ts`",
        "`length/1` `Conn.get/2` `Bash(mkdir/rm/find)` `run(a/b)`",
        r"key:\ quotes\ `a\`",
        "`docs/my notes.md` `docs/größe 1.md`",
        "`cargo test --test a` `cat src/a.rs` `npm run build`",
        "user@example.com `git@github.com:a/b.git` pkg@1.2.3",
        "`--config=src/a.toml` `KEY=a/b.rs`",
        "the README and the LICENSE",
        "a.b c.d 3.c",
        "```\nsrc/a.rs\n``` and <!-- src/b.rs -->",
    ] {
        paths(text, &[]);
    }
}

#[test]
fn several_files_come_in_order_and_once() {
    paths(
        "Move `a.rs` → `src/b.rs`, drop a.rs and src/c.rs,src/d.rs",
        &["a.rs", "src/b.rs", "src/c.rs", "src/d.rs"],
    );
    paths("`src/a.rs, src/b.rs`", &["src/a.rs", "src/b.rs"]);
    paths("`old.py -> new.py`", &["old.py", "new.py"]);
    paths("AGENTS.md/CLAUDE.md", &["AGENTS.md", "CLAUDE.md"]);
}

#[test]
fn the_writing_tells_what_is_surely_meant_as_a_path() {
    let marks = |text: &str| -> Vec<(String, bool)> {
        paths_named(text).into_iter().map(|named| (named.path, named.marked)).collect()
    };
    for (text, path, marked) in [
        ("Write metadata.json.", "metadata.json", false),
        ("Write `metadata.json`.", "metadata.json", true),
        ("Write metadata.json, I mean `metadata.json`.", "metadata.json", true),
        ("Write out/metadata.json.", "out/metadata.json", true),
        ("See [it](metadata.json).", "metadata.json", true),
        ("Fill tests/ and more", "tests/", false),
        ("Fill `tests/`", "tests/", true),
        ("`and/or`", "and/or", false),
        ("`src/components/forms`", "src/components/forms", true),
        ("the Makefile", "Makefile", false),
    ] {
        assert_eq!(marks(text), [(path.to_owned(), marked)], "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>()) {
        paths_named(&text);
    }

    #[test]
    fn every_mention_is_in_the_text(text in "([a-z`/.:\\\\*_~()\\[\\]{}#@ -]|é|\\.rs|src/|\\]\\(){0,60}") {
        // Escapes of Markdown are undone, so the text is compared without its backslashes.
        let plain = text.replace('\\', "");
        for named in paths_named(&text) {
            prop_assert!(plain.contains(&named.path.replace('\\', "")), "{named:?} is not in {text:?}");
        }
    }
}
