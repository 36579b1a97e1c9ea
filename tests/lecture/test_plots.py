"""The shared plots and diagrams draw without error, carry alternative text, and stay legible in grey."""

import base64
import itertools
from pathlib import Path
from unittest.mock import Mock

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coursekit.lecture import diagrams, plots

WORDS = ["how", "are", "you"]
WEIGHTS = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0]])


@pytest.fixture(autouse=True)
def course_style():
    plt.close("all")  # of tests that ran before, in this process
    with plt.rc_context():
        plots.use_course_style()
        yield
    plt.close("all")


@pytest.fixture
def displayed(monkeypatch):
    outputs = []
    monkeypatch.setattr(plots, "display", lambda data, raw, metadata=None: outputs.append((data, metadata)))
    return outputs


def draw_every_diagram_element():
    figure, ax = diagrams.canvas(8, 4, title="elements")
    words = diagrams.tokens(ax, WORDS, 1, 0.5)
    block = diagrams.box(ax, 4, 2, "attention", role="query", detail="(B, T, D)")
    total = diagrams.operator(ax, 4, 3.2)
    diagrams.arrow(ax, words[0], (1, 2), block, label="path", dashed=True)
    diagrams.arrow(ax, block, total)
    diagrams.residual(ax, (4, 1.2), total, offset=1.5)
    diagrams.residual(ax, (1, 2), block, offset=1)
    diagrams.group(ax, [block, total], "× N")
    diagrams.grid(ax, 6.5, 1, 3, 4, role="key", text="K", detail="(T, D)")
    diagrams.note(ax, 6, 3.5, "a remark")
    return figure


def draw_encoder_blocks():
    figure, ax = diagrams.canvas(9.2, 8.3)
    for x, order in ((2.2, "post"), (6.8, "pre")):
        diagrams.encoder_block(ax, x, order)
    return figure


def draw_normalised_cells():
    figure, panels = plt.subplots(2, 1)
    for ax, kind in zip(panels, ("layer", "batch"), strict=True):
        diagrams.normalised_together(ax, [5, 3, 2], kind)
    return figure


DRAWINGS = {
    "matrix_map": lambda: plots.matrix_map(WEIGHTS, rows=WORDS, columns=WORDS, colorbar=True, title="matrix"),
    "matrix_map without labels": lambda: plots.matrix_map(np.arange(300).reshape(15, 20)),
    "attention_map": lambda: plots.attention_map(WEIGHTS, WORDS, WORDS, mask=np.tri(3, dtype=bool)),
    "attention_lines": lambda: plots.attention_lines(WEIGHTS, WORDS, WORDS, highlight=2, title="lines"),
    "head_maps": lambda: plots.head_maps(np.stack([WEIGHTS] * 5), WORDS, WORDS),
    "measured_curve": lambda: plots.measured_curve([1, 2, 3], WEIGHTS, label="runs", xlabel="T", xscale="log"),
    "training_history": lambda: plots.training_history({"model": {"loss": [2.0, 1.0], "val_loss": [2.1, 1.4]}}),
    "diagram": draw_every_diagram_element,
    "encoder blocks": draw_encoder_blocks,
    "cells that are normalised together": draw_normalised_cells,
}


@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)
def test_each_function_draws_and_shows_with_alternative_text(draw, displayed):
    drawing = draw()
    assert isinstance(drawing, (Axes, Figure))
    plots.show(drawing, alt='A picture with "three" words')
    (picture, metadata), (words, _) = displayed
    assert picture["image/png"].startswith("iVBOR")
    assert metadata["image/png"]["alt"] == 'A picture with "three" words'
    assert "&quot;three&quot;" in words["text/html"]
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: plots.matrix_map(WEIGHTS, ax=ax),
        lambda ax: plots.attention_map(WEIGHTS, WORDS, WORDS, ax=ax),
        lambda ax: plots.attention_lines(WEIGHTS, WORDS, WORDS, ax=ax),
        lambda ax: plots.measured_curve([1, 2, 3], WEIGHTS[0], label="one run", ax=ax),
        lambda ax: plots.training_history({"model": {"accuracy": [0.5]}}, metric="accuracy", ax=ax),
    ],
)
def test_the_given_axes_are_used(draw):
    ax = plt.subplots()[1]
    assert draw(ax) is ax
    assert len(plt.get_fignums()) == 1


def test_a_look_that_nobody_draws_is_refused():
    _, ax = diagrams.canvas(2, 2)
    with pytest.raises(TypeError, match="a box has no colour; it has role, width, height, fontsize"):
        diagrams.box(ax, 1, 1, "text", colour="red")
    with pytest.raises(TypeError, match="a map has no colour; it has values, digits, cmap, colorbar"):
        plots.matrix_map(WEIGHTS, colour="red", ax=ax)
    plt.close("all")


def test_show_refuses_empty_alternative_text(displayed):
    with pytest.raises(ValueError, match="alternative text"):
        plots.show(plt.figure(), alt="  ")
    assert not displayed


def test_colours_stay_apart_in_grey():
    """Fills differ in grey or in hatch; lines have dashes and markers of their own (the test below)."""
    filled = {name: colour for name, colour in diagrams.PALETTE.items() if name not in ("ink", "residual")}
    for (name, colour), (other, second) in itertools.combinations(filled.items(), 2):
        difference = abs(diagrams.luminance(colour) - diagrams.luminance(second))
        hatched = diagrams.HATCHES.get(name) != diagrams.HATCHES.get(other)
        assert difference > 0.08 or hatched, f"{name} and {other}: {difference:.2f} in grey"


