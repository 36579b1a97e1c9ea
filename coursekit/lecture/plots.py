"""The plots that several lectures share: attention maps, attention lines, measured curves, images with overlays.

Each function draws on the axes given as `ax=` (or makes its own) and returns the axes; those that need several panels
return the figure. End a cell with `show(figure, alt="…")`: it displays the picture with alternative text for readers
who do not see it.
"""

from __future__ import annotations

import base64
import gzip
import html
import io
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypedDict, Unpack

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from coursekit.beside import write_beside
from coursekit.lecture.diagrams import HATCHES, PALETTE, text_colour

DRAWING = "application/vnd.course.drawing"  # a figure's SVG, which the site shows; notebooks show its picture

# One entry per line of a plot: colour, dash pattern and marker differ together, so that a grey print stays legible.
LINES: tuple[dict[str, Any], ...] = (
    {"color": PALETTE["query"], "linestyle": "-", "marker": "o"},
    {"color": PALETTE["accent"], "linestyle": "--", "marker": "s"},
    {"color": PALETTE["value"], "linestyle": "-.", "marker": "^"},
    {"color": PALETTE["key"], "linestyle": ":", "marker": "D"},
    {"color": PALETTE["output"], "linestyle": (0, (5, 1, 1, 1)), "marker": "v"},
    {"color": PALETTE["residual"], "linestyle": "-", "marker": "x"},
)


def use_course_style() -> None:
    """Set matplotlib's defaults for the course: transparent, one ink for light and dark pages, 110 dpi, light grid."""
    plt.rcParams.update(
        {
            "figure.dpi": 110,
            "savefig.dpi": 110,
            "figure.figsize": (6.5, 3.6),
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "savefig.facecolor": "none",
            "text.color": PALETTE["ink"],
            "axes.labelcolor": PALETTE["ink"],
            "axes.titlecolor": PALETTE["ink"],
            "axes.edgecolor": PALETTE["ink"],
            "xtick.color": PALETTE["ink"],
            "ytick.color": PALETTE["ink"],
            "figure.constrained_layout.use": True,
            "font.size": 10,
            "axes.titlesize": 11,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": PALETTE["residual"],
            "grid.alpha": 0.25,
            "lines.linewidth": 1.8,
            "lines.markersize": 5,
            "legend.frameon": False,
            "hatch.linewidth": 0.6,
            "image.cmap": "Blues",
            "svg.hashsalt": "course",  # the same drawing has the same names in each run
        }
    )


def show(figure: Figure | Axes, alt: str, keep: str = "") -> None:
    """Display a figure as PNG with its caption and alternative text, then close it.

    The first sentence of the text is the caption, visible below the picture: what to notice. The whole text goes into
    the output's metadata (nbconvert writes it as <img alt>), into the plain-text form of the output, into the PNG
    itself, and, because JupyterLab ignores the metadata, the rest of it into a folded line below the caption.
    Beside it lies the figure as a drawing, if that is smaller; and where its panels can be parted.
    The picture is also saved as the file `keep` beside a student's notebook, where there is one that can be written to.
    Raises ValueError when alt is empty.
    """
    if not alt.strip():
        raise ValueError("show needs alternative text: say in a sentence or two what the reader should see")
    drawn: Any = figure.figure if isinstance(figure, Axes) else figure
    alt = " ".join(alt.split())
    if not any(ax.get_subplotspec() for ax in drawn.axes):  # all axes are placed by hand: no layout has to warn of it
        drawn.set_layout_engine("none")
    buffer = io.BytesIO()
    keywords = {"Description": alt, "Software": None}
    with plt.rc_context({"figure.constrained_layout.use": False}):  # else saving gives a figure without a layout one
        drawn.savefig(buffer, format="png", bbox_inches="tight", facecolor="none", metadata=keywords)
    picture = {"image/png": base64.b64encode(buffer.getvalue()).decode("ascii"), "text/plain": f"[Figure: {alt}]"}
    told: dict[str, Any] = {"alt": alt}
    if cuts := _find_cuts(drawn):
        told["cuts"] = cuts
    drawing = io.StringIO()
    drawn.savefig(
        drawing, format="svg", bbox_inches="tight", facecolor="none", metadata={"Date": None, "Creator": None}
    )
    plt.close(drawn)
    if len(gzip.compress(drawing.getvalue().encode())) < len(buffer.getvalue()):  # dense plots are lighter as pictures
        picture[DRAWING] = drawing.getvalue()
    display(picture, raw=True, metadata={"image/png": told})
    display({"text/html": below_figure(alt), "text/plain": ""}, raw=True)
    if keep and write_beside(keep, buffer.getvalue()):
        print(f"This picture is yours to keep: {keep}, beside this notebook.")


