"""Changes of the notebook itself: tags, points, tests, ids, flags, copies."""

from __future__ import annotations

import copy
from collections.abc import Callable

from hostile.kinds import WRONG, gains_nothing, repaired
from hostile.making import (
    FULL,
    LOOPS,
    POINTS,
    Hostile,
    Notebook,
    changed,
    code_cell,
    is_answer,
    made,
    released,
    right_answers,
    solution,
    tests,
    with_cell,
)


def _tag(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution", "raises-exception", "remove_cell"]


def _worth(points: object) -> Callable[[Notebook], None]:
    def change(notebook: Notebook) -> None:
        for cell in tests(notebook):
            cell["metadata"]["nbgrader"]["points"] = points

    return change


def _test_source(source: str, output: str | None = None) -> Callable[[Notebook], None]:
    def change(notebook: Notebook) -> None:
        for cell in tests(notebook):
            cell["source"] = source
            if output:
                data = {"text/plain": output, "text/html": f"<b>{output}</b>"}
                result = {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}
                cell["outputs"] = [result]

    return change


def _drop_tests(notebook: Notebook) -> None:
    doomed = {id(cell) for cell in tests(notebook)}
    notebook["cells"] = [cell for cell in notebook["cells"] if id(cell) not in doomed]


def _twice(notebook: Notebook) -> None:
    notebook["cells"] = [copy.deepcopy(cell) for cell in notebook["cells"] for _ in range(2)]


def _rename(notebook: Notebook) -> None:
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"].get("nbgrader", {})["grade_id"] = f"cell-{number}"


def _swap_labels(notebook: Notebook) -> None:
    one, other = (solution(notebook, name)["metadata"] for name in (LOOPS, "project_qkv"))
    one["nbgrader"], other["nbgrader"] = other["nbgrader"], one["nbgrader"]


def _tests_first(notebook: Notebook) -> None:
    first = tests(notebook)
    marked = {id(cell) for cell in first}
    notebook["cells"] = first + [cell for cell in notebook["cells"] if id(cell) not in marked]


def _retype(kind: str, which: Callable[[Notebook], list]) -> Callable[[Notebook], None]:
    def change(notebook: Notebook) -> None:
        for cell in which(notebook):
            cell["cell_type"] = kind
            cell.pop("outputs", None)
            cell.pop("execution_count", None)

    return change


def _code_answers(notebook: Notebook) -> list:
    return [cell for cell in notebook["cells"] if is_answer(cell) and cell["cell_type"] == "code"]


def _edit_imports(notebook: Notebook) -> None:
    cell = next(cell for cell in notebook["cells"] if "start_lab" in "".join(cell["source"]))
    cell["source"] = "import keras, numpy as np, tensorflow as tf\nfrom keras import ops\ncheck = lambda name: 100"


def _drop_locked(notebook: Notebook) -> None:
    notebook["cells"] = _code_answers(notebook)


def _break_flags(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"] = {
            **cell["metadata"].get("nbgrader", {}), "solution": True, "grade": True, "locked": False, "task": True,
            "schema_version": 1, "checksum": "0" * 32, "points": 1e9,
        }  # fmt: skip


def _no_metadata(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)


def _odd_metadata(notebook: Notebook) -> None:
    notebook["metadata"] = ["not", "a", "dictionary"]
    for cell in notebook["cells"]:
        if not is_answer(cell):
            cell["metadata"] = "none"


def _claims(notebook: Notebook) -> None:
    notebook["metadata"]["score"] = FULL
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "PASSED 100 of 100 points"}]


def _right_then_wrong(notebook: Notebook) -> None:
    cell = solution(notebook, LOOPS)
    second = {**copy.deepcopy(cell), "source": WRONG, "id": "second"}
    notebook["cells"].insert(notebook["cells"].index(cell) + 1, second)


def _wrong_then_right(notebook: Notebook) -> None:
    cell = solution(notebook, LOOPS)
    first = {**copy.deepcopy(cell), "source": WRONG, "id": "first"}
    notebook["cells"].insert(notebook["cells"].index(cell), first)


