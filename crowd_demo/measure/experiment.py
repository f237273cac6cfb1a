"""An experiment: what takes many seconds, in slices, and can be left at any time with what it has found so far."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple, Protocol, TypeVar

from crowd_demo.config.optimizations import Optimizations

Compile = Callable[[Optimizations], Iterator[str]]
"""Compiles the kernels that these techniques need, one after the other; yields a line before each."""

Found = TypeVar("Found")


class Progress(NamedTuple):
    """What is done next, and how much of the whole has been done, 0 to 1."""

    text: str
    part: float

    def __str__(self) -> str:
        return f"{self.part:4.0%}  {self.text}"


class Experiment(Protocol):
    """Ask `run` for one slice after the other, in the thread that calls kernels. Any thread may read what was found."""

    def run(self) -> Iterator[Progress]: ...


def told(parts: Generator[float, None, Found], text: str, done: float = 0.0,
         share: float = 1.0) -> Generator[Progress, None, Found]:
    """Run the slices of a part that is such a share of the whole, of which `done` is done; return what it returns."""
    while True:
        try:
            part = next(parts)
        except StopIteration as end:
            return end.value
        yield Progress(text, done + part * share)


def no_compiling(options: Optimizations) -> Iterator[str]:
    """Leave it to the first step."""
    yield from ()
