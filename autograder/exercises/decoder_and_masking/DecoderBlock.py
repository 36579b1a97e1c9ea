"""Lab 08, exercise `DecoderBlock`."""

from typing import Any

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.decoder_and_masking.shared import weights
from autograder.exercises.drawing import normal, partial_mask
from autograder.mistaken import decoder_and_masking as mistaken
from autograder.oracles import decoder_and_masking as oracles


def _block_inputs(
    rng: Generator, *, batch: int = 2, length: int = 5, memory: int = 7, sizes: tuple[int, int, int] = (15, 3, 11), scale: float = 0.5, spread: float = 1.5, dropout: float | None = 0.3
) -> dict:
    inputs: dict[str, Any] = dict(zip(("d_model", "num_heads", "d_ff"), sizes, strict=True))
    inputs |= {} if dropout is None else {"dropout": dropout}
    return {
        **inputs,
        "x": (spread * rng.normal(size=(batch, length, sizes[0]))).astype("float32"),
        "memory": (spread * rng.normal(size=(batch, memory, sizes[0]))).astype("float32"),
        "weights": weights(rng, oracles.decoder_block_shapes(*sizes), scale),
    }


SMALL = (6, 2, 5)


exercise = Exercise(
    "DecoderBlock",
    oracle=oracles.decoder_block,
    mistaken=mistaken.decoder_block,
    by_mode={
        "training": oracles.decoder_block_training,
        "slopes": oracles.decoder_block_slopes,
        "parameters": oracles.decoder_block_parameters,
        "prefix": oracles.decoder_block_prefix,
        "dropped": oracles.left_to_chance,
    },
    probe_only=("dropout",),
)


@exercise.group("right values", points=3)
def values(rng: Generator) -> list[Case]:
    return [
        Case(_block_inputs(rng), description="x (2, 5, 15), memory (2, 7, 15), num_heads=3, d_ff=11"),
        Case(_block_inputs(rng, sizes=SMALL, batch=3, length=7, memory=5), description="x (3, 7, 6), memory (3, 5, 6), num_heads=2, d_ff=5"),
    ]


@exercise.group(
    "what stands later changes nothing", points=2, advice="The output at a position is the same whether or not later tokens follow. Which attention has to be causal?", must_fail_for=("keras_epsilon",)
)
def causal(rng: Generator) -> list[Case]:
    cases = []
    for cut in (1, 3):
        description = f"five tokens, and the first {cut if cut > 1 else 'one'} of them alone"
        cases.append(Case({**_block_inputs(rng), "cut": cut}, mode="prefix", description=description))
    return cases


@exercise.group("memory masks of shape (B, 1, S), (T, S) and (B, T, S)", points=2, advice="Keras takes these shapes as they are, if the mask is passed by its name.")
def memory_mask(rng: Generator) -> list[Case]:
    cases = []
    for shape, dtype in (((2, 1, 7), "bool"), ((5, 7), "int32"), ((2, 5, 7), "float32")):
        mask = partial_mask(rng, *shape).astype(dtype)
        cases.append(Case({**_block_inputs(rng), "memory_mask": mask}, description=f"memory_mask {shape} of {dtype}"))
    mask = partial_mask(rng, 2, 1, 7)
    mask[1] = False
    description = "memory_mask (2, 1, 7), one source is padding alone"
    return [*cases, Case({**_block_inputs(rng), "memory_mask": mask}, description=description)]


@exercise.group(
    "layer norms with epsilon 1e-6",
    points=1,
    advice="Keras's own default for epsilon is 1e-3. The contract says 1e-6, for all three norms.",
    must_pass_for=("cross_attention_causal", "feed_forward_from_first"),
)
def epsilon(rng: Generator) -> list[Case]:
    return [Case(_block_inputs(rng, scale=0.012, spread=0.01), description="tokens whose features hardly differ")]


@exercise.group(
    "dropout: in training only, on each sub-layer's output, at its rate",
    points=2,
    advice="Each sub-layer's output goes through its own dropout, then the sum. No other dropout is in the block.",
    must_fail_for=("keras_epsilon",),
)
def dropout(rng: Generator) -> list[Case]:
    erased = "each dropout set to erase a third of the features"
    many: dict[str, Any] = {"batch": 5, "length": 41, "sizes": SMALL}
    return [
        Case(_block_inputs(rng), mode="training", description=f"training=True, {erased}"),
        Case(_block_inputs(rng), mode="inference", description=f"training=False, {erased}"),
        Case(_block_inputs(rng, **many), mode="dropped", description="dropout=0.3, called with training=True and False", property="drops at its rate"),
        Case(_block_inputs(rng, **many, dropout=None), mode="dropped", description="dropout as it is by default, called with training=True and False", property="drops at its rate"),
    ]


@exercise.group("the right number of parameters", points=1)
def parameters(rng: Generator) -> list[Case]:
    description = "trainable parameters, d_model=15, num_heads=3, d_ff=11"
    return [Case(_block_inputs(rng), mode="parameters", description=description)]


@exercise.group("works inside tf.function, and gradients reach every weight", points=1)
def training(rng: Generator) -> list[Case]:
    inputs = _block_inputs(rng, sizes=SMALL, length=3, memory=4)
    inputs |= {"weighting": normal(rng, 2, 3, 6), "direction_x": normal(rng, 2, 3, 6)}
    inputs |= {"direction_memory": normal(rng, 2, 4, 6), "direction": normal(rng, len(inputs["weights"]))}
    return [
        Case(_block_inputs(rng), mode="graph", description="inside tf.function, batch size and lengths unknown"),
        Case(inputs, mode="slopes", description="gradients, compared with numerical ones"),
    ]


