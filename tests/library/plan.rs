//! What `plan` promises, from outside.

mod find;
mod mentions;
mod steps;
