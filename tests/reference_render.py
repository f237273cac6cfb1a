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


def tinted(pixel, tint):
    """Each channel times that of the tint."""
    return sum((((pixel >> shift & 255) * ((tint >> shift & 255) + 1)) >> 8) << shift for shift in (0, 8, 16, 24))


def light(frame, slots, agents, ahead, view, colours, area):
    """Each agent's light, 1/4, 1/8 or 1/16 of it in nine pixels, and the tone curve over it; returns how many are on the
    screen. `colours` are (red, green, blue); sums are limited before they are blurred."""
    height, width = frame.shape
    sums: dict[tuple[int, int], list[int]] = {}
    seen = 0
    for slot, colour in zip(slots, colours, strict=True):
        here = drawn(agents.x[slot], agents.vx[slot], ahead), drawn(agents.y[slot], agents.vy[slot], ahead)
        x, y = (math.floor(F(F(p - corner) * view.zoom)) for p, corner in zip(here, (view.left, view.top), strict=True))
        seen += 0 <= x < width and 0 <= y < height
        at = sums.setdefault((y, x), [0, 0, 0, 0])
        for part, amount in enumerate((*colour, 255)):
            at[part] = min(at[part] + amount, 65535)
    for y in range(height):
        for x in range(width):
            near = [(sums.get((y + dy, x + dx), (0, 0, 0, 0)), (2 - abs(dx)) * (2 - abs(dy)))
                    for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
            red, green, blue, amount = (sum(parts[part] * weight for parts, weight in near) / 16 / 255 for part in range(4))
            left = (1 + amount * area / 16) ** -16
            under = [int(frame[y, x]) >> shift & 255 for shift in (16, 8, 0)]
            if amount:
                channels = [u * left + 255 * light / amount * (1 - left)
                            for u, light in zip(under, (red, green, blue), strict=True)]
                red, green, blue = (math.floor(channel + 0.5) for channel in channels)
                frame[y, x] = red << 16 | green << 8 | blue
    return seen


def mixed(a, b, share):
    """share/256 of a pixel and the rest of another."""
    return sum(((a >> s & 255) * share + (b >> s & 255) * (256 - share) + 128 >> 8) << s for s in (0, 8, 16))


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


def surroundings(frame, columns, rows, tile, left, top, zoom, grounds):
    """Each pixel around the map is that of its border, a whole number of tiles away, darkened by its distance."""
    height, width = frame.shape
    reach = grounds.REACH * height

    def repeated(pixel, corner, count, size):
        edges = [math.floor((number * tile - corner) * zoom) for number in (0, 1, count - 1, count)]
        while pixel < edges[0]:
            pixel += max(edges[1] - edges[0], 1)
        while pixel >= edges[3]:
            pixel -= max((edges[3] - edges[2] + 1) // 2, 1)
        return min(max(pixel, edges[0], 0), min(edges[3], size) - 1), edges[0], edges[3]

    def light(pixel, low, high):
        return int(256 * math.exp(-(max(low - pixel, pixel - high + 1, 0) / reach) ** 2))

    drawn = frame.copy()
    for y in range(height):
        for x in range(width):
            (there_x, *across), (there_y, *down) = repeated(x, left, columns, width), repeated(y, top, rows, height)
            if not (across[0] <= x < across[1] and down[0] <= y < down[1]):
                part, colour = light(x, *across) * light(y, *down) * grounds.NEAREST >> 16, int(drawn[there_y, there_x])
                channels = [((colour >> shift & 255, grounds.OUTSIDE >> shift & 255), shift) for shift in (0, 8, 16)]
                frame[y, x] = sum(((own * part + dark * (256 - part)) >> 8) << shift for (own, dark), shift in channels)


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


def icons(slots, x, y, ids, strength, bounds, spot):
    """Slots of those whose icon is drawn: of each square of the world that lies within the bounds the strongest, then the
    least id; by rows of squares."""
    squares: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for slot in slots:
        place = math.floor(y[slot] / spot), math.floor(x[slot] / spot)
        if strength[slot] > 0:
            squares.setdefault(place, []).append((-strength[slot], ids[slot], slot))
    return [min(there)[2] for (row, column), there in sorted(squares.items())
            if bounds.left <= column * spot and (column + 1) * spot <= bounds.right
            and bounds.top <= row * spot and (row + 1) * spot <= bounds.bottom]
