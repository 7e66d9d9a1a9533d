//! How the programs are linked on Linux with glibc: takes what Cargo says of the target, gives the linker's options.
//! Must not make a build fail that would go through without it: what the toolchain lacks is left as it was.
//!
//! A hook is started at every stop, and most of them are over in the time that the loader takes. So its work is cut
//! down to what `/bin/true` costs as well:
//!
//! - At a fixed address nothing has to be relocated: else 23,000 pointers on a hundred pages, at every start. (The
//!   price is that our own image is not randomised. The libraries, the stack and the heap are.)
//! - What `SQLite` calls is looked up when it is called, which it is at few stops: else forty names at every start.
//! - The unwinder comes along instead of from a library of its own.

use std::env::var;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let target = |key: &str| var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    // Another machine's toolchain may be anything.
    let is_own = var("HOST").is_ok_and(|host| var("TARGET") == Ok(host));
    if target("OS") != "linux"
        || target("ENV") != "gnu"
        || !is_own
        || target("FEATURE").contains("crt-static")
    {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    println!("cargo::rustc-link-arg-bins=-Wl,-z,lazy");
    if let Some(folder) = folder_of("libgcc_eh.a") {
        println!("cargo::rustc-link-search=native={}", folder.display());
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Where the compiler has a static library, if it has it.
fn folder_of(file: &str) -> Option<PathBuf> {
    let compiler = var("RUSTC_LINKER").unwrap_or_else(|_| "cc".into());
    let output = Command::new(compiler).arg(format!("-print-file-name={file}")).output().ok()?;
    // What it does not have it gives back as it was asked.
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.parent().filter(|_| path.is_absolute() && path.is_file()).map(Path::to_path_buf)
}
