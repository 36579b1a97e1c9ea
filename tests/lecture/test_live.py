"""Live figures compute in the browser what NumPy computes: each is drawn at several places of its controls."""

from __future__ import annotations

import base64
import html
import io
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import altair as alt
import nbformat
import numpy as np
import pytest
import vl_convert
from matplotlib import colormaps
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image
from scipy.special import softmax

from coursekit.lecture import live, plots
from coursekit.lecture.diagrams import DARK_TEXT, PALETTE
from coursekit.lecture.live import figure as figures

WORDS = ["the", "train", "stops", "at", "the", "station"]
LABELS = ["the (0)", "train", "stops", "at", "the (4)", "station"]
SCORES = np.random.default_rng(0).normal(size=(6, 6)).round(4) * 3
TREE = {
    "a": (0.5, {"dog": 0.4, "cat": 0.35, "cow": 0.25}),
    "the": (0.4, {"dog": 0.9, "cat": 0.06, "cow": 0.04}),
    "my": (0.1, {"dog": 0.5, "cat": 0.3, "cow": 0.2}),
}
PROBABILITIES = np.array([0.42, 0.24, 0.16, 0.1, 0.05, 0.03])
MENU = ["mat", "sofa", "floor", "roof", "moon", "idea"]
MEASURED = np.random.default_rng(3).uniform(0, 5, size=(2, 40)).round(3)
HEADS = np.random.default_rng(1).normal(size=(2, 6, 6)).round(4)
IMAGES = np.random.default_rng(2).random((2, 8, 8))
MAPS = [softmax(np.random.default_rng(block).normal(size=(2, 4, 17, 17)), axis=-1) for block in range(3)]
WRITTEN = [[("return x", 30), ("pass", 12), ("return", 5)], [("return", 60), ("pass", 4)]]
FIGURES = {
    "answers": lambda: live.answers({"parses": [0.5, 1], "the commonest answer": [0.47, 0.94]}, WRITTEN),
    "bandwidth": lambda: live.bandwidth(*MEASURED, low=0, high=5),
    "beam": lambda: live.beam(TREE),
    "cache": lambda: live.cache(WORDS),
    "layer_norm": lambda: live.layer_norm([0, 6, 6, 8]),
    "masks": lambda: live.masks(SCORES, WORDS),
    "positions": lambda: live.positions(),
    "rollout": lambda: live.rollout(IMAGES, MAPS, ["one", "two"]),
    "sampling": lambda: live.sampling(np.log(PROBABILITIES), MENU),
    "sharpness": lambda: live.sharpness(SCORES, WORDS),
    "side_by_side": lambda: live.side_by_side(HEADS, SCORES, WORDS, asks=("nouns", "verbs")),
    "warm_up": lambda: live.warm_up(),
}


def marks(figure: live.LiveFigure, **values) -> list[dict[str, str]]:
    """What the drawn marks say of themselves, as a screen reader reads it: the fields of each."""
    drawn = vl_convert.vegalite_to_svg(figure.specification(**values), vl_version=figures._CONVERTER)
    labels = re.findall(
        r'aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="(?!axis|legend|title)', drawn
    )
    texts = [html.unescape(label).replace("−", "-") for label in labels]
    return [dict(part.split(": ", 1) for part in text.split("; ") if ": " in part) | {"": text} for text in texts]


def numbers(figure: live.LiveFigure, field: str, **values) -> np.ndarray:
    """The numbers that all marks with this field show, in the order in which they are drawn."""
    return np.array([float(mark[field]) for mark in marks(figure, **values) if field in mark])


def picked(**fields) -> list[dict]:
    return [fields]


@pytest.mark.long
@pytest.mark.parametrize("step", [1, 2])
def test_answers_are_those_of_the_chosen_step(step):
    shown = [mark[""] for mark in marks(FIGURES["answers"](), step=step)]
    assert [f"{body}: {count} of 64" for body, count in WRITTEN[step - 1]] == [
        text for text in shown if " of 64" in text
    ]
    assert f"parses: {[0.5, 1][step - 1]:g}" in " ".join(shown)


def test_answers_need_curves_of_their_steps():
    with pytest.raises(ValueError, match="at most three curves of 2 steps each"):
        live.answers({"parses": [0.5]}, WRITTEN)


