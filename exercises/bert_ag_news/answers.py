"""Lab 07, exercise `answers`."""

from autograder.declare import Questions, seen

CHOSEN = 0.15 * 100  # tokens of a hundred; 80 % of them become [MASK]

exercise = Questions("answers", tolerance=0.0051)

exercise.question("masked", "how many become [MASK]", right=0.8 * CHOSEN)
exercise.question("decision", "who decides when to stop", right="b")
exercise.question("keras", "why tf_keras", right="c")

exercise.mistakes(
    chosen_counted=seen({"masked": CHOSEN}) | "That many are chosen. Not all of them are masked.",
    rate_forgotten=seen({"masked": 80}) | "80 % of the chosen ones, not of all.",
    kept_counted=seen({"masked": 0.1 * CHOSEN}) | "That many are kept.",
    test_decides=seen({"decision": "a"}, see="06b#three-splits")
    | "A test set that decides anything is no longer a test set.",
    training_decides=seen({"decision": "c"}, see="06#overfitting") | "The training loss falls as long as you like.",
    keras_for_speed=seen({"keras": "a"}) | "Speed is not the reason here: neither is faster.",
    keras_for_text=seen({"keras": "b"}) | "Keras 3 takes strings, too, in `TextVectorization` for example.",
)

exercise.hints(
    masked="Each takes a line on paper; the text of the exercises has all that is needed.",
    decision="A set of texts that decides something cannot measure the result any more.",
    keras="Whose layer is `hub.KerasLayer`? Lecture 07 prints what happens when two versions of Keras meet.",
)
