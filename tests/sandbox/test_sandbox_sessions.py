"""What everyday code does in the sandbox works, alone and beside others."""

import threading
import time

import numpy as np
import pytest
from measuring import slowness
from tight_sandbox import Q, drive, output

from autograder.sandbox import Limits, Sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


def test_cells_share_a_namespace_and_report_what_they_raise(session):
    assert output(session, "x = 6\nprint(x * 7, __name__)") == "42 __main__"
    error = session.run_cell("def f():\n    return 1 / 0\nf()").error
    assert (error.type, error.message) == ("ZeroDivisionError", "division by zero")
    assert "line 2, in f" in error.traceback and "runner.py" not in error.traceback
    assert session.run_cell("def broken(:").error.type == "SyntaxError"
    assert output(session, "print(x)") == "6"


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline",
        "%%time\nsum(range(9))",
        "%timeit -n1 -r1 pass",
        "!echo hello",
        "files = !ls",
        "%pip --version",
        "?print",
        "await __import__('asyncio').sleep(0)",
        "display({'a': 1})",
        "exit",
        "get_ipython().run_line_magic('pwd', '')",
        "import subprocess; subprocess.run(['true'], check=True)",
        "import tempfile; tempfile.TemporaryFile().write(b'x')",
        "import multiprocessing as m; p = m.Pool(2); p.map(abs, [1]); p.terminate()",
        "def g(): pass\nimport inspect; assert inspect.getsource(g) == 'def g(): pass\\n'",
    ],
)
def test_everyday_cells_run(session, source):
    assert session.run_cell(source, cpu_seconds=20).error is None


def test_a_function_is_driven_and_its_raw_outputs_come_back(session):
    session.run_cell(
        "import numpy as np\n"
        "def scaled_dot_product_attention(q, k, v, mask=None):\n"
        "    return q @ k.T, [np.float64(1), (2, 'three'), {'four': np.arange(4)}, None, True, b'five']"
    )
    outputs = drive(session, "scaled_dot_product_attention", {"q": Q, "k": Q, "v": Q}).outputs
    assert outputs["output"].dtype == np.float32 and outputs["output"].shape == (3, 3)
    first, second, third, *rest = outputs["weights"]
    assert first == 1.0 and first.dtype == np.float64 and second == [2, "three"] and rest == [None, True, "five"]
    assert third["four"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("missing", None),
        ("missing", 'raise NotImplementedError("Write your code here")'),
        ("error", "raise NotImplementedError"),
        ("contract", "return None"),
        ("contract", "return q, object()"),
        ("contract", "return q, q.astype('complex64')"),
        ("contract", "return q, np.zeros(10 ** 6)"),
        ("forbidden", "return np.matmul(q, k.T), v"),
        ("error", "return q @ k, v"),
        ("error", "raise SystemExit"),
        ("error", "raise KeyboardInterrupt"),
        ("error", "return (lambda f: f(f))(lambda f: f(f))"),
    ],
)
def test_a_failure_says_of_which_kind_it_is(session, kind, body):
    if body:
        session.run_cell(f"import numpy as np\ndef scaled_dot_product_attention(q, k, v, mask=None):\n    {body}")
    reply = drive(session, "scaled_dot_product_attention", {"q": Q, "k": Q, "v": Q}, forbidden=["numpy.matmul"])
    assert reply.outputs is None
    assert reply.failure.kind == kind, reply.failure


