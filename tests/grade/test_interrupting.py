"""Ctrl-C is heard where Python loses it, too."""

import subprocess
import sys

import pytest

LOSING = {
    "the callback of a weak reference": """
class Anything: pass
thing = Anything()
reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
del thing
""",
    "__del__": """
class Anything:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
Anything()
""",
}


@pytest.mark.parametrize("losing", LOSING.values(), ids=LOSING)
@pytest.mark.parametrize("waiting", ["time.sleep(9999)", "threading.Event().wait(9999)", "while True: pass"])
def test_a_lost_interrupt_comes_again(losing, waiting):
    program = f"""
import signal, threading, time, weakref
from autograder.cli.app import send_again_what_is_lost
signal.signal(signal.SIGINT, signal.default_int_handler)
send_again_what_is_lost()
try:
    {losing.strip().replace(chr(10), chr(10) + "    ")}
    {waiting}
except KeyboardInterrupt:
    print("stopped")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("stopped\n", ""), ended


def test_other_errors_that_nobody_can_catch_are_still_reported():
    program = """
from autograder.cli.app import send_again_what_is_lost
send_again_what_is_lost()
class Anything:
    def __del__(self):
        raise ValueError("seen")
Anything()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ValueError: seen" in ended.stderr
