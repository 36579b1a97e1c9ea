"""Cases share the layers they build: that changes no result, and a layer that keeps something back is found out."""

from __future__ import annotations

import numpy as np
import pytest
from lab_matrix import exercises, expectations, namespace, solution_sources
from this_course import exercises_of

from coursekit.check.attempts import plain
from coursekit.check.comparison import agrees
from coursekit.check.judge import Attempt, read
from coursekit.check.lab import run_cases
from coursekit.probes import described, load_probe
from coursekit.probes.driving import BuiltLayer, LayerProbe
from coursekit.probes.layers import LayerCache, sharing

pytestmark = pytest.mark.long

LAYERS = [(lab, name) for lab, name in exercises() if name[0].isupper()]
PRELUDE = "import keras\nfrom keras import ops\nbuilt = []\n"
SCALE = """
class Scale(keras.Layer):
    def __init__(self, factor):
        super().__init__()
        built.append(self)
        self.factor, self.kept = factor, None
        self.dense = keras.layers.Dense(3, use_bias=False)

    def call(self, x, mask=None):
        {body}
"""


def defined(body: str = "return self.factor * self.dense(x)") -> dict:
    names: dict = {"__name__": "__main__"}
    exec(PRELUDE + SCALE.format(body=body), names)
    return names


def probe(**modes):
    return LayerProbe("Scale", init=("factor",), call=("x",), weights=("dense.kernel",), modes=modes)


def inputs(seed: int, factor: int | float = 2, batch: int = 2, length: int = 5) -> dict:
    rng = np.random.default_rng(seed)
    return {
        "factor": factor,
        "x": rng.normal(size=(batch, length, 7)).astype("float32"),
        "dense.kernel": rng.normal(size=(7, 3)).astype("float32"),
    }


def right(case: dict) -> np.ndarray:
    return case["factor"] * case["x"] @ case["dense.kernel"]


@pytest.mark.parametrize(("lab", "name"), LAYERS)
def test_sharing_changes_no_result_of_a_solution(lab, name):
    names = namespace(solution_sources(lab))
    cases = expectations(lab, name)
    description = exercises_of(lab)[name].probe
    shared = run_cases(lab, name, cases, names, description)
    drive = described(name, description) if description else load_probe(lab, name)
    for case, attempt in zip(cases, shared, strict=True):
        if case.property or case.mode == "refusal":  # left to chance, or to an error
            continue
        alone = Attempt({key: plain(value) for key, value in drive(names, case.inputs, case.mode).items()})
        alone = read(lab, name, case.inputs, case.mode, alone)
        assert attempt.outputs and agrees(attempt.outputs, alone.outputs, case.tolerance), case.description


def test_one_layer_serves_the_cases_that_make_it_alike():
    names = defined()
    with sharing(LayerCache()):
        for case in (inputs(1), inputs(2, batch=4), inputs(3)):
            np.testing.assert_allclose(probe()(names, case, "call")["output"], right(case), atol=1e-5)
        assert len(names["built"]) == 1
        for case in (inputs(4, factor=3), inputs(5, factor=2.0), inputs(6, length=4)):
            np.testing.assert_allclose(probe()(names, case, "call")["output"], right(case), atol=1e-5)
    assert len(names["built"]) == 4


def test_outside_of_sharing_each_case_has_a_layer_of_its_own():
    names = defined()
    for seed in range(3):
        probe()(names, inputs(seed), "call")
    assert len(names["built"]) == 3


@pytest.mark.parametrize(
    "body",
    [
        "self.kept = self.dense(x) if self.kept is None or ops.is_tensor(x) is False else self.kept\n"
        "        return self.factor * self.kept",
        "self.kept = (self.kept or 0) + 1\n        return self.factor * self.dense(x) * min(self.kept, 3)",
    ],
)
def test_a_layer_that_keeps_something_between_calls_is_found_out(body):
    names = defined(body)
    wrong = 0
    with sharing(LayerCache()):
        for case in (inputs(1), inputs(2), inputs(3)):
            try:
                result = np.asarray(probe()(names, case, "call")["output"])
                wrong += result.shape != right(case).shape or not np.allclose(result, right(case), atol=1e-4)
            except Exception:
                wrong += 1
    assert wrong


def test_weights_that_a_case_does_not_hold_are_as_the_layer_made_them():
    names = defined()
    first, second = inputs(1), inputs(2)
    del second["dense.kernel"]
    with sharing(LayerCache()):
        fresh = probe()(names, second, "call")["output"]
        probe()(names, first, "call")
        again = probe()(names, second, "call")["output"]
    assert len(names["built"]) == 1
    np.testing.assert_array_equal(again, fresh)


def test_after_an_error_and_after_a_mode_that_changes_it_nobody_gets_the_layer():
    names = defined("assert mask is None, 'no masks'\n        return self.factor * self.dense(x)")

    def spoil(driven: BuiltLayer) -> dict:
        driven.built.factor = 100
        return {"output": np.zeros(3)}

    changing = probe(spoil=spoil)
    with sharing(LayerCache()):
        changing(names, inputs(1), "spoil")
        np.testing.assert_allclose(changing(names, inputs(2), "call")["output"], right(inputs(2)), atol=1e-5)
        assert len(names["built"]) == 2
        with pytest.raises(Exception, match="no masks"):
            changing(names, {**inputs(3), "mask": np.ones((2, 5), bool)}, "call")
        changing(names, inputs(4), "call")
    assert len(names["built"]) == 3


def test_new_code_of_the_same_name_gets_a_new_layer():
    with sharing(LayerCache()):
        assert probe()(defined(), inputs(1), "call")["output"].shape == (2, 5, 3)
        other = defined("return 0 * self.dense(x)")
        assert not np.any(probe()(other, inputs(1), "call")["output"])
