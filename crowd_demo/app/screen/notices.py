"""Temporary texts over the picture: messages, and the caption of a scenario that has opened; and the screen while loading.

The loading screen shows the scenario's picture over its own blur, a bar, and what to try. Keys are kept for the program
that comes, and their tries say so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import lru_cache
from typing import NamedTuple

import pygame

from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen.window import screen
from crowd_demo.config.keys import ACTIONS
from crowd_demo.config.resources import TRY, about, find_config, note_of, picture_of
from crowd_demo.host.compiling.loading import Loaded, LoadingProgress
from crowd_demo.host.shell import ShutdownRequest
from crowd_demo.render.hud.canvas import ACCENT, DIM, EDGE, HUGE, LARGE, NORMAL, TOUCHED, Canvas, Pen, scale_for
from crowd_demo.render.hud.large_type import Caption
from crowd_demo.render.hud.views import loaded_picture

CAPTION_S, FADE_S = 3.0, 0.4
NOTICE_S = 3.0
NOTICES = 4  # at a time
BACKGROUND, SHADE = (16, 20, 27), (30, 30, 30)  # the blur is multiplied with the shade
BLUR = 8, 5  # pixels into which the picture is shrunk
FRAME_S = 1 / 15  # the compilers need the time
SIDE, GAP, PICTURE = 341.0, 48.0, 556.0  # units: the width of what stands at the right, the gap, the largest picture
LEAST_PICTURE = 120.0
ROW, LINE = 62.0, 21.0  # units: from one try to the next, from one line to the next
Try = tuple[str, str, str, bool]  # a key, what it does, what is seen then, and whether it was pressed
NOTED = "Noted: it begins when {} ready."
TRIES = {  # what an action does, what is seen then, and what it has to wait for
    "simd": ("Switch SIMD lanes off and on", "A card shows what they gain.", "lanes are"),
    "freeze": ("Freeze what the camera sees", "Zoom out: the rest was never drawn.", "the crowd is"),
    "tour": ("Take a tour", "Short pages, one idea each.", "the crowd is"),
}


class Notice(NamedTuple):
    """A line, how long it is shown, and until when; it has no end before it was presented.

    One about a state goes away as soon as that no longer `holds`.
    """

    text: str
    lasts_s: float
    holds: Callable[[], object] | None = None
    end_s: float = math.inf


class Notices:
    """A line replaces the one about the same topic; the newest is the last. Its time begins when it is first presented.

    From when it was added, a frame that takes long would leave it none.
    """

    def __init__(self) -> None:
        self.shown: dict[str, Notice] = {}  # by topic

    def add(self, text: str, about: str = "", lasts_s: float = NOTICE_S,
            holds: Callable[[], object] | None = None) -> None:
        """Show a line; one without a topic is its own. With `holds` only as long as that is true."""
        self.drop(about or text)
        self.shown[about or text] = Notice(text, lasts_s, holds)
        self.shown = dict(list(self.shown.items())[-NOTICES:])

    def drop(self, about: str) -> None:
        self.shown.pop(about, None)

    def present(self) -> list[str]:
        now = time.monotonic()
        self.shown = {about: notice._replace(end_s=min(notice.end_s, now + notice.lasts_s))
                       for about, notice in self.shown.items() if notice.end_s > now and (not notice.holds or notice.holds())}
        return [notice.text for notice in self.shown.values()]

    def take_over(self, left: Notices) -> None:
        """Go on with the lines of another program, but for those about a state of its own."""
        self.shown = {about: notice for about, notice in left.shown.items() if not notice.holds} | self.shown


# --- the caption -----------------------------------------------------------------------------------------------------

def caption_of(name: str | None, keymap: Keymap) -> Caption | None:
    """Return the caption of the configuration with this name or path; None without a file."""
    try:
        path = find_config(name or "")
    except ValueError:
        return None
    action, _, hint = note_of(path, TRY).partition(", ")
    return Caption(path.stem, about(path), keymap.name(action) if action in ACTIONS else "", hint)


class ShownCaption:
    """Its time begins when it is first presented, as a notice's does."""

    def __init__(self) -> None:
        self.show(None)

    def show(self, caption: Caption | None) -> None:
        self._caption, self._end_s = caption, math.inf

    def present(self) -> Caption | None:
        """Return what to draw now, ever paler at the end."""
        if not self._caption:
            return None
        now = time.monotonic()
        self._end_s = min(self._end_s, now + CAPTION_S + FADE_S)
        if now >= self._end_s:
            self._caption = None
        return self._caption and self._caption._replace(alpha=min((self._end_s - now) / FADE_S, 1.0))


# --- loading ---------------------------------------------------------------------------------------------------------

