"""Host code says what its values are: `Any` is left to what Numba compiles, and to a few places that have to."""

from __future__ import annotations

import count_any
import pytest

MAX = 40


@pytest.mark.quick
def test_host_code_hardly_says_any() -> None:
    by_file = count_any.count()
    total = sum(by_file.values())
    assert total <= MAX, "\n".join(f"{number:4} {path}" for path, number in by_file.items())
