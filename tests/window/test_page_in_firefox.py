"""A page in Firefox: it opens from the disk without a message, plays, goes to the second asked, and looks like the window."""

from pathlib import Path

import numpy as np
import pygame
import pytest
from browser import until
from exported import as_drawn_here, page_of, source
from firefox import FIREFOX, Firefox

pytestmark = [pytest.mark.slow,  # every day tests/extras/export/test_in_browser.py plays a page in Chromium
              pytest.mark.skipif(not FIREFOX, reason="Firefox is not installed (Debian: apt-get install firefox-esr)")]


def test_it_plays_and_looks_like_the_window(display: str, tmp_path: Path) -> None:
    page_of(source("1k", 2.0), tmp_path / "run.html")
    with Firefox(display) as browser:
        browser.open(tmp_path / "run.html", "t=0&play=1&speed=1")
        until(browser, "document.body.dataset.ready === 'yes' && document.getElementById('play').textContent === 'Play'")
        assert browser.run("document.getElementById('time').textContent") == "0:02.0 / 0:02.0"
        browser.run("location.hash = 't=1&x=960&y=560&zoom=2'")
        until(browser, "document.getElementById('time').textContent === '0:01.0 / 0:02.0'")
        browser.run("document.querySelectorAll('.panel').forEach(panel => panel.style.visibility = 'hidden')")
        (tmp_path / "theirs.png").write_bytes(browser.picture())
        assert browser.told("run.html") == []
        browser.run("setTimeout('the page lets no text be run')")
        until(browser, "true")
        assert browser.told("run.html") != []  # what it says is seen
    theirs = pygame.surfarray.array3d(pygame.image.load(tmp_path / "theirs.png")).astype(int)
    size = theirs.shape[:2]
    ours = pygame.surfarray.array3d(as_drawn_here(size, (960, 560), 2)).astype(int)
    ground = pygame.surfarray.array3d(as_drawn_here(size, (960, 560), 2, agents=0)).astype(int)
    people = np.abs(ours - ground).max(axis=2) > 30
    assert people.mean() > 0.01 and np.abs(theirs - ours)[~people].mean() < 6
    assert np.abs(theirs - ours)[people].mean() < np.abs(ground - ours)[people].mean() / 2
