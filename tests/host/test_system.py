"""What Python's collector of garbage looks at."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from crowd_demo.host.system import importing

pytestmark = pytest.mark.quick

FIRST = """
import gc
from crowd_demo.host.system import importing
with importing():
    assert not gc.isenabled()
    import numba
assert gc.isenabled() and gc.get_freeze_count() > 1000
"""


def test_what_a_start_imports_is_never_looked_at() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


def test_what_was_made_since_is_looked_at() -> None:
    frozen = gc.get_freeze_count()
    with importing():
        assert gc.isenabled()
    assert gc.get_freeze_count() == frozen
