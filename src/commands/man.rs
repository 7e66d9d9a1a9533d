//! `punchlist man`: prints the manual page, or writes one for each command into a folder.

use std::path::Path;

use clap_mangen::{Man, generate_to};

use super::Result;
use super::output::{print, print_raw};
use crate::cli;
use crate::text::counted;

pub(super) fn run(folder: Option<&Path>) -> Result {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        Man::new(cli::command()).render(&mut page)?;
        return print_raw(&page);
    };
    let written = std::fs::create_dir_all(folder).and_then(|()| generate_to(cli::command(), folder));
    written.map_err(|error| format!("{}: {error}", folder.display()))?;
    print(&format!("{} in {}\n", counted(count(&cli::command()), "page", "pages"), folder.display()))
}

/// Counts a command and all its subcommands.
fn count(command: &clap::Command) -> usize {
    1 + command.get_subcommands().map(count).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_for_each_command_with_its_examples() {
        let folder = tempfile::tempdir().expect("a folder");
        generate_to(cli::command(), folder.path()).expect("pages");
        for name in ["punchlist.1", "punchlist-hook.1", "punchlist-log-show.1", "punchlist-config-check.1"] {
            assert!(folder.path().join(name).is_file(), "{name}");
        }
        for entry in std::fs::read_dir(folder.path()).expect("pages").flatten() {
            let page = std::fs::read_to_string(entry.path()).expect("a page");
            assert!(page.contains(".SH NAME") && page.contains("Examples:"), "{entry:?}: {page}");
        }
    }
}
