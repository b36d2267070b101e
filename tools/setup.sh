#!/bin/sh
# Installs what building and testing need and this machine does not have, or says exactly what that is.
# `setup.sh build` looks only for what building needs, `setup.sh packages` for what `make packages` tries.
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

[ "$what" != build ] || exit 0

# The JavaScript of the script host is bundled again when it has changed, and judged by the TypeScript compiler.
if ! have node || ! have npm; then
    install "Node.js with npm" nodejs npm
fi
here=$(dirname "$0")
# packages FOLDER: what its package-lock.json names, if that has changed
packages() {
    if ! cmp -s "$1/package-lock.json" "$1/node_modules/.installed"; then
        (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
        cp "$1/package-lock.json" "$1/node_modules/.installed"
    fi
}
if [ "$what" = packages ]; then
    packages "$here/packages"
    exit 0
fi
packages "$here/../packages/rival"
# Of the packages that docs/typescript.md lists, those that tests use.
packages "$here/packages/few"
# Linters and generators of clients, which the OpenAPI document is tried with, and the TypeScript SDK of MCP.
packages "$here/clients"
# MCP servers that other people wrote, which connections are tried with.
packages "$here/mcp"

if ! "$cargo" nextest --version >/dev/null 2>&1; then
    echo "installing cargo-nextest, the test runner (once; this takes a few minutes)"
    "$cargo" install cargo-nextest --locked
fi

# Instructions of the hot paths are counted: unlike time, a busy machine does not change them.
if ! have valgrind; then
    install "valgrind" valgrind
fi

# Prometheus judges the alerts in deploy/, and watches a server in a test.
if ! have prometheus || ! have promtool; then
    install "Prometheus" prometheus
fi

# schemathesis asks the server everything that its OpenAPI document allows, openapi-python-client makes a client of it, and
# mcp-server-time is a server of tools, and mcp a client of `rival mcp`. They are Python, and get a place of their own.
python=${CARGO_TARGET_DIR:-target}/python
if ! cmp -s "$here/python.txt" "$python/installed.txt"; then
    if ! have python3 || ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then
        install "Python with virtual environments" python3 python3-venv
    fi
    echo "installing schemathesis, openapi-python-client, mcp-server-time and mcp, which tests use (once)"
    rm -rf "$python"
    python3 -m venv "$python"
    "$python/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/python.txt"
    cp "$here/python.txt" "$python/installed.txt"
fi
