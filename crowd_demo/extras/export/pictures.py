"""A run as pictures that move: what each of them shows, and what lies over it. animations.py writes them.

The camera stands still, follows an agent, or glides from one bookmark to the next. Nothing that is drawn depends on a
clock, so the same run gives the same bytes; only a video is as its encoder makes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple, cast

import numpy as np
import pygame

from crowd_demo.compute.arrays import Bytes
from crowd_demo.config.model import Config
from crowd_demo.extras.export.animations import FILMS, Film, Pictures
from crowd_demo.extras.export.page import VIEW, facts_of, title_of
from crowd_demo.extras.export.sources import Frame, frames
from crowd_demo.extras.export.trajectories import FFMPEG, Asked, Stepped, lacking, size_text
from crowd_demo.host.files import replacing
from crowd_demo.measure.crowd_variant import Picture
from crowd_demo.registry.techniques import BY_PATH, hud_word
from crowd_demo.render.camera import Camera
from crowd_demo.render.hud.canvas import DIM, NORMAL, PAD, SHEET, TEXT, Canvas, Pen, scale_for
from crowd_demo.render.hud.status import time_text
from crowd_demo.render.hud.text_panels import draw_colour_legend, draw_notice
from crowd_demo.sim.actions import Switch
from crowd_demo.sim.simulation import Simulation

USUAL_SIZE, LEAST_SIDE, MAX_SIDE = (640, 360), 16, 4096
FOLLOW_ZOOM = 2.0  # pixels a unit
SWITCHED_S = 2.0  # so long the HUD says what was switched
CARD_S, CARD_WIDTH, LINE, LABELS = 4.0, 520.0, 16.0, 104.0  # how long the card is shown; units


class Bookmark(NamedTuple):
    """A view that is reached at a time: seconds after the source's beginning, world units, pixels a unit."""

    at_s: float
    x: float
    y: float
    zoom: float


class Shot(NamedTuple):
    """How a run is seen: through bookmarks in the order of time, or after an agent, or as its configuration says."""

    size: tuple[int, int] = USUAL_SIZE
    bookmarks: tuple[Bookmark, ...] = ()
    follow: tuple[int, float] | None = None  # an agent's id, and the zoom
    hud: bool = False
    card: bool = False


def view_at(bookmarks: Sequence[Bookmark], at_s: float) -> tuple[float, float, float]:
    """Return x, y and zoom at a time. Between two bookmarks the zoom grows by the same factor in equal parts of the way.

    The way begins and ends slowly, and leads straight to where both views have the same point of the world.
    """
    later = sum(bookmark.at_s <= at_s for bookmark in bookmarks)
    if later in (0, len(bookmarks)):
        return bookmarks[max(later - 1, 0)][1:]
    one, other = bookmarks[later - 1:later + 1]
    time = (at_s - one.at_s) / (other.at_s - one.at_s)
    part = time * time * (3 - 2 * time)
    growth = math.log(one.zoom / other.zoom)  # of what is seen
    way = math.expm1(part * growth) / math.expm1(growth) if abs(growth) > 1e-6 else part
    return (one.x + (other.x - one.x) * way, one.y + (other.y - one.y) * way, one.zoom * math.exp(-part * growth))


def mistakes_of(asked: Asked, shot: Shot) -> list[str]:
    """What cannot be, a line each."""
    form, (width, height), found = FILMS[asked.path.suffix.lower()], shot.size, list[str]()
    if not LEAST_SIDE <= min(shot.size) <= max(shot.size) <= MAX_SIDE:
        found.append(f"--size: each side must be from {LEAST_SIDE} to {MAX_SIDE} pixels, not {width}x{height}")
    elif form.module == FFMPEG and (width % 2 or height % 2):
        found.append(f"--size: a video needs even numbers, not {width}x{height}")
    if asked.fps > form.most_fps:
        found.append(f"--fps: {asked.path.suffix} shows at most {form.most_fps:g} frames per second, not {asked.fps:.6g}")
    if twice := {each.at_s for each in shot.bookmarks if sum(each.at_s == other.at_s for other in shot.bookmarks) > 1}:
        found.append(f"--view: two views at {min(twice):g} s; give each its time, as in 2.5:900,500,1.2")
    if short := lacking(asked.path, width * height * (asked.frames + shot.card) * form.nbytes):
        found.append(short)
    return found


# --- from a run to pictures ------------------------------------------------------------------------------------------

def write_pictures(asked: Asked, shot: Shot, command: str, stepped: Stepped = lambda step: None) -> list[str]:
    """Make the run and write the file or folder, completely or not at all; say what was written.

    Raises as `write` does, and ValueError if no agent has the id to be followed. `command` is what makes the file again.
    """
    form = FILMS[asked.path.suffix.lower()]
    film = Film(shot.size, asked.fps, asked.frames + shot.card * math.ceil(CARD_S * asked.fps))
    with replacing(asked.path) as unfinished:
        form.write(unfinished, film, _pictures(asked, shot, command, stepped))
    nbytes = sum(each.stat().st_size for each in (asked.path.iterdir() if asked.path.is_dir() else [asked.path]))
    return [f"{asked.path}: {asked.frames:,} pictures of {film.size[0]} x {film.size[1]}, {asked.times}",
            f"{size_text(nbytes)}; {form.how_exact}"]


