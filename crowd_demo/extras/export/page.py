"""A run as one HTML file that plays it in a browser, from the disk and without a network.

Positions are made by the class `Tracks`; ground and figures are this program's own pictures.

Format of the blocks:

The file is `assets/player.html` with a record (`about`, JSON) and blocks: little-endian arrays in gzip and base64. A
*member* is an id that is written, a *track* one person with that id. A birth, an arrival at an exit, or a change too
large for a byte begins a track.

| block | type | content |
|---|---|---|
| `ids` | int32 [members] | |
| `member`, `first`, `length` | int32 [tracks] | the index of its id, its first frame, its number of frames |
| `x`, `y` | uint16 [tracks] | where it begins, in steps of `about.step` world units |
| `changeX`, `changeY` | int8 | for each later frame: `v += change; x += v`, where `v` begins at 0 |
| `state` | uint8 | for each frame: a state of people, prey or predator; absent if all are 0 |
| `ground` | uint16 [versions, rows, columns] | the picture of each tile; first frames in `about.ground.frames` |
| `pictures` | uint8 [n, side, side, 4] | of tiles |
| `sprites`, `palette` | uint16 [n, height, width], uint32 | numbers of colours; colours as premultiplied RGBA |
| `dyes` | uint32 | of people, for the same numbers: the amounts of four dyes, a byte each |
| `halves` | uint16 [members] | of crates: half the side, in 1/64 units |

`figure.dyes` has the dyes of each look, and `figure.fullDye` times them what 255 adds. A change is relative to the
position that was *written*, so errors do not add up.
"""

from __future__ import annotations

import base64
import html
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crowd_demo.compute.arrays import Bytes, Doubles, Ints, Longs, Marks, Words
from crowd_demo.compute.hashing import scramble
from crowd_demo.config.model import Config
from crowd_demo.config.resources import assets_folder
from crowd_demo.extras.export.sources import Frame, PersonNumbers, Source, frames, of_simulation
from crowd_demo.extras.export.trajectories import MB, Asked, Stepped, asked_for, size_text
from crowd_demo.host.files import write_file
from crowd_demo.measure.experiment import machine
from crowd_demo.registry.built_in import BEHAVIOURS, COLOURS
from crowd_demo.registry.entries import load
from crowd_demo.registry.texts import printable
from crowd_demo.render.colours.modes import fastest
from crowd_demo.render.colours.squares import is_people, levels_of_service, mean_of, ramp_shades, side_of
from crowd_demo.render.figures import birds, crates, people
from crowd_demo.render.figures.sprited import LEAST_PX
from crowd_demo.render.figures.sprites import (
    DYES,
    FULL_DYE,
    GREY,
    Sheet,
    SpritesSheet,
    load_dyed,
    load_manifest,
)
from crowd_demo.render.inks import channels_of
from crowd_demo.render.tile_pictures import TileSet
from crowd_demo.sim.simulation import Simulation
from crowd_demo.sprites.pixels import frame_of
from crowd_demo.version import __version__

# --- positions in few bytes ------------------------------------------------------------------------------------------

PARTS = 100  # of a metre: the step is a centimetre, or
LAST = 65_535  # a part of the world's longer side, if that is more
MAX_CHANGE = 127
ABSENT, GOES_ON, BEGINS = range(3)
Changes = NDArray[np.int8]


def step_length(metre: float, width: float, height: float) -> float:
    """The step of positions in world units: how exact they are."""
    return max(metre / PARTS, max(width, height) / LAST)