@pytest.mark.long
@pytest.mark.parametrize("divide", [0.25, 1, 8])
def test_sharpness_is_the_softmax_of_the_divided_scores(divide):
    weights = softmax(SCORES / divide, axis=-1)
    shown = numbers(live.sharpness(SCORES, WORDS), "weight", divide=divide, row=picked(query="stops"))
    np.testing.assert_allclose(shown[:36].reshape(6, 6), weights, atol=1e-4)
    np.testing.assert_allclose(shown[36:], weights[2], atol=1e-4)
    scores = numbers(live.sharpness(SCORES, WORDS), "scaled", divide=divide, row=picked(query="stops"))
    np.testing.assert_allclose(scores, SCORES[2] / divide, atol=0.005)  # two digits


@pytest.mark.long
@pytest.mark.parametrize("power", [-1.7, -0.5, 0.5])
def test_bandwidth_is_the_average_weighted_by_the_kernel(power):
    keys, values = MEASURED
    weights = softmax(-(((1.2 - keys) / 10**power) ** 2) / 2)
    drawn, chosen = live.bandwidth(keys, values, low=0, high=5), {"power": power, "asked": picked(query=1.2)}
    np.testing.assert_allclose(numbers(drawn, "weight", **chosen), weights, atol=1e-6)
    assert numbers(drawn, "estimate", **chosen) == pytest.approx([weights @ values], abs=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("turn", [0, 45, 90])
def test_heads_side_by_side_are_the_softmax_of_each_with_the_first_one_turned(turn):
    angle = np.radians(turn)
    weights = softmax([np.cos(angle) * HEADS[0] + np.sin(angle) * SCORES, HEADS[1]], axis=-1)
    shown = numbers(FIGURES["side_by_side"](), "weight", row=picked(query="train"), turn=turn)
    np.testing.assert_allclose(shown[:72].reshape(2, 6, 6), weights, atol=1e-4)
    np.testing.assert_allclose(np.sort(shown[72:]), np.sort(weights[:, 1].ravel()), atol=1e-4)


def test_heads_side_by_side_name_the_shapes_that_they_need():
    with pytest.raises(ValueError, match=r"\(heads, T, T\) .* for 6 words, got \(6, 6\) and \(6, 6\)"):
        live.side_by_side(SCORES, SCORES, WORDS, asks=("nouns", "verbs"))


@pytest.mark.long
@pytest.mark.parametrize("look_ahead", [True, False])
@pytest.mark.parametrize("padding", ["none", "at the end", "in front"])
@pytest.mark.parametrize("when", ["before the softmax", "after the softmax"])
def test_masks_block_what_they_say(look_ahead, padding, when):
    real = np.arange(6) >= 2 if padding == "in front" else np.arange(6) < (4 if padding == "at the end" else 6)
    may = (np.tri(6, dtype=bool) if look_ahead else np.ones((6, 6), bool)) & real
    weights = softmax(np.where(may, SCORES, -1e9), axis=-1)
    if when == "after the softmax":
        weights = np.where(may, softmax(SCORES, axis=-1), 0)
    drawn = live.masks(SCORES, WORDS)
    chosen = {"look_ahead": look_ahead, "padded": padding, "when": when}
    np.testing.assert_allclose(numbers(drawn, "weight", **chosen).reshape(6, 6), weights, atol=1e-4)
    np.testing.assert_allclose(numbers(drawn, "row_sum", **chosen), weights.sum(axis=-1), atol=0.006)  # two digits


@pytest.mark.long
@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"length": 1, "shift": 20},
        {"length": -3, "epsilon": -3},
        {"which": picked(feature="feature 2"), "gamma": 3, "beta": -0.5},
    ],
    ids=str,
)
def test_layer_norm_is_its_formula(chosen):
    x = np.array([0, 6, 6, 8]) * 10.0 ** chosen.get("length", 0) + chosen.get("shift", 0)
    x_hat = (x - x.mean()) / np.sqrt(x.var() + 10.0 ** chosen.get("epsilon", -6))
    y = x_hat * [1, 1, chosen.get("gamma", 1), 1] + [0, 0, chosen.get("beta", 0), 0]
    drawn = live.layer_norm([0, 6, 6, 8])
    for field, expected in {"x": x, "x_hat": x_hat, "y": y}.items():
        np.testing.assert_allclose(numbers(drawn, field, **chosen), expected, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("width", "place", "offset"), [(64, 20, 3), (64, 50, 3), (8, 7, -60), (128, 0, 0)])
