"""A page in a real browser: it opens without a word, plays, goes to the second asked, and looks like the window."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from browser import CHROMIUM, Browser, until
from exported import as_drawn_here, page_of, places, source

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (Debian: apt-get install chromium)")

SECONDS, SIZE = 2.0, (480, 360)
AT = 960.0, 560.0


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    path = tmp_path_factory.mktemp("page") / "run.html"
    about, blocks = page_of(source("1k", SECONDS), path)
    return path, about, blocks


@pytest.fixture(scope="module")
def browser(page: tuple[Path, dict[str, Any], dict[str, Any]]) -> Iterator[Browser]:
    with Browser(SIZE) as opened:
        opened.open(page[0], "t=0")
        yield opened
        assert opened.told == []  # no message, no error, no other address, in all of these tests


def go(browser: Browser, fragment: str) -> None:
    """Let the page obey the address, and draw."""
    browser.run(f"""new Promise(done => {{
        let before = Infinity;
        const look = () => player.drawn > before + 1 ? done() : requestAnimationFrame(look);
        addEventListener('hashchange', () => {{ before = player.drawn; look(); }}, {{once: true}});
        location.hash = '{fragment}&k={time.monotonic_ns()}';
    }})""")


def test_it_opens_and_says_how_it_was_made(browser: Browser, page: tuple[Path, dict[str, Any], dict[str, Any]]) -> None:
    assert browser.run("document.body.dataset.ready") == "yes" and browser.run("document.title") == page[1]["title"]
    shown = browser.run("document.querySelector('#head dl').innerText") or browser.run(
        "document.querySelector('#head dl').textContent")
    assert all(what in shown and text in shown for what, text in page[1]["facts"])
    assert browser.run("[...element('colours').options].map(each => each.value)") == [
        "looks", "state", "speed", "density", "heading"]


def test_it_decodes_what_was_written(browser: Browser, page: tuple[Path, dict[str, Any], dict[str, Any]]) -> None:
    _, about, blocks = page
    x, y = (np.array(browser.run(f"Array.from(player.painter.frames.tracks.{axis})")) for axis in "xy")
    found = places(about, blocks)
    at = 0
    for member, first, length in zip(*(blocks[each].tolist() for each in ("member", "first", "length")), strict=True):
        for frame in range(first, first + length):
            assert (x[at] * about["step"], y[at] * about["step"]) == found[int(blocks["ids"][member]), frame][:2]
            at += 1
    assert at == len(x) == len(found)


def test_it_plays_to_its_end_and_stops(browser: Browser) -> None:
    go(browser, "t=0&play=1&speed=1")
    assert browser.run("player.plays") or browser.run("player.time") == SECONDS
    until(browser, f"player.time > 0.1 && player.time <= {SECONDS}")
    until(browser, f"player.time === {SECONDS} && !player.plays")
    assert browser.run("element('play').textContent") == "Play"


def test_it_goes_to_the_second_asked(browser: Browser) -> None:
    go(browser, "t=1.5")
    assert browser.run("player.time") == 1.5 and "0:01.5" in browser.run("element('time').textContent")
    browser.run("element('scrub').value = 0.75; element('scrub').dispatchEvent(new Event('input'))")
    go(browser, "zoom=1")
    assert browser.run("player.seek(0.75), player.time") == 0.75
    assert browser.run("player.seek(99), player.time") == SECONDS
    browser.run("player.play(false), player.seek(1)")
    for key, time_s in (("ArrowLeft", 0), ("ArrowRight", 1)):
        browser.run("document.activeElement.blur()")
        browser.input("dispatchKeyEvent", type="keyDown", key=key)
        assert browser.run("player.time") == time_s


def test_the_wheel_a_drag_and_two_fingers_move_the_view(browser: Browser) -> None:
    go(browser, "t=1&x=900&y=500&zoom=2")
    before = browser.run("[player.view.x, player.view.y, player.view.zoom]")
    browser.input("dispatchMouseEvent", type="mouseWheel", x=240, y=100, deltaX=0, deltaY=-100)
    until(browser, "player.view.zoom > 2")
    assert browser.run("player.view.zoom") == pytest.approx(2 * 1.15) and before[2] == 2
    assert browser.run("player.view.corner()[1] + 100 / player.view.zoom") == pytest.approx(before[1] - 80 / 2)  # stays there
    go(browser, "t=1&x=900&y=500&zoom=2")
    for kind, x in (("mousePressed", 200), ("mouseMoved", 260), ("mouseReleased", 260)):
        browser.input("dispatchMouseEvent", type=kind, x=x, y=120, button="left", buttons=1, clickCount=1)
    until(browser, "player.view.x === 870")
    for kind, apart in (("touchStart", 40), ("touchMove", 80), ("touchEnd", None)):
        fingers = [] if apart is None else [{"x": 240 + side * apart / 2, "y": 120, "id": side} for side in (-1, 1)]
        browser.input("dispatchTouchEvent", type=kind, touchPoints=fingers)
    until(browser, "player.view.pointers.size === 0")
    assert browser.run("player.view.zoom") == pytest.approx(4, rel=1e-3)


@pytest.mark.parametrize(("colours", "zoom"), [
    ("looks", 2.0), ("speed", 0.8), ("density", 2.0), ("heading", 0.8), ("state", 2.0)])
def test_it_looks_like_the_window(browser: Browser, tmp_path: Path, colours: str, zoom: float) -> None:
    go(browser, f"t=1&x={AT[0]}&y={AT[1]}&zoom={zoom}&colours={colours}")
    browser.run("for (const panel of document.querySelectorAll('.panel')) panel.style.visibility = 'hidden'")
    (tmp_path / "theirs.png").write_bytes(browser.picture())
    browser.run("for (const panel of document.querySelectorAll('.panel')) panel.style.visibility = ''")
    theirs = pygame.surfarray.array3d(pygame.image.load(tmp_path / "theirs.png")).astype(int)
    ours = pygame.surfarray.array3d(as_drawn_here(SIZE, AT, zoom, colours)).astype(int)
    assert theirs.shape == ours.shape == (*SIZE, 3)
    ground = pygame.surfarray.array3d(as_drawn_here(SIZE, AT, zoom, colours, agents=0)).astype(int)
    people = np.abs(ours - ground).max(axis=2) > 30
    assert people.mean() > 0.01
    assert np.abs(theirs - ours).mean() < 14
    assert np.abs(theirs - ours)[~people].mean() < 6
    if colours == "state":
        return
    close, far = np.abs(theirs - ours)[people].mean(), np.abs(ground - ours)[people].mean()
    assert close < far / 2  # most people are where ours are, in their colours
