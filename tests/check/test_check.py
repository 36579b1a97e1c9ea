"""What a student sees: the report of a check, hints that grow, progress; and never an answer."""

from __future__ import annotations

import contextlib
import linecache
import re
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import keras
import numpy as np
import pytest
from lab_matrix import code_cells, variants
from measuring import takes_at_most

from autograder.declare.declaration import Declaration
from coursekit.beside import RAISING
from coursekit.check import failures
from coursekit.check.attempts import failed
from coursekit.check.judge import GroupJudgement, Judgement, tidy_message
from coursekit.check.lab import Lab, load_reference, start_lab
from coursekit.check.report import CheckFailed, Report, fitted
from coursekit.lecture import python_names
from coursekit.probes.driving import BuiltLayer, ContractError

LAB = "02_self_attention"


@pytest.fixture
def lab() -> Lab:
    return Lab(load_reference(LAB))


def cost(factor):
    return lambda length, d_model: {"multiply_adds": factor * length**2 * d_model, "weights_entries": length**2}


def test_a_right_answer_passes_and_counts(lab):
    report = lab.report("attention_cost", {"attention_cost": cost(2)})
    assert report.judgement.passed and lab.progress["attention_cost"]
    assert f"1 of {len(lab.progress)} exercises pass" in str(report)


def test_what_the_lab_does_not_import_of_the_course_is_no_answer():
    cell = (
        "from coursekit.lecture.captions import waves\ndef attention_cost(length, d_model):\n    return waves(length)"
    )
    namespace = {"attention_cost": cost(2), "In": [cell]}
    report = Lab(replace(load_reference(LAB), imports=("coursekit.lecture.plots",))).report("attention_cost", namespace)
    assert report.judgement.status == "forbidden" and "`coursekit.lecture.captions.waves`" in str(report)
    older = Lab(replace(load_reference(LAB), imports=None))
    assert older.report("attention_cost", namespace).judgement.passed


def test_a_mistake_is_named_without_hints_and_hints_grow_where_none_is(lab):
    report = lab.report("attention_cost", {"attention_cost": cost(1)})
    assert "One of the two matrix products is missing" in str(report) and report.hints == []
    reports = [lab.report("attention_cost", {"attention_cost": cost(0.7)}) for _ in range(4)]
    assert [len(report.hints) for report in reports] == [1, 2, 3, 3]  # the named one was the first try
    assert "Hint 1" in reports[0]._repr_html_()
    assert lab.report("attention_cost", {"attention_cost": cost(2)}).hints == []


def test_a_failed_check_of_unchanged_code_is_the_same_try(lab):
    """What is printed in between is no change of the answer; a changed helper is one."""
    check = 'check("attention_cost")'
    cells = ["def factor():\n    return 0.7", "def attention_cost(length, d_model):\n    return factor()"]

    def hints(*more: str) -> int:
        cells.extend(more)
        return len(lab.report("attention_cost", {"attention_cost": cost(0.7), "In": [*cells]}).hints)

    assert [hints(), hints(check), hints(check, "print(3)"), hints(cells[1], check)] == [0, 0, 0, 0]
    assert hints("def factor():\n    return 0.8", check) == 1
    assert hints("def attention_cost(length, d_model):\n    return 2 * factor()") == 2


def test_the_report_says_the_mistake_first_then_one_case_and_folds_the_rest(lab):
    def in_turn(x, w_q, w_k, w_v):
        return x @ w_k, x @ w_q, x @ w_v

    page = lab.report("project_qkv", {"project_qkv": in_turn})._repr_html_()
    mistake, case, rest = (page.index(words) for words in ("It looks like this", "tried ", "<details"))
    assert mistake < case < rest
    assert page.split("<details")[0].count("tried ") == 1


def unstable(x):
    powers = np.exp(x @ np.swapaxes(x, -1, -2) / x.shape[-1] ** 0.5)
    return powers / powers.sum(axis=-1, keepdims=True) @ x


