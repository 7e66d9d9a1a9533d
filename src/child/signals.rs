//! The signals that ask this process to end, as an event. Must not act on one: the caller knows
//! what has to be cleaned up first.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A listener for `SIGTERM`, `SIGINT` and `SIGHUP`. tokio never removes a handler, so from the
/// first listener on these signals no longer end the process by themselves.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct TerminationSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

#[cfg(unix)]
impl TerminationSignals {
    /// Starts to listen. A signal that arrives between two calls of [`Self::next`] is not lost.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Returns the next signal's name. Cancel-safe.
    pub(super) async fn next(&mut self) -> &'static str {
        // `recv` returns `None` when the runtime shuts down; then no signal will come.
        tokio::select! {
            Some(()) = self.terminate.recv() => "SIGTERM",
            Some(()) = self.interrupt.recv() => "SIGINT",
            Some(()) = self.hangup.recv() => "SIGHUP",
            else => std::future::pending().await,
        }
    }
}

/// Windows: nothing to listen to, since the job object ends with us however we are ended.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct TerminationSignals;

#[cfg(not(unix))]
impl TerminationSignals {
    #[expect(clippy::unnecessary_wraps, reason = "the same call as on Unix")]
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) async fn next(&mut self) -> &'static str {
        std::future::pending().await
    }
}

/// Returns a flag that is set when a signal asks this process to end. For commands that run many
/// jobs: after the first of them the signals end nothing any more, and the command would go on to
/// its last job.
pub fn watch_interrupts() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    // Without the thread or its runtime the signals still do what they do by default.
    let _ = std::thread::Builder::new().spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        runtime.block_on(async {
            let name = TerminationSignals::listen().ok()?.next().await;
            tracing::debug!(name, "asked to end");
            raised.store(true, Ordering::Relaxed);
            Some(())
        })
    });
    flag
}
