"""A control for lecture 7: LSA whose vectors come from the labelled texts alone.

    python experiments/lsa_controls.py --data FOLDER

The labelled texts, the classifier and the test texts are those of `bert_ag_news.py`; only the texts on which the
vectors are fitted differ.
"""

from __future__ import annotations

import time

import numpy as np
import typer
from bert_ag_news import LSA_WIDTH, on_vectors
from records import Data, Out, Record
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from coursekit import data
from coursekit.lecture import recorded

NAME = "lsa_controls"
SEEDS = (0, 1, 2)
SIZES = (100, 500, 2_000)


def labelled_only(train: np.ndarray, labels: np.ndarray, test: list[str], test_labels: np.ndarray) -> float:
    """Test accuracy of a linear model on LSA vectors that are fitted on its own labelled texts."""
    reduced = TruncatedSVD(min(LSA_WIDTH, len(train) - 1), random_state=0)
    lsa = make_pipeline(TfidfVectorizer(sublinear_tf=True), reduced, Normalizer())
    model = on_vectors(lsa.fit_transform(train), labels)
    return round(float(model.score(lsa.transform(test), test_labels)), 4)


def main(folder: Data, out: Out = recorded.FOLDER) -> None:
    """Three sizes, three seeds; other labelled texts for each seed."""
    (texts, labels), (test, test_labels) = data.news(source="real", path=folder)
    texts, begun, results = np.array(texts, dtype=object), time.process_time(), {}
    for size in SIZES:
        chosen = [np.random.default_rng(seed).permutation(len(labels))[:size] for seed in SEEDS]
        results[str(size)] = [labelled_only(texts[rows], labels[rows], test, test_labels) for rows in chosen]
        print(size, results[str(size)], flush=True)
    record = Record(
        NAME,
        "LSA on AG News, its vectors fitted on the labelled texts alone, by number of labels",
        f"AG News (Zhang et al., 2015): {len(labels):,} of the 120,000 training texts, all 7,600 test texts",
        out,
        command=f"python experiments/{NAME}.py --data FOLDER",
    )
    record.results = results
    record.save(time.process_time() - begun)


if __name__ == "__main__":
    typer.run(main)
