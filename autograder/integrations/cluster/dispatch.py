"""Decides which worker gets which submission, and loses none with a worker that is lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

DEPTH = 4  # submissions in the hands of a worker for each of its threads: it goes on while verdicts are recorded
MOST_LOSSES = 10
SUSPECT = 3  # losses after which a submission goes to a worker that has nothing else

T = TypeVar("T")


@dataclass(eq=False)
class WorkItem(Generic[T]):
    """Something to be done by a worker, and how often it was lost with one."""

    content: T
    losses: int = field(default=0, init=False)


class Dispatch(Generic[T]):
    """Hands out items, `DEPTH` for each slot, to the worker that has the fewest for its slots.

    What is lost with a worker goes to another one, before anything new. What was lost `SUSPECT` times travels alone, so
    that a submission that takes workers down costs no other one its turn.

    Args:
        contents: what is to be done; not looked at long before it can be handed out.
    """

    def __init__(self, contents: Iterator[T]):
        self._contents = contents
        self._again: deque[WorkItem[T]] = deque()
        self._held: dict[str, set[WorkItem[T]]] = {}
        self._exhausted = False

    def is_done(self) -> bool:
        """Whether nothing waits and nothing is in anybody's hands."""
        if self._again or self.holders:
            return False
        if (item := self._next()) is not None:
            self._again.append(item)
        return not self._again

    def assign(self, slots: Mapping[str, int]) -> Iterator[tuple[WorkItem[T], str]]:
        """Hand out what the workers can take.

        Args:
            slots: threads of each worker that is fit, by address.
        """
        suspects = [task for task in self._again if task.losses >= SUSPECT]
        for item in suspects:
            idle = [address for address in slots if not self._held.get(address)]
            if not idle:
                break
            self._again.remove(item)
            yield self._give(item, idle[0])
        free = {address: count for address, count in slots.items() if not self._is_reserved(address)}
        while free:
            address = min(free, key=lambda worker: len(self._held.get(worker, ())) / free[worker])
            if len(self._held.get(address, ())) >= DEPTH * free[address]:
                return
            next_ = self._next()
            if next_ is None:
                return
            yield self._give(next_, address)

    def finish(self, item: WorkItem[T]) -> None:
        """Take an item out of its worker's hands: it is done."""
        for held in self._held.values():
            held.discard(item)

    def lose(self, item: WorkItem[T], *, counts: bool = True) -> bool:
        """Take an item out of its worker's hands, to be done again; return whether it will be.

        Args:
            item: what was lost.
            counts: whether it was lost with its worker, and may be the reason; an item lost `MOST_LOSSES` times is
                given up.
        """
        self.finish(item)
        item.losses += counts
        if item.losses >= MOST_LOSSES:
            return False
        self._again.append(item)
        return True

    def held(self, address: str) -> Collection[WorkItem[T]]:
        """What a worker has in its hands."""
        return tuple(self._held.get(address, ()))

    @property
    def holders(self) -> Collection[str]:
        """The workers that have something in their hands."""
        return tuple(address for address, held in self._held.items() if held)

    def _give(self, item: WorkItem[T], address: str) -> tuple[WorkItem[T], str]:
        self._held.setdefault(address, set()).add(item)
        return item, address

    def _is_reserved(self, address: str) -> bool:
        return any(task.losses >= SUSPECT for task in self._held.get(address, ()))

    def _next(self) -> WorkItem[T] | None:
        for item in self._again:
            if item.losses < SUSPECT:
                self._again.remove(item)
                return item
        content = None if self._exhausted else next(self._contents, None)
        if content is None:
            self._exhausted = True
            return None
        return WorkItem(content)
