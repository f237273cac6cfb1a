"""Save files on disk: `NAME.crowd`. What is in them says sim/save_format.py; nothing here needs the compiler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from crowd_demo import __version__
from crowd_demo.app.output.files import free_name, write_file
from crowd_demo.config.files import read_bounded
from crowd_demo.config.loader import Override, Source
from crowd_demo.registry.texts import printable
from crowd_demo.sim.save_format import SaveError, decode, encode
from crowd_demo.sim.snapshot import Snapshot, differences

SUFFIX = ".crowd"
MOST_BYTES = 1 << 30  # four million people with their history take 320 MB


def write_save(path: Path, snapshot: Snapshot) -> None:
    """Write it, completely or not at all. Raises OSError."""
    write_file(path, encode(snapshot, __version__))


def read_save(path: Path) -> Snapshot:
    """Return the snapshot in a file. Raises SaveError that names the file, in one line."""
    try:
        data = read_bounded(path, MOST_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise SaveError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if len(data) > MOST_BYTES:
        raise SaveError(f"{path}: larger than {MOST_BYTES >> 20:,} MB")
    return named(path, data)


def named(origin: object, data: bytes) -> Snapshot:
    """Return the decoded snapshot. Raises SaveError that names where the data are from, in one line that can be printed."""
    try:
        return decode(data)
    except SaveError as error:
        raise SaveError(printable(f"{origin}: {error}")) from None
    except MemoryError:
        raise SaveError(printable(f"{origin}: needs more memory than there is")) from None


def with_overrides(snapshot: Snapshot, origin: str, overrides: Sequence[Override]) -> Snapshot:
    """Return the snapshot with other techniques, window, camera, keys. Raises ConfigError, also for what steps depend on."""
    source = Source.of(snapshot.config.model_dump(mode="json"), origin, overrides)
    config = source.config
    if other := differences(snapshot.config, config):
        raise source.refuse(other, "cannot be changed, because the saved crowd depends on it")
    return snapshot._replace(config=config, techniques={path: config.optimizations.get(path) for path in snapshot.techniques})


class Saver:
    """Writes save files of free names into the working folder, in a thread of its own."""

    def __init__(self) -> None:
        self._writer = ThreadPoolExecutor(1)
        self._jobs: list[tuple[Path, Future[None]]] = []

    def save(self, snapshot: Snapshot) -> None:
        """Write it beside what follows; waits for the file before, which has its name once it is written."""
        self.wait()
        path = free_name(Path(), SUFFIX)
        self._jobs.append((path, self._writer.submit(write_save, path, snapshot)))

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until all is written, or at most so long."""
        wait([job for _, job in self._jobs], timeout_s)

    def finished(self) -> Iterator[str]:
        """Yield a line for each file that was written since the last call, or could not be."""
        done, self._jobs = ([(path, job) for path, job in self._jobs if job.done() == over] for over in (True, False))
        for path, job in done:
            error = job.exception()
            yield f"cannot save {path}: {getattr(error, 'strerror', None) or error}" if error else f"saved {path}"


def newest(folder: Path) -> Path | None:
    """The save file of the folder that was written last. Raises OSError."""
    found = [(path.stat().st_mtime_ns, path.name, path) for path in folder.glob(f"*{SUFFIX}") if path.is_file()]
    return max(found)[2] if found else None
