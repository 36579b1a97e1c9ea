"""Lab 04, encoder block: the exercises, their cases and the mistakes that are named."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Group, Misconception
from autograder.exercises.drawing import drawn_until, normal, partial_mask
from autograder.oracles import encoder_block as oracles

READY_NORMS = (
    "keras.layers.LayerNormalization",
    "keras.layers.RMSNormalization",
    "keras.layers.GroupNormalization",
    "keras.layers.UnitNormalization",
    "keras.layers.BatchNormalization",
    "keras.layers.Normalization",
    "keras.ops.layer_normalization",
    "keras.ops.nn.layer_normalization",
    "keras.ops.rms_normalization",
    "keras.ops.nn.rms_normalization",
)


def _norm_inputs(rng: np.random.Generator, *shape: int, dtype: str = "float32") -> dict:
    width = shape[-1]
    return {
        "x": (2 * rng.normal(size=shape) + 1.5).astype(dtype),
        "gamma": (1 + 0.5 * rng.normal(size=width)).astype(dtype),
        "beta": rng.normal(size=width).astype(dtype),
    }


def _norms(*shapes: tuple[int, ...]):
    """Tokens whose features differ enough for the default `eps` to leave no trace: it has a group of its own."""

    def inputs(rng: np.random.Generator, shape: tuple[int, ...]) -> dict:
        return drawn_until(lambda drawn: (drawn["x"].var(axis=-1) > 0.5).all(), lambda: _norm_inputs(rng, *shape))

    return lambda rng: [Case(inputs(rng, shape)) for shape in shapes]


def _norm_epsilon(rng: np.random.Generator) -> list[Case]:
    flat = _norm_inputs(rng, 5, 7)
    flat["x"] = np.repeat(flat["x"][:, :1], 7, axis=1)
    nearly = _norm_inputs(rng, 5, 7)
    nearly["x"] = (nearly["x"] * 2e-3).astype("float32")
    mixed = _norm_inputs(rng, 5, 7)
    mixed["x"] *= np.array([[1], [0.1], [1], [0.1], [1]], "float32")  # variances above eps and below
    return [
        Case({**mixed, "eps": 0.5}, how="x (5, 7), eps=0.5"),
        Case(nearly, how="x (5, 7), features that hardly differ, eps as it is by default"),
        Case(flat, how="x (5, 7), all features of a token equal"),
    ]


def _norm_types(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_norm_inputs(rng, 3, 5, 7), mode="tensor", how="TensorFlow tensors", dtype="float32"),
        Case(_norm_inputs(rng, 3, 5, 7), how="NumPy arrays of float32", dtype="float32"),
        Case(_norm_inputs(rng, 5, 7, dtype="float64"), how="NumPy arrays of float64", dtype="float64"),
    ]


def _feed_inputs(rng: np.random.Generator, d_model: int, d_ff: int, batch: int = 2, length: int = 5) -> dict:
    return {
        "d_model": d_model,
        "d_ff": d_ff,
        "x": normal(rng, batch, length, d_model),
        "dense_in.kernel": normal(rng, d_model, d_ff),
        "dense_in.bias": normal(rng, d_ff),
        "dense_out.kernel": normal(rng, d_ff, d_model),
        "dense_out.bias": normal(rng, d_model),
    }


def _feed_values(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_feed_inputs(rng, 7, 11), how="x (2, 5, 7), d_ff=11"),
        Case(_feed_inputs(rng, 7, 3, batch=3), how="x (3, 5, 7), d_ff=3"),
    ]


def _feed_training(rng: np.random.Generator) -> list[Case]:
    inputs = _feed_inputs(rng, 5, 3, length=4)
    return [
        Case(inputs, mode="graph", how="inside tf.function, batch size and length unknown"),
        Case(
            {**inputs, "cotangent.output": normal(rng, 2, 4, 5)},
            mode="gradient",
            how="gradients, compared with numerical ones",
        ),
    ]


def _weights(
    rng: np.random.Generator, blocks: int, sizes: tuple[int, int, int], final: bool, scale: float
) -> np.ndarray:
    """Weights of some blocks, end to end: γ around 1, all others around 0."""
    pieces = []
    for _ in range(blocks):
        for name, shape in oracles.block_shapes(*sizes).items():
            spread = scale if name.endswith("kernel") else 0.5 * min(1, scale)
            pieces.append(float(name.endswith("gamma")) + spread * rng.normal(size=int(np.prod(shape))))
    if final:
        pieces += [1 + 0.3 * rng.normal(size=sizes[0]), 0.3 * rng.normal(size=sizes[0])]
    return np.concatenate(pieces).astype("float32")


def _block_inputs(
    rng: np.random.Generator,
    norm: str | None = None,
    *,
    blocks: int | None = None,
    batch: int = 2,
    length: int = 7,
    sizes: tuple[int, int, int] = (15, 3, 11),
    scale: float = 0.5,
    spread: float = 1.5,
    dropout: float = 0.3,
) -> dict:
    """Inputs of one block, or of a stack of `blocks`; without `norm` the layer's own default is tried."""
    inputs: dict = {} if blocks is None else {"num_layers": blocks}
    inputs |= dict(zip(("d_model", "num_heads", "d_ff"), sizes, strict=True))
    inputs |= {"dropout": dropout} | ({"norm": norm} if norm else {})
    final = blocks is not None and norm == "pre"
    return {
        **inputs,
        "x": (spread * rng.normal(size=(batch, length, sizes[0]))).astype("float32"),
        "weights": _weights(rng, blocks or 1, sizes, final, scale),
    }


