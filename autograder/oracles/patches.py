"""Oracles of lab 09: patches and tubelets."""

from __future__ import annotations

import math

import numpy as np


def patches_of(images: np.ndarray, patch_size: int) -> np.ndarray:
    """Cut images (B, h, w, C) into patches (B, N, P·P·C), row by row (Dosovitskiy et al. 2021, section 3.1)."""
    batch, height, width, channels = images.shape
    rows, columns = height // patch_size, width // patch_size
    pieces = images.reshape(batch, rows, patch_size, columns, patch_size, channels).transpose(0, 1, 3, 2, 4, 5)
    return pieces.reshape(batch, rows * columns, -1)


def extract_patches(images: np.ndarray, patch_size: int) -> dict[str, np.ndarray]:
    """`patches_of` under the name of its result."""
    return {"output": patches_of(images, patch_size)}


def refused() -> dict[str, str]:
    """Sizes that do not fit are refused with a ValueError."""
    return {"raised": "ValueError"}


def merge_patches(patches: np.ndarray, height: int, width: int, channels: int) -> dict[str, np.ndarray]:
    """Put patches (B, N, P·P·C), row by row, back together to images (B, h, w, C)."""
    size = math.isqrt(patches.shape[-1] // channels)
    pieces = patches.reshape(-1, height // size, width // size, size, size, channels).transpose(0, 1, 3, 2, 4, 5)
    return {"output": pieces.reshape(-1, height, width, channels)}


def extract_tubelets(video: np.ndarray, frames: int, patch_size: int) -> dict[str, np.ndarray]:
    """Cut videos (B, f, h, w, C) into tubelets (B, N, frames·P·P·C): time, then rows, then columns.

    Source: Arnab et al. 2021, section 3.2, "tubelet embedding".
    """
    batch, length, height, width, channels = video.shape
    times, rows, columns = length // frames, height // patch_size, width // patch_size
    pieces = video.reshape(batch, times, frames, rows, patch_size, columns, patch_size, channels)
    return {"output": pieces.transpose(0, 1, 3, 5, 2, 4, 6, 7).reshape(batch, times * rows * columns, -1)}
