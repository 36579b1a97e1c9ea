"""The folders of a class server, with the file modes that keep students apart from each other and from the course."""

from __future__ import annotations

import inspect
import json
import logging
import os
import pwd
import secrets
import stat
from pathlib import Path

from autograder.course.files import write_atomically
from autograder.course.settings import CourseError, load_course
from autograder.integrations.hub.settings import HubSettings
from autograder.releasing import validation

log = logging.getLogger(__name__)

# What JupyterLab does not show to students. It would open nothing for them: files are closed by their modes.
FOR_INSTRUCTORS = ("formgrader", "course_list")
# Kernels and their servers talk through sockets in the account's home. Ports would be everybody's, and where many start
# at once, two of them choose the same.
KERNELS = {"KernelManager": {"transport": "ipc"}}
NEWS = "@jupyterlab/apputils-extension:announcements"  # a question at the first start, about news from elsewhere
HIDDEN = tuple(f"@jupyter/nbgrader:{name}" for name in ("formgrader", "course-list", "create-assignment"))
# JupyterLab would show Formgrader in a frame, which the hub forbids: a page of a student's server could frame it, too.
HIDDEN_IN_COURSE = HIDDEN[:2]


def prepare_folders(settings: HubSettings) -> None:
    """Make what is missing, and set owners and modes; it is run by root at every start of the hub.

    The course's folder belongs to one account and nobody else can open it. The exchange has nbgrader's own modes: what
    is handed in can be put there by all and listed by the course's account only. Where another account has made the
    course's folder in it first, that is put aside.

    Raises:
        CourseError: the account does not exist, or the course's folder belongs to another one.
    """
    try:
        owner = pwd.getpwnam(settings.account)
    except KeyError as error:
        raise CourseError(f"there is no account {settings.account}: make it, or name another in HUB_ACCOUNT") from error
    if settings.course.stat().st_uid != owner.pw_uid:
        raise CourseError(
            f"{settings.course} does not belong to {settings.account}: build the image with "
            f'BUILD_ARGS="--build-arg UID=$(id -u)" make image, as the owner of the folder'
        )
    if owner.pw_uid == 0:
        raise CourseError("root cannot own the course: student code is graded by the owner's account")
    settings.course.chmod(0o700)
    _folder(settings.state, 0, 0, 0o700)
    _folder(settings.homes, 0, 0, 0o711)
    _folder(settings.public, 0, 0, 0o755)
    _folder(settings.exchange, 0, 0, 0o1777)  # nbgrader refuses an exchange that not everybody can write to
    ours = settings.exchange / load_course(settings.course).course_id
    _reserve(ours, owner.pw_uid)
    for folder, mode in (
        (ours, 0o755),
        (ours / "inbound", 0o733),
        (ours / "outbound", 0o755),
        (ours / "feedback", 0o711),
    ):
        _folder(folder, owner.pw_uid, owner.pw_gid, mode)
    write_student_settings(settings)
    _folder(settings.public / "course", 0, 0, 0o755)
    _public(settings.public / "course" / "jupyter_server_config.json", json.dumps(KERNELS))
    _hide(settings.public / "course", HIDDEN_IN_COURSE)


def write_student_settings(settings: HubSettings) -> None:
    """Write nbgrader's and JupyterLab's settings of a student's server into the public folder."""
    course = load_course(settings.course)
    lines = (
        inspect.getsource(validation),
        "",
        "c = get_config()  # noqa: F821",
        f"c.CourseDirectory.course_id = {course.course_id!r}",
        f"c.Exchange.root = {str(settings.exchange)!r}",
        "configure_validation(c)",
        "",
    )
    _public(settings.public / "nbgrader_config.py", "\n".join(lines))
    off = {f"nbgrader.server_extensions.{name}": False for name in FOR_INSTRUCTORS}
    ours = {"ServerApp": {"jpserver_extensions": off}, **KERNELS}
    _public(settings.public / "jupyter_server_config.json", json.dumps(ours))
    _hide(settings.public, HIDDEN)


def _hide(folder: Path, extensions: tuple[str, ...]) -> None:
    """Switch parts of JupyterLab off for servers that read their settings in `folder`."""
    _folder(folder / "labconfig", 0, 0, 0o755)
    disabled = dict.fromkeys((*extensions, NEWS), True)
    _public(folder / "labconfig" / "page_config.json", json.dumps({"disabledExtensions": disabled}))


def _folder(path: Path, uid: int, gid: int, mode: int) -> None:
    """Make a folder with an owner and a mode, or set them on one that is there; a link is refused."""
    path.mkdir(parents=True, exist_ok=True)
    if not stat.S_ISDIR(path.lstat().st_mode):
        raise CourseError(f"{path} is a link: put a folder there")
    os.chown(path, uid, gid)
    path.chmod(mode)


def _reserve(path: Path, uid: int) -> None:
    """Make a folder where everybody may make some, and put aside what another account than root or `uid` made there.

    A student may know the name of next term's course. What is put aside keeps its content, for root alone.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        found = None
    if found and not (stat.S_ISDIR(found.st_mode) and found.st_uid in (0, uid)):
        aside = path.with_name(f".{path.name}.made-by-{found.st_uid}.{secrets.token_hex(4)}")
        path.rename(aside)
        os.chown(aside, 0, 0, follow_symlinks=False)
        if stat.S_ISDIR(aside.lstat().st_mode):
            aside.chmod(0o700)
        log.warning("%s was there, made by account %d: it is %s now", path, found.st_uid, aside.name)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if path.lstat().st_uid not in (0, uid):
            raise CourseError(f"{path} was made by another account just now: start the hub again") from None


def _public(path: Path, text: str) -> None:
    write_atomically(path, text.encode())
    path.chmod(0o644)
