"""What experiments share. An experiment is a measurement of many seconds, which runs in short slices: it can be stopped
after any slice, and its results so far remain. It shows them as a table with notes, as text for the terminal and the
window, and records them as JSON.

Format:

JSON of `--report` of commands that measure. All begin with `version` (which grows when a field goes or changes its
meaning), `kind`, `versions` and `machine`. A variant has `step_ms`, `stages_ms`,
`counters` and `state_hash`. The step and each stage have an estimate: `ms`, `ratio` and `noise`, each
`{value, low, high}` with null for unknown, and `verdict`: `faster`, `slower`, `no difference` or `unknown`. In
`measurement` and `ablation` `ms` is the time with the current value. The `other` value is compared with it for the
`step`, the `frame` and the technique's `stage` (null unless it ran in all crowds). In `sweep` and `measurement` `why` has
figures of a stage. `complete` is false after an early stop.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from crowd_demo.config.model import Config, Optimizations
from crowd_demo.registry.entries import Value
from crowd_demo.version import __version__

Compile = Callable[[Optimizations], Iterator[str]]
"""Compiles the kernels that these techniques need, one after the other; yields a line before each."""

Part = TypeVar("Part")
Made = TypeVar("Made")
Result = TypeVar("Result")


class Slice(NamedTuple):
    """A slice of an experiment: what it does next, and how much of it is done, 0 to 1."""

    text: str
    part: float

    def __str__(self) -> str:
        return f"{self.part:4.0%}  {self.text}"


class InSlices(Protocol):
    """Ask `run` for one slice after the other, in the thread that calls kernels. Any thread may read the results."""

    def run(self) -> Iterator[Slice]: ...


class Experiment(InSlices, Protocol):
    """`done` says whether it has run to its end."""

    @property
    def done(self) -> bool: ...

    def table(self) -> TextTable: ...

    def notes(self) -> Sequence[str]:
        """Paragraphs under the table, of a line or more; the first one says how to read it."""

    def record(self) -> Mapping[str, object]:
        """The results so far, of what JSON can say."""


def result_of(parts: Generator[object, None, Result]) -> Result:
    """Run all slices; return what the generator returns."""
    while True:
        try:
            next(parts)
        except StopIteration as end:
            found: Result = end.value
            return found


def with_progress(parts: Generator[float, None, Result], text: str, done: float = 0.0,
                  share: float = 1.0) -> Generator[Slice, None, Result]:
    """Run the slices of one part and yield the progress of the whole; return what the part returns.

    `done` is how much of the whole is done before the part begins, `share` how much of the whole the part is, 0 to 1
    each.
    """
    return mapped(parts, lambda part: Slice(text, done + part * share))


def mapped(parts: Generator[Part, None, Result], made: Callable[[Part], Made]) -> Generator[Made, None, Result]:
    """Yield what is made of each slice of a part; return what the part returns."""
    while True:
        try:
            part = next(parts)
        except StopIteration as end:
            return end.value
        yield made(part)


# --- text ------------------------------------------------------------------------------------------------------------

class TextTable(NamedTuple):
    """Column heads, and rows of as many cells."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def __str__(self) -> str:
        return aligned([self.columns, *self.rows])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of as many cells each as lines: the first column flush left, the others flush right."""
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    return "\n".join("  ".join([name.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, others, strict=True))])
                     for name, *cells in rows)


def figure_text(number: float | None) -> str:
    """Four digits, or all of a count."""
    return "-" if number is None else f"{number:,.0f}" if number == int(number) or abs(number) >= 1e4 else f"{number:,.4g}"


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    head, *others = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *others))


# --- records ---------------------------------------------------------------------------------------------------------

VERSION = 1  # grows whenever a field goes or changes its meaning; new fields leave it as it is
LIBRARIES = ("numpy", "numba", "llvmlite", "pygame-ce", "pydantic")
REGISTERS = ("avx512f", "avx2", "avx", "sse2", "neon")  # widest first


def header(kind: str) -> dict[str, object]:
    """What every record begins with; `kind` says which fields follow."""
    return {"version": VERSION, "kind": kind, "versions": versions(), "machine": machine()}


def versions() -> dict[str, str]:
    return {"crowd-demo": __version__, "python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def machine() -> dict[str, object]:
    """The processor, and the widest of its vector registers."""
    from llvmlite import binding

    features, lines = binding.get_host_cpu_features(), list[str]()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return {"cpu": model or platform.processor(), "cores": os.cpu_count(), "os": platform.platform(),
            "simd": next((name for name in REGISTERS if features.get(name)), None)}


def crowd_json(config: Config, techniques: Mapping[str, Value]) -> dict[str, object]:
    return {"config": config.model_dump(mode="json", exclude={"optimizations", "keys"}), "optimizations": dict(techniques)}