def test_the_points_reached_stand_beside_the_exercises_passed(lab):
    total = sum(lab.reference.points.values())
    assert lab.report("predict", {"predict": 4}).progress_line.endswith(f"1 of {total:g} points")
    report = lab.report("self_attention_matrix", {"self_attention_matrix": lambda x: unstable(np.asarray(x))})
    assert 0 < report.judgement.share < 1
    reached = 1 + lab.reference.points["self_attention_matrix"] * report.judgement.share
    assert f"{reached:.1f} of {total:g} points" in str(report) and f"{reached:.1f} of" in report._repr_html_()
    third = Report(report.spec, report.judgement, 1, {}, (5 + 2 / 3, 40.0))
    assert third.progress_line.endswith(" 5.7 of 40 points")


def started_anew(*cells: str) -> tuple[Lab, dict]:
    """A lab as it is after a restart of the kernel, once these cells have run."""
    names = {"In": [*cells]}
    for cell in cells:
        exec(cell, names)
    return start_lab(LAB), names


COST = """def attention_cost(length, d_model):
    return dict(multiply_adds={} * length**2 * d_model, weights_entries=length**2)"""


def test_progress_survives_a_restart(students_kernel):
    points = load_reference(LAB).points["attention_cost"]
    first, names = started_anew(COST.format(2))
    names["check"] = first
    exec('check("attention_cost")', names)
    for cells in ((), (COST.format(2),)):  # the cell has not run yet; it has run, and is unchanged
        said = str(started_anew(*cells)[0].report("predict", {"In": [*cells]}))
        assert f"1 of {len(first.progress)} exercises pass, {points:g} of" in said
        assert said.endswith("▣ passed before the restart")
    lab, names = started_anew(COST.format(3))
    html = lab.report("predict", names)._repr_html_()
    assert "▣" not in html and html.count("□") == len(lab.progress)
    lab, names = started_anew(COST.format(2))
    assert "▣" in lab.report("predict", {})._repr_html_() and "▣" not in str(lab.report("attention_cost", names))


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xff\xfe", b"[" * 60_000, b"1" * 60_000, b"[1]", b'"attention_cost"', b"{" + b" " * 2**20 + b"}"),
        *(b'{"attention_cost": true}', b'{"attention_cost": [1]}', b'{"<b>": "<b>", "": ""}'),
    ],
)
def test_a_damaged_or_hostile_file_of_progress_harms_nobody(students_kernel, content):
    Path(f".{LAB}.checked.json").write_bytes(content)
    said = start_lab(LAB).report("attention_cost", {"attention_cost": cost(2)})
    assert said.judgement.passed and "▣" not in str(said) and "<b></b>" not in said._repr_html_()


def test_no_progress_is_kept_or_read_where_no_student_works(students_kernel, tmp_path):
    for read_only in (False, True):
        with students_kernel.context() as elsewhere:
            if read_only:
                elsewhere.setattr(Path, "write_bytes", Mock(side_effect=PermissionError))
            else:
                elsewhere.setattr("IPython.get_ipython", lambda: None)
            started_anew()[0]("predict")
        assert not [*tmp_path.rglob("*.json")]
    Path(f".{LAB}.checked.json").write_text('{"attention_cost": ""}')
    assert "▣" in str(start_lab(LAB).report("predict", {}))
    students_kernel.setenv("NBGRADER_EXECUTION", "validate")
    assert "▣" not in str(start_lab(LAB).report("predict", {}))


def of_cells(lab: Lab, exercise: str, *cells: str, **names: object) -> Report:
    """The report of a check after these cells; what stops is in the history all the same."""
    names = {"In": [*cells], "np": np, "keras": keras, **names}
    for cell in cells:
        with contextlib.suppress(Exception):
            exec(cell, names)
    return lab.report(exercise, names)


STUB = '    raise NotImplementedError("Write your code here")'
MAY_COME = "What else is said here may come from there."


