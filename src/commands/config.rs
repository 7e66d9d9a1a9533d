//! `punchlist config`: shows the settings with their sources, writes a file to start from, prints
//! the schema, checks files. Must not change a file that exists.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::output::{print, print_json, width};
use super::{Result, complain};
use crate::cli::{ConfigArgs, ConfigCommand, InitArgs};
use crate::config::parse::parse;
use crate::config::sources::{project_faults, sources};
use crate::config::{self, ConfigError, own_file, project_file, reference};
use crate::env::Env;
use crate::exit;
use crate::render::settings;
use crate::state::allowed;

pub(super) fn run(args: &ConfigArgs, env: &Env) -> Result {
    match &args.command {
        None => show(args.show.json, env),
        Some(ConfigCommand::Show(args)) => show(args.json, env),
        Some(ConfigCommand::Init(args)) => init(args, env),
        Some(ConfigCommand::Schema) => print_json(&reference::schema()),
        Some(ConfigCommand::Check { file }) => check(file.as_deref(), env),
    }
}

fn show(as_json: bool, env: &Env) -> Result {
    let here = std::env::current_dir().unwrap_or_default();
    let sources = sources(env, &here, || allowed(env, &here));
    let code = if sources.faults.iter().any(ConfigError::is_fault) { exit::FAILED } else { exit::OK };
    if as_json {
        print_json(&settings::json(&sources))?;
        return Ok(code);
    }
    for fault in sources.faults.iter().filter(|fault| fault.is_fault()) {
        complain(&format!("{fault}{}", fault.note()));
    }
    print(&settings::text(&sources, width()))?;
    Ok(code)
}

fn check(file: Option<&Path>, env: &Env) -> Result {
    let (own, here) = (own_file(env), std::env::current_dir().unwrap_or_default());
    let of_project = project_file(&here);
    let files = match file {
        Some(file) => vec![file],
        None => own.iter().map(AsRef::as_ref).chain([of_project.as_path()]).collect(),
    };
    let (mut text, mut code) = (String::new(), exit::OK);
    for path in files {
        let is_projects = path.file_name() == of_project.file_name();
        let name = path.display().to_string();
        match config::file::read(path, Some(here.as_path()).filter(|_| path == of_project)) {
            Ok(Some(content)) => {
                let errors = if is_projects {
                    project_faults(&content, &name, env, || allowed(env, &here))
                } else {
                    parse(&content, &name).errors
                };
                if !errors.iter().any(ConfigError::is_fault) {
                    text.push_str(&format!("{name}: nothing is wrong\n"));
                }
                for error in &errors {
                    code = if error.is_fault() { exit::FAILED } else { code };
                    text.push_str(&settings::fault_line(error));
                }
            }
            Ok(None) if file.is_none() => {
                text.push_str(&format!("{name}: not there, which is fine\n"));
            }
            Ok(None) => {
                complain(&format!("{name}: there is no such file"));
                code = exit::FAILED;
            }
            Err(error) => {
                complain(&format!("{}: {error}", path.display()));
                code = exit::FAILED;
            }
        }
    }
    print(&text)?;
    Ok(code)
}

fn init(args: &InitArgs, env: &Env) -> Result {
    let file = if args.project {
        Some(project_file(&std::env::current_dir().unwrap_or_default()))
    } else {
        own_file(env)
    };
    let file = file.ok_or("there is no home folder to put your own file into: HOME is not set")?;
    let name = file.display();
    write_new(&file, args.project).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("{name} already exists and was left as it is; `punchlist config show` tells what it sets")
        }
        _ => format!("{name} can't be written: {error}"),
    })?;
    print(&format!(
        "Wrote {name}, with every setting commented out.\n\
         Its schema is beside it, for your editor. `punchlist config show` tells what counts.\n"
    ))
}

/// Writes a commented file and, beside it, the schema that its first line names.
fn write_new(file: &Path, is_projects: bool) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let schema = if is_projects { "punchlist.schema.json" } else { "config.schema.json" };
    fs::create_dir_all(folder)?;
    create(file, &reference::commented_file(schema, is_projects))?;
    let text = serde_json::to_string_pretty(&reference::schema())? + "\n";
    match create(&folder.join(schema), &text) {
        // An older schema still has most keys, and may be the person's own.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        written => written,
    }
}

/// Writes a new file; fails if anything is there already, even a dangling link.
fn create(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}
