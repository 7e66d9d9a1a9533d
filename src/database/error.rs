//! What can go wrong with the fleet's database. Each message says what happened and what to do, and
//! none has a password in it.

/// Why the database refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    #[error("this build of punchlist has no fleet; build it with the feature `fleet`")]
    NotBuilt,
    #[error("none is set: `[fleet] database` in your own config, or PUNCHLIST_DATABASE_URL")]
    NotSet,
    #[error("the fleet's database is named wrongly: {0}")]
    BadUrl(String),
    #[error("{server} can't be reached ({why}); `punchlist fleet doctor` looks closer")]
    Unreachable { server: String, why: String },
    #[error("{server} is not trusted ({why}); docs/fleet.md says what the URL may ask for")]
    Untrusted { server: String, why: String },
    #[error("{server} did not answer in time; `punchlist fleet doctor` looks closer")]
    Slow { server: String },
    #[error("{server} lets nobody in by this name and password ({why})")]
    NotLetIn { server: String, why: String },
    #[error("{server} has no such database: create it there, with ENCODING 'UTF8'")]
    NoDatabase { server: String },
    /// A replica, or one that was set so.
    #[error(
        "{server} only reads: name the one that it copies, or all of them and `target_session_attrs=read-write`"
    )]
    ReadOnly { server: String },
    #[error(
        "{server}: this role lacks a right ({why}); docs/fleet.md has the rights that a role needs, to be pasted"
    )]
    NoRights { server: String, why: String },
    /// Only the owner of the tables changes them.
    #[error(
        "{server}: this role can't change the tables ({why}): run it as the database's owner, whose URL goes into \
         PUNCHLIST_DATABASE_URL for that"
    )]
    NotOwner { server: String, why: String },
    /// The decisions of all machines are for those who review.
    #[error(
        "{server}: this role can't read what other machines decided ({why}): run it as a reviewer, whose URL goes into \
         PUNCHLIST_DATABASE_URL for that; docs/fleet.md has that role"
    )]
    NotReviewer { server: String, why: String },
    #[error("{server} keeps texts as {encoding}: create the database anew, with ENCODING 'UTF8'")]
    Encoding { server: String, encoding: String },
    #[error("{server} has no tables of punchlist: run `punchlist fleet migrate` as the database's owner")]
    NoSchema { server: String },
    #[error(
        "{server} has tables of an older punchlist (version {found}, this one needs {known}): run `punchlist fleet \
         migrate` as the database's owner"
    )]
    OlderSchema { server: String, found: i64, known: i64 },
    #[error(
        "{server} has tables of a newer punchlist (version {found}, this one knows {known}): update punchlist here"
    )]
    NewerSchema { server: String, found: i64, known: i64 },
    #[error("{server}: others were in the way again and again: try again")]
    Conflict { server: String },
    /// What was to be stored is at fault, and no later try changes that.
    #[error("{server} can't store what it was given ({why})")]
    BadData { server: String, why: String },
    #[error("{server} knows no such prepared statement: a pooler is in between")]
    NotPrepared { server: String },
    #[error("{server}: {why}")]
    Failed { server: String, why: String },
}

impl DatabaseError {
    /// Whether it may be over in a moment.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Slow { .. } | Self::Conflict { .. })
    }

    /// The same, where only the owner has the right that is missing.
    #[must_use]
    pub fn for_owners(self) -> Self {
        match self {
            Self::NoRights { server, why } => Self::NotOwner { server, why },
            other => other,
        }
    }

    /// The same, where those who review have the right that is missing.
    #[must_use]
    pub fn for_reviewers(self) -> Self {
        match self {
            Self::NoRights { server, why } => Self::NotReviewer { server, why },
            other => other,
        }
    }
}
