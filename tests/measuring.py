"""What a piece of the trusted side costs on hostile input, in processor seconds that mean the same on every machine.

A test that says "5 seconds" would else judge the machine: one and the same takes 1.7 times as long from one second to
the next where others share the processor. So each limit is one of a machine that reads `_PIECE` in `_PIECE_SECONDS`,
and what was spent is told in that machine's seconds.
"""

from __future__ import annotations

import ast
import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

TESTS = Path(__file__).resolve().parent

_PIECE = "".join(f"a{n} = f(b[{n}], c.d) + {n}\n" for n in range(400))
_PIECE_SECONDS = 0.006  # where limits hold as they stand; a slow machine of 2026, shared with others, took 11 to 25 ms

# VmHWM and not ru_maxrss of the process itself: the latter begins with what the process that started it had.
_PROGRAM = """
import json, re, resource, sys
sys.path[:0] = [{tests!r}, {root!r}]
def usage():
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own = int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
    return sum(each.ru_utime + each.ru_stime for each in parts), max(own, parts[1].ru_maxrss)
said = None
{setup}
open("/proc/self/clear_refs", "w").write("5")
before = usage()[0]
{code}
seconds, kilobytes = usage()
print(json.dumps([seconds - before, kilobytes / 1024, said]))
"""


@dataclass(frozen=True)
class Cost:
    """What the code took (the largest of its processes for memory), and what it left in its variable `said`.

    Attributes:
        seconds: processor seconds of the machine of the limits, see `slowness`.
    """

    seconds: float
    megabytes: float
    said: Any


def slowness() -> float:
    """How many times longer this machine takes just now than the one of the limits."""
    took = []
    for _ in range(5):
        begun = time.process_time()
        sum(isinstance(node, ast.Name) for node in ast.walk(ast.parse(_PIECE)))
        took.append(time.process_time() - begun)
    return statistics.median(took) / _PIECE_SECONDS


@contextlib.contextmanager
def takes_at_most(seconds: float) -> Iterator[None]:
    """Assert that a block takes no more processor time than so many seconds of the machine of the limits."""
    before, begun = slowness(), time.process_time()
    yield
    spent = (time.process_time() - begun) / max(before, slowness())
    assert spent < seconds, f"{spent:.3g} seconds of the machine of the limits, which are {seconds}"


def cost_of(code: str, setup: str = "") -> Cost:
    """Run `setup`, then `code`, in a Python process of its own; only `code` is measured."""
    program = _PROGRAM.format(tests=str(TESTS), root=str(TESTS.parent), setup=dedent(setup), code=dedent(code))
    before = slowness()
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr[-2000:]
    seconds, megabytes, said = json.loads(ran.stdout.splitlines()[-1])
    return Cost(seconds / max(before, slowness()), megabytes, said)
