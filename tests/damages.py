"""What can happen to a file, and what is none."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowd_demo.config.loader import ConfigError


def damages(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Flipped bits, cut ends, stretches of garbage, and stretches that are left out, doubled or zeroed."""
    chance = np.random.default_rng(seed)
    for number in range(count):
        first, last = sorted(chance.integers(len(data) + 1, size=2).tolist())
        last = min(last, first + 200)
        if number % 5 == 0:
            yield data[:first]
        elif number % 5 == 1:
            yield data[:first] + chance.bytes(last - first) + data[last:]
        elif number % 5 == 2:
            yield data[:first] + data[last:] if number % 2 else data[:last] + data[first:]
        else:
            flipped = bytearray(data)
            for place in chance.integers(len(data), size=chance.integers(1, 4)):
                flipped[place] ^= 1 << int(chance.integers(8))
            yield bytes(flipped)


def make_fifo(path: Path) -> None:
    """Make a named pipe; skip the test on a system without them."""
    if sys.platform == "win32":
        pytest.skip("there are no named pipes")
    else:
        os.mkfifo(path)


EXTREMES = ("0", "-1", "1", "1e9", "99999999999999999999", "1e308", "-1e308", "1e-308", "nan", ".inf", "-.inf", "null", "true",
            "''", "[]", "{}", "[[1, 2], 3]", "{a: 1}", "&a", "*a", "!!int x", "0x7fffffff", "é", "%", "../..", "#", "- ", ": ")
WORD = re.compile(r"[A-Za-z_.]+|-?[0-9.]+")


def slips(text: str, seed: int, count: int) -> Iterator[bytes]:
    """What a hand gets wrong in a text: a word or number for another, lines that are lost, doubled, exchanged or indented."""
    chance = np.random.default_rng(seed)
    lines = text.splitlines()
    words = [(number, found.span()) for number, line in enumerate(lines) for found in WORD.finditer(line)]
    every = [lines[number][first:last] for number, (first, last) in words]
    for _ in range(count):
        changed = list(lines)
        for _ in range(int(chance.integers(1, 3))):
            number, other = chance.integers(len(lines), size=2).tolist()
            match int(chance.integers(8)):
                case 0:
                    changed[number] = ""
                case 1:
                    changed[number] = f"{changed[number]}\n{changed[other]}"
                case 2:
                    changed[number], changed[other] = changed[other], changed[number]
                case 3:
                    changed[number] = " " * int(chance.integers(1, 5)) + changed[number]
                case _:
                    number, (first, last) = words[int(chance.integers(len(words)))]
                    put = (*EXTREMES, *every)[int(chance.integers(len(EXTREMES) + len(every) * int(chance.integers(2))))]
                    changed[number] = lines[number][:first] + put + lines[number][last:]
        yield "\n".join(changed).encode()


def mistakes_in(read: Callable[..., object], *arguments: Any, **named: Any) -> list[str]:
    """The lines of the mistakes for which a function refuses a configuration, a tour, a plan or a part of one."""
    with pytest.raises(ConfigError) as caught:
        read(*arguments, **named)
    assert str(caught.value) == "\n".join(caught.value.lines)
    return caught.value.lines
