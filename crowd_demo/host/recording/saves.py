"""Save files on disk: `NAME.crowd`. What is in them says sim/save_format.py; nothing here needs the compiler."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crowd_demo.config.loader import Override, ReadConfig
from crowd_demo.config.reading import read_bounded
from crowd_demo.host.files import write_file
from crowd_demo.registry.texts import reason
from crowd_demo.sim.save_format import SaveError, check, decode, encoded, naming
from crowd_demo.sim.snapshot import Snapshot, differences
from crowd_demo.version import __version__

if TYPE_CHECKING:
    from crowd_demo.sim.simulation import Simulation

SUFFIX = ".crowd"
MAX_BYTES = 1 << 30  # of a save file or a recording; four million people with their history take 320 MB


class Save(NamedTuple):
    """A saved crowd, and the file that it is from."""

    path: Path
    snapshot: Snapshot

    def restore(self, sim: Simulation) -> None:
        """Let a simulation of its configuration go on from it. Raises SaveError that names the file; then nothing changes."""
        with naming(self.path):
            check(self.snapshot, sim)
        sim.restore(self.snapshot)


def write_save(path: Path, snapshot: Snapshot) -> None:
    """Write a save file, completely or not at all. Raises OSError."""
    write_file(path, *encoded(snapshot, __version__))


def read_save(path: Path) -> Snapshot:
    """Return the snapshot in a file. Raises SaveError that names the file, in one line."""
    with naming(path):
        return decode(read_whole(path))


def read_whole(path: Path) -> bytes:
    """Return the bytes of a save file or a recording. Raises SaveError without its name."""
    try:
        data = read_bounded(path, MAX_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise SaveError(f"cannot be read ({reason(error)})") from None
    if len(data) > MAX_BYTES:
        raise SaveError(f"larger than {MAX_BYTES >> 20:,} MB")
    return data


def with_overrides(snapshot: Snapshot, origin: str, overrides: Sequence[Override]) -> Snapshot:
    """Return the snapshot with other techniques, window, camera, keys. Raises ConfigError, also for what steps depend on."""
    source = ReadConfig.of(snapshot.config.model_dump(mode="json"), origin, overrides)
    config = source.config
    if other := differences(snapshot.config, config):
        raise source.refuse(other, "cannot be changed, because the saved crowd depends on it")
    return snapshot._replace(config=config, techniques={path: config.optimizations.get(path) for path in snapshot.techniques})


def newest(folder: Path) -> Path | None:
    """The save file of the folder that was written last. Raises OSError."""
    found = [(path.stat().st_mtime_ns, path.name, path) for path in folder.glob(f"*{SUFFIX}") if path.is_file()]
    return max(found)[2] if found else None
