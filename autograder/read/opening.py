"""Opens what strangers made by descriptor: no link is followed, nothing waits, and a trusted folder is above it.

A name is looked up once, and then the descriptor is asked what it is. Who swaps a file or a folder for a link between
two looks gains nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO, ClassVar

from autograder.read.reading import MAX_FILE_BYTES, Unreadable

_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # O_NONBLOCK: a pipe has nothing, and does not wait


@dataclass(frozen=True)
class FileSource:
    """A file on disk, read where no link leads to it.

    Args:
        root: a file, or the trusted folder from which it is reached.
        parts: the names of the folders below `root`, and of the file.
        owner: the account to which all below `root` has to belong; None where that says nothing.
    """

    root: Path = field(compare=False)
    parts: tuple[str, ...] = field(default=(), compare=False)
    owner: int | None = None
    path: Path = field(init=False)
    members: ClassVar[tuple[str, ...]] = ()  # it lies in no archive; see `tree.ZipSource`

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", self.root.joinpath(*self.parts))

    def read(self) -> bytes:
        """Return the bytes of the file.

        Raises:
            Unreadable: it is gone, no regular file, behind a link, too large or not permitted.
        """
        return self.read_with_status()[0]

    def read_with_status(self) -> tuple[bytes, os.stat_result]:
        """Return the bytes, and what the file was after they were read. Raises Unreadable, as `read` does."""
        try:
            with self.open() as file:
                return read_limited(file), os.fstat(file.fileno())
        except OSError as error:
            raise Unreadable(f"The file cannot be read ({error.strerror}).") from None

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Give the open file.

        Raises:
            OSError: it cannot be opened.
            Unreadable: it is no regular file, or another account's.
        """
        with descriptor(self.root, self.parts, self.owner) as found:
            if not stat.S_ISREG(os.fstat(found).st_mode):
                raise Unreadable("The submission is not a regular file.")
            with open(found, "rb", closefd=False) as file:
                yield file


@contextmanager
def descriptor(root: Path, parts: tuple[str, ...] = (), owner: int | None = None) -> Iterator[int]:
    """Give a descriptor of a file or folder below `root`; the folders between are opened one in the other.

    Raises:
        OSError: something is missing, a link, or not permitted.
        Unreadable: something below `root` belongs to another account than `owner`.
    """
    found = os.open(root, _LOOK | (os.O_DIRECTORY if parts else 0))
    try:
        for at, name in enumerate(parts, start=1):
            inner = os.open(name, _LOOK | (os.O_DIRECTORY if at < len(parts) else 0), dir_fd=found)
            os.close(found)
            found = inner
            if owner is not None and os.fstat(found).st_uid != owner:
                raise Unreadable("The submission belongs to another account than its folder.")
        yield found
    finally:
        os.close(found)


def another_owner(owner: int, student: str) -> str:
    """Return the name of an account that is neither the student's nor the one that grades; else nothing."""
    try:
        import pwd
    except ImportError:  # no accounts of this kind here
        return ""
    if owner == os.getuid():
        return ""
    try:
        name = pwd.getpwuid(owner).pw_name
    except KeyError:
        name = f"account {owner}"
    return "" if name == student else name


def read_limited(file: IO[bytes]) -> bytes:
    """Return what is in an open file, or in an archive's member.

    Raises:
        Unreadable: it is more than a submission may hold.
    """
    data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(f"The file has more than {MAX_FILE_BYTES // 2**20} MB.")
    return data
