"""The model: defaults that others rely on, everything frozen but the switches, everything documented."""

from pathlib import Path

import pytest
from damages import mistakes_in
from pydantic import ValidationError

from crowd_demo.config import model as module
from crowd_demo.config.events import condition_of
from crowd_demo.config.keys import ACTIONS, KEY_NAMES
from crowd_demo.config.loader import ConfigError, load_config
from crowd_demo.config.model import Config, Optimizations
from crowd_demo.config.yaml12 import dump
from crowd_demo.registry.actions import PROGRAM
from crowd_demo.registry.built_in import OVERLAYS
from crowd_demo.registry.entries import EXACT, Technique
from crowd_demo.registry.techniques import TECHNIQUES

pytestmark = pytest.mark.quick


def fields(schema, prefix=""):
    """(path, schema) of every key that is no section."""
    definitions = Config.model_json_schema()["$defs"]
    for name, child in schema["properties"].items():
        target = definitions[child["$ref"].rpartition("/")[2]] if "$ref" in child else child
        if "properties" in target:
            yield from fields(target, f"{prefix}{name}.")
        else:
            yield prefix + name, child


FIELDS = dict(fields(Config.model_json_schema()))


def test_a_configuration_of_nothing_is_complete():
    config = Config.model_validate({})
    assert (config.agents, config.seed, config.behaviour, config.map) == (20_000, 1, "crowd", None)
    assert (config.world.width, config.time.step_hz, config.window.width, config.window.height) == (4000, 60, 1280, 720)
    assert (config.crowd.radius, config.flock.sight, config.camera.zoom) == (40, 24, None)


def test_the_defaults_of_the_switches_are_those_of_the_registry():
    optimizations = Config.model_validate({}).optimizations
    assert {t.path: optimizations.get(t.path) for t in TECHNIQUES} == {t.path: t.default for t in TECHNIQUES}


def test_all_but_the_switches_is_frozen():
    config = Config.model_validate({})
    for section, name in ((config, "agents"), (config.world, "width"), (config.crowd, "radius"), (config.keys, "pause")):
        with pytest.raises(ValidationError):
            setattr(section, name, getattr(section, name))


def test_two_configurations_share_no_switch():
    first, second = Config.model_validate({}), Config.model_validate({})
    first.optimizations.set("stagger.sight", 2)
    assert second.optimizations.stagger.sight == 8


def test_every_key_is_described():
    assert [path for path, schema in FIELDS.items() if not schema.get("description")] == []


def test_every_number_has_a_range_and_says_it():
    for path, schema in FIELDS.items():
        kinds = [schema, *schema.get("anyOf", [])]
        for number in (kind for kind in kinds if kind.get("type") in ("number", "integer")):
            assert "maximum" in number and {"minimum", "exclusiveMinimum"} & set(number), path
            assert " to " in schema["description"] or path.startswith("optimizations."), path


@pytest.mark.parametrize("path", [path for path, schema in FIELDS.items()
                                  if path.startswith(("crowd.", "flock.", "hunt.")) and "minimum" in schema])
def test_zero_is_legal_for_radius_speed_and_weight(path):
    section, name = path.split(".")
    lowest = FIELDS[path]["minimum"]
    assert lowest == (1 if name in ("destinations", "crowding", "follow_nearest", "square", "speed_draws") else 0)
    changes = {name: lowest, name.replace("speed_max", "speed_min"): lowest}
    assert getattr(getattr(Config.model_validate({section: changes}), section), name) == lowest


@pytest.mark.parametrize("data", [
    {"agents": True}, {"agents": "5"}, {"agents": 1.5}, {"agents": -1}, {"agents": 32_000_001}, {"seed": 2**63},
    {"world": {"width": 0}}, {"world": {"width": "9"}}, {"world": {"width": float("nan")}}, {"map": 3},
    {"crowd": {"radius": float("inf")}}, {"crowd": {"radius": False}}, {"window": {"hud": 1}}, {"window": []},
    {"camera": {"center": [1]}}, {"camera": {"center": [1, "2"]}}, {"camera": {"zoom": 0.01}}, {"time": {"step_hz": 0}},
    {"optimizations": {"simd": "yes"}}, {"optimizations": {"threads": 0}}, {"optimizations": {"cell_size": True}},
    {"crowd": {"speed_min": 9, "speed_max": 8}}, {"flok": {}}, {"window": {"title": "a\0"}},
])
def test_what_is_out_of_type_or_range_is_refused(data):
    with pytest.raises(ValidationError):
        Config.model_validate(data)


