//! Takes a decision's words, gives the three channels of the answer. Must not put anything on stdout but
//! one JSON object: any stray text there makes the client let the stop through, silently.

use std::io::Write;

use serde_json::json;

use crate::exit;

/// The answer to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The stop goes through, with no word.
    Silent,
    /// The stop goes through, and the person is told something.
    Tell(String),
    /// The stop is held, and the agent gets this as its next prompt.
    Block(String),
    /// A session starts, and the agent is told this before anything else.
    Context(String),
}

/// Over 10,000 characters the client spills a `systemMessage` to a file; ours stays well below.
const SYSTEM_MESSAGE_CAP: usize = 4_000;

impl Reply {
    /// What goes on stdout, if anything.
    pub fn stdout(&self) -> Option<String> {
        match self {
            Self::Silent => None,
            Self::Tell(message) => {
                let short: String = message.chars().take(SYSTEM_MESSAGE_CAP).collect();
                Some(json!({ "systemMessage": short }).to_string())
            }
            Self::Context(text) => {
                let told = json!({ "hookEventName": "SessionStart", "additionalContext": text });
                Some(json!({ "hookSpecificOutput": told }).to_string())
            }
            // No `hookSpecificOutput` beside it: clients before 2.1.163 throw the whole output away then.
            Self::Block(reason) => Some(json!({ "decision": "block", "reason": reason }).to_string()),
        }
    }

    /// What goes on stderr, if anything: the reason once more, for clients that could not use stdout.
    pub fn stderr(&self) -> Option<&str> {
        match self {
            Self::Silent | Self::Tell(_) | Self::Context(_) => None,
            Self::Block(reason) => Some(reason),
        }
    }

    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Silent | Self::Tell(_) | Self::Context(_) => exit::OK,
            Self::Block(_) => exit::BLOCK,
        }
    }

    /// Says it. A closed pipe is no reason to fail: of a block's three channels, one is enough.
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
    use super::*;

    fn sent(reply: &Reply) -> (String, String, u8) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = reply.send(&mut out, &mut err);
        (String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"), code)
    }

    #[test]
    fn a_block_says_the_reason_on_all_three_channels() {
        let (out, err, code) = sent(&Reply::Block("beta.txt\nis \"missing\"".into()));
        assert_eq!(out, r#"{"decision":"block","reason":"beta.txt\nis \"missing\""}"#);
        assert_eq!(err, "beta.txt\nis \"missing\"\n");
        assert_eq!(code, 2);
    }

    #[test]
    fn a_word_to_the_person_is_only_a_system_message() {
        let (out, err, code) = sent(&Reply::Tell("could not audit".into()));
        assert_eq!((out.as_str(), err.as_str(), code), (r#"{"systemMessage":"could not audit"}"#, "", 0));
    }

    #[test]
    fn what_a_session_is_given_is_one_object_and_nothing_else() {
        let (out, err, code) = sent(&Reply::Context("go on\nwith it".into()));
        let expected =
            r#"{"hookSpecificOutput":{"additionalContext":"go on\nwith it","hookEventName":"SessionStart"}}"#;
        assert_eq!((out.as_str(), err.as_str(), code), (expected, "", 0));
    }

    #[test]
    fn silence_is_silence() {
        assert_eq!(sent(&Reply::Silent), (String::new(), String::new(), 0));
    }
}
