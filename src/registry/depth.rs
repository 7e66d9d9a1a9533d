//! How deep the queues are. Only reads.

use std::collections::BTreeMap;

use super::store::{RegistryRow, values};
use super::{Registry, RegistryError, Status};

/// How many tasks of a queue have a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Depth {
    pub queue: String,
    pub status: Status,
    pub count: i64,
}

impl Registry {
    /// The tasks of every queue that are neither completed nor failed, by status. A queue that has
    /// had tasks has every status, so that one which is gone is told as none.
    pub fn depths(&mut self) -> Result<Vec<Depth>, RegistryError> {
        let counts = self.read(|tx| {
            let rows =
                tx.rows("SELECT queue, status, count(*) FROM tasks GROUP BY queue, status", values![])?;
            let mut counts = BTreeMap::<String, BTreeMap<Status, i64>>::new();
            for row in &rows {
                counts.entry(row.text(0)?).or_default().insert(Status::in_row(row, 1)?, row.int(2)?);
            }
            Ok(counts)
        })?;
        let told = Status::ALL.into_iter().filter(|one| !matches!(one, Status::Completed | Status::Failed));
        let of_queue = |(queue, counts): (String, BTreeMap<Status, i64>)| {
            let count = move |status| counts.get(&status).copied().unwrap_or_default();
            told.clone().map(move |status| Depth { queue: queue.clone(), status, count: count(status) })
        };
        Ok(counts.into_iter().flat_map(of_queue).collect())
    }
}