class Tracks:
    """Positions in few bytes: whole steps of a centimetre, and how these change from one frame to the next.

    People who walk on have mostly the change 0: compressed 2.2 bits an axis in `20k`, where the nearest step and plain
    differences take 3.1. Needs four bytes for each frame of a member. `share` of the ids are members, chosen by a hash.
    """

    def __init__(self, frames: int, step: float, share: float = 1.0) -> None:
        self.step, self.ids = step, np.zeros(0, np.int32)
        self._least = np.uint64(round(share * 2**32))
        self._member_of = np.zeros(0, np.int64)  # by id; -1 for those without
        self._written, self._speed = np.zeros((2, 2, 0), np.int64)  # [x and y, members]: the last one, and its difference
        self._seen, self._person = np.zeros(0, np.int64), np.zeros(0, np.int64)  # by member: last frame, and who that was
        self._kind: Bytes = np.zeros((0, frames), np.uint8)  # [members with room, frames]
        self._state: Bytes = np.zeros((0, frames), np.uint8)
        self._changes: Changes = np.zeros((2, 0, frames), np.int8)  # [x and y, members with room, frames]
        self._begun: list[Longs] = []  # [4, n]: member, frame, x and y of keyframes

    def add(self, frame: int, ids: Ints, person: Longs, x: Doubles, y: Doubles, state: Bytes) -> None:
        """Add the next frame. Positions are in world units, and each one has the number of a person."""
        new = np.arange(len(self._member_of), int(ids.max(initial=-1)) + 1, dtype=np.int32)
        if len(new):  # new members follow in the order of ids
            taken = scramble(new.view(np.uint32)).astype(np.uint64) < self._least
            self._member_of = np.append(self._member_of, np.where(taken, np.cumsum(taken) - 1 + len(self.ids), -1))
            self.ids = np.append(self.ids, new[taken])
            self._grow(len(self.ids) - len(self._seen))
        members = self._member_of[ids]
        chosen = members >= 0
        members, person, state = members[chosen], person[chosen], state[chosen]
        exact = np.stack([x[chosen], y[chosen]]) / self.step
        guess = self._written[:, members] + self._speed[:, members]
        # the change nearest to 0 that leads to within a step of the exact positions
        least = np.clip(0, np.ceil(exact - 1 - guess), np.floor(exact + 1 - guess)).astype(np.int64)
        changes = np.clip(guess + least, 0, LAST) - guess
        goes_on = (self._seen[members] == frame - 1) & (self._person[members] == person)
        goes_on &= (np.abs(changes) <= MAX_CHANGE).all(axis=0)
        self._written[:, members] = np.where(goes_on, guess + changes, np.rint(exact).astype(np.int64))
        self._speed[:, members] = np.where(goes_on, self._speed[:, members] + changes, 0)
        self._changes[:, members, frame] = np.where(goes_on, changes, 0)
        self._kind[members, frame], self._state[members, frame] = np.where(goes_on, GOES_ON, BEGINS), state
        self._seen[members], self._person[members] = frame, person
        begun = members[~goes_on]
        self._begun.append(np.stack([begun, np.full_like(begun, frame), *self._written[:, begun]]))

    def blocks(self) -> dict[str, Bytes | Changes | Ints | Longs]:
        """Return what is written: tracks in the order of members and then of frames, rows in that of tracks.

        ids, [members]; member, first (frame of the keyframe), length (frames), x and y (0 to LAST), [tracks]; changeX
        and changeY, [rows - tracks]; state, [rows].
        """
        begun = np.concatenate(self._begun, axis=1)
        member, first, x, y = begun[:, np.lexsort(begun[1::-1])]
        kind, state = self._kind[:len(self.ids)], self._state[:len(self.ids)]
        present, goes_on = kind != ABSENT, kind == GOES_ON
        rank = np.cumsum(present.ravel()) - 1  # of a row among all
        length = np.diff(rank[np.flatnonzero(kind == BEGINS)], append=int(present.sum()))
        change_x, change_y = self._changes[:, :len(self.ids)][:, goes_on]
        return {"ids": self.ids, "member": member.astype(np.int32), "first": first.astype(np.int32),
                "length": length.astype(np.int32), "x": x.astype(np.uint16), "y": y.astype(np.uint16),
                "changeX": change_x, "changeY": change_y, "state": state[present]}

    def _grow(self, more: int) -> None:
        self._written, self._speed = (np.pad(each, ((0, 0), (0, more))) for each in (self._written, self._speed))
        self._seen = np.pad(self._seen, (0, more), constant_values=-2)
        self._person = np.pad(self._person, (0, more))
        if (room := len(self.ids) - len(self._kind)) > 0:
            more_rows = (0, max(room, len(self._kind) // 2)), (0, 0)
            self._kind, self._state = np.pad(self._kind, more_rows), np.pad(self._state, more_rows)
            self._changes = np.pad(self._changes, ((0, 0), *more_rows))


MAX_ROWS = 13_000_000  # positions in a page: 20,000 people for a minute at ten a second, and some more
FEWEST_FPS = 5.0  # with fewer frames people who turn cut corners
ROW_BYTES, OTHER_BYTES = 1.2, 3 * MB  # of a page, about
MODES = "state", "speed", "density", "heading"
LARGE_ROWS, SMALL_SIDE = 3_000_000, 32  # pages with fewer rows have smaller pictures of tiles
MANY_PICTURES = 512  # so have those with more pictures, as at night
TILE_LEVELS = np.uint8(0xFC)  # 64 levels of a channel: a third smaller, and no eye sees it
CRATE_PX, HALF_PARTS, DISC_PX, DISC_UNITS = 64, 64, 32, 10.0
VIEW = 1280, 720  # pixels of the window that `camera.zoom` is meant for
DYE_LEVEL = FULL_DYE // 8
TYPES = {"int8": "Int8", "uint8": "Uint8", "uint16": "Uint16", "int32": "Int32", "uint32": "Uint32"}  # of JavaScript
Json = Mapping[str, object]
Array = NDArray[np.generic]
Part = tuple[Json, Mapping[str, Array]]  # of a page: its record, and its blocks


class PagePlan(NamedTuple):
    """What of a run goes into a page: which frames, which share of the agents; and what is said about that."""

    asked: Asked
    share: float
    nbytes: float  # about
    notes: tuple[str, ...]


def planned(asked: Asked, may_change_fps: bool) -> PagePlan:
    """Take fewer frames where there are too many rows, and a sample of the agents where that is not enough."""
    life, agents, fewer, notes = asked.source.config.life, asked.source.agents, asked, list[str]()
    born = life.births_per_s * asked.last / asked.source.config.time.step_hz
    most = max(agents, min(life.most, math.ceil(agents + born)))  # at a time
    while may_change_fps and most * fewer.frames > MAX_ROWS and fewer.fps / 2 >= FEWEST_FPS:
        fewer = fewer._replace(every=fewer.every * 2)
    if fewer.every > asked.every:
        notes.append(f"frames: {fewer.fps:.6g} per second, not {asked.fps:.6g}, or the page would be too large")
    share = min(MAX_ROWS / max(most * fewer.frames, 1), 1.0)
    if share < 1:
        notes.append(f"a sample: {share:.1%} of the agents, chosen by chance, or the page would be too large")
    return PagePlan(fewer, share, most * share * fewer.frames * ROW_BYTES + OTHER_BYTES, tuple(notes))


# --- from a run to a page --------------------------------------------------------------------------------------------

class PageContent(NamedTuple):
    parts: Iterator[bytes]  # of the file
    agents: int
    rows: int
    exactness: str


def write_page(plan: PagePlan, command: str, stepped: Stepped = lambda step: None) -> list[str]:
    """Make the run and write the file, completely or not at all; say what is in it. Raises as `write` does.

    `command` is what makes the file again.
    """
    path, content = plan.asked.path, page_content(plan, command, stepped)
    write_file(path, *content.parts)
    nbytes = path.stat().st_size
    return [f"{path}: {content.agents:,} agents in {plan.asked.frames:,} frames, {plan.asked.times}",
            f"{size_text(nbytes)}, {nbytes / max(content.rows, 1):.2f} bytes per agent and frame; {content.exactness}",
            *plan.notes]


def page_content(plan: PagePlan, command: str, stepped: Stepped = lambda step: None) -> PageContent:
    """Make the run. Raises as `write` does."""
    asked, config = plan.asked, plan.asked.source.config
    length = step_length(config.measure.metre, config.world.width, config.world.height)
    tracks, numbers, ground = Tracks(asked.frames, length, plan.share), PersonNumbers(), RunTiles(config)
    halves = dict[int, float]()  # of crates, by id
    colours: dict[str, Json] = {}
    last = asked.first + (asked.frames - 1) * asked.every
    for number, frame in enumerate(frames(asked.source, asked.every, asked.first, last, stepped)):
        columns = frame.columns
        state = getattr(columns, "state", getattr(columns, "kind", np.zeros(len(columns.id))))
        tracks.add(number, columns.id, numbers.of(frame), columns.x.astype(np.float64), columns.y.astype(np.float64),
                   state.astype(np.uint8))
        if hasattr(columns, "half"):
            halves.update(zip(columns.id.tolist(), columns.half.tolist(), strict=True))
        ground.look(number, frame.sim)
        colours = colours or colours_of(frame.sim)
    written = tracks.blocks()
    rows = len(written["state"])
    said = (f"{rows:,} positions, each at most {100 * length / config.measure.metre:.3g} cm off on either"
            f" axis; straight lines between frames, {1 / asked.fps:.3g} s apart")
    facts = facts_of(config, command, frame, ["agents", f"{numbers.count:,}"], ["in this page", said],
                     *(["left out", note] for note in plan.notes))
    figure, figure_blocks = figures_of(config, [halves.get(each, 0.0) for each in tracks.ids.tolist()])
    ground_about, ground_blocks = ground.content(small=rows < LARGE_ROWS)
    walls, (width, height) = frame.sim.terrain.walls, VIEW
    view: dict[str, object] = {"width": width, "height": height, "zoom": config.camera.zoom}
    if config.camera.center:
        view["x"], view["y"] = config.camera.center
    about = {"title": title_of(asked.source), "world": [float(walls.width), float(walls.height)], "view": view,
             "fps": asked.fps, "frames": asked.frames, "begins": asked.first / config.time.step_hz,
             "mode": config.scene.colours, "weight": 1 / plan.share, "step": length, "colours": colours, "facts": facts,
             "figure": figure, "ground": ground_about}
    blocks = {name: block for name, block in written.items() if name != "state" or block.any()}
    return PageContent(file_parts(about, {**blocks, **figure_blocks, **ground_blocks}), numbers.count, rows, said)


def title_of(source: Source) -> str:
    """The window's title, if it has one of its own, or the name of the source, in characters that can be printed."""
    title = source.config.window.title
    return printable(title if title != "crowd-demo" else f"{Path(source.name).stem} - crowd-demo")


def facts_of(config: Config, command: str, frame: Frame, *more: Sequence[str]) -> list[Sequence[str]]:
    """Return what makes a run again, its last state, `more`, and where and by what it was made."""
    found = machine()
    return [["made again by", printable(command)], ["seed", str(config.seed)],
            ["state hash", f"{frame.sim.state_hash()} at step {frame.sim.tick:,}, the last frame"], *more,
            ["made on", f"{found['cpu'] or 'an unknown processor'}, {found['cores']} cores, {found['os']}"],
            ["made by", f"crowd-demo {__version__}"]]


def colours_of(sim: Simulation) -> dict[str, Json]:
    """The colour modes that tell something of this crowd: legends, palettes, and what their formulas need."""
    found = dict[str, Json]()
    for name in MODES:
        mode = load(COLOURS[name].code)()
        if mode.tells(sim):
            legend = mode.legend(sim)
            found[name] = {"title": legend.title, "legend": legend.colours, "texts": legend.texts,
                           "palette": [*mode.colours(sim)]}
    shades = levels_of_service(side_of(sim)) if is_people(sim) else ramp_shades(mean_of(sim))
    found["density"] = {**found["density"], "side": side_of(sim), "shades": shades.tolist()}
    found["speed"] = {**found["speed"], "fastest": fastest(sim)}
    return found


# --- in a notebook ---------------------------------------------------------------------------------------------------

# Both the page and the table (trajectories.py) are about the next steps, which a copy of the simulation makes: it stays where
# it is, so a cell can be run again and gives the same, and the table is about what the page shows.

class PlayedRun:
    """A run that plays where a notebook shows it. `page` is the whole page, a text of HTML."""

    def __init__(self, page: str, width: int, height: int) -> None:
        self.page, self._width, self._height = page, width, height

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.page)}" width="{self._width}" height="{self._height}"'
                ' style="border: 0; max-width: 100%"></iframe>')

    def __repr__(self) -> str:
        return f"<a run as a page of {len(self.page):,} characters, which a notebook plays>"


