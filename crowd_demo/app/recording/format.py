"""The lines of a recording, and how they are read back. docs/design/time.md describes them.

Nothing in a file is trusted. Reading needs memory in proportion to the file, and no compiler.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from crowd_demo.app.recording.saves import named
from crowd_demo.config.loader import ConfigError, ReadConfig
from crowd_demo.config.memory import shortage
from crowd_demo.config.model import Config
from crowd_demo.config.reading import read_bounded
from crowd_demo.registry.texts import printable
from crowd_demo.sim.actions import Action, from_data
from crowd_demo.sim.save_format import MOST_TICKS, SaveError
from crowd_demo.sim.snapshot import Snapshot, same_world

MAGIC, FORMAT = "crowd-demo recording", 1
MOST_BYTES = 1 << 30
LINE_BYTES, LOOK_EVERY = 1000, 1 << 16  # memory of a line, and lines from one look at how much there is to the next
CHECKSUM_DIGITS = 16
PIECE = 49_152  # bytes of a snapshot at a time: base64 keeps Python's lock for 0.1 ms, not for as long as a frame
Tick = Annotated[int, Field(ge=0, lt=MOST_TICKS)]
Hash = Annotated[str, Field(pattern="^([0-9a-f]{32})?$")]


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Header(_Line):
    """The first line."""

    magic: str
    format: int
    program: str


class Begin(_Line):
    """A crowd begins: as its configuration makes it, or from a snapshot (a save file in base64); the former one ends."""

    begin: Literal[True] = True
    config: dict[str, object] | None = None
    map_digest: str | None = None
    snapshot: str | None = None
    left: Tick | None = None  # the tick at which the former one ended


class Act(_Line):
    """An action, before the step from `tick`."""

    tick: Tick
    action: dict[str, object]


class Reached(_Line):
    """A tick was reached, with this state hash before its actions if there is one; after so many beginnings and rewinds."""

    tick: Tick
    jump: Annotated[int, Field(ge=1)]
    hash: Hash = ""


class WentBack(_Line):
    """The run went back from the tick `left`, and on from an earlier one with the first so many of its actions."""

    left: Tick
    to: Tick
    actions: Annotated[int, Field(ge=0)]


class End(_Line):
    """The run ended, with this state hash after the actions of its last tick; or it crashed in the step from there."""

    end: Literal[True] = True
    tick: Tick
    hash: Hash = ""
    crash: str = ""


Line = Begin | Act | Reached | WentBack | End
Numbered = tuple[int, Line]  # with the number of the line in the file
_LINE: TypeAdapter[Line] = TypeAdapter(Line)


def sealed_line(text: bytes) -> bytes:
    """Return the line of a text: its checksum, itself, and the line's end."""
    return _checksum((text,)) + b" " + text + b"\n"


def snapshot_line(parts: Sequence[bytes | memoryview], left: int | None) -> Iterator[bytes]:
    """Yield the line of a crowd that begins as it was saved in pieces, given the parts of its save file.

    The checksum stands first, so base64 is made twice: to keep it would take more memory than the crowd.
    """
    before, after = Begin(snapshot="", left=left).model_dump_json(exclude_none=True).encode().split(b'""')

    def text() -> Iterator[bytes]:
        yield before + b'"'
        yield from _base64(parts)
        yield b'"' + after

    yield _checksum(text()) + b" "
    yield from text()
    yield b"\n"


