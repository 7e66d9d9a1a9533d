//! A path -> whether the file's content must never enter an audit, by its name alone.
//! Must not open the file.

use std::path::Path;

/// How a rule meets a path; everything is compared in lower case.
enum Rule {
    /// The file's whole name.
    Name(&'static str),
    /// How the file's name begins and ends.
    Affix(&'static str, &'static str),
    /// A folder on the way, with everything below it.
    Folder(&'static str),
    /// A file in a folder of that name.
    In(&'static str, &'static str),
}

use Rule::{Affix, Folder, In, Name};

/// Templates such as `.env.example` are in it too: people do put real values there.
const RULES: &[Rule] = &[
    // Environment files.
    Affix(".env", ""),
    Affix("", ".env"),
    Name(".flaskenv"),
    Name(".dev.vars"),
    // Keys and key stores. A public half says little and is rarely evidence.
    Affix("", ".pem"),
    Affix("", ".key"),
    Affix("", ".p8"),
    Affix("", ".p12"),
    Affix("", ".pfx"),
    Affix("", ".pkcs12"),
    Affix("", ".ppk"),
    Affix("", ".jks"),
    Affix("", ".jceks"),
    Affix("", ".bks"),
    Affix("", ".keystore"),
    Affix("", ".keychain"),
    Affix("", ".keychain-db"),
    Affix("", ".kdbx"),
    Affix("", ".kdb"),
    Affix("", ".agekey"),
    Affix("", ".gpg"),
    Affix("", ".ovpn"),
    Affix("", ".mobileprovision"),
    Affix("id_rsa", ""),
    Affix("id_dsa", ""),
    Affix("id_ecdsa", ""),
    Affix("id_ed25519", ""),
    // Credentials of tools.
    Name(".netrc"),
    Name("_netrc"),
    Name(".npmrc"),
    Name(".yarnrc.yml"),
    Name(".pypirc"),
    Name(".pgpass"),
    Name("pgpass.conf"),
    Name(".my.cnf"),
    Name(".git-credentials"),
    Name(".htpasswd"),
    Name(".dockercfg"),
    Name(".boto"),
    Name(".s3cfg"),
    Name(".vault-token"),
    Name(".vault-pass"),
    Name(".vault_pass"),
    Name("kubeconfig"),
    Name("master.key"),
    Name("credentials.yml.enc"),
    Affix("", ".kubeconfig"),
    In(".kube", "config"),
    In(".docker", "config.json"),
    In("gh", "hosts.yml"),
    In(".cargo", "credentials.toml"),
    In(".m2", "settings.xml"),
    In("gcloud", "credentials.db"),
    In("gcloud", "access_tokens.db"),
    Folder(".aws"),
    Folder(".azure"),
    Folder(".ssh"),
    Folder(".gnupg"),
    Folder(".password-store"),
    // Credentials of projects.
    Name("credentials"),
    Name(".credentials"),
    Name("credentials.json"),
    Name(".credentials.json"),
    Name("credentials.toml"),
    Name("credentials.yml"),
    Name("credentials.yaml"),
    Name("secrets.yml"),
    Name("secrets.yaml"),
    Name("secrets.json"),
    Name("secrets.toml"),
    Name("secret.yml"),
    Name("secret.yaml"),
    Name("secret.json"),
    Name(".secrets"),
    Affix("client_secret", ".json"),
    Affix("service-account", ".json"),
    Affix("service_account", ".json"),
    Affix("serviceaccount", ".json"),
    Name("application_default_credentials.json"),
    Name("terraform.tfvars"),
    Affix("", ".auto.tfvars"),
    Affix("", ".tfstate"),
    Affix("", ".tfstate.backup"),
    // What was typed at a prompt.
    Name(".bash_history"),
    Name(".zsh_history"),
    Name(".psql_history"),
    Name(".mysql_history"),
];

/// Files whose content never enters, by name alone.
pub fn is_secret_file(path: &Path) -> bool {
    // Paths come from transcripts, so one written on Windows must be understood anywhere.
    let path = path.to_string_lossy().to_lowercase();
    let mut parts = path.split(['/', '\\']).filter(|part| !part.is_empty());
    let Some(name) = parts.next_back() else {
        return false;
    };
    let folders: Vec<&str> = parts.collect();
    RULES.iter().any(|rule| match rule {
        Name(whole) => name == *whole,
        Affix(start, end) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        Folder(folder) => folders.contains(folder),
        In(folder, file) => name == *file && folders.last() == Some(folder),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_files_are_known_by_name() {
        for path in [
            ".env",
            "app/.env.local",
            ".ENV.Production",
            "deploy/prod.env",
            ".envrc",
            "certs/server.pem",
            "TLS.KEY",
            "release.keystore",
            "/home/me/.ssh/config",
            "/home/me/.ssh/keys/a/b",
            "id_rsa",
            "id_ed25519.pub",
            ".npmrc",
            "_netrc",
            "config/credentials",
            "client_secret_123.apps.json",
            "service-account-prod.json",
            "secrets.yaml",
            "/home/me/.aws/credentials",
            "/home/me/.kube/config",
            ".docker/config.json",
            "infra/terraform.tfstate",
            r"C:\Users\me\.aws\config",
            r"C:\work\.env",
        ] {
            assert!(is_secret_file(Path::new(path)), "{path} should stay out");
        }
    }

    #[test]
    fn ordinary_files_are_not_secret() {
        for path in [
            "", "/", "environment.ts", "src/env.rs", "src/keys.rs", "src/credentials.rs", "docs/secrets.md",
            "config.json", "src/config", "kube/config", "src/.kube/other", "ssh/mod.rs", "monkey.rs",
            "keystore.py", "src/token.rs",
        ] {
            assert!(!is_secret_file(Path::new(path)), "{path} should be read");
        }
    }
}