exercise.mistakes(
    not_causal=wrong("The self-attention sees later tokens. The block has to be causal by itself, without a mask from outside.", causal="none"),
    causal_reversed=wrong("The self-attention sees a token and what comes after it, the wrong half of the sentence.", causal="reversed"),
    causal_inverted=wrong("The causal mask is the wrong way round: a token sees only what comes after it. In Keras True means: may attend. In PyTorch True means: blocked.", causal="inverted"),
    itself_hidden=wrong("A token does not see itself. The target is shifted already: position t may see positions up to t.", causal="strict"),
    cross_attention_causal=wrong("The cross-attention is causal too. The whole source is known from the start: every target token may see all of it.", cross_mask="causal"),
    memory_mask_ignored=wrong("memory_mask changes nothing. Is it passed to the cross-attention, and by its name, `attention_mask=`?", masking="ignore"),
    memory_mask_inverted=wrong("memory_mask is read the wrong way round. Here and in Keras True means: may attend.", masking="invert"),
    cross_attends_to_itself=wrong("The cross-attention takes keys and values from the target. They should come from the memory.", cross_source="x"),
    cross_attention_first=wrong("The cross-attention comes first. The self-attention should come first, so that the queries to the source know their context.", order="cross, self"),
    cross_query_from_input=wrong("The cross-attention's query is the block's input; it should be the result of the first sub-layer.", cross_query="block input"),
    second_residual_from_input=wrong("The second sum adds the block's input again; it should add the result of the first sub-layer.", second_base="block input"),
    third_residual_from_input=wrong("The third sum adds the block's input; it should add the result of the second sub-layer.", third_base="block input"),
    third_residual_from_first=wrong("The third sum adds the result of the first sub-layer; it should add the result of the second one.", third_base="first sum"),
    feed_forward_from_input=wrong("The feed-forward network reads the block's input; it should read the result of the cross-attention's part.", feed_input="block input"),
    feed_forward_from_first=wrong("The feed-forward network reads the result of the self-attention's part; the cross-attention should come between.", feed_input="first sum"),
    no_first_residual=wrong("The residual path around the self-attention is missing.", residual=(False, True, True)),
    no_second_residual=wrong("The residual path around the cross-attention is missing.", residual=(True, False, True)),
    no_third_residual=wrong("The residual path around the feed-forward network is missing.", residual=(True, True, False)),
    no_residuals=wrong("All residual paths are missing: add each sub-layer's input to its output.", residual=(False, False, False)),
    norm_used_twice=wrong("norm2 is used in place of norm3 as well: the block should use three norms.", norms=("norm1", "norm2", "norm2")),
    one_norm_for_all=wrong("norm1 is used in all three places: the block should use three norms.", norms=("norm1", "norm1", "norm1")),
    norms_two_and_three_swapped=wrong("norm2 and norm3 are swapped: norm2 belongs to the cross-attention.", norms=("norm1", "norm3", "norm2")),
    pre_norm=wrong("The norms come before the sub-layers. This block should be post-norm: normalise each sum.", norm_place="before the sub-layer"),
    norm_before_sum=wrong("The sub-layer's output is normalised and then added; the norm should come after the sum.", norm_place="before the sum"),
    dropout_never=wrong("With `training=True` nothing is dropped: are all three dropouts called, with `training=training`?", drop="never"),
    dropout_always=wrong("Something is dropped with `training=False` too: `training` does not decide about it.", drop="always"),
    dropout_after_sum=wrong("Dropout comes after the sum, so it erases parts of the residual path.", drop="after the sum"),
    dropout_after_norm=wrong("Dropout comes after the norm; it belongs to the sub-layer's output, before the sum.", drop="after the norm"),
    dropout_on_input=wrong("Dropout is applied to the sub-layer's input, not to its output.", drop="on the input"),
    second_dropout_missing=wrong("The cross-attention's output is not dropped in training: is dropout2 called, with `training=training`?", drops=(0, -1, 2)),
    third_dropout_missing=wrong("The feed-forward network's output is not dropped in training: is dropout3 called, with `training=training`?", drops=(0, 1, -1)),
    dropout_used_three_times=wrong("dropout1 is used in place of dropout2 and dropout3 as well.", drops=(0, 0, 0)),
    keras_epsilon=wrong("The norms have Keras's default epsilon, 0.001; this exercise asks for 1e-6.", eps=0.001),
    key_dim_is_d_model=wrong("key_dim is d_model for each head; here it should be D/H.", key_dim="D"),
    feed_forward_linear=wrong("There is no ReLU in the feed-forward network.", activation="none"),
    feed_forward_gelu=wrong("The feed-forward network has a GELU, not a ReLU.", activation="gelu"),
)


exercise.hints(
    "Write three parts of the same form: self-attention with norm1 and dropout1, cross-attention with norm2 and dropout2, feed-forward network with norm3 and dropout3.",
    "Each line has the form `x = self.norm1(x + self.dropout1(…, training=training))`: what belongs in place of the dots?",
    "Where do the queries of the cross-attention come from, and where the keys? The output has one row for each target token.",
)
exercise.hints("`use_causal_mask=True` belongs to one of the two attentions.", group="causal")
exercise.hints("Pass the mask by its name: the fourth argument by position is `query_mask`.", group="memory_mask")
exercise.hints("Both attentions have H heads of `key_dim` D/H, and three norms of 2·D numbers. Compare with `block.count_params()`.", group="parameters")
exercise.hints("Search `call` for `np.` and for sizes that are fixed: inside a graph B and T are not known.", group="training")
