"""Small terrains for tests."""

from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from crowd_demo.compute.jit import run
from crowd_demo.config.maps import FLOOR, WALL, MapData, parse_octile
from crowd_demo.sim.terrain.crowding import DIAGONAL, STRAIGHT, Crowding, Prices
from crowd_demo.sim.terrain.flow_fields import ARRIVED, STEP_COLUMN, STEP_ROW, UNREACHABLE, FlowFields
from crowd_demo.sim.terrain.tiles import Terrain
from crowd_demo.sim.ways import Layout

REAL_MAPS = Path(__file__).parents[2] / "shared" / "maps"  # of the MovingAI benchmark, not part of the project

shapes = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9)
grids = hnp.arrays(np.uint8, shapes, elements=st.integers(0, 1))


def terrain_of(blocked: np.ndarray, tile: float = 16.0, **options: int) -> Terrain:
    rows, columns = blocked.shape
    data = MapData(np.where(blocked, WALL, FLOOR).astype(np.uint8), np.full(blocked.shape, -1, np.int16), "test")
    return Terrain(data, columns * tile, rows * tile, **options)


def town(*rows: str, width: float = 1000, height: float = 1000) -> Terrain:
    head = f"type octile\nheight {len(rows)}\nwidth {len(rows[0])}\nmap\n"
    return Terrain(parse_octile((head + "\n".join(rows)).encode(), Path("town.map")), width, height)


def layout_of(terrain: Terrain, radius_sq: np.ndarray | None = None) -> Layout:
    """The present walls, and what follows from them; without radii, areas are the marked tiles."""
    none = np.zeros(max(len(terrain.destinations), 1), np.float32)
    return Layout(terrain, terrain.blocked, terrain.goals, none if radius_sq is None else radius_sq).finished()


def make_fields(fields: FlowFields, terrain: Terrain, *goals: int, prices: Prices | None = None,
                layout: Layout | None = None) -> FlowFields:
    """Make the fields of these destinations, or of all; without prices, as long as nobody is there."""
    layout = layout or layout_of(terrain)
    fields.asked[-1, list(goals) if goals else slice(None)] = 1
    walls = [(layout.targets, layout.steps)]
    run(fields.launches(walls, prices or Crowding(terrain).prices(0), fields.asked.shape[0]))
    fields.keep()
    return fields


def all_fields(terrain: Terrain, workers: int = 1, prices: Prices | None = None) -> FlowFields:
    return make_fields(FlowFields(terrain, workers), terrain, prices=prices)


def way_costs(direction: np.ndarray, prices: np.ndarray | None = None) -> np.ndarray:
    """What it costs to follow a flow field from each tile to an arrival, int32[H, W]; -1 where it leads nowhere.

    Without prices all tiles cost 1.
    """
    price = np.ones(direction.size, int) if prices is None else prices.reshape(-1).astype(int)
    rows, columns = np.indices(direction.shape)
    step = np.minimum(direction, 7)
    moving = direction < ARRIVED
    to = (rows + np.where(moving, np.array(STEP_ROW)[step], 0)) * direction.shape[1]
    to = (to + columns + np.where(moving, np.array(STEP_COLUMN)[step], 0)).reshape(-1)
    cost = np.where(moving.reshape(-1), np.where(step % 2, DIAGONAL, STRAIGHT).reshape(-1) * price[to], 0).astype(np.int32)
    for _ in range(direction.size.bit_length()):  # each time twice as many steps at once
        cost, to = cost + cost[to], to[to]
    ends = direction.reshape(-1)[to]
    assert (ends >= ARRIVED).all() and np.array_equal(ends == UNREACHABLE, direction.reshape(-1) == UNREACHABLE)
    return np.where(ends == ARRIVED, cost, -1).reshape(direction.shape)
