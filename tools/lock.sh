#!/bin/sh
# Resolve pyproject.toml into requirements/: every pin with its hashes, for all platforms and Pythons, and no index host.
#   tools/lock.sh [--upgrade]   pins that still fit are kept unless --upgrade is given
set -eu
cd "$(dirname "$0")/.."
export UV_CUSTOM_COMPILE_COMMAND="make lock"
compile() {
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links "$@"
}

compile "$@" --extra hub --extra instructor --extra site --extra test --output-file requirements/lock.txt pyproject.toml
printf "tensorflow[and-cuda] ; sys_platform == 'linux'\n" |
    compile "$@" --constraint requirements/lock.txt --output-file requirements/gpu.txt -
printf 'setuptools\nuv\n' |
    compile "$@" --constraint requirements/lock.txt --output-file requirements/bootstrap.txt -
