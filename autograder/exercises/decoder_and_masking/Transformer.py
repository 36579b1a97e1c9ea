"""Lab 08, exercise `Transformer`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.decoder_and_masking.shared import weights
from autograder.exercises.drawing import normal
from autograder.mistaken import decoder_and_masking as mistaken
from autograder.oracles import decoder_and_masking as oracles


def _model_inputs(rng: Generator, num_layers: int = 1, *, source: tuple[int, int] = (2, 7), length: int = 5, dropout: float | None = 0.3, scale: float = 0.4) -> dict:
    sizes = {"num_layers": num_layers, "d_model": 10, "num_heads": 2, "d_ff": 7, "vocab_size": 13, "max_length": 11}
    shapes = oracles.transformer_shapes(10, 2, 7, 13)
    return {
        **sizes,
        **({} if dropout is None else {"dropout": dropout}),
        "source": rng.integers(1, 13, size=source).astype("int32"),
        "target": rng.integers(1, 13, size=(source[0], length)).astype("int32"),
        "weights": weights(rng, shapes, scale, 0.6),
    }


exercise = Exercise(
    "Transformer",
    oracle=oracles.transformer,
    mistaken=mistaken.transformer,
    by_mode={
        "training": oracles.transformer_training,
        "inference": oracles.transformer_inference,
        "slopes": oracles.transformer_slopes,
        "parameters": oracles.transformer_parameters,
        "prefix": oracles.transformer_prefix,
    },
)


@exercise.group("embedding, positions and output, without any block", points=2, advice="Without blocks the logits are (E[ids]·√D + positions) Eᵀ for the target ids.")
def embedding(rng: Generator) -> list[Case]:
    return [
        Case(_model_inputs(rng, 0), description="num_layers=0: embedding, positions and output alone, target_in (2, 5)"),
        Case(_model_inputs(rng, 0, source=(3, 5), length=11), description="num_layers=0, target_in (3, 11), max_length=11"),
    ]


@exercise.group("right logits with one and two layers", points=2)
def values(rng: Generator) -> list[Case]:
    return [
        Case(_model_inputs(rng), description="one layer, source (2, 7), target_in (2, 5)"),
        Case(_model_inputs(rng, 2, source=(3, 5), length=7), description="two layers, source (3, 5), target_in (3, 7)"),
    ]


@exercise.group("padding in the source changes nothing", points=2, advice="Padding is masked twice: in the encoder's self-attention and in the decoder's cross-attention.")
def padding(rng: Generator) -> list[Case]:
    ended, everywhere, empty = (_model_inputs(rng, source=(3, 7)) for _ in range(3))
    ended["source"][0, 4:] = ended["source"][1, 2:] = 0
    everywhere["source"][0, 0] = everywhere["source"][1, 2:4] = everywhere["source"][2, 6] = 0
    everywhere["target"][0, 3:] = 0
    empty["source"][1, 5:] = empty["source"][2] = 0
    return [
        Case(ended, description="source (3, 7), two of the sentences padded"),
        Case(everywhere, description="padding in the source at other places, and at the end of target_in"),
        Case(empty, description="source (3, 7), one source is padding alone"),
    ]


@exercise.group("what stands later in the target changes nothing", points=1)
def causal(rng: Generator) -> list[Case]:
    return [Case({**_model_inputs(rng), "cut": cut}, mode="prefix", description=f"target_in of five tokens, and the first {cut} alone") for cut in (2, 4)]


@exercise.group(
    "dropout on both embeddings and in every block, in training only",
    points=2,
    advice="Every `keras.layers.Dropout` of the model gets `training` and the rate `dropout`. The attention layers have none of their own.",
)
def dropout(rng: Generator) -> list[Case]:
    erased = "every Dropout set to erase a third of the features"
    return [
        Case(_model_inputs(rng), mode="training", description=f"training=True, dropout=0.3, {erased}"),
        Case(_model_inputs(rng), mode="inference", description=f"training=False, {erased}"),
        Case(_model_inputs(rng, 0, dropout=None), mode="training", description="num_layers=0, dropout as it is by default"),
    ]


@exercise.group("one table, and blocks with weights of their own", points=1)
def parameters(rng: Generator) -> list[Case]:
    description = "trainable parameters, d_model=10, num_heads=2, d_ff=7, 13 words"
    return [Case(_model_inputs(rng, layers), mode="parameters", description=f"{description}, num_layers={layers}") for layers in (1, 2)]


@exercise.group(
    "works inside tf.function, and gradients reach every weight",
    points=1,
    advice="Inside a graph a sentence's length may be unknown. Turn the table of positions into a tensor (`ops.convert_to_tensor`), and slice it up to `ops.shape(ids)[1]`.",
)
def training(rng: Generator) -> list[Case]:
    inputs = _model_inputs(rng, source=(2, 4), length=3)
    inputs |= {"weighting": normal(rng, 2, 3, 13), "direction": normal(rng, len(inputs["weights"]))}
    return [
        Case(_model_inputs(rng), mode="graph", description="inside tf.function, batch size and lengths unknown"),
        Case(inputs, mode="slopes", description="gradients of each kind of weight, compared with numerical ones"),
    ]


exercise.mistakes(
    embedding_not_scaled=wrong("The embeddings are not multiplied by √D before positions are added.", scale="none"),
    scaled_after_positions=wrong("The positions are multiplied by √D as well: scale, then add.", scale="after"),
    embedding_divided=wrong("The embeddings are divided by √D; they should be multiplied by it.", scale="divided"),
    positions_missing=wrong("There are no positions.", positions="none"),
    positions_in_source_only=wrong("The target has no positions.", positions="source"),
    positions_in_target_only=wrong("The source has no positions.", positions="target"),
    sines_first=wrong("All sines stand before all cosines. Here sine and cosine alternate: even columns are sines, odd columns cosines.", layout="sines first"),
    positions_one_based=wrong("The first token has position 1; count from 0.", first_position=1),
    encoder_sees_padding=wrong("The encoder attends to padding: its self-attention needs the source's padding mask.", encoder_mask="none"),
    memory_padding_seen=wrong("The decoder attends to the source's padding: pass the padding mask on as memory_mask.", memory_mask="none"),
    encoder_mask_inverted=wrong("The encoder attends to the padding and to nothing else.", encoder_mask="inverted"),
    memory_mask_inverted=wrong("The decoder attends to the source's padding and to nothing else.", memory_mask="inverted"),
    encoder_causal=wrong("The encoder is causal. The source is known as a whole: its tokens see each other in both directions.", encoder_mask="causal"),
    decoder_not_causal=wrong("The decoder sees later target tokens, and training learns to copy.", causal="none"),
    memory_is_embedding=wrong("The decoder reads the source's embeddings; it should read the result of the last encoder block.", memory_from="embedding"),
    memory_from_same_block=wrong("Each decoder block reads the encoder block of the same number. All of them should read the output of the last encoder block.", memory_from="same block"),
    softmax_over_vocabulary=wrong("These are probabilities. The model returns logits; the loss and the decoding apply the softmax.", logits="softmax"),
    softmax_over_positions=wrong(
        "The columns sum to 1: a softmax over the positions. A prediction is a distribution over the vocabulary, and the model returns logits.", logits="softmax over positions"
    ),
    log_probabilities=wrong("These are log-probabilities. The model returns the logits.", logits="log softmax"),
    logits_scaled=wrong("The logits are divided by √D. Only the embedding is scaled.", logits="scaled"),
    keras_epsilon=wrong("The norms have Keras's default epsilon, 0.001; this exercise asks for 1e-6.", eps=0.001),
    pre_norm=wrong("The blocks are pre-norm; this model should be post-norm.", norm_place="before the sub-layer"),
    dropout_never=wrong("With `training=True` nothing is dropped: does `training` reach the blocks?", drop="never"),
    dropout_always=wrong("Something is dropped with `training=False` too: `training` does not decide about it.", drop="always"),
    embedding_not_dropped=wrong("The sums of embedding and position are not dropped in training.", drop="not on embeddings"),
    attention_dropped_too=wrong("The attention layers have a dropout of their own, on their weights. Here they should have none.", drop="attention too"),
    rate_not_handed_on=wrong("The dropout rate is 0.1 whatever `dropout` says: pass it on.", rate=0.1),
    table_not_shared=wrong("V·D numbers too many: there is a second table. Source, target and output share one embedding.", tables=2),
    three_tables=wrong("2·V·D numbers too many: there are three tables. Source, target and output share one embedding.", tables=3),
    output_bias=wrong("V numbers too many: the output has a bias. The logits are x Eᵀ alone.", output_bias=True),
    embedding_not_tracked=wrong("V·D numbers are missing: Keras does not know the embedding. A bare `tf.Variable` on a layer is not tracked.", tracked=False),
    positions_learned=wrong("max_length·D numbers too many: are the positions learned? Here they are fixed sine and cosine waves.", learned_positions=True),
    one_block_repeated=wrong("One block is used several times; each layer of a stack has weights of its own.", shared_blocks=True),
    key_dim_is_d_model=wrong("key_dim is d_model for each head; here it should be D/H.", key_dim="D"),
)


exercise.hints(
    "Begin with both ends: first write the embedding and the logits, with no block between. The first group of the check needs no more.",
    "The table of a `keras.layers.Embedding` is its attribute `embeddings`, (V, D), once it is built: calling the layer builds it.",
)
exercise.hints(
    "An encoder block is a decoder block without its middle sub-layer; its self-attention looks both ways.",
    "All decoder blocks read the same memory: the output of the last encoder block.",
    group="values",
)
exercise.hints("The mask is made from the source's ids, by your `padding_mask`, and goes to every encoder and every decoder block.", group="padding")
exercise.hints('Does check("DecoderBlock") pass? Then look at what else you pass to the blocks.', group="causal")
exercise.hints("One table serves three times. Each block is made by a call of its class of its own.", group="parameters")
