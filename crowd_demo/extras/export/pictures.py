"""A run as pictures that move: what each of them shows, what lies over it, and a writer for each suffix.

The camera stands still, follows an agent, or glides from one bookmark to the next. Nothing that is drawn depends on a
clock, so the same run gives the same bytes; only a video is as its encoder makes it. No writer keeps a run in memory:

    .gif            255 colours, chosen anew where those of the first picture do not fit any more (Pillow)
    .apng           every pixel as it was (Pillow)
    .webp           as sharp as a good photograph (Pillow)
    .mp4, .webm     H.264 and VP9, by the `ffmpeg` of the user
    a folder        a PNG for each picture

In .gif and .apng a pixel that has not changed is left out. Sources: GIF89a; the PNG specification, third edition.
"""

from __future__ import annotations

import atexit
import math
import os
import signal
import subprocess
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import suppress
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from struct import pack
from typing import NamedTuple, cast

import numpy as np
import pygame

from crowd_demo.app.screen import png_of
from crowd_demo.compute.arrays import Bytes
from crowd_demo.extras.export.page import VIEW, facts_of, title_of
from crowd_demo.extras.export.sources import Frame, frames
from crowd_demo.extras.export.trajectories import FFMPEG, Asked, Format, Stepped, lacking, size_text
from crowd_demo.host.files import replacing
from crowd_demo.host.system import in_thread
from crowd_demo.measure.proof import Picture
from crowd_demo.registry.techniques import BY_PATH, hud_word
from crowd_demo.registry.texts import printable
from crowd_demo.render.hud.canvas import DIM, NORMAL, PAD, SHEET, TEXT, Canvas, Pen, scale_for
from crowd_demo.render.hud.status import time_text
from crowd_demo.render.hud.text_panels import draw_colour_legend, draw_notice
from crowd_demo.sim.actions import Switch

Pictures = Iterator[Bytes]  # uint8[height, width, 3], red, green, blue
COLOURS, NOTHING = 255, 255  # of a GIF, and the number of what has not changed
NOTHING_CHANGED = 0, 0, 1, 1  # of a picture, but one pixel has to be written: left, top, right, bottom
UNFILTERED = 0  # rows of a PNG: a fifth smaller than what Pillow chooses, as most pixels have not changed
RARE = 63  # of these are for colours that few pixels have, such as those of a legend
WORSE, WORSE_LEVELS = 1.5, 1.0  # a palette is made anew where the mean error is that many times larger, and some levels
ERROR_EVERY = 4  # pixels: the error is that of every fourth row and column
QUALITY, EFFORT = 70, 4  # of WebP, 0 to 100 and 0 to 6
NEAREST, FARTHEST = 9, 120  # pictures from one that is whole to the next: 3 % smaller than the usual 3 to 5, and sooner
ENCODERS = {"mp4": ("libx264", "-crf", "20", "-movflags", "+faststart"),
            "webm": ("libvpx-vp9", "-b:v", "0", "-crf", "32", "-row-mt", "1", "-deadline", "good", "-cpu-used", "4")}
PATIENCE_S, PATIENCE_MEGAPIXEL_S = 15.0, 10.0  # so long an encoder may take for one picture, and to end
MESSAGES = 4096  # bytes that are kept at least of the beginning, and of the end, of what an encoder says
SHOWN = 200  # characters of the beginning, and of the end, of what an encoder says


class Film(NamedTuple):
    """What is to be written: so many pictures, each of them a frame."""

    size: tuple[int, int]
    fps: float
    frames: int

    def durations(self, parts: int) -> list[int]:
        """How long each picture is shown, in whole parts of a second whose sum is right."""
        return np.diff(np.rint(np.arange(self.frames + 1) * parts / self.fps)).astype(int).tolist()


# --- GIF -------------------------------------------------------------------------------------------------------------

