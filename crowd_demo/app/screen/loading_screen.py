"""The screen that is shown while loading, and what is printed without a window."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, wait

import pygame

from crowd_demo.app.key_input import Keymap
from crowd_demo.app.screen.window import screen
from crowd_demo.host.compiling.loading import Loaded, LoadingProgress
from crowd_demo.host.shutdown import ShutdownRequest
from crowd_demo.host.streams import ProgressLine
from crowd_demo.render.hud.canvas import ACCENT, DIM, EDGE, HUGE, NORMAL, Canvas, Pen, scale_for

BACKGROUND = (16, 20, 27)
FRAME_S = 1 / 15  # the compilers need the time
PRINT_EVERY_S = 0.2
BAR = 640.0  # units
WHAT = "A crowd in which every data-oriented optimisation is a switch: see what each one buys."
FIRST_KEYS = {
    "simd": "SIMD lanes off and on: a card says what they buy, and that the crowd is the same",
    "tour": "a tour through the other techniques",
    "help": "all keys",
}


def show_progress(job: Future[Loaded], progress: LoadingProgress, keymap: Keymap, quitting: ShutdownRequest) -> None:
    """Draw until the job is done or the user wants to quit."""
    pen, shown, first = Pen(), 0.0, keymap.hints(FIRST_KEYS)
    while not job.done() and not quitting.asked:
        if any(keymap.quits(event) for event in pygame.event.get()):
            quitting.ask()
        shown = max(shown, progress.part()) if progress.total else 0.0  # a helper may end before an earlier kernel
        draw_progress(screen(), str(progress), shown, pen, first)
        pygame.display.flip()
        wait((job,), timeout=FRAME_S)


def draw_progress(on: pygame.Surface, text: str, part: float, pen: Pen, keys: Sequence[tuple[str, str]] = ()) -> None:
    """Draw what the program is, a bar that is `part` full, a text, and keys; while `part` is 0, a light moves on the bar."""
    on.fill(BACKGROUND)
    scale = scale_for(on.get_size())
    canvas = Canvas((on.get_width() / scale, on.get_height() / scale), pen, scale, None)
    width, height = canvas.size
    wide = min(BAR, width - 40)
    left, top, bottom = (width - wide) / 2, height / 2 + 9, height / 2 + 15
    canvas.left("crowd-demo", left, top - 52, HUGE)
    canvas.left(canvas.fitted(WHAT, wide), left, top - 18, NORMAL, DIM)
    canvas.rect(EDGE, (left, top, wide, 6), radius=3)
    if part > 0:
        canvas.rect(ACCENT, (left, top, max(wide * part, 6), 6), radius=3)
    else:
        canvas.rect(ACCENT, (left + (wide - 40) * abs(time.monotonic() % 2 - 1), top, 40, 6), radius=3)
    canvas.left(canvas.fitted(text, wide), left, bottom + 18, NORMAL, DIM)
    for line, (key, what) in enumerate(keys):
        at = bottom + 52 + 20 * line
        canvas.left(key, left, at, NORMAL)
        canvas.left(canvas.fitted(what, wide - 60), left + 60, at, NORMAL, DIM)
    on.blit(canvas.surface, (0, 0))


def print_progress(job: Future[Loaded], progress: LoadingProgress, quitting: ShutdownRequest) -> None:
    """Wait without a window, as `show_progress` does; print to standard error what takes long."""
    with ProgressLine("crowd-demo") as line:
        while not quitting.asked and not wait((job,), timeout=PRINT_EVERY_S).done:
            line.show(progress)
