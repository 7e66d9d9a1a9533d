//! Sessions that are over. `audit` does to one what the hook does to a stop, without a gate, a log or anything
//! remembered.

pub mod audit;
