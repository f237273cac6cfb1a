"""Files of pictures that move, one writer for each suffix. None keeps a run in memory.

    .gif            255 colours, chosen anew where those of the first picture do not fit any more (Pillow)
    .apng           every pixel as it was (Pillow)
    .webp           as sharp as a good photograph (Pillow)
    .mp4, .webm     H.264 and VP9, by the `ffmpeg` of the user
    a folder        a PNG for each picture

In .gif and .apng a pixel that has not changed is left out. Sources: GIF89a; the PNG specification, third edition.
"""

from __future__ import annotations

import atexit
import io
import os
import shutil
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import BufferedReader
from itertools import accumulate
from pathlib import Path
from struct import pack, unpack
from threading import Event, Timer
from typing import NamedTuple, cast

import numpy as np
import pygame

from crowd_demo.app.screen.window import png_of
from crowd_demo.compute.arrays import Bytes
from crowd_demo.extras.export.formats import absent
from crowd_demo.host.system import in_thread
from crowd_demo.registry.texts import printable

Pictures = Iterator[Bytes]  # uint8[height, width, 3], red, green, blue
COLOURS, NOTHING = 255, 255  # of a GIF, and the number of what has not changed
RARE = 63  # of these are for colours that few pixels have, such as those of a legend
WORSE, WORSE_LEVELS = 1.5, 1.0  # a palette is made anew where the mean error is that many times larger, and some levels
ERROR_EVERY = 4  # pixels: the error is that of every fourth row and column
QUALITY, EFFORT = 70, 4  # of WebP, 0 to 100 and 0 to 6
NEAREST, FARTHEST = 9, 120  # pictures from one that is whole to the next: 3 % smaller than the usual 3 to 5, and sooner
ENCODERS = {"mp4": ("libx264", "-crf", "20", "-movflags", "+faststart"),
            "webm": ("libvpx-vp9", "-b:v", "0", "-crf", "32", "-row-mt", "1", "-deadline", "good", "-cpu-used", "4")}
PATIENCE_S, PATIENCE_MEGAPIXEL_S = 15.0, 10.0  # so long an encoder may take for one picture, and to end
KEPT, SHOWN = 10_000, 200  # bytes of the beginning and of the end of what an encoder says; characters of these in a message


class Film(NamedTuple):
    """What is to be written: each picture is shown for so many frames."""

    size: tuple[int, int]
    fps: float
    shown: list[int]

    def durations(self, parts: int) -> list[int]:
        """How long each picture is shown, in whole parts of a second whose sum is right."""
        ends = [round(end * parts / self.fps) for end in accumulate(self.shown)]
        return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


class FilmFormat(NamedTuple):
    """A kind of file: `write` takes the pictures, as many as the film says. It raises OSError."""

    write: Callable[[Path, Film, Pictures], None]
    pixel_bytes: float  # of a pixel of a picture, about
    how_exact: str
    most_fps: float = 1000.0
    module: str = ""
    is_video: bool = False

    @property
    def missing(self) -> str:
        """What to install before it can be written, or an empty text."""
        if self.is_video and not shutil.which("ffmpeg"):
            return "ffmpeg was not found: install it (https://ffmpeg.org), or write a .webp"
        return absent(self.module)


# --- GIF -------------------------------------------------------------------------------------------------------------

class _Palette:
    """Colours of a GIF, from one picture."""

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
        """The mean error, in levels."""
        some = slice(None, None, ERROR_EVERY), slice(None, None, ERROR_EVERY)
        return float(np.abs(self.colours[numbers[some]].astype(np.int16) - picture[some]).mean())


def gif(path: Path, film: Film, pictures: Pictures) -> None:
    from PIL import GifImagePlugin, Image

    first, palette, before = None, None, np.zeros((*film.size[::-1], 3), np.uint8)
    with path.open("wb") as file:
        for hundredths, picture in zip(film.durations(100), pictures, strict=True):
            numbers = palette.numbers(picture) if palette else None
            if palette is None or numbers is None or not palette.fits(picture, numbers):
                palette = _Palette(picture)
                numbers = palette.numbers(picture)
            present = palette.colours[numbers]
            left, top, right, bottom = box = (0, 0, *film.size) if first is None else _changed(before, present)
            if first is None:
                first = palette
                file.write(b"GIF89a" + pack("<HHBBB", *film.size, 0xF7, 0, 0) + palette.colours.tobytes()
                           + b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00")
            else:
                numbers[(present == before).all(axis=2)] = NOTHING
            part = Image.fromarray(np.ascontiguousarray(numbers[top:bottom, left:right]))
            part.putpalette(palette.colours.tobytes())
            file.writelines(GifImagePlugin.getdata(part, box[:2], duration=10 * hundredths, transparency=NOTHING,
                                                   disposal=1, include_color_table=palette is not first))
            before = present
        file.write(b";")


def _changed(before: Bytes, present: Bytes) -> tuple[int, int, int, int]:
    """The rectangle of the pixels that differ, or one pixel if none does: left, top, right, bottom."""
    differs = (before != present).any(axis=2)
    columns, rows = np.flatnonzero(differs.any(axis=0)), np.flatnonzero(differs.any(axis=1))
    if not len(rows):
        return 0, 0, 1, 1
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


# --- APNG ------------------------------------------------------------------------------------------------------------

def apng(path: Path, film: Film, pictures: Pictures) -> None:
    before, number = np.zeros((*film.size[::-1], 3), np.uint8), 0
    with path.open("wb") as file:
        for index, (thousandths, picture) in enumerate(zip(film.durations(1000), pictures, strict=True)):
            left, top, right, bottom = _changed(before, picture) if index else (0, 0, *film.size)
            alpha = np.full(picture.shape[:2], 255, np.uint8)
            if index:
                alpha[(picture == before).all(axis=2)] = 0
            pixels = np.dstack([picture, alpha])[top:bottom, left:right]
            header, data = _png(np.where(pixels[..., 3:], pixels, np.uint8(0)))
            if not index:
                frames = pack(">II", len(film.shown), 0)
                file.write(b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"acTL", frames))
            blends, place = int(index > 0), (right - left, bottom - top, left, top)
            file.write(_chunk(b"fcTL", pack(">IIIIIHHBB", number, *place, thousandths, 1000, 0, blends)))
            number += 1 + blends
            file.write(_chunk(b"fdAT", pack(">I", number - 1) + data) if index else _chunk(b"IDAT", data))
            before = picture
        file.write(_chunk(b"IEND", b""))


