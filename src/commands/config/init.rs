//! `punchlist config init`: writes a commented file and, beside it, the schema that its first line names. Must not overwrite.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::super::complain;
use super::super::say::say;
use crate::cli::config::InitArgs;
use crate::config::{own_file, project_file, reference};
use crate::env::Env;
use crate::exit;

/// Runs it.
pub(super) fn run(args: &InitArgs, env: &Env) -> u8 {
    let file = if args.project {
        Some(project_file(&std::env::current_dir().unwrap_or_default()))
    } else {
        own_file(env)
    };
    let Some(file) = file else {
        complain("there is no home folder to put your own file into: HOME is not set");
        return exit::FAILED;
    };
    match write(&file, args.project) {
        Ok(()) => {
            let told = format!(
                "Wrote {}, with every setting in it and none of them set.\n\
                 Its schema is beside it, for your editor. `punchlist config show` tells what counts.\n",
                file.display()
            );
            say(&told, exit::OK)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            complain(&format!(
                "{} is there already and was left as it is; `punchlist config show` tells what it sets",
                file.display()
            ));
            exit::FAILED
        }
        Err(error) => {
            complain(&format!("{} can't be written: {error}", file.display()));
            exit::FAILED
        }
    }
}

fn write(file: &Path, is_projects: bool) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let schema = if is_projects { "punchlist.schema.json" } else { "config.schema.json" };
    fs::create_dir_all(folder)?;
    new_file(file, &reference::commented_file(schema, is_projects))?;
    let text = serde_json::to_string_pretty(&reference::schema())? + "\n";
    match new_file(&folder.join(schema), &text) {
        // An older one still names most keys, and may be somebody's own.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        written => written,
    }
}

/// Writes a file where there is none; whatever is there, a dangling link too, is an error.
fn new_file(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}
