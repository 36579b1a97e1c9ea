"""What every declared exercise has: groups of cases, hints, rules, and the tolerance that follows from rounding.

The exercises of a lab are declared in one folder beside course.toml, one file for each: see `declared_exercises`.
"""

from __future__ import annotations

import importlib
import math
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypedDict

import numpy as np

from autograder.course.settings import Course, CourseError
from coursekit.check.judge import Attempt, ExerciseSpec, Expectation, GroupSpec
from coursekit.generator import Generator

EPSILON = float(np.finfo("float32").eps)
FACTOR = 16  # tolerance over the error that rounding is expected to make


@dataclass(frozen=True)
class Case:
    """One thing to try.

    Attributes:
        inputs: named inputs, handed to the probe and, without those that only the probe knows, to the oracle.
        description: what is tried, in the student's terms; shapes of the inputs when empty.
        mode: the probe's mode (see `coursekit.probes.driving`).
        dtype: the float type that every result must have; None when any float type will do.
        property: name of a property in `coursekit.check.comparison` to be met besides.
        withheld: what the oracle and the property need and the probe must not have, such as the labels of test data.
        scale: size of the numbers that are rounded on the way to the results, where it is not about 1.
    """

    inputs: dict[str, Any]
    description: str = ""
    mode: str = "call"
    dtype: str | None = None
    property: str | None = None
    withheld: Mapping[str, Any] = field(default_factory=dict)
    scale: float = 1.0


class Advice(TypedDict, total=False):
    """What to look at when a group fails and no mistake explains it, by the kind of failure.

    A number that is not right, NaN or infinity, another shape, a failure inside `tf.function`. A kind without a text
    gets none.
    """

    value: str
    nan: str
    shape: str
    graph: str


Drawn = Case | dict[str, Any] | Iterable[Case | dict[str, Any]]
Draw = Callable[[Generator], Drawn]


@dataclass(frozen=True)
class Group:
    """A named group of cases, passed or failed as a whole; `Declaration.group` says what the fields mean."""

    name: str
    title: str
    weight: int
    draw: Callable[[Generator], list[Case]]
    advice: str | Advice = ""
    must_fail_for: tuple[str, ...] = ()
    must_pass_for: tuple[str, ...] = ()
    fixed: str = ""


@dataclass(frozen=True)
class WrongAnswer:
    """The source of a cell that may not pass all groups; `names` is the mistake that has to be named for it, if any."""

    source: str
    names: str = ""


