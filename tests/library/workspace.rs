//! Races on disk: while files are read, somebody swaps links and pipes in for them, as fast as it
//! goes. What is outside, or secret, is never read, and nothing waits.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use punchlist::testing::Folder;
use punchlist::workspace::glob_files::globbed;
use punchlist::workspace::{Body, FileState, Workspace};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};

const RUNS: usize = 400;
const SECRET: &str = "what nobody may see";

/// Swaps two paths without a pause while `read` runs many times, and asserts that it never saw the
/// secret, and that it sees the file's own text when nobody swaps any more.
#[track_caller]
fn race(one: PathBuf, other: PathBuf, read: impl Fn() -> Option<String> + Send + 'static) {
    let stop = Arc::new(AtomicBool::new(false));
    let is_over = stop.clone();
    let swapper = thread::spawn(move || {
        for turn in 0.. {
            // An even number of swaps leaves both where they were.
            if turn % 2 == 0 && is_over.load(Ordering::Relaxed) {
                return;
            }
            renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).expect("swapped");
            // Each for a while that differs, so that a swap comes at every point of a read.
            thread::sleep(Duration::from_micros(turn % 40));
        }
    });
    let (sender, texts) = mpsc::channel();
    let (again, wanted) = mpsc::channel::<()>();
    thread::spawn(move || while wanted.recv().is_ok() && sender.send(read()).is_ok() {});
    let next = || {
        again.send(()).expect("it reads");
        // A pipe that is waited for never ends.
        texts.recv_timeout(Duration::from_secs(60)).expect("a read hangs").unwrap_or_default()
    };
    let secret = (0..RUNS).filter(|_| next().contains(SECRET)).count();
    stop.store(true, Ordering::Relaxed);
    swapper.join().expect("it swapped");
    assert_eq!(secret, 0, "the secret was read");
    assert!(next().contains("own"), "the file is read while it is there");
}

#[test]
fn a_change_of_the_same_length_with_the_old_time_was_not_seen() {
    let folder = Folder::new(&[("a.rs", "old")]);
    let workspace = folder.workspace();
    let stamp = || workspace.stamp(&workspace.locate("a.rs").expect("inside")).expect("a stamp");
    folder.age("a.rs", "2020-01-01T00:00:00Z");
    let before = stamp();
    thread::sleep(Duration::from_millis(20));
    folder.write("a.rs", "new");
    folder.age("a.rs", "2020-01-01T00:00:00Z");
    assert_ne!(stamp(), before);
}

fn text_of(workspace: &Workspace, name: &str) -> Option<String> {
    let place = workspace.locate(name)?;
    // An audit asks for all three.
    if !matches!(workspace.state(Some(&place)), FileState::File { .. }) {
        return None;
    }
    workspace.stamp(&place);
    match workspace.body(&place) {
        Body::Text(text) | Body::Start(text) => Some(text),
        _ => None,
    }
}

fn folder() -> Folder {
    Folder::around(&[
        ("w/a.txt", "own"),
        ("w/.env", SECRET),
        ("w/sub/a.txt", "own"),
        ("w/PLAN.md", "- [ ] own\n"),
        ("outside/a.txt", SECRET),
    ])
}

fn link(folder: &Folder, to: &str, at: &str) -> PathBuf {
    let at = folder.path().join(at);
    std::os::unix::fs::symlink(folder.path().join(to), &at).expect("linked");
    at
}

#[test]
fn a_link_that_is_swapped_in_for_a_file_is_never_followed() {
    for target in ["outside/a.txt", "w/.env"] {
        let folder = folder();
        let link = link(&folder, target, "link");
        let (workspace, file) = (folder.workspace(), folder.root().join("a.txt"));
        race(file, link, move || text_of(&workspace, "a.txt"));
    }
}

#[test]
fn a_link_that_is_swapped_in_for_a_folder_is_never_followed() {
    let folder = folder();
    let link = link(&folder, "outside", "link");
    let (workspace, sub) = (folder.workspace(), folder.root().join("sub"));
    race(sub, link, move || text_of(&workspace, "sub/a.txt"));
}

#[test]
fn a_link_that_is_swapped_in_for_the_plan_is_never_followed() {
    let folder = folder();
    let link = link(&folder, "outside/a.txt", "link");
    let (workspace, plan) = (folder.workspace(), folder.root().join("PLAN.md"));
    race(plan, link, move || workspace.plan_text(Path::new("PLAN.md")));
}

#[test]
fn a_link_that_is_swapped_in_for_a_globbed_file_is_never_followed() {
    let folder = folder();
    let link = link(&folder, "outside/a.txt", "link");
    let root = folder.root();
    race(root.join("a.txt"), link, move || {
        let found = globbed(&root, None, &["*.txt".to_owned()]);
        let bytes = found.first()?.start(100).ok().flatten()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    });
}

#[test]
fn a_pipe_that_is_swapped_in_for_a_file_is_never_waited_for() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    let (workspace, file) = (folder.workspace(), folder.root().join("a.txt"));
    let plan = folder.root().join("a.txt");
    race(file, pipe, move || {
        let text = text_of(&workspace, "a.txt");
        punchlist::files::open_regular(&plan).ok();
        text
    });
}
