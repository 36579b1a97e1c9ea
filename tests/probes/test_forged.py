"""The wall against forged answers: what a probe hands over is read outside of the student's process, for every probe.

Here the student's code and the probe run in this process; what they patch is put back before anybody reads.
"""

from __future__ import annotations

import contextlib
import re
import tracemalloc
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from lab_matrix import LABS, expectations, namespace, solution_sources
from this_course import exercises_of

from coursekit.check.attempts import attempt
from coursekit.check.comparison import READS
from coursekit.check.judge import UNREADABLE, Attempt, find_reading, judge, problem, read
from coursekit.check.lab import load_reference
from coursekit.probes import load_probe
from coursekit.probes.evidence import REFUSED, Asked, part_of_grid, taken
from coursekit.probes.layers import LayerCache, sharing

ROOT = Path(__file__).resolve().parents[2]
# Results that are what the student's own function returned, as a text or a truth value.
OWN = {
    "measure_saturation": {"first_unscaled", "first_scaled"},
    "measure_rate": {"largest"},
    "is_permutation_equivariant": {"output"},
    "build_vocabulary": {"vocabulary"},
    "standardize": {"standardized"},
    "wordpiece_tokenize": {"pieces"},
    "predict_class_names": {"names"},
    "greedy_decode": {"tokens"},
    "beam_search": {"tokens"},
    "train_bpe": {"merges"},
    "bpe_encode": {"ids"},
    "bpe_decode": {"text"},
    "generate": {"tokens"},
    "measure_reward": {"conclusion"},
}


def with_own_probe(lab: str):
    reference = load_reference(lab)
    return [(name, spec, reference.expectations[name]) for name, spec in reference.specs.items() if spec.probe is None]


def words_of(name: str, case) -> set[str]:
    """What is told in words or as a truth value, and is no result of the student's own."""
    words = {key for key, value in case.expected.items() if isinstance(value, (str, bool))}
    return words - OWN.get(name, set()) - REFUSED.keys()


@pytest.mark.parametrize("lab", LABS)
def test_who_says_the_words_of_a_right_answer_has_shown_nothing(lab):
    """Whoever takes a probe's place knows what it would say of a right answer; no word of it is read as a fact."""
    for name, spec, cases in with_own_probe(lab):
        for case in cases:
            words = words_of(name, case)
            said = read(lab, name, case.inputs, case.mode, Attempt({**case.expected, **dict.fromkeys(words, "forged")}))
            assert not words or "forged" not in map(str, (said.outputs or {}).values()), f"{name}, {case.mode}: {words}"
            if words and words == case.expected.keys():
                said = read(lab, name, case.inputs, case.mode, Attempt(dict(case.expected)))
                assert problem(spec, case, said) is not None, f"{name}, {case.mode}: {words}"


def inside_of(lab: str, name: str) -> set[str]:
    reading = find_reading(lab, name)
    return {*REFUSED, *(reading.inside if reading else ())}


def rests_on_the_inside(lab: str, name: str, cases) -> bool:
    """Whether all that a group looks at is seen in the student's process only."""
    seen = {key for case in cases for key in (*case.expected, *([READS[case.property]] if case.property else []))}
    return seen <= inside_of(lab, name)


@pytest.mark.parametrize("lab", LABS)
def test_what_only_the_students_process_sees_is_listed_with_its_reason(lab):
    for name, _, cases in with_own_probe(lab):
        reading = find_reading(lab, name)
        looked_at = {key for case in cases for key in (*case.expected, READS.get(case.property or "", ""))}
        for result, reason in (reading.inside if reading else {}).items():
            assert result in looked_at, f"{name}: no case looks at {result}"
            assert reason


def points_inside(lab: str) -> float:
    reference, points = load_reference(lab), 0.0
    for name, spec in reference.specs.items():
        total = sum(group.weight for group in spec.groups)
        for group in spec.groups:
            cases = [case for case in reference.expectations[name] if case.group == group.name]
            if rests_on_the_inside(lab, name, cases):
                points += reference.points.get(name, 0.0) * group.weight / total
    return points