@dataclass
class Declaration:
    """What every exercise of a lab declares, wherever its references come from.

    Attributes:
        name: the name of the student's object, and of the exercise's cells in the notebook.
        forbidden: dotted names that may not do the work.
        no_loops: whether Python loops are ruled out.
        reveal: whether messages may state reference values of visible cases.
        tolerance: fixed tolerance, for answers that are rounded by hand; None for the bound of rounding.
        cpu_seconds: CPU time for the exercise where it trains something; None for the course's limit.
        uses: other exercises of the lab that the solution calls, by name. Where one of them is wrong, its cell of the
            solution takes its place: let that cell define the exercise and nothing else.
        groups: the groups of cases, in the order of their declaration.
        wrong_answers: what may not pass; see `must_fail`.
        file, text: the file that declares it, by its path in the course, and what it says.
        hint_texts: by group, hints of rising strength for who fails it; none states the answer.
        worked: the derivation in words, for who passed, or has had every hint; no line of the solution.
    """

    name: str
    _: KW_ONLY
    forbidden: tuple[str, ...] = ()
    no_loops: bool = False
    reveal: bool = True
    tolerance: float | None = None
    cpu_seconds: float | None = None
    uses: tuple[str, ...] = ()
    groups: list[Group] = field(default_factory=list, init=False)
    hint_texts: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False)
    wrong_answers: list[WrongAnswer] = field(default_factory=list, init=False)
    worked: str = field(default="", init=False)
    file: str = field(default="", init=False, repr=False)
    text: str = field(default="", init=False, repr=False)

    def at(self, word: str = "") -> str:
        """Where the declaration says a word, such as a mistake's id, as "FILE:LINE: "; "" where no file was read."""
        said = [rf'"{each}"|\b{each}=|def {each}\(' for each in (word, self.name) if each]
        numbered = [*enumerate(self.text.splitlines(), start=1)]
        lines = (number for pattern in said for number, line in numbered if re.search(pattern, line))
        return f"{self.file}:{next(lines, 1)}: " if self.file else ""

    def group(
        self,
        title: str,
        *,
        points: int = 1,
        name: str = "",
        must_fail_for: Sequence[str] = (),
        must_pass_for: Sequence[str] = (),
        fixed: str = "",
        **named: Draw,
    ) -> Callable[[Draw], Draw]:
        """Declare a group of cases: in one statement, or as the decorator of the function that draws its cases.

            exercise.group("right values", points=2, values=cases(x=[(7,), (5, 3)]))

            @exercise.group("large scores")
            def large(rng):
                return {"x": 1000 * normal(rng, 5, 3)}

        The function returns a `Case`, its inputs alone, or several of them.

        Args:
            title: what the group tests, in the student's terms.
            points: its share of the exercise's points, relative to the other groups.
            name: short id, unique in the exercise; that of the decorated function by default.
            must_fail_for: ids of mistakes that this group has to catch, though not every draw of its cases does.
            must_pass_for: ids of mistakes that may not fail this group. For both, cases are drawn again
                until they do as declared, so that marks do not depend on the seed.
            fixed: why the expected values are the same for every seed, such as a refusal; `course release` lists it.
            named: where nothing is decorated, what draws the cases, under the name of the group.

        Raises:
            ValueError: the points are not positive, there is another group of this name, two draws are given, or one
                is no function.
        """
        if points <= 0:
            raise ValueError(
                f'{self.name}: the group "{title}" has {points} points; give it at least 1, or leave it out'
            )
        if len(named) > 1:
            raise ValueError(f'{self.name}: the group "{title}" has two names, {" and ".join(named)}')

        def declare(draw: Draw) -> Draw:
            own = next(iter(named), name or getattr(draw, "__name__", ""))
            if not callable(draw):
                raise ValueError(f'{self.name}: the group "{title}" has no {own}; it takes a function that draws cases')
            if any(other.name == own for other in self.groups):
                raise ValueError(f"{self.name}: two groups are called {own}")
            must = tuple(must_fail_for), tuple(must_pass_for)
            self.groups.append(Group(own, title, points, lambda rng: as_cases(draw(rng)), "", *must, fixed))
            return draw

        for draw in named.values():
            declare(draw)
        return declare

    def types(self, draw: Callable[[Generator, str], dict[str, Any]], *, kept: bool = False, points: int = 1) -> None:
        """Declare the standard group `types`: TensorFlow tensors, NumPy arrays of float32, and of float64.

        Args:
            draw: draws the inputs from the generator, in the float type that it gets.
            kept: whether the results must have the inputs' float type.
            points: as for a group.
        """

        def try_each(rng: Generator) -> Iterator[Case]:
            for kind, dtype in (("tensor", "float32"), ("call", "float32"), ("call", "float64")):
                inputs = draw(rng, dtype)
                several = sum(isinstance(value, np.ndarray) for value in inputs.values()) > 1
                one, many = ("a TensorFlow tensor", "TensorFlow tensors")
                if kind == "call":
                    one, many = f"a NumPy array of {dtype}", f"NumPy arrays of {dtype}"
                yield Case(inputs, many if several else one, mode=kind, dtype=dtype if kept else None)

        self.group("arrays and tensors" + ", float type kept" * kept, points=points, types=try_each)

    def advice(self, **by_group: str | Advice) -> None:
        """Declare what to look at when a group fails and no mistake explains it, best by the kind of failure.

        Raises:
            ValueError: there is no such group.
        """
        self._refuse_unknown_groups("advice", by_group)
        self.groups = [replace(group, advice=by_group.get(group.name, group.advice)) for group in self.groups]

    def hints(self, **by_group: str | tuple[str, ...]) -> None:
        """Declare the hints for who fails a group; none states the answer.

        Args:
            by_group: one hint, or several in rising strength. The first is shown after the second check that fails
                at this group, and so on.

        Raises:
            ValueError: there is no such group, or it has its hints.
        """
        self._refuse_unknown_groups("hints", by_group)
        if twice := sorted(by_group.keys() & self.hint_texts.keys()):
            raise ValueError(f"{self.name}: second hints for {', '.join(twice)}")
        self.hint_texts |= {name: (texts,) if isinstance(texts, str) else texts for name, texts in by_group.items()}

    def _refuse_unknown_groups(self, what: str, by_group: Mapping[str, Any]) -> None:
        names = [group.name for group in self.groups]
        if unknown := [name for name in by_group if name not in names]:
            raise ValueError(f"{self.name}: {what} for {', '.join(unknown)}, but the groups so far are {names}")

    def must_fail(self, *answers: str, names: str = "") -> None:
        """Declare wrong answers, each the source of a cell that stands in the place of the solution's.

        `course release` runs them in the sandbox on the visible cases.

        Args:
            answers: the sources. A release is refused when one of them passes all cases.
            names: the id of the mistake that the check has to name for each of them; it is refused, too, when another
                one is named, or none.
        """
        self.wrong_answers += (WrongAnswer(answer, names) for answer in answers)

    @property
    def spec(self) -> ExerciseSpec:
        """What a student may know of the exercise."""
        return ExerciseSpec(
            name=self.name,
            groups=tuple(
                GroupSpec(
                    group.name, group.title, group.weight, _as_data(group.advice), self.hint_texts.get(group.name, ())
                )
                for group in self.groups
            ),
            sentences={},
            forbidden=self.forbidden,
            no_loops=self.no_loops,
            reveal=self.reveal,
            probe=self.probe,
            worked=self.worked,
        )

    @property
    def probe(self) -> Mapping[str, Any] | None:
        """How the object is driven, where `coursekit.probes` holds no probe of this name."""
        return None

    def generators(self, seed: int) -> Iterator[tuple[Group, Generator]]:
        """Each group with a generator of its own, so that a changed group leaves the others' cases as they were."""
        for index, group in enumerate(self.groups):
            yield group, Generator([seed, index, *self.name.encode()])

    def bound(self, case: Case, exact: Any) -> float:
        """The largest difference that rounding may explain; 0 for numbers that are counted or written down.

        A sum of n terms in float32 is off by about √n ε times their size, in whatever order they are added (Higham and
        Mary 2019, "A new approach to probabilistic rounding error analysis"). The factor allows for the many steps of a
        network. Sizes and values alone make the bound, not an error seen on one processor: every machine has the same.
        """
        if not isinstance(exact, (np.ndarray, float)) or (isinstance(exact, np.ndarray) and exact.dtype.kind != "f"):
            return 0.0
        if self.tolerance is not None:
            return self.tolerance
        terms = max((np.size(value) for value in case.inputs.values() if isinstance(value, np.ndarray)), default=1)
        values = np.asarray(exact)[np.isfinite(exact)]
        scale = max(case.scale, float(np.abs(values).max(initial=0.0)))
        return FACTOR * math.sqrt(terms) * EPSILON * scale


