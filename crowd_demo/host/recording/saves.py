"""Save files on disk: `NAME.crowd`. What is in them says sim/save_format.py; nothing here needs the compiler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crowd_demo.config.loader import Override, ReadConfig
from crowd_demo.config.reading import read_bounded
from crowd_demo.host.files import free_name, write_file
from crowd_demo.host.system import beside_frames
from crowd_demo.sim.save_format import SaveError, check, decode, encoded, naming
from crowd_demo.sim.snapshot import Snapshot, differences
from crowd_demo.version import __version__

if TYPE_CHECKING:
    from crowd_demo.sim.simulation import Simulation

SUFFIX = ".crowd"
MAX_AT_ONCE = 2  # files that are being written or wait for that
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
        raise SaveError(f"cannot be read ({getattr(error, 'strerror', None) or error})") from None
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


class Saver:
    """Writes save files of free names into the working folder, in a thread of its own."""

    def __init__(self) -> None:
        self._writer = beside_frames()
        self.jobs: list[tuple[Path, Future[None]]] = []

    def save(self, snapshot: Snapshot) -> Future[None]:
        """Write a save file in the background; block while `MAX_AT_ONCE` are unfinished, as each holds its snapshot."""
        unfinished = [path for path, job in self.jobs if not job.done()]
        if len(unfinished) == MAX_AT_ONCE:
            self.wait()
        path = free_name(Path(), SUFFIX, taken=unfinished)
        job = self._writer.submit(write_save, path, snapshot)
        self.jobs.append((path, job))
        return job

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until all is written, or at most so long."""
        wait([job for _, job in self.jobs], timeout_s)

    def finished(self) -> Iterator[str]:
        """Yield a line for each file that was written since the last call, or could not be. Any thread may call it."""
        for path, job in [each for each in self.jobs if each[1].done()]:
            self.jobs.remove((path, job))
            error = job.exception()
            yield f"cannot save {path}: {getattr(error, 'strerror', None) or error}" if error else f"saved {path}"


def newest(folder: Path) -> Path | None:
    """The save file of the folder that was written last. Raises OSError."""
    found = [(path.stat().st_mtime_ns, path.name, path) for path in folder.glob(f"*{SUFFIX}") if path.is_file()]
    return max(found)[2] if found else None
