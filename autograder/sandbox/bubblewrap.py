"""The outer wall: the bubblewrap command that shows a worker a system, a Python and two packages, and nothing else.

Where a container holds one submission and allows no namespaces, student code is another user instead.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from autograder.course.settings import FILE_NAME, ROOT_VARIABLE

UNPRIVILEGED = 65534  # the user that a worker becomes when the grader is root
GRADER = "/grader"  # where the two packages are found inside
_ENVIRONMENT = f"{GRADER}/environment"  # where a virtual environment is found that cannot keep its place

_SYSTEM = ("/usr", "/nix/store", "/gnu/store")
_SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = (
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/fonts", "/etc/localtime",
    "/etc/mime.types",
)  # fmt: skip
_HIDDEN = ("/usr/src", "/usr/local/src", "/usr/share/nbgrader", "/usr/local/share/nbgrader")  # the last: its exchange
_WRITABLE = (Path("/tmp"), Path("/dev"), Path("/proc"))  # covered inside
_TRY_SECONDS = 30
MISPLACED = "Python is installed in"  # so begins the reason where a Python cannot be shown


@dataclass(frozen=True)
class Variant:
    """One way to run bubblewrap; which of them works depends on who the grader is and on the machine.

    Attributes:
        user_namespace: make a user namespace. Root can do without; then the worker gives up root itself.
        own_proc: mount a fresh /proc. Inside a container that masks parts of /proc this is refused, and the
            container's own is bound instead; the runner covers either.
        start_as: user that starts bubblewrap, or None for the grader's own.
        own_name: call the machine "grader". Podman's default profile allows namespaces and refuses this one call;
            then submissions see the container's name.
    """

    user_namespace: bool
    own_proc: bool
    start_as: int | None
    own_name: bool = True

    @property
    def become(self) -> int | None:
        """The user that the worker must become by itself."""
        return None if self.user_namespace else UNPRIVILEGED


@dataclass(frozen=True)
class OtherUser:
    """Who student code runs as. The grader is root, and keeps its own files where only root may go.

    Weaker than bubblewrap, see SECURITY.md: right only where a container serves one submission and is then thrown away.

    Attributes:
        user: number of the user, who owns nothing else and runs nothing else.
        packages: folder with `coursekit` and `worker`, which everybody may read and only root may write.
        home: the only folder that is the user's; emptied before each process. Only root may write beside it.
    """

    user: int
    packages: Path
    home: Path

    def environment(self) -> dict[str, str]:
        """What differs from the environment behind bubblewrap: where files go."""
        return {
            "HOME": f"{self.home}/home",
            "IPYTHONDIR": f"{self.home}/home/.ipython",
            "MPLCONFIGDIR": f"{self.home}/home/.matplotlib",
            "TMPDIR": f"{self.home}/tmp",
        }


def environment() -> dict[str, str]:
    """Return the whole environment of a worker: nothing of the grader's own is passed on."""
    return {
        "CUDA_VISIBLE_DEVICES": "-1",
        "HOME": "/tmp/home",
        "IPYTHONDIR": "/tmp/home/.ipython",
        "KERAS_BACKEND": "tensorflow",
        "LANG": "C.UTF-8",
        "LOGNAME": "student",
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": "/tmp/home/.matplotlib",
        "OMP_NUM_THREADS": "1",
        "ONEDNN_MAX_CPU_ISA": "AVX2",  # its kernels are compiled anew in each child; on every machine the same ones
        "OPENBLAS_NUM_THREADS": "1",
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INDEX": "1",  # `%pip install` of something new fails at once, not after waiting for a network
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "TF_NUM_INTEROP_THREADS": "1",
        "TF_NUM_INTRAOP_THREADS": "1",
        "TMPDIR": "/tmp",
        "USER": "student",
    }


