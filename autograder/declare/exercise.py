"""The declaration of an exercise, and what follows from it: cases with references, tolerances, wrong references."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache
from types import FunctionType
from typing import Any, cast

import numpy as np

from autograder.course.settings import CourseError
from autograder.declare.declaration import Case, Declaration, Group, describe
from autograder.declare.mistakes import Edit, EditError, Formula, Mistake
from coursekit.check.comparison import difference, fingerprint
from coursekit.check.judge import UNNAMED_MODES, ExerciseSpec, Expectation
from coursekit.generator import Generator
from coursekit.probes.driving import MODES

Oracle = Callable[..., Any]

FIND_THE_BUG = "find_the_bug"  # the exercise whose mistakes are not to be named by how the numbers change
GIVEN = "given"  # the id of what is wrong in given code
VISIBLE_SEED = 20170612  # the day "Attention Is All You Need" appeared; any fixed number would do
MAX_DRAWS = 1000  # attempts to draw a group's cases so that they catch what it declares


@dataclass
class Exercise(Declaration):
    """An exercise of a lab, declared once: ``exercise = Exercise(…)``, its formula, groups, mistakes and hints.

    The student's object is a function with the signature of the formula, unless `layer` or `own_probe` says otherwise.

    Attributes:
        oracle: NumPy function of the inputs that returns named results: the right formula, and nothing else. It keeps
            the float type of its inputs, so that tests can measure rounding with it. `formula` declares it.
        by_mode: oracles of those modes of the probe that ask for other results, such as ``parameters``.
        probe_only: inputs that the probe knows and the oracle does not need. Any other name that the oracle does not
            take is an error.
        call: inputs that the function gets by position, in order; by default those of the formula without a default.
        optional: inputs that it gets by keyword, in the cases that have them; by default the formula's others.
        returns: names of the results; the student's function returns a tuple if there are several, and the formula
            may return them as the function does.
        fields: the entries of the dictionary that the student's function returns, if it returns one.
        layer: of a layer, how it is built and called: the fields of `coursekit.probes.driving.LayerProbe` but its name.
        own_probe: whether `coursekit.probes` holds a probe of the exercise's name, which drives the object.
        named_mistakes: the mistakes that can be named, by id, the most likely first.
        given_mistake: what is wrong in code that students get to mend; every group catches it, and no check names it.
    """

    _: KW_ONLY
    oracle: Oracle | None = None
    by_mode: Mapping[str, Oracle] = field(default_factory=dict)
    probe_only: tuple[str, ...] = ()
    call: tuple[str, ...] | None = None
    optional: tuple[str, ...] = ()
    returns: tuple[str, ...] = ("output",)
    fields: tuple[str, ...] = ()
    layer: Mapping[str, Any] = field(default_factory=dict)
    own_probe: bool = False
    named_mistakes: dict[str, Mistake] = field(default_factory=dict, init=False)
    given_mistake: Mistake | None = field(default=None, init=False)
    _formulas: Formula | None = field(default=None, init=False, repr=False)
    _made: dict[str, dict[str, Oracle]] = field(default_factory=dict, init=False, repr=False)

    def formula(self, function: Oracle) -> Oracle:
        """Declare the right formula: decorates a float64 NumPy function of the inputs.

        It returns the results as the student's function does, or a dictionary of them by name. For modes of the probe
        that ask for something else, `formula_for` declares another one.

        Write it from its source, not from the solution. The weight ``w_q.kernel`` is its argument ``w_q_kernel``. A
        result that may be any number is NaN. Its loops end whatever is changed in them (``for``, not ``while``),
        because mistakes and mutants are changed formulas. Import what several exercises need by its name, because
        edits change that, too; and name no function of the module like a method that the formula calls (``values``).
        """
        if self.oracle is not None:
            raise ValueError(f"{self.name}: a second formula; use formula_for(mode) if it is for a mode of the probe")
        self.oracle = function
        return function

    def formula_for(self, *modes: str) -> Callable[[Oracle], Oracle]:
        """Declare the formula of modes of the probe that ask for other results, such as ``parameters``."""

        def declare(function: Oracle) -> Oracle:
            self.by_mode = {**self.by_mode, **dict.fromkeys(modes, function)}
            return function

        return declare

    def mistakes(self, **named: Mistake) -> None:
        """Declare the mistakes that can be named, the most likely first, after the formula.

        Raises:
            ValueError: an edit does not fit the formula as many times as it says, or changes nothing; two mistakes are
                the same; or there is no sentence. The message names the mistake.
        """
        self._name(named)
        first: dict[object, str] = {}
        for id, mistake in self.named_mistakes.items():
            change = frozenset(self._try_edits(id, mistake).items()), mistake.instead, repr(mistake.seen)
            if (other := first.setdefault(change, id)) != id:
                raise ValueError(f"{self.name}: {other} and {id} are one and the same mistake; take one of them out")

    def _name(self, named: Mapping[str, Mistake]) -> None:
        if silent := [id for id, mistake in named.items() if not mistake.sentence]:
            raise ValueError(f"{self.name}, mistake {silent[0]}: what is the student told? Write | and a sentence")
        self.named_mistakes.update(named)

    def parameters(
        self, title: str, draw: Callable[[Generator], dict[str, Any]], *, told: Sequence[str], points: int = 1
    ) -> None:
        """Declare the standard group `parameters`: a layer has the right number of them, at sizes that are drawn.

        Args:
            title: what the group tests, in the student's terms.
            draw: draws the inputs.
            told: the inputs of which the student is told the values.
            points: as for a group.
        """

        def count(rng: Generator) -> Case:
            inputs = draw(rng)
            sizes = ", ".join(f"{name}={inputs[name]}" for name in told)
            return Case(inputs, f"trainable parameters, {sizes}", mode="parameters")

        self.group(title, points=points, parameters=count)

    def training(
        self,
        draw: Callable[[Generator], dict[str, Any] | tuple[dict[str, Any], dict[str, Any]]],
        *,
        unknown: str = "batch size and length",
        points: int = 1,
    ) -> None:
        """Declare the standard group `training`: a layer works inside a graph, and its gradients are right.

        Where optional inputs are drawn, it also has to work inside a graph without them.

        Args:
            draw: draws the inputs, or a pair of them: for the graph, and smaller ones for the gradients, of which each
                number costs two runs of the formula.
            unknown: what is not known inside the graph.
            points: as for a group.
        """

        def train(rng: Generator) -> Iterator[Case]:
            drawn = draw(rng)
            large, small = drawn if isinstance(drawn, tuple) else (drawn, drawn)
            yield Case(large, f"inside tf.function, {unknown} unknown", mode="graph")
            results = self.reference(Case(small)).items()
            cotangents = {f"cotangent.{key}": rng.normal(size=value.shape).astype("float32") for key, value in results}
            yield Case({**small, **cotangents}, "gradients, compared with numerical ones", mode="gradient")
            if optional := [name for name in self.layer.get("optional", ("mask",)) if name in large]:
                rest = {name: value for name, value in large.items() if name not in optional}
                yield Case(rest, f"inside tf.function, {unknown} unknown, without {', '.join(optional)}", mode="graph")

        self.group("works inside tf.function, and gradients reach every weight", points=points, training=train)

    def given(self, *edits: tuple[str, str]) -> None:
        """Declare what is wrong in code that students get to mend, as edits of the formula.

        Its cases are drawn so that the given code fails in every group. No check names it: to find it is the task.

        Raises:
            ValueError: an edit does not fit the formula exactly once.
        """
        self.given_mistake = Mistake(edits=tuple(Edit(*edit) for edit in edits))
        self._try_edits(GIVEN, self.given_mistake)

    def _try_edits(self, id: str, mistake: Mistake) -> dict[FunctionType, str]:
        try:
            changed = self.formulas.change_texts(mistake.edits)  # now, while the sources are there
        except EditError as error:
            raise ValueError(f"{self.name}, mistake {id}: {error}") from error
        if changed and all(self.formulas.texts[function] == text for function, text in changed.items()):
            raise ValueError(
                f"{self.name}, mistake {id}: its edit leaves the formula as it is; write what is wrong there"
            )
        return changed

    def _find_mistake(self, id: str) -> Mistake:
        return self.given_mistake if id == GIVEN and self.given_mistake else self.named_mistakes[id]

    @property
    def formulas(self) -> Formula:
        """The formula's functions as text, open to edits."""
        if self._formulas is None:
            if self.oracle is None:
                raise ValueError(f"{self.name}: there is no formula; declare it with @exercise.formula first")
            self._formulas = Formula({"": self.oracle, **self.by_mode})
        return self._formulas

    @property
    def probe(self) -> Mapping[str, Any] | None:
        """How the object is driven, as plain data; None where it has a probe of its own."""
        if self.layer:
            return {"kind": "layer"} | {key: _plain_data(value) for key, value in self.layer.items()}
        if self.own_probe:
            return None
        names = dict(zip(("call", "optional"), self.arguments, strict=True))
        last = {"fields": self.fields} if self.fields else {"returns": self.returns}
        kind = "record" if self.fields else "function"
        return {"kind": kind} | {key: list(value) for key, value in (names | last).items()}

    @property
    def arguments(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The inputs that the function gets by position, and those that it gets by keyword."""
        if self.call is not None or self.own_probe or self.layer or self.oracle is None:
            return self.call or (), self.optional
        parameters = inspect.signature(self.oracle).parameters.values()
        needed = tuple(one.name for one in parameters if one.default is one.empty)
        return needed, tuple(one.name for one in parameters if one.name not in needed)

    @property
    def spec(self) -> ExerciseSpec:
        """What a student may know of the exercise, with the mistakes that can be named."""
        named = self.named_mistakes
        given = {GIVEN: ""} if self.given_mistake else {}  # it is recognised, so that nothing else is named for it
        return replace(
            super().spec,
            sentences={id: mistake.sentence for id, mistake in named.items()} | given,
            next_hints={id: mistake.hint for id, mistake in named.items() if mistake.hint},
            relations=self.oracle is not None and self.name != FIND_THE_BUG,  # to find that out is the task there
            costs_at_most={id: mistake.costs_at_most for id, mistake in named.items() if mistake.costs_at_most < 1},
        )

    def expectations(self, seed: int) -> list[Expectation]:
        """Draw the cases from `seed` and compute their references, right and wrong."""
        return [expectation for group, rng in self.generators(seed) for expectation in self._draw_catching(group, rng)]

    def _draw_catching(self, group: Group, rng: Generator) -> list[Expectation]:
        for _ in range(MAX_DRAWS):
            drawn = [self._expectation(group, case) for case in group.draw(rng)]
            if _catches_as_declared(group, drawn, (GIVEN,) if self.given_mistake else ()):
                return drawn
        raise CourseError(
            f"{self.at(group.name)}{self.name}: none of {MAX_DRAWS} draws of the group {group.name} catches what it "
            "declares; draw other cases, or take a name out of must_fail_for or must_pass_for"
        )

    def _expectation(self, group: Group, case: Case) -> Expectation:
        self._refuse_unknown_inputs(group, case)
        self._refuse_unknown_mode(group, case)
        exact = self.reference(case)
        tolerance = {key: self.bound(scale_case(case, exact), value) for key, value in exact.items()}
        return Expectation(
            group=group.name,
            description=case.description or describe(case),
            inputs=case.inputs,
            mode=case.mode,
            expected=exact,
            tolerance=tolerance,
            dtype=case.dtype,
            wrong=_WrongResults(self, case, exact, tolerance),
            property=case.property,
            withheld=case.withheld,
        )

    def _refuse_unknown_inputs(self, group: Group, case: Case) -> None:
        oracles = filter(None, [self.oracle, *self.by_mode.values()])
        known = {name for oracle in oracles for name in _parameters(oracle)} | set(self.probe_only)
        given = [*case.inputs, *({} if case.property else case.withheld)]
        unknown = [key for key in given if key.replace(".", "_") not in known and not key.startswith("cotangent.")]
        if unknown:
            raise CourseError(
                f"{self.at(group.name)}{self.name}, group {group.name}: the formula takes no {', '.join(unknown)}. "
                "Misspelt? An input for the probe alone is declared in `probe_only`."
            )

    def _refuse_unknown_mode(self, group: Group, case: Case) -> None:
        if self.probe is None:
            return
        known = MODES[self.probe["kind"]]
        if case.mode not in known:
            given, names = f"{self.at(group.name)}{self.name}, group {group.name}", ", ".join(known)
            raise CourseError(
                f'{given}: there is no mode "{case.mode}" of a {self.probe["kind"]}. Misspelt? Use: {names}.'
            )

    def reference(self, case: Case, precision: str = "float64") -> dict[str, Any]:
        """The formula's results for a case, in the float type `precision`."""
        return self.run(self._right(case.mode), case, precision)

    def mistaken_results(self, case: Case, id: str) -> dict[str, Any]:
        """What a case gives with a mistake.

        Raises:
            ValueError, IndexError, OverflowError: the formula with this mistake ends in an error.
        """
        functions = self._with_mistake(id)
        results = self.run(functions.get(case.mode) or functions[""], case)
        seen = self._find_mistake(id).seen
        named = seen if isinstance(seen, Mapping) else {self.returns[0]: seen}
        return results | {key: value for key, value in named.items() if key in results and value is not None}

    def with_mistake(self, id: str) -> Oracle:
        """The formula with one mistake in it, for draws of cases that must tell it from the right one."""
        return self._with_mistake(id)[""]

    def _right(self, mode: str) -> Oracle:
        oracle = self.by_mode.get(mode, self.oracle)
        if oracle is None:
            raise ValueError(f"{self.name}: there is no formula; declare it with @exercise.formula")
        return oracle

    def _with_mistake(self, id: str) -> dict[str, Oracle]:
        """The formula's functions by mode, with a mistake in them."""
        if id not in self._made:
            mistake = self._find_mistake(id)
            self._made[id] = self.formulas.make(mistake.edits, mistake.instead)
        return self._made[id]

    def run(self, oracle: Oracle, case: Case, precision: str = "float64") -> dict[str, Any]:
        """What a formula returns in a case, by the results' names, computed in the float type `precision`."""
        inputs = {
            key: value.astype(precision) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value
            for key, value in {**case.inputs, **case.withheld}.items()
        }
        cotangents = {key: inputs.pop(key) for key in list(inputs) if key.startswith("cotangent.")}
        call = _keywords(oracle, case.mode)

        def named(given: Mapping[str, Any]) -> Mapping[str, Any]:
            results = call(given)
            if isinstance(results, Mapping):
                return results
            return dict(zip(self.returns, results if len(self.returns) > 1 else (results,), strict=True))

        with np.errstate(all="ignore"):
            if case.mode == "gradient":
                return numerical_gradients(named, inputs, cotangents)
            results = named(inputs)
        return {key: value.item() if isinstance(value, np.generic) else value for key, value in results.items()}


def _plain_data(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value


def scale_case(case: Case, exact: Mapping[str, Any]) -> Case:
    """The case, with the size of its largest gradient as its scale.

    One backward pass makes all gradients: what is rounded on the way is as large where a small one's terms cancel.
    """
    if case.mode != "gradient":
        return case
    return replace(case, scale=max(case.scale, *(float(np.abs(value).max(initial=0.0)) for value in exact.values())))


def _catches_as_declared(group: Group, drawn: Sequence[Expectation], always: Sequence[str]) -> bool:
    """Whether the cases catch the mistakes that they must, and no other; each by so much that rounding does not decide.

    Those of `always` must be caught by every group.
    """

    def fails(mistake: str, tolerances: float) -> bool:
        wrong = (cast(_WrongResults, expectation.wrong) for expectation in drawn)
        return any(results.differs_by(tolerances, mistake) for results in wrong)

    return all(fails(mistake, 2) for mistake in (*group.must_fail_for, *always)) and not any(
        fails(mistake, 0.5) for mistake in group.must_pass_for
    )


def _keywords(oracle: Oracle, mode: str) -> Callable[[Mapping[str, Any]], Any]:
    """The oracle as a function of the inputs alone. `mode` is handed over only to oracles that ask for it."""
    accepted = _parameters(oracle)
    asked = {"mode": mode} if "mode" in accepted else {}

    def call(inputs: Mapping[str, Any]) -> Any:
        named = {key.replace(".", "_"): value for key, value in inputs.items()}
        return oracle(**{key: value for key, value in named.items() if key in accepted}, **asked)

    return call


@cache
def _parameters(oracle: Oracle) -> frozenset[str]:
    return frozenset(inspect.signature(oracle).parameters)


def numerical_gradients(
    oracle: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    inputs: Mapping[str, Any],
    cotangents: Mapping[str, np.ndarray],
    step: float = 1e-5,
) -> dict[str, np.ndarray]:
    """Gradients of ``sum(result * cotangent)`` with respect to every float array among the inputs.

    Central differences in float64 (error of order ``step**2``), whatever the float type of the inputs.
    """
    fixed = {
        key: value.astype("float64") if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value
        for key, value in inputs.items()
    }

    def loss(changed: Mapping[str, Any]) -> float:
        results = oracle(changed)
        return sum(float(np.sum(results[key.partition(".")[2]] * weight)) for key, weight in cotangents.items())

    gradients = {}
    for key, value in fixed.items():
        if not (isinstance(value, np.ndarray) and value.dtype.kind == "f") or key == "mask":
            continue
        gradient = np.zeros_like(value)
        for index in np.ndindex(value.shape):
            shifted = value.copy()
            shifted[index] = value[index] + step
            upper = loss({**fixed, key: shifted})
            shifted[index] = value[index] - step
            gradient[index] = (upper - loss({**fixed, key: shifted})) / (2 * step)
        gradients[f"gradient.{key}"] = gradient
    return gradients


@dataclass(eq=False)
class _WrongResults(Mapping[str, Mapping[str, Any]]):
    """Fingerprints of the results with each mistake that changes them, each computed when first asked for.

    Most submissions are right in most cases, and then nobody asks.
    """

    _exercise: Exercise
    _case: Case
    _exact: Mapping[str, Any]
    _tolerance: Mapping[str, float]
    _known: dict[str, dict[str, Any] | None] = field(default_factory=dict)

    def differs_by(self, tolerances: float, mistake: str) -> bool:
        """Whether this mistake changes a result by more than so many tolerances, or the given code raises an error."""
        results = self._results(mistake)
        if results is None:
            return mistake == GIVEN and self._case.mode not in UNNAMED_MODES
        return self._differ(results, tolerances)

    def _results(self, mistake: str) -> dict[str, Any] | None:
        if self._case.mode in UNNAMED_MODES:
            return None
        try:
            results = self._exercise.mistaken_results(self._case, mistake)
            numbers = {key for key, value in self._exact.items() if isinstance(value, np.ndarray)}
            return {key: np.asarray(value) if key in numbers else value for key, value in results.items()}
        except (ValueError, IndexError, OverflowError):
            return None

    def _differ(self, results: Mapping[str, Any], tolerances: float) -> bool:
        return any(
            differs(key, results[key], value, tolerances * self._tolerance[key]) for key, value in self._exact.items()
        )

    def __getitem__(self, mistake: str) -> Mapping[str, Any]:
        if mistake not in self._known:  # None where it changes nothing, or ends in an error
            results = self._results(mistake)
            if results is not None and not self._differ(results, 1):
                results = None
            self._known[mistake] = results and {key: fingerprint(value) for key, value in results.items()}
        if (prints := self._known[mistake]) is None:
            raise KeyError(mistake)
        return prints

    def __iter__(self) -> Iterator[str]:
        given = [GIVEN] if self._exercise.given_mistake else []
        return (mistake for mistake in [*self._exercise.named_mistakes, *given] if mistake in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def differs(key: str, result: Any, exact: Any, tolerance: float) -> bool:
    """Whether a wrong reference differs from the right one at a place where the right one is not NaN."""
    if isinstance(exact, np.ndarray) and exact.dtype.kind == "f" and np.shape(result) == exact.shape:
        result = np.where(np.isnan(exact), 0.0, result)
    return difference(key, result, exact, tolerance) is not None
