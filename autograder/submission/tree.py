"""Lists what is in a folder or an archive as one tree, reading lazily, within limits and never outside of it."""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from autograder.submission.reading import MAX_FILE_BYTES, Unreadable

MAX_MEMBERS = 100_000
MAX_TOTAL_BYTES = 16 * 2**30
MAX_RATIO = 200
RATIO_FROM_BYTES = 64 * 2**20
MAX_NESTING = 3
MAX_DEPTH = 40
MAX_NAME = 255
_LEFT_BY_PROGRAMS = ("__MACOSX", "__pycache__", "Thumbs.db")
_DRIVE = re.compile(r"[A-Za-z]:")
_DIRECTORY_ENTRY = b"PK\x01\x02"
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError, ValueError)


@dataclass(frozen=True)
class FileSource:
    """A file on disk. Read without following a link, so that swapping it later for a link leads nowhere."""

    path: Path

    def read(self) -> bytes:
        """Return the bytes of the file.

        Raises:
            Unreadable: it is gone, no regular file, too large or not permitted.
        """
        try:
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            with open(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise Unreadable("The submission is not a regular file.")
                return _read_limited(file)
        except OSError as error:
            raise Unreadable(f"The file cannot be read ({error.strerror}).") from None


@dataclass(frozen=True)
class ZipSource:
    """A member of a zip archive; with several `members`, of an archive inside an archive."""

    path: Path
    members: tuple[str, ...]

    def read(self) -> bytes:
        """Return the uncompressed bytes of the member.

        Raises:
            Unreadable: the archive or the member is damaged, encrypted or too large.
        """
        data = b""
        try:
            for depth, member in enumerate(self.members):
                with zipfile.ZipFile(io.BytesIO(data) if depth else self.path) as archive, archive.open(member) as file:
                    data = _read_limited(file)
        except KeyError:
            raise Unreadable("The file is no longer in the archive.") from None
        except _ZIP_ERRORS as error:
            raise Unreadable(f"The file cannot be unpacked ({error}).") from None
        return data


Source = FileSource | ZipSource


def read_each(sources: Iterable[Source]) -> Iterator[bytes]:
    """Yield the bytes of each source, none of one that cannot be read; an archive is opened once for those in a row."""
    with ExitStack() as stack:
        last: tuple[Path, tuple[str, ...]] | None = None
        archive: zipfile.ZipFile | None = None
        for source in sources:
            data = b""
            with suppress(Unreadable, KeyError, *_ZIP_ERRORS):
                if isinstance(source, FileSource):
                    data = source.read()
                elif (around := (source.path, source.members[:-1])) != last:
                    stack.close()
                    last, archive = around, None
                    file = io.BytesIO(ZipSource(*around).read()) if source.members[:-1] else source.path
                    archive = stack.enter_context(zipfile.ZipFile(file))
                if archive is not None and isinstance(source, ZipSource):
                    with archive.open(source.members[-1]) as member:
                        data = _read_limited(member)
            yield data


@dataclass
class Item:
    """A file of a tree, or in `problem` why it must not be opened."""

    name: str
    source: Source | None = None
    problem: str | None = None


@dataclass
class Tree:
    """A folder, or an archive read as one, by its name without `.zip`.

    `problem` says why it could not be listed, `strays` what in an archive points to no place inside it. `place` is
    where it lies, through the archives around it, and `archives` how many these are, itself included.
    """

    name: str
    place: str = ""
    archives: int = 0
    items: list[Item] = field(default_factory=list)
    folders: dict[str, Tree] = field(default_factory=dict)
    problem: str | None = None
    strays: list[str] = field(default_factory=list)

    def folder(self, *names: str) -> Tree:
        """Return the folder of that path, which is made where there is none."""
        tree = self
        for name in names:
            tree = tree.folders.setdefault(name, tree.inner(name))
        return tree

    def inner(self, name: str, problem: str | None = None) -> Tree:
        """Return an empty folder or archive that lies in this one under that file name."""
        stem = PurePosixPath(name).stem if is_archive(name) else name
        return Tree(stem, f"{self.place}/{name}", self.archives + is_archive(name), problem=problem)

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


def is_archive(name: str) -> bool:
    """Say whether a file name is a zip archive's."""
    return name.lower().endswith(".zip")


def read_folder(path: Path) -> Tree:
    """Return the tree of a folder; archives in it count as folders.

    Links are followed only to files beside them, in a folder below this one. Hidden files and what programs leave
    behind (`.ipynb_checkpoints`, `__MACOSX`) are passed over.
    """
    root = Path(os.path.realpath(path))
    return _Lister(root).folder(root, depth=0)


def read_archive(path: Path) -> Tree:
    """Return the tree of a zip archive; archives in it count as folders. Nothing is unpacked to disk."""
    tree = Tree(path.stem, str(path), archives=1)
    _Lister(path.parent).archive(tree, path, path, members=())
    return tree


class _Lister:
    """Lists one tree and counts how many files and bytes it may still hold.

    An archive inside the outermost folder or archive may be one student's: it is listed with limits of its own, which
    count all archives inside it, so that nobody uses up what the others may hold.
    """

    def __init__(self, root: Path):
        self.root = root
        self.members_left = MAX_MEMBERS
        self.bytes_left = MAX_TOTAL_BYTES

    # -- folders -------------------------------------------------------------------------------------------------

    def folder(self, path: Path, depth: int) -> Tree:
        tree = Tree(path.name, str(path))
        try:
            with os.scandir(path) as scan:
                entries = sorted((entry for entry in scan if not _is_hidden(entry.name)), key=lambda e: e.name)
        except OSError as error:
            tree.problem = f"The folder cannot be read ({error.strerror})."
            return tree
        self.members_left -= len(entries)
        if depth > MAX_DEPTH or self.members_left < 0:
            tree.problem = "The folder is too deep or holds too many files."
            return tree
        for entry in entries:
            try:
                self._add_entry(tree, entry, depth)
            except OSError as error:
                _refuse(tree, entry.name, f"“{entry.name}” cannot be read ({error.strerror}).")
        return tree

    def _add_entry(self, tree: Tree, entry: os.DirEntry, depth: int) -> None:
        path = Path(entry.path)
        if entry.is_symlink():
            # Not further than its own folder, and not among files of many students: it would hand in another's work.
            path, home = Path(os.path.realpath(path)), path.parent
            if not (path.is_file() and home != self.root and path.is_relative_to(home)):
                _refuse(tree, entry.name, f"“{entry.name}” is a link that leads out of its folder or to no file.")
                return
        if entry.is_dir():
            tree.folders[entry.name] = self.folder(path, depth + 1)
        elif not entry.is_file():
            _refuse(tree, entry.name, f"“{entry.name}” is a device or pipe, no file.")
        elif is_archive(entry.name):
            inner = tree.folders[entry.name] = tree.inner(entry.name)
            _Lister(self.root).archive(inner, path, path, members=())
        else:
            tree.items.append(Item(entry.name, FileSource(path)))

    # -- archives ------------------------------------------------------------------------------------------------

    def archive(self, tree: Tree, file: Path | IO[bytes], path: Path, members: tuple[str, ...]) -> None:
        """Add to `tree` what an open archive holds; `members` leads to it through the archives around it."""
        if len(members) >= MAX_NESTING:
            tree.problem = "The archive is packed inside too many others."
            return
        try:
            with _opened(file) as opened, zipfile.ZipFile(_Listed(opened, self.members_left)) as archive:
                infos = {info.filename: info for info in archive.infolist()}
                self.members_left -= len(infos)
                for info in infos.values():
                    self._add_member(tree, archive, info, path, members)
        except _ZIP_ERRORS as error:
            tree.problem = f"The archive cannot be opened ({error})."

    def _add_member(
        self, tree: Tree, archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, members: tuple[str, ...]
    ) -> None:
        parts = _parts(info)
        if any(_is_hidden(part) for part in parts if part != ".."):
            return
        if trick := _trick(info, parts):
            inside = parts[: parts.index("..")] if ".." in parts else parts[:-1]
            if _is_anchored(info.filename) or not inside:
                tree.strays.append(trick)
            else:
                tree.folder(inside[0][:MAX_NAME]).strays.append(trick)
            return
        if not parts or info.is_dir() or info.filename.endswith("\\"):
            tree.folder(*parts)
            return
        home, name = tree.folder(*parts[:-1]), parts[-1]
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            _refuse(home, name, f"“{name}” is a link or device in the archive, no file.")
        elif not (is_notebook(name) or is_archive(name)):
            home.items.append(Item(name, ZipSource(path, (*members, info.filename))))
        elif danger := self._danger(info):
            _refuse(home, name, f"“{name}” {danger}.")
        elif is_notebook(name):
            home.items.append(Item(name, ZipSource(path, (*members, info.filename))))
        else:
            inner = home.folders[name] = home.inner(name)
            try:
                with archive.open(info) as file:
                    data = _read_limited(file)
            except (Unreadable, *_ZIP_ERRORS) as error:
                inner.problem = f"The archive “{name}” cannot be opened ({error})."
                return
            lister = self if members else _Lister(self.root)
            lister.archive(inner, io.BytesIO(data), path, (*members, info.filename))

    def _danger(self, info: zipfile.ZipInfo) -> str | None:
        """Return why a member must not be unpacked, by what the archive says of it."""
        if info.flag_bits & 1:
            return "is encrypted"
        if info.file_size > MAX_FILE_BYTES:
            return f"has more than {MAX_FILE_BYTES // 2**20} MB"
        if info.file_size > RATIO_FROM_BYTES and info.file_size > MAX_RATIO * max(info.compress_size, 1):
            return "is packed so tightly that it looks like a trap for unpackers"
        self.bytes_left -= info.file_size
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


def _opened(file: Path | IO[bytes]) -> IO[bytes]:
    return open(file, "rb") if isinstance(file, Path) else file


def _read_limited(file: IO[bytes]) -> bytes:
    data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(f"The file has more than {MAX_FILE_BYTES // 2**20} MB.")
    return data


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
    if len(parts) > MAX_DEPTH or any(len(part) > MAX_NAME for part in parts):
        return f"The archive holds a path that is too long: “{info.filename[:100]}…”."
    return None
