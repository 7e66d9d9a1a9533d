//! `punchlist config check`: takes files, says every fault of each with line and column. Must not stop at the first.

use std::io;
use std::path::Path;

use super::super::complain;
use super::super::say::say;
use crate::config::file::ConfigFile;
use crate::config::{ConfigError, own_file, project_file};
use crate::env::Env;
use crate::exit;
use crate::files::open_regular;
use crate::render::settings::fault_line;

/// Runs it.
pub(super) fn run(file: Option<&Path>, env: &Env) -> u8 {
    let own = own_file(env);
    let of_project = project_file(&std::env::current_dir().unwrap_or_default());
    let files = match file {
        Some(file) => vec![file],
        None => own.iter().map(AsRef::as_ref).chain([of_project.as_path()]).collect(),
    };
    let (mut told, mut code) = (String::new(), exit::OK);
    for path in files {
        let is_projects = path.file_name() == of_project.file_name();
        match open_regular(path).and_then(io::read_to_string) {
            Ok(text) => {
                let faults = faults_of(&text, path, own.as_deref().filter(|_| is_projects), is_projects);
                if faults.is_empty() {
                    told.push_str(&format!("{}: nothing is wrong\n", path.display()));
                }
                for fault in &faults {
                    code = exit::FAILED;
                    told.push_str(&fault_line(fault));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && file.is_none() => {
                told.push_str(&format!("{}: not there, which is fine\n", path.display()));
            }
            Err(error) => {
                complain(&format!("{}: {error}", path.display()));
                code = exit::FAILED;
            }
        }
    }
    say(&told, code)
}

fn faults_of(text: &str, path: &Path, own: Option<&Path>, is_projects: bool) -> Vec<ConfigError> {
    let name = path.display().to_string();
    let mut faults = ConfigFile::faults(text, &name);
    if let Ok(mut file) = ConfigFile::parse(text, &name)
        && is_projects
    {
        faults.extend(file.not_the_projects(path, own));
    }
    faults
}