def _values(norm: str | None, how: str):
    def draw(rng: np.random.Generator) -> list[Case]:
        return [
            Case(_block_inputs(rng, norm), how=f"x (2, 7, 15), num_heads=3, d_ff=11, {how}"),
            Case(_block_inputs(rng, norm, sizes=(6, 2, 5), batch=3), how=f"x (3, 7, 6), num_heads=2, d_ff=5, {how}"),
        ]

    return draw


def _masked(rng: np.random.Generator) -> list[Case]:
    shapes = (((7, 7), "bool", "post"), ((2, 7, 7), "int32", "pre"), ((2, 1, 7), "float32", "post"))
    cases = []
    for shape, dtype, norm in shapes:
        mask = partial_mask(rng, *shape).astype(dtype)
        cases.append(Case({**_block_inputs(rng, norm), "mask": mask}, how=f"mask {shape} of {dtype}, norm={norm!r}"))
    mask = partial_mask(rng, 2, 7, 7)
    mask[1, 4] = False
    return [*cases, Case({**_block_inputs(rng), "mask": mask}, how="mask (2, 7, 7), one query may attend to nothing")]


def _epsilon(rng: np.random.Generator) -> list[Case]:
    small = {"scale": 0.02, "spread": 0.01}
    return [
        Case(_block_inputs(rng, norm, **small), how=f"tokens whose features hardly differ, norm={norm!r}")
        for norm in ("post", "pre")
    ]


def _dropout(blocks: int | None, *norms: str | None):
    def draw(rng: np.random.Generator) -> list[Case]:
        cases = []
        erased = "each dropout set to erase one half of the features"
        for norm in norms:
            inputs = _block_inputs(rng, norm, blocks=blocks)
            cases.append(Case(inputs, mode="training", how=f"training=True, norm={norm or 'post'!r}, {erased}"))
        cases.append(Case(inputs, mode="inference", how=f"training=False, norm={norm!r}"))
        cases.append(Case(inputs, mode="repeated", how=f"training=True twice, {erased}: the same result"))
        rates = (0.3,) if blocks else (0.3, None)
        for rate in rates:
            inputs = _block_inputs(rng, blocks=blocks, batch=29, dropout=rate)
            if rate is None:
                del inputs["dropout"]
            how = f"dropout={rate}" if rate else "dropout as it is by default"
            cases.append(
                Case(
                    inputs,
                    mode="dropped",
                    how=f"{how}, called with training=True and False",
                    property="drops at its rate",
                )
            )
        return cases

    return draw


def _unassigned(inputs: dict) -> dict:
    return {key: value for key, value in inputs.items() if key != "weights"}


def _parameters(rng: np.random.Generator) -> list[Case]:
    inputs = _unassigned(_block_inputs(rng))
    return [Case(inputs, mode="parameters", how="trainable parameters, d_model=15, num_heads=3, d_ff=11")]


