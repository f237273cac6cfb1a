"""The lines of a recording, and how they are read back; and save files (`NAME.crowd`, sim/save_format.py) on disk.

Nothing in a file is trusted. Reading needs memory in proportion to the file, and no compiler.

Format:

Lines `TEXT CHECKSUM`. The checksum is 16 hex digits of BLAKE2b-64 of the text, and the text is a JSON object:

| line | meaning |
|---|---|
| `{"magic": "crowd-demo recording", "format": 1, "program": ...}` | the first line |
| `{"begin": true, "config": {...}, "map_digest": ...}` | a crowd begins as its configuration makes it |
| `{"begin": true, "snapshot": "..."}` | a crowd begins as it was saved: a save file in base64 |
| `{"tick": t, "action": {...}}` | an action, before the step from tick t |
| `{"tick": t, "jump": k, "hash": "..."}` | the state hash before the actions of t, after k beginnings and rewinds |
| `{"left": l, "to": t, "actions": n}` | back from tick l to t, with the first n actions since the beginning |
| `{"end": true, "tick": t, "hash": ..., "crash": ...}` | the end: the state hash after the actions of t, or a crash |

A restart and a load write another beginning, with `left`, the tick at which the previous crowd ended. Speed and pause
are not recorded. A last line that was cut off is ignored.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from crowd_demo.config.loader import Override, ReadConfig
from crowd_demo.config.memory import read_bounded, shortage
from crowd_demo.config.model import Config
from crowd_demo.host.files import CHECKSUM_DIGITS, sealed, sealed_line, unsealed, write_file
from crowd_demo.registry.texts import reason
from crowd_demo.sim.actions import Action, from_data
from crowd_demo.sim.save_format import MAX_TICKS, SaveError, check, config_of, decode, encoded, naming
from crowd_demo.sim.snapshot import Snapshot, differences, same_world
from crowd_demo.version import __version__

if TYPE_CHECKING:
    from crowd_demo.sim.simulation import Simulation

SUFFIX = ".crowd"
MAX_BYTES = 1 << 30  # of a save file or a recording; four million people with their history take 320 MB
MAGIC: Final = "crowd-demo recording"
FORMAT = 1
LINE_BYTES, CHECK_EVERY = 1000, 1 << 16  # memory of a line, and lines from one check of the free memory to the next
PIECE = 49_152  # bytes of a snapshot at a time: base64 keeps Python's lock for 0.1 ms, not for as long as a frame
Tick = Annotated[int, Field(ge=0, lt=MAX_TICKS)]
Hash = Annotated[str, Field(pattern="^([0-9a-f]{32})?$")]


@dataclass
class Part:
    """One crowd of a run, from its beginning to its end."""

    config: Config
    snapshot: Snapshot | None = None  # that it begins with; without one, as its configuration makes it
    map_digest: str | None = None  # of the map that the configuration names
    first: int = 0  # tick of its beginning
    end: int = 0  # the last tick that was reached for certain
    actions: list[tuple[int, Action]] = field(default_factory=list)
    hashes: dict[int, str] = field(default_factory=dict)  # by tick, before its actions
    last_hash: str = ""  # at `end`, after its actions; empty where the run went on, crashed, or was cut off

    def reach(self, tick: int) -> None:
        """Let it last to that tick at least. Raises ValueError for one before its beginning."""
        if tick < self.first:
            raise ValueError(f"tick {tick} is before the beginning")
        self.end = max(self.end, tick)


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class RecordingHeader(_Line):
    magic: Literal["crowd-demo recording"]
    format: int
    program: str


# --- the other lines: `follow` says what each means after the lines before it, and raises ValueError where it contradicts them

class Begin(_Line):
    """A crowd begins: as its configuration makes it, or from a snapshot (a save file in base64); the former one ends."""

    begin: Literal[True] = True
    config: dict[str, object] | None = None
    map_digest: str | None = None
    snapshot: str | None = None
    left: Tick | None = None  # the tick at which the former one ended

    def follow(self, parts: list[Part]) -> None:
        if parts and self.left is not None:
            parts[-1].end = max(parts[-1].end, self.left)
        match self.config, self.snapshot:
            case dict(config), None:
                parts.append(Part(config_of(config), map_digest=self.map_digest))
            case None, str(text):
                try:
                    saved = base64.b64decode(text, validate=True)
                except ValueError:
                    raise ValueError("is damaged: a snapshot is not valid base64") from None
                snapshot = decode(saved)
                parts.append(Part(snapshot.config, snapshot, first=snapshot.tick, end=snapshot.tick))
            case _:
                raise ValueError("a beginning needs a configuration or a snapshot")
        if not same_world(parts[0].config, parts[-1].config):
            raise ValueError("the run goes on in another world")


class Act(_Line):
    """An action, before the step from `tick`."""

    tick: Tick
    action: dict[str, object]

    def follow(self, parts: list[Part]) -> None:
        actions = parts[-1].actions
        if actions and actions[-1][0] > self.tick:
            raise ValueError("actions are not in the order of their ticks")
        actions.append((self.tick, from_data(self.action)))
        parts[-1].reach(self.tick)


class Reached(_Line):
    """A tick was reached, with this state hash before its actions if there is one; after so many beginnings and rewinds."""

    tick: Tick
    jump: Annotated[int, Field(ge=1)]
    hash: Hash = ""

    def follow(self, parts: list[Part]) -> None:
        parts[-1].reach(self.tick)
        if self.hash:
            parts[-1].hashes[self.tick] = self.hash


class WentBack(_Line):
    """The run went back from the tick `left`, and on from an earlier one with the first so many of its actions."""

    left: Tick
    to: Tick
    actions: Annotated[int, Field(ge=0)]

    def follow(self, parts: list[Part]) -> None:
        part = parts[-1]
        if not (part.first <= self.to <= max(part.end, self.left) and self.actions <= len(part.actions)
                and all(tick <= self.to for tick, _ in part.actions[:self.actions])):
            raise ValueError("a rewind leads nowhere")
        part.actions = part.actions[:self.actions]
        part.hashes = {tick: found for tick, found in part.hashes.items() if tick <= self.to}
        part.end = self.to


class End(_Line):
    """The run ended, with this state hash after the actions of its last tick; or it crashed in the step from there."""

    end: Literal[True] = True
    tick: Tick
    hash: Hash = ""
    crash: str = ""

    def follow(self, parts: list[Part]) -> None:
        parts[-1].reach(self.tick)
        parts[-1].last_hash = self.hash


Line = Begin | Act | Reached | WentBack | End
_LINE: TypeAdapter[Line] = TypeAdapter(Line)


# --- writing ---------------------------------------------------------------------------------------------------------

def text_of(line: BaseModel) -> bytes:
    return sealed_line(line.model_dump_json(exclude_none=True).encode())


def snapshot_line(snapshot: Snapshot, left: int | None = None) -> Iterator[bytes]:
    """Yield the line of a crowd that begins with a snapshot in pieces: its save file in base64."""
    before, after = Begin(snapshot="", left=left).model_dump_json(exclude_none=True).encode().split(b'""')
    yield from sealed(chain([before + b'"'], _base64(encoded(snapshot, __version__)), [b'"' + after]))


def _base64(parts: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    rest = b""
    for part in parts:
        for start in range(0, len(part), PIECE):
            piece = rest + part[start:start + PIECE]
            whole = len(piece) // 3 * 3
            yield base64.b64encode(piece[:whole])
            rest = piece[whole:]
    yield base64.b64encode(rest)


# --- reading ---------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Script:
    """What a recording says; `ended` is false if the program did not live to write its end."""

    path: Path
    parts: Sequence[Part]
    ended: bool
    crash: str


def read_recording(path: Path) -> Script:
    """Read a file. Raises SaveError. A last line without an end is left out: the program was ended while it wrote."""
    with naming(path):
        data = read_whole(path)
    lines = (line[:-1] for line in io.BytesIO(data) if line.endswith(b"\n"))
    with naming(f"{path}:1"):
        header = next(lines, b"")
        try:
            about = RecordingHeader.model_validate_json(header[:-CHECKSUM_DIGITS - 1])
        except ValidationError:
            raise ValueError("is not a recording of crowd-demo") from None
        if about.format != FORMAT:
            raise ValueError(f"has format {about.format}; this program reads format {FORMAT}")
        unsealed(header)
    jump, found = 0, list[tuple[int, int, Line]]()  # the last is (jump, number, line)
    end: End | None = None
    for number, each in enumerate(lines, 2):
        with naming(f"{path}:{number}"):
            if number % CHECK_EVERY == 0 and (short := shortage(number * LINE_BYTES)):
                raise ValueError(short)
            try:
                line = _LINE.validate_json(unsealed(each))
            except ValidationError:
                raise ValueError("is damaged: no line of a recording") from None
            if end:
                raise ValueError("there is a line after the end")
            end = line if isinstance(line, End) else None
            jump += isinstance(line, Begin | WentBack)
            if not jump:
                raise ValueError("the recording does not begin with a crowd")
            if isinstance(line, Reached) and line.jump > jump:
                raise ValueError(f"hash of jump {line.jump}, but there are {jump}")
            found.append((line.jump if isinstance(line, Reached) else jump, number, line))
    with naming(f"{path}:1"):
        if not found:
            raise ValueError("is damaged: it ends before it begins")
    parts: list[Part] = []
    for _, number, line in sorted(found, key=itemgetter(0)):  # a hash is written later than its jump
        with naming(f"{path}:{number}"):
            line.follow(parts)
    return Script(path, parts, bool(end), end.crash if end else "")


# --- saves -----------------------------------------------------------------------------------------------------------

class Save(NamedTuple):
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
