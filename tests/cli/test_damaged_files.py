"""Damaged files of every kind that is read: exit code 0, 1 or 2, a line a mistake, at most two seconds and 500 MB each.

`CROWD_DEMO_FUZZ=500 pytest tests/cli/test_damaged_files.py` reads more than 5,000 before a release.
"""

import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pygame
import pytest
from damages import damages, slips
from exported import asked, source
from fuzzes import FILES, SEED
from recorded_run import Run

from crowd_demo.app.screen import read
from crowd_demo.cli import main
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.yaml12 import dump
from crowd_demo.extras.export.trajectories import write
from crowd_demo.host.recording.format import write_save
from crowd_demo.registry import plugins

ROOT = Path(__file__).parents[2]
LONGEST_S, MAX_MB, MAX_LINES, LONGEST_LINE = 2.0, 500, 21, 600
ONE_FRAME = "--headless", "--no-render", "--frames", "1"
AREA = "((0 0, 12 0, 12 8, 0 8, 0 0))"
ROOM = f"POLYGON {AREA}\nexit north: POLYGON ((2 3, 4 3, 4 4, 2 4, 2 3))\nstart: POLYGON ((0 0, 1 0, 1 4, 0 4, 0 0))\n"
PREFERENCES = "scale: 1.25\ntheme: light\nhud: compact\nopened: [step, memory]\nsize: [1280, 720]\n"
TOUR = """config: 1k
steps:
  - say: Everybody tests {candidates}.
    do: {set: {neighbours: none, stagger.avoidance: 1}, agents: 500, camera: {zoom: 2}}
    mark: brute
    bet: {ask: "How many?", of: candidates, low: 0, high: 3000}
  - say: Another one, {brute.factor}.
    do: {scenario: maze, speed: 0.5, pause: true}
    ask: Why?
    answer: Because {before.step_ms}.
"""
EVENTS = """events:
  - {at: 2, do: {walls: {rectangle: [468, 234, 494, 286], build: false}, send: {to: [0], leave: true}}, say: open}
  - {hand: bring, do: {bring_in: {count: 20, at: [400, 300]}, attract: {at: [350, 250], seconds: 1}, goal: {at: [60, 60]}}}
  - {when: left < 1 %, say: all are through, end: true}
"""


class Kind(NamedTuple):
    """A file as it should be, and the command that reads it."""

    name: str
    make: Callable[[Path], object]  # writes it
    arguments: tuple[str, ...] = ()
    is_text: bool = True
    called: Callable[[Path], int] | None = None  # where no command reads it


def shipped(name: str) -> Callable[[Path], object]:
    return lambda path: shutil.copy(ROOT / name, path)


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content, "utf-8")


def complete(path: Path) -> None:
    """Every key but those of keys."""
    data = load_config("predators", ["agents=300"]).model_dump(mode="json", exclude={"keys"})
    path.write_text(dump(data), "utf-8")


def recording(path: Path) -> None:
    run = Run(path, 9).steps(30)
    run.restart()
    run.steps(10)
    run.end()


def saved(path: Path) -> None:
    run = Run(path.with_suffix(".replay"), 9).steps(5).end()
    write_save(path, run.sim.snapshot())


def picture(path: Path) -> None:
    surface = pygame.Surface((24, 16))
    surface.fill("white")
    for colour, place in (("black", (3, 0, 2, 9)), ("red", (20, 4, 2, 2)), ("blue", (9, 3, 4, 4))):
        surface.fill(colour, place)
    pygame.image.save(surface, path)


def trajectories(path: Path) -> None:
    write(asked(source("station", 0.3, agents=9), path))


def read_preferences(path: Path) -> int:
    try:
        read(path)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def read_plugin(path: Path) -> int:
    """Load it as an entry point; what cannot be right costs a line and no more."""
    sys.modules.pop(path.stem, None)
    return 0 if plugins._read(EntryPoint("toys", f"{path.stem}:PLUGIN", plugins.GROUP)) else 2


ON_MAP = "--config", "1k", "--print-config", "--set"
KINDS = (
    Kind("scenario.yaml", lambda path: path.write_text((ROOT / "configs/doorway.yaml").read_text("utf-8"), "utf-8"),
         ("--print-config", "--config")),
    Kind("complete.yaml", complete, ("--print-config", "--config")),
    Kind("events.yaml", text(f"agents: 60\nbehaviour: crowd\nmap: hall\nworld: {{width: 832, height: 520}}\n{EVENTS}"),
         ("--print-config", "--config")),
    Kind("tour.yaml", text(TOUR), ("--print-config", "--tour")),
    Kind("hand.map", shipped("assets/maps/hall.map"), ON_MAP),
    Kind("drawn.png", picture, ON_MAP, is_text=False),
    Kind("room.wkt", text(ROOM), ON_MAP),
    Kind("walks.txt", trajectories, ("play", *ONE_FRAME)),
    Kind("walks.csv", trajectories, ("play", *ONE_FRAME, "--fps", "10")),
    Kind("walks.sqlite", trajectories, ("play", *ONE_FRAME), is_text=False),
    Kind("run.replay", recording, ("replay", "--headless")),
    Kind("people.crowd", saved, (*ONE_FRAME, "--load"), is_text=False),
    Kind("preferences.yaml", text(PREFERENCES), called=read_preferences),
    Kind("damaged_plugin.py", shipped("tests/toys/toys/plugin.py"), called=read_plugin),
)


def command(kind: Kind, path: Path) -> int:
    if kind.called:
        return kind.called(path)
    return main([*kind.arguments, f"map={path.name}" if kind.arguments == ON_MAP else path.name])


def damaged(kind: Kind, data: bytes) -> Iterator[bytes]:
    if not kind.is_text:
        return damages(data, SEED, 2 * FILES)  # of few can anything be read
    return chain(damages(data, SEED, FILES // 2), slips(data.decode(), SEED, FILES - FILES // 2))


def is_a_line(said: str) -> bool:
    return said.isprintable() and len(said) < LONGEST_LINE


def peak_mb() -> float:
    """The most memory of this process since `forget_peak`."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024 if status else 0.0  # type: ignore[index]


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", "utf-8")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.usefixtures("in_tmp_path")
def test_a_damaged_file_costs_a_line_a_mistake_and_little_time(
        kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "tests/toys")  # whose settings the plugin names
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("CROWD_DEMO_DEBUG", "1")  # a crash is an exception here
    (tmp_path / "scenarios").mkdir()  # of the plugin
    path = tmp_path / kind.name
    kind.make(path)
    assert command(kind, path) == 0, capsys.readouterr().err
    data, codes = path.read_bytes(), []
    forget_peak()
    before_mb = peak_mb()
    for number, content in enumerate(damaged(kind, data)):
        path.unlink()
        path.write_bytes(content)
        capsys.readouterr()
        began = time.process_time()
        codes.append(command(kind, path))
        took_s, said = time.process_time() - began, capsys.readouterr().err.splitlines()
        assert took_s < LONGEST_S, (number, took_s, content[-2000:])
        assert codes[-1] in (0, 1, 2) and (codes[-1] != 2 or said), (number, said)
        assert len(said) <= MAX_LINES and all(map(is_a_line, said)), (number, said)
    assert peak_mb() - before_mb < MAX_MB
    assert codes.count(2) > FILES / 10 and (0 in codes or kind.name.endswith(".crowd")), "some are read, but no damaged save"
