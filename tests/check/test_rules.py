"""Rules find what may not do the work, wherever it hides, and let everything else pass."""

import gc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from measuring import cost_of, takes_at_most
from traitlets.config import Config

from coursekit.check import cells as reading
from coursekit.check import rules
from coursekit.check.cells import read_cells

FORBIDDEN = ("keras.layers.MultiHeadAttention", "keras.ops.dot_product_attention", "tensorflow.nn.softmax")


def found(*cells, name="f", **options):
    return rules.find_violations(read_cells(cells), name, **{"forbidden": FORBIDDEN, **options})


@pytest.mark.parametrize(
    "cells",
    [
        ("import keras\ndef f(): return keras.layers.MultiHeadAttention(1, 2)",),
        ("from keras import layers as L", "def f(): return L.MultiHeadAttention(1, 2)"),
        ("from keras.layers import MultiHeadAttention as M", "def f(): return M(1, 2)"),
        ("import tensorflow as tf", "def f(): return tf.keras.layers.MultiHeadAttention(1, 2)"),
        ("import tensorflow as tf", "f = lambda x: tf.nn.softmax(x)"),
        ("import keras", "helper = keras.ops.dot_product_attention", "def f(q): return helper(q, q, q)"),
        (
            "import keras",
            "def helper(): return keras.layers.MultiHeadAttention",
            "class f:\n    def call(self): helper()",
        ),
        ("import keras", "if True:\n    def f(): return keras.layers.MultiHeadAttention(1, 2)"),
        (
            "import tensorflow as tf\n%time 1\n!ls",
            "def f(x):\n    from tensorflow.nn import softmax\n    return softmax(x)",
        ),
    ],
)
def test_forbidden_names_are_found(cells):
    assert len(found(*cells)) == 1


@pytest.mark.parametrize(
    "cells",
    [
        ("import keras\ndef g(): return keras.layers.MultiHeadAttention(1, 2)\ndef f(): return 1",),
        ("def f():\n    'keras.layers.MultiHeadAttention is not used'\n    return 1",),
        ("x = [i for i in range(3)]\nscores = list(map(str, x))", "def f(x):\n    scores = x + 1\n    return scores"),
        ("def f(x): return [i for i in x]", "def f(x): return x"),
        ("def f(x:", "def f(x): return x"),
    ],
)
def test_what_is_allowed_passes(cells):
    assert found(*cells, no_loops=True) == []


@pytest.mark.parametrize(
    "cells",
    [
        ("def f(x): return [i for i in x]",),
        ("def f(x):\n    while x: x -= 1",),
        ("def slow(x):\n    for i in x: pass", "def f(x): return slow(x)"),
        ("f = lambda x: sum(i for i in x)",),
    ],
)
def test_loops_are_found(cells):
    assert len(found(*cells, no_loops=True)) == 1


@pytest.mark.parametrize(
    "cell",
    [
        "def f(x): return f(x[1:]) if len(x) else x",
        "def f(x): return np.array(list(map(abs, x)))",
        "def f(x): return np.vectorize(abs)(x)",
        "def f(x): return x\nexec('def f(x): return [abs(i) for i in x]')",
    ],
)
def test_what_loops_without_a_written_loop_is_left_to_the_sizes(cell):
    """SECURITY.md says so among the known gaps."""
    assert found("import numpy as np", cell, no_loops=True) == []


