//! One connection to the fleet's `PostgreSQL`, used from code that does not wait in any other way:
//! no thread is started, nothing is connected before it is asked for, and every call has an end.
//! Must not know what is kept there, and must not show a password.

mod refusal;
mod tls;
mod url;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, SimpleQueryMessage, Statement};

use super::{DatabaseError, Notice, Patience, Row, Value};
use refusal::refusal;
use url::DatabaseUrl;

/// An open connection.
#[derive(Debug)]
pub struct Database {
    // Dropped in this order: the client's end lets the connection's task end.
    client: Option<Client>,
    task: JoinHandle<()>,
    notices: UnboundedReceiver<Notice>,
    runtime: Runtime,
    server: Arc<str>,
    patience: Patience,
    /// How often [`Self::repeated_rows`] was called, and its statement once it is prepared.
    repeated: (u32, Option<Statement>),
}

/// With which use a repeated statement is prepared: a command that runs it once has one round trip.
const PREPARED_WITH: u32 = 3;

/// The wait before the first retry of a connection; doubled with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(50);

/// How long a server that can't be reached is tried again.
const RETRY_FOR: Duration = Duration::from_secs(5);

/// How long the end of a connection may take to be told to the server.
const FAREWELL: Duration = Duration::from_millis(20);

impl Database {
    /// Connects. With [`Patience::Each`], a server that starts up or has no connection left is
    /// tried again.
    pub fn connect(url: &str, patience: Patience) -> Result<Self, DatabaseError> {
        let url: DatabaseUrl = url.parse()?;
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
                    let client = Some(client);
                    return Ok(Self {
                        client,
                        task,
                        notices,
                        runtime,
                        server,
                        patience,
                        repeated: (0, None),
                    });
                }
                Ok(Err(error)) => refusal(&error, &server),
                Err(_) => DatabaseError::Slow { server: server.to_string() },
            };
            let is_worth_a_retry =
                matches!(patience, Patience::Each(time) if begun.elapsed() + wait < time.min(RETRY_FOR));
            if !(is_worth_a_retry && error.is_temporary()) {
                // Dropping it would wait for a server's name that is still being looked up.
                runtime.shutdown_background();
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

    /// How long calls may take from now on.
    pub fn set_patience(&mut self, patience: Patience) {
        self.patience = patience;
    }

    /// Runs statements without parameters, in one round trip; returns the first column of each row
    /// as text.
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

    /// Runs one statement, in one round trip. It is not prepared, so that a pooler may stand in
    /// between.
    pub fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        let parameters: Vec<_> = values.iter().map(|value| (parameter(value), type_of(value))).collect();
        let found = self.call(|client| async move { client.query_typed(sql, &parameters).await })?;
        Ok(found.iter().map(row).collect())
    }

    /// The same for the one statement that a connection may run again and again: then it is prepared,
    /// unless a pooler in between keeps nothing prepared.
    pub fn repeated_rows(&mut self, sql: &'static str, values: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        self.repeated.0 += 1;
        if self.repeated.0 == PREPARED_WITH {
            let types: Vec<_> = values.iter().map(type_of).collect();
            self.repeated.1 = self.call(|client| async move { client.prepare_typed(sql, &types).await }).ok();
        }
        if let Some(statement) = &self.repeated.1 {
            let parameters: Vec<_> = values.iter().map(parameter).collect();
            match self.call(|client| async move { client.query(statement, &parameters).await }) {
                // It was refused before anything of it ran.
                Err(DatabaseError::NotPrepared { .. }) => self.repeated.1 = None,
                found => return Ok(found?.iter().map(row).collect()),
            }
        }
        self.rows(sql, values)
    }

    /// Waits for a notification that is wanted, of a channel that is listened to; returns whether
    /// one came. All that have come by then are read.
    pub fn wait_for_notice(
        &mut self,
        time: Duration,
        is_wanted: impl Fn(&Notice) -> bool,
    ) -> Result<bool, DatabaseError> {
        let notices = &mut self.notices;
        let came = self.runtime.block_on(async {
            let wanted = async {
                loop {
                    match notices.recv().await {
                        Some(notice) if !is_wanted(&notice) => {}
                        other => return other,
                    }
                }
            };
            tokio::time::timeout(time, wanted).await
        });
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

    fn call<'c, T, F>(&'c self, run: impl FnOnce(&'c Client) -> F) -> Result<T, DatabaseError>
    where
        F: Future<Output = Result<T, tokio_postgres::Error>>,
    {
        let left = self.patience.left();
        let Some(client) = self.client.as_ref() else { return Err(self.lost()) };
        let work = run(client);
        match self.runtime.block_on(async { tokio::time::timeout(left, work).await }) {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(refusal(&error, &self.server)),
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

fn parameter(value: &Value) -> &(dyn ToSql + Sync) {
    match value {
        Value::Int(number) => number,
        Value::Text(text) => text,
        Value::Texts(texts) => texts,
    }
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Int(_) => Type::INT8,
        Value::Text(_) => Type::TEXT,
        Value::Texts(_) => Type::TEXT_ARRAY,
    }
}

/// A row, whatever number or text the server calls its cells.
fn row(found: &tokio_postgres::Row) -> Row {
    let cell = |(at, column): (usize, &tokio_postgres::Column)| match *column.type_() {
        Type::INT8 => Value::Int(found.get(at)),
        Type::INT4 => Value::Int(found.get::<_, Option<i32>>(at).map(i64::from)),
        Type::BOOL => Value::Int(found.get::<_, Option<bool>>(at).map(i64::from)),
        _ => Value::Text(found.try_get(at).unwrap_or_default()),
    };
    Row(found.columns().iter().enumerate().map(cell).collect())
}

/// Drives the connection, and passes notifications on.
async fn forward_notices<S, T>(
    mut connection: tokio_postgres::Connection<S, T>,
    sender: tokio::sync::mpsc::UnboundedSender<Notice>,
) where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = std::future::poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(notice) = message {
            let (channel, payload) = (notice.channel().to_owned(), notice.payload().to_owned());
            let _ = sender.send(Notice { channel, payload });
        }
    }
}