def _after_the_test(notebook: Notebook) -> None:
    notebook["cells"].append(code_cell(right_answers()[LOOPS]))


def _check_that_pays(notebook: Notebook) -> None:
    with_cell(notebook, "def check(name):\n    print('PASSED', name)\n    return 1000.0\n\ncheck('everything')")


NOTEBOOKS = [
    gains_nothing("skip-tags", "tags that keep test cells from running (nbgrader gave 8 of 8)", _tag),
    repaired("skip-tags-right", "the same tags on right answers", _tag),
    gains_nothing("points-thousand", "test cells worth a thousand points", _worth(1000)),
    repaired("points-negative", "test cells worth minus a thousand points", _worth(-1000)),
    repaired("points-text", "points that are no number", _worth("NaN")),
    gains_nothing("test-is-number", "tests replaced by 100.0, with outputs that say so",
                   _test_source("100.0", "100.0")),
    gains_nothing("test-is-numpy", "tests replaced by np.float64(1.5), which nbgrader took for full marks",
                   _test_source("import numpy as np\nnp.float64(1.5)")),
    gains_nothing("test-is-tensor", "tests replaced by a tensor", _test_source("import tensorflow as tf\ntf.ones(3)")),
    gains_nothing("test-is-false", "tests replaced by False", _test_source("False")),
    gains_nothing("test-is-nan", "tests replaced by nan", _test_source("float('nan')")),
    gains_nothing("test-above-maximum", "tests replaced by a score above the maximum", _test_source("10**9")),
    gains_nothing("test-is-silent", "tests replaced by nothing", _test_source("")),
    repaired("test-on-stderr", "right answers, tests replaced by text on stderr",
              _test_source("import sys\nprint('W tensorflow', file=sys.stderr)")),
    gains_nothing("tests-deleted", "test cells deleted below a wrong answer", _drop_tests),
    repaired("tests-deleted-right", "test cells deleted below right answers", _drop_tests, "put back"),
    repaired("cells-twice", "every cell is there twice", _twice, "second copy"),
    repaired("ids-renamed", "every grade_id is renamed", _rename),
    repaired("ids-swapped", "two answers have each other's grade_id", _swap_labels, "labelled"),
    repaired("tests-first", "all tests moved to the top", _tests_first, "moved below"),
    repaired("tests-as-text", "tests turned into text", _retype("markdown", tests)),
    repaired("tests-as-raw", "tests turned into raw cells", _retype("raw", tests)),
    repaired("answers-as-text", "answers turned into text", _retype("markdown", _code_answers), "code again"),
    repaired("imports-edited", "the locked imports replaced, and check with them", _edit_imports, "restored"),
    gains_nothing("imports-edited-wrong", "the same above a wrong answer", _edit_imports),
    repaired("only-answers", "nothing left but the answers", _drop_locked),
    repaired("flags-edited", "all nbgrader flags and points changed", _break_flags),
    repaired("no-metadata", "no metadata and no cell ids", _no_metadata, "recognised"),
    repaired("odd-metadata", "metadata of the wrong types", _odd_metadata),
    gains_nothing("outputs-claim", "outputs and metadata that claim full marks", _claims),
    Hostile("right-then-wrong", "a second, wrong copy of an answer counts", changed(_right_then_wrong),
            {LOOPS: "graded"}, told="2 times"),
    repaired("wrong-then-right", "a second, right copy of an answer counts", _wrong_then_right, "2 times"),
    gains_nothing("check-replaced", "check replaced by a function that returns a thousand", _check_that_pays),
    Hostile("right-too-late", "the right answer stands after the untouched stub and its test",
            changed(_after_the_test, **{LOOPS: 'def self_attention_loops(x):\n    raise NotImplementedError("…")'}),
            {LOOPS: ("missing", "error", "graded")}, harms_itself=True),
    Hostile("untouched", "the lab as released", made(released()), dict.fromkeys(POINTS, "missing")),
]  # fmt: skip
