"""Lab 06, exercise `evaluate_predictions`: solutions as different students write them, right and wrong."""

CORRECT = [
    # loops
    """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    confusion = [[0, 0], [0, 0]]
    for probability, label in zip(np.asarray(probabilities).ravel(), labels):
        confusion[int(label)][int(probability >= threshold)] += 1
    (tn, fp), (fn, tp) = confusion
    precision = tp / (tp + fp) if tp + fp > 0 else 0
    recall = tp / (tp + fn) if tp + fn > 0 else 0
    f1 = 2 * tp / (2 * tp + fp + fn) if tp > 0 else 0
    return dict(accuracy=(tp + tn) / (tn + fp + fn + tp), precision=precision, recall=recall, f1=f1, confusion=confusion)
""",
    # scikit-learn
    """
from sklearn import metrics
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said = (np.reshape(probabilities, -1) >= threshold).astype(int)
    scores = {name: getattr(metrics, f"{name}_score") for name in ("precision", "recall", "f1")}
    return {
        "accuracy": metrics.accuracy_score(labels, said),
        "confusion": metrics.confusion_matrix(labels, said, labels=[0, 1]),
        **{name: score(labels, said, zero_division=0) for name, score in scores.items()},
    }
""",
    # TensorFlow
    """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said = tf.cast(tf.reshape(tf.convert_to_tensor(probabilities), [-1]) >= threshold, tf.int32)
    confusion = tf.math.confusion_matrix(labels, said, num_classes=2)
    wide = tf.cast(confusion, tf.float64)
    tp = wide[1, 1]
    precision = tf.math.divide_no_nan(tp, tf.reduce_sum(wide[:, 1]))
    recall = tf.math.divide_no_nan(tp, tf.reduce_sum(wide[1]))
    return {
        "accuracy": tf.linalg.trace(wide) / tf.reduce_sum(wide),
        "precision": precision,
        "recall": recall,
        "f1": tf.math.divide_no_nan(2 * precision * recall, precision + recall),
        "confusion": confusion,
        "support": tf.reduce_sum(confusion, axis=1),
    }
""",
    # a histogram of two bits
    """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said = np.squeeze(np.asarray(probabilities) >= threshold).reshape(-1)
    counts = np.bincount(2 * np.asarray(labels).astype(int) + said, minlength=4).reshape(2, 2)
    with np.errstate(invalid="ignore"):
        precision, recall = np.nan_to_num(counts[1, 1] / counts[:, 1].sum()), np.nan_to_num(counts[1, 1] / counts[1].sum())
        f1 = np.nan_to_num(2 / (1 / precision + 1 / recall)) if precision and recall else 0.0
    return {"accuracy": np.mean(said == labels), "precision": precision, "recall": recall, "f1": f1, "confusion": counts}
""",
    # Keras's ops, a small class
    """
class Counts(dict):
    def ratio(self, part, *parts):
        whole = sum(self[each] for each in (part, *parts))
        return self[part] / whole if whole else 0.0

def evaluate_predictions(probabilities, labels, threshold=0.5):
    said = ops.convert_to_numpy(ops.reshape(ops.greater_equal(probabilities, threshold), (-1,)))
    pairs = list(zip(np.asarray(labels, bool).tolist(), said.tolist()))
    counts = Counts(tn=pairs.count((False, False)), fp=pairs.count((False, True)),
                    fn=pairs.count((True, False)), tp=pairs.count((True, True)))
    p, r = counts.ratio("tp", "fp"), counts.ratio("tp", "fn")
    return {"accuracy": 1 - (counts["fp"] + counts["fn"]) / len(pairs), "precision": p, "recall": r,
            "f1": 2 * p * r / (p + r) if p + r else 0, "confusion": ((counts["tn"], counts["fp"]), (counts["fn"], counts["tp"]))}
""",
]

# The measures of boolean arrays, for the wrong ones below that are wrong elsewhere.
MEASURES = """
def measures(said, true):
    tn, fp, fn, tp = (int(np.sum(each)) for each in (~said & ~true, said & ~true, ~said & true, said & true))
    share = lambda part, whole: part / whole if whole else 0.0
    precision, recall = share(tp, tp + fp), share(tp, tp + fn)
    return {"accuracy": share(tp + tn, tn + fp + fn + tp), "precision": precision, "recall": recall,
            "f1": share(2 * precision * recall, precision + recall), "confusion": [[tn, fp], [fn, tp]]}
"""

FUNCTIONS = [
    (
        "rounded",  # rounding halves to even
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said = np.round(np.ravel(probabilities)).astype(bool)
    return measures(said, np.asarray(labels) == 1)
""",
    ),
    (
        "threshold_exclusive",
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    return measures(np.ravel(probabilities) > threshold, np.asarray(labels) == 1)
""",
    ),
    (
        "column_broadcast",
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    return measures(probabilities >= threshold, np.asarray(labels) == 1)
""",
    ),
    (
        "accuracy_of_a_table",
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said, true = probabilities >= threshold, np.asarray(labels) == 1
    return {**measures(said, true), "accuracy": np.sum(said == true) / len(true)}
""",
    ),
    (
        "accuracy_is_a_count",
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said, true = np.ravel(probabilities) >= threshold, np.asarray(labels) == 1
    return {**measures(said, true), "accuracy": np.sum(said == true)}
""",
    ),
    (
        "precision_recall_swapped",
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    result = measures(np.ravel(probabilities) >= threshold, np.asarray(labels) == 1)
    return {**result, "precision": result["recall"], "recall": result["precision"]}
""",
    ),
    (
        "confusion_transposed",
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    result = measures(np.ravel(probabilities) >= threshold, np.asarray(labels) == 1)
    return {**result, "confusion": np.transpose(result["confusion"])}
""",
    ),
    (
        "f1_halved",
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    result = measures(np.ravel(probabilities) >= threshold, np.asarray(labels) == 1)
    return {**result, "f1": result["f1"] / 2}
""",
    ),
    (
        "nothing_is_nan",
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said, true = np.ravel(probabilities) >= threshold, np.asarray(labels) == 1
    tp, fp, fn = np.sum(said & true), np.sum(said & ~true), np.sum(~said & true)
    with np.errstate(all="ignore"):
        precision, recall = tp / (tp + fp), tp / (tp + fn)
        f1 = 2 * precision * recall / (precision + recall)
    return {**measures(said, true), "precision": precision, "recall": recall, "f1": f1}
""",
    ),
    (
        None,  # stops with an error instead of a zero
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said, true = np.ravel(probabilities) >= threshold, np.asarray(labels) == 1
    tp, fp = int(np.sum(said & true)), int(np.sum(said & ~true))
    return {**measures(said, true), "precision": tp / (tp + fp)}
""",
    ),
    (
        None,
        """
def evaluate_predictions(probabilities, labels, threshold=0.5):
    said, true = np.ravel(probabilities) >= threshold, np.asarray(labels) == 1
    return {"accuracy": np.mean(said == true)}
""",
    ),
]

WRONG = [(mistake, MEASURES + source) for mistake, source in FUNCTIONS]
