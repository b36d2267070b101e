#!/bin/sh
# Installs what building and testing need and this machine does not have, or says exactly what that is.
# `setup.sh build` looks only for what building needs.
set -eu

cargo=${CARGO:-cargo}
what=${1:-all}

have() { command -v "$1" >/dev/null 2>&1; }

if ! have "$cargo"; then
    echo "missing: a Rust toolchain (rustc and cargo); see https://rustup.rs" >&2
    exit 1
fi

# Bundled SQLite and the TLS library are C code.
if ! have cc && ! have gcc && ! have clang; then
    if ! have apt-get; then
        echo "missing: a C compiler; install gcc (and the C library's headers) with your package manager" >&2
        exit 1
    fi
    if [ "$(id -u)" = 0 ]; then
        as_root=""
    elif have sudo; then
        as_root="sudo"
    else
        echo "missing: a C compiler; as root, run: apt-get install -y gcc libc6-dev" >&2
        exit 1
    fi
    echo "installing a C compiler"
    $as_root apt-get update -q
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends gcc libc6-dev
fi

if [ "$what" = all ] && ! "$cargo" nextest --version >/dev/null 2>&1; then
    echo "installing cargo-nextest, the test runner (once; this takes a few minutes)"
    "$cargo" install cargo-nextest --locked
fi
