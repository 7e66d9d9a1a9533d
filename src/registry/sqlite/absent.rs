//! The stand-in for a file in a build without the feature `registry`: there is none, and it says
//! so.

use std::path::PathBuf;

use super::store::Store;
use super::{Patience, RegistryError};

pub(super) fn create(_: PathBuf) -> Result<Box<dyn Store>, RegistryError> {
    Err(RegistryError::NotBuilt)
}

#[expect(clippy::needless_pass_by_value, reason = "as the one that it stands in for")]
pub(super) fn open_if_there(path: PathBuf, _: Patience) -> Result<Option<Box<dyn Store>>, RegistryError> {
    if path.exists() { Err(RegistryError::NotBuilt) } else { Ok(None) }
}
