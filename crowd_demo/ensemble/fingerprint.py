"""What a run's result depends on, as hashes: the code that makes it, and its key.

Versions of libraries are no part of them: the state hash does not depend on these, and that is tested whenever two machines
make the same run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from crowd_demo.config.model import Config
from crowd_demo.config.resources import PACKAGE, find_map
from crowd_demo.registry.measures import MEASURES
from crowd_demo.registry.plugins import sources
from crowd_demo.sim.snapshot import LOOKS, PACE

MODEL = ("compute", "config", "ensemble/measures", "registry", "sim")  # folders whose code makes the result
UNREAD = (LOOKS | {"seed", "map"}) - {"optimizations", "measure"}


@cache
def _fingerprint(files: tuple[Path, ...]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in files:
        inside = path.is_relative_to(PACKAGE)
        name = path.relative_to(PACKAGE).as_posix() if inside else path.name
        digest.update(hashlib.blake2b(name.encode()).digest() + hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def code_fingerprint(measures: Sequence[str]) -> str:
    """Hash of the sources of the model, of these measures and of all plugins: 16 hex digits."""
    model = {path for folder in MODEL for path in (PACKAGE / folder).rglob("*.py")}
    return _fingerprint((*sorted(model | set(_sources_of(measures))), *sources()))


def _sources_of(measures: Sequence[str]) -> Iterator[Path]:
    """The files of measures, some of which may be elsewhere in the program."""
    for measure in measures:
        spec = find_spec(MEASURES[measure].code.partition(":")[0])
        if spec and spec.origin and Path(spec.origin).is_relative_to(PACKAGE):
            yield Path(spec.origin)


def key_of(config: Config, steps: int, every: int, measures: Sequence[str], code: str) -> str:
    """The name of a run: 24 hex digits that say what it was asked for and what made it."""
    values = config.model_dump(mode="json", exclude=set(UNREAD))
    time = {name: value for name, value in values.pop("time").items() if f"time.{name}" not in PACE}
    asked = {"config": values, "time": time, "seed": config.seed, "map": _map_hash(config.map), "steps": steps,
             "every": every, "measures": sorted(measures), "code": code}
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _map_hash(name: str | None) -> str:
    """What the walls are, wherever the file lies."""
    return hashlib.blake2b(find_map(name).read_bytes(), digest_size=8).hexdigest() if name else ""