def _training(blocks: int | None):
    def draw(rng: np.random.Generator) -> list[Case]:
        graph = _block_inputs(rng, "pre" if blocks else None, blocks=blocks)
        cases = [Case(graph, mode="graph", how="inside tf.function, batch size and length unknown")]
        for norm in ("pre",) if blocks else (None, "pre"):
            inputs = _block_inputs(rng, norm, blocks=blocks and 3, sizes=(6, 2, 5))
            shape = inputs["x"].shape
            inputs |= {"weighting": normal(rng, *shape), "direction_x": normal(rng, *shape)}
            inputs["direction"] = normal(rng, len(inputs["weights"]))
            how = f"gradients, compared with numerical ones, norm={norm or 'post'!r}"
            cases.append(Case(inputs, mode="slopes", how=how))
        return cases

    return draw


def _reload(rng: np.random.Generator) -> list[Case]:
    watched = _block_inputs(rng, "pre", batch=29)
    return [
        Case(_block_inputs(rng, "pre"), mode="reload", how='norm="pre", rebuilt by from_config(get_config())'),
        Case(
            watched,
            mode="dropped_reloaded",
            how="dropout=0.3, rebuilt, called in training",
            property="drops at its rate",
        ),
    ]


def _stack_values(rng: np.random.Generator) -> list[Case]:
    return [
        Case(_block_inputs(rng, blocks=2), how="two blocks, x (2, 7, 15)"),
        Case(_block_inputs(rng, "post", blocks=3, sizes=(6, 2, 5)), how='three blocks, x (2, 7, 6), norm="post"'),
    ]


def _stack_pre(rng: np.random.Generator) -> list[Case]:
    inputs = _block_inputs(rng, "pre", blocks=3, sizes=(6, 2, 5))
    return [Case(inputs, how='three blocks, x (2, 7, 6), norm="pre"')]


def _stack_masked(rng: np.random.Generator) -> list[Case]:
    cases = []
    for shape, norm in (((7, 7), None), ((2, 7, 7), "pre"), ((2, 1, 7), None)):
        inputs = {**_block_inputs(rng, norm, blocks=2), "mask": partial_mask(rng, *shape)}
        cases.append(Case(inputs, how=f"two blocks, mask {shape}, norm={norm or 'post'!r}"))
    return cases


def _stack_parameters(rng: np.random.Generator) -> list[Case]:
    return [
        Case(
            _unassigned(_block_inputs(rng, norm, blocks=3, sizes=(6, 2, 5))),
            mode="parameters",
            how=f"trainable parameters of three blocks, norm={norm!r}",
        )
        for norm in ("post", "pre")
    ]


def _counts(rng: np.random.Generator) -> list[Case]:
    cases = []
    for heads in (3, 5, 2):
        width = int(rng.integers(7, 30))
        cases.append({"d_model": heads * width, "num_heads": heads, "d_ff": int(rng.integers(31, 400))})
    return [Case(case) for case in cases]


def _counts_key_dim(rng: np.random.Generator) -> list[Case]:
    cases = [{"d_model": 32, "num_heads": 2, "d_ff": 32, "key_dim": 32}]
    for heads in (3, 7):
        sizes = {"d_model": heads * int(rng.integers(5, 20)), "num_heads": heads, "d_ff": int(rng.integers(31, 400))}
        cases.append({**sizes, "key_dim": int(rng.integers(21, 60))})
    return [Case(case) for case in cases]


MASK_MISTAKES = (
    Misconception(
        "mask_ignored",
        {"masking": "ignore"},
        "The mask changes nothing. Does it reach the attention layer, and by its name, `attention_mask=`?",
    ),
    Misconception(
        "mask_inverted",
        {"masking": "invert"},
        "The mask is read the wrong way round. Here and in Keras True means: may attend.",
    ),
)
DROPOUT_NEVER = Misconception(
    "dropout_never",
    {"drop": "never"},
    "With `training=True` nothing is dropped: are both dropouts called, and told so?",
)
DROPOUT_ALWAYS = Misconception(
    "dropout_always",
    {"drop": "always"},
    "Something is dropped with `training=False` too: `training` does not decide about it.",
)
THIRD_DROPOUT = Misconception(
    "third_dropout",
    {"third_dropout": True},
    "Something besides `dropout1` and `dropout2` drops in training: a `dropout=` in the attention, or a third Dropout.",
)

