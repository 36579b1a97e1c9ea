import numpy as np
import pytest
from lab_matrix import LabTests, expectations, namespace, solution_sources
from scipy.special import softmax
from this_course import exercises_of

LAB = "01_attention_intuition"


class TestAttentionIntuition(LabTests):
    lab = LAB


@pytest.mark.parametrize("name", ["derive_pooling_gradient", "measure_bandwidth"])
def test_a_mistake_fails_with_every_seed(name):
    for mistake in exercises_of(LAB)[name].named_mistakes:
        for seed in range(8):
            assert any((mistake,) in case.wrong for case in expectations(LAB, name, seed)), f"{mistake}, seed {seed}"


def pooling(query, keys, values, bandwidth=1.0):
    """The text of exercise 2: weights in proportion to exp(−‖q − k‖² / 2σ²), and the mean of the values."""
    return softmax(-((query - keys) ** 2).sum(axis=-1) / (2 * bandwidth**2)) @ values


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_finite_differences(seed):
    for case in expectations(LAB, "derive_pooling_gradient", seed):
        given = {key: value.astype("float64") if np.ndim(value) else value for key, value in case.inputs.items()}
        queries, step = np.atleast_2d(given.pop("query")), 1e-5 * given.get("bandwidth", 1.0)
        for query, expected in zip(queries, np.atleast_3d(case.expected["gradient"].T).T, strict=True):
            for i, along in enumerate(step * np.eye(len(query))):
                slope = (pooling(query + along, **given) - pooling(query - along, **given)) / (2 * step)
                np.testing.assert_allclose(expected[:, i], slope, rtol=1e-6, atol=1e-6)


def test_the_students_pooling_has_this_gradient():
    names = namespace(solution_sources(LAB))
    for case in expectations(LAB, "derive_pooling_gradient"):
        if case.inputs["query"].ndim == 1:
            output, _ = names["attention_pooling"](**case.inputs)
            given = {key: value.astype("float64") if np.ndim(value) else value for key, value in case.inputs.items()}
            np.testing.assert_allclose(output, pooling(**given), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_leave_one_out_is_what_pooling_without_the_point_gives(seed):
    for case in expectations(LAB, "measure_bandwidth", seed):
        x, y, bandwidths = (case.inputs[name].astype("float64") for name in ("x", "y", "bandwidths"))
        others = [np.delete(np.arange(len(x)), i) for i in range(len(x))]
        if "errors" in case.expected:
            found = [
                np.mean([(pooling(x[i], x[rest], y[rest], width) - y[i]) ** 2 for i, rest in enumerate(others)])
                for width in bandwidths
            ]
            np.testing.assert_allclose(case.expected["errors"], found, rtol=1e-9)
        if "base_rate" in case.expected:
            by_others = np.mean([(y[rest].mean() - y[i]) ** 2 for i, rest in enumerate(others)])
            assert case.expected["base_rate"] == pytest.approx(by_others)
