"""Every number of the program's own behaviours. `docs/model*.md` have the formulas in which they stand.

Lengths are world units: one unit is one pixel at zoom 1, and 26 of them are a metre for people. Zero is legal
for every radius, speed and weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from crowd_demo.config.section import Area, Length, Problem, Section, Speed, Whole, number

LENGTH = "units"
SPEED = "units/s"
FORCE = "units/s^2"
BIRTH = "birth"
LAID_OUT = "no: the areas of destinations are laid out by it at the start"


class BehaviourSettings(Section):
    """What every behaviour has: how many neighbours of an agent the technique `neighbour_limit` keeps.

    A key that ends in `_min` must not be above the one that ends in `_max` instead.
    """

    limit_scanned: Whole = number(48, 0, 65_536, "agents", "neighbour_limit first: maximum candidates scanned")
    limit_kept: Whole = number(10, 0, 64, "neighbours", "neighbour_limit: maximum neighbours kept")

    def flow_fields(self, marked: int) -> int:
        """How many flow fields it follows on a map with so many marked destinations."""
        return 0

    def _problems(self) -> Iterator[Problem]:
        """The least value of a pair must not be above the greatest; of these it names the one that the user gave."""
        for low in type(self).model_fields:
            high = low.replace("_min", "_max")
            least, greatest = getattr(self, low), getattr(self, high, None)
            if low != high and greatest is not None and least > greatest:
                blamed = low if low in self.model_fields_set else high
                yield Problem((blamed,), least, f"{low} ({least:g}) must not be above {high} ({greatest:g})")


class PeopleSettings(BehaviourSettings):
    """People who walk to a goal, wait there, and choose another; they keep apart and slide along walls."""

    speed_min: Speed = number(11.4, 0, 10_000, SPEED, "slowest preferred speed", BIRTH)
    speed_max: Speed = number(58.3, 0, 10_000, SPEED, "fastest preferred speed", BIRTH)
    radius: Length = number(40, 0, 4096, LENGTH, "avoidance: others nearer than this count")
    body: Length = number(6, 0, 1024, LENGTH, "radius of a body")
    speed_draws: Whole = number(4, 1, 16, "draws", "draws per preferred speed, which is their mean; 1: uniform", BIRTH)
    wait_s: float = number(30, 0, 3600, "seconds", "pause at a goal")
    stuck_s: float = number(1.5, 0, 3600, "seconds", "time without progress until held up")
    wiggle: Speed = number(18, 0, 10_000, SPEED, "random speed that frees people who are held up")
    avoid_weight: float = number(1.0, 0, 100, "", "weight of avoidance against the goal")
    repulsion: float = number(0.75, 0, 100, "", "anticipate, slow_down: weight of the push of neighbours")
    behind: float = number(0.3, 0, 1, "", "anticipate, slow_down: weight of a neighbour straight behind")
    ahead_s: float = number(3, 0, 60, "seconds", "anticipate, slow_down: how far people look ahead")
    gap: Length = number(36, 0, 4096, LENGTH,
                         "anticipate, slow_down: people step aside if they would pass nearer")
    aside: float = number(1.5, 0, 100, "", "anticipate: strength of the step aside")
    slow_aside: float = number(1.7, 0, 100, "", "slow_down: strength of the step aside")
    headway_s: float = number(0.8, 0, 60, "seconds",
                              "slow_down: time that the room ahead lasts")
    standing: Length = number(9.1, 0, 4096, LENGTH, "slow_down: distance to the person ahead at which the room is zero")
    in_way: Length = number(10.5, 0, 4096, LENGTH, "slow_down: half the width of the way ahead")
    creep: float = number(0.2, 0, 1, "", "slow_down: part of the preferred speed kept without room")
    swerve: float = number(45, 0, 90, "degrees", "slow_down: maximum turn to where there is more room")
    swerve_ramp: float = number(0.5, 0, 10, "",
                                "slow_down: relative gain of room for the maximum turn")
    swerve_gain: float = number(0.38, 0, 1, "", "slow_down: part of the gained room that counts for the speed")
    pass_by: float = number(0, 0, 1, "", "slow_down: ignored part of the backward push of oncoming people")
    shoulders: float = number(0, 0, 0.35, "", "contact: how much narrower people held up head on become")
    reconsider_s: float = number(5, 0, 3600, "seconds",
                                 "mean time until people held up choose again; 0: never")
    choice_length: Length = number(260, 0, 65_536, LENGTH, "detour by crowds that halves the choices of a route;"
                                   " 0: by area alone")
    max_speed_factor: float = number(1.3, 0, 10, "", "top speed relative to the preferred speed")
    stuck_max_speed_factor: float = number(1.6, 0, 10, "", "the same for people who are held up")
    arrive: Length = number(24, 0, 4096, LENGTH, "distance at which a goal is reached")
    response: float = number(4.0, 0, 1000, "1/s", "how fast the velocity follows the desired one")
    destinations: Whole = number(12, 1, 64, "places", "random destinations if the map marks none",
                                 "no: they are drawn at the start")
    destination_spread: Length = number(160, 0, 65_536, LENGTH, "maximum distance of goals from their destination", LAID_OUT)
    room: Area = number(800, 0, 1_000_000, "units^2",
                        "area of destinations per agent; 0: all are admitted",
                        LAID_OUT)
    area_per_person: Area = number(405.6, 1, 1_000_000, "units^2",
                         "area of a person at a destination; others queue", LAID_OUT)
    detour: float = number(6.0, 0, 100, "",
                           "a route through n people per m2 counts as 1 + detour * n^2 times as long, at most 32;"
                           " 0: the shortest route")
    detour_s: float = number(2.0, 0, 3600, "seconds",
                             "time between updates of crowded routes, longer on large maps",
                             "no: it decides when each flow field is updated")
    exits: Whole = number(0, 0, 64, "destinations",
                          "how many of the first destinations are exits, where people leave and others come in",
                          "no: whether there are exits is decided at the start")

    def flow_fields(self, marked: int) -> int:
        return marked or self.destinations

    def _problems(self) -> Iterator[Problem]:
        yield from super()._problems()
        for key in ("room", "wait_s"):
            if self.exits > 0 and getattr(self, key) == 0:
                yield Problem(("exits",), self.exits, f"exits need a {key} above 0")


class FlockSettings(BehaviourSettings):
    """Birds that align, cohere and separate, and turn away from edges and walls."""

    speed_min: float = number(60, 0, 10_000, SPEED, "slowest preferred speed")
    speed_max: float = number(120, 0, 10_000, SPEED, "fastest preferred speed")
    follow: Literal["radius", "nearest"] = Field("radius", description="birds to follow: all in sight, or the nearest")
    follow_nearest: Whole = number(7, 1, 64, "neighbours", "follow nearest: maximum birds to follow")
    blind: float = number(90, 0, 180, "degrees", "blind angle behind a bird")
    separate_by: Literal["contact", "offset"] = Field("contact", description=(
        "contact: strongest at contact; offset: proportional to distance, as in many boids"))

    sight: float = number(24, 0, 4096, LENGTH, "others nearer than this are neighbours")
    separation: float = number(16, 0, 4096, LENGTH, "neighbours nearer than this are too near")
    align: float = number(2.0, 0, 1000, "1/s", "how fast a bird takes the mean velocity of neighbours")
    cohere: float = number(2.0, 0, 1000, "1/s^2", "pull to the mean position of neighbours")
    separate: float = number(12.0, 0, 10_000, "1/s^2", "push away from neighbours too near")
    crowding: Whole = number(7, 1, 10_000, "neighbours", "neighbours at which cohesion vanishes")
    wander: float = number(80, 0, 10_000, FORCE, "random turning")
    roost: float = number(0, 0, 1000, "1/s^2", "pull per unit outside the roost; 0: no roost")
    roost_radius: float = number(400, 0, 65_536, LENGTH, "radius of the roost around the middle of the world")
    border: float = number(200, 0, 100_000, FORCE, "turning away from edges and walls")
    margin: float = number(60, 0, 65_536, LENGTH, "distance at which turning away begins")


class HuntSettings(FlockSettings):
    """Predators and prey: prey flock and flee, predators chase the densest cell that they see."""

    predators: Whole = number(8, 0, 64, "agents", "predators, which have the lowest ids",
                              "no: predators are chosen at birth, for life")
    predator_sight: float = number(600, 0, 65_536, LENGTH, "predators see cells with middles nearer than this")
    predator_speed_min: float = number(100, 0, 10_000, SPEED, "slowest speed of a predator")
    predator_speed_max: float = number(180, 0, 10_000, SPEED, "fastest speed of a predator")
    predator_response: float = number(1.5, 0, 1000, "1/s", "how fast a predator's velocity follows the chase")
    square: float = number(100, 1, 65_536, LENGTH, "side of the cells in which predators count prey")
    fear: float = number(120, 0, 4096, LENGTH, "prey flee from predators nearer than this")
    flee: float = number(8, 0, 10_000, "1/s^2", "push from a predator per unit nearer than fear")


class CratesSettings(BehaviourSettings):
    """Squares of many sizes that drift in whirling water and push each other apart."""

    half_min: float = number(1, 0.1, 1024, LENGTH, "half a side of the smallest crate", BIRTH)
    half_max: float = number(50, 0.1, 1024, LENGTH, "half a side of the largest crate", BIRTH)
    rarity: Whole = number(24, 0, 1000, "", "how rare large crates are", BIRTH)
    gap: float = number(1, 0, 1024, LENGTH, "crates nearer than this push each other")
    repulsion: float = number(5, 0, 1000, "1/s", "how fast crates that overlap move apart")
    response: float = number(10, 0, 1000, "1/s", "how fast the velocity follows water and pushes")
    flow: float = number(60, 0, 10_000, SPEED, "speed of the water between two whirls")
    whirls: Whole = number(3, 1, 64, "whirls", "whirls in x and in y")
    speed_max: float = number(200, 0, 10_000, SPEED, "maximum speed of a crate")


class PlaybackSettings(BehaviourSettings):
    """People whose paths are in a file of trajectories (`crowd-demo play`)."""

    file: str | None = Field(None, max_length=4096, description=(
        "trajectories, relative to this file: .txt, .sqlite or .csv"))
    columns: str = Field("", max_length=1000, description=(
        "names of columns; empty: as the file specifies, else id,frame,x,y"))
    corner: Annotated[tuple[float, float], Field(strict=False)] | None = Field(None, description=(
        "[x, y] in metres: left upper corner of a map that lacks it"))
    beside: str | None = Field(None, max_length=4096, description=(
        "a configuration to run in the right half of the window"))
    fps: float = number(0, 0, 1000, "frames per second", "frame rate; 0: as the file specifies",
                        "no: the times of all positions follow from it")
    radius: Length = number(40, 0, 4096, LENGTH, "others nearer than this are neighbours")
    standing: Speed = number(2.6, 0, 10_000, SPEED, "slower people count as standing",
                             "no: it is found for the whole file at the start")
