//! The signals that ask this process to end: one listener from the first child to the end of the
//! process, so that none is lost between two children. Must not act on a signal, except for the one
//! action set by [`when_overdue`].

use std::io;
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use tokio::runtime::Runtime;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::sleep;

/// The name of the first signal, once there was one.
type Raised = watch::Receiver<Option<&'static str>>;

static LISTENER: OnceLock<Raised> = OnceLock::new();

type LastAct = Box<dyn FnOnce(&'static str) + Send>;

static LAST_ACT: Mutex<Option<LastAct>> = Mutex::new(None);

/// How long the process may take to end by itself after a signal. The client sends `SIGKILL` two
/// seconds after `SIGTERM`.
const OVERDUE: Duration = Duration::from_secs(1);

/// Starts the listener, unless it is running. From here on these signals no longer end the process:
/// long-running code has to check [`interrupted`].
pub(super) fn listen() -> io::Result<Raised> {
    if let Some(raised) = LISTENER.get() {
        return Ok(raised.clone());
    }
    let started = start()?;
    Ok(LISTENER.get_or_init(|| started).clone())
}

/// Returns the name of the signal that asked this process to end (`"SIGTERM"`, `"SIGINT"`,
/// `"SIGHUP"`). `None` before the first child or [`watch_interrupts`]: until then a signal ends the
/// process by default.
pub fn interrupted() -> Option<&'static str> {
    LISTENER.get().and_then(|raised| *raised.borrow())
}

/// Starts to listen, for commands that do more than run one child.
pub fn watch_interrupts() {
    // Without a listener the signals keep their default action.
    if let Err(error) = listen() {
        tracing::debug!(%error, "nobody listens for signals");
    }
}

/// Sets what the listener does if the process is still running a second after a signal.
pub fn when_overdue(act: impl FnOnce(&'static str) + Send + 'static) {
    *LAST_ACT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(act));
}

fn start() -> io::Result<Raised> {
    let (sender, raised) = watch::channel(None);
    let (listening, is_listening) = mpsc::channel();
    // The runtime begins and ends on its own thread: this one may be inside of another runtime,
    // where dropping one is a panic.
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        let (runtime, mut signals) = match runtime_with_handlers() {
            Ok(both) => both,
            Err(error) => return drop(listening.send(Err(error))),
        };
        let _ = listening.send(Ok(()));
        runtime.block_on(async {
            let name = signals.next().await;
            tracing::debug!(name, "asked to end");
            sender.send_replace(Some(name));
            sleep(OVERDUE).await;
            if let Some(act) = LAST_ACT.lock().unwrap_or_else(PoisonError::into_inner).take() {
                act(name);
            }
            // Keeps the sender alive as long as the process, for those who wait with [`raised`].
            std::future::pending::<()>().await;
        });
    })?;
    // The handlers stand when this returns.
    is_listening.recv().map_err(io::Error::other)??;
    Ok(raised)
}

fn runtime_with_handlers() -> io::Result<(Runtime, TerminationSignals)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _inside = runtime.enter();
        TerminationSignals::listen()?
    };
    Ok((runtime, signals))
}

/// Waits for the first signal; returns its name.
pub(super) async fn raised(mut listener: Raised) -> &'static str {
    let name = listener.wait_for(Option::is_some).await.ok().and_then(|name| *name);
    match name {
        Some(name) => name,
        // The listener is gone, and no signal will come.
        None => std::future::pending().await,
    }
}

/// `SIGTERM`, `SIGINT` and `SIGHUP`. tokio never removes a handler.
#[cfg(unix)]
struct TerminationSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

#[cfg(unix)]
impl TerminationSignals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        // `recv` returns `None` when the runtime shuts down; then no signal will come.
        tokio::select! {
            Some(()) = self.terminate.recv() => "SIGTERM",
            Some(()) = self.interrupt.recv() => "SIGINT",
            Some(()) = self.hangup.recv() => "SIGHUP",
            else => std::future::pending().await,
        }
    }
}

/// Nothing to listen for on Windows: the job object ends with us, however we end.
#[cfg(not(unix))]
struct TerminationSignals;

#[cfg(not(unix))]
impl TerminationSignals {
    #[expect(clippy::unnecessary_wraps, reason = "the same call as on Unix")]
    fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> &'static str {
        std::future::pending().await
    }
}
