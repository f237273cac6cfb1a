"""The table as Parquet, where pyarrow is installed."""

from __future__ import annotations

from importlib.util import find_spec

from crowd_demo.ensemble.plan import Cell
from crowd_demo.ensemble.table import Table


def parquet(table: Table) -> bytes | None:
    """Return the file; None without pyarrow. A column of mixed kinds becomes one of texts."""
    if find_spec("pyarrow") is None:
        return None
    import pyarrow
    from pyarrow.parquet import write_table

    columns = {name: _of_one_kind([row[name] for row in table.rows]) for name in table.columns}
    sink = pyarrow.BufferOutputStream()
    write_table(pyarrow.table(columns), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _of_one_kind(cells: list[Cell]) -> list[Cell]:
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {int, float}:
        return [None if cell is None else float(cell) for cell in cells]
    return cells if len(kinds) < 2 else [None if cell is None else str(cell) for cell in cells]
