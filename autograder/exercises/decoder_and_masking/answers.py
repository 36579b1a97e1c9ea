"""Lab 08, exercise `answers`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import decoder_and_masking as mistaken
from autograder.oracles import decoder_and_masking as oracles


def _answer(entry: str):
    return lambda rng: [Case({"entry": entry}, description=f'answers["{entry}"]')]


exercise = Exercise("answers", oracle=oracles.answers, mistaken=mistaken.answers, reveal=False)


@exercise.group("the base model of 2017", points=1)
def base_model(rng: Generator) -> list[Case]:
    return _answer("base_model")(rng)


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
    mask_for_training_only=wrong("Nothing follows the last token, but something follows all the others, and their outputs go into the next layer.", thought="mask for training only"),
    softmax_thought_over_positions=wrong("At each position the model chooses between words. What has to sum to 1, then?", thought="softmax over positions"),
    untracked_thought_an_error=wrong("Keras does not complain, and the loss still falls. What does `fit` pass to the optimiser?", thought="error when compiled"),
)


exercise.hints("The exercises of this lab and section “What other texts get wrong” of the lecture hold all four.")
exercise.hints("Think of the tokens before the last one: what did they see in training, and what would they see now?", group="inference")
exercise.hints("What does the model choose between at each position?", group="vocabulary")
exercise.hints("What does `layer.trainable_variables` list for such a layer?", group="untracked")
