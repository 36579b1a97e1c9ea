"""Lists what is in a folder or an archive as one tree, reading lazily, within limits and never outside of it."""

from __future__ import annotations

import io
import os
import re
import stat
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, ClassVar

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


# -- folders and archives ---------------------------------------------------------------------------------------------


SECONDS = 20  # of the grader's own thread and of the child that reads, together; an honest one takes tenths
INNER_SECONDS = 4  # of these, for an archive inside another one
MAX_MEMBERS = 100_000
MAX_TOTAL_BYTES = 16 * 2**30
MAX_INNER_MEMBERS = 20_000  # of an archive inside another one that lies in a folder
MAX_RATIO = 200
RATIO_FROM_BYTES = 2**20
MAX_NESTING = 3
MAX_DEPTH = 40
MAX_NAME = 255
MAX_PATH = 1_024
_LEFT_BY_PROGRAMS = ("__MACOSX", "__pycache__", "Thumbs.db")
_DRIVE = re.compile(r"[A-Za-z]:")
_DIRECTORY_ENTRY = b"PK\x01\x02"
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # what an archive says where its maker knew none
_UNPACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others' unpackers are large, and nobody needs them


class Spent(Unreadable):
    """The files of one student take more processor time than they may."""


class Budget:
    """What is left for the files of one student. Each step between two checks has a bound of its own.

    Args:
        within: the budget of an archive around these files, which may be a class's, and which they use up too.
    """

    def __init__(self, within: Budget | None = None):
        self.spent = 0.0
        self._seconds = SECONDS if within is None else INNER_SECONDS
        self._within = within
        self._since: float | None = None

    @contextmanager
    def paying(self) -> Iterator[None]:
        """Count what the block takes; it may be entered again inside."""
        if self._since is not None:
            yield
            return
        self._since = time.thread_time()
        try:
            yield
        finally:
            self._count()
            self._since = None

    def check(self, besides: float = 0.0) -> None:
        """Raises Spent where nothing is left, after what was spent here and besides."""
        if self._within is not None:
            self._within.check()
        if self._since is not None:
            self._count()
        if self.spent + besides > self._seconds:
            raise Spent(
                f"Looking through the files takes more than {self._seconds:g} seconds of computing: hand in the "
                "notebook alone."
            )

    def _count(self) -> None:
        now = time.thread_time()
        self.spent += now - (now if self._since is None else self._since)
        self._since = now


