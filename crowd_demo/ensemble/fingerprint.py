"""What a run's result depends on, as hashes: the code that makes it, and its key.

Versions of libraries are no part of them: the state hash does not depend on these, and that is tested whenever two machines
make the same run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from crowd_demo.config.maps import bytes_of
from crowd_demo.config.model import Config
from crowd_demo.config.resources import PACKAGE, find_map
from crowd_demo.registry.plugins import sources
from crowd_demo.sim.snapshot import LOOKS, PACE

MAKERS = ("compute", "config", "ensemble", "measure", "registry", "sim")  # folders whose code may decide the result
UNREAD = (LOOKS | {"seed", "map"}) - {"optimizations", "measure"}


@cache
def _fingerprint(files: tuple[Path, ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in files:
        inside = path.is_relative_to(PACKAGE)
        name = path.relative_to(PACKAGE).as_posix() if inside else path.name
        digest.update(hashlib.blake2b(name.encode()).digest() + hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def code_fingerprint() -> str:
    """Hash of the sources of the model, of all that measures it and of all plugins: 16 hex digits."""
    return _fingerprint((*own_sources(), *sources()))


def own_sources() -> list[Path]:
    """The program's own files in the fingerprint: whole folders, so that none is forgotten."""
    return sorted(path for folder in MAKERS for path in (PACKAGE / folder).rglob("*.py"))


def key_of(config: Config, steps: int, every: int, measures: Sequence[str], code: str) -> str:
    """The name of a run: 24 hex digits that say what it was asked for and what made it."""
    values = config.model_dump(mode="json", exclude=set(UNREAD))
    time = {name: value for name, value in values.pop("time").items() if f"time.{name}" not in PACE}
    asked = {"config": values, "time": time, "seed": config.seed, "map": _map_hash(config.map), "steps": steps,
             "every": every, "measures": sorted(measures), "code": code}
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def is_unread(path: str) -> bool:
    """Whether no key depends on this setting."""
    return path in PACE or path.partition(".")[0] in UNREAD - {"seed", "map"}


def _map_hash(name: str | None) -> str:
    """What the walls are, wherever the file lies."""
    return hashlib.blake2b(bytes_of(find_map(name)), digest_size=8).hexdigest() if name else ""
