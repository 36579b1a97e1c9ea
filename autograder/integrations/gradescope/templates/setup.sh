#!/usr/bin/env bash
# Gradescope runs this once, as root and with a network, when it builds the image of the autograder.
set -euo pipefail
umask 022
source=/autograder/source
home=/opt/course

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends ca-certificates curl python3 python3-venv libseccomp2

# Python of the version that the lock is for, whatever the image has; readable for everybody, unlike root's home.
python3 -m venv "$home/tool"
"$home/tool/bin/pip" install --quiet uv
export UV_PYTHON_INSTALL_DIR="$home/python" UV_LINK_MODE=copy
"$home/tool/bin/uv" venv --python 3.12 "$home/venv"
"$home/tool/bin/uv" pip install --python "$home/venv/bin/python" --require-hashes -r "$source/requirements.txt"
if [ -f "$source/packages.txt" ]; then # what course.toml adds; it changes no version of the lock
    "$home/tool/bin/uv" pip install --python "$home/venv/bin/python" \
        -r "$source/packages.txt" -c "$source/requirements.txt"
fi

# What stands beside student code, for everybody to read; all the rest is for root alone.
mkdir -p "$home/packages" "$home/home"
cp -r "$source/grader/coursekit" "$source/grader/autograder/worker" "$home/packages/"
chmod -R a+rX,go-w "$home"
chmod -R go-rwx "$source"
