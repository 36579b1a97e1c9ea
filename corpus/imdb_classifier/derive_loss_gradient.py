"""Lab 06, exercise `derive_loss_gradient`: solutions as different students write them, right and wrong."""


def derived(
    p: str = "1 / (1 + np.exp(-np.clip(logits, -80, 80)))",
    by_logit: str = "(p - labels) / len(labels)",
    is_word: str = "ids != 0",
    share: str = "is_word / np.maximum(is_word.sum(axis=1, keepdims=True), 1)",
    by_token: str = "by_logit[:, None, None] * share[:, :, None] * head",
) -> str:
    return f"""
def derive_loss_gradient(logits, labels, ids, head):
    p = {p}
    by_logit = {by_logit}
    is_word = {is_word}
    share = {share}
    return by_logit, {by_token}
"""


CORRECT = [
    # a sigmoid of two branches
    """
def derive_loss_gradient(logits, labels, ids, head):
    e = np.exp(-np.abs(logits))
    p = np.where(logits >= 0, 1 / (1 + e), e / (1 + e))
    g = (p - labels) / len(labels)
    words = ids != 0
    n = np.maximum(words.sum(axis=1), 1)
    t = (g / n)[:, None, None] * words[..., None] * head
    return g, t
""",
    derived(),
    derived(p="np.asarray(ops.sigmoid(logits))", by_token='np.einsum("b,bt,d->btd", by_logit, share, head)'),
    derived(p="np.exp(-np.logaddexp(0, -logits.astype('float64')))"),
    derived(p="tf.sigmoid(logits).numpy()", by_logit="np.where(labels == 1, p - 1, p) / labels.shape[0]"),
    # both labels apart, the slope of the loss as minus the probability of the wrong label
    """
def derive_loss_gradient(logits, labels, ids, head):
    sign = 2 * labels - 1
    with np.errstate(over="ignore"):
        by_logit = -sign / (1 + np.exp(sign * logits)) / len(logits)
    words = (ids != 0).sum(axis=1)
    factor = np.where(words > 0, by_logit / np.where(words > 0, words, 1), 0)
    return by_logit, (ids != 0)[..., None] * factor[:, None, None] * head
""",
    # review by review, token by token
    """
def derive_loss_gradient(logits, labels, ids, head):
    by_logit = np.zeros(len(logits))
    by_token = np.zeros((*ids.shape, len(head)))
    for b, z in enumerate(logits):
        p = 1 / (1 + np.exp(-z)) if z > 0 else np.exp(z) / (1 + np.exp(z))
        by_logit[b] = (p - labels[b]) / len(logits)
        for t in range(ids.shape[1]):
            if ids[b, t] != 0:
                by_token[b, t] = by_logit[b] * head / np.sum(ids[b] != 0)
    return by_logit, by_token
""",
    # TensorFlow
    """
def derive_loss_gradient(logits, labels, ids, head):
    by_logit = (tf.sigmoid(logits) - tf.cast(labels, logits.dtype)) / len(logits)
    is_word = tf.cast(tf.not_equal(ids, 0), logits.dtype)
    share = tf.math.divide_no_nan(is_word, tf.reduce_sum(is_word, axis=1, keepdims=True))
    return by_logit, tf.einsum("b,bt,d->btd", by_logit, share, head)
""",
]  # fmt: skip

