//! A bad network between a machine and the database: passes on, delays, swallows, loses or cuts.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
struct State {
    /// How long each message of a client is kept back.
    delay_ms: AtomicU64,
    /// Whether what clients send is swallowed.
    swallows: AtomicBool,
    /// Whether connections are cut, and new ones at once.
    cuts: AtomicBool,
    /// The server's next message with this in it is lost with its connection.
    loses: Mutex<Option<&'static str>>,
    /// How many messages clients have sent.
    messages: AtomicUsize,
}

/// It ends with the process of the test.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<State>,
}

impl Proxy {
    pub(crate) fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State::default());
        let shared = state.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = shared.clone();
                std::thread::spawn(move || serve(client, server, &state));
            }
        });
        Self { port, state }
    }

    pub(crate) fn delay(&self, time: Duration) {
        self.state.delay_ms.store(u64::try_from(time.as_millis()).expect("short"), Ordering::SeqCst);
    }

    pub(crate) fn swallow(&self, swallows: bool) {
        self.state.swallows.store(swallows, Ordering::SeqCst);
    }

    pub(crate) fn cut(&self, cuts: bool) {
        self.state.cuts.store(cuts, Ordering::SeqCst);
    }

    pub(crate) fn lose(&self, words: &'static str) {
        *self.state.loses.lock().expect("nobody panicked") = Some(words);
    }

    pub(crate) fn messages(&self) -> usize {
        self.state.messages.load(Ordering::SeqCst)
    }
}

/// Whether a message of the server is the one to be lost.
fn is_lost(state: &State, bytes: &[u8]) -> bool {
    let mut loses = state.loses.lock().expect("nobody panicked");
    loses.take_if(|words| bytes.windows(words.len()).any(|part| part == words.as_bytes())).is_some()
}

fn serve(mut client: TcpStream, server: u16, state: &Arc<State>) {
    if state.cuts.load(Ordering::SeqCst) {
        return;
    }
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", server)) else { return };
    let (Ok(mut back), Ok(mut from)) = (client.try_clone(), server.try_clone()) else { return };
    let answers = state.clone();
    std::thread::spawn(move || {
        let mut bytes = vec![0; 65536];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if is_lost(&answers, &bytes[..count]) || back.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = back.shutdown(Shutdown::Both);
    });
    let _ = client.set_read_timeout(Some(Duration::from_millis(20)));
    let mut bytes = vec![0; 65536];
    loop {
        if state.cuts.load(Ordering::SeqCst) {
            break;
        }
        match client.read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => {
                state.messages.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(state.delay_ms.load(Ordering::SeqCst)));
                if !state.swallows.load(Ordering::SeqCst) && server.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    let _ = server.shutdown(Shutdown::Both);
    let _ = client.shutdown(Shutdown::Both);
}
