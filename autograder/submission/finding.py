"""Finds out whose submissions lie in the files, folders and archives an instructor points at."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.printable import printable
from autograder.submission.reading import Unreadable
from autograder.submission.times import as_time
from autograder.submission.tree import (
    FileSource,
    Item,
    Source,
    Tree,
    is_archive,
    is_notebook,
    read_archive,
    read_folder,
)

_MOODLE = re.compile(r"(?P<who>.+?_\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)", re.DOTALL)
# Canvas: name, LATE, user number, upload number and file, joined by `_`. A text or a link handed in instead of a file
# has no upload number, an anonymous assignment has no name, and a group's name may hold `_` and numbers itself: so a
# short user number, as the first accounts of a server have, is looked for only where there is no long one. A number of
# Canvas never begins with 0, as those of labs do.
_CANVAS = tuple(
    re.compile(
        rf"(?:(?P<name>.+?)(?:_LATE)?_(?P<user>{user})|(?:LATE_)?(?P<anonymous>anon_[A-Za-z0-9]+))"
        r"_(?:[1-9]\d{2,}_(?P<file>.+)|(?P<entry>text\.html|link\.html))",
        re.DOTALL,
    )
    for user in (r"[1-9]\d{2,}", r"[1-9]\d?")
)
_INBOUND = re.compile(r"(?P<who>[^+]+)\+(?P<lab>[^+]+)\+(?P<time>[^+]+)(?:\+.*)?", re.DOTALL)
# `-submission` is what packing adds to a notebook's name
_ENDING = re.compile(r"(?i)(-submission)?(\.ipynb)(\.txt|\.json)?$")
_COPY = re.compile(r"(?i)(?:\s*\(\d+\)|-copy\d*|[-_]v?\d+| - copy|-submission)+$")
_ATTEMPT = re.compile(r"-(\d+)$")
_GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"([^"\\]{1,200})"')
_UNSAFE = re.compile(r'[\n/\\:*?"<>|+;]')


MAX_ID_BYTES = 110  # the gradebook has room for 128 characters, with the suffix of an id that is claimed twice


@dataclass(frozen=True)
class FoundSubmission:
    """What one student handed in for one lab. `problem` says why there is nothing to grade; else `read()` works.

    `path` is the file on disk: the notebook, or the archive that holds it. `note` tells the instructor of a choice that
    was made (an id that two claimed, the newest of several attempts).
    """

    student: str
    lab: str
    path: Path | None
    source: Source | None = None
    problem: str | None = None
    timestamp: datetime | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        for name in ("problem", "note"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, printable(getattr(self, name)))

    def read(self) -> bytes:
        """Return the bytes of the notebook.

        Raises:
            Unreadable: there is none, or it cannot be read.
        """
        if self.source is None:
            raise Unreadable(self.problem or "There is no notebook.")
        return self.source.read()


def find_submissions(
    paths: Iterable[Path], lab: str, known: Mapping[str, Collection[str]] | None = None
) -> list[FoundSubmission]:
    """Return one submission for every student found in `paths`, those with nothing to grade included.

    A path is a notebook, a folder or a zip archive, laid out as nbgrader does (`<student>/<lab>/<lab>.ipynb`, exchange
    folders `<student>+<lab>+<time>+…`), as `<student>/<lab>.ipynb`, as `<student>.ipynb`, or as Moodle and Canvas pack
    downloads; archives inside are looked into. A folder can also be one student's own.

    The student's id is
    - in a Moodle download the name with the participant number, `Ada Lovelace_12345`;
    - in a Canvas download the name with the user number, `lovelaceada_12345`, or the anonymous id, `anon_aB3xY`;
    - otherwise the name of the student's folder or archive, or of the notebook where it is not named like the lab.
    Characters that no file name can have everywhere become `_`. When two different submissions claim one id (letter
    case ignored), both are kept and the later one is called `id~2`, with a note.

    Of several notebooks of a student the one named like the lab counts, the newest attempt in a Canvas download; else
    the one with most of the lab's grade_ids; else the student has a problem to be solved by hand.

    Args:
        paths: what to search, in order.
        lab: the lab's name, such as `02_self_attention`.
        known: grade_ids of each lab of the course by name.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    known = known or {}
    found = [submission for path in paths for submission in _Search(Path(path), lab, known).submissions()]
    return _with_unique_ids(found)


