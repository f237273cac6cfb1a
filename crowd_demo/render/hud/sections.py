"""The sections of the panels but those on time: on the left what the crowd does, on the right the techniques.

On the left: how many agents there are, the work they make, and the errors of approximate techniques. A scenario in
which something happens has a section of its own: its clock, who is left, the flow over each line, the answer. It is
read from the state of the crowd alone, so it is right after going back, in a replay and after loading. The last one,
folded at first, has a row for each parameter of the behaviour and of links, with a slider. Many rows scroll. Where a
range spans decades, its slider is logarithmic; one that begins at 0 keeps a little room for the 0 at its left end.

On the right: every technique of the registry with its key and its value, a section a group. An inactive technique,
whose value changes nothing at present, is dimmed. The one that was changed last is highlighted; its value, if it is a
number, stands between the keys that change it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple

import numpy as np

from crowd_demo.compute.arrays import Doubles, Longs
from crowd_demo.config.events import ScenarioEvent
from crowd_demo.config.keys import key_text
from crowd_demo.profile import Profile
from crowd_demo.registry.entries import KINDS, Technique
from crowd_demo.registry.techniques import TECHNIQUES, hud_word, inactive, kind_of, partly_inactive
from crowd_demo.registry.texts import digits_text
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
    Keys,
)
from crowd_demo.render.hud.panel_layout import (
    EDGES,
    FACT,
    INNER,
    LEFT_WIDTH,
    RIGHT_WIDTH,
    ROW,
    Fact,
    PanelSection,
    draw_facts,
    facts_height,
)
from crowd_demo.render.hud.status import NumberRow, Status, time_text
from crowd_demo.sim.events import inside
from crowd_demo.sim.inspection import may_reconsider
from crowd_demo.sim.metrics.avoidance_error import AvoidanceError
from crowd_demo.sim.metrics.readings import Readings, has_field, is_limited, is_staggered
from crowd_demo.sim.simulation import Simulation

CURVE_HEIGHT, ERRORS_HEIGHT = 32.0, 48.0
BARS: Box = (PAD + INNER / 2 + 6, 1, INNER / 2 - 6, 11)  # of the histogram, from the top of its section
AVERAGED = {"candidates_per_agent": "due", "neighbours_per_agent": "due", "imbalance": "due", "births": "", "deaths": ""}
DIAL_RADIUS, DIAL_FULL = 13.0, 0.5  # units; the length of the bias that reaches the rim
UNREAD = "-"
LINE, PLACE = 16.0, 19.0  # units: a line of text, and the row of a line or an area
MAX_PLACES = 6  # rows
COUNT_RIGHT, FLOW_RIGHT = PAD + 112.0, PAD + 162.0  # where numbers end
PLOT_LEFT = FLOW_RIGHT + 8
FLOW_S = 5  # a flow is the mean of so many seconds
HAPPEN = "happen"  # the action
NUMBERS = "parameters"  # the name of the section, and the target of its ground
SLIDER, SETTING = "slider", "setting"  # targets: the slider of a number, and its value
NUMBER_ROW, HEAD = 16.0, 16.0
NAME_WIDTH, SLIDER_LEFT, SLIDER_WIDTH = 88.0, PAD + 93.0, 70.0
LEAST_ROWS, MAX_ROWS = 3, 16
UNITS = {"units": "u", "units/s": "u/s", "units/s^2": "u/s²", "units^2": "u²",
         "seconds": "s", "degrees": "°", "1/s^2": "1/s²"}
LONGEST_UNIT = 5  # characters: a longer one stands in the tooltip alone
WIDE = 20.0  # a range whose ends, or whose end and usual value, are so far apart has a logarithmic slider
LEAST = 1e-4  # of the range: where one begins whose usual value is 0
BELOW = 2  # decades below the usual value at which one that begins at 0 begins
ZERO = 0.05  # of its length, for the 0
NEAR = 0.02  # of its length: so near to the usual value it is that value
DIGITS = 3  # of a value that is chosen by hand


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
    """Means over the agents that were due: candidates, neighbours, and these as a share of those."""
    candidates, neighbours = counters.get("candidates_per_agent", 0.0), counters.get("neighbours_per_agent", 0.0)
    return {"candidates": f"{candidates:,.{0 if candidates >= 1000 else 1}f}", "neighbours": f"{neighbours:.1f}",
            "useful": percent(neighbours / candidates) if candidates else UNREAD}


def sorting_facts(sim: Simulation, unused: Set[str]) -> dict[str, str]:
    """How often agents were reordered and how long that takes, the steps since then, and the drift in cells.

    Dashes where agents are not reordered.
    """
    counters, cell = sim.profile.counters, sim.grid.cell
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
    crowd = [Fact("agents", f"{sim.agents.count:,}", ACCENT, "number"),
             Fact("in view", f"{counters.get('visible', 0):,.0f}"), Fact("drawn", f"{counters.get('drawn', 0):,.0f}")]
    in_states = [Fact(name, f"{count:,}", chip=(number, colours.get(name, TEXT)))
                 for number, (name, count) in enumerate(states.items())]
    if "stuck" in states:
        in_states.append(Fact("reconsider", f"{len(may_reconsider(sim)):,}"))
    work, memory = work_facts(counters), memory_facts(counters, readings)
    sorting = sorting_facts(sim, inactive(sim.situation))
    limited = readings.field if has_field(sim) else readings.neighbour_limit if is_limited(sim) else None
    errors = [error.mean for error in (readings.stagger if is_staggered(sim) else None, limited) if error]
    return [
        PanelSection("crowd", facts_height(4) + 4, partial(draw_led, facts=crowd, has_line=True), None),
        *([PanelSection("states", facts_height(len(in_states)) + 4, partial(draw_facts, facts=in_states), None)]
          if states else []),
        _folded("neighbours", work, f"{work['neighbours']} of {work['candidates']} tested"),
        PanelSection("errors", ERRORS_HEIGHT, partial(draw_errors, sim=sim, readings=readings),
                     f"~ {percent(max(errors))}" if errors else UNREAD),
        *([PanelSection("births and deaths", facts_height(4) + CURVE_HEIGHT + 6,
                        partial(draw_life, sim=sim, counters=counters),
                        f"{counters.get('births', 0):,.1f} and {counters.get('deaths', 0):,.1f} per step")]
          if sim.life.active else []),
        _folded("sorting", sorting, f"{sorting['since sort']} steps ago"),
        _folded("memory reads", memory, f"{memory['near reads']} near"),
    ]


def _folded(name: str, facts: Mapping[str, str], headline: str) -> PanelSection:
    draw = partial(draw_led, facts=[Fact(*fact) for fact in facts.items()])
    return PanelSection(name, facts_height(4) + 3, draw, UNREAD if UNREAD in headline else headline)


def draw_led(on: Canvas, top: float, facts: Sequence[Fact], has_line: bool = False) -> float:
    """Draw the first fact, which may be long, on a row of its own, and two on each of the others."""
    if has_line:
        on.line(EDGE, (PAD, top), (LEFT_WIDTH - PAD, top))
    return draw_facts(on, draw_facts(on, top + 2 * has_line, facts[:1], 1), facts[1:])


def draw_life(on: Canvas, top: float, sim: Simulation, counters: Mapping[str, float]) -> None:
    lived = sim.population
    top = draw_led(on, top, [Fact("peak", f"{lived.max():,}" if len(lived) else UNREAD),
                             *(Fact(name, f"{counters.get(name, 0):,.1f}") for name in ("births", "deaths"))])
    counts = lived[-int(INNER):].astype(float)
    draw_curve(on, (PAD, top + 2, INNER, CURVE_HEIGHT), counts, counts.min(initial=math.inf), counts.max(initial=0.0))


def draw_errors(on: Canvas, top: float, sim: Simulation, readings: Readings) -> None:
    """Draw the errors of approximate techniques: staggering, and below it a neighbour limit or the field."""
    period = sim.optimizations.stagger.avoidance if is_staggered(sim) else 1
    facts = [Fact("stagger error", mean_error(readings.stagger) if period > 1 else UNREAD, WARM), Fact("", "")]
    if has_field(sim):
        facts += [Fact("field error", mean_error(readings.field), WARM),
                  Fact("at worst", percent(readings.field.most) if readings.field else UNREAD, WARM)]
    else:
        facts.append(Fact("limit error", mean_error(readings.neighbour_limit) if is_limited(sim) else UNREAD, WARM))
    draw_facts(on, top, facts)
    if period > 1:
        box = BARS[0], BARS[1] + top, BARS[2], BARS[3]  # how many agents were last due 0, 1, ... steps ago
        draw_bars(on, box, readings.ages[:period] if readings.ages is not None else [0] * period, MUTED)
        on.target(box, "fact", "steps since update")
    if is_limited(sim) and not has_field(sim):
        left, top, bias = BARS[0], top + FACT, readings.bias  # the mean direction to all neighbours, and to those kept
        middle = left + DIAL_RADIUS, top + DIAL_RADIUS
        on.circle(GROUND, middle, DIAL_RADIUS)
        on.circle(EDGE, middle, DIAL_RADIUS, width=1)
        for line, (name, colour) in enumerate((("all", DIM), ("kept", WARM))):
            if bias:  # a hand from the middle of the dial, with a dot at its tip, at most to the rim
                x, y = bias.kept if name == "kept" else bias.all
                scale = DIAL_RADIUS * min(1 / DIAL_FULL, 1 / max(math.hypot(x, y), DIAL_FULL))
                tip = middle[0] + x * scale, middle[1] + y * scale
                on.line(colour, middle, tip, width=2)
                on.circle(colour, tip, 2)
            on.left(name, left + 2 * DIAL_RADIUS + 8, middle[1] - 7 + 14 * line, SMALL, colour)
        on.target((left, top, INNER / 2, 2 * DIAL_RADIUS), "fact", "mean direction to")


def draw_bars(on: Canvas, box: Box, values: Sequence[int] | Longs, colour: Colour) -> None:
    """Draw a bar for each value, the largest as high as the box; any value above 0 can be seen."""
    on.rect(GROUND, box)
    left, top, width, height = box
    most, wide = max(int(max(values)), 1), width / len(values)
    for number, value in enumerate(values):
        tall = max(height * int(value) / most, 1) if value else 0
        if tall:
            on.rect(colour, (left + wide * number + 1, top + height - tall, wide - 2, tall))


def draw_curve(on: Canvas, box: Box, values: Doubles, low: float, high: float) -> None:
    """Draw values over time, from the first to the last, between a lowest and a highest one."""
    on.rect(GROUND, box)
    left, top, width, height = box
    if len(values) > 1 and high > 0:
        across = np.linspace(left, left + width, len(values)).tolist()
        up = (top + height - 2 - (values - low) * ((height - 3) / max(high - low, 1e-9))).tolist()
        on.line(ACCENT, *zip(across, up, strict=True))
    on.line(EDGE, (left, top + height), (left + width, top + height))


# --- a scenario ------------------------------------------------------------------------------------------------------

def scenario_sections(sim: Simulation, keys: Keys) -> list[PanelSection]:
    events, places = sim.config.events, sim.config.measure
    if not events:
        return []
    rows = min(len(places.lines) + len(places.areas), MAX_PLACES)
    texts = any(event.hand for event in events) + any(event.end for event in events)
    height = facts_height(4) + 4 + PLACE * rows + LINE * texts + 2
    return [PanelSection("scenario", height, partial(draw_scenario, sim=sim, keys=keys), None)]


def draw_scenario(on: Canvas, top: float, sim: Simulation, keys: Keys) -> None:
    events, first, count = sim.events, sim.config.agents, sim.agents.count
    answer_s = events.answer_s(sim.dt)
    clock_s = (sim.tick - events.clock_tick) * sim.dt
    top = draw_led(on, top, [Fact("remain", f"{count:,} of {first:,}"), Fact("clock", time_text(clock_s)),
                             Fact("answer", UNREAD if answer_s is None else f"{answer_s:.1f} s", ACCENT)])
    top = _draw_places(on, top + 4, sim)
    if any(event.hand for event in sim.config.events):  # the one that comes when the key is pressed, or this line clicked
        middle = top + LINE / 2
        if sim.events.by_hand is None:
            on.left("no manual events left", PAD, middle, SMALL, FAINT)
        else:
            on.rect(TOUCHED, (PAD - 4, top + 1, INNER + 8, LINE - 2), radius=4)
            end = on.left(key_text(keys[HAPPEN][0]), PAD, middle, SMALL, ACCENT) + 8 if keys.get(HAPPEN) else PAD
            text = str(sim.config.events[sim.events.by_hand].hand)
            on.left(on.fitted(text, LEFT_WIDTH - PAD - end, SMALL), end, middle, SMALL)
            on.target((0, top, LEFT_WIDTH, LINE), "action", HAPPEN)
        top += LINE
    if ends := [event for event in sim.config.events if event.end]:
        colour = DIM if answer_s is None else ACCENT
        on.left(on.fitted(end_text(sim, ends), INNER, SMALL), PAD, top + LINE / 2, SMALL, colour)


def end_text(sim: Simulation, ends: Sequence[ScenarioEvent]) -> str:
    """What the answer waits for; or what it says, with the time that the slowest tenth took."""
    end_tick, nine_tenths = sim.events.end_tick, int(sim.counts.tenths[-1])
    if end_tick is None:
        return f"ends when {ends[0].say or ends[0].when or ends[0].text}"
    said = next(event.text for number, event in enumerate(sim.config.events)
                if event.end and sim.events.happened.get(number) == end_tick)
    return said if nine_tenths < 0 else f"{said} (slowest tenth: {(end_tick - nine_tenths) * sim.dt:.1f} s)"


def _draw_places(on: Canvas, top: float, sim: Simulation) -> float:
    """Draw a row for each line, and for each area who is in it; return where they end."""
    counts, flows = sim.counts, sim.counts.flows(FLOW_S)
    most = float(flows.max(initial=0))
    rows = [*((name, True) for name in sim.config.measure.lines), *((name, False) for name in sim.config.measure.areas)]
    for number, (name, is_line) in enumerate(rows[:MAX_PLACES]):
        middle = top + PLACE / 2
        on.left(on.fitted(name, 70, SMALL), PAD, middle, SMALL, FAINT)
        on.right(f"{counts.of_line(name) if is_line else inside(name, sim):,}", COUNT_RIGHT, middle, NORMAL)
        if is_line:
            on.right(f"{flows[-1, number] if len(flows) else 0:.1f}/s", FLOW_RIGHT, middle, SMALL, DIM)
            draw_curve(on, (PLOT_LEFT, top + 1, LEFT_WIDTH - PAD - PLOT_LEFT, PLACE - 3), flows[:, number], 0.0, most)
        else:
            on.left("inside", PLOT_LEFT, middle, SMALL, FAINT)
        on.target((PAD, top, INNER, PLACE), "fact", "flow" if is_line else "inside")
        top += PLACE
    return top


# --- the techniques -----------------------------------------------------------------------------------------------------

def switchboard_sections(sim: Simulation, status: Status, keys: Keys) -> list[PanelSection]:
    """The techniques that have a digit for a key; in the full HUD a section for each group, and what the marks mean.

    A folded group shows those that have a digit for a key, differ from the configuration, or were changed last.
    """
    options, configured = sim.optimizations, sim.config.optimizations
    rows = partial(draw_techniques, sim=sim, status=status, keys=keys)

    def section(name: str, group: Sequence[Technique]) -> PanelSection:
        brief = [each for each in group if each.key.isdigit() or each.path == status.touched
                 or each.path in status.pending or options.get(each.path) != configured.get(each.path)]
        more = f"{len(group) - len(brief)} more" if len(brief) < len(group) else ""
        return PanelSection(name, ROW * len(group), partial(rows, group=group), more, None, ROW * len(brief),
                            partial(rows, group=brief))

    if status.panels.hud == "compact":
        return [section("techniques", [each for each in TECHNIQUES if each.key.isdigit()])._replace(headline=None)]
    groups = {each.group: [other for other in TECHNIQUES if other.group == each.group] for each in TECHNIQUES}
    return [*(section(name, group) for name, group in groups.items()), PanelSection("marks", ROW, draw_marks, None)]


def draw_marks(on: Canvas, top: float) -> None:
    left: float = PAD
    for kind in KINDS[1:]:
        end = on.left(kind.mark, left, top + ROW / 2, SMALL, WARM)
        end = on.left(f" {kind.name}", end, top + ROW / 2, SMALL, FAINT)
        on.target((left, top, end - left, ROW), "fact", kind.name)
        left = end + 16


def draw_techniques(on: Canvas, top: float, group: Sequence[Technique], sim: Simulation, status: Status,
                    keys: Keys) -> None:
    get, right_edge, unused_now = sim.optimizations.get, RIGHT_WIDTH - PAD, inactive(sim.situation)
    partly = partly_inactive(sim.situation)
    for number, technique in enumerate(group):
        middle, right = top + ROW * (number + 0.5), right_edge
        path, value = technique.path, get(technique.path)
        waits, touched, off = path in status.pending, path == status.touched, value == technique.baseline
        unused = FAINT if touched else INACTIVE  # on the brighter ground of the row that was touched last
        name = unused if path in unused_now else TEXT
        if touched:
            on.rect(TOUCHED, (4, middle - ROW / 2, RIGHT_WIDTH - 8, ROW), radius=4)
        on.target((4, middle - ROW / 2, RIGHT_WIDTH - 8, ROW), "technique", path)
        for key in list(keys.get(path, ()))[:1]:
            on.key(key, PAD, middle, ROW - 4, name, is_filled=not off and name == TEXT)
        on.left(technique.label.strip(), PAD + 24, middle, NORMAL, name)
        if waits:
            for dot in range(3):
                on.circle(ACCENT, (right - 2 - 6 * dot, middle), 1.5)
            right -= 22
        text = hud_word(status.pending[path]) if waits else partly.get(path) or hud_word(value)
        colour = name if name != TEXT else DIM if off or waits else ACCENT
        start = on.right(text, right, middle, NORMAL, colour)
        if status.panels.hud != "compact":  # there the whole row is the key
            kind = "number" if technique.numbers else "value"
            on.target((start - 4, middle - ROW / 2, RIGHT_WIDTH - start, ROW), kind, path)
        if (mark := kind_of(technique, value, get).mark) and path not in partly:
            on.right(mark, start - 4, middle, NORMAL, name if name != TEXT else FAINT if off else WARM)


# --- sliders ---------------------------------------------------------------------------------------------------------

class SliderScale(NamedTuple):
    """`floor` is the least number above 0 on a logarithmic slider, and 0 on a linear one."""

    low: float
    high: float
    usual: float
    is_whole: bool
    floor: float

    @classmethod
    def of(cls, low: float, high: float, usual: float, is_whole: bool) -> SliderScale:
        floor = 0.0
        if low > 0 and high / low >= WIDE:
            floor = low
        elif low == 0 and high >= WIDE * usual:
            floor = 10.0 ** (math.floor(math.log10(usual)) - BELOW) if usual > 0 else high * LEAST
            floor = max(floor, 1.0) if is_whole else floor
        return cls(low, high, usual, is_whole, floor if floor < high else 0.0)

    def position(self, value: float) -> float:
        """Return where a value stands: 0 at the left end, 1 at the right."""
        value = min(max(value, self.low), self.high)
        if not self.floor:
            return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        if value < self.floor:
            return 0.0
        return self._zero + (1 - self._zero) * math.log(value / self.floor) / math.log(self.high / self.floor)

    def value_at(self, position: float) -> float:
        """Return the value that a place means: of three digits, or whole, or the usual one if it is near."""
        if abs(position - self.position(self.usual)) < NEAR:
            return self.usual
        if not 0 < position < 1:
            return self.low if position <= 0 else self.high
        if not self.floor:
            value = self.low + (self.high - self.low) * position
        elif position < self._zero:
            value = self.low
        else:
            value = self.floor * (self.high / self.floor) ** ((position - self._zero) / (1 - self._zero))
        value = round(value) if self.is_whole else float(f"{value:.{DIGITS}g}")
        return min(max(value, self.low), self.high)

    @property
    def _zero(self) -> float:
        return ZERO if self.low < self.floor else 0.0


# --- the section -----------------------------------------------------------------------------------------------------

def scale_of(row: NumberRow) -> SliderScale:
    number = row.number
    return SliderScale.of(number.low, number.high, row.shipped, number.is_whole)


def rows_in_view(count: int, first: int, room: float, others: Sequence[PanelSection]) -> range:
    """The rows, from `first` on if possible, that a panel with `room` shows beside the lines of other sections."""
    used = EDGES + ROW + HEAD + sum(each.taken(False) for each in others)
    shown = min(count, MAX_ROWS, max(int((room - used) / NUMBER_ROW), LEAST_ROWS))
    first = min(max(first, 0), count - shown)
    return range(first, first + shown)


def draw_numbers(on: Canvas, top: float, rows: Sequence[NumberRow], shown: range) -> None:
    tall = NUMBER_ROW * len(shown)
    on.target((0, top + HEAD, LEFT_WIDTH, tall), NUMBERS)
    if len(shown) < len(rows):
        on.left(f"{shown.start + 1}-{shown.stop} of {len(rows)}", PAD, top + HEAD / 2, SMALL, FAINT)
        bar = LEFT_WIDTH - 6, top + HEAD + tall * shown.start / len(rows), 2, tall * len(shown) / len(rows)
        on.rect(EDGE, bar)
    start = on.right("reset all", LEFT_WIDTH - PAD, top + HEAD / 2, SMALL, DIM)
    on.target((start, top, LEFT_WIDTH - PAD - start, HEAD), "action", "reset_parameters")
    for at, row in enumerate(rows[shown.start:shown.stop]):
        number, line = row.number, top + HEAD + NUMBER_ROW * at
        middle = line + NUMBER_ROW / 2
        fixed, changed = number.live == "no", row.value != row.shipped
        colour: Colour = INACTIVE if fixed else ACCENT if changed else TEXT
        label = number.path if number.path.startswith("links.") else number.key
        on.left(on.fitted(label, NAME_WIDTH, SMALL), PAD, middle, SMALL, INACTIVE if fixed else DIM)
        groove = (SLIDER_LEFT, middle), (SLIDER_LEFT + SLIDER_WIDTH, middle)
        if fixed:
            on.line(INACTIVE, *groove)
        else:
            now, usual = (SLIDER_LEFT + SLIDER_WIDTH * scale_of(row).position(each) for each in (row.value, row.shipped))
            on.line(EDGE, *groove, width=2)
            on.line(ACCENT, groove[0], (now, middle), width=2)
            on.line(FAINT, (usual, middle - 5), (usual, middle + 5))
            on.circle(ACCENT if changed else TEXT, (now, middle), 3.5)
            on.target((SLIDER_LEFT, line, SLIDER_WIDTH, NUMBER_ROW), SLIDER, number.path)
        on.right(value_text(row), LEFT_WIDTH - PAD, middle, SMALL, colour)
        left = SLIDER_LEFT + SLIDER_WIDTH + 2
        on.target((left, line, LEFT_WIDTH - PAD - left, NUMBER_ROW), SETTING, number.path)
        on.target((0, line, SLIDER_LEFT - 4, NUMBER_ROW), SETTING, number.path)


def value_text(row: NumberRow) -> str:
    unit, value = UNITS.get(row.number.unit, row.number.unit), row.value / row.number.scale
    text = f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{text} {unit}" if unit and len(unit) <= LONGEST_UNIT else text
