"""Numbers, values and rows as text, for the terminal and for the window."""

from __future__ import annotations

from collections.abc import Sequence

from crowd_demo.measure.statistics import Interval
from crowd_demo.registry.entries import Value
from crowd_demo.registry.techniques import word


def shown(value: Value) -> str:
    """A technique's value as YAML writes it, a number with its first six digits."""
    return f"{value:g}" if isinstance(value, float) else word(value)


def interval(of: Interval) -> str:
    return f"{of.low:.2f}-{of.high:.2f}"


def milliseconds(number: float) -> str:
    """With three digits or so: 0.52, 3.14, 31.4, 31,400."""
    digits = 2 if number < 9.995 else 1 if number < 99.95 else 0
    return f"{number:,.{digits}f}"


def factor(number: float) -> str:
    """How many times: 0.52x, 1.04x, 3.1x, 31x, 1,200x."""
    return f"{number:,.{_digits(number)}f}x"


def factors(of: Interval) -> str:
    """Where a factor lies, with the digits that the larger end has."""
    return f"{of.low:,.{_digits(of.high)}f}-{of.high:,.{_digits(of.high)}f}"


def _digits(number: float) -> int:
    return 2 if number < 1.995 else 1 if number < 19.95 else 0


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of as many cells each as lines: the first column flush left, the others flush right."""
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    return "\n".join("  ".join([name.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, others, strict=True))])
                     for name, *cells in rows)