def as_cases(drawn: Drawn | None) -> list[Case]:
    """What a group's function returned as cases: of a `Case`, of inputs alone, or of several of them."""
    several = [drawn] if isinstance(drawn, Case | dict) else drawn or ()
    return [case if isinstance(case, Case) else Case(case) for case in several]


def cases(*, mode: str = "call", dtype: str | None = None, **inputs: Any) -> Draw:
    """What draws cases from shapes: `cases(x=[(7,), (5, 3)], axis=0)` are two cases with the same axis.

    Args:
        mode, dtype: see `Case`.
        inputs: a list has an entry for each case, anything else is the same in all of them. A tuple of sizes is the
            shape of normal numbers in float32; a function draws its value from the generator.
    """
    count = max((len(value) for value in inputs.values() if isinstance(value, list)), default=1)

    def draw(rng: Generator) -> list[Case]:
        entries = ({key: _entry(value, number) for key, value in inputs.items()} for number in range(count))
        return [
            Case({key: _draw_value(value, rng) for key, value in entry.items()}, mode=mode, dtype=dtype)
            for entry in entries
        ]

    return draw


def _entry(value: Any, number: int) -> Any:
    return value[number] if isinstance(value, list) else value


def _draw_value(value: Any, rng: Generator) -> Any:
    if isinstance(value, tuple):
        return rng.normal(size=value).astype("float32")
    return value(rng) if callable(value) else value


def _as_data(advice: str | Advice) -> str | Mapping[str, str]:
    return advice if isinstance(advice, str) else {kind: str(text) for kind, text in advice.items()}


