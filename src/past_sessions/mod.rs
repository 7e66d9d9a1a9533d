//! Sessions that are over. `find` finds them, `moved_on` says whether the disk is still as they left it,
//! `audit` audits one as the hook audits a stop, without gates, log and state.

pub mod audit;
pub mod find;
pub mod moved_on;