def test_what_calls_a_wrong_exercise_tells_of_both_the_other_one_first():
    lab = Lab(load_reference("01_attention_intuition"))
    product = "np.asarray(q) @ np.asarray(k).T"
    cosine = "dot_score(q, k) / np.linalg.norm(q, axis=-1)[..., None] / np.linalg.norm(k, axis=-1)"

    def report(part: str, whole: str) -> Report:
        cells = f"def dot_score(q, k):\n    return {part}", f"def cosine_score(q, k):\n    return {whole}"
        return of_cells(lab, "cosine_score", *cells)

    for number in range(3):
        said = report(f"{product} + {number + 1}", cosine)
        first = said.sentences[0]
        assert first.startswith("“dot_score”, which this one calls, is not right yet: ") and first.endswith(MAY_COME)
        assert not said.hints and said.judgement.share < 1
    assert "“dot_score”" in said.summary and first in str(said)
    assert {name for name, _ in lab.failed} == {"cosine_score"}  # nobody has tried the other one
    assert "“dot_score”" not in str(report(product, "dot_score(q, k)"))  # the other one is right
    assert "“dot_score”" not in str(report(f"{product} + 1", product))  # it is not called
    waits = report(f"{product} / 0 * None", cosine)
    assert waits.sentences[0].startswith("This is judged when “dot_score”, which it calls, works: tried")
    assert waits.judgement.status == "error" and len(waits.sentences) == 1


def test_what_calls_one_that_is_not_written_is_not_called_wrong_nor_not_started():
    lab = Lab(load_reference("01_attention_intuition"))
    cells = f"def dot_score(q, k):\n{STUB}", "def cosine_score(q, k):\n    return dot_score(q, k)"
    said = of_cells(lab, "cosine_score", *cells)
    assert said.sentences == ("This is judged when “dot_score”, which it calls, works: it is not written yet.",)
    assert said.judgement.status == "error" and "not started" not in str(said)
    assert "not started" in of_cells(lab, "cosine_score", cells[0], f"def cosine_score(q, k):\n{STUB}").summary
    half = f"def cosine_score(q, k):\n    scores = dot_score(q, k)\n{STUB}"
    assert "not started" in of_cells(lab, "cosine_score", cells[0], half).summary


def test_a_fault_that_cannot_come_from_the_other_one_is_told_beside_it():
    """`used` is wrong in the one, the interval in the other: its mistake is named, after the other one's."""
    lab, answers = Lab(load_reference("10_language_model")), code_cells("10_language_model")
    part = answers["python_share-code"].replace(' if name not in ("self", "cls")]', "]")
    whole = dict(variants("10_language_model", "measure_temperature").WRONG)["ninety_per_cent"]
    given = {name: value for name, value in vars(python_names).items() if callable(value)}
    said = of_cells(lab, "measure_temperature", part, whole, **given).sentences
    assert "“python_share”" in said[0] and "`self` and `cls` count" in said[0] and said[0].endswith(MAY_COME)
    assert said[1].startswith("1.645 gives an interval of 90 %")


@pytest.mark.parametrize("exercise", ["EncoderBlock", "Encoder"])
def test_after_a_restart_it_is_said_which_cell_to_run(exercise):
    """The cell of FeedForward has not run: the block is right, and so is the stack above it."""
    answers = code_cells("04_encoder_block")
    cells = answers["EncoderBlock-code"], answers["Encoder-code"]
    said = of_cells(Lab(load_reference("04_encoder_block")), exercise, *cells, ops=keras.ops)
    assert said.sentences == ("`FeedForward` is not there yet: run the cell that defines `FeedForward` first.",)
    assert "EncoderBlock”" not in str(said)


def test_a_name_that_nobody_defines_is_a_cell_that_has_not_run_or_misspelt(lab):
    said = of_cells(lab, "attention_cost", "def attention_cost(length, d_model):\n    return cost(length)")
    assert said.sentences == ("`cost` is not defined: run the cell that defines it first, or correct the name.",)


