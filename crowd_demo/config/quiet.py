"""Hide what C libraries print: the program says in its own line what went wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Hide what is written to the descriptor of standard error."""
    if sys.stderr:
        sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # it is closed: nothing can be seen anyway
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
