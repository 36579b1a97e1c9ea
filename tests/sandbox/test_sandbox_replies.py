"""What a submission can say: forged, endless or sabotaged replies cost it the step, and nobody else anything."""

import select

import numpy as np
import pytest
from tight_sandbox import Q, drive, output

from autograder.sandbox import SessionLost

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


SAY = """
import socket, time
from worker import protocol
line = socket.socket(fileno=3)
line.sendall({data})
time.sleep(60)
"""


@pytest.mark.parametrize(
    "data",
    [
        "b'\\xff' * 64",
        "b'nonsense'",
        "(20).to_bytes(8, 'big') + b'garbage that is long'",
        "(4).to_bytes(8, 'big') + bytes(4)",
        "(1 << 40).to_bytes(8, 'big') + bytes(1 << 16)",
        "protocol.encode({'op': 'cell_done', 'id': 'guess', 'error': None, 'stdout': ''})",
        "protocol.encode({'op': 'outputs', 'outputs': {}}) * 3",
    ],
    ids=["all ones", "text", "garbage", "empty", "announced", "wrong id", "no id"],
)  # fmt: skip
def test_forged_frames_cost_the_session(session, data):
    with pytest.raises(SessionLost) as lost:
        session.run_cell(SAY.format(data=data))
    assert lost.value.reason == "protocol"


def test_an_urgent_byte_costs_the_session(session):
    """It is nobody's fault but the submission's: the worker has not failed."""
    with pytest.raises(SessionLost) as lost:
        session.run_cell(
            "import socket, time\nline = socket.socket(fileno=3)\nline.send(b'x', socket.MSG_OOB); time.sleep(60)"
        )
    assert lost.value.reason == "protocol"


def test_a_process_cannot_mislead_the_meter_by_its_name(session):
    output(session, "import ctypes, time\nctypes.CDLL(None).prctl(15, b'x kB', 0, 0, 0)\ntime.sleep(1)")


def test_a_reply_nobody_asked_for_costs_the_session(session):
    session.run_cell(
        "import threading, time, socket, worker.protocol as p\n"
        "def later():\n    time.sleep(0.2)\n"
        "    socket.socket(fileno=3).sendall(p.encode({'op': 'outputs', 'outputs': {}}))\n    time.sleep(60)\n"
        "threading.Thread(target=later, daemon=True).start()"
    )
    select.select([session._connection], [], [])  # it has come
    with pytest.raises(SessionLost) as lost:
        session.run_cell("1")
    assert lost.value.reason == "protocol"


def test_an_endless_reply_is_cut_off(session):
    with pytest.raises(SessionLost) as lost:
        session.run_cell(
            "import socket\nline = socket.socket(fileno=3)\n"
            "line.sendall((3 << 20).to_bytes(8, 'big'))\nwhile True: line.sendall(bytes(1 << 16))"
        )
    assert lost.value.reason == "protocol"


def test_a_pickle_is_never_opened(session, tmp_path):
    mark = tmp_path / "mark"
    with pytest.raises(SessionLost):
        session.run_cell(
            "import os, pickle, socket, time\nclass Bomb:\n"
            f"    def __reduce__(self): return os.mkdir, ({str(mark)!r},)\n"
            "data = pickle.dumps(Bomb())\nline = socket.socket(fileno=3)\n"
            "line.sendall(len(data).to_bytes(8, 'big') + data)\ntime.sleep(60)"
        )
    assert not mark.exists()


@pytest.mark.parametrize(
    ("outcome", "sabotage"),
    [
        ("crashed", "import numpy as np; np.asarray = np.array = np.ndarray = None"),
        ("protocol", "import msgpack; msgpack.packb = msgpack.unpackb = lambda *a, **k: b'\\x80'"),
        ("crashed", "import builtins; builtins.isinstance = lambda *a: True"),
        ("protocol", "import builtins; builtins.len = lambda *a: 0"),
        ("crashed", "import builtins; del builtins.dict, builtins.Exception, builtins.BaseException"),
        ("right", "import sys; sys.stdout = sys.stderr = sys.stdin = None"),
        ("failed", "import sys; sys.modules.clear()"),
        ("right", "import sys; sys.settrace(lambda *a: 1 / 0)"),
        ("failed", "import sys, IPython; get_ipython().run_cell = None"),
        ("right", "get_ipython().input_transformers_cleanup.append(lambda lines: ['1/0'])"),
        ("right", "get_ipython().events.register('pre_run_cell', lambda *a: 1 / 0)"),
        ("right", "get_ipython().events.register('post_run_cell', lambda *a: __import__('sys').exit())"),
        ("failed", "get_ipython().display_formatter = get_ipython().displayhook = None"),
        ("crashed", "import worker.protocol as p; p.encode = p.receive = p.decode = None"),
        ("forged", "import coursekit.check.attempts as p; p.plain = p._plain = lambda *a: {'score': 100}"),
        ("forged", "import coursekit.probes as p; p.described = lambda *a: lambda *b: {'output': 1}"),
        ("right", "import os, socket; os._exit = socket.socket.sendall = None"),
        ("right", "import atexit; atexit.register(lambda: 1 / 0)"),
        ("right", "import gc\nfor x in gc.get_objects():\n    if isinstance(x, dict) and 'id' in x: x['id'] = 'other'"),
        ("right", "__name__ = 'x'; globals().clear()"),
    ],
)  # fmt: skip
def test_sabotage_costs_the_saboteur_at_most_a_step(session, outcome, sabotage):
    """It costs the process or the answer, or nothing. Who forges his own result is judged on what he forged."""
    try:
        session.run_cell(sabotage)
        session.run_cell("def self_attention_loops(x): return x")
        reply = drive(session, "self_attention_loops", {"x": Q})
    except SessionLost as lost:
        assert lost.reason == outcome
        return
    if outcome == "failed":
        assert reply.failure.kind in ("missing", "error")
    elif outcome == "forged":
        assert reply.outputs in ({"output": {"score": 100}}, {"output": 1})
    else:
        assert outcome == "right"
        np.testing.assert_array_equal(reply.outputs["output"], Q)


def test_a_result_that_runs_code_when_looked_at_is_looked_at_inside(session):
    session.run_cell(
        "class Trap:\n    def __array__(self, *a, **k):\n        while True: pass\n"
        "def self_attention_loops(x): return Trap()"
    )
    with pytest.raises(SessionLost) as lost:
        drive(session, "self_attention_loops", {"x": Q})
    assert lost.value.reason == "timeout"
