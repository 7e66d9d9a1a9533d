//! `punchlist config`: shows the settings with their sources, writes a file to begin with, prints the
//! schema, checks files. Must not change a file that exists.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::output::{print, print_json, width};
use super::{Result, complain};
use crate::cli::{ConfigArgs, ConfigCommand, InitArgs};
use crate::config::sources::{remove_refused, sources};
use crate::config::{ConfigError, own_file, parse, project_file, reference};
use crate::env::Env;
use crate::exit;
use crate::files::open_regular;
use crate::render::settings;

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
    let sources = sources(env, &std::env::current_dir().unwrap_or_default());
    let code = if sources.faults.is_empty() { exit::OK } else { exit::FAILED };
    if as_json {
        print_json(&settings::json(&sources))?;
        return Ok(code);
    }
    for fault in &sources.faults {
        complain(&format!("{fault} (the default is used)"));
    }
    print(&settings::text(&sources, width()))?;
    Ok(code)
}

fn check(file: Option<&Path>, env: &Env) -> Result {
    let own = own_file(env);
    let of_project = project_file(&std::env::current_dir().unwrap_or_default());
    let files = match file {
        Some(file) => vec![file],
        None => own.iter().map(AsRef::as_ref).chain([of_project.as_path()]).collect(),
    };
    let (mut text, mut code) = (String::new(), exit::OK);
    for path in files {
        let is_projects = path.file_name() == of_project.file_name();
        match open_regular(path).and_then(io::read_to_string) {
            Ok(content) => {
                let errors = errors_of(&content, path, own.as_deref(), is_projects);
                if errors.is_empty() {
                    text.push_str(&format!("{}: nothing is wrong\n", path.display()));
                }
                for error in &errors {
                    code = exit::FAILED;
                    text.push_str(&settings::fault_line(error));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && file.is_none() => {
                text.push_str(&format!("{}: not there, which is fine\n", path.display()));
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

fn errors_of(text: &str, path: &Path, own: Option<&Path>, is_projects: bool) -> Vec<ConfigError> {
    let mut errors = parse::errors(text, &path.display().to_string());
    if let Ok(mut table) = text.parse()
        && is_projects
        && errors.is_empty()
    {
        errors.extend(remove_refused(&mut table, path, own));
    }
    errors
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
            format!(
                "{name} is there already and was left as it is; `punchlist config show` tells what it sets"
            )
        }
        _ => format!("{name} can't be written: {error}"),
    })?;
    print(&format!(
        "Wrote {name}, with every setting in it and none of them set.\n\
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
        // An older schema still has most keys, and may be somebody's own.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        written => written,
    }
}

/// Writes a new file; anything that is there, a dangling link too, is an error.
fn create(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}
