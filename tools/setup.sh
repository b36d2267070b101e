#!/bin/sh
# Installs what building and testing need and this machine does not have, or says exactly what that is.
# `setup.sh build` looks only for what building needs.
set -eu

cargo=${CARGO:-cargo}
what=${1:-all}

have() { command -v "$1" >/dev/null 2>&1; }

# install WHAT PACKAGE...: with Debian's package manager, or the advice to do so
install() {
    name=$1
    shift
    if ! have apt-get; then
        echo "missing: $name; install it with your package manager (Debian calls it: $*)" >&2
        exit 1
    fi
    if [ "$(id -u)" = 0 ]; then
        as_root=""
    elif have sudo; then
        as_root="sudo"
    else
        echo "missing: $name; as root, run: apt-get install -y $*" >&2
        exit 1
    fi
    echo "installing $name"
    $as_root apt-get update -q
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

if ! have "$cargo"; then
    echo "missing: a Rust toolchain (rustc and cargo); see https://rustup.rs" >&2
    exit 1
fi

# Bundled SQLite and the TLS library are C code.
if ! have cc && ! have gcc && ! have clang; then
    install "a C compiler" gcc libc6-dev
fi

[ "$what" = all ] || exit 0

# The JavaScript of the script host is bundled again when it has changed, and judged by the TypeScript compiler.
if ! have node || ! have npm; then
    install "Node.js with npm" nodejs npm
fi
js=$(dirname "$0")/../packages/rival
if ! cmp -s "$js/package-lock.json" "$js/node_modules/.installed"; then
    (cd "$js" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    cp "$js/package-lock.json" "$js/node_modules/.installed"
fi

if ! "$cargo" nextest --version >/dev/null 2>&1; then
    echo "installing cargo-nextest, the test runner (once; this takes a few minutes)"
    "$cargo" install cargo-nextest --locked
fi

# schemathesis asks the server everything that its OpenAPI document allows. It is Python, and gets a place of its own.
here=$(dirname "$0")
python=${CARGO_TARGET_DIR:-target}/schemathesis
if ! cmp -s "$here/schemathesis.txt" "$python/installed.txt"; then
    if ! have python3 || ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then
        install "Python with virtual environments" python3 python3-venv
    fi
    echo "installing schemathesis, which tests the HTTP API (once)"
    rm -rf "$python"
    python3 -m venv "$python"
    "$python/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/schemathesis.txt"
    cp "$here/schemathesis.txt" "$python/installed.txt"
fi
