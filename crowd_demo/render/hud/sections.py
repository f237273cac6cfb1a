"""The sections of the panels but those on time: on the left what the crowd does, on the right the techniques.

On the left: how many agents there are, the work they make, and the errors of approximate techniques. On the right:
every technique of the registry with its key and its value, a section a group. An inactive technique, whose value
changes nothing at present, is dimmed. The one that was changed last is highlighted; its value, if it is a number,
stands between the keys that change it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from functools import partial

from crowd_demo.compute.arrays import Ints, Longs
from crowd_demo.config.keys import key_text
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import KINDS, Technique
from crowd_demo.registry.techniques import TECHNIQUES, hud_word, inactive, kind_of, partly_inactive
from crowd_demo.render.hud.canvas import (
    ACCENT,
    DIM,
    EDGE,
    FAINT,
    GROUND,
    INACTIVE,
    MUTED,
    NORMAL,
    PAD,
    SMALL,
    TEXT,
    TOUCHED,
    WARM,
    Box,
    Canvas,
    Colour,
    Point,
    digits_text,
)
from crowd_demo.render.hud.help import Keys
from crowd_demo.render.hud.panel_layout import ALWAYS, INNER, RIGHT_WIDTH, PanelSection
from crowd_demo.render.hud.status import Status
from crowd_demo.sim.metrics.avoidance_error import AvoidanceError
from crowd_demo.sim.metrics.bias import Bias
from crowd_demo.sim.metrics.readings import Readings, has_field, is_limited, is_staggered
from crowd_demo.sim.simulation import Simulation

FACTS_HEIGHT, CURVE_HEIGHT = 33.0, 32.0
COLUMN_GAP, CHIP_GAP = 12.0, 5.0  # units between columns of words: two letters; less where a chip stands
CHIP = 15.0  # units: a chip, and the gap to its name
NOTHING: Mapping[str, str] = {}
BARS: Box = (PAD + 38, 15, INNER / 3 - 46, 14)  # of the histogram, from the top of its section
AVERAGED = {"candidates_per_agent": "due", "neighbours_per_agent": "due", "imbalance": "due", "births": "", "deaths": ""}
DIAL_RADIUS, DIAL_FULL = 14.0, 0.5  # units; the length of the bias that reaches the rim
UNREAD = "-"
ROW, HEAD, FOOT = 16.25, 14.0, 38.0
NUMBER_KEYS = ("lower", "higher")
FOOT_ACTIONS = ("help", "menu", "tools", "tour")


# --- the texts -------------------------------------------------------------------------------------------------------

def percent(share: float) -> str:
    """A share in percent, with a decimal if it is below ten."""
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"


def steady_counters(profile: Profile) -> dict[str, float]:
    """The counters, of which `AVERAGED` are means over the last second's steps, weighted by the counter that it names.

    In a single step those who look may be one in eight, or nobody.
    """
    counters, steps = dict(profile.counters), [record.counters for record in profile.recent_stepped()]
    for name, weight in AVERAGED.items():
        found = [(step[name], step.get(weight, 1.0)) for step in steps if name in step]
        total = sum(weight for _, weight in found)
        if name in counters and total:
            counters[name] = sum(value * weight for value, weight in found) / total
    return counters


def work_facts(counters: Mapping[str, float]) -> dict[str, str]:
    """Means over the agents that were due: neighbours, candidates, and the one as a share of the other."""
    candidates, neighbours = counters.get("candidates_per_agent", 0.0), counters.get("neighbours_per_agent", 0.0)
    return {"neighbours": f"{neighbours:.1f}", "candidates": f"{candidates:,.{0 if candidates >= 1000 else 1}f}",
            "useful": percent(neighbours / candidates) if candidates else UNREAD}


def sorting_facts(sim: Simulation, unused: Set[str]) -> dict[str, str]:
    """How often agents were reordered and how long that takes, the steps since then, and the drift in cells.

    Dashes where agents are not reordered.
    """
    counters, cell = sim.profile.counters, sim.world.grid.cell
    if "reorder.when" in unused or sim.optimizations.reorder.when == "off" or "sorts" not in counters:
        return dict.fromkeys(("sorts (ms)", "since sort", "drift"), UNREAD)
    return {"sorts (ms)": f"{counters['sorts']:,.0f} ({digits_text(sim.profile.last_run_ms('reorder'), thousands=',')})",
            "since sort": f"{counters['steps_since_sort']:,.0f}", "drift": f"{counters['drift'] / cell:.2f} cells"}


def memory_facts(counters: Mapping[str, float], readings: Readings) -> dict[str, str]:
    """The work of the busiest worker by the mean, and how close neighbours are in memory."""
    score = readings.locality
    return {"top worker": f"{counters['imbalance']:.2f}x mean" if "imbalance" in counters else UNREAD,
            "near reads": f"{score.same_or_next_line:.0%}" if score else UNREAD,
            "L1 misses": f"{score.miss_rate:.1%}" if score else UNREAD}


def mean_error(error: AvoidanceError | None) -> str:
    return percent(error.mean) if error else UNREAD


# --- the sections ----------------------------------------------------------------------------------------------------

def crowd_sections(sim: Simulation, readings: Readings, colours: Mapping[str, Colour]) -> list[PanelSection]:
    """The same ones whichever techniques are on: so none moves. `colours` are those of the agents' states."""
    counters, states = steady_counters(sim.profile), sim.states()
    crowd = {"agents": sim.agents.count, "visible": counters.get("visible", 0), "drawn": counters.get("drawn", 0)}
    return [
        PanelSection("crowd", FACTS_HEIGHT, 1, partial(draw_crowd, counts=crowd)),
        _row("neighbours", work_facts(counters), 4),
        *([PanelSection("states", FACTS_HEIGHT, 1, partial(draw_states, states=states, colours=colours))] if states else []),
        PanelSection("errors", FACTS_HEIGHT, 5, partial(draw_errors, sim=sim, readings=readings)),
        *([PanelSection("births and deaths", CURVE_HEIGHT + 39, 7, partial(draw_life, sim=sim, counters=counters))]
          if sim.life.active else []),
        _row("sorting", sorting_facts(sim, inactive(sim.situation)), 8),
        _row("memory", memory_facts(counters, readings), 8),
    ]


