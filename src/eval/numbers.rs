//! Neutral names for cases: takes the cases, gives each a number in an order that tells nothing of
//! it, and reads and writes the key that says which is which.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::case::Case;
use crate::ids::ContentId;

/// Which number stands for which case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Key(BTreeMap<String, String>);

impl Key {
    /// Numbers for these cases.
    pub fn new(cases: &[Case]) -> Self {
        let mut names: Vec<&String> = cases.iter().map(|case| &case.name).collect();
        names.sort_by_cached_key(|name| ContentId::of(name));
        let numbered = names.into_iter().enumerate();
        Self(numbered.map(|(at, name)| (format!("{:03}", at + 1), name.clone())).collect())
    }

    /// Reads a key.
    pub fn read(path: &Path) -> Result<Self, String> {
        let fault = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let text = fs::read_to_string(path).map_err(|why| fault(&why))?;
        serde_json::from_str(&text).map(Self).map_err(|why| fault(&why))
    }

    /// Writes it.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let json = serde_json::to_string_pretty(&self.0).map_err(|error| error.to_string())?;
        fs::write(path, json + "\n").map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The number of a case.
    pub fn number(&self, case: &Case) -> Option<&str> {
        self.0.iter().find(|(_, name)| **name == case.name).map(|(number, _)| number.as_str())
    }
}

/// The word that fences data in the prompts of a number: the same whenever they are written.
pub fn fence(number: &str) -> String {
    format!("DATA-{}", &ContentId::of(number)[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_another_than_that_of_the_names_and_always_the_same() {
        let case = |name: &str| Case { name: name.into(), ..Case::unknown() };
        let cases: Vec<Case> = ["a", "b", "c", "d", "e", "f"].map(case).into();
        let key = Key::new(&cases);
        let numbers: Vec<&str> = cases.iter().filter_map(|case| key.number(case)).collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, ["001", "002", "003", "004", "005", "006"]);
        assert_ne!(numbers, sorted);
        let folder = tempfile::tempdir().expect("a folder");
        key.write(&folder.path().join("key.json")).expect("written");
        assert_eq!(Key::read(&folder.path().join("key.json")), Ok(key));
    }
}
