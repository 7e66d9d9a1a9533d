//! The `env` of a settings file: the variables that the client hands to hooks. Must not be stricter
//! than the client is: what it reads in a file counts here too, whatever else is in that file.

use std::collections::BTreeMap;
use std::path::Path;

use crate::client::json_scan::Scan;
use crate::files::{open_regular, read_up_to};

/// The largest file that is read.
const MOST: u64 = 32 << 20;

/// A variable's value; `None` for one that is not a text in the file, which the client turns into
/// one in its own way.
pub type Value = Option<String>;

/// Returns the variables of a settings file: none where there is no file, and `None` where it is too
/// large to be read.
pub fn variables_in(file: &Path) -> Option<BTreeMap<String, Value>> {
    let Ok(opened) = open_regular(file) else { return Some(BTreeMap::new()) };
    match read_up_to(opened, MOST) {
        Ok(bytes) => bytes.map(|bytes| variables(&bytes)),
        Err(_) => Some(BTreeMap::new()),
    }
}

fn variables(bytes: &[u8]) -> BTreeMap<String, Value> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut found = BTreeMap::new();
    // A file that breaks off is none for the client; what was read of it does no harm.
    let _ = Scan::new(bytes).fields(|key, scan| {
        if text(key).as_deref() != Some("env") {
            return scan.skip();
        }
        // Of two, the last one counts.
        found.clear();
        let env = scan.value()?;
        let _ = env.scan().fields(|name, scan| {
            let value = scan.value()?;
            found.extend(text(name).map(|name| (name, value.text().map(String::from))));
            Ok(())
        });
        Ok(())
    });
    found
}

/// Returns a key as text.
fn text(key: &[u8]) -> Option<String> {
    let quoted = [b"\"", key, b"\""].concat();
    Some(Scan::new(&quoted).value().ok()?.text()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strict parser took the whole file for none, and what it switched off counted.
    #[test]
    fn what_the_client_reads_was_not_read() {
        let env = r#""env":{"PUNCHLIST_OFF":"1"}"#;
        let nested = format!(r#"{{{env},"x":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        let with_bytes = [br#"{"x":""#.as_slice(), b"\xff", format!("\",{env}}}").as_bytes()].concat();
        for json in [
            format!("{{{env}}}").into_bytes(),
            format!("\u{feff}{{{env}}}").into_bytes(),
            format!(r#"{{{env},"x":"\ud800"}}"#).into_bytes(),
            format!(r#"{{{env},"x":1e999}}"#).into_bytes(),
            format!(r#"{{"env":{{"A":"b"}},{env}}}"#).into_bytes(),
            br#"{"\u0065nv":{"PUNCHLIST\u005fOFF":"1"}}"#.to_vec(),
            with_bytes,
            nested.into_bytes(),
        ] {
            let found = variables(&json);
            assert_eq!(found, [("PUNCHLIST_OFF".to_owned(), Some("1".to_owned()))].into(), "{json:?}");
        }
        let number = variables(br#"{"env":{"PUNCHLIST_OFF":1}}"#);
        assert_eq!(number, [("PUNCHLIST_OFF".to_owned(), None)].into());
        for json in ["", "[]", "{\"env\":7}", "{\"env\":", "env"] {
            assert_eq!(variables(json.as_bytes()), BTreeMap::new(), "{json}");
        }
    }
}
