"""The pictures of the running sentence: what they show is what it says."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Ellipse

from coursekit.lecture import scenes


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def bodies(ax) -> list[str]:
    """The colours of the dogs, from left to right: of the largest oval of each."""
    ovals = [patch for patch in ax.patches if isinstance(patch, Ellipse) and patch.width > 1]
    return [to_hex(oval.get_facecolor()) for oval in sorted(ovals, key=lambda oval: oval.center[0])]


def test_the_twin_has_the_same_words_and_the_dogs_change_colours():
    assert sorted(scenes.CAPTION.split()) == sorted(scenes.TWIN.split())
    left, right = scenes.two_scenes().axes
    assert bodies(left) == [scenes.FUR["brown"], scenes.FUR["black"]]
    assert bodies(right) == bodies(left)[::-1]
    assert [text.get_text() for ax in (left, right) for text in ax.texts] == [scenes.CAPTION, scenes.TWIN]


def test_a_dog_has_one_of_two_colours():
    with pytest.raises(ValueError, match='no dog is "green"'):
        scenes.dog(plt.gca(), 0, 0, "green")