def arguments(variant: Variant) -> list[str]:
    """Return the bubblewrap command up to and excluding the program to run.

    Raises:
        ValueError: Python is installed in a place that cannot be shown without showing everything.
    """
    bwrap = shutil.which("bwrap") or "bwrap"
    line = [bwrap, "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if variant.user_namespace:
        line += ["--unshare-user", "--uid", str(UNPRIVILEGED), "--gid", str(UNPRIVILEGED)]
    if variant.own_name:
        line += ["--hostname", "grader"]
    line += ["--new-session", "--die-with-parent", "--cap-drop", "ALL"]
    if variant.become is not None:
        line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    line += _files(variant)
    line += ["--remount-ro", "/", "--chdir", "/tmp", "--clearenv"]
    for name, value in environment().items():
        line += ["--setenv", name, value]
    return [*line, "--"]


def interpreter(program: str, *words: str) -> list[str]:
    """Return the command that runs `program` in the worker's Python: isolated, with the two packages in sight."""
    python = f"{_ENVIRONMENT}/{Path(sys.executable).relative_to(sys.prefix)}" if _is_moved() else sys.executable
    return [python, "-I", "-c", f"import sys; sys.path.insert(0, {GRADER!r}); {program}", *words]


@cache
def working_variant() -> Variant | str:
    """Return the first variant that works on this machine, or why none does."""
    if sys.platform != "linux":
        return f"bubblewrap runs on Linux only, and this is {sys.platform}"
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    reasons = []
    for variant in _variants():
        try:
            done = subprocess.run(
                [*arguments(variant), *interpreter("import ctypes, msgpack, numpy")],
                capture_output=True, text=True, timeout=_TRY_SECONDS, check=False,
                **identity(variant),
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            reasons.append(str(error))
            continue
        if done.returncode == 0:
            return variant
        said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        reasons.append(said.partition(". See <")[0])  # Debian's points to a file that a container need not have
    return "; ".join(dict.fromkeys(reasons))


def identity(variant: Variant) -> dict[str, Any]:
    """Return the arguments for `subprocess` that start bubblewrap as the variant's user."""
    if variant.start_as is None:
        return {}
    return {"user": variant.start_as, "group": variant.start_as, "extra_groups": []}


def _variants() -> Iterator[Variant]:
    for own_name, own_proc in itertools.product((True, False), repeat=2):
        if os.geteuid() == 0:
            yield Variant(user_namespace=False, own_proc=own_proc, start_as=None, own_name=own_name)
            yield Variant(user_namespace=True, own_proc=own_proc, start_as=UNPRIVILEGED, own_name=own_name)
        else:
            yield Variant(user_namespace=True, own_proc=own_proc, start_as=None, own_name=own_name)


def _files(variant: Variant) -> list[str]:
    view = _View()
    for name in _SYSTEM:
        if Path(name).is_dir():
            view.show(Path(name))
    for name in _SYSTEM_LINKS:
        if os.path.islink(name):
            view.line += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            view.show(Path(name))
    view.line += ["--dir", "/etc", "--dir", GRADER]
    for name in _SETTINGS:
        view.line += ["--ro-bind-try", name, name]
    secret = [Path(hidden) for hidden in _HIDDEN if Path(hidden).is_dir()] + _course_folders()
    for folder in secret:
        view.hide(folder)
    for folder in _python_folders():
        if not view.shows(folder):
            view.show(folder)
            for path in secret:
                if folder in path.parents:
                    view.hide(path)
    if _is_moved():
        view.show(Path(sys.prefix), Path(_ENVIRONMENT))
        prefix = Path(sys.prefix).resolve()
        for path in secret:
            if prefix in path.parents:
                view.hide(_ENVIRONMENT / path.relative_to(prefix))
    view.link_interpreter()
    view.line += ["--ro-bind", str(_folder_of("coursekit")), f"{GRADER}/coursekit"]
    view.line += ["--ro-bind", str(_folder_of("autograder.worker")), f"{GRADER}/worker"]
    view.line += ["--ro-bind-try", str(_folder_of("coursekit").parent / "data"), f"{GRADER}/data"]
    for folder in view.hidden:
        view.line += ["--remount-ro", str(folder)]
    proc = ["--proc", "/proc"] if variant.own_proc else ["--bind", "/proc", "/proc"]
    temporary = ["--perms", "1777", "--size", str(64 << 20), "--tmpfs", "/tmp", "--perms", "0777", "--dir", "/tmp/home"]
    return [*view.line, *proc, "--dev", "/dev", "--remount-ro", "/dev", *temporary]


class _View:
    """The worker's file system while it is put together: which folders are shown, and which are covered again."""

    def __init__(self) -> None:
        self.line: list[str] = []
        self.hidden: list[Path] = []
        self._shown: list[Path] = []

    def show(self, folder: Path, where: Path | None = None) -> None:
        where = where or folder
        for parent in reversed(where.parents[:-1]):
            if not self.shows(parent):
                self.line += ["--dir", str(parent)]  # else bubblewrap copies its mode, which may keep the worker out
        self.line += ["--ro-bind", str(folder), str(where)]
        self._shown.append(where)

    def hide(self, folder: Path) -> None:
        if self.shows(folder):
            self.line += ["--tmpfs", str(folder)]
            self.hidden.append(folder)

    def shows(self, path: Path) -> bool:
        """Whether the innermost decision about `path` is to show it."""
        around = {path, *path.parents}
        shown = max((len(each.parts) for each in self._shown if each in around), default=0)
        hidden = max((len(each.parts) for each in self.hidden if each in around), default=0)
        return shown > hidden

    def link_interpreter(self) -> None:
        """Recreate the links between the interpreter's name and its file, where they do not show."""
        hop = Path(sys.executable)
        while hop.is_symlink():
            target = os.readlink(hop)
            if not self.shows(hop) and not (_is_moved() and hop.is_relative_to(sys.prefix)):
                self.line += ["--symlink", target, str(hop)]
            hop = Path(os.path.normpath(hop.parent / target))


def _is_moved() -> bool:
    """Whether the virtual environment, or a link to it, lies where the sandbox has files of its own: then it is shown
    elsewhere inside."""
    places = (Path(sys.prefix), Path(sys.prefix).resolve())
    return sys.prefix != sys.base_prefix and any(folder in place.parents for folder in _WRITABLE for place in places)


def _python_folders() -> list[Path]:
    """The folders that hold Python and its packages, outermost first, each as named and as it really is."""
    prefixes = [sys.base_prefix, sys.base_exec_prefix]
    if not _is_moved():
        prefixes += [sys.prefix, sys.exec_prefix]
    folders = {Path(prefix) for prefix in prefixes} | {Path(prefix).resolve() for prefix in prefixes}
    for folder in folders:
        if len(folder.parts) < 3 and folder != Path("/usr"):
            raise ValueError(f"{MISPLACED} {folder}, and the sandbox would show all of that folder")
        if any(writable == folder or writable in folder.parents for writable in _WRITABLE):
            raise ValueError(f"{MISPLACED} {folder}, where the sandbox has files of its own")
    return sorted(folders, key=lambda folder: len(folder.parts))


def _course_folders() -> list[Path]:
    """The folders of the course that no worker may see, wherever the packages and the course have been put."""
    package = _folder_of("autograder")
    folders = {package.parent if (package.parent / "pyproject.toml").exists() else package}
    for start in (Path.cwd(), Path(os.environ.get(ROOT_VARIABLE) or ".").resolve()):
        folders |= {folder for folder in (start, *start.parents) if (folder / FILE_NAME).exists()}
    return sorted(folders, key=lambda folder: len(folder.parts))


def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"the package {package} is not installed")
    return Path(next(iter(spec.submodule_search_locations))).resolve()
