//! Scripts that the client cannot follow: each must be refused with the reason, and leave no
//! recording. Takes the newest client, gives nothing where all were. A recorder that lets them pass
//! would record what no script says.

use std::path::Path;

use crate::case_file::CaseFile;
use crate::performance;
use crate::recording;
use crate::rig::client::Client;

/// A script, as the replies of its only turn.
pub(crate) struct Refused {
    pub(crate) name: &'static str,
    replies: &'static str,
    /// What the report says.
    reason: &'static str,
}

/// One for each way in which a script and what happens part.
pub(crate) const ALL: &[Refused] = &[
    Refused {
        name: "a_reply_that_is_never_asked_for",
        replies: r#"{ text = "Done." }, { text = "Done again." }"#,
        reason: "never asked for: the last 1 replies",
    },
    Refused {
        name: "a_request_with_no_reply_left",
        // The notification of what ended in the background asks for one more.
        replies: r#"{ agent = { background = true, prompt = "Greet.", description = "Greet", replies = [ { text = "Hello." } ] } },
            { text = "It is being done." }"#,
        reason: "the script has no further reply",
    },
    Refused {
        name: "two_subagents_that_nobody_can_tell_apart",
        replies: r#"{ agents = [ { prompt = "Greet.", description = "One", replies = [ { text = "Hello." } ] },
            { prompt = "Greet.", description = "Two", replies = [ { text = "Hi." } ] } ] }, { text = "Done." }"#,
        reason: "two subagents have the same errand",
    },
    Refused {
        name: "a_call_that_fails",
        replies: r#"{ tool = "Read", input = { file_path = "nowhere.txt" } }, { text = "Done." }"#,
        reason: "this call failed: Read",
    },
    Refused {
        name: "a_call_that_was_meant_to_fail",
        replies: r#"{ tool = "Write", input = { file_path = "a.txt", content = "a" }, fails = true }, { text = "Done." }"#,
        reason: "this call was meant to fail and did not: Write",
    },
    Refused {
        name: "a_path_of_this_machine",
        replies: r#"{ tool = "Bash", input = { command = "echo $PATH", description = "Look" } }, { text = "Done." }"#,
        reason: "transcript.jsonl names this machine",
    },
];

impl Refused {
    /// Says where it was not refused, or not for the reason.
    pub(crate) fn try_on(&self, client: &Client) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder: {error}"))?;
        match self.play(folder.path(), client) {
            Err(problem) if problem.contains(self.reason) => {}
            Err(problem) => return Err(format!("refused, but not since {:?}:\n{problem}", self.reason)),
            Ok(()) => return Err(format!("it was recorded, in spite of {:?}", self.reason)),
        }
        if folder.path().join("transcript.jsonl").exists() {
            return Err("it was refused and has left a recording".into());
        }
        Ok(())
    }

    fn play(&self, folder: &Path, client: &Client) -> Result<(), String> {
        let case = format!(
            "about = \"Refused.\"\nkind = \"clean\"\npart = \"tuning\"\ntags = []\n\
             [[turn]]\nprompt = \"Please begin.\"\nreplies = [ {} ]\n",
            self.replies
        );
        let path = folder.join("case.toml");
        std::fs::write(&path, case).map_err(|error| format!("{}: {error}", path.display()))?;
        let case = CaseFile::read(folder)?;
        let performance = performance::play(&case, folder, client).map_err(|refusal| refusal.problem)?;
        recording::put(&performance, folder, folder)
    }
}
