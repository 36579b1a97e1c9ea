"""What a piece of the trusted side costs on hostile input: CPU seconds and memory of a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

TESTS = Path(__file__).resolve().parent

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
    """What the code took (the largest of its processes for memory), and what it left in its variable `said`."""

    seconds: float
    megabytes: float
    said: Any


def cost_of(code: str, setup: str = "") -> Cost:
    """Run `setup`, then `code`, in a Python process of its own; only `code` is measured."""
    program = _PROGRAM.format(tests=str(TESTS), root=str(TESTS.parent), setup=dedent(setup), code=dedent(code))
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return Cost(*json.loads(ran.stdout.splitlines()[-1]))
