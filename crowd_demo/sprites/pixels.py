"""Pixels in kernels: eight or sixteen in a register, premultiplied 0xAARRGGBB.

`over_row` draws sixteen pixels of a sprite over sixteen of a picture with one load of each and one store, two
channels at a time: `d + s - ((d + 1) * alpha >> 8)`, bit for bit what pygame's premultiplied blend does. Alpha 0
leaves a pixel as it is and alpha 255 replaces it. `over_half_row` draws eight, and `over_pixel` one, for rows that are
cut by the screen's edge. With a tint the source is multiplied by a colour first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pygame

from crowd_demo.compute import llvm
from crowd_demo.compute.arrays import Int, Words
from crowd_demo.compute.jit import device
from crowd_demo.compute.llvm import I32, I64
from crowd_demo.compute.simd import LANES, i32v
from crowd_demo.compute.simd_memory import element_at

# isort: split
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

ROW, HALF_ROW = 16, 8
MASKS, ALPHA = (0xFF0000, 0xFF00, 0xFF), 0xFF000000
_intrinsic: Callable[..., Callable[..., None]] = intrinsic

Frame = Words  # [height, width]
NO_TINT = 0xFFFFFFFF  # leaves all pixels as they are


def is_plain(surface: pygame.Surface) -> bool:
    """Return whether kernels can draw on it: 32 bits per pixel, red in the high bits, no alpha, no gap between rows."""
    return (surface.get_bitsize() == 32 and surface.get_masks() == (*MASKS, 0)
            and surface.get_pitch() == 4 * surface.get_width() and not surface.mustlock())


def plain_surface(size: tuple[int, int]) -> pygame.Surface:
    """A surface that kernels can draw on."""
    return pygame.Surface(size, 0, 32, (*MASKS, 0))


def argb(size: tuple[int, int]) -> pygame.Surface:
    """A transparent surface of 0xAARRGGBB."""
    return pygame.Surface(size, pygame.SRCALPHA, 32, (*MASKS, ALPHA))


def frame_of(surface: pygame.Surface) -> Frame:
    """The pixels, uint32[height, width], C-contiguous. While this array lives, pygame cannot draw on the surface."""
    return pygame.surfarray.pixels2d(surface).T


def _replace(b: ir.IRBuilder, where: ir.Value, pixels: ir.Value) -> None:
    llvm.store(b, pixels, where, align=4)


def _blend(b: ir.IRBuilder, where: ir.Value, above: ir.Value) -> None:
    def all_of(value: int) -> ir.Value:
        return ir.Constant(above.type, [value] * above.type.count)

    under = llvm.load(b, above.type, where, align=4)
    alpha = b.lshr(above, all_of(24))
    pairs, ones = all_of(0xFF00FF), all_of(0x10001)
    low = b.mul(b.add(b.and_(under, pairs), ones), alpha)
    high = b.mul(b.add(b.and_(b.lshr(under, all_of(8)), pairs), ones), alpha)
    lost = b.or_(b.and_(b.lshr(low, all_of(8)), pairs), b.and_(high, all_of(0xFF00FF00)))
    llvm.store(b, b.sub(b.add(under, above), lost), where, align=4)


def _tinted(b: ir.IRBuilder, pixels: ir.Value, tint: ir.Value) -> ir.Value:
    def wide(value: ir.Value) -> ir.Value:
        return b.zext(b.bitcast(value, bytes_), shorts)

    count = pixels.type.count
    bytes_, shorts = (ir.VectorType(ir.IntType(bits), 4 * count) for bits in (8, 16))
    product = b.mul(wide(pixels), b.add(wide(llvm.repeat(b, tint, count)), ir.Constant(shorts, [1] * 4 * count)))
    return b.bitcast(b.trunc(b.lshr(product, ir.Constant(shorts, [8] * 4 * count)), bytes_), pixels.type)


def _drawn(count: int, put: Callable[[ir.IRBuilder, ir.Value, ir.Value], None]) -> Callable[..., None]:
    @_intrinsic
    def draw(context: Any, target: Any, at: Any, source: Any, start: Any, tint: Any = None) -> Any:
        def code(context: Any, b: Any, launch: Any, args: Any) -> Any:
            pixels = llvm.load(b, ir.VectorType(I32, count), element_at(context, b, launch, args, 2), align=4)
            put(b, element_at(context, b, launch, args), _tinted(b, pixels, args[4]) if tint else pixels)
            return context.get_dummy_value()
        return types.void(target, types.uintp, source, types.uintp, types.uint32 if tint else types.none), code
    return draw


# target[at:at + 16] = source[start:start + 16], and the same for eight; flat arrays of uint32
copy_row, copy_half_row = _drawn(ROW, _replace), _drawn(HALF_ROW, _replace)
# target[at:at + 16] = source[start:start + 16] over target, and the same for eight; flat arrays of uint32. With a tint
# each channel of the source is multiplied by that of the tint: `channel * (tint + 1) >> 8`
over_row, over_half_row = _drawn(ROW, _blend), _drawn(HALF_ROW, _blend)


@_intrinsic
def prefetch(context: Any, source: Any, at: Any) -> Any:
    """Ask for the cache line of source[at], of a flat array of uint32, before it is needed; it may lie beyond the end."""
    def code(context: Any, b: Any, launch: Any, args: Any) -> Any:
        where = llvm.cast(b, element_at(context, b, launch, args), llvm.I8)
        what = ir.FunctionType(ir.VoidType(), [where.type, I32, I32, I32])
        to_read, keep, data = (ir.Constant(I32, value) for value in (0, 3, 1))
        b.call(b.module.declare_intrinsic("llvm.prefetch", [where.type], what), [where, to_read, keep, data])
        return context.get_dummy_value()
    return types.void(source, types.uintp), code


def tinted(pixel: Int, tint: Int) -> Int:
    """Return one pixel, or an array of them, each channel times that of `tint` as in `over_row`."""
    out = np.uint32(0)
    for shift in range(0, 32, 8):
        factor = (tint >> np.uint32(shift) & np.uint32(255)) + np.uint32(1)
        out |= np.uint32(((pixel >> np.uint32(shift) & np.uint32(255)) * factor >> np.uint32(8)) << np.uint32(shift))
    return out


tinted_pixel = device(tinted)


@_intrinsic
def add_saturated(context: Any, target: Any, at: Any, value: Any) -> Any:
    """target[at] += value in a flat array of uint64, as four sums of 16 bits that stop at 65535."""
    def code(context: Any, b: Any, launch: Any, args: Any) -> Any:
        four = ir.VectorType(ir.IntType(16), 4)
        where = element_at(context, b, launch, args)
        under = llvm.load(b, four, where, align=8)
        add = llvm.function_of(b, "llvm.uadd.sat.v4i16", four, four, four)
        llvm.store(b, b.call(add, (under, b.bitcast(args[2], four))), where, align=8)
        return context.get_dummy_value()
    return types.void(target, types.uintp, types.uint64), code


@intrinsic
def add_words(context, words, middle, at):
    """The low and the high halves of sixteen sums of words[0], words[1] and words[2], the middle one twice, from `at` on.

    Two registers of int32, of an array of uint64 with three rows. No sum of a half may reach into the next one.
    """
    def code(context, b, launch, args):
        def load(row):
            rows = llvm.create_struct_proxy(launch.args[0])(context, b, args[0])
            start = b.add(b.mul(row, llvm.unpack_tuple(b, rows.shape, 2)[1]), args[2])
            return llvm.load(b, ir.VectorType(I32, 2 * LANES), llvm.element(b, I64, rows.data, start), align=8)

        rows = [*(load(ir.Constant(args[1].type, row)) for row in range(3)), load(args[1])]
        pairs = b.add(b.add(rows[0], rows[1]), b.add(rows[2], rows[3]))
        nothing, numbers = ir.Constant(pairs.type, ir.Undefined), ir.VectorType(ir.IntType(32), LANES)
        halves = [b.shuffle_vector(pairs, nothing, ir.Constant(numbers, list(range(first, 2 * LANES, 2)))) for first in (0, 1)]
        return context.make_tuple(b, launch.return_type, halves)
    return types.UniTuple(i32v, 2)(words, types.intp, types.intp), code


@device
def over_pixel(under: Int, above: Int) -> Int:
    """Return one pixel with another, premultiplied, drawn over it."""
    alpha = np.uint32(above >> np.uint32(24))
    low = ((under & np.uint32(0xFF00FF)) + np.uint32(0x10001)) * alpha
    high = (((under >> np.uint32(8)) & np.uint32(0xFF00FF)) + np.uint32(0x10001)) * alpha
    lost = ((low >> np.uint32(8)) & np.uint32(0xFF00FF)) | (high & np.uint32(0xFF00FF00))
    return np.uint32(under + above - lost)
