//! What is masked and what is not, and that masking is idempotent, quick and keeps lines. Every
//! secret here is made up, and put together at run time where a scanner would find it.

mod shapes;
mod transcripts;

use std::time::{Duration, Instant};

use proptest::prelude::*;

use punchlist::redact::mask;

const JUMBLE: &str = "q7Zt0XvB2nLk9RwD4sYh6PfG1mJc8AeU5oTi3Wx";

fn masked(text: &str) -> String {
    mask(text).text
}

#[track_caller]
fn untouched(text: &str) {
    let masked = mask(text);
    assert_eq!(masked.text, text);
    assert_eq!(masked.count, 0);
}

#[test]
fn tokens_are_named_by_their_vendor() {
    let cases = [
        ("aws-key", "AKIA".to_owned() + "Q3EGRTVX7WLMNB2C"),
        ("github-token", "ghp_".to_owned() + &JUMBLE[..36]),
        ("github-token", "github_pat_".to_owned() + &JUMBLE[..30]),
        ("anthropic-key", "sk-ant-api03-".to_owned() + JUMBLE),
        ("openai-key", "sk-proj-".to_owned() + JUMBLE),
        ("slack-token", "xoxb-".to_owned() + "1234567890-" + &JUMBLE[..12]),
        ("google-key", "AIza".to_owned() + &JUMBLE[..35]),
        ("stripe-key", "sk_live_".to_owned() + &JUMBLE[..24]),
        ("npm-token", "npm_".to_owned() + &JUMBLE[..36]),
        ("gitlab-token", "glpat-".to_owned() + &JUMBLE[..20]),
        ("jwt", format!("eyJ{}.eyJ{}.{}", &JUMBLE[..12], &JUMBLE[..20], &JUMBLE[..20])),
        ("api-token", "hf_".to_owned() + &JUMBLE[..34]),
        ("high-entropy", JUMBLE.to_owned()),
    ];
    for (kind, secret) in cases {
        assert_eq!(masked(&format!("see {secret}, ok")), format!("see [masked:{kind}], ok"));
        // The text is often a JSON string in which line ends are escaped.
        assert_eq!(
            masked(&format!(r#"{{"out":"a\n{secret}\n"}}"#)),
            format!(r#"{{"out":"a\n[masked:{kind}]\n"}}"#),
        );
    }
}

#[test]
fn values_of_secret_keys_go_and_the_keys_stay() {
    for (text, expected) in [
        ("password = \"hunter2\"", "password = \"[masked:password]\""),
        ("DB_PASSWORD=hunter", "DB_PASSWORD=[masked:password]"),
        ("export PGPASSWORD='a b1c2d3'", "export PGPASSWORD='[masked:password]'"),
        ("  password: hunter2 # old", "  password: [masked:password] # old"),
        ("password: correct\n", "password: [masked:password]\n"),
        ("    12→password: correct\n", "    12→password: [masked:password]\n"),
        (r#"{"password":"p","pwd":"abc\"def"}"#, r#"{"password":"p","pwd":"[masked:password]"}"#),
        (r#"{\"password\":\"s3cret!\",\"a\":1}"#, r#"{\"password\":\"[masked:password]\",\"a\":1}"#),
        ("client_secret: 'mysupersecretvalue'", "client_secret: '[masked:secret]'"),
        ("clientSecret=\"abcdef12\"", "clientSecret=\"[masked:secret]\""),
        ("X-Api-Key: 12ab34cd56", "X-Api-Key: [masked:secret]"),
        ("aws_secret_access_key = abc123DEF456", "aws_secret_access_key = [masked:secret]"),
        ("mysql --password hunter2 db", "mysql --password [masked:password] db"),
        ("mysql --password=hunter db", "mysql --password=[masked:password] db"),
        ("let api_key: &str = \"k-123456\";", "let api_key: &str = \"[masked:secret]\";"),
        ("config[\"token\"] = 'abc12345'", "config[\"token\"] = '[masked:token]'"),
        ("if token == \"abc12345\" {", "if token == \"[masked:token]\" {"),
        ("/cb?access_token=abc12345&x=1", "/cb?access_token=[masked:token]&x=1"),
        ("<password>hunter2</password>", "<password>[masked:password]</password>"),
        ("- **Password**: hunter2", "- **Password**: [masked:password]"),
        ("Server=db;Password=Hunter;", "Server=db;Password=[masked:password];"),
        ("passphrase = \"correct horse battery staple\"", "passphrase = \"[masked:password]\""),
        ("machine h login me password x1y", "machine h login me password [masked:password]"),
        ("PASSWORD=hunter2\\nNEXT=1", "PASSWORD=[masked:password]\\nNEXT=1"),
        (
            "password = \"hunter2 and then the text was cut",
            "password = \"[masked:password] and then the text was cut",
        ),
        ("password: \"$ecret!1\"", "password: \"[masked:password]\""),
        ("password: \"@dm1n-2024\"", "password: \"[masked:password]\""),
        ("password: \"пароль\"", "password: \"[masked:password]\""),
        ("password = \"p4ss.word\"", "password = \"[masked:password]\""),
        ("password: \"enterprise9\"", "password: \"[masked:password]\""),
    ] {
        assert_eq!(masked(text), expected, "from {text}");
    }
}

#[test]
fn a_git_hash_is_a_secret_only_under_a_secret_key() {
    let sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
    let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    untouched(&format!("commit {sha1}\ndigest sha256:{sha256}"));
    assert_eq!(masked(&format!("API_KEY={sha1}")), "API_KEY=[masked:secret]");
    assert_eq!(masked(&format!("token: {sha256}")), "token: [masked:token]");
}

#[test]
fn references_placeholders_types_and_prose_stay() {
    for text in [
        "password = process.env.DB_PASSWORD",
        "password = os.environ[\"DB_PASSWORD\"]",
        "token: ${GITHUB_TOKEN}",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "API_KEY=$OPENAI_KEY",
        "api_key=\"<your-token>\"",
        "password: \"$DB_PASSWORD\"",
        "password: '%s'",
        "USER_PASSWD = \"%s:%s\" % (user, passwd)",
        "print(f\"password={password!r}\")",
        "password = @password",
        "API_KEY=your-api-key-here",
        "password: \"changeme\"",
        "token = None",
        "password: string;",
        "password: str = None",
        "pub token: Option<String>,",
        "token: TokenKind,",
        "privateKey: Uint8Array,",
        "pub log_passwd: __u32,",
        "ATTR_PASSWORD = 277,",
        "use Authorization::{SetSecurityInfo, X}",
        "secret: SecretString",
        "token = self.next_token()",
        "token = tokens[0]",
        "let token = lexer.token;",
        "connect(password=password, token=tok)",
        "token: the parsed token",
        "- Token: what the lexer gives",
        "match token { Token::Ident => token2, _ => token1 }",
        "token = token2",
        "max_tokens: 4096, token_count = 12345678",
        "PWD=/home/me/project",
        "private_key: ./keys/server.pem",
        "privateKey = \"/etc/ssl/private/server.pem\"",
        "\"password\": \"Password\"",
        "\"password\": \"Enter your password\"",
        "api_key=\"OPENAI_API_KEY\"",
        "pass the --token option to it",
        "--password-stdin",
        "token_url = \"https://example.com/oauth/token\"",
        "password: [masked:password]",
        "token: \"+\"",
        "secret:\nnext: line1234",
        "<PasswordInput password={password} />",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer <token>",
        "authorization: required for every route",
        "use bearer authentication-middleware-for-everything",
        "postgres://user:${PASSWORD}@localhost/db",
        "ssh://git@example.com:22/repo.git",
    ] {
        untouched(text);
    }
}

#[test]
fn long_names_paths_and_hashes_stay() {
    for text in [
        "this_is_a_rather_long_snake_case_identifier_v2_final",
        "handleUserAuthenticationCallbackForOAuth2Provider",
        "some-very-long-kebab-case-name-with-many-words-2024",
        "VERY_LONG_CONSTANT_NAME_WITH_MANY_WORDS_IN_IT_64",
        "src/components/settings/panels/AccountSettingsPanel2",
        "/usr/lib/x86_64-linux-gnu/pkgconfig/libfoo2",
        "/nix/store/0c8zq7x1v2b3n4m5k6j7h8g9f0d1s2a3-bash-5/bin/bash",
        "target/debug/deps/punchlist-9f86d081884c7d65",
        "lint.cache-linux-2926-da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "what-is-new-in-the-release-5-6-99ba92b8c503",
        "123e4567-e89b-12d3-a456-426614174000",
        "projects/123e4567-e89b-12d3-a456-426614174000/log",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "0000000000000000000000000000000000000000000000",
        "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1",
        "-----------------------------------------------",
        "========================================",
    ] {
        untouched(text);
    }
    untouched(&format!("\"integrity\": \"sha512-{JUMBLE}{JUMBLE}==\""));
    untouched(&format!("golang.org/x/text v0.3.0 h1:{JUMBLE}="));
}

#[test]
fn credentials_in_headers_and_urls() {
    for (text, expected) in [
        ("Authorization: Bearer abc.DEF-123456", "Authorization: Bearer [masked:bearer]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [masked:bearer]"),
        ("{'Authorization': 'token abcd1234'}", "{'Authorization': 'token [masked:bearer]'}"),
        ("-H \"authorization: Bearer abcd1234efgh\"", "-H \"authorization: Bearer [masked:bearer]\""),
        ("postgres://me:p@ss1@db:5432/x", "postgres://me:[masked:url-password]@db:5432/x"),
        ("redis://:hunter2@cache/0", "redis://:[masked:url-password]@cache/0"),
        ("curl -s -u me:hunter2 https://x.y", "curl -s -u me:[masked:password] https://x.y"),
    ] {
        assert_eq!(masked(text), expected, "from {text}");
    }
    // The way to a token stays.
    let (reset, shown) = ("https://example.com/reset/", "https://example.com/reset/[masked:high-entropy]");
    assert_eq!(masked(&format!("{reset}{JUMBLE}")), shown);
}

fn key_block(kind: &str, line_end: &str) -> String {
    let line = format!("{JUMBLE}{}", &JUMBLE[..25]);
    format!(
        "-----BEGIN {kind}-----{line_end}{line}{line_end}{line}{line_end}ab=={line_end}-----END {kind}-----"
    )
}

#[test]
fn a_private_key_goes_whole_and_its_lines_stay_counted() {
    for kind in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
        let text = format!("before\n{}\nafter", key_block(kind, "\n"));
        let result = mask(&text);
        assert_eq!(result.text, "before\n[masked:private-key]\n\n\n\n\nafter");
        assert_eq!(result.count, 1);
    }
    let windows = format!("a\r\n{}\r\nb", key_block("PRIVATE KEY", "\r\n"));
    assert_eq!(masked(&windows), "a\r\n[masked:private-key]\r\n\r\n\r\n\r\n\r\nb");
}

#[test]
fn a_private_key_in_a_json_string_or_a_diff() {
    let json = format!("{{\"private_key\": \"{}\\n\", \"id\": 1}}", key_block("PRIVATE KEY", "\\n"));
    assert_eq!(masked(&json), "{\"private_key\": \"[masked:private-key]\\n\", \"id\": 1}");

    let diff = format!("+{}\n context", key_block("EC PRIVATE KEY", "\n+"));
    assert_eq!(masked(&diff), "+[masked:private-key]\n\n\n\n\n context");
}

#[test]
fn a_private_key_that_was_cut_has_no_end_line() {
    let whole = key_block("PRIVATE KEY", "\n");
    let cut = &whole[..whole.len() - 50];
    let result = masked(&format!("x\n{cut}"));
    assert_eq!(result, "x\n[masked:private-key]\n\n");
    let noted = format!("{}\n[cut: 12 lines left out]\nlet x = 1;", &whole[..95]);
    assert_eq!(masked(&noted), "[masked:private-key]\n\n\n[cut: 12 lines left out]\nlet x = 1;");
}

#[test]
fn the_marker_of_a_private_key_is_no_key() {
    untouched("if text.contains(\"-----BEGIN PRIVATE KEY-----\") { return true; }\nlet other = 1;");
    untouched("-----BEGIN PUBLIC KEY-----");
}

#[test]
fn a_run_of_prefixes_needs_no_more_rounds_than_a_token() {
    for unit in ["AKIA", "AIza", "sk-", "password=", "token: a1b2c3d4"] {
        let once = mask(&unit.repeat(200));
        assert_eq!(mask(&once.text).count, 0, "{unit}");
    }
}

#[test]
fn counts_every_secret() {
    let result = mask("password=\"hunter2\" and API_KEY=abc123def");
    assert_eq!(result.count, 2);
}

/// Pieces that make rules meet: keys, separators, shapes, quotes and earlier masks.
fn crafted() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "password",
            "API_KEY",
            "token",
            "--token",
            "Authorization: Bearer ",
            "://u:",
            "@host",
            "=",
            ": ",
            " = ",
            "\"",
            "'",
            "\\\"",
            "\\n",
            "\n",
            "\r\n",
            " ",
            "[masked:password]",
            "[masked:",
            "]",
            "sk-",
            "sk-ant-",
            "ghp_",
            "AKIA",
            "eyJ",
            ".",
            "/",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "hunter2",
            "${X}",
            "(",
            "é",
            "🦀",
            "<password>",
            "123e4567-e89b-12d3-a456-426614174000",
            "xoxb-",
            "curl -u a:",
        ])
        .prop_map(str::to_owned),
        "[A-Za-z0-9+/_-]{1,48}",
        "[A-Z2-7]{16}",
        "[0-9a-f]{30,66}",
        "\\PC{0,4}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn masking_twice_changes_nothing(text in prop_oneof![crafted(), any::<String>()]) {
        let once = mask(&text);
        let twice = mask(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
        prop_assert_eq!(twice.count, 0);
    }

    #[test]
    fn lines_keep_their_numbers(text in crafted()) {
        let lines = |text: &str| text.matches('\n').count();
        prop_assert_eq!(lines(&mask(&text).text), lines(&text));
    }
}

/// A share and not a certainty: some random strings do look like words.
#[test]
fn random_tokens_are_found_whatever_their_alphabet() {
    const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const URL_SAFE: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut seed = 7_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for (alphabet, length, floor) in [
        (BASE64, 43, 970),
        (URL_SAFE, 43, 970),
        (&BASE64[..62], 40, 970),
        (&BASE64[26..62], 40, 850),
        (b"0123456789abcdef", 48, 990),
    ] {
        let found = (0..1000)
            .filter(|_| {
                let token: String = (0..length).map(|_| char::from(alphabet[next(alphabet.len())])).collect();
                !masked(&format!("x {token} y")).contains(&token)
            })
            .count();
        assert!(found >= floor, "{found} of 1000 tokens of {length} characters");
    }
}

#[test]
fn long_text_of_any_kind_is_quick() {
    // Generous, since tests run unoptimised on busy machines; quadratic behaviour takes minutes.
    const BUDGET: Duration = Duration::from_secs(30);
    for unit in [
        "a",
        "A1b",
        "password=",
        "password=\"",
        "token: ",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "/",
        "\\",
        "curl -u ",
        "é",
        "--token ",
        "Authorization: ",
        "a-1/",
        "sk-ant-",
        "123e4567-",
    ] {
        let text = unit.repeat((1 << 16) / unit.len());
        let start = Instant::now();
        mask(&text);
        assert!(start.elapsed() < BUDGET, "{unit:?} took {:?}", start.elapsed());
    }
}