def _png(pixels: Bytes) -> tuple[bytes, bytes]:
    """The header, and the compressed data, of a PNG of these pixels, uint8[height, width, 4]."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    whole, at, found = file.getvalue(), 8, dict[bytes, bytes]()
    while at < len(whole):
        length, name = unpack(">I4s", whole[at:at + 8])
        found[name] = found.get(name, b"") + whole[at + 8:at + 8 + length]
        at += 12 + length
    return found[b"IHDR"], found[b"IDAT"]


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
    shown.n_frames = len(film.shown)  # type: ignore[attr-defined]
    shown.save(path, "WEBP", save_all=True, duration=film.durations(1000), quality=QUALITY, method=EFFORT, kmin=NEAREST,
               kmax=FARTHEST)


# --- videos and folders ----------------------------------------------------------------------------------------------

def video(path: Path, film: Film, pictures: Pictures, kind: str) -> None:
    size, (encoder, *options) = "x".join(map(str, film.size)), ENCODERS[kind]
    command = ["ffmpeg", "-loglevel", "error", "-xerror", "-nostdin", "-y",  # -xerror: a full disk is an error
               "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", repr(film.fps), "-i", "-",
               "-an", "-c:v", encoder, *options, "-pix_fmt", "yuv420p", "-f", kind,
               str(path.absolute())]  # a relative one may look like an option or a URL
    patience_s = PATIENCE_S + PATIENCE_MEGAPIXEL_S * film.size[0] * film.size[1] / 1e6
    said, stalled, is_whole = bytearray(), Event(), False
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          start_new_session=True) as encoding:
        assert encoding.stdin and encoding.stderr
        listening = in_thread(partial(_listen, cast(BufferedReader, encoding.stderr), said), "ffmpeg's messages")
        in_time = partial(_in_time, encoding, patience_s, stalled)
        atexit.register(_kill, encoding)  # after a signal nobody waits for one that hangs
        try:
            with suppress(BrokenPipeError):  # it says why
                for count, picture in zip(film.shown, pictures, strict=True):
                    for _ in range(count):
                        with in_time():
                            encoding.stdin.write(picture.data)
                            encoding.stdin.flush()
                is_whole = True
            with suppress(BrokenPipeError):
                encoding.stdin.close()
            with in_time():
                encoding.wait()
        finally:
            atexit.unregister(_kill)
            _kill(encoding)
            listening.result()
    if stalled.is_set():
        raise OSError(f"ffmpeg: stopped, as it made no progress for {patience_s:.0f} s")
    if encoding.returncode or not is_whole or not path.exists():
        text = printable("; ".join(dict.fromkeys(said.decode(errors="replace").splitlines())))
        text = text if len(text) <= 2 * SHOWN else f"{text[:SHOWN]} ... {text[-SHOWN:]}"
        raise OSError(f"ffmpeg: {text or f'it ended early, with code {encoding.returncode}'}")


def _listen(pipe: BufferedReader, said: bytearray) -> None:
    """Read all that an encoder says, which else would wait, and keep the beginning and the end."""
    while piece := pipe.read1():
        said += piece
        del said[KEPT:-KEPT]


@contextmanager
def _in_time(encoding: subprocess.Popen[bytes], seconds: float, stalled: Event) -> Iterator[None]:
    """Kill an encoder with which something takes longer than this."""
    def stop() -> None:
        stalled.set()
        _kill(encoding)

    timer = Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, and all that it has started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def folder(path: Path, film: Film, pictures: Pictures) -> None:
    digits = max(len(str(sum(film.shown) - 1)), 4)
    path.mkdir()
    ends = accumulate(film.shown)
    for end, count, picture in zip(ends, film.shown, pictures, strict=True):
        png = png_of(pygame.image.frombuffer(picture.tobytes(), film.size, "RGB"))
        for number in range(end - count, end):
            (path / f"frame-{number:0{digits}}.png").write_bytes(png)


FOLDER = ""  # the suffix of a folder
FILMS = {
    ".gif": FilmFormat(gif, 0.5, f"{COLOURS} colours a picture", most_fps=50.0, module="PIL"),
    ".apng": FilmFormat(apng, 1.5, "every pixel as drawn", module="PIL"),
    ".webp": FilmFormat(webp, 0.3, f"lossy, quality {QUALITY} of 100", module="PIL"),
    ".mp4": FilmFormat(partial(video, kind="mp4"), 0.3, "lossy, H.264", is_video=True),
    ".webm": FilmFormat(partial(video, kind="webm"), 0.3, "lossy, VP9", is_video=True),
    FOLDER: FilmFormat(folder, 2.0, "every pixel as drawn"),
}
