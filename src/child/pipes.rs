//! The three pipes of one child: writes stdin while it reads stdout and stderr, within their caps.
//! Must not know about processes or time.
//!
//! All three are served together. A child that writes a lot before it reads, or that reads nothing,
//! would otherwise fill one pipe and block, and we would wait for another.
//!
//! An error on a pipe counts as its end: it can only mean that the other side is gone, and the exit
//! status says why.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// The capacity of a Linux pipe, so that one read empties it.
const CHUNK: usize = 64 * 1024;

pub(super) type PipeEnds = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

/// Why [`Pipes::pump`] returned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum PumpEnd {
    /// All three pipes are closed.
    Eof,
    /// There is more on stdout than its cap.
    OverCap,
}

#[derive(Debug)]
pub(super) struct Pipes {
    stdin: StdinWriter,
    pub(super) stdout: CappedReader<ChildStdout>,
    pub(super) stderr: CappedReader<ChildStderr>,
}

impl Pipes {
    pub(super) fn new(
        (stdin, stdout, stderr): PipeEnds,
        input: Vec<u8>,
        stdout_cap: usize,
        stderr_cap: usize,
    ) -> Self {
        Self {
            // Without input the pipe is dropped here, and the child sees the end of its stdin.
            stdin: StdinWriter { pipe: stdin.filter(|_| !input.is_empty()), bytes: input, sent: 0 },
            stdout: CappedReader::new(stdout, stdout_cap),
            stderr: CappedReader::new(stderr, stderr_cap),
        }
    }

    /// Moves bytes until all pipes are closed or stdout is over its cap. Cancel-safe: can be
    /// dropped at any point and called again without losing a byte.
    pub(super) async fn pump(&mut self) -> PumpEnd {
        while !self.stdout.over_cap {
            tokio::select! {
                () = self.stdin.write(), if self.stdin.pipe.is_some() => {}
                () = self.stdout.read(), if self.stdout.pipe.is_some() => {}
                () = self.stderr.read(), if self.stderr.pipe.is_some() => {}
                else => return PumpEnd::Eof,
            }
        }
        PumpEnd::OverCap
    }

    /// Drops the input that was not written yet.
    pub(super) fn close_stdin(&mut self) {
        self.stdin.pipe = None;
    }
}

#[derive(Debug)]
struct StdinWriter {
    pipe: Option<ChildStdin>,
    bytes: Vec<u8>,
    sent: usize,
}

impl StdinWriter {
    /// Writes once. Closes the pipe after the last byte, so that the child sees the end of its
    /// input, and at an error: a child may stop reading (EPIPE).
    async fn write(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.write(&self.bytes[self.sent..]).await {
            Ok(count) if count > 0 => self.sent += count,
            Ok(_) | Err(_) => self.sent = self.bytes.len(),
        }
        if self.sent == self.bytes.len() {
            self.pipe = None;
        }
    }
}

/// Reads to the end and stores the first `cap` bytes. The rest is read and dropped, so that the
/// child does not block on a full pipe.
#[derive(Debug)]
pub(super) struct CappedReader<R> {
    pipe: Option<R>,
    chunk: Box<[u8]>,
    pub(super) bytes: Vec<u8>,
    cap: usize,
    pub(super) over_cap: bool,
}

impl<R: AsyncRead + Unpin> CappedReader<R> {
    fn new(pipe: Option<R>, cap: usize) -> Self {
        Self { pipe, chunk: vec![0; CHUNK].into_boxed_slice(), bytes: Vec::new(), cap, over_cap: false }
    }

    async fn read(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(&mut self.chunk).await {
            Ok(count) if count > 0 => {
                let room = self.cap - self.bytes.len();
                self.bytes.extend_from_slice(&self.chunk[..count.min(room)]);
                self.over_cap |= count > room;
            }
            Ok(_) | Err(_) => self.pipe = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_up_to_the_cap_are_stored_and_more_is_noticed() {
        let long = vec![b'x'; 3 * CHUNK];
        for (input, cap, stored, over_cap) in [
            (&b"12345"[..], 6, 5, false),
            (b"12345", 5, 5, false),
            (b"12345", 4, 4, true),
            (b"", 0, 0, false),
            (b"1", 0, 0, true),
            (&long, CHUNK + 7, CHUNK + 7, true),
        ] {
            let mut reader = CappedReader::new(Some(input), cap);
            tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(async {
                while reader.pipe.is_some() {
                    reader.read().await;
                }
            });
            assert_eq!((reader.bytes.as_slice(), reader.over_cap), (&input[..stored], over_cap));
        }
    }
}