def test_positions_show_the_dot_product_of_two_rows_of_the_table(width, place, offset):
    omega = 10_000 ** (-np.arange(0, width, 2) / width)
    one, other = (np.concatenate([np.sin(p * omega), np.cos(p * omega)]) for p in (place, place + offset))
    drawn = live.positions()
    assert numbers(drawn, "PE[p] · PE[p + k]", model_width=width, place=place, offset=offset) == pytest.approx(
        [one @ other]
    )


@pytest.mark.parametrize(("width", "place", "offset", "column"), [(64, 20, 3, 4), (8, 7, -5, 60)])
def test_positions_turn_one_pair_by_the_offset(width, place, offset, column):
    """The hands stand at the angles ωp and ω(p + k), and the title says by how much the second one is turned."""
    omega = 10_000 ** (-2 * min(column, width // 2 - 1) / width)
    drawn, chosen = live.positions(), {"model_width": width, "place": place, "offset": offset, "column": column}
    angles = np.array([place, place + offset]) * omega
    shown = [mark for mark in marks(drawn, **chosen) if mark.get("at")]
    found = [[float(mark["cosine"]), float(mark["sine"])] for mark in shown]
    np.testing.assert_allclose(found, np.stack([np.cos(angles), np.sin(angles)], axis=-1), atol=1e-6)
    said = vl_convert.vegalite_to_svg(drawn.specification(**chosen), vl_version=figures._CONVERTER)
    assert f"turned by kω = {offset * omega:.2f}".replace("-", "−") in said


@pytest.mark.parametrize(("width", "warmup"), [(512, 4000), (256, 16_000), (1024, 1000)])
def test_warm_up_has_its_peak_where_the_formula_has_it(width, warmup):
    peak = numbers(live.warm_up(), f"peak at step {warmup}", model_width=width, warmup=warmup)
    assert peak == pytest.approx([(width * warmup) ** -0.5], abs=1e-7)


def reshaped(temperature=1.0, top_k=None, top_p=None) -> np.ndarray:
    """What is drawn from, as lecture 8b computes it."""
    p = softmax(np.log(PROBABILITIES) / temperature)
    falling, least = np.sort(p)[::-1], 0.0
    if top_k:
        least = falling[top_k - 1]
    if top_p:
        least = falling[: int(np.sum(np.cumsum(falling) - falling < top_p - 1e-9))].min()
    kept = np.where(p >= least, p, 0)
    return kept / kept.sum()


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"temperature": 0.5}, reshaped(0.5)),
        ({"temperature": 3}, reshaped(3)),
        ({"cut": "top-k", "k": 1}, reshaped(top_k=1)),
        ({"cut": "top-k", "k": 4, "temperature": 2}, reshaped(2, top_k=4)),
        ({"cut": "top-p", "p": 0.9}, reshaped(top_p=0.9)),
        ({"cut": "top-p", "p": 0.05}, reshaped(top_p=0.05)),
        ({"cut": "top-p", "p": 0.8, "temperature": 0.3}, reshaped(0.3, top_p=0.8)),
    ],
    ids=str,
)
def test_sampling_is_drawn_from_the_reshaped_distribution(chosen, expected):
    shown = {
        mark["word"]: float(mark["probability"]) for mark in marks(live.sampling(np.log(PROBABILITIES), MENU), **chosen)
    }
    np.testing.assert_allclose([shown[word] for word in MENU], expected, atol=1e-5)


