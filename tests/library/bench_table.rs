//! What the benchmark makes of its figures: which rows hold, and what a trace says.

#[path = "../../benches/table/asked.rs"]
mod asked;
#[path = "../../benches/table/rows.rs"]
mod rows;

use asked::Asked;
use rows::{Row, Unit, Verdict, table};

#[test]
fn a_row_over_its_limit_misses_from_a_fifth_on() {
    let verdict = |measured| Row::new("x", measured, Unit::Times, 10.0).aim(5.0).verdict();
    assert_eq!(verdict(5.0), Verdict::Aimed);
    assert_eq!(verdict(10.0), Verdict::Holds);
    assert_eq!(verdict(12.0), Verdict::Over);
    assert_eq!(verdict(12.1), Verdict::Missed);
    assert_eq!(Row::beside("x", 99.0, Unit::Times).verdict(), Verdict::Beside);
    let started = |threads| Row::new("x", threads, Unit::Count, 0.0).exact().verdict();
    assert_eq!((started(0.0), started(1.0)), (Verdict::Holds, Verdict::Missed));
}

#[test]
fn the_table_says_what_was_measured_and_whether_it_holds() {
    let rows = [
        Row::new("first read", 3.1, Unit::Times, 2.8).aim(2.2).note("31 ms, wc 10 ms".into()),
        Row::beside("jq", 54.0, Unit::Times),
        Row::new("memory", 15.96, Unit::Megabytes, 16.0),
        Row::new("bytes read", 9_000.0, Unit::Bytes, 9_798.0),
        Row::new("over the auditor", 6.5, Unit::Milliseconds, 15.0).aim(5.0),
        Row::new("system calls", 91.0, Unit::Count, 60.0).exact(),
    ];
    assert!(rows[5].exact && !rows[0].exact);
    let lines: Vec<String> =
        table(&rows).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        lines,
        [
            "measured at the most aim from",
            "first read 3.10 × 2.80 × 2.20 × over, within a fifth 31 ms, wc 10 ms",
            "memory 16.0 MB 16.0 MB holds",
            "bytes read 9000 B 9798 B holds",
            "over the auditor 6.50 ms 15.00 ms 5.00 ms holds",
            "system calls 91 60 MISSED",
            "",
            "for comparison",
            "jq 54.00 ×",
        ]
    );
}

/// From `strace -f -y -s 0`, with two threads whose calls overlap.
const TRACE: &str = r#"100 execve("/bin/punchlist", [""..., ""...], 0x7ffc /* 5 vars */) = 0
100 openat(AT_FDCWD</w>, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3</etc/ld.so.cache>
100 mmap(NULL, 33699, PROT_READ, MAP_PRIVATE, 3</etc/ld.so.cache>, 0) = 0x7f9d470bb000
100 read(3</usr/lib/x86_64-linux-gnu/libc.so.6>, ""..., 832) = 832
100 read(3</proc/self/maps>, ""..., 4096) = 4096
100 read(0<pipe:[1]>, ""..., 4096) = 512
100 read(4</home/s.jsonl>, ""..., 65536) = 1606
100 pread64(4</home/s.jsonl>, ""..., 100, 0) = 94
100 mmap(NULL, 5000, PROT_READ, MAP_PRIVATE, 5</home/state.json>, 0) = 0x7f9d470bb000
100 read(6</home/none>, 0x7ffc, 100) = -1 EISDIR (Is a directory)
100 clone3({flags=CLONE_VM|CLONE_FS|CLONE_THREAD}, 88) = 101
101 read(7</home/config.toml>,  <unfinished ...>
100 futex(0x7f9d470ada4c, FUTEX_WAIT_PRIVATE, 1, NULL <unfinished ...>
101 <... read resumed>""..., 100) = 40
101 exit(0) = ?
101 +++ exited with 0 +++
100 <... futex resumed>) = 0
100 --- SIGCHLD {si_signo=SIGCHLD} ---
100 exit_group(0) = ?
100 +++ exited with 0 +++
"#;

#[test]
fn a_trace_tells_calls_threads_and_bytes_by_file() {
    let asked = Asked::of(TRACE);
    assert_eq!((asked.calls, asked.started), (15, 1));
    assert_eq!(asked.read.get("/home/s.jsonl"), Some(&1700));
    assert_eq!(asked.read.get("/home/config.toml"), Some(&40));
    assert_eq!(asked.read.get("/proc/self/maps"), None);
    // Neither libraries nor the program itself, which may be mapped.
    assert_eq!(asked.bytes_of_files("/bin/punchlist"), 1700 + 5000 + 40);
}
