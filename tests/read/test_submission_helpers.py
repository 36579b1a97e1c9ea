"""Which of a student's own cells the answers build on."""

import pytest

from autograder.read.child import helper_cells
from autograder.read.repair import CellStep, ProbeStep

ANSWER = '''
def attend(q, k):
    """Every other query at a time."""
    # other
    return softmax(scale(q) @ tools.turn(k), globals()["looked_up"])
'''


def steps(*own):
    cells = [CellStep("import numpy as np", None, True, 0, "imports")]
    cells += [CellStep(source, None, False, at, f"own-{at}") for at, source in enumerate(own, start=1)]
    return [*cells, CellStep(ANSWER, "attend", False, 99, "attend-code"), ProbeStep("attend", 3, "attend")]


@pytest.mark.parametrize(
    "source",
    [
        "def softmax(x):\n    return x",
        "scale = 3",
        "if True:\n    scale = 3",
        "import my.tools as tools",
        "import tools",
        "from tools import softmax",
        "%%writefile tools.py\ndef turn(k): return k.T",
        "%%time\ndef softmax(x):\n    return x",
        "softmax.limit = 3",
        "scale[0] = 1",
        "def softmax(x:",
        "looked_up = 3",
    ],
)
def test_a_cell_that_an_answer_may_need_is_a_helper(source):
    assert helper_cells(steps("unused = 1", source)) == {2}


@pytest.mark.parametrize(
    "source",
    [
        "%timeit softmax(3)",
        "%%timeit\nscale = softmax(3)",
        "print(softmax(3))",
        "other = softmax(3)",
        "import time",
        "",
    ],
)
def test_a_cell_that_only_tries_something_is_none(source):
    assert helper_cells(steps(source)) == frozenset()


def test_what_a_helper_needs_is_a_helper():
    assert helper_cells(steps("deepest = 1", "deep = deepest", "scale = deep", "other = scale")) == {1, 2, 3}