def played(sim: Simulation, width: int, height: int, steps: int) -> PlayedRun:
    asked = asked_for(of_simulation(sim, steps), Path("simulation.html"), None, 0, None, metres=True)
    content = page_content(planned(asked, may_change_fps=True), f"sim.show({width}, {height}, {steps})")
    return PlayedRun(b"".join(content.parts).decode(), width, height)


# --- ground ----------------------------------------------------------------------------------------------------------

class RunTiles:
    """The tiles of a run: those of its first frame, and again those of each frame in which they have changed."""

    def __init__(self, config: Config) -> None:
        self._config, self._marks = config, getattr(load(BEHAVIOURS[config.behaviour].figures), "MARKS", False)
        self._seen: tuple[object, int] = None, -1
        self._frames, self._numbers = list[int](), list[Marks]()
        self._tile = 0.0

    def look(self, frame: int, sim: Simulation) -> None:
        terrain, now = sim.terrain, (id(sim.terrain), sim.terrain.version)
        if self._seen == now:
            return
        self._seen, self._tile = now, float(terrain.walls.tile)
        if not self._numbers:
            self._set = TileSet(assets_folder(), load_manifest(assets_folder())["tiles"], self._config.scene.ground,
                                len(terrain.kinds))
        marks = terrain.marks if self._marks else np.full_like(terrain.marks, -1)
        numbers = self._set.numbers(terrain.kinds, marks)
        if not self._numbers or not np.array_equal(numbers, self._numbers[-1]):
            self._frames.append(frame)
            self._numbers.append(numbers)

    def content(self, small: bool) -> Part:
        """The record, and the blocks: which picture each tile has, and the pictures."""
        used, where = np.unique(np.stack(self._numbers), return_inverse=True)
        side = SMALL_SIDE if small or len(used) > MANY_PICTURES else self._set.side
        made = dict(self._set.pictures(used.tolist(), side))
        pictures = np.full((len(used), side, side, 4), 255, np.uint8)
        for number, picture in zip(used.tolist(), pictures, strict=True):
            picture[..., :3] = made[number].astype(np.uint8) & TILE_LEVELS | np.uint8(2)
        rows, columns = self._numbers[0].shape
        return ({"rows": rows, "columns": columns, "tile": self._tile, "side": side, "frames": self._frames},
                {"ground": where.astype(np.uint16), "pictures": pictures})


