"""How many files a reader has to open who follows a key to what it does, or a frame from its beginning to its end."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median
from types import FrameType

import pygame
import pytest
from driven import Driven

import crowd_demo
from crowd_demo.app.crowd.pace import Meters
from crowd_demo.compute.jit import Kernel

PACKAGE = str(Path(crowd_demo.__file__).parent)
ROOTS = ("WindowEvents.read", "Techniques.switch_to_compiled", "Crowd.carry_out_changes")  # what a frame calls
WALK = "KernelFinder.missing"  # lists the kernels of a step by going through a small copy of the crowd


class Followed:
    """A profile function of threads: what runs below the roots until a technique has its new value."""

    def __init__(self, driven: Driven) -> None:
        self.files: set[str] = set()
        self.depth: dict[str, int] = {}  # of each function
        self.walks = 0
        self._driven, self._is_set = driven, False

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        chain = launches_from_root(frame)
        if event != "call" or self._is_set or not chain or WALK in chain[1:]:
            return
        self.files.add(frame.f_code.co_filename)
        self.depth[chain[0]] = len(chain)
        self.walks += chain[0] == WALK
        self._is_set = chain[0] == "_Techniques.set" and frame.f_locals["self"] is self._driven.program.sim.optimizations


def launches_from_root(frame: FrameType | None) -> list[str]:
    """The functions of the program that are running, the innermost first, up to a root; none outside of the roots."""
    names: list[str] = []
    while frame:
        if frame.f_code.co_filename.startswith(PACKAGE):
            names.append(frame.f_code.co_qualname)
        elif not names:
            return []
        if names[-1:] and names[-1] in ROOTS:
            return names
        frame = frame.f_back
    return []


def test_from_key_2_to_the_value_it_is_seven_calls_and_fifteen_files(driven: Driven) -> None:
    for mod in (0, pygame.KMOD_LSHIFT):  # both values are compiled then
        driven.press("2", mod)
        driven.settle()
    path = Followed(driven)
    driven.loop.worker.submit(lambda: sys.setprofile(path)).result()
    sys.setprofile(path)
    try:
        driven.press("2")
    finally:
        sys.setprofile(None)
        driven.loop.worker.submit(lambda: sys.setprofile(None)).result()
    assert driven.program.sim.optimizations.simd is False
    assert path.depth["Switcher.request"] <= 7 and path.depth["_Techniques.set"] <= 8
    assert len(path.files) <= 15, sorted(path.files)
    assert path.walks == 1


def test_a_frame_goes_through_sixty_three_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """In half of all frames of a sixtieth of a second: now and then the HUD is written anew, or a keyframe is taken."""
    driven = Driven("agents=2000", "map=plaza", config="20k")
    now_s = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now_s)  # on a slow machine frames would be longer
    driven.program.crowd.meters = Meters(time.perf_counter)
    for _ in range(40):
        now_s += 1 / 60
        driven.frames()
    files: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            files.add(frame.f_code.co_filename)
            if isinstance(kernel := frame.f_locals.get("self"), Kernel):
                files.add(kernel.share.__code__.co_filename)

    counts = []
    driven.loop.worker.submit(lambda: sys.setprofile(note)).result()
    sys.setprofile(note)
    try:
        for _ in range(60):
            files.clear()
            now_s += 1 / 60
            driven.frames()
            counts.append(len(files))
    finally:
        sys.setprofile(None)
        driven.loop.worker.submit(lambda: sys.setprofile(None)).result()
    assert median(counts) <= 63, sorted(counts)
