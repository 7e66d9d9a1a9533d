//! Which entries of a session may name a plan: takes each entry once, remembers those that a look found worth a closer
//! one. Pure. Must be told of every entry that moves or goes.

use serde::{Deserialize, Serialize};

use super::list::Entries;

/// Those entries, by list. What a look asks is the plan finder's business; another question starts anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Naming {
    /// A hash of the question.
    pub question: u64,
    /// Asks that may name a plan.
    pub asks: Hits,
    /// Asks that may name any page.
    pub pages: Hits,
    /// Commands.
    pub commands: Hits,
    /// Changes of files.
    pub touches: Hits,
    /// Changes of pages.
    pub notes: Hits,
    /// Files that were read.
    pub reads: Hits,
}

/// The entries of one list that were worth it, among those that were looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hits {
    /// How many entries from the start on were looked at.
    seen: usize,
    at: Vec<usize>,
}

impl Hits {
    /// Looks at the entries of a list that nobody has looked at.
    pub fn look<T>(&mut self, list: &impl Entries<T>, is_hit: impl Fn(&T) -> bool) {
        let new = list.since(self.seen);
        self.at.extend(new.iter().zip(self.seen..).filter(|(entry, _)| is_hit(entry)).map(|(_, at)| at));
        self.seen += new.len();
    }

    /// How many entries of a list of that length nobody has looked at.
    pub fn unseen(&self, length: usize) -> usize {
        length.saturating_sub(self.seen)
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        !self.at.is_empty()
    }

    /// Those entries of the list.
    pub fn of<'a, T: 'a>(&self, list: &'a impl Entries<T>) -> impl DoubleEndedIterator<Item = &'a T> {
        // Where there are none, nobody has to look.
        let list = if self.at.is_empty() { &[] } else { list.since(0) };
        self.at.iter().filter_map(|at| list.get(*at))
    }

    /// Entries have moved: the new place of each by its old one, `None` for what is gone.
    pub fn follow(&mut self, moved: &[Option<usize>]) {
        let new = |at: &usize| moved.get(*at).copied().flatten();
        self.at = self.at.iter().filter_map(new).collect();
        self.seen = moved[..self.seen].iter().flatten().count();
    }

    /// The entries of a part of the list are gone.
    pub fn lose(&mut self, gone: std::ops::Range<usize>) {
        let before = |at: usize| gone.clone().filter(|lost| *lost < at).count();
        self.at.retain(|at| !gone.contains(at));
        self.at = self.at.iter().map(|at| at - before(*at)).collect();
        self.seen -= before(self.seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_is_looked_at_once_and_followed_where_it_goes() {
        let mut list = vec![1, 10, 2, 20, 3];
        let mut hits = Hits::default();
        hits.look(&list, |number| *number >= 10);
        list.extend([30, 4]);
        hits.look(&list, |number| *number >= 30);
        assert_eq!(hits.of(&list).copied().collect::<Vec<_>>(), [10, 20, 30]);
        // The first and the fourth go.
        list = vec![10, 2, 3, 30, 4];
        hits.follow(&[None, Some(0), Some(1), None, Some(2), Some(3), Some(4)]);
        assert_eq!(hits.of(&list).copied().collect::<Vec<_>>(), [10, 30]);
        list.drain(1..3);
        hits.lose(1..3);
        hits.look(&list, |_| panic!("all were looked at"));
        assert_eq!(hits.of(&list).copied().collect::<Vec<_>>(), [10, 30]);
    }
}