@pytest.mark.parametrize(("pattern", "links", "in_line"), [("rope", 2, 2), ("cloth", 4, 2), ("column", 1, 1)])
@pytest.mark.parametrize(("step_hz", "damping", "drag"), [(60, 4, 0.5), (25, 3, 2), (40, 0, 0)])
def test_links_are_as_stiff_as_a_step_can_bear(pattern, links, in_line, step_hz, damping, drag):
    stiffest = (2 - (2 * in_line * damping + drag) / step_hz) * step_hz**2 / links
    for stiffness in (0.999 * stiffest, 1.001 * stiffest):
        data = {"links": {"pattern": pattern, "stiffness": min(stiffness, 3000), "damping": damping, "drag": drag},
                "time": {"step_hz": step_hz}}
        if stiffness > stiffest and stiffest < 3000:
            with pytest.raises(ValidationError, match="unless time"):
                Config.model_validate(data)
        else:
            Config.model_validate(data)
    Config.model_validate({"links": {"stiffness": 3000, "damping": 15, "drag": 60}, "time": {"step_hz": 1}})  # no links


def test_an_empty_section_has_its_defaults():
    assert Config.model_validate({"window": None, "optimizations": {"stagger": None}}) == Config.model_validate({})


@pytest.mark.parametrize("changes, path, units", [
    ({"crowd.body": "0.25 m"}, "crowd.body", 6.5), ({"crowd.speed_max": "3 m/s"}, "crowd.speed_max", 78),
    ({"crowd.room": "1.5 m2"}, "crowd.room", 1014), ({"world.width": "100m"}, "world.width", 2600)])
def test_lengths_speeds_and_areas_of_people_can_be_had_in_metres(changes, path, units):
    section, name = path.split(".")
    assert getattr(getattr(load_config("20k", changes), section), name) == units


def test_text_that_is_not_in_metres_is_told_what_is_legal():
    assert mistakes_in(load_config, "20k", {"crowd.body": "5 ft"}) == [
        'overrides: crowd.body: must be a number from 0 to 1024 or text such as "0.46 m", not \'5 ft\'']
    with pytest.raises(ConfigError, match=r"from 0\.1 to 65536"):
        load_config("20k", {"world.width": "0 m"})


# --- key bindings: defaults without a conflict, changes, and conflicts that name both actions ------------------------

def bound(keys):
    return {key: action for action, key in Config.model_validate({"keys": keys}).keys.pairs()}


def test_every_technique_and_action_has_its_key():
    keys = bound({})
    without = {action for action, told in PROGRAM.items() if not told.keys}
    assert without == {"theme", "units", "reset_parameters", "default_parameters"}, "the menu has them"
    without |= {overlay.name for overlay in OVERLAYS.values() if not overlay.key}  # which are in a list
    assert set(keys.values()) | without == set(ACTIONS) == {t.path for t in TECHNIQUES} | set(PROGRAM) | set(OVERLAYS)
    assert {t.key: keys[t.key] for t in TECHNIQUES} == {t.key: t.path for t in TECHNIQUES}


def test_the_keys_of_the_program_are_those_that_are_documented():
    keys = bound({})
    documented = {
        "space": "pause", ".": "step", "r": "restart", "-": "fewer", "=": "more", ",": "slower", "/": "faster",
        "[": "lower", "]": "higher", "page down": "lower", "page up": "higher", "delete": "fewer", "insert": "more",
        "+": "more", "<": "slower", ">": "faster", "?": "help",
        "ctrl+=": "larger", "ctrl++": "larger", "ctrl+-": "smaller", "ctrl+0": "normal_size",
        "f11": "fullscreen", "f12": "screenshot", "f1": "help", "tab": "hud", "home": "fit", "f": "freeze",
        "a": "pan_left", "left": "pan_left", "d": "pan_right", "right": "pan_right", "w": "pan_up", "up": "pan_up",
        "s": "pan_down", "down": "pan_down", "escape": "quit"}
    assert {key: keys.get(key) for key in documented} == documented


