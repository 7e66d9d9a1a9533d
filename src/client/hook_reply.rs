//! The hook's reply: stdout, stderr and exit code. Must not put anything on stdout but one JSON
//! object: with any other text there the client silently lets the stop through.

use std::io::Write;

use serde_json::json;

use crate::exit;
use crate::redact::mask;
use crate::text::harmless;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The stop goes through.
    Silent,
    /// The stop goes through, and the person sees this message.
    Tell(String),
    /// The stop is blocked, and the agent gets this reason as its next prompt.
    Block(String),
    /// A session starts: the agent is given the text first, and the person sees the message, where
    /// there is one.
    Context { text: String, message: String },
}

/// Over 10,000 characters the client writes a `systemMessage` to a file; ours stays well below.
const SYSTEM_MESSAGE_CAP: usize = 4_000;

/// Returns a text that is safe to print. The client decodes the JSON and prints the text inside, so
/// it is cleaned before it is encoded.
fn outgoing(text: &str) -> String {
    harmless(&mask(text).text)
}

/// Returns a message to the person as it may leave the process.
fn short(message: &str) -> String {
    outgoing(message).chars().take(SYSTEM_MESSAGE_CAP).collect()
}

impl Reply {
    pub fn stdout(&self) -> Option<String> {
        match self {
            Self::Silent => None,
            Self::Tell(message) => Some(json!({ "systemMessage": short(message) }).to_string()),
            Self::Context { text, message } => {
                let output = json!({ "hookEventName": "SessionStart", "additionalContext": outgoing(text) });
                let mut reply = json!({ "hookSpecificOutput": output });
                if !message.is_empty() {
                    reply["systemMessage"] = short(message).into();
                }
                Some(reply.to_string())
            }
            // Without `hookSpecificOutput`: clients before 2.1.163 would discard the whole output.
            Self::Block(reason) => {
                Some(json!({ "decision": "block", "reason": outgoing(reason) }).to_string())
            }
        }
    }

    /// Returns the reply to a session's start.
    pub fn at_start(text: String, message: String) -> Self {
        match (text.is_empty(), message.is_empty()) {
            (true, true) => Self::Silent,
            (true, false) => Self::Tell(message),
            (false, _) => Self::Context { text, message },
        }
    }

    /// Returns what goes to stderr: the reason again, for clients that could not use stdout.
    pub fn stderr(&self) -> Option<String> {
        match self {
            Self::Silent | Self::Tell(_) | Self::Context { .. } => None,
            Self::Block(reason) => Some(outgoing(reason)),
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Silent | Self::Tell(_) | Self::Context { .. } => exit::OK,
            Self::Block(_) => exit::BLOCK,
        }
    }

    /// Writes the reply. A closed pipe is ignored: one of a block's three channels is enough.
    pub fn send(&self, mut stdout: impl Write, mut stderr: impl Write) -> u8 {
        if let Some(text) = self.stdout() {
            let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        }
        if let Some(text) = self.stderr() {
            let _ = writeln!(stderr, "{text}");
        }
        self.exit_code()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::is_harmless;

    fn sent(reply: &Reply) -> (String, String, u8) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = reply.send(&mut out, &mut err);
        (String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"), code)
    }

    proptest! {
        /// The client decodes the JSON and prints the text inside.
        #[test]
        fn a_reply_steered_the_terminal(text in "(?s).{0,300}", hostile in r"[\x00-\x1f\x7f-\u{9f}\u{200b}\u{202e}\u{2066}]{1,20}") {
            let text = format!("{text}{hostile}\u{1b}]0;x\u{7}{text}");
            for reply in [Reply::Tell(text.clone()), Reply::Block(text.clone()), Reply::Context { text: text.clone(), message: text.clone() }] {
                let (stdout, stderr, _) = sent(&reply);
                let json: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
                let texts = [&json["systemMessage"], &json["reason"], &json["hookSpecificOutput"]["additionalContext"]];
                let shown = texts.iter().filter_map(|text| text.as_str()).chain([stderr.as_str()]);
                for letter in shown.flat_map(str::chars) {
                    prop_assert!(is_harmless(letter) || matches!(letter, '\n' | '\t'), "{letter:?}");
                }
            }
        }
    }

    #[test]
    fn a_secret_in_a_name_or_a_fault_leaves_by_no_channel() {
        let token = format!("gh{}_{}", 'p', "x7Kq2mWv9RtZ4bNc8LdY1sGf6HjP3aEu5TiQ");
        for reply in [
            Reply::Tell(token.clone()),
            Reply::Block(token.clone()),
            Reply::Context { text: token.clone(), message: token.clone() },
        ] {
            let (stdout, stderr, _) = sent(&reply);
            assert!(!stdout.contains(&token) && !stderr.contains(&token), "{stdout}{stderr}");
        }
    }

    #[test]
    fn every_reply_uses_its_own_channels() {
        let block = r#"{"decision":"block","reason":"beta.txt\nis \"missing\""}"#;
        let context =
            r#"{"hookSpecificOutput":{"additionalContext":"go on\nwith it","hookEventName":"SessionStart"}}"#;
        for (reply, stdout, stderr, code) in [
            (Reply::Silent, "", "", 0),
            (Reply::Tell("could not audit".into()), r#"{"systemMessage":"could not audit"}"#, "", 0),
            (Reply::Block("beta.txt\nis \"missing\"".into()), block, "beta.txt\nis \"missing\"\n", 2),
            (Reply::at_start("go on\nwith it".into(), String::new()), context, "", 0),
            (Reply::at_start(String::new(), "held".into()), r#"{"systemMessage":"held"}"#, "", 0),
            (Reply::at_start(String::new(), String::new()), "", "", 0),
        ] {
            assert_eq!(sent(&reply), (stdout.to_owned(), stderr.to_owned(), code));
        }
    }
}
