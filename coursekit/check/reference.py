"""Reads a lab's reference files: the visible cases, their right results, and fingerprints of the wrong ones."""

from __future__ import annotations

import functools
import io
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, cast

import numpy as np

from coursekit import __version__
from coursekit.check.diagnosis import FINGERPRINT_SIZE, Fingerprint
from coursekit.check.judge import ExerciseSpec, Expectation, GroupSpec, Section

BESIDE = "reference"  # folder beside a lab's notebook


@dataclass(frozen=True)
class LabReference:
    """A lab as the student's side knows it: title, and for each exercise its spec and the visible cases.

    `imports` are the names that the lab's own cells import, None where an older release does not say.
    """

    lab: str
    title: str
    points: Mapping[str, float]
    specs: Mapping[str, ExerciseSpec]
    expectations: Mapping[str, list[Expectation]]
    imports: tuple[str, ...] | None = None


def load_reference(lab: str) -> LabReference:
    """Load the reference of a lab, such as ``"02_self_attention"``.

    A lab of another course than this package's brings it along: in the folder `BESIDE` beside the notebook, which a
    notebook's kernel and `python -m coursekit` have as, or make, their working folder.

    Raises:
        ValueError: there is no such lab, and the message lists those that there are; or its files are of a release
            whose form this one does not know.
    """
    own = Path.cwd() / BESIDE
    ours = cast(Path, resources.files("coursekit") / "reference")  # the package is not imported from an archive
    return _load(lab, own if (own / f"{lab}.json").is_file() else ours)


@functools.cache
def _load(lab: str, folder: Path) -> LabReference:
    try:
        description = json.loads((folder / f"{lab}.json").read_text("utf-8"))
        arrays = np.load(io.BytesIO((folder / f"{lab}.npz").read_bytes()), allow_pickle=False)
    except FileNotFoundError:
        known = sorted(path.name[:-5] for path in folder.iterdir() if path.name.endswith(".json"))
        raise ValueError(
            f"there is no lab {lab!r}: no {BESIDE}/{lab}.json lies beside the notebook (take the lab's whole folder, "
            f"and start Jupyter so that the notebook runs in it), and the labs of the course are {', '.join(known)}"
        ) from None
    with _of_this_release(lab):
        return _read(lab, description, arrays)


@contextmanager
def _of_this_release(lab: str) -> Iterator[None]:
    """Turn the error that a reference file of another release causes into a sentence."""
    try:
        yield
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(
            f"the reference files of {lab} are of another release of the course than coursekit {__version__}, which "
            f"cannot read them ({type(error).__name__}: {error}): take the lab's folder and coursekit from one release"
        ) from error


def _read(lab: str, description: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> LabReference:
    entries = {entry["name"]: entry for entry in description["exercises"]}
    specs = {
        name: ExerciseSpec(
            name=name,
            groups=tuple(GroupSpec(**{**group, "hints": tuple(group["hints"])}) for group in entry["groups"]),
            sentences=entry["sentences"],
            forbidden=tuple(entry["forbidden"]),
            no_loops=entry["no_loops"],
            reveal=entry["reveal"],
            probe=entry.get("probe"),
            next_hints=entry.get("next_hints", {}),
            sections={id: Section(**section) for id, section in entry.get("sections", {}).items()},
            relations=entry.get("relations", "changes" in entry),  # an older release told both or none
            costs_at_most=entry.get("costs_at_most", {}),
            worked=entry.get("worked", ""),
        )
        for name, entry in entries.items()
    }
    visible = _VisibleCases(lab, entries, arrays)
    imports = tuple(description["imports"]) if "imports" in description else None
    return LabReference(lab, description["title"], description["points"], specs, visible, imports)


class _VisibleCases(Mapping[str, list[Expectation]]):
    """The cases of each exercise, unpacked when they are first asked for: opening a lab must not take a while."""

    def __init__(self, lab: str, entries: Mapping[str, Mapping[str, Any]], arrays: Mapping[str, np.ndarray]):
        self._lab = lab
        self._entries = entries
        self._arrays = arrays
        self._unpacked: dict[str, list[Expectation]] = {}

    def __getitem__(self, exercise: str) -> list[Expectation]:
        if exercise not in self._unpacked:
            entry = self._entries[exercise]
            with _of_this_release(self._lab):
                self._unpacked[exercise] = [
                    _expectation(case, self._arrays, f"{exercise}.{index}") for index, case in enumerate(entry["cases"])
                ]
        return self._unpacked[exercise]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _expectation(case: Mapping[str, Any], arrays: Mapping[str, np.ndarray], prefix: str) -> Expectation:
    def values(part: str) -> dict[str, Any]:
        plain = dict(case.get(part, {}))
        found = {key: arrays[f"{prefix}.{part}.{key}"] for key in case.get(f"{part}_arrays", ())}
        return {**plain, **found}

    expected = values("expected")
    return Expectation(
        group=case["group"],
        description=case["description"],
        inputs=values("inputs"),
        mode=case["mode"],
        expected=expected,
        tolerance=case["tolerance"],
        dtype=case["dtype"],
        wrong=_WrongReferences(case, expected, arrays, prefix),
        property=case["property"],
        withheld=values("withheld"),
    )


class _WrongReferences(Mapping[str, Mapping[str, Any]]):
    """The results with each mistake that changes them, unpacked when first asked for: by a wrong answer.

    Older files have them with pairs of mistakes as well, called ``first+second``; nobody asks for these.
    """

    def __init__(
        self,
        case: Mapping[str, Any],
        expected: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        prefix: str,
    ):
        self._case = case
        self._expected = expected
        self._arrays = arrays
        self._prefix = prefix

    @functools.cached_property
    def _results(self) -> dict[str, dict[str, Any]]:
        if not self._case["wrong"]:
            return {}
        fingerprinted = self._case["expected_arrays"]
        store = self._arrays[f"{self._prefix}.wrong"].astype("float64")
        found, start = {}, 0
        listed = self._case["wrong"].items()
        for mistake, deviations in ((id, said) for some, said in listed for id in some.split()):
            results = dict(deviations)
            for key in fingerprinted:
                shape = tuple(deviations.get(key, self._expected[key].shape))
                size = min(math.prod(shape), FINGERPRINT_SIZE)
                results[key] = Fingerprint(shape, store[start : start + size])
                start += size
            found[mistake] = results
        return found

    def __getitem__(self, mistake: str) -> Mapping[str, Any]:
        return self._results[mistake]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)
