from pathlib import Path

import numpy as np
from lab_matrix import LabTests, expectations, namespace, outcome, solution_sources, told, variants
from this_course import exercises_of

from autograder.declare.exercise import Exercise
from coursekit.check.comparison import lacking
from coursekit.lecture.pages.language_model import PlainLanguageModel
from coursekit.probes.language_model import PROBES, model_paths, parameters_and_cache

LAB = "10_language_model"
ROOT = Path(__file__).resolve().parents[2]


class TestLanguageModel(LabTests):
    lab = LAB


def test_a_hundred_measurements_of_a_process_lie_near_its_law():
    exercise, probe = exercises_of(LAB)["measure_temperature"], PROBES["measure_temperature"]
    assert isinstance(exercise, Exercise)
    names = namespace(solution_sources(LAB))
    for seed in range(100):
        (case,) = next(group.draw(rng) for group, rng in exercise.generators(seed) if group.name == "law")
        found = probe.says(case.inputs, "law", probe(names, case.inputs, "law"))
        assert lacking("shares are near their law", {**case.inputs, **case.withheld}, found) is None, seed


def test_a_measurement_far_from_the_law_is_refused():
    inputs = {"law": np.array([0.5, 0.2]), "standard_error": np.array([0.02, 0.02])}
    near, far = ({"share": np.array([0.5, share])} for share in (0.31, 0.33))
    assert lacking("shares are near their law", inputs, near) is None
    assert "`share[1]` lies 6 standard errors" in lacking("shares are near their law", inputs, far)
    assert lacking("shares are near their law", inputs, {"share": np.array([np.nan, 0.2])}) is not None


def test_the_formula_gives_the_logits_of_the_page_where_no_head_is_shared():
    exercise = exercises_of(LAB)["LanguageModel"]
    case = next(case for case in expectations(LAB, "LanguageModel") if case.inputs["num_kv_heads"] == 2)
    sizes = [case.inputs[name] for name in ("vocab_size", "d_model", "num_layers", "num_heads", "d_ff")]
    page = PlainLanguageModel(*sizes)
    page(case.inputs["ids"])
    ends, weights = 0, {}
    for path in model_paths(case.inputs):
        variable = page
        for part in path.replace("embedding.embeddings", "table").split("."):
            variable = variable[int(part)] if part.isdigit() else getattr(variable, part)
        size = int(np.prod(variable.shape))
        weights[path] = case.inputs["weights"][ends : ends + size].reshape(variable.shape)
        variable.assign(weights[path])
        ends += size
    assert ends == len(case.inputs["weights"]) and exercise.named_mistakes
    np.testing.assert_allclose(np.asarray(page(case.inputs["ids"])), case.expected["logits"], atol=1e-4)


def test_the_sizes_that_the_text_counts_are_those_of_the_model():
    names = namespace(solution_sources(LAB))
    sizes = {"d_model": 128, "num_layers": 4, "num_heads": 4, "num_kv_heads": 2, "d_ff": 344}
    model = names["LanguageModel"](512, **sizes)
    _, caches = model(np.zeros((1, 256), "int32"))
    held = sum(np.asarray(part).nbytes for cache in caches for part in cache)
    assert (model.count_params(), held) == parameters_and_cache(sizes) == (791_680, 512 * 1024)


def test_the_page_tokenizer_cannot_do_the_work():
    source = (
        "from coursekit.lecture.pages.byte_pairs import PlainBytePairs\n"
        "def train_bpe(chunks, num_merges):\n"
        "    return PlainBytePairs([chunk for chunk, n in chunks.items() for _ in range(n)], num_merges).merges\n"
    )
    names = namespace([*solution_sources(LAB), source])
    assert outcome(LAB, exercises_of(LAB)["train_bpe"], names).share == 0


def test_keys_that_are_texts_are_told():
    (source,) = [text for _, text in variants(LAB, "measure_temperature").WRONG if "result[str(temperature)]" in text]
    judgement = outcome(LAB, exercises_of(LAB)["measure_temperature"], namespace([*solution_sources(LAB), source]))
    assert "has texts as keys, such as '0." in told(judgement)
