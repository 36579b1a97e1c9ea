import keras
import numpy as np
import pytest
from lab_matrix import LabTests, expectations, namespace, solution_sources

from coursekit.lecture import looking
from coursekit.lecture.digit_images import moved

LAB = "09_vision_transformer"


class TestVisionTransformer(LabTests):
    lab = LAB


def convolved(signals, kernel_size, stride, dilation):
    """A convolution of ones over (n, width)."""
    window = [signals[:, start : signals.shape[1] - (kernel_size - 1 - i) * dilation] for i, start in
              enumerate(range(0, kernel_size * dilation, dilation))]  # fmt: skip
    return sum(window)[:, ::stride]


@pytest.mark.parametrize("seed", range(5))
def test_the_receptive_field_is_what_convolutions_of_ones_see(seed):
    """One-hot images: an output of the last layer is not 0 where the one that is 1 can change it."""
    cases = [case for case in expectations(LAB, "derive_receptive_field", seed) if len(case.inputs["strides"]) < 6]
    assert len(cases) > 4
    for case in cases:
        sizes, steps = case.expected["sizes"], case.expected["steps"]
        signals = np.eye(int(sizes.max() + steps.max()), dtype="int64")
        for layer, (size, step) in enumerate(zip(sizes, steps, strict=True)):
            signals = convolved(signals, *(int(case.inputs[name][layer]) for name in case.inputs))
            first, second = (np.flatnonzero(signals[:, output]) for output in (0, 1))
            assert first[-1] - first[0] + 1 == size and second[0] - first[0] == step


@pytest.fixture(scope="module")
def small_vit():
    names = namespace(solution_sources(LAB))
    keras.utils.set_random_seed(3)
    model = names["build_vit"]((8, 8, 1), 2, 10, num_layers=2, d_model=12, num_heads=3, d_ff=20)
    table = looking.position_table(model)
    table.assign(np.random.default_rng(3).normal(size=table.shape))
    return names, model


def test_the_weights_that_are_watched_are_those_of_the_layers_and_the_model_is_as_before(small_vit):
    _, model = small_vit
    images = np.random.default_rng(1).random((3, 8, 8, 1)).astype("float32")
    before = np.asarray(model(images))
    weights = looking.attention_weights(model, images)
    assert weights.shape == (2, 3, 3, 17, 17)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_array_equal(np.asarray(model(images)), before)
    attentions = [layer for layer in model._flatten_layers() if isinstance(layer, keras.layers.MultiHeadAttention)]
    assert len(attentions) == 2 and not any("call" in vars(layer) for layer in attentions)
    tokens = next(layer for layer in model.layers if hasattr(layer, "position_embedding"))(images)
    norm = next(layer for layer in model.layers if isinstance(layer, keras.layers.LayerNormalization))(tokens)
    np.testing.assert_allclose(attentions[0](norm, norm, return_attention_scores=True)[1], weights[0], atol=1e-5)


def test_a_model_is_as_before_when_its_call_fails(small_vit):
    _, model = small_vit
    with pytest.raises(Exception, match="shape"):
        looking.attention_weights(model, np.zeros((1, 5, 5, 1), "float32"))
    assert not any("call" in vars(layer) for layer in model._flatten_layers())


@pytest.mark.parametrize("steps", [-2, -1, 1])
def test_rows_that_go_along_predict_as_if_only_the_ink_were_lost(small_vit, steps):
    names, model = small_vit
    images = np.random.default_rng(2).random((40, 8, 8, 1)).astype("float32")
    there = looking._shifted(images, 2 * steps)
    if abs(steps) == 1:
        np.testing.assert_array_equal(there, moved(images, 0, 2 * steps))
    back = looking._shifted(there, -2 * steps)
    table = np.asarray(looking.position_table(model))
    still = looking.predict_with_rows(model, back, 0)
    np.testing.assert_array_equal(looking.predict_with_rows(model, there, steps), still)
    np.testing.assert_array_equal(np.asarray(looking.position_table(model)), table)

    def predict(given, rows):
        return looking.predict_with_rows(model, given, rows)

    found = names["measure_shift"](predict, images, still, [2 * steps, 1], 2)
    assert found[2 * steps][3] == 1 and found[1][3] is None


def test_the_pictures_of_the_lab_are_drawn():
    rng = np.random.default_rng(0)
    images = rng.random((3, 8, 8, 1))
    assert len(looking.digits_above_maps(images, rng.random((3, 4, 4)), titles="abc", equal=0.1).axes) == 7
    assert len(looking.digit_and_patches(images[0], rng.random((16, 4))).get_axes()) == 17
    found = {shift: (0.5, -0.2, 0.01, 0.4 if shift % 2 == 0 else None) for shift in range(-4, 5)}
    figure = looking.shift_figure(found, lambda given, rows: np.zeros(len(given), int), images[0], 7, 2)
    assert [ax.get_title() for ax in figure.axes[:5]][2] == "a 7: says 0"