@dataclass(frozen=True)
class ZipSource:
    """A member of a zip archive; with several `members`, of an archive inside an archive."""

    file: FileSource
    members: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The archive on disk."""
        return self.file.path

    def read(self) -> bytes:
        """Return the uncompressed bytes of the member.

        Raises:
            Unreadable: the archive or the member is damaged, encrypted or too large.
        """
        return self.read_with_status()[0]

    def read_with_status(self) -> tuple[bytes, os.stat_result]:
        """Return the bytes, and what the archive on disk was then. Raises Unreadable, as `read` does."""
        with _sentence("The file cannot be unpacked"), self.file.open() as outermost:
            data = b""
            for depth, member in enumerate(self.members):
                with zipfile.ZipFile(io.BytesIO(data) if depth else outermost) as archive:
                    data = _unpack(archive, member)
            return data, os.fstat(outermost.fileno())


FoundSource = FileSource | ZipSource


def restrict_to_owner(source: FoundSource, root: Path, owner: int) -> FoundSource:
    """Return a source below `root` that is read only where all from there on belongs to one account."""
    file = FileSource(root, source.path.relative_to(root).parts, owner)
    return replace(source, file=file) if isinstance(source, ZipSource) else file


@contextmanager
def _sentence(what: str) -> Iterator[None]:
    """Whatever `zipfile` makes of a damaged archive is a reason: it raises errors of a dozen kinds."""
    try:
        yield
    except Unreadable:
        raise
    except KeyError:
        raise Unreadable("The file is no longer in the archive.") from None
    except Exception as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Unreadable(f"{what} ({reason or type(error).__name__}).") from None


def _unpack(archive: zipfile.ZipFile, member: str | zipfile.ZipInfo) -> bytes:
    info = archive.getinfo(member) if isinstance(member, str) else member
    if info.compress_type not in _UNPACKED:
        raise Unreadable("The file is packed by a method that is not read: pack it as an ordinary zip archive.")
    with archive.open(info) as file:
        return read_limited(file)


def read_each(sources: Iterable[FoundSource]) -> Iterator[bytes]:
    """Yield the bytes of each source, none of one that cannot be read; an archive is opened once for those in a row."""
    with ExitStack() as stack:
        last: tuple[FileSource, tuple[str, ...]] | None = None
        archive: zipfile.ZipFile | None = None
        for source in sources:
            data = b""
            with suppress(Unreadable), _sentence(""):
                if isinstance(source, FileSource):
                    data = source.read()
                elif (around := (source.file, source.members[:-1])) != last:
                    stack.close()
                    last, archive = around, None
                    file = (
                        io.BytesIO(ZipSource(*around).read())
                        if source.members[:-1]
                        else stack.enter_context(source.file.open())
                    )
                    archive = stack.enter_context(zipfile.ZipFile(file))
                if archive is not None and isinstance(source, ZipSource):
                    data = _unpack(archive, source.members[-1])
            yield data


@dataclass
class Item:
    """A file of a tree, or in `problem` why it must not be opened.

    `time` is when a notebook was changed, in seconds, by its folder or archive; it compares with those beside it only.
    """

    name: str
    source: FoundSource | None = None
    problem: str | None = None
    time: float | None = None


@dataclass
class Tree:
    """A folder, or an archive read as one, by its name without `.zip`.

    `problem` says why it could not be listed, `strays` what in an archive points to no place inside it. `place` is
    where it lies, through the archives around it, and `archives` how many these are, itself included. `owner` is the
    account of what lies on disk.

    An archive that may be one student's has a `budget` for all inside it. Of a class's folders each has its own.
    """

    name: str
    place: str = ""
    archives: int = 0
    owner: int | None = None
    budget: Budget = field(default_factory=Budget, compare=False, repr=False)
    shares_budget: bool = False
    items: list[Item] = field(default_factory=list)
    folders: dict[str, Tree] = field(default_factory=dict)
    problem: str | None = None
    strays: list[str] = field(default_factory=list)

    def inner(self, name: str, problem: str | None = None) -> Tree:
        """Return an empty folder or archive that lies in this one under that file name."""
        stem = PurePosixPath(name).stem if is_archive(name) else name
        tree = Tree(stem, f"{self.place}/{name}", self.archives + is_archive(name), problem=problem)
        if self.shares_budget:
            tree.budget, tree.shares_budget = self.budget, True
        return tree

    def walk(self) -> Iterator[tuple[tuple[str, ...], Item]]:
        """Yield every file with the names of the folders above it, the highest files first."""
        for above, tree in self.walk_folders():
            yield from ((above, item) for item in tree.items)

    def walk_folders(self) -> Iterator[tuple[tuple[str, ...], Tree]]:
        """Yield this folder and all inside it with the names of the folders above, the highest first."""
        level: list[tuple[tuple[str, ...], Tree]] = [((), self)]
        while level:
            yield from level
            level = [((*above, inner.name), inner) for above, tree in level for inner in tree.folders.values()]

    def problems(self) -> list[str]:
        """Return what is wrong anywhere in the tree, a sentence each."""
        found: list[str] = []
        for _, tree in self.walk_folders():
            found.extend(([tree.problem] if tree.problem else []) + tree.strays)
            found.extend(item.problem for item in tree.items if item.problem)
        return found


def is_notebook(name: str) -> bool:
    """Say whether a file name is a notebook's, allowing for the endings some browsers add."""
    return name.lower().endswith((".ipynb", ".ipynb.txt", ".ipynb.json"))


