"""Slow obvious versions of what `crowd_demo.render` does, one agent or one pixel at a time."""

import math

import numpy as np

F = np.float32


def drawn(position, velocity, ahead):
    return F(position + F(velocity * ahead))


def visible(count, agents, ahead, bounds):
    """Slots whose drawn position lies in the bounds, ascending."""
    found = []
    for slot in range(count):
        x = drawn(agents.x[slot], agents.vx[slot], ahead)
        y = drawn(agents.y[slot], agents.vy[slot], ahead)
        if bounds.left <= x <= bounds.right and bounds.top <= y <= bounds.bottom:
            found.append(slot)
    return found


def back_to_front(slots, agents, ahead):
    """Slots by (drawn y, id)."""
    return sorted(slots, key=lambda slot: (drawn(agents.y[slot], agents.vy[slot], ahead), agents.id[slot]))


def cells(x, y, cell, columns, rows):
    """order and start of a grid over the given positions."""
    key = np.minimum(x / cell, columns - 1).astype(int) + columns * np.minimum(y / cell, rows - 1).astype(int)
    order = np.argsort(key, kind="stable").astype(np.int32)
    start = np.searchsorted(key[order], np.arange(columns * rows + 1)).astype(np.int32)
    return order, start


def blend(under, above):
    """One premultiplied pixel 0xAARRGGBB over another, channel by channel."""
    alpha, out = above >> 24, 0
    for shift in (0, 8, 16, 24):
        d, s = under >> shift & 255, above >> shift & 255
        out |= (s + d - ((d + 1) * alpha >> 8)) << shift
    return out


def paint(frame, sprites, draws):
    """The painter's algorithm: every pixel of every sprite, in the order of the list. `sprites` are 2-D arrays."""
    for sprite, left, top in draws:
        for row, line in enumerate(sprites[sprite]):
            for column, above in enumerate(line):
                x, y = left + column, top + row
                if 0 <= y < frame.shape[0] and 0 <= x < frame.shape[1]:
                    frame[y, x] = blend(int(frame[y, x]), int(above))


def sector(vx, vy, sectors):
    """Which of `sectors` equal angles, the first centred on east, clockwise on the screen; and how far from its middle
    (in sectors)."""
    turn = math.atan2(vy, vx) / math.tau * sectors
    nearest = round(turn)
    return nearest % sectors, turn - nearest