GIVEN = ("coursekit.lecture.memory_task", "coursekit.lecture.pages.positions.PlainPositions", "matplotlib.pyplot")
NOT_ALLOWED = {
    "inside Keras": "import keras\ndef f(q): return keras.src.backend.nn.dot_product_attention(q, q, q)",
    "a method inside": "from keras.src.layers import Attention as A\ndef f(q): return A()._calculate_scores(q, q)",
    "inside tf.keras": "import tensorflow as tf\ndef f(q): return tf.keras.src.ops.softmax(q)",
    "inside TensorFlow": "from tensorflow.python.ops import nn_ops as n\ndef f(q): return n.softmax(q)",
    "a file that a cell wrote": "from my_helper import softmax\ndef f(q): return softmax(q)",
    "with a star": "from keras.src.ops import *\ndef f(q): return softmax(q)",
    "Keras 2": "import tf_keras\ndef f(q): return tf_keras.activations.exponential(q)",
    "compat": "import tensorflow as tf\ndef f(q): return tf.compat.v1.gradients(q, q)",
    "raw operations": "import tensorflow as tf\ndef f(q): return tf.raw_ops.Softmax(logits=q)",
    "raw operations by another name": "import tensorflow as tf\ndef f(q):\n    t = tf\n    return t.raw_ops.Exp(q)",
    "another name": "import keras\nk = keras\ndef f(q): return k.src.ops.softmax(q)",
    "a default": "import keras\ndef f(q, k=keras): return k.src.ops.softmax(q)",
    "a loop": "import keras\ndef f(q):\n    for k in [keras]: return k.src.ops.softmax(q)",
    "imported twice": "import numpy as n\ndef f(q):\n    from keras.src import ops as n\n    return n.softmax(q)",
    "imported in vain": "from keras.src import ops as n\nif 0:\n    import math as n\ndef f(q): return n.softmax(q)",
    "glued getattr": "import keras\ndef f(q): return getattr(keras, 's' + 'rc').ops.softmax(q)",
    "vars": "import keras\ndef f(q): return vars(keras)['s' + 'rc'].ops.softmax(q)",
    "another library": "import jax\ndef f(q): return jax.nn.softmax(q)",
    "__import__": "def f(q): return __import__('tf_keras').layers.Softmax()(q)",
    "importlib": "import importlib\ndef f(q): return importlib.import_module('keras.' + 'src')",
    "sys.modules": "import sys\ndef f(q): return sys.modules['keras.' + 'src']",
    "pydoc": "from pydoc import locate\ndef f(q): return locate('keras.src.ops.softmax')(q)",
    "eval": "import builtins as b\ndef f(q): return b.eval('q')",
    "exec": "exec('import keras.src as h')\ndef f(q): return h.ops.softmax(q)",
    "globals of a function": "def f(q): return f.__globals__['keras'].src.ops.softmax(q)",
    "Keras by the course": "from coursekit import memory_task as m\ndef f(q): return m.keras.layers.Softmax()(q)",
}  # fmt: skip
OF_THE_COURSE = {
    "a function": "from coursekit.lecture.captions import waves\ndef f(q): return waves(q)",
    "a function by its short name": "from coursekit.captions import waves\ndef f(q): return waves(q)",
    "a function of the package": "import coursekit\ndef f(q): return coursekit.captions.waves(q)",
    "a function by the exercise's name": "from coursekit.lecture.captions import waves as f",
    "a method": "class f:\n    from coursekit.lecture.captions import waves as call",
    "a cell that cannot be read": "def f(q): return h(q)\nfrom coursekit.lecture.captions import waves as h\nx = "
    + "0+" * 30_000
    + "1",
    "a module": "import coursekit.lecture.pages.parts as p\ndef f(q): return p.rotated(q)",
    "the package": "import coursekit\ndef f(q): return coursekit.lecture.pages.parts.rotated(q)",
    "the package of another name": "import coursekit as c\ndef f(q):\n    d = c\n    return d.pages.parts.rotated(q)",
    "a helper": "from coursekit.lecture.pages import parts\nturn = parts.rotated\ndef f(q): return turn(q)",
    "__import__": "def f(q): return __import__('coursekit.lecture.captions').captions.waves(q)",
    "glued __import__": "def f(q): return __import__('course' + 'kit').captions.waves(q)",
    "another name of __import__": "i = __import__\ndef f(q): return i('coursekit.lecture.captions').captions.waves(q)",
    "importlib": "from importlib import import_module as i\ndef f(q): return i('coursekit.lecture.captions').waves(q)",
    "sys.modules": "import sys\ndef f(q): return sys.modules['coursekit.lecture.captions'].waves(q)",
}


@pytest.mark.parametrize("cell", [*NOT_ALLOWED.values(), *OF_THE_COURSE.values()], ids=[*NOT_ALLOWED, *OF_THE_COURSE])
def test_an_answer_with_rules_uses_public_names_and_what_the_lab_imports(cell):
    (sentence,) = found(cell, given=GIVEN)
    assert sentence.endswith(".")


@pytest.mark.parametrize("cell", OF_THE_COURSE.values(), ids=OF_THE_COURSE)
def test_no_answer_uses_the_course_but_for_what_the_lab_imports(cell):
    assert len(found(cell, forbidden=(), given=GIVEN)) == 1
    assert found(cell, forbidden=()) == []  # where nobody knows what the lab imports


def test_the_sentence_says_what_is_not_allowed_and_what_is():
    (sentence,) = found(NOT_ALLOWED["raw operations"], given=GIVEN)
    assert "`tensorflow.raw_ops.Softmax`" in sentence and "Keras by their public names" in sentence
    (sentence,) = found(OF_THE_COURSE["a function"], given=GIVEN)
    assert "`coursekit.lecture.captions.waves`" in sentence and "what the lab's own cells import" in sentence