class _Palette:
    def __init__(self, picture: Bytes) -> None:
        from PIL import Image

        image, ways = Image.fromarray(picture), Image.Quantize
        found = [level for count, way in ((COLOURS - RARE, ways.MEDIANCUT), (RARE, ways.MAXCOVERAGE))
                 for level in (image.quantize(count, way).getpalette() or [0, 0, 0])[:3 * count]]
        self.colours = np.zeros((256, 3), np.uint8)
        self.colours[:] = found[:3]  # so that a number that no colour has is the first one's
        self.colours[:COLOURS] = np.resize(np.array(found, np.uint8), (COLOURS, 3))
        self._image = Image.new("P", (1, 1))
        self._image.putpalette(self.colours.tobytes())
        self._own_error = self._error(picture, self.numbers(picture))

    def numbers(self, picture: Bytes) -> Bytes:
        """The number of the nearest colour of each pixel."""
        from PIL import Image

        found = np.array(Image.fromarray(picture).quantize(palette=self._image, dither=Image.Dither.NONE))
        found[found == NOTHING] = 0
        return found

    def fits(self, picture: Bytes, numbers: Bytes) -> bool:
        return self._error(picture, numbers) <= WORSE * self._own_error + WORSE_LEVELS

    def _error(self, picture: Bytes, numbers: Bytes) -> float:
        some = slice(None, None, ERROR_EVERY), slice(None, None, ERROR_EVERY)
        return float(np.abs(self.colours[numbers[some]].astype(np.int16) - picture[some]).mean())


def gif(path: Path, film: Film, pictures: Pictures) -> None:
    from PIL import GifImagePlugin, Image

    begin = next(pictures)
    first = palette = _Palette(begin)
    before = ~palette.colours[palette.numbers(begin)]  # so that all of the first picture has changed
    with path.open("wb") as file:
        file.write(b"GIF89a" + pack("<HHBBB", *film.size, 0xF7, 0, 0) + palette.colours.tobytes()
                   + b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00")
        for hundredths, picture in zip(film.durations(100), chain([begin], pictures), strict=True):
            numbers = palette.numbers(picture)
            if not palette.fits(picture, numbers):
                palette = _Palette(picture)
                numbers = palette.numbers(picture)
            present = palette.colours[numbers]
            left, top, right, bottom = Image.fromarray(before ^ present).getbbox() or NOTHING_CHANGED
            numbers[(present == before).all(axis=2)] = NOTHING
            part = Image.fromarray(np.ascontiguousarray(numbers[top:bottom, left:right]))
            part.putpalette(palette.colours.tobytes())
            file.writelines(GifImagePlugin.getdata(part, (left, top), duration=10 * hundredths, transparency=NOTHING,
                                                   disposal=1, include_color_table=palette is not first))
            before = present
        file.write(b";")


# --- APNG ------------------------------------------------------------------------------------------------------------

def apng(path: Path, film: Film, pictures: Pictures) -> None:
    from PIL import Image

    begin, number = next(pictures), 0
    before = ~begin  # so that all of the first picture has changed
    with path.open("wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", pack(">IIBBBBB", *film.size, 8, 6, 0, 0, 0))
                   + _chunk(b"acTL", pack(">II", film.frames, 0)))
        shown = zip(film.durations(1000), chain([begin], pictures), strict=True)
        for index, (thousandths, picture) in enumerate(shown):
            left, top, right, bottom = Image.fromarray(before ^ picture).getbbox() or NOTHING_CHANGED
            same = (picture == before).all(axis=2, keepdims=True)
            pixels = np.where(same, np.uint8(0), np.insert(picture, 3, 255, axis=2))[top:bottom, left:right]
            data = zlib.compress(np.insert(pixels.reshape(bottom - top, -1), 0, UNFILTERED, axis=1).tobytes())
            blends, place = int(index > 0), (right - left, bottom - top, left, top)
            file.write(_chunk(b"fcTL", pack(">IIIIIHHBB", number, *place, thousandths, 1000, 0, blends)))
            number += 1 + blends
            file.write(_chunk(b"fdAT", pack(">I", number - 1) + data) if index else _chunk(b"IDAT", data))
            before = picture
        file.write(_chunk(b"IEND", b""))


