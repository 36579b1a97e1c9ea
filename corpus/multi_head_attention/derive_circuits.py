"""Lab 03, exercise `derive_circuits`: solutions as different students write them, right and wrong."""


def derived(*changes: tuple[str, str]) -> str:
    source = PLAIN
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


PLAIN = """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D, K, V = w_q.shape[0], w_q.shape[1] // num_heads, w_v.shape[1] // num_heads
    qk, ov = [], []
    for h in range(num_heads):
        q = w_q[:, h * K : (h + 1) * K]
        k = w_k[:, h * K : (h + 1) * K]
        v = w_v[:, h * V : (h + 1) * V]
        o = w_o[h * V : (h + 1) * V]
        qk.append(q @ k.T / np.sqrt(K))
        ov.append(v @ o)
    return np.array(qk), np.array(ov)
"""

HEADS = """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D, H = w_q.shape[0], num_heads
    q, k, v = (w.reshape(D, H, -1).transpose(1, 0, 2) for w in (w_q, w_k, w_v))
    o = w_o.reshape(H, -1, D)
    return q @ k.transpose(0, 2, 1) / q.shape[-1] ** 0.5, v @ o
"""


def by_heads(*changes: tuple[str, str]) -> str:
    source = HEADS
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


CORRECT = [
    PLAIN,
    HEADS,
    # einsum, the scale in the queries
    """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D = len(w_q)
    q = w_q.reshape(D, num_heads, -1)
    k = w_k.reshape(D, num_heads, -1)
    qk = np.einsum("ihk,jhk->hij", q / np.sqrt(q.shape[-1]), k)
    return qk, np.einsum("ihv,hvj->hij", w_v.reshape(D, num_heads, -1), w_o.reshape(num_heads, -1, D))
""",
    # with the lab's own functions: the kernel's rows are tokens
    """
def split_heads(x, num_heads):
    b, t, d = x.shape
    return ops.transpose(ops.reshape(x, (b, t, num_heads, d // num_heads)), (0, 2, 1, 3))

def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    q, k, v = (split_heads(ops.convert_to_tensor(w)[None], num_heads)[0] for w in (w_q, w_k, w_v))
    o = ops.transpose(split_heads(ops.transpose(ops.convert_to_tensor(w_o))[None], num_heads)[0], (0, 2, 1))
    return ops.matmul(q, ops.transpose(k, (0, 2, 1))) / q.shape[-1] ** 0.5, ops.matmul(v, o)
""",
    # heads masked out of the whole matrices
    """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    qk, ov = [], []
    K, V = w_q.shape[1] // num_heads, w_v.shape[1] // num_heads
    for h in range(num_heads):
        own_k, own_v = np.arange(w_q.shape[1]) // K == h, np.arange(w_v.shape[1]) // V == h
        qk.append((w_q * own_k) @ w_k.T * K**-0.5)
        ov.append((w_v * own_v) @ w_o)
    return np.stack(qk), np.stack(ov)
""",
    # read off: what unit vectors score and write
    """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D = w_q.shape[0]
    qk, ov = np.zeros((2, num_heads, D, D))
    K, V = w_q.shape[1] // num_heads, w_v.shape[1] // num_heads
    for h in range(num_heads):
        for i in range(D):
            ov[h, i] = w_v[i, h * V : h * V + V] @ w_o[h * V : h * V + V]
            for j in range(D):
                qk[h, i, j] = np.dot(w_q[i, h * K : h * K + K], w_k[j, h * K : h * K + K]) / K**0.5
    return qk, ov
""",
    """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D = w_q.shape[0]; H = num_heads
    q = w_q.reshape(D, H, -1); k = w_k.reshape(D, H, -1); v = w_v.reshape(D, H, -1); o = w_o.T.reshape(D, H, -1).transpose(1, 2, 0)
    qk = np.einsum("ahk,bhk->hab", q, k) / np.sqrt(q.shape[-1])
    ov = np.einsum("ahv,hvb->hab", v, o)
    return qk, ov
""",
]

