"""Lab 09, exercise `derive_receptive_field`: solutions as different students write them, right and wrong."""


def derived(
    size: str = "1 + np.cumsum((kernel_sizes - 1) * dilations * below)",
    steps: str = "np.cumprod(strides)",
    below: str = "np.concatenate([[1], steps[:-1]])",
    result: str = "sizes, steps",
) -> str:
    return f"""
def derive_receptive_field(kernel_sizes, strides, dilations):
    steps = {steps}
    below = {below}
    sizes = {size}
    return {result}
"""


CORRECT = [
    derived(),
    derived(below="steps / strides"),
    derived(below="np.r_[1, steps][:-1]", size="np.cumsum(dilations * (kernel_sizes - 1) * below) + 1"),
    # layer by layer
    """
def derive_receptive_field(kernel_sizes, strides, dilations):
    size, step, sizes, steps = 1, 1, [], []
    for k, s, d in zip(kernel_sizes, strides, dilations):
        size += (k - 1) * d * step
        step *= s
        sizes.append(size)
        steps.append(step)
    return np.array(sizes), np.array(steps)
""",
    # lists of Python integers
    """
def derive_receptive_field(kernel_sizes, strides, dilations):
    sizes, steps = [], []
    for l in range(len(strides)):
        steps.append(int(np.prod(strides[: l + 1])))
        sizes.append(1 + sum(int(kernel_sizes[i] - 1) * int(dilations[i]) * int(np.prod(strides[:i])) for i in range(l + 1)))
    return sizes, steps
""",
    # from the last layer back to the image, once for each layer
    """
def derive_receptive_field(kernel_sizes, strides, dilations):
    def seen(width, layers):
        for k, s, d in reversed(layers):
            width = (width - 1) * s + (k - 1) * d + 1
        return width

    layers = list(zip(kernel_sizes, strides, dilations))
    sizes = np.array([seen(1, layers[: n + 1]) for n in range(len(layers))])
    steps = np.array([seen(2, layers[: n + 1]) for n in range(len(layers))]) - sizes
    return sizes, steps
""",
    # TensorFlow
    """
def derive_receptive_field(kernel_sizes, strides, dilations):
    below = tf.math.cumprod(strides, exclusive=True)
    return 1 + tf.cumsum((kernel_sizes - 1) * dilations * below), below * strides
""",
    # a matrix of what layer i adds to layer l
    """
def derive_receptive_field(kernel_sizes, strides, dilations):
    spans = (kernel_sizes - 1) * dilations
    steps = np.multiply.accumulate(strides)
    reached = np.tri(len(strides)) @ (spans * np.roll(np.r_[steps[:-1], 1], 1))
    return reached + 1, steps
""",
    derived(steps="np.cumprod(strides.astype('float64'))"),
]  # fmt: skip

WRONG = [
    ("windows_added", derived(size="np.cumsum(kernel_sizes * dilations * below)")),
    ("dilated_steps", derived(result="sizes, steps * dilations")),
    ("windows_multiplied", derived(size="np.cumprod(kernel_sizes)")),
    ("both_sides", derived(size="1 + np.cumsum((kernel_sizes - 1) * 2 * dilations * below)")),
    ("last_layer_first", derived(steps="np.cumprod(strides[::-1])", size="1 + np.cumsum(((kernel_sizes - 1) * dilations)[::-1] * below)")),
    # an entry that lies between two that are read does not count
    ("", """
def derive_receptive_field(kernel_sizes, strides, dilations):
    size, step, sizes, steps = 1, 1, [], []
    for k, s, d in zip(kernel_sizes, strides, dilations):
        size += (k - 1) * min(d * step, size)
        step *= s
        sizes.append(size)
        steps.append(step)
    return np.array(sizes), np.array(steps)
"""),
    ("own_stride", derived(below="steps")),
    ("strides_added", derived(steps="np.cumsum(strides)")),
    ("whole_kernel", derived(size="1 + np.cumsum(kernel_sizes * dilations * below)")),
    ("dilation_ignored", derived(size="1 + np.cumsum((kernel_sizes - 1) * below)")),
    ("strides_ignored", derived(size="1 + np.cumsum((kernel_sizes - 1) * dilations)")),
    ("last_stride_only", derived(below="np.concatenate([[1], strides[:-1]])")),
    ("dilated_kernel_less_one", derived(size="1 + np.cumsum((kernel_sizes * dilations - 1) * below)")),
    ("step_below", derived(result="sizes, below")),
    ("one_missing", derived(size="np.cumsum((kernel_sizes - 1) * dilations * below)")),
    ("results_exchanged", derived(result="steps, sizes")),
    ("strides_added_to_one", derived(steps="1 + np.cumsum(strides)")),
    ("dilation_left_out", derived(size="1 + np.cumsum((kernel_sizes - 1) * (dilations + 1) * below)")),
    ("", derived(steps="1 + np.cumsum(strides - 1)")),
    ("", derived(result="sizes[-1], steps[-1]")),
    ("", derived(result="sizes")),
    ("", derived(size="1 + (kernel_sizes - 1) * dilations * below")),
    ("", derived(size="np.cumsum((kernel_sizes - 1) * dilations * below + 1)")),
    ("", derived(size="1 + np.cumsum((kernel_sizes // 2) * dilations * below)")),
    ("", derived(size="1 + np.cumsum((kernel_sizes - 1) * (dilations - 1) * below)")),
    ("", derived(size="1 + np.cumsum(((kernel_sizes - 1) * dilations * below)[::-1])")),
    ("", derived(size="(1 + np.cumsum((kernel_sizes - 1) * dilations * below)) ** 2")),
    ("dilations_in_the_product", derived(steps="np.cumprod(strides * dilations)")),
    ("stride_as_step", derived(steps="strides")),
    ("", derived(size="2 + np.cumsum((kernel_sizes - 1) * dilations * below)")),
    ("", derived(size="1 + np.cumsum((kernel_sizes - 1) * dilations * below).astype('float16')")),
    ("", "def derive_receptive_field(kernel_sizes, strides, dilations):\n    pass\n"),
    # simulated: right for small stacks, and the third group is out of reach
    ("", """
def derive_receptive_field(kernel_sizes, strides, dilations):
    width = 2000
    sizes, steps = [], []
    seen = [{n} for n in range(width)]
    for k, s, d in zip(kernel_sizes, strides, dilations):
        last = len(seen) - (k - 1) * d
        seen = [{min(seen[start])} | {max(seen[start + (k - 1) * d])} for start in range(0, last, s)]
        if len(seen) < 2:
            sizes.append(0)
            steps.append(0)
            continue
        sizes.append(max(seen[0]) - min(seen[0]) + 1)
        steps.append(min(seen[1]) - min(seen[0]))
    return np.array(sizes), np.array(steps)
"""),
]  # fmt: skip