def _row(name: str, facts: Mapping[str, str], rank: int) -> PanelSection:
    return PanelSection(name, FACTS_HEIGHT, rank, partial(draw_facts, facts=facts))


def columns(needs: Sequence[float], gap: float = COLUMN_GAP) -> list[float]:
    """The x of each column: at equal distances, but farther right where the text of the column before is too wide for that.

    Between two there is a gap, a smaller one where all of them do not fit into the panel otherwise.
    """
    count, spare = len(needs), INNER - sum(needs)
    gap = min(gap, max(spare, 0) / max(count - 1, 1))
    starts = [float(PAD)]
    for number, need in enumerate(needs[:-1], 1):
        most = PAD + INNER - sum(needs[number:]) - gap * (count - number - 1)
        starts.append(max(min(PAD + number * INNER / count, most), starts[-1] + need + gap))
    return starts


def draw_facts(on: Canvas, top: float, facts: Mapping[str, str], colours: Mapping[str, Colour] = NOTHING,
               more: Mapping[str, str] = NOTHING) -> list[float]:
    """Draw numbers under their names, in columns; `more` is said after a name. Return where the columns begin.

    A fact without a name keeps its column free.
    """
    needs = [max(on.width(name + more.get(name, ""), SMALL), on.width(value)) for name, value in facts.items()]
    starts = columns(needs)
    for (name, value), x, end in zip(facts.items(), starts, [*starts[1:], PAD + INNER], strict=True):
        if name:
            end_of_name = on.left(name, x, top + 8, SMALL, FAINT)
            on.left(value, x, top + 22, NORMAL, colours.get(name, TEXT))
            on.left(more.get(name, ""), end_of_name, top + 8, SMALL, FAINT)
            on.target((x, top, end - x, FACTS_HEIGHT), "fact", name)
    return starts


def draw_crowd(on: Canvas, top: float, counts: Mapping[str, float]) -> None:
    """Draw how many agents there are, a number that can be dragged and typed, and how many of them are seen."""
    texts = {name: f"{count:,.0f}" for name, count in counts.items()}
    first, second, _ = draw_facts(on, top, texts, {"agents": ACCENT})
    on.target((first, top, second - first, FACTS_HEIGHT), "number", "agents")


def draw_states(on: Canvas, top: float, states: Mapping[str, int], colours: Mapping[str, Colour]) -> None:
    """Draw how many agents are in each state; a state has a colour and a shape, so it can be told apart by either."""
    needs = [max(CHIP + on.width(name, SMALL), on.width(f"{count:,}")) for name, count in states.items()]
    starts = columns([*needs, *[0.0] * (3 - len(needs))], CHIP_GAP)
    for number, (x, (name, count)) in enumerate(zip(starts, states.items(), strict=False)):
        draw_chip(on, number, colours.get(name, TEXT), (x + 5, top + 8))
        on.left(name, x + CHIP, top + 8, SMALL, FAINT)
        on.left(f"{count:,}", x, top + 22, NORMAL)
        on.target((x, top, needs[number], FACTS_HEIGHT), "fact", name)