EXERCISES = (
    Exercise(
        name="layer_norm",
        oracle=oracles.layer_norm,
        groups=(
            Group("values", "right values", 2, _norms((5, 7), (3, 2), (11,))),
            Group(
                "batched",
                "leading dimensions",
                1,
                _norms((2, 5, 7), (2, 3, 5, 7)),
                advice="Every token is normalised on its own, however many axes stand before the last one.",
            ),
            Group(
                "epsilon",
                "epsilon: given, by default, and for a token without variance",
                1,
                _norm_epsilon,
                advice="Use the argument `eps`. With it a token whose features are all equal gives beta, not NaN.",
            ),
            Group("types", "arrays and tensors, float type kept", 1, _norm_types),
        ),
        misconceptions=(
            Misconception(
                "unbiased_variance",
                {"unbiased": True},
                "The variance is divided by D − 1. Layer norm divides by D (the biased variance).",
            ),
            Misconception(
                "eps_added_to_deviation",
                {"divisor": "σ+ε"},
                "eps is added to the standard deviation; it belongs to the variance, under the root.",
            ),
            Misconception(
                "eps_as_floor",
                {"divisor": "√max(σ²,ε)"},
                "eps is the least variance that you allow; it is added to every variance.",
            ),
            Misconception(
                "divides_by_variance",
                {"divisor": "σ²+ε"},
                "The tokens are divided by the variance: the root is missing.",
            ),
            Misconception(
                "only_centred", {"divisor": "none"}, "The mean is subtracted, but nothing divides by the deviation."
            ),
            Misconception(
                "over_tokens",
                {"over": "tokens"},
                "Each feature is normalised over the tokens, not each token over its features.",
            ),
            Misconception(
                "over_sentence",
                {"over": "sentence"},
                "One mean for the whole sentence: tokens and features are normalised together.",
            ),
            Misconception(
                "batch_norm", {"over": "batch"}, "This is batch norm: the statistics run over all tokens of the batch."
            ),
            Misconception(
                "rms_norm",
                {"centred": False, "divisor": "√(mean x²+ε)"},
                "This is RMS norm: it divides by the root of the mean square. Layer norm subtracts the mean first.",
            ),
            Misconception("not_centred", {"centred": False}, "The mean is not subtracted before dividing."),
            Misconception(
                "gamma_missing", {"use_gamma": False}, "gamma is not used: it multiplies the normalised features."
            ),
            Misconception("beta_missing", {"use_beta": False}, "beta is not used: it is added at the end."),
            Misconception(
                "gamma_beta_swapped", {"swapped": True}, "gamma and beta are swapped: gamma multiplies, beta is added."
            ),
            Misconception(
                "shift_before_scale", {"shift_first": True}, "beta is added before gamma multiplies; it comes after."
            ),
            Misconception("eps_is_keras_default", {"fixed_eps": 1e-3}, "eps is 0.001 whatever the argument says."),
            Misconception("eps_missing", {"fixed_eps": 0.0}, "eps is not used: a token without variance gives 0/0."),
        ),
        hints=(
            "Mean and variance are taken along the last axis, and keep that axis with size 1 so that they broadcast.",
            "The variance is the mean of the squared differences from the mean: divided by D.",
            "Subtract the mean, divide by the root of (variance + eps), multiply with gamma, add beta.",
        ),
        forbidden=READY_NORMS,
    ),
    Exercise(
        name="FeedForward",
        oracle=oracles.feed_forward,
        groups=(
            Group(
                "values",
                "right values",
                2,
                _feed_values,
                advice="`dense_in` makes d_ff features, ReLU follows, and `dense_out` comes back to d_model.",
            ),
            Group(
                "parameters",
                "two Dense layers with bias",
                1,
                lambda rng: [
                    Case(_feed_inputs(rng, 7, 11), mode="parameters", how="trainable parameters, d_model=7, d_ff=11")
                ],
            ),
            Group("training", "works inside tf.function, and gradients reach every weight", 1, _feed_training),
        ),
        misconceptions=(
            Misconception(
                "no_relu",
                {"activation": "none"},
                "There is no ReLU between the two layers, so they collapse into one linear map.",
            ),
            Misconception("gelu", {"activation": "gelu"}, "The activation is GELU, as in BERT; this block uses ReLU."),
            Misconception("sigmoid", {"activation": "sigmoid"}, "The activation is a sigmoid; this block uses ReLU."),
            Misconception(
                "relu_on_output", {"output_relu": True}, "The output passes a ReLU too; the second layer is linear."
            ),
            Misconception("no_bias", {"bias": False}, "The Dense layers have no bias; the contract says with."),
            Misconception(
                "residual_inside",
                {"residual": True},
                "The input is added inside the network; the residual path is the block's business.",
            ),
        ),
        hints=(
            "Make two `keras.layers.Dense` in `__init__`, and keep them as `self.dense_in` and `self.dense_out`.",
            "How wide is the token between the two layers, and how wide after the second?",
        ),
    ),
    Exercise(
        name="EncoderBlock",
        oracle=oracles.encoder_block,
        groups=(
            Group("values_post", "post-norm, right values", 2, _values(None, "norm as it is by default")),
            Group("values_pre", "pre-norm, right values", 2, _values("pre", 'norm="pre"')),
            Group(
                "masked",
                "masks of shape (T, T), (B, T, T) and (B, 1, T)",
                2,
                _masked,
                advice="Keras takes all three shapes as they are, if the mask is handed over by its name.",
            ),
            Group(
                "epsilon",
                "layer norms with epsilon 1e-6",
                1,
                _epsilon,
                advice="Keras's own default for epsilon is 1e-3. The contract says 1e-6, for both norms.",
            ),
            Group(
                "dropout",
                "dropout: in training only, on each sub-layer's output, at its rate",
                2,
                _dropout(None, "post", "pre"),
                advice="Each sub-layer's output goes through its own dropout, then the sum. No other dropout is in the block.",
            ),
            Group("parameters", "the right number of parameters", 1, _parameters),
            Group("training", "works inside tf.function, and gradients reach every weight", 1, _training(None)),
            Group(
                "reload",
                "survives the round trip through get_config",
                1,
                _reload,
                advice="`get_config` must hold every argument of `__init__`, on top of `super().get_config()`.",
            ),
        ),
        misconceptions=(
            Misconception("always_post", {"order": "post"}, "The block is post-norm whatever `norm` says."),
            Misconception(
                "always_pre",
                {"order": "pre"},
                "The block is pre-norm whatever `norm` says; by default it is post-norm.",
            ),
            Misconception(
                "no_first_residual", {"residual": (False, True)}, "The residual path around the attention is missing."
            ),
            Misconception(
                "no_second_residual",
                {"residual": (True, False)},
                "The residual path around the feed-forward network is missing.",
            ),
            Misconception(
                "no_residuals",
                {"residual": (False, False)},
                "Both residual paths are missing: each half adds its input to what its sub-layer returns.",
            ),
            Misconception(
                "residual_from_normed",
                {"residual_from": "normed"},
                "In pre-norm the sum takes the normalised token; the residual path carries the token as it came.",
            ),
            Misconception(
                "second_residual_from_input",
                {"second_residual": "block input"},
                "The second sum adds the block's input again; it adds what the first half returned.",
            ),
            Misconception(
                "feed_forward_from_input",
                {"feed_input": "block input"},
                "The feed-forward network reads the block's input; it reads what the first half returned.",
            ),
            Misconception(
                "norm_used_twice",
                {"norms": "1 twice"},
                "norm1 does the work of norm2 as well: the block has two norms.",
            ),
            Misconception(
                "one_norm_under_two_names",
                {"norms": "2 twice"},
                "norm2 does the work of norm1 as well: are they two layers, or one under two names?",
            ),
            Misconception(
                "extra_norm_in_pre",
                {"extra_norm": ("pre",)},
                "In pre-norm the block's result is normalised once more; it leaves as it is. The final norm belongs to the stack.",
            ),
            Misconception(
                "extra_norm",
                {"extra_norm": ("pre", "post")},
                "The block's result goes through one more norm, a third one; the block has two.",
            ),
            Misconception(
                "norms_swapped", {"norms": "swapped"}, "norm1 and norm2 are swapped: norm1 belongs to the attention."
            ),
            Misconception(
                "first_norm_missing", {"norms": "only 2"}, "The norm of the attention's half, norm1, is not applied."
            ),
            Misconception(
                "second_norm_missing", {"norms": "only 1"}, "The norm of the feed-forward half, norm2, is not applied."
            ),
            Misconception(
                "norm_before_sum",
                {"norm_place": "branch"},
                "In post-norm the sub-layer's output is normalised and then added; the norm comes after the sum.",
            ),
            Misconception(
                "values_not_normed",
                {"value_input": "raw"},
                "In pre-norm only the query is normalised: attention takes the values from the token as it came.",
            ),
            *MASK_MISTAKES,
            Misconception(
                "norm_not_in_config",
                {"config": "without norm"},
                "The rebuilt block is post-norm although the first was pre-norm: `get_config` does not hold `norm`.",
            ),
            DROPOUT_NEVER,
            DROPOUT_ALWAYS,
            THIRD_DROPOUT,
            Misconception(
                "dropout_after_sum",
                {"drop": "after the sum"},
                "Dropout comes after the sum, so it erases parts of the residual path.",
            ),
            Misconception(
                "dropout_after_norm",
                {"drop": "after the norm"},
                "In post-norm dropout comes after the norm; it belongs to the sub-layer's output, before the sum.",
            ),
            Misconception(
                "dropout_on_input",
                {"drop": "on the input"},
                "Dropout is applied to the sub-layer's input, not to its output.",
            ),
            Misconception(
                "second_dropout_missing",
                {"drop": "only first"},
                "The feed-forward network's output is not dropped in training: is dropout2 called, and told `training`?",
            ),
            Misconception("dropout_used_twice", {"drop": "first twice"}, "dropout1 does the work of dropout2 as well."),
            Misconception(
                "keras_epsilon", {"eps": 1e-3}, "The norms have Keras's default epsilon, 0.001; the contract says 1e-6."
            ),
            Misconception("key_dim_is_d_model", {"key_dim": "D"}, "key_dim is d_model for each head; here it is D/H."),
            Misconception(
                "heads_and_key_dim_exchanged",
                {"heads": "D/H"},
                "The attention has D/H heads of width H; it is the other way round. num_heads is its first argument.",
            ),
            Misconception(
                "feed_forward_linear", {"activation": "none"}, "There is no ReLU in the feed-forward network."
            ),
        ),
        hints=(
            "Two halves of the same form: attention with norm1 and dropout1, the feed-forward network with norm2 and dropout2.",
            "Post-norm normalises each sum. Pre-norm normalises what goes into the sub-layer, and the sum takes the token as it was.",
            "Hand `training=training` to both dropouts, and the mask to the attention as `attention_mask=`.",
        ),
    ),
    Exercise(
        name="Encoder",
        oracle=oracles.encoder,
        groups=(
            Group("values_post", "post-norm, right values", 1, _stack_values),
            Group(
                "values_pre",
                "pre-norm with its final norm, right values",
                1,
                _stack_pre,
                advice="A pre-norm stack ends with a layer norm (epsilon 1e-6) under the name `norm`.",
            ),
            Group(
                "masked",
                "the mask reaches every block",
                1,
                _stack_masked,
                advice="With `supports_masking = True` in the block, Keras takes the mask for one of padding, (B, T), "
                "and hands it on: leave that line out.",
            ),
            Group(
                "dropout",
                "dropout: in training only, in every block, at its rate",
                1,
                _dropout(2, None, "pre"),
                advice="Hand `training` and the rate on to every block. The stack has no dropout of its own.",
            ),
            Group("parameters", "each block has weights of its own", 1, _stack_parameters),
            Group("training", "works inside tf.function, and gradients reach every weight", 1, _training(2)),
        ),
        misconceptions=(
            Misconception(
                "one_block_repeated",
                {"shared": True},
                "One block is used several times; each layer of the stack has weights of its own.",
            ),
            Misconception(
                "one_block_too_many",
                {"more_blocks": 1},
                "The stack has one block more than `num_layers` says.",
            ),
            Misconception(
                "one_block_too_few",
                {"more_blocks": -1},
                "The stack has one block less than `num_layers` says.",
            ),
            Misconception("blocks_reversed", {"reverse": True}, "The blocks run in reverse order."),
            Misconception(
                "not_chained",
                {"chained": False},
                "Every block reads the stack's input; each reads the output of the one before it.",
            ),
            Misconception(
                "final_norm_missing", {"final_norm": "never"}, "The final norm of the pre-norm stack is missing."
            ),
            Misconception(
                "final_norm_always",
                {"final_norm": "always"},
                "A post-norm stack ends in a norm already; only pre-norm gets a final one.",
            ),
            Misconception(
                "final_norm_in_the_loop",
                {"final_norm": "every block"},
                "The final norm comes after every block; it comes once, after the last one.",
            ),
            Misconception("mask_in_first_block_only", {"mask_in": "first"}, "The mask reaches the first block only."),
            *MASK_MISTAKES,
            DROPOUT_NEVER,
            DROPOUT_ALWAYS,
            THIRD_DROPOUT,
            Misconception(
                "norm_not_handed_on",
                {"order": "post"},
                "The blocks are post-norm whatever `norm` says: hand it on to them.",
            ),
        ),
        hints=(
            "`self.blocks` is a list of `num_layers` different blocks, made in `__init__`.",
            "`call` sends x through the blocks one after the other, with the same mask and the same `training` for each.",
            "What does the lecture say about the size of the tokens at the end of a pre-norm stack?",
        ),
    ),
    Exercise(
        name="encoder_parameter_count",
        oracle=oracles.encoder_parameter_count,
        groups=(
            Group("values", "right counts with key_dim = D/H", 1, _counts),
            Group("key_dim", "right counts with a key_dim of its own", 1, _counts_key_dim),
        ),
        misconceptions=(
            Misconception(
                "default_key_dim_is_d_model",
                {"default_key_dim": "D"},
                "Without `key_dim` each head has D/H features, not D.",
            ),
            Misconception("key_dim_ignored", {"key_dim_ignored": True}, "The argument `key_dim` changes nothing."),
            Misconception(
                "heads_not_counted",
                {"heads_counted": False},
                "The number of heads is missing: all heads together are H·key_dim wide.",
            ),
            Misconception(
                "key_dim_of_all_heads",
                {"key_dim_is": "of all heads"},
                "A key_dim that is given is the width of each head: all heads together are H·key_dim wide.",
            ),
            Misconception(
                "attention_without_bias", {"attention_bias": False}, "The biases of the attention are missing."
            ),
            Misconception(
                "output_bias_too_wide",
                {"output_bias": "HK"},
                "The bias of the output projection has the width of its output, D.",
            ),
            Misconception(
                "one_bias_missing",
                {"output_bias": "none"},
                "D numbers are missing: the output projection and the second Dense layer have a bias of width D each.",
            ),
            Misconception(
                "no_output_projection",
                {"output_projection": False},
                "The output projection of the attention is missing.",
            ),
            Misconception(
                "feed_forward_without_bias",
                {"feed_forward_bias": False},
                "The biases of the feed-forward network are missing.",
            ),
            Misconception("norms_missing", {"norms": 0}, "The two layer norms are missing."),
            Misconception(
                "final_norm_counted",
                {"norms": 3},
                "A third layer norm is counted: the final one of a pre-norm stack is no part of a block.",
            ),
            Misconception(
                "half_the_norms",
                {"per_norm": 1},
                "2·D numbers are missing: there are two layer norms, and each has two vectors, gamma and beta.",
            ),
        ),
        hints=(
            "Section 9 of the lecture is this sum for one block, line by line.",
            "Queries, keys and values are each a matrix from D to H·key_dim, with a bias; the output projection comes back to D.",
            "Dropout and residual paths have no parameters. Each norm has one number for each feature in gamma, and one in beta.",
        ),
        reveal=False,
    ),
)
