//! TLS as the URL says, against a server with a certificate of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::machines::{Fleet, Machine};
use crate::postgres::{Cluster, PASSWORD};

/// Makes a CA, and a certificate for `localhost` that it signed.
fn make_certificates(folder: &Path) {
    let script = r"set -e
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test-ca -keyout ca.key -out ca.pem \
            -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign
        openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr
        printf 'subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n' > ext
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out server.crt
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout other.key -out other.pem \
            -addext basicConstraints=critical,CA:TRUE";
    let made = Command::new("sh").args(["-c", script]).current_dir(folder).output().expect("sh");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn a_server_is_trusted_as_far_as_the_url_says() {
    let Some(cluster) = Cluster::start(&["fsync=off"]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    make_certificates(folder.path());
    let data = cluster.data();
    for name in ["server.key", "server.crt"] {
        // Kept as they are, with the server as their owner: a key that others can read is refused.
        let (from, to) = (folder.path().join(name), data.join(name));
        fs::copy(&from, &to).expect("copied");
        let as_data = Command::new("chown").arg("--reference").arg(&data).arg(&to).status().expect("chown");
        let private = Command::new("chmod").arg("600").arg(&to).status().expect("chmod");
        assert!(as_data.success() && private.success());
    }
    cluster.sql("postgres", "ALTER SYSTEM SET ssl = on");
    cluster.sql("postgres", "SELECT pg_reload_conf()");
    let name = cluster.database();
    let (ca, other) = (folder.path().join("ca.pem"), folder.path().join("other.pem"));
    let (ca, other) = (ca.display(), other.display());
    let tried_with = |host: &str, query: &str, roots: Option<&str>| {
        let url = format!("postgres://postgres:{PASSWORD}@{host}:{}/{name}{query}", cluster.port);
        let machine = Machine::new("m1", &url);
        let mut command = machine.command(&["fleet", "doctor"]);
        command.envs(roots.map(|roots| ("SSL_CERT_FILE", roots)));
        let output = machine.run_command(&mut command);
        let is_encrypted = output.stdout.contains(", encrypted");
        (output.code == Some(0), is_encrypted, output.stdout)
    };
    let tried = |host: &str, query: &str| tried_with(host, query, None);
    for (host, query, is_fine, is_encrypted) in [
        ("127.0.0.1", String::new(), true, true),
        ("127.0.0.1", "?sslmode=disable".into(), true, false),
        ("127.0.0.1", "?sslmode=require".into(), true, true),
        ("127.0.0.1", format!("?sslmode=verify-ca&sslrootcert={ca}"), true, true),
        ("localhost", format!("?sslmode=verify-full&sslrootcert={ca}"), true, true),
        // Not the host that the certificate names.
        ("127.0.0.1", format!("?sslmode=verify-full&sslrootcert={ca}"), false, false),
        // Signed by nobody who is trusted.
        ("localhost", format!("?sslmode=verify-full&sslrootcert={other}"), false, false),
        ("localhost", format!("?sslmode=verify-ca&sslrootcert={other}"), false, false),
        ("localhost", format!("?sslmode=require&sslrootcert={other}"), false, false),
        ("localhost", "?sslmode=verify-full".into(), false, false),
        ("localhost", "?sslmode=verify-full&sslrootcert=/nowhere.pem".into(), false, false),
    ] {
        let (fine, encrypted, text) = tried(host, &query);
        assert_eq!((fine, encrypted), (is_fine, is_encrypted), "{host}{query}\n{text}");
    }
    // Who signed it is one of those whom the system trusts.
    for query in ["?sslmode=verify-full", "?sslmode=verify-full&sslrootcert=system"] {
        let (fine, encrypted, text) = tried_with("localhost", query, Some(&ca.to_string()));
        assert!(fine && encrypted, "{query}\n{text}");
        assert!(!tried_with("localhost", query, Some(&other.to_string())).0, "{query}");
    }
    let told = tried("localhost", "?sslmode=verify-full&sslrootcert=/nowhere.pem").2;
    assert!(told.contains("sslrootcert /nowhere.pem: "), "{told}");
}

#[test]
fn a_unix_socket_could_not_be_connected_to() {
    let Some(fleet) = Fleet::new() else { return };
    let machine = Machine::new("m1", &fleet.socket_url());
    assert!(machine.run(&["fleet", "doctor"]).stdout.contains("not encrypted"));
    for mode in ["prefer", "disable"] {
        machine.configure("m1", &format!("{}?sslmode={mode}", fleet.socket_url()), "");
        assert_eq!(machine.print(&["fleet", "push"]), "Nothing was left to ship.\n");
        machine.print(&["tasks", "list"]);
    }
}