def _find_cuts(figure: Figure) -> list[float]:
    """Return where a row of panels can be parted, as shares of the picture's width; nothing where a part would lack
    something: a title of all, the names of rows, one of several rows of panels.
    """
    if figure.get_suptitle() or figure.texts or figure.legends or figure.artists or figure.lines or figure.patches:
        return []
    bars = [ax for ax in figure.axes if ax.get_label() == "<colorbar>"]
    panels = [ax for ax in figure.axes if ax not in bars and ax.get_visible()]
    named = {any(label.get_text() for label in ax.get_yticklabels()) for ax in panels if ax.axison}
    extents = [(box, ax) for ax in (*panels, *bars) if (box := ax.get_tightbbox()) is not None]
    boxes = sorted(extents, key=lambda pair: pair[0].x0)
    ends: list[tuple[float, float]] = []  # of panels, each with its colour bar
    for box, ax in boxes:
        if ax in bars and ends:
            ends[-1] = (ends[-1][0], box.x1)
        elif ends and box.x0 < ends[-1][1]:
            return []
        else:
            ends.append((box.x0, box.x1))
    if len(ends) < 2 or len(named) > 1:
        return []
    whole = figure.get_tightbbox()
    pad = plt.rcParams["savefig.pad_inches"]
    middles = [(before[1] + after[0]) / 2 / figure.dpi for before, after in pairwise(ends)]
    return [round((middle - whole.x0 + pad) / (whole.width + 2 * pad), 4) for middle in middles]


def caption_and_rest(alt: str) -> tuple[str, str]:
    """Split a figure's words into the caption, which is their first sentence, and the rest."""
    caption, *rest = re.split(r"(?<=[.?!])\s+(?=[^a-z\s])", " ".join(alt.split()), maxsplit=1)
    return caption, "".join(rest)


def below_figure(alt: str) -> str:
    """Return the HTML below a figure: the caption, and the rest of its words folded."""
    caption, rest = caption_and_rest(alt)
    words = f"<details><summary><small>Figure in words</small></summary><small>{html.escape(rest)}</small></details>"
    return f'<small class="figure-caption">{html.escape(caption)}</small>{words if rest else ""}'


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    return plt.subplots(figsize=(width, height))[1] if ax is None else ax


class MapStyle(TypedDict, total=False):
    """How a map looks.

    Attributes:
        values: whether numbers are printed; when not given, where the matrix has at most 12 rows and columns.
        digits: decimals of these numbers; 2 when not given.
        cmap: matplotlib's colour map; "Blues" when not given.
        colorbar: whether a colour bar stands beside the map.
    """

    values: bool | None
    digits: int
    cmap: str | Colormap
    colorbar: bool