@pytest.mark.parametrize(
    "cell",
    [
        "import keras\nfrom keras import ops\ndef f(q):\n    self = ops.exp(q)\n    return self.src + keras.config.x",
        "import tensorflow as tf\ndef f(q): return tf.keras.layers.Dense(3)(q) if tf.__version__ else tf.exp(q)",
        "import keras\nclass f(keras.Layer):\n    def __init__(self, src):\n        keras.Layer.__init__(self)\n"
        "        self.src = self._src = src",
        "import math, random, collections\nfrom functools import partial\nfrom scipy.special import expit\n"
        "from sklearn.linear_model import Ridge\ndef f(q): return partial(expit, q)(math.pi), Ridge(), random.random()",
        "from coursekit import memory_task\nimport matplotlib.pyplot as plt\n"
        "def f(q):\n    plt.plot(q)\n    return memory_task.questions(q)",
        "import coursekit\ndef f(q): return coursekit.lecture.memory_task.questions(q)",
        "from coursekit.captions import waves\nprint(waves(3))\ndef waves(q): return q\ndef f(q): return waves(q)",
        "from keras.src import ops as inner\nprint(inner)\ndef f(q): return q.inner",
        "def f(q): return getattr(q, 'sh' + 'ape')",
        "import numpy as np, tensorflow as tf\ndef f(q):\n    n = tf if q else np\n    return n.exp(q)",
        "exec('import keras.src as h')\ndef f(q): return q",
    ],
)  # fmt: skip
def test_what_is_public_or_given_passes(cell):
    assert found(cell, given=GIVEN) == []


def test_the_names_that_a_lab_imports_are_read_from_its_cells():
    cells = [
        "from coursekit import plots, start_lab as s\nimport numpy as np",
        "import tensorflow_text, matplotlib.pyplot as plt",
    ]
    found = ("coursekit.lecture.plots", "coursekit.start_lab", "matplotlib.pyplot", "tensorflow_text")
    assert rules.find_imports(cells) == found


LOOPS = {
    "for": "    rows = []\n    for row in x:\n        rows.append(row * 2)\n    return np.array(rows)",
    "while": "    i, x = 0, np.array(x)\n    while i < len(x):\n        x[i] *= 2\n        i += 1\n    return x",
    "comprehension": "    return np.array([row * 2 for row in x])",
    "generator": "    return np.array(list(row * 2 for row in x))",
    "glued getattr": "    return getattr(np, 'vector' + 'ize')(lambda v: v * 2)(x)",
    "exec": "    names = {'x': x}\n    exec('y = [row * 2 for row in x]', names)\n    return np.array(names['y'])",
    "eval": "    return np.array(eval('[row * 2 for row in x]', {'x': x}))",
    "run_cell": "    get_ipython().user_ns['given'] = x\n"
    "    get_ipython().run_cell('made = [row * 2 for row in given]')\n    return np.array(made)",
    "magic": "    y = %time [row * 2 for row in x]\n    return np.array(y)",
    "helper": "    return np.array(helper(x))",
    "helper by name": "    return np.array(globals()['hel' + 'per'](x))",
    "helper in a list": "    return np.array(helpers[0](x))",
    "numpy made to loop": "    return np.array(np.twice(x))",
}
HELPER = """import numpy as np
def helper(x):
    return [row * 2 for row in x]
np.twice = helper
helpers = []
helpers.append(helper)"""
DECORATIONS = {
    "plain": lambda text: text,
    "indented": lambda text: "\n".join(f" {line}" for line in text.splitlines()),
    "magic value": lambda text: f"w = %pwd\n{text}",
    "shell value": lambda text: f"here = !true\n{text}",
    "shell": lambda text: f"!true\n{text}",
    "help": lambda text: f"{text}\nnp.dot?",
    "more help": lambda text: f"np.exp??\n{text}",
    "semicolon": lambda text: f"{text}\n;print a b",
    "autocall": lambda text: f"{text}\n/print 1",
    "prompts": lambda text: _prompted(text, ">>> ", "... "),
    "numbered prompts": lambda text: _prompted(text, "In [1]: ", "   ...: "),
    "timed": lambda text: f"%%time\n{text}",
    "captured": lambda text: f"%%capture said\n%%time\n{text}",
    "profiled": lambda text: f"%%prun -q -l 3\n{text}",
    "in a block": lambda text: "if True:\n" + "\n".join(f"    {line}" for line in text.splitlines()),
    "twice": lambda text: f"{text}\n{text}",
    "renamed": lambda text: f"{text}\ng = f\ndef f(x):\n    return g(x)",
    "wrapped": lambda text: f"{text}\nf = (lambda g: lambda x: g(x))(f)",
    "in a class": lambda text: f"{text}\nclass K:\n    run = staticmethod(f)\nf = K().run",
    "text run": lambda text: f"get_ipython().run_cell({text!r})",
    "text executed": lambda text: f"exec({text!r}, globals())",
    "text compiled": lambda text: f"c = compile({text!r}, 'x', 'exec')\nf = type(lambda: 0)(c.co_consts[0], globals())",
    "by its name": lambda text: f"{text}\nglobals()['f' + ''] = f\ndef g(x): return x",
}
HIDING = {"text run", "text executed", "text compiled", "by its name"}
OF_THE_ANSWER = {"renamed", "wrapped", "in a class"} | HIDING


