"""At least 80 hostile or damaged notebooks of lab 02, each with what it tries and the verdict it must get.

Three shapes recur. An attack on `self_attention_loops` beside right answers may cost that exercise and nothing else. A
*theft* gives the right result if and only if it found what it looked for, so that success would earn points. Code that
breaks its own process for good (`harms_itself`) may lose more, but can gain nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from textwrap import dedent

from hostile.making import (
    FULL,
    LOOPS,
    POINTS,
    Hostile,
    Notebook,
    Scene,
    answered,
    as_bytes,
    changed,
    code_cell,
    is_answer,
    made,
    released,
    right_answers,
    solution,
    tests,
    with_cell,
)

WRONG = "def self_attention_loops(x):\n    return x"
EVERY_NAME = tuple(POINTS)


def _attack(
    name: str,
    what: str,
    code: str,
    status: str | tuple[str, ...] = "graded",
    *,
    harms_itself: bool = False,
    more: Mapping[str, str] | None = None,
    told: str = "",
    silent: str = "",
) -> Hostile:
    """Code in place of the answer to `self_attention_loops`; all other answers are right."""
    make = _filled(answered(**{LOOPS: dedent(code).strip()}))
    lost = {LOOPS: status, **(more or {})}
    return Hostile(name, what, make, lost, harms_itself=harms_itself, told=told, silent=silent)


def _filled(notebook: Notebook) -> Callable[[Scene], bytes]:
    def make(scene: Scene) -> bytes:
        text = as_bytes(notebook)
        for word, value in (("@CANARY@", str(scene.canary)), ("@SECRET@", scene.secret), ("@PORT@", str(scene.port))):
            text = text.replace(word.encode(), value.encode())
        return text

    return make


def _theft(name: str, what: str, code: str, status: str | tuple[str, ...] = "graded") -> Hostile:
    """The code defines `loot`; the answer is right if `loot()` returns something true."""
    right = right_answers()[LOOPS].replace("def self_attention_loops", "def _right")
    body = f"""
{dedent(code).strip()}


{right}

import functools

@functools.cache
def _tried():
    try:
        return loot()
    except Exception:
        return None

def self_attention_loops(x):
    return _right(x) if _tried() else x
"""
    return Hostile(name, what, _filled(answered(**{LOOPS: body.strip()})), {LOOPS: status})


def _harmless(name: str, what: str, source: str, told: str = "") -> Hostile:
    """A cell of the student's own above right answers: it may cost nothing."""
    return Hostile(name, what, _filled(with_cell(answered(), dedent(source).strip())), told=told)


def _returning(name: str, what: str, expression: str, status: str | tuple[str, ...] = "graded") -> Hostile:
    """An answer that returns a strange object."""
    return _attack(name, what, f"def self_attention_loops(x):\n    return {expression}", status)


def _repaired(name: str, what: str, change: Callable[[Notebook], object], told: str = "") -> Hostile:
    """Right answers in a notebook that was changed: no point is lost."""
    return Hostile(name, what, changed(change), told=told)


def _gains_nothing(name: str, what: str, change: Callable[[Notebook], object]) -> Hostile:
    """A wrong answer in a notebook that was changed: no point is gained."""
    return Hostile(name, what, changed(change, **{LOOPS: WRONG}), {LOOPS: "graded"})


# -- the notebook ----------------------------------------------------------------------------------------------------


def _tag(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution", "raises-exception", "remove_cell"]


def _worth(points: object) -> Callable[[Notebook], None]:
    def change(notebook: Notebook) -> None:
        for cell in tests(notebook):
            cell["metadata"]["nbgrader"]["points"] = points

    return change


def _test_source(source: str, output: str | None = None) -> Callable[[Notebook], None]:
    def change(notebook: Notebook) -> None:
        for cell in tests(notebook):
            cell["source"] = source
            if output:
                data = {"text/plain": output, "text/html": f"<b>{output}</b>"}
                result = {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}
                cell["outputs"] = [result]

    return change


def _drop_tests(notebook: Notebook) -> None:
    doomed = {id(cell) for cell in tests(notebook)}
    notebook["cells"] = [cell for cell in notebook["cells"] if id(cell) not in doomed]


def _twice(notebook: Notebook) -> None:
    notebook["cells"] = [copy.deepcopy(cell) for cell in notebook["cells"] for _ in range(2)]


def _rename(notebook: Notebook) -> None:
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"].get("nbgrader", {})["grade_id"] = f"cell-{number}"


def _swap_labels(notebook: Notebook) -> None:
    one, other = (solution(notebook, name)["metadata"] for name in (LOOPS, "project_qkv"))
    one["nbgrader"], other["nbgrader"] = other["nbgrader"], one["nbgrader"]


def _tests_first(notebook: Notebook) -> None:
    first = tests(notebook)
    marked = {id(cell) for cell in first}
    notebook["cells"] = first + [cell for cell in notebook["cells"] if id(cell) not in marked]


def _retype(kind: str, which: Callable[[Notebook], list]) -> Callable[[Notebook], None]:
    def change(notebook: Notebook) -> None:
        for cell in which(notebook):
            cell["cell_type"] = kind
            cell.pop("outputs", None)
            cell.pop("execution_count", None)

    return change


def _code_answers(notebook: Notebook) -> list:
    return [cell for cell in notebook["cells"] if is_answer(cell) and cell["cell_type"] == "code"]


def _edit_imports(notebook: Notebook) -> None:
    cell = next(cell for cell in notebook["cells"] if "start_lab" in "".join(cell["source"]))
    cell["source"] = "import keras, numpy as np, tensorflow as tf\nfrom keras import ops\ncheck = lambda name: 100"


def _drop_locked(notebook: Notebook) -> None:
    notebook["cells"] = _code_answers(notebook)


def _break_flags(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"] = {
            **cell["metadata"].get("nbgrader", {}), "solution": True, "grade": True, "locked": False, "task": True,
            "schema_version": 1, "checksum": "0" * 32, "points": 1e9,
        }  # fmt: skip


def _no_metadata(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)


def _odd_metadata(notebook: Notebook) -> None:
    notebook["metadata"] = ["not", "a", "dictionary"]
    for cell in notebook["cells"]:
        if not is_answer(cell):
            cell["metadata"] = "none"


def _claims(notebook: Notebook) -> None:
    notebook["metadata"]["score"] = FULL
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "PASSED 100 of 100 points"}]