def show_progress(job: Future[Loaded], progress: LoadingProgress, keymap: Keymap, quitting: ShutdownRequest,
                  name: str | None = None) -> list[pygame.Event]:
    """Draw until the job is done or the user wants to quit; return the events of keys, for the program that was loaded.

    `name` is that of the configuration.
    """
    pen, shown, keys = Pen(), 0.0, list[pygame.Event]()
    caption = caption_of(name, keymap) or Caption("crowd-demo", "")
    path = picture_of(find_config(name)) if name and caption.sentence else None
    picture = loaded_picture(path) if path else None
    while not job.done() and not quitting.asked:
        for event in pygame.event.get():
            if keymap.quits(event):
                quitting.ask()
            elif event.type in (pygame.KEYDOWN, pygame.KEYUP):
                keys.append(event)
        pressed = {keymap.action(event)[0] for event in keys if event.type == pygame.KEYDOWN}
        tries = [(keymap.name(action), what, NOTED.format(awaited) if action in pressed else more, action in pressed)
                 for action, (what, more, awaited) in TRIES.items() if keymap.name(action)]
        shown = max(shown, progress.part()) if progress.total else 0.0  # a helper may end before an earlier kernel
        draw_progress(screen(), progress, shown, pen, caption, picture, tries)
        pygame.display.flip()
        wait((job,), timeout=FRAME_S)
    return keys


def draw_progress(on: pygame.Surface, progress: LoadingProgress, part: float, pen: Pen, caption: Caption,
                  picture: pygame.Surface | None = None, tries: Sequence[Try] = ()) -> None:
    """Draw the scenario, what to try, and a bar that is `part` full; while `part` is 0, a light moves on the bar."""
    on.blit(_background(picture, on.get_size()), (0, 0))
    scale = scale_for(on.get_size())
    canvas = Canvas((on.get_width() / scale, on.get_height() / scale), pen, scale, None)
    width, height = canvas.size
    edge = 0.075 * width
    side = min(SIDE, width - 2 * edge)
    wide = min(width - 2 * edge - side - GAP, PICTURE)
    high = wide * 9 / 16
    top = max(height / 2 - 22 - max(high, 313.0) / 2, 10.0)
    if picture and wide >= LEAST_PICTURE:
        canvas.picture(picture, (edge, top, wide, high))
    else:
        high = 0.0
    low = max(top + high + 42, height / 2 + 170) if high < 200 else top + high + 42
    # at the right what to try, and below it the bar
    left = width - edge - side
    canvas.left("While it gets ready", left, top + 10, LARGE, bold=True)
    canvas.left("three things to try", left, top + 33, NORMAL, DIM)
    top += 56
    for key, what, more, pressed in tries:
        if pressed:
            canvas.rect(TOUCHED, (left - 14, top, side + 14, ROW - 3), radius=8)
        canvas.key(key, left, top + 20, 20)
        canvas.left(canvas.fitted(what, side - 42), left + 42, top + 20, bold=True)
        canvas.left(canvas.fitted(more, side - 42), left + 42, top + 20 + LINE, NORMAL, ACCENT if pressed else DIM)
        top += ROW
    count = f"{min(progress.done + 1, progress.total)} of {progress.total}" if progress.total else ""
    end = canvas.right(count, left + side, top + 25, bold=True)
    canvas.left(canvas.fitted(progress.text, end - left - 10), left, top + 25, NORMAL, DIM)
    canvas.rect(EDGE, (left, top + 41, side, 7), radius=3.5)
    at, filled = (0.0, max(side * part, 7)) if part > 0 else ((side - 40) * abs(time.monotonic() % 2 - 1), 40.0)
    canvas.rect(ACCENT, (left + at, top + 41, filled, 7), radius=3.5)
    canvas.left(canvas.fitted(progress.how_often, side), left, top + 64, NORMAL, DIM)
    canvas.left(canvas.fitted(caption.name, width - 2 * edge, HUGE), edge, low, HUGE, bold=True)
    canvas.left(canvas.fitted(caption.sentence, width - 2 * edge, LARGE), edge, low + 38, LARGE, DIM)
    on.blit(canvas.surface, (0, 0))


@lru_cache(2)
def _background(picture: pygame.Surface | None, size: tuple[int, int]) -> pygame.Surface:
    ground = pygame.Surface(size)
    ground.fill(BACKGROUND)
    if picture:
        blurred = pygame.transform.smoothscale(pygame.transform.smoothscale(picture, BLUR), size)
        blurred.fill(SHADE, special_flags=pygame.BLEND_MULT)
        ground.blit(blurred, (0, 0), special_flags=pygame.BLEND_ADD)
    return ground