def matrix_map(
    matrix: np.ndarray,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    mask: np.ndarray | None = None,
    limits: tuple[float, float] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
    **style: Unpack[MapStyle],
) -> Axes:
    """Draw a matrix (R, C) as a heat map with labelled rows and columns.

    Cells where the boolean `mask` (R, C) is False are hatched: blocked, by the course's convention. `limits` are the
    values of the lightest and darkest colour (default: the matrix's own). `style` has the keys of `MapStyle`; another
    one raises TypeError.

    >>> ax = matrix_map(np.eye(3), rows="abc", columns="xyz", limits=(0, 1), title="scores")
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['x', 'y', 'z']
    """
    matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"matrix_map draws one matrix (rows, columns), got shape {matrix.shape}")
    if unknown := style.keys() - MapStyle.__annotations__:
        raise TypeError(f"a map has no {', '.join(sorted(unknown))}; it has {', '.join(MapStyle.__annotations__)}")
    n_rows, n_columns = matrix.shape
    ax = _axes(ax, min(1.6 + 0.55 * n_columns, 8), min(1.1 + 0.42 * n_rows, 7))
    low, high = limits if limits else (matrix.min(), matrix.max())
    image = ax.imshow(matrix, cmap=style.get("cmap", "Blues"), vmin=low, vmax=high, aspect="auto")
    ax.grid(visible=False)
    ax.tick_params(length=0)
    long_names = max(map(len, columns or [""])) > 4
    slant: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if long_names else {}
    ax.set_xticks(range(len(columns or [])), columns, **slant)
    ax.set_yticks(range(len(rows or [])), rows)
    values = style.get("values")
    if max(matrix.shape) <= 12 if values is None else values:
        for (row, column), value in np.ndenumerate(matrix):
            shade = text_colour(image.to_rgba(value))
            ax.text(
                column, row, f"{value:.{style.get('digits', 2)}f}", ha="center", va="center", fontsize=8, color=shade
            )
    if mask is not None:
        for row, column in np.argwhere(~np.asarray(mask, dtype=bool)):
            cover = Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor="none", hatch=HATCHES["mask"])
            cover.set(edgecolor=PALETTE["residual"], linewidth=0)
            ax.add_patch(cover)
    if title:
        ax.set_title(title)
    if style.get("colorbar"):
        ax.figure.colorbar(image, ax=ax, shrink=0.85)
    return ax


