//! Says whether the content of a file must never enter an audit, by its path alone. Must not open
//! the file.

use std::path::Path;

// Everything is compared in lower case. Templates such as `.env.example` count too: people do put
// real values there.

/// Names of files.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    // Environments.
    ".flaskenv", ".dev.vars",
    // Credentials of tools.
    ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass", "pgpass.conf", ".my.cnf", ".git-credentials",
    ".htpasswd", ".dockercfg", ".boto", ".s3cfg", ".vault-token", ".vault-pass", ".vault_pass", "kubeconfig",
    "master.key", "credentials.yml.enc", "application_default_credentials.json", ".databrickscfg", "rclone.conf",
    ".terraformrc", "terraform.rc", ".sentryclirc", "ngrok.yml",
    // Credentials of projects.
    "env", "wp-config.php", "local.settings.json", "google-services.json", "googleservice-info.plist",
    "credentials", ".credentials", "credentials.json", ".credentials.json", "credentials.toml", "credentials.yml",
    "credentials.yaml", "secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml", "secret.yml", "secret.yaml",
    "secret.json", ".secrets",
    // What was typed at a prompt.
    ".bash_history", ".zsh_history", ".psql_history", ".mysql_history", ".sqlite_history", ".rediscli_history",
    ".python_history", ".node_repl_history",
];

/// How names of files begin.
const STARTS: &[&str] = &[".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// How names of files end. The public half of a key says little and is rarely evidence.
const ENDS: &[&str] = &[
    ".env", ".pem", ".key", ".p8", ".p12", ".pfx", ".pkcs12", ".ppk", ".jks", ".jceks", ".bks", ".keystore",
    ".keychain", ".keychain-db", ".kdbx", ".kdb", ".agekey", ".gpg", ".ovpn", ".mobileprovision",
    ".kubeconfig", ".tfvars", ".tfvars.json", ".tfstate", ".tfstate.backup",
];

/// How names of JSON files begin.
const JSON_STARTS: &[&str] =
    &["client_secret", "service-account", "service_account", "serviceaccount", "appsettings."];

/// Folders, with everything below them.
const FOLDERS: &[&str] = &[".aws", ".azure", ".ssh", ".gnupg", ".password-store"];

/// Files in a folder of that name.
const IN_FOLDERS: &[(&str, &str)] = &[
    (".kube", "config"),
    (".docker", "config.json"),
    ("gh", "hosts.yml"),
    ("composer", "auth.json"),
    (".composer", "auth.json"),
    (".codex", "auth.json"),
    (".cargo", "credentials.toml"),
    (".m2", "settings.xml"),
    ("gcloud", "credentials.db"),
    ("gcloud", "access_tokens.db"),
];

/// Returns whether the content of a file never enters an audit.
pub fn is_secret_file(path: &Path) -> bool {
    // Paths come from transcripts, so one written on Windows must be understood anywhere.
    let path = path.to_string_lossy().to_lowercase();
    let mut parts = path.split(['/', '\\']).filter(|part| !part.is_empty());
    let Some(name) = parts.next_back() else {
        return false;
    };
    let folders: Vec<&str> = parts.collect();
    // `/usr/bin/env` is a program.
    if name == "env" && folders.last() == Some(&"bin") {
        return false;
    }
    // Composer's in a project's own folder. Elsewhere it is often a page's words.
    if name == "auth.json" && folders.is_empty() {
        return true;
    }
    let json = name.strip_suffix(".json").unwrap_or_default();
    NAMES.contains(&name)
        || STARTS.iter().any(|start| name.starts_with(start))
        || ENDS.iter().any(|end| name.ends_with(end))
        || JSON_STARTS.iter().any(|start| json.starts_with(start))
        || FOLDERS.iter().any(|folder| folders.contains(folder))
        || IN_FOLDERS.iter().any(|(folder, file)| name == *file && folders.last() == Some(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn secret_files_are_known_by_name() {
        for path in [
            ".env", "app/.env.local", ".ENV.Production", "deploy/prod.env", ".envrc", "certs/server.pem",
            "TLS.KEY", "release.keystore", "/home/me/.ssh/config", "/home/me/.ssh/keys/a/b", "id_rsa",
            "id_ed25519.pub", ".npmrc", "_netrc", "config/credentials", "client_secret_123.apps.json",
            "service-account-prod.json", "secrets.yaml", "/home/me/.aws/credentials",
            "/home/me/.kube/config", ".docker/config.json", "infra/terraform.tfstate",
            r"C:\Users\me\.aws\config", r"C:\work\.env", "blog/wp-config.php", "api/appsettings.Production.json",
            "local.settings.json", "app/google-services.json", "deploy/env",
            "infra/prod.tfvars", "dev.tfvars.json", "auth.json", "/home/me/.composer/auth.json", ".databrickscfg",
            "/home/me/.config/rclone/rclone.conf", "/home/me/.terraformrc", ".python_history",
        ] {
            assert!(is_secret_file(Path::new(path)), "{path} is secret");
        }
    }

    #[test]
    fn ordinary_files_are_not_secret() {
        for path in [
            "", "/", "environment.ts", "src/env.rs", "src/keys.rs", "src/credentials.rs", "docs/secrets.md",
            "config.json", "src/config", "kube/config", "src/.kube/other", "ssh/mod.rs", "monkey.rs",
            "keystore.py", "src/token.rs", "/usr/bin/env", "appsettings.json", "env/mod.rs",
            "wp-config-sample.php", "locales/en/auth.json", "infra/variables.tf",
        ] {
            assert!(!is_secret_file(Path::new(path)), "{path} is not secret");
        }
    }
}
