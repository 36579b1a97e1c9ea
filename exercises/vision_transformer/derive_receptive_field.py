"""Lab 09, exercise `derive_receptive_field`."""

import numpy as np

from autograder.declare import Advice, Case, Exercise, edit
from exercises.drawing import drawn_until

exercise = Exercise("derive_receptive_field", returns=("sizes", "steps"))


@exercise.formula
def receptive_field(kernel_sizes, strides, dilations):
    """1 + Σ (k − 1)·d·(the product of the strides below), and the product of the strides (Araujo et al. 2019).

    Each (L,), layers from first to last -> the sizes (L,) and the steps (L,) after each layer.
    """
    steps = np.cumprod(strides)
    below = np.concatenate([[1], steps[:-1]])
    added = (kernel_sizes - 1) * dilations * below
    return 1 + np.cumsum(added), steps


def _stack(rng, layers: int, widest: int = 7) -> dict[str, np.ndarray]:
    """Layers of which at least two have a stride and at least two a dilation, the first and the last not alone."""

    def draw() -> dict[str, np.ndarray]:
        return {
            "kernel_sizes": rng.integers(2, widest + 1, size=layers),
            "strides": rng.integers(1, 4, size=layers),
            "dilations": rng.integers(1, 5, size=layers),
        }

    def is_clear(drawn: dict[str, np.ndarray]) -> bool:
        strides, dilations = drawn["strides"], drawn["dilations"]
        return bool((strides[:-1] > 1).sum() >= 2 and strides[-1] > 1 and (dilations > 1).sum() >= 2)

    return drawn_until(is_clear, draw)


def _case(inputs: dict[str, np.ndarray], text: str = "") -> Case:
    shown = ", ".join(f"{name} {list(map(int, values))}" for name, values in inputs.items())
    return Case(inputs, f"{text}: {shown}" if text else shown)


@exercise.group(
    "size and step after each layer",
    points=2,
    must_fail_for=("own_stride", "strides_added", "whole_kernel", "dilation_ignored"),
)
def values(rng):
    for kernel_sizes, strides in (([3], [2]), ([3, 3], [2, 2])):
        inputs = {"kernel_sizes": kernel_sizes, "strides": strides, "dilations": [1] * len(strides)}
        yield _case({name: np.array(value) for name, value in inputs.items()})
    yield from (_case(_stack(rng, layers)) for layers in (3, 5))


@exercise.group(
    "one layer, windows of one entry, strides larger than the window",
    must_fail_for=("step_below", "whole_kernel", "dilation_ignored"),
)
def edges(rng):
    patch = int(rng.integers(3, 20))
    one = {"kernel_sizes": [patch], "strides": [patch], "dilations": [1]}
    apart = _stack(rng, 4)
    apart["kernel_sizes"][[0, 2]], apart["strides"][0] = 1, int(rng.integers(4, 9))
    yield _case({name: np.array(value) for name, value in one.items()}, "one layer of patches")
    yield _case(apart, "two windows of one entry")


@exercise.group("stacks that nobody can simulate")
def deep(rng):
    def is_large(drawn: dict[str, np.ndarray]) -> bool:
        return bool(3e8 < receptive_field(**drawn)[0][-1] < 2e9)

    inputs = drawn_until(is_large, lambda: _stack(rng, 25, 9))
    return Case(inputs, "25 layers, kernel sizes 2 to 9, strides 1 to 3, dilations 1 to 4")


ADDED = "(kernel_sizes - 1) * dilations * below"

