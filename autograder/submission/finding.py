"""Finds out whose submissions lie in the files, folders and archives an instructor points at."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
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
    read_each,
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
MAX_CANDIDATES = 20  # notebooks of one student that are read to find the lab's among them
_SUFFIX_DIGITS = 8


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


@dataclass(frozen=True)
class PassedOver:
    """Something that was not graded, because nothing says whose it is; the reason is a sentence for the instructor."""

    path: str
    reason: str


@dataclass(frozen=True)
class Found:
    """What lies in the places an instructor points at.

    `claimed_twice` has a sentence for each id that several submissions claim.
    """

    submissions: list[FoundSubmission]
    passed_over: list[PassedOver]
    claimed_twice: list[str]


def find_submissions(paths: Iterable[Path], lab: str, known: Mapping[str, Collection[str]] | None = None) -> Found:
    """Return one submission for every student found in `paths`, those with nothing to grade included.

    One path is a notebook, a folder or a zip archive, laid out as nbgrader does (`<student>/<lab>/<lab>.ipynb`,
    exchange folders `<student>+<lab>+<time>+…`), as `<student>/<lab>.ipynb`, as `<student>.ipynb`, or as Moodle and
    Canvas pack downloads; archives inside are looked into. It can also be one student's own: it holds the lab's
    notebook, and neither other notebooks beside it, nor names that an LMS or the exchange makes, nor folders of several
    students.
    Of several paths each is one student's, unless all of them are folders or archives of several students.

    The student's id is
    - in a Moodle download the name with the participant number, `Ada Lovelace_12345`;
    - in a Canvas download the name with the user number, `lovelaceada_12345`, or the anonymous id, `anon_aB3xY`;
    - otherwise the name of the student's folder or archive, or of the notebook where it is not named like the lab.
    What lies inside a student's own folder or archive never names another student. Characters that no file name can
    have everywhere become `_`. When several submissions claim one id (letter case ignored), each gets the id with a
    digest of where it lies, `ada~1f2e3d4c`, and none of them gets the id itself.

    Of several notebooks of a student the one named like the lab counts, the newest attempt in a Canvas download; else
    the one with most of the lab's grade_ids; else the student has a problem to be solved by hand. What nobody's name
    is on, and other notebooks named like the lab, are passed over, and named.

    Args:
        paths: what to search, in order.
        lab: the lab's name, such as `02_self_attention`.
        known: grade_ids of each lab of the course by name.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    search = _Search(lab, known or {})
    claims = search.claims(list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths)))
    found = [(search.chosen(claim), claim.tree.place) for claim in claims]
    submissions, claimed_twice = _with_unique_ids(found)
    return Found(submissions, search.passed_over, claimed_twice)


@dataclass
class _Claim:
    """The files of one student.

    `archives` is how many archives lie around what the instructor collected: what is packed deeper, the student packed.
    It is -1 where an LMS collected. `in_attempts` where the number at the end of a name counts attempts.
    """

    student: str
    tree: Tree
    archives: int = -1
    in_attempts: bool = False
    timestamp: datetime | None = None
    note: str | None = None


@dataclass
class _Candidate:
    """A notebook of a student, with the folders above it."""

    above: tuple[str, ...]
    home: Tree
    item: Item
    stem: str = field(init=False)

    def __post_init__(self) -> None:
        self.stem = _stem(self.item.name)

    @property
    def attempt(self) -> int:
        number = _ATTEMPT.search(self.stem)
        return int(number.group(1)[:9]) if number else 0