WRONG = [
    (
        "hard_decisions",
        """
def derive_loss_gradient(logits, labels, ids, head):
    logits, labels, ids, head = map(np.asarray, (logits, labels, ids, head))
    from scipy.special import expit
    p = expit(logits)
    m = (ids != 0).astype(float); n = np.maximum(m.sum(1, keepdims=True), 1); B = len(logits)
    g = ((p > 0.5) - labels.astype(float))/B
    return g, g[:,None,None] * (m/n)[...,None] * head
""",
    ),
    (
        "one_length",
        """
def derive_loss_gradient(logits, labels, ids, head):
    logits, labels, ids, head = map(np.asarray, (logits, labels, ids, head))
    from scipy.special import expit
    p = expit(logits)
    m = (ids != 0).astype(float); n = np.maximum(m.sum(1, keepdims=True), 1); B = len(logits)
    g = (p - labels)/B
    return g, g[:,None,None] * (m/n.mean())[...,None] * head
""",
    ),
    (
        "words_of_the_batch",
        """
def derive_loss_gradient(logits, labels, ids, head):
    logits, labels, ids, head = map(np.asarray, (logits, labels, ids, head))
    from scipy.special import expit
    p = expit(logits)
    m = (ids != 0).astype(float); n = np.maximum(m.sum(1, keepdims=True), 1); B = len(logits)
    g = (p - labels)/B
    return g, g[:,None,None] * (m/m.sum())[...,None] * head
""",
    ),
    (
        "empty_nan",
        """
def derive_loss_gradient(logits, labels, ids, head):
    logits, labels, ids, head = map(np.asarray, (logits, labels, ids, head))
    from scipy.special import expit
    p = expit(logits)
    m = (ids != 0).astype(float); n = m.sum(1, keepdims=True); B = len(logits)
    g = (p - labels)/B
    return g, g[:,None,None] * (m/n)[...,None] * head
""",
    ),
    (
        "empty_without_error",
        """
def derive_loss_gradient(logits, labels, ids, head):
    logits, labels, ids, head = map(np.asarray, (logits, labels, ids, head))
    from scipy.special import expit
    p = expit(logits)
    m = (ids != 0).astype(float); n = np.maximum(m.sum(1, keepdims=True), 1); B = len(logits)
    g = (p - labels)/B * (m.sum(1) > 0)
    return g, g[:,None,None] * (m/n)[...,None] * head
""",
    ),
    (
        "empty_not_counted",
        """
def derive_loss_gradient(logits, labels, ids, head):
    logits, labels, ids, head = map(np.asarray, (logits, labels, ids, head))
    from scipy.special import expit
    p = expit(logits)
    m = (ids != 0).astype(float); n = np.maximum(m.sum(1, keepdims=True), 1); B = len(logits)
    B = (m.sum(1) > 0).sum(); g = (p - labels)/B
    return g, g[:,None,None] * (m/n)[...,None] * head
""",
    ),
    (
        "batch_forgotten",
        """
def derive_loss_gradient(logits, labels, ids, head):
    logits, labels, ids, head = map(np.asarray, (logits, labels, ids, head))
    from scipy.special import expit
    p = expit(logits)
    m = (ids != 0).astype(float); n = np.maximum(m.sum(1, keepdims=True), 1); B = len(logits)
    g = (p - labels)/B
    return g, (p-labels)[:,None,None] * (m/n)[...,None] * head
""",
    ),
    # right from two words on
    (
        "",
        """
def derive_loss_gradient(logits, labels, ids, head):
    from scipy.special import expit
    g = (expit(logits) - labels) / len(labels)
    words = ids != 0
    n = np.maximum(words.sum(axis=1), 2)
    return g, (g / n)[:, None, None] * words[..., None] * head
""",
    ),
    (
        "padding_reached",
        """
def derive_loss_gradient(logits, labels, ids, head):
    from scipy.special import expit
    p = expit(logits)
    g = (p - labels) / len(labels)
    words = ids != 0
    n = np.maximum(words.sum(axis=1), 1)
    t = (g / n)[:, None, None] * np.ones(ids.shape)[..., None] * head
    return g, t
""",
    ),
    (
        "head_forgotten",
        """
def derive_loss_gradient(logits, labels, ids, head):
    from scipy.special import expit
    p = expit(logits)
    g = (p - labels) / len(labels)
    words = ids != 0
    n = np.maximum(words.sum(axis=1), 1)
    t = (g / n)[:, None, None] * words[..., None] * np.ones_like(head)
    return g, t
""",
    ),
    (
        "one_label_only",
        """
def derive_loss_gradient(logits, labels, ids, head):
    from scipy.special import expit
    p = expit(logits)
    g = labels * (p - 1) / len(labels)
    words = ids != 0
    n = np.maximum(words.sum(axis=1), 1)
    t = (g / n)[:, None, None] * words[..., None] * head
    return g, t
""",
    ),
    (
        "",
        """
def derive_loss_gradient(logits, labels, ids, head):
    from scipy.special import expit
    p = expit(logits)
    g = (p - labels) / len(labels)
    words = ids != 0
    n = words.sum()
    t = (g / n)[:, None, None] * words[..., None] * head
    return g, t
""",
    ),
    (
        "",
        """
def derive_loss_gradient(logits, labels, ids, head):
    from scipy.special import expit
    p = expit(logits)
    g = (p - labels) / len(labels)
    words = ids != 0
    n = words.sum(axis=1)
    t = (g / n)[:, None, None] * words[..., None] * head
    return g, t
""",
    ),
    (
        "",
        """
def derive_loss_gradient(logits, labels, ids, head):
    from scipy.special import expit
    p = expit(logits)
    g = (-labels / p + (1 - labels) / (1 - p)) * p * (1 - p) / len(labels)
    words = ids != 0
    n = np.maximum(words.sum(axis=1), 1)
    t = (g / n)[:, None, None] * words[..., None] * head
    return g, t
""",
    ),
    ("other_sign", derived(by_logit="(labels - p) / len(labels)")),
    ("not_averaged", derived(by_logit="p - labels")),
    ("by_probability", derived(by_logit="(p - labels) / np.maximum(p * (1 - p), 1e-30) / len(labels)")),
    ("squared_error", derived(by_logit="(p - labels) * p * (1 - p) / len(labels)")),
    ("no_sigmoid", derived(p="logits")),
    ("padding_too", derived(is_word="np.ones(ids.shape, bool)")),
    ("divided_by_length", derived(share="is_word / ids.shape[1]")),
    ("not_shared", derived(share="is_word")),
    ("averaged_twice", derived(by_token="by_logit[:, None, None] * share[:, :, None] * head / len(labels)")),
    ("logit_alone", derived(by_token="share[:, :, None] * head")),
    ("", derived(p="np.exp(logits) / (1 + np.exp(logits))")),
    ("", derived(share="is_word / is_word.sum(axis=1, keepdims=True)")),
    ("", derived(share="is_word / is_word.sum()")),
    ("", derived(is_word="ids > 1")),
    ("", derived(is_word="np.cumprod(ids != 0, axis=1).astype(bool)", share="is_word / np.maximum(is_word.sum(axis=1, keepdims=True), 2)")),
    ("", derived(by_logit="2 * (p - labels) / len(labels)")),
    ("", derived(by_logit="-labels / np.maximum(p, 1e-30) / len(labels)")),
    ("", derived(p="np.tanh(logits)")),
    ("", derived().replace("return by_logit, ", "return ")),
    ("", derived(by_token="by_logit[:, None] * share")),
    ("", derived(by_token="by_logit[:, None, None] * share[:, :, None] * np.ones_like(head)")),
    # the tape does the derivation
    ("", """
def derive_loss_gradient(logits, labels, ids, head):
    z = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(z)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(labels, z.dtype), z))
    by_logit = tape.gradient(loss, z).numpy()
    is_word = ids != 0
    share = is_word / np.maximum(is_word.sum(axis=1, keepdims=True), 1)
    return by_logit, by_logit[:, None, None] * share[:, :, None] * head
"""),
]  # fmt: skip
