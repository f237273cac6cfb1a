"""Files that the program writes: completely or not at all, and never in the place of a device or a link; and lines that
say themselves whether they are whole, of files that only grow.

A new or regular file is replaced by a whole one, where the path's links lead. It is made in a hidden folder beside it;
the next write to the same place removes the folders of killed processes. What exists and is something else, such as a
FIFO or `/dev/null`, is written straight into; so is an open descriptor, such as `/dev/stdout` or the `/dev/fd/63` that
a shell makes of `>(...)`, whatever it leads to.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import stat
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from shutil import rmtree

from crowd_demo.registry.texts import reason

DESCRIPTORS = Path("/dev/fd")
MAX_LINKS = 40
UNFINISHED = ".crowd-demo-"  # the hidden folders are called so, with the machine, the process and eight letters
MACHINE = re.sub(r"[^\w.]", "_", platform.node(), flags=re.ASCII)[:20] or "machine"
CHECKSUM_DIGITS = 16
LEFT_S = 86_400.0  # a folder of another machine that is so old was left by a process that was killed


def write_file(path: Path, *parts: bytes | memoryview) -> None:
    """Write a file, one part behind the other. Raises OSError. Waits for the reader of a FIFO."""
    number = _descriptor(path)
    if number is None and not is_special(path):
        with replacing(path) as unfinished, unfinished.open("wb") as file:
            file.writelines(parts)
    else:
        flags = os.O_WRONLY | getattr(os, "O_NOCTTY", 0)
        with os.fdopen(os.open(path, flags) if number is None else os.dup(number), "wb") as file:
            file.writelines(parts)


def why_unwritable(path: Path) -> str | None:
    """What keeps `write_file` from writing there, or None. Opens nothing that exists, and leaves nothing behind."""
    try:
        number = _descriptor(path)
        if number is not None and sys.platform != "win32":
            import fcntl

            takes_writing = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
            return None if takes_writing else f"{path} is not open for writing"
        if path.is_dir():
            return f"{path} is a folder"
        if path.exists() and not os.access(path, os.W_OK):
            return f"{path} cannot be written"
        if is_special(path):
            return f"{path} is a socket" if path.is_socket() else None
        folder = _end_of_links(path).parent
        if not folder.is_dir():
            return f"there is no folder {folder}"
        with tempfile.TemporaryFile(dir=folder):  # some folders only seem to be writable
            return None
    except OSError as error:  # raised also for an impossible name
        return f"{path if len(str(path)) < 200 else 'the file'} cannot be written: {reason(error)}"


def free_name(folder: Path, suffix: str, taken: Collection[Path] = ()) -> Path:
    """crowd-0001, or the first number after it that is not taken, not even by a link that leads nowhere."""
    names = (folder / f"crowd-{number:04}{suffix}" for number in count(1))
    return next(path for path in names if path not in taken and not os.path.lexists(path))


def is_special(path: Path) -> bool:
    """Return whether it exists and its links do not lead to a regular file. Raises OSError for an impossible name."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _descriptor(path: Path) -> int | None:
    """The number of this process's descriptor that the path names, itself or by links."""
    if sys.platform == "win32":
        return None
    for _ in range(MAX_LINKS):
        if re.fullmatch("[0-9]{1,9}", path.name) and path.parent.resolve() == DESCRIPTORS.resolve():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _end_of_links(path: Path) -> Path:
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path for a new file or folder that takes the place of `path` at the end, or is removed after an exception.

    An older file's permissions are kept. For what is not written in one go, or by a library.
    """
    path = _end_of_links(path)
    # First remove what this user's killed processes have left: of this machine at once, of another one a day later.
    for old in path.parent.glob(f"{UNFINISHED}*"):
        name = re.fullmatch(r"(.+)-([0-9]{1,9})-[a-z0-9_]{8}", old.name.removeprefix(UNFINISHED))
        with suppress(OSError):
            found = old.lstat()
            is_own = stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())
            is_old = time.time() - found.st_mtime > LEFT_S
            if name and is_own and (is_old or (name[1] == MACHINE and not _is_running(int(name[2])))):
                rmtree(old)
    prefix = f"{UNFINISHED}{MACHINE}-{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=path.parent, ignore_cleanup_errors=True) as folder:
        unfinished = Path(folder, f"new{path.suffix}")
        yield unfinished
        if path.exists():
            unfinished.chmod(stat.S_IMODE(path.stat().st_mode))
        unfinished.replace(path)


def _is_running(process: int) -> bool:
    """Return whether a process of this machine may be running; Windows has no question about one that is harmless."""
    if sys.platform == "win32":
        return True
    with suppress(PermissionError):  # another user's
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
    return True


# --- sealed lines ----------------------------------------------------------------------------------------------------

def sealed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a line's text, its checksum, and the line's end."""
    digest = hashlib.blake2b(digest_size=CHECKSUM_DIGITS // 2)
    for piece in pieces:
        digest.update(piece)
        yield piece
    yield f" {digest.hexdigest()}\n".encode()


def sealed_line(text: bytes) -> bytes:
    return b"".join(sealed([text]))


def unsealed(line: bytes) -> bytes:
    """Return the text of a line without its end. Raises ValueError if it is damaged."""
    text = line[:-CHECKSUM_DIGITS - 1]
    if sealed_line(text) != line + b"\n":
        raise ValueError("is damaged: its checksum is wrong")
    return text