def _pictures(asked: Asked, shot: Shot, command: str, stepped: Stepped) -> Pictures:
    pygame.font.init()
    captions, picture = Captions(asked, shot), cast(Picture, None)
    for frame in frames(asked.source, asked.every, asked.first, asked.last, stepped):
        if not picture or picture.scene.sim is not frame.sim:  # a restart may make another crowd
            made = Picture(frame.sim, size=shot.size)
            made.camera = picture.camera if picture else _first_view(asked.source.config, made.camera)
            picture = made
        _look(picture.camera, asked, shot, frame)
        picture.draw()
        if shot.hud:
            captions.draw_hud(frame, picture)
        yield _pixels(picture.surface)
    if shot.card:
        captions.draw_card(picture.surface, facts_of(asked.source.config, command, frame))
        yield from repeat(_pixels(picture.surface), math.ceil(CARD_S * asked.fps))


def _pixels(surface: pygame.Surface) -> Bytes:
    return np.ascontiguousarray(pygame.surfarray.array3d(surface).swapaxes(0, 1))


def _look(camera: Camera, asked: Asked, shot: Shot, frame: Frame) -> None:
    """Move the camera. Who is followed may die or leave: it stays where that was."""
    at_s, ids = frame.step / asked.source.config.time.step_hz, frame.columns.id
    if shot.bookmarks:
        camera.look_at(*view_at(shot.bookmarks, at_s))
    elif shot.follow:
        identity, zoom = shot.follow
        slot = int(np.searchsorted(ids, identity))
        if slot < len(ids) and ids[slot] == identity:
            camera.look_at(float(frame.columns.x[slot]), float(frame.columns.y[slot]), zoom)
        elif frame.step == asked.first:
            raise ValueError(f"--follow: no agent has the id {identity} at {at_s:g} s")


def _first_view(config: Config, camera: Camera) -> Camera:
    """What the configuration shows, as much of it as in a window of the size that its zoom is meant for."""
    if config.camera.zoom:
        factor = min(now / meant for now, meant in zip(camera.size, VIEW, strict=True))
        camera.show(config.camera.model_copy(update={"zoom": config.camera.zoom * factor}))
    return camera


# --- what lies over a picture ----------------------------------------------------------------------------------------

class Captions:
    """What is written over pictures: title and time, what colours mean, and at the end how to make the run again."""

    def __init__(self, asked: Asked, shot: Shot) -> None:
        self._title, self._hz, self._size = title_of(asked.source), asked.source.config.time.step_hz, shot.size
        self._pen, self._scale = Pen(), scale_for(shot.size)
        self._margin = round(8 * self._scale)
        self._room = (shot.size[0] - 2 * self._margin) / self._scale

    def draw_hud(self, frame: Frame, picture: Picture) -> None:
        on = picture.surface
        line = f"{self._title}, {time_text(frame.step / self._hz)}, {len(frame.columns.id):,} agents"
        top = self._margin
        for text in (line, *self._switched(frame.sim)):
            notice = draw_notice(text, self._room, self._pen, self._scale).surface
            on.blit(notice, (self._margin, top))
            top += notice.get_height() + self._margin // 2
        if legend := picture.scene.legend():
            surface = draw_colour_legend(legend, self._room, self._pen, self._scale).surface
            on.blit(surface, surface.get_rect(midbottom=(self._size[0] // 2, self._size[1] - self._margin)))

    def _switched(self, sim: Simulation) -> list[str]:
        """The techniques that were switched in the last seconds."""
        recent = (action for tick, action in sim.history if tick > sim.tick - SWITCHED_S * self._hz)
        return [f"{BY_PATH[action.path].label.strip()}: {hud_word(action.value)}" for action in recent
                if isinstance(action, Switch)]

    def draw_card(self, on: pygame.Surface, facts: Sequence[Sequence[str]]) -> None:
        """What was shown, and how it is made again."""
        wide = min(CARD_WIDTH, self._room)
        ruler = Canvas((1, 1), self._pen, self._scale, None)
        rows = [(what, ruler.wrapped(text, wide - LABELS - 2 * PAD)) for what, text in facts]
        canvas = Canvas((wide, LINE * (2 + sum(len(lines) for _, lines in rows)) + PAD), self._pen, self._scale, SHEET)
        canvas.left(ruler.fitted(self._title, wide - 2 * PAD), PAD, PAD / 2 + LINE / 2, NORMAL, TEXT)
        top = PAD / 2 + 1.5 * LINE
        for what, lines in rows:
            canvas.left(what, PAD, top + LINE / 2, NORMAL, DIM)
            top = canvas.paragraph(lines, LABELS + PAD, top, LINE)
        on.blit(canvas.surface, canvas.surface.get_rect(center=on.get_rect().center))
