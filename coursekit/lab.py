"""The student's side of a lab: `start_lab` gives the `check` function of its notebook."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coursekit import failures, rules
from coursekit.judge import Attempt, Expectation, Judgement, judge, tidy_message
from coursekit.probes import load_probe
from coursekit.probes.driving import ContractError, NotFound
from coursekit.probes.sharing import Shelf, sharing
from coursekit.reference import LabReference, load_reference
from coursekit.report import CheckFailed, Report


def start_lab(lab: str) -> Lab:
    """Open a lab and say what is in it.

    Args:
        lab: the lab's folder name, such as ``"02_self_attention"``.

    Returns:
        The lab, to be called with an exercise's name: ``check = start_lab(…)``, then ``check("SelfAttention")``.

    Raises:
        ValueError: there is no such lab.
    """
    started = Lab(load_reference(lab))
    total = sum(started.reference.points.values())
    print(
        f"Lab {lab[:2]}, {started.reference.title}: {len(started.progress)} exercises, {total:g} points. "
        'After each exercise, run the cell check("…") below it.'
    )
    return started


class Lab:
    """The visible checks of one lab, and which of them passed."""

    def __init__(self, reference: LabReference):
        self.reference = reference
        self.progress = dict.fromkeys(reference.facts, False)
        self.attempts = dict.fromkeys(reference.facts, 0)

    def __call__(self, exercise: str) -> None:
        """Check an exercise, show the report, and raise `CheckFailed` unless every check passes.

        Args:
            exercise: the exercise's name; the object of that name is taken from the notebook.

        Raises:
            ValueError: the lab has no such exercise.
            CheckFailed: something is not right yet; the report above says what.
        """
        report = self.report(exercise, sys._getframe(1).f_globals)
        _show(report)
        if not report.judgement.passed:
            raise CheckFailed(report.summary)

    def report(self, exercise: str, namespace: Mapping[str, Any]) -> Report:
        """Check an exercise on the objects in `namespace`, and return the report."""
        if exercise not in self.reference.facts:
            raise ValueError(f"no exercise {exercise!r} in this lab; there are {', '.join(self.reference.facts)}")
        facts = self.reference.facts[exercise]
        expectations = self.reference.expectations[exercise]
        trees = rules.parse_cells(namespace.get("In", ()))
        broken = rules.violations(trees, exercise, forbidden=facts.forbidden, no_loops=facts.no_loops)
        with rules.guard(facts.forbidden), _calm_tensorflow(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook shows warnings as errors, below the report
            attempts = run_cases(self.reference.lab, exercise, expectations, namespace)
        judgement: Judgement = judge(facts, expectations, attempts, broken)
        self.progress[exercise] = judgement.passed
        if judgement.status != "missing" and not judgement.passed:
            self.attempts[exercise] += 1
        return Report(facts, judgement, self.attempts[exercise], self.progress)


def run_cases(
    lab: str, exercise: str, expectations: Sequence[Expectation], namespace: Mapping[str, Any]
) -> list[Attempt]:
    """Run the probe of an exercise on each case, and catch what goes wrong. The cases share the layers they build."""
    probe = load_probe(lab, exercise)
    with sharing(Shelf()):
        return [_attempt(probe, namespace, case) for case in expectations]


def _attempt(probe: Any, namespace: Mapping[str, Any], case: Expectation) -> Attempt:
    try:
        outputs = probe(namespace, case.inputs, case.mode)
        return Attempt({name: as_plain(value) for name, value in outputs.items()})
    except (NotFound, NotImplementedError) as error:
        return Attempt(kind="missing", message=tidy_message(str(error)) or "not written yet.")
    except ContractError as error:
        return Attempt(kind="contract", message=str(error))
    except rules.ForbiddenCall as error:
        return Attempt(kind="forbidden", message=str(error))
    except Exception as error:
        message = tidy_message(f"{type(error).__name__}: {error}")
        line = failures.place(error, namespace)
        return Attempt(kind="error", message=f"{message.rstrip('.')}, in your line `{line}`" if line else message)


def as_plain(value: Any) -> Any:
    """A result as NumPy array, number, string, list or dict, whatever it was: tensor, Keras variable, tuple."""
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray)):
        return value
    if isinstance(value, np.generic):
        return value.item() if value.dtype.kind in "US" else np.asarray(value)
    if isinstance(value, Mapping):
        return {str(key): as_plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        try:
            array = np.asarray(value)
        except (ValueError, TypeError):
            array = np.asarray(None)
        return array if array.dtype.kind in "biuf" and array.size else [as_plain(each) for each in value]
    return np.asarray(value)


@contextlib.contextmanager
def _calm_tensorflow() -> Iterator[None]:
    """While a check runs: no TensorFloat-32, which rounds matrix products on recent GPUs to about three digits, and no
    advice in TensorFlow's log, which is about the check's own way of calling."""
    if "tensorflow" not in sys.modules:
        yield
        return
    import tensorflow as tf

    settings, log = tf.config.experimental, tf.get_logger()
    precision, level = settings.tensor_float_32_execution_enabled(), log.level
    settings.enable_tensor_float_32_execution(False)
    log.setLevel("ERROR")
    try:
        yield
    finally:
        settings.enable_tensor_float_32_execution(precision)
        log.setLevel(level)


def _show(report: Report) -> None:
    from IPython import get_ipython
    from IPython.display import display

    if get_ipython() is None:
        print(report)
    else:
        display(report)
