//! A program that is a host if it is asked to be, or tries what a host may not do.

#![expect(clippy::print_stdout, reason = "the test reads what it prints")]

use std::io::Read;

fn main() {
    rival_script_host::main_if_asked();
    assert!(std::env::var_os("TRY_WHAT_HOSTS_MAY_NOT").is_some(), "this program is started by tests");
    let confinement = rival_script_host::confine();
    let attempts: [(&str, fn() -> std::io::Result<()>); 12] = [
        ("run a program", || std::process::Command::new("/bin/true").status().map(drop)),
        ("write a file", || std::fs::write(elsewhere(), "x")),
        ("change a file", || std::fs::OpenOptions::new().append(true).open(here()).map(drop)),
        ("remove a file", || std::fs::remove_file(here())),
        ("rename a file", || std::fs::rename(here(), elsewhere())),
        ("make a folder", || std::fs::create_dir(elsewhere())),
        ("take connections", || std::net::TcpListener::bind("127.0.0.1:0").map(drop)),
        ("reach a local socket", || std::os::unix::net::UnixStream::connect("/nowhere").map(drop)),
        ("kill its parent", || {
            let parent = rustix::process::getppid().expect("it has one");
            Ok(rustix::process::kill_process(parent, rustix::process::Signal::CONT)?)
        }),
        ("become another user", || Ok(rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(1))?)),
        ("read a file", || std::fs::read(here()).map(drop)),
        ("list a folder", || std::fs::read_dir("/").map(drop)),
    ];
    for (what, attempt) in attempts {
        let refused = attempt().is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied);
        println!("{what}: {}", if refused { "refused" } else { "allowed" });
    }
    // What it needs.
    let threads = std::thread::spawn(|| 1).join().is_ok();
    let sockets =
        std::os::unix::net::UnixStream::pair().is_ok() && std::net::UdpSocket::bind("127.0.0.1:0").is_ok();
    let hosts = std::fs::File::open("/etc/hosts").and_then(|mut file| file.read(&mut [0; 1])).is_ok();
    println!("threads, sockets, names: {}", threads && sockets && hosts);
    println!("{}", serde_json::to_string(&confinement).expect("words are JSON"));
}

fn here() -> String {
    std::env::var("TRY_WHAT_HOSTS_MAY_NOT").expect("the test gives a file")
}

fn elsewhere() -> String {
    here() + ".new"
}
