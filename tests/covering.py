"""Pairwise covering arrays: few rows in which every pair of values of two parameters occurs.

A fault of one switch, or of two together, shows in some row; the full product of a dozen switches has millions of rows. The
greedy search is that of Cohen and others 1997, The AETG System.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

Row = dict[str, Any]
Pair = tuple[int, int, int, int]  # two parameters in their order, each followed by the number of its value


def covering_rows(choices: Mapping[str, Sequence[Any]]) -> list[Row]:
    """Return rows with a value for each parameter, in which each pair of values occurs; always the same ones.

    `choices` has the values of each parameter, all of which are different.
    """
    sizes = [len(values) for values in choices.values()]
    missing: dict[Pair, None] = {
        (one, a, other, b): None for one, other in itertools.combinations(range(len(sizes)), 2)
        for a, b in itertools.product(range(sizes[one]), range(sizes[other]))}
    rows = []
    while missing:
        row = _best_row(sizes, missing)
        for pair in _pairs(row):
            missing.pop(pair, None)
        rows.append({name: values[at] for (name, values), at in zip(choices.items(), row, strict=True)})
    return rows


def _best_row(sizes: Sequence[int], missing: Mapping[Pair, None]) -> list[int]:
    """Begin with the first pair that is missing; give each other parameter the value that adds most pairs."""
    one, a, other, b = next(iter(missing))
    row: dict[int, int] = {one: a, other: b}
    for number in sorted(set(range(len(sizes))) - row.keys(), key=lambda number: -sizes[number]):
        row[number] = max(range(sizes[number]), key=lambda value: _added(row, number, value, missing))
    return [row[number] for number in range(len(sizes))]


def _added(row: Mapping[int, int], number: int, value: int, missing: Mapping[Pair, None]) -> int:
    """How many pairs are no longer missing once a parameter has that value."""
    return sum(((at, known, number, value) if at < number else (number, value, at, known)) in missing
               for at, known in row.items())


def _pairs(row: Sequence[int]) -> list[Pair]:
    return [(one, row[one], other, row[other]) for one, other in itertools.combinations(range(len(row)), 2)]
