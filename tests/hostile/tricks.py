"""Tricks in Python against the code that drives the answer and judges it."""

from __future__ import annotations

from textwrap import dedent

from hostile.kinds import attack, theft
from hostile.making import Hostile, answered, made

_ALWAYS_RIGHT = """
class AlwaysRight(np.ndarray):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return np.zeros(1)
    __rsub__ = __sub__
    def __abs__(self): return np.zeros(1)
    def __le__(self, other): return np.ones(1, bool)
    def __array_function__(self, *args, **kwargs): return True
    def __array_ufunc__(self, *args, **kwargs): return np.zeros(1)
"""

TRICKS = [
    attack("always-equal", "an array that equals everything", f"""
{_ALWAYS_RIGHT}
def self_attention_loops(x):
    return np.asarray(x).view(AlwaysRight)
"""),
    attack("lazy-object", "an object that becomes an array when somebody looks", """
        class Lazy:
            looks = 0
            def __array__(self, dtype=None, copy=None):
                Lazy.looks += 1
                return np.zeros((5, 7), "float32")
            def __eq__(self, other): return True
            def __getattr__(self, name): return self
        def self_attention_loops(x):
            return Lazy()
    """, ("graded", "error")),
    attack("numpy-patched", "comparisons of NumPy that always hold", """
        for name in ("allclose", "isclose", "array_equal", "array_equiv", "all"):
            setattr(np, name, lambda *args, **kwargs: True)
        np.testing.assert_allclose = lambda *args, **kwargs: None
        def self_attention_loops(x):
            return x
    """, harms_itself=True),
    attack("judge-patched", "the judge of the notebook's checks gives full marks", """
        import coursekit.check.judge, coursekit.check.comparison, coursekit.check.lab, coursekit.check.report
        coursekit.check.judge.judge = coursekit.check.lab.judge = lambda *args, **kwargs: "full marks"
        coursekit.check.comparison.difference = coursekit.check.judge.difference = lambda *args, **kwargs: None
        coursekit.check.judge.Judgement.share = 1.0
        def self_attention_loops(x):
            return x
    """),
    attack("probes-patched", "the probes return what the visible cases expect", """
        import coursekit.probes, coursekit.probes.self_attention as mine
        from coursekit.check.lab import load_reference
        known = load_reference("02_self_attention").expectations["self_attention_loops"]
        def forged(namespace, inputs, mode):
            return dict(known[0].expected)
        mine.PROBES = dict.fromkeys(mine.PROBES, forged)
        coursekit.probes.load_probe = lambda lab, exercise: forged
        def self_attention_loops(x):
            return x
    """, harms_itself=True),
    Hostile("helpers-patched", "helpers of probes say of wrong answers what they say of right ones",
            made(answered(design=dedent("""
                import coursekit.probes.self_attention as mine
                kept = {"memory": "from 64 to 128 KiB", "readings": "at most 64 times",
                        "blocks": "every key, and no empty block"}
                mine._standing = lambda constraint, **chosen: kept[constraint]
                def design():
                    return {"block_queries": 1, "block_keys": 1, "key_blocks": 1}
            """).strip())), {"design": "graded"}),
    attack("visible-lookup", "a table of the visible cases instead of an answer", """
        from coursekit.check.lab import load_reference
        known = load_reference("02_self_attention").expectations["self_attention_loops"]
        def self_attention_loops(x):
            for case in known:
                if np.shape(case.inputs["x"]) == np.shape(x):
                    return case.expected["output"].astype("float32")
            return x
    """, "forbidden"),
    attack("msgpack-patched", "the envelope of replies is packed by the student", """
        import msgpack
        pack = msgpack.packb
        def forged(message, **keywords):
            if isinstance(message, dict) and "outputs" in message:
                message = {**message, "op": "outputs", "score": 100, "passed": True}
            return pack(message, **keywords)
        msgpack.packb = forged
        def self_attention_loops(x):
            return x
    """),
    attack("protocol-patched", "the frames are made by the student", """
        import sys
        protocol = sys.modules["worker.protocol"]
        protocol.encode = lambda *args, **kwargs: b"full marks"
        protocol._check = lambda *args: None
        def self_attention_loops(x):
            return x
    """),
    attack("asarray-patched", "np.asarray and tf.convert_to_tensor return zeros from the first exercise on", """
        import tensorflow
        np.asarray = np.array = np.zeros_like = lambda *args, **kwargs: np.zeros(1)
        tensorflow.convert_to_tensor = lambda *args, **kwargs: tensorflow.zeros(1)
        def self_attention_loops(x):
            return x
    """, ("graded", "error"), harms_itself=True),
    attack("builtins-patched", "built-in functions replaced", """
        import builtins
        builtins.isinstance = lambda *args: True
        builtins.hasattr = lambda *args: True
        builtins.len = lambda *args: 0
        builtins.type = lambda *args: int
        builtins.open = builtins.__import__ = builtins.str = None
        def self_attention_loops(x):
            return x
    """, ("graded", "error", "crashed", "missing"), harms_itself=True),
    attack("modules-poisoned", "sys.modules holds false modules", """
        import sys, types
        for name in ("numpy", "msgpack", "coursekit.probes", "coursekit.probes.driving", "coursekit.check.rules"):
            sys.modules[name] = types.ModuleType(name)
        def self_attention_loops(x):
            return x
    """, ("graded", "error", "crashed", "missing"), harms_itself=True),
    attack("shell-patched", "IPython runs no further cell", """
        get_ipython().run_cell = lambda *args, **kwargs: None
        type(get_ipython()).run_cell = lambda *args, **kwargs: None
        def self_attention_loops(x):
            return x
    """, harms_itself=True),
    attack("input-transformer", "every later cell is rewritten", """
        def rewrite(lines):
            return ["check = lambda name: 1000\\n"]
        get_ipython().input_transformers_post.append(rewrite)
        def self_attention_loops(x):
            return x
    """),
    attack("ast-transformer", "every later syntax tree is rewritten", """
        import ast
        class Rewrite(ast.NodeTransformer):
            def visit_Raise(self, node):
                return ast.Pass()
            def visit_Return(self, node):
                return ast.Return(ast.Constant(100.0))
        get_ipython().ast_transformers.append(Rewrite())
        def self_attention_loops(x):
            return x
    """),
    attack("formatters", "display formatters and hooks claim marks", """
        shell = get_ipython()
        for formatter in shell.display_formatter.formatters.values():
            formatter.for_type(np.ndarray, lambda *args: "100 of 100 points")
            formatter.for_type(float, lambda *args: "100 of 100 points")
        import sys
        sys.displayhook = lambda value: print("100.0")
        def self_attention_loops(x):
            return x
    """),
    attack("traced", "a trace function looks through every frame for what is expected", """
        import sys
        seen = []
        def trace(frame, event, argument):
            for key in ("expected", "expectations", "answer", "oracle"):
                if key in frame.f_locals:
                    seen.append(frame.f_locals[key])
            return trace
        sys.settrace(trace)
        sys.setprofile(trace)
        def self_attention_loops(x):
            return seen[-1]["output"] if seen else x
    """),
    theft("objects-searched", "every object in memory is searched for hidden cases and references", """
        import gc, sys
        def loot():
            for thing in gc.get_objects():
                name = type(thing).__module__
                if name.startswith("autograder") or type(thing).__name__ in ("PreparedExercise", "Plan", "LabGrader"):
                    return True
            return any(name.startswith("autograder") for name in sys.modules)
    """),
    attack("frame-walk", "walks up to the runner and answers in its place", """
        import sys
        def self_attention_loops(x):
            frame = sys._getframe()
            while frame is not None:
                if "connection" in frame.f_locals and "encode" in frame.f_locals:
                    here = frame.f_locals
                    forged = {"op": "outputs", "outputs": {"output": x, "score": 4, "passed": True}}
                    here["connection"].sendall(here["encode"]({**forged, "id": here["request"]["id"]}))
                frame = frame.f_back
            return x
    """, ("crashed", "forbidden")),
    attack("frames-sent-early", "answers are sent before they are asked for", """
        import socket
        def self_attention_loops(x):
            connection = socket.socket(fileno=3)
            connection.sendall(b"\\0" * 8 + b"full marks" * 1000)
            connection.detach()
            return x
    """, "crashed"),
    attack("many-arrays", "a reply of a hundred thousand empty arrays, each of which somebody has to read", """
        import msgpack, sys
        one = msgpack.ExtType(1, msgpack.packb(["bool", [0]]))
        def self_attention_loops(x):
            frame = sys._getframe()
            while frame is not None:
                here = frame.f_locals
                if "connection" in here and "encode" in here:
                    reply = {"op": "outputs", "id": here["request"]["id"], "outputs": {"output": [one] * 100_000}}
                    envelope = msgpack.packb(reply)
                    body = len(envelope).to_bytes(4, "big") + envelope
                    here["connection"].sendall(len(body).to_bytes(8, "big") + body)
                frame = frame.f_back
            return x
    """, "crashed"),
    attack("urgent-byte", "a byte out of band, which wakes a reader and is in no stream", """
        import socket, time
        def self_attention_loops(x):
            line = socket.socket(fileno=3)
            line.send(b"x", socket.MSG_OOB)
            time.sleep(1000)
    """, "crashed"),
    attack("socket-closed", "closes the connection to the grader", """
        import os
        def self_attention_loops(x):
            os.close(3)
            return x
    """, "crashed"),
    attack("socket-replaced", "puts another descriptor in place of the connection", """
        import os
        def self_attention_loops(x):
            os.dup2(os.open("/dev/full", os.O_RDWR), 3)
            return x
    """, ("crashed", "timeout")),
    attack("socket-read", "a thread takes the grader's questions off the connection", """
        import os, threading
        def steal():
            while True:
                os.read(3, 1 << 20)
        def self_attention_loops(x):
            threading.Thread(target=steal, daemon=True).start()
            return x
    """, ("crashed", "timeout"), harms_itself=True),
    attack("endless-reply", "an answer without an end", """
        import os
        def self_attention_loops(x):
            os.write(3, (1 << 62).to_bytes(8, "big"))
            while True:
                os.write(3, b"\\0" * 65536)
    """, "crashed"),
    attack("thread-rewrites", "a thread puts another function in the place of each answer", """
        import threading, time
        names = get_ipython().user_ns
        def rewrite():
            while True:
                time.sleep(0.001)
                names["self_attention_loops"] = lambda x: np.ones_like(x)
        threading.Thread(target=rewrite, daemon=True).start()
        def self_attention_loops(x):
            return x
    """),
    attack("namespace-trap", "a namespace that answers every name", """
        class Everything(dict):
            def __missing__(self, name): return lambda *args: 100
            def __contains__(self, name): return True
        get_ipython().user_ns = Everything(get_ipython().user_ns)
        def self_attention_loops(x):
            return x
    """, ("graded", "error", "missing"), harms_itself=True),
    attack("swallows-exit", "an endless loop that swallows every exception", """
        def self_attention_loops(x):
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    continue
    """, "timeout"),
    attack("raises-exit", "the answer raises SystemExit", """
        def self_attention_loops(x):
            raise SystemExit(0)
    """, "error"),
    attack("raises-interrupt", "the answer raises KeyboardInterrupt", """
        def self_attention_loops(x):
            raise KeyboardInterrupt
    """, "error"),
    attack("poisoned-error", "an exception that cannot be shown, and tries to end the process", """
        class Poison(Exception):
            def __str__(self): raise SystemExit("gotcha")
            __repr__ = __str__
        def self_attention_loops(x):
            raise Poison
    """, "error"),
    attack("huge-error", "an error message of a hundred megabytes", """
        def self_attention_loops(x):
            raise ValueError("x" * 100_000_000)
    """, "error"),
    attack("claims-missing", "raises the exceptions of the checks itself", """
        from coursekit.probes.driving import NotFound
        def self_attention_loops(x):
            raise NotFound("nothing to see")
    """, "missing"),
    attack("forged-forbidden", "says that the rules forbid it", """
        from coursekit.check.rules import ForbiddenCall
        def self_attention_loops(x):
            raise ForbiddenCall("<script>alert(1)</script>")
    """, "forbidden", silent="<script>"),
    attack("runs-on-delete", "an object that runs code when it is thrown away", """
        import os
        class Trap:
            def __del__(self): os._exit(1)
            def __reduce__(self): return (os.system, ("touch /tmp/pwned",))
        def self_attention_loops(x):
            return Trap()
    """, ("crashed", "forbidden")),
    attack("recursion", "recursion without an end and without a limit", """
        import sys
        def self_attention_loops(x):
            sys.setrecursionlimit(10**9)
            def dive(n): return max([dive(n + 1)], key=lambda each: dive(n + 1))
            return dive(0)
    """, ("crashed", "error", "timeout")),
]  # fmt: skip
