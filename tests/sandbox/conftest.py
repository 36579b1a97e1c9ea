"""A sandbox for the tests of this folder, unharmed after each of them."""

import time

import psutil
import pytest
from tight_sandbox import TIGHT, living

from autograder.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox():
    """A worker without TensorFlow: it starts in a second, and its walls are the same."""
    with Sandbox(TIGHT, preload=["numpy", "coursekit.probes", "coursekit.check.rules"]) as started:
        yield started


@pytest.fixture(autouse=True)
def next_submission_is_unharmed(request):
    """After every attack, the same worker serves the next submission, and nothing of the last one is left."""
    if "sandbox" not in request.fixturenames:
        yield
        return
    sandbox = request.getfixturevalue("sandbox")
    worker = psutil.Process(sandbox._worker.process.pid)
    before = living(worker)
    yield
    assert sandbox._worker.process.pid == worker.pid, "the worker had to be started again"
    deadline = time.monotonic() + 100  # the process between the worker and the runner may still be on its way out
    while left := living(worker) - before:
        assert time.monotonic() < deadline, f"processes are left: {left}"
        time.sleep(0.05)
    with sandbox.session() as session:
        reply = session.run_cell("print(sorted(__import__('os').listdir('.')), 'x' in globals())")
    assert (reply.error, reply.stdout) == (None, "[] False\n")


@pytest.fixture
def session(sandbox):
    with sandbox.session() as opened:
        yield opened
