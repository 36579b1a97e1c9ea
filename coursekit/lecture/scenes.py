"""Pictures of lectures 1 to 5: two dogs of the running sentence, drawn by code, and a photograph as an eye sees it.

The sentence is *a brown dog is running after the black dog* (Multi30k, Elliott et al. 2016, validation, line 7). Its
twin swaps the two colours: the same nine words, another picture.

    figure = two_scenes()
    plots.show(figure, alt="The same nine words make two pictures. …")
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Polygon
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_sample_image

from coursekit.lecture.diagrams import PALETTE

CAPTION = "a brown dog is running after the black dog"
TWIN = "a black dog is running after the brown dog"

# The colours of the dogs themselves. A grey outline keeps both visible on a light and on a dark page.
FUR = {"brown": "#a0622d", "black": "#23262d"}
_OUTLINE = PALETTE["residual"]


def dog(ax: Axes, x: float, y: float, colour: str, *, size: float = 1.0) -> None:
    """Draw a running dog that looks to the right; (x, y) is the middle of its body, `size` its scale.

    Args:
        ax: axes with equal aspect; the dog is about 2.3 sizes wide and 1.5 high.
        colour: "brown" or "black".

    Raises:
        ValueError: the colour has no fur.
    """
    if colour not in FUR:
        raise ValueError(f'no dog is "{colour}"; the scene has {" and ".join(FUR)} dogs')
    fur = FUR[colour]

    def limb(*points: tuple[float, float], width: float) -> None:
        across, up = zip(*((x + size * a, y + size * b) for a, b in points), strict=True)
        for thickness, shade in ((width + 0.05, _OUTLINE), (width, fur)):  # the outline first, the limb over it
            ax.plot(
                across, up, color=shade, linewidth=_points(ax, size * thickness),
                solid_capstyle="round", solid_joinstyle="round", zorder=2,
            )  # fmt: skip

    def oval(a: float, b: float, width: float, height: float, angle: float = 0, zorder: float = 3) -> None:
        patch = Ellipse((x + size * a, y + size * b), size * width, size * height, angle=angle, zorder=zorder)
        patch.set(facecolor=fur, edgecolor=_OUTLINE, linewidth=1.0)
        ax.add_patch(patch)

    limb((0.45, -0.1), (0.8, -0.3), (0.98, -0.5), width=0.12)  # front legs
    limb((0.4, -0.1), (0.35, -0.45), (0.12, -0.55), width=0.12)
    limb((-0.5, -0.05), (-0.72, -0.35), (-1.0, -0.48), width=0.13)  # hind legs
    limb((-0.42, -0.1), (-0.2, -0.4), (-0.42, -0.58), width=0.13)
    limb((-0.58, 0.12), (-0.85, 0.36), (-1.05, 0.42), width=0.09)  # tail
    limb((0.42, 0.08), (0.74, 0.4), width=0.3)  # neck
    oval(0, 0, 1.35, 0.52)
    oval(0.98, 0.42, 0.42, 0.2, angle=-12)  # muzzle
    oval(0.8, 0.48, 0.4, 0.36, zorder=4)
    ear = [(0.62, 0.62), (0.52, 0.3), (0.74, 0.44)]
    patch = Polygon([(x + size * a, y + size * b) for a, b in ear], closed=True, zorder=5)
    patch.set(facecolor=fur, edgecolor=_OUTLINE, linewidth=1.0)
    ax.add_patch(patch)
    ax.plot(x + size * 0.87, y + size * 0.53, "o", color=PALETTE["neutral"], markersize=2.2 * size, zorder=6)
    ax.plot(x + size * 1.17, y + size * 0.4, "o", color=_OUTLINE, markersize=2.8 * size, zorder=6)


def _points(ax: Axes, width: float) -> float:
    """A width in data units as a line width in points, on axes whose limits and size are final."""
    left, right = ax.get_xlim()
    return 72 * ax.bbox.width / ax.figure.dpi * width / (right - left)


def scene(ax: Axes, chaser: str, chased: str, *, title: str | None = None) -> Axes:
    """Draw a meadow on which the dog of one colour runs after the dog of the other; returns the axes, without frame.

    Args:
        ax: axes about three times as wide as high; their limits become 0 to 6 and −0.1 to 1.8.
        chaser, chased: colours of the dog behind and of the dog in front, "brown" or "black".
        title: a sentence written below the scene.
    """
    ax.set(xlim=(0, 6), ylim=(-0.1, 1.8), aspect="equal")
    ax.axis("off")
    ax.plot([0.1, 5.9], [0.38, 0.38], color=PALETTE["value"], linewidth=2, zorder=1)
    for blade in (0.35, 1.3, 2.9, 3.2, 5.6):
        ax.plot([blade, blade + 0.06], [0.38, 0.56], color=PALETTE["value"], linewidth=1.6, zorder=1)
    for height in (0.95, 1.15, 1.35):
        ax.plot([0.05, 0.35], [height, height], color=_OUTLINE, linewidth=1.3, zorder=1)
    dog(ax, 1.55, 1.02, chaser)
    dog(ax, 4.45, 1.02, chased)
    if title:
        ax.text(3, 0.12, title, ha="center", va="top", fontsize=10)
    return ax


def two_scenes() -> Figure:
    """Draw the caption's scene and its twin's side by side, each above its sentence."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 1.75))
    scene(left, "brown", "black", title=CAPTION)
    scene(right, "black", "brown", title=TWIN)
    return figure


def looked_at(spots: Sequence[tuple[int, int]], *, reach: float = 60.0, blur: float = 9.0) -> Figure:
    """Draw a photograph as it is, and as an eye sees it that looks at each of the spots.

    The photograph is scikit-learn's *china.jpg* (by danielbuechele, CC BY 2.0). It is mixed with a blurred copy, whose
    share grows with the distance from the spot.

    Args:
        spots: row and column of each spot, in pixels of a photograph of 427 by 640.
        reach: at this distance from the spot, in pixels, the blurred copy has the share 1 − 1/√e, about 0.39.
        blur: standard deviation of the blur, in pixels.
    """
    photograph = load_sample_image("china.jpg").astype(float) / 255  # (h, w, 3)
    blurred = gaussian_filter(photograph, (blur, blur, 0))
    rows, columns = np.mgrid[: photograph.shape[0], : photograph.shape[1]]
    figure, panels = plt.subplots(1, 1 + len(spots), figsize=(3.2 * (1 + len(spots)), 2.3))
    panels[0].imshow(photograph)
    for ax, (row, column) in zip(panels[1:], spots, strict=True):
        sharp = np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / (2 * reach**2))[..., None]
        ax.imshow(sharp * photograph + (1 - sharp) * blurred)
        ax.plot(column, row, "+", color=PALETTE["accent"], markersize=11, markeredgewidth=2)
    for ax in panels:
        ax.axis("off")
    return figure