def draw_life(on: Canvas, top: float, sim: Simulation, counters: Mapping[str, float]) -> None:
    lived = sim.life.population()
    draw_facts(on, top, {"births": f"{counters.get('births', 0):,.1f}", "deaths": f"{counters.get('deaths', 0):,.1f}",
                         "peak": f"{lived.max():,}" if len(lived) else UNREAD})
    draw_curve(on, (PAD, top + 35, INNER, CURVE_HEIGHT), lived, ACCENT)


def draw_errors(on: Canvas, top: float, sim: Simulation, readings: Readings) -> None:
    """Draw the errors of approximate techniques: staggering at the left, beside it a neighbour limit or the field."""
    period = sim.optimizations.stagger.avoidance if is_staggered(sim) else 1
    facts = {"stagger error": mean_error(readings.stagger) if period > 1 else UNREAD}
    if has_field(sim):
        facts |= {"field error": mean_error(readings.field),
                  "at worst": percent(readings.field.most) if readings.field else UNREAD}
    else:
        facts |= {"limit error": mean_error(readings.neighbour_limit) if is_limited(sim) else UNREAD, "": ""}
    *_, third = draw_facts(on, top, facts, dict.fromkeys(facts, WARM))
    if period > 1:
        _draw_ages(on, top, readings.ages[:period] if readings.ages is not None else [0] * period)
    if is_limited(sim) and not has_field(sim):
        _draw_bias(on, third, top, readings.bias)


def _draw_ages(on: Canvas, top: float, ages: Sequence[int] | Longs) -> None:
    """Draw how many agents were last due 0, 1, ... steps ago."""
    box = BARS[0], BARS[1] + top, BARS[2], BARS[3]
    draw_bars(on, box, ages, MUTED)
    on.target(box, "fact", "steps since update")


def _draw_bias(on: Canvas, left: float, top: float, bias: Bias | None) -> None:
    """Draw the mean direction to all neighbours, and to those that the limit keeps."""
    middle = left + DIAL_RADIUS, top + FACTS_HEIGHT / 2
    on.circle(GROUND, middle, DIAL_RADIUS)
    on.circle(EDGE, middle, DIAL_RADIUS, width=1)
    for line, (name, colour) in enumerate((("all", DIM), ("kept", WARM))):
        if bias:
            draw_hand(on, middle, bias.kept if name == "kept" else bias.all, colour)
        on.left(name, left + 2 * DIAL_RADIUS + 8, middle[1] - 7 + 14 * line, SMALL, colour)
    on.target((left, top, INNER / 3, FACTS_HEIGHT), "fact", "mean direction to")


def draw_bars(on: Canvas, box: Box, values: Sequence[int] | Longs, colour: Colour) -> None:
    """Draw a bar for each value, the largest as high as the box; any value above 0 can be seen."""
    on.rect(GROUND, box)
    left, top, width, height = box
    most, wide = max(int(max(values)), 1), width / len(values)
    for number, value in enumerate(values):
        tall = max(height * int(value) / most, 1) if value else 0
        if tall:
            on.rect(colour, (left + wide * number + 1, top + height - tall, wide - 2, tall))


def draw_curve(on: Canvas, box: Box, values: Ints, colour: Colour) -> None:
    """Draw the last values, newest at the right, scaled to their least and greatest."""
    on.rect(GROUND, box)
    left, top, width, height = box
    counts = values[-int(width):].tolist()
    if len(counts) > 1:
        least = min(counts)
        tall = (height - 3) / max(max(counts) - least, 1)
        first = left + width - len(counts)
        on.lines(colour, [(first + x, top + height - 2 - (count - least) * tall) for x, count in enumerate(counts)])


def draw_hand(on: Canvas, middle: Point, direction: tuple[float, float], colour: Colour) -> None:
    """Draw a hand from the middle of the dial, with a dot at its tip, at most to the rim."""
    length = math.hypot(*direction)
    scale = DIAL_RADIUS * min(1 / DIAL_FULL, 1 / max(length, DIAL_FULL))
    tip = middle[0] + direction[0] * scale, middle[1] + direction[1] * scale
    on.line(colour, middle, tip, width=2)
    on.circle(colour, tip, 2)


def draw_chip(on: Canvas, shape: int, colour: Colour, middle: Point) -> None:
    """Draw a disc, a square, a triangle or a diamond with a rim, 9 units wide."""
    x, y = middle
    for ink, half, wide in ((TEXT, 5, 6), (colour, 4, 4)):
        if shape % 4 == 0:
            on.circle(ink, middle, half)
        elif shape % 4 == 1:
            on.rect(ink, (x - half, y - half, 2 * half, 2 * half))
        elif shape % 4 == 3:
            on.polygon(ink, ((x, y - wide), (x - wide, y), (x, y + wide), (x + wide, y)))
        else:
            on.polygon(ink, ((x, y - wide), (x - wide, y + half), (x + wide, y + half)))

