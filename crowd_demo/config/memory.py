"""About how much memory a run takes, and how much there is; what needs more is refused before it begins.

The estimate is a few constants, measured as resident memory of whole runs with default techniques. It does not tell to
the megabyte what fits; it stops what is too large before the machine swaps or the system kills the program.
Files that a user names are read in bounded time, no more of them than a bound.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from crowd_demo.config.section import MAX_AGENTS

if TYPE_CHECKING:
    from crowd_demo.config.model import Config

PROGRAM = 250 << 20  # bytes: Python, kernels and sprites; compiling takes 150 MB more, once
AGENT = 350  # bytes an agent: columns, index, draw list
LINK = 100  # bytes a link, while links are sorted
LINKS = {"none": 0, "rope": 1, "column": 1, "cloth": 2}  # of an agent, by pattern
TILE = 90  # bytes a tile: kinds, areas, ground, wall field
FIELD_TILE = 1  # bytes a tile and flow field
MAKING_TILE = 12  # bytes a tile and worker that makes flow fields, and for the one that is made ahead
MAKING_BYTES = 256 << 20  # so much for more than one worker
PIXEL = 4  # bytes a pixel of the window
OPEN_TILE = 64  # world units a tile where there is no map, about

MB = 1 << 20


class TooManyError(ValueError):
    """More agents than a crowd may have, or than fit into memory: one line."""


def too_large(config: Config, map_tiles: int, map_destinations: int) -> tuple[tuple[str], str] | None:
    """(path of the key that takes most, what is wrong) if the run needs more memory than there is."""
    parts = needed_bytes(config, map_tiles, map_destinations)
    text = shortage(PROGRAM + sum(parts.values()))
    return ((max(parts, key=parts.__getitem__),), text) if text else None


def shortage(needed: int) -> str:
    """What is wrong if so many bytes more are needed than there are, or an empty text."""
    free = available_bytes()
    if free is None or needed <= free:
        return ""
    return f"needs about {needed // MB:,} MB of memory, and {free // MB:,} MB are free"


def check_agents(count: int, config: Config, room: int = 0) -> None:
    """Raise TooManyError, a ValueError, where `count` is too large; there is `room` for some agents already.

    Arrays that become too small grow by at least a half.
    """
    if count > MAX_AGENTS:
        raise TooManyError(f"{count:,} agents are too many: at most {MAX_AGENTS:,}")
    if count > room and (short := shortage((max(count, room + room // 2) - room) * agent_bytes(config))):
        raise TooManyError(f"{count:,} agents: {short}")


def agent_bytes(config: Config) -> int:
    return AGENT + LINK * LINKS[config.links.pattern]


def needed_bytes(config: Config, map_tiles: int, map_destinations: int) -> dict[str, int]:
    """Bytes by the key that asks for them, without the program itself; a map without marks has 0 destinations."""
    key = "map" if map_tiles else "world"
    tiles = map_tiles or int((config.world.width / OPEN_TILE + 1) * (config.world.height / OPEN_TILE + 1))
    fields = config.behaviour_settings.flow_fields(map_destinations)
    workers = os.cpu_count() or 1
    making = min((workers + 1) * MAKING_TILE * tiles, max(MAKING_BYTES, MAKING_TILE * tiles)) if fields else 0
    each = agent_bytes(config)
    return {"agents": config.agents * each, "life": (room_for(config) - config.agents) * each,
            key: tiles * (TILE + fields * FIELD_TILE) + making, "window": config.window.width * config.window.height * PIXEL}


def room_for(config: Config) -> int:
    """Return the number of agents to allocate memory for: the maximum of a season, if births and deaths are in balance."""
    life = config.life
    swing = life.births_per_s * max(life.season_s, 2) / 2
    return min(config.agents + int(swing), max(life.most, config.agents))


def available_bytes(system: Path = Path("/")) -> int | None:
    """What a program can still get: Linux says it; else what the machine has; None where the system says neither."""
    found = []
    with suppress(OSError, ValueError, KeyError):
        kilobytes = dict(re.findall(r"^(\w+): *([0-9]+) kB", (system / "proc/meminfo").read_text("utf-8"), re.MULTILINE))
        found.append((int(kilobytes["MemAvailable"]) + int(kilobytes["SwapFree"])) << 10)
    with suppress(OSError, ValueError):  # up to the limit of a container; ValueError: "max", that is none
        folder = system / "sys/fs/cgroup"
        left = int((folder / "memory.max").read_text("utf-8"))
        with suppress(OSError, ValueError):
            left -= int((folder / "memory.current").read_text("utf-8"))
            kept = re.search("^inactive_file ([0-9]+)$", (folder / "memory.stat").read_text("utf-8"), re.MULTILINE)
            left += int(kept[1]) if kept else 0  # of files: it takes that back when it needs it
        found.append(max(left, 1))
    if sys.platform != "win32":
        import resource

        with suppress(OSError, ValueError):  # up to the limit of this process's addresses (`ulimit -v`)
            limit, _ = resource.getrlimit(resource.RLIMIT_AS)
            used = int((system / "proc/self/statm").read_text("utf-8").split()[0]) * resource.getpagesize()
            found += [max(limit - used, 1)] * (limit != resource.RLIM_INFINITY)
        with suppress(OSError, ValueError):
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min((size for size in found if size > 0), default=None)


def read_bounded(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file, at most `most` + 1 of them, so that the caller can tell that it is too large.

    Raises OSError, also for what is no regular file: a device need not end, and a pipe may wait for its writer for
    ever. So does a file for which there is not enough memory.
    """
    # Without O_NONBLOCK already opening a pipe waits for its writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        size = min(found.st_size or most, most)  # a file of /proc has the size 0
        if short := shortage(size):
            raise OSError(errno.ENOMEM, short, str(path))
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(size + 1)  # which takes memory for as many as are asked for
        if data is None:  # a device that waits, and calls itself a regular file, such as /proc/kmsg
            raise OSError(errno.EAGAIN, "it has no data yet", str(path))
        return data
    except MemoryError:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), str(path)) from None
    finally:
        os.close(descriptor)


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Hide what C libraries write to standard error: the program says in its own line what went wrong."""
    if sys.stderr:
        sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:  # it is closed: nothing can be seen anyway
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
