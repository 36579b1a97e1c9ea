"""The course's palette and a small vocabulary of boxes and arrows for block diagrams drawn by code.

Every picture of the course uses the same colour for the same thing (a query is blue in all lectures). Pictures are
transparent and have one palette for light and dark pages, so lines and text are of middle tones: each has a contrast of
at least 2.9 (WCAG 2.2, success criterion 1.4.11 asks for 3) against white and against a dark page. Two colours that are
closer than 0.08 in luminance differ in hatch, dash or marker too, so that they stay apart when printed in grey.
Coordinates are explicit: a canvas of width 8 and height 4 is 8 by 4 inches, with (0, 0) at bottom left.

    figure, ax = canvas(6, 2)
    tokens = box(ax, 1, 1, "tokens", detail="(B, T)")
    attention = box(ax, 4, 1, "self-attention", role="query", width=2)
    arrow(ax, tokens, attention)
    show(figure, alt="Tokens flow into self-attention.")       # show comes from coursekit.lecture.plots
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypedDict, Unpack, cast

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path
from matplotlib.typing import ColorType

PALETTE = {
    "ink": "#6b7482",  # text on the page, plain lines
    "query": "#2463c4",
    "output": "#a352b0",  # what a block returns
    "accent": "#dc4a36",  # the one thing to look at
    "value": "#1f9a70",
    "residual": "#8f98a3",  # skip connections, secondary lines
    "key": "#d08410",
    "mask": "#c9ced6",  # what may not be attended
    "neutral": "#eef0f3",  # everything else
}
HATCHES = {"key": "//", "value": "..", "output": "\\\\", "mask": "xx"}
DARK_TEXT = "#1a1d24"  # on light fills; text on the page itself has the colour "ink"

Point = tuple[float, float]


def luminance(colour: ColorType | np.ndarray) -> float:
    """Return the grey level of a colour, 0 (black) to 1 (white), as a grey print shows it (ITU-R BT.601)."""
    return float(np.dot(to_rgb(cast(ColorType, colour)), (0.299, 0.587, 0.114)))


def contrast(colour: ColorType | np.ndarray, other: ColorType | np.ndarray) -> float:
    """Return the contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio")."""
    light = []
    for given in (colour, other):
        channels = np.asarray(to_rgb(cast(ColorType, given)))
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        light.append(float(linear @ (0.2126, 0.7152, 0.0722)) + 0.05)
    return max(light) / min(light)


def text_colour(background: ColorType | np.ndarray) -> str:
    """Return the text colour, dark or white, that reads better on a filled background."""
    return max(("white", DARK_TEXT), key=lambda colour: contrast(colour, background))


