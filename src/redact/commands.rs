//! Finds secrets in command lines by what the flags of a program mean: `mysql -p…`, `curl -u
//! bob:…`. One row a program. Must not judge flags that say by their own name what they take
//! (`--token=…`): those are for `assignments`.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::paths::base_name;
use crate::redact::Find;
use crate::redact::assignments::is_secret_name;
use crate::redact::values::is_stand_in;
use crate::shell::{CommandLine, Separator, SimpleCommand};

/// Programs, and where a secret stands in their arguments.
struct Tool {
    programs: &'static str,
    secrets: &'static [Place],
}

/// Where a secret stands.
enum Place {
    /// The flag's value, behind it in the same word, behind `=`, or in the next one.
    Flag(&'static str),
    /// The flag's value, in the same word only: `-p` alone asks for it.
    Glued(&'static str),
    /// What follows this letter in the flag's value: `-u bob:…`.
    Behind(&'static str, char),
    /// The flag's value, for this subcommand only.
    Sub(&'static str, &'static str),
    /// The words from this number on (from 1) behind a word.
    Operand(&'static str, usize),
    /// The last word, where this flag is given.
    Last(&'static str),
    /// `NAME=value`, where the name is a secret's.
    Pairs,
    /// `NAME value`, where the name is a secret's.
    Named,
    /// `any=value` behind this flag.
    AnyPair(&'static str),
    /// What is piped into it, where one of its words is this one.
    Input(&'static str),
}

use Place::{AnyPair, Behind, Flag, Glued, Input, Last, Named, Operand, Pairs, Sub};

#[rustfmt::skip]
const TOOLS: &[Tool] = &[
    Tool { programs: "mysql mysqldump mysqladmin mysqlimport mysqlcheck mariadb mariadb-dump mariadb-admin", secrets: &[Glued("-p"), Flag("--password")] },
    Tool { programs: "sshpass", secrets: &[Flag("-p")] },
    Tool { programs: "curl", secrets: &[Behind("-u", ':'), Behind("--user", ':'), Behind("-U", ':'), Behind("--proxy-user", ':'), Behind("-b", '='), Behind("--cookie", '='), Flag("--pass"), Flag("--key-pass"), Pairs] },
    Tool { programs: "http https xh xhs", secrets: &[Behind("-a", ':'), Behind("--auth", ':')] },
    Tool { programs: "wget", secrets: &[Flag("--password"), Flag("--http-password"), Flag("--ftp-password"), Flag("--proxy-password")] },
    Tool { programs: "docker podman nerdctl buildah skopeo crane oras", secrets: &[Sub("login", "-p"), Sub("login", "--password"), Input("--password-stdin"), Input("secret"), Behind("--creds", ':'), Behind("--src-creds", ':'), Behind("--dest-creds", ':'), Pairs] },
    Tool { programs: "helm", secrets: &[Sub("login", "-p"), Sub("login", "--password"), Input("--password-stdin"), Pairs] },
    Tool { programs: "kubectl oc k3s microk8s", secrets: &[AnyPair("--from-literal"), Flag("--docker-password"), Flag("--token"), Sub("login", "-p"), Pairs] },
    Tool { programs: "az", secrets: &[Sub("login", "-p"), Sub("login", "--password"), Flag("--account-key"), Flag("--admin-password")] },
    Tool { programs: "redis-cli", secrets: &[Flag("-a"), Flag("--pass")] },
    Tool { programs: "mongo mongosh mongodump mongorestore mongoexport mongoimport", secrets: &[Flag("-p"), Flag("--password")] },
    Tool { programs: "cqlsh influx clickhouse-client", secrets: &[Flag("-p"), Flag("--password"), Flag("-password")] },
    Tool { programs: "sqlcmd bcp mssql-cli", secrets: &[Flag("-P")] },
    Tool { programs: "psql pg_dump pg_restore pgcli createdb", secrets: &[Pairs] },
    Tool { programs: "snowsql", secrets: &[Flag("--password"), Pairs] },
    Tool { programs: "ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd", secrets: &[Flag("-w"), Flag("-s")] },
    Tool { programs: "smbclient rpcclient winexe net smbmap", secrets: &[Behind("-U", '%'), Behind("--user", '%')] },
    Tool { programs: "openssl", secrets: &[Flag("pass:"), Flag("-k"), Flag("-K"), Flag("-passphrase")] },
    Tool { programs: "7z 7za 7zz rar unrar", secrets: &[Glued("-p"), Glued("-hp")] },
    Tool { programs: "zip unzip", secrets: &[Flag("-P"), Flag("--password")] },
    Tool { programs: "gpg gpg2", secrets: &[Flag("--passphrase")] },
    Tool { programs: "ssh-keygen", secrets: &[Flag("-N"), Flag("-P")] },
    Tool { programs: "keytool jarsigner", secrets: &[Flag("-storepass"), Flag("-keypass")] },
    Tool { programs: "plink pscp psftp", secrets: &[Flag("-pw")] },
    Tool { programs: "security", secrets: &[Sub("add-generic-password", "-w"), Sub("add-generic-password", "-p"), Sub("add-internet-password", "-w"), Sub("unlock-keychain", "-p")] },
    Tool { programs: "doctl", secrets: &[Flag("-t"), Flag("--access-token")] },
    Tool { programs: "htpasswd", secrets: &[Last("-b"), Last("-nb"), Last("-bc"), Last("-cb"), Last("-nbB")] },
    Tool { programs: "chpasswd", secrets: &[Input("chpasswd")] },
    Tool { programs: "sudo", secrets: &[Input("-S"), Input("--stdin")] },
    Tool { programs: "su", secrets: &[Input("su")] },
    Tool { programs: "passwd", secrets: &[Input("--stdin")] },
    Tool { programs: "gh glab", secrets: &[Input("--with-token"), Input("--stdin"), Sub("secret", "--body"), Sub("secret", "-b")] },
    Tool { programs: "aws s3cmd rclone", secrets: &[Pairs, Named] },
    Tool { programs: "vault bao", secrets: &[Operand("login", 1), Pairs] },
    Tool { programs: "wandb", secrets: &[Operand("login", 1)] },
    Tool { programs: "cargo", secrets: &[Operand("login", 1)] },
    Tool { programs: "mosquitto_pub mosquitto_sub", secrets: &[Flag("-P"), Flag("--pw")] },
    Tool { programs: "lftp", secrets: &[Behind("-u", ','), Behind("--user", ',')] },
    Tool { programs: "xfreerdp xfreerdp3 wfreerdp", secrets: &[Flag("/p:")] },
    Tool { programs: "rdesktop", secrets: &[Flag("-p")] },
    Tool { programs: "rabbitmqctl", secrets: &[Operand("add_user", 2), Operand("change_password", 2)] },
    Tool { programs: "mc mcli", secrets: &[Operand("set", 3)] },
    Tool { programs: "ansible ansible-playbook", secrets: &[Pairs] },
    Tool { programs: "twine", secrets: &[Flag("-p"), Flag("--password")] },
    Tool { programs: "svn", secrets: &[Flag("--password")] },
    Tool { programs: "ipmitool", secrets: &[Flag("-P")] },
    Tool { programs: "nmcli iwctl", secrets: &[Operand("password", 1), Flag("--passphrase")] },
    Tool { programs: "wpa_passphrase", secrets: &[Operand("wpa_passphrase", 2)] },
    Tool { programs: "snmpget snmpwalk snmpset snmpbulkwalk", secrets: &[Flag("-A"), Flag("-X"), Flag("-c")] },
    Tool { programs: "evil-winrm crackmapexec nxc", secrets: &[Flag("-p"), Flag("-H")] },
];

struct Index {
    programs: AhoCorasick,
    tools: Vec<&'static Tool>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let pairs = TOOLS.iter().flat_map(|tool| tool.programs.split(' ').map(move |name| (name, tool)));
    let (names, tools): (Vec<&str>, Vec<&Tool>) = pairs.unzip();
    let programs = AhoCorasick::builder().match_kind(aho_corasick::MatchKind::LeftmostLongest).build(names);
    Index { programs: programs.expect("a valid set of names"), tools }
});

fn tool(word: &str) -> Option<&'static Tool> {
    let name = base_name(word);
    let hit = INDEX.programs.find(name).filter(|hit| hit.len() == name.len())?;
    Some(INDEX.tools[hit.pattern().as_usize()])
}

/// More of a line is not read as a command.
const LONGEST_LINE: usize = 4096;

pub(super) fn finds(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut done = 0;
    for hit in INDEX.programs.find_iter(text) {
        if hit.start() < done || !is_word(text, hit.range()) {
            continue;
        }
        let line = logical_line(text, hit.range());
        done = line.end;
        for range in in_line(&text[line.clone()]) {
            finds.push(Find { range: line.start + range.start..line.start + range.end, kind: "password" });
        }
    }
    finds
}

/// Whether the name is a word of its own, and something follows it.
fn is_word(text: &str, name: Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    // The `n` of an escaped line end is no letter of the word.
    let escaped = name.start >= 2 && bytes[name.start - 2] == b'\\';
    let free = name.start == 0 || !is_name(bytes[name.start - 1]) || escaped;
    free && matches!(bytes.get(name.end), Some(b' ' | b'\t' | b'\n' | b'\\' | b'"' | b'\'' | b'`') | None)
}

/// Returns the line of a name, with the lines that it goes on with; within backticks no more than
/// what stands between them.
fn logical_line(text: &str, name: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let ends = |b: u8| matches!(b, b'\n' | b'`');
    let from = name.start.saturating_sub(LONGEST_LINE);
    let start = (from..name.start).rev().find(|at| ends(bytes[*at])).map_or(from, |at| at + 1);
    let limit = bytes.len().min(name.end + LONGEST_LINE);
    let is_end = |at: &usize| ends(bytes[*at]) && !(bytes[*at] == b'\n' && bytes[*at - 1] == b'\\');
    let end = (name.end..limit).find(is_end).unwrap_or(limit);
    text.ceil_char_boundary(start)..text.floor_char_boundary(end)
}

fn in_line(line: &str) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    collect(line, &mut secrets, 2);
    let mut ranges: Vec<Range<usize>> = secrets.iter().filter_map(|secret| secret.locate(line)).collect();
    ranges.dedup();
    ranges
}

/// A secret in a command: what stands right before it in its word, and itself.
struct Secret {
    before: String,
    value: String,
}

impl Secret {
    /// Returns where it stands in the line, in which words may be quoted.
    fn locate(&self, line: &str) -> Option<Range<usize>> {
        ["", "'", "\"", "\\\""].iter().find_map(|quote| {
            let written = format!("{}{quote}{}", self.before, self.value);
            let mut found = line.match_indices(&written).map(|(at, _)| at);
            let free = |at: &usize| !line[..*at].ends_with(|c: char| c.is_alphanumeric());
            let start = found.find(free)? + written.len() - self.value.len();
            Some(start..start + self.value.len())
        })
    }
}

fn collect(line: &str, secrets: &mut Vec<Secret>, depth: usize) {
    let line = CommandLine::from(line);
    let commands = line.all();
    for (at, command) in commands.iter().enumerate() {
        let piped =
            at.checked_sub(1).map(|before| commands[before]).filter(|it| it.separator == Separator::Pipe);
        in_words(&command.words, piped, secrets);
        given_as_input(command, secrets);
        // A command for another shell or machine, or one inside of a string.
        for word in command.words.iter().filter(|word| depth > 0 && word.contains(' ')) {
            collect(word, secrets, depth - 1);
        }
    }
}

/// A here-string or a here-document of one line, for a program that reads a secret from its input.
fn given_as_input(command: &SimpleCommand, secrets: &mut Vec<Secret>) {
    let reads_secret = command.words.iter().filter_map(|word| tool(word)).flat_map(|tool| tool.secrets);
    let is_read =
        |place: &Place| matches!(place, Input(flag) if command.words.iter().any(|word| has_flag(word, flag)));
    let value = command.input.trim().trim_matches(['"', '\'']);
    let is_one = value.len() >= 3 && !value.contains('\n') && !is_stand_in(value);
    if is_one && reads_secret.into_iter().any(is_read) {
        secrets.push(Secret { before: String::new(), value: value.to_owned() });
    }
}

fn in_words(words: &[String], piped: Option<&SimpleCommand>, secrets: &mut Vec<Secret>) {
    // `docker exec db mysql -p…` runs both.
    for (at, tool) in words.iter().enumerate().filter_map(|(at, word)| Some((at, tool(word)?))).take(4) {
        in_arguments(tool, &words[at..], piped, secrets);
    }
}

fn in_arguments(tool: &Tool, words: &[String], piped: Option<&SimpleCommand>, secrets: &mut Vec<Secret>) {
    let mut keep = |before: &str, value: &str| {
        let value = value.trim_matches(['"', '\'', '}', ')']);
        if value.len() >= 3 && !value.starts_with('-') && !is_stand_in(value) {
            secrets.push(Secret { before: before.to_owned(), value: value.to_owned() });
        }
    };
    for place in tool.secrets {
        match place {
            Flag(flag) => values(words, flag).into_iter().for_each(|(before, value)| keep(&before, value)),
            Sub(sub, flag) => {
                let wanted = words.iter().any(|word| word == sub);
                for (before, value) in values(words, flag).into_iter().filter(|_| wanted) {
                    keep(&before, value);
                }
            }
            Glued(flag) => {
                let glued = words[1..].iter().filter_map(|word| word.strip_prefix(flag));
                glued.filter(|value| !value.starts_with('=')).for_each(|value| keep(flag, value));
            }
            Behind(flag, sign) => {
                for (before, value) in values(words, flag) {
                    if let Some((user, secret)) = value.split_once(*sign) {
                        keep(&format!("{before}{user}{sign}"), secret);
                    }
                }
            }
            Operand(after, number) => {
                let operands = words.iter().skip_while(|word| word != after).skip(1);
                operands
                    .filter(|word| !word.starts_with('-'))
                    .skip(number - 1)
                    .take(2)
                    .for_each(|word| keep("", word));
            }
            Last(flag) => {
                if words.iter().any(|word| word == flag) && words.len() > 3 {
                    keep("", &words[words.len() - 1]);
                }
            }
            Pairs => pairs(words, &mut keep),
            Named => {
                for pair in words.windows(2).filter(|pair| !pair[0].contains('=') && is_secret_name(&pair[0]))
                {
                    keep("", &pair[1]);
                }
            }
            AnyPair(flag) => {
                for (before, value) in values(words, flag) {
                    if let Some((name, secret)) = value.split_once('=') {
                        keep(&format!("{before}{name}="), secret);
                    }
                }
            }
            Input(flag) => {
                let echo = piped.filter(|it| matches!(it.program(), "echo" | "printf"));
                let is_read = |echo: &&SimpleCommand| {
                    words.iter().any(|word| has_flag(word, flag)) && (*flag != "su" || is_one_word(echo))
                };
                if let Some(echo) = echo.filter(is_read) {
                    for word in echo.arguments() {
                        let secret = word.split_once(':').filter(|_| *flag == "chpasswd");
                        match secret {
                            Some((user, secret)) => keep(&format!("{user}:"), secret),
                            None => keep("", word.trim_end_matches("\\n")),
                        }
                    }
                }
            }
        }
    }
}

/// Returns every value of a flag, with what stands before it in its word.
fn values<'a>(words: &'a [String], flag: &str) -> Vec<(String, &'a str)> {
    let mut values = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1) {
        let Some(rest) = word.strip_prefix(flag) else { continue };
        // `-pwfile` is another flag than `-pw`.
        let is_long = flag.starts_with('-') && flag.len() > 2;
        match rest.strip_prefix('=') {
            Some(value) => values.push((format!("{flag}="), value)),
            None if rest.is_empty() => {
                values.extend(words.get(at + 1).map(|next| (String::new(), next.as_str())));
            }
            None if !is_long => values.push((flag.to_owned(), rest)),
            None => {}
        }
    }
    let bundled = words.windows(2).skip(1).filter(|pair| ends_bundle(&pair[0], flag));
    values.extend(bundled.map(|pair| (String::new(), pair[1].as_str())));
    values
}

/// Whether a word is a flag, or several short ones with it: `-kS`.
fn has_flag(word: &str, flag: &str) -> bool {
    let letter = flag.strip_prefix('-').filter(|letter| letter.len() == 1);
    let letters = word.strip_prefix('-').filter(|letters| letters.bytes().all(|b| b.is_ascii_alphabetic()));
    word == flag || letter.zip(letters).is_some_and(|(letter, letters)| letters.contains(letter))
}

/// Whether one word is printed, as a password is; commands for the shell behind a pipe have more.
fn is_one_word(echo: &SimpleCommand) -> bool {
    let mut words = echo.arguments().iter().filter(|word| !word.starts_with('-'));
    words.next().is_some_and(|word| !word.contains(char::is_whitespace)) && words.next().is_none()
}

/// Whether a word is several short flags of which this one is the last: `-su bob:…`.
fn ends_bundle(word: &str, flag: &str) -> bool {
    const LONGEST: usize = 4;
    let letters = word.strip_prefix('-').unwrap_or_default();
    let Some(letter) = flag.strip_prefix('-').filter(|flag| flag.len() == 1) else { return false };
    (2..=LONGEST).contains(&letters.len())
        && letters.ends_with(letter)
        && letters.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Finds `NAME=value`, also behind a flag: `--set a.password=…`.
fn pairs(words: &[String], keep: &mut impl FnMut(&str, &str)) {
    for part in words.iter().skip(1).flat_map(|word| word.split([',', ' '])) {
        if let Some((name, value)) = part.rsplit_once('=').filter(|(name, _)| is_secret_name(name)) {
            keep(&format!("{name}="), value);
        }
    }
}
