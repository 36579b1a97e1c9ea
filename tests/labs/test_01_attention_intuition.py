from decimal import Decimal, localcontext
from operator import mul

import numpy as np
import pytest
from lab_matrix import LabTests, expectations, namespace, solution_sources
from scipy.special import softmax

LAB = "01_attention_intuition"


class TestAttentionIntuition(LabTests):
    lab = LAB


def pooling(query, keys, values, bandwidth=1.0):
    """The text of exercise 2: weights in proportion to exp(−‖q − k‖² / 2σ²), and the mean of the values."""
    return softmax(-((query - keys) ** 2).sum(axis=-1) / (2 * bandwidth**2)) @ values


def pooling_in_decimals(query, keys, values, bandwidth):
    """The same, of lists of decimal numbers and with as many digits as the context has."""
    exponents = [-sum((q - k) ** 2 for q, k in zip(query, key, strict=True)) / (2 * bandwidth**2) for key in keys]
    kernels = [(exponent - max(exponents)).exp() for exponent in exponents]
    return [sum(map(mul, kernels, column)) / sum(kernels) for column in zip(*values, strict=True)]


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_finite_differences_in_sixty_digits(seed):
    """No float64 has a step that fits all cases: that none fits one of them is what this case is for."""

    def decimals(array):
        return [decimals(part) for part in array] if np.ndim(array) else Decimal(float(array))

    with localcontext(prec=60):
        for case in expectations(LAB, "derive_pooling_gradient", seed):
            keys, values = decimals(case.inputs["keys"]), decimals(case.inputs["values"])
            bandwidth = Decimal(float(case.inputs.get("bandwidth", 1.0)))
            step = bandwidth * Decimal(10) ** -20
            queries = np.atleast_2d(case.inputs["query"])
            for query, expected in zip(queries, np.atleast_3d(case.expected["gradient"].T).T, strict=True):
                for i in range(len(query)):
                    sides = []
                    for along in (step, -step):
                        moved = decimals(query)
                        moved[i] += along
                        sides.append(pooling_in_decimals(moved, keys, values, bandwidth))
                    slope = [float((upper - lower) / (2 * step)) for upper, lower in zip(*sides, strict=True)]
                    np.testing.assert_allclose(expected[:, i], slope, rtol=1e-9, atol=1e-9)


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