# --- the techniques -----------------------------------------------------------------------------------------------------

def switchboard_sections(sim: Simulation, status: Status, keys: Keys) -> list[PanelSection]:
    """A section for each group of techniques, and one that explains marks and keys."""
    board = Switchboard(sim, status, keys)
    groups: dict[str, list[Technique]] = {}
    for technique in TECHNIQUES:
        groups.setdefault(technique.group, []).append(technique)
    return [
        *(PanelSection(name, HEAD + ROW * len(group), 2 + number, partial(board.draw_group, name=name, group=group))
          for number, (name, group) in enumerate(groups.items())),
        PanelSection("foot", FOOT, ALWAYS, board.draw_foot),
    ]


class Switchboard:
    def __init__(self, sim: Simulation, status: Status, keys: Keys) -> None:
        self.options, self.status, self.keys = sim.optimizations, status, keys
        self._inactive, self._partly = inactive(sim.situation), partly_inactive(sim.situation)

    def draw_group(self, on: Canvas, top: float, name: str, group: Sequence[Technique]) -> None:
        on.left(name, PAD, top + HEAD / 2 + 1, SMALL, FAINT)
        for number, technique in enumerate(group):
            self._row(on, top + HEAD + ROW * (number + 0.5), technique)

    def draw_foot(self, on: Canvas, top: float) -> None:
        """Draw what the marks mean, and some keys."""
        on.line(EDGE, (PAD, top + 5), (RIGHT_WIDTH - PAD, top + 5))
        left: float = PAD
        for kind in KINDS[1:]:
            end = on.left(kind.mark, left, top + 16, SMALL, WARM)
            end = on.left(f" {kind.name}", end, top + 16, SMALL, FAINT)
            on.target((left, top + 8, end - left, 15), "fact", kind.name)
            left = end + 16
        left = PAD
        for action in FOOT_ACTIONS:
            if names := self.keys.get(action):
                end = on.left(f"{key_text(names[0])} {action}", left, top + 31, SMALL, FAINT)
                on.target((left, top + 23, end - left, 16), "action", action)
                left = end + 7

    def _row(self, on: Canvas, middle: float, technique: Technique) -> None:
        path, value, status = technique.path, self.options.get(technique.path), self.status
        waits, touched, off = path in status.pending, path == status.touched, value == technique.baseline
        is_inactive, partly = path in self._inactive, self._partly.get(path, "")
        unused = FAINT if touched else INACTIVE  # on the brighter ground of the row that was touched last
        if touched:
            on.rect(TOUCHED, (4, middle - ROW / 2, RIGHT_WIDTH - 8, ROW), radius=4)
        on.target((4, middle - ROW / 2, RIGHT_WIDTH - 8, ROW), "technique", path)
        for key in list(self.keys.get(path, ()))[:1]:
            on.key(key, PAD, middle, ROW - 3)
        label = f"{'  ' * technique.detail}{technique.label}"
        on.left(label, PAD + 26, middle, NORMAL, unused if is_inactive else DIM if off else TEXT)
        text = f"{hud_word(status.pending[path])} …" if waits else hud_word(value)
        text = f"{text}, {partly}" if partly else text
        colour = WARM if waits else unused if is_inactive else FAINT if off else ACCENT
        start = self._value(on, middle, text, colour, touched and technique.numbers is not None)
        kind = "number" if technique.numbers else "technique"
        on.target((start - 4, middle - ROW / 2, RIGHT_WIDTH - start, ROW), kind, path)
        if (mark := kind_of(technique, value, self.options.get).mark) and not partly:
            on.right(mark, start - 4, middle, NORMAL, unused if is_inactive else FAINT if off else WARM)

    def _value(self, on: Canvas, middle: float, text: str, colour: str, between_keys: bool) -> float:
        """Draw the value; return where it begins. Keys with long names are left out: there is no room for them."""
        lower, higher = (next(iter(self.keys.get(action, ())), "") for action in NUMBER_KEYS)
        if not (between_keys and len(lower) == len(higher) == 1):
            return on.right(text, RIGHT_WIDTH - PAD, middle, NORMAL, colour)
        end = RIGHT_WIDTH - PAD - on.key_width(higher)
        on.key(higher, end, middle, ROW - 3)
        start = on.right(text, end - 5, middle, NORMAL, colour) - 5 - on.key_width(lower)
        on.key(lower, start, middle, ROW - 3)
        return start
