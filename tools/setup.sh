#!/bin/sh
# Make .venv from requirements/, or say exactly what to type. Asks nothing; outside .venv it adds only missing system packages.
#   tools/setup.sh python       .venv with every locked package (GPU=1: NVIDIA's too) and this project
#   tools/setup.sh sandbox      bubblewrap and libseccomp, where they can be installed without asking; never fails
#   tools/setup.sh has-sandbox  exit status 0 when bubblewrap can build its walls here
set -eu
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}

say() { printf '%s\n' "setup: $*" >&2; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"
    elif sudo -n true 2>/dev/null; then sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
    else return 1
    fi
}

install_packages() {  # Debian packages, without asking; status 1 when that is not possible
    command -v apt-get >/dev/null && as_root true || return 1
    say "installing $* with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 && return 0
    as_root apt-get update -qq && as_root apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

suitable() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; }

find_python() {  # the first suitable Python that can make environments, else the first suitable one
    first=
    for name in ${PYTHON:-python3 python3.12 python3.11 python3.13 /usr/bin/python3}; do
        suitable "$name" || continue
        "$name" -c 'import ensurepip, venv' 2>/dev/null && { echo "$name"; return 0; }
        first=${first:-$name}
    done
    echo "$first"
}

make_venv() {
    "$VENV/bin/python" -c 'import pip' 2>/dev/null && suitable "$VENV/bin/python" && return 0
    python=$(find_python)
    if [ -z "$python" ]; then
        say "no Python 3.11, 3.12 or 3.13 found. On Debian 12, Ubuntu 24.04 or later, type"
        say "    sudo apt-get install python3 python3-venv"
        say "on macOS: brew install python@3.12. A Python of another name: make PYTHON=/path/to/python3.12"
        exit 1
    fi
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        install_packages "$package" || { say "$python cannot make environments yet. Type"; say "    sudo apt-get install $package"; exit 1; }
    fi
    say "making $VENV with $("$python" --version)"
    "$python" -m venv --clear "$VENV"
}

quietly() {  # run a command that talks much: a dot every two seconds, its last words when it fails
    log=$VENV/setup.log
    (while sleep 2; do printf . >&2; done) &
    ticker=$!
    trap 'kill "$ticker" 2>/dev/null' EXIT
    trap 'exit 130' INT TERM
    "$@" >"$log" 2>&1 && status=0 || status=$?
    kill "$ticker" 2>/dev/null || true
    trap - EXIT INT TERM
    printf '\n' >&2
    [ "$status" -eq 0 ] || { tail -n 20 "$log" >&2; say "that failed; all of it is in $log"; }
    return "$status"
}

pip() { "$VENV/bin/python" -m pip --disable-pip-version-check "$@"; }

install_python() {
    make_venv
    locked=requirements/lock.txt
    [ "${GPU:-0}" = 0 ] || locked=requirements/gpu.txt  # added to what lock.txt has installed
    # setuptools comes first, by hash, because the one source package of the lock (promise) is built with it, not with a newer one.
    pip install -q --require-hashes -r requirements/bootstrap.txt
    # uv installs the set several times faster than pip. pip stays the fallback: it alone reads your pip configuration (mirrors, proxies).
    say "installing $(grep -c == "$locked") packages of $locked"
    quietly "$VENV/bin/uv" pip install --python "$VENV/bin/python" --no-build-isolation --compile-bytecode --require-hashes \
        -r "$locked" || {
        say "uv did not manage; going on with pip (minutes instead of seconds)"
        quietly pip install --no-build-isolation --use-pep517 --require-hashes -r "$locked"
    }
    pip install -q --no-deps --no-build-isolation -e .
}

has_sandbox() {
    for proc in --proc "--bind /proc"; do  # the second where a container masks parts of /proc
        # shellcheck disable=SC2086
        bwrap --unshare-all --die-with-parent --ro-bind / / $proc /proc --dev /dev true 2>/dev/null && return 0
    done
    return 1
}

install_sandbox() {
    if has_sandbox; then return 0; fi
    if [ "$(uname -s)" != Linux ]; then
        say "no sandbox on $(uname -s): everything but grading other people's code works (use the container for that)"
        return 0
    fi
    command -v bwrap >/dev/null || install_packages bubblewrap libseccomp2 || true
    if has_sandbox; then return 0; fi
    say "the sandbox is not available. Missing walls: file system, network and processes of student code."
    if command -v bwrap >/dev/null; then
        say "bubblewrap is here, but this machine refuses it user namespaces (a container, or a setting of the kernel). Ubuntu 24.04:"
        say "    sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    else
        say "Type"
        say "    sudo apt-get install bubblewrap libseccomp2"
    fi
}

case ${1:-} in
    python) install_python ;;
    sandbox) install_sandbox ;;
    has-sandbox) has_sandbox ;;
    *) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
