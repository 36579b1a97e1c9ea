"""A function that comes back to itself is found however it gets there; one that is only handed on is not."""

import pytest
from measuring import takes_at_most

from coursekit import recursion, rules
from coursekit.statements import read_cells


def found(*cells):
    return rules.violations(read_cells(["import numpy as np, functools, keras", *cells]), "f", no_loops=True)


_ENDS = "[] if i == len(x) else [x[i]]"
BY_NAME = {
    "a method": f"class S:\n    def step(self, x, i): return {_ENDS} + self.step(x, i + 1)\n"
    "def f(x): return S().step(x, 0)",
    "two methods": f"class S:\n    def a(self, x, i): return {_ENDS} + self.b(x, i)\n"
    "    def b(self, x, i): return self.a(x, i + 1)\ndef f(x): return S().a(x, 0)",
    "an object that calls itself": f"class S:\n    def __call__(self, x, i): return {_ENDS} + self(x, i + 1)\n"
    "def f(x): return S()(x, 0)",
    "call of a layer": "class L(keras.layers.Layer):\n    def call(self, x, i=0):\n"
    "        return x if i == 5 else self.call(x, i + 1)\ndef f(x): return L()(x)",
    "a layer that calls itself": "class L(keras.layers.Layer):\n    def call(self, x, i=0):\n"
    "        return x if i == 5 else self(x, i + 1)\ndef f(x): return L()(x)",
    "a property": "class S:\n    i = 0\n    @property\n    def rest(self):\n        self.i += 1\n"
    "        return [] if self.i == 5 else [self.i] + self.rest\ndef f(x): return S().rest",
    "a method with another name": f"class S:\n    def step(self, x, i): return {_ENDS} + self.again(x, i + 1)\n"
    "    again = step\ndef f(x): return S().step(x, 0)",
    "a method kept in an attribute": "class S:\n    def __init__(self): self.again = self.step\n"
    f"    def step(self, x, i): return {_ENDS} + self.again(x, i + 1)\ndef f(x): return S().step(x, 0)",
    "self under another name": f"class S:\n    def sum(self, x, i):\n        me = self\n"
    f"        return {_ENDS} + me.sum(x, i + 1)\ndef f(x): return S().sum(x, 0)",
    "a class in a function": f"def f(x):\n    class S:\n        def step(self, i): return {_ENDS} + self.step(i + 1)\n"
    "    return S().step(0)",
    "getattr": f"class S:\n    def step(self, x, i): return {_ENDS} + getattr(self, 'step')(x, i + 1)\n"
    "def f(x): return S().step(x, 0)",
    "a name set later": f"def f(x):\n    g = None\n    def h(i): return {_ENDS} + g(i + 1)\n    g = h\n    return h(0)",
    "nonlocal": f"def f(x):\n    g = None\n    def h(i):\n        nonlocal g\n        g = h\n"
    f"        return {_ENDS} + g(i + 1)\n"
    "    return h(0)",
}
HANDED = {
    "to itself": f"def go(me, x, i): return {_ENDS} + me(me, x, i + 1)\ndef f(x): return go(go, x, 0)",
    "under another name": f"def go(me, x, i): return {_ENDS} + me(me, x, i + 1)\ndef f(x):\n    again = go\n"
    "    return again(again, x, 0)",
    "in turns": f"def a(p, q, x, i): return {_ENDS} + q(p, q, x, i + 1)\ndef b(p, q, x, i): return p(q, p, x, i)\n"
    "def f(x): return a(a, b, x, 0)",
    "inside a function": f"def f(x):\n    def go(me, i): return {_ENDS} + me(me, i + 1)\n    return go(go, 0)",
    "lambdas": f"f = lambda x: (lambda s: s(s, 0))(lambda s, i: {_ENDS} + s(s, i + 1))",
    "in a tuple": f"def go(box, x, i):\n    (me,) = box\n    return {_ENDS} + me(box, x, i + 1)\n"
    "def f(x): return go((go,), x, 0)",
    "in a list": f"F = []\ndef go(x, i): return {_ENDS} + F[0](x, i + 1)\nF.append(go)\ndef f(x): return go(x, 0)",
    "taken from a list": f"F = []\ndef go(x, i):\n    m = F[0]\n    return {_ENDS} + m(x, i + 1)\nF.append(go)\n"
    "def f(x): return go(x, 0)",
    "by what a call returns": f"F = []\ndef go(x, i): return {_ENDS} + next(iter(F))(x, i + 1)\nF.append(go)\n"
    "def f(x): return go(x, 0)",
    "by a decorator": f"def fix(g): return lambda *a: g(g, *a)\n@fix\n"
    f"def go(me, x, i): return {_ENDS} + me(me, x, i + 1)\n"
    "def f(x): return go(x, 0)",
    "by partial": f"def go(me, x, i): return {_ENDS} + me(me, x, i + 1)\n"
    "def f(x): return functools.partial(go, go)(x, 0)",
    "as a method": f"class S:\n    def go(self, me, x, i): return {_ENDS} + me(me, x, i + 1)\n"
    "def f(x): return S().go(S().go, x, 0)",
    "as an object": f"def go(o, x, i): return {_ENDS} + o(o, x, i + 1)\nclass S:\n"
    "    def __call__(self, o, x, i): return go(o, x, i)\ndef f(x): return go(S(), x, 0)",
    "through an attribute": "class S:\n    def __init__(self, g): self.g = g\n    def run(self, x, i):\n"
    f"        return {_ENDS} + self.g(self, x, i + 1)\ndef go(s, x, i): return s.run(x, i)\n"
    "def f(x):\n    s = S(S.run)\n    return s.run(x, 0)",
    "through setattr": f"class S:\n    def step(self, x, i):\n        setattr(self, 'g' + '', self.step)\n"
    f"        return {_ENDS} + self.g(x, i + 1)\ndef f(x): return S().step(x, 0)",
}
HANDED["as an object with a name"] = HANDED["as an object"].replace(
    "def f(x): return go(S()", "s = S()\ndef f(x): return go(s"
)
HANDED["as an object of a function"] = HANDED["as an object"].replace("return go(S()", "s = S(); return go(s")
HANDED["by a decorator without its sign"] = (
    HANDED["by a decorator"].replace("@fix\n", "").replace("def f(x)", "go = fix(go)\ndef f(x)")
)
HANDED["as self"] = (
    f"def go(o, x, i): return o(x, i)\nclass S:\n    def __call__(self, x, i): return {_ENDS} + go(self, x, i + 1)\n"
    "def f(x): return S()(x, 0)"
)
RIGHT = {
    "sub-layers in one line": "class L(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
    "        self.q, self.k = keras.layers.Dense(4), keras.layers.Dense(4)\n"
    "    def call(self, x): return self.q(x) @ keras.ops.transpose(self.k(x))\ndef f(x): return L()(x)",
    "a layer that calls what it is given": "class A:\n    def __init__(self, score): self.score = score\n"
    "    def __call__(self, x): return np.exp(self.score(x)) @ x\nattend = A(lambda x: x @ x.T)\n"
    "def f(x): return attend(x)",
    "a softmax method that calls Keras": "class A:\n    def softmax(self, x): return keras.ops.softmax(x)\n"
    "    def run(self, x): return self.softmax(x @ x.T) @ x\ndef f(x): return A().run(x)",
    "a method with the name of an array's": "class A:\n    def mean(self, x): return x.mean(axis=-1)\n"
    "def f(x): return A().mean(x)",
    "what is kept has the method's name": "class A:\n    def __init__(self, x): self.x = x\n"
    "    def sum(self): return self.x.sum()\ndef f(x): return A(x).sum()",
    "build and call of sub-layers": "class L(keras.layers.Layer):\n    def __init__(self, **options):\n"
    "        super().__init__(**options)\n        self.q = keras.layers.Dense(4)\n"
    "    def build(self, shape):\n        self.q.build(shape)\n        super().build(shape)\n"
    "    def call(self, x): return self.q(x)\nlayer = L()\ndef f(x): return layer(x)",
    "methods that call others": "class A:\n    def scores(self, x): return x @ x.T / np.sqrt(x.shape[-1])\n"
    "    def weights(self, x):\n        e = np.exp(self.scores(x))\n        return e / e.sum(-1, keepdims=True)\n"
    "    def __call__(self, x): return self.weights(x) @ x\nf = A()",
    "a property that keeps its value": "class A:\n    def __init__(self, x):\n        self.x = x\n"
    "        self._w = None\n"
    "    @property\n    def w(self):\n        if self._w is None: self._w = np.exp(self.x @ self.x.T)\n"
    "        return self._w\ndef f(x): return A(x).w @ x",
    "a score function as argument": "def rows(score, x): return np.exp(score(x)) @ x\n"
    "def dots(x): return x @ np.swapaxes(x, -1, -2)\ndef f(x): return rows(dots, x)",
    "a local name for a library's function": "def f(x):\n    exp = np.exp\n"
    "    soft = lambda s: exp(s) / exp(s).sum(-1)\n"
    "    return soft(x @ x.T) @ x",
    "a decorator": "import time\ndef timed(g):\n    @functools.wraps(g)\n    def run(*a, **k):\n"
    "        begin = time.time()\n        y = g(*a, **k)\n        print(time.time() - begin)\n        return y\n"
    "    return run\n@timed\ndef soft(x): return np.exp(x)\n@timed\ndef f(x): return soft(x @ x.T) @ x",
    "a decorator without its sign": "def timed(g):\n    def run(*a): return g(*a)\n    return run\n"
    "def soft(x): return np.exp(x)\nsoft = timed(soft)\ndef f(x): return soft(x) @ x\nf = timed(f)",
    "wraps without its sign": "def timed(g):\n    def run(*a): return g(*a)\n    return functools.wraps(g)(run)\n"
    "f = timed(lambda x: x @ x)",
    "functions in a dictionary": "KINDS = {'dot': lambda x: x @ x.T, 'exp': np.exp}\ndef f(x): return KINDS['dot'](x)",
    "a local variable of its own result": "def f(x):\n    def scale(y): return y / 2\n    x = scale(x)\n"
    "    y = scale(x)\n"
    "    x = y + x\n    return x",
    "a parameter with a function's name": "def f(x):\n    def norm(exp): return exp / exp.sum()\n    exp = np.exp(x)\n"
    "    norm_of = norm(exp)\n    return norm_of",
}


