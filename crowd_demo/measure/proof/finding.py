"""What a proof tells, and what all of them need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from numpy.typing import NDArray

from crowd_demo.config.optimizations import Optimizations
from crowd_demo.registry.entries import Value

Kind = Literal["running", "same", "differs", "apart", "sample"]
Values = Mapping[str, Value]  # of techniques, by path
TOUCHED = 1 << 16  # numbers that are written in a part


class Finding(NamedTuple):
    """What is known so far.

    running     nothing yet
    same        not a bit differs
    differs     it should be the same, and is not
    apart       it differs, as the technique is approximate or another model
    sample      the answers of a sample were compared, and are the same or, if the technique is no exact one, not quite
    """

    kind: Kind
    text: str


class Proof(Protocol):
    """`finding` grows while `parts` goes on."""

    finding: Finding

    def parts(self) -> Iterator[None]:
        """Do the work, and yield after each part."""


def set_values(options: Optimizations, values: Values) -> None:
    for path, value in values.items():
        options.set(path, value)


def touch(array: NDArray[Any]) -> Iterator[None]:
    """Write zeros to new memory, a part at a time: the system provides it when it is first written to, which takes long."""
    numbers = array.reshape(-1)
    for at in range(0, len(numbers), TOUCHED):
        numbers[at:at + TOUCHED] = 0
        yield


def short(state_hash: str) -> str:
    """The first digits of a hash, for people to compare."""
    return f"{state_hash[:4]}…"
