"""Ten thousand sprites per frame for programs of your own with pygame: a compiled blitter.

    sheet = SpriteSheet("birds.png", frames=(8, 4))         # 8 columns and 4 rows of frames
    blit_many(screen, sheet, x, y, frame)                   # arrays: one sprite for each element

The figures of this package are drawn by the same kernel. Needs pygame, NumPy and Numba (docs/sprites.md).
"""

from crowd_demo.sprites.blitter import SpriteSheet, blit_many

__all__ = ["SpriteSheet", "blit_many"]
