"""Mistakes of lab 09: in patches and tubelets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def rearranged(array: np.ndarray, source: str, target: str, sizes: Mapping[str, int]) -> np.ndarray:
    """Read `array` as axes named by the letters of `source`, and put them into the order of `target`."""
    axes = array.reshape([sizes[letter] for letter in source])
    return axes.transpose([source.index(letter) for letter in target])


def _order(grid: str, inside: str, *, order: str, turned: bool, channels_first: bool) -> str:
    """Axes of the pieces: b, the grid (r rows, c columns), what is inside of each (p rows, q columns, k channels).

    In a video, time comes in front of both: t pieces in time, f frames in each.
    """
    grid = grid.replace("rc", "cr") if order == "columns" else grid
    inside = inside.replace("pq", "qp") if turned else inside
    return "b" + grid + ("k" + inside.removesuffix("k") if channels_first else inside)


def _refusal(fits: Mapping[str, bool], refusal: str, checked: str | None) -> dict[str, str]:
    """What is raised for sizes that do not fit, by a check of all of them (None) or of some."""
    if checked is None or not all(fits[each] for each in checked.split(", ")):
        return {"raised": refusal if checked is None else "ValueError"}
    return {"raised": "no error" if refusal == "ValueError" else refusal}


def extract_patches(
    images: np.ndarray,
    patch_size: int,
    *,
    mode: str = "call",
    order: str = "rows",
    turned: bool = False,
    channels_first: bool = False,
    how: str = "blocks",
    sides_swapped: bool = False,
    result: str = "flat",
    refusal: str = "ValueError",
    checked: str | None = None,
) -> dict[str, Any]:
    """Cut images (B, h, w, C) into patches (B, N, P·P·C), row by row (Dosovitskiy et al. 2021, section 3.1)."""
    batch, height, width, channels = images.shape
    size = patch_size
    if mode == "refusal":
        fits = {"height": height % size == 0, "width": width % size == 0, "area": height * width % size**2 == 0}
        return _refusal(fits, refusal, checked)
    rows, columns = height // size, width // size
    target = _order("rc", "pqk", order=order, turned=turned, channels_first=channels_first)
    if how == "every step":
        windows = np.lib.stride_tricks.sliding_window_view(images, (size, size), axis=(1, 2))  # (B, r, c, C, P, P)
        rows, columns = windows.shape[1:3]
        images, source = windows, "brckpq"
    else:
        source = {"blocks": "brpcqk", "every n-th pixel": "bprqck", "reshape": target}[how]
    if sides_swapped:
        rows, columns = columns, rows
    sizes = {"b": batch, "r": rows, "c": columns, "p": size, "q": size, "k": channels}
    pieces = rearranged(images, source, target, sizes)
    shape = {
        "flat": (batch, rows * columns, -1),
        "patches kept": (batch, rows * columns, *pieces.shape[3:]),
        "grid kept": (*pieces.shape[:3], -1),
        "batch joined": (batch * rows * columns, -1),
    }[result]
    return {"output": pieces.reshape(shape)}


def merge_patches(
    patches: np.ndarray,
    height: int,
    width: int,
    channels: int,
    *,
    order: str = "rows",
    turned: bool = False,
    channels_first: bool = False,
    how: str = "blocks",
    sides_swapped: bool = False,
    image_turned: bool = False,
) -> dict[str, np.ndarray]:
    """Put patches (B, N, P·P·C), row by row, back together to images (B, h, w, C)."""
    size = math.isqrt(patches.shape[-1] // channels)
    rows, columns = height // size, width // size
    if sides_swapped:
        rows, columns = columns, rows
    sizes = {"b": len(patches), "r": rows, "c": columns, "p": size, "q": size, "k": channels}
    source = _order("rc", "pqk", order=order, turned=turned, channels_first=channels_first)
    target = {"blocks": "brpcqk", "every n-th pixel": "bprqck", "reshape": source, "read as an image": source}[how]
    source = "brpcqk" if how == "read as an image" else source
    images = rearranged(patches, source, target, sizes).reshape(-1, height, width, channels)
    return {"output": images.swapaxes(1, 2) if image_turned else images}


def extract_tubelets(
    video: np.ndarray,
    frames: int,
    patch_size: int,
    *,
    mode: str = "call",
    order: str = "rows",
    turned: bool = False,
    channels_first: bool = False,
    how: str = "blocks",
    time: str = "first",
    inner_time: str = "first",
    frames_apart: bool = False,
    inside_first: bool = False,
    refusal: str = "ValueError",
    checked: str | None = None,
) -> dict[str, Any]:
    """Cut videos (B, f, h, w, C) into tubelets (B, N, frames·P·P·C): time, then rows, then columns.

    Source: Arnab et al. 2021, section 3.2, "tubelet embedding".
    """
    batch, length, height, width, channels = video.shape
    size = patch_size
    if mode == "refusal":
        fits = {"time": length % frames == 0, "height": height % size == 0, "width": width % size == 0}
        return _refusal(fits, refusal, checked)
    if frames_apart:
        frames = 1
    sizes = {"b": batch, "t": length // frames, "f": frames, "r": height // size, "p": size, "c": width // size}
    sizes |= {"q": size, "k": channels}
    grid = {"first": "trc", "last": "rct"}[time]
    inside = {"first": "fpqk", "between": "pfqk", "after the pixels": "pqfk", "last": "pqkf"}[inner_time]
    if inner_time == "last" and channels_first:
        raise ValueError("the channels cannot be first and last but one")
    target = _order(grid, inside, order=order, turned=turned, channels_first=channels_first)
    target = f"b{target[4:]}{target[1:4]}" if inside_first else target
    ways = {"blocks": "btfrpcqk", "every n-th frame": "bftrpcqk", "every n-th pixel": "btfprqck", "reshape": target}
    source = ways[how]
    return {
        "output": rearranged(video, source, target, sizes).reshape(batch, math.prod(sizes[each] for each in "trc"), -1)
    }