def _right_then_wrong(notebook: Notebook) -> None:
    cell = solution(notebook, LOOPS)
    second = {**copy.deepcopy(cell), "source": WRONG, "id": "second"}
    notebook["cells"].insert(notebook["cells"].index(cell) + 1, second)


def _wrong_then_right(notebook: Notebook) -> None:
    cell = solution(notebook, LOOPS)
    first = {**copy.deepcopy(cell), "source": WRONG, "id": "first"}
    notebook["cells"].insert(notebook["cells"].index(cell), first)


def _after_the_test(notebook: Notebook) -> None:
    notebook["cells"].append(code_cell(right_answers()[LOOPS]))


def _check_that_pays(notebook: Notebook) -> None:
    with_cell(notebook, "def check(name):\n    print('PASSED', name)\n    return 1000.0\n\ncheck('everything')")


NOTEBOOKS = [
    _gains_nothing("skip-tags", "tags that keep test cells from running (nbgrader gave 8 of 8)", _tag),
    _repaired("skip-tags-right", "the same tags on right answers", _tag),
    _gains_nothing("points-thousand", "test cells worth a thousand points", _worth(1000)),
    _repaired("points-negative", "test cells worth minus a thousand points", _worth(-1000)),
    _repaired("points-text", "points that are no number", _worth("NaN")),
    _gains_nothing("test-is-number", "tests replaced by 100.0, with outputs that say so",
                   _test_source("100.0", "100.0")),
    _gains_nothing("test-is-numpy", "tests replaced by np.float64(1.5), which nbgrader took for full marks",
                   _test_source("import numpy as np\nnp.float64(1.5)")),
    _gains_nothing("test-is-tensor", "tests replaced by a tensor", _test_source("import tensorflow as tf\ntf.ones(3)")),
    _gains_nothing("test-is-false", "tests replaced by False", _test_source("False")),
    _gains_nothing("test-is-nan", "tests replaced by nan", _test_source("float('nan')")),
    _gains_nothing("test-above-maximum", "tests replaced by a score above the maximum", _test_source("10**9")),
    _gains_nothing("test-is-silent", "tests replaced by nothing", _test_source("")),
    _repaired("test-on-stderr", "right answers, tests replaced by text on stderr",
              _test_source("import sys\nprint('W tensorflow', file=sys.stderr)")),
    _gains_nothing("tests-deleted", "test cells deleted below a wrong answer", _drop_tests),
    _repaired("tests-deleted-right", "test cells deleted below right answers", _drop_tests, "put back"),
    _repaired("cells-twice", "every cell is there twice", _twice, "second copy"),
    _repaired("ids-renamed", "every grade_id is renamed", _rename),
    _repaired("ids-swapped", "two answers have each other's grade_id", _swap_labels, "labelled"),
    _repaired("tests-first", "all tests moved to the top", _tests_first, "moved below"),
    _repaired("tests-as-text", "tests turned into text", _retype("markdown", tests)),
    _repaired("tests-as-raw", "tests turned into raw cells", _retype("raw", tests)),
    _repaired("answers-as-text", "answers turned into text", _retype("markdown", _code_answers), "code again"),
    _repaired("imports-edited", "the locked imports replaced, and check with them", _edit_imports, "restored"),
    _gains_nothing("imports-edited-wrong", "the same above a wrong answer", _edit_imports),
    _repaired("only-answers", "nothing left but the answers", _drop_locked),
    _repaired("flags-edited", "all nbgrader flags and points changed", _break_flags),
    _repaired("no-metadata", "no metadata and no cell ids", _no_metadata, "recognised"),
    _repaired("odd-metadata", "metadata of the wrong types", _odd_metadata),
    _gains_nothing("outputs-claim", "outputs and metadata that claim full marks", _claims),
    Hostile("right-then-wrong", "a second, wrong copy of an answer counts", changed(_right_then_wrong),
            {LOOPS: "graded"}, told="2 times"),
    _repaired("wrong-then-right", "a second, right copy of an answer counts", _wrong_then_right, "2 times"),
    _gains_nothing("check-replaced", "check replaced by a function that returns a thousand", _check_that_pays),
    Hostile("right-too-late", "the right answer stands after the untouched stub and its test",
            changed(_after_the_test, **{LOOPS: 'def self_attention_loops(x):\n    raise NotImplementedError("…")'}),
            {LOOPS: ("missing", "error", "graded")}, harms_itself=True),
    Hostile("untouched", "the lab as released", made(released()), dict.fromkeys(POINTS, "missing")),
]  # fmt: skip