def _prompted(text, first, then):
    return "\n".join((then if line.startswith(" ") else first) + line for line in text.splitlines())


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    gc.freeze()  # each reset collects garbage; what other tests have left is not looked at each time
    yield shell
    gc.unfreeze()
    InteractiveShell.clear_instance()


seen_running = set()


@settings(max_examples=40)
@given(
    loop=st.sampled_from(sorted(LOOPS)),
    worn=st.lists(st.sampled_from(sorted(DECORATIONS)), max_size=2, unique=True),
    helped=st.sampled_from(sorted(DECORATIONS.keys() - OF_THE_ANSWER)),
)
def test_whatever_ipython_runs_a_loop_in_the_answer_is_found(shell, loop, worn, helped):
    """For the grader, which has the cells as they were handed in, and for the check, which has IPython's `In`."""
    answer = f"def f(x):\n{LOOPS[loop]}"
    for name in worn:
        answer = DECORATIONS[name](answer)
    helper = DECORATIONS[helped](HELPER)
    shell.reset()
    with warnings.catch_warnings(), capture_output():
        warnings.simplefilter("ignore")
        for cell in (helper, answer):
            shell.run_cell(cell, store_history=True)
        given = np.arange(6.0).reshape(3, 2)
        try:
            runs = np.array_equal(np.asarray(shell.user_ns["f"](given), float), given * 2)
        except Exception:
            runs = False
    if runs:
        seen_running.update((loop, *worn, helped))
        for cells in ([helper, answer], shell.user_ns["In"]):
            assert found(*cells, no_loops=True), cells


def test_every_loop_and_every_decoration_runs_in_ipython(shell):
    """What never runs would be found for nothing."""
    for loop in LOOPS:
        test_whatever_ipython_runs_a_loop_in_the_answer_is_found.hypothesis.inner_test(shell, loop, [], "plain")
    for worn in DECORATIONS:
        test_whatever_ipython_runs_a_loop_in_the_answer_is_found.hypothesis.inner_test(shell, "for", [worn], "plain")
    assert seen_running >= LOOPS.keys() | DECORATIONS.keys()


@pytest.mark.parametrize("worn", sorted(DECORATIONS.keys() - HIDING))
def test_a_decorated_answer_without_a_loop_passes(worn):
    answer = "def f(x):\n    return np.exp(x - np.add.reduce(x)) @ helper(x)"
    helper = "import numpy as np\ndef helper(x):\n    return getattr(x, 'T')"
    worn_by_helper = worn if worn not in OF_THE_ANSWER else "plain"
    assert found(DECORATIONS[worn_by_helper](helper), DECORATIONS[worn](answer), no_loops=True) == []


INNOCENT = {
    "a timing decorator": "import time\ndef timed(g):\n    def run(*a):\n        for _ in range(3): g(*a)\n"
    "    return run\n@timed\ndef slow(x): return f(x)",
    "a model that is compiled": "import keras\nmodel = keras.Sequential()\nmodel.compile(loss='mse')",
    "code that is only compiled": "def accepted(text):\n    try:\n        return bool(compile(text, 'x', 'exec'))\n"
    "    except SyntaxError:\n        return False",
    "a loop that shows": "for i in range(3):\n    print(f(i))",
    "a method of that name": "class Other:\n    def helper(self): return [i for i in self.x]",
    "a cell that is no Python": "def h(x:\n  return 1",
    "a question": "f?\nnp.dot?",
    "a shell line": "!pip list\n%matplotlib inline",
    "another language": "%%bash\nfor f in *; do echo $f; done",
    "much text": "text = '" + "word " * 39_000 + "'",
    "a deep expression": "deep = " + "+".join("0" for _ in range(9_000)),
    "a cache": "seen = {}\nimport keras\ndef g(x):\n    seen[0] = x\n    return seen[0]\n",
}