def test_probes_do_not_depend_on_the_random_numbers_drawn_before(session):
    session.run_cell("import numpy as np\ndef self_attention_loops(x):\n    return x + np.random.normal(size=x.shape)")
    first, second = (drive(session, "self_attention_loops", {"x": Q}).outputs["output"] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_time_is_the_submissions_own(session):
    started = time.monotonic()
    waiting = session.run_cell("import time; time.sleep(0.5)")
    assert time.monotonic() - started > 0.5 > 0.2 > waiting.seconds
    working = session.run_cell("while time.process_time() < 0.4: pass")
    assert 0.2 < working.seconds < 1
    child = session.run_cell(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-S', '-c', 'import time\\nwhile time.process_time() < 0.4: pass'])"
    )
    assert 0.2 < child.seconds < 1.5


def test_sessions_overlap_and_do_not_meet(sandbox):
    with sandbox.session() as first, sandbox.session() as second:
        first.run_cell("x = 1; open('/tmp/note', 'w').write('mine')")
        assert second.run_cell("x").error.type == "NameError"
        assert output(second, "import os; print(os.path.exists('/tmp/note'), os.getpid())") == "False 1"
        assert output(first, "print(x)") == "1"


def test_sessions_can_be_opened_from_several_threads(sandbox):
    outputs = []

    def work(number):
        with sandbox.session() as session:
            outputs.append(output(session, f"print({number})"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outputs) == list("012345")


@pytest.fixture(scope="module")
def warm_sandbox():
    with Sandbox(Limits(cpu_seconds_per_step=20)) as started:
        assert not started.missing
        yield started


def test_tensorflow_and_keras_work_behind_the_walls(warm_sandbox):
    with warm_sandbox.session() as session:
        output(session, "import keras, numpy as np, tensorflow as tf, matplotlib.pyplot as plt")
        output(
            session,
            "model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)])\n"
            "model.compile('adam', 'mse')\nmodel.fit(np.ones((8, 3)), np.ones((8, 1)), verbose=0)\n"
            "model.save('model.keras'); keras.models.load_model('model.keras')",
        )
        output(session, "data = tf.data.Dataset.range(9).map(lambda x: 2 * x, num_parallel_calls=2).batch(4)")
        assert output(session, "print([len(b) for b in data])") == "[4, 4, 1]"
        output(session, "plt.plot([1, 2]); plt.savefig('figure.png'); plt.show()")
        assert output(session, "print(tf.function(lambda x: x + x, jit_compile=True)(tf.ones(2)).numpy())") == "[2. 2.]"
        output(
            session,
            "class SelfAttention(keras.Layer):\n"
            "    def __init__(self, d_k, d_v):\n        super().__init__()\n"
            "        self.w_q, self.w_k, self.w_v = (keras.layers.Dense(d, use_bias=False) for d in (d_k, d_k, d_v))\n"
            "    def call(self, x, mask=None):\n        return self.w_q(x) + self.w_v(x)[..., :1]\n",
        )
        inputs = {"d_k": 5, "d_v": 3, "x": np.ones((2, 7, 4), "float32"), "w_q.kernel": np.ones((4, 5), "float32")}
        reply = drive(session, "SelfAttention", inputs, forbidden=["keras.layers.MultiHeadAttention"])
        assert reply.failure is None and reply.outputs["output"].shape == (2, 7, 5)
        session.run_cell(
            "def self_attention_loops(x): return tf.cast(x, 'bfloat16')\n"
            "def self_attention_matrix(x): return tf.constant(['a', 'b'])"
        )
        assert drive(session, "self_attention_loops", {"x": Q}).outputs["output"].dtype == np.float32
        assert drive(session, "self_attention_matrix", {"x": Q}).outputs["output"] == ["a", "b"]


def test_an_operation_runs_as_a_kernel_and_not_as_a_function_of_one_node(warm_sandbox):
    with warm_sandbox.session() as session:
        source = "import tensorflow as tf\ntry:\n    tf.matmul(tf.ones((2, 3)), tf.ones((2, 3)))\n"
        said = output(session, source + "except tf.errors.InvalidArgumentError as error:\n    print(error)")
        assert "Matrix size-incompatible" in said and "__wrapped__" not in said


def test_a_small_submission_takes_a_fraction_of_a_second(warm_sandbox):
    """Of the processor, whatever else the machine does meanwhile."""

    def grade():
        with warm_sandbox.session() as session:
            session.run_cell("import keras, tensorflow as tf")
            session.run_cell("def self_attention_loops(x): return tf.nn.softmax(x @ tf.transpose(x)) @ x")
            for _ in range(5):
                assert drive(session, "self_attention_loops", {"x": Q}, mode="tensor").outputs
            return session._tree.cpu_seconds()

    grade()
    assert min(grade() for _ in range(3)) / slowness() < 2
