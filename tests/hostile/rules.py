"""Ways around the rules of an exercise, and expressions too deep to be read for them."""

from __future__ import annotations

from textwrap import dedent

from hostile.kinds import attack
from hostile.making import LOOPS, Hostile, answered, made, right_answers

_BUILT_IN = """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.inner = {layer}(num_heads=1, key_dim=d_k, value_dim=d_v)

    def call(self, x, attention_mask=None, return_weights=False):
        return self.inner(x, x, attention_mask=attention_mask, return_attention_scores=return_weights)
"""
_BUILT_IN_FUNCTION = """
{found}


def self_attention_loops(x):
    x = ops.convert_to_tensor(x)
    return {call}(x[None, :, None], x[None, :, None], x[None, :, None])[0, :, 0]
"""


def _forbidden_layer(
    name: str, what: str, before: str, layer: str, status: str | tuple[str, ...] = "forbidden"
) -> Hostile:
    code = before + _BUILT_IN.format(layer=layer)
    return Hostile(name, what, made(answered(SelfAttention=code.strip())), {"SelfAttention": status})


def _forbidden_function(name: str, what: str, found: str, call: str) -> Hostile:
    return attack(name, what, _BUILT_IN_FUNCTION.format(found=found, call=call), "forbidden")


def _forbidden_loop(name: str, what: str, code: str) -> Hostile:
    return Hostile(name, what, made(answered(self_attention_matrix=dedent(code).strip())),
                   {"self_attention_matrix": "forbidden"})  # fmt: skip


_TOKEN = """
def one(x, t):
    scores = x[t] @ x.T / x.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max())
    return powers / powers.sum() @ x
"""

RULES = [
    _forbidden_layer("built-in-alias", "the built-in layer under another name",
                     "from keras.layers import MultiHeadAttention as Dense2\n", "Dense2"),
    _forbidden_layer("built-in-getattr", "the built-in layer by getattr and glued text",
                     "made = getattr(keras.layers, 'Multi' + 'Head' + 'Attention')\n", "made"),
    _forbidden_layer("built-in-importlib", "the built-in layer from Keras' insides",
                     "import importlib\nmade = vars(importlib.import_module('keras.src.layers.attention.multi_head_'\n"
                     "    'attention'))['Multi' 'HeadAttention']\n", "made"),
    _forbidden_layer("built-in-subclass", "a class derived from the built-in layer",
                     "class Mine(vars(keras.layers)['MultiHead' 'Attention']):\n    pass\n\n", "Mine"),
    _forbidden_layer("built-in-config", "the built-in layer from its name",
                     "def made(**keywords):\n    return keras.layers.deserialize(\n"
                     "        {'class_name': 'Multi' + 'HeadAttention', 'config': keywords})\n", "made",
                     ("forbidden", "error")),
    _forbidden_function("built-in-function", "the built-in function, kept before the tests begin",
                        "kept = getattr(ops, 'dot_product_' + 'attention')", "kept"),
    _forbidden_loop("loop-in-text", "a loop in a text that is executed", f"""
{_TOKEN}
def self_attention_matrix(x):
    x = np.asarray(x)
    shape, rows = x.shape, x.reshape(-1, *x.shape[-2:])
    box = {{}}
    exec("out = [[one(x, t) for t in range(len(x))] for x in rows]", {{"rows": rows, "one": one}}, box)
    return np.asarray(box["out"], x.dtype).reshape(shape)
"""),
    Hostile("loop-in-map", "a loop hidden in map, which is not looked for", made(answered(self_attention_matrix=f"""
{_TOKEN}
def self_attention_matrix(x):
    x = np.asarray(x)
    rows = x.reshape(-1, *x.shape[-2:])
    def sequence(r):
        return np.stack(list(map(lambda t: one(r, t), range(r.shape[0]))))
    return np.stack(list(map(sequence, rows))).reshape(x.shape).astype(x.dtype)
""".strip()))),
]  # fmt: skip

_MATRIX = "self_attention_matrix"
_LOOPED = (
    right_answers()[LOOPS].replace(LOOPS, "_one")
    + """


def self_attention_matrix(x):
    x = np.asarray(x)
    return _one(x) if x.ndim == 2 else np.stack([self_attention_matrix(each) for each in x])
"""
)
_UNREAD = {
    "indented": "\n".join(f" {line}" for line in _LOOPED.splitlines()),
    "shell-value": f"here = !pwd\n{_LOOPED}",
    "magic-value": f"w = %pwd\n{_LOOPED}",
    "help": f"{_LOOPED}\nnp.dot?",
    "autocall": f"{_LOOPED}\n/print 1",
    "timed": f"%%time\n{_LOOPED}",
}
_RUN_AS_TEXT = f"def {_MATRIX}(x): pass\nget_ipython().run_cell({_LOOPED!r})"
LOOPING: tuple[Hostile, ...] = (
    *(
        Hostile(f"loop-{name}", "loops where none are allowed", made(answered(**{_MATRIX: code})),
                {_MATRIX: "forbidden"})
        for name, code in _UNREAD.items()
    ),
    Hostile("loop-run-cell", "an answer with loops that a cell runs as text, which is not looked for",
            made(answered(**{_MATRIX: _RUN_AS_TEXT}))),
)  # fmt: skip
DEEP: tuple[Hostile, ...] = tuple(
    Hostile(f"deep-{name}", "an answer in a deep expression", made(answered(**{LOOPS: f"deep = {text}\n{right}"})))
    for right in [right_answers()[LOOPS]]
    for name, text in {
        "sum": "0" + "+0" * 500, "attributes": "np.zeros(1)" + ".T" * 400, "calls": "abs(" * 90 + "0" + ")" * 90,
    }.items()
)  # fmt: skip
