"""Lab 04, exercise `Encoder`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.exercises.drawing import partial_mask
from autograder.exercises.encoder_block.shared import DROPOUT_ALWAYS, DROPOUT_NEVER, MASK_MISTAKES, THIRD_DROPOUT, block_inputs, draw_dropout, training, unassigned
from autograder.mistaken import encoder_block as mistaken
from autograder.oracles import encoder_block as oracles

exercise = Exercise(
    "Encoder",
    oracle=oracles.encoder,
    mistaken=mistaken.encoder,
    by_mode={"training": oracles.encoder_training, "slopes": oracles.encoder_slopes, "parameters": oracles.stack_parameters, "repeated": oracles.same_again, "dropped": oracles.left_to_chance},
    probe_only=("dropout",),
)


@exercise.group("post-norm, right values", points=1)
def values_post(rng: Generator) -> list[Case]:
    return [Case(block_inputs(rng, blocks=2), description="two blocks, x (2, 7, 15)"), Case(block_inputs(rng, "post", blocks=3, sizes=(6, 2, 5)), description='three blocks, x (2, 7, 6), norm="post"')]


@exercise.group("pre-norm with its final norm, right values", points=1, advice="A pre-norm stack ends with a layer norm (epsilon 1e-6) under the name `norm`.")
def values_pre(rng: Generator) -> list[Case]:
    inputs = block_inputs(rng, "pre", blocks=3, sizes=(6, 2, 5))
    return [Case(inputs, description='three blocks, x (2, 7, 6), norm="pre"')]


@exercise.group("the mask reaches every block", points=1, advice="With `supports_masking = True` in the block, Keras treats the mask as a padding mask, (B, T), and passes it on: leave that line out.")
def masked(rng: Generator) -> list[Case]:
    cases = []
    for shape, norm in (((7, 7), None), ((2, 7, 7), "pre"), ((2, 1, 7), None)):
        inputs = {**block_inputs(rng, norm, blocks=2), "mask": partial_mask(rng, *shape)}
        cases.append(Case(inputs, description=f"two blocks, mask {shape}, norm={norm or 'post'!r}"))
    return cases


@exercise.group("dropout: in training only, in every block, at its rate", points=1, advice="Pass `training` and the rate to every block. The stack has no dropout of its own.")
def dropout(rng: Generator) -> list[Case]:
    return draw_dropout(2, None, "pre")(rng)


@exercise.group("each block has weights of its own", points=1)
def parameters(rng: Generator) -> list[Case]:
    return [Case(unassigned(block_inputs(rng, norm, blocks=3, sizes=(6, 2, 5))), mode="parameters", description=f"trainable parameters of three blocks, norm={norm!r}") for norm in ("post", "pre")]


@exercise.group("works inside tf.function, and gradients reach every weight", points=1, name="training")
def training_cases(rng: Generator) -> list[Case]:
    return training(2)(rng)


exercise.mistakes(
    one_block_repeated=wrong("One block is used several times; each layer of the stack has weights of its own.", shared=True),
    one_block_too_many=wrong("The stack has one block more than `num_layers` says.", more_blocks=1),
    one_block_too_few=wrong("The stack has one block less than `num_layers` says.", more_blocks=-1),
    blocks_reversed=wrong("The blocks run in reverse order.", reverse=True),
    not_chained=wrong("Every block reads the stack's input; each should read the output of the block before it.", chained=False),
    final_norm_missing=wrong("The final norm of the pre-norm stack is missing.", final_norm="never"),
    final_norm_always=wrong("A post-norm stack ends in a norm already; only pre-norm gets a final one.", final_norm="always"),
    final_norm_in_the_loop=wrong("The final norm comes after every block; it should come once, after the last block.", final_norm="every block"),
    mask_in_first_block_only=wrong("The mask reaches the first block only.", mask_in="first"),
    **MASK_MISTAKES,
    dropout_never=DROPOUT_NEVER,
    dropout_always=DROPOUT_ALWAYS,
    third_dropout=THIRD_DROPOUT,
    norm_not_handed_on=wrong("The blocks are post-norm whatever `norm` says: pass it on to them.", order="post"),
)


exercise.hints(
    "`self.blocks` is a list of `num_layers` different blocks, made in `__init__`.", "`call` sends x through the blocks one after the other, with the same mask and the same `training` for each."
)
exercise.hints("What does the lecture say about the size of the tokens at the end of a pre-norm stack?", group="values_pre")
exercise.hints("Does every call of a block in your loop get the mask, by its name?", group="masked")
exercise.hints("Are `training` and the rate passed on to every block?", group="dropout")
exercise.hints("How many different blocks are in your list? `[block] * 3` holds one block three times.", group="parameters")
exercise.hints("Is every block in the list used in `call`, and every layer made in `__init__`?", group="training")
