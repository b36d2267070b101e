//! A server whose wall clock is set while it runs.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab::Lab;

/// Moves the wall clock of a process by as many seconds as a file says, and no other clock.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static volatile long *offset;

__attribute__((constructor)) static void begin(void) {
    int file = open(getenv("CLOCK_OFFSET"), O_RDONLY);
    void *page = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) offset = page;
}

int clock_gettime(clockid_t id, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, time);
    if (!result && id == CLOCK_REALTIME && offset) time->tv_sec += *offset;
    return result;
}
"#;

const HOUR_S: i64 = 3_600;
const YEARS_S: i64 = 10 * 365 * 24 * HOUR_S;

fn shim(lab: &Lab) -> PathBuf {
    let (source, library) = (lab.write("shim.c", SHIM), lab.path("shim.so"));
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
    assert!(cc.status().expect("a C compiler is there: SQLite needs it").success());
    library
}

/// In place: the server has the file mapped.
fn set(file: &Path, seconds: i64) {
    use std::os::unix::fs::FileExt;
    let file = fs::OpenOptions::new().write(true).open(file).unwrap();
    file.write_all_at(&seconds.to_ne_bytes(), 0).unwrap();
}

#[test]
fn retries_go_on_whatever_the_wall_clock_says() {
    let mut lab = Lab::offline();
    let offset = lab.path("offset");
    fs::write(&offset, 0_i64.to_ne_bytes()).unwrap();
    lab.set_server_env("LD_PRELOAD", shim(&lab));
    lab.set_server_env("CLOCK_OFFSET", offset.clone());
    lab.serve(&[]);
    lab.rival(&["run", "flaky"]).ok();
    for seconds in [-2 * HOUR_S, YEARS_S, 0, -YEARS_S, 0] {
        set(&offset, seconds);
        lab.rival(&["run", "flaky"]).ok();
    }
    let findings = lab.rival(&["doctor", "-o", "json"]).json();
    let clock = findings.as_array().unwrap().iter().filter(|finding| finding["about"] == "clock");
    let said: Vec<&str> = clock.filter_map(|finding| finding["text"].as_str()).collect();
    assert!(said.iter().any(|text| text.starts_with("the server's was set 5 times")), "{said:?}");
    assert!(lab.server().log.lock().unwrap().contains("the wall clock was set back"));
}