def attention_map(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    title: str | None = None,
    values: bool | None = None,
    colorbar: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw attention weights (T, S): one row per query, one column per key, colours always from 0 to 1.

    Blocked pairs (mask False) are hatched.

    >>> ax = attention_map(np.full((2, 3), 1 / 3), queries=["I", "see"], keys=["je", "vois", "."])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('key: attended to', 'query: attends from')
    """
    ax = matrix_map(
        weights,
        rows=queries,
        columns=keys,
        mask=mask,
        limits=(0, 1),
        values=values,
        title=title,
        colorbar=colorbar,
        ax=ax,
    )
    ax.set(xlabel="key: attended to", ylabel="query: attends from")
    return ax


def attention_lines(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    highlight: int | None = None,
    threshold: float = 0.02,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw attention weights (T, S) as lines from queries (left) to keys (right); the width is the weight.

    `highlight` picks one query: its lines are coloured, all others pale. Weights below `threshold` are not drawn.
    """
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(f"weights have shape {weights.shape}, expected {(len(queries), len(keys))} from the tokens")
    longest = max(len(queries), len(keys))
    ax = _axes(ax, 3.4, 0.6 + 0.3 * longest)
    for (t, s), weight in np.ndenumerate(weights):
        if weight < threshold:
            continue
        chosen = highlight is None or t == highlight
        colour = PALETTE["query"] if chosen else PALETTE["mask"]
        style = {"linewidth": 0.3 + 6 * weight, "alpha": 0.75 if chosen else 0.5, "solid_capstyle": "butt"}
        ax.plot([0, 1], [-t, -s], color=colour, zorder=2 if chosen else 1, **style)
    for t, word in enumerate(queries):
        ax.text(-0.04, -t, word, ha="right", va="center", fontweight="bold" if t == highlight else "normal")
    for s, word in enumerate(keys):
        ax.text(1.04, -s, word, ha="left", va="center")
    ax.text(-0.04, 0.8, "query", ha="right", va="center", color=PALETTE["residual"], style="italic")
    ax.text(1.04, 0.8, "key", ha="left", va="center", color=PALETTE["residual"], style="italic")
    ax.set(xlim=(-0.6, 1.6), ylim=(-longest + 0.4, 1.1))
    ax.axis("off")
    if title:
        ax.set_title(title)
    return ax


def head_maps(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    titles: Sequence[str] | None = None,
    columns: int = 4,
) -> Figure:
    """Draw the attention weights of several heads (H, T, S) as small heat maps side by side, on one 0 to 1 scale.

    >>> figure = head_maps(np.full((4, 2, 2), 0.5), queries="ab", keys="ab")
    >>> [panel.get_title() for panel in figure.axes]
    ['head 0', 'head 1', 'head 2', 'head 3']
    """
    weights = np.asarray(weights, dtype=float)
    if weights.ndim != 3:
        raise ValueError(
            f"head_maps needs weights (heads, T, S), got shape {weights.shape}; pick one of the batch first"
        )
    titles = titles if titles is not None else [f"head {h}" for h in range(len(weights))]
    figure, panels = _panels(len(weights), columns, width=2.3, height=2.4)
    for number, (panel, head, title) in enumerate(zip(panels, weights, titles, strict=True)):
        attention_map(head, queries, keys, title=title, values=False, ax=panel)
        if number % columns:
            panel.set(ylabel="", yticks=[])
        if number + columns < len(weights):
            panel.set(xlabel="", xticks=[])
    return figure


def measured_curve(
    x: Sequence[float], runs: np.ndarray, *, label: str, line: int = 0, ax: Axes | None = None, **axes_settings: object
) -> Axes:
    """Draw repeated measurements (R, N), or single ones (N,), against x (N,): the median, and the range as a band.

    `line` picks colour, dashes and marker from LINES. Further keywords go to `ax.set`: xlabel, ylabel, xscale, title.

    >>> ax = measured_curve([1, 2, 4], np.array([[3.0, 2.0, 1.0], [5.0, 4.0, 3.0]]), label="two seeds", xscale="log")
    >>> ax.lines[0].get_ydata()  # the median
    array([4., 3., 2.])
    """
    runs = np.atleast_2d(np.asarray(runs, dtype=float))
    if runs.shape[-1] != len(x):
        raise ValueError(f"{len(x)} places on the x axis but runs of shape {runs.shape}; expected (repeats, {len(x)})")
    ax = _axes(ax, 6.0, 3.4)
    style = LINES[line % len(LINES)]
    ax.plot(x, np.median(runs, axis=0), label=label, **style)
    if len(runs) > 1:
        ax.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=style["color"], alpha=0.18, linewidth=0)
    ax.set(**axes_settings)
    ax.legend()
    return ax


def training_history(
    histories: Mapping[str, Mapping[str, Sequence[float]]], *, metric: str = "loss", ax: Axes | None = None
) -> Axes:
    """Draw one metric by epoch for several named runs; each is the dictionary `history.history` of a Keras fit.

    A run's validation metric, where it has one, is drawn in the same colour, dashed.

    >>> ax = training_history({"small": {"loss": [2.0, 1.0], "val_loss": [2.5, 1.5]}})
    >>> [line.get_label() for line in ax.lines]
    ['small, training', 'small, validation']
    """
    ax = _axes(ax, 6.0, 3.4)
    for number, (name, history) in enumerate(histories.items()):
        style = LINES[number % len(LINES)]
        epochs = range(1, len(history[metric]) + 1)
        ax.plot(epochs, history[metric], color=style["color"], marker=style["marker"], label=f"{name}, training")
        if f"val_{metric}" in history:
            look: dict[str, Any] = {"color": style["color"], "linestyle": "--", "marker": style["marker"]}
            ax.plot(epochs, history[f"val_{metric}"], label=f"{name}, validation", markerfacecolor="none", **look)
    ax.set(xlabel="epoch", ylabel=metric)
    ax.locator_params(axis="x", integer=True)
    ax.legend()
    return ax


def _panels(count: int, columns: int, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with `count` panels, at most `columns` in a row; panels left over are hidden."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False)
    for spare in grid.flat[count:]:
        spare.axis("off")
    return figure, list(grid.flat[:count])
