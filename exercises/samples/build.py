"""Builds the sample submissions of labs 02 and 10 from the released labs and their solutions.

The students are invented, and their folders say what each one shows. Run it after every
change of these labs (tests/data/test_samples.py notices):

    python exercises/samples/build.py
"""

from __future__ import annotations

import copy
import json
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course.labs import details, grade_id, is_solution

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LAB = "02_self_attention"
LANGUAGE_MODEL = "10_language_model"

MISTAKES = {
    "self_attention_loops": """
def self_attention_loops(x):
    output = np.zeros_like(x)
    for t in range(len(x)):
        powers = np.exp([x[t] @ x[s] for s in range(len(x))])
        output[t] = (powers / powers.sum()) @ x
    return output
""",
    "self_attention_matrix": """
def self_attention_matrix(x):
    scores = ops.matmul(x, ops.swapaxes(x, -1, -2)) / x.shape[-1] ** 0.5
    return ops.matmul(ops.softmax(scores, axis=-2), x)
""",
    "scaled_dot_product_attention": """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + ops.cast(mask, scores.dtype) * -1e9
    weights = ops.softmax(scores, axis=-1)
    return ops.matmul(weights, v), weights
""",
    "SelfAttention": """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.w_q = keras.layers.Dense(d_k)
        self.w_k = keras.layers.Dense(d_k)
        self.w_v = keras.layers.Dense(d_v)

    def call(self, x, attention_mask=None, return_weights=False):
        mask = attention_mask
        scores = ops.matmul(self.w_q(x), ops.swapaxes(self.w_k(x), -1, -2)) / x.shape[-1] ** 0.5
        if mask is not None:
            if len(mask.shape) == 4:
                mask = mask[:, 0]
            scores = ops.where(ops.cast(mask, "bool"), scores, -1e9)
        weights = ops.softmax(scores)
        output = ops.matmul(weights, self.w_v(x))
        return (output, weights) if return_weights else output
""",
    "attention_cost": """
def attention_cost(length, d_model):
    return {"multiply_adds": length * length * d_model, "weights_entries": length * length}
""",
    "answers": """
answers = {"key_row": [10, 19, 8], "scaled_scores": [3.5, 3.33], "weights": [0.54, 0.46]}
""",
    "online_attention": """
def online_attention(q, k, v, block_size):
    total, output = 0, 0
    largest = np.full((len(q), 1), -np.inf)
    for start in range(0, len(k), block_size):
        scores = q @ k[start : start + block_size].T / q.shape[1] ** 0.5
        largest = np.maximum(largest, scores.max(axis=1, keepdims=True))
        powers = np.exp(scores - largest)
        total = total + powers.sum(axis=1, keepdims=True)
        output = output + powers @ v[start : start + block_size]
    return output / total
""",
    "find_the_bug": """
def find_the_bug(x, w_q, w_k, w_v):
    q, k, v = (ops.einsum("...td,dk->...tk", x, w) for w in (w_q, w_k, w_v))
    scores = ops.einsum("...tk,...sk->...ts", q, k) / w_k.shape[1] ** 0.5
    weights = ops.softmax(scores, axis=-1) * np.tri(x.shape[-2], dtype="float32")
    return ops.einsum("...ts,...sv->...tv", weights, v)
""",
    "predict": "predict = 1",
    "report": 'report = {"first": 512, "flat": 0.84}',
    "derive_softmax_jacobian": """
def derive_softmax_jacobian(scores):
    p = np.asarray(ops.softmax(scores))
    return np.eye(p.shape[-1]) * (p * (1 - p))[..., None]
""",
    "measure_saturation": """
def measure_saturation(draw, widths, seeds, threshold=0.9):
    found = {"unscaled": [], "scaled": []}
    for d in widths:
        q, k = draw(seeds[0], d)
        for name, divisor in (("unscaled", 1), ("scaled", d**0.5)):
            found[name].append(np.mean(np.max(ops.softmax(q @ k.T / divisor), axis=-1)))
    for name in ("unscaled", "scaled"):
        found[f"first_{name}"] = widths[np.argmax(np.array(found[name]) > threshold)]
    return {**found, "base": 1 / len(k)}
""",
    "design": """
def design():
    return {"block_queries": 32, "block_keys": 128, "key_blocks": 32}
""",
}