@dataclass(frozen=True)
class Box:
    """A drawn rectangle: its centre and size, and the middle of each side to attach arrows to."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> Point:
        return (self.x - self.width / 2, self.y)

    @property
    def right(self) -> Point:
        return (self.x + self.width / 2, self.y)

    @property
    def top(self) -> Point:
        return (self.x, self.y + self.height / 2)

    @property
    def bottom(self) -> Point:
        return (self.x, self.y - self.height / 2)

    def side_towards(self, target: Point) -> Point:
        """Return the middle of the side that faces a point."""
        across, up = target[0] - self.x, target[1] - self.y
        if abs(up) * self.width >= abs(across) * self.height:
            return self.top if up > 0 else self.bottom
        return self.right if across > 0 else self.left


def canvas(width: float, height: float, *, title: str | None = None) -> tuple[Figure, Axes]:
    """Return a figure and axes without frame whose coordinates are inches: x from 0 to width, y from 0 to height."""
    figure, ax = plt.subplots(figsize=(width, height + (0.35 if title else 0)))
    ax.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    ax.axis("off")
    if title:
        ax.set_title(title)
    return figure, ax


class BoxStyle(TypedDict, total=False):
    """How a box looks: its role (a key of PALETTE), width and height (1.5 and 0.6), and the size of its text (10)."""

    role: str
    width: float
    height: float
    fontsize: float


def box(ax: Axes, x: float, y: float, text: str, *, detail: str | None = None, **style: Unpack[BoxStyle]) -> Box:
    """Draw a rounded box centred at (x, y) with text and, smaller below it, a detail such as a shape.

    Returns the Box, whose sides arrows can start from.

    Raises:
        TypeError: `style` has a key that BoxStyle does not have.
    """
    if unknown := style.keys() - BoxStyle.__annotations__:
        raise TypeError(f"a box has no {', '.join(sorted(unknown))}; it has {', '.join(BoxStyle.__annotations__)}")
    width, height, fontsize = style.get("width", 1.5), style.get("height", 0.6), style.get("fontsize", 10)
    fill = PALETTE[style.get("role", "neutral")]
    ax.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2), width, height, boxstyle="round,pad=0,rounding_size=0.08",
            facecolor=fill, edgecolor=PALETTE["ink"], linewidth=1.1, zorder=2,
        )
    )  # fmt: skip
    shift = min(0.12, height / 5) if detail else 0
    words: dict[str, Any] = {"ha": "center", "va": "center", "color": text_colour(fill), "zorder": 3}
    ax.text(x, y + shift, text, fontsize=fontsize, **words)
    if detail:
        ax.text(x, y - 1.25 * shift, detail, fontsize=fontsize - 2, family="monospace", **words)
    return Box(x, y, width, height)


def operator(ax: Axes, x: float, y: float, symbol: str = "+", *, radius: float = 0.17) -> Box:
    """Draw a small circle with a symbol in it (a sum, a product) and return it as a Box."""
    ax.add_patch(Circle((x, y), radius, facecolor="white", edgecolor=PALETTE["ink"], linewidth=1.1, zorder=2))
    ax.text(x, y, symbol, ha="center", va="center_baseline", fontsize=12, zorder=3)
    return Box(x, y, 2 * radius, 2 * radius)


def arrow(
    ax: Axes,
    *stops: Box | Point,
    label: str | None = None,
    role: str = "ink",
    width: float = 1.3,
    dashed: bool = False,
) -> None:
    """Draw an arrow through two or more stops; a Box as first or last stop is left or entered at the facing side.

    The label stands beside the middle of the longest stretch.
    """
    if len(stops) < 2:
        raise ValueError("arrow needs at least two stops, for example arrow(ax, first_box, second_box)")
    points = [(stop.x, stop.y) if isinstance(stop, Box) else stop for stop in stops]
    if isinstance(stops[0], Box):
        points[0] = stops[0].side_towards(points[1])
    if isinstance(stops[-1], Box):
        points[-1] = stops[-1].side_towards(points[-2])
    ax.add_patch(
        FancyArrowPatch(
            path=Path(points), arrowstyle="-|>", mutation_scale=11, color=PALETTE[role], linewidth=width,
            linestyle=(0, (3, 2)) if dashed else "-", joinstyle="round", zorder=1.5, shrinkA=0, shrinkB=0,
        )
    )  # fmt: skip
    if label:
        lengths = [np.hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]
        longest = int(np.argmax(lengths))
        (x0, y0), (x1, y1) = points[longest], points[longest + 1]
        steep = abs(y1 - y0) > abs(x1 - x0)
        x, y = (x0 + x1) / 2 + (0.08 if steep else 0), (y0 + y1) / 2 + (0 if steep else 0.07)
        note(ax, x, y, label, ha="left" if steep else "center", va="center" if steep else "bottom")


def residual(ax: Axes, start: Point, end: Box, *, offset: float = 1.2) -> None:
    """Draw a skip connection: from a point on the main line, sideways by offset, and back into the box `end`.

    A positive offset bends to the right, a negative one to the left. The main line may run upwards or sideways.
    """
    if abs(end.y - start[1]) >= abs(end.x - start[0]):
        around = [(start[0] + offset, start[1]), (start[0] + offset, end.y)]
    else:
        around = [(start[0], start[1] + offset), (end.x, start[1] + offset)]
    arrow(ax, start, *around, end, role="residual", width=2)


def group(ax: Axes, boxes: Iterable[Box], text: str = "", *, pad: float = 0.25, role: str = "residual") -> Box:
    """Draw a dashed frame around boxes, with text at its top left (such as "× N"), and return the frame as a Box."""
    boxes = list(boxes)
    left, right = min(b.left[0] for b in boxes) - pad, max(b.right[0] for b in boxes) + pad
    bottom, top = min(b.bottom[1] for b in boxes) - pad, max(b.top[1] for b in boxes) + pad
    frame = Rectangle((left, bottom), right - left, top - bottom, fill=False, edgecolor=PALETTE[role], zorder=1)
    frame.set(linestyle=(0, (4, 3)), linewidth=1.3)
    ax.add_patch(frame)
    if text:
        note(ax, left + 0.05, top + 0.05, text, ha="left", va="bottom")
    return Box((left + right) / 2, (bottom + top) / 2, right - left, top - bottom)


def note(
    ax: Axes, x: float, y: float, text: str, *, ha: str = "center", va: str = "center", fontsize: float = 9
) -> None:
    """Write a small remark at (x, y)."""
    ax.text(x, y, text, ha=ha, va=va, fontsize=fontsize, color=PALETTE["ink"], zorder=3)


def tokens(
    ax: Axes,
    words: Sequence[str],
    x: float,
    y: float,
    *,
    role: str = "neutral",
    step: float = 1.0,
    fontsize: float = 10,
) -> list[Box]:
    """Draw words as a row of boxes, the first centred at (x, y), the others `step` apart; return the boxes."""
    return [
        box(ax, x + step * i, y, word, role=role, width=0.86 * step, height=0.42, fontsize=fontsize)
        for i, word in enumerate(words)
    ]


def grid(
    ax: Axes,
    x: float,
    y: float,
    rows: int,
    columns: int,
    *,
    role: str = "neutral",
    text: str | None = None,
    detail: str | None = None,
) -> Box:
    """Draw a matrix of empty cells centred at (x, y), with its name above and a detail such as its shape below.

    Roles with a hatch are hatched, so that Q, K and V stay apart in grey. Returns the outline as a Box.
    """
    cell = 0.28
    outline = Box(x, y, columns * cell, rows * cell)
    left, bottom = outline.left[0], outline.bottom[1]
    for row in range(rows):
        for column in range(columns):
            corner = (left + column * cell, bottom + row * cell)
            square = Rectangle(corner, cell, cell, facecolor=PALETTE[role], edgecolor="white", linewidth=1.2, zorder=2)
            if role in HATCHES:
                square.set_hatch(HATCHES[role])
            ax.add_patch(square)
    ax.add_patch(
        Rectangle((left, bottom), outline.width, outline.height, fill=False, edgecolor=PALETTE["ink"], zorder=2)
    )
    if text:
        ax.text(x, outline.top[1] + 0.06, text, ha="center", va="bottom", fontsize=11)
    if detail:
        ax.text(x, outline.bottom[1] - 0.08, detail, ha="center", va="top", fontsize=8, family="monospace")
    return outline


def encoder_block(ax: Axes, x: float, order: str) -> None:
    """Draw an encoder block from bottom (y = 0.35) to top, centred at x, with its inner shapes in the boxes.

    The order is "post" (attention, dropout, sum, norm) or "pre" (norm, attention, dropout, sum).
    """
    parts = (
        ["sub-layer", "dropout", "+", "layer norm"] if order == "post" else ["layer norm", "sub-layer", "dropout", "+"]
    )
    roles = {"layer norm": "key", "dropout": "mask"}
    sub_layers = {
        "multi-head attention": ("query", "weights (B, H, T, T)"),
        "feed-forward": ("value", "hidden (B, T, F)"),
    }
    y, below = 0.35, box(ax, x, 0.35, "x", detail="(B, T, D)", width=1.3, height=0.5)
    framed = []
    for name, (role, inside) in sub_layers.items():
        branch = (x, y + 0.5)
        for part in parts:
            y += 0.72 if part != parts[0] else 0.95
            if part == "+":
                drawn = operator(ax, x, y)
                residual(ax, branch, drawn, offset=1.25)
            elif part == "sub-layer":
                drawn = box(ax, x, y, name, role=role, detail=inside, width=2.1, height=0.55)
            else:
                drawn = box(ax, x, y, part, role=roles[part], width=2.1, height=0.42)
            arrow(ax, below, drawn)
            below = drawn
            framed.append(drawn)
    top = box(ax, x, y + 0.95, "output", role="output", detail="(B, T, D)", width=1.3, height=0.5)
    arrow(ax, below, top)
    group(ax, framed, "× N", pad=0.36)


def normalised_together(ax: Axes, lengths: Sequence[int], kind: str, *, longest: int = 5, width: int = 6) -> None:
    """Draw sentences as grids of tokens by features, padding hatched, and colour cells that share mean and variance.

    The kind is "layer" (one token, all its features) or "batch" (one feature, all tokens of all sentences).
    """
    role = "query" if kind == "layer" else "accent"
    for number, length in enumerate(lengths):
        left = number * (width + 1.5)
        for t in range(longest):
            for d in range(width):
                together = (number, t) == (1, 1) if kind == "layer" else d == 2
                colour = PALETTE[role if together else "neutral"]
                cell = Rectangle((left + d, -t), 1, -1, facecolor=colour, edgecolor="white")
                if t >= length:
                    cell.set(hatch=HATCHES["mask"], edgecolor=PALETTE["residual"])
                ax.add_patch(cell)
        ax.text(left + width / 2, 0.25, f"sentence {number + 1}", ha="center", va="bottom")
    ax.text(-0.3, -longest / 2, "tokens", rotation=90, ha="right", va="center")
    ax.text(width / 2, -longest - 0.2, "features", ha="center", va="top")
    ax.set(xlim=(-1.2, len(lengths) * (width + 1.5)), ylim=(-longest - 1, 1.3), aspect="equal")
    ax.axis("off")


def paths(ax: Axes, design: str, *, count: int = 7, title: str | None = None) -> None:
    """Draw `count` tokens and the path of information from the first to the last, one column for each token.

    The design is "attention", "recurrence" or "convolution" (width 3, causal); of attention only the arrows into the
    last token are drawn. Raises KeyError for another design.
    """
    last = count - 1
    links = {
        "attention": {(column, last) for column in range(count)},
        "recurrence": {(column, column) for column in range(count)},
        "convolution": {(s, s + j) for s in range(count) for j in range(3) if s + j < count},
    }[design]
    rows = 1 + (last // 2 if design == "convolution" else 1)
    nodes = [[operator(ax, x + 1, y, "", radius=0.14) for x in range(count)] for y in np.linspace(0.7, 3.6, rows)]
    for level, (lower, upper) in enumerate(pairwise(nodes)):
        for s, t in links:
            on_path = (s, t) == (2 * level, 2 * level + 2) if design == "convolution" else s == 0
            arrow(ax, lower[s], upper[t], role="accent" if on_path else "residual", width=2.2 if on_path else 0.7)
    if design == "recurrence":
        for left, right in pairwise(nodes[1]):
            arrow(ax, left, right, role="accent", width=2.2)
    ax.set(xlim=(0.5, count + 0.5), ylim=(0.3, 4.0), aspect="equal")
    ax.axis("off")
    if title:
        ax.set_title(title)