def _chunk(name: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + name + data + pack(">I", zlib.crc32(name + data))


# --- WebP ------------------------------------------------------------------------------------------------------------

def webp(path: Path, film: Film, pictures: Pictures) -> None:
    """Pillow asks an image with several frames for one after the other."""
    from PIL import Image

    shown, at = Image.fromarray(next(pictures)), 0

    def seek(frame: int) -> None:
        nonlocal at
        if frame == at + 1:
            shown.paste(Image.fromarray(next(pictures)))
            at = frame

    shown.seek = seek  # type: ignore[method-assign]
    shown.n_frames = film.frames  # type: ignore[attr-defined]
    shown.save(path, "WEBP", save_all=True, duration=film.durations(1000), quality=QUALITY, method=EFFORT, kmin=NEAREST,
               kmax=FARTHEST)


# --- videos and folders ----------------------------------------------------------------------------------------------

def video(path: Path, film: Film, pictures: Pictures, kind: str) -> None:
    size, (encoder, *options) = "x".join(map(str, film.size)), ENCODERS[kind]
    command = [FFMPEG, "-loglevel", "error", "-xerror", "-nostdin", "-y",  # -xerror: a full disk is an error
               "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", repr(film.fps), "-i", "-",
               "-an", "-c:v", encoder, *options, "-pix_fmt", "yuv420p", "-f", kind,
               str(path.absolute())]  # a relative one may look like an option or a URL
    is_whole, patience_s = False, PATIENCE_S + PATIENCE_MEGAPIXEL_S * film.size[0] * film.size[1] / 1e6
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          start_new_session=True) as encoding:
        assert encoding.stdin and encoding.stderr
        read = partial(encoding.stderr.read, MESSAGES)
        messages = in_thread(lambda: b"".join((read(), *deque(iter(read, b""), 2))), "ffmpeg messages")  # beginning and end
        atexit.register(_kill, encoding)  # after a signal nobody waits for one that hangs
        try:
            with suppress(BrokenPipeError):  # it says why
                for picture in pictures:
                    _in_time(partial(encoding.stdin.write, picture.data), patience_s)
                _in_time(encoding.stdin.close, patience_s)
                is_whole = True
            _in_time(encoding.wait, patience_s)
        finally:
            atexit.unregister(_kill)
            _kill(encoding)
            with suppress(BrokenPipeError):
                encoding.stdin.close()
        said = messages.result().decode(errors="replace")
    if encoding.returncode or not is_whole or not path.exists():
        text = printable("; ".join(dict.fromkeys(said.splitlines())))
        text = text if len(text) <= 2 * SHOWN else f"{text[:SHOWN]} ... {text[-SHOWN:]}"
        raise OSError(f"ffmpeg: {text or f'it ended early, with code {encoding.returncode}'}")


