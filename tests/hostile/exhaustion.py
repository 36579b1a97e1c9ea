"""Crashes, and all that a machine can run out of."""

from __future__ import annotations

import copy
from textwrap import dedent

from hostile.kinds import attack, harmless
from hostile.making import LOOPS, POINTS, Hostile, Notebook, answered, code_cell, made, solution


def _dying(name: str, what: str, body: str, status: str | tuple[str, ...] = "crashed") -> Hostile:
    lines = "\n".join(f"    {line}" for line in dedent(body).strip().splitlines())
    return attack(name, what, f"def self_attention_loops(x):\n{lines}\n    return x", status)


def _all_dying() -> Notebook:
    codes = {name: f"import os\ndef {name}(*args, **kwargs):\n    os._exit(0)" for name in POINTS}
    codes |= {name: f"import os\nos._exit(0)\n{name} = {{}}" for name in ("answers", "predict", "report")}
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
    _dying("main-thread-ends", "the main thread ends, and leaves another one computing", """
        import ctypes, threading
        def compute():
            while True:
                pass
        threading.Thread(target=compute, daemon=True).start()
        ctypes.CDLL(None).syscall(60 if __import__("platform").machine() == "x86_64" else 93, 0)
    """, "timeout"),
    _dying("exits-hard", "os._exit in the answer", "import os; os._exit(0)"),
    attack("exits-at-definition", "os._exit while the answer is defined",
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
            {**dict.fromkeys(POINTS, "crashed"), "self_attention_matrix": "forbidden", "SelfAttention": "forbidden"}),
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
    harmless("descriptors-under-way", "sends as many descriptors to itself as a user may, and takes none", """
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
                os.kill(os.getpid(), 9)
    """, "error"),
    _dying("children-short-lived", "does all its work in children that live for a moment", """
        import os
        while True:
            if os.fork() == 0:
                if os.fork() == 0:
                    sum(range(10**6))
                os.kill(os.getpid(), 9)
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
    attack("slow-drop", "every case takes a little less than the limit", """
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