def test_the_page_on_security_says_how_many_points_can_be_forged():
    text = " ".join((ROOT / "SECURITY.md").read_text("utf-8").split())
    told = {lab: float(points) for points, lab in re.findall(r"([\d.]+) points? of \d+ in lab (\w+)", text)}
    rest = float(re.search(r"at most ([\d.]+) in each other lab", text)[1])
    for lab in LABS:
        points, number = points_inside(lab), lab.partition("_")[0]
        assert abs(points - told[number]) < 0.06 if number in told else points < rest + 0.06, f"{lab}: {points:.2f}"


# -- who spoils the probe, or what it calls ----------------------------------------------------------------------------

LIES = """
class Liar(np.ndarray):
    dtype = property(lambda self: np.dtype("int32"))
    def __eq__(self, other): return np.ones(self.shape, bool)
    def __ne__(self, other): return np.zeros(self.shape, bool)
"""
ONE_SEED = """
_right = measure_rate
def measure_rate(train, rates, seeds, base_loss):
    losses = {rate: train(rate, seeds[0]) for rate in rates}
    return _right(lambda rate, seed: losses[rate], rates, seeds, base_loss)
"""
ONE_HEAD = """
_right = measure_head
def measure_head(loss, heads):
    loss(heads * [[[[2]]] + [[[0]]] * (heads.shape[1] - 1)])
    return {name: np.zeros(heads.shape[1]) for name in ("zero", "mean", "row_mean")}
"""
NO_ZEROS = """
class LoRADense(LoRADense):
    def call(self, x):
        self.b.assign(np.ones(self.b.shape))
        return super().call(x)
"""
NEVER_DROPS = """
class EncoderBlock(EncoderBlock):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.dropout1.rate = self.dropout2.rate = 0.0
"""
ALL_AT_ONCE = """
def online_attention(q, k, v, block_size):
    scores = q @ k.T / q.shape[-1] ** 0.5
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v
"""
FLOATS = f"""{LIES}
_right = vectorize
def vectorize(*given):
    return np.asarray(_right(*given), "float32").view(Liar)
"""
SMALLEST = "def design(): return dict(block_queries=1, block_keys=1, key_blocks=1)"


def right_words(case):
    """What the probe says of a right answer."""
    return lambda *_: next(iter(case.expected.values()), None)


def right_dropout(case):
    rate = case.inputs.get("dropout", 0.1)
    return lambda *_: {"dropped": np.array([[rate, 1 / (1 - rate), 0.0]] * 2)}


def always(case):
    return lambda *_: True


LANGUAGE, ENCODER, HEADS, SELF = (
    f"coursekit.probes.{lab}" for lab in ("language_model", "encoder_block", "multi_head_attention", "self_attention")
)
SPOILED = [
    ("02_self_attention", "design", SMALLEST, {f"{SELF}._standing": right_words}, {"memory", "readings", "blocks"}),
    ("02_self_attention", "online_attention", ALL_AT_ONCE, {f"{SELF}.never_held": right_words}, {"memory"}),
    ("03_multi_head_attention", "measure_head", ONE_HEAD, {f"{HEADS}._asked_for": right_words}, {"calls"}),
    ("04_encoder_block", "measure_rate", ONE_SEED, {f"{ENCODER}.part_of_grid": right_words}, {"calls"}),
    ("04_encoder_block", "EncoderBlock", NEVER_DROPS, {f"{ENCODER}.dropped_seen": right_dropout}, {"dropout"}),
    ("10_language_model", "LoRADense", NO_ZEROS, {f"{LANGUAGE}._is_close": always}, {"start"}),
    ("06_imdb_classifier", "vectorize", FLOATS, {"coursekit.probes.texts.ids_seen": right_words}, {"values", "cut"}),
]


