"""Every shipped configuration runs as its user would run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from driven import without_progress

from crowd_demo.config.loader import load_config
from crowd_demo.config.resources import list_configs

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("name", list(list_configs()))
def test_a_few_frames_of_each_configuration(name: str, tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "crowd_demo", "--config", f"{name}.yaml", "--headless", "--frames", "3", "--report", "-"]
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, encoding="utf-8")
    assert (done.returncode, without_progress(done.stderr)) == (0, "")
    report = json.loads(done.stdout)
    assert report["frames"] == 3 and len(report["state_hash"]) == 32
    assert report["counters"]["visible"] > 0
    if not load_config(name).life.births_per_s:
        assert report["agents"] == load_config(name).agents