def _in_time(job: Callable[[], object], seconds: float) -> None:
    """Do a job that waits for an encoder. Raises OSError if that takes longer; killing the encoder ends the job."""
    future = in_thread(job, "ffmpeg")
    if not wait((future,), seconds).done:
        raise OSError(f"ffmpeg: stopped, as it made no progress for {seconds:.0f} s")
    future.result()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        getattr(os, "killpg", os.kill)(process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def folder(path: Path, film: Film, pictures: Pictures) -> None:
    digits = max(len(str(film.frames - 1)), 4)
    path.mkdir()
    for number, picture in enumerate(pictures):
        (path / f"frame-{number:0{digits}}.png").write_bytes(
            png_of(pygame.image.frombuffer(picture.tobytes(), film.size, "RGB")))


FOLDER = ""  # the suffix of a folder
FILMS = {
    ".gif": Format(gif, 0.5, f"{COLOURS} colours per picture", most_fps=50.0, module="PIL"),
    ".apng": Format(apng, 1.5, "every pixel as drawn", module="PIL"),
    ".webp": Format(webp, 0.3, f"lossy, quality {QUALITY} of 100", module="PIL"),
    ".mp4": Format(partial(video, kind="mp4"), 0.3, "lossy, H.264", module=FFMPEG),
    ".webm": Format(partial(video, kind="webm"), 0.3, "lossy, VP9", module=FFMPEG),
    FOLDER: Format(folder, 2.0, "every pixel as drawn"),
}


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

    Raises as `write` does, and ValueError if no agent has the id to be followed. `command` is what makes the file
    again.
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
    view = asked.source.config.camera
    for frame in frames(asked.source, asked.every, asked.first, asked.last, stepped):
        if not picture or picture.scene.sim is not frame.sim:  # a restart may make another crowd
            made = Picture(frame.sim, size=shot.size)
            if picture:
                made.camera = picture.camera
            elif view.zoom:  # as much as in a window of the size that it is meant for
                factor = min(now / meant for now, meant in zip(made.camera.size, VIEW, strict=True))
                made.camera.show(view.model_copy(update={"zoom": view.zoom * factor}))
            picture = made
        at_s, ids = frame.step / asked.source.config.time.step_hz, frame.columns.id
        if shot.bookmarks:
            picture.camera.look_at(*view_at(shot.bookmarks, at_s))
        elif shot.follow:  # who may die or leave: the camera stays where that was
            identity, zoom = shot.follow
            slot = int(np.searchsorted(ids, identity))
            if slot < len(ids) and ids[slot] == identity:
                picture.camera.look_at(float(frame.columns.x[slot]), float(frame.columns.y[slot]), zoom)
            elif frame.step == asked.first:
                raise ValueError(f"--follow: no agent has the id {identity} at {at_s:g} s")
        picture.draw()
        if shot.hud:
            captions.draw_hud(frame, picture)
        yield _pixels(picture.surface)
    if shot.card:
        captions.draw_card(picture.surface, facts_of(asked.source.config, command, frame))
        yield from repeat(_pixels(picture.surface), math.ceil(CARD_S * asked.fps))


def _pixels(surface: pygame.Surface) -> Bytes:
    return np.ascontiguousarray(pygame.surfarray.array3d(surface).swapaxes(0, 1))


# --- what lies over a picture ----------------------------------------------------------------------------------------

class Captions:
    """What is written over pictures: title and time, what colours mean, and at the end how to make the run again."""

    def __init__(self, asked: Asked, shot: Shot) -> None:
        self._title, self._hz, self._size = title_of(asked.source), asked.source.config.time.step_hz, shot.size
        self._pen, self._scale = Pen(), scale_for(shot.size)
        self._margin = round(8 * self._scale)
        self._room = (shot.size[0] - 2 * self._margin) / self._scale

    def draw_hud(self, frame: Frame, picture: Picture) -> None:
        line = f"{self._title}, {time_text(frame.step / self._hz)}, {len(frame.columns.id):,} agents"
        on = picture.surface
        top = self._margin
        recent = (action for tick, action in frame.sim.history if tick > frame.sim.tick - SWITCHED_S * self._hz)
        switched = (f"{BY_PATH[action.path].label.strip()}: {hud_word(action.value)}" for action in recent
                    if isinstance(action, Switch))
        for text in (line, *switched):
            notice = draw_notice(text, self._room, self._pen, self._scale).surface
            on.blit(notice, (self._margin, top))
            top += notice.get_height() + self._margin // 2
        if legend := picture.scene.legend():
            surface = draw_colour_legend(legend, self._room, self._pen, self._scale).surface
            on.blit(surface, surface.get_rect(midbottom=(self._size[0] // 2, self._size[1] - self._margin)))

    def draw_card(self, on: pygame.Surface, facts: Sequence[Sequence[str]]) -> None:
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