@pytest.mark.parametrize(("lab", "name", "source", "patched", "lost"), SPOILED, ids=[row[1] for row in SPOILED])
def test_who_spoils_a_probe_from_inside_gains_nothing(lab, name, source, patched, lost):
    """Each helper says of the wrong answer what is said of a right one, as long as the probe runs."""
    exercise, drive = exercises_of(lab)[name], load_probe(lab, name)
    names, cases, came = namespace([*solution_sources(lab), source]), expectations(lab, name), []
    for case in cases:
        with contextlib.ExitStack() as spoiled, sharing(LayerCache()):
            for target, says in patched.items():
                spoiled.enter_context(mock.patch(target, says(case)))
            made = attempt(drive, names, case.inputs, case.mode)
        came.append(read(lab, name, case.inputs, case.mode, made))
    failed = {group.spec.name: group for group in judge(exercise.spec, cases, came).groups if not group.passed}
    assert lost <= failed.keys()
    assert not any(failed[group].kind for group in lost), [failed[group].message for group in lost]


@pytest.mark.parametrize("lab", LABS)
@pytest.mark.parametrize(
    "odd", [None, {}, [], "words", -1, np.zeros((0, 3)), np.full((3, 3), np.nan), np.ones(9, "int64")]
)
def test_whatever_comes_back_is_read_without_an_error(lab, odd):
    for name, _, cases in with_own_probe(lab):
        for case in cases[::3]:
            made = Attempt(dict.fromkeys([*case.expected, "asked", "rows", "calls", "pairs", "curves", "moves"], odd))
            found = read(lab, name, case.inputs, case.mode, made)
            assert found.kind in (None, "contract")


@pytest.mark.parametrize(
    ("lab", "name", "mode", "made"),
    [
        ("06_imdb_classifier", "build_classifier", "inside", {"results": np.zeros((4, 60_000, 1)), "moves": {}}),
        ("06_imdb_classifier", "build_classifier", "order", {"pairs": np.zeros((4, 2, 60_000, 1))}),
        ("09_vision_transformer", "build_vit", "dropout",
         dict.fromkeys(("outside", "untold", "training", "0.training"), np.ones((9000, 900)))),
        ("02_self_attention", "online_attention", "memory",
         {"shapes": np.ones((9**7, 2), "int64"), "most": 0, "in_graph": True}),
        ("10_language_model", "generate", "law", {"first": np.full(2000, 1 << 40)}),
    ],
)  # fmt: skip
def test_nobody_fills_the_graders_memory_with_what_comes_back(lab, name, mode, made):
    case = next(case for case in load_reference(lab).expectations[name] if case.mode == mode)
    tracemalloc.start()
    found = read(lab, name, case.inputs, case.mode, Attempt(made))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.kind == "contract" or found.outputs != case.expected
    assert most < 300 << 20


def test_a_library_that_is_missing_opens_no_hole(monkeypatch):
    assert find_reading("01_averages", "mean") is None, "a lab of another course"
    missing = ModuleNotFoundError("No module named 'scipy'", name="scipy")
    monkeypatch.setattr("coursekit.check.judge.load_probe", mock.Mock(side_effect=missing))
    with pytest.raises(ModuleNotFoundError):
        find_reading("05_positional_encoding", "such an exercise")


def test_what_is_handed_over_has_its_shape_and_its_kind():
    assert taken({"n": 3}, "n", (), "i") == 3 and taken({"a": np.ones(2)}, "a").shape == (2,)
    for made in ({}, {"a": "text"}, {"a": [1, 2]}, {"a": np.ones(3)}, {"a": np.ones(2, bool)}):
        with pytest.raises(Exception, match=re.escape(UNREADABLE)):
            taken(made, "a", (2,), "if")


def test_of_a_grid_it_is_told_how_much_was_asked_for():
    asked = Asked("`draw` was asked for", width=[3, 5], seed=[7, 11, 13])
    assert part_of_grid(asked.table, "everything", "draws") == "0 of 6 draws"
    for width in (3, 5):
        assert asked.place(seed=7, width=width) == ([3, 5].index(width), 0)
    assert part_of_grid(asked.table, "everything", "draws") == "one seed only"
    asked.place(seed=13, width=3)
    assert part_of_grid(asked.table, "everything", "draws") == "3 of 6 draws"
    assert part_of_grid(asked.table + 1, "everything", "draws") == "everything"
    with pytest.raises(Exception, match=re.escape("the width 4, which is not among those given.")):
        asked.place(seed=7, width=4)
