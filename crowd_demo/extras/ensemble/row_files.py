"""Rows on disk: a folder with a file for each worker of each session, to which lines are only ever appended.

A line is a checksum and a row as JSON, written at once, flushed and synced: whatever ends the program, all lines before are
whole. A line that is not is skipped and named, and its run is done again. If one cannot be written, what was written of it is
cut off again. The folder may be somebody else's: what stands in the place of a file is looked at before it is read.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

from pydantic import ValidationError

from crowd_demo.config.reading import read_bounded
from crowd_demo.extras.ensemble.job import RunRow
from crowd_demo.host.files import is_special

SUFFIX = ".rows"
MAX_BYTES = 1 << 29  # of a file: 100,000 rows with a hundred values each
MAX_NAMED = 100  # damaged lines
CHECKSUM_BYTES = 6


class RowFiles:
    """Appends rows; a session's files are named after this process, so several may write to one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._files = folder, dict[str, tuple[Path, int]]()

    def append(self, row: RunRow) -> None:
        """Append it to the file of its worker. Raises OSError, and leaves no part of it."""
        path, file = self._file_of(row.worker)
        before = os.fstat(file).st_size
        try:
            line = line_of(row)
            while line:  # a disk that fills up takes a part
                line = line[os.write(file, line):]
            os.fsync(file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(file, before)
            raise OSError(error.errno, error.strerror, str(path)) from None

    def close(self) -> None:
        for _, file in self._files.values():
            os.close(file)
        self._files.clear()

    def _file_of(self, worker: str) -> tuple[Path, int]:
        if worker not in self._files:
            name = re.sub("[^A-Za-z0-9.-]+", "_", worker)[-80:] or "worker"
            names = (self._folder / f"{name}-{os.getpid()}-{number}{SUFFIX}" for number in count())
            path = next(path for path in names if not path.exists())
            self._files[worker] = path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
            _sync_folder(self._folder)
        return self._files[worker]


def check_inside(path: Path, folder: Path) -> None:
    """Raise ValueError where links lead out of the folder."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise ValueError(f"{path}: a link that leads out of {folder}")


def check_file(path: Path, folder: Path) -> None:
    """Raise ValueError where links lead out of the folder, or to what is neither a regular file nor missing."""
    check_inside(path, folder)
    if is_special(path):
        raise ValueError(f"{path}: not a regular file")


def read_rows(folder: Path) -> tuple[list[RunRow], list[str]]:
    """Read a folder of an ensemble, which need not exist; return its rows, and FILE:LINE of up to `MAX_NAMED` damaged ones.

    Rows come in the order of files and lines; a key may come several times.
    Raises OSError; ValueError for what can be none of its files, and where links lead out of the ensemble's folder.
    """
    check_inside(folder, folder.parent)
    rows, damaged, unnamed = list[RunRow](), list[str](), 0
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        check_file(path, folder)
        for number, line in enumerate(io.BytesIO(_bytes_of(path)), 1):
            row = row_of(line.removesuffix(b"\n"))
            if row:
                rows.append(row)
            elif line != b"\n" and len(damaged) < MAX_NAMED:
                damaged.append(f"{path}:{number}")
            elif line != b"\n":
                unnamed += 1
    if unnamed:
        damaged[-1] += f" (and {unnamed:,} more lines)"
    return rows, damaged


def _bytes_of(path: Path) -> bytes:
    try:
        data = read_bounded(path, MAX_BYTES)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    if len(data) > MAX_BYTES:
        raise ValueError(f"{path}: larger than {MAX_BYTES >> 20:,} MB")
    return data


def line_of(row: RunRow) -> bytes:
    content = row.model_dump_json().encode()
    return _checksum(content) + b" " + content + b"\n"


def row_of(line: bytes) -> RunRow | None:
    """The row of a line; None if it is damaged."""
    checksum, _, content = line.partition(b" ")
    if checksum != _checksum(content):
        return None
    try:
        return RunRow.model_validate_json(content)
    except ValidationError:
        return None


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).hexdigest().encode()


def _sync_folder(folder: Path) -> None:
    """Let a new file be found after a power failure, where the system can do that."""
    if sys.platform != "win32":
        with suppress(OSError):
            number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(number)
            finally:
                os.close(number)
