"""The exercise `find_the_bug` of a lab: given code that runs and is wrong, to be mended."""

from __future__ import annotations

from dataclasses import replace

from autograder.declare.declaration import Case
from autograder.declare.exercise import FIND_THE_BUG, Exercise
from coursekit.generator import Generator


def find_the_bug(original: Exercise) -> Exercise:
    """An exercise graded like `original`, all or nothing; its mistakes have no names, because finding one is the task.

    All cases are one group: the given code is right in most of them, and as it stands it earns nothing. Any float type
    passes: a lab asks for one in one exercise, and that is the original.

    In the solution's cell the given code stands after ``### END SOLUTION``; students find it below the line
    ``raise NotImplementedError``. It must fail every group, so that it earns nothing unchanged.
    """
    exercise = Exercise(
        FIND_THE_BUG,
        oracle=original.oracle,
        by_mode=original.by_mode,
        probe_only=original.probe_only,
        call=original.call,
        optional=original.optional,
        own_probe=original.own_probe,
        returns=original.returns,
        fields=original.fields,
        layer=original.layer,
        forbidden=original.forbidden,
        no_loops=original.no_loops,
        tolerance=original.tolerance,
        cpu_seconds=original.cpu_seconds,
    )

    @exercise.group(f"all that `{original.name}` is asked for", points=1)
    def mended(rng: Generator) -> list[Case]:
        return [replace(case, dtype=None) for group in original.groups for case in group.draw(rng)]

    return exercise
