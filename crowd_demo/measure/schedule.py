"""Arms take turns: block by block, each time in another random order.

Other load on the machine and its changes of clock rate then trouble all arms alike, and no arm always follows the same one
with that one's data in the caches. To stop, a caller does not ask for the next turn.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from crowd_demo.measure.arm import Arm
from crowd_demo.measure.statistics import LEAST_BLOCKS

Outcome = TypeVar("Outcome")
WARM_UP = -1  # the number of the block that warms up


class Finished(NamedTuple, Generic[Outcome]):
    """One arm has finished one block, which gave this."""

    block: int  # from 0 on; `WARM_UP` does not count
    name: str
    outcome: Outcome


def interleave(arms: Mapping[str, Arm[Outcome]], lengths: Sequence[int], warm_up: int = 0,
               seed: int = 0) -> Iterator[Finished[Outcome]]:
    """Run one block of `warm_up` steps with each arm, then one of each length; yield after every block of every arm."""
    rng = random.Random(seed)
    blocks = [(WARM_UP, warm_up)] * bool(warm_up) + list(enumerate(lengths))
    for number, steps in blocks:
        for name in rng.sample(list(arms), len(arms)):
            yield Finished(number, name, arms[name].run(steps))


def collect(arms: Iterable[str], turns: Iterable[Finished[Outcome]]) -> dict[str, list[Outcome]]:
    """The outcomes of each arm, block by block; of blocks that all arms have finished, without the one that warms up."""
    found: dict[str, list[Outcome]] = {name: [] for name in arms}
    for block, name, outcome in turns:
        if block != WARM_UP:
            found[name].append(outcome)
    finished = min(map(len, found.values()), default=0)
    return {name: outcomes[:finished] for name, outcomes in found.items()}


def block_lengths(steps: int, longest: int = 10) -> list[int]:
    """Cut steps into blocks: no longer than `longest`, and enough of them for an interval if there are enough steps."""
    length = min(longest, max(steps // LEAST_BLOCKS, 1))
    whole, rest = divmod(steps, length)
    return [length] * whole + [rest] * bool(rest)
