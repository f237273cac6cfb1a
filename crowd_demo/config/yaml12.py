"""Read YAML 1.2 (core schema) from untrusted files, and remember on which line each value stands.

PyYAML reads YAML 1.1, where `off` is false, `1e-3` is text and `012` is ten, and silently keeps the last of two equal
keys. So only its parser is used; its events become plain values here. Tags are refused. An alias may only stand for a
scalar, so aliases cannot grow exponentially. At most `MAX_BYTES` bytes are read, and at most `MAX_DEPTH` levels and
`MAX_VALUES` values parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import yaml

from crowd_demo.config.memory import read_bounded
from crowd_demo.registry.texts import printable, reason

MAX_BYTES = 1_000_000
MAX_DEPTH = 16
MAX_VALUES = 2_000

KeyPath = tuple[str | int, ...]
Scalar = str | int | float | bool | None

WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
INTEGER = re.compile(r"[-+]?[0-9]{1,100}|0o[0-7]{1,100}|0x[0-9a-fA-F]{1,100}")
LINE_END = re.compile(r"\r\n?|\n")  # where editors end lines; PyYAML also does at U+0085, U+2028 and U+2029
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
                   r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class Location(NamedTuple):
    """Where a value was given: a line of a file, the n-th `--set`, or (line 0) an option by its name."""

    origin: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.origin}:{self.line}" if self.line else self.origin


class Mistake(NamedTuple):
    """A mistake that is shown to the user as one line; characters that cannot be printed are escaped."""

    location: Location
    path: KeyPath
    text: str

    def __str__(self) -> str:
        path = ".".join(str(key) or "?" for key in self.path) or ("file" if self.location.line else "")
        line = f"{self.location}: {path if len(path) <= 80 else path[:76] + ' ...'}: " if path else f"{self.location}: "
        return printable(line + self.text)


class Document(NamedTuple):
    """Plain dicts, lists and scalars; where each key and list item stands; mistakes that did not stop the reader."""

    data: object
    locations: dict[KeyPath, Location]
    mistakes: list[Mistake]


class UnreadableError(Exception):
    """The reader cannot go on; `mistakes` ends with the reason, after the mistakes found before."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        super().__init__(mistakes[-1].text)
        self.mistakes = mistakes


