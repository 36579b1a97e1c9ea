"""Says where student code failed, and what the errors mean that students meet most often.

TensorFlow's messages are written for those who know TensorFlow. Each sentence here says what to look at, and none knows
the exercise: what belongs to one exercise is its groups' advice.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping
from typing import Any

LONGEST_LINE = 90

MEANINGS: tuple[tuple[str, str], ...] = (
    (
        r"compatible batch dimensions",
        "In a product of stacks of matrices only the last two axes are multiplied; all axes before them have to "
        "agree. Does your code exchange the last two axes only, and are the axes before them the same in both?",
    ),
    (
        r"ndims must be >= 2|In\[0\] and In\[1\] ha\w+ different ndims",  # depends on the processor
        "TensorFlow's `@` and `tf.matmul` take no vectors; `ops.matmul` and `ops.einsum` do.",
    ),
    (
        r"does not have enough dimensions \(has 0",
        "A single number stands where an array is expected. Did a sum, a mean or a norm lose its `axis=`? Without it "
        "the function joins all entries of the array.",
    ),
    (
        r"Matrix size-incompatible|matmul: Input operand|core dimension|BatchMatMul",
        "In a matrix product the last axis of the first factor meets the second-to-last axis of the second factor: "
        "these two sizes must be equal.",
    ),
    (
        r"None.{0,500}in your line `[^`]{0,200}softmax\([^`]{0,200}axis=[\[(]",
        "A softmax over two axes at once needs a known batch size: flatten the two axes to one first, and reshape the "
        "result back afterwards.",
    ),
    (
        r"A KerasTensor (cannot be used|is symbolic)",
        "`keras.Input` gives a placeholder without numbers, which functions of TensorFlow (`tf.…`) and NumPy cannot "
        "take. Those of `keras.ops` can: write `ops.cast` for `tf.cast`, `ops.sum` for `tf.reduce_sum`, "
        "`ops.not_equal` for `tf.not_equal`, and so on.",
    ),
    (
        r"(?s)Incompatible shapes.{0,500}Op:__inference",
        "Inside tf.function a length may be unknown: `x.shape[1]` is None there, and `table[:None]` is the whole "
        "table. `ops.shape(x)[1]` is the length. If this is not the cause, compare the sizes from the right.",
    ),
    (
        r"Only input tensors may be passed as positional arguments",
        "A Keras layer takes tensors by position, and everything else by its name: `training=training`.",
    ),
    (
        r"Incompatible shapes|could not be broadcast|must be broadcastable|Dimensions must be equal",
        "Shapes are compared from the right, and two sizes must be equal unless one of them is 1. Is an axis missing "
        "(`keepdims=True` in a sum or maximum keeps an axis of size 1, and `x[:, None]` makes one), or does an axis "
        "have the wrong size?",
    ),
    (
        r"ConcatOp|[Cc]oncatV2|concatenation axis",
        "Arrays that are joined must have equal sizes on all axes but one, and nothing is broadcast. A single row, "
        "such as a class token (1, 1, D), has to be there once for each item of the batch first: `ops.broadcast_to` or "
        "`ops.repeat`.",
    ),
    (
        r"boolean index did not match",
        "An assignment through a mask does not broadcast: the mask needs the array's own shape. `where(mask, a, b)` "
        "broadcasts, and leaves its arguments as they are.",
    ),
    (
        r"too many indices for array|index -?\d+ is out of bounds for axis",
        "An index goes beyond an axis, or there are more indices than axes. Does the code assume two axes where the "
        "array may have three, or does it count an axis from the front?",
    ),
    (
        r"Input to reshape is a tensor with|cannot reshape array of size",
        "A reshape keeps the number of values. Does the array have the shape that you expect?",
    ),
    (
        r"'Tshape' of float|'float' object cannot be interpreted as an integer",
        "A size has to be a whole number: `/` gives a float, `//` an int.",
    ),
    (
        r"Tensor\b.{0,200} object has no attribute|Tensor' object has no attribute",
        "TensorFlow's tensors have few of NumPy's methods, and no `.T`: use `ops.transpose(x)`, `ops.reshape(x, …)` "
        "and so on. Where no layer and no graph calls your code, `np.asarray` makes an array of a tensor.",
    ),
    (
        r"'[\w.]*(Tensor|Variable)\w*' object does not support item assignment",
        "A tensor cannot be changed in place. Build the result with `ops.where`, `ops.stack`, `ops.concatenate` "
        "or a product.",
    ),
    (
        r"must have the same dtype|was expected to be an? \w+ tensor but is an? \w+ tensor|to EagerTensor of dtype",
        "Your code combines two types of numbers: NumPy's fractions are float64 (TensorFlow says double), a mask is "
        "bool or int. `ops.cast(a, b.dtype)` gives a the type of b.",
    ),
    (r"read-only", "Your code writes into its own argument. Work on a copy: `np.array(x)`."),
    (
        r"as a Python `?bool",
        "Inside tf.function a tensor has no numbers yet: `if`, `and`, Python's `max` and NumPy's functions cannot read "
        "it. `ops.where`, `ops.maximum`, `ops.arange` and the like can. To see whether an argument was given, write "
        "`if mask is not None`.",
    ),
    (
        r"truth value of an array",
        "`if`, `and` and Python's `max` need one truth value and get a whole array. The largest entry is "
        "`np.max(x)`. To see whether an argument was given, write `if mask is not None`.",
    ),
    (
        r"elements of \(.{0,200}None|None values not supported|NoneType",
        "Something is None: an argument that was not given or, inside tf.function, a size that is not known yet. "
        "`x.shape` holds None for it, `ops.shape(x)` a number, and a reshape takes −1.",
    ),
    (
        r"unexpected keyword argument '\w*mask'",
        "No argument has this name. Compare the names in the `def` line with those in the lab's text. "
        "`keras.layers.MultiHeadAttention` has `attention_mask`.",
    ),
    (
        r"multiple values for argument '\w*mask'",
        "Keras passes masks on by name. Do the same: `mask=…`, `attention_mask=…`.",
    ),
    (
        r"indices\[[\d,]*\] = -?\d+ is not in \[0, \d+\)",
        "An Embedding has no row with this number. Does the table have as many rows as it should, and do you look up "
        "the right numbers?",
    ),
    (
        r"expected axis -1 of input shape to have value",
        "A layer keeps the width of its first input. Is one layer used in two places?",
    ),
    (
        r"Binding inputs to tf.function",
        "The function or layer that you call gets an input that it does not take. “Can not cast” names first the shape "
        "and type that it gets, and then those that it takes.",
    ),
    (
        r"expects 1 input\(s\), but it received",
        "A layer that takes one tensor gets several, such as a whole dictionary. Pass only the entry to be read.",
    ),
    (
        r"expects [2-9] input\(s\), but it received 1 input",
        "A model that takes several tensors gets one. What makes the others, such as a preprocessing that makes three "
        "rows of a text, has to come before it.",
    ),
    (
        r"Integers to negative integer powers",
        "NumPy's whole numbers have no negative powers: write 10000.0 in place of 10000.",
    ),
    (
        r"Could not interpret activation function identifier: \d",
        "The second argument of `keras.layers.Dense` is the activation. Dense takes only the width of its result, "
        "and finds the width of its input by itself: `Dense(d_ff)`, not `Dense(d_model, d_ff)`.",
    ),
    (
        r"Cannot convert a symbolic tf\.Tensor|numpy\(\) is only available when eager",
        "Inside tf.function or a model a tensor has no numbers yet, and a NumPy function or `get_weights` asked for "
        "them. Use `keras.ops`, and call the layers.",
    ),
    (
        r"Iterating over a symbolic",
        "Inside tf.function Python cannot loop over a tensor, because its sizes are not known yet. Work with the whole "
        "array: `ops.reshape`, `ops.transpose`, a product.",
    ),
    (
        r"is not a valid root scope name",
        "The name of a layer's or model's class begins with an underscore, and TensorFlow cannot use it inside a "
        "graph: rename the class.",
    ),
    (
        r"slice indices must be integers or None",
        "Inside tf.function a length is a tensor, and a NumPy array cannot be sliced with a tensor. Turn the array "
        "into a tensor first: `ops.convert_to_tensor(table)[:length]`.",
    ),
    (
        r"arrays used as indices must be of integer",
        "NumPy turns an empty list into an array of floats unless you set `dtype=int`.",
    ),
    (
        r"add new elements of state",
        "A layer makes its parts, other layers and variables, in `__init__`; `call` only uses them. Is one made in "
        "`call`? Then move that line to `__init__`. To change the numbers of a built layer, use its "
        "`set_weights([…])` or a variable's `assign(…)`.",
    ),
    (
        r"<\w+ name=\w+, built=",
        "There is a Keras layer where a tensor is expected. A layer is called, as in `self.w_q(x)`; it is not a "
        "matrix for `@` or for a function that takes matrices.",
    ),
)
_MEANINGS = tuple((re.compile(pattern), sentence) for pattern, sentence in MEANINGS)


def meaning(message: str) -> str:
    """What an error's text means and what to look at, in a sentence or two; empty when that is not known."""
    return next((sentence for pattern, sentence in _MEANINGS if pattern.search(message)), "")


def cause(message: str) -> str:
    """What two failures from one cause have in common: the message without its numbers and shapes."""
    return re.sub(r"[\[(](?:[\d\s,]|None)*[\])]|\d+", "", message)


def place(error: BaseException, namespace: Mapping[str, Any]) -> str:
    """The line of the notebook in which `error` arose, as it is written there; empty when no line is found.

    Args:
        error: an error that was caught.
        namespace: the notebook's global names, by which its own frames are known.
    """
    line, frames = "", error.__traceback__
    while frames is not None:
        frame = frames.tb_frame
        if frame.f_globals is namespace:
            found = linecache.getline(frame.f_code.co_filename, frames.tb_lineno).strip()
            line = found if found and "ag__." not in found else line  # AutoGraph's code is not the student's
        frames = frames.tb_next
    line = line.partition("  #")[0].replace("`", "'")
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"