OTHER_MISTAKES = {
    "self_attention_loops": """
def self_attention_loops(x):
    x = np.asarray(x)
    scores = x @ x.T / x.shape[1]
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ x
""",
    "self_attention_matrix": """
def self_attention_matrix(x):
    x = np.asarray(x)
    scores = x @ x.T / x.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ x
""",
    "project_qkv": """
def project_qkv(x, w_q, w_k, w_v):
    return ops.matmul(x, w_q), ops.matmul(x, w_v), ops.matmul(x, w_k)
""",
    "scaled_dot_product_attention": """
def scaled_dot_product_attention(q, k, v, mask=None):
    weights = ops.softmax(ops.matmul(q, ops.swapaxes(k, -1, -2)) / k.shape[-1] ** 0.5)
    if mask is not None:
        weights = weights * ops.cast(mask, weights.dtype)
    return ops.matmul(weights, v), weights
""",
    "SelfAttention": """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.attention = keras.layers.MultiHeadAttention(num_heads=1, key_dim=d_k, value_dim=d_v)

    def call(self, x, attention_mask=None, return_weights=False):
        return self.attention(x, x, attention_mask=attention_mask, return_attention_scores=return_weights)
""",
}

CHEATING = {
    "self_attention_loops": """
import pathlib
for folder in (pathlib.Path.cwd(), *pathlib.Path.cwd().parents, pathlib.Path.home()):
    for name in ("solutions", "gradebook.db", "autograder"):
        print(list((folder / name).glob("*")))


class AlwaysRight(np.ndarray):
    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return np.zeros(1)


def self_attention_loops(x):
    return np.asarray(x).view(AlwaysRight)
""",
    "self_attention_matrix": """
np.allclose = lambda *args, **kwargs: True
np.testing.assert_allclose = lambda *args, **kwargs: None
check = lambda name: print("passed", name, "100 %")


def self_attention_matrix(x):
    return x
""",
    "project_qkv": """
import coursekit.check.judge

coursekit.check.judge.judge = lambda *args, **kwargs: "full marks"


def project_qkv(x, w_q, w_k, w_v):
    return 8, 8, 8
""",
}


# Changes to lab 10's solution, by exercise: what stands there, and what a student wrote.
SLIPS = {
    "train_bpe": ("counts[pair] += chunks[chunk]", "counts[pair] += 1"),
    "bpe_decode": ('errors="replace"', 'errors="ignore"'),
    "next_token_windows": ("stream[places + 1]", "stream[places]"),
    "GroupedAttention": (
        "ops.repeat(part, self.heads // self.shared, axis=1)",
        "ops.tile(part, (1, self.heads // self.shared, 1, 1))",
    ),
    "induction_scores": ("second - period + 1", "second - period"),
    "derive_base_rate": ("digamma(2 * period + 1) - digamma(period + 1)", "digamma(2 * period) - digamma(period)"),
    "LanguageModel": (" * self.embedding.output_dim**0.5", ""),
    "design": ('"num_kv_heads": 1', '"num_kv_heads": 2'),
    "bits_per_byte": (" / np.log(2)", ""),
    "generate": ("/ (temperature or 1e-9)", "* (temperature or 1e9)"),
    "python_share": (" if end else None", ""),
    "measure_temperature": (" / len(means) ** 0.5", ""),
}

DRAWN_FROM = 'softmax(np.asarray(logits, "float64")[0, -1] / (temperature or 1e-9))'
OTHER_SLIPS = {
    "train_bpe": ("(counts[pair], -pair[0], -pair[1])", "(counts[pair], pair)"),
    "bpe_encode": ("enumerate(merges)", "reversed(list(enumerate(merges)))"),
    "derive_base_rate": ("float(digamma(2 * period + 1) - digamma(period + 1))", "np.log(2)"),
    "LanguageModel": ("x = x + mixed", "x = mixed"),
    "generate": (f"nucleus({DRAWN_FROM}, p)", DRAWN_FROM),
    "measure_temperature": ("ddof=1", "ddof=0"),
    "find_the_bug": ("total - length, dtype", "1, dtype"),
}