def scalar(text: str) -> Scalar:
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if FLOAT.fullmatch(text):
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def read_file(path: Path) -> Document:
    """Read a file. Raises UnreadableError, also for one that is too large, not UTF-8 or missing."""
    try:
        raw = read_bounded(path, MAX_BYTES)
        if len(raw) > MAX_BYTES:
            raise ValueError(f"larger than {MAX_BYTES:,} bytes")
        return read(raw.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UnreadableError([Mistake(Location(str(path), line), (), "not UTF-8 text")]) from None
    except (OSError, ValueError) as error:
        text = reason(error)
        raise UnreadableError([Mistake(Location(str(path), 1), (), text)]) from None


def read(text: str, origin: str = "") -> Document:
    """Parse one document; an empty one is an empty mapping. Raises UnreadableError and nothing else."""
    return _EventReader(text, origin).document()


class _EventReader:
    """One pass over the parser's events. These come lazily, so nothing is parsed after a value that is refused."""

    def __init__(self, text: str, origin: str) -> None:
        self.origin = origin
        self.last = max(len(text) - 1, 0)  # index of the last character
        self.line_starts = [found.end() for found in LINE_END.finditer(text)]  # of all lines but the first
        self.locations: dict[KeyPath, Location] = {}
        self.mistakes: list[Mistake] = []
        self.anchors: dict[str, Scalar] = {}
        self.values = 0
        self.events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.SafeLoader)

    def document(self) -> Document:
        try:
            data = None
            for event in self.events:
                if isinstance(event, yaml.DocumentStartEvent):
                    if self.values:
                        self._stop(event, (), "only one document in a file")
                    data = self._value(next(self.events), ())
        except yaml.YAMLError as error:
            raise UnreadableError([*self.mistakes, self._broken(error)]) from None
        except (ValueError, OverflowError):  # raised by PyYAML's scanner for an impossible escape or version
            raise UnreadableError([*self.mistakes, self._mistake(1, (), "not YAML: impossible number or escape")]) from None
        return Document({} if data is None else data, self.locations, self.mistakes)

    def _value(self, event: yaml.Event, path: KeyPath) -> object:
        self.locations.setdefault(path, Location(self.origin, self._line(event)))
        self.values += 1
        if self.values > MAX_VALUES:
            self._stop(event, (), f"more than {MAX_VALUES:,} values")
        if len(path) > MAX_DEPTH:
            self._stop(event, path[:4], f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                self._stop(event, path, f"*{str(event.anchor)[:40]} stands for no single value given before")
            return self.anchors[event.anchor or ""]
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.tag:
            self._stop(event, path, f"tags such as {event.tag[:40]} are not supported")
        if isinstance(event, yaml.ScalarEvent):
            value = event.value if event.style else scalar(event.value)
            if event.anchor:
                self.anchors[event.anchor] = value
            return value
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        items: list[object] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*path, len(items))))
        return items

    def _mapping(self, path: KeyPath) -> dict[str, object]:
        """Keys keep their spelling (`1:` is "1"); the first of two equal keys counts."""
        items: dict[str, object] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.tag:
                self._stop(event, path, "a key must be plain text")
            key, line = str(event.value), self._line(event)
            inner = (*path, key)
            if key in items:
                self.mistakes.append(self._mistake(line, inner, f"given twice, first on line {self.locations[inner].line}"))
                inner = (*path, f"{key} again on line {line}")
            self.locations.setdefault(inner, Location(self.origin, line))
            items.setdefault(key, self._value(next(self.events), inner))
        return items

    def _stop(self, event: yaml.Event, path: KeyPath, text: str) -> NoReturn:
        raise UnreadableError([*self.mistakes, self._mistake(self._line(event), path, text)])

    def _mistake(self, line: int, path: KeyPath, text: str) -> Mistake:
        return Mistake(Location(self.origin, line), path, text)

    def _broken(self, error: yaml.YAMLError) -> Mistake:
        if isinstance(error, yaml.reader.ReaderError):
            return self._mistake(self._line_at(error.position), (), "not YAML: a control character")
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = ", ".join(part for part in (getattr(error, "context", None), getattr(error, "problem", None)) if part)
        line = self._line_at(mark.index if mark else 0)
        return self._mistake(line, (), "not YAML: " + " ".join((problem or str(error)).split()))

    def _line(self, event: yaml.Event) -> int:
        return self._line_at(event.start_mark.index) if event.start_mark else 1

    def _line_at(self, index: int) -> int:
        """The line of a character; the end of the file belongs to the last line."""
        return bisect_right(self.line_starts, min(index, self.last)) + 1


TAGS = {str: "str", int: "int", float: "float", bool: "bool", type(None): "null"}


class _Dumper(yaml.SafeDumper):
    """Quotes every text that `scalar` would not read as a text, so that what is written reads the same."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: tuple[bool, bool]) -> str:
        if kind is yaml.ScalarNode and implicit[0]:
            return f"tag:yaml.org,2002:{TAGS[type(scalar(value))]}"
        return str(super().resolve(kind, value, implicit))  # type: ignore[no-untyped-call]

    def ignore_aliases(self, data: object) -> bool:
        return True


_Dumper.add_representer(list, lambda dumper, items: dumper.represent_sequence("tag:yaml.org,2002:seq", items, True))
_Dumper.add_representer(float, lambda dumper, value: (  # 4000.0 as 4000
    dumper.represent_int(int(value)) if value.is_integer() and abs(value) < 1e15 else dumper.represent_float(value)))


def dump(data: object) -> str:
    """YAML text that `read` turns into the same data again."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=120, default_flow_style=False)
