#!/bin/sh
# Build the container image, or build and try it, with whichever of docker, podman and buildah is here.
#   tools/image.sh build|test
# IMAGE (name), GPU=1 (CUDA wheels), ENGINE (program), BUILD_ARGS and RUN_ARGS (more options for it) are taken from the environment.
set -eu
cd "$(dirname "$0")/.."
IMAGE=${IMAGE:-transformers-course}
say() { printf '%s\n' "image: $*" >&2; }

usable() {
    case $1 in
        docker) docker version >/dev/null 2>&1 ;;  # the client alone builds nothing
        *) command -v "$1" >/dev/null ;;
    esac
}

choose() {
    for engine in "$@"; do
        if usable "$engine"; then echo "$engine"; return 0; fi
    done
    return 1
}

build() {
    engine=${ENGINE:-$(choose docker podman buildah)} || {
        say "neither docker (running), podman nor buildah is here. On Debian: sudo apt-get install podman buildah"; exit 1; }
    say "building $IMAGE with $engine"
    case $engine in
        docker) format= ;;
        *) format="--format docker" ;;  # the OCI format has no health check
    esac
    # shellcheck disable=SC2086  # options are words
    "$engine" build $format --build-arg "GPU=${GPU:-0}" ${BUILD_ARGS:-} --tag "$IMAGE" .
}

try() {
    engine=${ENGINE:-$(choose docker podman)} || { say "not tried: running an image needs docker or podman"; exit 1; }
    name="course-image-test-$$"
    inside() { "$engine" exec "$name" "$@" </dev/null; }
    # shellcheck disable=SC2064,SC2086
    trap "$engine rm -f $name >/dev/null 2>&1 || true" EXIT INT TERM
    # shellcheck disable=SC2086  # the options are those of docker/compose.yaml
    "$engine" run -d --name "$name" --security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-drop ALL \
        -e "JUPYTER_TOKEN=$name" ${RUN_ARGS:-} "$IMAGE" >/dev/null

    say "waiting for JupyterLab"
    tries=60
    until inside python -c "import urllib.request as u; u.urlopen('http://127.0.0.1:8888/api', timeout=4)" 2>/dev/null; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || { "$engine" logs "$name" | tail -20; say "JupyterLab did not answer within a minute"; exit 1; }
        sleep 1
    done
    [ "$(inside id -u)" -ne 0 ] || { say "the container runs as root"; exit 1; }
    inside sh -c 'jupyter labextension list 2>&1; jupyter server extension list 2>&1' | grep -q 'nbgrader.*OK' ||
        { say "nbgrader's extension is not enabled"; exit 1; }
    inside python -c "import urllib.request as u
assert b'manage_assignments.js' in u.urlopen('http://127.0.0.1:8888/formgrader/manage_assignments?token=$name', timeout=60).read()" ||
        { say "Formgrader does not answer"; exit 1; }

    say "running a lecture"
    inside jupyter nbconvert --to notebook --execute --output-dir /tmp lectures/02_self_attention.ipynb
    say "grading the sample submissions"
    inside course doctor
    inside course grade 02_self_attention exercises/samples/02_self_attention --out /tmp/demo --db sqlite:////tmp/demo/gradebook.db
    while IFS=, read -r student mark; do
        [ "$student" = student ] || inside grep -q "^$student,02_self_attention,$(printf %.2f "$mark")," /tmp/demo/grades.csv ||
            { say "not the mark of $student"; exit 1; }
    done < exercises/samples/marks.csv
    say "works"
}

case ${1:-} in
    build) build ;;
    test) build; try ;;
    *) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
