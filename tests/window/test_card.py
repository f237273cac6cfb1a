"""The card of a switch, as a person sees it: real keys, and what is on the screen then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pygame

from crowd_demo.render.hud.canvas import DARK, GOOD, TEXT

SIZE = 1280, 720


def proved(path: Path) -> int:
    """Pixels in the colour of a proof that holds, in the upper left part, where the card is."""
    pixels = pygame.surfarray.array3d(pygame.image.load(path)).astype(int)
    left, top, right, bottom = 0, 0, SIZE[0] * 7 // 10, SIZE[1] // 2
    return int((abs(pixels[left:right, top:bottom] - DARK[GOOD][:3]).max(axis=2) < 8).sum())


def shown(path: Path) -> int:
    """Pixels in the colour of text where the rows of Why are, left of the middle and below the head of the card."""
    pixels = pygame.surfarray.array3d(pygame.image.load(path)).astype(int)
    return int((abs(pixels[20:SIZE[0] * 2 // 5, 250:400] - DARK[TEXT][:3]).max(axis=2) < 30).sum())


def test_a_key_shows_the_card_with_its_proof_and_i_shows_why_hides_and_shows_it(start: Callable[..., Any]) -> None:
    program = start("--size", "1280x720")
    program.until(program.shows_the_crowd)
    assert proved(program.picture()) < 50
    program.press("2")
    program.until(lambda: proved(program.picture()) > 400)
    program.press("i")
    program.until(lambda: shown(program.picture()) > 300 > 50 > proved(program.picture()))
    program.press("i")
    program.until(lambda: shown(program.picture()) < 30)
    program.press("i")
    program.until(lambda: proved(program.picture()) > 400)
    assert program.leave() == 0
    assert program.report()["optimizations"]["simd"] is False and program.crowd_is_as_if_alone()


def test_the_card_follows_the_switch_of_reordering(start: Callable[..., Any]) -> None:
    program = start("--size", "1280x720", "--set", "optimizations.reorder.when=off")
    program.until(program.shows_the_crowd)
    program.press("3")
    program.until(lambda: proved(program.picture()) > 400)
    assert program.leave() == 0
