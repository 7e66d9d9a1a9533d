//! The three pipes of one child: feeds stdin while it drains stdout and stderr.
//!
//! Takes our ends of the pipes, keeps what it reads within the caps. It must not know about
//! processes or time. All three are served side by side, so that a child that reads nothing, or
//! writes a lot before it reads, blocks neither itself nor us.
//!
//! An error on a pipe is treated as its end. What it can be is that the other side is gone, and how
//! it went is told by the exit status, not by the pipe.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::group::OwnEnds;

/// As much as a Linux pipe holds: one read empties it.
const CHUNK: usize = 64 * 1024;

/// Why [`Pipes::pump`] has returned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Pumped {
    /// All three pipes are closed.
    Eof,
    /// There is more on stdout than allowed.
    Flooded,
}

/// The pipes, and what they carried.
#[derive(Debug)]
pub(super) struct Pipes {
    stdin: Feed,
    pub(super) stdout: Tap<ChildStdout>,
    pub(super) stderr: Tap<ChildStderr>,
}

impl Pipes {
    pub(super) fn new(
        (stdin, stdout, stderr): OwnEnds,
        input: Vec<u8>,
        stdout_cap: usize,
        stderr_cap: usize,
    ) -> Self {
        Pipes {
            stdin: Feed::new(stdin, input),
            stdout: Tap::new(stdout, stdout_cap),
            stderr: Tap::new(stderr, stderr_cap),
        }
    }

    /// Moves bytes until there is nothing left to move, or too much. Can be dropped at any point
    /// and called again: no byte is lost.
    pub(super) async fn pump(&mut self) -> Pumped {
        while !self.flooded() {
            tokio::select! {
                () = self.stdin.push(), if self.stdin.is_open() => {}
                () = self.stdout.pull(), if self.stdout.is_open() => {}
                () = self.stderr.pull(), if self.stderr.is_open() => {}
                else => return Pumped::Eof,
            }
        }
        Pumped::Flooded
    }

    /// Gives up on what was not written yet.
    pub(super) fn close_stdin(&mut self) {
        self.stdin.pipe = None;
    }

    /// Whether stdout had more than its cap.
    pub(super) fn flooded(&self) -> bool {
        self.stdout.overflowed
    }
}

/// Bytes on their way to the child.
#[derive(Debug)]
struct Feed {
    pipe: Option<ChildStdin>,
    bytes: Vec<u8>,
    sent: usize,
}

impl Feed {
    fn new(pipe: Option<ChildStdin>, bytes: Vec<u8>) -> Self {
        let pipe = pipe.filter(|_| !bytes.is_empty());
        Feed { pipe, bytes, sent: 0 }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// One write. The pipe is closed after the last byte, which is the child's end of file, and at
    /// an error: a child that does not want to read on (EPIPE) is free not to.
    async fn push(&mut self) {
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

/// Bytes that come from the child: the first `cap` are kept, the rest is read and dropped.
#[derive(Debug)]
pub(super) struct Tap<R> {
    pipe: Option<R>,
    chunk: Box<[u8]>,
    kept: Vec<u8>,
    cap: usize,
    overflowed: bool,
}

impl<R: AsyncRead + Unpin> Tap<R> {
    fn new(pipe: Option<R>, cap: usize) -> Self {
        Tap { pipe, chunk: vec![0; CHUNK].into_boxed_slice(), kept: Vec::new(), cap, overflowed: false }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// One read.
    async fn pull(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(&mut self.chunk).await {
            Ok(count) if count > 0 => {
                let room = self.cap - self.kept.len();
                self.kept.extend_from_slice(&self.chunk[..count.min(room)]);
                self.overflowed |= count > room;
            }
            Ok(_) | Err(_) => self.pipe = None,
        }
    }

    /// What was kept.
    pub(super) fn into_kept(self) -> Vec<u8> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `input` to its end; gives what was kept, and whether there was more.
    fn tapped(input: &[u8], cap: usize) -> (Vec<u8>, bool) {
        let mut tap = Tap::new(Some(input), cap);
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(async {
            while tap.is_open() {
                tap.pull().await;
            }
        });
        let overflowed = tap.overflowed;
        (tap.into_kept(), overflowed)
    }

    #[test]
    fn exactly_the_cap_is_no_overflow() {
        assert_eq!(tapped(b"12345", 6), (b"12345".to_vec(), false));
        assert_eq!(tapped(b"12345", 5), (b"12345".to_vec(), false));
        assert_eq!(tapped(b"12345", 4), (b"1234".to_vec(), true));
        assert_eq!(tapped(b"", 0), (Vec::new(), false));
        assert_eq!(tapped(b"1", 0), (Vec::new(), true));
    }

    #[test]
    fn a_cap_in_the_middle_of_a_later_chunk_cuts_there() {
        let input = vec![b'x'; 3 * CHUNK];
        let (kept, overflowed) = tapped(&input, CHUNK + 7);
        assert_eq!((kept.len(), overflowed), (CHUNK + 7, true));
    }
}
