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
    numbers_of_bert=wrong("These are the numbers of BERT-base. The question is about the base model of the paper of 2017.", model="bert"),
    blocks_of_both_stacks=wrong("The question is about the encoder's blocks alone. The decoder has as many of its own.", model="both stacks"),
    mask_for_training_only=wrong("Nothing follows the last token, but something follows all the others, and their outputs go into the next layer.", inference="a"),
    mask_thought_turned=wrong("The last token sees everything before it with the usual causal mask. Which tokens would see more if the mask were turned round?", inference="c"),
    padding_mask_thought_enough=wrong("The padding mask hides padding. Which mask hides later words from the words before them?", inference="d"),
    softmax_thought_over_positions=wrong("At each position the model chooses between words. What has to sum to 1, then?", vocabulary="a"),
    softmax_thought_over_the_batch=wrong("The sentences of a batch have nothing to do with each other. Between what does the model choose at each position?", vocabulary="b"),
    logits_thought_probabilities=wrong("Logits are any numbers, negative ones too. What makes probabilities of them, and along which axis?", vocabulary="d"),
    untracked_thought_an_error=wrong("Keras does not complain, and the loss still falls. What does `fit` pass to the optimiser?", untracked="b"),
    untracked_thought_to_learn=wrong("`fit` changes the variables in `trainable_variables`. Is this one in that list?", untracked="c"),
    bare_variable_thought_tracked=wrong("Keras 3 tracks its own variables, which `self.add_weight` makes. A bare `tf.Variable` is none of them.", untracked="d"),
)


exercise.hints("The exercises of this lab and section “What other texts get wrong” of the lecture hold all four.")
exercise.hints("Think of the tokens before the last one: what did they see in training, and what would they see now?", group="inference")
exercise.hints("What does the model choose between at each position?", group="vocabulary")
exercise.hints("What does `layer.trainable_variables` list for such a layer?", group="untracked")
