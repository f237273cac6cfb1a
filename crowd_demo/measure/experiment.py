"""An experiment: a measurement of many seconds, which runs in short slices. It can be stopped after any slice, and its results
so far remain."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple, Protocol, TypeVar

from crowd_demo.config.optimizations import Optimizations

Compile = Callable[[Optimizations], Iterator[str]]
"""Compiles the kernels that these techniques need, one after the other; yields a line before each."""

Found = TypeVar("Found")


class Progress(NamedTuple):
    """What the experiment does next, and how much of it is done, 0 to 1."""

    text: str
    part: float

    def __str__(self) -> str:
        return f"{self.part:4.0%}  {self.text}"


class Experiment(Protocol):
    """Ask `run` for one slice after the other, in the thread that calls kernels. Any thread may read the results."""

    def run(self) -> Iterator[Progress]: ...


def with_progress(parts: Generator[float, None, Found], text: str, done: float = 0.0,
                  share: float = 1.0) -> Generator[Progress, None, Found]:
    """Run the slices of one part and yield the progress of the whole; return what the part returns.

    `done` is how much of the whole is done before the part begins, `share` how much of the whole the part is, 0 to 1 each.
    """
    while True:
        try:
            part = next(parts)
        except StopIteration as end:
            return end.value
        yield Progress(text, done + part * share)


def no_compiling(options: Optimizations) -> Iterator[str]:
    """Compile nothing: the first step will compile what it needs."""
    yield from ()
