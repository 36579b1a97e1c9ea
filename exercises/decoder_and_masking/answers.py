"""Lab 08, exercise `answers`."""

from autograder.declare import Questions, seen

exercise = Questions("answers")

exercise.question("base_model", "the base model of 2017", right=[512, 8, 2048, 6])
exercise.question("inference", "the causal mask at inference", right="b")
exercise.question("vocabulary", "the axis of the softmax", right="c")
exercise.question("untracked", "a bare variable", right="a")

exercise.mistakes(
    numbers_of_bert=seen({"base_model": [768, 12, 3072, 12]})
    | "These are the numbers of BERT-base. The question is about the base model of the paper of 2017.",
    blocks_of_both_stacks=seen({"base_model": [512, 8, 2048, 12]})
    | "The question is about the encoder's blocks alone. The decoder has as many of its own.",
    mask_for_training_only=seen({"inference": "a"}, see="08#look-ahead-mask")
    | "Nothing follows the last token, but something follows all the others, and their outputs go into the next layer.",
    mask_thought_turned=seen({"inference": "c"}, see="08#look-ahead-mask")
    | "The last token sees everything before it with the usual causal mask. Which tokens would see more if the mask "
    "were turned round?",
    padding_mask_thought_enough=seen({"inference": "d"}, see="08#look-ahead-mask")
    | "The padding mask hides padding. Which mask hides later words from the words before them?",
    softmax_thought_over_positions=seen({"vocabulary": "a"})
    | "At each position the model chooses between words. What has to sum to 1, then?",
    softmax_thought_over_the_batch=seen({"vocabulary": "b"})
    | "The sentences of a batch have nothing to do with each other. Between what does the model choose at each "
    "position?",
    logits_thought_probabilities=seen({"vocabulary": "d"})
    | "Logits are any numbers, negative ones too. What makes probabilities of them, and along which axis?",
    untracked_thought_an_error=seen({"untracked": "b"})
    | "Keras does not complain, and the loss still falls. What does `fit` pass to the optimiser?",
    untracked_thought_to_learn=seen({"untracked": "c"})
    | "`fit` changes the variables in `trainable_variables`. Is this one in that list?",
    bare_variable_thought_tracked=seen({"untracked": "d"})
    | "Keras 3 tracks its own variables, which `self.add_weight` makes. A bare `tf.Variable` is none of them.",
)

exercise.hints(
    base_model="The exercises of this lab, sections 3 and 5 of the lecture, and the last two entries of its evidence "
    "hold all four.",
    inference="Think of the tokens before the last one: what did they see in training, and what would they see now?",
    vocabulary="What does the model choose between at each position?",
    untracked="What does `layer.trainable_variables` list for such a layer?",
)