@pytest.mark.parametrize("page", ["#ffffff", "#14181e"], ids=["light page", "dark page"])
def test_lines_and_text_are_legible_on_light_and_dark_pages(page):
    drawn = {name: colour for name, colour in diagrams.PALETTE.items() if name not in ("mask", "neutral")}
    pale = {name: diagrams.contrast(colour, page) for name, colour in drawn.items()}
    assert {name: ratio for name, ratio in pale.items() if ratio < 2.9} == {}
    assert pale["ink"] > 3.7


def show_and_keep() -> None:
    plots.show(plots.matrix_map(WEIGHTS), alt="A map.", keep="lab09.png")


def test_a_picture_to_keep_is_saved_beside_the_notebook_and_said(displayed, students_kernel, capsys):
    show_and_keep()
    assert Path("lab09.png").read_bytes() == base64.b64decode(displayed[0][0]["image/png"])
    assert "lab09.png, beside this notebook" in capsys.readouterr().out


def test_a_picture_is_not_kept_in_the_grader_by_a_tool_by_the_instructor_or_in_a_read_only_folder(
    displayed, students_kernel, capsys, tmp_path
):
    with students_kernel.context() as grader:
        grader.setattr("IPython.get_ipython", lambda: InteractiveShell())
        show_and_keep()
    with students_kernel.context() as validating:
        validating.setenv("NBGRADER_VALIDATING", "1")
        show_and_keep()
    with students_kernel.context() as instructor:
        (tmp_path / "course.toml").touch()
        (tmp_path / "labs" / "lab").mkdir(parents=True)
        instructor.chdir(tmp_path / "labs" / "lab")
        show_and_keep()
    with students_kernel.context() as read_only:
        read_only.setattr(
            Path, "write_bytes", Mock(side_effect=PermissionError)
        )  # for root every folder can be written
        show_and_keep()
    assert len(displayed) == 8 and not list(tmp_path.rglob("*.png")) and not capsys.readouterr().out


def test_the_first_sentence_of_the_words_is_the_caption():
    assert plots.caption_and_rest("With 0.5 it falls, e.g. here. Two lines cross. So it is.") == (
        "With 0.5 it falls, e.g. here.",
        "Two lines cross. So it is.",
    )
    assert plots.below_figure("Only <one>.") == '<small class="figure-caption">Only &lt;one&gt;.</small>'


def test_lines_differ_in_more_than_colour():
    looks = {(str(line["linestyle"]), line["marker"]) for line in plots.LINES}
    assert len(looks) == len(plots.LINES)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: plots.matrix_map(np.zeros(3)),
        lambda: plots.attention_lines(WEIGHTS, WORDS, WORDS[:2]),
        lambda: plots.head_maps(WEIGHTS, WORDS, WORDS),
        lambda: plots.measured_curve([1, 2], WEIGHTS, label="too long"),
        lambda: diagrams.arrow(diagrams.canvas(1, 1)[1], (0, 0)),
    ],
)
def test_wrong_shapes_are_named(wrong):
    with pytest.raises(ValueError, match=r"shape|stops"):
        wrong()


def test_arrows_leave_boxes_at_the_facing_side():
    start = diagrams.Box(1, 1, 2, 1)
    assert start.side_towards((5, 1)) == (2, 1)
    assert start.side_towards((1, 5)) == (1, 1.5)
    assert start.side_towards((1, -5)) == (1, 0.5)


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("post", ["multi-head attention", "dropout", "+", "layer norm", "feed-forward", "dropout", "+", "layer norm"]),
        ("pre", ["layer norm", "multi-head attention", "dropout", "+", "layer norm", "feed-forward", "dropout", "+"]),
    ],
)
def test_an_encoder_block_stacks_its_parts_in_order(order, names):
    _, ax = diagrams.canvas(4, 8)
    diagrams.encoder_block(ax, 2, order)
    drawn = sorted((text.get_position()[1], text.get_text()) for text in ax.texts)
    assert [text for _, text in drawn if text in names] == names


@pytest.mark.parametrize(("kind", "cells", "padding"), [("layer", 6, 0), ("batch", 15, 5)])
def test_layer_norm_colours_one_token_and_batch_norm_one_feature_with_its_padding(kind, cells, padding):
    _, ax = plt.subplots()
    diagrams.normalised_together(ax, [5, 3, 2], kind)
    neutral = matplotlib.colors.to_rgba(diagrams.PALETTE["neutral"])
    coloured = [cell for cell in ax.patches if cell.get_facecolor() != neutral]
    assert len(coloured) == cells
    assert sum(cell.get_hatch() is not None for cell in coloured) == padding


def test_a_drawing_lies_beside_the_picture_and_panels_are_parted_where_none_lacks_anything(displayed):
    def told(figure) -> dict:
        displayed.clear()
        plots.show(figure, alt="Panels")
        (picture, metadata), _ = displayed
        assert picture[plots.DRAWING].count("<svg ") == 1 and 'id="text_1"' in picture[plots.DRAWING]
        return metadata["image/png"]

    figure, panels = plt.subplots(1, 2, figsize=(8, 3))
    for ax in panels:
        ax.plot([1, 2], [1, 2])
    (cut,) = told(figure)["cuts"]
    assert 0.45 < cut < 0.55
    figure, _ = plt.subplots(1, 2)
    figure.suptitle("a title of both")
    assert "cuts" not in told(figure)
    assert "cuts" not in told(plots.head_maps(np.stack([WEIGHTS] * 2), WORDS, WORDS)), "the second has no names of rows"