@dataclass
class _Claim:
    """The files of one student; `in_attempts` where the number at the end of a name counts attempts."""

    student: str
    tree: Tree
    in_attempts: bool = False
    timestamp: datetime | None = None
    note: str | None = None


@dataclass
class _Candidate:
    """A notebook of a student, with the folders above it."""

    above: tuple[str, ...]
    item: Item
    stem: str = field(init=False)

    def __post_init__(self) -> None:
        self.stem = _ENDING.sub("", self.item.name).casefold()

    @property
    def attempt(self) -> int:
        number = _ATTEMPT.search(self.stem)
        return int(number.group(1)[:9]) if number else 0


class _Search:
    """Looks through one path."""

    def __init__(self, path: Path, lab: str, known: Mapping[str, Collection[str]]):
        self.path = path
        self.lab = lab
        self.grade_ids = {grade_id.encode() for grade_id in known.get(lab, ())}
        self.other_labs = {name.casefold() for name in known} - {lab.casefold()}

    def submissions(self) -> Iterator[FoundSubmission]:
        if not self.path.exists():
            raise FileNotFoundError(f"{self.path}: there is no such file or folder")
        if self.path.is_dir():
            tree = read_folder(self.path)
            if self._is_lab(tree.name) and self._named_like_lab(tree):
                tree.name = self.path.resolve().parent.name
        elif is_archive(self.path.name):
            tree = read_archive(self.path)
        else:
            yield self._chosen(self._claim_of_file())
            return
        if tree.problem:
            yield FoundSubmission(student_id(tree.name), self.lab, self.path, problem=tree.problem)
            return
        for claim in self._claims(tree):
            yield self._chosen(claim)

    # -- whose ---------------------------------------------------------------------------------------------------

    def _claim_of_file(self) -> _Claim:
        """Return the claim of a path that is a file; one named like the lab belongs to its folder's student."""
        item = Item(self.path.name, FileSource(self.path.resolve()))
        grouped = _lms(item.name)
        if grouped is not None:
            who, rest, _ = grouped
            return _Claim(who, Tree(who, [replace(item, name=rest)]))
        stem = _ENDING.sub("", item.name)
        if not self._is_lab(stem):
            return _Claim(stem, Tree(stem, [item]))
        above = self.path.resolve().parent
        if self._is_lab(above.name):
            above = above.parent
        inbound = _INBOUND.fullmatch(above.name)
        return _Claim(inbound["who"] if inbound else above.name or stem, Tree(stem, [item]))

    def _claims(self, tree: Tree) -> list[_Claim]:
        if self._is_students(tree):
            inner = [folder for folder in tree.folders.values() if not self._is_lab(folder.name)]
            return [_Claim(tree.name, tree)] + [_Claim(each.name, each) for each in inner if self._is_students(each)]
        tree = self._unwrapped(tree)
        claims: list[_Claim] = [_Claim(tree.name, Tree(tree.name, strays=[stray])) for stray in tree.strays[:1]]
        grouped: dict[str, _Claim] = {}
        attempts: dict[str, list[tuple[datetime | None, Tree]]] = {}
        for item in tree.items:
            if (lms := _lms(item.name)) is not None:
                who, rest, in_attempts = lms
                claim = grouped.setdefault(who, _Claim(who, Tree(who), in_attempts))
                claim.tree.items.append(replace(item, name=rest))
            elif is_notebook(item.name):
                stem = _ENDING.sub("", item.name)
                claims.append(_Claim(stem, Tree(stem, [item])))
        for key, folder in tree.folders.items():
            if (inbound := _INBOUND.fullmatch(folder.name)) is not None:
                if self._is_lab(inbound["lab"]):
                    attempts.setdefault(inbound["who"], []).append((as_time(inbound["time"]), folder))
            elif (lms := _lms(folder.name)) is not None:
                who, rest, in_attempts = lms
                claim = grouped.setdefault(who, _Claim(who, Tree(who), in_attempts))
                claim.tree.folders[key] = folder
            elif self._is_lab(folder.name) and not folder.problem:
                claims.extend(self._claims(folder))
            else:
                claims.append(_Claim(folder.name, folder))
        claims.extend(grouped.values())
        claims.extend(_newest(who, tries) for who, tries in attempts.items())
        return claims

    def _is_lab(self, name: str) -> bool:
        return name.casefold() == self.lab.casefold()

    def _named_like_lab(self, tree: Tree) -> bool:
        return any(is_notebook(item.name) and self._is_lab(_ENDING.sub("", item.name)) for item in tree.items)

    def _is_students(self, tree: Tree) -> bool:
        """Say whether a folder is one student's: it holds the lab's notebook, or the lab's folder with it."""
        inner = (folder for folder in tree.folders.values() if self._is_lab(folder.name))
        return self._named_like_lab(tree) or any(self._named_like_lab(folder) for folder in inner)

    def _unwrapped(self, tree: Tree) -> Tree:
        """Return the folder that holds the students where it is the only thing in one or more folders around it."""
        while len(tree.folders) == 1 and not tree.strays:
            (only,) = tree.folders.values()
            loose = any(is_notebook(item.name) or _lms(item.name) for item in tree.items)
            if loose or _lms(only.name) or _INBOUND.fullmatch(only.name) or not self._is_container(only):
                break
            tree = only
        return tree

    def _is_container(self, tree: Tree) -> bool:
        if self._is_students(tree) or any(
            folder.name.casefold() in self.other_labs for folder in tree.folders.values()
        ):
            return False
        packed = any(is_notebook(item.name) for folder in tree.folders.values() for _, item in folder.walk())
        lms = any(_lms(name) for name in [*tree.folders, *(item.name for item in tree.items)])
        return packed or lms or sum(is_notebook(item.name) for item in tree.items) > 1

    # -- which ---------------------------------------------------------------------------------------------------

    def _chosen(self, claim: _Claim) -> FoundSubmission:
        submission = FoundSubmission(student_id(claim.student), self.lab, self.path, note=claim.note)
        submission = replace(submission, timestamp=claim.timestamp)
        candidates = [
            _Candidate(above, item)
            for above, item in claim.tree.walk()
            if is_notebook(item.name) and not self.other_labs.intersection(name.casefold() for name in above)
        ]
        named = [each for each in candidates if self._is_lab(each.stem)]
        named = named if named and not claim.in_attempts else [each for each in candidates if self._is_copy(each.stem)]
        sound = [each for each in named or candidates if each.item.source]
        if not sound:
            refused = [each.item.problem for each in named]
            return replace(submission, problem=refused[0] if refused else _why_nothing(claim.tree))
        chosen = self._best_named(claim, sound) if named else self._best_by_content(claim, sound)
        if chosen is None:
            names = ", ".join(f"“{each.item.name}”" for each in sound[:4])
            problem = f"There are several notebooks ({names}), none is named {self.lab}.ipynb or holds its cells."
            return replace(submission, problem=problem)
        source = chosen.item.source
        time = claim.timestamp or _time_beside(claim.tree, chosen)
        return replace(submission, path=source.path, source=source, timestamp=time)

    def _is_copy(self, stem: str) -> bool:
        """Say whether a notebook is named like the lab, but for what copying adds (`-1`, ` (2)`, `-Copy1`)."""
        return self._is_lab(stem) or self._is_lab(_COPY.sub("", stem).removeprefix("copy of ").strip())

    def _best_named(self, claim: _Claim, named: list[_Candidate]) -> _Candidate:
        if claim.in_attempts:
            return max(named, key=lambda each: each.attempt)
        return min(named, key=lambda each: (not self._in_lab_folder(each), len(each.above), len(each.stem), each.stem))

    def _in_lab_folder(self, candidate: _Candidate) -> bool:
        return bool(candidate.above) and self._is_lab(candidate.above[-1])

    def _best_by_content(self, claim: _Claim, notebooks: list[_Candidate]) -> _Candidate | None:
        if len(notebooks) == 1:
            return notebooks[0]
        contents = {id(each): _read_or_nothing(each) for each in notebooks}
        scores = [len(self.grade_ids.intersection(_GRADE_ID.findall(contents[id(each)]))) for each in notebooks]
        best = [each for each, score in zip(notebooks, scores, strict=True) if score == max(scores)]
        if len({contents[id(each)] for each in best}) == 1:
            return best[0]
        if claim.in_attempts and len({_ATTEMPT.sub("", each.stem) for each in best}) == 1:
            return max(best, key=lambda each: each.attempt)
        return None


