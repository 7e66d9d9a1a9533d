//! `punchlist man`: prints the manual page, or writes one for each command into a folder.

use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use super::complain;
use super::say::say;
use crate::cli::Cli;
use crate::exit;
use crate::text::counted;

pub fn run(folder: Option<&Path>) -> u8 {
    let done = match folder {
        None => page(Cli::command()).map(|page| say(&String::from_utf8_lossy(&page), exit::OK)),
        Some(folder) => write_all(folder).map(|count| {
            say(&format!("{} in {}\n", counted(count, "page", "pages"), folder.display()), exit::OK)
        }),
    };
    done.unwrap_or_else(|error| {
        let place = folder.map_or_else(|| "stdout".to_owned(), |folder| folder.display().to_string());
        complain(&format!("{place}: {error}"));
        exit::FAILED
    })
}

/// Every command's page with its file's name, the program's own first.
fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    fn each(command: &clap::Command, name: &str, into: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
        let named = command.clone().display_name(name.to_owned());
        into.push((format!("{name}.1"), page(named)?));
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            each(inner, &format!("{name}-{}", inner.get_name()), into)?;
        }
        Ok(())
    }
    let mut command = Cli::command();
    command.build();
    let mut all = Vec::new();
    each(&command, "punchlist", &mut all)?;
    Ok(all)
}

fn page(command: clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}

fn write_all(folder: &Path) -> io::Result<usize> {
    std::fs::create_dir_all(folder)?;
    let pages = pages()?;
    for (name, page) in &pages {
        std::fs::write(folder.join(name), page)?;
    }
    Ok(pages.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_for_each_command_with_its_examples() {
        let pages = pages().expect("pages");
        let names: Vec<_> = pages.iter().map(|(name, _)| name.as_str()).collect();
        for name in ["punchlist.1", "punchlist-hook.1", "punchlist-log-show.1", "punchlist-config-check.1"] {
            assert!(names.contains(&name), "{names:?}");
        }
        for (name, page) in &pages {
            let page = String::from_utf8_lossy(page);
            assert!(page.contains(".SH NAME") && page.contains("Examples:"), "{name}: {page}");
        }
    }
}
