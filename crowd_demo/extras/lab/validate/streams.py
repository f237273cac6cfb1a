"""Dense crowds that walk the same way, one behind the other, against each other, or across each other; and how fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from crowd_demo.compute.arrays import Bools, Doubles, Longs
from crowd_demo.extras.lab.validate.scenes import (
    OWN,
    Exit,
    Measures,
    WalkGroup,
    WalkScene,
    above,
    below,
    left_of,
    right_of,
    ring,
)
from crowd_demo.extras.lab.validate.validation import (
    NEW,
    SPEED_STEP,
    Axes,
    Plot,
    Reading,
    ValidationExperiment,
    WalkedScene,
    WalkedScenes,
)
from crowd_demo.extras.trajectories import Rectangle, lane_order
from crowd_demo.sim.fundamental_diagram import MAX_DENSE, Line, weidmann

Curve = Callable[[ArrayLike], Doubles]  # of the speed, m/s, from the density


def plot_of(curve: Curve, label: str, x: Doubles, scatter: float = 0.0, scatter_share: float = 0.0) -> Plot:
    """Return what plots a curve, and a band about it: so many m/s, or such a share, to either side."""
    def plot(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
        off = scatter + scatter_share * curve(x)
        axes.fill_between(x, np.maximum(curve(x) - off, 0), curve(x) + off, color="0.9", label="expected")
        axes.plot(x, curve(x), color="0.4", label=label)

    return plot


def speeds_near(curve: Curve, scatter: float, unit: str, mean: Callable[[WalkedScene, Measures], float]) -> Callable[
        [WalkedScenes, Measures], Iterator[Reading]]:
    """Return what reads the mean speed at each density, m/s, which is expected to be so near to a curve."""
    def read(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
        for density, run in runs.items():
            expected = float(curve(density))
            yield Reading(f"speed at {density:g} people/{unit}", mean(run, measures), max(expected - scatter, 0),
                          expected + scatter, "m/s", measured=True)

    return read


def ring_with(corridor: Rectangle, ways: int, short_s: float, seconds: float) -> Callable[[float, bool], WalkScene]:
    """Return what makes a ring of a density whose people walk one way, or as many of them each of two ways."""
    return lambda density, short: ring(
        corridor, tuple(WalkGroup(round(density * corridor.size / ways), corridor, way) for way in range(ways)),
        short_s if short else seconds)


def speeds_along(run: WalkedScene, measures: Measures, last_s: float) -> tuple[Longs, Doubles]:
    """Return (id, speed to the right in m/s) of everybody in the last seconds of the run."""
    walked = run.walked
    ids, _, found = measures.speeds(walked.between(walked.end_s - last_s, walked.end_s), SPEED_STEP, (1.0, 0.0))
    return ids, found


# --- RiMEA 4: how fast a crowd walks that is so dense (the fundamental diagram) --------------------------------------

SAME_WAY = Rectangle(0, 0, 18, 4)
MEASURED_S = 10.0  # at the end
SCATTER = 0.25  # m/s, about that of the field data compared by Seyfried and others


def mean_speed(run: WalkedScene, measures: Measures) -> float:
    return float(np.mean(speeds_along(run, measures, MEASURED_S)[1]))


SPEED_AXES = {"xlabel": "people per m²", "ylabel": "mean speed, m/s", "ylim": (0, None)}
FUNDAMENTAL = ValidationExperiment(
    name="rimea-4",
    title="Speed against density",
    about="People walk the same way in a ring of 18 m, 4 m wide. Speeds are those of the last 10 of 40 s.",
    source="RiMEA, test 4: the curve of Weidmann 1993, within 0.25 m/s, about the scatter of field data"
           " (Seyfried 2005)",
    numbers=(0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0), short_numbers=(0.5, 2.0, 4.0),
    scene=ring_with(SAME_WAY, 1, 20, 40), read=speeds_near(weidmann, SCATTER, "m²", mean_speed), axes=SPEED_AXES,
    plot=plot_of(weidmann, "Weidmann 1993", np.linspace(0.2, MAX_DENSE, 60), SCATTER), measure=mean_speed)


# --- people who walk one behind the other and cannot overtake --------------------------------------------------------

LANE = Rectangle(0, 0, 24, 0.8)  # one tile wide: too narrow for two bodies of 0.46 m beside each other
FREE_SPEED, STANDING, TIME_GAP = 1.24, 0.36, 1.06  # m/s; metres; s


def expected_speed(density: ArrayLike) -> Doubles:
    """Return the speed of people in single file, m/s, from people/m: each needs 0.36 m, and 1.06 s of the way ahead."""
    return np.clip((1 / np.asarray(density) - STANDING) / TIME_GAP, 0.0, FREE_SPEED)


def overtaken(run: WalkedScene) -> float:
    """Return how many people have overtaken the person ahead of them at the start, once around the ring included."""
    first, last = (run.walked.chosen(run.walked.frame == frame) for frame in (0, run.walked.frame[-1]))
    order = np.argsort(first.x)
    ahead = np.diff(last.x[order], append=last.x[order[0]] + run.scene.floor[0].width)
    return float(np.sum(ahead < 0))


def read_single_file(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    yield from speeds_near(expected_speed, SCATTER, "m", mean_speed)(runs, measures)
    yield Reading("people who overtake", sum(map(overtaken, runs.values())), 0, 0)


SINGLE_FILE = ValidationExperiment(
    name="rimea-16",
    title="Speed in single file",
    about="People who want to walk at 1.24 m/s walk in a ring of 24 m, 0.8 m wide. Speeds are those of the"
          " last 10 of 40 s.",
    source="RiMEA, test 16: a person at speed v needs 0.36 m + 1.06 s * v (Seyfried 2005), which gives the speeds"
           " within 0.25 m/s. Overtaking is impossible",
    numbers=(0.5, 1.0, 1.5, 2.0), short_numbers=(0.5, 1.5), read=read_single_file,
    scene=lambda density, short: ring(LANE, (WalkGroup(round(density * LANE.width), LANE, 0, FREE_SPEED),),
                                      20 if short else 40)._replace(tile=LANE.height),
    axes={**SPEED_AXES, "xlabel": "people per m"}, measure=mean_speed,
    plot=plot_of(expected_speed, "Seyfried 2005", np.linspace(0.3, 2.4), SCATTER))


# --- people who walk against each other form lanes -------------------------------------------------------------------

MIXED = Rectangle(0, 0, 24, 5)
LANES_S = 20.0  # at the end
ORDER = 0.8
COUNTERFLOW_SCATTER = 0.3  # m/s


def to_the_right(run: WalkedScene, ids: Longs) -> Bools:
    return ids < run.scene.groups[0].people


def lane_orders(run: WalkedScene) -> tuple[Doubles, Doubles]:
    """Return (time, order of the lanes); a lane is three quarters of the mean distance of people to each side."""
    half_width = 0.75 / np.sqrt(run.scene.people / run.scene.floor[0].size)
    found = [(frame / run.walked.fps, lane_order(rows.y, to_the_right(run, rows.id), half_width))
             for frame, rows in run.walked.frames()]
    seconds, orders = np.array(found).T
    return seconds, orders


def pace(run: WalkedScene, measures: Measures) -> float:
    """Return the mean speed of all, each along their own way, at the end of the run, m/s."""
    ids, found = speeds_along(run, measures, LANES_S)
    return float(np.mean(np.where(to_the_right(run, ids), found, -found)))


read_paces = speeds_near(weidmann, COUNTERFLOW_SCATTER, "m²", pace)


def read_counterflow(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    for density, run in runs.items():
        seconds, orders = lane_orders(run)
        at_end = float(np.mean(orders[seconds > seconds[-1] - LANES_S]))
        yield Reading(f"order of the lanes at {density:g} people/m²", at_end, ORDER, 1)
        yield from read_paces({density: run}, measures)


def plot_counterflow(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    for number, (name, runs) in enumerate(walkers.items()):
        for (density, run), style in zip(runs.items(), ("-", "--", ":"), strict=False):
            label = f"{name}, {density:g} people/m²"
            axes.plot(*lane_orders(run), style, color=f"C{number}", linewidth=1, label=label)
    axes.axhspan(ORDER, 1, color="0.9", label="expected")


COUNTERFLOW = ValidationExperiment(
    name="counterflow",
    title="Lanes in counterflow",
    about="As many people walk to the left as to the right in a ring of 24 m, 5 m wide; they begin mixed. The"
          " order, a mean of the last 20 of 60 s, is 1 when all people in a lane go the same way, 0 for a"
          " mixture.",
    source="order above 0.8 (Rex 2007, Nowak 2012); Weidmann's curve within 0.3 m/s, since both ways are"
           " about as fast as one (Zhang 2013)",
    numbers=(1.0, 1.5, 2.0), short_numbers=(1.0,), scene=ring_with(MIXED, 2, 20, 60), read=read_counterflow,
    axes={"xlabel": "time, s", "ylabel": "order of the lanes", "ylim": (0, 1.02)}, plot=plot_counterflow)


# --- two streams that cross at right angles go through each other without a jam --------------------------------------

WIDTH, LEG = 4.0, 16.0  # of the corridors, before and behind the crossing
SQUARE = Rectangle(0, 0, WIDTH, WIDTH)
BEYOND: dict[tuple[float, float], Line] = {  # lines a metre behind the crossing, by the way that one walks
    (1, 0): Line(WIDTH + 1, 0, WIDTH + 1, WIDTH), (-1, 0): Line(-1, 0, -1, WIDTH),
    (0, -1): Line(0, -1, WIDTH, -1), (0, 1): Line(0, WIDTH + 1, WIDTH, WIDTH + 1)}
SCATTER_SHARE = 0.3  # of the expected speed


def crossing(density: float, short: bool) -> WalkScene:
    """A corridor from left to right and one from below upwards; the density is that of each stream where it begins."""
    across, upwards = Rectangle(-LEG, 0, LEG, WIDTH), Rectangle(0, -LEG, WIDTH, LEG)
    left, below = Rectangle(-LEG, 0, -1, WIDTH), Rectangle(0, WIDTH + 1, WIDTH, LEG)
    groups = tuple(WalkGroup(round(start.size * density), start, number) for number, start in enumerate((left, below)))
    return WalkScene((across, upwards), (right_of(across), above(upwards)), groups, 90)


def busy(run: WalkedScene, measures: Measures) -> tuple[float, float]:
    """Return (people/m², m/s) in the crossing, while at least half as many are there as in its fullest second."""
    found = measures.density(run.walked, SQUARE)
    smooth = np.convolve(found, np.ones(10) / 10, "same")
    frames = np.flatnonzero(smooth >= smooth.max() / 2) + run.walked.frame[0]
    ids, at, speeds = measures.speeds(run.walked, SPEED_STEP, None)
    inside = run.walked.chosen(SQUARE.holds(run.walked.x, run.walked.y))
    wanted = np.isin(ids * 1_000_000 + at, inside.id * 1_000_000 + inside.frame) & np.isin(at, frames)
    return float(found[frames - run.walked.frame[0]].mean()), float(speeds[wanted].mean())


def read_crossing(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    for start, run in runs.items():
        density, speed = busy(run, measures)
        yield Reading(f"streams of {start:g}/m²: speed over Weidmann's", speed / float(weidmann(density)),
                      1 - SCATTER_SHARE, 1 + SCATTER_SHARE, "", measured=True)
        yield Reading(f"streams of {start:g}/m²: people who get across", across(run, measures), run.scene.people,
                      run.scene.people, "", measured=True)


def across(run: WalkedScene, measures: Measures) -> float:
    """Return how many have passed the crossing and go on as they want."""
    first = found = 0
    for group in run.scene.groups:
        people, _ = measures.crossings(run.walked, BEYOND[run.scene.exits[group.exit].towards])
        found += int(np.sum((people >= first) & (people < first + group.people)))
        first += group.people
    return float(found)


def plot_crossing(axes: Axes, walkers: Mapping[str, WalkedScenes]) -> None:
    plot_of(weidmann, "Weidmann 1993", np.linspace(0.1, 4), scatter_share=SCATTER_SHARE)(axes, walkers)
    for name, runs in walkers.items():
        axes.plot(*np.array([busy(run, OWN) for run in runs.values()]).T, marker="o", label=name)


CROSSING_AXES = {"xlabel": "people per m² in the crossing", "ylabel": "mean speed there, m/s", "ylim": (0, None)}
CROSSING = ValidationExperiment(
    name="crossing",
    title="Two streams that cross",
    about="Two streams in corridors 4 m wide cross at right angles. Speed and density are those of the busy"
          " crossing.",
    source="Weidmann's curve within 30%: about as fast as one stream of that density (Zhang 2014). No one gets"
           " stuck",
    numbers=(0.5, 1.0, 1.5), short_numbers=(1.0,), scene=crossing, read=read_crossing, axes=CROSSING_AXES,
    plot=plot_crossing)


# --- lanes dissolve when people do not all walk straight ahead --------------------------------------------------------

PLAZA, BANDS = Rectangle(0, 0, 20, 20), 8
PER_BAND, BAND_M, SPREAD_S = 10, 2.5, 25.0
LOOKED_AT, LOOK_S = Rectangle(5, 3, 15, 17), (8.0, 18.0)
HALF_LANE = 0.75


def spread(degrees: float, short: bool) -> WalkScene:
    """Two crowds walk against each other to places whose directions have this standard deviation."""
    def band(left: float, number: int, width: float) -> Rectangle:
        return Rectangle(left, number * BAND_M, left + width, (number + 1) * BAND_M)

    exits = [Exit(band(left, number, 6), (way, 0)) for left, way in ((20, 1), (-6, -1)) for number in range(BANDS)]
    rng, groups = np.random.default_rng(1), []
    for side, left in enumerate((0, 14)):
        for number in range(BANDS):
            drawn = number + np.rint(20 * np.tan(np.radians(rng.normal(0, degrees, PER_BAND))) / BAND_M)
            chosen, counts = np.unique(np.clip(drawn, 0, BANDS - 1).astype(int), return_counts=True)
            groups += [WalkGroup(int(people), band(left, number, 6), side * BANDS + int(to))
                       for to, people in zip(chosen, counts, strict=True)]
    return WalkScene((PLAZA,), tuple(exits), tuple(groups), SPREAD_S)


def order_in_the_middle(run: WalkedScene, measures: Measures) -> float:
    """Return the mean order of the lanes while the two crowds are in each other."""
    looked = [rows.chosen(LOOKED_AT.holds(rows.x, rows.y)) for _, rows in run.walked.between(*LOOK_S).frames()]
    return float(np.mean([lane_order(rows.y, rows.id < run.scene.people // 2, HALF_LANE) for rows in looked]))


def read_spread(runs: WalkedScenes, measures: Measures) -> Iterator[Reading]:
    orders = {degrees: order_in_the_middle(run, measures) for degrees, run in runs.items()}
    for degrees in list(orders)[1:]:
        low, high = (0.9, np.inf) if degrees < DISSOLVES else (0, 0.75)
        yield Reading(f"order of the lanes at {degrees:g} over that at 0 degrees", orders[degrees] / orders[0], low, high)


DISSOLVES = 13  # degrees
SPREAD = ValidationExperiment(
    name="spread",
    title="Lanes and the spread of directions",
    about="80 people on each side of a square of 20 m walk to the other side, in directions with a standard"
          " deviation of 0, 6 or 25 degrees. The order is that of lanes 1.5 m wide in the middle, from 8 s to"
          " 18 s.",
    source="lanes form below a spread of about 13 degrees, and dissolve above (Bacik 2025). Read as: relative"
           " to 0 degrees, the order is at least 0.9 below and at most 0.75 far above",
    numbers=(0.0, 6.0, 25.0), short_numbers=(0.0, 25.0), scene=spread, read=read_spread, measure=order_in_the_middle,
    axes={"xlabel": "standard deviation of directions, degrees", "ylabel": "order of the lanes", "ylim": (0, 1)}, role=NEW)


# --- speed against density with two directions, compared with Weidmann's curve ---------------------------------------

BOTH_WAYS = ValidationExperiment(
    name="both-ways",
    title="Speed against density, both ways",
    about="As many people walk to the left as to the right in a ring of 18 m, 4 m wide. Speeds are those of"
          " the last 20 of 60 s.",
    source="Weidmann's curve within 0.3 m/s: up to 3 people per m², both ways are about as fast as one (Zhang"
           " 2013)",
    numbers=(0.5, 1.0, 2.0, 3.0), short_numbers=(0.5, 2.0), scene=ring_with(SAME_WAY, 2, 30, 60), read=read_paces,
    axes=SPEED_AXES, plot=plot_of(weidmann, "Weidmann 1993", np.linspace(0.2, 4), COUNTERFLOW_SCATTER), measure=pace)


# --- four streams that cross -----------------------------------------------------------------------------------------

FROM_EXITS = 1.0  # metres that people begin before an exit that is not theirs


def four_ways(density: float, short: bool) -> WalkScene:
    """Two corridors that cross, each walked in both ways; the density is that of each stream."""
    across, upwards = Rectangle(-LEG, 0, LEG + WIDTH, WIDTH), Rectangle(0, -LEG, WIDTH, LEG + WIDTH)
    near, far = 1.0, LEG - FROM_EXITS
    starts = (Rectangle(-far, 0, -near, WIDTH), Rectangle(WIDTH + near, 0, WIDTH + far, WIDTH),
              Rectangle(0, WIDTH + near, WIDTH, WIDTH + far), Rectangle(0, -far, WIDTH, -near))
    groups = tuple(WalkGroup(round(start.size * density), start, number) for number, start in enumerate(starts))
    return WalkScene((across, upwards), (right_of(across), left_of(across), above(upwards), below(upwards)), groups, 90)


FOUR_WAYS = ValidationExperiment(
    name="four-ways",
    title="Four streams that cross",
    about="Corridors 4 m wide cross at right angles, with a stream from each of the four sides. Speed and"
          " density are those of the busy crossing.",
    source="Weidmann's curve within 30% (Zhang 2014, Cao 2017). No one gets stuck",
    numbers=(0.25, 0.5, 0.75), short_numbers=(0.25,), scene=four_ways, read=read_crossing, axes=CROSSING_AXES,
    plot=plot_crossing)
