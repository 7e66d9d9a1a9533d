//! Sessions that are over. `find` finds them, `moved_on` tells whether the disk is still theirs, `audit` does to one what the hook does to a stop, without a gate, a log or anything
//! remembered.

pub mod audit;
pub mod find;
pub mod moved_on;
