//! A program that is a host if it is asked to be.

fn main() {
    rival_host::main_if_asked();
    panic!("this program is started by tests, as a host");
}
