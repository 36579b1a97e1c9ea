"""A small lab for the submission tests: its release, a student's good answer to it, and helpers to damage that."""

import copy
import json

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

LAB = "02_self_attention"
POINTS = {"softmax": 3.0, "attend": 2.0, "SelfAttention": 5.0, "answers": 1.0}
STUBS = {
    "softmax": "def softmax(x, axis=-1):\n    raise NotImplementedError",
    "attend": "def attend(scores, values):\n    raise NotImplementedError",
    "SelfAttention": "class SelfAttention(keras.Layer):\n    def call(self, x):\n        raise NotImplementedError",
    "answers": "answers = {\n    'scale': None,\n}",
}
ANSWERS = {
    "softmax": "def softmax(x, axis=-1):\n    e = np.exp(x - x.max(axis, keepdims=True))\n    return e / e.sum(axis)",
    "attend": "def attend(scores, values):\n    return softmax(scores) @ values",
    "SelfAttention": "class SelfAttention(keras.Layer):\n    def call(self, x):\n        return attend(x @ x.T, x)",
    "answers": "answers = {\n    'scale': 8.0,\n}",
}
SETUP = "try:\n    import google.colab\nexcept ImportError:\n    pass"
IMPORTS = f'import numpy as np\nimport keras\nfrom coursekit import start_lab\n\ncheck = start_lab("{LAB}")'
HELPER = "def show(x):\n    print(x.shape)"
LOCKED = {"setup": SETUP, "imports": IMPORTS, "helper": HELPER}


def flags(grade_id, *, grade=False, solution=False, locked=False, points=None):
    nbgrader = dict(schema_version=3, grade_id=grade_id, grade=grade, solution=solution, locked=locked, task=False)
    if points is not None:
        nbgrader["points"] = points
    return {"nbgrader": nbgrader}


def release():
    """Return the release of a lab with four exercises, one given helper and one answer that a person grades."""
    cells = [
        new_markdown_cell("# Self-attention", id="title"),
        new_code_cell(SETUP, id="setup", metadata=flags("setup", locked=True)),
        new_code_cell(IMPORTS, id="imports", metadata=flags("imports", locked=True)),
    ]
    for name, points in POINTS.items():
        if name == "attend":
            cells.append(new_code_cell(HELPER, id="helper", metadata=flags("helper", locked=True)))
        cells += [
            new_markdown_cell(f"## {name}\nWrite it.", id=f"{name}-task"),
            new_code_cell(STUBS[name], id=f"{name}-code", metadata=flags(f"{name}-code", solution=True)),
            new_code_cell(f'check("{name}")', id=name, metadata=flags(name, grade=True, locked=True, points=points)),
        ]
    cells += [
        new_markdown_cell("## In your words\nExplain.", id="essay-task"),
        new_markdown_cell("YOUR ANSWER HERE", id="essay", metadata=flags("essay", grade=True, solution=True, points=4)),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return new_notebook(cells=cells, metadata=kernel)


def answered(answers=ANSWERS):
    """Return the release with a student's answers filled in, and outputs as a kernel leaves them."""
    notebook = release()
    for cell in notebook.cells:
        name = cell.id.removesuffix("-code")
        if cell.id.endswith("-code") and name in answers:
            cell.source = answers[name]
        if cell.id == "essay":
            cell.source = "Because the variance grows with d."
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="done\n")]
            cell.execution_count = 1
    return notebook


def cell_of(notebook, cell_id):
    return next(cell for cell in notebook.cells if cell.id == cell_id)


def position_of(notebook, cell_id):
    return next(i for i, cell in enumerate(notebook.cells) if cell.id == cell_id)


def as_bytes(notebook):
    return json.dumps(notebook).encode()


def with_cells(notebook, cells):
    changed = copy.deepcopy(notebook)
    changed.cells = cells
    return changed


def code(source, **more):
    return new_code_cell(source, **more)


def raw(source, **more):
    return new_raw_cell(source, **more)


def test_factory_makes_valid_notebooks():
    nbformat.validate(release())
    nbformat.validate(answered())
