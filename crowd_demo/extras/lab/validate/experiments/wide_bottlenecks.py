"""Bottlenecks wider than two metres, as in the Hermes experiments: a large crowd gets through a short one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from crowd_demo.extras.lab.validate.experiments.doors import LEAST, most, plot_expected_flow, specific_flow
from crowd_demo.extras.lab.validate.validation_experiment import (
    OWN,
    Measures,
    Reading,
    ValidationExperiment,
    WalkedScenes,
    WalkGroup,
    WalkScene,
    plot_by_walker,
    right_of,
)
from crowd_demo.measure.trajectories import Rectangle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FLOWS = {2.4: 6.1, 3.0: 7.2, 3.6: 9.0, 4.4: 10.9, 5.0: 13.8}  # people/s by width in metres, in the experiment
TILES = {2.4: 0.6, 3.0: 0.5, 3.6: 0.6, 4.4: 0.55, 5.0: 0.5}  # of which the widths are multiples, metres
SIDE, PASSAGE, BEHIND = 12.0, 1.0, 4.0  # metres, about: in whole tiles


def wide_bottleneck(width: float, short: bool) -> WalkScene:
    """A room full of people, an opening in the middle of its right side, and behind it room enough."""
    tile = TILES[width]
    side, passage, behind = (round(length / tile) * tile for length in (SIDE, PASSAGE, BEHIND))
    top = (side - width) / 2 // tile * tile
    room, opening = Rectangle(0, 0, side, side), Rectangle(side, top, side + passage, top + width)
    outside = Rectangle(side + passage, 0, side + passage + behind, side)
    group = WalkGroup(120 if short else 350, Rectangle(0, 0, side - 1, side), 0)
    return WalkScene((room, opening, outside), (right_of(outside),), (group,), 300, tile=tile)


def read_wide(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    found = {width: specific_flow(width, run, measures) for width, run in runs.items()}
    for width, value in found.items():
        yield Reading(f"flow per metre, {width:g} m wide", value, LEAST, most(width), "people/(m s)", measured=True)
    narrow, wide = min(found), max(found)
    if wide > narrow:
        grown = found[wide] * wide / (found[narrow] * narrow)
        yield Reading(f"flow, {wide:g} m over {narrow:g} m", grown, 0.8 * wide / narrow, 1.2 * wide / narrow, "times",
                      measured=True)


def plot_wide(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    plot_expected_flow(axes, list(FLOWS))
    axes.plot(list(FLOWS), list(FLOWS.values()), "s", color="0.4", label="Hermes 2009")
    plot_by_walker(axes, walkers, lambda width, run: specific_flow(width, run, OWN) * width)
    axes.set(xlabel="width, m", ylabel="flow, people/s", ylim=(0, None))


WIDE_BOTTLENECK = ValidationExperiment(
    name="hermes",
    title="Flow through a wide bottleneck",
    about="350 people in a room of 12 m x 12 m walk through an opening 1 m long. The flow is that of the middle 60 %"
           " of them. Tiles are 0.5 to 0.6 m, so that each width is a multiple.",
    source="The experiments of the Hermes project, 2009, with up to 350 people: 6.1, 7.2, 9.0, 10.9 and 13.8 people"
           " a second through 2.4, 3.0, 3.6, 4.4 and 5.0 m, which is 2.4 to 2.8 per metre; Liao and others,"
           " Experimental study on pedestrian flow through wide bottleneck, 2014. Here at least 1.2, as for narrow"
           " ones; and in proportion to the width, give or take a fifth",
    numbers=tuple(FLOWS), short_numbers=(2.4,), scene=wide_bottleneck, read=read_wide, plot=plot_wide)