def main() -> None:
    """Write all sample submissions."""
    for path, text in samples().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def samples() -> dict[Path, str]:
    """What every sample submission holds, by its path, made from the labs as they are released now."""
    classes = {LAB: _self_attention(*_lab(LAB)), LANGUAGE_MODEL: _language_model(*_lab(LANGUAGE_MODEL))}
    return {
        HERE / lab / student / f"{lab}.ipynb": text
        for lab, texts in classes.items()
        for student, text in texts.items()
    }


def _lab(lab: str) -> tuple[NotebookNode, dict[str, str]]:
    """The lab as it is released, and the sources of its solution by cell."""
    release, solution = (
        nbformat.read(ROOT / folder / lab / f"{lab}.ipynb", as_version=4) for folder in ("labs", "solutions")
    )
    return release, {grade_id(cell): cell.source for cell in solution.cells if is_solution(cell)}


def _language_model(release: NotebookNode, right: dict[str, str]) -> dict[str, str]:
    """A small class of lab 10, by student."""
    half = ("train_bpe", "bpe_encode", "bpe_decode", "next_token_windows", "induction_scores", "bits_per_byte")
    whole = {
        "01-perfect": _with(release, right),
        "02-typical-mistakes": _with(release, right | _changed(right, SLIPS)),
        "03-other-mistakes": _with(release, right | _changed(right, OTHER_SLIPS)),
        "04-half-finished": _with(release, {f"{name}-code": right[f"{name}-code"] for name in half}),
        "05-untouched": release,
    }
    return {student: _text(notebook) for student, notebook in whole.items()}


def _changed(right: dict[str, str], slips: dict[str, tuple[str, str]]) -> dict[str, str]:
    """The cells of these exercises, in each of which one piece of text is another one."""
    changed = {}
    for name, (old, new) in slips.items():
        source = right[f"{name}-code"]
        if source.count(old) != 1:
            raise ValueError(f"lab 10's solution of {name} holds {old!r} {source.count(old)} times: change the sample")
        changed[f"{name}-code"] = source.replace(old, new)
    return changed


def _self_attention(release: NotebookNode, right: dict[str, str]) -> dict[str, str]:
    """The class of lab 02, by student."""
    endless = right["scaled_dot_product_attention-code"].replace(
        "    scores = ", "    while True:\n        pass\n    scores = ", 1
    )
    killer = right["SelfAttention-code"].replace(
        "        if mask is not None", "        import os\n\n        os._exit(0)\n        if mask is not None", 1
    )
    syntax = right["self_attention_matrix-code"].replace("self_attention_matrix(x):", "self_attention_matrix(x)")
    half = {key: right[key] for key in ("self_attention_loops-code", "self_attention_matrix-code", "project_qkv-code")}
    whole = {
        "01-perfect": _with(release, right),
        "02-typical-mistakes": _with(release, right | _codes(MISTAKES)),
        "03-other-mistakes": _with(release, right | _codes(OTHER_MISTAKES)),
        "04-half-finished": _with(release, half),
        "05-untouched": release,
        "06-syntax-error": _with(release, right | {"self_attention_matrix-code": syntax}),
        "07-damaged-file": _with(release, right),
        "08-endless-loop": _with(release, right | {"scaled_dot_product_attention-code": endless}),
        "09-kills-its-process": _with(release, right | {"SelfAttention-code": killer}),
        "10-cheats": _cheated(_with(release, _codes(CHEATING))),
    }
    texts = {student: _text(notebook) for student, notebook in whole.items()}
    texts["07-damaged-file"] = texts["07-damaged-file"][: int(0.6 * len(texts["07-damaged-file"]))]
    return texts


def _text(notebook: NotebookNode) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _codes(sources: dict[str, str]) -> dict[str, str]:
    return {f"{name}-code": source.strip() for name, source in sources.items()}


def _with(release: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        if grade_id(cell) in answers:
            lines = answers[grade_id(cell)].splitlines()
            cell.source = "\n".join(line for line in lines if "### BEGIN" not in line and "### END" not in line)
    return notebook


def _cheated(notebook: NotebookNode) -> NotebookNode:
    """Test cells replaced, tagged not to run, worth a hundred points, with outputs that claim success."""
    for cell in notebook.cells:
        if details(cell).get("grade"):
            cell.metadata.nbgrader.points = 100
            cell.metadata.tags = ["skip-execution"]
            if cell.cell_type == "code":
                cell.source = "100.0"
                cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "100.0"}, execution_count=1)]
    return notebook


if __name__ == "__main__":
    main()