def is_script(name: str) -> bool:
    """Say whether a file name is a Python script's, which may be a notebook as text."""
    return name.lower().endswith((".py", ".py.txt"))


def is_work(name: str) -> bool:
    """Say whether a file name is a notebook's, or a script's that may be one."""
    return is_notebook(name) or is_script(name)


def is_archive(name: str) -> bool:
    """Say whether a file name is a zip archive's."""
    return name.lower().endswith(".zip")


def read_folder(root: Path, parts: tuple[str, ...] = ()) -> Tree:
    """Return the tree of a folder, reached from a trusted one; archives in it count as folders.

    Links are followed only to files beside them, in a folder below this one. Hidden files and what programs leave
    behind (`.ipynb_checkpoints`, `__MACOSX`) are passed over.
    """
    return _Lister().folder(root, parts, depth=0)


def read_archive(source: FileSource) -> Tree:
    """Return the tree of a zip archive; archives in it count as folders. Nothing is unpacked to disk.

    Each archive inside it may be one student's, and has limits of its own.
    """
    tree = Tree(source.path.stem, str(source.path), archives=1)
    _Lister(is_class=True).archive(tree, source, None, members=())
    return tree


class _Lister:
    """Lists one tree and counts how many files and bytes it may still hold.

    An archive that lies in the outermost folder, or in the archive of a class, may be one student's. It is listed with
    limits of its own, which count all archives inside it at any depth, so that nobody uses up what the others may hold.

    Args:
        within: the lister of the archive around this one; what is taken here is taken there too.
        members: how many files this one may list; `MAX_MEMBERS` where nothing is said.
        is_class: each archive inside is one student's, and counts for itself.
    """

    def __init__(self, within: _Lister | None = None, *, members: int | None = None, is_class: bool = False):
        self._within = within
        self._members_left = MAX_MEMBERS if members is None else members
        self._bytes_left = MAX_TOTAL_BYTES
        self._is_class = is_class

    @property
    def members_left(self) -> int:
        own = self._members_left
        return own if self._within is None else min(own, self._within.members_left)

    @property
    def bytes_left(self) -> int:
        return self._bytes_left if self._within is None else min(self._bytes_left, self._within.bytes_left)

    def _take(self, *, members: int = 0, size: int = 0) -> None:
        self._members_left -= members
        self._bytes_left -= size
        if self._within is not None:
            self._within._take(members=members, size=size)

    # -- folders -------------------------------------------------------------------------------------------------

    def folder(self, root: Path, parts: tuple[str, ...], depth: int) -> Tree:
        path = root.joinpath(*parts)
        tree = Tree(path.name, str(path))
        try:
            with descriptor(root, parts) as here, os.scandir(here) as scan:
                tree.owner = os.fstat(here).st_uid
                kept = (entry for entry in scan if not _is_hidden(entry.name))
                entries = sorted(islice(kept, max(self.members_left, 0) + 1), key=lambda entry: entry.name)
                self._take(members=len(entries))
                if depth > MAX_DEPTH or self.members_left < 0:
                    tree.problem = "The folder is too deep or holds too many files."
                    return tree
                for entry in entries:
                    try:
                        self._add_entry(tree, entry, here, root, parts, depth)
                    except OSError as error:
                        _refuse(tree, entry.name, f"“{entry.name}” cannot be read ({error.strerror}).")
        except OSError as error:
            tree.problem = f"The folder cannot be read ({error.strerror})."
        return tree

    def _add_entry(
        self, tree: Tree, entry: os.DirEntry, here: int, root: Path, parts: tuple[str, ...], depth: int
    ) -> None:
        below = (*parts, entry.name)
        if entry.is_symlink():
            # Not further than its own folder, and not among files of many students: it would hand in another's work.
            target = PurePosixPath(root.joinpath(*parts), os.readlink(entry.name, dir_fd=here))
            inside = target.is_relative_to(root.joinpath(*parts)) and ".." not in target.parts
            below = target.relative_to(root).parts if inside else below
            if depth == 0 or not inside or not _is_file(root, below):
                _refuse(tree, entry.name, f"“{entry.name}” is a link that leads out of its folder or to no file.")
                return
        elif entry.is_dir(follow_symlinks=False):
            tree.folders[entry.name] = self.folder(root, below, depth + 1)
            return
        elif not entry.is_file(follow_symlinks=False):
            _refuse(tree, entry.name, f"“{entry.name}” is a device or pipe, no file.")
            return
        source = FileSource(root, below)
        if is_archive(entry.name):
            inner = tree.folders[entry.name] = tree.inner(entry.name)
            _Lister().archive(inner, source, None, members=())
        else:
            item = Item(entry.name, source)
            if is_work(entry.name) and not entry.is_symlink():
                item.time = entry.stat(follow_symlinks=False).st_mtime
            tree.items.append(item)

    # -- archives ------------------------------------------------------------------------------------------------

    def archive(self, tree: Tree, source: FileSource, data: bytes | None, members: tuple[str, ...]) -> None:
        """Add to `tree` what an archive holds: the file itself, or what `members` lead to in it, unpacked as `data`."""
        if len(members) >= MAX_NESTING:
            tree.problem = "The archive is packed inside too many others."
            return
        if not self._is_class:
            tree.shares_budget = True
        try:
            with _sentence("The archive cannot be opened"), tree.budget.paying(), ExitStack() as stack:
                file: IO[bytes] = io.BytesIO(data or b"")
                if data is None:
                    file = stack.enter_context(source.open())
                    tree.owner = os.fstat(file.fileno()).st_uid
                archive = stack.enter_context(zipfile.ZipFile(_Listed(file, self.members_left)))
                infos = {info.filename: info for info in archive.infolist()}
                self._take(members=len(infos))
                for info in infos.values():
                    if not self._is_class:
                        tree.budget.check()
                    self._add_member(tree, archive, info, source, members)
        except Unreadable as error:  # half of it says nothing
            tree.problem = error.reason
            tree.items.clear()
            tree.folders.clear()

    def _add_member(
        self, tree: Tree, archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: FileSource, members: tuple[str, ...]
    ) -> None:
        parts = _parts(info)
        if any(_is_hidden(part) for part in parts if part != ".."):
            return
        if trick := _trick(info, parts):
            inside = parts[: parts.index("..")] if ".." in parts else parts[:-1]
            if _is_anchored(info.filename) or not inside:
                tree.strays.append(trick)
            else:
                self._make_folder(tree, inside[0][:MAX_NAME]).strays.append(trick)
            return
        if not parts or info.is_dir() or info.filename.endswith("\\"):
            self._make_folder(tree, *parts)
            return
        home, name = self._make_folder(tree, *parts[:-1]), parts[-1]
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            _refuse(home, name, f"“{name}” is a link or device in the archive, no file.")
        elif not (is_work(name) or is_archive(name)):
            home.items.append(Item(name, ZipSource(source, (*members, info.filename))))
        elif danger := self._danger(info):
            _refuse(home, name, f"“{name}” {danger}.")
        elif is_work(name):
            home.items.append(Item(name, ZipSource(source, (*members, info.filename)), time=_read_packed_time(info)))
        else:
            inner = home.folders[name] = home.inner(name)
            if not (self._is_class or members):
                inner.budget = Budget(within=home.budget)
            try:
                with _sentence(f"The archive “{name}” cannot be opened"), inner.budget.paying():
                    inner.budget.check()
                    data = _unpack(archive, info)
            except Unreadable as error:
                inner.problem = error.reason
                return
            self._inside(members).archive(inner, source, data, (*members, info.filename))

    def _make_folder(self, tree: Tree, *names: str) -> Tree:
        """Return the folder of that path, which is made where there is none; one of a student's counts as a file."""
        for name in names:
            if name not in tree.folders:
                self._take(members=0 if self._is_class else 1)
                if self.members_left < 0:
                    raise Unreadable("The archive cannot be opened (it holds too many files).")
                tree.folders[name] = tree.inner(name)
            tree = tree.folders[name]
        return tree

    def _inside(self, members: tuple[str, ...]) -> _Lister:
        """The lister of an archive inside this one."""
        if members:
            return self
        return _Lister() if self._is_class else _Lister(self, members=MAX_INNER_MEMBERS)

    def _danger(self, info: zipfile.ZipInfo) -> str | None:
        """Return why a member must not be unpacked, by what the archive says of it."""
        if info.flag_bits & 1:
            return "is encrypted"
        if info.file_size > MAX_FILE_BYTES:
            return f"has more than {MAX_FILE_BYTES // 2**20} MB"
        if info.compress_type not in _UNPACKED:
            return "is packed by a method that is not read: pack it as an ordinary zip archive"
        if info.file_size > RATIO_FROM_BYTES and info.file_size > MAX_RATIO * max(info.compress_size, 1):
            return "is packed so tightly that it looks like a trap for unpackers"
        self._take(size=info.file_size)
        return "is past the limit on all files of the archive together" if self.bytes_left < 0 else None