# -- cells that may cost nothing -------------------------------------------------------------------------------------

HARMLESS = [
    _harmless("warnings", "warnings and text on stderr", """
        import sys, warnings, logging
        warnings.warn("beware"); logging.error("beware"); print("E tensorflow/stream_executor", file=sys.stderr)
    """),
    _harmless("exits", "a cell that exits in four ways, none of which ends the rest", """
        import sys
        exit()
        quit()
        sys.exit(1)
    """),
    _harmless("system-exit", "a cell that raises SystemExit", "raise SystemExit(3)"),
    _harmless("keyboard-interrupt", "a cell that raises KeyboardInterrupt", "raise KeyboardInterrupt"),
    _harmless("magics", "magics that run programs, write files and show pages", """
        %matplotlib inline
        !rm -rf / --no-preserve-root 2>/dev/null; echo done
        %reload_ext autoreload
        %time 1 + 1
        %pip install nothing-at-all
    """),
    _harmless("javascript", "a cell of JavaScript", "%%javascript\nalert(document.cookie)"),
    _harmless("bash-kill", "a shell that kills all it can see", "%%bash\nkill -9 -1\nkill -9 $PPID 0"),
    _harmless("broken-cell", "a cell that is no Python", "this is (not python ]["),
    _harmless("own-crash", "a cell of the student's own that ends its process", "import os\nos._exit(1)", "left out"),
    _harmless("own-segfault", "a cell of the student's own that crashes in C",
              "import ctypes\nctypes.string_at(1)", "left out"),
    _harmless("own-hang", "a cell of the student's own that never ends", "while True:\n    pass", "left out"),
    _harmless("gigabyte-print", "prints a gigabyte", """
        text = "x" * (1 << 20)
        for _ in range(1024):
            print(text)
    """),
    _harmless("gigabyte-display", "displays, and leaves as a cell's value, what is large", """
        from IPython.display import HTML, display
        for _ in range(64):
            display(HTML("<script>" + "x" * (1 << 20)))
        "x" * (1 << 27)
    """),
    _harmless("raising-hooks", "IPython hooks that raise before and after every cell", """
        def bad(*_):
            raise SystemExit("hook")
        for event in ("pre_execute", "pre_run_cell", "post_execute", "post_run_cell"):
            get_ipython().events.register(event, bad)
    """),
    _harmless("output-closed", "closes standard output and its descriptor", """
        import os, sys
        sys.stdout.close(); sys.stderr.close()
        os.close(1); os.close(2)
    """),
    _harmless("signals-ignored", "ignores every signal that can be ignored", """
        import signal
        for number in range(1, 64):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
    """),
    _harmless("daemons", "leaves processes behind in sessions of their own", """
        import os, time
        for _ in range(5):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    time.sleep(100000)
                os._exit(0)
    """),
    _harmless("disk-full", "fills everything that can be written", """
        import os
        for number in range(100):
            try:
                with open(f"/tmp/{number}", "wb") as file:
                    for _ in range(300):
                        file.write(b"0" * (1 << 20))
            except OSError:
                pass
    """),
    _harmless("atexit", "code that runs when the process ends", """
        import atexit, os, threading
        atexit.register(lambda: [open("/proc/self/mem") for _ in iter(int, 1)])
        os.register_at_fork(after_in_child=lambda: os._exit(3))
        threading._register_atexit(lambda: None)
    """),
]  # fmt: skip