def describe(case: Case) -> str:
    """What a case tries, by its inputs."""
    parts = []
    for key, value in case.inputs.items():
        if key.startswith("cotangent."):
            continue
        if isinstance(value, np.ndarray):
            parts.append(f"{key} {value.shape}")
        else:
            parts.append(f"{key}={value!r}")
    return ", ".join(parts)


# -- an instructor's own exercise: her solution gives the right results -----------------------------------------------


Solution = Callable[[Case], Attempt]  # tries the instructor's own object on one case
_MODES = ("call", "tensor")


class SolutionFails(ValueError):
    """The instructor's solution gives no reference for a case; the message says what came instead."""


@dataclass
class OwnExercise(Declaration):
    """An exercise whose references come from the solution in the notebook, run on the same inputs.

    Attributes:
        call: inputs that the function gets by position, in the order of its signature; None where the exercise is a
            value: a variable of that name, or with inputs ``{"entry": key}`` an entry of a dictionary of that name.
        optional: inputs that the function gets by keyword, in the cases that have them.
        returns: names of the function's results; a tuple is expected when there are several.
    """

    _: KW_ONLY
    call: tuple[str, ...] | None = None
    optional: tuple[str, ...] = ()
    returns: tuple[str, ...] = ("output",)

    @property
    def probe(self) -> Mapping[str, Any]:
        """How the object is driven, as plain data: see `coursekit.probes.described`."""
        if self.call is None:
            return {"kind": "value"}
        lists = {"call": self.call, "optional": self.optional, "returns": self.returns}
        return {"kind": "function"} | {key: list(names) for key, names in lists.items()}

    def expectations(self, seed: int, solution: Solution) -> list[Expectation]:
        """Draw the cases from `seed`, and take their references from the solution.

        Raises:
            SolutionFails: the solution raises, or returns nothing that can be compared.
            ValueError: a case holds what the solution does not take.
        """
        if not self.groups:
            raise ValueError(f"{self.name}: there is no group of cases; declare one with @exercise.group(…)")
        return [
            self._expectation(group, case, solution)
            for group, rng in self.generators(seed)
            for case in self._cases(group, rng)
        ]

    def inputs(self, seed: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The group and the inputs of each case drawn from `seed`. Raises ValueError, as `expectations` does."""
        for group, rng in self.generators(seed):
            for case in self._cases(group, rng):
                yield group.name, case.inputs

    def _cases(self, group: Group, rng: Any) -> list[Case]:
        try:
            cases = list(group.draw(rng) or ())
        except Exception as error:  # whatever a function of somebody's can raise
            raise ValueError(
                f"{self.name}, group {group.name}: the function that draws its cases stops with "
                f"{type(error).__name__}: {error}"
            ) from error
        if not cases:
            raise ValueError(f"{self.name}, group {group.name}: it returns no cases; return a list of Case(…)")
        if group.must_fail_for or group.must_pass_for:
            raise ValueError(f"{self.name}, group {group.name}: an exercise of your own names no mistakes")
        for case in cases:
            self._refuse(group, case)
        return cases

    def _refuse(self, group: Group, case: Case) -> None:
        where = f"{self.name}, group {group.name}"
        known = {"entry"} if self.call is None else {*self.call, *self.optional}
        if unknown := sorted(case.inputs.keys() - known):
            raise ValueError(f"{where}: there is no input {', '.join(unknown)}; there are {', '.join(sorted(known))}")
        if missing := [key for key in self.call or () if key not in case.inputs]:
            raise ValueError(f"{where}: a case has no {', '.join(missing)}")
        if case.mode not in _MODES or case.property or case.withheld:
            raise ValueError(
                f"{where}: a case of your own has inputs, description, dtype, scale and a mode, call or tensor"
            )

    def _expectation(self, group: Group, case: Case, solution: Solution) -> Expectation:
        description = case.description or describe(case) or self.name
        attempt = solution(case)
        if attempt.outputs is None:
            raise SolutionFails(f"{self.name}, group {group.name}: tried {description}: {attempt.message}")
        for key, value in attempt.outputs.items():
            if value is None or _has_nan(value):
                raise SolutionFails(
                    f"{self.name}, group {group.name}: tried {description}: the solution's `{key}` "
                    + ("is None" if value is None else "has values that are not a number (NaN)")
                )
        return Expectation(
            group=group.name,
            description=description,
            inputs=case.inputs,
            mode=case.mode,
            expected=attempt.outputs,
            tolerance={key: self.bound(case, value) for key, value in attempt.outputs.items()},
            dtype=case.dtype,
        )


def _has_nan(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    return isinstance(value, float) and value != value


# -- the declared exercises of a lab ----------------------------------------------------------------------------------


FOLDER = "exercises"  # in the course's folder; it is imported under this name
SAMPLES = "samples"  # sample submissions, and what writes them
SHARED = "shared"  # a lab's file of this name declares no exercise


def declared_exercises(course: Course, lab: str) -> dict[str, Declaration]:
    """The exercises of a lab by name, in the order of their files.

    Raises:
        CourseError: none is declared, one is declared twice, or a file of an exercise cannot be read.
    """
    found: dict[str, Declaration] = {}
    for path in lab_files(course, lab):
        exercise = _read(course, path)
        if exercise.name in found:
            raise CourseError(f"{path}: the lab has a second exercise {exercise.name}; give one another name")
        found[exercise.name] = exercise
    if not found:
        folder = lab_folder(course, lab)
        old = f"; rename the folder {old} to it" if (old := course.root / FOLDER / lab).is_dir() else ""
        raise CourseError(f"{lab}: no exercise is declared in {folder}{old}; type: course new exercise {lab} …")
    return found


def own_exercises(declared: Mapping[str, Declaration]) -> dict[str, OwnExercise]:
    """Those of the declared exercises whose references come from the solution."""
    return {name: exercise for name, exercise in declared.items() if isinstance(exercise, OwnExercise)}


def lab_folder(course: Course, lab: str) -> Path:
    """Where the exercises of a lab are declared: its name without the number, such as ``exercises/self_attention``."""
    return course.root / FOLDER / lab.partition("_")[2]


def lab_files(course: Course, lab: str) -> list[Path]:
    """The files that declare the exercises of a lab."""
    return [path for path in sorted(lab_folder(course, lab).glob("[!_.]*.py")) if path.stem != SHARED]


def course_files(course: Course) -> list[Path]:
    """All that the declarations are made of: every Python file of the course's exercises, formulas included."""
    folder = course.root / FOLDER
    return sorted(path for path in folder.rglob("*.py") if SAMPLES not in path.relative_to(folder).parts)


def _read(course: Course, path: Path) -> Declaration:
    _take(course)
    name = ".".join(path.relative_to(course.root).with_suffix("").parts)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # leaves no __pycache__ behind
    try:
        module = importlib.import_module(name)
    except Exception as error:  # whatever a file of somebody's Python can raise
        place = find_place(course, error) or path
        raise CourseError(f"{place}: cannot be run ({type(error).__name__}: {error}); correct it") from error
    finally:
        sys.dont_write_bytecode = writes
    exercise = getattr(module, "exercise", None)
    if not isinstance(exercise, Declaration):
        raise CourseError(f"{path}: declares no exercise; begin with: exercise = Exercise(…) or OwnExercise(…)")
    exercise.file, exercise.text = path.relative_to(course.root).as_posix(), path.read_text("utf-8")
    return exercise


def find_place(course: Course, error: Exception) -> str:
    """The file and line of the course's exercises in which an error was raised, or nothing."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if (path := Path(frame.filename)).is_relative_to(course.root / FOLDER):
            return f"{path.relative_to(course.root)}:{frame.lineno}"
    return ""


class _Exercises(ModuleType):
    """The folder of a course's exercises as a package, and the state of its files when it was taken."""

    state: object


def _take(course: Course) -> None:
    """Load the package `FOLDER` from this course; forget that of another course, and files edited since."""
    folder = course.root / FOLDER
    stats = [(path, path.stat()) for path in course_files(course)]
    state = [(path, stat.st_mtime_ns, stat.st_size) for path, stat in stats]
    package = sys.modules.get(FOLDER)
    if isinstance(package, _Exercises) and package.state == state:
        return
    for name in [name for name in sys.modules if name.partition(".")[0] == FOLDER]:
        del sys.modules[name]
    package = _Exercises(FOLDER)
    package.__path__ = [str(folder)]
    package.state = state
    sys.modules[FOLDER] = package
    importlib.invalidate_caches()
