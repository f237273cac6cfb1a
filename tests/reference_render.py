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


def dots(frame, slots, agents, ahead, view, values, shapes):
    """Every pixel keeps the largest value; returns how many places lie on it."""
    seen = 0
    for slot, value, shape in zip(slots, values, shapes, strict=True):
        here = drawn(agents.x[slot], agents.vx[slot], ahead), drawn(agents.y[slot], agents.vy[slot], ahead)
        x, y = (math.floor(F(F(p - corner) * view.zoom)) for p, corner in zip(here, (view.left, view.top), strict=True))
        pixels = [(y + bit // 3 - 1, x + bit % 3 - 1) for bit in range(9) if shape >> bit & 1]
        inside = [(row, column) for row, column in pixels if 0 <= row < frame.shape[0] and 0 <= column < frame.shape[1]]
        seen += 0 <= x < frame.shape[1] and 0 <= y < frame.shape[0]
        for pixel in inside:
            frame[pixel] = max(frame[pixel], value)
    return seen


def ground(frame, numbers, pictures, tile, left, top, zoom, outside):
    """Each pixel shows the tile under it; the picture of a tile starts at its first pixel."""
    def places(corner, pixels, count):
        edges = [math.floor((number * tile - corner) * zoom) for number in range(count + 1)]
        return [next(((n, p - edges[n]) for n in range(count) if edges[n] <= p < edges[n + 1]), None)
                for p in range(pixels)]
    rows, columns = places(top, frame.shape[0], numbers.shape[0]), places(left, frame.shape[1], numbers.shape[1])
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            known = row is not None and column is not None
            frame[y, x] = pictures[numbers[row[0], column[0]]][row[1], column[1]] if known else outside


def rectangles(frame, rects):
    """Every pixel of every (left, top, right, bottom, colour), in the order of the list."""
    for left, top, right, bottom, colour in rects:
        for y in range(top, bottom):
            for x in range(left, right):
                if 0 <= y < frame.shape[0] and 0 <= x < frame.shape[1]:
                    frame[y, x] = colour


def square(slot, agents, half, ahead, view):
    """Left, top and side of a crate on the screen, in pixels."""
    x, y = (drawn(place[slot], speed[slot], ahead) for place, speed in ((agents.x, agents.vx), (agents.y, agents.vy)))
    left, top = (math.floor(F(F(F(p - half[slot]) - corner) * view.zoom)) for p, corner in ((x, view.left), (y, view.top)))
    return left, top, max(math.floor(F(F(F(F(2) * half[slot]) * view.zoom) + F(0.5))), 1)
