"""Lab 08, exercise `answers`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import decoder_and_masking as mistaken
from autograder.oracles import decoder_and_masking as oracles


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, how=f'answers["{entry}"]')]


exercise = Exercise("answers", oracle=oracles.answers, mistaken=mistaken.answers, reveal=False, tolerance=0.0051)


@exercise.group("the base model of 2017", points=1)
def base_model(rng: Generator) -> list[Case]:
    return _answer("base_model")(rng)


@exercise.group("cross-entropy and divergence by hand", points=1)
def divergence(rng: Generator) -> list[Case]:
    return _answer("divergence")(rng)


@exercise.group("two scores by hand", points=1)
def beam(rng: Generator) -> list[Case]:
    return _answer("beam")(rng)


@exercise.group("the causal mask at inference", points=1)
def inference(rng: Generator) -> list[Case]:
    return _answer("inference")(rng)


@exercise.group("the axis of the softmax", points=1)
def vocabulary(rng: Generator) -> list[Case]:
    return _answer("vocabulary")(rng)


@exercise.group("a bare variable", points=1)
def untracked(rng: Generator) -> list[Case]:
    return _answer("untracked")(rng)


exercise.mistakes(
    numbers_of_bert=wrong("These are the numbers of BERT-base. The question is about the base model of the paper of 2017.", thought="bert"),
    answered_in_bits=wrong("These are bits. The question asks for nats: natural logarithms.", thought="bits"),
    answer_swapped=wrong("p and q are swapped.", thought="swapped"),
    answer_start_counted=wrong("n counts one too many: the start id is not generated.", thought="start counted"),
    answer_divided_by_length=wrong("The sums are divided by n; the divisor is ((5 + n)/6)^length_penalty.", thought="divided by length"),
    mask_for_training_only=wrong("Nothing follows the last token, but something follows all the others, and their outputs go into the next layer.", thought="mask for training only"),
    softmax_thought_over_positions=wrong("At each position the model chooses between words. What has to sum to 1, then?", thought="softmax over positions"),
    untracked_thought_an_error=wrong("Keras does not complain, and the loss still falls. What does `fit` hand to the optimiser?", thought="error when compiled"),
)


exercise.hints("The exercises of this lab and section “What other texts get wrong” of the lecture hold all six.")
