"""Where two curves cross, and which layers keep a gradient over a distance."""

import numpy as np
import pytest

from coursekit.lecture import speed


def test_a_square_crosses_a_line_where_both_are_equal():
    lengths = [10, 100, 1000]
    square, line = np.array([n * n for n in lengths]), np.array([50 * n for n in lengths])
    assert speed.crossing(lengths, square, line) == pytest.approx(50)
    for curves in ((line, square), (square, square / 2)):
        assert speed.crossing(lengths, *curves) is None


def test_the_gradient_of_the_last_token_alone_stays_there():
    norms = speed.gradient_by_distance(lambda x: 2 * x[:, -1], length=5, width=3)
    assert norms.shape == (5,) and norms[0] > 0 and not norms[1:].any()
