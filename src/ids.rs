//! Names for things: random ones, that nobody can know beforehand, and ones made of content, that are the
//! same wherever the content is.

use std::fmt::Write;
use std::hash::{BuildHasherDefault, Hasher};

use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// A name made of content: the same parts in the same order give the same name, and nobody finds others that do.
pub type ContentId = Named<Sha256>;

/// The same for much content, of which nothing hangs on it but whether it is as it was: it takes a tenth of the time, and
/// whoever wants to can make up two contents with one name.
pub type QuickId = Named<Xxh3Default>;

/// A name in the making.
#[derive(Debug, Default)]
pub struct Named<H>(H);

/// What names are made with.
pub trait Hash128: Default {
    /// Goes on with bytes.
    fn go_on(&mut self, bytes: &[u8]);
    /// What they all come to.
    fn end(self) -> [u8; 16];
}

impl Hash128 for Sha256 {
    fn go_on(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }

    fn end(self) -> [u8; 16] {
        let whole: [u8; 32] = self.finalize().into();
        *whole.first_chunk().expect("a half of it")
    }
}

impl Hash128 for Xxh3Default {
    fn go_on(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }

    fn end(self) -> [u8; 16] {
        self.digest128().to_be_bytes()
    }
}

impl<H: Hash128> Named<H> {
    /// Adds a part.
    pub fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        // Lengths keep "ab", "c" and "a", "bc" apart.
        self.0.go_on(&(part.len() as u64).to_le_bytes());
        self.0.go_on(part);
    }

    /// The name.
    pub fn finish(self) -> String {
        hex(&self.0.end())
    }

    /// The name of one part.
    pub fn of(part: impl AsRef<[u8]>) -> String {
        let mut name = Self::default();
        name.add(part);
        name.finish()
    }
}

impl QuickId {
    /// The name as a number.
    pub fn number(self) -> u64 {
        self.0.digest()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn random_bytes() -> [u8; 16] {
    let mut bytes = [0u8; 16];
    // Where the system has no randomness to give, a clock is better than a constant.
    if !fill(&mut bytes) {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        bytes = now.as_nanos().to_le_bytes();
    }
    bytes
}

/// Straight from the kernel: the crate asks first whether there is such a call, which is one more.
#[cfg(target_os = "linux")]
fn fill(bytes: &mut [u8]) -> bool {
    let filled = rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty());
    filled == Ok(bytes.len()) || getrandom::fill(bytes).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn fill(bytes: &mut [u8]) -> bool {
    getrandom::fill(bytes).is_ok()
}

/// A word for the fence around data: 128 random bits.
pub fn random_fence() -> String {
    hex(&random_bytes())
}

/// A random name in the form that the client wants for a session: a UUID of version 4.
pub fn new_session() -> String {
    let mut bytes = random_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let name = hex(&bytes);
    [&name[..8], &name[8..12], &name[12..16], &name[16..20], &name[20..]].join("-")
}

/// A short random name for one decision: 50 bits, ten letters that are hard to confuse.
pub fn new_id() -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    random_bytes().iter().take(10).map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}

/// How a map tells texts apart that come by the thousand; the usual way takes its time for each.
pub type Quickly = BuildHasherDefault<Quick>;

/// A hash of texts.
#[derive(Debug, Default, Clone, Copy)]
pub struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.rotate_left(5) ^ xxh3_64(bytes);
    }

    /// Where a text ends: there is one in each key.
    fn write_u8(&mut self, _: u8) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_names_keep_parts_apart() {
        let of = |parts: &[&str]| {
            let mut name = ContentId::default();
            for part in parts {
                name.add(part);
            }
            name.finish()
        };
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["x"]).len(), 32);
    }

    #[test]
    fn random_names_differ() {
        assert_ne!(random_fence(), random_fence());
        assert_ne!(new_id(), new_id());
        let session = new_session();
        assert_ne!(session, new_session());
        let parts: Vec<_> = session.split('-').map(str::len).collect();
        assert!(parts == [8, 4, 4, 4, 12] && session[14..].starts_with('4'), "{session}");
        assert!(session[19..].starts_with(['8', '9', 'a', 'b']), "{session}");
        assert_eq!((random_fence().len(), new_id().len()), (32, 10));
    }
}
