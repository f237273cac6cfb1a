"""Pixels in kernels: sixteen in a register, premultiplied 0xAARRGGBB.

`over_row` draws sixteen pixels of a sprite over sixteen of a picture with one load of each and one store, two
channels at a time: `d + s - ((d + 1) * alpha >> 8)`, bit for bit what pygame's premultiplied blend does. Alpha 0
leaves a pixel as it is and alpha 255 replaces it. `over_pixel` does the same for one pixel, for rows that are cut by
the screen's edge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pygame

from crowd_demo.compute.arrays import Int, Words
from crowd_demo.compute.jit import device

# isort: split
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ROW = 16
_ROW = ir.VectorType(ir.IntType(32), ROW)
MASKS = 0xFF0000, 0xFF00, 0xFF
_intrinsic: Callable[..., Callable[..., None]] = intrinsic

Frame = Words  # [height, width]


def is_plain(surface: pygame.Surface) -> bool:
    """Can kernels draw on it? They need 32 bits a pixel, red above green above blue, no alpha, no gap between rows."""
    return (surface.get_bitsize() == 32 and surface.get_masks() == (*MASKS, 0)
            and surface.get_pitch() == 4 * surface.get_width() and not surface.mustlock())


def plain_surface(size: tuple[int, int]) -> pygame.Surface:
    """A surface that kernels can draw on."""
    return pygame.Surface(size, 0, 32, (*MASKS, 0))


def frame_of(surface: pygame.Surface) -> Frame:
    """The pixels, uint32[height, width], C-contiguous. While this array lives, pygame cannot draw on the surface."""
    return pygame.surfarray.pixels2d(surface).T


@_intrinsic
def over_row(context: Any, target: Any, at: Any, source: Any, start: Any) -> Any:
    """target[at:at + 16] = source[start:start + 16] over target; flat arrays of uint32."""
    def code(context: Any, b: Any, call: Any, args: Any) -> Any:
        def sixteen_at(array: int) -> Any:
            data = cgutils.create_struct_proxy(call.args[array])(context, b, args[array]).data
            return b.bitcast(b.gep(data, [args[array + 1]]), _ROW.as_pointer())

        def all_of(value: int) -> Any:
            return ir.Constant(_ROW, [value] * ROW)

        where = sixteen_at(0)
        under, above = b.load(where), b.load(sixteen_at(2))
        under.align = above.align = 4
        alpha = b.lshr(above, all_of(24))
        pairs, ones = all_of(0xFF00FF), all_of(0x10001)
        low = b.mul(b.add(b.and_(under, pairs), ones), alpha)
        high = b.mul(b.add(b.and_(b.lshr(under, all_of(8)), pairs), ones), alpha)
        lost = b.or_(b.and_(b.lshr(low, all_of(8)), pairs), b.and_(high, all_of(0xFF00FF00)))
        b.store(b.sub(b.add(under, above), lost), where).align = 4
        return context.get_dummy_value()
    return types.void(target, types.uintp, source, types.uintp), code


@device
def over_pixel(under: Int, above: Int) -> Int:
    alpha = np.uint32(above >> np.uint32(24))
    low = ((under & np.uint32(0xFF00FF)) + np.uint32(0x10001)) * alpha
    high = (((under >> np.uint32(8)) & np.uint32(0xFF00FF)) + np.uint32(0x10001)) * alpha
    lost = ((low >> np.uint32(8)) & np.uint32(0xFF00FF)) | (high & np.uint32(0xFF00FF00))
    return np.uint32(under + above - lost)