def student_id(name: str) -> str:
    """Return a name as an id that is a safe file name everywhere and the same however its accents are encoded."""
    cleaned = re.sub(r"^[\s.]+|[\s.]+$", "", _UNSAFE.sub("_", printable(unicodedata.normalize("NFC", name))))
    cleaned = cleaned.encode()[:MAX_ID_BYTES].decode(errors="ignore").rstrip(" .")
    return "_" + cleaned[1:] if cleaned.startswith("-") else cleaned or "unnamed"


def _lms(name: str) -> tuple[str, str, bool] | None:
    """Return student, file name and whether attempts are numbered, from a name that Moodle or Canvas made."""
    if moodle := _MOODLE.fullmatch(name):
        return moodle["who"], moodle["rest"], False
    if canvas := next(filter(None, (names.fullmatch(name) for names in _CANVAS)), None):
        who = canvas["anonymous"] or f"{canvas['name']}_{canvas['user']}"
        return who, canvas["file"] or canvas["entry"], True
    return None


def _newest(who: str, tries: list[tuple[datetime | None, Tree]]) -> _Claim:
    """Return the claim of the newest attempt in nbgrader's exchange."""
    earliest = datetime.min.replace(tzinfo=UTC)
    time, tree = max(tries, key=lambda each: (each[0] or earliest, each[1].name))
    note = f"The newest of {len(tries)} attempts." if len(tries) > 1 else None
    return _Claim(who, tree, timestamp=time, note=note)


