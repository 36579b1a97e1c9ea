"""Word vectors from texts alone, without labels: which words stand near which."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

WINDOW = 8  # words or pieces at most so many places apart are near


def counted(rows: tf.RaggedTensor, size: int) -> sparse.coo_matrix:
    """How often each id of `rows` (N, T of each) stands before another, at most WINDOW places away; (size, size)."""
    ids, text = rows.flat_values.numpy(), rows.value_rowids().numpy()
    pairs = sparse.csr_matrix((size, size))
    for apart in range(1, WINDOW + 1):
        same = text[:-apart] == text[apart:]
        first, second = ids[:-apart][same], ids[apart:][same]
        pairs += sparse.coo_matrix((np.ones(len(first)), (first, second)), (size, size)).tocsr()
    return pairs.tocoo()


def vectors(pairs: sparse.coo_matrix, width: int) -> np.ndarray:
    """From counts of pairs (V, V), a vector for each word, (V, width), with mean 0.

    A count becomes its positive pointwise mutual information; a singular value decomposition keeps `width` dimensions
    of it (Levy and Goldberg, 2014).
    """
    both = (pairs + pairs.T).tocoo()
    often = np.asarray(both.sum(axis=1)).ravel()
    smooth = often**0.75 / np.sum(often**0.75)  # rare contexts count for less (Levy, Goldberg and Dagan, 2015)
    information = np.log(both.data / (often[both.row] * smooth[both.col]))
    kept = information > 0
    matrix = sparse.csr_matrix((information[kept], (both.row[kept], both.col[kept])), pairs.shape)
    left, strength, _ = randomized_svd(matrix, width, n_iter=3, random_state=0)
    table = left * np.sqrt(strength)
    return table - table.mean(axis=0)
