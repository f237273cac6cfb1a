"""The type checker sees kernels: a dropped or a wrong argument is an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAD = """
from crowd_demo.compute.arrays import Floats, Ints
from crowd_demo.compute.jit import device, launch
from crowd_demo.sim.store.agents import move_rows

@device
def add(x: Floats, at: int) -> None: ...

def host(rows: Ints, x: Floats) -> None:
"""
WRONG = ("launch(move_rows, 2, rows, rows, 5)", "launch(move_rows, 2, rows, rows, rows, 5)", "move_rows(2, rows, rows, 5)",
         "add(x)")


def test_the_type_checker_sees_kernels(tmp_path: Path) -> None:
    lines = ["launch(move_rows, 2, rows, rows, 5, rows)", "add(x, 3)", *WRONG]
    (tmp_path / "host.py").write_text(HEAD + "".join(f"    {line}\n" for line in lines), "utf-8")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--follow-imports", "silent", str(tmp_path / "host.py")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=Path(__file__).parents[1])
    first = len(HEAD.splitlines()) + 1
    found = {int(line.split(":")[1]) - first for line in done.stdout.splitlines() if ": error:" in line}
    assert found == set(range(2, len(lines))), done.stdout
