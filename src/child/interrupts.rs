//! The signals that ask our own process to end, as an event.
//!
//! Gives the name of the next one. It must not act on it: what has to be cleaned up first is for
//! the caller to know.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A listener. From its first creation on, these signals no longer end the process.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Interrupts {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

#[cfg(unix)]
impl Interrupts {
    /// Starts to listen: what comes from now on is kept until asked for.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Interrupts {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The next signal's name. Can be dropped at any point without losing one.
    pub(super) async fn next(&mut self) -> &'static str {
        // `None` means that the runtime is going away; no signal then, and the branch is off.
        tokio::select! {
            Some(()) = self.terminate.recv() => "SIGTERM",
            Some(()) = self.interrupt.recv() => "SIGINT",
            Some(()) = self.hangup.recv() => "SIGHUP",
            else => std::future::pending().await,
        }
    }
}

/// A flag that goes up when somebody asks this process to end, for work that can stop between its parts: from the
/// first run on, the signals themselves end nothing any more.
pub(super) fn watch() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    // Without a thread or a runtime to listen in, the signals go on to do what they do by themselves.
    let _ = std::thread::Builder::new().spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        runtime.block_on(async {
            let name = Interrupts::listen().ok()?.next().await;
            tracing::debug!(name, "asked to end");
            raised.store(true, Ordering::Relaxed);
            Some(())
        })
    });
    flag
}

/// Nothing to listen to: the job object ends with us, however we are ended.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Interrupts;

#[cfg(not(unix))]
impl Interrupts {
    #[expect(clippy::unnecessary_wraps, reason = "the same call as on Unix")]
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Interrupts)
    }

    pub(super) async fn next(&mut self) -> &'static str {
        std::future::pending().await
    }
}
