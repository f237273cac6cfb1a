"""How people turn in the picture: over 0.2 s, not for a moment's sake, and without the simulation knowing."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import crowds
import numpy as np
import pygame
import pytest

from crowd_demo.compute.jit import launch
from crowd_demo.render.camera import Camera
from crowd_demo.render.figures.people import Faces, Facings, face_all, facings
from crowd_demo.render.pixels import plain_surface
from crowd_demo.render.scene import Scene

DT = 1 / 60


class Walker:
    """Somebody with id 3 and a memory of five ids."""

    def __init__(self) -> None:
        self.known, self.time_s = facings(5), 0.0

    def look(self, degrees: float, passed_s: float = DT, speed: float = 30.0) -> int:
        """The drawn direction, when it walks there for so long."""
        self.time_s += passed_s
        turn = math.radians(degrees)
        return int(faced(self.known, speed * math.cos(turn), speed * math.sin(turn), (1, 0), self.time_s)[3])


def faced(known: Facings, vx: float, vy: float, heading: tuple[float, float], time_s: float) -> Any:
    ids = np.array([3], np.int32)
    x, y, to_x, to_y = (np.array([value], np.float32) for value in (vx, vy, *heading))
    launch(face_all, 1, ids, x, y, to_x, to_y, 1, np.float64(time_s), known).run()
    return known.direction


def test_who_hardly_moves_looks_where_it_wants_to_go() -> None:
    assert faced(facings(5), 20, 0, (0, 1), 0)[3] == 0
    assert faced(facings(5), 1, 0, (0, 1), 0)[3] == 2
    assert faced(facings(5), 0, -20, (1, 0), 0)[3] == 6


def test_a_turn_is_seen_within_a_fifth_of_a_second_but_not_at_once() -> None:
    walker = Walker()
    assert walker.look(0) == 0
    seen = [walker.look(90) for _ in range(30)]
    assert seen[0] == 0 and seen[12] == 2
    assert seen == sorted(seen), "the short way round"


def test_who_sways_across_a_border_keeps_its_direction() -> None:
    walker = Walker()
    assert walker.look(20) == 0
    assert {walker.look(22.5 + side, 0.05) for _ in range(40) for side in (6, -6)} == {0}
    assert {walker.look(90 - 4 * k, 0.5) for k in range(5)} == {2}, "who was long away looks where it looks now"


def test_who_walks_across_a_border_for_good_turns() -> None:
    walker = Walker()
    walker.look(0)
    assert [walker.look(40) for _ in range(60)][-1] == 1


def test_in_a_pause_nothing_turns_and_time_may_go_back() -> None:
    walker = Walker()
    walker.look(0)
    before = walker.look(60)
    assert [walker.look(60, 0.0) for _ in range(100)] == [before] * 100
    assert [walker.look(60, -DT) for _ in range(30)][-1] == 1


def test_two_crowds_have_a_memory_each_which_grows() -> None:
    class Handles:
        limit = 4

    one, other, faces = Handles(), Handles(), Faces()
    first: Any = faces.of(one)  # type: ignore[arg-type]
    first.direction[:] = 5
    assert faces.of(one) is first and faces.of(other).direction.tolist() == [0] * 4  # type: ignore[arg-type]
    one.limit = 6
    assert faces.of(one).direction.tolist() == [5] * 4 + [0] * 2  # type: ignore[arg-type]


@pytest.mark.parametrize("depth, sorts", [("bands", "every"), ("full", "off")])
def test_a_walk_looks_the_same_with_every_culling_and_sorting(assets: Path, depth: str, sorts: str) -> None:
    """Also while people come and go at the edges of the view; and nobody's state changes by being looked at."""
    taken = {}
    settings: dict[str, Any]
    for cull in ("off", "agents", "grid"):
        settings = {"agents": 300, "optimizations__cull": cull, "optimizations__depth": depth,
                    "optimizations__reorder__when": sorts, "optimizations__reorder__every": 7}
        sim = crowds.simulation(**settings)
        scene, camera = Scene(sim, sim.config, assets), Camera(world_of(sim), (200, 150))
        camera.look_at(camera.x, camera.y, 0.5)
        pictures = []
        for _ in range(30):
            sim.step()
            sim.prepare_picture()
            scene.draw(surface := plain_surface(camera.size), camera)
            pictures.append(pygame.image.tobytes(surface, "RGB"))
        taken[cull] = pictures
        unseen = crowds.simulation(**settings)
        unseen.step(30)
        assert unseen.state_hash() == sim.state_hash()
    assert taken["off"] == taken["agents"] == taken["grid"]


def world_of(sim: Any) -> tuple[float, float]:
    return float(sim.terrain.walls.width), float(sim.terrain.walls.height)