@pytest.mark.parametrize(("changed", "has", "free"), [
    ({"pause": "f14", "stagger.sight": 0, "pan_left": ["[4]", "left"]},
     {"f14": "pause", "0": "stagger.sight", "[4]": "pan_left", "left": "pan_left"}, {"space", "5", "a"}),
    ({"faster": "f14", "cull": None, "pause": ["f13", "ctrl+f14"], "step": "ctrl+f15"},
     {"f14": "faster", "f13": "pause", "ctrl+f14": "pause", "ctrl+f15": "step"}, {"7", "/", "space"}),
    ({"freeze": "r", "restart": "f"}, {"r": "freeze", "f": "restart"}, set()),
    ({"quit": None}, {}, {"escape"}), ({"quit": []}, {}, {"escape"})])
def test_a_changed_key_frees_the_old_one(changed, has, free):
    keys = bound(changed)
    assert {key: keys[key] for key in has} == has and not free & set(keys)


@pytest.mark.parametrize(("keys", "action", "both"), [
    ({"restart": "f"}, "restart", "restart and freeze"),
    ({"freeze": "r"}, "freeze", "restart and freeze"),
    ({"pause": "f14", "step": "f14"}, "step", "pause and step"),
    ({"pause": "3"}, "pause", "reorder.when and pause"),
    ({"pan_left": ["a", "up"]}, "pan_left", "pan_left and pan_up"),
    ({"pause": "ctrl+="}, "pause", "pause and larger"),
])
def test_a_conflict_names_both_actions_and_blames_what_was_changed(keys, action, both):
    with pytest.raises(ValidationError) as caught:
        bound(keys)
    (problem,) = caught.value.errors()
    assert (problem["loc"], both in problem["msg"]) == (("keys", action), True)


@pytest.mark.parametrize("keys", [{"pause": "spacebar"}, {"pause": 10}, {"pause": True}, {"pause": ["p", 1.5]},
                                  {"pause": ""}, {"pause": "ctrl+"}, {"pause": "ctrl+spacebar"},
                                  {"paus": "p"}, {"pause": {"p": 1}}])
def test_what_is_no_key_or_no_action_is_refused(keys):
    with pytest.raises(ValidationError):
        bound(keys)


def test_keys_are_named_as_pygame_names_them():
    pygame = pytest.importorskip("pygame")
    codes = [value for name, value in vars(pygame).items() if name.startswith("K_")]
    assert set(KEY_NAMES) <= {pygame.key.name(code) for code in codes}


# --- the switches: made from the registry, assignable, and never at a value that is not legal ------------------------

@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda technique: technique.path)
def test_every_choice_of_the_registry_can_be_set(technique):
    switches = Optimizations()
    for choice in technique.choices:
        switches.set(technique.path, choice)
        assert switches.get(technique.path) == choice


@pytest.mark.parametrize(("path", "value"), [
    ("reorder.every", 1000), ("stagger.avoidance", 16), ("threads", 64), ("cell_size", 4096), ("cell_size", 1.5),
])
def test_numbers_between_the_choices_are_legal(path, value):
    switches = Optimizations()
    switches.set(path, value)
    assert switches.get(path) == value


@pytest.mark.parametrize(("path", "value", "said"), [
    ("stagger.avoidance", 17, "stagger.avoidance: must be a whole number from 1 to 16, not 17"),
    ("stagger.avoidance", True, "stagger.avoidance: must be a whole number from 1 to 16, not true"),
    ("threads", "all", "threads: must be auto or a whole number from 1 to 64, not 'all'"),
    ("reorder.every", 0, "reorder.every: must be a whole number from 1 to 1000, not 0"),
    ("cull", False, "cull: must be one of off, agents, grid, not false"),
    ("depth", "band", "depth: must be one of off, full, bands, not 'band' (did you mean bands?)"),
    ("simd", 1, "simd: must be true or false, not 1"),
    ("stager.sight", 1, "unknown technique 'stager.sight' (did you mean stagger.sight?)"),
    ("stagger", 1, "unknown technique 'stagger'"),
])
def test_a_bad_value_is_refused_in_plain_words_and_changes_nothing(path, value, said):
    switches = Optimizations()
    with pytest.raises(ValueError) as caught:
        switches.set(path, value)
    assert str(caught.value).startswith(said)
    assert switches == Optimizations()