def test_only_the_stub_is_not_started():
    stub = failed(NotImplementedError("Write your code here"), {})
    other = failed(NotImplementedError("Cannot convert a symbolic tf.Tensor (x:0) to a numpy array."), {})
    assert (stub.kind, other.kind) == ("missing", "error")
    assert "numbers yet" in failures.meaning(other.message)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (NotImplementedError("numpy() is only available when eager execution is enabled."), "`get_weights`"),
        (TypeError("Iterating over a symbolic `tf.Tensor` is not allowed. You can …"), "cannot loop over a tensor"),
        (ValueError('Layer "model" expects 3 input(s), but it received 1 input tensors.'), "several tensors gets one"),
    ],
)
def test_what_a_lectures_code_runs_into_in_a_lab_is_said_in_words(error, said):
    """NumPy in a graph, a loop over sentences, a model of rows that gets texts."""
    attempt = failed(error, {})
    assert attempt.kind == "error" and said in failures.meaning(attempt.message)


def test_hints_belong_to_the_group_that_fails_first():
    declared = Declaration("double")
    declared.group("right values", points=1, name="values")(list)
    declared.group("any shape", points=1, name="shapes")(list)
    declared.hints(values=("Add x to itself.", "Or multiply it."), shapes="What does `+` do to a list?")
    with pytest.raises(ValueError, match="shapes"):
        declared.hints(shapes="Again.")
    with pytest.raises(ValueError, match="no_group"):
        declared.hints(no_group="Nobody fails it.")
    values, shapes = declared.spec.groups

    def hints(*passed: bool, attempt: int) -> list[str]:
        groups = tuple(map(GroupJudgement, (values, shapes), passed))
        return Report(declared.spec, Judgement("double", "graded", groups, ()), attempt, {}).hints

    assert hints(False, False, attempt=2) == ["Add x to itself."]
    assert hints(True, False, attempt=3) == ["What does `+` do to a list?"]
    assert hints(True, True, attempt=3) == []


def test_a_worked_derivation_comes_with_the_last_hint_and_to_who_passed():
    declared = Declaration("derive_double")
    declared.group("right values", points=1, name="values")(list)
    declared.hints(values=("Add x to itself.", "Or multiply it.", "By what?"))
    declared.worked = "x + x = x · (1 + 1).\nAnd 1 + 1 < 3."

    def said(passed: bool, attempt: int, spec=declared.spec) -> Report:
        groups = (GroupJudgement(spec.groups[0], passed),)
        return Report(spec, Judgement("derive_double", "graded", groups, ()), attempt, {})

    steps = "<summary>The derivation, step by step</summary>x + x = x · (1 + 1).<br>And 1 + 1 &lt; 3.</details>"
    assert [steps in said(False, attempt)._repr_html_() for attempt in (0, 1, 2, 3, 4)] == [False] * 4 + [True]
    assert steps in said(True, 0)._repr_html_() and "step by step" in str(said(False, 4))
    without = replace(declared.spec, groups=(replace(declared.spec.groups[0], hints=()),))
    assert [steps in said(False, attempt, without)._repr_html_() for attempt in (2, 3)] == [False, True]


def test_a_report_fits_a_narrow_terminal(lab):
    text = str(lab.report("attention_cost", {"attention_cost": cost(1)}))
    assert fitted(text, 1000) == text
    lines = fitted(text, 50).splitlines()
    assert max(map(len, lines)) <= 50 and " ".join(" ".join(lines).split()) == " ".join(text.split())
    start = next(index for index, line in enumerate(lines) if line.startswith("    → One of"))
    assert lines[start + 1].startswith("      ") and lines[start + 1][6] != " "


@pytest.fixture
def alone(monkeypatch):
    """No variable is set that lets a failed check raise."""
    for name in RAISING:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_a_failed_check_reports_and_run_all_goes_on(lab, alone, capsys):
    alone.setenv("COURSE_CHECKS_RAISE", "0")
    lab("attention_cost")
    assert "not started yet" in capsys.readouterr().out


@pytest.mark.parametrize("name", RAISING)
def test_where_nbgrader_or_a_test_runs_the_notebook_it_also_raises_one_line(lab, alone, capsys, name):
    alone.setenv(name, "validate" if name == "NBGRADER_EXECUTION" else "1")
    with pytest.raises(CheckFailed, match="not started yet") as caught:
        lab("attention_cost")
    assert caught.value._render_traceback_() == [f"CheckFailed: {caught.value}"]
    assert "not started yet" in capsys.readouterr().out


