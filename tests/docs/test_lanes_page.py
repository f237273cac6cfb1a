"""The example of docs/design/lanes.md runs as it stands there, and its table names the files that there are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/design/lanes.md").read_text("utf-8")


def expected() -> int:
    """The sum by NumPy."""
    points = 100_003
    x, y = np.random.default_rng(1).uniform(0, 1000, (2, points + 16)).astype(np.float32)[:, :points]
    dx, dy = x - np.float32(600), y - np.float32(400)
    return int((dx * dx + dy * dy).astype(np.int64).sum())


def test_the_example_gives_one_sum_scalar_and_in_lanes_by_any_number_of_workers(tmp_path: Path) -> None:
    (code,) = re.findall(r"<!-- a test runs this -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "example.py").write_text(code, "utf-8")
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run([sys.executable, str(tmp_path / "example.py")], env={**os.environ, "PYTHONPATH": paths},
                          capture_output=True, encoding="utf-8", timeout=200)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [name for name, _, _ in rows] == ["one_by_one"] * 3 + ["in_lanes"] * 3
    assert {int(found) for _, _, found in rows} == {expected()}


@pytest.mark.quick
def test_the_table_names_files_that_exist() -> None:
    rows = re.findall(r"^\| (`[^|]*`) \|", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+\.py)`", row)}
    assert {"jit.py", "simd.py", "workers.py", "dispatch.py", "cache.py"} <= named
    assert [name for name in sorted(named) if not (ROOT / "crowd_demo/compute" / name).is_file()] == []
