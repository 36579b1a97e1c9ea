"""What the names of files and folders say: whose, by an LMS or nbgrader's exchange, and which lab's."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from autograder.course.printable import on_one_line
from autograder.submission.reading import MAX_CELLS
from autograder.submission.tree import Item, Tree, is_work

_MOODLE_SIGN = re.compile(r"_\d+_assignsubmission_(?:file|onlinetext)")
_MOODLE = re.compile(r"(?P<who>.+?_\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)", re.DOTALL)
# Canvas: name, LATE, user number, upload number and file, joined by `_`. A text or a link handed in instead of a file
# has no upload number, an anonymous assignment has no name, and a group's name may hold `_` and numbers itself: so a
# short user number, as the first accounts of a server have, is looked for only where there is no long one. A number of
# Canvas never begins with 0, as those of labs do.
_CANVAS = tuple(
    re.compile(
        rf"(?:(?P<name>.+?)(?P<late>_LATE)?_(?P<user>{user})|(?P<first>LATE_)?(?P<anonymous>anon_[A-Za-z0-9]+))"
        r"_(?:[1-9]\d{2,}_(?P<file>.+)|(?P<entry>text\.html|link\.html))",
        re.DOTALL,
    )
    for user in (r"[1-9]\d{2,}", r"[1-9]\d?")
)
INBOUND = re.compile(r"(?P<who>[^+]+)\+(?P<lab>[^+]+)\+(?P<time>[^+]+)(?:\+.*)?", re.DOTALL)
# `-submission` is what packing adds to a notebook's name
ENDING = re.compile(r"(?i)(-submission)?(\.ipynb(\.txt|\.json)?|\.py(\.txt)?)$")
_COPY = re.compile(r"(?i)(?:\(\d+\)|-copy\d*|[-_]v?\d+| - copy|-submission)$")
COPIED = 3  # times, at most: `LAB-submission-1 (2)` is the third
LONGEST_NAME = 100  # of a copy, without its ending
PACKED = "-submission"
ATTEMPT = re.compile(r"-(\d+)$")
_GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"([^"\\]{1,200})"')
_CHECKED = re.compile(rb"""^check\(\s*["']([^"'\\]{1,200})["']""", re.MULTILINE)  # in a script; JSON has no such line

_asked_often = lru_cache(
    maxsize=2**15
)  # of each name several times for each lab, and `course watch` asks in each round

MOST_SIGNS = 2 * MAX_CELLS  # of a grade_id in a file that are looked at
LONGEST_SIGN = 500  # bytes, with the id itself


class LabNames:
    """How one lab's notebook can be known, by its name and by its grade_ids, and the names of the other labs."""

    def __init__(self, lab: str, known: Mapping[str, Collection[str]]):
        self.lab = lab
        self.grade_ids = {grade_id.encode() for grade_id in known.get(lab, ())}
        self.other_labs = {name.casefold() for name in known} - {lab.casefold()}

    def is_lab(self, name: str) -> bool:
        """Say whether a name is the lab's, whatever the case of its letters."""
        return name.casefold() == self.lab.casefold()

    def is_copy(self, stem: str) -> bool:
        """Say whether a notebook is named like the lab, but for what copying adds (`-1`, ` (2)`, `-Copy1`).

        Strangers choose names, and it is asked of each several times: what it costs does not grow with their length.
        """
        for _ in range(COPIED if len(stem) <= LONGEST_NAME else 0):
            if self.is_lab(stem) or (copied := _COPY.search(stem)) is None:
                break
            stem = stem[: copied.start()].rstrip()
        return self.is_lab(stem) or self.is_lab(stem.removeprefix("copy of ").strip())

    def score(self, data: bytes) -> int:
        """Count the lab's grade_ids in a notebook; in a script also those of exercises that it checks.

        They stand in the metadata of the cells, which large outputs push apart: all of the file is searched.
        """
        missing = set(self.grade_ids)
        for sign, pattern in ((b'"grade_id"', _GRADE_ID), (b"check(", _CHECKED)):
            missing.difference_update(_behind(sign, pattern, data))
        return len(self.grade_ids) - len(missing)


def _behind(sign: bytes, pattern: re.Pattern[bytes], data: bytes) -> Iterator[bytes]:
    """Yield what a pattern finds at a sign, of so many signs as a notebook can have.

    Strangers fill files with what a pattern nearly matches; for a sign alone Python searches 100 MB in 0.1 seconds.
    """
    at = data.find(sign)
    for _ in range(MOST_SIGNS):
        if at < 0:
            return
        if found := pattern.match(data, at, at + LONGEST_SIGN):
            yield found[1]
        at = data.find(sign, at + len(sign))


@_asked_often
def student_by_lms(name: str) -> tuple[str, str, bool] | None:
    """Return student, file name and whether attempts are numbered, from a name that Moodle or Canvas made.

    None where there is none, or the name can be read as that of two students.
    """
    if is_of_two(name):
        return None
    if moodle := _MOODLE.fullmatch(name):
        return moodle["who"], moodle["rest"], False
    if canvas := next(filter(None, (names.fullmatch(name) for names in _CANVAS)), None):
        who = canvas["anonymous"] or f"{canvas['name']}_{canvas['user']}"
        return who, canvas["file"] or canvas["entry"], True
    return None


def is_of_two(name: str) -> bool:
    """Say whether a name holds Moodle's sign twice: who may choose a full name can put another's name before it."""
    return len(_MOODLE_SIGN.findall(name)) > 1


def may_be_anothers(file: str) -> bool:
    """Say whether the file's name, as Canvas's was read, begins with a number, which may be that of the upload.

    Then the number before it would be the user's, and what was taken for the user's would end somebody's name.
    """
    return re.match(r"[1-9]\d{2,}_", file) is not None


def is_marked_late(name: str) -> bool:
    """Say whether Canvas made this name for work that was late by its own due date."""
    canvas = next(filter(None, (names.fullmatch(name) for names in _CANVAS)), None)
    return canvas is not None and bool(canvas["late"] or canvas["first"])


@_asked_often
def stem_of(name: str) -> str:
    """Return a notebook's name without its ending, in small letters."""
    return ENDING.sub("", name).casefold()


def is_named_by_system(name: str) -> bool:
    """Say whether an LMS or the exchange made this name."""
    return is_of_two(name) or student_by_lms(name) is not None or INBOUND.fullmatch(name) is not None


def named_by_system(tree: Tree) -> set[str]:
    """Return the students whom an LMS or the exchange names at this level, by what can be a submission."""
    names = [item.name for item in tree.items if is_work(item.name)]
    names += (folder.name for folder in tree.folders.values())
    names += (item.name for item in tree.items if _MOODLE.fullmatch(item.name))
    found = {lms[0] for lms in map(student_by_lms, names) if lms}
    return found | {at["who"] for at in map(INBOUND.fullmatch, names) if at}


def place_of(tree: Tree, item: Item) -> str:
    """Return where a file lies, through the archives around it."""
    if item.source is None:
        return f"{tree.place}/{item.name}"
    return "/".join([str(item.source.path), *getattr(item.source, "members", ())])


def shown_place(place: str) -> str:
    """Return a place as an instructor types it: from the current folder where it lies below it."""
    below = os.path.relpath(place) if place else "."
    return on_one_line(place if below.startswith("..") else below)
