"""Lab 03, exercise `predict`."""

from coursekit.generator import Generator

from autograder.declaring import Case, Exercise, wrong
from autograder.mistaken import multi_head_attention as mistaken
from autograder.oracles import multi_head_attention as oracles

exercise = Exercise("predict", oracle=oracles.share_of_parameters, mistaken=mistaken.share_of_parameters, reveal=False, tolerance=0.03)


@exercise.group("the share of the parameters", points=1)
def number(rng: Generator) -> list[Case]:
    return [Case({}, description="your number")]


exercise.mistakes(
    share_of_the_cache=wrong("That is the share of the cache, which holds keys and values only. Which matrices stay as they are?", thought=0.25),
    keys_and_values_gone=wrong("That counts W_Q and W_O alone. W_K and W_V are narrower, not gone.", thought=0.5),
    output_narrowed=wrong("That has only W_Q at full width. What does W_O read: the key heads, or the query heads?", thought=0.4375),
    nothing_saved=wrong("Two of the four matrices have fewer columns than before.", thought=1.0),
    saved_share=wrong("That is the share that is saved; the question asks for the share that is left.", thought=0.375),
)

exercise.hints("Write down the shapes of the four matrices, once with 8 key heads and once with 2.", "Two of the four keep their size. By which factor does each of the others shrink?")
