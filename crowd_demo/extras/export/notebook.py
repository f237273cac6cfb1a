"""A simulation in a notebook: the page that plays in the cell, and a table of who is where when.

Both are about the next steps, which a copy of the simulation makes: it stays where it is, so a cell can be run again and
gives the same, and the table is about what the page shows.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowd_demo.extras.export.page import page_content, planned
from crowd_demo.extras.export.sources import PersonNumbers, frames, of_simulation
from crowd_demo.extras.export.trajectories import asked_for, rows_of
from crowd_demo.sim.simulation import Simulation

if TYPE_CHECKING:
    import pandas

COLUMNS = np.dtype([("id", np.int64), ("frame", np.int64), ("x", np.float64), ("y", np.float64)])


class PlayedRun:
    """A run that plays where a notebook shows it. `page` is the whole page, a text of HTML."""

    def __init__(self, page: str, width: int, height: int) -> None:
        self.page, self._width, self._height = page, width, height

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.page)}" width="{self._width}" height="{self._height}"'
                ' style="border: 0; max-width: 100%"></iframe>')

    def __repr__(self) -> str:
        return f"<a run as a page of {len(self.page):,} characters, which a notebook plays>"


class TrajectoryTable(np.recarray[tuple[int], np.dtype[np.void]]):
    """A record for each person in each frame, in the order of frames and then of ids: id, frame, x and y."""

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a DataFrame. Raises ImportError where pandas is not installed."""
        from pandas import DataFrame

        return DataFrame({name: np.ascontiguousarray(self[name]) for name in COLUMNS.names or ()})


def played(sim: Simulation, width: int, height: int, steps: int) -> PlayedRun:
    """Make so many steps, and a page of them in an area of that size."""
    asked = asked_for(of_simulation(sim, steps), Path("simulation.html"), None, 0, None, metres=True)
    content = page_content(planned(asked, may_change_fps=True), f"sim.show({width}, {height}, {steps})")
    return PlayedRun(content.text(), width, height)


def table_of(sim: Simulation, every: int, steps: int, metres: bool) -> TrajectoryTable:
    """Make so many steps, and a table with every so many of them."""
    numbers, run = PersonNumbers(), frames(of_simulation(sim, steps), every)
    seen = [rows_of(frame, number, numbers, metres) for number, frame in enumerate(run)]
    table = np.empty(sum(len(rows.person) for rows in seen), COLUMNS)
    table["id"], table["x"], table["y"] = (np.concatenate(column) for column in zip(
        *((rows.person, rows.x, rows.y) for rows in seen), strict=True))
    table["frame"] = np.repeat(np.arange(len(seen)), [len(rows.person) for rows in seen])
    return table.view(TrajectoryTable)
