"""What lab 09 looks at in a trained Vision Transformer: its attention weights, moved position rows, digits and maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from coursekit.lecture.diagrams import PALETTE
from coursekit.lecture.digit_images import rows_moved


def attention_weights(model: keras.Model, images: np.ndarray) -> np.ndarray:
    """Run a model of any structure, and return what each of its attention layers attends to: (L, B, H, T, T).

    While it runs, each `keras.layers.MultiHeadAttention` is asked for its weights as well; afterwards it is as before.
    """
    seen: list[Any] = []
    asked = [layer for layer in model._flatten_layers() if isinstance(layer, keras.layers.MultiHeadAttention)]

    def watched(call: Any) -> Any:
        def answer(*tokens: Any, **settings: Any) -> Any:
            output, weights = call(*tokens, **{**settings, "return_attention_scores": True})
            seen.append(np.asarray(weights))
            return (output, weights) if settings.get("return_attention_scores") else output

        return answer

    try:
        for layer in asked:
            layer.call = watched(layer.call)
        model(images)
    finally:
        for layer in asked:
            layer.__dict__.pop("call", None)
    return np.stack(seen)


def position_table(model: keras.Model) -> Any:
    """The weight `position_embedding`, (1, N + 1, D), of the layer that has one."""
    return next(layer for layer in model._flatten_layers() if hasattr(layer, "position_embedding")).position_embedding


def predict_with_rows(model: keras.Model, images: np.ndarray, rows: int) -> np.ndarray:
    """The classes (n,) that a model predicts with its position rows moved to the right by `rows` patches.

    The class token's row stays. Rows that leave the grid come in on the other side, so that each is used once.
    """
    table = position_table(model)
    before = np.asarray(table)  # (1, N + 1, D)
    try:
        table.assign(rows_moved(before[0], 0, int(rows))[None])
        return np.argmax(model.predict(images, batch_size=500, verbose=0), axis=-1)
    finally:
        table.assign(before)


def digits_above_maps(images: np.ndarray, maps: np.ndarray, *, titles: Sequence[str], equal: float) -> Figure:
    """Draw digits (n, h, w, 1), dark on light, each above its map (n, h', w'); all maps have one scale from 0.

    On the scale a line marks `equal`, the value that equal weights give.
    """
    figure, panels = plt.subplots(2, len(images), figsize=(1.15 * len(images), 2.9), layout="constrained")
    for number, (digit, shares) in enumerate(zip(panels[0], panels[1], strict=True)):
        _dark_on_light(digit, images[number])
        digit.set_title(titles[number], fontsize=9)
        drawn = shares.imshow(maps[number], cmap="Blues", vmin=0, vmax=maps.max())
        shares.set(xticks=[], yticks=[])
        shares.grid(visible=False)
    scale = figure.colorbar(drawn, ax=panels[1], label="share")
    scale.ax.axhline(equal, color=PALETTE["accent"], linewidth=2)
    return figure


def digit_and_patches(digit: np.ndarray, patches: np.ndarray) -> Figure:
    """Draw a digit (8, 8, 1), dark on light, beside its 16 patches (16, 4), numbered in their order."""
    figure = plt.figure(figsize=(8, 3.6), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=(1, 1.1))
    left, right = halves
    whole = left.subplots()
    whole.set_title("8 × 8 pixels")
    _dark_on_light(whole, digit)
    for number, panel in enumerate(right.subplots(4, 4).flat):
        _dark_on_light(panel, patches[number].reshape(2, 2, 1))
        panel.set_title(number, fontsize=8)
    return figure


def shift_figure(
    found: Mapping[int, Sequence[Any]],
    predict: Callable[[np.ndarray, int], np.ndarray],
    digit: np.ndarray,
    label: int,
    patch_size: int,
) -> Figure:
    """Draw a digit (h, w, 1), dark on light, at five shifts, above the accuracies that `measure_shift` found."""
    moves = [number * patch_size for number in range(-2, 3)]
    strip = np.concatenate([_shifted(digit[None], move) for move in moves])
    figure = plt.figure(figsize=(7, 4.8), layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=(1, 2))
    above, below = halves
    for panel, image, move, answer in zip(above.subplots(1, 5), strip, moves, predict(strip, 0), strict=True):
        _dark_on_light(panel, image)
        panel.set_title(f"{move:+d}: says {answer}" if move else f"a {label}: says {answer}", fontsize=9)
    shifts = sorted(found)
    by_patches = [shift for shift in shifts if not shift % patch_size]
    ax = below.subplots()
    accuracy, error = ([found[shift][column] for shift in shifts] for column in (0, 2))
    bars = 1.96 * np.asarray(error, "float64")
    ax.errorbar(shifts, accuracy, bars, color=PALETTE["query"], marker="o", capsize=3, label="digits moved")
    along = [found[shift][3] for shift in by_patches]
    ax.plot(by_patches, along, "s--", color=PALETTE["accent"], label="digits and position rows moved")
    ax.axhline(0.1, color=PALETTE["residual"], linewidth=1, linestyle=":", label="a guess")
    ax.set(xlabel="pixels to the right", ylabel="accuracy", ylim=(0, 1.3), yticks=np.linspace(0, 1, 6), xticks=shifts)
    ax.legend(loc="upper center", ncols=3, fontsize=8)
    return figure


def _shifted(images: np.ndarray, shift: int) -> np.ndarray:
    """Images (n, h, w, C) moved to the right by `shift` pixels, one column after the other; background 0 comes in."""
    result = np.zeros_like(images)
    for column in range(images.shape[2]):
        if 0 <= column - shift < images.shape[2]:
            result[:, :, column] = images[:, :, column - shift]
    return result


def _dark_on_light(panel: Axes, image: np.ndarray) -> None:
    panel.imshow(image[..., 0], cmap="gray_r", vmin=0, vmax=1)
    panel.set(xticks=[], yticks=[])
    panel.grid(visible=False)
