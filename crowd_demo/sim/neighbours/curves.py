"""Curves through a square of 2^bits x 2^bits cells: from a number along the curve to its cell (and back, for Morton).

    ROW      row by row: neighbours in a row follow each other, those in a column are a whole row apart
    MORTON   the bits of row and column interleaved: four cells make a Z, four Zs make a larger Z
    HILBERT  quarters turned so that each cell touches the one before it

On Morton's and Hilbert's curve an aligned square of 2^k x 2^k cells is one aligned run of 4^k numbers, so cells
that are near in the world are mostly near along the curve. Numbers are below 4^bits and fit an int64.

Source: Warren, "Hacker's Delight" (interleaving); Wikipedia, "Hilbert curve" (turning quarters).
"""

from __future__ import annotations

from crowd_demo.compute.jit import device

ROW, MORTON, HILBERT = range(3)
CURVES = {"row": ROW, "morton": MORTON, "hilbert": HILBERT}


@device
def _spread(bits: int) -> int:
    """Insert a zero above each of the lowest 16 bits."""
    bits = (bits | bits << 8) & 0x00FF00FF
    bits = (bits | bits << 4) & 0x0F0F0F0F
    bits = (bits | bits << 2) & 0x33333333
    return (bits | bits << 1) & 0x55555555


@device
def _squeeze(bits: int) -> int:
    """Keep every other bit, from the lowest: the inverse of `_spread`."""
    bits &= 0x55555555
    bits = (bits | bits >> 1) & 0x33333333
    bits = (bits | bits >> 2) & 0x0F0F0F0F
    bits = (bits | bits >> 4) & 0x00FF00FF
    return (bits | bits >> 8) & 0x0000FFFF


@device
def morton(column: int, row: int) -> int:
    return _spread(column) | _spread(row) << 1


@device
def morton_place(number: int) -> tuple[int, int]:
    """Return (column, row) of the cell with that number."""
    return _squeeze(number), _squeeze(number >> 1)


@device
def hilbert_place(number: int, bits: int) -> tuple[int, int]:
    """Return (column, row) of the cell with that number."""
    column, row = 0, 0
    for bit in range(bits):
        right = number >> 1 & 1
        below = (number ^ right) & 1
        if not below:
            if right:
                column, row = (1 << bit) - 1 - column, (1 << bit) - 1 - row
            column, row = row, column
        column, row = column + (right << bit), row + (below << bit)
        number >>= 2
    return column, row


@device
def cell_place(curve: int, number: int, bits: int) -> tuple[int, int]:
    """Return (column, row) of the cell with that number."""
    if curve == MORTON:
        return morton_place(number)
    if curve == HILBERT:
        return hilbert_place(number, bits)
    return number & (1 << bits) - 1, number >> bits