# -- tricks in Python ------------------------------------------------------------------------------------------------

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
    _attack("always-equal", "an array that equals everything", f"""
{_ALWAYS_RIGHT}
def self_attention_loops(x):
    return np.asarray(x).view(AlwaysRight)
"""),
    _attack("lazy-object", "an object that becomes an array when somebody looks", """
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
    _attack("numpy-patched", "comparisons of NumPy that always hold", """
        for name in ("allclose", "isclose", "array_equal", "array_equiv", "all"):
            setattr(np, name, lambda *args, **kwargs: True)
        np.testing.assert_allclose = lambda *args, **kwargs: None
        def self_attention_loops(x):
            return x
    """, harms_itself=True),
    _attack("judge-patched", "the judge of the notebook's checks gives full marks", """
        import coursekit.judge, coursekit.comparison, coursekit.lab, coursekit.report
        coursekit.judge.judge = coursekit.lab.judge = lambda *args, **kwargs: "full marks"
        coursekit.comparison.difference = coursekit.judge.difference = lambda *args, **kwargs: None
        coursekit.judge.Judgement.share = 1.0
        def self_attention_loops(x):
            return x
    """),
    _attack("probes-patched", "the probes return what the visible cases expect", """
        import coursekit.probes, coursekit.probes.self_attention as mine
        from coursekit.reference import load_reference
        known = load_reference("02_self_attention").expectations["self_attention_loops"]
        def forged(namespace, inputs, mode):
            return dict(known[0].expected)
        mine.PROBES = dict.fromkeys(mine.PROBES, forged)
        coursekit.probes.load_probe = lambda lab, exercise: forged
        def self_attention_loops(x):
            return x
    """, harms_itself=True),
    _attack("visible-lookup", "a table of the visible cases instead of an answer", """
        from coursekit.reference import load_reference
        known = load_reference("02_self_attention").expectations["self_attention_loops"]
        def self_attention_loops(x):
            for case in known:
                if np.shape(case.inputs["x"]) == np.shape(x):
                    return case.expected["output"].astype("float32")
            return x
    """),
    _attack("msgpack-patched", "the envelope of replies is packed by the student", """
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
    _attack("protocol-patched", "the frames are made by the student", """
        import sys
        protocol = sys.modules["worker.protocol"]
        protocol.encode = lambda *args, **kwargs: b"full marks"
        protocol._check = lambda *args: None
        def self_attention_loops(x):
            return x
    """),
    _attack("asarray-patched", "np.asarray and tf.convert_to_tensor return zeros from the first exercise on", """
        import tensorflow
        np.asarray = np.array = np.zeros_like = lambda *args, **kwargs: np.zeros(1)
        tensorflow.convert_to_tensor = lambda *args, **kwargs: tensorflow.zeros(1)
        def self_attention_loops(x):
            return x
    """, ("graded", "error"), harms_itself=True),
    _attack("builtins-patched", "built-in functions replaced", """
        import builtins
        builtins.isinstance = lambda *args: True
        builtins.hasattr = lambda *args: True
        builtins.len = lambda *args: 0
        builtins.type = lambda *args: int
        builtins.open = builtins.__import__ = builtins.str = None
        def self_attention_loops(x):
            return x
    """, ("graded", "error", "crashed", "missing"), harms_itself=True),
    _attack("modules-poisoned", "sys.modules holds false modules", """
        import sys, types
        for name in ("numpy", "msgpack", "coursekit.probes", "coursekit.probes.driving", "coursekit.guard"):
            sys.modules[name] = types.ModuleType(name)
        def self_attention_loops(x):
            return x
    """, ("graded", "error", "crashed", "missing"), harms_itself=True),
    _attack("shell-patched", "IPython runs no further cell", """
        get_ipython().run_cell = lambda *args, **kwargs: None
        type(get_ipython()).run_cell = lambda *args, **kwargs: None
        def self_attention_loops(x):
            return x
    """, harms_itself=True),
    _attack("input-transformer", "every later cell is rewritten", """
        def rewrite(lines):
            return ["check = lambda name: 1000\\n"]
        get_ipython().input_transformers_post.append(rewrite)
        def self_attention_loops(x):
            return x
    """),
    _attack("ast-transformer", "every later syntax tree is rewritten", """
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
    _attack("formatters", "display formatters and hooks claim marks", """
        shell = get_ipython()
        for formatter in shell.display_formatter.formatters.values():
            formatter.for_type(np.ndarray, lambda *args: "100 of 100 points")
            formatter.for_type(float, lambda *args: "100 of 100 points")
        import sys
        sys.displayhook = lambda value: print("100.0")
        def self_attention_loops(x):
            return x
    """),
    _attack("traced", "a trace function looks through every frame for what is expected", """
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
    _theft("objects-searched", "every object in memory is searched for hidden cases and references", """
        import gc, sys
        def loot():
            for thing in gc.get_objects():
                name = type(thing).__module__
                if name.startswith("autograder") or type(thing).__name__ in ("PreparedExercise", "Plan", "LabGrader"):
                    return True
            return any(name.startswith("autograder") for name in sys.modules)
    """),
    _attack("frame-walk", "walks up to the runner and answers in its place", """
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
    """, ("crashed", "graded")),
    _attack("frames-sent-early", "answers are sent before they are asked for", """
        import socket
        def self_attention_loops(x):
            connection = socket.socket(fileno=3)
            connection.sendall(b"\\0" * 8 + b"full marks" * 1000)
            connection.detach()
            return x
    """, "crashed"),
    _attack("urgent-byte", "a byte out of band, which wakes a reader and is in no stream", """
        import socket, time
        def self_attention_loops(x):
            line = socket.socket(fileno=3)
            line.send(b"x", socket.MSG_OOB)
            time.sleep(1000)
    """, "crashed"),
    _attack("socket-closed", "closes the connection to the grader", """
        import os
        def self_attention_loops(x):
            os.close(3)
            return x
    """, "crashed"),
    _attack("socket-replaced", "puts another descriptor in place of the connection", """
        import os
        def self_attention_loops(x):
            os.dup2(os.open("/dev/full", os.O_RDWR), 3)
            return x
    """, ("crashed", "timeout")),
    _attack("socket-read", "a thread takes the grader's questions off the connection", """
        import os, threading
        def steal():
            while True:
                os.read(3, 1 << 20)
        def self_attention_loops(x):
            threading.Thread(target=steal, daemon=True).start()
            return x
    """, ("crashed", "timeout"), harms_itself=True),
    _attack("endless-reply", "an answer without an end", """
        import os
        def self_attention_loops(x):
            os.write(3, (1 << 62).to_bytes(8, "big"))
            while True:
                os.write(3, b"\\0" * 65536)
    """, "crashed"),
    _attack("thread-rewrites", "a thread puts another function in the place of each answer", """
        import threading, time
        names = get_ipython().user_ns
        def rewrite():
            while True:
                time.sleep(0.001)
                names["self_attention_loops"] = lambda x: np.ones_like(x)
        threading.Thread(target=rewrite, daemon=True).start()
        def self_attention_loops(x):
            return x
    """, more={"self_attention_matrix": "forbidden"}),  # nobody can say what else the thread defines
    _attack("namespace-trap", "a namespace that answers every name", """
        class Everything(dict):
            def __missing__(self, name): return lambda *args: 100
            def __contains__(self, name): return True
        get_ipython().user_ns = Everything(get_ipython().user_ns)
        def self_attention_loops(x):
            return x
    """, ("graded", "error", "missing"), harms_itself=True),
    _attack("swallows-exit", "an endless loop that swallows every exception", """
        def self_attention_loops(x):
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    continue
    """, "timeout"),
    _attack("raises-exit", "the answer raises SystemExit", """
        def self_attention_loops(x):
            raise SystemExit(0)
    """, "error"),
    _attack("raises-interrupt", "the answer raises KeyboardInterrupt", """
        def self_attention_loops(x):
            raise KeyboardInterrupt
    """, "error"),
    _attack("poisoned-error", "an exception that cannot be shown, and tries to end the process", """
        class Poison(Exception):
            def __str__(self): raise SystemExit("gotcha")
            __repr__ = __str__
        def self_attention_loops(x):
            raise Poison
    """, "error"),
    _attack("huge-error", "an error message of a hundred megabytes", """
        def self_attention_loops(x):
            raise ValueError("x" * 100_000_000)
    """, "error"),
    _attack("claims-missing", "raises the exceptions of the checks itself", """
        from coursekit.probes.driving import NotFound
        def self_attention_loops(x):
            raise NotFound("nothing to see")
    """, "missing"),
    _attack("forged-forbidden", "says that the rules forbid it", """
        from coursekit.guard import ForbiddenCall
        def self_attention_loops(x):
            raise ForbiddenCall("<script>alert(1)</script>")
    """, "forbidden", silent="<script>"),
    _attack("runs-on-delete", "an object that runs code when it is thrown away", """
        import os
        class Trap:
            def __del__(self): os._exit(1)
            def __reduce__(self): return (os.system, ("touch /tmp/pwned",))
        def self_attention_loops(x):
            return Trap()
    """, ("crashed", "graded")),
    _attack("recursion", "recursion without an end and without a limit", """
        import sys
        def self_attention_loops(x):
            sys.setrecursionlimit(10**9)
            def dive(n): return max([dive(n + 1)], key=lambda each: dive(n + 1))
            return dive(0)
    """, ("crashed", "error", "timeout")),
]  # fmt: skip

# -- answers that are not answers --------------------------------------------------------------------------------------

_FAILED = ("graded", "error")

OUTPUTS = [
    _returning("nan", "NaN everywhere", "np.full(x.shape, np.nan, 'float32')"),
    _returning("infinite", "infinity everywhere", "np.full(x.shape, np.inf, 'float32')"),
    _returning("object-array", "an array of objects", "np.full(x.shape, object())", _FAILED),
    _returning("complex", "complex numbers", "np.asarray(x) + 0j", _FAILED),
    _returning("structured", "a structured array", "np.zeros(x.shape, [('a', 'f4'), ('b', 'f4')])", _FAILED),
    _returning("masked-array", "a masked array that hides every value",
               "np.ma.masked_all(x.shape, 'float32')", _FAILED),
    _returning("huge-view", "a view of one number with a billion billion entries",
               "np.broadcast_to(np.float32(0), (1 << 30, 1 << 30))", ("graded", "error", "crashed")),
    _returning("large-array", "sixty megabytes of the wrong shape", "np.zeros(15_000_000, 'float32')"),
    _returning("many-axes", "an array with thirty axes", "np.zeros((1,) * 30, 'float32')"),
    _returning("empty-array", "an array without entries", "np.zeros((0, 7), 'float32')"),
    _returning("generator", "a generator", "(row for row in x)", _FAILED),
    _returning("iterates-for-ever", "an array-like that never ends", "__import__('itertools').count()", _FAILED),
    _returning("self-containing", "a list that holds itself", "(lambda a: a.append(a) or a)([])", _FAILED),
    _returning("deep-list", "lists nested a hundred thousand deep",
               "__import__('functools').reduce(lambda a, _: [a], range(100_000), 0)", ("graded", "error", "crashed")),
    _returning("long-text", "a text of a hundred megabytes", "'x' * 100_000_000", _FAILED),
    _returning("nothing", "nothing", "None", _FAILED),
    _returning("dates", "dates", "np.zeros(x.shape, 'datetime64[s]')", _FAILED),
    _returning("ragged", "a ragged tensor", "tf.ragged.constant([[1.0], [1.0, 2.0]])", _FAILED),
    _returning("a-million-results", "a tuple of a million results", "(x,) * 1_000_000", ("graded", "error", "timeout")),
    Hostile("number-tricks", "counts as a huge number, a bool, NaN and a number that equals all others",
            made(answered(attention_cost=dedent("""
                class Equal(int):
                    def __eq__(self, other): return True
                    def __sub__(self, other): return 0
                    __rsub__ = __sub__
                    __hash__ = int.__hash__
                count = 0
                def attention_cost(length, d_model):
                    global count
                    count += 1
                    return {"multiply_adds": [10**5000, True, float("nan"), Equal(1)][count % 4],
                            "weights_entries": Equal(1)}
            """).strip())), {"attention_cost": _FAILED}),
    Hostile("answers-tricks", "answers that agree with every key, and poisoned values",
            made(answered(answers=dedent("""
                class Everything(dict):
                    def __getitem__(self, key): return np.nan
                    def __contains__(self, key): return True
                answers = Everything()
            """).strip())), {"answers": _FAILED}),
    Hostile("answers-list", "a list of all letters as the answer",
            made(answered(answers='answers = {"key_row": "10 19 8", "scaled_scores": [[21, 20]] * 9, '
                          '"weights": np.nan, "without_scaling": "abcd"}')), {"answers": _FAILED}),
]  # fmt: skip

# -- reading, writing, talking -----------------------------------------------------------------------------------------

THEFTS = [
    _theft("reads-course", "looks for solutions, oracles, gradebook and other work on disk", """
        import os
        def loot():
            for folder, _, files in os.walk("/"):
                if folder.endswith(("/autograder", "/solutions", "/handed-in")):
                    return True
                if {"course.toml", "02_self_attention.ipynb", ".grading-seed"}.intersection(files):
                    return True
    """),
    _theft("reads-canary", "reads a file of the user's by its full path",
           "def loot():\n    return open('@CANARY@').read()"),
    _theft("reads-home", "reads what a home and a system may hold", """
        import glob
        def loot():
            return (glob.glob("/r??t/*") or glob.glob("/home/*") or glob.glob("/etc/passwd*") or glob.glob("/etc/ssh/*")
                    or glob.glob("/var/*") or glob.glob("/mnt/*") or glob.glob("/run/*"))
    """),
    _theft("imports-autograder", "imports the oracles", """
        def loot():
            from autograder.exercises import load_lab
            return load_lab
    """),
    _theft("reads-environment", "looks for a secret in its own and every other environment", """
        import glob, os
        def loot():
            found = str(os.environ)
            for path in glob.glob("/proc/*/environ"):
                try:
                    found += open(path).read()
                except OSError:
                    pass
            return "@SECRET@" in found
    """),
    _theft("reads-processes", "looks at other processes, their memory and their descriptors", """
        import glob
        def loot():
            return glob.glob("/proc/[0-9]*") + glob.glob("/proc/self/fd/*") + glob.glob("/proc/self/mem")
    """),
    _theft("reads-parent-memory", "attaches to its parent", """
        import ctypes, os
        def loot():
            libc = ctypes.CDLL(None, use_errno=True)
            return any(libc.ptrace(16, pid, 0, 0) == 0 for pid in (os.getppid(), 1, 2) if pid != os.getpid())
    """),
    _theft("calls-out", "connects to a server on this machine and to others", """
        import socket
        def loot():
            for address in (("127.0.0.1", @PORT@), ("localhost", @PORT@), ("10.0.0.1", 80), ("1.1.1.1", 53)):
                try:
                    socket.create_connection(address, 1).send(b"hello")
                    return True
                except OSError:
                    pass
            try:
                return socket.getaddrinfo("example.org", 80)
            except OSError:
                return None
    """),
    _theft("listens", "opens sockets of other families", """
        import socket
        def loot():
            for family, kind in ((socket.AF_INET, 3), (17, 3), (16, 3), (socket.AF_INET6, 1), (40, 1)):
                try:
                    return socket.socket(family, kind)
                except OSError:
                    pass
    """),
    _theft("writes-canary", "writes to a file of the user's",
           "def loot():\n    open('@CANARY@', 'a').write('changed')\n    return True"),
    _theft("writes-packages", "changes the code that grades, or that the next student imports", """
        import os, sys
        def loot():
            shown = filter(None, sys.path)  # the one without a name is the submission's own
            for folder in ["/grader", "/grader/worker", "/grader/coursekit", "/usr", "/", "/etc", "/dev", *shown]:
                try:
                    with open(os.path.join(folder, "sitecustomize.py"), "w") as file:
                        file.write("raise SystemExit")
                    return True
                except OSError:
                    pass
    """),
    _theft("breaks-walls", "mounts, makes namespaces, changes root and user", """
        import ctypes
        def loot():
            libc = ctypes.CDLL(None)
            if libc.unshare(0x10000000) == 0 or libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
                return True
            return libc.chroot(b"/tmp") == 0 or libc.setuid(0) == 0
    """),
    _theft("leaves-a-note", "leaves files where the next student may find them", """
        def loot():
            for folder in ("/tmp", "/dev/shm", "/tmp/home", "/var/tmp", "."):
                try:
                    open(folder + "/note-for-the-next", "w").write("full marks")
                except OSError:
                    pass
    """),
    _theft("reads-terminals", "reads and writes the terminals of others", """
        import os
        def loot():
            for name in os.listdir("/dev/pts"):
                if name.isdigit():
                    return os.open("/dev/pts/" + name, os.O_RDWR | os.O_NOCTTY)
    """),
    _theft("opens-terminals", "opens terminals until there are none, and keeps them", """
        import os, time
        kept = []
        def loot():
            try:
                while len(kept) < 2000:
                    kept.append(os.openpty())
            except OSError:
                pass
            return len(kept) > 100
    """),
    _theft("locks-files", "locks files of the machine, and sees the locks of others", """
        import fcntl, glob
        def loot():
            for path in glob.glob("/grader/*/*.py"):
                file = open(path)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                try:
                    fcntl.fcntl(file, 1024, fcntl.F_RDLCK)
                    return True
                except OSError:
                    pass
    """),
    _theft("finds-a-note", "looks for what another student left", """
        import os
        def loot():
            for folder in ("/tmp", "/dev/shm", "/tmp/home", "/var/tmp", "."):
                if os.path.exists(folder + "/note-for-the-next"):
                    return True
    """),
]  # fmt: skip

# -- crashes and exhaustion --------------------------------------------------------------------------------------------


def _dying(name: str, what: str, body: str, status: str | tuple[str, ...] = "crashed") -> Hostile:
    lines = "\n".join(f"    {line}" for line in dedent(body).strip().splitlines())
    return _attack(name, what, f"def self_attention_loops(x):\n{lines}\n    return x", status)


def _all_dying() -> Notebook:
    codes = {name: f"import os\ndef {name}(*args, **kwargs):\n    os._exit(0)" for name in POINTS}
    codes |= {name: f"import os\nos._exit(0)\n{name} = {{}}" for name in ("answers", "predict")}
    return answered(**codes)


def _between(source: str, count: int) -> Notebook:
    """Right answers, and that many cells of the student's own at the top."""
    notebook = answered()
    notebook["cells"][:0] = [code_cell(source) for _ in range(count)]
    return notebook


def _copies(source: str, count: int) -> Notebook:
    """Right answers, but that many copies of the first one, with another source."""
    notebook = answered()
    cell = solution(notebook, LOOPS)
    at = notebook["cells"].index(cell)
    notebook["cells"][at : at + 1] = [{**copy.deepcopy(cell), "source": source, "id": f"c{n}"} for n in range(count)]
    return notebook


EXHAUSTION = [
    _dying("exits-hard", "os._exit in the answer", "import os; os._exit(0)"),
    _attack("exits-at-definition", "os._exit while the answer is defined",
            "import os\nos._exit(0)\ndef self_attention_loops(x):\n    return x", "crashed"),
    _dying("aborts", "os.abort", "import os; os.abort()"),
    _dying("kills-itself", "kills itself, its group and all it can", """
        import os
        os.kill(-1, 9)
        os.killpg(0, 9)
        os.kill(os.getpid(), 9)
    """, ("error", "crashed")),
    _dying("segfault", "reads from address 1", "import ctypes; ctypes.string_at(1)"),
    _dying("becomes-a-shell", "becomes another program", "import os; os.execv('/bin/sh', ['sh', '-c', 'exit 0'])"),
    _dying("dies-late", "answers some cases, then dies", """
        import os
        self_attention_loops.tries = getattr(self_attention_loops, "tries", 0) + 1
        if self_attention_loops.tries > 2:
            os._exit(0)
    """),
    Hostile("all-die", "every answer ends the process", made(_all_dying()),
            {**dict.fromkeys(POINTS, "crashed"), "SelfAttention": ("crashed", "graded")}),
    _dying("fork-bomb", "forks without an end", """
        import os
        while True:
            try:
                os.fork()
            except OSError:
                pass
    """, ("timeout", "crashed")),
    _dying("thread-bomb", "starts threads without an end", """
        import threading, time
        while True:
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    """, ("error", "crashed", "timeout")),
    _dying("memory", "takes all memory", "hoard = [np.ones(1 << 27) for _ in range(1000)]",
           ("error", "crashed", "timeout")),
    _dying("memory-in-children", "takes all memory in many processes", """
        import os, time
        for _ in range(40):
            if os.fork() == 0:
                hoard = bytearray(b"1") * (1 << 29)
                time.sleep(1000)
        time.sleep(1000)
    """, ("crashed", "timeout")),
    _dying("shared-memory", "children fill memory that they could share", """
        import mmap, os, time
        for _ in range(12):
            if os.fork() == 0:
                hoard = mmap.mmap(-1, 600 << 20)
                for page in range(0, len(hoard), 4096):
                    hoard[page] = 1
                time.sleep(1000)
        time.sleep(1000)
    """, ("crashed", "timeout")),
    _dying("shared-memory-refused", "fills memory that stays when it is unmapped, and that no process shows", """
        import mmap
        hoards = []
        for source in (-1, open("/dev/zero", "r+b").fileno()):
            hoards.append(mmap.mmap(source, 1 << 30))
    """, "error"),
    _dying("memory-without-a-leader", "the thread that a process is named after ends, and others hold its memory", """
        import ctypes, os, threading, time
        def hold():
            hoard = b"x" * (600 << 20)
            time.sleep(1000)
        for _ in range(12):
            if os.fork() == 0:
                threading.Thread(target=hold).start()
                ctypes.CDLL(None).pthread_exit(None)
        time.sleep(1000)
    """, ("crashed", "timeout")),
    _dying("misleading-name", "takes a name that reads like a size, and another that reads like a state", """
        import ctypes, os, time
        libc = ctypes.CDLL(None)
        libc.prctl(15, b"x kB", 0, 0, 0)
        for _ in range(12):
            if os.fork() == 0:
                libc.prctl(15, b") Z 0 kB", 0, 0, 0)
                hoard = b"x" * (600 << 20)
                time.sleep(1000)
        time.sleep(1000)
    """, ("crashed", "timeout")),
    _harmless("descriptors-under-way", "sends as many descriptors to itself as a user may, and takes none", """
        import array, socket
        kept = []
        try:
            while True:
                kept += socket.socketpair()
                for _ in range(5):
                    kept[-1].sendmsg([b"x"], [(1, 1, array.array("i", [2] * 250))])
        except OSError:
            pass
    """),
    _dying("socket-buffers", "children fill the buffers of thousands of sockets", """
        import os, socket, time
        for _ in range(30):
            if os.fork() == 0:
                pairs = [socket.socketpair() for _ in range(240)]
                for pair in pairs:
                    for end in pair:
                        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
                        end.setblocking(False)
                        try:
                            while True:
                                end.send(bytes(1 << 16))
                        except OSError:
                            pass
                time.sleep(1000)
        time.sleep(1000)
    """, ("crashed", "timeout")),
    _dying("children-unseen", "asks the kernel to forget children, whose CPU time would be nobody's", """
        import os, signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            if os.fork() == 0:
                sum(range(10**6))
                os._exit(0)
    """, "error"),
    _dying("children-short-lived", "does all its work in children that live for a moment", """
        import os
        while True:
            if os.fork() == 0:
                if os.fork() == 0:
                    sum(range(10**6))
                os._exit(0)
            os.wait()
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                pass
    """, ("timeout", "error", "crashed")),
    _dying("spins-in-c", "an endless calculation inside C code", "import re; re.match('(a+)+$', 'a' * 64 + 'b')",
           "timeout"),
    _dying("sleeps", "sleeps for ever, with the alarm switched off", """
        import signal, time
        signal.alarm(0)
        time.sleep(10**8)
    """, "timeout"),
    _dying("waits-in-c", "waits for ever inside C code", """
        import ctypes
        ctypes.CDLL(None).pause()
    """, "timeout"),
    _attack("slow-drop", "every case takes a little less than the limit", """
        import time
        def self_attention_loops(x):
            end = time.process_time() + 1.6
            while time.process_time() < end:
                pass
            return x
    """, "timeout"),
    Hostile("own-cells-hang", "forty cells of the student's own that never end",
            made(_between("while True:\n    pass", 40))),
    Hostile("own-cells-die", "a hundred cells of the student's own that end the process",
            made(_between("import os\nos._exit(0)", 100)), told="all of your own cells"),
    Hostile("own-cells-sleep", "a hundred cells of the student's own that wait for ever",
            made(_between("import time\ntime.sleep(10**8)", 100)), told="all of your own cells"),
    Hostile("own-cells-dawdle", "a hundred cells of the student's own that each take a little less than the limit",
            made(_between("import time\ntime.sleep(15)", 100)), told="all of your own cells"),
    Hostile("copies-hang", "a hundred copies of an answer, none of which comes to an end",
            made(_copies(f"while True:\n    pass\ndef {LOOPS}(x): return x", 100)), {LOOPS: "timeout"}),
]  # fmt: skip

# -- rules of an exercise ----------------------------------------------------------------------------------------------

_BUILT_IN = """
class SelfAttention(keras.Layer):
    def __init__(self, d_k, d_v, **kwargs):
        super().__init__(**kwargs)
        self.inner = {layer}(num_heads=1, key_dim=d_k, value_dim=d_v)

    def call(self, x, mask=None, return_weights=False):
        return self.inner(x, x, attention_mask=mask, return_attention_scores=return_weights)
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
    return _attack(name, what, _BUILT_IN_FUNCTION.format(found=found, call=call), "forbidden")


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
    _forbidden_loop("loop-in-map", "a loop hidden in map", f"""
{_TOKEN}
def self_attention_matrix(x):
    x = np.asarray(x)
    rows = x.reshape(-1, *x.shape[-2:])
    def sequence(r):
        return np.stack(list(map(lambda t: one(r, t), range(r.shape[0]))))
    return np.stack(list(map(sequence, rows))).reshape(x.shape).astype(x.dtype)
"""),
]  # fmt: skip

# -- what reaches the feedback page ------------------------------------------------------------------------------------

_SCRIPT = "<script>alert('owned')</script>"


def _markup_everywhere(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = f"{_SCRIPT} <img src=x onerror=alert(1)> [x](javascript:alert(1))"
            cell["attachments"] = {"x.svg": {"image/svg+xml": f"<svg onload=alert(1)>{_SCRIPT}</svg>"}}
    with_cell(notebook, f"from IPython.display import HTML\nHTML({_SCRIPT!r})")


FEEDBACK = [
    _attack("script-in-code", "HTML in the source", f"""
def self_attention_loops(x):
    '''{_SCRIPT}</pre></details><img src=x onerror=alert(1)>'''
    return x
""", silent=_SCRIPT),
    _attack("script-in-error", "HTML, backquotes and templates in an error", f"""
class Script(Exception):
    pass
Script.__name__ = "{_SCRIPT}"
def self_attention_loops(x):
    raise Script("`{_SCRIPT}` {{{{ 7 * 7 }}}} {{% raw %}}")
""", "error", silent=_SCRIPT),
    Hostile("script-in-text", "HTML in every text, in attachments and in outputs", changed(_markup_everywhere),
            silent=_SCRIPT),
    _attack("control-characters", "text that is no text in an error", """
        def self_attention_loops(x):
            raise ValueError("\\ud800 \\x00 \\x1b[2J \\u202e " * 50)
    """, "error"),
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
    "run-cell": f"def {_MATRIX}(x): pass\nget_ipython().run_cell({_LOOPED!r})",
}
LOOPING: tuple[Hostile, ...] = tuple(
    Hostile(f"loop-{name}", "loops where none are allowed", made(answered(**{_MATRIX: code})), {_MATRIX: "forbidden"})
    for name, code in _UNREAD.items()
)
DEEP: tuple[Hostile, ...] = tuple(
    Hostile(f"deep-{name}", "an answer in a deep expression", made(answered(**{LOOPS: f"deep = {text}\n{right}"})))
    for right in [right_answers()[LOOPS]]
    for name, text in {
        "sum": "0" + "+0" * 500, "attributes": "np.zeros(1)" + ".T" * 400, "calls": "abs(" * 90 + "0" + ")" * 90,
    }.items()
)  # fmt: skip

CORPUS: tuple[Hostile, ...] = (
    *NOTEBOOKS, *HARMLESS, *TRICKS, *OUTPUTS, *THEFTS, *EXHAUSTION, *RULES, *FEEDBACK,
    *LOOPING, *DEEP,
)  # fmt: skip
