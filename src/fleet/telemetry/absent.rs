//! The stand-in for the collector in a build without the feature `fleet`: there is none, and it
//! says so.

use super::{Entry, Series, Service, TelemetryError};
use crate::database::Patience;

/// Nobody has one.
#[derive(Debug)]
pub enum Collector {}

impl Collector {
    pub fn new(_: &str) -> Result<Self, TelemetryError> {
        Err(TelemetryError::NotBuilt)
    }

    pub fn server(&self) -> &str {
        match *self {}
    }

    pub fn send_entries(&self, _: &Service, _: &[Entry], _: Patience) -> Result<usize, TelemetryError> {
        match *self {}
    }

    pub fn send_series(
        &self,
        _: &Service,
        _: Option<i64>,
        _: &[Series],
        _: Patience,
    ) -> Result<(), TelemetryError> {
        match *self {}
    }
}
