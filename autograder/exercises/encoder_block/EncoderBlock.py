"""Lab 04, exercise `EncoderBlock`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import partial_mask
from autograder.exercises.encoder_block.shared import DROPOUT_ALWAYS, DROPOUT_NEVER, MASK_MISTAKES, THIRD_DROPOUT, block_inputs, draw_dropout, training, unassigned
from autograder.mistaken import encoder_block as mistaken
from autograder.oracles import encoder_block as oracles


def _values(norm: str | None, description: str):
    def draw(rng: Generator) -> list[Case]:
        return [
            Case(block_inputs(rng, norm), description=f"x (2, 7, 15), num_heads=3, d_ff=11, {description}"),
            Case(block_inputs(rng, norm, sizes=(6, 2, 5), batch=3), description=f"x (3, 7, 6), num_heads=2, d_ff=5, {description}"),
        ]

    return draw


exercise = Exercise(
    "EncoderBlock",
    oracle=oracles.encoder_block,
    mistaken=mistaken.encoder_block,
    by_mode={
        "training": oracles.encoder_block_training,
        "slopes": oracles.encoder_block_slopes,
        "parameters": oracles.block_parameters,
        "repeated": oracles.same_again,
        "dropped": oracles.left_to_chance,
        "dropped_reloaded": oracles.left_to_chance,
        "renamed": oracles.name_kept,
    },
    probe_only=("dropout",),
)


@exercise.group("post-norm, right values", points=2)
def values_post(rng: Generator) -> list[Case]:
    return _values(None, "norm as it is by default")(rng)


@exercise.group("pre-norm, right values", points=2)
def values_pre(rng: Generator) -> list[Case]:
    return _values("pre", 'norm="pre"')(rng)


@exercise.group("masks of shape (T, T), (B, T, T) and (B, 1, T)", points=2, advice="Keras takes all three shapes as they are, if the mask is passed by its name.")
def masked(rng: Generator) -> list[Case]:
    shapes = (((7, 7), "bool", "post"), ((2, 7, 7), "int32", "pre"), ((2, 1, 7), "float32", "post"))
    cases = []
    for shape, dtype, norm in shapes:
        mask = partial_mask(rng, *shape).astype(dtype)
        cases.append(Case({**block_inputs(rng, norm), "mask": mask}, description=f"mask {shape} of {dtype}, norm={norm!r}"))
    mask = partial_mask(rng, 2, 7, 7)
    mask[1, 4] = False
    return [*cases, Case({**block_inputs(rng), "mask": mask}, description="mask (2, 7, 7), one query may attend to nothing")]


@exercise.group("layer norms with epsilon 1e-6", points=1, advice="Keras's own default for epsilon is 1e-3. The contract says 1e-6, for both norms.")
def epsilon(rng: Generator) -> list[Case]:
    return [Case(block_inputs(rng, norm, scale=0.02, spread=0.01), description=f"tokens whose features hardly differ, norm={norm!r}", scale=0.1) for norm in ("post", "pre")]


@exercise.group(
    "dropout: in training only, on each sub-layer's output, at its rate", points=2, advice="Each sub-layer's output goes through its own dropout, then the sum. No other dropout is in the block."
)
def dropout(rng: Generator) -> list[Case]:
    return draw_dropout(None, "post", "pre")(rng)


@exercise.group("the right number of parameters", points=1)
def parameters(rng: Generator) -> list[Case]:
    inputs = unassigned(block_inputs(rng))
    return [Case(inputs, mode="parameters", description="trainable parameters, d_model=15, num_heads=3, d_ff=11")]


@exercise.group("works inside tf.function, and gradients reach every weight", points=1, name="training")
def training_cases(rng: Generator) -> list[Case]:
    return training(None)(rng)


@exercise.group("survives the round trip through get_config", points=1, advice="`get_config` must hold every argument of `__init__`, and also everything in `super().get_config()`.")
def reload(rng: Generator) -> list[Case]:
    watched = block_inputs(rng, "pre", batch=29)
    return [
        Case(block_inputs(rng, "pre"), mode="reload", description='norm="pre", rebuilt by from_config(get_config())'),
        Case(watched, mode="dropped_reloaded", description="dropout=0.3, rebuilt, called in training", property="drops at its rate"),
        Case(block_inputs(rng), mode="renamed", description="rebuilt by from_config(get_config()): its name"),
    ]


exercise.mistakes(
    always_post=wrong("The block is post-norm whatever `norm` says.", order="post"),
    always_pre=wrong("The block is pre-norm whatever `norm` says; by default it is post-norm.", order="pre"),
    no_first_residual=wrong("The residual path around the attention is missing.", residual=(False, True)),
    no_second_residual=wrong("The residual path around the feed-forward network is missing.", residual=(True, False)),
    no_residuals=wrong("Both residual paths are missing: add the input of each half to the result of its sub-layer.", residual=(False, False)),
    residual_from_normed=wrong("In pre-norm the sum takes the normalised token; the residual path should carry the token as it came.", residual_from="normed"),
    second_residual_from_input=wrong("The second sum adds the block's input again; it should add the result of the first half.", second_residual="block input"),
    feed_forward_from_input=wrong("The feed-forward network reads the block's input; it should read the result of the first half.", feed_input="block input"),
    norm_used_twice=wrong("norm1 is used in place of norm2 as well: the block should use two norms.", norms="1 twice"),
    one_norm_under_two_names=wrong("norm2 is used in place of norm1 as well: are they two layers, or one layer under two names?", norms="2 twice"),
    extra_norm_in_pre=wrong("In pre-norm the block's result is normalised once more; return it as it is. The final norm belongs to the stack.", extra_norm=("pre",)),
    extra_norm=wrong("The block's result goes through a third norm; the block should have two.", extra_norm=("pre", "post")),
    norms_swapped=wrong("norm1 and norm2 are swapped: norm1 belongs to the attention.", norms="swapped"),
    first_norm_missing=wrong("The norm of the attention's half, norm1, is not applied.", norms="only 2"),
    second_norm_missing=wrong("The norm of the feed-forward half, norm2, is not applied.", norms="only 1"),
    norm_before_sum=wrong("In post-norm the sub-layer's output is normalised and then added; the norm should come after the sum.", norm_place="branch"),
    values_not_normed=wrong("In pre-norm only the query is normalised: the attention still takes its values from the token as it came.", value_input="raw"),
    **MASK_MISTAKES,
    norm_not_in_config=wrong("The rebuilt block is post-norm although the first was pre-norm: `get_config` does not hold `norm`.", config="without norm"),
    config_without_super=wrong("The rebuilt block has another name: what `super().get_config()` returns, name and dtype among it, is missing from `get_config`.", super_config=False),
    dropout_never=DROPOUT_NEVER,
    dropout_always=DROPOUT_ALWAYS,
    third_dropout=THIRD_DROPOUT,
    dropout_after_sum=wrong("Dropout comes after the sum, so it erases parts of the residual path.", drop="after the sum"),
    dropout_after_norm=wrong("In post-norm dropout comes after the norm; it belongs to the sub-layer's output, before the sum.", drop="after the norm"),
    dropout_on_input=wrong("Dropout is applied to the sub-layer's input, not to its output.", drop="on the input"),
    second_dropout_missing=wrong("The feed-forward network's output is not dropped in training: is dropout2 called, with `training=training`?", drop="only first"),
    dropout_used_twice=wrong("dropout1 is used in place of dropout2 as well.", drop="first twice"),
    keras_epsilon=wrong("The norms have Keras's default epsilon, 0.001; this exercise asks for 1e-6.", eps=0.001),
    key_dim_is_d_model=wrong("key_dim is d_model for each head; here it should be D/H.", key_dim="D"),
    heads_and_key_dim_exchanged=wrong("The attention has D/H heads of width H; it should be the other way round. num_heads is its first argument.", heads="D/H"),
    feed_forward_linear=wrong("There is no ReLU in the feed-forward network.", activation="none"),
)


exercise.hints(
    "Two halves of the same form: attention with norm1 and dropout1, the feed-forward network with norm2 and dropout2.",
    "Post-norm normalises each sum: first attention, dropout, sum, norm1; then the same with the other sub-layer.",
)
exercise.hints("Pre-norm normalises what goes into the sub-layer, and the sum takes the token as it was.", group="values_pre")
exercise.hints("Pass the mask to the attention as `attention_mask=`, whatever its shape.", group="masked")
exercise.hints("Print `block.norm1.epsilon`.", group="epsilon")
exercise.hints("Pass `training=training` to both dropouts; each takes the result of its sub-layer.", group="dropout")
exercise.hints("How wide is a head here, and how many heads are there? Print `block.count_params()` and compare with exercise 5.", group="parameters")
exercise.hints("Is everything in `call` made of `keras.ops` and layers, and are all layers made in `__init__`?", group="training")
exercise.hints("Print `block.get_config()`: which argument of `__init__` is missing?", group="reload")
