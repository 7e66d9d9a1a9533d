//! The stand-in for a connection in a build without the feature `fleet`: there is none, and it says
//! so.

use std::time::Duration;

use super::{DatabaseError, Notice, Patience, Row, Value};

/// Nobody has one.
#[derive(Debug)]
pub enum Database {}

impl Database {
    pub fn connect(_: &str, _: Patience) -> Result<Self, DatabaseError> {
        Err(DatabaseError::NotBuilt)
    }

    pub fn server(&self) -> &str {
        match *self {}
    }

    pub fn set_patience(&mut self, _: Patience) {
        match *self {}
    }

    pub fn batch(&mut self, _: &str) -> Result<Vec<Vec<Option<String>>>, DatabaseError> {
        match *self {}
    }

    pub fn rows(&mut self, _: &str, _: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        match *self {}
    }

    pub fn repeated_rows(&mut self, _: &'static str, _: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        match *self {}
    }

    pub fn wait_for_notice(
        &mut self,
        _: Duration,
        _: impl Fn(&Notice) -> bool,
    ) -> Result<bool, DatabaseError> {
        match *self {}
    }
}