def _checksum(pieces: Iterable[bytes]) -> bytes:
    digest = hashlib.blake2b(digest_size=CHECKSUM_DIGITS // 2)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest().encode()


def _base64(parts: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Yield the base64 of the parts, one behind the other, in pieces."""
    rest = b""
    for part in parts:
        for start in range(0, len(part), PIECE):
            piece = rest + part[start:start + PIECE]
            whole = len(piece) // 3 * 3
            yield base64.b64encode(piece[:whole])
            rest = piece[whole:]
    yield base64.b64encode(rest)


class RecordingError(ValueError):
    """What is wrong with a recording, in one line that names file and line."""


@dataclass
class Part:
    """One crowd of a run, from its beginning to its end."""

    start: Config | Snapshot
    map_digest: str | None = None  # of the map that the configuration names
    actions: list[tuple[int, Action]] = field(default_factory=list)
    hashes: dict[int, str] = field(default_factory=dict)  # by tick, before its actions
    end: int = 0  # the last tick that was reached for certain
    last_hash: str = ""  # at `end`, after its actions; empty where the run went on, crashed, or was cut off

    @property
    def config(self) -> Config:
        return self.start if isinstance(self.start, Config) else self.start.config

    @property
    def first(self) -> int:
        return 0 if isinstance(self.start, Config) else self.start.tick

    def rewind(self, tick: int, actions: int) -> None:
        """Forget what came after a tick, and all but its first actions."""
        self.actions = self.actions[:actions]
        self.hashes = {at: found for at, found in self.hashes.items() if at <= tick}
        self.end = tick


@dataclass(frozen=True)
class Script:
    """What a recording says; `ended` is false if the program did not live to write its end."""

    path: Path
    parts: Sequence[Part]
    ended: bool
    crash: str


def read_recording(path: Path) -> Script:
    """Read a file. Raises RecordingError. A last line without an end is left out: the program was ended while it wrote."""
    try:
        data = read_bounded(path, MOST_BYTES)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise RecordingError(printable(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})")) from None
    if len(data) > MOST_BYTES:
        raise RecordingError(f"{path}: larger than {MOST_BYTES >> 20:,} MB")
    reader = _Reader(path)
    try:
        return reader.script(_lines(data))
    except MemoryError:
        raise reader.error("needs more memory than there is") from None


def _lines(data: bytes) -> Iterator[bytes]:
    """The lines that have an end, one at a time: a list of empty ones would be eight times as long as the file."""
    return (line[:-1] for line in io.BytesIO(data) if line.endswith(b"\n"))


class _Reader:
    """Puts the lines together; `number` is that of the present one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 1

    def script(self, lines: Iterator[bytes]) -> Script:
        self._check_header(next(lines, b""))
        jumps: list[list[Numbered]] = []  # a beginning or a rewind, and what followed
        end: End | None = None
        for self.number, text in enumerate(lines, 2):
            if self.number % LOOK_EVERY == 0 and (short := shortage(self.number * LINE_BYTES)):
                raise self.error(short)
            line = self._line(text)
            if end:
                raise self.error("there is a line after the end")
            if isinstance(line, Begin | WentBack):
                jumps.append([(self.number, line)])
                continue
            if not jumps:
                raise self.error("the recording does not begin with a crowd")
            if isinstance(line, Reached) and line.jump > len(jumps):
                raise self.error(f"hash of jump {line.jump}, of which there are {len(jumps)}")
            jumps[line.jump - 1 if isinstance(line, Reached) else -1].append((self.number, line))
            end = line if isinstance(line, End) else None
        parts = self._parts(jumps)
        if not parts:
            raise self.error("is damaged: it ends before it begins")
        return Script(self.path, parts, bool(end), end.crash if end else "")

    def _parts(self, jumps: Sequence[Sequence[Numbered]]) -> list[Part]:
        parts: list[Part] = []
        for (self.number, first), *lines in jumps:
            if isinstance(first, Begin):
                if parts and first.left is not None:
                    parts[-1].end = max(parts[-1].end, first.left)
                parts.append(self._begun(first))
                if not same_world(parts[0].config, parts[-1].config):
                    raise self.error("the run goes on in another world")
            elif isinstance(first, WentBack) and parts and self._leads_somewhere(first, parts[-1]):
                parts[-1].rewind(first.to, first.actions)
            else:
                raise self.error("a rewind leads nowhere")
            for self.number, line in lines:
                self._add(line, parts[-1])
        return parts

    @staticmethod
    def _leads_somewhere(line: WentBack, part: Part) -> bool:
        return (part.first <= line.to <= max(part.end, line.left) and line.actions <= len(part.actions)
                and all(tick <= line.to for tick, _ in part.actions[:line.actions]))

    def _add(self, line: Line, part: Part) -> None:
        if isinstance(line, Act):
            if part.actions and part.actions[-1][0] > line.tick:
                raise self.error("actions are not in the order of their ticks")
            part.actions.append((line.tick, self._action(line)))
        if isinstance(line, Act | Reached | End):
            if line.tick < part.first:
                raise self.error(f"tick {line.tick} is before the beginning")
            part.end = max(part.end, line.tick)
        if isinstance(line, Reached) and line.hash:
            part.hashes[line.tick] = line.hash
        if isinstance(line, End):
            part.last_hash = line.hash

    def _check_header(self, line: bytes) -> None:
        try:
            header = Header.model_validate_json(line[CHECKSUM_DIGITS + 1:])
        except ValidationError:
            raise self.error("is no recording of crowd-demo") from None
        if header.magic != MAGIC:
            raise self.error("is no recording of crowd-demo")
        if header.format > FORMAT:
            raise self.error(f"has format {header.format}, newer than this program reads ({FORMAT}); "
                              f"crowd-demo {header.program[:20]} wrote it")
        if header.format != FORMAT:
            raise self.error(f"has format {header.format}, which no crowd-demo has written")
        self._unsealed(line)

    def _line(self, sealed: bytes) -> Line:
        try:
            return _LINE.validate_json(self._unsealed(sealed))
        except ValidationError:
            raise self.error("is damaged: no line of a recording") from None

    def _unsealed(self, line: bytes) -> bytes:
        """The text of a line."""
        text = line[CHECKSUM_DIGITS + 1:]
        if sealed_line(text) != line + b"\n":
            raise self.error("is damaged: its checksum is wrong")
        return text

    def _begun(self, line: Begin) -> Part:
        if line.snapshot is not None and line.config is None:
            snapshot = self._snapshot(line.snapshot)
            return Part(snapshot, end=snapshot.tick)
        if line.config is None or line.snapshot is not None:
            raise self.error("a beginning needs a configuration or a snapshot")
        try:
            return Part(ReadConfig.of(line.config, f"{self.path}:{self.number}").config, line.map_digest)
        except ConfigError as error:
            raise RecordingError(error.lines[0]) from None

    def _snapshot(self, text: str) -> Snapshot:
        try:
            return named(f"{self.path}:{self.number}", base64.b64decode(text, validate=True))
        except SaveError as error:
            raise RecordingError(str(error)) from None
        except ValueError:
            raise self.error("is damaged: a snapshot is no base64") from None

    def _action(self, line: Act) -> Action:
        try:
            return from_data(line.action)
        except ValueError as error:
            raise self.error(str(error)) from None

    def error(self, text: str) -> RecordingError:
        return RecordingError(printable(f"{self.path}:{self.number}: {text}"))
