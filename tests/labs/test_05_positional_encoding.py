import numpy as np
import pytest
from lab_matrix import LabTests, expectations, namespace, outcome, solution_sources
from this_course import exercises_of

from coursekit.probes.positional_encoding import weight_beyond

LAB = "05_positional_encoding"


class TestPositionalEncoding(LabTests):
    lab = LAB


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("position", [0, 3, 1009])
def test_the_relative_score_is_the_product_of_turned_vectors_wherever_they_stand(seed, position):
    """The query turned to a position, the key to one that is `offset` before it, by a matrix for each pair."""

    def turned(x, at):
        width = x.shape[-1]
        angles = at * 10_000.0 ** (-np.arange(0, width, 2) / width)
        turns = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
        return np.einsum("uvi,...iv->...iu", turns, x.astype("float64").reshape(*x.shape[:-1], -1, 2))

    for case in expectations(LAB, "derive_relative", seed):
        q, k = case.inputs["q"], case.inputs["k"]
        products = [
            (turned(q, position) * turned(k, position - offset)).sum(axis=(-2, -1)) for offset in case.inputs["offset"]
        ]
        np.testing.assert_allclose(case.expected["output"], np.stack(products, axis=-1), atol=1e-9)


def test_the_share_beyond_a_distance_is_that_of_a_softmax_over_the_biased_scores():
    scores = -0.004 * np.arange(1024)
    weights = np.exp(scores - scores.max())
    assert weight_beyond(0.004, 256) == pytest.approx((weights / weights.sum())[256:].sum())
    assert weight_beyond(0.0, 256) == pytest.approx(0.75)
    assert weight_beyond(2**-2, 8) > 0.05 > weight_beyond(0.5, 8) > 0.001  # the lecture's slopes break a constraint


def test_questions_are_answered_by_the_last_letter_at_their_distance():
    memory_task = namespace(solution_sources(LAB))["memory_task"]
    ids, answers, distances = memory_task.questions(200, length=23, farthest=17, seed=3)
    for row, answer, distance in zip(ids, answers, distances, strict=True):
        assert row[22 - distance] == answer + 2 and (row[23 - distance :] == 1).all()
    assert set(distances) == set(range(18)) and set(answers) == set(range(8))


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("sinusoidal_positions", "from coursekit.lecture.captions import waves as sinusoidal_positions"),
        ("rotary", "from coursekit.lecture.pages.parts import rotated as rotary"),
        (
            "rotary",
            "import coursekit.lecture.pages.parts\n"
            "def rotary(x, positions): return coursekit.lecture.pages.parts.rotated(x, positions)",
        ),
        (
            "SinusoidalEmbedding",
            "from coursekit.lecture.pages.post_norm import ScaledPositions\n"
            "class SinusoidalEmbedding(ScaledPositions):\n    pass",
        ),
    ],
)
def test_what_the_course_has_of_its_own_is_no_answer(name, source):
    judgement = outcome(LAB, exercises_of(LAB)[name], namespace([*solution_sources(LAB), source]))
    assert judgement.status == "forbidden" and "coursekit" in judgement.message


@pytest.mark.parametrize(
    "table",
    [
        'np.asarray(PlainPositions()(np.zeros((1, length, d_model), "float32")))[0]',
        "memory_task.wave_table(length, d_model)",
    ],
)
def test_the_tables_that_the_lab_imports_cannot_do_the_work(table):
    source = f"def sinusoidal_positions(length, d_model):\n    return {table}\n"
    names = namespace([*solution_sources(LAB), source])
    assert outcome(LAB, exercises_of(LAB)["sinusoidal_positions"], names).status == "forbidden"