@pytest.mark.parametrize("other", INNOCENT.values(), ids=INNOCENT)
def test_cells_that_the_answer_does_not_use_cost_nothing(other):
    answer = "import numpy as np\ndef helper(x): return x.T\ndef f(x):\n    return np.exp(x @ helper(x))"
    assert found(answer, other, no_loops=True) == []
    assert found(other, answer, no_loops=True) == []


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (("def f(x): return x", "def f(x:\n  return x"), "cannot be read"),
        (("def f(x): return " + "+".join("x" for _ in range(9_000)),), "cannot be read"),
        (("def f(x): return h(x)", "h = " + "0+" * 30_000 + "1"), "cannot be read"),
        (("def f(x): return h(x)", "globals()['h'] = abs"), "No cell that can be read defines `h`"),
        (("def f(x): return h(x)", "%run helpers.py"), "No cell that can be read defines `h`"),
        (("from mine import f",), "mine.f"),
        (("from mine import h\ndef f(x): return h(x)",), "mine.h"),
        (("def f(x):\n    for i in x: pass", "f = print if False else f"), "no Python loop"),
        (("def f(x): return x", "f.__code__ = (lambda x: [i for i in x]).__code__"), "no Python loop"),
        (("import numpy as np", "def f(x): return np.dot(x)", "np.dot = lambda a: [i for i in a]"), "no Python loop"),
        (("rows = []", "rows.append(lambda x: [i for i in x])", "def f(x): return rows[0](x)"), "no Python loop"),
        (
            ("def f(x):\n    def no():\n        h = 1\n    return h(x)", "h = lambda x: [i for i in x]"),
            "no Python loop",
        ),
    ],
)
def test_what_hides_the_code_breaks_the_rule_and_says_why(cells, words):
    (sentence,) = found(*cells, no_loops=True, given=GIVEN)
    assert words in sentence
    assert sentence.endswith(".")


def test_a_name_that_is_nowhere_is_left_to_python():
    assert found("def f(x): return nq.exp(x)", no_loops=True) == []


def test_names_that_come_with_a_star_are_found():
    assert found("from keras.layers import *", "def f(): return MultiHeadAttention(1, 2)")


def test_what_stands_in_the_text_of_a_magic_is_found():
    assert found("%time f = lambda: keras.layers.MultiHeadAttention(1, 2)\nimport keras")


@pytest.mark.long
def test_the_last_cells_are_read_when_there_are_too_many():
    history = ["x = 1; " * 1000] * 40
    assert found(*history, "def f(x): return [i for i in x]", no_loops=True)
    assert found(*history, "def f(x): return x.T", no_loops=True) == []


HEAVY = {
    "statements": ["a;" * 3000 for _ in range(30)],
    "bindings": ["a=a;" * 2000 for _ in range(20)] + ["def f(x): return a"],
    "definitions": ["\n".join(f"def f{i}(x): return f{i - 1}(x), f{i // 2}(x)" for i in range(900))] * 5 + ["f = f899"],
    "magics": ["%a\n" * 70 for _ in range(500)],
    "questions": ["a?\n" * 80 for _ in range(500)],
    "a long question": ["a" * 190_000 + "!?"],
    "spaces": [" " * 190_000 + "%"] * 20,
    "quotes": ["'\n" * 9_000] * 20,
    "sums": ["0+" * 190_000 + "0"] * 20,
    "calls": ["f(" * 90 + ")" * 90] * 500,
    "lambdas": ["f = " + "lambda a: " * 90 + "a"] * 500,
    "huge cells": ["a " * 500_000] * 16,
}


@pytest.mark.long
@pytest.mark.parametrize("texts", HEAVY.values(), ids=HEAVY)
def test_no_notebook_takes_long_to_read(texts):
    with takes_at_most(5):
        found(*texts, "def f(x): return helper(x)", no_loops=True)


@pytest.mark.long
def test_the_largest_trees_take_little_memory():
    cost = cost_of(
        "rules.find_violations(read_cells(['a;' * 6000] * 50), 'f', no_loops=True)",
        "from coursekit.check import rules\nfrom coursekit.check.cells import read_cells",
    )
    assert cost.megabytes < 400
    assert cost.seconds < 10


def test_a_cell_that_is_too_large_takes_nothing_from_the_others():
    assert reading.fit_into_effort(["x = 1", "a " * 30_000, "y = 2"]) == [True, False, True]