def test_plain_assignment_is_checked_too():
    switches = Optimizations()
    with pytest.raises(ValueError):
        switches.stagger.sight = 0
    with pytest.raises(ValueError):
        switches.neighbors = "none"
    switches.stagger.sight = 4
    assert switches.get("stagger.sight") == 4


def test_a_new_technique_appears_by_its_registry_entry_alone(monkeypatch):
    added = (Technique("sky.clouds", ("none", "few"), "few", EXACT, "clouds", "what they are", key="z"),
             Technique("sky.height", (1, 2, 4), 2, EXACT, "height", "how high"))
    monkeypatch.setattr(module, "TECHNIQUES", (*TECHNIQUES, *added))
    monkeypatch.setattr(module, "MODELS", dict(module.MODELS))
    sky = module._model("Optimizations", module._Techniques, "")().sky
    assert (sky.clouds, sky.height) == ("few", 2)
    for name, value in (("clouds", "many"), ("height", 5)):
        with pytest.raises(ValueError):
            setattr(sky, name, value)


# --- events as a file says them: what is read, and one line for each mistake -----------------------------------------

HEAD = "behaviour: crowd\nmap: doorway\nmeasure: {areas: {hall: [0, 0, 100, 100]}, lines: {door: [0, 0, 10, 0]}}\nevents:\n"


def mistakes(tmp_path: Path, *events: str, head: str = HEAD) -> list[str]:
    """What is wrong with a file that has these events, without the file's name."""
    path = tmp_path / "events.yaml"
    path.write_text(head + "".join(f"  - {event}\n" for event in events), "utf-8")
    return [line.removeprefix(f"{path}:") for line in mistakes_in(load_config, path)]


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


SENT = "{at: 3, do: {send: {to: [1, 5], leave: true}}}"
DOORS = HEAD.replace("lines:", "doors: {door: NUMBER}, lines:")


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
     "5: events.0.do.set.crowd.radiu: is not a parameter of the behaviour (did you mean crowd.radius?)"),
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


@pytest.mark.parametrize(("head", "event", "line"), [
    (DOORS.replace("NUMBER", "6"), "{tick: 1}",
     "3: measure.doors.door: destination 6 does not exist: there are 6, counted from 0"),
    (DOORS.replace("NUMBER", "64"), "{tick: 1}", "3: measure.doors.door: must be a whole number from 0 to 63, not 64"),
    (DOORS.replace("door: NUMBER", "doo: 1"), "{tick: 1}",
     "3: measure.doors.doo: measure.lines has no 'doo' (did you mean door?)"),
    ("behaviour: flock\nevents:\n", "{when: stuck > 5}", "3: events.0.when: stuck: only people can be, and this is flock"),
    ("behaviour: hunt\nevents:\n", "{at: 3, do: {set: {hunt.predators: 5}}}",
     "3: events.0.do.set.hunt.predators: cannot be changed while the crowd runs: "),
    ("behaviour: flock\nevents:\n", SENT,
     "3: events.0.do.send.to: only people can be sent, and only with a crowd.room above 0"),
    ("behaviour: crowd\ncrowd: {room: 0}\nevents:\n", SENT,
     "4: events.0.do.send.to: only people can be sent, and only with a crowd.room above 0"),
    ("behaviour: crowd\ncrowd: {wait_s: 0}\nevents:\n", SENT,
     "4: events.0.do.send.leave: people leave only with a crowd.wait_s above 0"),
    ("behaviour: crowd\ncrowd: {destinations: 3}\nevents:\n", SENT,
     "4: events.0.do.send.to: destination 5 does not exist: there are 3, counted from 0")])
def test_a_mistake_may_follow_from_the_rest_of_the_file(tmp_path: Path, head: str, event: str, line: str) -> None:
    (found,) = mistakes(tmp_path, event, head=head)
    assert found.startswith(line)


@pytest.mark.parametrize(("text", "below", "at", "above"), [
    ("agents < 5", True, False, False), ("agents <= 5", True, True, False), ("agents = 5", False, True, False),
    ("agents >= 5", False, True, True), ("agents>5", False, False, True)])
def test_conditions_compare(text: str, below: bool, at: bool, above: bool) -> None:
    assert [condition_of(text).holds(number) for number in (4, 5, 6)] == [below, at, above]
