"""Programs in processes of their own, with a cache of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def run(tmp_path: Path):
    """Run a program from a file; several of one test share the folder that they lie in, and what is compiled."""
    def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "program.py"
        if not file.exists() or file.read_text("utf-8") != program:  # a file that is written anew counts as changed
            file.write_text(program, "utf-8")
        paths = os.pathsep.join([str(tmp_path), str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
        env = {**os.environ, "CROWD_DEMO_CACHE": str(tmp_path / "kernels"), "PYTHONPATH": paths, **environment}
        done = subprocess.run([sys.executable, str(file)], env=env, capture_output=True, encoding="utf-8")
        assert not done.returncode, done.stderr
        return done
    return run
