import numpy as np
import pytest
from lab_matrix import LabTests, namespace, outcome, solution_sources, variants
from this_course import exercises_of

from coursekit.lecture.pages.answering import advantages, policy_loss, preference_loss, reads_a_parameter
from coursekit.lecture.pages.assistant import in_rows, shape_of
from exercises.from_model_to_assistant import measure_reward

LAB = "10b_from_model_to_assistant"


class TestFromModelToAssistant(LabTests):
    lab = LAB


class Table:
    """Stands for a model: the logits of the next token depend on the last one alone."""

    def __init__(self, seed: int):
        self.logits = np.random.default_rng(seed).normal(size=(11, 11)).astype("float32")

    def __call__(self, rows):
        return self.logits[np.asarray(rows)]


def test_the_solutions_compute_what_the_lecture_computes():
    """On the first step of a batch, where every ratio is 1; its masks, its advantages, its DPO."""
    names, new, old = namespace(solution_sources(LAB)), Table(1), Table(2)
    prompts, answers = [[1, 2, 3], [4], [5, 6]], [[7, 8, 10], [9, 10], [1, 2, 3, 10]]
    rows, mask = in_rows(prompts, answers, end_id=10)
    own = np.asarray(names["answer_mask"](rows, np.array([3, 1, 2]), 10), "float32")
    np.testing.assert_array_equal(own, mask)
    rewards = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(names["group_advantages"](rewards), advantages(rewards))

    log_p, reference = (np.asarray(names["log_probabilities"](model, rows)) for model in (new, old))
    a = np.array([1.0, -0.5, 0.3], "float32")
    assert float(names["answer_loss"](new(rows), rows, mask)) == pytest.approx(-(log_p * mask).sum() / mask.sum(), 1e-5)
    of_lecture = float(policy_loss(new, old, rows, mask, a, beta=0.3))
    own_loss = float(names["clipped_policy_loss"](log_p, log_p, reference, mask, a, 0.2, 0.3))
    assert own_loss == pytest.approx(of_lecture + ((1 - log_p) * -a[:, None] * mask).sum() / mask.sum(), 1e-4)
    pair = (rows[:1], mask[:1]), (rows[2:], mask[2:])
    both = (np.stack([array[:1], array[2:]]) for array in (log_p, reference, mask))
    assert float(names["preference_loss"](*both, 0.5)) == pytest.approx(
        float(preference_loss(new, old, *pair, 0.5)), 1e-5
    )


def test_where_dpo_ends_is_the_law_that_is_derived():
    """Its slope vanishes there, if people choose by σ of the difference of the rewards."""
    names, rng = namespace(solution_sources(LAB)), np.random.default_rng(4)
    reference, rewards, beta = np.exp(rng.normal(size=5)), rng.normal(size=5), 0.7
    reference /= reference.sum()
    best = names["derive_best_policy"](reference, rewards, beta)
    first, second = (each.reshape(-1) for each in np.indices((5, 5)))
    chosen = 1 / (1 + np.exp(rewards[second] - rewards[first]))

    def expected_loss(law):
        one, two = np.log(law / reference)[first], np.log(law / reference)[second]
        return (chosen * np.logaddexp(0, -beta * (one - two))).sum()

    step = 1e-4 * np.eye(5)
    slopes = [(expected_loss(best * np.exp(nudge)) - expected_loss(best * np.exp(-nudge))) / 2e-4 for nudge in step]
    np.testing.assert_allclose(slopes, 0, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_drawn_answers_earn_and_look_alike_by_the_given_functions_too(seed):
    """The formula reads words between brackets; the lab's reward and `shape_of` parse Python."""
    exercise = exercises_of(LAB)["measure_reward"]
    assert len(
        {shape_of(body.format(p="x", a="x", b="x")) for body in map("\n    {}\n".format, measure_reward.TEMPLATES)}
    ) == len(measure_reward.TEMPLATES)
    for case in exercise.expectations(seed):
        prompts = case.inputs["prompts"]
        following = prompts[1:] + prompts[:1]
        for name, some in (("bodies_before", prompts), ("bodies_after", prompts), ("bodies_after", following)):
            bodies = case.inputs[name]
            given = [reads_a_parameter(prompt, body) for prompt, body in zip(some, bodies, strict=True)]
            assert given == measure_reward.earned(some, bodies).tolist()
        for bodies in (case.inputs["bodies_before"], case.inputs["bodies_after"]):
            assert len({*map(shape_of, bodies)}) == len({*map(measure_reward.shape, bodies)})


@pytest.mark.parametrize("errors", [1.6, 2, 3, 5])
def test_every_rule_by_standard_errors_concludes_what_is_right(errors):
    source = variants(LAB, "measure_reward").PLAIN
    names = namespace([*solution_sources(LAB), source.replace("> 3 *", f"> {errors} *")])
    for seed in (5, 6):
        assert outcome(LAB, exercises_of(LAB)["measure_reward"], names, seed).passed
