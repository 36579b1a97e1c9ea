"""Figures with controls that work in the notebook and on the web site, without a kernel.

Every function returns a figure that a cell shows as its last line, such as `live.warm_up()`. The chart computes what it
shows from the numbers that are stored in it, in the reader's browser.
"""

from coursekit.lecture.live.answers import answers
from coursekit.lecture.live.bert_heads import heads
from coursekit.lecture.live.figure import LiveFigure
from coursekit.lecture.live.formulas import layer_norm, positions, warm_up
from coursekit.lecture.live.images import rollout
from coursekit.lecture.live.weights import bandwidth, masks, sharpness, side_by_side
from coursekit.lecture.live.writing import beam, cache, sampling

__all__ = [
    "LiveFigure",
    "answers",
    "bandwidth",
    "beam",
    "cache",
    "heads",
    "layer_norm",
    "masks",
    "positions",
    "rollout",
    "sampling",
    "sharpness",
    "side_by_side",
    "warm_up",
]