class _Search:
    """Looks for one lab's submissions."""

    def __init__(self, lab: str, known: Mapping[str, Collection[str]]):
        self.lab = lab
        self.grade_ids = {grade_id.encode() for grade_id in known.get(lab, ())}
        self.other_labs = {name.casefold() for name in known} - {lab.casefold()}
        self.passed_over: list[PassedOver] = []

    # -- whose ---------------------------------------------------------------------------------------------------

    def claims(self, paths: list[Path]) -> list[_Claim]:
        """Return who hands something in; what is nobody's is noted in `passed_over`."""
        for path in paths:
            if not path.exists():
                raise FileNotFoundError(f"{path}: there is no such file or folder")
        if len(paths) == 1 and not _is_named_by_system(paths[0].name):
            tree = _read(paths[0])
            if tree is not None:
                return self._claims_of_one(tree, paths[0])
        return self._claims_of_several(paths)

    def _claims_of_one(self, tree: Tree, path: Path) -> list[_Claim]:
        owner = path.parent.name if self._is_lab(tree.name) else tree.name
        if tree.problem or self._is_students(tree):
            return [_Claim(owner, tree, archives=0)]
        inner = self._unwrapped(tree)
        sorted_, passed_over = self._sorted(inner)
        if tree.archives and len(sorted_) == 1 and sorted_[0].archives >= 0:  # as students pack their folder
            return [_Claim(owner, tree, archives=0)]
        self.passed_over += passed_over
        return sorted_

    def _claims_of_several(self, paths: list[Path]) -> list[_Claim]:
        """Return the claims of paths of which each is one student's, or each a class."""
        collected = Tree("", place="")
        parents = Counter(path.parent for path in paths)
        for path in paths:
            tree = _read(path)
            item = Item(path.name, FileSource(path.resolve()))
            if not self._is_lab(tree.name if tree else _stem(path.name)):
                if tree is None:
                    collected.items.append(item)
                else:
                    collected.folders[str(path)] = tree
            elif tree is None and parents[path.parent] > 1:
                collected.items.append(item)  # in the middle of others' files
            else:
                above = path.parent.parent if self._is_lab(path.parent.name) else path.parent
                owner = collected.folders.setdefault(str(above), Tree(above.name, str(above)))
                if tree is None:
                    owner.items.append(item)
                else:
                    owner.folders[path.name] = tree
        claims, passed_over = self._sorted(collected, apart=True)
        self.passed_over += passed_over
        return claims

    def _sorted(self, tree: Tree, *, apart: bool = False) -> tuple[list[_Claim], list[PassedOver]]:
        """Return the claims of what lies in the folder of a class, and what nobody can be named for.

        Args:
            tree: the folder.
            apart: its files and folders come from different places, each by a path of its own.
        """
        claims: list[_Claim] = []
        over = [PassedOver(_shown(tree.place), printable(stray)) for stray in tree.strays]
        grouped: dict[str, _Claim] = {}
        attempts: dict[str, list[tuple[datetime | None, Tree]]] = {}
        plain: list[Tree] = []

        def group(lms: tuple[str, str, bool]) -> Tree:
            who, _, in_attempts = lms
            return grouped.setdefault(who, _Claim(who, Tree(who, f"{tree.place}/{who}"), in_attempts=in_attempts)).tree

        def pass_over(place: str, reason: str) -> None:
            over.append(PassedOver(_shown(place), printable(reason)))

        for item in tree.items:
            stem = _stem(item.name)
            if (lms := _lms(item.name)) is not None:
                group(lms).items.append(replace(item, name=lms[1]))
            elif not is_notebook(item.name):
                pass_over(_place(tree, item), item.problem or "It is no notebook, no folder and no zip archive.")
            elif self._is_copy(stem):
                pass_over(_place(tree, item), self._nobodys())
            elif stem in self.other_labs:
                pass_over(_place(tree, item), "It is named like another lab.")
            else:
                name = _ENDING.sub("", item.name)
                claims.append(_Claim(name, Tree(name, _place(tree, item), items=[item]), tree.archives))
        for key, folder in tree.folders.items():
            if (inbound := _INBOUND.fullmatch(folder.name)) is not None:
                if self._is_lab(inbound["lab"]):
                    attempts.setdefault(inbound["who"], []).append((as_time(inbound["time"]), folder))
                elif inbound["lab"].casefold() not in self.other_labs:
                    pass_over(folder.place, f"It was handed in for {inbound['lab']}, which is no lab of this course.")
            elif (lms := _lms(folder.name)) is not None:
                group(lms).folders[key] = folder
            elif folder.name.casefold() in self.other_labs:
                pass_over(folder.place, "It is named like another lab.")
            elif self._is_lab(folder.name):
                if folder.problem or folder.archives > tree.archives:
                    pass_over(folder.place, folder.problem or self._nobodys())
                else:
                    more_claims, more_over = self._sorted(folder)
                    claims += more_claims
                    over += more_over
            else:
                plain.append(folder)
        claims += grouped.values()
        claims += (_newest(who, tries) for who, tries in attempts.items())
        classes = [folder for folder in plain if self._is_class(folder)]
        if apart and not claims and len(plain) > 1 and all(self._may_be_class(folder) for folder in plain):
            classes = plain
        if plain and len(classes) == len(plain) and not claims:
            for folder in plain:
                more_claims, more_over = self._sorted(self._unwrapped(folder))
                claims += more_claims
                over += more_over
            return claims, over
        for folder in plain:
            if folder in classes:
                reason = "It holds the work of several students, or of one in several folders; grade it by itself."
                pass_over(folder.place, reason)
            else:
                claims.append(_Claim(folder.name, folder, tree.archives))
        return claims, over

    def _nobodys(self) -> str:
        return (
            f"It is named like the lab and lies among other work, so nothing says whose it is; give it, or a folder "
            f"around it, its student's name, or grade it by itself: course grade {self.lab} PATH."
        )

    def _is_lab(self, name: str) -> bool:
        return name.casefold() == self.lab.casefold()

    def _is_copy(self, stem: str) -> bool:
        """Say whether a notebook is named like the lab, but for what copying adds (`-1`, ` (2)`, `-Copy1`)."""
        return self._is_lab(stem) or self._is_lab(_COPY.sub("", stem).removeprefix("copy of ").strip())

    def _holds_lab(self, tree: Tree) -> bool:
        """Say whether a folder has the lab's notebook, or the lab's folder with it."""
        labs = [folder for folder in tree.folders.values() if self._is_lab(folder.name)]
        return any(
            is_notebook(item.name) and self._is_copy(_stem(item.name)) for each in (tree, *labs) for item in each.items
        )

    def _is_students(self, tree: Tree) -> bool:
        """Say whether a folder that an instructor points at is one student's."""
        if not self._holds_lab(tree):
            return False
        for each in (tree, *(folder for folder in tree.folders.values() if self._is_lab(folder.name))):
            if _named_by_system(each) or any(True for _ in self._others(each)):
                return False
        return self._homes(tree) < 2

    def _others(self, tree: Tree) -> Iterator[str]:
        """Yield the notebooks at this level that are named neither like the lab nor like another one."""
        stems = (_stem(item.name) for item in tree.items if is_notebook(item.name))
        return (stem for stem in stems if not self._is_copy(stem) and stem not in self.other_labs)

    def _homes(self, tree: Tree) -> int:
        """Count the folders at this level that can be different students' own: each has a notebook of the lab.

        Where no name tells it, a notebook is looked into, of some of the folders.
        """
        labs = {self.lab.casefold(), *self.other_labs}
        folders = [folder for folder in tree.folders.values() if folder.name.casefold() not in labs]
        unnamed = [folder for folder in folders if not self._holds_lab(folder)]
        notebooks = ([item.source for item in each.items if is_notebook(item.name) and item.source] for each in unnamed)
        looked_into = islice((sources[0] for sources in notebooks if sources), MAX_CANDIDATES)
        return len(folders) - len(unnamed) + sum(self._score(data) > 0 for data in read_each(looked_into))

    def _is_class(self, tree: Tree) -> bool:
        """Say whether a folder in a class's is, against its place, not one student's but several students'."""
        if self._holds_lab(tree) or tree.problem:
            return False
        if len(_named_by_system(tree)) > 1 or self._homes(tree) > 1:
            return True
        inner = [folder for folder in tree.folders.values() if not self._is_lab(folder.name)]
        return len(inner) == 1 and self._is_class(inner[0])

    def _may_be_class(self, tree: Tree) -> bool:
        if self._holds_lab(tree):
            return False
        return self._is_class(tree) or bool(_named_by_system(tree)) or len(set(self._others(tree))) > 1

    def _unwrapped(self, tree: Tree) -> Tree:
        """Return the folder that holds the students where it is the only thing in one or more folders around it."""
        while len(tree.folders) == 1 and not tree.strays:
            (only,) = tree.folders.values()
            if any(is_notebook(item.name) or _lms(item.name) for item in tree.items) or not self._is_container(only):
                break
            tree = only
        return tree

    def _is_container(self, tree: Tree) -> bool:
        if _is_named_by_system(tree.name) or self._is_lab(tree.name) or self._holds_lab(tree):
            return False
        if any(folder.name.casefold() in self.other_labs for folder in tree.folders.values()):
            return False
        return (
            bool(_named_by_system(tree))
            or len(set(self._others(tree))) > 1
            or self._homes(tree) > 0
            or sum(any(is_notebook(item.name) for _, item in folder.walk()) for folder in tree.folders.values()) > 1
            or any(self._is_container(folder) for folder in tree.folders.values())
        )

    # -- which ---------------------------------------------------------------------------------------------------

    def chosen(self, claim: _Claim) -> FoundSubmission:
        """Return a student's submission: the notebook among their files that counts."""
        submission = FoundSubmission(student_id(claim.student), self.lab, None, note=claim.note)
        submission = replace(submission, timestamp=claim.timestamp)
        if claim.tree.problem:
            return replace(submission, problem=claim.tree.problem)
        candidates = [
            _Candidate(above, home, item)
            for above, home in claim.tree.walk_folders()
            for item in home.items
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
            return replace(submission, problem=self._which_of(sound))
        source = chosen.item.source
        time = claim.timestamp or self._time_beside(claim, chosen)
        note = self._note_on_others(claim, chosen, candidates, submission)
        return replace(submission, path=source.path, source=source, timestamp=time, note=note)

    def _which_of(self, several: list[_Candidate]) -> str:
        names = ", ".join(f"“{each.item.name}”" for each in several[:4])
        problem = f"There are {len(several)} notebooks ({names}{', …' if len(several) > 4 else ''})"
        if len(several) > MAX_CANDIDATES:
            return f"{problem}; none is named {self.lab}.ipynb, and only the first {MAX_CANDIDATES} were looked into."
        return f"{problem}, several notebooks that none of is named {self.lab}.ipynb or alone holds its cells."

    def _note_on_others(
        self, claim: _Claim, chosen: _Candidate, candidates: list[_Candidate], submission: FoundSubmission
    ) -> str | None:
        """Name the other notebooks that could be meant as this lab's, here and in `passed_over`."""
        if claim.in_attempts:
            return submission.note
        others = [each for each in candidates if each is not chosen and self._is_copy(each.stem)]
        if not others:
            return submission.note
        counts = "/".join((*chosen.above, chosen.item.name))
        for each in others:
            reason = each.item.problem or f"“{counts}” counts as the notebook of “{submission.student}”."
            self.passed_over.append(PassedOver(_shown(_place(each.home, each.item)), printable(reason)))
        names = ", ".join(f"“{'/'.join((*each.above, each.item.name))}”" for each in others[:3])
        note = f"“{counts}” was graded; passed over: {names}{' and more' if len(others) > 3 else ''}."
        return " ".join(filter(None, [submission.note, note]))

    def _best_named(self, claim: _Claim, named: list[_Candidate]) -> _Candidate:
        if claim.in_attempts:
            return max(named, key=lambda each: each.attempt)
        return min(named, key=lambda each: (not self._in_lab_folder(each), len(each.above), len(each.stem), each.stem))

    def _in_lab_folder(self, candidate: _Candidate) -> bool:
        return bool(candidate.above) and self._is_lab(candidate.above[-1])

    def _best_by_content(self, claim: _Claim, notebooks: list[_Candidate]) -> _Candidate | None:
        if len(notebooks) == 1:
            return notebooks[0]
        looked_into = notebooks[:MAX_CANDIDATES]
        contents = read_each(each.item.source for each in looked_into)
        scored = [
            (each, self._score(data), hashlib.sha256(data).digest())
            for each, data in zip(looked_into, contents, strict=True)
        ]
        highest = max(score for _, score, _ in scored)
        if not highest and len(notebooks) > MAX_CANDIDATES:
            return None
        best = [(each, digest) for each, score, digest in scored if score == highest]
        if len({digest for _, digest in best}) == 1:
            return best[0][0]
        if claim.in_attempts and len({_ATTEMPT.sub("", each.stem) for each, _ in best}) == 1:
            return max((each for each, _ in best), key=lambda each: each.attempt)
        return None

    def _score(self, data: bytes) -> int:
        """Count the lab's grade_ids in a notebook."""
        return len(self.grade_ids.intersection(_GRADE_ID.findall(data)))

    def _time_beside(self, claim: _Claim, chosen: _Candidate) -> datetime | None:
        """Return the time in the `timestamp.txt` that nbgrader's exchange puts beside a notebook it collects.

        Where a student can have put it, in an LMS's download or in an archive of their own, it says nothing.
        """
        collected = chosen.home.archives == claim.archives and self._is_lab((claim.tree.name, *chosen.above)[-1])
        for item in chosen.home.items if collected else ():
            if item.name == "timestamp.txt" and item.source:
                with suppress(Unreadable):
                    return as_time(item.source.read()[:200].decode(errors="replace"))
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


def _stem(name: str) -> str:
    return _ENDING.sub("", name).casefold()


def _read(path: Path) -> Tree | None:
    """Return the tree of a folder or an archive by its name on the command line, None for any other file."""
    if path.is_dir():
        tree = read_folder(path)
        tree.name = path.name or tree.name
        return tree
    return read_archive(path.resolve()) if is_archive(path.name) else None


def _is_named_by_system(name: str) -> bool:
    return _lms(name) is not None or _INBOUND.fullmatch(name) is not None


def _named_by_system(tree: Tree) -> set[str]:
    """Return the students whom an LMS or the exchange names at this level, by what can be a submission."""
    names = [item.name for item in tree.items if is_notebook(item.name)]
    names += (folder.name for folder in tree.folders.values())
    found = {lms[0] for lms in map(_lms, names) if lms} | {at["who"] for at in map(_INBOUND.fullmatch, names) if at}
    return found | {at["who"] for at in (_MOODLE.fullmatch(item.name) for item in tree.items) if at}


def _place(tree: Tree, item: Item) -> str:
    """Return where a file lies, through the archives around it."""
    if item.source is None:
        return f"{tree.place}/{item.name}"
    return "/".join([str(item.source.path), *getattr(item.source, "members", ())])


def _shown(place: str) -> str:
    """Return a place as an instructor types it: from the current folder where it lies below it."""
    below = os.path.relpath(place) if place else "."
    return printable(place if below.startswith("..") else below)


def _with_unique_ids(found: list[tuple[FoundSubmission, str]]) -> tuple[list[FoundSubmission], list[str]]:
    """Return the submissions with one id each, and a sentence on each id that several claim.

    The same notebook found twice counts once. An id that is claimed twice is nobody's: which of them it belonged to
    would depend on what else is graded in the same run.
    """
    claimants: dict[str, list[tuple[FoundSubmission, str]]] = {}
    seen: set[Source] = set()
    for submission, place in found:
        if submission.source is None or submission.source not in seen:
            claimants.setdefault(submission.student.casefold(), []).append((submission, place))
            seen.update({submission.source} - {None})
    result, told = [], []
    taken = set(claimants)
    for claims in claimants.values():
        if len(claims) == 1:
            result.append(claims[0][0])
            continue
        parts = []
        for submission, place in claims:
            digest = hashlib.sha256(os.fsencode(place)).hexdigest()
            length = _SUFFIX_DIGITS
            while (student := f"{submission.student}~{digest[:length]}").casefold() in taken:
                length += 1
            taken.add(student.casefold())
            note = f"{len(claims)} submissions have the id “{submission.student}”; this one is kept as “{student}”."
            note = " ".join(filter(None, [submission.note, note]))
            result.append(replace(submission, student=student, note=note))
            parts.append(f"{_shown(place)} is graded as “{student}”")
        told.append(f"{len(claims)} submissions have the id “{claims[0][0].student}”: {', '.join(parts)}.")
    return result, told