def test_a_failed_check_tells_one_thing_once_and_leaves_the_rest_to_the_report(lab, capsys):
    """The mistake's sentence is in the report, and with one full stop in the exception."""

    def attention_cost(length, d_model):
        return {"multiply_adds": length**2 * d_model, "weights_entries": length**2}

    report = lab.report("attention_cost", {"attention_cost": attention_cost})
    assert len(report.sentences) == 1
    assert report.summary == f"{report.headline}. {report.sentences[0]}"

    def attention_cost(length, d_model):
        raise ValueError("operands could not be broadcast together with shapes (2,3) (4,)")

    report = lab.report("attention_cost", {"attention_cost": attention_cost})
    assert "Shapes are compared from the right" in str(report)
    assert len(report.summary) <= 200 and "\n" not in report.summary and ".." not in report.summary


def test_code_that_is_not_written_costs_no_hint(lab):
    for _ in range(3):
        report = lab.report("attention_cost", {})
    assert report.judgement.status == "missing" and report.hints == []


def test_what_the_code_says_is_escaped(lab):
    def attention_cost(length, d_model):
        raise ValueError("<script>alert(1)</script>")

    page = lab.report("attention_cost", {"attention_cost": attention_cost})._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_answers_by_hand_are_never_told(lab):
    answers = {"key_row": [1, 2, 3], "scaled_scores": [1, 2], "weights": [0.5, 0.5]}
    for _ in range(3):
        text = str(lab.report("answers", {"answers": answers}))
    assert "which is not right" in text
    for told in ("10, 19, 8", "expected", "0.73", "21"):
        assert told not in text


@pytest.mark.parametrize("letter", ["b", "B", " b ", "b)", "(b)", "'b'", "b."])
def test_a_letter_may_be_written_as_people_write_letters(letter):
    other = Lab(load_reference("08_decoder_and_masking"))
    text = str(other.report("answers", {"answers": {"inference": letter}}))
    assert "which is not right" not in text


def test_an_unknown_exercise_and_an_unknown_lab_say_what_there_is(lab):
    with pytest.raises(ValueError, match="SelfAttention"):
        lab("self_attention")
    with pytest.raises(ValueError, match=LAB):
        start_lab("2_self_attention")


