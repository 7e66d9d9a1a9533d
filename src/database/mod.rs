//! One connection to the fleet's `PostgreSQL`, used from code that does not wait in any other way: no
//! thread is started, nothing is connected before it is asked for, and every call has an end. Must not
//! know what is kept there, and must not show a password.

mod error;
pub mod schema;
mod tls;
mod url;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Row, SimpleQueryMessage, Statement};

pub use error::DatabaseError;
pub use url::DatabaseUrl;

/// How long calls may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Each call so long; a server that is just starting is waited for as long.
    Each(Duration),
    /// All calls together, until then.
    Until(Instant),
}

impl Patience {
    fn left(self) -> Duration {
        match self {
            Self::Each(time) => time,
            Self::Until(end) => end.saturating_duration_since(Instant::now()),
        }
    }
}

/// A parameter and its type: statements are not prepared, so that a pooler may stand in between.
pub type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// An open connection.
#[derive(Debug)]
pub struct Database {
    // Dropped in this order: the client's end lets the connection's task end.
    client: Option<Client>,
    task: JoinHandle<()>,
    notices: UnboundedReceiver<String>,
    runtime: Runtime,
    server: Arc<str>,
    patience: Patience,
}

/// The wait before the first retry of a connection; doubled with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(50);

/// How long the end of a connection may take to be told to the server.
const FAREWELL: Duration = Duration::from_millis(20);

impl Database {
    /// Connects. With [`Patience::Each`], a server that starts up or has no connection left is tried again.
    pub fn connect(url: &DatabaseUrl, patience: Patience) -> Result<Self, DatabaseError> {
        let server: Arc<str> = url.shown().into();
        let failed = |why: String| DatabaseError::Unreachable { server: server.to_string(), why };
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|error| failed(error.to_string()))?;
        let tls = url.tls().map_err(failed)?;
        let (begun, mut wait) = (Instant::now(), FIRST_WAIT);
        loop {
            let left = match patience {
                Patience::Each(time) => time.saturating_sub(begun.elapsed()),
                Patience::Until(_) => patience.left(),
            };
            let connecting = async { tokio::time::timeout(left, url.config().connect(tls.clone())).await };
            let error = match runtime.block_on(connecting) {
                Ok(Ok((client, connection))) => {
                    let (sender, notices) = unbounded_channel();
                    let task = runtime.spawn(forward_notices(connection, sender));
                    return Ok(Self { client: Some(client), task, notices, runtime, server, patience });
                }
                Ok(Err(error)) => DatabaseError::from_postgres(&error, &server),
                Err(_) => DatabaseError::Slow { server: server.to_string() },
            };
            let is_worth_a_retry = matches!(patience, Patience::Each(time) if begun.elapsed() + wait < time);
            if !(is_worth_a_retry && error.is_temporary()) {
                return Err(error);
            }
            std::thread::sleep(wait);
            wait = (wait * 2).min(Duration::from_secs(1));
        }
    }

    /// The server's name for messages.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Runs statements without parameters, in one round trip; returns the first column of each row as text.
    pub fn batch(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DatabaseError> {
        let messages = self.call(|client| async move { client.simple_query(sql).await })?;
        let rows = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect())
            }
            _ => None,
        });
        Ok(rows.collect())
    }

    /// Runs one statement, in one round trip.
    pub fn rows(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, DatabaseError> {
        self.call(|client| async move { client.query_typed(sql, parameters).await })
    }

    pub fn prepare(&mut self, sql: &str, types: &[Type]) -> Result<Statement, DatabaseError> {
        self.call(|client| async move { client.prepare_typed(sql, types).await })
    }

    pub fn prepared_rows(
        &mut self,
        statement: &Statement,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, DatabaseError> {
        self.call(|client| async move { client.query(statement, values).await })
    }

    /// Waits for a notification of a channel that is listened to; returns whether one came.
    pub fn wait_for_notice(&mut self, time: Duration) -> Result<bool, DatabaseError> {
        let notices = &mut self.notices;
        let came = self.runtime.block_on(async { tokio::time::timeout(time, notices.recv()).await });
        match came {
            Ok(Some(_)) => {
                // Whoever was told once looks at everything.
                while self.notices.try_recv().is_ok() {}
                Ok(true)
            }
            Ok(None) => Err(self.lost()),
            Err(_) => Ok(false),
        }
    }

    fn lost(&self) -> DatabaseError {
        DatabaseError::Unreachable { server: self.server.to_string(), why: "the connection was lost".into() }
    }

    fn call<'c, T, F>(&'c mut self, run: impl FnOnce(&'c Client) -> F) -> Result<T, DatabaseError>
    where
        F: Future<Output = Result<T, tokio_postgres::Error>>,
    {
        let left = self.patience.left();
        let Some(client) = self.client.as_ref() else { return Err(self.lost()) };
        let work = run(client);
        match self.runtime.block_on(async { tokio::time::timeout(left, work).await }) {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(DatabaseError::from_postgres(&error, &self.server)),
            Err(_) => Err(DatabaseError::Slow { server: self.server.to_string() }),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        drop(self.client.take());
        let task = &mut self.task;
        let _ = self.runtime.block_on(async { tokio::time::timeout(FAREWELL, task).await });
    }
}

/// Drives the connection, and passes notifications on.
async fn forward_notices<S, T>(
    mut connection: tokio_postgres::Connection<S, T>,
    sender: tokio::sync::mpsc::UnboundedSender<String>,
) where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = std::future::poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(notice) = message {
            let _ = sender.send(notice.payload().to_owned());
        }
    }
}

/// Whether an error means that the same transaction, run again, may succeed.
fn is_conflict(code: &SqlState) -> bool {
    *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED
}
