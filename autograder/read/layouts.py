"""Whose work lies where: the layouts in which a class hands in, the signs of each, and whom each of them names.

A layout is recognised once for the whole of what an instructor points at, and then read by its rule. What does not fit
is passed over with a reason.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from autograder.course.text import on_one_line
from autograder.read.handing_in import PassedOver, as_time
from autograder.read.reading import MAX_CELLS, has_cells
from autograder.read.tree import (
    Budget,
    FileSource,
    Item,
    Tree,
    another_owner,
    is_archive,
    is_notebook,
    is_script,
    is_work,
    read_archive,
    read_each,
    read_folder,
    restrict_to_owner,
)

LAYOUTS = {
    "exchange": "nbgrader's exchange: folders STUDENT+LAB+TIME+…",
    "moodle": "a Moodle download: NAME_NUMBER_assignsubmission_file_…",
    "canvas": "a Canvas download: NAME_NUMBER_UPLOAD_FILE",
    "blackboard": "a Blackboard download, as nbgrader's zip collector takes it: ASSIGNMENT_USER_attempt_TIME_FILE",
    "students": "a class: STUDENT/LAB/LAB.ipynb, STUDENT/LAB.ipynb, STUDENT.ipynb or STUDENT.zip",
    "student": "one student's own files",
}
MAX_SCRIPTS = 1_000  # of one folder that are looked into

# -- names that a system makes ---------------------------------------------------------------------------------------

_ATTEMPT = r"_attempt_(?P<time>\d{4}(?:-\d\d){5})"
_TWICE = re.compile(rf"_\d+_assignsubmission_(?:file|onlinetext)|{_ATTEMPT}")
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
_NAMES = (
    ("moodle", re.compile(r"(?P<who>.+?_\d+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.DOTALL)),
    *(("canvas", pattern) for pattern in _CANVAS),
    ("blackboard", re.compile(rf"(?P<prefix>.*_)?(?P<who>[^_]+){_ATTEMPT}_?(?P<file>.*)", re.DOTALL)),
    ("exchange", INBOUND),
)
# Strangers choose names. Each is asked for several times, for each lab, and by `course watch` in each round.
_asked_often = lru_cache(maxsize=2**15)


class SystemName(NamedTuple):
    """What a name says that a system made: the layout, the student, the file's own name, which lab and attempt.

    `prefix` is what stands before the student; Blackboard puts the assignment there, and a name has no end inside it.
    """

    layout: str
    who: str
    file: str = ""
    lab: str = ""
    attempt: str = ""
    prefix: str = ""
    is_late: bool = False


@_asked_often
def read_name(name: str) -> SystemName | None:
    """Return what a system wrote into a name; None where none made it, or it can be read as that of two students."""
    for layout, pattern in _NAMES if not is_of_two(name) else ():
        if (match := pattern.fullmatch(name)) is not None:
            part = {key: text or "" for key, text in match.groupdict().items()}
            who = part.get("who") or part["anonymous"] or f"{part['name']}_{part['user']}"
            file = part.get("file") or part.get("entry", "")
            is_late = bool(part.get("late") or part.get("first"))
            of_attempt = part.get("lab", ""), part.get("time", ""), part.get("prefix", "")
            return SystemName(layout, who, file, *of_attempt, is_late)
    return None


def is_of_two(name: str) -> bool:
    """Say whether a name holds a system's sign twice: who may choose a part of it can put another's name there."""
    return len(_TWICE.findall(name)) > 1


def may_be_anothers(file: str) -> bool:
    """Say whether the file's name, as Canvas's was read, begins with a number, which may be that of the upload.

    Then the number before it would be the user's, and what was taken for the user's would end somebody's name.
    """
    return re.match(r"[1-9]\d{2,}_", file) is not None


# -- names of the lab's notebook -------------------------------------------------------------------------------------

# `-submission` is what packing adds to a notebook's name
ENDING = re.compile(r"(?i)(-submission)?(\.ipynb(\.txt|\.json)?|\.py(\.txt)?)$")
_COPY = re.compile(r"(?i)(?:\(\d+\)|-copy\d*|[-_]v?\d+| - copy|-submission)$")
COPIED = 3  # times, at most: `LAB-submission-1 (2)` is the third
LONGEST_NAME = 100  # of a copy, without its ending
_GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"([^"\\]{1,200})"')
_CHECKED = re.compile(rb"""^check\(\s*["']([^"'\\]{1,200})["']""", re.MULTILINE)  # in a script; JSON has no such line
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

        What it costs does not grow with the length of the name.
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
            missing.difference_update(_find_behind(sign, pattern, data))
        return len(self.grade_ids) - len(missing)


def _find_behind(sign: bytes, pattern: re.Pattern[bytes], data: bytes) -> Iterator[bytes]:
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
def stem_of(name: str) -> str:
    """Return a notebook's name without its ending, in small letters."""
    return ENDING.sub("", name).casefold()


def place_of(tree: Tree, item: Item) -> str:
    """Return where a file lies, through the archives around it."""
    if item.source is None:
        return f"{tree.place}/{item.name}"
    return "/".join([str(item.source.path), *item.source.members])


def show_place(place: str) -> str:
    """Return a place as an instructor types it: from the current folder where it lies below it."""
    below = os.path.relpath(place) if place else "."
    return on_one_line(place if below.startswith("..") else below)


# -- whose -----------------------------------------------------------------------------------------------------------

_OF_TWO = "Its name can be read as that of two students, so nothing says whose it is; grade it by itself."
_SEVERAL = "It holds the work of several students, or of one student in several folders; grade it by itself."


@dataclass
class Claim:
    """The files of one student.

    `archives` is how many archives lie around what the instructor collected: what is packed deeper, the student packed.
    It is -1 where a system collected. `in_attempts` where the number at the end of a name counts attempts.
    """

    student: str
    tree: Tree
    archives: int = -1
    in_attempts: bool = False
    timestamp: datetime | None = None
    note: str | None = None


class Search:
    """Finds out who hands something in for one lab.

    Names alone decide, and their number is limited: nothing is opened but scripts at the level of students.

    Args:
        names: the lab's names.
        layout: the layout to read by; None where it is to be recognised.
        check_owner: pass over an entry of an exchange that belongs to another account than its student's.
        listed: what was listed for another lab, by path.

    Attributes:
        passed_over: what is nobody's.
        layouts: the layouts that were read, in order.
    """

    def __init__(self, names: LabNames, layout: str | None, check_owner: bool, listed: dict[Path, Tree | None]):
        self.names = names
        self.passed_over: list[PassedOver] = []
        self.layouts: dict[str, None] = {}
        self._layout = layout
        self._check_owner = check_owner
        self._listed = listed
        self._over: list[PassedOver] = []  # of the levels that are being read

    def find_claims(self, paths: list[Path]) -> list[Claim]:
        """Return who hands something in. Raises FileNotFoundError where a path does not exist."""
        above = Path(os.path.commonpath(paths)) if len(paths) > 1 else None
        direct = [path for path in paths if above is None or not _is_behind_link(path, above)]
        reason = "It is a link, or behind one. Name what it leads to."
        self.passed_over += (PassedOver(show_place(str(path)), reason) for path in paths if path not in direct)
        for path in direct:
            if not path.exists():
                raise FileNotFoundError(f"{path}: there is no such file or folder")
        named = read_name(paths[0].name) if len(paths) == 1 else None
        is_entry = named is not None and self._layout in (None, named.layout)  # and not the folder around entries
        tree = None if len(paths) != 1 or is_entry or is_of_two(paths[0].name) else self._list(paths[0], None)
        claims = self._claims_of_one(tree, paths[0]) if tree is not None else self._claims_of_several(direct, above)
        self.passed_over += self._over
        return claims

    def _claims_of_one(self, tree: Tree, path: Path) -> list[Claim]:
        students = [Claim(path.parent.name if self.names.is_lab(tree.name) else tree.name, tree, archives=0)]
        if not (tree.problem or self._layout == "student" or (self._layout is None and self._is_students(tree))):
            claims = self._read_level(self._unwrap(tree))
            is_class = len(claims) != 1 or claims[0].archives < 0 or self._layout is not None
            if is_class or not tree.archives:  # one student's archive holds one notebook, whatever names are in it
                return claims
            self._over.clear()
        self.layouts = {"student": None}
        return students

    def _claims_of_several(self, paths: list[Path], trusted: Path | None) -> list[Claim]:
        """Return the claims of paths of which each is one student's, or each a class.

        Below the `trusted` folder their names may be students' own, for a pattern such as `inbox/*` found them.
        """
        trees = {path: self._list(path, trusted) for path in paths}
        classes = [tree for tree in trees.values() if tree is not None and self._may_be_class(tree)]
        if len(classes) == len(paths) > 1 and self._layout != "student":
            return [claim for tree in classes for claim in self._read_level(self._unwrap(tree))]
        collected = Tree(trusted.name if trusted else "", place="")
        parents = Counter(path.parent for path in paths)
        for path, tree in trees.items():
            owner = collected
            is_class = any(tree is each for each in classes)  # which may be named like the lab
            is_lab = self.names.is_lab(tree.name if tree else stem_of(path.name)) and not is_class
            if is_lab and (tree or parents[path.parent] == 1):
                above = path.parent.parent if self.names.is_lab(path.parent.name) else path.parent
                owner = collected.folders.setdefault(str(above), Tree(above.name, str(above)))
            if tree is None:
                owner.items.append(Item(path.name, _name_source(path, trusted)))
            else:
                owner.folders[str(path) if owner is collected else path.name] = tree
        return self._read_level(collected)

    def _list(self, path: Path, trusted: Path | None) -> Tree | None:
        if path not in self._listed:
            named = _name_source(path, trusted)
            if path.is_dir():
                self._listed[path] = tree = read_folder(named.root, named.parts)
                tree.name = path.name or tree.name
            else:
                self._listed[path] = read_archive(named) if is_archive(path.name) else None
        return self._listed[path]

    # -- one level: the folder or archive in which each entry is somebody's ------------------------------------------

    def _read_level(self, tree: Tree) -> list[Claim]:
        for stray in tree.strays:
            self._pass_over(tree.place, stray)
        layout = self._layout or self._recognise(tree)
        self.layouts[layout] = None
        return self._read_students(tree) if layout in ("students", "student") else self._read_system(tree, layout)

    def _recognise(self, tree: Tree) -> str:
        """Return the layout by its signs: what most of the names are that can be somebody's work.

        A single name decides nothing, for it may be a student's own; but into an exchange everybody puts any number.
        """
        names = [item.name for item in tree.items if is_work(item.name) or read_name(item.name)]
        names = [name for name in names if not self.names.is_copy(stem_of(name))]
        names += (folder.name for folder in tree.folders.values() if not self._is_of_a_lab(folder))
        signs = Counter(named.layout for named in map(read_name, names) if named)
        layout, most = max(signs.items(), key=lambda sign: sign[1], default=("students", 0))
        if signs["exchange"] and tree.name == "inbound":
            return "exchange"
        return layout if 2 * most > len(names) else "students"

    def _read_system(self, tree: Tree, layout: str) -> list[Claim]:
        """Return the claims of a level at which a system named everything: of each student the newest attempt."""
        attempts: dict[str, dict[str, Tree]] = {}
        exchange = layout == "exchange"
        prefixes = Counter(named.prefix for named in map(read_name, _names_in(tree)) if named)
        usual = max(prefixes, key=prefixes.__getitem__, default="")  # of Blackboard, the assignment

        def attempt_of(named: SystemName) -> Tree:
            new = Tree(named.who, f"{tree.place}/{named.who}")
            return attempts.setdefault(named.who, {}).setdefault(named.attempt, new)

        def read(name: str, place: str, is_folder: bool = False) -> SystemName | None:
            named = read_name(name)
            if named is not None and named.layout == layout and named.prefix == usual and (is_folder or not exchange):
                return named
            odd = f"Its name does not fit: this was read as {LAYOUTS[layout]}. Grade it by itself."
            self._pass_over(place, _OF_TWO if is_of_two(name) else odd)
            return None

        for item in tree.items:
            if named := read(item.name, place_of(tree, item)):
                attempt_of(named).items.append(replace(item, name=named.file))
        for key, folder in tree.folders.items():
            if (named := read(folder.name, folder.place, is_folder=True)) is None:
                continue
            _part(folder, tree)
            if not exchange:
                attempt_of(named).folders[key] = folder
            elif self._is_own_entry(folder, named):
                attempts.setdefault(named.who, {})[folder.name] = folder
        return [_claim_newest(who, tries, layout) for who, tries in attempts.items()]

    def _is_own_entry(self, entry: Tree, named: SystemName) -> bool:
        """Say whether an entry of the exchange is its student's attempt at this lab; else it is passed over.

        From then on it is read only where all in it belongs to its account.
        """
        if not self.names.is_lab(named.lab):
            if named.lab.casefold() not in self.names.other_labs:
                self._pass_over(entry.place, f"It was handed in for {named.lab}, which is no lab of this course.")
            return False
        if entry.owner is None or not self._check_owner:
            return True
        if other := another_owner(entry.owner, named.who):
            self._pass_over(entry.place, f"It is in {named.who}'s name and belongs to {other}.")
            return False
        for _, item in entry.walk():
            if item.source is not None:
                item.source = restrict_to_owner(item.source, Path(entry.place).parent, entry.owner)
        return True

    def _read_students(self, tree: Tree) -> list[Claim]:
        """Return the claims of a level at which each entry bears its student's name."""
        claims: list[Claim] = []
        scripts = self._find_scripts(tree)
        for item in tree.items:
            place, stem = place_of(tree, item), stem_of(item.name)
            if is_of_two(item.name):
                self._pass_over(place, _OF_TWO)
            elif not is_notebook(item.name) and item.name not in scripts:
                self._pass_over(place, item.problem or self._why_no_work(tree, item))
            elif self.names.is_copy(stem) or stem in self.names.other_labs:
                self._pass_over(place, self._why_nobodys(stem))
            else:
                name = ENDING.sub("", item.name)
                claims.append(Claim(name, Tree(name, place, items=[item]), tree.archives))
        plain: list[Tree] = []
        for folder in tree.folders.values():
            if is_of_two(folder.name):
                self._pass_over(folder.place, _OF_TWO)
            elif not self._is_of_a_lab(folder):
                plain.append(folder)
            elif folder.problem or folder.archives > tree.archives or not self.names.is_lab(folder.name):
                self._pass_over(folder.place, folder.problem or self._why_nobodys(folder.name))
            else:
                claims += self._read_level(folder)
        are_classes = [self._layout != "student" and self._is_class(folder) for folder in plain]
        if all(are_classes) and not claims:
            return [claim for folder in plain for claim in self._read_level(self._unwrap(folder))]
        for folder, is_class in zip(plain, are_classes, strict=True):
            if is_class:
                self._pass_over(folder.place, _SEVERAL)
            else:
                _part(folder, tree)
                claims.append(Claim(folder.name, folder, tree.archives))
        return claims

    def _find_scripts(self, tree: Tree) -> set[str]:
        """Return the names of the scripts at this level that have cells and check exercises of the lab."""
        notebooks = {stem_of(item.name) for item in tree.items if is_notebook(item.name)}
        scripts = [item for item in tree.items if is_script(item.name) and stem_of(item.name) not in notebooks]
        looked_into = [(item.name, item.source) for item in scripts if item.source][:MAX_SCRIPTS]
        contents = read_each(source for _, source in looked_into)
        return {
            name
            for (name, _), data in zip(looked_into, contents, strict=True)
            if has_cells(data) and self.names.score(data) > 0
        }

    # -- reasons -----------------------------------------------------------------------------------------------------

    def _pass_over(self, place: str, reason: str) -> None:
        self._over.append(PassedOver(show_place(place), reason))

    def _why_no_work(self, tree: Tree, item: Item) -> str:
        """Say why a file that is no notebook is nobody's work."""
        if not is_script(item.name):
            return "It is not a notebook, a folder or a zip archive."
        if any(is_notebook(other.name) and stem_of(other.name) == stem_of(item.name) for other in tree.items):
            return "It is a script, and the notebook of the same name beside it counts."
        return f"It is a script without cells (# %%) that check exercises of {self.names.lab}."

    def _why_nobodys(self, stem: str) -> str:
        if stem.casefold() in self.names.other_labs:
            return "It is named like another lab."
        return (
            f"It is named like the lab and lies among other work, so nothing says whose it is; give it, or a folder "
            f"around it, its student's name, or grade it by itself: course grade {self.names.lab} PATH."
        )

    # -- signs -------------------------------------------------------------------------------------------------------

    def _is_of_a_lab(self, folder: Tree) -> bool:
        return self.names.is_lab(folder.name) or folder.name.casefold() in self.names.other_labs

    def _holds_lab(self, tree: Tree) -> bool:
        """Say whether a folder has the lab's notebook, or the lab's folder with it."""
        labs = [folder for folder in tree.folders.values() if self.names.is_lab(folder.name)]
        items = (item for folder in (tree, *labs) for item in folder.items)
        return any(is_work(item.name) and self.names.is_copy(stem_of(item.name)) for item in items)

    def _is_students(self, tree: Tree) -> bool:
        """Say whether a folder is one student's: it has the lab's notebook, and nothing that may be others'."""
        labs = [folder for folder in tree.folders.values() if self.names.is_lab(folder.name)]
        if not self._holds_lab(tree) or any(_system_names(level) or self._others(level) for level in (tree, *labs)):
            return False
        return sum(_has_notebook(folder) for folder in tree.folders.values() if not self._is_of_a_lab(folder)) < 2

    def _others(self, tree: Tree) -> set[str]:
        """Return the notebooks at this level that are named neither like the lab nor like another one."""
        stems = {stem_of(item.name) for item in tree.items if is_notebook(item.name)}
        return {stem for stem in stems if not self.names.is_copy(stem) and stem not in self.names.other_labs}

    def _count_homes(self, tree: Tree) -> int:
        """Count the folders at this level that are different students', for each has the lab's notebook."""
        return sum(self._holds_lab(folder) for folder in tree.folders.values() if not self._is_of_a_lab(folder))

    def _is_class(self, tree: Tree) -> bool:
        """Say whether a folder in a class's is, against its place, not one student's but several students'.

        What the look takes is counted against the folder.
        """
        with tree.budget.paying():
            while not (self._holds_lab(tree) or tree.problem):
                if len(_system_names(tree)) > 1 or self._count_homes(tree) > 1:
                    return True
                inner = [folder for folder in tree.folders.values() if not self.names.is_lab(folder.name)]
                if len(inner) != 1:
                    break
                tree = inner[0]
        return False

    def _may_be_class(self, tree: Tree) -> bool:
        if self._holds_lab(tree) or _is_named_by_system(tree.name):
            return False
        return self._is_class(tree) or bool(_system_names(tree)) or len(self._others(tree)) > 1

    def _unwrap(self, tree: Tree) -> Tree:
        """Return the folder that holds the students, where nothing lies in the folders around it but the next one."""
        level = tree
        while len(tree.folders) == 1 and not tree.strays:
            (only,) = tree.folders.values()
            if any(is_notebook(item.name) or read_name(item.name) for item in tree.items):
                break
            if _is_named_by_system(only.name) or self._is_of_a_lab(only) or self._holds_lab(only):
                break
            tree = only
            inner = [folder for folder in tree.folders.values() if not self._is_of_a_lab(folder)]
            if len(inner) == len(tree.folders) and (
                _system_names(tree)
                or len(self._others(tree)) > 1
                or self._count_homes(tree) > 0
                or sum(map(_has_notebook, inner)) > 1
            ):
                level = tree
        return level


def _is_named_by_system(name: str) -> bool:
    return is_of_two(name) or read_name(name) is not None


def _names_in(tree: Tree) -> list[str]:
    return [item.name for item in tree.items] + [folder.name for folder in tree.folders.values()]


def _system_names(tree: Tree) -> set[str]:
    """Return the students whom a system names at this level."""
    items = ((read_name(item.name), is_work(item.name)) for item in tree.items)
    named = [name for name, works in items if name and (works or name.layout in ("moodle", "blackboard"))]
    return {name.who for name in [*named, *map(read_name, (folder.name for folder in tree.folders.values()))] if name}


def _has_notebook(folder: Tree) -> bool:
    return any(is_notebook(item.name) for _, item in folder.walk())


def _part(folder: Tree, around: Tree) -> None:
    """Give a student's folder a budget of its own where it had that of its class's archive."""
    if folder.budget is not around.budget:
        return
    own, shared = Budget(), around.budget
    for _, tree in folder.walk_folders():
        if tree.budget is shared:
            tree.budget = own


def _claim_newest(who: str, attempts: dict[str, Tree], layout: str) -> Claim:
    """Return the claim of a student's newest attempt; the time is believed that nbgrader's exchange writes."""
    times = {}
    for key in attempts:
        named = read_name(key)
        times[key] = as_time(named.attempt) if named and layout == "exchange" else None
    earliest = datetime.min.replace(tzinfo=UTC)
    newest = max(attempts, key=lambda key: (times[key] or earliest, key))
    note = f"The newest of {len(attempts)} attempts." if len(attempts) > 1 else None
    return Claim(who, attempts[newest], in_attempts=layout == "canvas", timestamp=times[newest], note=note)


def _name_source(path: Path, trusted: Path | None) -> FileSource:
    """Return what a path on the command line stands for; links are followed down to the `trusted` folder, if any."""
    if trusted is None or path == trusted:
        return FileSource(Path(os.path.realpath(path)))
    return FileSource(Path(os.path.realpath(trusted)), path.relative_to(trusted).parts)


def _is_behind_link(path: Path, above: Path) -> bool:
    return any(part.is_symlink() for part in (path, *path.parents) if part != above and part.is_relative_to(above))
