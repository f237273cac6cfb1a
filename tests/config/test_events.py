"""Events as a file says them: what is read, and one line for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowd_demo.config.events import condition_of
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.yaml12 import dump

pytestmark = pytest.mark.quick
HEAD = "behaviour: crowd\nmap: doorway\nmeasure: {areas: {hall: [0, 0, 100, 100]}, lines: {door: [0, 0, 10, 0]}}\nevents:\n"


def mistakes(tmp_path: Path, *events: str, head: str = HEAD) -> list[str]:
    """What is wrong with a file that has these events, without the file's name."""
    path = tmp_path / "events.yaml"
    path.write_text(head + "".join(f"  - {event}\n" for event in events), "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    return [line.removeprefix(f"{path}:") for line in caught.value.lines]


def test_a_file_with_events_reads_and_reads_again_as_it_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "events.yaml"
    path.write_text(HEAD + "  - {at: 20 s, do: {walls: {rectangle: [0, 0, 50, 50], build: false}}, say: the doors open}\n"
                    "  - {tick: 30, do: {agents: 1e3, take_out: {at: [1, 2], radius: 2 m}}}\n"
                    "  - {when: left < 1 %, end: true}\n  - {when: passed door >= 3, do: {set: {crowd.radius: 20}}}\n",
                    "utf-8")
    config = load_config(path)
    assert [event.due_tick(60) for event in config.events] == [1200, 30, None, None]
    assert [event.text for event in config.events] == ["the doors open", "take out, agents", "the end", "set"]
    take_out = config.events[1].do.take_out
    assert take_out and take_out.radius == 52
    again = tmp_path / "again.yaml"
    again.write_text(dump(config.model_dump(mode="json")), "utf-8")
    assert load_config(again) == config


@pytest.mark.parametrize(("event", "line"), [
    ("{at: 20 m}", '5: events.0.at: must be a number from 0 to 86400 or text such as "20 s" or null, not \'20 m\''),
    ("{at: -3}", '5: events.0.at: must be a number from 0 to 86400 or text such as "20 s" or null, not -3'),
    ("{at: 3, when: left < 1}", "5: events.0.when: an event needs one of at, tick, when and hand; not at and when"),
    ("{say: x}", "5: events.0: an event needs one of at, tick, when and hand; it has none"),
    ("{at: 3, do: {wall: 5}}", "5: events.0.do.wall: unknown key (did you mean walls?)"),
    ("{at: 3, do: {send: {to: []}}}",
     "5: events.0.do.send.to: must be a list of a whole number from 0 to 63, at least 1, at most 64, not []"),
    ("{at: 3, do: {send: {to: [99]}}}", "5: events.0.do.send.to.0: must be a whole number from 0 to 63, not 99"),
    ("{at: 3, do: {send: {to: [0, 6]}}}", "5: events.0.do.send.to: destination 6 does not exist: there are 6, counted from 0"),
    ("{at: 3, do: {send: {to: [0], inside: hal}}}",
     "5: events.0.do.send.inside: measure.areas has no 'hal' (did you mean hall?)"),
    ("{hand: close it, tick: 5}", "5: events.0.hand: an event needs one of at, tick, when and hand; not tick and hand"),
    ("{at: 3, do: {agents: -1}}", "5: events.0.do.agents: must be a whole number from 0 to 32000000 or null, not -1"),
    ("{at: 3, do: {walls: {rectangle: [9, 0, 3, 9]}}}",
     "5: events.0.do.walls.rectangle: must be [left, top, right, bottom], with left < right and top < bottom"),
    ("{at: 3, do: {set: {crowd.radiu: 5}}}",
     "5: events.0.do.set.crowd.radiu: is not a number of the behaviour (did you mean crowd.radius?)"),
    ("{at: 3, do: {set: {crowd.wait_s: -5}}}", "5: events.0.do.set.crowd.wait_s: must be a number from 0 to 3600, not -5.0"),
    ("{when: left < 1 q}",
     '5: events.0.when: must be a measure compared with a number, such as "left < 1%", not \'left < 1 q\''),
    ("{when: leff < 1 %}", "5: events.0.when: no measure 'leff' (did you mean left?)"),
    ("{when: inside < 1 %}", "5: events.0.when: inside needs a name of measure.areas"),
    ("{when: inside hal < 1}", "5: events.0.when: measure.areas has no 'hal' (did you mean hall?)"),
    ("{when: passed hall < 1}", "5: events.0.when: measure.lines has no 'hall'"),
    ("{when: agents < 1 %}", "5: events.0.when: agents is not a share: leave out the %"),
    ("{when: agents < 1 s}", "5: events.0.when: agents is not a time: leave out the s"),
    ("{when: agents door < 1}", "5: events.0.when: agents takes no name"),
    ("{at: 3, do: {attract: {at: [1, 2], radius: 0}}}",
     '5: events.0.do.attract.radius: must be a number from 0.01 to 65536 or text such as "0.46 m", not 0'),
    ("{at: 3, do: {scare: {at: [1, 2], seconds: 0}}}",
     '5: events.0.do.scare.seconds: must be a number from 0.1 to 86400 or text such as "20 s", not 0'),
    ("{at: 3, do: {repel: {at: [1, 2], strength: -2}}}",
     "5: events.0.do.repel.strength: must be a number from 0.01 to 100, not -2"),
    ("5", "5: events.0: must be a section (lines of key: value), not 5")])
def test_a_mistake_is_a_line_with_file_line_and_key(tmp_path: Path, event: str, line: str) -> None:
    assert mistakes(tmp_path, event) == [line]


@pytest.mark.parametrize(("doors", "line"), [
    ("{door: 6}", "3: measure.doors.door: destination 6 does not exist: there are 6, counted from 0"),
    ("{door: 64}", "3: measure.doors.door: must be a whole number from 0 to 63, not 64"),
    ("{doo: 1}", "3: measure.doors.doo: measure.lines has no 'doo' (did you mean door?)")])
def test_a_door_is_a_line_with_a_destination(tmp_path: Path, doors: str, line: str) -> None:
    assert mistakes(tmp_path, "{tick: 1}", head=HEAD.replace("lines:", f"doors: {doors}, lines:")) == [line]


def test_states_are_those_of_people(tmp_path: Path) -> None:
    found = mistakes(tmp_path, "{when: stuck > 5}", head="behaviour: flock\nevents:\n")
    assert found == ["3: events.0.when: stuck: only people can be, and this is flock"]


def test_a_number_that_is_fixed_while_the_crowd_runs_cannot_be_set(tmp_path: Path) -> None:
    line, = mistakes(tmp_path, "{at: 3, do: {set: {hunt.predators: 5}}}", head="behaviour: hunt\nevents:\n")
    assert line.startswith("3: events.0.do.set.hunt.predators: cannot be changed while the crowd runs: ")


@pytest.mark.parametrize(("text", "below", "at", "above"), [
    ("agents < 5", True, False, False), ("agents <= 5", True, True, False), ("agents = 5", False, True, False),
    ("agents >= 5", False, True, True), ("agents>5", False, False, True)])
def test_conditions_compare(text: str, below: bool, at: bool, above: bool) -> None:
    assert [condition_of(text).holds(number) for number in (4, 5, 6)] == [below, at, above]


@pytest.mark.parametrize(("head", "line"), [
    ("behaviour: flock\nevents:\n", "3: events.0.do.send.to: only people can be sent, and only with a crowd.room above 0"),
    ("behaviour: crowd\ncrowd: {room: 0}\nevents:\n",
     "4: events.0.do.send.to: only people can be sent, and only with a crowd.room above 0"),
    ("behaviour: crowd\ncrowd: {wait_s: 0}\nevents:\n",
     "4: events.0.do.send.leave: people leave only with a crowd.wait_s above 0"),
    ("behaviour: crowd\ncrowd: {destinations: 3}\nevents:\n",
     "4: events.0.do.send.to: destination 5 does not exist: there are 3, counted from 0")])
def test_who_cannot_be_sent(tmp_path: Path, head: str, line: str) -> None:
    assert mistakes(tmp_path, "{at: 3, do: {send: {to: [1, 5], leave: true}}}", head=head) == [line]