class _Listed:
    """An archive's file that raises `zipfile.BadZipFile` where its directory lists more than `members` files.

    `zipfile` reads the whole directory in one piece and makes an object of each entry before anybody can count them.
    """

    def __init__(self, file: IO[bytes], members: int):
        self._file = file
        self._members = members

    def read(self, size: int = -1) -> bytes:
        if size > MAX_FILE_BYTES:
            raise zipfile.BadZipFile("its list of files is too long")
        data = self._file.read(size)
        if data.count(_DIRECTORY_ENTRY) > self._members:
            raise zipfile.BadZipFile("it holds too many files")
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _is_file(root: Path, parts: tuple[str, ...]) -> bool:
    try:
        with descriptor(root, parts) as found:
            return stat.S_ISREG(os.fstat(found).st_mode)
    except OSError:
        return False


def _read_packed_time(info: zipfile.ZipInfo) -> float | None:
    """When a member was changed, by the archive, which names no time zone."""
    with suppress(ValueError, OverflowError):
        return datetime(*info.date_time, tzinfo=UTC).timestamp() if info.date_time != _NO_TIME else None
    return None


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name in _LEFT_BY_PROGRAMS


def _refuse(tree: Tree, name: str, problem: str) -> None:
    """Note what must not be opened: what could be a folder as one that cannot be listed, all else as a file."""
    if is_archive(name) or not PurePosixPath(name).suffix:
        tree.folders[name] = tree.inner(name, problem)
    else:
        tree.items.append(Item(name, problem=problem))


def _parts(info: zipfile.ZipInfo) -> tuple[str, ...]:
    """Return the names on a member's path. UTF-8 names that lack their flag, as some systems pack them, are decoded."""
    name = info.filename
    if not info.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = info.filename
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))


def _is_anchored(filename: str) -> bool:
    return filename.startswith(("/", "\\")) or _DRIVE.match(filename) is not None


def _trick(info: zipfile.ZipInfo, parts: tuple[str, ...]) -> str | None:
    if ".." in parts or _is_anchored(info.filename):
        return f"The archive holds a path that leads out of it: “{info.filename[:200]}”."
    if len(parts) > MAX_DEPTH or any(len(part) > MAX_NAME for part in parts) or sum(map(len, parts)) > MAX_PATH:
        return f"The archive holds a path that is too long: “{info.filename[:100]}…”."
    return None
