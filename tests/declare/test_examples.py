"""The examples in the docstrings of what students import are run, and nothing that a lab calls is without one."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from lab_matrix import LABS

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = {  # what no example of two lines can show
    "captions.load": "weights of 2 MB",
    "data.chosen_source": "the environment decides",
    "data.library_functions": "other functions with every Python",
    "looking.attention_weights": "needs a trained model",
    "looking.digit_and_patches": "a drawing of one lab",
    "looking.digits_above_maps": "a drawing of one lab",
    "looking.position_table": "needs a trained model",
    "looking.predict_with_rows": "needs a trained model",
    "looking.shift_figure": "a drawing of one lab",
    "memory_task.last_answers": "needs a trained model",
    "memory_task.trained": "trains a model",
    "pages.answering.log_probabilities": "a lecture's cell",
    "pages.answering.reads_a_parameter": "a lecture's cell",
    "pages.assistant.Writer": "needs a trained model",
    "pages.assistant.copied": "needs a trained model",
    "pages.assistant.learner": "trains a model",
    "pages.assistant.short_functions": "needs a trained model's tokens",
    "pages.assistant.stored_writer": "weights of 1 MB",
    "pages.attention.PlainAttention": "a lecture's cell",
    "pages.caption_model.PlainCaptionModel": "a lecture's cell",
    "pages.caption_model.reshaped": "a lecture's cell",
    "pages.decoder_and_masking.PlainDecoderBlock": "a lecture's cell",
    "pages.encoder_block.post_norm_block": "a lecture's cell",
    "pages.encoder_block.pre_norm_block": "a lecture's cell",
    "pages.multi_head.PlainHeads": "a lecture's cell",
    "pages.news_classifier.PlainBertBlock": "a lecture's cell",
    "pages.news_classifier.PlainNewsBert": "a lecture's cell",
    "pages.news_classifier.in_batches": "a lecture's cell",
    "pages.news_classifier.plain_classifier": "a lecture's cell",
    "pages.news_classifier.table_means": "a lecture's cell",
    "pages.parts.PlainRMSNorm": "a lecture's cell",
    "pages.positions.PlainPositions": "a lecture's cell",
    "pages.review_classifier.PlainReviewClassifier": "a lecture's cell",
    "pages.self_attention.PlainSelfAttention": "a lecture's cell",
    "pages.vision_transformer.plain_vit": "a lecture's cell",
    "pages.training.in_graph": "needs a model",
    "pages.training.trained_live": "trains a model",
    "plots.show": "shows a picture",
    "plots.use_course_style": "changes how all that follows looks",
    "published.chat": "needs a model of 100 MB",
    "published.load_published": "needs a model of 100 MB",
    "published_heads.NextToken": "needs a model of 100 MB",
    "published_heads.heads_of_block": "needs a model of 100 MB",
    "published_heads.losses": "needs a model of 100 MB",
    "published_heads.read_through": "needs a model of 100 MB",
    "quiet.start_tensorflow": "has to come before TensorFlow",
    "sorting.Trainer": "trains a model",
    "start_lab": "reads the lab's files",
}


def called_in_labs() -> set[str]:
    """Functions and classes of `coursekit` that the notebooks of the labs use, by their path."""
    found = set()
    for lab in LABS:
        notebook = nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4)
        source = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
        tree = ast.parse("\n".join(line for line in source.split("\n") if not line.lstrip().startswith("%")))
        names = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "coursekit"
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in names:
                found.add(names[node.id])
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
                found.add(f"{names[node.value.id]}.{node.attr}")
    return {path.removeprefix("coursekit.") for path in found if callable(resolved(path))}


def resolved(path: str) -> object:
    """What a path such as coursekit.data.news names; None for a method of something that no module holds."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError:
        return None


CALLED = sorted(called_in_labs())


def test_everything_that_a_lab_calls_has_an_example_or_a_reason():
    without = {path for path in CALLED if ">>>" not in (inspect.getdoc(resolved(f"coursekit.{path}")) or "")}
    assert without == WITHOUT.keys()


@pytest.mark.parametrize("path", [path for path in CALLED if path not in WITHOUT])
def test_an_example_gives_what_it_says(path):
    function = resolved(f"coursekit.{path}")
    names = vars(importlib.import_module(function.__module__)) | {}
    (example,) = doctest.DocTestFinder(recurse=False).find(function, path, globs=names)
    failed, tried = doctest.DocTestRunner().run(example)
    plt.close("all")
    assert tried and not failed
