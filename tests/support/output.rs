//! What a command printed, with what differs from machine to machine taken out.

/// How it ended.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl ProgramOutput {
    /// What it printed; it has to have gone well, and silently.
    #[track_caller]
    pub(crate) fn printed(self, args: &[&str]) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{args:?}\n{}", self.stdout);
        self.stdout
    }
}
