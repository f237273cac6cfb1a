"""Light (light.py) of a crowd that is on a graphics card: only the pixels of the picture come and go.

Each thread takes one agent after the other and adds its light to two sums of a pixel, each with two numbers of 32 bits: blue
and red, green and the amount. Whole numbers, so their order does not matter; each is cut to 16 bits in the end, where the
processor's sums saturate: the same picture to the bit. Then a thread takes a pixel: the nine around it, and the tone curve.
"""

from __future__ import annotations

import numpy as np

from crowd_demo.compute.arrays import Bytes, Ints, Keys, Longs, Words
from crowd_demo.compute.jit import kernel
from crowd_demo.compute.simd import LANES
from crowd_demo.compute.simd_memory import add_at
from crowd_demo.extras.gpu.stages import ROWS, GpuCrowd, clear, count_off
from crowd_demo.render.camera import View
from crowd_demo.render.drawing import FrameInput, Mode, Moving, number_agents, pixel
from crowd_demo.render.figures.light import EVEN, FULL, HALF, LOW, WIDE, area_of_one, light_of, reaches_screen, under_light
from crowd_demo.sprites.pixels import Frame

COLOURS = 256  # at most


@kernel
def add_light_each(worker: int, workers: int, agents: int, columns: Moving, ahead: np.float32, view: View, number: Bytes,
                   light: Keys, sums: Keys, on_screen: Longs) -> None:
    """Add the light of all agents: sums[2 p] of a pixel has blue and red, sums[2 p + 1] green and the amount.

    There is a pixel more on each side than on the screen, for the blur.
    """
    seen = 0
    for slot in range(worker, agents, workers):
        x = pixel(columns.x[slot], columns.vx[slot], ahead, view.left, view.zoom)
        y = pixel(columns.y[slot], columns.vy[slot], ahead, view.top, view.zoom)
        near, shown = reaches_screen(x, y, view)
        if near:
            at, word = 2 * ((int(y) + 1) * (view.width + 2) + int(x) + 1), light[number[slot]]
            add_at(sums, at, word & EVEN)
            add_at(sums, at + 1, word >> HALF & EVEN)
            seen += shown
    add_at(on_screen, worker % ROWS, seen)


@kernel
def expose_each(worker: int, workers: int, picture: Ints, view: View, sums: Keys, area: np.float32) -> None:
    """Lay the light over the picture, int32[height * width]."""
    for at in range(worker, view.width * view.height, workers):
        row = at // view.width
        corner = 2 * (row * (view.width + 2) + at - row * view.width)
        blue, green, red, amount = 0, 0, 0, 0
        for down in range(3):
            for right in range(3):
                beside = corner + 2 * (down * (view.width + 2) + right)
                one, other = sums[beside], sums[beside + 1]
                weight = (1 + (down == 1)) * (1 + (right == 1))
                blue, red = blue + weight * min(one & LOW, FULL), red + weight * min(one >> WIDE, FULL)
                green, amount = green + weight * min(other & LOW, FULL), amount + weight * min(other >> WIDE, FULL)
        if amount > 0:
            picture[at] = under_light(picture[at], np.int32(blue), np.int32(green), np.int32(red), np.int32(amount), area)


class LightOnGpu:
    """Draws a crowd with the GPU that it is on; owns the memory there that a picture needs."""

    def __init__(self, crowd: GpuCrowd) -> None:
        self.crowd = crowd
        gpu = crowd.gpu
        self._on_screen, self._light = gpu.array((ROWS,), np.int64), gpu.array((COLOURS,), np.uint64)
        self._number, self._slots = gpu.array((0,), np.uint8), gpu.array((0,), np.int32)
        self._picture, self._sums = gpu.array((0,), np.int32), gpu.array((0,), np.uint64)

    def numbers(self, mode: Mode, agents: int) -> Bytes:
        """Return the number of each agent in a mode, uint8[agents] on the GPU."""
        crowd, gpu = self.crowd, self.crowd.gpu
        if self._slots.shape != (agents,):
            self._number, self._slots = gpu.array((agents,), np.uint8), gpu.array((agents,), np.int32)
            crowd.launch(count_off, agents, self._slots).run()
        crowd.launch(number_agents, -(-agents // LANES), self._slots, gpu.copied(mode), self._number).run()
        return self._number

    def draw(self, frame: Frame, now: FrameInput, agents: int, number: Bytes, palette: Words, area_px: float) -> int:
        """Draw all agents, in the colours palette[number], each `area_px` pixels large; return how many are on the screen."""
        crowd, gpu, view = self.crowd, self.crowd.gpu, now.view
        size, around = int(view.width) * int(view.height), (int(view.width) + 2) * (int(view.height) + 2)
        if (self._picture.shape, self._sums.shape) != ((size,), (2 * around,)):
            self._picture, self._sums = gpu.array((size,), np.int32), gpu.array((2 * around,), np.uint64)
        light, pixels = np.zeros(COLOURS, np.uint64), frame.view(np.int32).reshape(-1)
        light[:len(palette)] = light_of(palette.tobytes())
        gpu.upload(light, self._light)
        gpu.upload(pixels, self._picture)
        for launch in (crowd.launch(clear, ROWS, self._on_screen), crowd.launch(clear, self._sums.shape[0], self._sums),
                       crowd.launch(add_light_each, agents, agents, now.agents, now.ahead, view, number, self._light,
                                    self._sums, self._on_screen),
                       crowd.launch(expose_each, pixels.size, self._picture, view, self._sums, area_of_one(area_px))):
            launch.run()
        gpu.download(self._picture, pixels)
        on_screen = np.zeros(ROWS, np.int64)
        gpu.download(self._on_screen, on_screen)
        return int(on_screen.sum())
