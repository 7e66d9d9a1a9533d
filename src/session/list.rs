//! A list that may still be the bytes that were kept of it. Takes entries, or bytes; gives the entries to whoever looks
//! at one, and their number to everybody else: most stops look at none of the thousands that a long session has.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cache_codec::Bytes;

#[derive(Clone)]
pub struct List<T> {
    /// All entries, once somebody has looked at an old one.
    entries: OnceLock<Vec<T>>,
    /// As long as nobody has: how many old ones there are, and their bytes, one entry behind the other.
    kept: (usize, Bytes),
    /// And what came since.
    new: Vec<T>,
}

impl<T> List<T> {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.get().map_or(self.kept.0 + self.new.len(), Vec::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: T) {
        self.entries.get_mut().unwrap_or(&mut self.new).push(entry);
    }
}

/// Entries in their order.
pub trait Entries<T> {
    /// Those from there on. Where they are all new, nobody has to look at an old one.
    fn since(&self, seen: usize) -> &[T];
}

impl<T> Entries<T> for Vec<T> {
    fn since(&self, seen: usize) -> &[T] {
        self.get(seen..).unwrap_or_default()
    }
}

impl<T: Clone + DeserializeOwned> Entries<T> for List<T> {
    fn since(&self, seen: usize) -> &[T] {
        match self.entries.get() {
            None if seen >= self.kept.0 => self.new.since(seen - self.kept.0),
            _ => (**self).since(seen),
        }
    }
}

impl<T: Clone + DeserializeOwned> List<T> {
    /// The entries from there on, to be changed.
    pub fn since_mut(&mut self, seen: usize) -> &mut [T] {
        let (list, seen) = match self.entries.get() {
            None if seen >= self.kept.0 => (&mut self.new, seen - self.kept.0),
            _ => (&mut **self, seen),
        };
        list.get_mut(seen..).unwrap_or_default()
    }

    /// The newest entry.
    pub fn last(&self) -> Option<&T> {
        self.since(self.len().saturating_sub(1)).last()
    }

    /// All entries. A hash has shown that the bytes are those that this program wrote. Whoever took them for nothing would
    /// say that nothing was done; where this fails, the stop goes through.
    fn read(&self) -> Vec<T> {
        let mut entries = Vec::with_capacity(self.len());
        let mut rest = &*self.kept.1;
        for _ in 0..self.kept.0 {
            let (entry, behind) =
                postcard::take_from_bytes(rest).expect("what is kept of a list is readable");
            entries.push(entry);
            rest = behind;
        }
        entries.extend_from_slice(&self.new);
        entries
    }
}

impl<T: Clone + DeserializeOwned> Deref for List<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        self.entries.get_or_init(|| self.read())
    }
}

impl<T: Clone + DeserializeOwned> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        if self.entries.get().is_none() {
            *self = self.read().into();
        }
        self.entries.get_mut().expect("it was just read")
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(entries: Vec<T>) -> Self {
        Self { entries: entries.into(), kept: Default::default(), new: Vec::new() }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        entries.into_iter().collect::<Vec<_>>().into()
    }
}

impl<T: Clone + DeserializeOwned> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::mem::take(&mut *self).into_iter()
    }
}

impl<'a, T: Clone + DeserializeOwned> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Clone + DeserializeOwned> IntoIterator for &'a mut List<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: Clone + DeserializeOwned + PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Clone + DeserializeOwned + Eq> Eq for List<T> {}

impl<T: Clone + DeserializeOwned + fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// For people a list is its entries, for a disk their number and their bytes.
impl<T: Clone + DeserializeOwned + Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return (**self).serialize(serializer);
        }
        let (mut bytes, new) = match self.entries.get() {
            Some(entries) => (Vec::new(), entries),
            None => (self.kept.1.to_vec(), &self.new),
        };
        for entry in new {
            bytes = postcard::to_extend(entry, bytes).map_err(S::Error::custom)?;
        }
        (self.len(), Bytes::from(bytes)).serialize(serializer)
    }
}

impl<'de, T: Clone + DeserializeOwned> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Vec::deserialize(deserializer).map(Self::from);
        }
        let kept = Deserialize::deserialize(deserializer)?;
        Ok(Self { entries: OnceLock::new(), kept, new: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept_and_read(list: &List<String>) -> List<String> {
        postcard::from_bytes(&postcard::to_allocvec(list).expect("bytes")).expect("a list")
    }

    fn words(list: &List<String>) -> Vec<&str> {
        list.iter().map(String::as_str).collect()
    }

    #[test]
    fn a_kept_list_is_read_when_somebody_looks_at_an_old_entry() {
        let list: List<String> = ["a", "b"].map(str::to_owned).into_iter().collect();
        let mut again = kept_and_read(&list);
        again.push("c".into());
        assert_eq!((again.len(), again.is_empty(), again.last().map(String::as_str)), (3, false, Some("c")));
        assert_eq!((again.since(2), again.since(3).len()), (&["c".to_owned()][..], 0));
        again.since_mut(2)[0] += "!";
        let unread = kept_and_read(&again);
        assert!(again.entries.get().is_none(), "nobody has looked at an old entry");
        assert_eq!(words(&unread), ["a", "b", "c!"]);
        assert_eq!((words(&again), again.since(1).len()), (vec!["a", "b", "c!"], 2));
        again.remove(0);
        again.push("d".into());
        assert_eq!(words(&kept_and_read(&again)), ["b", "c!", "d"]);
        assert_eq!(
            (kept_and_read(&List::default()).len(), kept_and_read(&List::default()).last()),
            (0, None)
        );
    }

    #[test]
    fn for_people_it_is_its_entries() {
        let list: List<u8> = vec![1, 2].into();
        assert_eq!(serde_json::to_string(&list).expect("json"), "[1,2]");
        assert_eq!(serde_json::from_str::<List<u8>>("[1,2]").expect("a list"), list);
    }
}