def test_of_ties_at_the_cut_all_stay():
    shown = numbers(live.sampling(np.log([0.4, 0.3, 0.3]), ["a", "b", "c"]), "probability", cut="top-k", k=2)
    np.testing.assert_allclose(shown, [0.4, 0.3, 0.3], atol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize(
    ("width", "share", "written"),
    [(1, 0.5, "a dog"), (2, 0.5, "the dog"), (1, 0.4, "the dog"), (2, 0.95, "a dog"), (3, 0.5, "the dog")],
)
def test_the_beam_writes_what_a_beam_finds(width, share, written):
    shown = [mark[""] for mark in marks(live.beam(TREE), beam_width=width, share=share)]
    rest = (1 - share) / 0.5
    p = {
        f"{first} {second}": (share if first == "a" else own * rest) * then
        for first, (own, seconds) in TREE.items()
        for second, then in seconds.items()
    }
    (said,) = [text for text in shown if text.endswith("what it writes")]
    assert said.startswith(f"{written}  {p[written]:.3f}")
    (best,) = [text for text in shown if "★" in text]
    assert best.startswith(max(p, key=p.get))
    beginnings = {text.partition("  ")[0] for text in shown if not text.endswith(("dropped", "kept", "writes"))}
    assert beginnings == set(TREE)
    assert sum(text.endswith(("kept", "writes")) for text in shown) == width


@pytest.mark.long
@pytest.mark.parametrize("step", [1, 4, 6])
@pytest.mark.parametrize("how", ["computed again", "from the cache"])
def test_the_cache_counts_what_is_computed(step, how):
    again = how == "computed again"
    shown = marks(live.cache(WORDS), step=step, how=how)
    states = defaultdict(int)
    for mark in shown:
        if "state" in mark:
            states["scores" if "query" in mark else "pairs", mark["state"]] += 1
    assert states["scores", "computed in this step"] == (step**2 if again else step)
    assert states["pairs", "computed in this step"] == (step if again else 1)
    assert states["pairs", "taken from the cache"] == (0 if again else step - 1)
    tokens = sum(t if again else 1 for t in range(1, step + 1))
    scores = sum(t**2 if again else t for t in range(1, step + 1))
    said = [mark[""] for mark in shown if "so far" in mark[""]]
    assert f"tokens through the layers: {step if again else 1} in this step, {tokens} so far" in said
    assert f"scores: {step**2 if again else step} in this step, {scores} so far" in said


@pytest.mark.long
def test_rollout_follows_the_blocks_from_the_first():
    mixing = np.eye(17)
    for block, weights in enumerate(MAPS, 1):
        mean = weights[1].mean(axis=0)
        mixing = (mean @ mixing + mixing) / 2
        for what, expected in (("rollout up to it", mixing), ("this block alone", mean)):
            chosen = {"image": "two", "block": block, "what": what, "query": picked(query="patch 7")}
            texts = [mark[""] for mark in marks(live.rollout(IMAGES, MAPS, ["one", "two"]), **chosen)]
            shares = [float(text.rsplit(" ", 1)[1]) for text in texts if re.fullmatch(r".*: 0\.\d{3}", text)]
            np.testing.assert_allclose(shares, expected[7], atol=1e-3)
    with pytest.raises(ValueError, match="square of patches"):
        live.rollout(IMAGES, [MAPS[0][..., :16, :16]], ["one", "two"])


@pytest.mark.long
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_stored_as_chart_picture_and_words(name, monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda data, raw, metadata=None: shown.append((data, metadata)))
    drawn = FIGURES[name]()
    drawn._ipython_display_()
    (forms, metadata), (folded, _) = shown
    assert set(forms) == {figures.MIME, "image/png", "text/plain"}
    assert len(drawn.words) > 100 and metadata["image/png"]["alt"] == drawn.words
    assert drawn.words == forms[figures.MIME]["description"] == forms["text/plain"][len("[Figure: ") : -1]
    assert "figure-caption" in folded["text/html"]
    assert len(json.dumps(forms)) < 150_000
    picture = Image.open(io.BytesIO(base64.b64decode(forms["image/png"])))
    assert picture.width > 300 and len(picture.getcolors(picture.width * picture.height)) > 3
    for panel in forms[figures.MIME]["concat"]:
        assert panel.get("width", 0) <= 340


def test_what_is_half_transparent_keeps_its_colour_in_the_picture():
    """Orange at one half on white; twelve maps of heads were grey tiles once."""
    chart = alt.Chart(alt.Data(values=[{"x": 1}]), width=60, height=60).mark_rect(color="#ff8000", opacity=0.5)
    drawn = live.LiveFigure(chart.encode(x=alt.X("x:O", axis=None)), "an orange square on white")
    picture = Image.open(io.BytesIO(drawn.picture()))
    assert picture.mode == "RGB"  # on white, so that it is readable on every page
    np.testing.assert_allclose(picture.getpixel((picture.width // 2, picture.height // 2)), (255, 191, 127), atol=2)


def css(colour: str) -> str | tuple[float, ...]:
    """A colour of the drawing, as matplotlib reads it."""
    return tuple(int(number) / 255 for number in re.findall(r"\d+", colour)[:3]) if colour.startswith("rgb") else colour


@pytest.mark.long
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_in_the_colours_of_the_static_ones(name):
    """Each colour of the drawing is one of the palette, one of the static maps, or a grey."""
    drawn = vl_convert.vegalite_to_svg(FIGURES[name]().specification(), vl_version=figures._CONVERTER)
    found = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawn)) - {"none", "transparent"}
    maps = colormaps["Blues"](np.linspace(0, 1, 4001))[:, :3]
    greys = 1 - np.linspace(0, 1, 401)[:, None] * (1 - np.array(to_rgb(DARK_TEXT)))
    known = np.concatenate([[to_rgb(colour) for colour in PALETTE.values()], maps, greys])
    strange = [colour for colour in found if np.abs(known - to_rgb(css(colour))).max(axis=1).min() > 3 / 255]
    assert len(found) >= 3 and not strange


def test_a_weight_has_the_colour_that_the_static_map_gives_it():
    drawn = vl_convert.vegalite_to_svg(live.sharpness(SCORES, WORDS).specification(), vl_version=figures._CONVERTER)
    cells = re.findall(r'aria-label="[^"]*weight: [^"]*"[^>]*"rect mark"[^>]*? fill="([^"]+)"', drawn)
    weights = softmax(SCORES, axis=-1)
    image = plots.attention_map(weights, WORDS, WORDS, ax=Figure().subplots()).images[0]
    expected = image.to_rgba(weights.ravel())[:, :3]
    np.testing.assert_allclose([to_rgb(css(colour)) for colour in cells], expected, atol=3 / 255)


@pytest.mark.parametrize("name", sorted(set(live.__all__) - {"LiveFigure"}))
def test_a_lecture_shows_every_figure_right_after_a_question(name):
    lectures = Path(__file__).resolve().parents[2] / "lectures"
    for cells in (nbformat.read(path, as_version=4).cells for path in sorted(lectures.rglob("[0-9]*.ipynb"))):
        shown = [number for number, cell in enumerate(cells) if f"live.{name}(" in cell.source]
        texts = [[cell.source for cell in cells[:number] if cell.cell_type == "markdown"] for number in shown]
        if shown:
            break
    assert shown and all("?" in before[-1] for before in texts)


@pytest.mark.long
@pytest.mark.parametrize("name", FIGURES)
def test_every_control_has_a_label_and_the_keyboard_reaches_it(name):
    controls = [control for control in FIGURES[name]().specification()["params"]]
    assert controls
    for control in controls:
        bound = control["bind"]
        inputs = [bound] if "input" in bound else list(bound.values())
        assert all(element["input"] in ("range", "select", "radio", "checkbox") for element in inputs)
        assert all(element["name"].strip() for element in inputs)


def test_without_the_converter_the_chart_has_no_picture(monkeypatch):
    monkeypatch.setattr(figures.importlib.util, "find_spec", lambda name: None)
    forms, _ = live.warm_up().bundle()
    assert set(forms) == {figures.MIME, "text/plain"}


def test_colab_gets_a_page(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", object())
    assert "vegaEmbed" in live.warm_up().bundle()[0]["text/html"]


def test_a_figure_needs_words_and_knows_its_controls():
    with pytest.raises(ValueError, match="needs words"):
        live.LiveFigure(live.warm_up().chart, " ")
    with pytest.raises(KeyError, match="no_such_control"):
        live.warm_up().specification(no_such_control=1)
    with pytest.raises(ValueError, match=r"Vega itself uses \['width'\]"):
        figures.figure(live.warm_up().chart, words="x", controls=[figures.slider("width", "w", 0, 1, 1, 0)])