# --- figures ---------------------------------------------------------------------------------------------------------

def figures_of(config: Config, halves: Sequence[float]) -> Part:
    """The record about the figures of a behaviour, and the blocks: their sprites, and how large crates are.

    `sort` says how the page chooses sprites: 1 as people, 2 as birds, 3 as crates, 0 all alike.
    """
    manifest, kind = load_manifest(assets_folder()), load(BEHAVIOURS[config.behaviour].figures)
    walk: dict[str, float] = {"directions": 1, "beyond": 0, "leastSpeed": 0, "firstStep": 0, "leastStep": 0,
                              "stride": 1, "predators": 0}
    if issubclass(kind, people.PeopleFigures):
        walk |= {"directions": people.DIRECTIONS, "beyond": people.BEYOND / 360 * people.DIRECTIONS,
                 "leastSpeed": people.LEAST_SPEED, "firstStep": people.FIRST_STEP, "leastStep": people.LEAST_STEP,
                 "stride": people.CYCLE}
        return _sprited(1, manifest["people"], people.UNITS, people.SHEET_PX, people.DIRECTIONS * people.POSES, walk)
    if issubclass(kind, birds.BirdFigures):
        predators = config.hunt.predators if issubclass(kind, birds.HuntFigures) else 0
        walk |= {"directions": birds.HEADINGS, "predators": predators}
        return _sprited(2, manifest["hunt" if kind.SHEET == "hunt" else "birds"], kind.SPAN, birds.SHEET_PX,
                        birds.HEADINGS * birds.FLAPS, walk)
    if issubclass(kind, crates.CrateFigures):
        largest, middle = 2 * max(halves, default=1.0), (CRATE_PX // 2, CRATE_PX // 2)
        inks, cells = crates.inks(), np.zeros((len(crates.TONES), crates.STYLES, CRATE_PX, CRATE_PX), np.uint32)
        for tone, style in np.ndindex(cells.shape[:2]):
            for left, top, right, bottom, ink in crates.design(CRATE_PX, style):
                cells[tone, style, top:bottom, left:right] = inks[tone, ink] | np.uint32(0xFF000000)
        about, blocks = _figure(3, cells.reshape(-1, CRATE_PX, CRATE_PX), middle, largest, CRATE_PX, 1, walk)
        sizes = (np.array(halves) * HALF_PARTS).round().astype(np.uint16)
        return {**about, "looks": len(crates.TONES), "styles": crates.STYLES}, {**blocks, "halves": sizes}
    across = np.arange(DISC_PX) - (DISC_PX - 1) / 2  # a disc stands for figures that the page cannot draw
    disc = np.where(np.hypot(across, across[:, None]) < DISC_PX / 2 - 1, np.uint32(0xFFE8EAEE), np.uint32(0))[None]
    return _figure(0, disc, (DISC_PX // 2, DISC_PX // 2), DISC_UNITS, DISC_PX, 1, walk)


def _sprited(sort: int, sheet: SpritesSheet, units: float, pixels: float, sprites: int, walk: Json) -> Part:
    """Figures of a sheet with so many sprites of each appearance. Predators have the last appearance."""
    found = load_dyed(assets_folder(), sheet)
    if isinstance(found, Sheet):
        return _figure(sort, _cells(found), found.anchor, units, pixels, sprites, walk)
    about, blocks = _figure(sort, _cells(found.shapes), found.anchor, units, pixels, sprites, walk, _cells(found.dyes))
    every, grey, unit = np.arange(found.sprites, dtype=np.int32), found.grey(), units / pixels
    means = found.means(every // found.shapes.columns)
    colours = np.concatenate([found.colours, grey.colours[:1]])  # row `looks` of `dyes` has those of a colour mode
    shapes = np.broadcast_to(np.append(found.shape, 0)[:, None, None], (*colours.shape[:2], 1))
    return {**about, "looks": len(found.shape), "means": channels_of(means.colours).tolist(),
            "area": means.area * unit * unit, "grey": 1.0, "meanGrey": int(grey.means(0 * every).colours[0] & 255) / 255,
            "dyes": np.concatenate([colours, shapes], axis=2).tolist(), "fullDye": 255 / FULL_DYE}, blocks


def _cells(sheet: Sheet) -> Words:
    (width, height), columns = sheet.cell, sheet.columns
    pixels = frame_of(sheet.surface)[:sheet.sprites // columns * height, :columns * width]
    return pixels.reshape(-1, height, columns, width).swapaxes(1, 2).reshape(-1, height, width)


def _figure(sort: int, cells: Words, anchor: tuple[int, int], units: float, pixels: float, sprites: int,
            walk: Json, dyes: Words | None = None) -> Part:
    """The record and the blocks of premultiplied sprites, 0xAARRGGBB [n, height, width]; `units` are `pixels` of a
    cell.

    `dyes` has how much of each dye comes to a pixel. Pixels are numbers of colours: of bytes red, green, blue, alpha
    with 32 levels of each, 8 of alpha. The palette `dyes`, if there are any, has eight levels up to a full dye, and
    one of shine.
    """
    height, width = cells.shape[1:]
    alpha, colours = (cells >> np.uint32(24)).astype(np.int64), channels_of(cells).astype(np.int64)
    looks = len(cells) // sprites
    sums, covered = (each.reshape(looks, -1, *each.shape[3:]).sum(axis=1) for each in (colours, alpha))
    means = np.clip(255 * sums / np.maximum(covered, 1)[:, None], 0, 255).round().astype(int)
    light = float((colours @ np.array([77, 150, 29])).sum()) / 256
    unit = units / pixels
    opaque = (alpha * 7 + 127) // 255 * 255 // 7
    levels = np.minimum((colours * 31 + 127) // 255 * 255 // 31, opaque[..., None])
    words = levels[..., 0] | levels[..., 1] << 8 | levels[..., 2] << 16 | opaque << 24
    if dyes is not None:
        for place, shift in enumerate((16, 8, 0, 24)):
            share = (dyes >> np.uint32(shift) & np.uint32(255)).astype(np.int64)
            words |= np.minimum((share + DYE_LEVEL // 2) // DYE_LEVEL * DYE_LEVEL, 255) << 32 + 8 * place
    found, numbers = np.unique(words.view(np.uint64), return_inverse=True)
    halves = found.astype("<u8").view("<u4").reshape(-1, 2).astype(np.uint32)
    return {"sort": sort, "looks": looks - (int(bool(walk["predators"]))), "cell": [width, height], "anchor": anchor,
            "unit": unit, "size": units, "leastPx": LEAST_PX,
            "area": float(alpha.sum()) / 255 / len(cells) * unit * unit,
            "means": means.tolist(), "grey": GREY * float(alpha.sum()) / max(light, 1.0), "meanGrey": GREY,
            "dyes": [[[0] * 4] * DYES], "fullDye": 0, **walk}, {
                "sprites": numbers.reshape(words.shape).astype(np.uint16), "palette": halves[:, 0],
                **({} if dyes is None else {"dyes": halves[:, 1]})}


# --- the file --------------------------------------------------------------------------------------------------------

def file_parts(about: Json, blocks: Mapping[str, Array]) -> Iterator[bytes]:
    """Yield the file in parts. Only the viewer's own text is searched for the places of the title and of the data."""
    before, after = (assets_folder() / "player.html").read_text("utf-8").split("$data\n")
    before = before.replace("$title", html.escape(str(about["title"])))
    record = json.dumps(about, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    yield f'{before}<script type="application/json" id="about">{record}</script>\n'.encode()
    for name, array in blocks.items():
        yield f'<script type="text/plain" id="{name}" data-type="{TYPES[array.dtype.name]}Array">'.encode()
        # Changes hardly repeat: without a search for repeats they get smaller, and that sooner.
        strategy = zlib.Z_HUFFMAN_ONLY if array.dtype == np.int8 else zlib.Z_DEFAULT_STRATEGY
        packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16, zlib.DEF_MEM_LEVEL, strategy)
        packed = packer.compress(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)
        yield base64.b64encode(packed + packer.flush())
        yield b"</script>\n"
    yield after.encode()