WRONG = [
    ("unscaled", derived((" / np.sqrt(K)", ""))),
    ("values_scaled", derived(("v @ o)", "v @ o / np.sqrt(K))"))),
    ("scaled_twice", derived((" / np.sqrt(K)", " / K"))),
    ("width_of_all", derived((" / np.sqrt(K)", " / np.sqrt(w_q.shape[1])"))),
    ("width_over_heads", derived((" / np.sqrt(K)", " / np.sqrt(D / num_heads)"))),
    ("width_over_heads", derived((" / np.sqrt(K)", " / np.sqrt(D // num_heads)"))),
    ("width_of_values", derived((" / np.sqrt(K)", " / np.sqrt(V)"))),
    ("keys_ask", derived(("q @ k.T", "k @ q.T"))),
    ("ov_transposed", derived(("v @ o)", "(v @ o).T)"))),
    ("column_convention", derived(("q @ k.T", "q.T @ k"))),
    ("output_first", derived(("v @ o)", "o @ v)"))),
    ("columns_interleaved", by_heads((".reshape(D, H, -1).transpose(1, 0, 2)", ".reshape(D, -1, H).transpose(2, 0, 1)"))),
    ("rows_interleaved", by_heads(("w_o.reshape(H, -1, D)", "w_o.reshape(-1, H, D).transpose(1, 0, 2)"))),
    ("cut_by_reshape", by_heads((".reshape(D, H, -1).transpose(1, 0, 2)", ".reshape(H, D, -1)"))),
    ("product_of_all", "def derive_circuits(w_q, w_k, w_v, w_o, num_heads):\n    return w_q @ w_k.T / (w_q.shape[1] / num_heads) ** 0.5, w_v @ w_o\n"),
    ("", by_heads(("v @ o\n", "np.broadcast_to((v @ o).sum(0), (H, D, D))\n"))),
    # the two commonest at once
    ("", by_heads((" / q.shape[-1] ** 0.5", ""), (".reshape(D, H, -1).transpose(1, 0, 2)", ".reshape(D, -1, H).transpose(2, 0, 1)"))),
    ("", derived((" / np.sqrt(K)", " / np.sqrt(D)"))),
    ("", derived((" / np.sqrt(K)", " * np.sqrt(K)"))),
    ("", derived(("return np.array(qk), np.array(ov)", "return np.array(ov), np.array(qk)"))),
    ("", derived(("return np.array(qk), np.array(ov)", "return np.array(qk)"))),
    ("", derived(("qk.append(q @ k.T / np.sqrt(K))", "qk.append(np.exp(q @ k.T / np.sqrt(K)))"))),
    ("", derived(("ov.append(v @ o)", "ov.append(v @ v.T)"))),
    # K = V = D/H, whatever the kernels are
    ("", derived(("D, K, V = w_q.shape[0], w_q.shape[1] // num_heads, w_v.shape[1] // num_heads", "K = V = w_q.shape[0] // num_heads"))),
    ("", "def derive_circuits(w_q, w_k, w_v, w_o, num_heads):\n    pass\n"),
    ("width_of_tokens", """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D = w_q.shape[0]; H = num_heads
    q = w_q.reshape(D, H, -1); k = w_k.reshape(D, H, -1); v = w_v.reshape(D, H, -1); o = w_o.reshape(H, -1, D)
    qk = np.einsum("ahk,bhk->hab", q, k) / np.sqrt(D)
    ov = np.einsum("ahv,hvb->hab", v, o)
    return qk, ov
"""),
    ("values_cut_by_keys", """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    K = w_q.shape[1] // num_heads
    qk, ov = [], []
    for h in range(num_heads):
        s = slice(h * K, (h + 1) * K)
        qk.append(w_q[:, s] @ w_k[:, s].T / K**0.5)
        ov.append(w_v[:, s] @ w_o[s])
    return np.stack(qk), np.stack(ov)
"""),
    ("heads_cut_by_tokens", """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D = w_q.shape[0]; K = D // num_heads
    qk, ov = [], []
    for h in range(num_heads):
        s = slice(h * K, (h + 1) * K)
        qk.append(w_q[:, s] @ w_k[:, s].T / K**0.5)
        ov.append(w_v[:, s] @ w_o[s])
    return np.stack(qk), np.stack(ov)
"""),
    ("results_swapped", """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D = w_q.shape[0]; H = num_heads
    q = w_q.reshape(D, H, -1); k = w_k.reshape(D, H, -1); v = w_v.reshape(D, H, -1); o = w_o.reshape(H, -1, D)
    qk = np.einsum("ahk,bhk->hab", q, k) / np.sqrt(q.shape[-1])
    ov = np.einsum("ahv,hvb->hab", v, o)
    return ov, qk
"""),
    ("", """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D = w_q.shape[0]; H = num_heads
    q = w_q.reshape(D, -1, H).swapaxes(1, 2); k = w_k.reshape(D, -1, H).swapaxes(1, 2); v = w_v.reshape(D, H, -1); o = w_o.reshape(H, -1, D)
    qk = np.einsum("ahk,bhk->hab", q, k) / np.sqrt(q.shape[-1])
    ov = np.einsum("ahv,hvb->hab", v, o)
    return qk, ov
"""),
    ("", """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D = w_q.shape[0]; H = num_heads
    q = w_q.reshape(D, H, -1); k = w_k.reshape(D, H, -1); v = w_v.reshape(D, H, -1); o = w_o.reshape(D, H, -1).transpose(1, 2, 0)
    qk = np.einsum("ahk,bhk->hab", q, k) / np.sqrt(q.shape[-1])
    ov = np.einsum("ahv,hvb->hab", v, o)
    return qk, ov
"""),
    ("", """
def derive_circuits(w_q, w_k, w_v, w_o, num_heads):
    D = w_q.shape[0]; H = num_heads
    q = w_q.reshape(D, H, -1); k = w_k.reshape(D, H, -1); v = w_v.reshape(D, H, -1); o = w_o.reshape(H, -1, D)
    qk = np.einsum("ahk,bhk->hab", q, k) / np.sqrt(q.shape[-1])
    qk = np.exp(qk) / np.exp(qk).sum(-1, keepdims=True)
    ov = np.einsum("ahv,hvb->hab", v, o)
    return qk, ov
"""),
]  # fmt: skip
