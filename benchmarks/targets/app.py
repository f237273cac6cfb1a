"""Asks a process of its own that runs the whole program without a window: app_child.py."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from installs import here
from variants import ChildError

CHILD = Path(__file__).parents[1] / "app_child.py"


def asked(what: str, config: str, *overrides: str, frames: int = 60, cache: str = "") -> dict[str, Any]:
    """With its kernels in the folder `cache`, or where they usually are. Raises ChildError."""
    install = here(installed=False)
    environment = {**install.environment, **({"CROWD_DEMO_CACHE": cache} if cache else {})}
    done = subprocess.run([*install.command, str(CHILD), what, config, str(frames), *overrides], env=environment,
                          cwd=install.folder, capture_output=True, encoding="utf-8")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ChildError(f"{config}: ended with code {done.returncode}: {last}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