@pytest.mark.parametrize("code", BY_NAME.values(), ids=BY_NAME)
def test_a_function_that_calls_itself_is_named(code):
    (sentence,) = found(code)
    assert "calls itself" in sentence or "may be the function itself" in sentence


@pytest.mark.parametrize("code", HANDED.values(), ids=HANDED)
def test_a_function_that_is_handed_to_itself_is_found(code):
    (sentence,) = found(code)
    assert "may be the function itself" in sentence or "calls itself" in sentence


@pytest.mark.parametrize("code", RIGHT.values(), ids=RIGHT)
def test_answers_without_recursion_pass(code):
    assert found(code) == []


def test_the_sentence_says_what_was_found_and_what_to_do():
    (by_name,) = found(BY_NAME["a method"])
    assert by_name == "`step` calls itself, which is a loop too; this exercise asks for whole-array operations."
    (handed,) = found(HANDED["to itself"])
    assert "call functions by their names" in handed


def test_a_circle_is_returned_as_a_way():
    assert recursion.find_circle({1: [2], 2: [3], 3: []}) == []
    assert set(recursion.find_circle({1: [2], 2: [1], 3: [1]})) == {1, 2}


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n" + "".join(f"    g{n} = h{n}\n    def h{n}(x): return g{n}(x)\n" for n in range(700)),
        "class S:\n" + "".join(f"    def m{n}(self, x): return self.m{n + 1}(x)\n" for n in range(1200)),
        "f = " + "(lambda a: " * 90 + "a" + ")(1)" * 90,
    ],
)
def test_a_large_cell_is_read_quickly(text):
    with takes_at_most(5):
        found(*[text] * 5)
