//! Sessions that are over. `find` finds them, `audit` does to one what the hook does to a stop, without a gate, a log or anything
//! remembered.

pub mod audit;
pub mod find;