def test_a_check_takes_less_than_a_second(lab):
    def scaled_dot_product_attention(q, k, v, mask=None):
        q, k, v = (np.asarray(array) for array in (q, k, v))
        scores = np.einsum("...td,...sd->...ts", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = np.where(np.asarray(mask).astype(bool), scores, scores.dtype.type(-1e9))
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        weights = powers / powers.sum(-1, keepdims=True)
        return weights @ v, weights

    names = {"scaled_dot_product_attention": scaled_dot_product_attention}
    lab.report("scaled_dot_product_attention", names)  # imports TensorFlow
    with takes_at_most(1):
        assert lab.report("scaled_dot_product_attention", names).judgement.passed


def test_messages_leave_out_what_tensorflow_says_to_itself():
    text = "{{function_node __wrapped__MatMul_/job:local}} In[0] ndims must be >= 2 [Op:MatMul] name: \n\nmore"
    assert tidy_message(text) == "In[0] ndims must be >= 2 more"
    assert len(tidy_message("x" * 10_000)) == 400
    text = "EagerTensor object has no attribute 'T'.\n  If you are looking for numpy-related methods, please run\n np()"
    assert tidy_message(text) == "EagerTensor object has no attribute 'T'."
    shapes = "Matrix size-incompatible: In[0]: [2,3,5], In[1]: [2,3,7]"
    assert tidy_message(f"{shapes} 0 0 [Op:BatchMatMulV2]") == tidy_message(f"{shapes} [Op:BatchMatMulV2]") == shapes


@pytest.mark.parametrize(
    "text",
    [" " * 20_000, "x" + " " * 19_999, "\n" * 20_000, "; " * 10_000, "{{function_node" * 1300, "[Op:" * 5_000],
    ids=["spaces", "text and spaces", "lines", "semicolons", "open braces", "open brackets"],
)
def test_the_longest_message_is_tidied_in_no_time(text):
    with takes_at_most(0.2):
        tidy_message(text)


def test_two_parts_with_each_others_size_are_told():
    """Shapes alone would leave a student to find out that the two tables are exchanged."""
    source = """
class TokenAndPositionEmbedding(keras.Layer):
    def __init__(self, max_length, vocab_size, d_model):
        super().__init__()
        self.token_embedding = keras.layers.Embedding(max_length, d_model)
        self.position_embedding = keras.layers.Embedding(vocab_size, d_model)

    def call(self, ids):
        return self.token_embedding(ids) + self.position_embedding(keras.ops.arange(keras.ops.shape(ids)[1]))
"""
    names: dict = {}
    exec("import keras\n" + source, names)
    report = Lab(load_reference("05_positional_encoding")).report("TokenAndPositionEmbedding", names)
    assert "are the two exchanged?" in str(report)


@pytest.mark.parametrize(("loop", "status"), [(False, "graded"), (True, "forbidden")])
def test_the_rules_hold_where_ipython_keeps_no_history(loop, status):
    """As under nbval, which runs cells without it: the cells of the functions that are there are read."""
    body = "np.stack([row for row in x])" if loop else "x"
    source = f"import numpy as np\n\ndef self_attention_matrix(x):\n    return np.asarray({body})\n"
    names: dict = {"In": [""]}
    linecache.cache["<cell of a test>"] = (len(source), None, source.splitlines(True), "<cell of a test>")
    exec(compile(source, "<cell of a test>", "exec"), names)
    assert Lab(load_reference("02_self_attention")).report("self_attention_matrix", names).judgement.status == status


def told(lab: str, exercise: str, source: str) -> str:
    """What a check says of a cell, beside a lab's usual names."""
    names: dict = {}
    exec(f"import keras\nimport numpy as np\nimport tensorflow as tf\nfrom keras import ops\n{source}", names)
    return str(Lab(load_reference(lab)).report(exercise, names))


def test_a_right_error_is_green_beside_a_wrong_table():
    text = told(
        "05_positional_encoding",
        "sinusoidal_positions",
        """
def sinusoidal_positions(length, d_model):
    if d_model % 2:
        raise ValueError(f"d_model has to be even, and is {d_model}")
    return np.zeros((length, d_model))
""",
    )
    assert "✓ ValueError for an odd d_model" in text and "✗ right values" in text
    always = 'def sinusoidal_positions(length, d_model):\n    raise ValueError("odd")\n'
    assert "✓" not in told("05_positional_encoding", "sinusoidal_positions", always)


def test_a_text_in_a_tensor_is_named_once_with_its_remedy():
    source = "def standardize(text):\n    return tf.strings.lower(text)\n"
    text = told("06_imdb_classifier", "standardize", source)
    assert text.count("returned a tensor; expected a str") == 1 and "`text` is" not in text


def test_an_accuracy_above_one_is_explained():
    """Probabilities (n, 1) beside labels (n,) make a table (n, n)."""
    text = told(
        "06_imdb_classifier",
        "evaluate_predictions",
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said, true = np.asarray(probabilities) >= threshold, np.asarray(labels) == 1
    tn, fp, fn, tp = (np.sum(part) for part in (~said & ~true, said & ~true, ~said & true, said & true))
    precision, recall = tp / max(tp + fp, 1), tp / max(tp + fn, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-12)
    return {"accuracy": np.sum(said == true) / len(true), "precision": precision, "recall": recall, "f1": f1,
            "confusion": [[tn, fp], [fn, tp]]}
""",
    )
    assert "Flatten both first" in text


@pytest.mark.parametrize(
    ("part", "instead", "said"),
    [
        ("class_token", "keras.layers.Embedding(1, d_model)", "`class_token` is a Keras layer (Embedding)"),
        (
            "position_embedding",
            "keras.layers.Embedding(9, d_model)",
            "`position_embedding` is a Keras layer (Embedding)",
        ),
        ("class_token", "ops.zeros((1, 1, d_model))", "`class_token` is no weight"),
        ("position_embedding", "None\n        self.position_embeddings = 1", "Is `position_embeddings` meant?"),
    ],
)
def test_the_part_of_an_embedding_that_is_no_weight_is_named(part, instead, said):
    parts = {
        "class_token": "self.add_weight(shape=(1, 1, d_model))",
        "position_embedding": "self.add_weight(shape=(1, num_patches + 1, d_model))",
        part: instead,
    }
    made = "\n".join(f"        self.{name} = {value}" for name, value in parts.items())
    text = told(
        "09_vision_transformer",
        "PatchEmbedding",
        f"""
class PatchEmbedding(keras.Layer):
    def __init__(self, patch_size, num_patches, d_model, **kwargs):
        super().__init__(**kwargs)
        self.size, self.projection = patch_size, keras.layers.Dense(d_model)
{made}

    def call(self, images):
        batch, height, width, channels = ops.shape(images)
        return self.projection(ops.reshape(images, (batch, -1, self.size * self.size * channels)))
""",
    )
    assert said in text


def test_a_part_that_is_absent_is_not_taken_for_one_of_kerass_own():
    text = told(
        "08_decoder_and_masking",
        "DecoderBlock",
        """
from coursekit.lecture.pages.decoder_and_masking import PlainDecoderBlock

class DecoderBlock(PlainDecoderBlock):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, **kwargs):
        super().__init__(d_model, num_heads, d_ff)

    def call(self, x, memory, memory_mask=None, training=None):
        return super().call(x, memory, memory_mask)
""",
    )
    assert "the layer has no `self_attention`; the lab's text lists the attributes by name" in text


@pytest.mark.parametrize(
    ("norm", "said"),
    [
        ("pre", "`norm` is a str; the layer needs this name. Keep the argument under another one."),
        (None, "the layer has no `norm.gamma`; the lab's text lists the attributes by name."),
    ],
)
def test_what_stands_in_the_place_of_a_layer_is_said(norm, said):
    """A string under a layer's name, or nothing: what Keras keeps for itself is not offered instead."""
    layer = keras.layers.Dense(3)
    layer.build((1, 2))
    layer._norms, layer.norm = 1, norm
    with pytest.raises(ContractError, match=f"^{re.escape(said)}$"):
        BuiltLayer(layer, (), {}, {}, ()).attribute("norm.gamma")


def test_what_an_exercise_forbids_is_said_before_it_is_begun(lab):
    text = str(lab.report("self_attention_matrix", {}))
    assert "Not allowed in this exercise: `MultiHeadAttention`, " in text and text.count("Python loops") == 1
    assert "Not allowed" in lab.report("self_attention_matrix", {})._repr_html_()
    assert "Not allowed" not in str(lab.report("attention_cost", {}))


def test_what_is_forbidden_is_not_said_to_be_what_the_exercise_asks_for(lab):
    text = str(lab.report("scaled_dot_product_attention", {}))
    assert "`dot_product_attention`, `tf.nn.scaled_dot_product_attention`." in text
    assert ", `scaled_dot_product_attention`" not in text
    assert "`keras.layers.MultiHeadAttention`" in str(
        Lab(load_reference("03_multi_head_attention")).report("MultiHeadAttention", {})
    )


def test_a_cell_that_cannot_be_read_breaks_no_rule(lab):
    """The helper's colon is missing: the exercise that calls it earns nothing, and nobody accuses its author."""
    helper, answer = "def helper(x)\n    return x", "def self_attention_matrix(x):\n    return helper(x)"
    names = {"self_attention_matrix": lambda x: (x, x), "In": [helper, answer]}
    judgement = lab.report("self_attention_matrix", names).judgement
    assert judgement.status == "error" and "cannot be read" in judgement.message
