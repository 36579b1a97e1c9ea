"""Lab 09, exercise `find_the_bug`: a position table whose rows are read as a grid of another shape."""

import numpy as np

from autograder.declare import Case, Exercise
from exercises.drawing import normal

exercise = Exercise("find_the_bug", returns=("table",))


@exercise.formula
def stretched(table: np.ndarray, height: int, width: int, new_height: int, new_width: int) -> np.ndarray:
    """The class token's row, and the others interpolated linearly along both axes of their grid.

    The centre of a new patch lies at (i + ½) h/h' − ½ in the old grid, and outside the old centres the outermost row
    counts (Dosovitskiy et al. 2021, section 3.2). table (1 + h·w, D) -> (1 + h'·w', D).
    """
    grid = table[1:].reshape(height, width, table.shape[1])
    downwards, sideways = shares(grid.shape[0], new_height), shares(grid.shape[1], new_width)
    rows = np.einsum("ih,jw,hwd->ijd", downwards, sideways, grid)
    return np.concatenate([table[:1], rows.reshape(new_height * new_width, table.shape[1])])


def shares(old: int, new: int) -> np.ndarray:
    """How much each of the old positions counts for each of the new ones, (new, old)."""
    centres = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
    return np.maximum(1 - np.abs(centres[:, None] - np.arange(old)), 0)


@exercise.group("grids of any shape")
def mended(rng):
    for old, new, width in (((3, 3), (6, 6), 5), ((2, 5), (2, 5), 7), ((2, 5), (4, 10), 7), ((7, 3), (11, 5), 2)):
        sizes = dict(zip(("height", "width", "new_height", "new_width"), (*old, *new), strict=True))
        shown = f"a grid of {old[0]} × {old[1]} patches, new images of {new[0]} × {new[1]}"
        yield Case({"table": normal(rng, 1 + old[0] * old[1], width), **sizes}, shown)


exercise.given(("table[1:].reshape(height, width, table.shape[1])", "table[1:].reshape(width, height, -1)"))
exercise.hints(
    mended=(
        "Stretch a table to the grid that it has. Which rows should change? Try a square grid, and one that is not.",
        "Number the rows of a table for 2 × 3 patches, and print the grid after the first reshape. Which patch lies "
        "below patch 0?",
    )
)
