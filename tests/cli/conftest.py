"""The command line without the program behind it, and what a mistake prints."""

import sys
from types import SimpleNamespace

import pytest


@pytest.fixture
def started(monkeypatch):
    """Calls of the program proper, which is replaced by one that returns 0 at once."""
    launches = []
    program = SimpleNamespace(run=lambda config, options: launches.append((config, options)) or 0)
    monkeypatch.setitem(sys.modules, "crowd_demo.app.main", program)
    return launches


@pytest.fixture
def fails(monkeypatch):
    """Make the program proper end in some way."""
    def fails(with_what):
        def run(config, options):
            if isinstance(with_what, int):
                return with_what
            raise with_what

        monkeypatch.setitem(sys.modules, "crowd_demo.app.main", SimpleNamespace(run=run))

    return fails