exercise.mistakes(
    own_stride=edit(ADDED, "(kernel_sizes - 1) * dilations * steps")
    | "Each layer's own stride is in its factor. A window's entries lie as far apart as the outputs of the layer "
    "below; how far the window moves does not matter for its own size."
    | "Take one layer alone, with kernel size 3 and stride 5. How many pixels does one output see?",
    strides_added=edit("np.cumprod(strides)", "np.cumsum(strides)")
    | "The strides are added up. A step of one layer is s steps of the layer below, so they multiply."
    | "Two layers of stride 2 and then one of stride 3: how far apart in the image are two outputs of each?",
    whole_kernel=edit(ADDED, "kernel_sizes * dilations * below")
    | "Every layer adds k entries. Its window reads k entries, but between the first and the last of them there are "
    "fewer gaps." | "What should a layer with a window of one entry add?",
    windows_added=edit(ADDED, "kernel_sizes * dilations * below")
    | edit("return 1 + np.cumsum(added), steps", "return np.cumsum(added), steps")
    | "The whole windows are added up. Each layer adds only the gaps of its window, and the first pixel is counted "
    "once." | "Two layers of 3 entries, strides and dilations 1: does one output see 5 pixels, or 6?",
    dilated_steps=edit("return 1 + np.cumsum(added), steps", "return 1 + np.cumsum(added), steps * dilations")
    | "The dilations are in the steps. A dilation spreads what a window reads; how far it moves is the stride's."
    | "Windows of one entry have a dilation, too. How far do they move?",
    dilation_ignored=edit(ADDED, "(kernel_sizes - 1) * below")
    | "The dilations change nothing. With dilation d two neighbours of a window lie d entries apart."
    | "A window of 3 entries with dilation 4: which entries does it read, if the first is entry 0?",
    strides_ignored=edit(ADDED, "(kernel_sizes - 1) * dilations")
    | "The sizes are those of layers without strides. An entry of a later layer lies several pixels from its "
    "neighbour." | "You know the steps already. In which unit does layer 2 count its entries, and in which the image?",
    last_stride_only=edit("np.concatenate([[1], steps[:-1]])", "np.concatenate([[1], strides[:-1]])")
    | "Only the stride of the layer directly below counts. All layers below have spread the entries."
    | "Three layers of stride 2: how many pixels lie between two neighbours of layer 2's output?",
    dilated_kernel_less_one=edit(ADDED, "(kernel_sizes * dilations - 1) * below")
    | "A window with dilation d is counted as k·d entries wide. Behind its last entry nothing is left out."
    | "A window of 2 entries with dilation 4 reads the entries 0 and 4. How wide is it?",
    step_below=edit("return 1 + np.cumsum(added), steps", "return 1 + np.cumsum(added), below")
    | "The steps are those of the layer below: the first is 1, and the last stride is missing."
    | "What is the step of a single layer with stride 2?",
    stride_as_step=edit("np.cumprod(strides)", "strides")
    | "The step of each layer is its own stride alone. A step of one layer is s steps of the layer below, and these "
    "have a length, too." | "Two layers of stride 2: how many pixels does the field of the second one move?",
    dilations_in_the_product=edit("np.cumprod(strides)", "np.cumprod(strides * dilations)")
    | "The dilations are in the running product. A dilation spreads what its own layer reads; only strides spread the "
    "layers above."
    | "A layer with dilation 4 and stride 1: how many pixels does its field move from one output to the next?",
    both_sides=edit(ADDED, "2 * (kernel_sizes - 1) * dilations * below")
    | "Every layer adds its gaps twice. A window of k entries has k − 1 gaps, those to both sides together."
    | "How many pixels does one output of a layer with 3 entries see?",
    windows_multiplied=edit("1 + np.cumsum(added)", "np.cumprod(kernel_sizes)")
    | "The windows are multiplied. Windows of neighbouring outputs overlap, and only what a layer adds counts."
    | "Two layers of 3 entries, strides and dilations 1: does one output see 5 pixels, or 9?",
    last_layer_first=edit(
        "steps = np.cumprod(strides)",
        "kernel_sizes, strides, dilations = kernel_sizes[::-1], strides[::-1], dilations[::-1]\nsteps = "
        "np.cumprod(strides)",
    )
    | "The layers are taken from last to first. The first layer reads the image."
    | "Which layer's size depends on no other layer?",
    dilation_left_out=edit(ADDED, "(kernel_sizes - 1) * (dilations + 1) * below")
    | "With dilation d two neighbours of a window are counted as d + 1 entries apart. They are d apart."
    | "With d = 1 nothing is left out. How far apart are the neighbours then?",
    results_exchanged=edit("return 1 + np.cumsum(added), steps", "return steps, 1 + np.cumsum(added)")
    | "Sizes and steps are exchanged: the sizes come first.",
    one_missing=edit("1 + np.cumsum(added)", "np.cumsum(added)")
    | "The sizes count the distance from the first pixel to the last, which is one less than the pixels."
    | "How many pixels does an output of a layer with kernel size 1 see?",
    strides_added_to_one=edit("np.cumprod(strides)", "1 + np.cumsum(strides)")
    | "The strides are added up. A step of one layer is s steps of the layer below, so they multiply."
    | "Two layers of stride 2 and then one of stride 3: how far apart in the image are two outputs of each?",
)

exercise.advice(
    values=Advice(
        value="Take two layers first, and draw them: how far apart in the image are the first and the last entry that "
        "the second layer reads?",
        shape="There is one size and one step for each layer.",
    ),
    edges="Where a window has one entry, the layer adds nothing to the size. Its stride still changes the step.",
    deep="The size grows with the product of the strides. Whole numbers of 64 bits hold it.",
)
exercise.hints(
    values=(
        "Begin with the steps: from one output of layer l to the next, how many outputs of layer l − 1 do you pass?",
        "Then what layer l adds to the size: the distance from the first to the last entry of its window, counted in "
        "outputs of the layer below, and what one such output is worth in pixels.",
    ),
    deep="`strides` and its running product are arrays of whole numbers: no loop over pixels.",
)
exercise.worked = (
    "Begin with the steps. One output of layer l further on, the window begins s outputs of layer l − 1 further "
    "on. So the step of a layer is s times the step of the layer below, and the step of the image is 1.\n"
    "The step after layer l is therefore the product of the strides of the layers 1 to l.\n"
    "A window of k entries has k − 1 gaps between its first and its last entry. Each gap is d outputs of the "
    "layer below, and neighbours there lie one step of the layer below apart.\n"
    "The first and the last entry are (k − 1) · d · (the step below) pixels apart. Each of them sees a field of "
    "the size below, and the fields between them lie inside.\n"
    "So a layer adds (k − 1) · d · (the step below) to the size. One pixel of the image has size 1.\n"
    "The size after layer l is 1 plus the sum of what the layers 1 to l add. A layer's own stride is not in what "
    "it adds.\n"
    "In the example by hand, the layers add 2 · 1 and 2 · 2: the sizes are 3 and 7, the steps 2 and 2."
)
