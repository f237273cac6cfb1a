"""What the table measures: one file each, and the list of them."""

from __future__ import annotations

from targets import (
    ageing,
    arrays,
    first_start,
    first_use,
    four_million,
    frames,
    looking,
    memory,
    no_stage,
    one_cell,
    picture,
    sorts,
    step,
    threads,
    warm_start,
)
from targets.base import Target

TARGETS: tuple[Target, ...] = (
    step.TARGET, threads.TARGET, frames.TARGET, picture.TARGET, looking.TARGET, sorts.TARGET, ageing.TARGET, arrays.TARGET,
    one_cell.TARGET, four_million.TARGET, memory.TARGET, no_stage.TARGET, warm_start.TARGET, first_start.TARGET,
    first_use.TARGET)