def _why_nothing(tree: Tree) -> str:
    if problems := tree.problems():
        return problems[0]
    names = sorted({item.name for _, item in tree.walk()})
    if not names:
        return "There is no notebook: the folder is empty."
    listed = ", ".join(f"“{name}”" for name in names[:3])
    return f"There is no notebook for this lab; found {listed}{' and more' if len(names) > 3 else ''}."


def _read_or_nothing(candidate: _Candidate) -> bytes:
    try:
        return candidate.item.source.read()
    except Unreadable:
        return b""


def _time_beside(tree: Tree, chosen: _Candidate) -> datetime | None:
    """Return the time in the `timestamp.txt` that nbgrader puts beside a collected notebook."""
    for above, item in tree.walk():
        if above == chosen.above and item.name == "timestamp.txt" and item.source:
            try:
                return as_time(item.source.read()[:200].decode(errors="replace"))
            except Unreadable:
                return None
    return None


def _with_unique_ids(found: list[FoundSubmission]) -> list[FoundSubmission]:
    """Return the submissions with one id each; the same notebook found twice counts once."""
    taken: set[str] = set()
    seen: set[Source] = set()
    result = []
    for submission in found:
        if submission.source is not None:
            if submission.source in seen:
                continue
            seen.add(submission.source)
        student, number = submission.student, 1
        while student.casefold() in taken:
            number += 1
            student = f"{submission.student}~{number}"
        taken.add(student.casefold())
        if number > 1:
            note = f"Another submission has the id “{submission.student}” already; this one is kept as “{student}”."
            submission = replace(submission, student=student, note=" ".join(filter(None, [submission.note, note])))
        result.append(submission)
    return result
